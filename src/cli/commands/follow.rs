//! `btfdb ingest --follow`: an input that grows is ingested again and again, as far as it goes, each time in
//! place of the time before. Not one ingest (see `ingest`).
//!
//! Everything is read again, so that the recording is at any time what an ingest of its begin would give,
//! whatever its format is. A step waits until there is a fourth more to read, and until the work of all steps
//! is a small part of the time that has passed: all of them together cost five times the last one.

use super::super::ui::Ui;
use crate::description::Plan;
use crate::error::{Error, ErrorKind, Result};
use crate::ops::Control;
use crate::ops::archive::is_archive;
use crate::ops::ingest::Report;
use crate::threads::Thread;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::Builder;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Between two looks at the input.
const LOOK: Duration = Duration::from_millis(50);
/// Between two steps, at least.
const STEP: Duration = Duration::from_secs(1);
/// A step waits so many times as long as the last one took.
const REST: u32 = 4;

/// Inputs that grow: files, folders of files, or one pipe, which is copied to a file.
pub(super) struct Growing {
    inputs: Vec<PathBuf>,
    /// What the user calls the pipe, and the folder of its copy, which is removed with this value.
    pipe: Option<(PathBuf, TempDir, Arc<Copied>)>,
}

/// A pipe that a thread copies.
struct Copied {
    ended: AtomicBool,
    failed: Mutex<Option<io::Error>>,
}

impl Growing {
    /// # Errors
    /// Several pipes; a pipe that cannot be copied.
    #[expect(clippy::disallowed_methods, reason = "a temporary file is no part of a database")]
    pub fn new(inputs: &[PathBuf]) -> Result<Self> {
        if let Some(archive) = inputs.iter().find(|input| is_archive(input)) {
            return Err(Error::usage(format!("'{}' is an archive, which does not grow", archive.display()))
                .hint("ingest it without --follow"));
        }
        let is_pipe = |input: &&PathBuf| {
            input.as_os_str() == "-" || input.exists() && !input.is_file() && !input.is_dir()
        };
        let Some(pipe) = inputs.iter().find(is_pipe) else {
            return Ok(Self { inputs: inputs.to_vec(), pipe: None });
        };
        if inputs.len() > 1 {
            return Err(Error::usage("a pipe that grows is an input alone"));
        }
        let failed = |e| Error::io("copy", pipe, e);
        let folder = TempDir::new().map_err(failed)?;
        let copied = Arc::new(Copied { ended: AtomicBool::new(false), failed: Mutex::new(None) });
        let name = pipe.file_name().filter(|_| pipe.as_os_str() != "-");
        let path = folder.path().join(name.unwrap_or("stdin".as_ref()));
        let file = File::create(&path).map_err(failed)?;
        let (shared, from) = (Arc::clone(&copied), pipe.clone());
        let copy = move || {
            if let Err(e) = copy(&from, file)
                && let Ok(mut failed) = shared.failed.lock()
            {
                *failed = Some(e);
            }
            shared.ended.store(true, Ordering::SeqCst);
        };
        Thread::start(Builder::new().name("btfdb-follow".into()), copy).map_err(failed)?;
        Ok(Self { inputs: vec![path], pipe: Some((pipe.clone(), folder, copied)) })
    }

    /// The files to ingest.
    pub fn inputs(&self) -> &[PathBuf] {
        &self.inputs
    }

    /// Has plans call the copy of a pipe by the name of the pipe.
    pub fn shown(&self, mut plans: Vec<Plan>) -> Vec<Plan> {
        if let Some((pipe, ..)) = &self.pipe {
            for input in plans.iter_mut().flat_map(|plan| &mut plan.inputs) {
                input.shown = Some(pipe.clone());
                input.name = pipe.to_string_lossy().into_owned();
            }
        }
        plans
    }

    /// Whether nothing more will come.
    fn has_ended(&self) -> bool {
        self.pipe.as_ref().is_some_and(|(.., pipe)| pipe.ended.load(Ordering::SeqCst))
    }

    fn bytes(&self) -> u64 {
        self.inputs.iter().map(|input| bytes_of(input)).sum()
    }

    fn check(&self) -> Result<()> {
        let failed = self.pipe.as_ref().and_then(|(.., pipe)| pipe.failed.lock().ok()?.take());
        failed.map_or(Ok(()), |e| Err(Error::io("read", Path::new("-"), e)))
    }
}

fn copy(from: &Path, mut to: File) -> io::Result<()> {
    let mut input: Box<dyn io::Read> =
        if from.as_os_str() == "-" { Box::new(io::stdin()) } else { Box::new(File::open(from)?) };
    let mut room = vec![0; 64 * 1024];
    loop {
        let count = match input.read(&mut room) {
            Ok(0) => return Ok(()),
            Ok(count) => count,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(e),
        };
        // Not buffered: what has come is there for the next step.
        to.write_all(room.get(..count).unwrap_or_default())?;
    }
}

/// The size of a file, or of the files of a folder and the folders in it.
fn bytes_of(input: &Path) -> u64 {
    match std::fs::read_dir(input) {
        Ok(listing) => listing.filter_map(std::result::Result::ok).map(|entry| bytes_of(&entry.path())).sum(),
        Err(_) => std::fs::metadata(input).map_or(0, |metadata| metadata.len()),
    }
}

/// Ingests what is there, again and again, by `ingest`, which is told whether there was a time before. Ends
/// when the input does, after `time`, or when `stop` becomes true, with all that is there then.
pub(super) fn follow(
    input: &Growing,
    (time, stop): (Option<Duration>, &AtomicBool),
    ui: &Ui,
    mut ingest: impl FnMut(bool, &Arc<Control>) -> Result<Vec<Report>>,
) -> Result<Vec<Report>> {
    let begun = Instant::now();
    let (mut done, mut next) = (None::<u64>, begun + STEP);
    let mut last = Vec::new();
    loop {
        let ends = input.has_ended()
            || stop.load(Ordering::SeqCst)
            || time.is_some_and(|time| begun.elapsed() >= time);
        let bytes = input.bytes();
        if done.is_some_and(|done| bytes < done) {
            return Err(Error::input("the input has become shorter: it was written over, or taken away")
                .hint("what was there before is in the database"));
        }
        let is_more = done.is_none_or(|done| bytes != done && bytes.saturating_sub(done) >= done / 4);
        if !ends && (Instant::now() < next || !is_more || bytes == 0) {
            std::thread::sleep(LOOK);
            continue;
        }
        if ends {
            input.check()?;
        }
        if !ends || done != Some(bytes) {
            let step = Instant::now();
            match ingest(done.is_some(), &Arc::new(Control::default())) {
                Ok(reports) => {
                    let rows: u64 =
                        reports.iter().flat_map(|r| &r.sources).map(|(_, counts)| counts.rows).sum();
                    ui.status(&format!("{bytes} bytes, {rows} rows are there"));
                    (done, last) = (Some(bytes), reports);
                }
                // What is there can be too little to tell what it is.
                Err(e) if !ends && matches!(e.kind(), ErrorKind::Input | ErrorKind::Usage) => {}
                Err(e) => return Err(e),
            }
            next = Instant::now() + STEP.max(step.elapsed() * REST);
        }
        if ends {
            return Ok(last);
        }
    }
}
