//! The stimuli from outside: who releases what. Not what a model has for them (see `sources`).

use std::collections::BTreeMap;

use super::Assembly;
use crate::btf::NameId;
use crate::reconstruct::body::Item;
use crate::reconstruct::observe::{Release, Target};
use crate::reconstruct::sources::{Source, Sources};
use crate::simulate::model::Action;

impl Assembly<'_> {
    /// Stimuli from outside.
    pub(super) fn releases(&mut self) {
        let mut sources = Vec::new();
        for ((stimulus, target), releases) in &self.seen.releases {
            let mut releases = releases.clone();
            let same = self.seen.releases.keys().filter(|(other, _)| other == stimulus).count();
            // Nothing was seen of these, but there is only one thing that they can have done.
            if let Some(orphans) = self.seen.orphans.get(stimulus).filter(|_| same == 1) {
                releases.extend(orphans.iter().cloned());
                releases.sort_by_key(|release| release.at);
            }
            let (Target::Activate(task) | Target::SetEvent(task, _)) = *target;
            let Some(action) = self.action(*target) else { continue };
            let core = self.home.get(&task).copied();
            // An urgent timer does it itself.
            if let (Some(core), Target::Activate(_)) = (core, target)
                && let Some(isr) = self.system.urgent.get(&core)
            {
                releases.retain(|release| begin_of(release, core, *isr).is_none());
            }
            let at = releases.iter().map(|release| {
                let timer = core.and_then(|core| Some((core, self.system.timers.get(&core)?)));
                let tick = timer.and_then(|(core, timer)| {
                    begin_of(release, core, timer.isr).map(|begin| timer.number(begin))
                });
                (release.at - self.system.zero, tick)
            });
            let at = at.collect();
            let text = self.text(*stimulus);
            let name = if *stimulus == task { format!("STI_{text}") } else { text.to_owned() };
            sources.push(Source { name, action, core, at });
        }
        sources.extend(self.events_of_timers());
        for (name, place) in &self.places.tasks {
            let Some(event) = self.places.wakes.get(place).copied() else { continue };
            let Some(process) = self.seen.processes.get(&(*name, None)) else { continue };
            let at = process.wakes.iter().map(|at| (at - self.system.zero, None)).collect();
            let action = Action::SetEvent { task: *place, event };
            sources.push(Source { name: format!("WAKE_{}", self.text(*name)), action, core: None, at });
        }
        let Self { model, namer, evidence, system, .. } = self;
        Sources { model, namer, evidence, system }.add(sources);
    }

    /// The events that timers set: a version of BTF has no words for the alarms.
    pub(super) fn events_of_timers(&self) -> Vec<Source> {
        /// Instants, with their ticks.
        type Times = Vec<(i64, Option<i64>)>;
        let mut all: BTreeMap<(NameId, NameId, NameId), Times> = BTreeMap::new();
        for (core, timer) in &self.system.timers {
            let Some(process) = self.seen.processes.get(&(timer.isr, Some(*core))) else { continue };
            for run in process.body.runs() {
                let Some(begin) = run.gaps.first().map(|gap| gap.at) else { continue };
                for item in &run.items {
                    let Item::SetEvent(task, set) = item else { continue };
                    for event in self.seen.sets.names(*set) {
                        let at = (begin - self.system.zero, Some(timer.number(begin)));
                        all.entry((*core, *task, *event)).or_default().push(at);
                    }
                }
            }
        }
        let sources = all.into_iter().filter_map(|((core, task, event), at)| {
            let action = self.action(Target::SetEvent(task, event))?;
            let name = format!("ALARM_{}_{}", self.text(task), self.text(event));
            Some(Source { name, action, core: Some(core), at })
        });
        sources.collect()
    }

    pub(super) fn action(&self, target: Target) -> Option<Action> {
        Some(match target {
            Target::Activate(task) => Action::Activate { task: *self.places.tasks.get(&task)? },
            Target::SetEvent(task, event) => {
                let (task, event) = (*self.places.tasks.get(&task)?, *self.places.events.get(&event)?);
                Action::SetEvent { task, event }
            }
        })
    }
}

/// When an ISR of a core began in which a stimulus acts.
pub(super) fn begin_of(release: &Release, core: NameId, isr: NameId) -> Option<i64> {
    release.isrs.iter().find(|(of, name, _)| *of == core && *name == isr).map(|(.., begin)| *begin)
}
