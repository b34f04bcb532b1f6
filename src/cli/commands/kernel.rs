//! Options about events of a kernel trace. Not what is done with the selected events.

use super::super::args::{KernelArgs, WhoArg};
use super::super::ui::Ui;
use crate::engine::{RowFilter, Session};
use crate::error::{Error, Result};
use crate::ops::Keep;
use crate::qnx::{KernelFilter, MatchedBy};
use crate::schema::tables;
use std::sync::Arc;

/// The filter of the options.
pub(super) fn filter(args: &KernelArgs) -> KernelFilter {
    KernelFilter {
        classes: args.classes.clone(),
        not_classes: args.not_classes.clone(),
        events: args.events.clone(),
        not_events: args.not_events.clone(),
        pids: args.pids.clone(),
        tids: args.tids.clone(),
        processes: args.processes.clone(),
        matched_by: match args.who {
            WhoArg::Any => MatchedBy::Any,
            WhoArg::Subject => MatchedBy::Subject,
            WhoArg::Actor => MatchedBy::Actor,
            WhoArg::Live => MatchedBy::Live,
        },
        cpus: args.cpus.clone(),
        condition: args.condition.clone(),
    }
}

/// Fails for the first process, thread or CPU of a filter that no kernel event has; warns of classes and
/// events that do not occur, which only one of several traces may have.
pub(super) fn check(session: &Session, filter: &KernelFilter, ui: &Ui) -> Result<()> {
    // A mistake in a word of another option comes first.
    filter.sql()?;
    let alone = || KernelFilter { matched_by: filter.matched_by, ..KernelFilter::default() };
    let number = |what: &'static str, n: &i64, of: KernelFilter| (format!("{what} {n}"), None, of);
    let pids = filter.pids.iter().map(|n| number("process", n, KernelFilter { pids: vec![*n], ..alone() }));
    let tids = filter.tids.iter().map(|n| number("thread", n, KernelFilter { tids: vec![*n], ..alone() }));
    let cpus = filter.cpus.iter().map(|n| number("CPU", n, KernelFilter { cpus: vec![*n], ..alone() }));
    let named = filter.processes.iter().map(|name| {
        let of = KernelFilter { processes: vec![name.clone()], ..alone() };
        (format!("process '{name}'"), Some(name), of)
    });
    for (what, name, of) in pids.chain(tids).chain(cpus).chain(named) {
        let sql = format!("SELECT class_name FROM kernel_event WHERE {} LIMIT 1", of.sql()?);
        if session.names(&sql, &[])?.is_empty() {
            let error = Error::usage(format!("no kernel event is of {what}"));
            let Some(name) = name else { return Err(error) };
            let known = "SELECT DISTINCT regexp_replace(name, '^.*/', '') AS name FROM kernel_process";
            let known = session.names(known, &[])?;
            return Err(error.hint_near(name, known.iter().map(String::as_str), |_| {
                "table kernel_process has the processes".to_owned()
            }));
        }
    }
    for (what, only) in filter.occurrences()? {
        if session
            .names(&format!("SELECT class_name FROM kernel_event WHERE {only} LIMIT 1"), &[])?
            .is_empty()
        {
            ui.warning(&format!("no kernel event is of {what}"));
        }
    }
    Ok(())
}

/// The rows to keep at an ingest; `None`: all.
pub(super) fn keep(args: &KernelArgs) -> Result<Option<Keep>> {
    let filter = filter(args);
    if filter.is_all() {
        return Ok(None);
    }
    if !filter.processes.is_empty() {
        return Err(Error::usage("--process needs the names of processes, which are known after the ingest")
            .hint("ingest with --pid, or use --process with export and query"));
    }
    if let Some(condition) = &filter.condition {
        // Alone, so that an error points at a place in the user's text.
        RowFilter::new(tables::KERNEL_EVENT, condition)?;
    }
    let rows = RowFilter::new(tables::KERNEL_EVENT, &filter.sql()?)?;
    Ok(Some(Keep { table: tables::KERNEL_EVENT, rows: Arc::new(move |batch| rows.keep(batch)) }))
}
