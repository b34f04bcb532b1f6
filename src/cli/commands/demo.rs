//! `btfdb demo`: the main job on the recording that ships with the program.

use super::super::args::{
    Demo, DialectArg, Export, ExportFormat, Format, Ingest, InputFormat, KernelArgs, Limits, Metrics,
    OrderArg, Output, SqlPath,
};
use super::super::ui::Ui;
use super::{export, ingest, metrics};
use crate::error::{Error, Result};
use crate::store::{Database, RealDisk};
use std::path::Path;
use std::sync::Arc;

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

const METRICS: [&str; 3] = ["ResponseTime", "NetExecutionTime", "CPULoad"];

pub(super) fn run(args: &Demo, ui: &Ui) -> Result<u8> {
    let (recording, database) = (args.dir.join("recording"), args.dir.join("demo.db"));
    let slice = args.dir.join("slice.btf");
    unpack(&recording)?;
    if database.join("manifest.json").exists() {
        let mut tx = Database::begin(Arc::new(RealDisk), &database, None)?;
        tx.drop_recording("demo");
        tx.commit()?;
    }
    let limits = Limits { threads: None, memory_limit: None };
    ui.status(&format!("$ btfdb ingest {} {}", database.display(), recording.display()));
    let ingest = Ingest {
        database: database.clone(),
        inputs: vec![recording],
        name: None,
        format: InputFormat::Auto,
        tick: None,
        qnx_version: None,
        jobs: Vec::new(),
        overlay_irqs: false,
        idle: false,
        kernel: KernelArgs::default(),
        dialect: DialectArg::Auto,
        no_map: false,
        no_hash: false,
        strict: true,
        time_scale: None,
        os: None,
        core: Vec::new(),
        runnables: Vec::new(),
        signals: Vec::new(),
        data_radix: None,
        limits: limits.clone(),
    };
    ingest::run(&ingest, ui)?;
    ui.status(&format!("\n$ btfdb metrics {} {}", database.display(), METRICS.join(" ")));
    let output = Output { format: Format::Table, output: None, force: false };
    metrics::run(
        &Metrics {
            database: Some(database.clone()),
            metrics: METRICS.map(str::to_owned).to_vec(),
            list: false,
            show: None,
            recording: None,
            entity: None,
            chains: None,
            from: None,
            to: None,
            window: None,
            step: None,
            histogram: false,
            sql_path: SqlPath::default(),
            output,
            limits: limits.clone(),
        },
        ui,
    )?;
    ui.status(&format!(
        "\n$ btfdb export {} --from 117ms --to 120ms -o {}",
        database.display(),
        slice.display()
    ));
    let export = Export {
        database: database.clone(),
        output: slice,
        format: Some(ExportFormat::Btf),
        table: "btf_event".into(),
        recording: None,
        from: Some("117ms".into()),
        to: Some("120ms".into()),
        entity: Vec::new(),
        types: Vec::new(),
        btf_version: None,
        time_scale: None,
        numeric: false,
        symbolic: false,
        chains: None,
        tick: None,
        dialect: None,
        style: None,
        one_line: false,
        line_format: None,
        kernel: KernelArgs::default(),
        order: OrderArg::File,
        force: true,
        limits,
    };
    export::run(&export, ui)?;
    let db = database.display();
    ui.status(&format!(
        "\nNow try:\n  btfdb info {db}\n  btfdb metrics {db}\n  btfdb query {db} \"SELECT process, core, count(*) \
         AS n, max(terminate_at - activate_at) AS worst FROM process_instance WHERE complete GROUP BY process, core \
         ORDER BY worst DESC\"\n  btfdb export {db} --table process_state --format csv -o - | head"
    ));
    Ok(0)
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
