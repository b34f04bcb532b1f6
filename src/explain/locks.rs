//! Who holds which semaphore, and what holders do meanwhile. Not who asks (see `waits`).
//!
//! The states of an instance are kept only while it holds something, or held something that is still asked
//! about. A state span comes at its end, so the present state of a holder is not known, except when it takes
//! or gives something: then it runs, and has run since its last span ended.

use super::cores::{Gaps, Held, Span};
use super::table::{IdMap, Table};
use super::types::{Actor, Object, State, StateSpan};
use std::collections::VecDeque;

/// How many objects an instance, and how many instances an object can have at once; of more, the oldest are
/// forgotten, and nothing is blamed on them. It bounds the search for what is given back.
const MOST: usize = 64;

/// Something that changes at certain times: the last entry up to a time holds then.
type Changes<T> = VecDeque<(i64, T)>;

/// An instance holds an object since a time, or an object is held by it.
pub(super) type Hold<T> = (T, i64);

/// Who holds an object: the one that got it last, and the last one that is not the same.
type Holders = (Option<Hold<Actor>>, Option<Hold<Actor>>);

#[derive(Debug, Default)]
struct Lock {
    /// In the order in which they got it.
    holds: Vec<Hold<Actor>>,
    changes: Changes<Holders>,
}

/// Times of one open run of a holder.
#[derive(Debug, Default, Clone, Copy)]
struct Run {
    from: i64,
    before_last: i64,
    last: i64,
}

/// An instance held an object from one time to another, at which it was given back.
#[derive(Debug, Clone, Copy)]
struct Given {
    object: Object,
    since: i64,
    at: i64,
    /// When it took something, waited or ended next; giving back is not meant.
    next_act: i64,
}

/// What is known of an instance that holds something.
#[derive(Debug, Default)]
pub(super) struct Holder {
    /// In the order in which it got them.
    holds: Vec<Hold<Object>>,
    /// What was given back, in that order.
    given: VecDeque<Given>,
    /// When it got or gave something last, or ended.
    changed_at: i64,
    spans: VecDeque<StateSpan>,
    /// Spans in which a gap may hide what it did.
    unseen: VecDeque<Span>,
    /// Its spans are known up to here.
    known_until: i64,
    has_spans: bool,
    /// It has run since the first of these times, without gap: it took or gave something at the others.
    run: Run,
    /// It has ended.
    is_over: bool,
    /// Explanations that wait for its next span.
    pub held: Vec<Held>,
}

/// All semaphores and their holders.
#[derive(Debug, Default)]
pub(super) struct Locks {
    locks: Table<Lock>,
    holders: IdMap<Actor, Holder>,
}

/// Notes what holds from a time on; of one time, the last counts.
fn note<T: PartialEq>(changes: &mut Changes<T>, time: i64, now: T) {
    match changes.back_mut() {
        Some((at, last)) if *at >= time => *last = now,
        Some((_, last)) if *last == now => {}
        _ => changes.push_back((time, now)),
    }
}

/// What holds at `time`, and until when.
fn at<T: Copy + Default>(changes: &Changes<T>, time: i64) -> (T, i64) {
    let next = changes.partition_point(|(at, _)| *at <= time);
    let until = changes.get(next).map_or(i64::MAX, |(at, _)| *at);
    let now = next.checked_sub(1).and_then(|n| changes.get(n)).map(|(_, now)| *now);
    (now.unwrap_or_default(), until)
}

/// Drops what nobody asks for: the last change up to `horizon` still holds then.
fn drop_before<T>(changes: &mut Changes<T>, horizon: i64) {
    let passed = changes.partition_point(|(at, _)| *at <= horizon);
    changes.drain(..passed.saturating_sub(1));
}

fn take<T: PartialEq>(holds: &mut Vec<Hold<T>>, what: &T) -> Option<Hold<T>> {
    let place = holds.iter().rposition(|(held, _)| held == what);
    place.map(|place| holds.remove(place))
}

fn give<T: PartialEq>(holds: &mut Vec<Hold<T>>, what: T, time: i64) {
    take(holds, &what);
    if holds.len() == MOST {
        holds.remove(0);
    }
    holds.push((what, time));
}

impl Lock {
    fn note(&mut self, time: i64) {
        let first = self.holds.last().copied();
        // An instance is in the list once.
        let second = self.holds.len().checked_sub(2).and_then(|n| self.holds.get(n)).copied();
        note(&mut self.changes, time, (first, second));
    }
}

