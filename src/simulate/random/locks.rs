//! Who takes which resources and spinlocks in a random model, so that rules 3 and 4 of the module hold. Not
//! the steps that take them (see `sections`).

use super::draft::{Draft, Held, of, some};

impl Draft {
    /// Adds resources and spinlocks, and plans who takes them.
    pub fn add_locks(&mut self) {
        if self.features.resources {
            if self.features.across_cores {
                for _ in 0..self.count(1, 2) {
                    self.add_shared_resource();
                }
            }
            for core in 0..self.model.cores.len() {
                for _ in 0..self.count(0, 2) {
                    self.add_local_resource(core);
                }
            }
        }
        if self.features.spinlocks {
            for _ in 0..self.count(1, 3) {
                self.add_spinlock();
            }
            self.choose_locks_of_isrs();
            for spinlock in 0..self.model.spinlocks.len() {
                for core in 0..self.model.cores.len() {
                    self.choose_holders(spinlock, core);
                }
            }
        }
    }

    fn add_local_resource(&mut self, core: usize) {
        let tasks = self.tasks_of(core);
        let most = self.count(1, 4);
        let users = some(&mut self.numbers, &tasks, most);
        let resource = self.add_resource(false);
        self.take(resource, &users);
    }

    fn add_shared_resource(&mut self) {
        let mut all = Vec::new();
        let mut cores = 0;
        for core in 0..self.model.cores.len() {
            let highest = self.highest_caller(core);
            let callers: Vec<usize> =
                self.tasks_of(core).into_iter().filter(|task| self.calls(*task)).collect();
            let most = self.count(0, 3);
            let mut users = some(&mut self.numbers, &callers, most);
            // With the highest caller among its users, the ceiling keeps off all others.
            let top = callers.iter().copied().find(|task| self.priority_of(*task) == highest);
            if let Some(top) = top.filter(|top| !users.contains(top))
                && self.chance(0.6)
            {
                users.push(top);
            }
            if !users.iter().any(|task| self.priority_of(*task) >= highest) {
                users.retain(|task| self.level(*task) >= highest);
            }
            cores += usize::from(!users.is_empty());
            all.extend(users);
        }
        if cores > 1 {
            let resource = self.add_resource(false);
            if let Some(plan) = self.resources.get_mut(resource) {
                plan.shared = true;
            }
            self.take(resource, &all);
        }
    }

    fn take(&mut self, resource: usize, users: &[usize]) {
        for task in users {
            let (core, priority) = (self.core_of(*task), self.priority_of(*task));
            let plan = self.resources.get_mut(resource);
            if let Some(ceiling) = plan.and_then(|plan| plan.ceilings.get_mut(core)) {
                *ceiling = (*ceiling).max(Some(priority));
            }
            if let Some(plan) = self.plans.get_mut(*task) {
                plan.locks.push(Held::Resource(resource));
            }
        }
    }

    /// At most one ISR of a core takes a spinlock; those from this one on are none for tasks of the core.
    fn choose_locks_of_isrs(&mut self) {
        let spinlocks: Vec<usize> = (0..self.model.spinlocks.len()).collect();
        for core in 0..self.model.cores.len() {
            let has = self.features.isrs && self.chance(0.5);
            let lock = if has { of(&mut self.numbers, &spinlocks) } else { None };
            if let Some(place) = self.isr_locks.get_mut(core) {
                *place = lock;
            }
        }
    }

    /// The spinlocks that tasks of a core may take end before this one.
    fn spinlocks_of_tasks(&self, core: usize) -> usize {
        self.isr_locks.get(core).copied().flatten().unwrap_or(usize::MAX)
    }

    fn choose_holders(&mut self, spinlock: usize, core: usize) {
        if spinlock >= self.spinlocks_of_tasks(core) {
            return;
        }
        let tasks = self.tasks_of(core).into_iter();
        let fit: Vec<usize> = tasks
            .filter(|task| {
                self.calls(*task) && (self.keeps_off_callers(*task, &[]) || self.shield(*task).is_some())
            })
            .collect();
        let most = self.count(0, 3);
        for task in some(&mut self.numbers, &fit, most) {
            if let Some(plan) = self.plans.get_mut(task) {
                plan.locks.push(Held::Spinlock(spinlock));
            }
        }
    }

    /// Rule 3: whether no other caller of its core can run while a task has these resources.
    pub fn keeps_off_callers(&self, task: usize, held: &[Held]) -> bool {
        let core = self.core_of(task);
        let ceilings = held.iter().filter_map(|held| self.ceiling(*held, core));
        ceilings.fold(self.level(task), u32::max) >= self.highest_caller(core)
    }

    /// A resource of a task whose ceiling keeps off the callers.
    pub fn shield(&self, task: usize) -> Option<Held> {
        let locks = self.plans.get(task).map_or(&[][..], |plan| &plan.locks);
        locks
            .iter()
            .copied()
            .find(|held| matches!(held, Held::Resource(_)) && self.keeps_off_callers(task, &[*held]))
    }

    fn ceiling(&self, held: Held, core: usize) -> Option<u32> {
        match held {
            Held::Resource(resource) => {
                self.resources.get(resource).and_then(|plan| *plan.ceilings.get(core)?)
            }
            Held::Spinlock(_) => None,
        }
    }

    /// Whether it is a lock in the sense of the rules, and its place in their order.
    pub fn place(&self, held: Held) -> Option<usize> {
        match held {
            Held::Resource(resource) => {
                self.resources.get(resource).filter(|plan| plan.shared).map(|_| resource)
            }
            Held::Spinlock(spinlock) => Some(self.model.resources.len() + spinlock),
        }
    }

    /// Whether a task may take one more.
    pub fn may_take(&self, task: usize, next: Held, held: &[Held]) -> bool {
        if held.contains(&next) {
            return false;
        }
        let Some(place) = self.place(next) else { return true };
        let in_order = held.iter().filter_map(|held| self.place(*held)).all(|before| before < place);
        let and_next: Vec<Held> = held.iter().copied().chain([next]).collect();
        in_order && self.keeps_off_callers(task, &and_next)
    }
}
