//! `btfdb align`.

use super::super::args::Limits;
use super::super::location;
use super::super::progress::watched;
use super::super::signals;
use super::super::ui::Ui;
use super::query;
use crate::clocks::Model;
use crate::error::Result;
use crate::library::Queries;
use crate::ops::align::{AlignOptions, ClockReport, align};
use crate::store::{Location, RealDisk};
use crate::time::{TimeScale, format_duration};
use clap::{Args, ValueHint};
use std::path::PathBuf;
use std::sync::Arc;

/// Put recordings of several control units on one clock.
///
/// Each control unit has a clock of its own, which runs at a rate of its own. Messages between them say how
/// far they are apart: none arrives before it is sent. The file of clocks lists the recordings, and says in
/// SQL which of their events are the sends and receives of messages. The result is one more recording, with
/// aligned times and how far off they can be.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  btfdb align vehicle.db clocks.toml --into vehicle
  btfdb query vehicle.db \"SELECT * FROM clock_message ORDER BY latency DESC LIMIT 5\"

A file of clocks:
  [[clock]]
  recording = \"ecu_a\"
  [[clock]]
  recording = \"ecu_b\"
  [[message]]
  send = \"SELECT time, payload['id'] AS key FROM trace_event WHERE name = 'can_tx'\"
  receive = \"SELECT time, payload['id'] AS key FROM trace_event WHERE name = 'can_rx'\"")]
pub struct AlignArgs {
    /// Database: a folder, or a URL such as s3://bucket/fleet.db.
    #[arg(value_parser = location::parser(), value_hint = ValueHint::DirPath)]
    pub database: Location,
    /// File of clocks, in TOML: docs/clocks.md.
    #[arg(value_hint = ValueHint::FilePath)]
    pub clocks: PathBuf,
    /// Name of the new recording.
    #[arg(long, value_name = "NAME")]
    pub into: String,
    /// Resources to use.
    #[command(flatten)]
    pub limits: Limits,
}

pub(super) fn run(args: &AlignArgs, ui: &Ui) -> Result<u8> {
    let control = signals::control();
    let queries = Queries::shipped();
    let session = query::open_options(&args.limits, None, Arc::clone(&queries))?.session;
    let options = AlignOptions { session, queries };
    let work = || align(Arc::new(RealDisk), &args.database, &args.clocks, &args.into, &options, &control);
    let report = watched(ui, &control, work)?;
    ui.findings(&report.log);
    for clock in &report.clocks {
        ui.status(&line(clock, report.time_scale));
    }
    ui.status(&format!(
        "{}: {} BTF events on one clock, by {} messages",
        args.into, report.events, report.used
    ));
    Ok(0)
}

/// What became of a clock, in a line.
fn line(clock: &ClockReport, scale: TimeScale) -> String {
    let ClockReport { ecu, drift, drifts, begin, widths, .. } = clock;
    if clock.model == Model::Reference {
        return format!("{ecu}: the reference clock");
    }
    let ahead = format_duration(begin.1.saturating_sub(begin.0), scale);
    let [widest, narrowest] = [widths.0, widths.1].map(|width| format_duration(width, scale));
    let mut line = format!(
        "{ecu}: {}; ahead by {ahead} at {}, drift {:.3} ppm ({:.3} to {:.3}), bounds {narrowest} to {widest} wide, {} \
         messages",
        clock.model.as_str(),
        format_duration(begin.0, scale),
        drift * 1e6,
        drifts.0 * 1e6,
        drifts.1 * 1e6,
        clock.messages,
    );
    if clock.proven_wander > 0.0 {
        line.push_str(&format!(", wanders by {:.3} ppm at least", clock.proven_wander * 1e6));
    }
    line
}
