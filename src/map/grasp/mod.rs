//! Grasp traces to system events: tasks, their jobs as instances, mutexes and semaphores. What BTF has no word for (servers,
//! buffers, messages) stays in `grasp_event`. Rows in the order of time in, events out; knows no files.
//!
//! The rules are those of the Grasp player, and of the measurement of the paper (§IV-E, figure 6): only what has both an
//! arrival and a completion is an instance that metrics count, and what happens to a job that has completed is not its own.
//!
//! | Grasp | BTF |
//! |---|---|
//! | task; `-kind isr` | `T`; `I`, by `-name` |
//! | job | the instance: numbered per task by arrival; those that never arrive come first |
//! | `jobArrived`, or the oldest `taskArrived` that no job has taken when the job comes into being | `activate`, by a stimulus |
//! | `jobResumed` | `start`, `resume`; after waiting, `release` before it |
//! | `jobPreempted` | `preempt` |
//! | `jobBlocked`, `jobSuspendedOnSemaphore` | `wait` |
//! | `jobCompleted` | `terminate` |
//! | `taskArrivedAndIgnored` | `mtalimitexceeded` |
//! | mutex, semaphore | `SEM`: `requestsemaphore`, `assigned`, `waiting`, `released`; of a mutex also its states |
//! | `-processor` | the core, from then on |

mod clock;
mod directory;
mod emit;
mod jobs;
mod mapper;
#[cfg(test)]
mod tests;
mod watch;

pub use clock::{Clock, Clocks};
pub use directory::Directory;
pub use mapper::Mapper;
pub use watch::{Fault, Rule, Watch};

/// A command of a trace, as far as mapping reads it; the columns of `grasp_event`.
#[derive(Debug, Clone, Copy, Default)]
#[allow(missing_docs, reason = "the columns of table grasp_event, which says what they are")]
pub struct Occurrence<'a> {
    pub effect_at: i64,
    pub seq: i64,
    pub line: i64,
    pub command: &'a str,
    pub event: &'a str,
    pub processor: Option<&'a str>,
    pub task: Option<&'a str>,
    pub job: Option<&'a str>,
    pub server: Option<&'a str>,
    pub mutex: Option<&'a str>,
    pub semaphore: Option<&'a str>,
    pub target: Option<&'a str>,
    pub name: Option<&'a str>,
    pub kind: Option<&'a str>,
    pub budget: Option<i64>,
    pub message: Option<&'a str>,
}
