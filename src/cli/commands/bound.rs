//! `btfdb bound`.

use super::super::args::{Format, Limits, Output, Recordings, UnitArg};
use super::super::location;
use super::super::progress::watched;
use super::super::signals;
use super::super::ui::Ui;
use super::{bound_text, output, query};
use crate::error::Result;
use crate::library::Queries;
use crate::ops::bound::{batch, find};
use crate::ops::findings::doubts;
use crate::render::InUnit;
use crate::store::{Database, Location};
use clap::{Args, ValueHint};

/// Bound the response times of tasks and ISRs by an analysis of what a recording shows.
///
/// Each process arrives as densely, and executes as long, as it was seen to at most: how long can a response
/// take if all of that happens at the worst moment? Fixed priorities, preemption, locks and switches are
/// taken into account. What a bound assumes is listed, and what of the recording contradicts that. It bounds
/// what was observed: longer executions and denser arrivals than those recorded are not excluded.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  btfdb bound engine.db
  btfdb bound engine.db --entity 'T_*' --unit us --format table
  btfdb bound engine.db --recording engine -o bounds.csv")]
pub struct BoundArgs {
    /// Database: a folder, or a URL such as s3://bucket/fleet.db.
    #[arg(value_parser = location::parser(), value_hint = ValueHint::DirPath)]
    pub database: Location,
    /// Which recordings.
    #[command(flatten)]
    pub recordings: Recordings,
    /// Only these tasks and ISRs: a list, with * and ? for any characters, e.g. T_1,ISR_*. The others delay
    /// them all the same.
    #[arg(long, value_name = "NAMES")]
    pub entity: Option<String>,
    /// The unit of times in rows.
    #[command(flatten)]
    pub unit: UnitArg,
    /// How to print. Without a format, a unit or a file, the bounds are printed as text.
    #[command(flatten)]
    pub output: Output,
    /// Resources to use.
    #[command(flatten)]
    pub limits: Limits,
}

pub(super) fn run(args: &BoundArgs, ui: &Ui) -> Result<u8> {
    output::check(args.output.output.as_deref(), args.output.force)?;
    let control = signals::control();
    let database = args.recordings.choice().of(Database::open(&args.database)?)?;
    let session = query::session(
        database,
        (&args.limits, None),
        Queries::shipped(),
        (None, ui),
        control.flag_shared(),
    )?;
    ui.doubts(&doubts(session.database(), None)?);
    let found = watched(ui, &control, || find(&session, args.entity.as_deref(), &control))?;
    let (scale, threads) = (session.database().time_scale(), session.threads());
    let is_text =
        args.output.format == Format::Auto && args.output.output.is_none() && args.unit.unit.is_none();
    if is_text {
        output::print(&bound_text::text(&found, scale))?;
        return Ok(0);
    }
    let (rows, times) = batch(&found)?;
    let schema = rows.schema();
    match args.unit.unit {
        Some(unit) => {
            let unit = InUnit::new(&schema, &times, scale, unit);
            let rows = &mut std::iter::once(unit.convert(&rows));
            output::show(unit.schema(), rows, &args.output, threads, ui)?;
        }
        None => output::show(&schema, &mut std::iter::once(Ok(rows)), &args.output, threads, ui)?,
    }
    Ok(0)
}
