//! What an explanation needs of a recording, in the order of time: states, runnables, events and calls by one
//! statement, and the ends of instances beside it. Not what follows from it (see [`crate::explain`]).

use std::sync::Arc;

use arrow::array::{Array, RecordBatch, StringArray};

use super::ends::{self, Ends, Life};
use crate::btf::{Action, EntityType};
use crate::error::Result;
use crate::explain::{
    Actor, Explained, Explainer, Happened, ProcessFacts, RunnableSpan, Said, Source, State, StateSpan,
};
use crate::names::{IdMap, IdSet, Interner, Memo};
use crate::schema::result::{self, Integers, Texts};
use crate::schema::{tables, view};
use crate::store::{Database, read_batches};

const BATCH_ROWS: usize = 16 * 1024;

/// A part of a recording, `[from, to)` in ticks: spans that are in it, events from `since` on, and triggers
/// of stimuli from `triggers` on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    pub triggers: i64,
    pub since: i64,
    pub from: i64,
    pub to: i64,
}

/// What a row says.
mod rank {
    pub const EVENT: i64 = 0;
    pub const STATE: i64 = 1;
    pub const RUNNABLE: i64 = 2;
    pub const CALL: i64 = 3;
}

/// Selects what an explanation needs, in the order of time. All names are columns of tables, so that they
/// come as keys of a dictionary.
pub(super) fn rows_of(recording: &str, window: Option<Window>) -> String {
    let recording = format!("recording = '{}'", recording.replace('\'', "''"));
    let (spans, events, calls) = match window {
        None => (String::new(), String::new(), String::new()),
        Some(Window { triggers, since, from, to }) => {
            // Least times that can be written.
            let [triggers, since] = [triggers, since].map(|time| time.max(-i64::MAX));
            let first = triggers.min(since);
            (
                format!(" AND end_at > {from} AND begin_at < {to}"),
                format!(
                    " AND time BETWEEN {first} AND {to} AND (time >= {since} OR is_action(action, 'trigger'))"
                ),
                format!(" AND enter_at BETWEEN {since} AND {to}"),
            )
        }
    };
    let (event, state, runnable, call) = (rank::EVENT, rank::STATE, rank::RUNNABLE, rank::CALL);
    format!(
        "SELECT time, {event} AS rank, seq, action AS word, target AS process, target_type AS type, \
         target_instance AS instance, CAST(NULL AS BIGINT) AS begin_at, source AS other, \
         source_instance AS number, note AS place \
         FROM btf_event WHERE {recording}{events} \
         AND (is_type(target_type, 'SEM') OR is_type(target_type, 'EVENT') OR is_action(action, 'activate', 'trigger')) \
         UNION ALL \
         SELECT end_at, {state}, 0, state, process, type, instance, begin_at, NULL, NULL, core \
         FROM process_state WHERE {recording}{spans} \
         UNION ALL \
         SELECT end_at, {runnable}, 0, state, process, NULL, process_instance, begin_at, runnable, depth, NULL \
         FROM runnable_state WHERE {recording}{spans} AND state = 'running' AND process IS NOT NULL \
         UNION ALL \
         SELECT enter_at, {call}, 0, name, process, type, instance, NULL, NULL, NULL, core \
         FROM os_call WHERE {recording}{calls} AND name = 'Schedule' AND enter_at IS NOT NULL AND process IS NOT NULL \
         ORDER BY time, rank, seq"
    )
}

