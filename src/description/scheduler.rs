//! What the events of a scheduler mean: profiles for traces whose events have names and parameters of their
//! own. Not what follows from a meaning (see `map::scheduler`).

use crate::error::{Error, ErrorKind, Result};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The profiles that are shipped, by name.
const SHIPPED: &[(&str, &str)] = &[("systemview", include_str!("profiles/systemview.toml"))];

/// What the events of a trace mean, by name. Events without a meaning are not mapped.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SchedulerProfile {
    /// The meanings.
    pub event: BTreeMap<String, Meaning>,
}

/// What an event means. Texts are the names of its parameters.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "means", rename_all = "snake_case", deny_unknown_fields)]
pub enum Meaning {
    /// There is a task, and this is what it is called.
    Task {
        /// Its number.
        task: String,
        /// Its name.
        name: String,
        /// Its priority.
        priority: Option<String>,
    },
    /// A task is made.
    Create {
        /// Its number.
        task: String,
    },
    /// A task can run from now on.
    Ready {
        /// Its number.
        task: String,
    },
    /// A task runs on the CPU of the event.
    Run {
        /// Its number.
        task: String,
    },
    /// The task that runs on the CPU runs no more.
    Stop,
    /// A task waits from now on.
    Block {
        /// Its number.
        task: String,
    },
    /// A task ends.
    End {
        /// Its number.
        task: String,
    },
    /// No task runs on the CPU.
    Idle,
    /// An ISR begins on the CPU.
    IsrBegin {
        /// Its number.
        isr: String,
    },
    /// The ISR ends, and what it has interrupted goes on.
    IsrEnd,
    /// The ISR ends, and the scheduler says what runs next.
    IsrEndToScheduler,
    /// A text with names of ISRs: `I#5=SysTick`.
    Texts {
        /// The text.
        text: String,
    },
    /// The priority of a task changes: that it becomes ready next to this event, on the same CPU, is none.
    Reorder {
        /// Its number.
        task: Option<String>,
        /// Or its address.
        address: Option<String>,
        /// Where the event is by which it becomes ready.
        ready_is: Side,
    },
    /// How addresses of tasks become numbers: less the base, and shifted.
    Addresses {
        /// The base.
        base: String,
        /// By how many bits they are shifted.
        shift: String,
    },
    /// A program tells that it was at some place.
    Mark {
        /// The number of the place.
        mark: String,
        /// The value that the signal of the place gets.
        value: u64,
    },
    /// What a place of [`Meaning::Mark`] is called.
    MarkName {
        /// Its number.
        mark: String,
        /// Its name.
        name: String,
    },
}

/// On which side of another event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The event before it.
    Before,
    /// The event behind it.
    Behind,
}

impl SchedulerProfile {
    /// The profile of that name.
    ///
    /// # Errors
    /// [`ErrorKind::Database`] when there is none.
    pub fn shipped(name: &str) -> Result<Self> {
        let text =
            SHIPPED.iter().find(|(known, _)| *known == name).map(|(_, text)| *text).ok_or_else(|| {
                Error::database(format!("there is no profile '{name}' for the events of a scheduler"))
                    .hint("was the database written by a later version of btfdb?")
            })?;
        toml::from_str(text)
            .map_err(|e| Error::new(ErrorKind::Bug, "a shipped profile cannot be read").because(e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shipped_profiles_can_be_read() {
        for (name, _) in SHIPPED {
            assert!(SchedulerProfile::shipped(name).unwrap().event.len() > 5, "{name}");
        }
        assert!(SchedulerProfile::shipped("nonsense").unwrap_err().to_string().contains("'nonsense'"));
    }
}
