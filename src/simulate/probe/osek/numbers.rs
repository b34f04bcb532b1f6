//! What the numbers of a kernel stand for in the image of all cores: its tasks, alarms and locks. Not their
//! variables (see `variables`).

use crate::simulate::kernel::effect::Lock;
use crate::simulate::kernel::layout::layout;
use crate::simulate::model::{Model, Task};

/// Of each core, what its numbers stand for.
#[derive(Debug)]
pub struct Numbers {
    tasks: Vec<Vec<usize>>,
    alarms: Vec<Vec<usize>>,
    /// The locks that are used. The first ones have words, whose numbers are theirs.
    pub locks: Vec<Lock>,
    words: usize,
    /// The number of a resource on its core, and of it as a lock.
    resources: Vec<Vec<(u32, usize)>>,
}

impl Numbers {
    pub fn of(model: &Model) -> Self {
        let layouts = layout(model);
        let resources = |shared: bool| {
            let of = layouts.iter().enumerate().filter(move |(_, layout)| layout.word.is_some() == shared);
            let used = of.filter(|(_, layout)| layout.cores.iter().any(Option::is_some));
            used.map(|(resource, _)| Lock::Resource(resource))
        };
        let spinlocks = (0..model.spinlocks.len()).map(Lock::Spinlock);
        let mut locks: Vec<Lock> = resources(true).chain(spinlocks).collect();
        let words = locks.len();
        locks.extend(resources(false));
        let of_core = |core: usize| {
            let local = locks.iter().enumerate().skip(words);
            let number = |(number, lock): (usize, &Lock)| match lock {
                Lock::Resource(resource) => {
                    let (id, _) = (*layouts.get(*resource)?.cores.get(core)?)?;
                    Some((id, number))
                }
                Lock::Spinlock(_) => None,
            };
            local.filter_map(number).collect()
        };
        let cores = 0..model.cores.len();
        Self {
            tasks: cores.clone().map(|core| places(&model.tasks, |task: &Task| task.core == core)).collect(),
            alarms: cores.clone().map(|core| places(&model.alarms, |alarm| alarm.core == core)).collect(),
            resources: cores.map(of_core).collect(),
            words,
            locks,
        }
    }

    /// The task of the model that is task `id` of a core.
    pub fn task(&self, core: usize, id: u32) -> Option<usize> {
        self.tasks.get(core)?.get(id as usize).copied()
    }

    /// The alarms of a core.
    pub fn alarms(&self, core: usize) -> &[usize] {
        self.alarms.get(core).map(Vec::as_slice).unwrap_or_default()
    }

    /// The alarm of the model that is object `id` of the counter of a core; none for a schedule table.
    pub fn alarm(&self, core: usize, id: u32) -> Option<usize> {
        self.alarms(core).get(id as usize).copied()
    }

    /// The lock of resource `id` of a core, if no other core uses it.
    pub fn resource(&self, core: usize, id: u32) -> Option<usize> {
        self.resources.get(core)?.iter().find(|(of, _)| *of == id).map(|(_, lock)| *lock)
    }

    /// The lock of a word; none if it is one of the kernels.
    pub fn word(&self, word: u32) -> Option<usize> {
        Some(word as usize).filter(|word| *word < self.words)
    }
}

/// The places of what is of a kind.
fn places<T>(all: &[T], is: impl Fn(&T) -> bool) -> Vec<usize> {
    all.iter().enumerate().filter(|(_, one)| is(one)).map(|(place, _)| place).collect()
}
