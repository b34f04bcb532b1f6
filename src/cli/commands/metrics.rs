//! `btfdb metrics`.

use super::super::args::Metrics;
use super::super::signals;
use super::super::ui::Ui;
use super::{histogram, output, parse, query};
use crate::engine::{Session, queries_with_folders};
use crate::error::{Error, Result};
use crate::library::{Metric, Queries};
use crate::metrics::{MEASUREMENT, MEASUREMENT_SQL, MetricFilter, bins_of};
use crate::render::Format;
use crate::time::TimeScale;
use crate::time::TimeWindows;
use std::io::Write;

pub(super) fn run(args: &Metrics, ui: &Ui) -> Result<u8> {
    let queries = queries_with_folders(&args.sql_path.folders)?;
    if args.list {
        return print(&list(&queries));
    }
    if args.show.as_deref().is_some_and(is_measurement) {
        return print(&format!("{}\n", MEASUREMENT_SQL.trim_end()));
    }
    if let Some(name) = &args.show {
        return print(&shown(queries.metric(name)?));
    }
    let Some(database) = &args.database else { return Err(Error::usage("give a database")) };
    let control = signals::control();
    let session = query::open_with(database, &args.limits, queries)?.with_interrupt(control.flag_shared());
    let session = query::with_chains(session, args.chains.as_deref())?;
    let scale = session.database().time_scale();
    let filter = MetricFilter {
        recording: args.recording.clone(),
        entity: args.entity.clone(),
        from: parse::time("--from", args.from.as_deref(), scale)?,
        to: parse::time("--to", args.to.as_deref(), scale)?,
        windows: windows(args, scale)?,
    };
    if args.metrics.iter().any(|name| is_measurement(name)) {
        return measurement(&session, args, &filter, ui);
    }
    let result = if args.histogram {
        let histograms = session.histograms(&args.metrics, &filter)?;
        let mut target = output::Target::open(args.output.output.as_deref(), args.output.force)?;
        if output::format(args.output.format, target.is_terminal()) == Format::Table {
            let text = histogram::text(&histograms, scale, output::width());
            let path = args.output.output.clone().unwrap_or_else(|| "standard output".into());
            target.out().write_all(text.as_bytes()).map_err(|e| Error::io("write to", path, e))?;
            target.finish()?;
            return Ok(0);
        }
        bins_of(&histograms)?
    } else {
        session.metrics(&args.metrics, &filter)?
    };
    let schema = result.schema();
    output::show(&schema, &mut std::iter::once(Ok(result)), &args.output, session.threads(), ui)?;
    Ok(0)
}

fn is_measurement(name: &str) -> bool {
    name.eq_ignore_ascii_case(MEASUREMENT)
}

/// The table of Grasp, which has other columns than metrics.
fn measurement(session: &Session, args: &Metrics, filter: &MetricFilter, ui: &Ui) -> Result<u8> {
    if args.metrics.len() > 1 {
        return Err(Error::usage(format!("{MEASUREMENT} is a table of its own, without other metrics")));
    }
    if args.histogram || filter.windows.is_some() {
        return Err(Error::usage(format!("{MEASUREMENT} has neither windows nor histograms"))
            .hint("the metrics NetExecutionTime and ResponseTime have"));
    }
    let result = session.measurement(filter)?;
    let schema = result.schema();
    output::show(&schema, &mut std::iter::once(Ok(result)), &args.output, session.threads(), ui)?;
    Ok(0)
}

/// The windows that are asked for.
fn windows(args: &Metrics, scale: TimeScale) -> Result<Option<TimeWindows>> {
    let Some(width) = parse::time("--window", args.window.as_deref(), scale)? else { return Ok(None) };
    let step = parse::time("--step", args.step.as_deref(), scale)?.unwrap_or(width);
    for (option, length) in [("--window", width), ("--step", step)] {
        if length <= 0 {
            return Err(Error::usage(format!("{option}: a length of time greater than 0 is needed")));
        }
    }
    Ok(Some(TimeWindows { width, step }))
}

/// The metrics, one a line: name, unit, what it measures, and what others call it.
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

fn print(text: &str) -> Result<u8> {
    let mut out = std::io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.map_err(|e| Error::io("write to", "standard output", e))?;
    Ok(0)
}
