//! Cuts one span of an instance into parts: who has its core, and why. Not who holds what it waits for (see
//! `holders`), nor where the spans come from (see `open`).

use super::cores::{Gaps, Occupant, Timeline};
use super::locks::Locks;
use super::processes::Process;
use super::runnables::Nest;
use super::table::Table;
use super::types::{Actor, Core, Kind, Part, ProcessFacts, Reason, RunnableSpan, Source, State};
use super::waits::For;

/// What has to come before a span can be cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    /// The next span on a core: who has it until then is not known.
    Core(Core),
    /// The next state span of a holder.
    Holder(Actor),
}

/// What to do when something has to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    /// Wait for it.
    Comes,
    /// Nothing will come any more: nobody had the core.
    IsNothing,
    /// Do without it: it is not known.
    IsUnknown,
}

/// A span of the instance, with what it was for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Own {
    pub core: Option<Core>,
    pub state: State,
    pub begin: i64,
    pub end: i64,
    pub for_what: Option<For>,
}

/// All that a span is cut with.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    pub processes: &'a Table<Process>,
    pub cores: &'a Table<Timeline>,
    pub gaps: &'a Gaps,
    pub locks: &'a Locks,
    pub rest: Rest,
    /// All spans that end before this have come.
    pub before: i64,
}

/// Cuts the spans of one instance. A part is large, and would be copied at each call: what nearly every part
/// goes through is inlined.
pub(super) struct Cutter<'a> {
    pub known: Known<'a>,
    pub actor: Actor,
    pub parts: &'a mut Vec<Part>,
    /// The end of the span that is cut: if it could run until then, it gets a core there.
    pub until: i64,
}

/// A part of which nothing is known yet.
pub(super) fn unknown(begin: i64, end: i64) -> Part {
    Part {
        begin,
        end,
        core: None,
        state: None,
        kind: Kind::Unknown,
        by: None,
        runnable: None,
        object: None,
        reason: None,
        holder_state: None,
        by_behind: None,
    }
}

/// Adds a part, or extends the last one, if it is equal in everything. Parts come in order; empty ones, of
/// which there are many, are not even made.
#[inline]
pub(super) fn add(parts: &mut Vec<Part>, part: Part) {
    if part.begin < part.end {
        add_some(parts, part);
    }
}

fn add_some(parts: &mut Vec<Part>, part: Part) {
    if let Some(last) = parts.last_mut()
        && last.end == part.begin
        && last.kind == part.kind
        && (Part { begin: last.begin, end: last.end, ..part }) == *last
    {
        last.end = part.end;
        return;
    }
    parts.push(part);
}

