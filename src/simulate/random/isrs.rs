//! The ISRs of a random model: categories, priorities, and when they are requested. Not their steps (see
//! `bodies`), nor the tasks that they activate (see `stimuli`).

use super::draft::{Draft, IsrPlan, MS, US};
use super::times::any_time;
use crate::simulate::model::{Arrivals, Isr};
use std::collections::BTreeSet;

impl Draft {
    /// Adds the ISRs.
    pub fn add_isrs(&mut self) {
        if !self.features.isrs {
            return;
        }
        for core in 0..self.model.cores.len() {
            let mut spinlock = self.isr_locks.get(core).copied().flatten();
            let with_lock = spinlock.is_some();
            let least = usize::from(spinlock.is_some());
            for number in 0..self.count(least, 3) {
                // The first one takes the spinlock, so it knows the OS.
                let category1 = number > 0 && self.chance(0.3);
                let spinlock = spinlock.take();
                let (arrivals, rate) = self.arrivals(with_lock);
                let name = format!("ISR_{}", self.model.isrs.len());
                // OSEK/VDX OS 2.2.3, 6: ISRs of category 1 have higher priorities than those of category 2,
                // as the OS would not know where it is when it is left. The kernel has 1 for its timer and
                // 2 for remote calls. The one with the spinlock is low, so that others come while it polls.
                let priority = match (category1, spinlock) {
                    (true, _) => self.numbers.between(7, 9),
                    (false, Some(_)) => self.numbers.between(1, 2),
                    (false, None) => self.numbers.between(1, 6),
                };
                let priority = priority as u32;
                self.model.isrs.push(Isr { name, core, category1, priority, arrivals, steps: Vec::new() });
                self.isrs.push(IsrPlan { rate, duties: Vec::new(), spinlock });
            }
        }
    }

    /// When an ISR is requested, and how often per second. Those of a core on which one takes a spinlock
    /// come `often`, so that they meet.
    fn arrivals(&mut self, often: bool) -> (Arrivals, f64) {
        let offset = self.numbers.between(0, 3 * MS);
        let period = self.numbers.between(500 * US, if often { 2 * MS } else { 9 * MS });
        let per = |time: i64| 1e9 / time as f64;
        match self.numbers.between(0, 4) {
            0 | 1 => {
                let jitter = match self.numbers.between(0, 2) {
                    0 => 0,
                    1 => period / 20,
                    _ => period,
                };
                (Arrivals::Periodic { offset, period, jitter }, per(period))
            }
            2 => {
                let more = any_time(&mut self.numbers, period as f64 * 0.6);
                (Arrivals::Sporadic { offset, distance: period / 2, more }, per(period))
            }
            3 => {
                let last = self.model.duration - 1;
                let instants: BTreeSet<i64> =
                    (0..self.count(3, 20)).map(|_| self.numbers.between(0, last)).collect();
                let rate = instants.len() as f64 * per(self.model.duration);
                (Arrivals::At(instants.into_iter().collect()), rate)
            }
            _ => {
                // A burst, as early as it may come, and then again.
                let burst = self.numbers.between(2, 5);
                let distance = self.numbers.between(30 * US, 500 * US);
                let limits = vec![(1, distance), (burst as u32, burst * period.max(2 * distance))];
                (Arrivals::Curve { offset, limits }, per(period.max(2 * distance)))
            }
        }
    }
}
