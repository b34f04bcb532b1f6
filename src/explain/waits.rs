//! What one instance asks for, and who sets the OS events that it waits for. Not who holds semaphores (see
//! `locks`).
//!
//! An instance asks some ticks before its state changes, and often does not have to wait at all.

use super::types::{Object, Source, State};

/// How many questions of an instance are kept: those of its present state, and of one that ends now.
const MOST: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    Lock,
    Event,
}

/// A question, with its answer.
#[derive(Debug, Clone, Copy)]
struct Ask {
    time: i64,
    asked: Asked,
    object: Object,
    /// From then on the instance has it, or went on without it.
    done_at: Option<i64>,
    /// When the event was set first, in the order of all settings, and by whom.
    set: Option<(u64, Option<Source>)>,
}

/// What a span of waiting, polling or parking is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum For {
    /// A semaphore.
    Lock(Object),
    /// An OS event, and who set it.
    Event(Object, Option<Source>),
}

/// The questions of one instance, in the order of time.
#[derive(Debug, Default)]
pub(super) struct Waits(Vec<Ask>);

impl Waits {
    /// Forgets everything, for the next instance.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// It asks for a semaphore, or is told that it has to wait for it.
    pub fn asks_lock(&mut self, object: Object, time: i64) {
        let is_same = |ask: &Ask| {
            ask.asked == Asked::Lock && ask.object == object && ask.time == time && ask.done_at.is_none()
        };
        // It may have waited in between, in a span that ends now and comes next: then it asks again.
        if !self.0.iter().any(is_same) {
            self.goes_on(time);
            self.push(Ask { time, asked: Asked::Lock, object, done_at: None, set: None });
        }
    }

    /// It asks for an OS event. Those of one instant belong together: it waits for any of them.
    pub fn asks_event(&mut self, object: Object, time: i64) {
        for ask in &mut self.0 {
            if ask.done_at.is_none() && !(ask.asked == Asked::Event && ask.time == time) {
                ask.done_at = Some(time);
            }
        }
        self.push(Ask { time, asked: Asked::Event, object, done_at: None, set: None });
    }

    /// It gets a semaphore.
    pub fn gets(&mut self, object: Object, time: i64) {
        for ask in &mut self.0 {
            if ask.done_at.is_none() && (ask.asked == Asked::Event || ask.object == object) {
                ask.done_at = Some(time);
            }
        }
    }

    /// It gives something back, or clears an event: it does not wait for an event then.
    pub fn acts(&mut self, time: i64) {
        for ask in &mut self.0 {
            if ask.done_at.is_none() && ask.asked == Asked::Event {
                ask.done_at = Some(time);
            }
        }
    }

    /// It asks for something else.
    pub fn goes_on(&mut self, time: i64) {
        for ask in &mut self.0 {
            ask.done_at = ask.done_at.or(Some(time));
        }
    }

    /// Somebody sets an OS event of its process; `number` counts all settings.
    pub fn set(&mut self, object: Object, number: u64, source: Option<Source>) {
        for ask in &mut self.0 {
            let waits = ask.asked == Asked::Event && ask.object == object && ask.done_at.is_none();
            if waits && ask.set.is_none() {
                ask.set = Some((number, source));
            }
        }
    }

    /// What a span `[begin, end)` in a state was for. It is the span that comes next: older questions go.
    pub fn of(&mut self, state: State, begin: i64, end: i64) -> Option<For> {
        if self.0.is_empty() {
            return None;
        }
        let is_wait = state == State::Waiting;
        let last = self.last(state, begin);
        let answer = last.map(|last| match last.asked {
            Asked::Lock => For::Lock(last.object),
            Asked::Event => {
                let group = self.0.iter().filter(|ask| ask.asked == Asked::Event && ask.time == last.time);
                let first = group.filter_map(|ask| ask.set.map(|set| (set, ask.object)));
                let first = first.min_by_key(|((number, _), _)| *number);
                first.map_or(For::Event(last.object, None), |((_, by), object)| For::Event(object, by))
            }
        });
        // What it waited for in vain is not what it waits for next; but who polls goes on.
        self.0.retain(|ask| {
            let is_over = ask.done_at.is_some_and(|done| done <= end);
            !(is_over || is_wait && ask.time <= begin)
        });
        answer
    }

    /// What it polls for in a span that begins then and comes next, and since when it has asked for that.
    pub fn polls_for(&self, begin: i64) -> Option<(Object, i64)> {
        self.last(State::Polling, begin).map(|ask| (ask.object, ask.time))
    }

    /// No question is open.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The last question that a span in a state, which begins then, can be about.
    fn last(&self, state: State, begin: i64) -> Option<Ask> {
        let is_wait = state == State::Waiting;
        let fits = |ask: &&Ask| {
            let is_open = ask.done_at.is_none_or(|done| done > begin);
            ask.time <= begin && is_open && (is_wait || ask.asked == Asked::Lock)
        };
        let asks = matches!(state, State::Waiting | State::Polling | State::Parking);
        self.0.iter().rev().find(fits).filter(|_| asks).copied()
    }

    fn push(&mut self, ask: Ask) {
        if self.0.len() >= MOST {
            let before = self.0.len();
            self.0.retain(|old| old.done_at.is_none_or(|done| done >= ask.time));
            if self.0.len() == before {
                self.0.remove(0);
            }
        }
        self.0.push(ask);
    }
}
