//! What an executor does with a task: it opens the database at the commit of the task, and does the work on
//! its recordings in one session. Not how the task came.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use arrow::array::RecordBatch;

use super::task::{Task, Work};
use super::{ingest, requirements, rules, statements};
use crate::engine::cluster::{Fragment, RunTask};
use crate::engine::{Session, SessionOptions};
use crate::error::{Error, Result};
use crate::metrics::passed;
use crate::ops::open::Trace;
use crate::store::{Database, Location, Recording, Remote};

/// Does tasks with the settings of this executor.
#[derive(Debug)]
pub(crate) struct TaskRunner {
    /// How object stores are reached.
    pub remote: Remote,
    /// Bytes that a task may hold; see [`SessionOptions`].
    pub memory_limit: Option<u64>,
}

impl TaskRunner {
    fn session(&self, database: Database, stop: &Arc<AtomicBool>) -> Result<Session> {
        let options = SessionOptions { threads: Some(1), memory_limit: self.memory_limit };
        Ok(Session::open(database, options)?.with_interrupt(Arc::clone(stop)))
    }
}

impl RunTask for TaskRunner {
    fn run(
        &self,
        task: &str,
        names: &[String],
        stop: &Arc<AtomicBool>,
        rows: &mut dyn FnMut(RecordBatch) -> bool,
    ) -> Result<()> {
        let Task { database, generation, chains, work, .. } = Task::parse(task)?;
        let location = Location::parse(database.as_ref(), &self.remote)?;
        // A session of all recordings, and one of those of the task.
        let all = || self.session(Database::open_at(&location, generation)?, stop);
        let own = || {
            let database = Database::open_at(&location, generation)?;
            let recordings = names.iter().map(|name| found(&database, name)).collect::<Result<Vec<_>>>()?;
            self.session(database.only(recordings), stop)?.with_chains(&chains)
        };
        match work {
            Work::Ingest(inputs) => ingest::ingest_some(&location, &inputs, (names, generation), stop, rows),
            Work::Summaries { metrics, filter } => {
                let session = own()?;
                rows(passed::summaries(&session, &metrics, &filter)?);
                Ok(())
            }
            Work::Samples { metrics, filter } => passed::samples_of(&own()?, &metrics, &filter, rows),
            Work::Statement { asked, number, plan, above, restrict } => {
                let session = own()?;
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
            Work::Rules { version } => {
                rules::check_all(&Trace::of_session(all()?, names.to_vec()), version.as_deref(), rows)
            }
            // Names are looked up in all recordings, so the session has all of them.
            Work::Requirements { text, file } => {
                let session = all()?.with_chains(&chains)?;
                requirements::measure_all(&session, &text, Path::new(&file), names, rows)
            }
        }
    }
}

fn found(database: &Database, name: &str) -> Result<Arc<Recording>> {
    database
        .recording(name)?
        .ok_or_else(|| Error::database(format!("the commit of the task has no recording '{name}'")))
}
