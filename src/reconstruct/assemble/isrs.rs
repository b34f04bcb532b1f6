//! The ISRs of the application. Not those that stand for a stimulus (see `sources`).

use std::collections::BTreeMap;

use super::releases::begin_of;
use super::{Assembly, REMOTE, TIMER};
use crate::btf::NameId;
use crate::reconstruct::arrivals;
use crate::reconstruct::bodies::{self};
use crate::reconstruct::body::{Item, Run};
use crate::reconstruct::evidence::{Confidence, Evidence};
use crate::reconstruct::observe::{Process, Target};
use crate::reconstruct::priorities::{Order, Rank};
use crate::reconstruct::sources::arrived;
use crate::reconstruct::steps::Owner;
use crate::simulate::model::Isr;

impl Assembly<'_> {
    /// The ISRs of the application.
    pub(super) fn isrs(&mut self) {
        let seen = self.seen;
        let mut all: Vec<(&str, NameId, NameId, &Process)> = seen
            .processes
            .iter()
            .filter_map(|((name, core), process)| Some((self.text(*name), *name, (*core)?, process)))
            .filter(|(_, name, core, _)| !self.system.has(*name, *core))
            .collect();
        all.sort_unstable_by_key(|(text, _, core, _)| (*text, *core));
        let ranks = self.isr_ranks();
        for (text, id, core, process) in all {
            let instants: Vec<i64> = process.activations.iter().map(|at| at - self.system.zero).collect();
            let Some((arrivals, fit)) = arrivals::of_instants(&instants, self.system.duration) else {
                continue;
            };
            let name = self.namer.name(text);
            arrived(&mut self.evidence, &name, &arrivals, fit, instants.len() as u64);
            let mut runs = process.body.runs();
            if self.system.urgent.get(&core) == Some(&id) {
                self.with_stimuli(core, id, &mut runs);
            }
            runs.iter_mut().for_each(|run| self.without_entry(run));
            self.simplify(&mut runs);
            let parts = bodies::parts(&bodies::with_cut(&runs, &process.body.cut));
            let steps = self.places.steps(&parts, Owner::Isr, &seen.sets);
            self.times("isr", name.clone(), &runs, &parts);
            let priority = ranks.get(&(core, id)).map_or(1, |rank| rank.priority);
            let samples = ranks.get(&(core, id)).map_or(0, |rank| rank.agree);
            let confidence = if samples == 0 { Confidence::Assumed } else { Confidence::Observed };
            let (value, note) = (priority.to_string(), String::new());
            let entity = name.clone();
            self.note(Evidence { kind: "isr", entity, what: "priority", value, samples, confidence, note });
            let core = self.cores.get(&core).copied().unwrap_or(0);
            self.model.isrs.push(Isr { name, core, category1: false, priority, arrivals, steps });
        }
    }

    /// Gives the executions of a timer that is an ISR of the model what its alarms do.
    pub(super) fn with_stimuli(&self, core: NameId, isr: NameId, runs: &mut [Run]) {
        let mut acts: BTreeMap<i64, Vec<(i64, NameId)>> = BTreeMap::new();
        for ((_, target), releases) in &self.seen.releases {
            let Target::Activate(task) = *target else { continue };
            for release in releases.iter().filter(|_| self.home.get(&task) == Some(&core)) {
                if let Some(begin) = begin_of(release, core, isr) {
                    acts.entry(begin).or_default().push((release.at, task));
                }
            }
        }
        for run in runs {
            let Some(begin) = run.gaps.first().map(|gap| gap.at) else { continue };
            let mut acts = acts.remove(&begin).unwrap_or_default();
            acts.sort_unstable();
            for (at, task) in acts {
                bodies::insert(run, at, Item::Activate(task));
            }
        }
    }

    /// A simulated ISR has its entry and exit in addition to its steps.
    pub(super) fn without_entry(&self, run: &mut Run) {
        let mut rest = 2 * self.system.interrupt;
        for gap in &mut run.gaps {
            let part = gap.net.min(rest);
            gap.net -= part;
            rest -= part;
        }
    }

    /// The order of the ISRs of each core, by who interrupts whom. The handlers of a simulated kernel have
    /// priorities that cannot be chosen.
    pub(super) fn isr_ranks(&self) -> BTreeMap<(NameId, NameId), Rank> {
        let mut all = BTreeMap::new();
        for core in self.cores.keys() {
            let here: Vec<NameId> = self
                .seen
                .processes
                .keys()
                .filter(|(_, of)| of.as_ref() == Some(core))
                .map(|(name, _)| *name)
                .collect();
            let place = |name: &NameId| here.iter().position(|other| other == name);
            let nests = self.seen.contention.nests.iter().filter(|((of, ..), _)| of == core);
            let wins =
                nests.filter_map(|((_, high, low), n)| Some(((place(high)?, place(low)?), *n))).collect();
            let order = Order { wins, ..Order::default() };
            let beats = |high: NameId, low: Option<NameId>| {
                low.is_some_and(|low| self.seen.contention.nests.contains_key(&(*core, high, low)))
            };
            let timer = self.system.timers.get(core).map(|timer| timer.isr);
            let remote = self.system.remotes.get(core).copied();
            for (name, mut rank) in here.iter().zip(order.ranks(here.len())) {
                if beats(*name, timer) {
                    rank.priority = rank.priority.max(TIMER + 1);
                }
                let is_below = remote.is_some_and(|remote| beats(remote, Some(*name)));
                if beats(*name, remote) {
                    rank.priority = rank.priority.max(REMOTE + 1);
                } else if is_below {
                    rank.priority = rank.priority.min(REMOTE - 1);
                }
                all.insert((*core, *name), rank);
            }
        }
        all
    }
}
