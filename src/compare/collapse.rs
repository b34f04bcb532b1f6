//! Removes the effects of an ignored interrupt from the process that it interrupted: suspends, preempt,
//! resume and resumes. Only where nothing else happened on the core; in doubt an event stays.

use super::event::{Class, Event, Step, Verb};
use crate::btf::NameId;
use crate::names::IdMap;
use std::collections::VecDeque;

/// Maximum number of events that wait for the end of an interruption; beyond it, the oldest stay.
const LIMIT: usize = 1 << 16;

/// A process instance.
type Process = (NameId, Option<i64>);

/// An interruption that may consist of ignored events only.
#[derive(Debug, Default)]
struct Gap {
    /// Ordinals of its events: suspends, preempt, resume, resumes of runnables.
    events: Vec<u64>,
    /// Runnables that are suspended.
    runnables: Vec<Process>,
    /// The core, from the preempt on.
    core: Option<NameId>,
    /// An ignored event came between.
    interrupted: bool,
    /// The process is back on its core.
    resumed: bool,
}

/// Events that wait, in the order of the file.
#[derive(Debug, Default)]
pub(super) struct Collapse {
    /// `None` for an event that was dropped; true for one that is decided.
    queue: VecDeque<Option<(Event, bool)>>,
    base: u64,
    gaps: IdMap<Process, Gap>,
    /// Number of events that were dropped.
    pub(super) dropped: u64,
}

impl Collapse {
    /// The next event that is certain to stay.
    pub(super) fn take(&mut self) -> Option<Event> {
        while let Some(front) = self.queue.front() {
            let leaves = front.as_ref().is_none_or(|(_, certain)| *certain);
            if !leaves {
                return None;
            }
            self.base += 1;
            if let Some((event, _)) = self.queue.pop_front().flatten() {
                return Some(event);
            }
        }
        None
    }

    /// No more events will come: the waiting ones stay.
    pub(super) fn end(&mut self) {
        self.gaps.clear();
        self.queue.iter_mut().flatten().for_each(|(_, certain)| *certain = true);
    }

    /// Adds an event of the file.
    pub(super) fn put(&mut self, event: Event, ignored: bool) {
        let key = &event.key;
        let on_core = event.class == Class::Process && matches!(event.step, Step::Enter | Step::Leave);
        if ignored {
            if on_core {
                let gaps = self.gaps.values_mut().filter(|gap| gap.core == Some(key.source));
                gaps.for_each(|gap| gap.interrupted = true);
            }
            return;
        }
        if self.queue.len() >= LIMIT {
            self.end();
        }
        let target = (key.target, key.target_instance);
        let process = if event.class == Class::Process { target } else { (key.source, key.source_instance) };
        let core = key.source;
        let ordinal = self.base + self.queue.len() as u64;
        if on_core {
            // Another process got the core: the interruption does not consist of ignored events only.
            let others = self.gaps.iter().filter(|(other, gap)| gap.core == Some(core) && **other != process);
            let others: Vec<Process> = others.map(|(other, _)| *other).collect();
            others.into_iter().for_each(|other| self.keep(other));
        }
        let action = self.step(process, &event);
        self.queue.push_back(Some((event, action == Action::Keep)));
        match action {
            Action::Keep => self.keep(process),
            Action::Hold => self.gaps.entry(process).or_default().events.push(ordinal),
            Action::Drop => {
                self.gaps.entry(process).or_default().events.push(ordinal);
                self.drop_all(process);
            }
        }
    }

    /// What an event means for the interruption of its process.
    fn step(&mut self, process: Process, event: &Event) -> Action {
        let is = |class: Class, verb: Verb| event.class == class && event.verb == verb;
        let runnable = (event.key.target, event.key.target_instance);
        if is(Class::Runnable, Verb::Suspend) {
            if self.gaps.get(&process).is_some_and(|gap| gap.core.is_some()) {
                self.keep(process);
            }
            self.gaps.entry(process).or_default().runnables.push(runnable);
            return Action::Hold;
        }
        if is(Class::Process, Verb::Preempt) {
            if self.gaps.get(&process).is_some_and(|gap| gap.core.is_some()) {
                self.keep(process);
            }
            self.gaps.entry(process).or_default().core = Some(event.key.source);
            return Action::Hold;
        }
        let Some(gap) = self.gaps.get_mut(&process) else { return Action::Keep };
        if is(Class::Process, Verb::Resume)
            && gap.core == Some(event.key.source)
            && gap.interrupted
            && !gap.resumed
        {
            gap.resumed = true;
            return if gap.runnables.is_empty() { Action::Drop } else { Action::Hold };
        }
        if gap.resumed && is(Class::Runnable, Verb::Resume) {
            let Some(n) = gap.runnables.iter().position(|r| *r == runnable) else { return Action::Keep };
            gap.runnables.swap_remove(n);
            return if gap.runnables.is_empty() { Action::Drop } else { Action::Hold };
        }
        Action::Keep
    }

    fn keep(&mut self, process: Process) {
        for ordinal in self.gaps.remove(&process).map(|gap| gap.events).unwrap_or_default() {
            if let Some((_, certain)) = self.slot(ordinal).and_then(Option::as_mut) {
                *certain = true;
            }
        }
    }

    fn drop_all(&mut self, process: Process) {
        for ordinal in self.gaps.remove(&process).map(|gap| gap.events).unwrap_or_default() {
            let gone = self.slot(ordinal).and_then(Option::take).is_some();
            self.dropped += u64::from(gone);
        }
    }

    fn slot(&mut self, ordinal: u64) -> Option<&mut Option<(Event, bool)>> {
        self.queue.get_mut(usize::try_from(ordinal.checked_sub(self.base)?).ok()?)
    }
}

/// The decision about an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    /// It stays, with all waiting events of its process.
    Keep,
    /// It waits.
    Hold,
    /// It is dropped, with all waiting events of its process.
    Drop,
}
