//! Software events for the rules: names resolved, irrelevant ones dropped. Not the stored rows.

use crate::btf::NameId;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Function {
    Runnable(NameId),
    Category1(NameId),
    /// The body of a task (rule L4).
    TaskBody(usize),
    /// A category 2 handler (rule L3).
    Handler(NameId),
}

#[derive(Debug, Clone, Copy)]
pub enum EventKind {
    /// A variable was read or written.
    Access {
        slot: Option<usize>,
        signal: Option<NameId>,
        write: bool,
        value: u64,
        /// No data access of this core was dropped between the last one and this one.
        follows: bool,
    },
    /// A function was entered or left.
    Call { function: Function, entry: bool },
}

#[derive(Debug, Clone, Copy)]
pub struct SoftwareEvent {
    pub time: i64,
    pub core: usize,
    pub kind: EventKind,
}
