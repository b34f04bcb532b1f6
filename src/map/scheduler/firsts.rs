//! What each CPU ran when the recording began, which its first switch says (rule K14 of docs/mapping.md): it
//! is looked up in advance. Not what it ran from then on (see `rules`).

use super::occurrences::{Occurrence, What};
use super::rules::core_name;
use crate::map::Gap;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

/// The first switches of the CPUs.
#[derive(Debug, Default)]
pub(super) struct Firsts {
    /// The task that each CPU ran; `None`: none, or that is not known.
    cpus: BTreeMap<i64, Option<u64>>,
    /// Tasks of which something was said.
    seen: BTreeSet<u64>,
    /// Cores whose traces have had a gap.
    cut: BTreeSet<String>,
    /// The traces of all cores have had one.
    all_are_cut: bool,
}

impl Firsts {
    /// Learns from an event before it is mapped.
    pub fn learn(&mut self, occurrence: &Occurrence) {
        match &occurrence.what {
            What::Create(said) | What::Ready(said) | What::Run(said) => drop(self.seen.insert(said.task)),
            What::Switch { from, to, .. } => {
                if let Entry::Vacant(first) = self.cpus.entry(occurrence.cpu) {
                    let is_cut = self.all_are_cut || self.cut.contains(&core_name(occurrence.cpu));
                    let task = from.as_ref().map(|said| said.task).filter(|_| !is_cut);
                    // Of a task that was made, or woken, since then, something else was lost.
                    first.insert(task.filter(|task| !self.seen.contains(task)));
                }
                self.seen.extend(from.iter().chain(to).map(|said| said.task));
            }
            _ => {}
        }
    }

    /// Of a CPU that has not switched yet, it is not known what it ran before the gap.
    pub fn gap(&mut self, gap: &Gap) {
        match &gap.core {
            Some(core) => drop(self.cut.insert(core.clone())),
            None => self.all_are_cut = true,
        }
    }

    /// CPUs and the tasks that they ran.
    pub fn known(&self) -> impl Iterator<Item = (i64, u64)> {
        self.cpus.iter().filter_map(|(cpu, task)| Some((*cpu, (*task)?)))
    }
}
