//! `btfdb explain`.

use super::super::args::{Format, Limits, Output, Recordings, SqlPath, UnitArg};
use super::super::location;
use super::super::signals;
use super::super::ui::Ui;
use super::{explanation, output, query, slow_text};
use crate::engine::{Session, queries_with_folders};
use crate::error::Result;
use crate::ops::explain::{Asked, check_metric, find, lost_activations, parts, slow_parts, span};
use crate::ops::findings::doubts;
use crate::render::InUnit;
use crate::store::{Database, Location};
use arrow::array::RecordBatch;
use clap::{Args, ValueHint};
use std::sync::Arc;

/// Tell why the response of an instance took as long as it did.
///
/// The time from its activation to its termination is cut into parts that sum to it exactly: what it
/// executed, who had its core meanwhile and why, which lock or event it waited for and who had or set it.
/// What the recording does not show is called unknown.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  btfdb explain engine.db ResponseTime:T_5:max
  btfdb explain engine.db ResponseTime:T_5:p99
  btfdb explain engine.db ResponseTime:T_5:17 --format json
  btfdb explain engine.db ResponseTime:T_5 --slow
  btfdb explain engine.db --all -o parts.parquet")]
pub struct ExplainArgs {
    /// Database: a folder, or a URL such as s3://bucket/fleet.db.
    #[arg(value_parser = location::parser(), value_hint = ValueHint::DirPath)]
    pub database: Location,
    /// The instance: that with the greatest sample of a metric (max, the default), the least (min), at a
    /// percentile (p99, p99.9), or of a number.
    #[arg(value_name = "METRIC:ENTITY[:max|:min|:p99|:INSTANCE]", required_unless_present = "all")]
    pub which: Option<String>,
    /// The parts of all responses as rows of view response_part.
    #[arg(long, conflicts_with_all = ["which", "slow"])]
    pub all: bool,
    /// What makes the slow responses of the entity slow: their parts compared with those of typical ones.
    #[arg(long)]
    pub slow: bool,
    /// Which recordings.
    #[command(flatten)]
    pub recordings: Recordings,
    /// SQL of the user.
    #[command(flatten)]
    pub sql_path: SqlPath,
    /// The unit of times in rows.
    #[command(flatten)]
    pub unit: UnitArg,
    /// How to print. Without a format or a file, parts are printed as sentences, but for --all.
    #[command(flatten)]
    pub output: Output,
    /// Resources to use.
    #[command(flatten)]
    pub limits: Limits,
}

pub(super) fn run(args: &ExplainArgs, ui: &Ui) -> Result<u8> {
    let asked = args.which.as_deref().map(Asked::parse).transpose()?;
    let control = signals::control();
    let queries = queries_with_folders(&args.sql_path.folders)?;
    let database = args.recordings.choice().of(Database::open(&args.database)?)?;
    let given = (&args.limits, Some(&args.sql_path));
    let session = query::session(database, given, queries, (None, ui), control.flag_shared())?;
    ui.doubts(&doubts(session.database(), None)?);
    let Some(asked) = asked else {
        let mut all = session.sql("SELECT * FROM response_part", &[])?;
        let (schema, times) = (Arc::clone(all.schema()), all.times().to_vec());
        return show(&session, args, &schema, &times, &mut all, ui);
    };
    check_metric(&session, &asked)?;
    if args.slow {
        let (rows, times) = slow_parts(&session, &asked)?;
        if is_text(args) {
            output::print(&slow_text::text(&asked.entity, &rows, session.database().time_scale())?)?;
            return Ok(0);
        }
        let Some(first) = rows.first() else { return Ok(0) };
        let schema = first.schema();
        return show(&session, args, &schema, &times, &mut rows.into_iter().map(Ok), ui);
    }
    let chosen = find(&session, &asked, &[])?;
    let (rows, times) = parts(&session, &chosen)?;
    let Some(first) = rows.first() else { return Ok(0) };
    if is_text(args) {
        let scale = session.database().time_scale();
        let lost = match span(&rows)? {
            Some(span) => lost_activations(&session, &chosen, span)?,
            None => Vec::new(),
        };
        output::print(&explanation::text((&chosen, asked.which), &rows, &lost, scale)?)?;
        return Ok(0);
    }
    let schema = first.schema();
    show(&session, args, &schema, &times, &mut rows.into_iter().map(Ok), ui)
}

/// Sentences are printed where no rows are asked for.
fn is_text(args: &ExplainArgs) -> bool {
    args.output.format == Format::Auto && args.output.output.is_none() && args.unit.unit.is_none()
}

fn show(
    session: &Session,
    args: &ExplainArgs,
    schema: &arrow::datatypes::SchemaRef,
    times: &[bool],
    rows: &mut (dyn Iterator<Item = Result<RecordBatch>> + Send),
    ui: &Ui,
) -> Result<u8> {
    let (scale, threads) = (session.database().time_scale(), session.threads());
    match args.unit.unit {
        Some(unit) => {
            let unit = InUnit::new(schema, times, scale, unit);
            let rows = &mut rows.map(|batch| unit.convert(&batch?));
            output::show(unit.schema(), rows, &args.output, threads, ui)?;
        }
        None => output::show(schema, rows, &args.output, threads, ui)?,
    }
    Ok(0)
}
