//! Explains responses: cuts the time from the activation of an instance of a task or ISR to its termination
//! into parts that follow each other without hole or overlap, and says of each why the instance was not done
//! sooner. Knows no databases: the caller has the states, events and gaps, and numbers for names.
//!
//! Nothing is claimed that the recording does not show. Where a gap hides who had a core, or where it is not
//! known why a core was not given away, a part says so.
//!
//! All inputs are merged by time: spans by their ends, events by their times, ended instances by their ends.
//! At one instant, events come first, then spans, then ended instances. An instance must be known when it
//! begins, by [`Explainer::began`] or an event [`Said::Activate`], if it does not begin with a span of
//! running: what happens on its core is kept from then on only.
//!
//! Who holds a semaphore, or has a core that the instance left for another one, may be known only when a span
//! that goes on behind the termination has come: the explanation comes then. It comes without it when very
//! many inputs have come, so that a process that never leaves its core does not keep everything.
//!
//! The time is linear in the number of inputs and parts, but for logarithms, and for runnables in which an
//! instance polls: each time, they are looked at again. The memory is bounded by what happens in the longest
//! uncut span of a wanted instance, or while it keeps its core, and by the parts of open ones.

mod asks;
mod cores;
mod explanations;
mod holders;
mod locks;
mod open;
mod processes;
mod runnables;
mod split;
mod table;
mod types;
mod waits;

#[cfg(test)]
mod tests;

use cores::{Does, Gaps, Held, Occupant, Span, Timeline};
pub use explanations::Explanations;
use locks::Locks;
use open::Open;
use processes::{Process as ProcessRecord, Role};
use runnables::Nest;
use split::{Known, Need, Rest};
use std::collections::VecDeque;
use std::collections::hash_map::Entry;
use table::{IdMap, Table};
pub use types::{
    Actor, Core, Explained, Happened, Kind, Object, Part, Process, ProcessFacts, Reason, RunnableSpan, Said,
    Source, State, StateSpan,
};

/// After as many inputs, what nobody asks for any more is dropped.
const OFTEN: u64 = 4096;
/// As many inputs an explanation waits for a span.
const PATIENCE: u64 = 1 << 22;

/// Explains the responses of wanted instances.
pub struct Explainer {
    wanted: Box<dyn Fn(Actor) -> bool + Send>,
    processes: Table<ProcessRecord>,
    cores: Table<Timeline>,
    gaps: Gaps,
    locks: Locks,
    open: Vec<Open>,
    free: Vec<usize>,
    places: IdMap<Actor, usize>,
    /// What waits for a span: since which input, and its place.
    held: VecDeque<(u64, Held)>,
    nest: Nest,
    settings: u64,
    now: i64,
    inputs: u64,
    drop_at: u64,
    often: u64,
    patience: u64,
    explained: Explanations,
}

impl Explainer {
    /// `wanted` says which instances are to be explained: those that are complete. Of others nothing is kept
    /// for longer than a wanted one needs it; one that is wanted and never ends keeps everything since its
    /// last span.
    pub fn new(wanted: impl Fn(Actor) -> bool + Send + 'static) -> Self {
        Self {
            wanted: Box::new(wanted),
            processes: Table::default(),
            cores: Table::default(),
            gaps: Gaps::default(),
            locks: Locks::default(),
            open: Vec::new(),
            free: Vec::new(),
            places: IdMap::default(),
            held: VecDeque::new(),
            nest: Nest::default(),
            settings: 0,
            now: i64::MIN,
            inputs: 0,
            drop_at: OFTEN,
            often: OFTEN,
            patience: PATIENCE,
            explained: Explanations::default(),
        }
    }

    /// What a description says of a process.
    pub fn process(&mut self, process: Process, facts: ProcessFacts) {
        self.processes.at(process).facts = facts;
    }

    /// The recording of a core, or of all cores, has a gap `[begin, end)`. All gaps come before the rest.
    pub fn gap(&mut self, core: Option<Core>, begin: i64, end: i64) {
        self.gaps.add(core, Span { begin, end });
        if self.inputs > 0 {
            self.gaps.settle();
        }
    }

    /// An instance is activated, or starts without an activation. Needs not be said of an instance of which
    /// there is an event [`Said::Activate`].
    pub fn began(&mut self, actor: Actor, begin: i64) {
        self.comes(begin);
        self.place(actor, begin);
    }

    /// A span of any instance in one state ends.
    pub fn state(&mut self, span: StateSpan) {
        self.comes(span.end);
        let mut concerned = self.locks.state(span, &self.gaps);
        let process = self.processes.at(span.actor.process);
        process.span(span.actor.instance, span.end);
        let asked = process.asks.of(&span);
        let does = match span.state {
            State::Running => Some(Does::Runs),
            // What it asked for last may have become something else in a gap.
            State::Polling => {
                let asked = asked.filter(|(_, since)| !self.gaps.is_any(*since, span.end));
                Some(Does::Polls(asked.map(|(object, _)| object)))
            }
            _ => None,
        };
        if let (Some(does), Some(core)) = (does, span.core) {
            self.occupies(core, span, does, &mut concerned);
        }
        let place = self.place(span.actor, span.begin);
        if let Some(open) = place.and_then(|place| self.open.get_mut(place))
            && open.state(span)
            && let Some(place) = place
        {
            // Other spans may end at the same instant, and come next.
            let _ = self.cut(place, Rest::Comes, span.end, span.end);
        }
        self.wake(concerned);
    }

