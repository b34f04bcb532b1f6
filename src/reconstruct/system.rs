//! The operating system of a recording: its timers, its handlers of remote calls, and what it costs. Not the
//! tasks and ISRs of the application (see `assemble`).

use std::collections::BTreeMap;

use super::body::Item;
use super::observe::{Observer, Process, Target};
use super::stimuli::{Periodic, periodic};
use crate::btf::{EntityType, NameId, Names};

/// A timer of a core that is an ISR of the trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timer {
    pub isr: NameId,
    pub fit: Periodic,
    /// The number of its first tick, from 1.
    first: i64,
}

/// What is known of the operating system. Times are in ns.
#[derive(Debug, Default)]
pub struct System {
    /// The instant of the trace that is 0 in the model.
    pub zero: i64,
    /// The end of the model.
    pub duration: i64,
    /// The timers by core; all have the same period.
    pub timers: BTreeMap<NameId, Timer>,
    /// Timers that interrupt ISRs of the application, which no simulated timer does: ISRs of the model.
    pub urgent: BTreeMap<NameId, NameId>,
    /// The handlers of remote calls by core.
    pub remotes: BTreeMap<NameId, NameId>,
    /// Half of the time of a handler of the operating system.
    pub interrupt: i64,
    pub dispatch: i64,
    pub remote_call: i64,
}

impl System {
    /// Finds it. `home` says where each task runs, `span` is the begin and end of the recording.
    pub fn of(seen: &Observer, names: &Names, home: &BTreeMap<NameId, NameId>, span: (i64, i64)) -> Self {
        let mut system = Self { timers: timers(seen, names, home), ..Self::default() };
        let interrupts = |core: NameId, isr: NameId| {
            let nests = seen.contention.nests.keys();
            nests.filter(|(of, high, _)| *of == core && *high == isr).any(|(_, _, low)| {
                let process = seen.processes.get(&(*low, Some(core)));
                process.is_some_and(|process| !process.body.items().all(is_of_kernel))
            })
        };
        let urgent = system.timers.iter().filter(|(core, timer)| interrupts(**core, timer.isr));
        system.urgent = urgent.map(|(core, timer)| (*core, timer.isr)).collect();
        system.timers.retain(|core, _| !system.urgent.contains_key(core));
        let tick = system.tick();
        let (begin, end) = span;
        // What is before the first event is part of the recording, unless it is longer than all the rest.
        if begin < 0 || begin > end.saturating_sub(begin) {
            system.zero = begin.div_euclid(tick.unwrap_or(1)).saturating_mul(tick.unwrap_or(1));
        }
        let mut last = i64::MAX;
        for (core, timer) in &mut system.timers {
            let Periodic { period, offset, .. } = timer.fit;
            timer.first = ((offset - system.zero + period / 2) / period).max(1);
            let ticks = seen.processes.get(&(timer.isr, Some(*core))).and_then(|isr| isr.activations.last());
            let next = ticks.map_or(i64::MAX, |at| (timer.number(*at) + 1).saturating_mul(period));
            last = last.min(next);
        }
        // The next tick is not in the recording.
        system.duration = end.saturating_sub(system.zero).saturating_add(1).min(last).max(1);
        let called = |of: &Process| of.ended > 0 && of.called * 2 >= of.ended;
        for ((isr, core), of) in seen.processes.iter().filter(|(_, of)| called(of)) {
            if let Some(core) = core.filter(|_| of.body.items().all(is_of_kernel)) {
                system.remotes.insert(core, *isr);
            }
        }
        let timers = system.timers.iter().map(|(core, timer)| (*core, timer.isr));
        let handlers = timers.chain(system.remotes.iter().map(|(core, isr)| (*core, *isr)));
        system.interrupt = interrupt(seen, &handlers.collect::<Vec<_>>());
        system.dispatch = median(&seen.dispatches);
        if !system.remotes.is_empty() {
            system.remote_call = median(&seen.calls);
        }
        system
    }

    /// The period of the timers.
    pub fn tick(&self) -> Option<i64> {
        self.timers.values().next().map(|timer| timer.fit.period)
    }

    /// Whether an ISR of a core belongs to the operating system.
    pub fn has(&self, isr: NameId, core: NameId) -> bool {
        self.remotes.get(&core) == Some(&isr) || self.timers.get(&core).is_some_and(|timer| timer.isr == isr)
    }
}

