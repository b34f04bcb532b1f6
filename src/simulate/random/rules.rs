//! Checks the rules of the module for a finished model, from its steps alone: another way than that of the
//! files that make it. Only for tests.

use crate::simulate::model::{Model, Step};

/// A lock in the sense of the rules, by its place in their order; or a resource of one core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Held {
    Lock(usize),
    Local(usize),
}

/// What a task or ISR does that the rules are about.
#[derive(Debug, Default)]
struct Deeds {
    remote_calls: bool,
    /// The locks that it takes, with all that it holds then.
    takes: Vec<(usize, Vec<Held>)>,
    /// What it holds at remote calls.
    held_at_calls: Vec<Vec<Held>>,
    /// What it holds while it has locks, each time.
    ways: Vec<Vec<Held>>,
}

struct Walk<'m> {
    model: &'m Model,
    core: usize,
    shared: Vec<bool>,
    held: Vec<Held>,
    deeds: Deeds,
}

impl Walk<'_> {
    fn resource(&self, resource: usize) -> Held {
        if self.shared[resource] { Held::Lock(resource) } else { Held::Local(resource) }
    }

    fn take(&mut self, held: Held) {
        if let Held::Lock(lock) = held {
            self.deeds.takes.push((lock, self.held.clone()));
        }
        self.held.push(held);
        if self.held.iter().any(|held| matches!(held, Held::Lock(_))) {
            self.deeds.ways.push(self.held.clone());
        }
    }

    fn remote(&mut self, task: usize) {
        if self.model.tasks[task].core != self.core {
            self.deeds.remote_calls = true;
            self.deeds.held_at_calls.push(self.held.clone());
        }
    }

    fn steps(&mut self, steps: &[Step]) {
        for step in steps {
            match step {
                Step::Call { runnable } => self.steps(&self.model.runnables[*runnable].steps),
                Step::Activate { task } | Step::SetEvent { task, .. } => self.remote(*task),
                Step::Chain { task } => {
                    assert_eq!(self.model.tasks[*task].core, self.core, "chain across cores")
                }
                Step::GetResource { resource } => self.take(self.resource(*resource)),
                Step::GetSpinlock { spinlock } | Step::TryToGetSpinlock { spinlock, .. } => {
                    self.take(Held::Lock(self.model.resources.len() + spinlock));
                }
                Step::ReleaseResource { .. } | Step::ReleaseSpinlock { .. } => {
                    self.held.pop();
                }
                step => step.inside().into_iter().for_each(|steps| self.steps(steps)),
            }
        }
    }
}

/// Which resources tasks of several cores take.
fn shared(model: &Model) -> Vec<bool> {
    let mut cores = vec![Vec::new(); model.resources.len()];
    for task in &model.tasks {
        for (resource, _) in walk(model, task.core, vec![true; cores.len()], &task.steps).takes {
            if let Some(cores) = cores.get_mut(resource).filter(|cores| !cores.contains(&task.core)) {
                cores.push(task.core);
            }
        }
    }
    cores.iter().map(|cores| cores.len() > 1).collect()
}

fn walk(model: &Model, core: usize, shared: Vec<bool>, steps: &[Step]) -> Deeds {
    let mut walk = Walk { model, core, shared, held: Vec::new(), deeds: Deeds::default() };
    walk.steps(steps);
    walk.deeds
}

/// The priority of a task while it runs and holds something.
fn level(model: &Model, task: usize, held: &[Held]) -> u32 {
    let of = &model.tasks[task];
    let of_core = || model.tasks.iter().filter(|other| other.core == of.core);
    if !of.preemptable {
        return of_core().map(|other| other.priority).max().unwrap();
    }
    let group =
        of_core().filter(|other| of.group.is_some() && other.group == of.group).map(|other| other.priority);
    let uses = |resource: usize, steps: &[Step]| {
        let deeds = walk(model, of.core, vec![true; model.resources.len()], steps);
        deeds.takes.iter().any(|(lock, _)| *lock == resource)
    };
    let ceilings = held.iter().filter_map(|held| {
        let (Held::Lock(lock) | Held::Local(lock)) = held;
        let users = of_core().filter(|other| *lock < model.resources.len() && uses(*lock, &other.steps));
        users.map(|other| other.priority).max()
    });
    group.chain(ceilings).fold(of.priority, u32::max)
}

/// Panics if a model breaks a rule.
pub fn hold(model: &Model) {
    let name = &model.name;
    let shared = shared(model);
    let deeds = |core, steps: &[Step]| walk(model, core, shared.clone(), steps);
    let tasks: Vec<Deeds> = model.tasks.iter().map(|task| deeds(task.core, &task.steps)).collect();
    let is_caller = |task: usize| tasks[task].remote_calls || !tasks[task].takes.is_empty();
    for (task, done) in tasks.iter().enumerate() {
        let of = &model.tasks[task];
        for (lock, held) in &done.takes {
            let in_order = held.iter().all(|held| !matches!(held, Held::Lock(before) if before >= lock));
            assert!(in_order, "rule 1: {name}, {}", of.name);
        }
        for held in &done.held_at_calls {
            assert!(!held.iter().any(|held| matches!(held, Held::Lock(_))), "rule 2: {name}, {}", of.name);
        }
        for held in &done.ways {
            let level = level(model, task, held);
            let above = model.tasks.iter().enumerate().filter(|(ix, other)| {
                *ix != task && other.core == of.core && other.priority > level && is_caller(*ix)
            });
            assert_eq!(above.count(), 0, "rule 3: {name}, {} holds {held:?}", of.name);
        }
    }
    for core in 0..model.cores.len() {
        let isrs = model.isrs.iter().filter(|isr| isr.core == core);
        let isrs: Vec<Deeds> = isrs.map(|isr| deeds(core, &isr.steps)).collect();
        assert!(isrs.iter().all(|isr| !isr.remote_calls), "rule 4: {name}, remote call of an ISR");
        let locks: Vec<usize> = isrs.iter().flat_map(|isr| isr.takes.iter().map(|(lock, _)| *lock)).collect();
        assert!(locks.windows(2).all(|pair| pair[0] == pair[1]), "rule 4: {name}, {locks:?}");
        assert!(isrs.iter().filter(|isr| !isr.takes.is_empty()).count() <= 1, "rule 4: {name}");
        let of_tasks = tasks.iter().zip(&model.tasks).filter(|(_, task)| task.core == core);
        let mut of_tasks = of_tasks.flat_map(|(done, _)| &done.takes);
        assert!(of_tasks.all(|(lock, _)| locks.iter().all(|of_isr| lock < of_isr)), "rule 4: {name}");
    }
}
