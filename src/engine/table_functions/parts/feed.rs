//! Feeds an explainer with the rows of a recording, in the order of time. Not where they come from (see
//! `stored`, `window`), nor what follows from them (see [`crate::explain`]).

use std::sync::Arc;

use arrow::array::StringArray;

use crate::btf::{Action, EntityType};
use crate::error::Result;
use crate::explain::{
    Actor, Explained, Explainer, Happened, ProcessFacts, RunnableSpan, Said, Source, State, StateSpan,
};
use crate::names::{IdMap, IdSet, Interner};
use crate::schema::{tables, view};
use crate::store::{Database, read_batches};

const BATCH_ROWS: usize = 16 * 1024;

/// What a row says. Names are numbers of the feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Row {
    Event(Event),
    State {
        span: StateSpan,
        is_isr: bool,
    },
    Runnable(RunnableSpan),
    /// It calls the scheduler.
    Yields(Actor),
    Ended(Life),
}

/// A semaphore, an event of the operating system, an activation, or a trigger of a stimulus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Event {
    pub what: What,
    pub target: Option<u32>,
    pub instance: Option<i64>,
    pub source: Option<u32>,
    pub number: Option<i64>,
    /// The note: of the event of an operating system, whose it is.
    pub owner: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    /// The target is a stimulus.
    Trigger,
    /// The target is a process if it is activated, else a semaphore or an event.
    Said(Said),
}

impl Event {
    /// What an event means by its action and the type of its target; `None` for nothing that delays anybody.
    pub fn what(action: Option<Action>, kind: Option<EntityType>) -> Option<What> {
        let (action, kind) = (action?, kind?);
        let said = match action {
            Action::Trigger | Action::Activate if kind == EntityType::Stimulus => return Some(What::Trigger),
            Action::Activate if kind.is_process() => return Some(What::Said(Said::Activate)),
            Action::RequestSemaphore => Said::Request,
            Action::Waiting => Said::Awaits,
            Action::Assigned => Said::Assigned,
            Action::Released => Said::Released,
            Action::WaitEvent => Said::WaitEvent,
            Action::SetEvent => Said::SetEvent,
            Action::ClearEvent => Said::ClearEvent,
            _ => return None,
        };
        matches!(kind, EntityType::Semaphore | EntityType::OsEvent).then_some(What::Said(said))
    }
}

/// An instance of a process, as far as it was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Life {
    pub actor: Actor,
    /// Its activation, or its start where the trace tells no activations.
    pub begin: Option<i64>,
    pub end: Option<i64>,
    pub is_complete: bool,
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
    /// The only instance that is explained, until it has ended: its end is no row.
    only: Option<Life>,
    processes: IdMap<u32, ProcessFacts>,
    stimuli: IdSet<u32>,
    /// Who has triggered a stimulus that has activated nobody yet, and when.
    triggers: IdMap<(u32, i64), (Actor, i64)>,
    /// Who has triggered the stimulus that activated an instance.
    triggered: IdMap<Actor, Actor>,
    /// In ticks. What was triggered longer ago has another cause.
    second: i64,
    is_over: bool,
}

/// A second in ticks.
pub(super) fn second(database: &Database) -> i64 {
    10_i64.saturating_pow(database.time_scale().decimals())
}

impl Feed {
    /// For the responses of a recording that are wanted. `names` are those that `wanted` knows.
    pub fn of_all(
        database: &Database,
        recording: &str,
        names: Interner,
        wanted: impl Fn(Actor) -> bool + Send + 'static,
    ) -> Result<Self> {
        Self::new(database, recording, names, None, Explainer::new(wanted))
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
        let mut feed = Self::new(database, recording, names, Some(life), explainer)?;
        feed.explainer.began(only, begin);
        Ok(feed)
    }

    fn new(
        database: &Database,
        recording: &str,
        mut names: Interner,
        only: Option<Life>,
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
        let (triggers, triggered) = Default::default();
        let (second, is_over) = (second(database), false);
        Ok(Self { names, explainer, only, processes, stimuli, triggers, triggered, second, is_over })
    }

    /// The next row, and its time: that of an event, or the end of a span.
    pub fn take_in(&mut self, time: i64, row: Row) {
        if let Some(life) = self.only.take_if(|life| life.end < Some(time)) {
            self.ended(life);
        }
        match row {
            Row::Event(event) => self.event(time, event),
            Row::State { span, is_isr } => {
                let process = span.actor.process;
                if let std::collections::hash_map::Entry::Vacant(new) = self.processes.entry(process) {
                    let facts = ProcessFacts { is_isr, ..ProcessFacts::default() };
                    self.explainer.process(process, *new.insert(facts));
                }
                self.explainer.state(span);
            }
            Row::Runnable(span) => self.explainer.runnable(span),
            Row::Yields(actor) => self.explainer.yields(actor, time),
            Row::Ended(life) => self.ended(life),
        }
    }

    fn ended(&mut self, life: Life) {
        if let (Some(begin), Some(end)) = (life.begin, life.end) {
            self.explainer.ended(life.actor, begin, end);
        }
    }

    /// Nothing comes any more.
    pub fn end(&mut self) {
        self.is_over = true;
        if let Some(life) = self.only.take() {
            self.ended(life);
        }
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

    /// The numbers of all names, for rows that are made elsewhere.
    pub fn names(&mut self) -> &mut Interner {
        &mut self.names
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

    fn event(&mut self, time: i64, event: Event) {
        let Event { what, target, instance, source, number, owner } = event;
        let said = match what {
            What::Said(said) => said,
            What::Trigger => {
                if let (Some(stimulus), Some(nth), Some(process), Some(instance)) =
                    (target, instance, source, number)
                    && instance >= 0
                    && self.is_process(process)
                {
                    self.triggers.insert((stimulus, nth), (Actor { process, instance }, time));
                }
                return;
            }
        };
        let is_process = said == Said::Activate;
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

/// The state of a word of `process_state`; `None` for one in which an instance is not.
pub(super) fn state(word: &str) -> Option<State> {
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
