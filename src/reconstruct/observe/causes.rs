//! Where activations come from: stimuli, processes, and other cores.

use super::live::Live;
use super::{Key, Observer, Release, TRIGGERS, Target, Trigger};
use crate::btf::{Action, EntityType, Event, NameId, State};
use crate::reconstruct::body::Item;

impl Observer {
    pub(super) fn trigger(&mut self, event: &Event) {
        let trigger = match self.acting(event.source, event.source_instance) {
            Some(key) if event.source != event.target => {
                let Some(live) = self.live.get_mut(&key) else { return };
                live.step(event.time, Item::Nothing, false);
                let place = live.frames.last().map_or(0, |frame| frame.items.len().saturating_sub(1));
                Trigger::By { key, depth: live.frames.len(), place, at: event.time }
            }
            _ => {
                let release = self.release(event.time);
                self.orphans.entry(event.target).or_default().push(release.clone());
                Trigger::Outside(release)
            }
        };
        let triggers = self.triggers.entry(event.target).or_default();
        triggers.push_back((event.target_instance, trigger));
        if triggers.len() > TRIGGERS {
            triggers.pop_front();
        }
    }

    /// The ISRs that run now.
    pub(super) fn release(&self, at: i64) -> Release {
        let running = self.cores.iter().filter_map(|(core, (key, _))| Some((*core, (*key)?)));
        let isrs = running.filter_map(|(core, key)| {
            let live = self.live.get(&key).filter(|live| live.kind == EntityType::Isr)?;
            Some((core, key.0, live.started))
        });
        Release { at, isrs: isrs.collect() }
    }

    pub(super) fn find_trigger(&self, stimulus: NameId, instance: i64) -> Option<Trigger> {
        let triggers = self.triggers.get(&stimulus)?;
        triggers.iter().rev().find(|(number, _)| *number == instance).map(|(_, trigger)| trigger.clone())
    }

    pub(super) fn activate(&mut self, event: &Event) {
        let (name, at) = (event.target, event.time);
        let refused = event.action == Action::MtaLimitExceeded;
        self.kinds.insert(name, event.target_type);
        if !refused {
            self.replace((name, event.target_instance));
        }
        if event.target_type == EntityType::Task {
            let process = self.processes.entry((name, None)).or_default();
            if refused {
                process.refused += 1;
            } else {
                process.activations.push(at);
                process.active += 1;
                // A task that chains itself has two instances for a moment.
                let own =
                    self.live.iter_mut().find(|(key, live)| key.0 == name && live.state == State::Running);
                match own {
                    Some((_, live)) => live.again = Some(process.active),
                    None => process.most = process.most.max(process.active),
                }
            }
            self.caused(event, Target::Activate(name));
        }
        if event.target_type == EntityType::Isr
            && let Some(orphans) = self.orphans.get_mut(&event.source)
        {
            orphans.pop();
        }
        if !refused {
            let live = Live::new(event.target_type, at, false);
            self.live.insert((name, event.target_instance), live);
        }
    }

    /// Puts an activation where it comes from: into the steps of a process, or to the outside stimuli.
    pub(super) fn caused(&mut self, event: &Event, target: Target) {
        match self.find_trigger(event.source, event.source_instance) {
            Some(Trigger::Outside(release)) => self.acted(event.source, target, release, event.time),
            Some(Trigger::By { key, depth, place, at }) => {
                let served = self.served(key, at);
                let Some(live) = self.live.get_mut(&key) else { return };
                let Target::Activate(task) = target else { return };
                let frame = live.frames.get_mut(depth.saturating_sub(1));
                match frame.and_then(|frame| frame.items.get_mut(place)) {
                    Some(item) if *item == Item::Nothing => *item = Item::Activate(task),
                    _ => live.step(event.time, Item::Activate(task), false),
                }
                if let Some((core, _, begin)) = served {
                    // The caller waits meanwhile.
                    live.mark = (live.net_at(event.time), event.time);
                    self.calls.push(begin - at);
                    self.serves(core);
                }
            }
            None => match self.acting(event.source, event.source_instance) {
                Some(key) => {
                    if let (Some(live), Target::Activate(task)) = (self.live.get_mut(&key), target) {
                        live.step(event.time, Item::Activate(task), false);
                    }
                }
                None => self.acted(event.source, target, self.release(event.time), event.time),
            },
        }
    }

    /// A stimulus does something from outside.
    pub(super) fn acted(&mut self, stimulus: NameId, target: Target, release: Release, at: i64) {
        if let Some(orphans) = self.orphans.get_mut(&stimulus)
            && let Some(place) = orphans.iter().rposition(|orphan| orphan.at == release.at)
        {
            orphans.remove(place);
        }
        let (Target::Activate(task) | Target::SetEvent(task, _)) = target;
        let home = self.contention.home(task);
        let of_home = |core: &NameId| home.is_none_or(|home| home == *core);
        for (_, (key, _)) in self.cores.iter().filter(|(core, _)| of_home(core)) {
            let Some(live) = key.and_then(|key| self.live.get_mut(&key)) else { continue };
            // An ISR that began after the trigger serves a call of another core.
            live.called |= live.started > release.at;
            live.acts = (live.started <= release.at).then_some(at);
        }
        self.releases.entry((stimulus, target)).or_default().push(release);
    }

    /// The stimulus that sets an event: before 2.2.0, BTF has no words for it, so that it is the last one of
    /// which nothing has followed; first of all one that has set this event before.
    pub(super) fn unnamed(&self, target: Target) -> Option<(NameId, Release)> {
        let last = self.orphans.iter().filter_map(|(stimulus, all)| Some((*stimulus, all.last()?)));
        let known = |stimulus: NameId| self.releases.contains_key(&(stimulus, target));
        let (stimulus, release) = last.max_by_key(|(stimulus, release)| (known(*stimulus), release.at))?;
        Some((stimulus, release.clone()))
    }

    /// The ISR of another core that serves a call that a process made at `since`.
    pub(super) fn served(&self, caller: Key, since: i64) -> Option<(NameId, NameId, i64)> {
        let own =
            self.cores.iter().find(|(_, (running, _))| *running == Some(caller)).map(|(core, _)| *core)?;
        let now = self.release(since).isrs.into_iter();
        now.filter(|(core, _, begin)| *core != own && *begin >= since).min_by_key(|(.., begin)| *begin)
    }

    /// The ISR that a core runs serves a call of another core.
    pub(super) fn serves(&mut self, core: NameId) {
        if let Some(live) =
            self.cores.get(&core).and_then(|(key, _)| *key).and_then(|key| self.live.get_mut(&key))
        {
            live.called = true;
        }
    }
}