    /// A span in which a runnable ran ends.
    pub fn runnable(&mut self, span: RunnableSpan) {
        self.comes(span.end);
        if let Some(open) = self.place(span.actor, span.begin).and_then(|place| self.open.get_mut(place)) {
            open.runnable(span);
        }
    }

    /// An event happens.
    pub fn happened(&mut self, event: Happened) {
        let Happened { time, source, said, object, owner, target, triggered_by } = event;
        self.comes(time);
        let actor = match source {
            Some(Source::Process(actor)) => Some(actor),
            _ => None,
        };
        if said == Said::Activate {
            let place = target.and_then(|target| self.place(target, time));
            if let Some(open) = place.and_then(|place| self.open.get_mut(place))
                && open.activated_by.is_none()
            {
                (open.activated_by, open.triggered_by) = (source, triggered_by);
            }
            return;
        }
        let Some(object) = object else { return };
        match (said, actor) {
            (Said::SetEvent, _) => return self.sets(owner, object, source),
            (Said::WaitEvent, Some(actor)) => self.locks.goes_on(actor, time),
            (Said::Assigned, Some(actor)) => self.locks.assigned(object, actor, time, &self.gaps),
            (Said::Released, _) => self.locks.released(object, actor, time, &self.gaps),
            _ => {}
        }
        let Some(actor) = actor else { return };
        self.processes.at(actor.process).asks.happened(actor.instance, said, object, time);
        let Some(place) = self.place(actor, time) else { return };
        let Some(open) = self.open.get_mut(place) else { return };
        match said {
            Said::Request | Said::Awaits => open.waits.asks_lock(object, time),
            Said::Assigned => open.waits.gets(object, time),
            Said::Released | Said::ClearEvent => open.waits.acts(time),
            Said::WaitEvent => {
                open.waits.asks_event(object, time);
                self.processes.at(actor.process).asker = Some((actor.instance, place));
            }
            Said::SetEvent | Said::Activate => {}
        }
    }

    /// An instance lets others run on purpose: what it has given back before has not made it lose its core.
    pub fn yields(&mut self, actor: Actor, time: i64) {
        self.comes(time);
        self.locks.goes_on(actor, time);
    }

    /// An instance terminates, wanted or not: `[begin, end)` is its response, from its activation, or from
    /// its start if the trace tells no activations of it.
    pub fn ended(&mut self, actor: Actor, begin: i64, end: i64) {
        self.comes(end);
        let concerned = self.locks.ended(actor, end);
        self.wake(concerned);
        self.processes.at(actor.process).asks.ended(actor.instance);
        let Some(place) = self.place(actor, begin) else { return };
        self.places.remove(&actor);
        let process = self.processes.at(actor.process);
        (process.last, process.ended) = (None, Some((actor.instance, end)));
        process.asker = process.asker.filter(|(instance, _)| *instance != actor.instance);
        if let Some(open) = self.open.get_mut(place) {
            open.ended = Some((begin, end));
            let held = Held { slot: place, generation: open.generation, until: end };
            self.try_again(held, end.saturating_add(1), true);
        }
    }

    /// The explanations that are final, in the order in which they became so: nearly always that of the
    /// terminations.
    pub fn take(&mut self) -> Explanations {
        // About as many come until the next time.
        let room = self.explained.room_for();
        std::mem::replace(&mut self.explained, room)
    }

    /// Nothing comes any more: the rest. Instances that did not end are not explained.
    pub fn finish(&mut self) -> Explanations {
        let mut rest: Vec<Held> = std::mem::take(&mut self.held).into_iter().map(|(_, held)| held).collect();
        rest.sort_by_key(|held| {
            self.open.get(held.slot).map(|open| (open.ended.map(|(_, end)| end), open.actor))
        });
        for held in rest {
            self.explain(held, Rest::IsNothing);
        }
        self.take()
    }

    /// An input comes; now and then, what nobody asks for any more goes.
    fn comes(&mut self, time: i64) {
        if self.inputs == 0 {
            self.gaps.settle();
        }
        self.now = self.now.max(time);
        self.inputs += 1;
        if self.inputs >= self.drop_at {
            self.drop_old();
        }
    }

