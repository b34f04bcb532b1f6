//! Hook variables: a kernel with timing hooks writes each step of a process into one traced variable, as
//! bits; others are of runnables, spinlocks and services. What `recording.toml` says of them, completed with
//! the published encodings. Not the rules (see `map::hooks`).

mod encoding;
mod ids;
mod objects;
mod profiler_xml;
mod setup;
#[cfg(test)]
mod tests;

pub use encoding::{HookEncoding, Space};
pub use objects::{HookObject, HookSetup};

use crate::error::{Error, Result};
use crate::words::words;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// `os` of a recording whose kernel has hook variables.
pub const HOOKS: &str = "hooks";

const PUBLISHED: &str = include_str!("../profiles/hooks.toml");

/// A traced variable whose words say what happens to a process. Masks select the bits of a word, which are
/// shifted to bit 0; keys that are left out are those of the published encoding of that name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct HookVariable {
    /// Name of the variable in the export.
    pub name: String,
    /// The number of the process, runnable or spinlock; of a call, that of its parameter.
    pub id_mask: Option<u64>,
    /// The number of what happens to it.
    pub state_mask: Option<u64>,
    /// The number of the core, if words have one; else the core is that of the export.
    pub core_mask: Option<u64>,
    /// Bits that are set in each word that counts.
    pub valid_mask: Option<u64>,
    /// What each state means. `even` and `odd` are all numbers, each half of which is that of a service.
    #[serde(default)]
    pub states: BTreeMap<String, HookStep>,
    /// From this state on, the id is that of an ISR, in a number space of its own.
    pub isr_states_from: Option<u64>,
    /// An ISR that starts interrupts what runs on its core, which has no word of it, and goes on when it
    /// ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupts: Option<bool>,
    /// Of runnables whose words have no state: the id that says that the one that was called last returns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_id: Option<u64>,
    /// A file with the columns kind, id, name, core; `orti`; or `orti:` and an attribute of the OS.
    pub ids: Option<String>,
    /// What the values of that attribute stand for: `task` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<HookKind>,
}

words! {
    /// What an id stands for, as lists of ids spell it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Deserialize, serde::Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum HookKind {
        /// A task.
        Task = "task",
        /// An ISR.
        Isr = "isr",
        /// An idle task, which has no events. Also a task may be one, by its name.
        Idle = "idle",
        /// A function that a process calls.
        Runnable = "runnable",
        /// A lock that cores wait for.
        Spinlock = "spinlock",
        /// A service of the OS.
        Service = "service",
    }
}

/// What a word says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(
    untagged,
    expecting = "a step is activate, new, start, run, resume, preempt, ready, queue, wait, release or terminate, return, \
                 request, lock or unlock, enter or exit"
)]
pub enum HookStep {
    /// Of a process; `start` and `terminate` also of a runnable.
    Process(ProcessStep),
    /// Of something else.
    Other(OtherStep),
}

/// What happens on a core, in the process that runs there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OtherStep {
    /// The runnable that it has called last returns.
    Return,
    /// It asks for a spinlock.
    Request,
    /// It gets a spinlock.
    Lock,
    /// It gives a spinlock back.
    Unlock,
    /// It calls a service.
    Enter,
    /// A service returns to it.
    Exit,
}

/// What happens to a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ProcessStep {
    /// It is activated.
    Activate,
    /// It runs for the first time.
    Start,
    /// It gets the core: its start if it has not run yet, else it goes on.
    Run,
    /// It goes on after a preemption or a wait.
    Resume,
    /// It is activated; if it runs, it has ended before, and this activation was pending.
    New,
    /// Something else gets its core.
    Preempt,
    /// It is preempted if it runs, and released if it waits.
    Ready,
    /// It is put among those that are ready: preempted if it runs, released if it waits, activated if it has
    /// ended.
    Queue,
    /// It waits for an event or a semaphore.
    Wait,
    /// What it waited for has come.
    Release,
    /// It ends.
    Terminate,
}

#[derive(Deserialize)]
struct Published {
    hook_variables: Vec<HookVariable>,
}

/// Where the ids of a variable come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ids<'a> {
    File(&'a str),
    /// In the order of the ORTI file.
    Orti,
    /// The values of an attribute of the OS there.
    Attribute(&'a str),
}

impl HookVariable {
    /// The file with its ids, if it names one.
    pub fn ids_file(&self) -> Option<&str> {
        match self.ids()? {
            Ids::File(path) => Some(path),
            Ids::Orti | Ids::Attribute(_) => None,
        }
    }

    /// Why its key `kind` is of no use, if it is.
    pub fn check_kind(&self) -> Result<()> {
        let of_ids = match self.ids() {
            Some(Ids::File(_)) => "each line of its list of ids says a kind",
            Some(Ids::Orti) => "the ORTI file says which of its ids are ISRs",
            Some(Ids::Attribute(_)) | None => return Ok(()),
        };
        let Some(kind) = self.kind else { return Ok(()) };
        let wrong = format!(
            "hook variable '{}' has kind = \"{}\", which says nothing: {of_ids}",
            self.name,
            kind.as_str()
        );
        Err(Error::input(wrong).hint(
            "leave `kind` out; it is of the values of an attribute, as with ids = \"orti:RUNNINGISR2\"",
        ))
    }

    fn ids(&self) -> Option<Ids<'_>> {
        let ids = self.ids.as_deref()?;
        Some(match ids.strip_prefix("orti:") {
            Some(attribute) => Ids::Attribute(attribute),
            None if ids == "orti" => Ids::Orti,
            None => Ids::File(ids),
        })
    }

    /// With the keys of the published encoding of its name where it says nothing.
    fn completed(&self) -> Result<Self> {
        let known: Published = toml::from_str(PUBLISHED)
            .map_err(|e| Error::input("the published encodings cannot be read").because(e))?;
        let names: Vec<String> = known.hook_variables.iter().map(|known| known.name.clone()).collect();
        let mut all = self.clone();
        if let Some(known) = known.hook_variables.into_iter().find(|known| known.name == self.name) {
            all.id_mask = all.id_mask.or(known.id_mask);
            all.state_mask = all.state_mask.or(known.state_mask);
            all.core_mask = all.core_mask.or(known.core_mask);
            all.valid_mask = all.valid_mask.or(known.valid_mask);
            all.interrupts = all.interrupts.or(known.interrupts);
            all.exit_id = all.exit_id.or(known.exit_id);
            all.ids = all.ids.or(known.ids);
            all.kind = all.kind.or(known.kind);
            if all.states.is_empty() {
                all.states = known.states;
            }
        } else if all.id_mask.is_none()
            || all.exit_id.is_none() && (all.state_mask.is_none() || all.states.is_empty())
        {
            let wrong = format!("hook variable '{}' needs id_mask, state_mask and states", self.name);
            return Err(Error::input(wrong)
                .hint(format!("only these variables have published ones: {}", names.join(", "))));
        }
        Ok(all)
    }
}