impl Cutter<'_> {
    /// Cuts a span of the instance; `runnables` are those of its that ended up to the end of the span. If
    /// something has to come first, no part is added.
    pub fn cut(&mut self, own: &Own, runnables: &[RunnableSpan], nest: &mut Nest) -> Result<(), Need> {
        self.until = own.end;
        let count = self.parts.len();
        let last_end = self.parts.last().map(|last| last.end);
        let part = Part { core: own.core, state: Some(own.state), ..unknown(own.begin, own.end) };
        let done = match (own.state, own.for_what) {
            (State::Running, _) => {
                let parts = &mut *self.parts;
                nest.cut(own.begin, own.end, runnables, |begin, end, runnable| {
                    add(parts, Part { begin, end, kind: Kind::Executes, runnable, ..part });
                });
                Ok(())
            }
            (State::Active | State::Ready, _) => self.behind(part),
            (State::Parking, Some(For::Lock(object))) => self.behind(Part { object: Some(object), ..part }),
            (State::Parking, _) => self.behind(part),
            (State::Polling | State::Waiting, Some(For::Lock(object))) => {
                self.lock(Part { kind: Kind::Lock, object: Some(object), ..part }, object)
            }
            (State::Polling, _) => {
                add(self.parts, Part { kind: Kind::Lock, ..part });
                Ok(())
            }
            (State::Waiting, Some(For::Event(object, by))) => {
                let by = by.filter(|by| *by != Source::Process(self.actor));
                self.waits(Part { kind: Kind::WaitsFor, object: Some(object), by, ..part });
                Ok(())
            }
            (State::Waiting, None) => {
                self.waits(Part { kind: Kind::WaitsFor, ..part });
                Ok(())
            }
        };
        if done.is_err() {
            self.parts.truncate(count);
            // It may have been extended.
            if let (Some(end), Some(last)) = (last_end, self.parts.last_mut()) {
                last.end = end;
            }
        }
        done
    }

    /// It waits for an OS event. If nothing shows who set it, it may have happened in a gap.
    fn waits(&mut self, part: Part) {
        if part.by.is_some() {
            return add(self.parts, part);
        }
        let mut now = part.begin;
        for gap in self.known.gaps.after(part.core, now) {
            if gap.begin >= part.end {
                break;
            }
            let (begin, end) = (gap.begin.max(now), gap.end.min(part.end));
            add(self.parts, Part { begin: now, end: begin, ..part });
            add(self.parts, Part { begin, end, kind: Kind::Unknown, ..part });
            now = end;
        }
        add(self.parts, Part { begin: now, ..part });
    }

    /// It could run: who has its core?
    fn behind(&mut self, part: Part) -> Result<(), Need> {
        let Some(core) = part.core else {
            add(self.parts, part);
            return Ok(());
        };
        let earlier =
            self.known.processes.get(self.actor.process).filter(|_| part.state == Some(State::Active));
        let earlier = earlier.and_then(|process| process.earlier_until(self.actor.instance));
        let earlier = earlier.unwrap_or(i64::MIN);
        let cores = self.known.cores;
        let Some(timeline) = cores.get(core) else {
            return self.nobody(part, None, None, earlier);
        };
        let (mut before, spans) = timeline.after(part.begin);
        // Nobody said in time that the instance is there: the spans may be dropped.
        let mut now = before.map_or(part.begin, |before| before.clamp(part.begin, part.end));
        add(self.parts, Part { end: now, ..part });
        for span in spans {
            if span.begin >= part.end {
                return self.nobody(Part { begin: now, ..part }, before, Some(span.begin), earlier);
            }
            if span.begin > now {
                let nobody = Part { begin: now, end: span.begin, ..part };
                self.nobody(nobody, before, Some(span.begin), earlier)?;
                now = span.begin;
            }
            let end = span.end.min(part.end);
            self.runs(Part { begin: now, end, ..part }, span, earlier);
            (now, before) = (end, Some(span.end));
            if now >= part.end {
                return Ok(());
            }
        }
        self.nobody(Part { begin: now, ..part }, before, None, earlier)
    }

    /// No span on its core: the last one ended at `before`, the next one begins at `next`.
    fn nobody(
        &mut self,
        part: Part,
        before: Option<i64>,
        next: Option<i64>,
        earlier: i64,
    ) -> Result<(), Need> {
        let (Some(core), true) = (part.core, part.begin < part.end) else { return Ok(()) };
        if next.is_none() && self.known.rest == Rest::Comes {
            return Err(Need::Core(core));
        }
        let is_known = next.is_some() || self.known.rest == Rest::IsNothing;
        let Some(before) = before.filter(|_| is_known) else {
            add(self.parts, part);
            return Ok(());
        };
        // Behind a gap, nothing is known until the next span begins.
        let gap = self.known.gaps.after(part.core, before).first();
        let until = gap.map_or(part.end, |gap| gap.begin.clamp(part.begin, part.end));
        self.kernel(Part { end: until, ..part }, earlier);
        add(self.parts, Part { begin: until, ..part });
        Ok(())
    }

    /// Nobody has the core, or nobody who would not give it away.
    #[inline(always)]
    fn kernel(&mut self, part: Part, earlier: i64) {
        let part = Part { kind: Kind::Os, ..part };
        let until = earlier.clamp(part.begin, part.end);
        add(self.parts, Part { end: until, reason: Some(Reason::PreviousInstance), ..part });
        add(self.parts, Part { begin: until, ..part });
    }

    /// Somebody has its core, as far as there is no gap.
    #[inline(always)]
    fn runs(&mut self, part: Part, occupant: &Occupant, earlier: i64) {
        if occupant.actor == self.actor {
            return add(self.parts, part);
        }
        let part = Part { by: Some(Source::Process(occupant.actor)), ..part };
        let mut now = part.begin;
        for gap in self.known.gaps.after(part.core, now) {
            if gap.begin >= part.end {
                break;
            }
            let (begin, end) = (gap.begin.max(now), gap.end.min(part.end));
            self.occupied(Part { begin: now, end: begin, ..part }, occupant, earlier);
            add(self.parts, Part { begin, end, by: None, ..part });
            now = end;
        }
        self.occupied(Part { begin: now, ..part }, occupant, earlier);
    }

    /// Why somebody has its core.
    #[inline(always)]
    pub fn blame(&mut self, part: Part, runner: Actor, earlier: i64) {
        if part.begin >= part.end {
            return;
        }
        let facts =
            |process| self.known.processes.get(process).map(|process| process.facts).unwrap_or_default();
        let (mine, other) = (facts(self.actor.process), facts(runner.process));
        if other.is_idle {
            return self.kernel(part, earlier);
        }
        let part = Part { kind: Kind::Behind, ..part };
        let is_earlier = runner.process == self.actor.process && runner.instance < self.actor.instance;
        if is_earlier {
            return add(self.parts, Part { reason: Some(Reason::PreviousInstance), ..part });
        }
        let Some(reason) = reason(mine, other) else { return self.lower(part, runner, mine, other, earlier) };
        self.because(part, reason, earlier);
    }

    /// An earlier instance that is not finished is a reason where there is no other.
    #[inline(always)]
    fn because(&mut self, part: Part, reason: Reason, earlier: i64) {
        let until = if reason == Reason::NotKnown { earlier.clamp(part.begin, part.end) } else { part.begin };
        add(self.parts, Part { end: until, reason: Some(Reason::PreviousInstance), ..part });
        add(self.parts, Part { begin: until, reason: Some(reason), ..part });
    }

    /// Somebody of lower priority runs. If it is not preemptable, that is why, whatever it holds. Else it is
    /// what it gives back last before the instance gets the core: what it still holds then did not keep the
    /// instance from running, nor did that after which it went on.
    fn lower(&mut self, part: Part, runner: Actor, mine: ProcessFacts, other: ProcessFacts, earlier: i64) {
        if other.is_preemptable == Some(false) && !mine.is_isr {
            return self.because(part, Reason::LowerPriorityNotPreemptable, earlier);
        }
        let locks = self.known.locks;
        let Some(holder) = locks.holder(runner) else { return self.because(part, Reason::NotKnown, earlier) };
        let mut now = part.begin;
        if let Some((object, begin, end)) =
            holder.gives_back((part.begin, part.end), self.until, self.known.gaps)
        {
            self.because(Part { begin: now, end: begin, ..part }, Reason::NotKnown, earlier);
            self.because(Part { begin, end, ..part }, Reason::LowerPriorityHolds(object), earlier);
            now = end;
        }
        self.because(Part { begin: now, ..part }, Reason::NotKnown, earlier);
    }
}

/// Why `other` runs while `mine` could; `None` if its priority is lower.
fn reason(mine: ProcessFacts, other: ProcessFacts) -> Option<Reason> {
    if other.is_isr {
        return Some(Reason::Isr);
    }
    if mine.is_isr {
        // No task is more urgent than an ISR.
        return None;
    }
    let (Some(own), Some(others)) = (mine.priority, other.priority) else { return Some(Reason::NotKnown) };
    match others.cmp(&own) {
        std::cmp::Ordering::Greater => Some(Reason::HigherPriority),
        std::cmp::Ordering::Equal if other.is_preemptable.is_some() => Some(Reason::EqualPriority),
        std::cmp::Ordering::Equal => Some(Reason::NotKnown),
        std::cmp::Ordering::Less => None,
    }
}