impl Timer {
    /// The number of a tick, from 1 on.
    pub fn number(&self, at: i64) -> i64 {
        let Periodic { period, offset, jitter, .. } = self.fit;
        self.first + (at - offset - jitter / 2 + period / 2).div_euclid(period)
    }
}

/// What the handlers of an operating system do.
fn is_of_kernel(item: Item) -> bool {
    matches!(item, Item::SetEvent(..) | Item::Nothing)
}

/// An ISR is the timer of its core if it is periodic, does nothing that an application does, and the outside
/// stimuli of the tasks of this core come while it runs.
fn timers(seen: &Observer, names: &Names, home: &BTreeMap<NameId, NameId>) -> BTreeMap<NameId, Timer> {
    let mut total: BTreeMap<NameId, u64> = BTreeMap::new();
    let mut during: BTreeMap<(NameId, NameId), u64> = BTreeMap::new();
    for ((_, target), releases) in &seen.releases {
        let (Target::Activate(task) | Target::SetEvent(task, _)) = target;
        let Some(core) = home.get(task) else { continue };
        for release in releases {
            *total.entry(*core).or_default() += 1;
            if let Some((_, isr, _)) = release.isrs.iter().find(|(of, ..)| of == core) {
                *during.entry((*core, *isr)).or_default() += 1;
            }
        }
    }
    let mut timers: BTreeMap<NameId, Timer> = BTreeMap::new();
    for ((isr, core), of) in &seen.processes {
        let Some(core) = core.filter(|_| seen.kinds.get(isr) == Some(&EntityType::Isr)) else { continue };
        if !of.body.items().all(is_of_kernel) {
            continue;
        }
        let all = total.get(&core).copied().unwrap_or(0);
        let here = during.get(&(core, *isr)).copied().unwrap_or(0);
        // One that only sets events is a timer if not each of its instances does, and it is named so.
        let sets = of.body.items().any(|item| matches!(item, Item::SetEvent(..)));
        let name = names.text(*isr).to_ascii_lowercase();
        let named = ["timer", "tick", "counter", "alarm"].iter().any(|word| name.contains(word));
        let is_timer = here > 0 && here * 10 >= all * 5 || all == 0 && sets && named && of.body.ways() > 1;
        let Some(fit) = periodic(&of.activations).filter(|fit| is_timer && fit.jitter < fit.period / 2)
        else {
            continue;
        };
        if timers.values().all(|other| other.fit.period == fit.period) {
            timers.entry(core).or_insert(Timer { isr: *isr, fit, first: 1 });
        }
    }
    timers
}

/// Half of the time of a handler. Its mean gives the load, but a task that an alarm activates begins after
/// the rest of a longer one: half of this, too, as far as the load of each core grows by no more than 0.5 %.
fn interrupt(seen: &Observer, handlers: &[(NameId, NameId)]) -> i64 {
    let seen_of = |(core, isr): &(NameId, NameId)| seen.processes.get(&(*isr, Some(*core)));
    let times = |ended: u64| i64::try_from(ended).unwrap_or(i64::MAX).saturating_mul(2);
    let all = handlers.iter().filter_map(seen_of);
    let (busy, ended) = all.fold((0, 0), |(busy, ended), of| (busy + of.busy, ended + of.ended));
    if ended == 0 {
        return 0;
    }
    let mean = busy / times(ended).max(1);
    let room = handlers.iter().map(|(core, _)| {
        let load: i64 = seen.processes.values().filter_map(|process| process.cores.get(core)).sum();
        let here = seen.processes.iter().filter(|((_, of), _)| of.as_ref() == Some(core));
        load / 200 / times(here.map(|(_, of)| of.ended).sum()).max(1)
    });
    let best = median(&seen.exits).clamp(mean, mean + room.min().unwrap_or(0));
    // No ISR of the application becomes longer than it was.
    let others = seen.processes.iter().filter(|((isr, core), of)| {
        core.is_some_and(|core| !handlers.contains(&(core, *isr))) && of.ended > 0
    });
    let shortest = others.map(|(_, of)| of.busy / times(of.ended).max(1)).min();
    best.min(shortest.unwrap_or(best))
}

fn median(times: &[i64]) -> i64 {
    let mut times = times.to_vec();
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or(0).max(0)
}
