//! What the events of a core have shown since its edge, and which ISRs were active there. Not the events.

use crate::btf::NameId;
use crate::map::osek::model::Model;

/// What the events of a core have shown since its edge.
#[derive(Debug, Default)]
pub(super) struct CoreEdge {
    /// First access of the nesting level, if it was a read.
    pub nesting: Option<i64>,
    pub nesting_seen: bool,
    /// First access of RUNNINGISR2: its value, if that was a read.
    pub isr_value: Option<i64>,
    pub isr_seen: bool,
    /// First access of RUNNINGISR2, if that was a write after a handler of category 2 was left that had not
    /// been entered: the ISR that the core returns to, or none.
    pub returns_to: Option<i64>,
    /// First access of RUNNINGISR2, if that was a write before any handler of category 2 was left: an ISR
    /// began, or one ended that nothing else tells of.
    pub isr_written: Option<i64>,
    /// Handlers entered and not left.
    pub open: Vec<NameId>,
    /// Handlers left without an entry, innermost first, with "is of category 1".
    pub unmatched: Vec<(NameId, bool)>,
    /// First read of RUNNINGTASK, if it came before the first write.
    pub task_read: Option<i64>,
    pub task_written: bool,
    /// Task and value of the first change of RUNNINGTASK, if no STATE of it or the task before was written.
    pub late: Option<(usize, i64)>,
    /// Value of RUNNINGTASK when the recording began (`None`: no task), if STATE is the more exact one.
    pub running: Option<Option<i64>>,
    /// Task whose STATE was set RUNNING before RUNNINGTASK was written: it did not run at the edge.
    pub dispatched: Option<usize>,
    /// What shows whether the process at the edge polls has come (rule L8).
    pub polling_decided: bool,
    /// The ISRs of the edge have ended: what is decided now is of the task below them.
    pub below: bool,
    /// The process at the edge has entered or left a service.
    pub called: bool,
    /// An ISR that began behind the edge has the core, or another task than the one at the edge.
    pub interrupted: bool,
    pub replaced: bool,
    /// A task that was dispatched for the first time and has not yet shown whether it started or resumed.
    pub undecided: Option<usize>,
}

impl CoreEdge {
    /// An ISR that was active at the edge has ended.
    pub fn isr_of_edge_ends(&mut self) {
        (self.below, self.polling_decided, self.called) = (true, false, false);
    }

    /// L3: the ISRs that were active when the trace began, outermost first, and whether an unknown one ran.
    /// The nesting level gives the number of those of category 2, and RUNNINGISR2 may say that there are
    /// none; category 1 does not count there. Without a nesting level, the end of a handler and the ISR that
    /// RUNNINGISR2 returns to tell it.
    pub fn isrs(&self, core: usize, model: &Model) -> (Vec<String>, bool) {
        let m = &model.cores[core];
        let is_none = |v: i64| m.no_isr_values.contains(&v);
        let handler = |v: i64| m.handler(v);
        let left = || self.unmatched.iter().filter(|(_, category1)| !category1).map(|(name, _)| *name);
        // A handler that is left later without having been entered did not begin when it was written.
        let returned = self.isr_written.filter(|value| !is_none(*value)).and_then(handler);
        let returned = returned.is_some_and(|h| left().any(|name| model.names.text(name) == *h));
        let ended = match (self.returns_to, self.isr_written.filter(|_| returned)) {
            (None, None) => 0,
            (Some(outer), _) | (None, Some(outer)) => 1 + i64::from(!is_none(outer)),
        };
        let mut nested = self.nesting.unwrap_or(ended) - i64::from(returned);
        if self.isr_value.is_some_and(is_none) {
            nested = 0;
        }
        let mut isrs = Vec::new();
        for (name, category1) in &self.unmatched {
            if *category1 || nested > 0 {
                isrs.push(model.names.text(*name).to_owned());
                nested -= i64::from(!category1);
            }
        }
        isrs.reverse();
        let named = self.isr_value.or(self.returns_to).filter(|v| !is_none(*v)).and_then(handler);
        if let Some(name) = named.filter(|n| !isrs.contains(n)) {
            let outer = if self.isr_value.is_some() { isrs.len() } else { 0 };
            isrs.insert(outer, name.clone());
            nested -= 1;
        }
        let ended_unseen = self.isr_written.is_some_and(is_none) && isrs.is_empty();
        (isrs, returned || ended_unseen || (self.nesting.is_some() && nested > 0))
    }
}
