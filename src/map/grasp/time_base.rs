//! Which clock the time of a command belongs to, and the time on the clock of the reference, if processors
//! have clocks of their own. Not how clocks are compared (see `clock`).

use super::Occurrence;
use super::clock::Clock;
use std::collections::{BTreeMap, HashMap};

/// The clocks of a trace, and which objects are on which processor.
#[derive(Debug, Default, Clone)]
pub(super) struct TimeBase {
    clocks: BTreeMap<String, Clock>,
    /// Processors of jobs, tasks and servers by their ids.
    jobs: HashMap<String, String>,
    tasks: HashMap<String, String>,
    servers: HashMap<String, String>,
}

impl TimeBase {
    /// `clocks`: of each processor whose clock is not that of the reference.
    pub fn new(clocks: BTreeMap<String, Clock>) -> Self {
        Self { clocks, ..Self::default() }
    }

    pub fn is_one_clock(&self) -> bool {
        self.clocks.is_empty()
    }

    /// Names of processors whose clocks were converted.
    pub fn corrected(&self) -> impl Iterator<Item = &str> {
        self.clocks.keys().map(String::as_str)
    }

    /// Records on which processor a command places something.
    pub fn place(&mut self, o: &Occurrence<'_>) {
        let Some(processor) = o.processor else {
            if let ("newJob" | "plot", Some(job), Some(task)) = (o.command, o.job, o.task)
                && let Some(of_task) = self.tasks.get(task)
            {
                self.jobs.entry(job.to_owned()).or_insert_with(|| of_task.clone());
            }
            return;
        };
        let (map, id) = match o.command {
            "newTask" => (&mut self.tasks, o.task),
            "newServer" => (&mut self.servers, o.server),
            "newJob" => (&mut self.jobs, o.job),
            "plot" if o.event == "jobArrived" => (&mut self.jobs, o.job),
            _ => return,
        };
        if let Some(id) = id {
            map.entry(id.to_owned()).or_insert_with(|| processor.to_owned());
        }
    }

    /// The processor whose clock a command uses; `None` for the clock of the reference.
    pub fn clock_of(&self, o: &Occurrence<'_>) -> Option<&str> {
        // The time of a message is that of its sender, or of its receiver.
        let said = if o.event == "syncReceived" { o.target } else { o.processor };
        let of_job = || o.job.and_then(|id| self.jobs.get(id)).map(String::as_str);
        let of_task = || o.task.and_then(|id| self.tasks.get(id)).map(String::as_str);
        let of_server = || o.server.and_then(|id| self.servers.get(id)).map(String::as_str);
        let processor = said.or_else(of_job).or_else(of_task).or_else(of_server)?;
        self.clocks.get_key_value(processor).map(|(id, _)| id.as_str())
    }

    /// Converts a time from the clock of a processor to that of the reference.
    pub fn time(&self, clock: Option<&str>, time: i64) -> i64 {
        clock.and_then(|id| self.clocks.get(id)).copied().unwrap_or_default().at(time)
    }
}