    /// The place of a wanted instance; a new one if it is not open.
    fn place(&mut self, actor: Actor, since: i64) -> Option<usize> {
        let process = self.processes.at(actor.process);
        match process.last {
            Some((instance, Role::Open(place))) if instance == actor.instance => return Some(place),
            Some((instance, Role::NotWanted)) if instance == actor.instance => return None,
            _ => {}
        }
        let place = match self.places.entry(actor) {
            Entry::Occupied(known) => *known.get(),
            // Writers that do not count instances give the next one the number of the one that ended.
            Entry::Vacant(_)
                if process.ended.is_some_and(|(ended, end)| ended == actor.instance && since < end) =>
            {
                return None;
            }
            Entry::Vacant(_) if !(self.wanted)(actor) => {
                process.last = Some((actor.instance, Role::NotWanted));
                return None;
            }
            Entry::Vacant(new) => {
                let place = self.free.pop().unwrap_or_else(|| {
                    self.open.push(Open::new(actor, since));
                    self.open.len() - 1
                });
                if let Some(open) = self.open.get_mut(place) {
                    open.begin(actor, since);
                }
                *new.insert(place)
            }
        };
        process.last = Some((actor.instance, Role::Open(place)));
        Some(place)
    }

    /// An instance had a core; adds whom that concerns.
    fn occupies(&mut self, core: Core, span: StateSpan, does: Does, concerned: &mut Vec<Held>) {
        let StateSpan { actor, begin, end, .. } = span;
        let timeline = self.cores.at(core);
        timeline.push(Occupant { actor, does, begin, end });
        if !timeline.held.is_empty() {
            concerned.extend(timeline.held.extract_if(.., |held| held.until <= end));
        }
    }

    /// Somebody sets an OS event of a process.
    fn sets(&mut self, owner: Option<Process>, object: Object, source: Option<Source>) {
        self.settings += 1;
        let asker = owner.and_then(|owner| self.processes.get(owner)?.asker);
        if let Some(open) = asker.and_then(|(_, place)| self.open.get_mut(place)) {
            open.waits.set(object, self.settings, source);
        }
    }

    /// What these explanations waited for has come. Other spans may end at the same instant, and come next.
    fn wake(&mut self, concerned: Vec<Held>) {
        for held in concerned {
            self.try_again(held, self.now, false);
        }
    }

    /// Explains an ended instance, or lets it wait for what has to come.
    fn try_again(&mut self, held: Held, known_before: i64, is_new: bool) {
        if !is_open(&self.open, &held) {
            return;
        }
        let Err((need, until)) = self.cut(held.slot, Rest::Comes, known_before, i64::MAX) else {
            return self.is_explained(held.slot);
        };
        let held = Held { until, ..held };
        match need {
            Need::Core(core) => self.cores.at(core).held.push(held),
            Need::Holder(actor) => match self.locks.holder_mut(actor) {
                Some(holder) => holder.held.push(held),
                None => return self.explain(held, Rest::IsUnknown),
            },
        }
        if is_new {
            self.held.push_back((self.inputs, held));
        }
    }

    /// Explains an ended instance without what may come.
    fn explain(&mut self, held: Held, rest: Rest) {
        if is_open(&self.open, &held) {
            let _ = self.cut(held.slot, rest, i64::MAX, i64::MAX);
            self.is_explained(held.slot);
        }
    }

    fn is_explained(&mut self, place: usize) {
        if let Some(open) = self.open.get_mut(place) {
            open.explained(&mut self.explained);
            open.generation += 1;
            self.free.push(place);
        }
    }

    /// Cuts spans of an open instance that end before `before`.
    fn cut(&mut self, place: usize, rest: Rest, known_before: i64, before: i64) -> Result<(), (Need, i64)> {
        let Some(open) = self.open.get_mut(place) else { return Ok(()) };
        let known = Known {
            processes: &self.processes,
            cores: &self.cores,
            gaps: &self.gaps,
            locks: &self.locks,
            rest,
            before: known_before,
        };
        open.cut(known, &mut self.nest, before)
    }

    /// Drops what nobody asks for any more. It looks at everything once, so it has to be rare.
    fn drop_old(&mut self) {
        let mut held = std::mem::take(&mut self.held);
        held.retain(|(_, held)| is_open(&self.open, held));
        while let Some((_, first)) = held.pop_front_if(|(since, _)| self.inputs - *since >= self.patience) {
            self.explain(first, Rest::IsUnknown);
        }
        self.held = held;
        let held = self.held.iter().filter_map(|(_, held)| self.open.get(held.slot));
        let open = self.places.values().filter_map(|place| self.open.get(*place));
        let horizon = open.chain(held).map(Open::horizon).fold(self.now, i64::min);
        for timeline in self.cores.values_mut() {
            timeline.drop_before(horizon);
            timeline.held.retain(|held| is_open(&self.open, held));
        }
        self.locks.drop_before(horizon, |held| is_open(&self.open, held));
        for process in self.processes.values_mut() {
            process.drop_before(horizon);
        }
        let size = self.cores.len() + self.locks.len() + self.processes.len() + self.places.len();
        self.drop_at = self.inputs + self.often.max(size as u64 + self.held.len() as u64);
    }
}

/// Whether an explanation still waits: its place has not gone to another instance.
fn is_open(open: &[Open], held: &Held) -> bool {
    open.get(held.slot).is_some_and(|open| open.generation == held.generation)
}

impl std::fmt::Debug for Explainer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Explainer").field("inputs", &self.inputs).finish_non_exhaustive()
    }
}
