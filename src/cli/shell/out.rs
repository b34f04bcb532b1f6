//! Where results of the shell go: standard output, a pager, or files. Not for how they look.

use super::super::commands::output::Target;
use super::super::is_broken_pipe;
use crate::error::{Error, Result};
use crate::render::PrintableWriter;
use std::io::{BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where results go.
#[derive(Default)]
pub(super) struct Out {
    /// For the next result.
    once: Option<File>,
    /// For all results until `.output` changes it; visible once it is complete.
    file: Option<File>,
}

struct File {
    target: Target,
    path: PathBuf,
}

impl File {
    fn open(path: &Path, force: bool) -> Result<Self> {
        Ok(Self { target: Target::open(Some(path), force)?, path: path.to_owned() })
    }
}

impl Out {
    /// Sends the next result to a file.
    pub fn once(&mut self, path: &Path, force: bool) -> Result<()> {
        self.once = Some(File::open(path, force)?);
        Ok(())
    }

    /// Sends all results to a file, or to standard output again.
    pub fn all_to(&mut self, path: Option<&Path>, force: bool) -> Result<()> {
        self.finish()?;
        self.file = path.map(|path| File::open(path, force)).transpose()?;
        Ok(())
    }

    /// The current output file.
    pub fn path(&self) -> Option<&Path> {
        self.once.as_ref().or(self.file.as_ref()).map(|f| f.path.as_path())
    }

    /// True when the next result goes to a terminal.
    pub fn is_terminal(&self) -> bool {
        self.path().is_none() && std::io::stdout().is_terminal()
    }

    /// Completes the file of all results, if there is one.
    pub fn finish(&mut self) -> Result<()> {
        self.file.take().map_or(Ok(()), |file| file.target.finish())
    }

    /// Writes one result; through `pager` on a terminal. The pager may quit before the end.
    pub fn write<T: Default>(
        &mut self,
        pager: Option<&str>,
        work: impl FnOnce(&mut dyn Write) -> Result<T>,
    ) -> Result<T> {
        if let Some(pager) = pager.filter(|_| self.is_terminal()) {
            return page(pager, work);
        }
        if let (None, Some(file)) = (&self.once, &mut self.file) {
            return work(file.target.out());
        }
        let mut target = match self.once.take() {
            Some(file) => file.target,
            None => Target::open(None, false)?,
        };
        let done = work(target.out())?;
        target.finish()?;
        Ok(done)
    }
}

fn page<T: Default>(pager: &str, work: impl FnOnce(&mut dyn Write) -> Result<T>) -> Result<T> {
    let failed = |e| Error::io("run the pager", pager, e);
    let (shell, option) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let mut child =
        Command::new(shell).args([option, pager]).stdin(Stdio::piped()).spawn().map_err(failed)?;
    let input = child.stdin.take().ok_or_else(|| failed(std::io::ErrorKind::BrokenPipe.into()))?;
    // What a pager shows, the terminal gets.
    let mut input = BufWriter::new(PrintableWriter::new(input));
    let done = work(&mut input).and_then(|done| input.flush().map_err(failed).map(|()| done));
    // The pager waits for the end of its input, and we wait for the end of the pager.
    drop(input);
    let status = child.wait().map_err(failed)?;
    match done {
        _ if status.code() == Some(127) => {
            Err(Error::usage(format!("there is no pager '{pager}'"))
                .hint("`.pager off`, or `.pager COMMAND`"))
        }
        Err(e) if is_broken_pipe(&e) => Ok(T::default()),
        done => done,
    }
}
