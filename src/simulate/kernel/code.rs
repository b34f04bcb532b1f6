//! The steps of a model with a number for each place, by which a run finds what belongs to it without a
//! search: the steps inside of it, and whose turn it is there. Not what steps do (see `program`).

use crate::simulate::model::{Model, Step};

/// A list of steps.
#[derive(Debug, Clone, Copy)]
pub struct Block<'m> {
    pub steps: &'m [Step],
    /// The place of its first step; those of the others follow.
    pub first: usize,
}

/// The steps of a model.
#[derive(Debug)]
pub struct Code<'m> {
    /// Those of the tasks, of the ISRs and of the runnables, then those inside of steps.
    blocks: Vec<Block<'m>>,
    places: Vec<Place>,
    isrs: usize,
    runnables: usize,
}

/// What belongs to one step of the model, whoever does it.
#[derive(Debug)]
struct Place {
    /// The first of the blocks inside of it.
    inside: usize,
    /// Whose turn it is, see [`crate::simulate::model::Runs::take_turn`].
    position: u64,
}

impl<'m> Code<'m> {
    /// The steps of a model, before the start of the OS.
    pub fn of(model: &'m Model) -> Self {
        let tasks = model.tasks.iter().map(|task| task.steps.as_slice());
        let isrs = model.isrs.iter().map(|isr| isr.steps.as_slice());
        let runnables = model.runnables.iter().map(|runnable| runnable.steps.as_slice());
        let block = |steps| Block { steps, first: 0 };
        let mut blocks: Vec<Block> = tasks.chain(isrs).chain(runnables).map(block).collect();
        let mut places = Vec::new();
        let mut next = 0;
        while let Some(block_of_steps) = blocks.get_mut(next) {
            block_of_steps.first = places.len();
            for step in block_of_steps.steps {
                places.push(Place { inside: blocks.len(), position: 0 });
                blocks.extend(step.inside().into_iter().map(block));
            }
            next += 1;
        }
        Self { blocks, places, isrs: model.tasks.len(), runnables: model.tasks.len() + model.isrs.len() }
    }

    /// The steps of a task.
    pub fn task(&self, task: usize) -> Option<Block<'m>> {
        self.blocks.get(task).copied()
    }

    /// The steps of an ISR of the model.
    pub fn isr(&self, isr: usize) -> Option<Block<'m>> {
        self.blocks.get(self.isrs + isr).copied()
    }

    /// The steps of a runnable.
    pub fn runnable(&self, runnable: usize) -> Option<Block<'m>> {
        self.blocks.get(self.runnables + runnable).copied()
    }

    /// Steps inside of the step of a place: the list of this number in [`Step::inside`].
    pub fn inside(&self, place: usize, list: usize) -> Option<Block<'m>> {
        self.places.get(place).and_then(|place| self.blocks.get(place.inside + list)).copied()
    }

    /// Whose turn it is at a place, for [`crate::simulate::model::Runs::take_turn`].
    pub fn position(&mut self, place: usize) -> Option<&mut u64> {
        self.places.get_mut(place).map(|place| &mut place.position)
    }
}
