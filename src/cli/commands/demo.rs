//! `btfdb demo`: the main job on the recording that ships with the program.

use super::super::ui::Ui;
use crate::error::{Error, Result};
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

/// Runs a command line, given without the name of the program.
type RunWords<'a> = dyn Fn(&[&OsStr]) -> Result<()> + 'a;

pub(super) fn run(args: &DemoArgs, ui: &Ui, run: &RunWords<'_>) -> Result<u8> {
    let (recording, database) = (args.dir.join("recording"), args.dir.join("demo.db"));
    unpack(&recording)?;
    if Database::is_at(&database)? {
        let mut tx = Database::begin(Arc::new(RealDisk), &database, None)?;
        tx.drop_recording("demo")?;
        tx.commit()?;
    }
    let (db, slice) = (database.display(), args.dir.join("slice.btf"));
    step(&["ingest".as_ref(), database.as_os_str(), recording.as_os_str()], &["--strict"], ui, run)?;
    ui.status("");
    let metrics = ["ResponseTime", "NetExecutionTime", "CPULoad"].map(OsStr::new);
    step(
        &[&["metrics".as_ref(), database.as_os_str()], &metrics[..]].concat(),
        &["--format=table"],
        ui,
        run,
    )?;
    ui.status("");
    let window = ["--from", "117ms", "--to", "120ms", "-o"].map(OsStr::new);
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

#[expect(clippy::disallowed_methods, reason = "the demo's recording lies outside every database")]
fn unpack(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|e| Error::io("create", folder, e))?;
    for (name, content) in RECORDING {
        let path = folder.join(name);
        std::fs::write(&path, content).map_err(|e| Error::io("write", &path, e))?;
    }
    Ok(())
}
