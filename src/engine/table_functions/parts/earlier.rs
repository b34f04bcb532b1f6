//! What has to be read of a recording before one response: what somebody holds, or polls for, it may have got
//! or asked for before, a core may have had nobody for long, and a stimulus may have been triggered. Not the
//! rows themselves (see `window`).

use std::collections::{BTreeMap, BTreeSet, HashMap};

use arrow::array::RecordBatch;
use datafusion::common::Result;
use datafusion::execution::SessionState;
use futures::TryStreamExt;

use super::failed;
use super::feed::{Made, second};
use super::trigger::Stimulus;
use super::window::run;
use crate::btf::Action;
use crate::explain::{Kind, Reason, Source, State};
use crate::schema::result::{self, Integers, Texts};
use crate::schema::tables;
use crate::sql_text::{literal, literals};
use crate::store::{Database, Occurrence, occurrences_in};

/// Before all times; the least that can be written in a statement.
const FIRST: i64 = -i64::MAX;

/// The part of a second that is looked at first.
const SHORTLY: i64 = 100;

/// Each look is at so many times the time of the one before: few looks, none of them at much too much.
const MORE: i64 = 16;

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
    pub async fn begins(
        &self,
        state: &SessionState,
        (database, recording): (&Database, &str),
        since: i64,
    ) -> Result<Option<i64>> {
        if self.holders.is_empty() && self.askers.is_empty() && self.objects.is_empty() {
            return Ok(None);
        }
        let there = There::of(state, &literal(recording), since).await?;
        let mut open = Open::of(self, (database, recording), &there, since)?;
        let (mut to, mut width) = (since, (second(database) / SHORTLY).max(1));
        let mut last = Last::default();
        // The last event counts: mostly it was shortly before. Each look is at more than all before it.
        while let Some(first) = open.first() {
            let from = first.max(to.saturating_sub(width));
            let statement = format!(
                "SELECT time, source, source_instance, target, is_action(action, 'assigned'), \
                 is_action(action, 'released') FROM btf_event WHERE recording = {} \
                 AND time >= {from} AND time < {to} AND {} AND source_instance IS NOT NULL",
                literal(recording),
                self.condition()
            );
            let mut batches = run(state, &statement).await?;
            while let Some(batch) = batches.try_next().await? {
                last.add(&batch, self, &there)?;
            }
            open.look_before(from, |key| last.has(key));
            (to, width) = (from, width.saturating_mul(MORE));
        }
        Ok(last.first())
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

/// What is looked for in events, and not before which times.
struct Open(Vec<(Key, i64)>);

/// What is looked for: the last event of an instance by which it got an object or gave it back, or by which
/// it asked for something.
enum Key {
    Holds((String, i64), String),
    Asks((String, i64)),
    /// Whatever there is.
    Any,
}

impl Open {
    /// What can have happened before `since`, by the footers of the files.
    fn of(
        unclear: &Unclear,
        (database, recording): (&Database, &str),
        there: &There,
        since: i64,
    ) -> Result<Self> {
        let first = if unclear.objects.is_empty() {
            let instances = unclear.holders.iter().chain(&unclear.askers);
            instances.filter_map(|(process, instance)| there.begin(process, *instance)).min()
        } else {
            // Anybody may hold them.
            there.first()
        };
        let Some(first) = first else { return Ok(Self(Vec::new())) };
        let files = database.files(tables::BTF_EVENT, Some(recording)).map_err(failed)?;
        let files = files.into_iter().filter(|file| {
            file.begin_at.is_none_or(|begin| begin < since) && file.end_at.is_none_or(|end| end >= first)
        });
        let (mut open, mut begin, mut is_stated) = (Vec::new(), i64::MAX, true);
        for file in files {
            begin = begin.min(file.begin_at.unwrap_or(i64::MIN));
            match occurrences_in(&database.place_of(&file)).map_err(failed)? {
                Some(occurrences) => {
                    open.extend(occurrences.iter().flat_map(|one| Self::keys_of(one, unclear, there)));
                }
                None => is_stated = false,
            }
        }
        if !is_stated {
            open = vec![(Key::Any, first.max(begin))];
        }
        open.retain(|(_, first)| *first < since);
        Ok(Self(open))
    }

    /// What one of the names that occur together can mean.
    fn keys_of(
        Occurrence { names: [process, action, object], first, last }: &Occurrence,
        unclear: &Unclear,
        there: &There,
    ) -> Vec<(Key, i64)> {
        let action = Action::parse_tolerant(action);
        // What was only given back is not held.
        let (is_got, is_asked) = (
            action == Some(Action::Assigned),
            matches!(action, Some(Action::RequestSemaphore | Action::Waiting)),
        );
        let is_wanted = is_got && unclear.objects.contains(object);
        if !is_got && !is_asked {
            return Vec::new();
        }
        let key = |instance: i64| {
            let instance = (process.clone(), instance);
            if is_wanted || is_got && unclear.holders.contains(&instance) {
                Some(Key::Holds(instance, object.clone()))
            } else if is_asked && unclear.askers.contains(&instance) {
                Some(Key::Asks(instance))
            } else {
                None
            }
        };
        let instances = there.of_process(process).filter(|(_, begin)| begin <= last);
        instances.filter_map(|(instance, begin)| Some((key(instance)?, begin.max(*first)))).collect()
    }

    /// Not before this time; `None` if nothing is looked for.
    fn first(&self) -> Option<i64> {
        self.0.iter().map(|(_, first)| *first).min()
    }

    /// All from `from` on was seen: what is not found, and can be before it, is still looked for.
    fn look_before(&mut self, from: i64, is_found: impl Fn(&Key) -> bool) {
        self.0.retain(|(key, first)| *first < from && !is_found(key));
    }
}

/// The last events of instances, of those that were seen.
#[derive(Default)]
struct Last {
    /// When an instance got an object, and when it gave it back.
    holds: HashMap<((String, i64), String), (i64, i64)>,
    /// When it asked for something.
    asked: HashMap<(String, i64), i64>,
}

impl Last {
    fn add(&mut self, batch: &RecordBatch, unclear: &Unclear, there: &There) -> Result<()> {
        let (times, sources, instances, targets, [gets, gives]) =
            result::columns::<(Integers, Texts, Integers, Texts, [Integers; 2])>(batch).map_err(failed)?;
        for row in 0..batch.num_rows() {
            let (source, instance) = (sources.value(row), instances.value(row));
            if there.begin(source, instance).is_none() {
                continue;
            }
            let (time, instance, target) =
                (times.value(row), (source.to_owned(), instance), targets.value(row));
            if gets.value(row) == 0 && gives.value(row) == 0 {
                let last = self.asked.entry(instance).or_insert(time);
                *last = time.max(*last);
            } else if unclear.objects.contains(target) || unclear.holders.contains(&instance) {
                let hold = self.holds.entry((instance, target.to_owned())).or_insert((i64::MIN, i64::MIN));
                let last = if gives.value(row) == 0 { &mut hold.0 } else { &mut hold.1 };
                *last = time.max(*last);
            }
        }
        Ok(())
    }

    /// Whether there is a last event of what is looked for.
    fn has(&self, key: &Key) -> bool {
        match key {
            Key::Holds(instance, object) => self.holds.contains_key(&(instance.clone(), object.clone())),
            Key::Asks(instance) => self.asked.contains_key(instance),
            Key::Any => false,
        }
    }

    /// The first of those that matter: what was given back later does not.
    fn first(self) -> Option<i64> {
        // Of one instant, the order does not matter: too much is read in the worst case.
        let got = self.holds.into_values().filter(|(got, given)| got >= given).map(|(got, _)| got);
        got.chain(self.asked.into_values()).min()
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
            "SELECT process, instance, coalesce(least(activate_at, start_at), {FIRST}) FROM process_instance \
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
                let begin = process.entry(instances.value(row)).or_insert(i64::MAX);
                *begin = begins.value(row).min(*begin);
            }
        }
        Ok(Self(there))
    }

    fn begin(&self, process: &str, instance: i64) -> Option<i64> {
        self.0.get(process)?.get(&instance).copied()
    }

    /// The instances of a process, with their begins.
    fn of_process(&self, process: &str) -> impl Iterator<Item = (i64, i64)> {
        self.0.get(process).into_iter().flatten().map(|(instance, begin)| (*instance, *begin))
    }

    fn first(&self) -> Option<i64> {
        self.0.values().flat_map(HashMap::values).copied().min()
    }
}

#[cfg(test)]
mod tests {
    use crate::btf::EntityType;
    use crate::schema::tables;

    #[test]
    fn footers_leave_out_no_semaphore_and_no_event() {
        let of = tables::BTF_EVENT.occurrences.as_ref().unwrap();
        for kind in of.kinds_without {
            let means = EntityType::parse_tolerant(kind).unwrap();
            assert!(!matches!(means, EntityType::Semaphore | EntityType::OsEvent), "{kind}");
        }
    }
}
