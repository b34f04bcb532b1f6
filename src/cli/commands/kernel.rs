//! Options about events of a kernel trace. Not what is done with the selected events.

use super::super::args::{KernelArgs, WhoArg};
use crate::engine::RowFilter;
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
