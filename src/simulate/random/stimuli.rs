//! What activates the tasks of a random model, and sets their events: alarms, schedule tables, ISRs and
//! tasks, also those of other cores. Not the steps that do it (see `bodies`).

use super::draft::{Draft, Duty, Kind, MS, of, shuffle, some};
use super::times::weibull;
use crate::simulate::model::{Action, Alarm, ScheduleTable};
use std::collections::BTreeMap;

/// Jobs per second that a task gets at most from one that activates it.
const MOST_RATE: f64 = 500.0;

impl Draft {
    /// Adds alarms and schedule tables, and plans who activates whom.
    pub fn add_stimuli(&mut self) {
        self.order = (0..self.model.tasks.len()).collect();
        let mut order = std::mem::take(&mut self.order);
        shuffle(&mut self.numbers, &mut order);
        self.order = order;
        let tables = self.tables();
        for place in 0..self.order.len() {
            let Some(task) = self.order.get(place).copied() else { continue };
            match self.kind(task) {
                Kind::Server => self.start_server(task),
                Kind::Basic | Kind::Job => {
                    self.activate(task, place, &tables);
                    if self.chance(0.25) {
                        self.activate(task, place, &tables);
                    }
                }
            }
            if self.kind(task) != Kind::Basic {
                self.set_events(task, place, &tables);
            }
            self.repeat_itself(task, place);
        }
    }

    /// Schedule tables, without points, by core.
    fn tables(&mut self) -> Vec<Option<usize>> {
        let mut tables = Vec::new();
        for core in 0..self.model.cores.len() {
            let has = self.features.schedule_tables && self.chance(0.7);
            tables.push(has.then_some(self.model.schedule_tables.len()));
            if has {
                let name = format!("TABLE_{}", self.model.schedule_tables.len());
                let length = self.ticks(5.0, 10.0, 20.0).max(2);
                let repeats = self.chance(0.9);
                let first = self.numbers.between(1, length);
                let points = Vec::new();
                let table = ScheduleTable { name, core, first, length, repeats, points };
                self.model.schedule_tables.push(table);
            }
        }
        tables
    }

    /// A time in ticks, from three times in ms.
    fn ticks(&mut self, min: f64, mean: f64, max: f64) -> i64 {
        let time = weibull(&mut self.numbers, min, mean, max) * MS as f64;
        (libm::rint(time / self.model.os.tick as f64) as i64).max(1)
    }

    /// How often something happens that has this cycle.
    fn per_second(&self, ticks: i64) -> f64 {
        if ticks == 0 {
            return 0.0;
        }
        1e9 / ((self.model.os.tick + self.model.os.timer_drift) as f64 * ticks as f64)
    }

    fn add_rate(&mut self, task: usize, rate: f64) {
        if let Some(plan) = self.plans.get_mut(task) {
            plan.rate += rate;
        }
    }

    /// Something activates a task.
    fn activate(&mut self, task: usize, place: usize, tables: &[Option<usize>]) {
        let action = Action::Activate { task };
        match self.numbers.between(0, 9) {
            0..=2 if self.asks_a_task(task, place, Vec::new()) => {}
            3 if self.asks_an_isr(task, Vec::new()) => {}
            4 | 5 if self.add_point(task, action, tables) => {}
            _ => {
                // Table 5.6, activation: 1 to 1000 ms, 20 on average, Weibull. Its columns are in another
                // order in this row. Those that take locks of several cores meet only if they are often
                // there.
                let often = self.takes_locks(task) && self.chance(0.7);
                let once = self.chance(0.04);
                let cycle = if once {
                    0
                } else if often {
                    self.ticks(1.0, 2.5, 8.0)
                } else {
                    self.ticks(1.0, 20.0, 1000.0)
                };
                self.add_alarm(task, action, cycle);
                let rate = self.per_second(cycle);
                self.add_rate(task, rate);
            }
        }
    }

    /// Whether a task takes locks of several cores.
    fn takes_locks(&self, task: usize) -> bool {
        let locks = self.plans.get(task).map_or(&[][..], |plan| &plan.locks);
        locks.iter().any(|held| self.place(*held).is_some())
    }

    fn add_alarm(&mut self, task: usize, action: Action, cycle: i64) {
        let name = format!("ALARM_{}", self.model.alarms.len());
        let first = self.numbers.between(1, cycle.clamp(1, 12));
        self.model.alarms.push(Alarm { name, core: self.core_of(task), action, first, cycle });
    }

    /// A server is activated once; some are again and again, which the OS refuses.
    fn start_server(&mut self, task: usize) {
        let action = Action::Activate { task };
        let starts = self.task(task).is_some_and(|task| task.autostart);
        if starts && self.chance(0.7) {
            return;
        }
        let cycle = if self.chance(0.3) { self.ticks(5.0, 20.0, 50.0) } else { 0 };
        self.add_alarm(task, action, cycle);
    }

    /// A point of the schedule table of the core of a task.
    fn add_point(&mut self, task: usize, action: Action, tables: &[Option<usize>]) -> bool {
        let table = tables.get(self.core_of(task)).copied().flatten();
        let Some((length, repeats)) = table
            .and_then(|table| self.model.schedule_tables.get(table))
            .map(|table| (table.length, table.repeats))
        else {
            return false;
        };
        let at = self.numbers.between(0, length - 1);
        let Some(table) = table.and_then(|table| self.model.schedule_tables.get_mut(table)) else {
            return false;
        };
        let mut points: BTreeMap<i64, Vec<Action>> = table.points.drain(..).collect();
        points.entry(at).or_default().push(action);
        table.points = points.into_iter().collect();
        if repeats {
            let rate = self.per_second(length);
            self.add_rate(task, rate);
        }
        true
    }