impl Locks {
    /// An instance gets an object.
    pub fn assigned(&mut self, object: Object, actor: Actor, time: i64, gaps: &Gaps) {
        let lock = self.locks.at(object);
        give(&mut lock.holds, actor, time);
        lock.note(time);
        let run = Run { from: time, before_last: time, last: time };
        let holder = self.holders.entry(actor).or_insert_with(|| Holder {
            known_until: time,
            run,
            ..Holder::default()
        });
        give(&mut holder.holds, object, time);
        // Another instance of the same number, of a writer that does not count them.
        holder.is_over = false;
        holder.goes_on(time);
        holder.acts(time, gaps);
    }

    /// An instance that holds or held something asks for an OS event, or lets others run: it has not lost its
    /// core.
    pub fn goes_on(&mut self, actor: Actor, time: i64) {
        if let Some(holder) = self.holders.get_mut(&actor) {
            holder.goes_on(time);
        }
    }

    /// An object is given back. By somebody who does not hold it, it is a signal: then it is not known who
    /// holds it.
    pub fn released(&mut self, object: Object, actor: Option<Actor>, time: i64, gaps: &Gaps) {
        if let Some(holder) = actor.and_then(|actor| self.holders.get_mut(&actor)) {
            holder.gives(object, time);
            holder.acts(time, gaps);
        }
        let Some(lock) = self.locks.get_mut(object) else { return };
        if actor.is_none_or(|actor| take(&mut lock.holds, &actor).is_none()) {
            for (actor, _) in lock.holds.drain(..) {
                if let Some(holder) = self.holders.get_mut(&actor) {
                    holder.gives(object, time);
                }
            }
        }
        lock.note(time);
    }

    /// An instance ends: what it still holds has no owner from now on. Returns whom that concerns.
    pub fn ended(&mut self, actor: Actor, time: i64) -> Vec<Held> {
        let Some(holder) = self.holders.get_mut(&actor) else { return Vec::new() };
        holder.is_over = true;
        holder.goes_on(time);
        for (object, _) in std::mem::take(&mut holder.holds) {
            if let Some(lock) = self.locks.get_mut(object) {
                take(&mut lock.holds, &actor);
                lock.note(time);
            }
        }
        holder.changed_at = time;
        std::mem::take(&mut holder.held)
    }

    /// A span of any instance; returns whom it concerns.
    pub fn state(&mut self, span: StateSpan, gaps: &Gaps) -> Vec<Held> {
        if self.holders.is_empty() {
            return Vec::new();
        }
        let Some(holder) = self.holders.get_mut(&span.actor) else { return Vec::new() };
        holder.state(span, gaps);
        if holder.held.is_empty() { Vec::new() } else { std::mem::take(&mut holder.held) }
    }

    /// Who holds an object at `time`, besides `asker`: the one that got it last; and until when that holds.
    pub fn holder_at(&self, object: Object, asker: Actor, time: i64) -> (Option<Hold<Actor>>, i64) {
        let Some(lock) = self.locks.get(object) else { return (None, i64::MAX) };
        let ((first, second), until) = at(&lock.changes, time);
        (if first.is_some_and(|(actor, _)| actor == asker) { second } else { first }, until)
    }

    /// What is known of an instance that holds or held something.
    pub fn holder(&self, actor: Actor) -> Option<&Holder> {
        if self.holders.is_empty() { None } else { self.holders.get(&actor) }
    }

    /// The same, to wait for it.
    pub fn holder_mut(&mut self, actor: Actor) -> Option<&mut Holder> {
        self.holders.get_mut(&actor)
    }

    /// How much is kept, at least.
    pub fn len(&self) -> usize {
        self.locks.len() + self.holders.len()
    }

    /// Nobody asks for anything before `horizon` any more.
    pub fn drop_before(&mut self, horizon: i64, is_open: impl Fn(&Held) -> bool) {
        for lock in self.locks.values_mut() {
            drop_before(&mut lock.changes, horizon);
        }
        self.holders.retain(|_, holder| {
            let given = holder.given.partition_point(|given| given.at <= horizon);
            holder.given.drain(..given);
            let spans = holder.spans.partition_point(|span| span.end <= horizon);
            holder.spans.drain(..spans);
            // The last one still says that what was taken before it may have been given back.
            let unseen = holder.unseen.partition_point(|span| span.end <= horizon);
            holder.unseen.drain(..unseen.saturating_sub(1));
            holder.held.retain(&is_open);
            !holder.holds.is_empty() || !holder.held.is_empty() || holder.changed_at > horizon
        });
    }

    /// How many spans are kept.
    #[cfg(test)]
    pub fn spans(&self) -> usize {
        self.holders.values().map(|holder| holder.spans.len() + holder.given.len()).sum()
    }
}

impl Holder {
    /// It gives something back, if it has it, or somebody else does.
    fn gives(&mut self, object: Object, time: i64) {
        if let Some((_, since)) = take(&mut self.holds, &object) {
            self.given.push_back(Given { object, since, at: time, next_act: i64::MAX });
        }
        self.changed_at = time;
    }

