//! What is strange about a model that can run: what nothing starts, and cores that have too much to do. Not
//! errors: a run shows what comes of it.

use std::collections::{BTreeMap, VecDeque};

use super::{Checks, Owner};
use crate::diagnostics::{Diagnostic, Log, Severity};
use crate::simulate::model::{Action, Arrivals, Step};

/// What steps do on average, when they are done once.
#[derive(Debug, Clone, Default)]
struct Average {
    /// How long they compute, in ns.
    time: f64,
    /// How often they activate tasks.
    activations: BTreeMap<usize, f64>,
    /// The probability that the task goes on after them.
    goes_on: f64,
}

impl Average {
    /// Adds what is done with a probability, or so many times.
    fn add(&mut self, other: &Self, times: f64) {
        self.time += times * other.time;
        for (task, count) in &other.activations {
            *self.activations.entry(*task).or_default() += times * count;
        }
    }
}

impl Checks<'_> {
    pub(super) fn warnings(self) -> Log {
        let mut log = Log::default();
        let mut warn = |code, line, message| {
            log.push(Diagnostic {
                source: self.places.path.display().to_string(),
                line,
                severity: Severity::Warning,
                code,
                message,
                text: String::new(),
            });
        };
        for (ix, task) in
            self.model.tasks.iter().enumerate().zip(self.activated()).filter(|(_, is)| !is).map(|(t, _)| t)
        {
            let line = self.places.tasks.get(ix).map(|body| body.line);
            let message =
                format!("nothing activates task '{}', and it does not start with the OS", task.name);
            warn("never-activated", line, message);
        }
        for (body, _) in self.runnables().zip(self.called()).filter(|(_, called)| !called) {
            warn("never-called", body.line, format!("nothing calls runnable '{}'", body.name));
        }
        for (ix, (core, load)) in self.model.cores.iter().zip(self.loads()).enumerate() {
            // Rounding of sums of fractions is no load.
            if load > 1.0 + 1e-9 {
                let percent = 100.0 * load;
                let message = format!(
                    "the steps on core '{}' take {percent:.1} % of its time on average, more than it has",
                    core.name
                );
                warn("over-utilisation", self.places.cores.get(ix).copied(), message);
            }
        }
        log
    }

    /// The tasks that start with the OS, or that something else than themselves activates.
    fn activated(self) -> Vec<bool> {
        let mut activated: Vec<bool> = self.model.tasks.iter().map(|task| task.autostart).collect();
        let of_alarms = self.model.alarms.iter().map(|alarm| alarm.action);
        let tables = self.model.schedule_tables.iter().flat_map(|table| &table.points);
        for action in of_alarms.chain(tables.flat_map(|(_, actions)| actions.iter().copied())) {
            if let Action::Activate { task } = action
                && let Some(mark) = activated.get_mut(task)
            {
                *mark = true;
            }
        }
        let by_others = &mut |owner, step: &Step| match step {
            Step::Activate { task } | Step::Chain { task } if owner != Owner::Task(*task) => Some(*task),
            _ => None,
        };
        self.mark(by_others, &mut activated);
        activated
    }

    /// The share of each core that steps take on average, as far as periods are known: those of alarms,
    /// schedule tables and ISRs, and of what they activate in turn. Tasks that activate each other in a cycle
    /// count only with what comes from outside of it, and the times of the OS not at all: the real load is
    /// not less.
    fn loads(self) -> Vec<f64> {
        let mut runnables = vec![None; self.model.runnables.len()];
        let mut loads = vec![0.0; self.model.cores.len()];
        let mut rates = self.rates_of_alarms();
        for isr in &self.model.isrs {
            let rate = rate(&isr.arrivals);
            let average = self.average(&isr.steps, &mut runnables);
            if let Some(load) = loads.get_mut(isr.core) {
                *load += rate * average.time;
            }
            add_rates(&mut rates, &average, rate);
        }
        let tasks: Vec<Average> =
            self.model.tasks.iter().map(|task| self.average(&task.steps, &mut runnables)).collect();
        pass_on(&mut rates, &tasks);
        for ((task, average), rate) in self.model.tasks.iter().zip(&tasks).zip(&rates) {
            if let Some(load) = loads.get_mut(task.core) {
                *load += rate * average.time;
            }
        }
        loads
    }

    /// How often alarms and schedule tables activate each task, per ns.
    fn rates_of_alarms(self) -> Vec<f64> {
        let mut rates = vec![0.0; self.model.tasks.len()];
        let tick = self.model.os.tick as f64 + self.model.os.timer_drift as f64;
        let mut add = |action, ticks: i64| {
            if let Action::Activate { task } = action
                && let Some(rate) = rates.get_mut(task)
            {
                *rate += 1.0 / (ticks as f64 * tick);
            }
        };
        for alarm in self.model.alarms.iter().filter(|alarm| alarm.cycle > 0) {
            add(alarm.action, alarm.cycle);
        }
        for table in self.model.schedule_tables.iter().filter(|table| table.repeats) {
            table
                .points
                .iter()
                .flat_map(|(_, actions)| actions)
                .for_each(|action| add(*action, table.length));
        }
        rates
    }

    /// The average of steps, with that of the runnables that they call.
    fn average(self, steps: &[Step], runnables: &mut [Option<Average>]) -> Average {
        let mut all = Average { goes_on: 1.0, ..Average::default() };
        for step in steps {
            let one = self.average_of(step, runnables);
            let before = all.goes_on;
            all.add(&one, before);
            all.goes_on *= one.goes_on;
        }
        all
    }

    fn average_of(self, step: &Step, runnables: &mut [Option<Average>]) -> Average {
        let mut one = Average { goes_on: 1.0, ..Average::default() };
        match step {
            Step::Execute(time) => one.time = time.mean(),
            Step::Activate { task } => {
                one.activations.insert(*task, 1.0);
            }
            Step::Chain { task } => {
                one.activations.insert(*task, 1.0);
                one.goes_on = 0.0;
            }
            Step::Terminate => one.goes_on = 0.0,
            Step::Call { runnable } => return self.average_of_call(*runnable, runnables),
            Step::Branch { probability, then, otherwise } => {
                let ways = [(then, *probability), (otherwise, 1.0 - probability)];
                one.goes_on = 0.0;
                for (steps, probability) in ways {
                    let way = self.average(steps, runnables);
                    one.add(&way, probability);
                    one.goes_on += probability * way.goes_on;
                }
            }
            // How often it goes round is up to who sets the events.
            Step::Repeat { steps, .. } if waits(steps) => return self.average(steps, runnables),
            Step::Repeat { times, steps } => {
                let round = self.average(steps, runnables);
                one.goes_on = libm::pow(round.goes_on, f64::from(*times));
                // 1 + p + p² + …, for the rounds that are reached.
                let ends = 1.0 - round.goes_on;
                one.add(&round, if ends > 0.0 { (1.0 - one.goes_on) / ends } else { f64::from(*times) });
            }
            Step::Turns { of } => {
                one.goes_on = 0.0;
                for (times, steps) in of.iter() {
                    let share = f64::from(times) / of.count() as f64;
                    let way = self.average(steps, runnables);
                    one.add(&way, share);
                    one.goes_on += share * way.goes_on;
                }
            }
            _ => {}
        }
        one
    }

    fn average_of_call(self, runnable: usize, runnables: &mut [Option<Average>]) -> Average {
        if let Some(Some(known)) = runnables.get(runnable) {
            return known.clone();
        }
        let steps = self.model.runnables.get(runnable).map_or(&[][..], |runnable| &runnable.steps);
        let average = self.average(steps, runnables);
        if let Some(slot) = runnables.get_mut(runnable) {
            *slot = Some(average.clone());
        }
        average
    }
}

