//! The parts of one response: only what it needs is read. Not of many, for which a recording is read once
//! (see `feed`), nor what matters of the time before it (see `earlier`).

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use arrow::array::RecordBatch;
use datafusion::common::Result;
use datafusion::execution::SessionState;
use futures::TryStreamExt;

use super::earlier::{Unclear, is_triggered};
use super::failed;
use super::feed::{Ended, Feed, second};
use super::handlers::{Handlers, Shared};
use super::names::Names;
use super::rows::PartRows;
use super::trigger::Trigger;
use super::window::{Window, rows_of, run, take_in};
use crate::explain::Actor;
use crate::schema::result::{self, Integers, Texts};
use crate::sql_text::literal;
use crate::store::Database;

/// What happened a hundredth of a second before is read at once.
const SHORTLY: i64 = 100;

/// The response that is asked for.
pub(super) struct One<'a> {
    pub recording: &'a str,
    /// Process and number.
    pub instance: (&'a str, i64),
    /// It ends behind the first time, and begins before the second one, if they are known.
    pub within: (Option<i64>, Option<i64>),
}

impl One<'_> {
    /// Its parts; none if it is not complete, or there is no such instance.
    pub async fn parts(
        &self,
        state: &SessionState,
        database: &Arc<Database>,
        columns: &[usize],
    ) -> Result<Vec<RecordBatch>> {
        let mut and = " AND complete".to_owned();
        // Writing to a text does not fail.
        if let Some(after) = self.within.0 {
            let _ = write!(and, " AND terminate_at > {after}");
        }
        if let Some(before) = self.within.1 {
            // Only conditions of a single column let pages be skipped.
            let _ = write!(
                and,
                " AND (activate_at < {before} OR activate_at IS NULL) \
                 AND (activate_at < {before} OR start_at < {before})"
            );
        }
        match span(state, self.recording, self.instance, &and).await? {
            Some(span) => parts_of(state, database, (self.recording, self.instance), span, columns).await,
            None => Ok(Vec::new()),
        }
    }
}

/// The parts of the response of an instance of a process, which is `[begin, end)`.
async fn parts_of(
    state: &SessionState,
    database: &Arc<Database>,
    (recording, instance): (&str, (&str, i64)),
    (begin, end): (i64, i64),
    columns: &[usize],
) -> Result<Vec<RecordBatch>> {
    let second = second(database);
    // Who delays it has mostly begun before it, but not long before. So has what triggered its stimulus.
    let from = begin.saturating_sub(second / SHORTLY).max(-i64::MAX);
    let (mut triggers, mut since, mut before) = (from, from, BTreeMap::new());
    let shared = &Shared::of_recording(database, recording).map_err(failed)?;
    loop {
        let names = Names::of(recording);
        let mut rows = PartRows::new(columns, &names)?;
        let only = Actor { process: names.intern(instance.0), instance: instance.1 };
        let wanted = move |actor| actor == only;
        let mut feed = Feed::of((database, recording), names.clone(), wanted).map_err(failed)?;
        let mut window = Window { triggers, since, from, to: end, before: &before, shared };
        if !shared.is_empty() {
            // Those that are there when the window begins were mostly activated just before it: of those that
            // were activated more than a second before, it is not known what events call them.
            let first = triggers.min(since);
            let known = (recording, shared, &names);
            let mut handlers = handlers_of(state, known, (first.saturating_sub(second), first, end)).await?;
            if let Some(before) = handlers.first().filter(|at| *at < first) {
                // Others that were activated as late may have ended.
                handlers = handlers_of(state, known, (before, before, end)).await?;
                window.triggers = before;
            }
            feed.handlers(handlers);
        }
        feed.began(only, begin);
        let mut trigger = Trigger::of(only);
        let mut batches = run(state, &rows_of(recording, window)).await?;
        while let Some(batch) = batches.try_next().await? {
            take_in((&mut feed, &mut trigger), &names, &batch, Ended { actor: only, begin, end })
                .map_err(failed)?;
        }
        let made = feed.finish();
        let earliest = begin.saturating_sub(second);
        if triggers > earliest
            && let Some(stimulus) = trigger.missing_in(&made)
            && is_triggered(state, recording, &stimulus, (earliest, triggers)).await?
        {
            triggers = earliest;
            continue;
        }
        let mut unclear = Unclear::of(&made);
        unclear.cores.retain(|core| !before.contains_key(core));
        let (earlier, found) = (
            unclear.begins(state, (database, recording), since).await?,
            unclear.last_ends(state, recording, from).await?,
        );
        if earlier.is_none() && found.is_empty() {
            return rows.batches(&made);
        }
        before.extend(found);
        // At least as much more is read each time: it is read few times.
        let earlier = earlier.map(|earlier| earlier.min(since.saturating_sub(end.saturating_sub(since))));
        since = earlier.unwrap_or(since);
    }
}

/// The ISRs of shared names that are activated in `[after, to]` and do not end before `from`.
async fn handlers_of(
    state: &SessionState,
    (recording, shared, names): (&str, &Shared, &Names),
    (after, from, to): (i64, i64, i64),
) -> Result<Handlers> {
    // Least times that can be written. Only conditions of a single column let pages be skipped.
    let [after, from] = [after, from].map(|time| time.max(-i64::MAX));
    let statement = format!(
        "SELECT activate_at, instance, process FROM process_instance WHERE recording = {} AND type = 'I' \
         AND activate_at BETWEEN {after} AND {to} AND (terminate_at >= {from} OR terminate_at IS NULL)",
        literal(recording)
    );
    let mut activations = Vec::new();
    let mut batches = run(state, &statement).await?;
    while let Some(batch) = batches.try_next().await? {
        let ([times, instances], processes) =
            result::columns::<([Integers; 2], Texts)>(&batch).map_err(failed)?;
        activations.extend((0..batch.num_rows()).map(|row| {
            let process = names.intern(processes.value(row));
            (times.value(row), Actor { process, instance: instances.value(row) })
        }));
    }
    Ok(Handlers::of(shared, names, activations))
}

/// Begin and end of an instance that fulfils a condition `and`; `None` if there is none, or its begin or end
/// is not known.
async fn span(
    state: &SessionState,
    recording: &str,
    (process, instance): (&str, i64),
    and: &str,
) -> Result<Option<(i64, i64)>> {
    let [recording, process] = [recording, process].map(literal);
    let statement = format!(
        "SELECT coalesce(activate_at, start_at) AS begin_at, terminate_at AS end_at FROM process_instance \
         WHERE recording = {recording} AND instance = {instance} AND process = {process}{and}"
    );
    // One row fulfils the conditions: of the others, no further column is made.
    let mut state = state.clone();
    let options = &mut state.config_mut().options_mut().execution.parquet;
    (options.pushdown_filters, options.reorder_filters) = (true, false);
    let mut found = None;
    let mut batches = run(&state, &statement).await?;
    while let Some(batch) = batches.try_next().await? {
        let [begins, ends] = result::columns::<[Integers; 2]>(&batch).map_err(failed)?;
        found = found.or_else(|| begins.get(0).zip(ends.get(0)));
    }
    Ok(found)
}
