//! The parts of one response: only what it needs is read. Not of many, for which a recording is read once
//! (see `feed`).

use std::fmt::Write as _;
use std::sync::Arc;

use arrow::array::RecordBatch;
use datafusion::common::Result;
use datafusion::execution::SessionState;
use datafusion::physical_plan::{ExecutionPlan, collect};

use super::failed;
use super::feed::{Ended, Feed, Made, second};
use super::names::Names;
use super::rows::PartRows;
use super::window::{Window, rows_of, take_in};
use crate::explain::{Actor, Kind, Reason, Source, State};
use crate::schema::result::{self, Integers};
use crate::store::Database;

/// So many instances are asked for their begins; of more, the whole recording before is read.
const MOST_HOLDERS: usize = 32;
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
            let _ =
                write!(and, " AND (activate_at < {before} OR activate_at IS NULL AND start_at < {before})");
        }
        match span(state, self.recording, &[self.instance], &and).await? {
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
    // Most holders have begun not long before. Files are sorted by that time: these are found at once.
    let lately = begin.saturating_sub(second).max(-i64::MAX);
    let lately = format!(
        " AND (activate_at BETWEEN {lately} AND {end} OR activate_at IS NULL AND start_at BETWEEN {lately} AND {end})"
    );
    let triggers = begin.saturating_sub(second);
    // Who delays it has mostly begun before it, but not long before.
    let mut since = begin.saturating_sub(second / SHORTLY);
    // How far is looked back for a holder next: most locks are not held for long.
    let mut back =
        [second / 10, second.saturating_mul(10)].map(|back| begin.saturating_sub(back)).into_iter();
    loop {
        let window = Window { triggers, since, from: begin, to: end };
        let names = Names::of(recording);
        let mut rows = PartRows::new(columns, &names)?;
        let only = Actor { process: names.intern(instance.0), instance: instance.1 };
        let wanted = move |actor| actor == only;
        let mut feed = Feed::of((database, recording), names.clone(), wanted).map_err(failed)?;
        feed.began(only, begin);
        let mut ended = Some(Ended { actor: only, begin, end });
        for batch in run(state, &rows_of(recording, window)).await? {
            take_in(&mut feed, &names, &batch, &mut ended).map_err(failed)?;
        }
        if let Some(one) = ended {
            feed.ended(one);
        }
        let made = feed.finish();
        let earlier = match holders(&made, &names) {
            Holders::Some(holders) if holders.is_empty() => since,
            Holders::Some(holders) => {
                let holders: Vec<_> =
                    holders.iter().map(|(name, instance)| (name.as_str(), *instance)).collect();
                let begun = match span(state, recording, &holders, &lately).await? {
                    Some(begun) => Some(begun),
                    None => span(state, recording, &holders, "").await?,
                };
                begun.map_or(i64::MIN, |(begin, _)| begin.min(since))
            }
            Holders::Unknown => back.find(|at| *at < since).unwrap_or(i64::MIN),
            Holders::TooMany => i64::MIN,
        };
        if earlier >= since {
            return rows.batches(&made);
        }
        since = earlier;
    }
}

/// Who may hold a semaphore that matters, or poll for one, since the begin of its instance at the earliest.
enum Holders {
    Some(Vec<(String, i64)>),
    /// One of a time before what was read.
    Unknown,
    /// Too many to ask for their begins.
    TooMany,
}

fn holders(made: &Made, names: &Names) -> Holders {
    let mut holders: Vec<Actor> = Vec::new();
    for part in made.explanations.iter().flat_map(|one| one.parts) {
        if part.kind == Kind::Behind && part.holder_state == Some(State::Polling) {
            match (part.object, part.by, part.by_behind) {
                (Some(_), _, None) => return Holders::Unknown,
                // It asked before what was read.
                (None, Some(Source::Process(by)), _) => holders.push(by),
                _ => {}
            }
        }
        match (part.kind, part.by, part.reason) {
            (Kind::Lock, None, _) => return Holders::Unknown,
            (
                Kind::Behind,
                Some(Source::Process(by)),
                Some(Reason::NotKnown | Reason::LowerPriorityHolds(_)),
            )
            | (Kind::Lock, Some(Source::Process(by)), _) => holders.push(by),
            _ => {}
        }
    }
    holders.sort_unstable();
    holders.dedup();
    match holders.len() > MOST_HOLDERS {
        true => Holders::TooMany,
        false => Holders::Some(holders.iter().map(|by| (names.name(by.process), by.instance)).collect()),
    }
}

/// From the first begin of some instances to their last end. `None` if one is missing, or its begin is not
/// known, or it does not fulfil a condition `and`.
async fn span(
    state: &SessionState,
    recording: &str,
    instances: &[(&str, i64)],
    and: &str,
) -> Result<Option<(i64, i64)>> {
    let quoted = |text: &str| text.replace('\'', "''");
    let mut which = String::new();
    for (process, instance) in instances {
        let or = if which.is_empty() { "" } else { " OR " };
        // Writing to a text does not fail.
        let _ = write!(which, "{or}instance = {instance} AND process = '{}'", quoted(process));
    }
    let statement = format!(
        "SELECT coalesce(activate_at, start_at) AS begin_at, terminate_at AS end_at FROM process_instance \
         WHERE recording = '{}' AND ({which}){and}",
        quoted(recording)
    );
    // Few rows fulfil the conditions: of the others, no further column is made.
    let mut state = state.clone();
    let options = &mut state.config_mut().options_mut().execution.parquet;
    (options.pushdown_filters, options.reorder_filters) = (true, false);
    let (mut known, mut whole) = (0, None::<(i64, i64)>);
    for batch in run(&state, &statement).await? {
        let [begins, ends] = result::columns::<[Integers; 2]>(&batch).map_err(failed)?;
        for row in 0..batch.num_rows() {
            let Some(begin) = begins.get(row) else { return Ok(None) };
            // One that goes on has its begin only.
            let end = ends.get(row).unwrap_or(i64::MAX);
            known += 1;
            whole = Some(whole.map_or((begin, end), |(first, last)| (first.min(begin), last.max(end))));
        }
    }
    Ok(whole.filter(|_| known == instances.len()))
}

/// All rows of a statement, in its order.
async fn run(state: &SessionState, statement: &str) -> Result<Vec<RecordBatch>> {
    let plan = state.create_logical_plan(statement).await?;
    let plan: Arc<dyn ExecutionPlan> = state.create_physical_plan(&plan).await?;
    collect(plan, state.task_ctx()).await
}
