//! What tasks and ISRs do in sequence, through calls and branches: what they hold, and where they end. Not
//! the numbers of single steps (see `steps`), nor deadlocks, which only a run shows.

use std::collections::HashMap;

use super::{Checks, Owner, Steps};
use crate::error::{Error, Result};
use crate::simulate::model::places::{StepPlace, inside, with_places};
use crate::simulate::model::{Isr, Step};

/// What is held, the last one on top.
type Holding = Vec<Held>;

/// What follows steps: `None` when the task has ended.
type After = Option<Holding>;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Held {
    Resource(usize),
    Spinlock(usize),
}

/// How many pairs of a runnable and what is held at its begin one task may have. Only a text that is made to
/// have many reaches it: each one more is a nesting of resources in another order.
const MOST_WAYS: usize = 20_000;

/// One task or ISR.
struct Flow<'a> {
    checks: Checks<'a>,
    root: Steps<'a>,
    /// What follows a call, by the runnable and by what is held at its begin.
    known: HashMap<(usize, Holding), After>,
    /// The runnables that call each other up to the step.
    path: Vec<usize>,
}

impl Checks<'_> {
    pub(super) fn flow(self) -> Result<()> {
        for root in self.bodies().filter(|body| !matches!(body.owner, Owner::Runnable(_))) {
            let (steps, places, line) = (root.steps, root.places, root.line);
            let mut flow = Flow { checks: self, root, known: HashMap::new(), path: Vec::new() };
            if let Some(held) =
                flow.follow(steps, places, Some(Vec::new()))?.and_then(|held| held.last().copied())
            {
                let message = format!("{} ends and still holds {}", flow.root.shown(), flow.held(held));
                return self.mistake(line, message, "release it as the last step, or before terminate");
            }
        }
        Ok(())
    }
}

impl<'a> Flow<'a> {
    fn follow(&mut self, steps: &'a [Step], places: &'a [StepPlace], before: After) -> Result<After> {
        let mut after = before;
        for (step, place) in with_places(steps, places) {
            let line = place.map(|place| place.line);
            let Some(holding) = after else {
                let message = format!("{} never comes after the end of {}", step.key(), self.root.shown());
                return self.mistake(line, message, "nothing can follow chain and terminate: remove a step");
            };
            self.is_allowed(step, line)?;
            after = self.step(step, place, holding)?;
        }
        Ok(after)
    }

    /// What follows a step.
    fn step(&mut self, step: &'a Step, place: Option<&'a StepPlace>, mut holding: Holding) -> Result<After> {
        let line = place.map(|place| place.line);
        match step {
            Step::Call { runnable } => return self.call(*runnable, line, holding),
            Step::Chain { .. } | Step::Terminate => {
                self.holds_nothing(step, line, &holding)?;
                return Ok(None);
            }
            Step::WaitEvent { .. } | Step::Schedule => self.holds_nothing(step, line, &holding)?,
            Step::GetResource { resource } => self.take(Held::Resource(*resource), line, &mut holding)?,
            Step::ReleaseResource { resource } => {
                self.release(Held::Resource(*resource), line, &mut holding)?;
            }
            Step::GetSpinlock { spinlock } | Step::TryToGetSpinlock { spinlock, .. } => {
                self.take(Held::Spinlock(*spinlock), line, &mut holding)?;
            }
            Step::ReleaseSpinlock { spinlock } => {
                self.release(Held::Spinlock(*spinlock), line, &mut holding)?;
            }
            Step::Branch { .. } => return self.ways("this branch", step, place, &holding),
            Step::Turns { .. } => return self.ways("these turns", step, place, &holding),
            Step::Repeat { times, steps } => {
                let after = self.follow(steps, inside(place, 0), Some(holding.clone()))?;
                return match after {
                    Some(after) if after != holding => {
                        let message = format!(
                            "what is repeated begins with {} held, and ends with {}",
                            self.all_held(&holding),
                            self.all_held(&after)
                        );
                        self.mistake(line, message, "release in the repeated steps what they take")
                    }
                    None if *times > 1 => {
                        let message =
                            format!("{} ends in what is repeated, so that it never is", self.root.shown());
                        self.mistake(
                            line,
                            message,
                            "put chain or terminate after the repeated steps, or in a branch",
                        )
                    }
                    after => Ok(after),
                };
            }
            _ => {}
        }
        Ok(Some(holding))
    }

    /// What follows a step that is done in one of several ways: the same after each one that goes on.
    /// `shown` names the step.
    fn ways(
        &mut self,
        shown: &str,
        step: &'a Step,
        place: Option<&'a StepPlace>,
        holding: &Holding,
    ) -> Result<After> {
        let mut after: After = None;
        for (way, steps) in step.inside().into_iter().enumerate() {
            let Some(other) = self.follow(steps, inside(place, way), Some(holding.clone()))? else {
                continue;
            };
            match &after {
                Some(one) if *one != other => {
                    let message = format!(
                        "after {shown} {} holds {} one way, and {} the other",
                        self.root.shown(),
                        self.all_held(one),
                        self.all_held(&other)
                    );
                    let line = place.map(|place| place.line);
                    return self.mistake(line, message, "all ways have to take and release the same");
                }
                _ => after = Some(other),
            }
        }
        Ok(after)
    }

