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
    /// A folder without its option: refused with a hint.
    #[arg(hide = true)]
    pub folder: Option<PathBuf>,
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
    if let Some(folder) = &args.folder {
        let folder = folder.display();
        return Err(Error::usage(format!("'{folder}' is given without an option"))
            .hint(format!("write btfdb demo --dir {folder}")));
    }
    let (recording, database) = (args.dir.join("recording"), args.dir.join("demo.db"));
    let slice = args.dir.join(SLICE);
    let is_there = Database::is_at(&database)?;
    let mut is_slice_known = args.force || !slice.exists();
    if !args.force {
        check_files(&recording)?;
        let is_recorded = is_there && check_recording(&database)?;
        if is_recorded && !is_slice_known {
            check_slice(&slice, &database)?;
            is_slice_known = true;
        }
    }
    unpack(&recording)?;
    if is_there {
        let mut tx = Database::begin(Arc::new(RealDisk), &database, None)?;
        tx.drop_recording(NAME)?;
        tx.commit()?;
    }
    let db = database.display();
    step(&["ingest".as_ref(), database.as_os_str(), recording.as_os_str()], &["--strict"], ui, run)?;
    if !is_slice_known {
        check_slice(&slice, &database)?;
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
         ORDER BY worst DESC\"\n  btfdb explain {db} ResponseTime:T_4:max\n  btfdb plot {db} --explain \
         ResponseTime:T_4:max -o late.svg\n  btfdb export {db} --table process_state --format csv -o - | head"
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

/// Fails for a recording of the demo's name that is of other files; false if there is none of that name.
fn check_recording(database: &Path) -> Result<bool> {
    let sql = "SELECT source || ' ' || CAST(bytes AS VARCHAR) FROM source WHERE recording = $recording";
    let sources = open(database)?.names(sql, &[("recording", NAME.into())])?;
    let known: Vec<_> = RECORDING.iter().map(|(name, content)| format!("{name} {}", content.len())).collect();
    match sources.iter().all(|source| known.contains(source)) {
        true => Ok(!sources.is_empty()),
        false => Err(not_of_the_demo(&format!("recording '{NAME}' of '{}'", database.display()))),
    }
}

/// Fails for a slice that is not of this recording. Another version of btfdb may have written it.
fn check_slice(slice: &Path, database: &Path) -> Result<()> {
    let (found, expected) = (read(slice)?, slice_of(database)?);
    match without_creator(&found).eq(without_creator(&expected)) {
        true => Ok(()),
        false => Err(not_of_the_demo(&format!("'{}'", slice.display()))),
    }
}

/// The lines but the one that names the version of btfdb.
fn without_creator(slice: &[u8]) -> impl Iterator<Item = &[u8]> {
    slice.split(|byte| *byte == b'\n').filter(|line| !line.starts_with(b"#creator "))
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