/// Whether steps wait for events; runnables cannot.
fn waits(steps: &[Step]) -> bool {
    let waits = |step: &Step| matches!(step, Step::WaitEvent { .. }) || step.inside().into_iter().any(waits);
    steps.iter().any(waits)
}

/// How often an ISR is requested in the long run, per ns.
fn rate(arrivals: &Arrivals) -> f64 {
    match arrivals {
        Arrivals::Periodic { period, .. } => 1.0 / *period as f64,
        Arrivals::Sporadic { distance, more, .. } => 1.0 / (*distance as f64 + more.mean()),
        Arrivals::At(_) => 0.0,
        Arrivals::Curve { limits, .. } => {
            limits.iter().map(|(most, span)| f64::from(*most) / *span as f64).fold(f64::INFINITY, f64::min)
        }
    }
}

fn add_rates(rates: &mut [f64], average: &Average, rate: f64) {
    for (task, count) in &average.activations {
        if let Some(of_task) = rates.get_mut(*task) {
            *of_task += rate * count;
        }
    }
}

/// Adds the rates of tasks that tasks activate, in the order of the activations (A. Kahn, "Topological
/// sorting of large networks", CACM 5, 1962), which leaves out cycles and what comes after them.
fn pass_on(rates: &mut [f64], tasks: &[Average]) {
    let mut sources = vec![0u32; tasks.len()];
    for target in tasks.iter().flat_map(|task| task.activations.keys()) {
        if let Some(count) = sources.get_mut(*target) {
            *count += 1;
        }
    }
    let mut next: VecDeque<usize> = (0..tasks.len()).filter(|task| sources.get(*task) == Some(&0)).collect();
    while let Some(task) = next.pop_front() {
        let (Some(average), Some(rate)) = (tasks.get(task), rates.get(task).copied()) else { continue };
        add_rates(rates, average, rate);
        for target in average.activations.keys() {
            if let Some(count) = sources.get_mut(*target) {
                *count -= 1;
                if *count == 0 {
                    next.push_back(*target);
                }
            }
        }
    }
}
