//! `btfdb model`.

use super::super::args::Limits;
use super::super::progress::watched;
use super::super::signals;
use super::super::ui::Ui;
use super::extension;
use super::output::{self, Target};
use super::query;
use crate::error::{Error, Result};
use crate::library::Queries;
use crate::ops::model::derive_model;
use crate::ops::open::Trace;
use crate::reconstruct::Confidence;
use clap::Args;
use std::path::PathBuf;

/// Derive a timing model from a recording, for `btfdb simulate`.
///
/// The model has the tasks, ISRs and runnables of the recording with their steps, times, priorities, alarms
/// and locks, as far as the events show them. Comments say what each value rests on: how many samples, and
/// how well it is known.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  btfdb model engine.db -o model.toml
  btfdb simulate model.toml -o again
  btfdb model week.db:monday
  btfdb model engine.btf -o model.toml --force")]
pub struct ModelArgs {
    /// A recording: DATABASE, DATABASE:RECORDING or a BTF file.
    pub trace: String,
    /// File to write; standard output when left out.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Overwrite the file if it exists.
    #[arg(long)]
    pub force: bool,
    /// Resources to use.
    #[command(flatten)]
    pub limits: Limits,
}

pub(super) fn run(args: &ModelArgs, ui: &Ui) -> Result<u8> {
    args.output.iter().try_for_each(|path| extension::of_model(path))?;
    output::check(args.output.as_deref(), args.force)?;
    let options = query::open_options(&args.limits, None, Queries::shipped())?;
    let control = signals::control();
    let trace = Trace::open(&args.trace, &options, &control)?;
    let mut target = Target::open(args.output.as_deref(), args.force)?;
    let derived = watched(ui, &control, || derive_model(&trace, &control))?;
    ui.findings(&derived.findings);
    let written = target.out().write_all(derived.text.as_bytes());
    let place = args.output.clone().unwrap_or_else(|| "standard output".into());
    written.map_err(|error| Error::io("write to", &place, error))?;
    target.finish()?;
    let of = |confidence: Confidence| {
        let count = derived.evidence.iter().filter(|value| value.confidence == confidence).count();
        (count > 0).then(|| format!("{count} {}", confidence.as_str()))
    };
    let values: Vec<String> = Confidence::ALL.into_iter().filter_map(of).collect();
    ui.status(&format!("{}: {} values: {}", args.trace, derived.evidence.len(), values.join(", ")));
    Ok(0)
}
