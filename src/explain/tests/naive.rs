//! What each tick of a response means, from arrays over all ticks: the rules once more, without any of the
//! code that is tested.

use super::schedule::{Inst, System, Tick};
use crate::explain::{Actor, Happened, Kind, Part, Reason, Said, Source, State};
use std::collections::HashMap;

type Holds = Vec<(Actor, usize)>;

pub struct Naive<'a> {
    system: &'a System,
    by_actor: HashMap<Actor, &'a Inst>,
    /// Per core and tick.
    occupants: Vec<Vec<Option<Actor>>>,
    gaps: Vec<Vec<bool>>,
    /// Per object and tick, in the order of the assignments.
    holds: HashMap<u32, Vec<Holds>>,
    given: Vec<Given>,
}

/// Somebody gave an object back, with the number of that event.
struct Given {
    actor: Actor,
    object: u32,
    since: usize,
    at: usize,
    event: usize,
}

impl Inst {
    fn seen(&self, time: usize) -> Option<&Tick> {
        self.ticks.get(time)?.as_ref().filter(|_| self.is_seen[time])
    }

    /// Its termination is told.
    pub fn is_end_shown(&self) -> bool {
        self.end.is_some_and(|end| {
            self.is_wanted || end == 0 || end == self.begin || self.seen(end - 1).is_some()
        })
    }
}

/// Somebody gave an object back, or it was taken from all of these.
fn gave(given: &mut Vec<Given>, object: u32, gives: Holds, (at, event): (usize, usize)) {
    given.extend(gives.into_iter().map(|(actor, since)| Given { actor, object, since, at, event }));
}

impl<'a> Naive<'a> {
    pub fn new(system: &'a System) -> Self {
        let length = system.length;
        let mut occupants = vec![vec![None; length]; system.cores];
        for inst in &system.insts {
            for (time, _) in inst.ticks.iter().enumerate() {
                let Some(tick) = inst.seen(time) else { continue };
                if matches!(tick.state, State::Running | State::Polling) {
                    occupants[tick.core as usize][time] = Some(inst.actor);
                }
            }
        }
        let mut gaps = vec![vec![false; length]; system.cores];
        for (core, begin, end) in &system.gaps {
            for (n, gaps) in gaps.iter_mut().enumerate() {
                if core.is_none_or(|core| core as usize == n) {
                    gaps[*begin as usize..*end as usize].fill(true);
                }
            }
        }
        let by_actor: HashMap<Actor, &Inst> = system.insts.iter().map(|inst| (inst.actor, inst)).collect();
        let mut at = vec![vec![]; length];
        for (n, (_, event)) in system.events.iter().enumerate() {
            at[event.time as usize].push((n, event));
        }
        let (mut holds, mut given) = (HashMap::new(), vec![]);
        for object in 0..4 {
            let mut now: Holds = vec![];
            let mut all = vec![];
            for (time, events) in at.iter().enumerate() {
                for (n, event) in events.iter().filter(|(_, event)| event.object == Some(object)) {
                    let Some(Source::Process(actor)) = event.source else { continue };
                    match event.said {
                        Said::Assigned => {
                            now.retain(|(other, _)| *other != actor);
                            now.push((actor, time));
                        }
                        Said::Released if now.iter().any(|(other, _)| *other == actor) => {
                            let (gives, rest): (Holds, Holds) =
                                now.iter().copied().partition(|(other, _)| *other == actor);
                            now = rest;
                            gave(&mut given, object, gives, (time, *n));
                        }
                        Said::Released => gave(&mut given, object, std::mem::take(&mut now), (time, *n)),
                        _ => {}
                    }
                }
                now.retain(|(actor, _)| {
                    let inst = by_actor[actor];
                    inst.end.is_none_or(|end| end > time) || !inst.is_end_shown()
                });
                all.push(now.clone());
            }
            holds.insert(object, all);
        }
        Self { system, by_actor, occupants, gaps, holds, given }
    }

    /// When an instance is no longer as it is at a time.
    fn end_of_span(&self, inst: &Inst, time: usize) -> usize {
        let of = |time: usize| inst.ticks[time].as_ref().map(|tick| (tick.state, tick.core, tick.wait));
        (time..self.system.length).find(|next| of(*next) != of(time)).unwrap_or(self.system.length)
    }

