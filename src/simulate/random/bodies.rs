//! The steps of tasks, ISRs and runnables of a random model, from what is planned for each. Not the plans
//! (see `stimuli`, `locks`).

use super::draft::{Draft, Duty, Held, Kind, US, shuffle, some};
use super::times::{FOREVER, any_time, weibull};
use crate::simulate::model::{Runnable, Step};

/// How much a model has of what makes no difference to the OS.
#[derive(Debug, Clone, Copy)]
struct Sizes {
    runnables: (usize, usize),
    accesses: (usize, usize),
}

impl Draft {
    /// Adds signals, runnables and all steps.
    pub fn add_bodies(&mut self) {
        // Table 5.6, signals: 3 to 17, 11 on average, Weibull. Its columns are in another order in this
        // row.
        let signals = weibull(&mut self.numbers, 3.0, 11.0, 17.0) as usize;
        (0..signals).for_each(|_| self.add_signal());
        // Table 5.6: 6 to 13 runnables per task and 3 to 7 accesses to signals per runnable, uniform. Three
        // of four models have fewer, so that more of what happens is of the OS.
        let sizes = if self.chance(0.25) {
            Sizes { runnables: (6, 13), accesses: (3, 7) }
        } else {
            Sizes { runnables: (0, 4), accesses: (0, 3) }
        };
        self.add_library();
        for isr in 0..self.model.isrs.len() {
            let steps = self.isr_steps(isr);
            if let Some(isr) = self.model.isrs.get_mut(isr) {
                isr.steps = steps;
            }
        }
        for task in 0..self.model.tasks.len() {
            let steps = self.task_steps(task, sizes);
            if let Some(task) = self.model.tasks.get_mut(task) {
                task.steps = steps;
            }
        }
        self.call_all_of_the_library();
        self.model.schedule_tables.retain(|table| !table.points.is_empty());
    }

    /// Short runnables that everybody calls; some call the ones before.
    fn add_library(&mut self) {
        for number in 0..self.count(1, 4) {
            let mut steps = vec![self.short_step()];
            if number > 0 && self.chance(0.5) {
                steps.push(self.library_call());
            }
            if self.chance(0.5) {
                steps.push(self.access());
            }
            self.add_runnable(None, Runnable { name: format!("LIB_{number}"), steps });
        }
    }

    fn call_all_of_the_library(&mut self) {
        fn called(steps: &[Step], runnable: usize) -> bool {
            steps.iter().any(|step| {
                matches!(step, Step::Call { runnable: other } if *other == runnable)
                    || step.inside().into_iter().any(|steps| called(steps, runnable))
            })
        }
        for runnable in (0..self.owners.len()).filter(|ix| self.owners.get(*ix) == Some(&None)) {
            let tasks = self.model.tasks.iter().map(|task| &task.steps);
            let runnables = self.model.runnables.iter().map(|runnable| &runnable.steps);
            let isrs = self.model.isrs.iter().map(|isr| &isr.steps);
            let is_called = tasks.chain(runnables).chain(isrs).any(|steps| called(steps, runnable));
            if let Some(first) = self.model.tasks.first_mut().filter(|_| !is_called) {
                first.steps.insert(0, Step::Call { runnable });
            }
        }
    }

    fn isr_steps(&mut self, isr: usize) -> Vec<Step> {
        let plan = self.isrs.get(isr).cloned().unwrap_or_default();
        let category1 = self.model.isrs.get(isr).is_some_and(|isr| isr.category1);
        // At most 8 % of the core, but some for so long that others nest in them.
        let most = (80_000_000.0 / plan.rate.max(1.0)) as i64;
        let most = most.min(if self.chance(0.5) { 25 * US } else { 300 * US });
        let mean = self.numbers.between(2 * US, most) as f64;
        let mut parts = vec![vec![Step::Execute(any_time(&mut self.numbers, mean))]];
        if self.chance(0.5) {
            parts.push(vec![self.library_call()]);
        }
        if self.chance(0.5) {
            parts.push(vec![self.access()]);
        }
        if let Some(spinlock) = plan.spinlock.filter(|_| !category1) {
            let mut section = vec![self.take_step(Held::Spinlock(spinlock)), self.short_step()];
            section.push(Step::ReleaseSpinlock { spinlock });
            parts.push(section);
        }
        for duty in &plan.duties {
            parts.push(self.duty(duty));
        }
        shuffle(&mut self.numbers, &mut parts);
        self.with_branches(parts)
    }

