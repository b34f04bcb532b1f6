//! `btfdb metrics`.

use super::super::args::{ClusterArg, Format as ResultFormat, Limits, Output, Recordings, SqlPath, UnitArg};
use super::super::location;
use super::super::on_cluster;
use super::super::signals;
use super::super::ui::Ui;
use super::{histogram, output, parse, picture, query};
use crate::engine::{Session, queries_with_folders};
use crate::error::{Error, Result};
use crate::library::{Metric, Queries};
use crate::metrics::{Across, MEASUREMENT, MEASUREMENT_SQL, MetricFilter, absent, bins_of, in_unit};
use crate::ops::{self, findings::doubts, metrics::is_measurement, tail::Tails};
use crate::render::Format;
use crate::store::{Database, Location, Recording};
use crate::tail::WHAT_IT_IS_NOT;
use crate::time::{TimeScale, TimeWindows};
use arrow::array::RecordBatch;
use clap::{Args, ValueHint};
use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

/// Print timing metrics: min, avg, max, percentiles, jitter, and when the extremes happened.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  btfdb metrics engine.db
  btfdb metrics engine.db ResponseTime --entity T_5 --from 100ms --to 200ms
  btfdb metrics engine.db CPULoad Preemptions --window 50ms --step 10ms
  btfdb metrics engine.db ResponseTime --histogram --format table
  btfdb metrics engine.db ResponseTime --unit ms -o response.md
  btfdb metrics engine.db NetExecutionTime --tail --unit ms
  btfdb metrics engine.db ResponseTime --tail --entity T_5 --picture tail.svg
  btfdb metrics engine.db grasp
  btfdb metrics --list
  btfdb metrics engine.db --sql-path my_queries --format json")]
pub struct MetricsArgs {
    /// Database: a folder, or a URL such as s3://bucket/fleet.db.
    #[arg(required_unless_present_any = ["list", "show"], value_parser = location::parser(), value_hint = ValueHint::DirPath)]
    pub database: Option<Location>,
    /// Metrics by name, or grasp for the measurement table of Grasp; all metrics when none is given.
    pub metrics: Vec<String>,
    /// List the metrics.
    #[arg(long)]
    pub list: bool,
    /// Print the SQL of a metric.
    #[arg(long, value_name = "METRIC")]
    pub show: Option<String>,
    /// Which recordings.
    #[command(flatten)]
    pub recordings: Recordings,
    /// All recordings as one: the worst of a fleet, percentiles over all of it. With =LABEL, those with the
    /// same value of the label as one.
    #[arg(long, value_name = "LABEL", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    #[arg(conflicts_with = "histogram")]
    pub across: Option<String>,
    /// Only these tasks, ISRs, runnables or cores: a list, with * and ? for any characters, e.g. T_1,ISR_*.
    #[arg(long, value_name = "NAMES")]
    pub entity: Option<String>,
    /// Samples at or after this instant, e.g. 412ms.
    #[arg(long, allow_hyphen_values = true, value_name = "T")]
    pub from: Option<String>,
    /// Samples before this instant.
    #[arg(long, allow_hyphen_values = true, value_name = "T")]
    pub to: Option<String>,
    /// A row for every window of this length, e.g. 10ms; they begin at multiples of the step.
    #[arg(long, value_name = "T")]
    pub window: Option<String>,
    /// Distance between the begins of two windows; their length when left out.
    #[arg(long, value_name = "T", requires = "window")]
    pub step: Option<String>,
    /// Show how many samples are how long: bars in a table, rows of bins in other formats.
    #[arg(long, conflicts_with = "window")]
    pub histogram: bool,
    /// How rare greater samples are than those of the recording: extreme value distributions, fitted to the
    /// greatest ones, with values that one instance in so many exceeds. Where samples are not fit for that,
    /// the reason.
    #[arg(long, conflicts_with_all = ["window", "histogram", "across", "cluster"])]
    pub tail: bool,
    /// With --tail, also draws it, for each entity: samples by their rarity, the fitted distribution with its
    /// interval, and the values that one instance in so many exceeds. FILE.svg, .png or .pdf.
    #[arg(long, value_name = "FILE", requires = "tail")]
    pub picture: Option<PathBuf>,
    /// SQL of the user.
    #[command(flatten)]
    pub sql_path: SqlPath,
    /// TOML file with [[chain]] entries, for chain_instance, chain_latency and the chain metrics; `btfdb
    /// chains` makes one.
    #[arg(long, value_name = "FILE")]
    pub chains: Option<PathBuf>,
    /// The unit of times.
    #[command(flatten)]
    pub unit: UnitArg,
    /// How to print.
    #[command(flatten)]
    pub output: Output,
    /// Who does the work.
    #[command(flatten)]
    pub cluster: ClusterArg,
    /// Resources to use.
    #[command(flatten)]
    pub limits: Limits,
}

