//! The queue to the writer: keeps order, holds back what rule I6 may cancel. Knows nothing of the rules.

use crate::btf::NameId;
use crate::map::Output;

#[derive(Debug)]
struct Hold {
    core: usize,
    process: NameId,
    until: i64,
    /// Absolute positions `[first, end)` of the held outputs.
    first: u64,
    end: u64,
}

#[derive(Debug)]
pub(super) struct OutputQueue {
    window: i64,
    queue: Vec<Output>,
    /// Absolute position of the front of the queue: the number of outputs that were taken.
    front: u64,
    holds: Vec<Hold>,
}

impl OutputQueue {
    /// `window` is the longest time in ticks that a resume is held; 0 holds nothing.
    pub fn new(window: i64) -> Self {
        Self { window, queue: Vec::new(), front: 0, holds: Vec::new() }
    }

    /// Position of the next output, for [`OutputQueue::hold`].
    pub fn mark(&self) -> u64 {
        self.front + self.queue.len() as u64
    }

    pub fn push(&mut self, output: Output) {
        if let Output::Event(e) = &output {
            // An event of the process itself proves that it really used the core.
            self.confirm(e.source);
            self.confirm(e.target);
        }
        self.queue.push(output);
    }

    /// Holds everything pushed since `first`: the resume of `process` on `core` at `time`.
    pub fn hold(&mut self, core: usize, process: NameId, time: i64, first: u64) {
        if self.window > 0 {
            let until = time.saturating_add(self.window);
            self.holds.push(Hold { core, process, until, first, end: self.mark() });
        }
    }

    /// The process really has the core: its resume cannot be cancelled any more.
    pub fn confirm(&mut self, process: NameId) {
        self.holds.retain(|h| h.process != process);
    }

    /// Cancels the held resume of `process`; true if there was one.
    pub fn cancel(&mut self, core: usize, process: NameId) -> bool {
        let Some(n) = self.holds.iter().position(|h| h.core == core && h.process == process) else {
            return false;
        };
        let hold = self.holds.swap_remove(n);
        let place = |at: u64| (at - self.front) as usize;
        self.queue.drain(place(hold.first)..place(hold.end));
        for later in self.holds.iter_mut().filter(|h| h.first >= hold.end) {
            later.first -= hold.end - hold.first;
            later.end -= hold.end - hold.first;
        }
        true
    }

    /// Time goes on: holds that are too old become final.
    pub fn advance(&mut self, now: i64) {
        self.holds.retain(|h| h.until >= now);
    }

    pub fn release_all(&mut self) {
        self.holds.clear();
    }

    /// Takes the output that is final, if it has at least `at_least` items.
    pub fn take(&mut self, at_least: usize) -> Option<Vec<Output>> {
        let certain = self.holds.iter().map(|h| h.first).min().unwrap_or(self.mark());
        let n = (certain - self.front) as usize;
        if n < at_least {
            return None;
        }
        // Nearly always everything is final, and is moved as a whole.
        let mut rest = Vec::with_capacity(self.queue.capacity());
        rest.extend(self.queue.drain(n..));
        self.front = certain;
        Some(std::mem::replace(&mut self.queue, rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::btf::{Action, EntityType, Event, Names, Note};

    fn event(time: i64, target: NameId, action: Action) -> Output {
        Output::Event(Event {
            time,
            source: target,
            source_instance: 0,
            target_type: EntityType::Task,
            target,
            target_instance: 0,
            action,
            note: Note::None,
        })
    }

    #[test]
    fn a_held_resume_is_taken_back_and_order_is_kept() {
        let mut names = Names::default();
        let (a, b) = (names.intern("a"), names.intern("b"));
        let mut out = OutputQueue::new(100);
        let first = out.mark();
        out.push(event(0, a, Action::Resume));
        out.hold(0, a, 0, first);
        out.push(event(10, b, Action::Start));
        assert_eq!(out.take(1), None, "the event after the held one must wait");
        assert!(out.cancel(0, a));
        assert_eq!(out.take(1), Some(vec![event(10, b, Action::Start)]));
    }

    #[test]
    fn holds_of_several_cores_are_taken_back_one_by_one() {
        let mut names = Names::default();
        let [a, b, c] = ["a", "b", "c"].map(|name| names.intern(name));
        let mut out = OutputQueue::new(100);
        out.push(event(0, c, Action::Start));
        for (core, task) in [(0, a), (1, b)] {
            let first = out.mark();
            out.push(event(1, task, Action::Resume));
            out.hold(core, task, 1, first);
            out.push(event(2, c, Action::Wait));
        }
        assert_eq!(out.take(1), Some(vec![event(0, c, Action::Start)]));
        assert!(out.cancel(0, a) && !out.cancel(0, a));
        assert_eq!(out.take(1), Some(vec![event(2, c, Action::Wait)]));
        assert!(out.cancel(1, b));
        assert_eq!(out.take(0), Some(vec![event(2, c, Action::Wait)]));
        assert_eq!((out.take(0), out.take(1)), (Some(Vec::new()), None));
    }

    #[test]
    fn own_events_and_time_make_a_resume_certain() {
        let mut names = Names::default();
        let a = names.intern("a");
        for later in [true, false] {
            let mut out = OutputQueue::new(100);
            let first = out.mark();
            out.push(event(0, a, Action::Resume));
            out.hold(0, a, 0, first);
            if later {
                out.advance(101)
            } else {
                out.push(event(5, a, Action::Preempt))
            }
            assert!(!out.cancel(0, a));
        }
    }
}
