//! What an executor is told: a task as text. Not the doing of it (see `executor`).

use serde::{Deserialize, Serialize};

use super::inputs::Inputs;
use crate::chain::Chain;
use crate::engine::Session;
use crate::engine::cluster::Asked;
use crate::error::{Error, ErrorKind, Result};
use crate::library::Queries;
use crate::metrics::MetricFilter;
use crate::require::Known;
use crate::store::Database;

/// A task on recordings.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Task {
    /// The btfdb that wrote it: another one may mean something else.
    build: String,
    /// Path or URL of the database.
    pub database: String,
    /// Of which commit: all tasks see one state.
    pub generation: u64,
    /// What the session of who asks has besides the database.
    pub given: Given,
    pub work: Work,
}

/// What the user gave a session besides its database.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Given {
    pub chains: Vec<Chain>,
    /// Metrics and views.
    pub queries: Queries,
}

impl Given {
    pub fn of(session: &Session) -> Self {
        Self { chains: session.given_chains().to_vec(), queries: session.queries().added() }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Work {
    /// Statistics of metrics, each recording by itself.
    Summaries { metrics: Vec<String>, filter: MetricFilter },
    /// Samples of metrics, for statistics of several recordings.
    Samples { metrics: Vec<String>, filter: MetricFilter },
    /// Statistics of such samples.
    Together { metrics: Vec<String>, filter: MetricFilter },
    /// Inputs, whose paths are in place of names of recordings, become recordings.
    Ingest(Box<Inputs>),
    /// Findings that make results doubtful.
    Doubts,
    /// The rules of BTF.
    Rules { version: Option<String> },
    /// A fragment of a statement: which one, its plan, and what is done with its rows, in base64. `restrict`:
    /// a table, and the condition for its rows.
    Statement { asked: Asked, number: usize, plan: String, above: String, restrict: Option<(String, String)> },
    /// Timing requirements: the text of their file, its name, and what the whole database knows of the names
    /// in it.
    Requirements { text: String, file: String, known: Box<Known> },
}

/// Which btfdb this is: its version, and a sum over its sources.
const BUILD: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("BTFDB_SOURCES"), ")");

impl Task {
    /// `database`: path or URL. `generation`: of which commit.
    pub fn new(database: String, generation: u64, given: Given, work: Work) -> Self {
        Self { build: BUILD.to_owned(), database, generation, given, work }
    }

    /// On a database as it is now.
    pub fn on(database: &Database, given: Given, work: Work) -> Result<Self> {
        Ok(Self::new(database.location().shared()?, database.generation(), given, work))
    }

    pub fn text(&self) -> Result<String> {
        serde_json::to_string(self)
            .map_err(|e| Error::new(ErrorKind::Bug, "a task cannot be written").because(e))
    }

    /// # Errors
    /// When another build of btfdb wrote it.
    pub fn parse(text: &str) -> Result<Self> {
        #[derive(Deserialize)]
        struct Any {
            build: String,
        }
        let bug = |e| Error::new(ErrorKind::Bug, "a task cannot be read").because(e);
        let Any { build } = serde_json::from_str(text).map_err(bug)?;
        if build != BUILD {
            let what = format!("an executor is btfdb {BUILD}, and the task is of btfdb {build}");
            return Err(Error::usage(what).hint("build the same sources for all machines"));
        }
        serde_json::from_str(text).map_err(bug)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_of_another_build_is_refused() {
        let task = Task::new("s3://b/d".into(), 3, Given::default(), Work::Rules { version: None });
        assert_eq!(Task::parse(&task.text().unwrap()).unwrap().generation, 3);
        let other = Task { build: "0.0.1".into(), ..task };
        let error = Task::parse(&other.text().unwrap()).unwrap_err();
        assert!(error.to_string().contains("0.0.1"), "{error}");
    }
}
