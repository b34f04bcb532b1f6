//! Gaps in the traces of CPUs (rule K12 of docs/mapping.md): tasks move, so that a gap of one CPU hides what
//! becomes of each task that no other CPU runs. Not what the events between gaps mean (see `rules`).

use super::rules::Rules;
use crate::btf::{Actor, EntityType, NameId};
use crate::map::{Gap, Output};
use std::collections::BTreeSet;

impl Rules {
    /// Rule K12: nothing is known in a gap, and what comes behind it is as at the begin of a recording.
    pub fn gap(&mut self, gap: &Gap) {
        self.end_gaps(gap.begin);
        self.gaps.push(gap.clone());
        let cores = self.cut(gap, gap.begin);
        self.processes.hide(gap, &cores);
    }

    /// What is seen in a gap says nothing of the time behind it, unless it runs on another CPU then.
    pub fn end_gaps(&mut self, time: i64) {
        loop {
            let ended = self.gaps.iter().enumerate().filter(|(_, gap)| gap.end <= time);
            let Some(first) = ended.min_by_key(|(_, gap)| gap.end).map(|(n, _)| n) else { return };
            let gap = self.gaps.remove(first);
            self.cut(&gap, gap.end);
        }
    }

    /// A task that leaves its CPU, or could run, may do that unseen on a CPU in a gap. `first` is the place
    /// of the first output of this instant.
    pub fn hide(&mut self, first: usize, time: i64) {
        if self.gaps.is_empty() {
            return;
        }
        let held = self.held();
        self.decisions.forget_but(&held);
        let held: BTreeSet<Actor> = held
            .into_iter()
            .filter_map(|task| {
                let p = self.process(task);
                self.processes.actor(p)
            })
            .collect();
        let moved = self.processes.out.iter().skip(first).filter_map(|output| match output {
            Output::Event(event) if event.target_type == EntityType::Task => {
                Some((event.target, event.target_instance))
            }
            Output::Known(known) if known.kind == EntityType::Task => Some(known.process),
            _ => None,
        });
        let lost: BTreeSet<Actor> = moved.filter(|actor| !held.contains(actor)).collect();
        self.processes.out.extend(lost.into_iter().map(|process| Output::Lost { process, time }));
    }

    /// Cuts what is open: on the CPUs of the gap, and of the tasks that no other CPU runs. Returns the cores
    /// of the gap.
    fn cut(&mut self, gap: &Gap, time: i64) -> BTreeSet<NameId> {
        let mut cores = BTreeSet::new();
        for cpu in self.cpus.values_mut() {
            if is_of(gap, self.processes.names.text(cpu.core)) {
                cores.insert(cpu.core);
                (cpu.task, cpu.is_interrupted) = (None, false);
                cpu.isrs.clear();
            }
        }
        let held = self.held();
        self.callbacks.retain(|thread, _| held.contains(thread));
        self.ended.clear();
        self.pending.retain(|task| held.contains(task));
        self.uses.forget();
        self.decisions.forget_but(&held);
        let held: BTreeSet<usize> = held.into_iter().map(|task| self.process(task)).collect();
        let Some(any) = self.cpus.values().next().map(|cpu| cpu.core) else { return cores };
        let all = self.processes.all();
        let is_concerned = |p: &usize| {
            all.get(*p).is_some_and(|process| match process.is_isr {
                true => process.core.is_none_or(|core| cores.contains(&core)),
                false => !held.contains(p),
            })
        };
        let concerned: BTreeSet<usize> = self.processes.known().filter(is_concerned).collect();
        self.requested.retain(|(p, _), _| !concerned.contains(p));
        for p in concerned {
            self.processes.cut(p, time, any);
        }
        cores
    }

    /// The tasks that CPUs have whose traces are whole, also while ISRs interrupt them.
    fn held(&self) -> BTreeSet<u64> {
        let is_whole = |core: NameId| {
            let name = self.processes.names.text(core);
            !self.gaps.iter().any(|gap| is_of(gap, name))
        };
        self.cpus.values().filter(|cpu| is_whole(cpu.core)).filter_map(|cpu| cpu.task).collect()
    }
}

/// Whether the trace of a core has the gap.
fn is_of(gap: &Gap, core: &str) -> bool {
    gap.core.as_deref().is_none_or(|name| name == core)
}
