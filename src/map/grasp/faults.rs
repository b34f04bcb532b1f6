//! Faults in a Grasp trace: a budget below zero, a mutex that is given back by a job that does not hold it,
//! or not in the order in which mutexes were taken (the plugins BudgetCheck and MutexCheck of the player).
//! Gets commands in the order of time; maps nothing.

use super::Occurrence;
use crate::diagnostics::Severity;
use crate::words::words;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

words! {
    /// A check of rule J15. Its word is a stable name.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Rule {
        /// A server consumed more than it had.
        BudgetNegative = "budget-negative",
        /// A mutex is released by a job that does not hold it.
        MutexNotHeld = "mutex-not-held",
        /// A mutex is released before one that was acquired after it.
        MutexNotNested = "mutex-not-nested",
        /// A mutex is acquired that another job holds.
        MutexTaken = "mutex-taken",
    }
}

impl Rule {
    pub fn severity(self) -> Severity {
        Severity::Error
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub rule: Rule,
    pub time: i64,
    /// A sentence without a full stop.
    pub message: String,
}

#[derive(Debug, Default, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Server {
    budget: i64,
    /// The time up to which the budget is counted.
    at: i64,
    /// How many use it at once: it may be active on several processors.
    consumers: i64,
    /// The negative budget was reported.
    reported: bool,
}

#[derive(Debug, Default, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FaultChecker {
    servers: BTreeMap<String, Server>,
    /// Mutexes that a job holds, in the order in which it got them.
    held: BTreeMap<String, Vec<String>>,
}

impl FaultChecker {
    pub fn occurrence(&mut self, o: &Occurrence<'_>) -> Vec<Fault> {
        if let Some(server) = o.server {
            return self.server(server, o).into_iter().collect();
        }
        match (o.job, o.mutex) {
            (Some(job), Some(mutex)) => self.mutex(job, mutex, o),
            _ => Vec::new(),
        }
    }

    /// Ends the trace at `end`: budgets that were exceeded after the last command.
    pub fn finish(&mut self, end: i64) -> Vec<Fault> {
        let count = |(name, server): (&String, &mut Server)| server.count(name, end);
        self.servers.iter_mut().filter_map(count).collect()
    }

    fn server(&mut self, id: &str, o: &Occurrence<'_>) -> Option<Fault> {
        let now = o.effect_at;
        if o.command == "newServer" {
            let server = Server { budget: o.budget.unwrap_or(0), at: now, ..Server::default() };
            self.servers.entry(id.to_owned()).or_insert(server);
            return None;
        }
        let server =
            self.servers.entry(id.to_owned()).or_insert_with(|| Server { at: now, ..Server::default() });
        let fault = server.count(id, now);
        match o.event {
            "serverReplenished" => (server.budget, server.reported) = (o.budget.unwrap_or(0), false),
            "serverDepleted" => (server.budget, server.reported) = (0, false),
            "serverResumed" => server.consumers += 1,
            "serverPreempted" => server.consumers = (server.consumers - 1).max(0),
            _ => {}
        }
        fault
    }

    fn mutex(&mut self, job: &str, mutex: &str, o: &Occurrence<'_>) -> Vec<Fault> {
        let fault = |rule, message| vec![Fault { rule, time: o.effect_at, message }];
        match o.event {
            "jobAcquiredMutex" => {
                let other = self.held.iter().find(|(id, held)| *id != job && held.iter().any(|m| m == mutex));
                let other = other.map(|(id, _)| id.clone());
                self.held.entry(job.to_owned()).or_default().push(mutex.to_owned());
                match other {
                    Some(other) => fault(
                        Rule::MutexTaken,
                        format!("job '{job}' acquires mutex '{mutex}', which '{other}' holds"),
                    ),
                    None => Vec::new(),
                }
            }
            "jobReleasedMutex" => {
                let held = self.held.get_mut(job);
                let found = held.and_then(|held| Some((held.iter().rposition(|m| m == mutex)?, held)));
                let Some((n, held)) = found else {
                    let message = format!("job '{job}' releases mutex '{mutex}', which it does not hold");
                    return fault(Rule::MutexNotHeld, message);
                };
                let above = held.last().filter(|_| n + 1 < held.len()).cloned();
                held.remove(n);
                if held.is_empty() {
                    self.held.remove(job);
                }
                above.map_or_else(Vec::new, |above| {
                    let message = format!(
                        "job '{job}' releases mutex '{mutex}' before '{above}', which it acquired later"
                    );
                    fault(Rule::MutexNotNested, message)
                })
            }
            _ => Vec::new(),
        }
    }
}

impl Server {
    /// Uses the budget up to `now`.
    fn count(&mut self, name: &str, now: i64) -> Option<Fault> {
        let elapsed = now.saturating_sub(self.at).max(0);
        self.at = now;
        self.budget = self.budget.saturating_sub(elapsed.saturating_mul(self.consumers));
        if self.budget >= 0 || self.reported {
            return None;
        }
        self.reported = true;
        let message =
            format!("the budget of server '{name}' is {} ticks below zero", self.budget.unsigned_abs());
        Some(Fault { rule: Rule::BudgetNegative, time: now, message })
    }
}
