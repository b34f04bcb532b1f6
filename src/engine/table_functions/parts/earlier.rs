//! From when on a recording has to be read for one response: who delays it may have begun before what was
//! read, and a semaphore may have got its holder before. Not what is read from then on (see `window`).

use std::collections::{BTreeSet, HashMap};

use datafusion::common::Result;
use datafusion::execution::SessionState;

use super::feed::Made;
use super::window::run;
use super::{failed, quoted};
use crate::explain::{Kind, Reason, Source, State};
use crate::schema::result::{self, Integers, Texts};

/// Before all times; the least that can be written in a statement.
const FIRST: i64 = -i64::MAX;

/// What an explanation leaves open, as it may have happened before the rows that were read.
#[derive(Debug, Default)]
pub(super) struct Unclear {
    /// Instances that hold something, or poll for something, since their begin at the earliest.
    instances: BTreeSet<(String, i64)>,
    /// Semaphores of which no holder is known.
    objects: BTreeSet<String>,
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
            match part.kind {
                Kind::Lock if by.is_none() => unclear.objects.extend(object),
                Kind::Lock => unclear.instances.extend(by),
                Kind::Behind => {
                    let polls = part.holder_state == Some(State::Polling);
                    // What it polls for, it may have asked for before.
                    let asked_before = polls && object.is_none();
                    let no_reason =
                        matches!(part.reason, Some(Reason::NotKnown | Reason::LowerPriorityHolds(_)));
                    if polls && part.by_behind.is_none() {
                        unclear.objects.extend(object);
                    }
                    if asked_before || no_reason {
                        unclear.instances.extend(by);
                    }
                }
                _ => {}
            }
        }
        unclear
    }

    /// From when on all that matters happened; `None` if that is not before `since`, from when on the
    /// recording was read up to `end`. Most of those that delay have begun from `lately` on.
    pub async fn begins(
        &self,
        state: &SessionState,
        recording: &str,
        (lately, since, end): (i64, i64, i64),
    ) -> Result<Option<i64>> {
        let recording = quoted(recording);
        let held = self.first_hold(state, &recording, since).await?;
        let mut begun = (!self.instances.is_empty()).then_some(i64::MIN);
        // Files are sorted by that time: a begin not long before is found at once.
        for from in [lately.max(FIRST), FIRST] {
            if begun == Some(i64::MIN) {
                let first = self.first_begin(state, &recording, (from, since, end)).await?;
                begun = Some(first.unwrap_or(i64::MIN));
            }
        }
        Ok(held.into_iter().chain(begun).min().filter(|first| *first < since))
    }

    /// The first begin of the instances, all of which were there between `since` and `end`, and began from
    /// `from` on; `None` if one did not, or its begin is not known.
    async fn first_begin(
        &self,
        state: &SessionState,
        recording: &str,
        (from, since, end): (i64, i64, i64),
    ) -> Result<Option<i64>> {
        let there = There::of(state, recording, (from, since, end)).await?;
        let begins = self.instances.iter().map(|(process, instance)| there.begin(process, *instance));
        Ok(begins.collect::<Option<Vec<i64>>>().and_then(|begins| begins.into_iter().min()))
    }

    /// The first begin of the instances that may hold one of the semaphores at `since`; `None` if there are
    /// none. They are there then, and have not given back what they got.
    async fn first_hold(&self, state: &SessionState, recording: &str, since: i64) -> Result<Option<i64>> {
        if self.objects.is_empty() {
            return Ok(None);
        }
        let there = There::of(state, recording, (FIRST, since, since.saturating_sub(1))).await?;
        let Some(first) = there.first() else { return Ok(None) };
        let objects: Vec<String> = self.objects.iter().map(|object| quoted(object)).collect();
        let statement = format!(
            "SELECT source, source_instance, target, is_action(action, 'assigned') FROM btf_event \
             WHERE recording = {recording} AND time >= {first} AND time < {since} AND target IN ({}) \
             AND is_action(action, 'assigned', 'released') AND source_instance IS NOT NULL \
             ORDER BY time, seq",
            objects.join(", ")
        );
        let mut held = HashMap::new();
        for batch in run(state, &statement).await? {
            let (sources, instances, targets, gets) =
                result::columns::<(Texts, Integers, Texts, Integers)>(&batch).map_err(failed)?;
            for row in 0..batch.num_rows() {
                let instance = instances.value(row);
                let Some(begin) = there.begin(sources.value(row), instance) else { continue };
                let hold = (sources.value(row).to_owned(), instance, targets.value(row).to_owned());
                if gets.value(row) == 0 {
                    held.remove(&hold);
                } else {
                    held.insert(hold, begin);
                }
            }
        }
        Ok(held.into_values().min())
    }
}

/// Instances that were there in some time, and their begins.
struct There(HashMap<String, HashMap<i64, i64>>);

impl There {
    /// Those that began in `[from, end]`, and did not end before `since`.
    async fn of(state: &SessionState, recording: &str, (from, since, end): (i64, i64, i64)) -> Result<Self> {
        // An instance that was there when the recording began may have no begin.
        let no_begin = if from == FIRST { " OR activate_at IS NULL AND start_at IS NULL" } else { "" };
        let statement = format!(
            "SELECT process, instance, coalesce(activate_at, start_at, {FIRST}) FROM process_instance \
             WHERE recording = {recording} AND (terminate_at >= {since} OR terminate_at IS NULL) \
             AND (activate_at BETWEEN {from} AND {end} \
             OR activate_at IS NULL AND start_at BETWEEN {from} AND {end}{no_begin})"
        );
        let mut there: HashMap<String, HashMap<i64, i64>> = HashMap::new();
        for batch in run(state, &statement).await? {
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
