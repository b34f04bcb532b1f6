//! What the events of a scheduler mean: profiles for traces whose events have names and parameters of their
//! own. Not what follows from a meaning (see `map::scheduler`).

use crate::error::{Error, ErrorKind, Result};
use crate::formats::{FORMATS, ProfileFile};
use serde::Deserialize;
use std::collections::BTreeMap;

/// What the events of a trace mean, by name. Events without a meaning are not mapped.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SchedulerProfile {
    /// What makes two tasks of one.
    #[serde(default)]
    pub identity: Identity,
    /// Tasks that run where nothing is to be done: their CPU idles.
    #[serde(default)]
    pub idle: Idle,
    /// The meanings. `a|b` are two events of one meaning.
    pub event: BTreeMap<String, Meaning>,
}

/// When a number means another task than before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Identity {
    /// When it gets another name.
    #[default]
    Name,
    /// When the task before has ended: a task can be renamed, and is called by its last name.
    Life,
}

/// Tasks that run where nothing is to be done.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Idle {
    /// Their numbers.
    #[serde(default)]
    pub numbers: Vec<u64>,
    /// Patterns of their names.
    #[serde(default)]
    pub names: Vec<String>,
}

/// The name of a parameter in a profile: `a|b` is the one of these that an event has, `a.b` is `b` within
/// `a`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub struct Parameter {
    alternatives: Vec<Vec<String>>,
    numbers: Vec<String>,
}

impl Parameter {
    /// The names that it may have, each as the way through the objects around it.
    pub fn alternatives(&self) -> &[Vec<String>] {
        &self.alternatives
    }

    /// Where the number is of a value that has a name: a parameter of its own, for each alternative.
    pub fn numbers(&self) -> &[String] {
        &self.numbers
    }
}

impl From<String> for Parameter {
    fn from(names: String) -> Self {
        let of_path = |name: &str| name.split('.').map(str::to_owned).collect();
        Self {
            alternatives: names.split('|').map(of_path).collect(),
            numbers: names.split('|').map(|name| format!("{name}.value")).collect(),
        }
    }
}

