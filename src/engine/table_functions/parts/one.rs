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
use crate::names::IdSet;
use crate::schema::result::{self, Integers, Texts};
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
            let _ =
                write!(and, " AND (activate_at < {before} OR activate_at IS NULL AND start_at < {before})");
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
        let earlier = match holders(&made) {
            Holders::Some(holders) if holders.is_empty() => since,
            Holders::Some(holders) => {
                // Most have begun not long before. Files are sorted by that time: these are found at once.
                let lately = begin.saturating_sub(second).max(-i64::MAX);
                let first = match first_begin(state, recording, &names, &holders, (lately, since, end))
                    .await?
                {
                    Some(begun) => Some(begun),
                    None => first_begin(state, recording, &names, &holders, (-i64::MAX, since, end)).await?,
                };
                first.map_or(i64::MIN, |begin| begin.min(since))
            }
            Holders::Unknown => back.find(|at| *at < since).unwrap_or(i64::MIN),
        };
        if earlier >= since {
            return rows.batches(&made);
        }
        since = earlier;
    }
}

/// Who may hold a semaphore that matters, or poll for one, since the begin of its instance at the earliest.
enum Holders {
    Some(IdSet<Actor>),
    /// One of a time before what was read.
    Unknown,
}

fn holders(made: &Made) -> Holders {
    let mut holders = IdSet::default();
    for part in made.explanations.iter().flat_map(|one| one.parts) {
        if part.kind == Kind::Behind && part.holder_state == Some(State::Polling) {
            match (part.object, part.by, part.by_behind) {
                (Some(_), _, None) => return Holders::Unknown,
                // It asked before what was read.
                (None, Some(Source::Process(by)), _) => drop(holders.insert(by)),
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
            | (Kind::Lock, Some(Source::Process(by)), _) => drop(holders.insert(by)),
            _ => {}
        }
    }
    Holders::Some(holders)
}

/// The first begin of some instances, all of which were there between `since` and `end`, and began from
/// `from` on; `None` if one did not, or its begin is not known.
async fn first_begin(
    state: &SessionState,
    recording: &str,
    names: &Names,
    holders: &IdSet<Actor>,
    (from, since, end): (i64, i64, i64),
) -> Result<Option<i64>> {
    let statement = format!(
        "SELECT process, instance, coalesce(activate_at, start_at) FROM process_instance \
         WHERE recording = '{}' AND (terminate_at >= {since} OR terminate_at IS NULL) AND \
         (activate_at BETWEEN {from} AND {end} OR activate_at IS NULL AND start_at BETWEEN {from} AND {end})",
        recording.replace('\'', "''")
    );
    let (mut known, mut first) = (IdSet::default(), i64::MAX);
    for batch in run(state, &statement).await? {
        let (processes, instances, begins) =
            result::columns::<(Texts, Integers, Integers)>(&batch).map_err(failed)?;
        for row in 0..batch.num_rows() {
            let actor = Actor { process: names.intern(processes.value(row)), instance: instances.value(row) };
            if holders.contains(&actor) {
                known.insert(actor);
                first = first.min(begins.value(row));
            }
        }
    }
    Ok((known.len() == holders.len()).then_some(first))
}

/// Begin and end of an instance that fulfils a condition `and`; `None` if there is none, or its begin or end
/// is not known.
async fn span(
    state: &SessionState,
    recording: &str,
    (process, instance): (&str, i64),
    and: &str,
) -> Result<Option<(i64, i64)>> {
    let [recording, process] = [recording, process].map(|text| text.replace('\'', "''"));
    let statement = format!(
        "SELECT coalesce(activate_at, start_at) AS begin_at, terminate_at AS end_at FROM process_instance \
         WHERE recording = '{recording}' AND instance = {instance} AND process = '{process}'{and}"
    );
    // One row fulfils the conditions: of the others, no further column is made.
    let mut state = state.clone();
    let options = &mut state.config_mut().options_mut().execution.parquet;
    (options.pushdown_filters, options.reorder_filters) = (true, false);
    let mut found = None;
    for batch in run(&state, &statement).await? {
        let [begins, ends] = result::columns::<[Integers; 2]>(&batch).map_err(failed)?;
        found = found.or_else(|| begins.get(0).zip(ends.get(0)));
    }
    Ok(found)
}

/// All rows of a statement, in its order.
async fn run(state: &SessionState, statement: &str) -> Result<Vec<RecordBatch>> {
    let plan = state.create_logical_plan(statement).await?;
    let plan: Arc<dyn ExecutionPlan> = state.create_physical_plan(&plan).await?;
    collect(plan, state.task_ctx()).await
}
