//! What an executor does with a task: it opens the database at the commit of the task, and does the work on
//! its recordings in one session. Not how the task came.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use arrow::array::RecordBatch;

use super::task::{Given, Task, Work};
use super::{doubts, ingest, requirements, rules, statements};
use crate::engine::cluster::{Fragment, On, RunTask};
use crate::engine::{Session, SessionOptions};
use crate::error::{Error, ErrorKind, Result};
use crate::library::Queries;
use crate::metrics::passed;
use crate::ops::made::operations;
use crate::ops::open::Trace;
use crate::store::{Database, Location, Remote};

/// Does tasks with the settings of this executor.
#[derive(Debug)]
pub(crate) struct TaskRunner {
    /// How object stores are reached.
    pub remote: Remote,
    /// Bytes that a task may hold; see [`SessionOptions`].
    pub memory_limit: Option<u64>,
}

impl TaskRunner {
    fn session(&self, database: Database, given: Given, stop: &Arc<AtomicBool>) -> Result<Session> {
        // Who asked has checked the depth of the statement.
        let max_depth = Some(SessionOptions::DEEPEST);
        let options = SessionOptions { threads: Some(1), memory_limit: self.memory_limit, max_depth };
        let session = Session::open_with(database, options, Queries::with_added(given.queries))?;
        let session = session.with_interrupt(Arc::clone(stop)).with_operations(operations());
        session.with_chains(&given.chains)
    }
}

impl RunTask for TaskRunner {
    fn run(
        &self,
        task: &str,
        on: On,
        stop: &Arc<AtomicBool>,
        rows: &mut dyn FnMut(RecordBatch) -> bool,
    ) -> Result<()> {
        let Task { database, generation, given, work, .. } = Task::parse(task)?;
        let names = match on {
            On::Recordings(names) => names,
            On::Rows(samples) => {
                let Work::Together { metrics, filter } = work else { return Err(misplaced()) };
                rows(passed::together(&Queries::with_added(given.queries), &metrics, &filter, &samples)?);
                return Ok(());
            }
        };
        let names = names.as_slice();
        let location = Location::parse(database.as_ref(), &self.remote)?;
        let some = || some_of(&Database::open_at(&location, generation)?, names);
        let own = |given| self.session(some()?, given, stop);
        match work {
            Work::Ingest(inputs) => ingest::ingest_some(&location, &inputs, (names, generation), stop, rows),
            Work::Summaries { metrics, filter } => passed::summaries(&own(given)?, &metrics, &filter, rows),
            Work::Samples { metrics, filter } => passed::samples_of(&own(given)?, &metrics, &filter, rows),
            Work::Statement { asked, number, plan, above, restrict } => {
                let session = own(given)?;
                if let Some((table, condition)) = &restrict {
                    statements::restrict(&session, table, condition)?;
                }
                let fragment = Fragment { number, plan, above: statements::decoded(&above)? };
                for batch in session.run_fragment(&asked, &fragment)? {
                    if !rows(batch?) {
                        break;
                    }
                }
                Ok(())
            }
            Work::Together { .. } => Err(misplaced()),
            Work::Doubts => doubts::of_some(&some()?, rows),
            Work::Rules { version } => {
                rules::check_all(&Trace::of_session(own(given)?, names.to_vec()), version.as_deref(), rows)
            }
            Work::Requirements { text, file, known } => {
                requirements::measure_all(&own(given)?, (&text, Path::new(&file), &known), names, rows)
            }
        }
    }
}

fn misplaced() -> Error {
    Error::new(ErrorKind::Bug, "a task got what another one is on")
}

/// The database with the recordings of a task.
fn some_of(database: &Database, names: &[String]) -> Result<Database> {
    let asked: Vec<&str> = names.iter().map(String::as_str).collect();
    let recordings = database.named(&asked)?;
    if recordings.len() != names.len() {
        let what = format!("the database has {} of {} recordings of a task", recordings.len(), names.len());
        return Err(Error::database(what));
    }
    Ok(database.only(recordings))
}
