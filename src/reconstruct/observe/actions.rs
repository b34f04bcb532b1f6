//! What processes do: runnables, signals, events and locks.

use super::live::Frame;
use super::{Key, Observer, Target, Trigger};
use crate::btf::{Action, Event, NameId, Note, State};
use crate::reconstruct::body::Item;

impl Observer {
    pub(super) fn runnable(&mut self, event: &Event) {
        let begins = match event.action {
            Action::Start => true,
            Action::Terminate => false,
            _ => return,
        };
        let Some(key) = self.acting(event.source, event.source_instance) else {
            return self.unused("runnable of an unknown process");
        };
        if begins {
            let Some(live) = self.live.get_mut(&key) else { return };
            live.step(event.time, Item::Call(event.target), false);
            let cut = live.cut;
            let frame = Frame { runnable: Some(event.target), items: Vec::new(), gaps: Vec::new(), cut };
            live.frames.push(frame);
            self.runnables.entry(event.target).or_default();
            return;
        }
        let Some(mut live) = self.live.remove(&key) else { return };
        if live.frames.iter().any(|frame| frame.runnable == Some(event.target)) {
            while let Some(runnable) = live.frames.last().and_then(|frame| frame.runnable) {
                self.close(&mut live, event.time);
                if runnable == event.target {
                    break;
                }
            }
        } else {
            self.unused("end of a runnable that has not begun");
        }
        self.live.insert(key, live);
    }

    pub(super) fn signal(&mut self, event: &Event) {
        let item = match event.action {
            Action::Read => Item::Read(event.target),
            Action::Write => Item::Write(event.target),
            _ => return self.unused("signal"),
        };
        self.signals.insert(event.target);
        if let (Action::Write, Note::Value(value)) = (event.action, event.note) {
            let written = self.written.entry(event.target).or_insert((value, true, 0));
            written.1 &= written.0 == value;
            written.2 += 1;
        }
        self.step(event, item);
    }

    pub(super) fn step(&mut self, event: &Event, item: Item) {
        match self.acting(event.source, event.source_instance).and_then(|key| self.live.get_mut(&key)) {
            Some(live) => live.step(event.time, item, false),
            None => self.unused("step of an unknown process"),
        }
    }

    pub(super) fn os_event(&mut self, event: &Event) {
        let name = event.target;
        let actor = self.acting(event.source, event.source_instance);
        match event.action {
            Action::WaitEvent => {
                let Some(live) = actor.and_then(|key| self.live.get_mut(&key)) else { return };
                live.awaits.push(name);
            }
            Action::ClearEvent => {
                let Some(live) = actor.and_then(|key| self.live.get_mut(&key)) else { return };
                let set = self.sets.with(
                    live.joined(event.time, |item| match item {
                        Item::ClearEvent(set) => Some(set),
                        _ => None,
                    }),
                    name,
                );
                live.step(event.time, Item::ClearEvent(set), false);
            }
            Action::SetEvent => {
                let Note::Name(task) = event.note else { return self.unused("event without a task") };
                self.set_event(event, actor, task);
            }
            _ => self.unused("event"),
        }
    }

    pub(super) fn set_event(&mut self, event: &Event, actor: Option<Key>, task: NameId) {
        let (at, name) = (event.time, event.target);
        let target = Target::SetEvent(task, name);
        if let Some(Trigger::Outside(release)) = self.find_trigger(event.source, event.source_instance) {
            return self.acted(event.source, target, release, at);
        }
        let Some(key) = actor else {
            let (stimulus, release) =
                self.unnamed(target).unwrap_or_else(|| (event.source, self.release(at)));
            return self.acted(stimulus, target, release, at);
        };
        // The task is of another core if an ISR there sets the event, since this process runs.
        let mark = self.live.get(&key).map_or(at, |live| live.mark.1.max(live.since));
        let served = self.served(key, mark).filter(|(core, ..)| self.is_on(task, *core));
        let Some(live) = self.live.get_mut(&key) else { return };
        let before = live.joined(at, |item| match item {
            Item::SetEvent(of, set) if of == task => Some(set),
            _ => None,
        });
        let set = self.sets.with(before, name);
        match served {
            Some((core, _, begin)) => {
                live.step(begin.max(mark), Item::SetEvent(task, set), true);
                live.mark = (live.net_at(at), at);
                self.serves(core);
            }
            None => live.step(at, Item::SetEvent(task, set), false),
        }
    }

    /// Whether a task has run on a core.
    pub(super) fn is_on(&self, task: NameId, core: NameId) -> bool {
        self.processes.get(&(task, None)).is_some_and(|process| process.cores.contains_key(&core))
    }

    pub(super) fn semaphore(&mut self, event: &Event) {
        let (lock, at) = (event.target, event.time);
        let key = self.acting(event.source, event.source_instance);
        let Some(key) = key.filter(|_| event.source != lock) else { return };
        let core = self.cores.iter().find(|(_, (running, _))| *running == Some(key)).map(|(core, _)| *core);
        let Some(live) = self.live.get_mut(&key) else { return };
        let of = self.locks.entry(lock).or_default();
        match event.action {
            Action::RequestSemaphore | Action::ExclusiveSemaphore => {
                if live.holds.contains(&lock) && !live.cut {
                    of.broken = Some("a process takes it twice");
                }
                live.asks = Some(lock);
                live.step(at, Item::Take(lock), false);
            }
            Action::Assigned => {
                if live.asks.take() != Some(lock) {
                    live.step(at, Item::Take(lock), false);
                }
                if let Some(given) = of.given.filter(|_| live.state == State::Polling) {
                    of.delay = of.delay.max(at - given);
                }
                live.holds.push(lock);
                of.taken += 1;
                of.users.extend(live.process);
                of.cores.extend(core);
            }
            Action::Released => {
                if live.holds.last() != Some(&lock) && !live.cut {
                    of.broken = Some("locks are not given back in the reverse order");
                }
                live.holds.retain(|held| *held != lock);
                live.step(at, Item::Give(lock), false);
                of.given = Some(at);
                live.gave = at;
            }
            _ => {}
        }
    }
}