    /// What a task does, with its end.
    fn task_steps(&mut self, task: usize, sizes: Sizes) -> Vec<Step> {
        let plan = self.plans.get(task).cloned().unwrap_or_default();
        let mut parts = Vec::new();
        for number in 0..self.count(sizes.runnables.0, sizes.runnables.1) {
            parts.push(self.runnable_part(task, number, sizes));
        }
        if parts.is_empty() {
            parts.push(vec![self.long_step()]);
        }
        let mut duties: Vec<&Duty> = plan.duties.iter().collect();
        for lock in &plan.locks {
            // Some services for tasks of the same core are called within.
            let near = duties.last().filter(|duty| !duty.remote).copied();
            let inner = match near {
                Some(duty) if self.chance(0.2) => {
                    duties.pop();
                    self.duty(duty)
                }
                _ => Vec::new(),
            };
            let section = self.section(task, *lock, inner);
            parts.push(self.perhaps_in_runnable(task, section));
        }
        for duty in duties {
            let part = self.duty_part(task, duty);
            parts.push(self.perhaps_in_runnable(task, part));
        }
        if self.features.cooperation && self.chance(0.3) {
            parts.push(self.perhaps_in_runnable(task, vec![Step::Schedule]));
        }
        if plan.kind == Kind::Job {
            parts.extend(self.waits(task));
        }
        if plan.kind != Kind::Server && self.features.control_flow && self.chance(0.1) {
            // An end before the end.
            let probability = self.numbers.between(5, 40) as f64 / 100.0;
            parts.push(vec![Step::Branch {
                probability,
                then: vec![Step::Terminate],
                otherwise: Vec::new(),
            }]);
        }
        shuffle(&mut self.numbers, &mut parts);
        let mut steps = self.with_branches(parts);
        if plan.kind == Kind::Server {
            steps = self.server(task, steps);
        }
        let end = self.end(plan.chain);
        steps.extend(self.perhaps_in_runnable(task, end));
        steps
    }

    /// A runnable of a task, and how it is called.
    fn runnable_part(&mut self, task: usize, number: usize, sizes: Sizes) -> Vec<Step> {
        let mut steps = vec![self.long_step()];
        for _ in 0..self.count(sizes.accesses.0, sizes.accesses.1) {
            steps.push(self.access());
            if self.chance(0.2) {
                steps.push(self.short_step());
            }
        }
        if self.chance(0.25) {
            steps.push(self.library_call());
        }
        shuffle(&mut self.numbers, &mut steps);
        let runnable = self.own_runnable(task, &format!("{number}"), steps);
        let call = Step::Call { runnable };
        if self.features.control_flow && self.chance(0.12) {
            return vec![Step::Repeat { times: self.numbers.between(2, 3) as u32, steps: vec![call] }];
        }
        vec![call]
    }

    fn own_runnable(&mut self, task: usize, suffix: &str, steps: Vec<Step>) -> usize {
        self.add_runnable(Some(task), Runnable { name: format!("R_{task}_{suffix}"), steps })
    }

    /// Services are called from runnables as well, and a task may end in one.
    fn perhaps_in_runnable(&mut self, task: usize, mut part: Vec<Step>) -> Vec<Step> {
        if part.is_empty() || !self.chance(0.2) {
            return part;
        }
        part.insert(0, self.short_step());
        let number = self.model.runnables.len();
        let runnable = self.own_runnable(task, &format!("S{number}"), part);
        vec![Step::Call { runnable }]
    }

    /// Table 5.6: 10 to 50 thousand instructions, 30 on average, Weibull. At one instruction per cycle of
    /// 100 MHz these are 100 to 500 us; the load of the core makes them shorter or longer afterwards.
    fn long_step(&mut self) -> Step {
        let mean = weibull(&mut self.numbers, 100.0, 300.0, 500.0) * US as f64;
        Step::Execute(any_time(&mut self.numbers, mean))
    }

    /// A service for others, also within a resource of the core.
    fn duty_part(&mut self, task: usize, duty: &Duty) -> Vec<Step> {
        let steps = self.duty(duty);
        let locks = self.plans.get(task).map_or(&[][..], |plan| &plan.locks);
        let near = locks.iter().copied().find_map(|held| match held {
            Held::Resource(resource) if self.place(held).is_none() => Some(resource),
            _ => None,
        });
        match near {
            Some(resource) if self.chance(0.25) => {
                let mut body = vec![Step::GetResource { resource }];
                body.extend(steps);
                body.push(Step::ReleaseResource { resource });
                body
            }
            _ => steps,
        }
    }

