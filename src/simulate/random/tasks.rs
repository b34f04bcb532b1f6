//! The tasks of a random model: cores, priorities, activations, events, groups, and which of them are
//! callers. Not what they do (see `bodies`), nor what activates them (see `stimuli`).

use super::draft::{Draft, Kind, Plan, of, some};
use super::times::weibull;
use crate::simulate::model::Task;

/// The highest priority. A kernel of ERIKA keeps those of all tasks of a system in the bits of one word.
const HIGHEST: i64 = 22;

/// Events of a model: the bits of a word, as all have one of their own.
const MOST_EVENTS: usize = 30;

impl Draft {
    /// Adds the tasks.
    pub fn add_tasks(&mut self, tasks: Option<usize>) {
        let cores = self.model.cores.len();
        // Table 5.6, tasks: 9 to 22, 15 on average, Weibull.
        let drawn = weibull(&mut self.numbers, 9.0, 15.0, 22.0) as usize;
        let count = tasks.unwrap_or(drawn).max(2 * cores);
        for number in 0..count {
            let core = if number < 2 * cores { number % cores } else { self.count(0, cores - 1) };
            self.add_task(number, core);
        }
        for core in 0..cores {
            self.add_group(core);
            self.choose_callers(core);
        }
    }

    fn add_task(&mut self, number: usize, core: usize) {
        let kind = match (self.features.events && self.chance(0.35), self.chance(0.5)) {
            (false, _) => Kind::Basic,
            (true, false) => Kind::Job,
            (true, true) => Kind::Server,
        };
        let events = if kind == Kind::Basic { Vec::new() } else { self.events() };
        let kind = if events.is_empty() { Kind::Basic } else { kind };
        let several = kind == Kind::Basic && self.features.limits && self.chance(0.4);
        let task = Task {
            name: format!("T_{number}"),
            core,
            priority: self.numbers.between(0, HIGHEST) as u32,
            activations: if several { self.numbers.between(2, 4) as u32 } else { 1 },
            preemptable: !(self.features.cooperation && self.chance(0.2)),
            group: None,
            autostart: self.chance(if kind == Kind::Server { 0.6 } else { 0.12 }),
            events,
            steps: Vec::new(),
        };
        self.model.tasks.push(task);
        self.plans.push(Plan { kind, ..Plan::default() });
    }

    /// The events of an extended task; some are those of another task, too.
    fn events(&mut self) -> Vec<usize> {
        let mut events = Vec::new();
        for _ in 0..self.count(1, 3) {
            let known: Vec<usize> = (0..self.model.events.len()).filter(|e| !events.contains(e)).collect();
            let again = self.chance(0.15) || self.model.events.len() >= MOST_EVENTS;
            let event = if again { of(&mut self.numbers, &known) } else { None };
            let event = event.or_else(|| if again { None } else { self.add_event() });
            events.extend(event);
        }
        events
    }

    /// Some tasks of a core share an internal resource.
    fn add_group(&mut self, core: usize) {
        if !self.features.cooperation || !self.chance(0.4) {
            return;
        }
        let most = self.count(2, 3);
        let tasks = self.tasks_of(core);
        let group = self.add_resource(true);
        for task in some(&mut self.numbers, &tasks, most) {
            if let Some(task) = self.model.tasks.get_mut(task) {
                task.group = Some(group);
            }
        }
    }

    /// The callers of a core are the tasks up to a priority: those above do nothing that lasts until
    /// another core is ready.
    fn choose_callers(&mut self, core: usize) {
        let mut tasks = self.tasks_of(core);
        tasks.sort_unstable_by_key(|task| self.priority_of(*task));
        let share = self.count(3, 9);
        let highest = tasks.get((tasks.len() * share / 10).min(tasks.len().saturating_sub(1)));
        let highest = highest.map_or(0, |task| self.priority_of(*task));
        for task in tasks {
            let calls = self.priority_of(task) <= highest && self.chance(0.85);
            if let Some(plan) = self.plans.get_mut(task) {
                plan.calls = calls;
            }
        }
    }
}