view! {
    struct Entities of entity { entity, r#type, priority, preemption, idle }
}

view! {
    struct Gaps of gap { core, begin_at, end_at }
}

/// Feeds an explainer with the rows of a recording.
pub(super) struct Feed {
    names: Interner,
    explainer: Explainer,
    ends: Until,
    processes: IdMap<u32, ProcessFacts>,
    stimuli: IdSet<u32>,
    /// Who has triggered a stimulus that has activated nobody yet, and when.
    triggers: IdMap<(u32, i64), (Actor, i64)>,
    /// Who has triggered the stimulus that activated an instance.
    triggered: IdMap<Actor, Actor>,
    ids: [Ids; 3],
    /// In ticks. What was triggered longer ago has another cause.
    second: i64,
    is_over: bool,
}

/// A second in ticks.
pub(super) fn second(database: &Database) -> i64 {
    10_i64.saturating_pow(database.time_scale().decimals())
}

/// Which instances end, and when.
enum Until {
    All(Ends),
    /// `None` when it has ended.
    One(Option<Life>),
}

impl Feed {
    /// For all responses of a recording, or those of a process.
    pub fn of_all(database: &Database, recording: &str, process: Option<&str>) -> Result<Self> {
        let mut names = Interner::default();
        let (mut known, mut incomplete) = (IdSet::default(), IdSet::default());
        ends::each(database, recording, &mut names, |life| {
            known.insert(life.actor.process);
            if !life.is_complete {
                incomplete.insert(life.actor);
            }
        })?;
        let process = process.map(|process| names.intern(process));
        let ends = Until::All(Ends::of(database, recording, &mut names)?);
        let wanted = move |actor: Actor| {
            process.is_none_or(|process| actor.process == process)
                && known.contains(&actor.process)
                && !incomplete.contains(&actor)
        };
        Self::new(database, recording, names, ends, Explainer::new(wanted))
    }

    /// For one response, `[begin, end)`.
    pub fn of_one(
        database: &Database,
        recording: &str,
        (process, instance): (&str, i64),
        (begin, end): (i64, i64),
    ) -> Result<Self> {
        let mut names = Interner::default();
        let only = Actor { process: names.intern(process), instance };
        let explainer = Explainer::new(move |actor| actor == only);
        let life = Life { actor: only, begin: Some(begin), end: Some(end), is_complete: true };
        let mut feed = Self::new(database, recording, names, Until::One(Some(life)), explainer)?;
        feed.explainer.began(only, begin);
        Ok(feed)
    }

    fn new(
        database: &Database,
        recording: &str,
        mut names: Interner,
        ends: Until,
        mut explainer: Explainer,
    ) -> Result<Self> {
        let (mut processes, mut stimuli) = (IdMap::default(), IdSet::default());
        for file in database.files(tables::ENTITY, Some(recording))? {
            let place = database.place_of(&file);
            for batch in read_batches(&place, tables::ENTITY, Some(Entities::COLUMNS), BATCH_ROWS)? {
                let batch = batch?;
                let entities = Entities::of(&batch)?;
                for row in 0..entities.len() {
                    let name = entities.entity.value(row);
                    let kind = match EntityType::parse_tolerant(entities.r#type.value(row)) {
                        Some(kind) if kind.is_process() => kind,
                        Some(EntityType::Stimulus) => {
                            stimuli.insert(names.intern(name));
                            continue;
                        }
                        _ => continue,
                    };
                    let facts = ProcessFacts {
                        is_isr: kind == EntityType::Isr,
                        is_idle: entities.idle.value(row),
                        priority: entities.priority.get(row),
                        is_preemptable: entities.preemption.get(row).map(|how| how == "full"),
                    };
                    let process = names.intern(name);
                    explainer.process(process, facts);
                    processes.insert(process, facts);
                }
            }
        }
        for file in database.files(tables::GAP, Some(recording))? {
            let place = database.place_of(&file);
            for batch in read_batches(&place, tables::GAP, Some(Gaps::COLUMNS), BATCH_ROWS)? {
                let batch = batch?;
                let gaps = Gaps::of(&batch)?;
                for row in 0..gaps.len() {
                    let core = gaps.core.get(row).map(|core| names.intern(core));
                    explainer.gap(core, gaps.begin_at.value(row), gaps.end_at.value(row));
                }
            }
        }
        let (triggers, triggered, ids) = Default::default();
        let (second, is_over) = (second(database), false);
        Ok(Self { names, explainer, ends, processes, stimuli, triggers, triggered, ids, second, is_over })
    }

    /// The next rows of [`rows_of`].
    pub fn take_in(&mut self, batch: &RecordBatch) -> Result<()> {
        type Rows = ([Integers; 2], Integers, Texts, [Texts; 2], [Integers; 2], Texts, Integers, Texts);
        let ([time, rank], _, word, [process, kind], [instance, begin], other, number, place) =
            result::columns::<Rows>(batch)?;
        let [processes, others, places] = &mut self.ids;
        processes.follow(&process, &mut self.names);
        others.follow(&other, &mut self.names);
        places.follow(&place, &mut self.names);
        for row in 0..batch.num_rows() {
            let now = time.value(row);
            self.ends_before(Some(now))?;
            let [process_ids, other_ids, place_ids] = &mut self.ids;
            let names = &mut self.names;
            let process_id = process_ids.of(&process, row, names);
            let actor = process_id.map(|process| Actor { process, instance: instance.value(row) });
            match (rank.value(row), actor) {
                (rank::EVENT, _) => {
                    let other = other_ids.of(&other, row, names);
                    let event = (word.value(row), kind.value(row), process_id, instance.get(row));
                    let source = (other, number.get(row));
                    let owner = place_ids.of(&place, row, names);
                    self.event(now, event, source, owner);
                }
                (rank::STATE, Some(actor)) => {
                    let Some(state) = state(word.value(row)) else { continue };
                    let core = place_ids.of(&place, row, names);
                    if let std::collections::hash_map::Entry::Vacant(new) =
                        self.processes.entry(actor.process)
                    {
                        let is_isr = EntityType::parse_tolerant(kind.value(row)) == Some(EntityType::Isr);
                        let facts = ProcessFacts { is_isr, ..ProcessFacts::default() };
                        self.explainer.process(actor.process, *new.insert(facts));
                    }
                    self.explainer.state(StateSpan { actor, core, state, begin: begin.value(row), end: now });
                }
                (rank::CALL, Some(actor)) => self.explainer.yields(actor, now),
                (_, Some(actor)) => {
                    let Some(runnable) = other_ids.of(&other, row, names) else { continue };
                    let depth = u32::try_from(number.value(row)).unwrap_or(u32::MAX);
                    let begin = begin.value(row);
                    self.explainer.runnable(RunnableSpan { actor, runnable, depth, begin, end: now });
                }
                (_, None) => {}
            }
        }
        Ok(())
    }

    /// Nothing comes any more.
    pub fn end(&mut self) -> Result<()> {
        self.is_over = true;
        self.ends_before(None)
    }

    /// What was explained since the last time.
    pub fn take(&mut self) -> Vec<Explained> {
        if self.is_over { self.explainer.finish() } else { self.explainer.take() }
    }

    /// Who triggered the stimulus that activated an instance.
    pub fn triggered_by(&self, actor: Actor) -> Option<Actor> {
        self.triggered.get(&actor).copied()
    }

    /// These are rows now.
    pub fn forget(&mut self, explained: &[Explained]) {
        for one in explained {
            self.triggered.remove(&one.actor);
        }
    }

    /// The number of a name.
    pub fn intern(&mut self, name: &str) -> u32 {
        self.names.intern(name)
    }

    /// All names, by number.
    pub fn names_array(&mut self) -> Arc<StringArray> {
        self.names.array()
    }

    pub fn name(&self, number: u32) -> &str {
        self.names.text(number)
    }

    pub fn is_process(&self, name: u32) -> bool {
        self.processes.contains_key(&name)
    }

    pub fn is_isr(&self, process: u32) -> bool {
        self.processes.get(&process).is_some_and(|facts| facts.is_isr)
    }

    fn ends_before(&mut self, time: Option<i64>) -> Result<()> {
        loop {
            let life = match &mut self.ends {
                Until::All(ends) => ends.next(time, &mut self.names)?,
                Until::One(life) => life.take_if(|life| time.is_none() || life.end < time),
            };
            let Some(life) = life else { return Ok(()) };
            if let (Some(begin), Some(end)) = (life.begin, life.end) {
                self.explainer.ended(life.actor, begin, end);
            }
        }
    }

    /// A semaphore, an event of the operating system, or an activation.
    fn event(
        &mut self,
        time: i64,
        (action, kind, target, instance): (&str, &str, Option<u32>, Option<i64>),
        (source, number): (Option<u32>, Option<i64>),
        owner: Option<u32>,
    ) {
        let kind = EntityType::parse_tolerant(kind);
        if kind == Some(EntityType::Stimulus) {
            if let (Some(stimulus), Some(nth), Some(process), Some(instance)) =
                (target, instance, source, number)
                && instance >= 0
                && self.is_process(process)
            {
                self.triggers.insert((stimulus, nth), (Actor { process, instance }, time));
            }
            return;
        }
        let Some(said) = said(action) else { return };
        let is_process = kind.is_some_and(EntityType::is_process);
        if is_process != (said == Said::Activate) {
            return;
        }
        let target_actor = target.zip(instance).map(|(process, instance)| Actor { process, instance });
        if let (true, Some(by), Some(actor)) = (is_process, source.zip(number), target_actor)
            && let Some((trigger, at)) = self.triggers.remove(&by)
            && time.saturating_sub(at) <= self.second
        {
            self.triggered.insert(actor, trigger);
        }
        let source = source.map(|name| match number {
            // Of an alarm that is called like a task, who it was is not known.
            Some(instance) if instance >= 0 && self.is_process(name) && !self.stimuli.contains(&name) => {
                Source::Process(Actor { process: name, instance })
            }
            _ => Source::Stimulus(name),
        });
        self.explainer.happened(Happened {
            time,
            source,
            said,
            object: target.filter(|_| !is_process),
            owner: owner.filter(|_| said == Said::SetEvent),
            target: target_actor.filter(|_| is_process),
        });
    }
}

/// The numbers of a column of names.
#[derive(Debug, Default)]
struct Ids(Memo<u32>);

impl Ids {
    fn follow(&mut self, column: &Texts, names: &mut Interner) {
        if let Texts::Names { dictionary, .. } = column {
            self.0.follow(dictionary, |name| names.intern(name));
        }
    }

    fn of(&self, column: &Texts, row: usize, names: &mut Interner) -> Option<u32> {
        match column {
            Texts::Names { keys, .. } => {
                let key = keys.is_valid(row).then(|| keys.value(row))?;
                self.0.get(key as usize).copied()
            }
            other => Some(names.intern(other.get(row)?)),
        }
    }
}

fn state(word: &str) -> Option<State> {
    Some(match word {
        "active" => State::Active,
        "running" => State::Running,
        "ready" => State::Ready,
        "waiting" => State::Waiting,
        "polling" => State::Polling,
        "parking" => State::Parking,
        _ => return None,
    })
}

fn said(action: &str) -> Option<Said> {
    Some(match Action::parse_tolerant(action)? {
        Action::RequestSemaphore => Said::Request,
        Action::Waiting => Said::Awaits,
        Action::Assigned => Said::Assigned,
        Action::Released => Said::Released,
        Action::WaitEvent => Said::WaitEvent,
        Action::SetEvent => Said::SetEvent,
        Action::ClearEvent => Said::ClearEvent,
        Action::Activate => Said::Activate,
        _ => return None,
    })
}