    /// A service for another task, as often as it is planned.
    fn duty(&mut self, duty: &Duty) -> Vec<Step> {
        let one = if duty.events.is_empty() {
            Step::Activate { task: duty.task }
        } else {
            Step::SetEvent { task: duty.task, events: duty.events.clone() }
        };
        let mut steps = vec![one; duty.times];
        if duty.times > 1 && self.chance(0.3) {
            steps.truncate(1);
            steps = vec![Step::Repeat { times: duty.times as u32, steps }];
        }
        if duty.probability < 1.0 {
            let probability = duty.probability;
            let otherwise = if self.chance(0.3) { vec![self.short_step()] } else { Vec::new() };
            return vec![Step::Branch { probability, then: steps, otherwise }];
        }
        steps
    }

    /// Waits of a task that ends afterwards.
    fn waits(&mut self, task: usize) -> Vec<Vec<Step>> {
        let mut parts = Vec::new();
        for number in 0..self.count(1, 2) {
            let mut steps = Vec::new();
            let events = self.awaited(task);
            // An event that is set already does not let the task wait.
            if self.chance(0.25) {
                steps.push(Step::SetEvent { task, events: events.clone() });
            }
            steps.push(Step::WaitEvent { events: events.clone() });
            let clear = self.cleared(task, &events);
            if self.chance(0.85) {
                steps.push(Step::ClearEvent { events: clear });
            }
            if self.chance(0.2) {
                let runnable = self.own_runnable(task, &format!("W{number}"), steps);
                steps = vec![Step::Call { runnable }];
            }
            parts.push(steps);
        }
        parts
    }

    /// Waits for events and serves them, without end.
    fn server(&mut self, task: usize, steps: Vec<Step>) -> Vec<Step> {
        let events = self.awaited(task);
        let clear = self.cleared(task, &events);
        let mut round = vec![Step::WaitEvent { events: events.clone() }, Step::ClearEvent { events: clear }];
        round.extend(steps);
        if self.chance(0.2) {
            round.push(Step::SetEvent { task, events: self.own_events(task) });
            round.push(Step::WaitEvent { events: events.clone() });
            round.push(Step::ClearEvent { events });
        }
        let mut steps = if self.chance(0.5) { vec![self.short_step()] } else { Vec::new() };
        steps.push(Step::Repeat { times: FOREVER, steps: round });
        steps
    }

    fn own_events(&self, task: usize) -> Vec<usize> {
        self.task(task).map(|task| task.events.clone()).unwrap_or_default()
    }

    fn awaited(&mut self, task: usize) -> Vec<usize> {
        let own = self.own_events(task);
        let most = self.count(1, 2);
        some(&mut self.numbers, &own, most)
    }

    /// All that were waited for, else a loop has no end; some times others, too.
    fn cleared(&mut self, task: usize, awaited: &[usize]) -> Vec<usize> {
        if self.chance(0.2) { self.own_events(task) } else { awaited.to_vec() }
    }

    /// Some parts are done with a probability only.
    fn with_branches(&mut self, parts: Vec<Vec<Step>>) -> Vec<Step> {
        let mut steps = Vec::new();
        for part in parts {
            if self.features.control_flow && self.chance(0.1) {
                let probability = self.numbers.between(1, 9) as f64 / 10.0;
                let otherwise = if self.chance(0.5) { vec![self.short_step()] } else { Vec::new() };
                steps.push(Step::Branch { probability, then: part, otherwise });
            } else {
                steps.extend(part);
            }
        }
        steps
    }

    /// How a task ends.
    fn end(&mut self, chain: Option<(usize, f64)>) -> Vec<Step> {
        // A task may fall off its end.
        let plain = if self.chance(0.6) { vec![Step::Terminate] } else { Vec::new() };
        match chain {
            Some((task, probability)) if probability < 1.0 => {
                vec![Step::Branch { probability, then: vec![Step::Chain { task }], otherwise: plain }]
            }
            Some((task, _)) => vec![Step::Chain { task }],
            None => plain,
        }
    }
}
