//! Feeds an explainer with the rows of a recording, in the order of time. Not where they come from (see
//! `stored`, `window`), nor what follows from them (see [`crate::explain`]).

use std::sync::Arc;

use arrow::array::StringArray;

use super::handlers::Handlers;
use super::names::Names;
use super::processes::Processes;
use crate::btf::{Action, EntityType};
use crate::error::Result;
use crate::explain::{
    Actor, Explainer, Explanations, Happened, ProcessFacts, RunnableSpan, Said, Source, State, StateSpan,
};
use crate::names::{IdMap, IdSet};
use crate::schema::{tables, view};
use crate::store::{Database, read_batches};

const BATCH_ROWS: usize = 16 * 1024;

/// A semaphore, an event of the operating system, an activation, or a trigger of a stimulus. Names are
/// numbers.
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

    /// Whether an action can mean anything, whatever its target is.
    pub fn can_say(action: Action) -> bool {
        [EntityType::Stimulus, EntityType::Task, EntityType::Semaphore, EntityType::OsEvent]
            .into_iter()
            .any(|kind| Self::what(Some(action), Some(kind)).is_some())
    }

    /// Whether a stimulus is triggered by none but itself, as those of timers and devices are.
    pub fn is_by_itself(&self) -> bool {
        self.what == What::Trigger && self.target == self.source
    }
}

/// An instance that ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ended {
    pub actor: Actor,
    /// Its activation, or its start where the trace tells no activations; its end where it tells neither:
    /// such an instance is not complete, but what it holds has no holder any more.
    pub begin: i64,
    pub end: i64,
}

