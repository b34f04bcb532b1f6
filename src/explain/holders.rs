//! Cuts a wait for a semaphore into parts: who holds it, and what the holder does meanwhile; also the wait of
//! another one, which polls on the core of the instance. Not who holds what (see `locks`).

use super::cores::{Does, Occupant};
use super::locks::{Hold, Holder, needs_core};
use super::split::{Cutter, Need, Rest, add};
use super::types::{Actor, Core, Object, Part, Source, State, StateSpan};

impl Cutter<'_> {
    /// It waits for a semaphore: who holds it, and what does the holder do?
    pub fn lock(&mut self, part: Part, object: Object) -> Result<(), Need> {
        let locks = self.known.locks;
        let mut now = part.begin;
        while now < part.end {
            let (hold, until) = locks.holder_at(object, self.actor, now);
            let piece = Part { begin: now, end: until.min(part.end), ..part };
            match hold.and_then(|hold| Some((hold, locks.holder(hold.0)?))) {
                Some((hold, holder)) => self.held(piece, hold, holder)?,
                None => add(self.parts, piece),
            }
            now = piece.end;
        }
        Ok(())
    }

    /// A holder has the semaphore for all of a part, unless a gap hides that.
    fn held(&mut self, part: Part, (actor, since): Hold<Actor>, holder: &Holder) -> Result<(), Need> {
        let seen = holder.seen_until(since).clamp(part.begin, part.end);
        let known = Part { end: seen, by: Some(Source::Process(actor)), ..part };
        let mut now = known.begin;
        for span in holder.after(now) {
            if span.begin >= known.end {
                break;
            }
            // Between its spans, it is known to have the semaphore only.
            add(self.parts, Part { begin: now, end: span.begin.max(now), ..known });
            let (begin, end) = (span.begin.max(now), span.end.min(known.end));
            self.does(Part { begin, end, holder_state: Some(span.state), ..known }, span)?;
            now = end;
        }
        let hidden = holder.hidden_from(since, self.known.gaps);
        let (from, to) = holder.runs(self.known.before);
        let (from, to) = (from.clamp(now, known.end.max(now)), to.min(known.end));
        if from < to && to <= hidden {
            add(self.parts, Part { begin: now, end: from, ..known });
            add(self.parts, Part { begin: from, end: to, holder_state: Some(State::Running), ..known });
            now = to;
        }
        if now < known.end {
            if self.known.rest == Rest::Comes && !holder.is_over() {
                return Err(Need::Holder(actor));
            }
            // It is lost, or its span takes too long.
            let hidden = hidden.clamp(now, known.end);
            add(self.parts, Part { begin: now, end: hidden, ..known });
            add(self.parts, Part { begin: hidden, by: None, ..known });
        }
        add(self.parts, Part { begin: seen, ..part });
        Ok(())
    }

    /// Somebody else has its core. If that one only polls there: for what, and who holds that?
    #[inline(always)]
    pub fn occupied(&mut self, part: Part, occupant: &Occupant, earlier: i64) {
        let by = occupant.actor;
        let is_idle = self.known.processes.get(by.process).is_some_and(|process| process.facts.is_idle);
        let (Does::Polls(object), false) = (occupant.does, is_idle) else {
            return self.blame(part, by, earlier);
        };
        let part = Part { object, holder_state: Some(State::Polling), ..part };
        let Some(object) = object else { return self.blame(part, by, earlier) };
        let mut now = part.begin;
        while now < part.end {
            let (hold, until) = self.known.locks.holder_at(object, by, now);
            let end = until.min(part.end);
            // Its holder may have given it back in a gap, on whichever core that is.
            let seen = hold.map_or(end, |(_, since)| self.known.gaps.hide_from(since)).clamp(now, end);
            let by_behind = hold.map(|(holder, _)| holder);
            self.blame(Part { begin: now, end: seen, by_behind, ..part }, by, earlier);
            self.blame(Part { begin: seen, end, ..part }, by, earlier);
            now = end;
        }
    }

    /// A holder that could run, but does not: who has its core?
    fn does(&mut self, part: Part, span: &StateSpan) -> Result<(), Need> {
        let (true, Some(core)) = (needs_core(span.state), span.core) else {
            add(self.parts, part);
            return Ok(());
        };
        let mut now = part.begin;
        let cores = self.known.cores;
        if let Some(timeline) = cores.get(core) {
            for other in timeline.after(now).1 {
                if other.begin >= part.end {
                    add(self.parts, Part { begin: now, ..part });
                    return Ok(());
                }
                add(self.parts, Part { begin: now, end: other.begin.max(now), ..part });
                let (begin, end) = (other.begin.max(now), other.end.min(part.end));
                self.preempts(Part { begin, end, ..part }, core, other.actor);
                now = end;
                if now >= part.end {
                    return Ok(());
                }
            }
        }
        if now < part.end && self.known.rest == Rest::Comes {
            return Err(Need::Core(core));
        }
        add(self.parts, Part { begin: now, ..part });
        Ok(())
    }

    /// Somebody has the core of a holder, as far as there is no gap.
    fn preempts(&mut self, part: Part, core: Core, runner: Actor) {
        let runs = Part { by_behind: Some(runner), ..part };
        let mut now = part.begin;
        for gap in self.known.gaps.after(Some(core), now) {
            if gap.begin >= part.end {
                break;
            }
            let (begin, end) = (gap.begin.max(now), gap.end.min(part.end));
            add(self.parts, Part { begin: now, end: begin, ..runs });
            add(self.parts, Part { begin, end, ..part });
            now = end;
        }
        add(self.parts, Part { begin: now, ..runs });
    }
}
