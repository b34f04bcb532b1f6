//! The recording of the simulated system: its spans and events, without what gaps hide.

use super::schedule::{System, Tick};
use crate::explain::{RunnableSpan, Said, State, StateSpan};

impl System {
    pub fn record(&mut self) {
        for inst in &mut self.insts {
            // An active instance is where it starts.
            let start = inst.ticks.iter().flatten().find(|tick| tick.state != State::Active).map(|t| t.core);
            let start = start.unwrap_or(inst.home as u32);
            for tick in inst.ticks.iter_mut().flatten().filter(|tick| tick.state == State::Active) {
                tick.core = start;
            }
        }
        let cuts = self.dice.chance(60);
        let mut is_event_seen = vec![true; self.events.len()];
        for _ in 0..if self.dice.chance(50) { 0 } else { 1 + self.dice.below(4) } {
            let core = (!self.dice.chance(20)).then(|| self.dice.below(self.cores) as u32);
            let begin = self.dice.below(self.length);
            let end = (begin + 1 + self.dice.below(15)).min(self.length);
            self.gaps.push((core, begin as i64, end as i64));
            if !cuts {
                continue;
            }
            for (n, (_, event)) in self.events.iter().enumerate() {
                let is_there = core.is_none_or(|core| self.places[n] == core as usize);
                is_event_seen[n] &= !(is_there && event.time > begin as i64 && event.time < end as i64);
            }
            for inst in &mut self.insts {
                let is_there = |tick: &Option<Tick>| {
                    tick.as_ref().is_some_and(|tick| core.is_none_or(|core| tick.core == core))
                };
                let Some(first) = (begin..end).find(|time| is_there(&inst.ticks[*time])) else { continue };
                let is_same = |a: &Option<Tick>, b: &Option<Tick>| match (a, b) {
                    (Some(a), Some(b)) => (a.state, a.core, a.wait) == (b.state, b.core, b.wait),
                    _ => false,
                };
                let mut last = end;
                while last < self.length && is_same(&inst.ticks[last], &inst.ticks[last - 1]) {
                    last += 1;
                }
                inst.is_seen[first..last].fill(false);
            }
        }
        for n in 0..self.insts.len() {
            let inst = &self.insts[n];
            let is_shown = self.events.iter().zip(&is_event_seen).any(|((_, event), is_seen)| {
                *is_seen && event.said == Said::Activate && event.target == Some(inst.actor)
            });
            let is_whole = inst.is_seen.iter().all(|is_seen| *is_seen);
            let is_wanted = inst.end.is_some() && is_whole && is_shown && self.dice.chance(90);
            self.insts[n].is_wanted = is_wanted;
            self.spans(n);
        }
        let mut is_seen = is_event_seen.iter();
        self.events.retain(|_| is_seen.next() == Some(&true));
    }

    fn spans(&mut self, n: usize) {
        let inst = &self.insts[n];
        let seen = |time: usize| inst.ticks.get(time).and_then(Option::as_ref).filter(|_| inst.is_seen[time]);
        let mut time = 0;
        while time < self.length {
            let Some(tick) = seen(time) else {
                time += 1;
                continue;
            };
            let begin = time;
            while seen(time)
                .is_some_and(|next| (next.state, next.core, next.wait) == (tick.state, tick.core, tick.wait))
            {
                time += 1;
            }
            // Its core is told by the next span, if there is one.
            let hides = tick.state == State::Active && seen(time).is_some() && self.dice.chance(30);
            let core = (!hides).then_some(tick.core);
            let (actor, state) = (inst.actor, tick.state);
            self.states.push(StateSpan { actor, core, state, begin: begin as i64, end: time as i64 });
        }
        for depth in 0..8 {
            let at = |time: usize| seen(time).and_then(|tick| tick.runnables.get(depth));
            let mut time = 0;
            while time < self.length {
                let Some(runnable) = at(time) else {
                    time += 1;
                    continue;
                };
                let (begin, core) = (time, seen(time).map(|tick| tick.core));
                while at(time) == Some(runnable) && seen(time).map(|tick| tick.core) == core {
                    time += 1;
                }
                let (actor, depth, runnable) = (inst.actor, depth as u32, runnable.0);
                let (begin, end) = (begin as i64, time as i64);
                self.runnables.push(RunnableSpan { actor, runnable, depth, begin, end });
            }
        }
    }
}
