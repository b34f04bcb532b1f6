//! The state S' at the end of a recording, from which the mapping of the next one continues. Plain data; the
//! rules are elsewhere.
//!
//! It has the instances and states of tasks and ISRs with their runnables and open services, semaphores with
//! owners and waiters, stimuli that have activated nothing yet, the next number of every instance, and the
//! last value of every variable that a rule needs. It does not have the last data access of each core, which
//! only tells whether an error comes right after it, and which findings were already reported.

use super::Machine;
use super::handlers::Handlers;
use super::state::{Core, Pending, Semaphore, Task};
use crate::btf::NameId;
use crate::error::{Error, Result};
use crate::map::state::pairs;
use crate::names::IdMap;
use serde::{Deserialize, Serialize};

/// S' of the thesis, equation 4.6. Tasks and semaphores are indexes into the lists.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    /// The time of the last event, in ticks.
    time: i64,
    cores: Vec<Core>,
    tasks: Vec<Task>,
    semaphores: Vec<Semaphore>,
    alarm_times: Vec<Option<i64>>,
    pending_stimuli: Vec<Pending>,
    #[serde(with = "pairs")]
    next_instance: IdMap<NameId, i64>,
    #[serde(default)]
    handlers: Handlers,
    #[serde(default)]
    counts_are_read: bool,
    variables: Vec<Variable>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Variable {
    /// `None` for a variable that all cores share.
    core: Option<NameId>,
    variable: String,
    value: i64,
}

impl Machine {
    pub(in crate::map::osek) fn state_at_end(&self) -> State {
        let name = |core: usize| self.model.cores.get(core).map(|c| c.name);
        let variable = |((core, path), value): ((Option<usize>, &str), i64)| Variable {
            core: core.and_then(name),
            variable: path.to_owned(),
            value,
        };
        State {
            time: self.now,
            cores: self.cores.clone(),
            tasks: self.tasks.clone(),
            semaphores: self.sems.clone(),
            alarm_times: self.alarm_times.clone(),
            pending_stimuli: self.pending.clone(),
            next_instance: self.next.clone(),
            handlers: self.handlers.clone(),
            counts_are_read: self.counts_are_read,
            variables: self.model.slots.known().into_iter().map(variable).collect(),
        }
    }

    /// Checks that `state` has the cores, tasks, semaphores and alarms of this machine.
    pub(in crate::map::osek) fn check(&self, state: &State) -> Result<()> {
        let same = self.cores.iter().map(|c| c.name).eq(state.cores.iter().map(|c| c.name))
            && self.tasks.iter().map(|t| t.name).eq(state.tasks.iter().map(|t| t.name))
            && self.sems.len() == state.semaphores.len()
            && self.alarm_times.len() == state.alarm_times.len();
        if same {
            return Ok(());
        }
        Err(Error::database(
            "the stored state has other cores, tasks, semaphores or alarms than the recording",
        )
        .hint("a recording can only be continued by one of the same application"))
    }

    /// Continues from a state that was checked.
    pub(in crate::map::osek) fn resume(&mut self, state: State) {
        let State {
            time,
            cores,
            tasks,
            semaphores,
            alarm_times,
            pending_stimuli,
            next_instance,
            handlers,
            counts_are_read,
            variables,
        } = state;
        (self.now, self.cores, self.tasks, self.sems) = (time, cores, tasks, semaphores);
        (self.alarm_times, self.pending, self.next) = (alarm_times, pending_stimuli, next_instance);
        self.handlers = handlers;
        self.counts_are_read = counts_are_read;
        for Variable { core, variable, value } in variables {
            let core = core.and_then(|name| self.model.cores.iter().position(|c| c.name == name));
            self.model.slots.restore(core, &variable, value);
        }
    }
}
