//! The tasks of a model, with their priorities and how they are preempted. Not what they do (see `contents`).

use std::collections::{BTreeMap, BTreeSet};

use super::{Assembly, MOST_PRIORITIES};
use crate::btf::{EntityType, NameId};
use crate::reconstruct::Hint;
use crate::reconstruct::evidence::{Confidence, Evidence};
use crate::reconstruct::observe::Process;
use crate::reconstruct::priorities::{Order, Rank};
use crate::simulate::model::Task;

impl Assembly<'_> {
    /// The tasks with their priorities, without steps.
    pub(super) fn tasks(&mut self) {
        let seen = self.seen;
        let of_model = |((name, core), _): &(&(NameId, Option<NameId>), &Process)| {
            core.is_none() && seen.kinds.get(name) == Some(&EntityType::Task)
        };
        let mut tasks: Vec<(&str, NameId, &Process)> = seen
            .processes
            .iter()
            .filter(of_model)
            .map(|((name, _), process)| (self.names.text(*name), *name, process))
            .collect();
        tasks.sort_unstable_by_key(|(text, ..)| *text);
        for (place, (_, name, _)) in tasks.iter().enumerate() {
            self.places.tasks.insert(*name, place);
        }
        let ranks = self.ranks(tasks.len());
        for ((text, id, process), rank) in tasks.into_iter().zip(ranks) {
            let name = self.namer.name(text);
            let hint = self.facts.hint(id);
            let core = self.home.get(&id).and_then(|core| self.cores.get(core)).copied().unwrap_or(0);
            let most = u32::try_from(process.most.max(1)).unwrap_or(u32::MAX);
            let activations = hint.activations.unwrap_or(most);
            let priority = hint.priority.unwrap_or(rank.priority);
            self.task_evidence(&name, process, rank, priority, activations, &hint);
            self.model.tasks.push(Task {
                name,
                core,
                priority,
                activations,
                preemptable: hint.preemptable.unwrap_or(true),
                group: None,
                autostart: false,
                events: Vec::new(),
                steps: Vec::new(),
            });
        }
        if let Some(first) = self.model.tasks.iter().map(|task| task.priority).reduce(u32::max)
            && first > MOST_PRIORITIES
        {
            self.squeeze();
        }
    }

    /// Numbers priorities again, so that they are few enough.
    pub(super) fn squeeze(&mut self) {
        let all: BTreeSet<u32> = self.model.tasks.iter().map(|task| task.priority).collect();
        let count = u32::try_from(all.len()).unwrap_or(u32::MAX).max(1);
        let number: BTreeMap<u32, u32> = (0u32..)
            .zip(all)
            .map(|(ix, priority)| (priority, 1 + ix * MOST_PRIORITIES.min(count) / count))
            .collect();
        for task in &mut self.model.tasks {
            task.priority = number.get(&task.priority).copied().unwrap_or(1);
        }
    }

    pub(super) fn task_evidence(
        &mut self,
        name: &str,
        process: &Process,
        rank: Rank,
        priority: u32,
        activations: u32,
        hint: &Hint,
    ) {
        let count = process.activations.len() as u64;
        let mut of = |what, value: String, samples, confidence, note: String| {
            let entity = name.to_owned();
            self.evidence.push(Evidence { kind: "task", entity, what, value, samples, confidence, note });
        };
        let observed = Confidence::Observed;
        of("activated", String::new(), count, observed, format!("{} ended", process.ended));
        if process.cores.len() > 1 {
            let note = format!(
                "it runs on {} cores; the model has the one where it runs longest",
                process.cores.len()
            );
            of("core", String::new(), 0, observed, note);
        }
        let (samples, confidence) = match (hint.priority, rank.agree) {
            (Some(_), _) => (0, Confidence::Described),
            (None, 0) => (0, Confidence::Assumed),
            (None, agree) => (agree, observed),
        };
        let note = match rank.differ {
            0 => String::new(),
            differ => format!("{differ} meetings say otherwise"),
        };
        of("priority", priority.to_string(), samples, confidence, note);
        let (confidence, note) = match (hint.activations, process.refused) {
            (Some(_), _) => (Confidence::Described, String::new()),
            (None, 0) => (observed, "the most at a time; more may be allowed".to_owned()),
            (None, refused) => (Confidence::Exact, format!("{refused} more were refused")),
        };
        of("activations", activations.to_string(), count, confidence, note);
        for (what, way) in [("ways", process.body.ways())] {
            if way > 1 {
                of(
                    what,
                    way.to_string(),
                    process.body.count() as u64,
                    observed,
                    "sequences of steps".to_owned(),
                );
            }
        }
    }

    /// The order of the tasks of each core, by their contention.
    pub(super) fn ranks(&self, tasks: usize) -> Vec<Rank> {
        let place = |name: &NameId| self.places.tasks.get(name).copied();
        let edges = |of: &BTreeMap<(NameId, NameId), u64>| -> BTreeMap<(usize, usize), u64> {
            of.iter().filter_map(|((one, other), n)| Some(((place(one)?, place(other)?), *n))).collect()
        };
        let contention = &self.seen.contention;
        let wins = edges(&contention.wins);
        // What was never preempted by another task, and kept the core all the same, says nothing.
        let never = |task: &NameId| !contention.preempted.contains_key(task) && self.passes(*task);
        let stays = contention
            .stays
            .iter()
            .filter(|((stays, _), _)| !never(stays))
            .map(|(pair, n)| (*pair, *n))
            .collect();
        Order { wins, stays: edges(&stays) }.ranks(tasks)
    }

    /// Whether a task kept its core although a task was ready that goes first elsewhere.
    pub(super) fn passes(&self, task: NameId) -> bool {
        let contention = &self.seen.contention;
        contention.stays.keys().any(|(stays, ready)| {
            *stays == task && contention.wins.get(&(*ready, task)) > contention.wins.get(&(task, *ready))
        })
    }

    /// Tasks that no other one ever takes the core from, although one was ready that goes first.
    pub(super) fn unpreempted(&mut self) {
        for (name, place) in &self.places.tasks {
            let is_never = !self.seen.contention.preempted.contains_key(name) && self.passes(*name);
            let Some(task) = self.model.tasks.get_mut(*place) else { continue };
            if !is_never || self.facts.hint(*name).preemptable.is_some() {
                continue;
            }
            task.preemptable = false;
            let stays = self.seen.contention.stays.iter().filter(|((of, _), _)| of == name);
            self.evidence.push(Evidence {
                kind: "task",
                entity: task.name.clone(),
                what: "preemption",
                value: "non".to_owned(),
                samples: stays.map(|(_, n)| n).sum(),
                confidence: Confidence::Observed,
                note: "it kept the core although a task that goes first was ready".to_owned(),
            });
        }
    }
}
