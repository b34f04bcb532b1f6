//! The rows that the explanation of one response needs: states, runnables, events, calls and ends of a
//! window, by one statement, in the order of time. Not those of all responses (see `stored`), nor what
//! follows from rows (see `feed`).

use std::collections::BTreeMap;

use arrow::array::RecordBatch;
use datafusion::execution::{SendableRecordBatchStream, SessionState};
use datafusion::physical_plan::execute_stream;

use super::feed::{Ended, Event, Feed, state};
use super::handlers::Shared;
use super::names::Names;
use super::trigger::Trigger;
use crate::btf::{Action, EntityType};
use crate::error::Result;
use crate::explain::{Actor, RunnableSpan, StateSpan};
use crate::schema::result::{self, Integers, Texts};
use crate::sql_text::{literal, literals};

/// A part of a recording, `[from, to)` in ticks: spans that are in it, events from `since` on, and triggers
/// of stimuli from `triggers` on, and activations of ISRs whose names are shared; also the spans on some
/// cores that ended at a time before it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window<'a> {
    pub triggers: i64,
    pub since: i64,
    pub from: i64,
    pub to: i64,
    pub before: &'a BTreeMap<String, i64>,
    pub shared: &'a Shared,
}

/// What a row says.
mod rank {
    pub const EVENT: i64 = 0;
    pub const STATE: i64 = 1;
    pub const RUNNABLE: i64 = 2;
    pub const CALL: i64 = 3;
    pub const ENDED: i64 = 4;
}

/// Selects the rows of a window, in the order of time.
pub(super) fn rows_of(recording: &str, window: Window<'_>) -> String {
    let recording = format!("recording = {}", literal(recording));
    let Window { triggers, since, from, to, before, shared } = window;
    // Least times that can be written.
    let [triggers, since] = [triggers, since].map(|time| time.max(-i64::MAX));
    let first = triggers.min(since);
    let spans = format!(" AND end_at > {from} AND begin_at < {to}");
    let mut earlier = "is_action(action, 'trigger')".to_owned();
    if !shared.is_empty() {
        let names = literals(shared.names());
        earlier += &format!(" OR is_action(action, 'activate') AND target IN ({names})");
    }
    let events = format!(" AND time BETWEEN {first} AND {to} AND (time >= {since} OR {earlier})");
    let calls = format!(" AND enter_at BETWEEN {since} AND {to}");
    let ends = format!(" AND terminate_at BETWEEN {since} AND {to}");
    let (event, state, runnable, call, ended) =
        (rank::EVENT, rank::STATE, rank::RUNNABLE, rank::CALL, rank::ENDED);
    // Each of its own, so that pages can be skipped.
    let before: String = before
        .iter()
        .map(|(core, end)| {
            let core = literal(core);
            format!(
                "UNION ALL \
                 SELECT end_at, {state}, 0, state, process, type, instance, begin_at, NULL, NULL, core \
                 FROM process_state WHERE {recording} AND core = {core} AND end_at = {end} \
                 AND end_at <= {from} AND state IN ('running', 'polling') "
            )
        })
        .collect();
    format!(
        "SELECT time, {event} AS rank, seq, action AS word, target AS process, target_type AS type, \
         target_instance AS instance, CAST(NULL AS BIGINT) AS begin_at, source AS other, \
         source_instance AS number, note AS place \
         FROM btf_event WHERE {recording}{events} \
         AND (is_type(target_type, 'SEM') OR is_type(target_type, 'EVENT') OR is_action(action, 'activate', 'trigger')) \
         UNION ALL \
         SELECT end_at, {state}, 0, state, process, type, instance, begin_at, NULL, NULL, core \
         FROM process_state WHERE {recording}{spans} {before}\
         UNION ALL \
         SELECT end_at, {runnable}, 0, state, process, NULL, process_instance, begin_at, runnable, depth, NULL \
         FROM runnable_state WHERE {recording}{spans} AND state = 'running' AND process IS NOT NULL \
         UNION ALL \
         SELECT enter_at, {call}, 0, name, process, type, instance, NULL, NULL, NULL, core \
         FROM os_call WHERE {recording}{calls} AND name = 'Schedule' AND enter_at IS NOT NULL AND process IS NOT NULL \
         UNION ALL \
         SELECT terminate_at, {ended}, 0, NULL, process, NULL, instance, coalesce(activate_at, start_at), NULL, NULL, NULL \
         FROM process_instance WHERE {recording}{ends} \
         ORDER BY time, rank, seq"
    )
}

/// Feeds rows of [`rows_of`]. Of all ends that have the name and number of `only`, that one counts.
pub(super) fn take_in(
    (feed, trigger): (&mut Feed, &mut Trigger),
    names: &Names,
    batch: &RecordBatch,
    only: Ended,
) -> Result<()> {
    type Rows = ([Integers; 2], Integers, Texts, [Texts; 2], [Integers; 2], Texts, Integers, Texts);
    let ([time, rank], _, word, [process, kind], [instance, begin], other, number, place) =
        result::columns::<Rows>(batch)?;
    for row in 0..batch.num_rows() {
        let now = time.value(row);
        let name = |of: &Texts| of.get(row).map(|name| names.intern(name));
        let target = name(&process);
        let actor = target.map(|process| Actor { process, instance: instance.value(row) });
        match (rank.value(row), actor) {
            (rank::EVENT, _) => {
                let (action, kind) = (word.value(row), kind.value(row));
                let what = Event::what(Action::parse_tolerant(action), EntityType::parse_tolerant(kind));
                let Some(what) = what else { continue };
                let (source, owner) = (name(&other), name(&place));
                let (instance, number) = (instance.get(row), number.get(row));
                let event = Event { what, target, instance, source, number, owner };
                let event = feed.meant(now, event);
                trigger.event(&event);
                feed.happened(now, &event);
            }
            (rank::STATE, Some(actor)) => {
                let Some(state) = state(word.value(row)) else { continue };
                let is_isr = EntityType::parse_tolerant(kind.value(row)) == Some(EntityType::Isr);
                let span = StateSpan { actor, core: name(&place), state, begin: begin.value(row), end: now };
                feed.state(span, is_isr);
            }
            (rank::CALL, Some(actor)) => feed.yields(actor, now),
            (rank::ENDED, Some(actor)) => {
                let one = Ended { actor, begin: begin.get(row).unwrap_or(now), end: now };
                if actor != only.actor || one == only {
                    feed.ended(one);
                }
            }
            (_, Some(actor)) => {
                let Some(runnable) = name(&other) else { continue };
                let depth = u32::try_from(number.value(row)).unwrap_or(u32::MAX);
                feed.runnable(RunnableSpan { actor, runnable, depth, begin: begin.value(row), end: now });
            }
            (_, None) => {}
        }
    }
    Ok(())
}

/// All rows of a statement, in its order if it has one.
pub(super) async fn run(
    state: &SessionState,
    statement: &str,
) -> datafusion::common::Result<SendableRecordBatchStream> {
    let plan = state.create_logical_plan(statement).await?;
    execute_stream(state.create_physical_plan(&plan).await?, state.task_ctx())
}