/// What an event means.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "means", rename_all = "snake_case", deny_unknown_fields)]
pub enum Meaning {
    /// There is a task, and this is what it is called.
    Task {
        /// Its number.
        task: Parameter,
        /// Its name.
        name: Parameter,
        /// Its priority.
        priority: Option<Parameter>,
    },
    /// A task is made.
    Create {
        /// Its number.
        task: Parameter,
        /// Its name.
        name: Option<Parameter>,
        /// The CPU that it will run on; that of the event when absent.
        cpu: Option<Parameter>,
    },
    /// A task can run from now on.
    Ready {
        /// Its number.
        task: Parameter,
        /// Its name.
        name: Option<Parameter>,
        /// The CPU that it will run on; that of the event when absent.
        cpu: Option<Parameter>,
    },
    /// A task runs on the CPU of the event.
    Run {
        /// Its number.
        task: Parameter,
        /// Its name.
        name: Option<Parameter>,
    },
    /// A task gives the CPU to another one.
    Switch {
        /// The number of the task that ran.
        from: Parameter,
        /// Its name.
        from_name: Parameter,
        /// Its state from now on.
        state: Parameter,
        /// Bits of the state of a task that waits; one without any can run.
        waits: u64,
        /// Bits of the state of a task that has ended.
        ends: u64,
        /// Bits of the state of a task that has ended, or waits if it goes on later.
        may_end: u64,
        /// The number of the task that runs from now on.
        to: Parameter,
        /// Its name.
        to_name: Parameter,
        /// Its priority.
        to_priority: Parameter,
    },
    /// The task that runs on the CPU runs no more.
    Stop,
    /// A task waits from now on.
    Block {
        /// Its number.
        task: Parameter,
    },
    /// A task waits as soon as it gives up its CPU; if it has none, from now on.
    Pend {
        /// Its number.
        task: Parameter,
    },
    /// A task ends.
    End {
        /// Its number.
        task: Parameter,
    },
    /// No task runs on the CPU.
    Idle,
    /// An ISR begins on the CPU.
    IsrBegin {
        /// Its number; ISRs of a class without numbers are one.
        isr: Option<Parameter>,
        /// Its name.
        name: Option<Parameter>,
        /// What kind of ISR it is: `ISR` if nothing else.
        class: Option<String>,
        /// The names of those of the class, from number 0 on.
        #[serde(default)]
        names: Vec<String>,
    },
    /// The ISR ends, and what it has interrupted goes on.
    IsrEnd,
    /// The ISR ends, and the scheduler says what runs next.
    IsrEndToScheduler,
    /// A text with names of ISRs: `I#5=SysTick`.
    Texts {
        /// The text.
        text: Parameter,
    },
    /// The priority of a task changes: that it becomes ready next to this event, on the same CPU, is none.
    Reorder {
        /// Its number.
        task: Option<Parameter>,
        /// Or its address.
        address: Option<Parameter>,
        /// Where the event is by which it becomes ready.
        ready_is: Side,
    },
    /// How addresses of tasks become numbers: less the base, and shifted.
    Addresses {
        /// The base.
        base: Parameter,
        /// By how many bits they are shifted.
        shift: Parameter,
    },
    /// A program tells that it was at some place.
    Mark {
        /// The number of the place.
        mark: Parameter,
        /// The value that the signal of the place gets.
        value: u64,
    },
    /// What runs wants a semaphore.
    Request {
        /// What kind of semaphore it is: the begin of its name.
        class: String,
        /// Its number.
        object: Parameter,
    },
    /// What runs has to wait for the semaphore.
    Await {
        /// As with a request.
        class: String,
        /// Its number.
        object: Parameter,
    },
    /// What runs has got the semaphore, if the result is 0.
    Assign {
        /// As with a request.
        class: String,
        /// Its number.
        object: Parameter,
        /// The result.
        result: Parameter,
    },
    /// What runs gives the semaphore back.
    Release {
        /// As with a request.
        class: String,
        /// Its number.
        object: Parameter,
    },
    /// A callback begins in a thread.
    CallbackBegin {
        /// The number of the callback within its process.
        callback: Parameter,
        /// The number of the process.
        process: Parameter,
        /// Its name.
        process_name: Parameter,
        /// The number of the thread.
        thread: Parameter,
    },
    /// It ends.
    CallbackEnd {
        /// As with its begin.
        callback: Parameter,
        /// The number of the process.
        process: Parameter,
        /// The number of the thread.
        thread: Parameter,
    },
    /// An object of a process is called so.
    Label {
        /// The number of the object.
        object: Parameter,
        /// The number of the process.
        process: Parameter,
        /// What the name begins with.
        #[serde(default)]
        begin: String,
        /// The rest of it.
        name: Parameter,
    },
    /// An object of a process is called as another one.
    LabelAs {
        /// The number of the object.
        object: Parameter,
        /// The number of the process.
        process: Parameter,
        /// The number of the other one.
        other: Parameter,
    },
    /// What a place of [`Meaning::Mark`] is called.
    MarkName {
        /// Its number.
        mark: Parameter,
        /// Its name.
        name: Parameter,
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
    /// The profiles of these names, as one.
    ///
    /// # Errors
    /// [`ErrorKind::Database`] when there is none of a name.
    pub fn shipped(names: &[String]) -> Result<Self> {
        let mut all: Option<Self> = None;
        for name in names {
            let profile = Self::of(name)?;
            match &mut all {
                Some(all) => all.event.extend(profile.event),
                None => all = Some(profile),
            }
        }
        all.ok_or_else(|| Error::database("no profile for the events of a scheduler is named"))
    }

    fn of(name: &str) -> Result<Self> {
        let file = files().find(|known| known.name == name).ok_or_else(|| {
            Error::database(format!("there is no profile '{name}' for the events of a scheduler"))
                .hint("was the database written by a later version of btfdb?")
        })?;
        let mut profile: Self = toml::from_str(file.text)
            .map_err(|e| Error::new(ErrorKind::Bug, "a shipped profile cannot be read").because(e))?;
        let each = |(names, meaning): (String, Meaning)| {
            names.split('|').map(|name| (name.to_owned(), meaning.clone())).collect::<Vec<_>>()
        };
        profile.event = std::mem::take(&mut profile.event).into_iter().flat_map(each).collect();
        Ok(profile)
    }
}

/// The profiles that are shipped: those of all formats.
fn files() -> impl Iterator<Item = &'static ProfileFile> {
    FORMATS.iter().flat_map(|format| format.info().profiles).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shipped_profiles_can_be_read() {
        for file in files() {
            let profile = SchedulerProfile::shipped(&[file.name.to_owned()]).unwrap();
            assert!(profile.event.len() > 5, "{}", file.name);
            let same = files().filter(|other| other.name == file.name);
            assert!(same.into_iter().all(|other| std::ptr::eq(other, file)), "{}: two files", file.name);
        }
        let names = ["systemview".to_owned(), "nonsense".to_owned()];
        assert!(SchedulerProfile::shipped(&names).unwrap_err().to_string().contains("'nonsense'"));
        let all = SchedulerProfile::shipped(&["linux".to_owned(), "ros2".to_owned()]).unwrap();
        assert!(all.event.contains_key("sched:sched_switch") && all.event.contains_key("ros2:callback_end"));
    }
}