    fn goes_on(&mut self, time: i64) {
        if let Some(last) = self.given.back_mut() {
            last.next_act = last.next_act.min(time);
        }
    }

    fn acts(&mut self, time: i64, gaps: &Gaps) {
        self.changed_at = time;
        let is_new = self.run.last <= self.known_until;
        let since = if is_new { self.known_until } else { self.run.last };
        if gaps.is_any(since, time) {
            // Nothing says what it did in the gap, but before it, it ran.
            self.ran_before(time);
            self.run = Run { from: time, before_last: time, last: time };
        } else if is_new {
            self.run = Run { from: since, before_last: since, last: time };
        } else if time > self.run.last {
            (self.run.before_last, self.run.last) = (self.run.last, time);
        }
    }

    /// Its run up to an act before `time` becomes a span.
    fn ran_before(&mut self, time: i64) {
        let (from, end) = self.runs(time);
        if let Some(last) = self.spans.back().copied().filter(|_| from < end) {
            self.spans.push_back(StateSpan { core: None, state: State::Running, begin: from, end, ..last });
        } else if from < end {
            let actor = Actor { process: 0, instance: 0 };
            let state = State::Running;
            self.spans.push_back(StateSpan { actor, core: None, state, begin: from, end });
        }
    }

    fn state(&mut self, span: StateSpan, gaps: &Gaps) {
        if span.end < self.known_until || (self.has_spans && span.end == self.known_until) {
            return;
        }
        let begin = span.begin.max(self.known_until);
        if begin > self.known_until {
            // A hole: a gap cut its states off. On which core it was then is not known.
            self.ran_before(begin);
            for gap in gaps.after_any(self.known_until) {
                if gap.begin >= begin {
                    break;
                }
                self.hides(Span { begin: gap.begin.max(self.known_until), end: gap.end.min(begin) });
            }
        }
        for gap in gaps.after(span.core, begin) {
            if gap.begin >= span.end {
                break;
            }
            self.hides(Span { begin: gap.begin.max(begin), end: gap.end.min(span.end) });
        }
        (self.known_until, self.has_spans) = (span.end.max(begin), true);
        if begin < span.end {
            self.spans.push_back(StateSpan { begin, ..span });
        }
    }

    fn hides(&mut self, span: Span) {
        if span.begin >= span.end {
            return;
        }
        match self.unseen.back_mut() {
            Some(last) if span.begin <= last.end => last.end = last.end.max(span.end),
            _ => self.unseen.push_back(span),
        }
    }

    /// What it gives back last until `until`, and when in `[begin, end)` it holds that, unless it acts once
    /// more after that: then it has not lost its core by giving something back. What a gap may have hidden is
    /// left out.
    pub fn gives_back(
        &self,
        (begin, end): (i64, i64),
        until: i64,
        gaps: &Gaps,
    ) -> Option<(Object, i64, i64)> {
        let last = self.given.partition_point(|given| given.at <= until).checked_sub(1)?;
        let given = self.given.get(last).filter(|given| given.next_act > until)?;
        let seen_from = gaps.last_any_before(given.at).max(begin);
        let (from, to) = (given.since.max(seen_from), given.at.min(end));
        (from < to && self.seen_until(given.since) >= given.at).then_some((given.object, from, to))
    }

    /// Until when no gap hides that it gave back what it got at `since`, as far as its spans are known.
    pub fn seen_until(&self, since: i64) -> i64 {
        let hidden = self.unseen.get(self.unseen.partition_point(|span| span.end <= since));
        hidden.map_or(i64::MAX, |span| span.begin.max(since))
    }

    /// Its spans that end after `time`.
    pub fn after(&self, time: i64) -> impl Iterator<Item = &StateSpan> {
        self.spans.range(self.spans.partition_point(|span| span.end <= time)..)
    }

    /// From when to when it is known to run after its last span: it acted before `before`, and all spans that
    /// end there have come.
    pub fn runs(&self, before: i64) -> (i64, i64) {
        let last = if self.run.last < before { self.run.last } else { self.run.before_last };
        (self.run.from.max(self.known_until), last.min(before))
    }

    /// From when on a gap may hide that it gave back what it got at `since`, behind its last span: on which
    /// core it is then is not known.
    pub fn hidden_from(&self, since: i64, gaps: &Gaps) -> i64 {
        let from = self.known_until.max(since);
        gaps.after_any(from).first().map_or(i64::MAX, |gap| gap.begin.max(from))
    }

    /// No span of it will come any more.
    pub fn is_over(&self) -> bool {
        self.is_over
    }
}

/// Whether an instance in this state needs a core that it does not have.
pub(super) fn needs_core(state: State) -> bool {
    matches!(state, State::Active | State::Ready | State::Parking)
}