    fn call(&mut self, runnable: usize, line: Option<u64>, holding: Holding) -> Result<After> {
        let key = (runnable, holding);
        if let Some(after) = self.known.get(&key) {
            return Ok(after.clone());
        }
        if self.known.len() >= MOST_WAYS {
            let message = format!("{} calls runnables in more than {MOST_WAYS} ways", self.root.shown());
            return self.mistake(line, message, "take resources in fewer orders before calls");
        }
        let Some(body) = self.checks.runnable(runnable) else { return Ok(Some(key.1)) };
        self.path.push(runnable);
        let after = self.follow(body.steps, body.places, Some(key.1.clone()))?;
        self.path.pop();
        self.known.insert(key, after.clone());
        Ok(after)
    }

    /// OSEK/VDX OS 2.2.3, 12.1 (which services may be called where), and AUTOSAR OS for spinlocks.
    fn is_allowed(&self, step: &Step, line: Option<u64>) -> Result<()> {
        let plain = matches!(
            step,
            Step::Execute(_)
                | Step::Call { .. }
                | Step::Read { .. }
                | Step::Write { .. }
                | Step::Branch { .. }
                | Step::Repeat { .. }
                | Step::Turns { .. }
        );
        if plain {
            return Ok(());
        }
        let model = self.checks.model;
        let events = match self.root.owner {
            Owner::Isr(ix) if model.isrs.get(ix).is_some_and(|isr: &Isr| isr.category1) => {
                let message = format!("{} of category 1 cannot {}", self.root.shown(), step.key());
                return self.mistake(
                    line,
                    message,
                    "it is unknown to the OS and calls no service; use category = 2",
                );
            }
            Owner::Isr(_) => {
                let of_isrs = matches!(
                    step,
                    Step::Activate { .. }
                        | Step::SetEvent { .. }
                        | Step::GetSpinlock { .. }
                        | Step::TryToGetSpinlock { .. }
                        | Step::ReleaseSpinlock { .. }
                );
                if of_isrs {
                    return Ok(());
                }
                let message = format!("{} cannot {}, as it is no task", self.root.shown(), step.key());
                let hint = "an ISR can activate, set_event, and take spinlocks; do the rest in a task";
                return self.mistake(line, message, hint);
            }
            Owner::Task(ix) => model.tasks.get(ix).map_or(&[][..], |task| &task.events),
            Owner::Runnable(_) => return Ok(()),
        };
        let (Step::WaitEvent { events: named } | Step::ClearEvent { events: named }) = step else {
            return Ok(());
        };
        let Some(missing) = named.iter().find(|event| !events.contains(event)) else { return Ok(()) };
        let event = model.events.get(*missing).map_or("", |event| event.name.as_str());
        let what = if events.is_empty() {
            "is a basic task: it lists no events"
        } else {
            "does not list that event"
        };
        let message = format!("{} of '{event}' by {}, which {what}", step.key(), self.root.shown());
        self.mistake(line, message, format!("write events = [\"{event}\"] in the task"))
    }

    /// OSEK/VDX OS 2.2.3: `WaitEvent`, `Schedule`, `TerminateTask` and `ChainTask` give `E_OS_RESOURCE`;
    /// AUTOSAR OS: `E_OS_SPINLOCK`.
    fn holds_nothing(&self, step: &Step, line: Option<u64>, holding: &Holding) -> Result<()> {
        let Some(held) = holding.last() else { return Ok(()) };
        let message = format!("{} while {} holds {}", step.key(), self.root.shown(), self.held(*held));
        self.mistake(line, message, "release it before")
    }

    fn take(&self, what: Held, line: Option<u64>, holding: &mut Holding) -> Result<()> {
        if holding.contains(&what) {
            let message = format!("{} takes {}, which it holds already", self.root.shown(), self.held(what));
            return self.mistake(line, message, "release it before, or take it only once");
        }
        holding.push(what);
        Ok(())
    }

    /// Resources and spinlocks are released in the reverse order (OSEK/VDX OS 2.2.3, 8.2; AUTOSAR OS gives
    /// `E_OS_NOFUNC`).
    fn release(&self, what: Held, line: Option<u64>, holding: &mut Holding) -> Result<()> {
        if !holding.contains(&what) {
            let message =
                format!("{} releases {}, which it has not taken", self.root.shown(), self.held(what));
            let hint = match what {
                Held::Resource(_) => "add get_resource before",
                Held::Spinlock(_) => "add get_spinlock before",
            };
            return self.mistake(line, message, hint);
        }
        match holding.pop() {
            Some(last) if last != what => {
                let message =
                    format!("{} releases {} before {}", self.root.shown(), self.held(what), self.held(last));
                self.mistake(line, message, "release first what was taken last")
            }
            _ => Ok(()),
        }
    }

    /// `resource 'RES'`
    fn held(&self, held: Held) -> String {
        let model = self.checks.model;
        match held {
            Held::Resource(ix) => format!("resource '{}'", model.resources.get(ix).map_or("", |r| &r.name)),
            Held::Spinlock(ix) => format!("spinlock '{}'", model.spinlocks.get(ix).map_or("", |s| &s.name)),
        }
    }

    fn all_held(&self, holding: &Holding) -> String {
        match &holding[..] {
            [] => "nothing".to_owned(),
            all => all.iter().map(|held| self.held(*held)).collect::<Vec<_>>().join(" and "),
        }
    }

    /// An error of a step, with the calls that lead to it.
    fn mistake<T>(&self, line: Option<u64>, message: String, hint: impl Into<String>) -> Result<T> {
        let error = Error::input(message).hint(hint);
        let error = match &self.path[..] {
            [] => error,
            path => {
                error.hint(format!("called by {} → {}", self.root.shown(), self.checks.names_of(path.iter())))
            }
        };
        Err(self.checks.places.mistake(line, error))
    }
}
