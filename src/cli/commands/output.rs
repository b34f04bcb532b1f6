//! Where results go: standard output, or a file that appears only when it is complete.

use super::super::args::{Format, Output};
use super::super::exit;
use super::super::ui::Ui;
use super::extension;
use crate::error::{Error, ErrorKind, Result};
use crate::render::{self, PrintableWriter, printable};
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use serde::Serialize;
use std::fs::File;
use std::io::{BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

/// Columns of text if the width of the terminal is unknown.
const WIDTH: usize = 100;
/// Rows that a table on a terminal shows.
const TERMINAL_ROWS: usize = 200;

/// An open destination; nothing is at its path before [`Target::finish`].
pub(in crate::cli) struct Target {
    out: Box<dyn Write>,
    /// (temporary file, final path) when it is a file.
    file: Option<(PathBuf, PathBuf)>,
}

impl Target {
    /// Opens standard output (`-` or none) or a file, which must not exist unless `force` is set.
    #[expect(
        clippy::disallowed_methods,
        reason = "results are written where the user says, outside every database"
    )]
    pub fn open(path: Option<&Path>, force: bool) -> Result<Self> {
        check(path, force)?;
        let Some(path) = path.filter(|p| *p != Path::new("-")) else {
            return Ok(Self { out: standard_output(), file: None });
        };
        if is_special(path) {
            let out = File::options().write(true).open(path).map_err(|e| Error::io("open", path, e))?;
            return Ok(Self { out: Box::new(BufWriter::new(out)), file: None });
        }
        let mut name = path.file_name().unwrap_or_default().to_os_string();
        name.push(format!(".{}.part", std::process::id()));
        let temporary = path.with_file_name(name);
        let out = File::create(&temporary).map_err(|e| Error::io("create", &temporary, e))?;
        exit::begun(&temporary);
        let out = BufWriter::with_capacity(1 << 16, out);
        Ok(Self { out: Box::new(out), file: Some((temporary, path.to_path_buf())) })
    }

    /// True for standard output on a terminal.
    pub fn is_terminal(&self) -> bool {
        self.file.is_none() && std::io::stdout().is_terminal()
    }

    /// The stream to write to.
    pub fn out(&mut self) -> &mut dyn Write {
        &mut self.out
    }

    /// Completes the destination.
    #[expect(
        clippy::disallowed_methods,
        reason = "results are written where the user says, outside every database"
    )]
    pub fn finish(mut self) -> Result<()> {
        self.out.flush().map_err(|e| Error::io("write to", self.path(), e))?;
        if let Some((temporary, path)) = &self.file {
            // If that fails, dropping this removes the temporary file.
            std::fs::rename(temporary, path).map_err(|e| Error::io("write to", path, e))?;
            exit::ended(temporary);
            self.file = None;
        }
        Ok(())
    }

    fn path(&self) -> PathBuf {
        self.file.as_ref().map_or_else(|| PathBuf::from("standard output"), |(_, p)| p.clone())
    }
}

impl Drop for Target {
    #[expect(clippy::disallowed_methods, reason = "the unfinished result is this type's own")]
    fn drop(&mut self) {
        if let Some((temporary, _)) = &self.file {
            // The file was never promised, so failing to remove it is not an error.
            let _ = std::fs::remove_file(temporary);
            exit::ended(temporary);
        }
    }
}

/// Fails when results cannot go to a path: before they are made, which may take long.
pub(super) fn check(path: Option<&Path>, force: bool) -> Result<()> {
    let Some(path) = path.filter(|p| *p != Path::new("-")) else { return Ok(()) };
    if path.is_dir() {
        return Err(Error::usage(format!("'{}' is a folder", path.display())).hint("name a file"));
    }
    if path.exists() && !force && !is_special(path) {
        let error = Error::usage(format!("'{}' exists already", path.display()));
        return Err(error.hint("use --force to overwrite it"));
    }
    Ok(())
}

/// Data as it is; on a terminal, without what it would obey.
fn standard_output() -> Box<dyn Write> {
    let out = std::io::stdout().lock();
    match std::io::stdout().is_terminal() {
        true => Box::new(BufWriter::with_capacity(1 << 16, PrintableWriter::new(out))),
        false => Box::new(BufWriter::with_capacity(1 << 16, out)),
    }
}

/// A device or pipe (`/dev/full`, `/dev/stdout`): written in place, never renamed over.
fn is_special(path: &Path) -> bool {
    // An entry of /dev may lead to a file, as /dev/stdout does, but must not be replaced by one. What is in
    // /dev/shm are files.
    let is_device = path.starts_with("/dev") && !path.starts_with("/dev/shm");
    is_device || std::fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir())
}

