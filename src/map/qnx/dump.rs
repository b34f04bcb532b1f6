//! Recognises events that list what exists already: the kernel lists processes and threads when it starts to
//! record. Not what follows from them.

use super::words;
use crate::qnx::{Class, Event, Status, Version};
use serde::{Deserialize, Serialize};

/// Event numbers of class PROCESS.
pub(super) mod process {
    pub const CREATE: u16 = 1;
    pub const DESTROY: u16 = 2;
    pub const CREATE_NAME: u16 = 3;
    pub const DESTROY_NAME: u16 = 4;
    pub const THREAD_NAME: u16 = 5;
}

/// Event numbers of class THREAD that are not blocking states.
pub(super) mod thread {
    pub const DEAD: u16 = 0;
    pub const RUNNING: u16 = 1;
    pub const READY: u16 = 2;
    pub const CREATE: u16 = 24;
    pub const DESTROY: u16 = 25;
}

/// Rule Q2. 8.0 marks such events. Before, the list is the start of the trace, as long as it looks like one:
/// processes and threads, each created and followed by its own state.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Dump {
    marked: bool,
    over: bool,
    /// The latest thread that was created and has no state yet.
    created: Option<(u32, u32)>,
}

impl Dump {
    pub fn new(version: Version) -> Self {
        Self { marked: version >= Version::V8_0, over: false, created: None }
    }

    /// True for an event of the list. Needs all events.
    pub fn event(&mut self, event: &Event<'_>) -> bool {
        if event.status != Status::Ok {
            return false;
        }
        if self.marked {
            return event.flags & Event::INJECTED != 0;
        }
        let listed = !self.over && self.listed(event).unwrap_or(false);
        // Events that do not concern processes and threads may be in between.
        self.over |= !listed && self.listed(event).is_some();
        if listed && event.class == Class::Thread {
            self.created = (event.event == thread::CREATE).then(|| words::thread(event)).flatten();
        }
        listed
    }

    fn listed(&self, event: &Event<'_>) -> Option<bool> {
        match event.class {
            Class::Control | Class::VThread => None,
            // Names and budgets of scheduling partitions (APS) are part of the list.
            Class::System if matches!(event.event, 3 | 4 | 0x16..=0x1b) => None,
            Class::Process => {
                Some(matches!(event.event, process::CREATE | process::CREATE_NAME | process::THREAD_NAME))
            }
            Class::Thread if event.event == thread::CREATE => Some(true),
            Class::Thread if matches!(event.event, thread::DESTROY | thread::DEAD) => Some(false),
            Class::Thread => Some(self.created.is_some() && self.created == words::thread(event)),
            _ => Some(false),
        }
    }
}
