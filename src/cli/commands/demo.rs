//! `btfdb demo`: the main job on the recording that ships with the program.

use super::super::ui::Ui;
use super::parse;
use crate::engine::{Session, SessionOptions};
use crate::error::{Error, Result};
use crate::export::{ExportRequest, Exporter};
use crate::selection::Selection;
use crate::store::{Database, RealDisk};
use clap::Args;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Ingest, map and evaluate the recording that ships with btfdb.
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Folder for the demo's recording, database and slice.
    #[arg(long, default_value = "btfdb-demo")]
    pub dir: PathBuf,
    /// Overwrite files and recordings of these names that are not the demo's.
    #[arg(long)]
    pub force: bool,
}

macro_rules! recording {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_bytes!(concat!("../../../demo/recording/", $name)).as_slice())),*]
    };
}

/// The files of the demo's recording.
const RECORDING: [(&str, &[u8]); 10] = recording![
    "recording.toml",
    "core0_data.csv.gz",
    "core0_func.csv.gz",
    "core1_data.csv.gz",
    "core1_func.csv.gz",
    "eecfg_cpu0.h",
    "eecfg_cpu1.h",
    "symbols.tsv",
    "system_cpu0.orti",
    "system_cpu1.orti",
];

/// Name of the recording.
const NAME: &str = "demo";

const SLICE: &str = "slice.btf";

/// Begin and end of the slice.
const WINDOW: [&str; 2] = ["117ms", "120ms"];

/// Runs a command line, given without the name of the program.
type RunWords<'a> = dyn Fn(&[&OsStr]) -> Result<()> + 'a;

pub(super) fn run(args: &DemoArgs, ui: &Ui, run: &RunWords<'_>) -> Result<u8> {
    let (recording, database) = (args.dir.join("recording"), args.dir.join("demo.db"));
    let is_there = Database::is_at(&database)?;
    if !args.force {
        check_files(&recording)?;
        if is_there && !is_of_the_demo(&database)? {
            return Err(not_of_the_demo(&format!("recording '{NAME}' of '{}'", database.display())));
        }
    }
    unpack(&recording)?;
    if is_there {
        let mut tx = Database::begin(Arc::new(RealDisk), &database, None)?;
        tx.drop_recording(NAME)?;
        tx.commit()?;
    }
    let (db, slice) = (database.display(), args.dir.join(SLICE));
    step(&["ingest".as_ref(), database.as_os_str(), recording.as_os_str()], &["--strict"], ui, run)?;
    if !args.force && slice.exists() && read(&slice)? != slice_of(&database)? {
        return Err(not_of_the_demo(&format!("'{}'", slice.display())));
    }
    ui.status("");
    let metrics = ["ResponseTime", "NetExecutionTime", "CPULoad"].map(OsStr::new);
    step(
        &[&["metrics".as_ref(), database.as_os_str()], &metrics[..]].concat(),
        &["--format=table"],
        ui,
        run,
    )?;
    ui.status("");
    let [from, to] = WINDOW;
    let window = ["--from", from, "--to", to, "-o"].map(OsStr::new);
    let export = [&["export".as_ref(), database.as_os_str()], &window[..], &[slice.as_os_str()]].concat();
    step(&export, &["--format=btf", "--force"], ui, run)?;
    ui.status(&format!(
        "\nNow try:\n  btfdb info {db}\n  btfdb metrics {db}\n  btfdb query {db} \"SELECT process, core, count(*) \
         AS n, max(terminate_at - activate_at) AS worst FROM process_instance WHERE complete GROUP BY process, core \
         ORDER BY worst DESC\"\n  btfdb export {db} --table process_state --format csv -o - | head"
    ));
    Ok(0)
}

/// Shows a command and runs it; the `unseen` options are only for the demo.
fn step(words: &[&OsStr], unseen: &[&str], ui: &Ui, run: &RunWords<'_>) -> Result<()> {
    let shown: Vec<_> = words.iter().map(|word| word.display().to_string()).collect();
    ui.status(&format!("$ btfdb {}", shown.join(" ")));
    let line: Vec<_> = words.iter().copied().chain(unseen.iter().map(OsStr::new)).collect();
    run(&line)
}

/// Fails for a file of the recording that has another content.
fn check_files(folder: &Path) -> Result<()> {
    for (name, content) in RECORDING {
        let path = folder.join(name);
        if path.exists() && read(&path)? != content {
            return Err(not_of_the_demo(&format!("'{}'", path.display())));
        }
    }
    Ok(())
}

fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|e| Error::io("read", path, e))
}

/// True if a database has no recording of the demo's name, or one of the demo's files.
fn is_of_the_demo(database: &Path) -> Result<bool> {
    let sql = "SELECT source || ' ' || CAST(bytes AS VARCHAR) FROM source WHERE recording = $recording";
    let sources = open(database)?.names(sql, &[("recording", NAME.into())])?;
    let known: Vec<_> = RECORDING.iter().map(|(name, content)| format!("{name} {}", content.len())).collect();
    Ok(sources.iter().all(|source| known.contains(source)))
}

/// What the demo writes as its slice.
fn slice_of(database: &Path) -> Result<Vec<u8>> {
    let session = open(database)?;
    let scale = session.database().time_scale();
    let [from, to] = WINDOW;
    let selection = Selection {
        recording: Some(NAME.to_owned()),
        from: parse::time("--from", Some(from), scale)?,
        to: parse::time("--to", Some(to), scale)?,
        ..Selection::default()
    };
    let (request, mut slice) = (ExportRequest { selection, ..ExportRequest::default() }, Vec::new());
    <dyn Exporter>::of_file(Path::new(SLICE)).write(&session, &request, &mut slice)?;
    Ok(slice)
}

fn open(database: &Path) -> Result<Session> {
    Session::open(Database::open(database)?, SessionOptions::default())
}

fn not_of_the_demo(what: &str) -> Error {
    Error::usage(format!("{what} is not what the demo writes"))
        .hint("name another folder with --dir, or use --force to overwrite it")
}

#[expect(clippy::disallowed_methods, reason = "the demo's recording lies outside every database")]
fn unpack(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|e| Error::io("create", folder, e))?;
    for (name, content) in RECORDING {
        let path = folder.join(name);
        std::fs::write(&path, content).map_err(|e| Error::io("write", &path, e))?;
    }
    Ok(())
}
