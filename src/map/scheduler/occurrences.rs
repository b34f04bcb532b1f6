//! What happened, as the events of a trace say it. Not how it is read (see `meanings`), nor what follows from
//! it (see `rules`).

use crate::btf::Action;
use crate::description::Side;
use std::sync::Arc;

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum What {
    Task {
        task: u64,
        name: Arc<str>,
        priority: Option<i64>,
    },
    Create(Said),
    Ready(Said),
    Run(Said),
    /// `None`: no task.
    Switch {
        from: Option<Said>,
        leaves: Leaves,
        to: Option<Said>,
    },
    Stop,
    Block(u64),
    Pend(u64),
    End(u64),
    Idle,
    IsrBegin(IsrSaid),
    IsrEnd,
    IsrEndToScheduler,
    /// Numbers of ISRs and their names.
    IsrNames(Vec<(u64, String)>),
    /// The priority of a task changes, given by its number or its address.
    Reorder {
        task: Named,
        ready_is: Side,
    },
    Addresses {
        base: u64,
        shift: u64,
    },
    Mark {
        mark: u64,
        value: u64,
    },
    MarkName {
        mark: u64,
        name: String,
    },
    Semaphore {
        action: Action,
        name: Arc<str>,
    },
    CallbackBegin {
        callback: Object,
        process: Arc<str>,
        thread: u64,
    },
    CallbackEnd {
        callback: Object,
        thread: u64,
    },
    Label {
        object: Object,
        name: String,
    },
    LabelAs {
        object: Object,
        other: Object,
    },
    /// It lacks a parameter that its meaning needs.
    Unread,
    /// It says of itself that nothing happened.
    Nothing,
}

/// An object of a process, both by number.
pub(super) type Object = (u64, u64);

/// What an event says about a task.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Said {
    pub task: u64,
    pub name: Option<Arc<str>>,
    pub priority: Option<i64>,
    /// The CPU that it will run on, where the event is of another one.
    pub cpu: Option<i64>,
}

/// What a task does that gives up its CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leaves {
    Ready,
    Waits,
    Ends,
    /// It ends, or waits if more is known of it later.
    MayEnd,
}

/// What an event says about an ISR.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct IsrSaid {
    pub key: IsrKey,
    /// Its name, if it has one.
    pub name: Option<Arc<str>>,
}

/// What tells an ISR from others: its class, and its number if those of the class have numbers.
pub(super) type IsrKey = (Arc<str>, Option<u64>);

/// What ISRs without another class are.
pub(super) const ISR: &str = "ISR";

/// How a task is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Named {
    Number(u64),
    Address(u64),
}

/// An event with a meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occurrence {
    /// In ticks.
    pub time: i64,
    /// 0 where the trace does not tell it.
    pub cpu: i64,
    pub(super) what: What,
}
