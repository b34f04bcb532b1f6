//! What has to be read of a recording before one response: what somebody holds, or polls for, it may have got
//! or asked for before, a core may have had nobody for long, and a stimulus may have been triggered. Not the
//! rows themselves (see `window`).

use std::collections::{BTreeMap, BTreeSet, HashMap};

use datafusion::common::Result;
use datafusion::execution::SessionState;
use futures::TryStreamExt;

use super::failed;
use super::feed::Made;
use super::trigger::Stimulus;
use super::window::run;
use crate::explain::{Kind, Reason, Source, State};
use crate::schema::result::{self, Integers, Texts};
use crate::sql_text::{literal, literals};

/// Before all times; the least that can be written in a statement.
const FIRST: i64 = -i64::MAX;

/// What an explanation leaves open, as it may have happened before the rows that were read.
#[derive(Debug, Default)]
pub(super) struct Unclear {
    /// Instances that may hold something.
    holders: BTreeSet<(String, i64)>,
    /// Instances that poll for something, of which it is not known what that is.
    askers: BTreeSet<(String, i64)>,
    /// Semaphores of which no holder is known.
    objects: BTreeSet<String>,
    /// Cores that nobody had, as far as was read.
    pub cores: BTreeSet<String>,
}

impl Unclear {
    pub fn of(made: &Made) -> Self {
        let name = |number: u32| made.names.value(number as usize).to_owned();
        let mut unclear = Self::default();
        for part in made.explanations.iter().flat_map(|one| one.parts) {
            let by = match part.by {
                Some(Source::Process(by)) => Some((name(by.process), by.instance)),
                _ => None,
            };
            let object = part.object.map(name);
            match (part.kind, &by) {
                (Kind::Lock, None) => unclear.objects.extend(object),
                (Kind::Unknown, None) if part.state.is_some() => unclear.cores.extend(part.core.map(name)),
                (Kind::Behind, Some(_)) => {
                    let polls = part.holder_state == Some(State::Polling);
                    if polls && object.is_none() {
                        unclear.askers.extend(by.clone());
                    }
                    if polls && part.by_behind.is_none() {
                        unclear.objects.extend(object);
                    }
                    // It may be what it holds, or something else that it holds.
                    if matches!(part.reason, Some(Reason::NotKnown | Reason::LowerPriorityHolds(_))) {
                        unclear.holders.extend(by);
                    }
                }
                _ => {}
            }
        }
        unclear
    }

    /// The first of the events before `since` that matter: by which an instance got what it holds then, or
    /// asked for something last. `None` if there is none.
    pub async fn begins(&self, state: &SessionState, recording: &str, since: i64) -> Result<Option<i64>> {
        if self.holders.is_empty() && self.askers.is_empty() && self.objects.is_empty() {
            return Ok(None);
        }
        let recording = literal(recording);
        let there = There::of(state, &recording, since).await?;
        let first = if self.objects.is_empty() {
            let instances = self.holders.iter().chain(&self.askers);
            instances.filter_map(|(process, instance)| there.begin(process, *instance)).min()
        } else {
            // Anybody may hold them.
            there.first()
        };
        let Some(first) = first else { return Ok(None) };
        let statement = format!(
            "SELECT time, source, source_instance, target, is_action(action, 'assigned'), \
             is_action(action, 'released') FROM btf_event WHERE recording = {recording} \
             AND time >= {first} AND time < {since} AND {} AND source_instance IS NOT NULL",
            self.condition()
        );
        // When instances got something last, and gave it back last; and when they asked last.
        let (mut holds, mut asked) = (HashMap::new(), HashMap::new());
        let mut batches = run(state, &statement).await?;
        while let Some(batch) = batches.try_next().await? {
            let (times, sources, instances, targets, [gets, gives]) =
                result::columns::<(Integers, Texts, Integers, Texts, [Integers; 2])>(&batch)
                    .map_err(failed)?;
            for row in 0..batch.num_rows() {
                let (source, instance) = (sources.value(row), instances.value(row));
                if there.begin(source, instance).is_none() {
                    continue;
                }
                let (time, instance, target) =
                    (times.value(row), (source.to_owned(), instance), targets.value(row));
                if gets.value(row) == 0 && gives.value(row) == 0 {
                    let last = asked.entry(instance).or_insert(time);
                    *last = time.max(*last);
                } else if self.objects.contains(target) || self.holders.contains(&instance) {
                    let hold = holds.entry((instance, target.to_owned())).or_insert((i64::MIN, i64::MIN));
                    let last = if gives.value(row) == 0 { &mut hold.0 } else { &mut hold.1 };
                    *last = time.max(*last);
                }
            }
        }
        // Of one instant, the order does not matter: too much is read in the worst case.
        let got = holds.into_values().filter(|(got, given)| got >= given).map(|(got, _)| got);
        Ok(got.chain(asked.into_values()).min())
    }