    /// What a task of lower priority has, and gives back before the instance gets the core.
    fn in_the_way(&self, inst: &Inst, runner: Actor, time: usize) -> Option<u32> {
        let until = self.end_of_span(inst, time);
        let gave = self.given.iter().filter(|given| given.actor == runner && given.at <= until);
        let given = gave.max_by_key(|given| given.event)?;
        let other = self.by_actor[&runner];
        let ends = other.is_end_shown() && other.end.is_some_and(|end| end <= until);
        let goes_on = self.system.events.iter().enumerate().any(|(n, (_, event))| {
            n > given.event
                && event.source == Some(Source::Process(runner))
                && matches!(event.said, Said::Assigned | Said::WaitEvent)
                && event.time <= until as i64
        });
        let fits = (given.since..given.at).contains(&time)
            && !ends
            && !goes_on
            && self.is_visible(runner, given.since, time)
            && !(time..given.at).any(|time| self.is_any_gap(time));
        fits.then_some(given.object)
    }

    pub fn tick(&self, inst: &Inst, time: usize) -> Part {
        let tick = inst.ticks[time].as_ref().unwrap();
        let part = Part {
            begin: time as i64,
            end: time as i64 + 1,
            core: Some(tick.core),
            state: Some(tick.state),
            kind: Kind::Unknown,
            by: None,
            runnable: None,
            object: None,
            reason: None,
            holder_state: None,
            by_behind: None,
        };
        match tick.state {
            State::Running => {
                Part { kind: Kind::Executes, runnable: tick.runnables.last().map(|last| last.0), ..part }
            }
            State::Active | State::Ready => self.behind(inst, tick, time, part),
            State::Parking => self.behind(inst, tick, time, Part { object: tick.asks, ..part }),
            State::Polling => self.lock(inst, tick, time, part),
            State::Waiting if tick.asks.is_some() => self.lock(inst, tick, time, part),
            State::Waiting => self.waits(inst, tick, time, part),
        }
    }

    fn waits(&self, inst: &Inst, tick: &Tick, time: usize, part: Part) -> Part {
        let is_waiting = |time: usize| {
            inst.ticks[time]
                .as_ref()
                .is_some_and(|other| (other.state, other.wait) == (tick.state, tick.wait))
        };
        let mut begin = time;
        while begin > 0 && is_waiting(begin - 1) {
            begin -= 1;
        }
        let end = (time..self.system.length).find(|time| !is_waiting(*time)).unwrap();
        let mut part = Part { kind: Kind::WaitsFor, object: tick.mask.last().copied(), ..part };
        let mut asked = self.system.events.iter().filter(|(_, event)| {
            event.said == Said::WaitEvent
                && event.source == Some(Source::Process(inst.actor))
                && event.time <= begin as i64
        });
        if let Some((asked, _)) = asked.next_back().filter(|_| !tick.mask.is_empty()) {
            let set = self.system.events.iter().find(|(n, event)| {
                n > asked
                    && event.said == Said::SetEvent
                    && event.owner == Some(inst.actor.process)
                    && event.object.is_some_and(|object| tick.mask.contains(&object))
                    && event.time <= end as i64
            });
            if let Some((_, set)) = set {
                part.object = set.object;
                part.by = set.source.filter(|source| *source != Source::Process(inst.actor));
            }
        }
        if part.by.is_none() && self.gaps[tick.core as usize][time] {
            part.kind = Kind::Unknown;
        }
        part
    }

    fn is_any_gap(&self, time: usize) -> bool {
        self.gaps.iter().any(|gaps| gaps[time])
    }

    /// Whether no gap hides what an instance does from `since` on. Where no span says where it is, it may be
    /// on any core.
    fn is_visible(&self, actor: Actor, since: usize, time: usize) -> bool {
        let inst = self.by_actor[&actor];
        (since..=time).all(|time| match inst.seen(time) {
            Some(tick) => !self.gaps[tick.core as usize][time],
            None => !self.is_any_gap(time),
        })
    }

    /// What a holder does: where no span says it, it runs if it acts later, and nothing can be hidden until
    /// then.
    fn state(&self, actor: Actor, time: usize) -> Option<State> {
        let inst = self.by_actor[&actor];
        if let Some(tick) = inst.seen(time) {
            return Some(tick.state);
        }
        let free = (time..self.system.length)
            .take_while(|time| !self.is_any_gap(*time) && inst.seen(*time).is_none());
        let until = free.last()? as i64 + 1;
        let is_seen_then = inst.seen(until as usize).is_some();
        let acts = |event: &Happened| {
            event.source == Some(Source::Process(actor))
                && matches!(event.said, Said::Assigned | Said::Released)
                && event.time > time as i64
                && (event.time < until || (event.time == until && !is_seen_then))
        };
        self.system.events.iter().any(|(_, event)| acts(event)).then_some(State::Running)
    }

