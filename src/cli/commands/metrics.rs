//! `btfdb metrics`.

use super::super::args::Metrics;
use super::super::signals;
use super::super::ui::Ui;
use super::{output, parse, query};
use crate::error::{Error, Result};
use crate::query::{MetricFilter, metric_sql, metrics};
use std::io::Write;

pub(super) fn run(args: &Metrics, ui: &Ui) -> Result<u8> {
    if args.list {
        return print(&list());
    }
    if let Some(name) = &args.show {
        return print(metric_sql(name)?);
    }
    let Some(database) = &args.database else { return Err(Error::usage("give a database")) };
    let control = signals::control();
    let session = query::open(database, &args.limits)?.with_interrupt(control.flag_shared());
    let session = query::with_chains(session, args.chains.as_deref())?;
    let scale = session.database().time_scale();
    let filter = MetricFilter {
        recording: args.recording.clone(),
        entity: args.entity.clone(),
        from: parse::time("--from", args.from.as_deref(), scale)?,
        to: parse::time("--to", args.to.as_deref(), scale)?,
    };
    let result = session.metrics(&args.metrics, &filter)?;
    let schema = result.schema();
    output::show(&schema, &mut std::iter::once(Ok(result)), &args.output, session.threads(), ui)?;
    Ok(0)
}

/// The metrics, one a line: name, unit, what it measures.
pub(in crate::cli) fn list() -> String {
    let width = metrics().iter().map(|m| m.name.len()).max().unwrap_or(0);
    let line = |m: &crate::query::Metric| {
        let first = m.doc.lines().next().unwrap_or_default();
        let summary = first.split(". ").next().unwrap_or_default().trim_end_matches('.');
        format!("{:width$}  {:8}  {summary}\n", m.name, m.unit.as_str())
    };
    metrics().iter().map(line).collect()
}

fn print(text: &str) -> Result<u8> {
    let mut out = std::io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.map_err(|e| Error::io("write to", "standard output", e))?;
    Ok(0)
}