pub(super) fn run(args: &MetricsArgs, ui: &Ui) -> Result<u8> {
    check_options(args)?;
    let queries = queries_with_folders(&args.sql_path.folders)?;
    if args.list {
        return output::print(&list(&queries)).map(|()| 0);
    }
    if args.show.as_deref().is_some_and(is_measurement) {
        return output::print(&format!("{}\n", MEASUREMENT_SQL.trim_end())).map(|()| 0);
    }
    if let Some(name) = &args.show {
        return output::print(&shown(queries.metric(name)?)).map(|()| 0);
    }
    let Some(database) = &args.database else { return Err(Error::usage("give a database")) };
    output::check(args.output.output.as_deref(), args.output.force)?;
    if let Some(file) = &args.picture {
        picture::check(file, args.output.force)?;
        if args.output.output.as_ref() == Some(file) {
            return Err(Error::usage("the rows and the picture are for the same file")
                .hint("give --output another name"));
        }
    }
    let control = signals::control();
    let chains = args.chains.as_deref();
    let database = args.recordings.choice().of(Database::open(database)?)?;
    let given = (&args.limits, Some(&args.sql_path));
    let session = query::session(database, given, queries, (chains, ui), control.flag_shared())?;
    let scale = session.database().time_scale();
    let filter = MetricFilter {
        entity: args.entity.clone(),
        from: parse::time("--from", args.from.as_deref(), scale)?,
        to: parse::time("--to", args.to.as_deref(), scale)?,
        windows: windows(args, scale)?,
        across: args.across.as_deref().map(|label| across(session.database(), label)).transpose()?,
        ..MetricFilter::default()
    };
    if args.tail {
        return tails(args, &session, &filter, ui);
    }
    let cluster = args.cluster.cluster.as_deref().map(|address| (address, control.flag_shared()));
    if cluster.is_some() && args.metrics.iter().any(|name| is_measurement(name)) {
        return Err(Error::usage(format!("a cluster does not make the table {MEASUREMENT}")));
    }
    ui.doubts(&match &cluster {
        Some(at) => on_cluster::doubts(&session, at)?,
        None => doubts(session.database(), None)?,
    });
    let result = if args.histogram {
        let histograms = match &cluster {
            Some(at) => on_cluster::histograms(&session, at, &args.metrics, &filter)?,
            None => ops::metrics::histograms(&session, &args.metrics, &filter)?,
        };
        let bins = bins_of(&histograms)?;
        report_absent(args, &session, &filter, &bins, ui)?;
        if output::format_of(&args.output)? == Format::Table {
            let times = histogram::Times { scale, unit: args.unit.unit };
            let text = histogram::text(&histograms, times, output::width());
            return output::print_to(&args.output, &text).map(|()| 0);
        }
        match args.unit.unit {
            Some(unit) => in_unit(&bins, scale, unit)?,
            None => bins,
        }
    } else {
        let table = match &cluster {
            Some(at) => on_cluster::summaries(&session, at, &args.metrics, &filter, args.unit.unit)?,
            None => ops::metrics::table(&session, &args.metrics, &filter, args.unit.unit)?,
        };
        report_absent(args, &session, &filter, &table, ui)?;
        table
    };
    let schema = result.schema();
    output::show(&schema, &mut std::iter::once(Ok(result)), &args.output, session.threads(), ui)?;
    Ok(0)
}

/// Fails for an option that a list of metrics, or the SQL of one, has no use for.
fn check_options(args: &MetricsArgs) -> Result<()> {
    let option = match (args.list, &args.show) {
        (true, _) => "--list",
        (false, Some(_)) => "--show",
        (false, None) => return Ok(()),
    };
    if let Some(name) = args.metrics.first() {
        return Err(Error::usage(format!("{option} reads no samples, also not those of '{name}'")).hint(
            format!("the samples: btfdb metrics DB {name}; what they are: btfdb metrics --show {name}"),
        ));
    }
    if let Some(output) = &args.output.output {
        let message = format!("{option} prints text, it makes no result for '{}'", output.display());
        return Err(Error::usage(message).hint(format!("btfdb metrics {option} … > FILE")));
    }
    if args.output.format != ResultFormat::Auto {
        let error = Error::usage(format!("{option} prints text, it has no other format"));
        return Err(error.hint("leave --format out"));
    }
    let of_rows = [
        ("--recording", args.recordings.recording.is_some()),
        ("--where-label", !args.recordings.where_label.is_empty()),
        ("--across", args.across.is_some()),
        ("--entity", args.entity.is_some()),
        ("--from", args.from.is_some()),
        ("--to", args.to.is_some()),
        ("--window", args.window.is_some()),
        ("--histogram", args.histogram),
        ("--tail", args.tail),
        ("--chains", args.chains.is_some()),
        ("--unit", args.unit.unit.is_some()),
        ("--force", args.output.force),
        ("--cluster", args.cluster.cluster.is_some()),
    ];
    match of_rows.into_iter().find_map(|(of_rows, is_given)| is_given.then_some(of_rows)) {
        Some(of_rows) => Err(Error::usage(format!("{of_rows} is for samples, and {option} reads none"))
            .hint(format!("leave {of_rows} out"))),
        None => Ok(()),
    }
}

