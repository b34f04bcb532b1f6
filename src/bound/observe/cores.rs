//! A core while it is observed: who has it, who is ready on it, and what is known of its past. Not what a
//! process did (see `live`).

use super::live::{Live, State};
use crate::bound::facts::{CoreId, Preemption};
use crate::bound::order::ProcessId;
use std::cmp::Ordering;

/// What was seen of a core since the begin of the recording, or since a gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Quiet {
    /// Nothing that says that something was done.
    #[default]
    Never,
    /// This process started or went on: nothing above it was left to do.
    Above(ProcessId),
    /// Nothing was left to do.
    Idle,
}

#[derive(Debug, Default)]
pub(super) struct Core {
    pub occupant: Option<ProcessId>,
    /// Since when the time of its process is not yet counted.
    since: i64,
    /// Since when no process has it; `None` if it is not known that none has it.
    free_at: Option<i64>,
    pub ready: Vec<ProcessId>,
    quiet: Quiet,
}

impl Core {
    /// A core of which all is known: nothing was before the first event.
    pub fn idle(time: i64) -> Self {
        Self { free_at: Some(time), quiet: Quiet::Idle, ..Self::default() }
    }

    /// Counts the time until now.
    pub fn account(&mut self, time: i64, processes: &mut [Live]) {
        let ticks = time.saturating_sub(self.since);
        let since = std::mem::replace(&mut self.since, time);
        let Some(running) = self.occupant else { return };
        let Some(live) = processes.get_mut(running).filter(|_| ticks > 0) else { return };
        live.ran(ticks);
        let process = live.process.clone();
        let overtaken = std::mem::take(&mut live.overtakes);
        for id in overtaken {
            if let Some(live) = processes.get_mut(id) {
                *live.seen.overtaken.entry(running).or_default() += 1;
            }
        }
        for id in &self.ready {
            let Some(live) = processes.get_mut(*id).filter(|_| *id != running) else { continue };
            if process.compare(&live.process) == Some(Ordering::Less) {
                let from = since.max(live.job.ready_at);
                let ticks = time.saturating_sub(from);
                if ticks > 0 {
                    live.was_passed(running, ticks);
                }
            }
        }
    }

    /// Its process gives it up.
    pub fn vacate(&mut self, time: i64) {
        self.occupant = None;
        self.free_at = Some(time);
    }

    /// A process can run. If the core had nothing to do until now, that is worth to know.
    pub fn becomes_ready(&mut self, id: ProcessId, time: i64) {
        self.notice_idle(time);
        if !self.ready.contains(&id) {
            self.ready.push(id);
        }
    }

    pub fn notice_idle(&mut self, time: i64) {
        let was_free = self.occupant.is_none() && self.free_at.is_some_and(|free| free < time);
        if was_free && self.ready.is_empty() {
            self.quiet = Quiet::Idle;
        }
    }

    /// Whether all work with the priority of a process, or a higher one, that can be left is in the
    /// recording.
    pub fn is_whole(&self, id: ProcessId, processes: &[Live]) -> bool {
        match self.quiet {
            Quiet::Never => false,
            Quiet::Idle => true,
            Quiet::Above(low) => is_lower(processes, low, id),
        }
    }

    /// A process gets the core.
    pub fn dispatch(&mut self, id: ProcessId, core: CoreId, time: i64, processes: &mut [Live]) {
        self.account(time, processes);
        if self.occupant.is_some_and(|other| other != id) {
            // The event that says that the other one lost it comes later, or never.
            self.vacate(time);
        }
        self.notice_idle(time);
        self.measure_switch(id, time, processes);
        self.compare_with_ready(id, processes);
        self.ready.retain(|ready| *ready != id);
        let passes = self.ready.iter().any(|ready| is_lower(processes, id, *ready));
        let is_news = match self.quiet {
            Quiet::Never => true,
            Quiet::Idle => false,
            Quiet::Above(low) => is_lower(processes, id, low),
        };
        if is_news && !passes {
            self.quiet = Quiet::Above(id);
        }
        if let Some(live) = processes.get_mut(id) {
            live.took_core(core);
        }
        (self.occupant, self.since, self.free_at) = (Some(id), time, None);
    }

    /// How long the core ran nothing although a process was ready.
    fn measure_switch(&self, id: ProcessId, time: i64, processes: &mut [Live]) {
        let Some(free) = self.free_at.filter(|_| self.occupant.is_none()) else { return };
        let all = self.ready.iter().chain([&id]).filter_map(|id| processes.get(*id));
        let first = all.filter(|live| live.is_ready()).map(|live| live.job.ready_at).min();
        let (Some(first), Some(live)) = (first, processes.get_mut(id)) else { return };
        let ticks = time.saturating_sub(free.max(first));
        let longest = if live.job.was_on_core { &mut live.resume_switch } else { &mut live.start_switch };
        *longest = ticks.max(*longest);
    }

    /// Whether a process gets the core out of turn, or another one gave it up although it need not.
    fn compare_with_ready(&self, id: ProcessId, processes: &mut [Live]) {
        let Some(live) = processes.get(id) else { return };
        let (process, starts) = (live.process.clone(), !live.job.was_on_core);
        let (mut overtaken, mut passed, mut resumed_over) = (Vec::new(), Vec::new(), Vec::new());
        // Its place among those of its priority may be that of its activation.
        let since = live.instances.front().map_or(live.job.arrival, |instance| instance.activated);
        for ready in self.ready.iter().filter(|ready| **ready != id) {
            let Some(other) = processes.get_mut(*ready) else { continue };
            let keeps = !matches!(other.process.preemption, Preemption::Full | Preemption::Unknown);
            if other.state == State::Preempted
                && starts
                && keeps
                && process.kind == other.process.kind
                && !process.takes_from(&other.process, other.process.preemption)
            {
                other.seen.yields += 1;
            }
            let before = self.free_at.is_some_and(|free| other.job.ready_at < free);
            // Who has just started holds nothing that would raise it, and who has no higher priority than one
            // that is ready for longer comes behind it.
            let is_first = other.state == State::Preempted || before && other.job.ready_at < since;
            if process.kind == other.process.kind {
                if starts && is_first {
                    passed.push(*ready);
                } else if !starts && other.state == State::Preempted {
                    resumed_over.push(*ready);
                }
            }
            if starts && before && process.compare(&other.process) == Some(Ordering::Less) {
                overtaken.push(*ready);
            }
        }
        if let Some(live) = processes.get_mut(id) {
            live.overtakes = overtaken;
            live.seen.passed.extend(passed);
            live.seen.resumed_over.extend(resumed_over);
        }
    }

    /// Events were lost: nothing is known of it.
    pub fn cut(&mut self) {
        *self = Self::default();
    }
}

/// Whether the first process has a lower priority than the second one, as far as is known.
fn is_lower(processes: &[Live], low: ProcessId, high: ProcessId) -> bool {
    let (Some(low), Some(high)) = (processes.get(low), processes.get(high)) else { return false };
    low.process.compare(&high.process) == Some(Ordering::Less)
}