    fn lock(&self, inst: &Inst, tick: &Tick, time: usize, part: Part) -> Part {
        let part = Part { kind: Kind::Lock, object: tick.asks, ..part };
        let holds = &self.holds[&tick.asks.unwrap()][time];
        let last = holds.iter().rev().find(|(actor, _)| *actor != inst.actor);
        let Some((actor, _)) = last.filter(|(actor, since)| self.is_visible(*actor, *since, time)) else {
            return part;
        };
        let part = Part { by: Some(Source::Process(*actor)), holder_state: self.state(*actor, time), ..part };
        let Some(holder) = self.by_actor[actor].seen(time) else { return part };
        let core = holder.core as usize;
        let waits = matches!(holder.state, State::Active | State::Ready | State::Parking);
        let by_behind = self.occupants[core][time].filter(|_| waits && !self.gaps[core][time]);
        Part { by_behind, ..part }
    }

    fn behind(&self, inst: &Inst, tick: &Tick, time: usize, part: Part) -> Part {
        let core = tick.core as usize;
        if self.gaps[core][time] {
            return part;
        }
        let is_earlier = |other: &Inst| {
            other.actor.process == inst.actor.process && other.actor.instance < inst.actor.instance
        };
        let waits_for_earlier = tick.state == State::Active
            && self.system.insts.iter().any(|other| {
                is_earlier(other) && (time..self.system.length).any(|time| other.seen(time).is_some())
            });
        let earlier = waits_for_earlier.then_some(Reason::PreviousInstance);
        let Some(runner) = self.occupants[core][time] else {
            let last = (0..time).rev().find(|time| self.occupants[core][*time].is_some());
            let is_known = last.is_some_and(|last| (last + 1..=time).all(|time| !self.gaps[core][time]));
            return if is_known { Part { kind: Kind::Os, reason: earlier, ..part } } else { part };
        };
        let by = Some(Source::Process(runner));
        let mine = self.system.procs[inst.actor.process as usize].facts;
        let other = self.system.procs[runner.process as usize].facts;
        if other.is_idle {
            return Part { kind: Kind::Os, by, reason: earlier, ..part };
        }
        let lower = match (mine.priority, other.priority) {
            _ if mine.is_isr => true,
            (Some(mine), Some(other)) => other < mine,
            _ => false,
        };
        let reason = if is_earlier(self.by_actor[&runner]) {
            Reason::PreviousInstance
        } else if other.is_isr {
            Reason::Isr
        } else if lower && other.is_preemptable == Some(false) && !mine.is_isr {
            Reason::LowerPriorityNotPreemptable
        } else if lower {
            match self.in_the_way(inst, runner, time) {
                Some(object) => Reason::LowerPriorityHolds(object),
                None => earlier.unwrap_or(Reason::NotKnown),
            }
        } else {
            match (mine.priority, other.priority) {
                (Some(mine), Some(other)) if other > mine => Reason::HigherPriority,
                (Some(mine), Some(others)) if others == mine && other.is_preemptable.is_some() => {
                    Reason::EqualPriority
                }
                _ => earlier.unwrap_or(Reason::NotKnown),
            }
        };
        let part = self.polls(runner, time, part);
        Part { kind: Kind::Behind, by, reason: Some(reason), ..part }
    }

    /// What the one that has the core polls for, and who holds that: known if nothing since then is hidden.
    fn polls(&self, runner: Actor, time: usize, part: Part) -> Part {
        let inst = self.by_actor[&runner];
        let of = |time: usize| inst.seen(time).map(|tick| (tick.state, tick.core, tick.wait));
        let Some(tick) = inst.seen(time).filter(|tick| tick.state == State::Polling) else { return part };
        let part = Part { object: None, holder_state: Some(State::Polling), ..part };
        let begin = (0..time).rev().take_while(|before| of(*before) == of(time)).last().unwrap_or(time);
        let end = (time..self.system.length).find(|after| of(*after) != of(time));
        let is_whole = |from: usize, to: usize| !(from..to).any(|time| self.is_any_gap(time));
        let asked = self.system.events.iter().rev().find(|(_, event)| {
            event.source == Some(Source::Process(runner))
                && matches!(event.said, Said::Request | Said::Awaits)
                && event.time <= begin as i64
        });
        let asked = asked.map(|(_, event)| event.time as usize);
        if asked.is_none_or(|asked| !is_whole(asked, end.unwrap_or(self.system.length))) {
            return part;
        }
        let holds = &self.holds[&tick.asks.unwrap()][time];
        let last = holds.iter().rev().find(|(actor, _)| *actor != runner);
        let last = last.filter(|(_, since)| is_whole(*since, time + 1));
        Part { object: tick.asks, by_behind: last.map(|(actor, _)| *actor), ..part }
    }
}
