//! What a model may not do, and what is strange about one: beyond what the types say. Not the reading of its
//! text, which makes its own mistakes known (see `file`).

mod calls;
mod flow;
mod load;
mod names;
mod references;
mod steps;
mod values;

#[cfg(test)]
mod tests;

use super::places::{Body, Places, StepPlace, inside, with_places};
use super::{Model, Step};
use crate::diagnostics::Log;
use crate::error::{Error, Result};

/// How deep steps may be nested.
const MOST_NESTED: usize = 32;

impl Model {
    /// Checks a model that a program made. The findings are warnings: tasks that nothing activates
    /// (`never-activated`), runnables that nothing calls (`never-called`), and cores on which the mean
    /// execution times need more than there is (`over-utilisation`).
    ///
    /// # Errors
    /// For what the operating system forbids, and for what cannot be simulated.
    pub fn check(&self) -> Result<Log> {
        self.check_at(&Places::default())
    }

    /// The same for a model that was read; errors and findings have a line.
    ///
    /// # Errors
    /// As [`Self::check`].
    pub(super) fn check_at(&self, places: &Places) -> Result<Log> {
        let checks = Checks { model: self, places };
        checks.references()?;
        checks.names()?;
        checks.values()?;
        checks.steps()?;
        checks.calls()?;
        checks.flow()?;
        Ok(checks.warnings())
    }
}

/// A model that is being checked.
#[derive(Clone, Copy)]
struct Checks<'a> {
    model: &'a Model,
    places: &'a Places,
}

/// Whose steps they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    Task(usize),
    Isr(usize),
    Runnable(usize),
}

/// A task, ISR or runnable with its steps.
struct Steps<'a> {
    owner: Owner,
    name: &'a str,
    line: Option<u64>,
    steps: &'a [Step],
    places: &'a [StepPlace],
}

impl Owner {
    fn kind(self) -> &'static str {
        match self {
            Self::Task(_) => "task",
            Self::Isr(_) => "ISR",
            Self::Runnable(_) => "runnable",
        }
    }

    fn kind_with_article(self) -> &'static str {
        match self {
            Self::Task(_) => "a task",
            Self::Isr(_) => "an ISR",
            Self::Runnable(_) => "a runnable",
        }
    }
}

impl Steps<'_> {
    /// `task 'T_1'`
    fn shown(&self) -> String {
        format!("{} '{}'", self.owner.kind(), self.name)
    }
}

impl<'a> Checks<'a> {
    /// All that have steps.
    fn bodies(self) -> impl Iterator<Item = Steps<'a>> {
        let Self { model, places } = self;
        let of = |owner, name: &'a str, steps: &'a [Step], bodies: &'a [Body], ix| Steps {
            owner,
            name,
            line: Body::line_of(bodies, ix),
            steps,
            places: Body::steps_of(bodies, ix),
        };
        let tasks = model.tasks.iter().enumerate();
        let tasks = tasks.map(move |(ix, t)| of(Owner::Task(ix), &t.name, &t.steps, &places.tasks, ix));
        let isrs = model.isrs.iter().enumerate();
        let isrs = isrs.map(move |(ix, i)| of(Owner::Isr(ix), &i.name, &i.steps, &places.isrs, ix));
        tasks.chain(isrs).chain(self.runnables())
    }

    fn runnables(self) -> impl Iterator<Item = Steps<'a>> {
        (0..self.model.runnables.len()).filter_map(move |ix| self.runnable(ix))
    }

    fn runnable(self, ix: usize) -> Option<Steps<'a>> {
        let Self { model, places } = self;
        model.runnables.get(ix).map(|runnable| Steps {
            owner: Owner::Runnable(ix),
            name: &runnable.name,
            line: Body::line_of(&places.runnables, ix),
            steps: &runnable.steps,
            places: Body::steps_of(&places.runnables, ix),
        })
    }

    /// An error about what is on a line.
    fn mistake<T>(self, line: Option<u64>, message: String, hint: impl Into<String>) -> Result<T> {
        Err(self.places.mistake(line, Error::input(message).hint(hint)))
    }
}

/// Calls `visit` for each step, also for those in others, with its line. `depth` is that of `steps`.
fn each_step<'a>(
    steps: &'a [Step],
    places: &'a [StepPlace],
    depth: usize,
    visit: &mut dyn FnMut(&'a Step, Option<u64>, usize) -> Result<()>,
) -> Result<()> {
    for (step, place) in with_places(steps, places) {
        visit(step, place.map(|place| place.line), depth)?;
        // The text of an entry of turns is a table around its steps, so that it is one level more.
        let levels = if matches!(step, Step::Turns { .. }) { 2 } else { 1 };
        for (way, steps) in step.inside().into_iter().enumerate() {
            each_step(steps, inside(place, way), depth + levels, visit)?;
        }
    }
    Ok(())
}
