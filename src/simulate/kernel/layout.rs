//! Which tasks take which resources, on which cores: numbers, ceilings, and what cores share. Not the
//! services for them (see `resources`).

use crate::simulate::model::{Model, Step};

/// Where a resource is used.
#[derive(Debug, Clone)]
pub struct Layout {
    /// Its word, if it is shared by cores.
    pub word: Option<usize>,
    /// Per core: its number there, and its ceiling as a rank.
    pub cores: Vec<Option<(u32, u32)>>,
}

/// Which tasks take which resources, on which cores.
pub fn layout(model: &Model) -> Vec<Layout> {
    let mut priorities: Vec<u32> = model.tasks.iter().map(|task| task.priority).collect();
    priorities.sort_unstable();
    priorities.dedup();
    let mut ceilings = vec![vec![None::<u32>; model.cores.len()]; model.resources.len()];
    for task in &model.tasks {
        let rank = priorities.partition_point(|other| *other < task.priority) as u32;
        let mut used = vec![false; model.resources.len()];
        uses(model, &task.steps, &mut vec![false; model.runnables.len()], &mut used);
        for (resource, _) in used.iter().enumerate().filter(|(_, used)| **used) {
            if let Some(ceiling) = ceilings.get_mut(resource).and_then(|cores| cores.get_mut(task.core)) {
                *ceiling = (*ceiling).max(Some(rank));
            }
        }
    }
    let is_shared = |cores: &Vec<Option<u32>>| cores.iter().flatten().count() > 1;
    let shared = ceilings.iter().filter(|cores| is_shared(cores)).count() as u32;
    let mut next_shared = 0;
    let mut next_local = vec![shared; model.cores.len()];
    let mut all = Vec::new();
    for cores in &ceilings {
        let word = is_shared(cores).then(|| {
            next_shared += 1;
            next_shared as usize - 1
        });
        let place = |(core, ceiling): (usize, &Option<u32>)| {
            let ceiling = (*ceiling)?;
            let id = match word {
                Some(word) => word as u32,
                None => next_local.get_mut(core).map_or(0, |next| {
                    *next += 1;
                    *next - 1
                }),
            };
            Some((id, ceiling))
        };
        let cores = cores.iter().enumerate().map(place).collect();
        all.push(Layout { word, cores });
    }
    all
}

/// Marks the resources that steps take, and the runnables that are done: each is followed once.
pub fn uses(model: &Model, steps: &[Step], done: &mut [bool], used: &mut [bool]) {
    for step in steps {
        match step {
            Step::GetResource { resource } => {
                if let Some(used) = used.get_mut(*resource) {
                    *used = true;
                }
            }
            Step::Call { runnable } => {
                let is_done = done.get_mut(*runnable).is_none_or(|done| std::mem::replace(done, true));
                if let Some(runnable) = model.runnables.get(*runnable).filter(|_| !is_done) {
                    uses(model, &runnable.steps, done, used);
                }
            }
            _ => step.inside().into_iter().for_each(|steps| uses(model, steps, done, used)),
        }
    }
}
