//! What tasks and runnables do: their steps, and the evidence of their times. Not how steps are found (see
//! `bodies`).

use std::collections::BTreeSet;

use super::{Assembly, Detail};
use crate::btf::NameId;
use crate::reconstruct::bodies::{self, Part};
use crate::reconstruct::body::{Body, Gap, Item, Run, SetId};
use crate::reconstruct::evidence::{Confidence, Evidence};
use crate::reconstruct::observe::Process;
use crate::reconstruct::steps::Owner;
use crate::simulate::model::{Step, time_text};

impl Assembly<'_> {
    /// The steps of tasks and runnables.
    pub(super) fn bodies(&mut self) {
        let rest = self.system.duration;
        for (name, place) in self.places.tasks.clone() {
            let Some(process) = self.seen.processes.get(&(name, None)) else { continue };
            let (mut runs, mut cut) = (process.body.runs(), process.body.cut.clone());
            if runs.is_empty() && cut.is_empty() {
                cut.clone_from(&process.body.partial);
            }
            self.with_waits(&process.body, &mut runs);
            self.with_waits(&process.body, &mut cut);
            self.simplify(&mut runs);
            self.simplify(&mut cut);
            let parts = bodies::parts_of_task(&runs, &cut, rest);
            let mut steps = self.places.steps(&parts, Owner::Task(place), &self.seen.sets);
            self.end(name, place, process, &runs, &mut steps);
            let Some(task) = self.model.tasks.get_mut(place) else { continue };
            task.steps = steps;
            let entity = task.name.clone();
            self.times("task", entity, &runs, &parts);
        }
        for (name, place) in self.places.runnables.clone() {
            let Some(body) = self.seen.runnables.get(&name) else { continue };
            let runs = body.runs();
            let mut all = bodies::with_cut(&runs, &body.cut);
            self.with_waits(body, &mut all);
            let parts = bodies::parts(&all);
            let steps = self.places.steps(&parts, Owner::Runnable, &self.seen.sets);
            let Some(runnable) = self.model.runnables.get_mut(place) else { continue };
            runnable.steps = steps;
            let entity = runnable.name.clone();
            self.times("runnable", entity, &runs, &parts);
        }
    }

    /// How a task ends: it chains another one, or terminates.
    pub(super) fn end(
        &self,
        name: NameId,
        place: usize,
        process: &Process,
        runs: &[Run],
        steps: &mut Vec<Step>,
    ) {
        let of = |ix: usize| self.model.tasks.get(ix).map(|task| (task.core, task.priority));
        let chains = |next: NameId, ix: usize| {
            let here = of(place).zip(of(ix)).is_some_and(|(own, next)| own.0 == next.0 && own.1 < next.1);
            process.chains.get(&next) == Some(&true) && (next == name || here)
        };
        let chained = process.chains.keys().filter_map(|next| Some((*next, *self.places.tasks.get(next)?)));
        let chained: BTreeSet<usize> =
            chained.filter(|(next, ix)| chains(*next, *ix)).map(|(_, ix)| ix).collect();
        if !chained.is_empty() && !runs.is_empty() {
            chain(steps, &chained);
        }
        if !ends(steps) {
            steps.push(Step::Terminate);
        }
    }

    pub(super) fn with_waits(&self, body: &Body, runs: &mut [Run]) {
        let waits: BTreeSet<SetId> = body
            .items()
            .filter_map(|item| match item {
                Item::Wait(set) => Some(set),
                _ => None,
            })
            .collect();
        let waits: Vec<SetId> = waits.into_iter().collect();
        if !waits.is_empty() {
            runs.iter_mut().for_each(|run| bodies::with_waits(run, &waits, &self.seen.sets));
        }
    }

    /// Without steps, where the rules of models allow none.
    pub(super) fn simplify(&self, runs: &mut [Run]) {
        if self.detail < Detail::OnlyTimes {
            return;
        }
        for run in runs {
            let nothing = SetId::default();
            let waits = |item: &Item| *item == Item::Wait(nothing);
            let (mut items, mut gaps) = (Vec::new(), Vec::new());
            let mut before: Option<Gap> = None;
            for (item, gap) in run.items.iter().map(Some).chain([None]).zip(&run.gaps) {
                let sum = before.map_or(*gap, |before| Gap { net: before.net + gap.net, ..before });
                before = match item {
                    Some(item) if !waits(item) => Some(sum),
                    item => {
                        gaps.push(sum);
                        items.extend(item.copied());
                        None
                    }
                };
            }
            *run = Run { items, gaps };
        }
    }

    /// The evidence of a body: its own net times, without those of the runnables that it calls.
    pub(super) fn times(&mut self, kind: &'static str, entity: String, runs: &[Run], parts: &[Part]) {
        let own = |run: &Run| run.gaps.iter().map(|gap| gap.net).sum::<i64>();
        let times: Vec<i64> = runs.iter().map(own).collect();
        let count = times.len() as u64;
        let (Some(least), Some(most)) = (times.iter().min().copied(), times.iter().max().copied()) else {
            let note = "no execution was seen from its begin to its end".to_owned();
            let (what, value, confidence) = ("execution time", String::new(), Confidence::Assumed);
            return self.note(Evidence { kind, entity, what, value, samples: 0, confidence, note });
        };
        let mean = times.iter().sum::<i64>() / i64::try_from(times.len()).unwrap_or(1).max(1);
        let exact = least == most;
        let value = match exact {
            true => time_text(mean),
            false => format!("{} to {}, mean {}", time_text(least), time_text(most), time_text(mean)),
        };
        let confidence = if exact { Confidence::Exact } else { Confidence::Observed };
        let of_any = parts.iter().any(|part| matches!(part, Part::OneOf(_)));
        let note = if of_any { "the way is chosen at random" } else { "" }.to_owned();
        self.note(Evidence { kind, entity, what: "execution time", value, samples: count, confidence, note });
    }
}

/// Makes the last steps chain: an activation at the end of steps, or of the ways at the end. The time
/// after it comes before it, as nothing follows a chain.
fn chain(steps: &mut Vec<Step>, tasks: &BTreeSet<usize>) {
    let after = matches!(steps.last(), Some(Step::Execute(_)));
    let place = steps.len().checked_sub(1 + usize::from(after));
    match place.and_then(|place| steps.get_mut(place)) {
        Some(step) if chained(step, tasks).is_some() => {
            let next = chained(step, tasks).unwrap_or_default();
            *step = Step::Chain { task: next };
            if after && let Some(time) = steps.pop() {
                steps.insert(steps.len().saturating_sub(1), time);
            }
        }
        Some(Step::Turns { of }) if !after => {
            of.items_mut().iter_mut().for_each(|steps| chain(steps, tasks));
        }
        Some(Step::Branch { then, otherwise, .. }) if !after => {
            chain(then, tasks);
            chain(otherwise, tasks);
        }
        _ => {}
    }
}

/// The task that a step activates, if it is chained.
fn chained(step: &Step, tasks: &BTreeSet<usize>) -> Option<usize> {
    match step {
        Step::Activate { task } => tasks.get(task).copied(),
        _ => None,
    }
}

/// Whether no way goes past the end of steps.
fn ends(steps: &[Step]) -> bool {
    match steps.last() {
        Some(Step::Chain { .. } | Step::Terminate) => true,
        Some(Step::Turns { of }) => of.items().iter().all(|steps| ends(steps)),
        Some(Step::Branch { then, otherwise, .. }) => ends(then) && ends(otherwise),
        _ => false,
    }
}