view! {
    struct Entities of entity { entity, r#type, priority, preemption, idle }
}

view! {
    struct Gaps of gap { core, begin_at, end_at }
}

/// Feeds an explainer with the rows of a recording.
pub(super) struct Feed {
    names: Names,
    explainer: Explainer,
    processes: Arc<Processes>,
    stimuli: IdSet<u32>,
    handlers: Handlers,
    /// Who has triggered a stimulus that has activated nobody yet, and when.
    triggers: IdMap<(u32, i64), (Actor, i64)>,
    /// With as many triggers, those that come too late for anything are looked for.
    most_triggers: usize,
    /// In ticks. What was triggered longer ago has another cause.
    second: i64,
}

/// Explanations, and what their numbers mean.
pub(super) struct Made {
    pub explanations: Explanations,
    pub processes: Arc<Processes>,
    /// By number.
    pub names: Arc<StringArray>,
}

/// So many triggers are kept without looking which of them come too late.
const TRIGGERS: usize = 1 << 12;

/// A second in ticks.
pub(super) fn second(database: &Database) -> i64 {
    10_i64.saturating_pow(database.time_scale().decimals())
}

impl Feed {
    /// For the responses of a recording that are wanted.
    pub fn of(
        (database, recording): (&Database, &str),
        names: Names,
        wanted: impl Fn(Actor) -> bool + Send + 'static,
    ) -> Result<Self> {
        let mut explainer = Explainer::new(wanted);
        let (mut processes, mut stimuli) = (Processes::default(), IdSet::default());
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
                    processes.add(process, facts.is_isr);
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
        Ok(Self {
            names,
            explainer,
            processes: Arc::new(processes),
            stimuli,
            handlers: Handlers::default(),
            triggers: IdMap::default(),
            most_triggers: TRIGGERS,
            second: second(database),
        })
    }

    /// An instance is there from then on: needs not be said of one that is activated by an event.
    pub fn began(&mut self, actor: Actor, begin: i64) {
        self.explainer.began(actor, begin);
    }

    /// Whom events mean by names of ISRs that are shared. It comes before all events.
    pub fn handlers(&mut self, handlers: Handlers) {
        handlers.processes().for_each(|process| self.meet(process, true));
        self.handlers = handlers;
    }

    /// A span in one state ends.
    pub fn state(&mut self, span: StateSpan, is_isr: bool) {
        self.meet(span.actor.process, is_isr);
        self.explainer.state(span);
    }

    /// There is a process, which no description may know.
    fn meet(&mut self, process: u32, is_isr: bool) {
        if !self.processes.is_process(process) {
            Arc::make_mut(&mut self.processes).add(process, is_isr);
            self.explainer.process(process, ProcessFacts { is_isr, ..ProcessFacts::default() });
        }
    }

    /// A span in which a runnable ran ends.
    pub fn runnable(&mut self, span: RunnableSpan) {
        self.explainer.runnable(span);
    }

    /// An instance calls the scheduler.
    pub fn yields(&mut self, actor: Actor, time: i64) {
        self.explainer.yields(actor, time);
    }

    /// An instance ends.
    pub fn ended(&mut self, one: Ended) {
        self.handlers.ended(one.actor);
        self.explainer.ended(one.actor, one.begin, one.end);
    }

    /// What was explained since the last time.
    pub fn take(&mut self) -> Made {
        let explanations = self.explainer.take();
        self.made(explanations)
    }

    /// Nothing comes any more: the rest.
    pub fn finish(&mut self) -> Made {
        let explanations = self.explainer.finish();
        self.made(explanations)
    }

    fn made(&self, explanations: Explanations) -> Made {
        Made { explanations, processes: Arc::clone(&self.processes), names: self.names.array() }
    }

    /// An event happens.
    pub fn event(&mut self, time: i64, event: &Event) {
        let is_shared = |name: Option<u32>| name.is_some_and(|name| self.handlers.share(name));
        if is_shared(event.source) || is_shared(event.target) {
            let event = self.meant(time, *event);
            self.happened(time, &event);
        } else {
            self.happened(time, event);
        }
    }

    /// An event with its ISRs as tables of instances call and count them; without those of which it is not
    /// known which instances they are. To be asked of each event once, in order.
    pub fn meant(&mut self, time: i64, mut event: Event) -> Event {
        let apart = |actor: Option<Actor>| (actor.map(|one| one.process), actor.map(|one| one.instance));
        if let Some(name) = event.source
            && self.handlers.share(name)
            // Of an alarm that is called like an ISR, who it was is not known.
            && (event.what == What::Trigger || !self.stimuli.contains(&name))
        {
            let actor = event.number.and_then(|number| self.handlers.who((name, number)));
            (event.source, event.number) = apart(actor);
        }
        if let Some(name) = event.target
            && event.what == What::Said(Said::Activate)
            && self.handlers.share(name)
        {
            let explainer = &mut self.explainer;
            let actor = event.instance.and_then(|number| {
                self.handlers.activated(time, (name, number), |one| explainer.began(one, time))
            });
            (event.target, event.instance) = apart(actor);
        }
        event
    }

    /// An event happens, as [`Feed::meant`] returned it.
    pub fn happened(&mut self, time: i64, event: &Event) {
        let Event { what, target, instance, source, number, owner } = *event;
        let said = match what {
            What::Said(said) => said,
            What::Trigger => return self.trigger(time, event),
        };
        let is_process = said == Said::Activate;
        let target_actor = target.zip(instance).map(|(process, instance)| Actor { process, instance });
        let trigger = source.zip(number).filter(|_| is_process && target_actor.is_some());
        let trigger = trigger.and_then(|stimulus| self.triggers.remove(&stimulus));
        let source = source.map(|name| match number {
            // Of an alarm that is called like a task, who it was is not known.
            Some(instance)
                if instance >= 0 && self.processes.is_process(name) && !self.stimuli.contains(&name) =>
            {
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
            triggered_by: trigger
                .filter(|(_, at)| time.saturating_sub(*at) <= self.second)
                .map(|(actor, _)| actor),
        });
    }

    /// A process triggers a stimulus.
    fn trigger(&mut self, time: i64, event: &Event) {
        let Event { target, instance, source, number, .. } = *event;
        if let (Some(stimulus), Some(nth), Some(process), Some(instance)) = (target, instance, source, number)
            && instance >= 0
            && self.processes.is_process(process)
            && !event.is_by_itself()
        {
            self.triggers.insert((stimulus, nth), (Actor { process, instance }, time));
        }
        if self.triggers.len() > self.most_triggers {
            self.triggers.retain(|_, (_, at)| time.saturating_sub(*at) <= self.second);
            self.most_triggers = TRIGGERS.max(2 * self.triggers.len());
        }
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
