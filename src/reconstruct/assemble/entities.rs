//! The cores, runnables, signals and events of a model. Not tasks, ISRs and locks.

use std::collections::{BTreeMap, BTreeSet};

use super::{Assembly, Detail, MOST_EVENTS};
use crate::btf::NameId;
use crate::reconstruct::body::{Body, Item};
use crate::reconstruct::observe::Target;
use crate::simulate::model::{Core, Event, Runnable, Signal};

impl Assembly<'_> {
    pub(super) fn cores(&mut self) {
        let used = self.seen.processes.values().flat_map(|process| process.cores.keys().copied());
        let of_isrs = self.seen.processes.keys().filter_map(|(_, core)| *core);
        let used: BTreeSet<NameId> = used.chain(of_isrs).collect();
        let mut used: Vec<(&str, NameId)> = used.into_iter().map(|core| (self.text(core), core)).collect();
        used.sort_unstable();
        for (name, core) in used {
            self.cores.insert(core, self.model.cores.len());
            self.model.cores.push(Core { name: self.namer.name(name) });
        }
        if self.model.cores.is_empty() {
            self.model.cores.push(Core { name: self.namer.name("Core_0") });
        }
    }

    pub(super) fn runnables(&mut self) {
        if self.detail == Detail::OnlyTimes {
            return;
        }
        let mut all: Vec<(&str, NameId)> =
            self.seen.runnables.keys().map(|name| (self.text(*name), *name)).collect();
        all.sort_unstable();
        for (text, id) in all {
            let name = self.namer.name(text);
            self.places.runnables.insert(id, self.model.runnables.len());
            self.model.runnables.push(Runnable { name, steps: Vec::new() });
        }
    }

    pub(super) fn signals(&mut self) {
        if self.detail == Detail::OnlyTimes {
            return;
        }
        let mut all: Vec<(&str, NameId)> =
            self.seen.signals.iter().map(|name| (self.text(*name), *name)).collect();
        all.sort_unstable();
        for (text, id) in all {
            let name = self.namer.name(text);
            self.places.signals.insert(id, self.model.signals.len());
            let always = self.seen.written.get(&id).filter(|(_, same, count)| *same && *count > 1);
            if let Some(value) = always.and_then(|(value, ..)| u32::try_from(*value).ok()) {
                self.places.values.insert(id, value);
            }
            self.model.signals.push(Signal { name, initial: 0 });
        }
    }

    /// The events of the tasks, with bits.
    pub(super) fn events(&mut self) {
        let mut of_task: BTreeMap<usize, BTreeSet<NameId>> = BTreeMap::new();
        for (name, place) in &self.places.tasks {
            let events = of_task.entry(*place).or_default();
            self.own_events(*name, events);
        }
        let bodies =
            self.seen.processes.values().map(|process| &process.body).chain(self.seen.runnables.values());
        for (task, set) in bodies.flat_map(Body::items).filter_map(|item| match item {
            Item::SetEvent(task, set) => Some((task, set)),
            _ => None,
        }) {
            if let Some(place) = self.places.tasks.get(&task) {
                of_task.entry(*place).or_default().extend(self.seen.sets.names(set));
            }
        }
        for (_, target) in self.seen.releases.keys() {
            if let Target::SetEvent(task, event) = target
                && let Some(place) = self.places.tasks.get(task)
            {
                of_task.entry(*place).or_default().insert(*event);
            }
        }
        if self.detail != Detail::OnlyTimes {
            self.masks(&of_task);
        }
        for (name, place) in &self.places.tasks {
            let wakes =
                self.seen.processes.get(&(*name, None)).is_some_and(|process| !process.wakes.is_empty());
            let Some(task) = self.model.tasks.get_mut(*place).filter(|_| wakes) else { continue };
            let taken: u32 =
                task.events.iter().filter_map(|ix| self.model.events.get(*ix)).fold(0, |m, e| m | e.mask);
            let Some(bit) = (0..32).map(|bit| 1u32 << bit).find(|bit| taken & bit == 0) else { continue };
            task.events.push(self.model.events.len());
            self.places.wakes.insert(*place, self.model.events.len());
            self.model
                .events
                .push(Event { name: self.namer.name(&format!("WAKE_{}", task.name)), mask: bit });
        }
        // An extended task has one activation.
        self.model
            .tasks
            .iter_mut()
            .filter(|task| !task.events.is_empty())
            .for_each(|task| task.activations = 1);
    }

    /// The events that a task waits for or clears, also in runnables.
    pub(super) fn own_events(&self, task: NameId, events: &mut BTreeSet<NameId>) {
        let Some(process) = self.seen.processes.get(&(task, None)) else { return };
        let mut bodies = vec![&process.body];
        let mut called: BTreeSet<NameId> = BTreeSet::new();
        while let Some(body) = bodies.pop() {
            for item in body.items() {
                match item {
                    Item::Wait(set) | Item::ClearEvent(set) => events.extend(self.seen.sets.names(set)),
                    Item::Call(name) if called.insert(name) => bodies.extend(self.seen.runnables.get(&name)),
                    _ => {}
                }
            }
        }
    }

    /// Gives each event a bit that no other event of its tasks has.
    pub(super) fn masks(&mut self, of_task: &BTreeMap<usize, BTreeSet<NameId>>) {
        let all: BTreeSet<NameId> = of_task.values().flatten().copied().collect();
        let mut all: Vec<(&str, NameId)> =
            all.into_iter().map(|name| (self.names.text(name), name)).collect();
        all.sort_unstable();
        let mut masks: BTreeMap<NameId, u32> = BTreeMap::new();
        for (text, id) in all {
            let tasks = of_task.iter().filter(|(_, events)| events.contains(&id));
            let others = tasks.clone().flat_map(|(_, events)| events).filter(|other| **other != id);
            let taken = others.filter_map(|other| masks.get(other)).fold(0, |all, mask| all | mask);
            let free = |mask: &u32| mask.count_ones() == 1 && taken & mask == 0;
            let hint = self.facts.hint(id).mask.filter(free);
            let Some(mask) = hint.or_else(|| (0..MOST_EVENTS).map(|bit| 1u32 << bit).find(free)) else {
                continue;
            };
            masks.insert(id, mask);
            self.places.events.insert(id, self.model.events.len());
            for (place, _) in tasks {
                if let Some(task) = self.model.tasks.get_mut(*place) {
                    task.events.push(self.model.events.len());
                }
            }
            self.model.events.push(Event { name: self.namer.name(text), mask });
        }
    }
}