    /// When the last spans on the cores ended that ended up to `from`: since then, nobody had them.
    pub async fn last_ends(
        &self,
        state: &SessionState,
        recording: &str,
        from: i64,
    ) -> Result<BTreeMap<String, i64>> {
        let mut ends = BTreeMap::new();
        for core in &self.cores {
            let statement = format!(
                "SELECT max(end_at) FROM process_state WHERE recording = {} AND core = {} AND end_at <= {from} \
                 AND state IN ('running', 'polling')",
                literal(recording),
                literal(core)
            );
            let mut batches = run(state, &statement).await?;
            while let Some(batch) = batches.try_next().await? {
                let end = result::columns::<Integers>(&batch).map_err(failed)?;
                ends.extend(end.get(0).map(|end| (core.clone(), end)));
            }
        }
        Ok(ends)
    }

    /// Which events matter.
    fn condition(&self) -> String {
        let listed = |texts: &mut dyn Iterator<Item = &String>| {
            let texts: BTreeSet<&String> = texts.collect();
            // A list is not empty in SQL; no name is NULL.
            if texts.is_empty() { "NULL".to_owned() } else { literals(texts) }
        };
        let [holders, askers] = [&self.holders, &self.askers]
            .map(|instances| listed(&mut instances.iter().map(|(process, _)| process)));
        let objects = listed(&mut self.objects.iter());
        format!(
            "(is_action(action, 'assigned', 'released') AND (target IN ({objects}) OR source IN ({holders})) \
             OR is_action(action, 'requestsemaphore', 'waiting') AND source IN ({askers}))"
        )
    }
}

/// Whether something else triggered the stimulus in `[from, to)`.
pub(super) async fn is_triggered(
    state: &SessionState,
    recording: &str,
    Stimulus { name, nth }: &Stimulus,
    (from, to): (i64, i64),
) -> Result<bool> {
    let [recording, name] = [recording, name.as_str()].map(literal);
    let statement = format!(
        "SELECT source FROM btf_event WHERE recording = {recording} AND time >= {from} AND time < {to} \
         AND is_action(action, 'trigger') AND target = {name} AND target_instance = {nth} AND source <> {name} LIMIT 1"
    );
    let mut batches = run(state, &statement).await?;
    while let Some(batch) = batches.try_next().await? {
        if batch.num_rows() > 0 {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The begins of the instances that were there before a time, and did not end before it.
struct There(HashMap<String, HashMap<i64, i64>>);

impl There {
    async fn of(state: &SessionState, recording: &str, since: i64) -> Result<Self> {
        // An instance that was there when the recording began may have no begin. Only conditions of a single
        // column let pages be skipped.
        let statement = format!(
            "SELECT process, instance, coalesce(activate_at, start_at, {FIRST}) FROM process_instance \
             WHERE recording = {recording} AND (terminate_at >= {since} OR terminate_at IS NULL) \
             AND (activate_at < {since} OR activate_at IS NULL) \
             AND (activate_at < {since} OR start_at < {since} OR start_at IS NULL)"
        );
        let mut there: HashMap<String, HashMap<i64, i64>> = HashMap::new();
        let mut batches = run(state, &statement).await?;
        while let Some(batch) = batches.try_next().await? {
            let (processes, instances, begins) =
                result::columns::<(Texts, Integers, Integers)>(&batch).map_err(failed)?;
            for row in 0..batch.num_rows() {
                let process = there.entry(processes.value(row).to_owned()).or_default();
                process.insert(instances.value(row), begins.value(row));
            }
        }
        Ok(Self(there))
    }

    fn begin(&self, process: &str, instance: i64) -> Option<i64> {
        self.0.get(process)?.get(&instance).copied()
    }

    fn first(&self) -> Option<i64> {
        self.0.values().flat_map(HashMap::values).copied().min()
    }
}