/// Fits of the greatest samples, and what they are not.
fn tails(args: &MetricsArgs, session: &Session, filter: &MetricFilter, ui: &Ui) -> Result<u8> {
    ui.doubts(&doubts(session.database(), None)?);
    let asked = Tails {
        metrics: args.metrics.clone(),
        entity: filter.entity.clone(),
        from: filter.from,
        to: filter.to,
        unit: args.unit.unit,
        picture: args.picture.is_some(),
    };
    let (rows, chart) = ops::tail::tails(session, &asked)?;
    if let (Some(file), Some(chart)) = (&args.picture, chart) {
        picture::write(&chart, file, args.output.force, ui)?;
    }
    let schema = rows.schema();
    output::show(&schema, &mut std::iter::once(Ok(rows)), &args.output, session.threads(), ui)?;
    ui.status(WHAT_IT_IS_NOT);
    Ok(0)
}

/// How recordings are taken together: all of them, or by the value of a label.
fn across(database: &Database, label: &str) -> Result<Across> {
    if label.is_empty() {
        return Ok(Across::All);
    }
    let recordings = database.recordings()?.iter();
    let value =
        |recording: &Arc<Recording>| Some((recording.name.clone(), recording.labels.get(label)?.clone()));
    let values: HashMap<_, _> = recordings.filter_map(value).collect();
    if values.is_empty() {
        let known: BTreeSet<_> = database.recordings()?.iter().flat_map(|r| r.labels.keys()).collect();
        let error = Error::usage(format!("no recording has a label '{label}'"));
        return Err(error.hint_near(label, known.into_iter().map(String::as_str), |all| {
            format!("the labels are: {all}")
        }));
    }
    Ok(Across::Label(values))
}

/// Says of what there are no samples, and why.
fn report_absent(
    args: &MetricsArgs,
    session: &Session,
    filter: &MetricFilter,
    rows: &RecordBatch,
    ui: &Ui,
) -> Result<()> {
    absent(session, &args.metrics, filter, rows)?.iter().for_each(|why| ui.warning(why));
    // Who asks for all metrics does not miss those of chains.
    if !args.metrics.is_empty() {
        query::report_missed_chains(session, ui);
    }
    Ok(())
}

/// The requested windows.
fn windows(args: &MetricsArgs, scale: TimeScale) -> Result<Option<TimeWindows>> {
    let Some(width) = parse::time("--window", args.window.as_deref(), scale)? else { return Ok(None) };
    let step = parse::time("--step", args.step.as_deref(), scale)?.unwrap_or(width);
    for (option, length) in [("--window", width), ("--step", step)] {
        if length <= 0 {
            return Err(Error::usage(format!("{option}: a length of time greater than 0 is needed")));
        }
    }
    Ok(Some(TimeWindows { width, step }))
}

/// The metrics, one per line: name, unit, what it measures, and its other names.
pub(in crate::cli) fn list(queries: &Queries) -> String {
    let width = queries.metrics().iter().map(|m| m.name.len()).max().unwrap_or(0);
    let line = |m: &Metric| {
        let first = m.doc.lines().next().unwrap_or_default();
        let summary = first.split(". ").next().unwrap_or_default().trim_end_matches('.');
        let others: Vec<&str> = m.names().skip(1).collect();
        let others = if others.is_empty() { String::new() } else { format!(" [{}]", others.join(" ")) };
        format!("{:width$}  {:8}  {summary}{others}\n", m.name, m.unit.as_str())
    };
    let table = "WCET, ACET, BCET, WCRT, ACRT and BCRT of each task, as the measurement of Grasp has them";
    let first = format!("{MEASUREMENT:width$}  {:8}  {table}\n", "table");
    std::iter::once(first).chain(queries.metrics().iter().map(line)).collect()
}

/// The SQL of a metric.
pub(in crate::cli) fn shown(metric: &Metric) -> String {
    format!("{}\n", metric.sql.trim_end())
}