/// The format to render: `auto` is what the extension of the file says, a table on a terminal, and CSV
/// otherwise.
///
/// # Errors
/// [`crate::error::ErrorKind::Usage`] for the extension of something that is no result.
pub(in crate::cli) fn format(
    requested: Format,
    path: Option<&Path>,
    terminal: bool,
) -> Result<render::Format> {
    Ok(match requested {
        Format::Auto => match path.filter(|path| !is_special(path)).map(extension::of_result).transpose()? {
            Some(Some(format)) => format,
            _ if terminal => render::Format::Table,
            _ => render::Format::Csv,
        },
        Format::Csv => render::Format::Csv,
        Format::Table => render::Format::Table,
        Format::Tsv => render::Format::Tsv,
        Format::Json => render::Format::Json,
        Format::Jsonl => render::Format::Jsonl,
        Format::Md => render::Format::Markdown,
        Format::Parquet => render::Format::Parquet,
        Format::Arrow => render::Format::Arrow,
    })
}

/// The format of a result that goes to `output`.
///
/// # Errors
/// As [`format`].
pub(super) fn format_of(output: &Output) -> Result<render::Format> {
    let file = output.output.as_deref().filter(|path| *path != Path::new("-"));
    format(output.format, file, file.is_none() && std::io::stdout().is_terminal())
}

/// The maximum number of rows to show of a result that goes to `output`: a table on a terminal is capped.
pub(super) fn cap(output: &Output) -> Result<Option<usize>> {
    let file = output.output.as_deref().is_some_and(|path| path != Path::new("-"));
    let terminal = !file && std::io::stdout().is_terminal();
    Ok((terminal && format_of(output)? == render::Format::Table).then_some(TERMINAL_ROWS))
}

/// Columns of text of the terminal, or else those of `COLUMNS`.
pub(in crate::cli) fn width() -> usize {
    #[expect(clippy::disallowed_methods, reason = "cli reads the environment")]
    let columns = || std::env::var("COLUMNS").ok()?.parse().ok().filter(|columns| *columns > 0);
    let terminal = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    terminal.or_else(columns).unwrap_or(WIDTH)
}

/// Writes a text for people to standard output, without what a terminal would obey.
pub(super) fn print(text: &str) -> Result<()> {
    write(Target::open(None, false)?, &printable(text))
}

/// The same to `output`.
pub(super) fn print_to(output: &Output, text: &str) -> Result<()> {
    write(Target::open(output.output.as_deref(), output.force)?, &printable(text))
}

/// Writes a report for programs to standard output.
pub(super) fn print_json(report: &impl Serialize) -> Result<()> {
    let text = serde_json::to_string_pretty(report)
        .map_err(|e| Error::new(ErrorKind::Bug, "a report cannot be written as JSON").because(e))?;
    write(Target::open(None, false)?, &(text + "\n"))
}

fn write(mut target: Target, text: &str) -> Result<()> {
    let done = target.out().write_all(text.as_bytes());
    done.map_err(|e| Error::io("write to", target.path(), e))?;
    target.finish()
}

/// Renders one result to `output`. A table on a terminal is capped, and says so.
pub(super) fn show(
    schema: &SchemaRef,
    rows: &mut (dyn Iterator<Item = Result<RecordBatch>> + Send),
    output: &Output,
    threads: usize,
    ui: &Ui,
) -> Result<()> {
    // A statement that makes a view or table has no result.
    if schema.fields().is_empty() {
        return Ok(());
    }
    let format = format_of(output)?;
    let mut target = Target::open(output.output.as_deref(), output.force)?;
    let terminal = target.is_terminal();
    if terminal && format.is_binary() {
        return Err(Error::usage(format!("{} is not for a terminal", format.name())).hint("use -o FILE"));
    }
    let rendered = render::render(schema, rows, format, target.out(), cap(output)?, threads)?;
    target.finish()?;
    if format == render::Format::Table {
        ui.footer(&rendered.footer(), rendered.more);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_dev_is_never_replaced() {
        // Whatever standard output is, even a file.
        assert!(is_special(Path::new("/dev/stdout")));
        assert!(!is_special(Path::new("Cargo.toml")) && !is_special(Path::new("new.btf")));
        assert!(!is_special(Path::new("/dev/shm/new.btf")));
    }
}
