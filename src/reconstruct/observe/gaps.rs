//! Gaps, and events that were not recorded: what was on a core when it lost events may have ended, or may go
//! on. Not what a gap does to the executions it is in, which are cut (see `changes`).

use super::live::Live;
use super::{Key, Observer};
use crate::btf::{Action, EntityType, Event, NameId, State};

impl Observer {
    /// The recorder lost events of a core, or of all, since the last event. The first instant behind the gap
    /// is `end`, in ns.
    pub fn gap(&mut self, core: Option<NameId>, end: i64) {
        self.doubt(core);
        self.gaps.push((end, core));
    }

    /// The gaps that end before an event at `at`: what other cores activated in one may have run in it.
    pub(super) fn pass_gaps(&mut self, at: i64) {
        if self.gaps.is_empty() {
            return;
        }
        let (ended, open): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.gaps).into_iter().partition(|(end, _)| *end <= at);
        self.gaps = open;
        ended.into_iter().for_each(|(_, core)| self.doubt(core));
    }

    /// An event that was not recorded says of its process only that others are missing: it is lost. An end
    /// says that it is over, too. What leaves its core and has it again at this instant, so that another one
    /// may have it for no time, goes on.
    pub fn unseen(&mut self, event: &Event) {
        self.pass_gaps(event.time);
        if !matches!(event.target_type, EntityType::Task | EntityType::Isr) {
            return;
        }
        let (key, at, core) = ((event.target, event.target_instance), event.time, event.source);
        let running = self.cores.get(&core).and_then(|(running, _)| *running);
        let own = self.live.get_mut(&key).filter(|live| running == Some(key) && live.state.on_core());
        match (event.action, own) {
            (Action::Preempt, Some(live)) => live.left = Some(at),
            (Action::Resume, Some(live)) if live.left == Some(at) => live.left = None,
            (action, _) => {
                self.lose(key);
                if action == Action::Terminate {
                    self.lost.remove(&key);
                }
                // It has the core from some time on, unless another one has it still.
                if matches!(action, Action::Start | Action::Resume)
                    && running.is_none_or(|other| other == key)
                {
                    self.unsure.insert(core);
                }
            }
        }
    }

    /// What has a core that lost events is cut. What was to run there may have run and ended: it is lost
    /// until an event shows it.
    fn doubt(&mut self, core: Option<NameId>) {
        let is_hidden = |on: NameId| core.is_none_or(|core| core == on);
        self.unsure.extend(self.cores.keys().copied().chain(core).filter(|on| is_hidden(*on)));
        // A lock may have been given back in the gap.
        self.locks.values_mut().for_each(|lock| lock.given = None);
        let mut lost = Vec::new();
        for (key, live) in &mut self.live {
            let has = self.cores.iter().find(|(_, (running, _))| *running == Some(*key));
            if let Some((on, _)) = has.filter(|_| live.state.on_core()) {
                live.cut |= is_hidden(*on);
                live.frames.iter_mut().for_each(|frame| frame.cut |= is_hidden(*on));
                continue;
            }
            let may_be_there = match live.kind {
                EntityType::Isr => live.process.and_then(|(_, on)| on).is_none_or(is_hidden),
                // Where it never ran, it may run for the first time.
                _ => self.processes.get(&(key.0, None)).is_none_or(|process| {
                    process.cores.is_empty() || process.cores.keys().any(|on| is_hidden(*on))
                }),
            };
            if may_be_there {
                lost.push(*key);
            }
        }
        lost.into_iter().for_each(|key| self.lose(key));
    }

    /// Nobody knows whether an instance has ended.
    fn lose(&mut self, key: Key) {
        let Some(live) = self.live.remove(&key) else { return };
        for (core, (running, _)) in self.cores.iter_mut().filter(|(_, (running, _))| *running == Some(key)) {
            // Since when it is free, nobody knows.
            *running = None;
            self.unsure.insert(*core);
        }
        if live.kind == EntityType::Task {
            let process = self.processes.entry((key.0, None)).or_default();
            process.active = process.active.saturating_sub(1);
            self.lost.insert(key, live.activated);
        }
    }

    /// Before the state of an instance changes. One that had a core when events were lost left it unseen if
    /// it gets one now; so did one of which an event says so that was not recorded. One that was lost has not
    /// ended; how it went on, nobody knows, unless it starts now.
    pub(super) fn find_again(&mut self, key: Key, event: &Event) {
        let starts = event.action == Action::Start;
        let gets_core = starts || event.action == Action::Resume;
        let is_gone = |live: &Live| live.may_have_left() && (gets_core || live.left.is_some());
        if self.live.get(&key).is_some_and(is_gone) {
            self.lose(key);
        }
        if starts {
            // The instances of a task start one after the other has ended.
            let older = self.lost.range((key.0, i64::MIN)..key).map(|(older, _)| *older);
            for older in older.collect::<Vec<Key>>() {
                self.lost.remove(&older);
            }
        }
        self.revive(key, starts);
    }

    /// An instance that was lost does something, so it has a core.
    pub(super) fn find_acting(&mut self, event: &Event) {
        let key = (event.source, event.source_instance);
        if self.live.get(&key).is_some_and(|live| live.left.is_some()) {
            self.lose(key);
        }
        if self.revive(key, false)
            && let Some(live) = self.live.get_mut(&key)
        {
            (live.state, live.since, live.mark) = (State::Running, event.time, (0, event.time));
        }
    }

    fn revive(&mut self, key: Key, starts: bool) -> bool {
        let Some(activated) = self.lost.remove(&key) else { return false };
        let mut live = Live::new(EntityType::Task, activated, !starts);
        live.partial = !starts;
        self.live.insert(key, live);
        let process = self.processes.entry((key.0, None)).or_default();
        process.active += 1;
        process.most = process.most.max(process.active);
        true
    }

    /// A process gets a core: what had it when events were lost, and did not leave it since, left it unseen.
    pub(super) fn give_way(&mut self, key: Key, core: NameId) {
        let had = self.cores.get(&core).and_then(|(running, _)| *running).filter(|had| *had != key);
        if let Some(had) = had
            && self.live.get(&had).is_some_and(Live::may_have_left)
        {
            self.lose(had);
        }
    }

    /// A new instance with the key of one that a gap is in: that one has ended.
    pub(super) fn replace(&mut self, key: Key) {
        if self.live.get(&key).is_some_and(|live| live.cut) {
            self.lose(key);
        }
        self.lost.remove(&key);
    }
}