    /// A task that comes before does it; one of another core only if it is a caller.
    fn asks_a_task(&mut self, task: usize, place: usize, events: Vec<usize>) -> bool {
        let core = self.core_of(task);
        let across = self.features.across_cores;
        let before = self.order.iter().take(place).copied();
        let fit = before.filter(|by| self.core_of(*by) == core || across && self.calls(*by));
        let (far, near): (Vec<usize>, Vec<usize>) = fit.partition(|by| self.core_of(*by) != core);
        // As a trace of several cores is about them, every second one comes from there.
        let from = if far.is_empty() || !near.is_empty() && self.chance(0.5) { near } else { far };
        let Some(by) = of(&mut self.numbers, &from) else { return false };
        let (rate, kind) = self.plans.get(by).map_or((0.0, Kind::Basic), |plan| (plan.rate, plan.kind));
        let remote = self.core_of(by) != core;
        let allowed = !events.is_empty() || self.features.activations;
        if !allowed || rate > MOST_RATE && !self.features.control_flow {
            return false;
        }
        let is_chain = events.is_empty() && !remote && kind != Kind::Server;
        let fair = if rate > 0.0 { (MOST_RATE / rate).min(1.0) } else { 1.0 };
        let always = self.chance(0.5) || !self.features.control_flow;
        let probability = if always { fair } else { fair * 0.5 };
        let free = self.plans.get(by).is_some_and(|plan| plan.chain.is_none());
        if is_chain && free && self.features.chains && self.chance(0.4) {
            if let Some(plan) = self.plans.get_mut(by) {
                plan.chain = Some((task, probability));
            }
            self.add_rate(task, rate * probability);
            return true;
        }
        // Bursts reach the limit of activations.
        let times =
            if events.is_empty() && self.features.limits && self.chance(0.35) { self.count(2, 4) } else { 1 };
        self.add_rate(task, rate * probability * times as f64);
        if let Some(plan) = self.plans.get_mut(by) {
            plan.duties.push(Duty { task, events, probability, times, remote });
        }
        true
    }

    /// An ISR of category 2 of the same core does it.
    fn asks_an_isr(&mut self, task: usize, events: Vec<usize>) -> bool {
        let core = self.core_of(task);
        let isrs = self.model.isrs.iter().enumerate();
        let fit: Vec<usize> =
            isrs.filter(|(_, isr)| isr.core == core && !isr.category1).map(|(ix, _)| ix).collect();
        let Some(isr) = of(&mut self.numbers, &fit) else { return false };
        let rate = self.isrs.get(isr).map_or(0.0, |plan| plan.rate);
        let allowed = !events.is_empty() || self.features.activations;
        if !allowed || rate > MOST_RATE && !self.features.control_flow {
            return false;
        }
        let probability = (MOST_RATE / rate.max(1.0)).min(1.0);
        self.add_rate(task, rate * probability);
        if let Some(plan) = self.isrs.get_mut(isr) {
            plan.duties.push(Duty { task, events, probability, times: 1, remote: false });
        }
        true
    }

    /// Each event of a task is set by something, and some by several.
    fn set_events(&mut self, task: usize, place: usize, tables: &[Option<usize>]) {
        let own = self.task(task).map(|task| task.events.clone()).unwrap_or_default();
        let rate = self.plans.get(task).map_or(0.0, |plan| plan.rate);
        for event in own.iter().copied() {
            let more = usize::from(self.chance(0.4));
            for _ in 0..1 + more {
                // Of two events at once, the other one is one of the same task.
                let mut events =
                    if self.chance(0.25) { some(&mut self.numbers, &own, 1) } else { Vec::new() };
                events.retain(|other| *other != event);
                events.push(event);
                let action = Action::SetEvent { task, event };
                match self.numbers.between(0, 9) {
                    0..=4 if self.asks_a_task(task, place, events.clone()) => {}
                    5 if self.asks_an_isr(task, events.clone()) => {}
                    6 if self.add_point(task, action, tables) => {}
                    _ => {
                        let cycle = self.ticks(1.0, 6.0, 30.0);
                        self.add_alarm(task, action, cycle);
                        let rate = self.per_second(cycle);
                        self.add_rate(task, rate);
                    }
                }
            }
        }
        // Events wake a job, but do not activate it.
        if self.kind(task) == Kind::Job
            && let Some(plan) = self.plans.get_mut(task)
        {
            plan.rate = rate;
        }
    }

    /// A few tasks activate or chain themselves, or chain one that comes before, with so small a probability
    /// that it ends.
    fn repeat_itself(&mut self, task: usize, place: usize) {
        let allowed = self.features.chains && self.features.activations && self.features.control_flow;
        if !allowed || self.kind(task) == Kind::Server || !self.chance(0.12) {
            return;
        }
        let probability = self.numbers.between(5, 30) as f64 / 100.0;
        if self.kind(task) == Kind::Basic && self.chance(0.4) {
            let again = Duty { task, events: Vec::new(), probability, times: 1, remote: false };
            if let Some(plan) = self.plans.get_mut(task) {
                plan.duties.push(again);
                plan.rate /= 1.0 - probability;
            }
            return;
        }
        let core = self.core_of(task);
        let before = self.order.iter().take(place).copied().filter(|other| self.core_of(*other) == core);
        let before: Vec<usize> = before.filter(|other| self.kind(*other) != Kind::Server).collect();
        let other = if self.chance(0.6) { Some(task) } else { of(&mut self.numbers, &before) };
        if let (Some(other), Some(plan)) = (other, self.plans.get_mut(task)) {
            plan.chain = Some((other, probability));
            if other == task {
                plan.rate /= 1.0 - probability;
            }
        }
    }
}
