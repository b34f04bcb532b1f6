//! What an executor is told: a task as text. Not the doing of it (see `executor`).

use serde::{Deserialize, Serialize};

use super::inputs::Inputs;
use crate::chain::Chain;
use crate::engine::cluster::Asked;
use crate::error::{Error, ErrorKind, Result};
use crate::metrics::MetricFilter;

/// A task on recordings.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Task {
    /// The btfdb that wrote it: another one may mean something else.
    pub version: String,
    /// Path or URL of the database.
    pub database: String,
    /// Of which commit: all tasks see one state.
    pub generation: u64,
    /// The chains of the session.
    pub chains: Vec<Chain>,
    pub work: Work,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Work {
    /// Statistics of metrics, each recording by itself.
    Summaries { metrics: Vec<String>, filter: MetricFilter },
    /// Samples of metrics, for statistics of several recordings.
    Samples { metrics: Vec<String>, filter: MetricFilter },
    /// Inputs, whose paths are in place of names of recordings, become recordings.
    Ingest(Box<Inputs>),
    /// The rules of BTF.
    Rules { version: Option<String> },
    /// A fragment of a statement: which one, its plan, and what is done with its rows, in base64. `restrict`:
    /// a table, and the condition for its rows.
    Statement { asked: Asked, number: usize, plan: String, above: String, restrict: Option<(String, String)> },
    /// Timing requirements: the text of their file, and its name.
    Requirements { text: String, file: String },
}

/// The version of tasks.
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");

impl Task {
    pub fn text(&self) -> Result<String> {
        serde_json::to_string(self)
            .map_err(|e| Error::new(ErrorKind::Bug, "a task cannot be written").because(e))
    }

    /// # Errors
    /// When another version of btfdb wrote it.
    pub fn parse(text: &str) -> Result<Self> {
        #[derive(Deserialize)]
        struct Any {
            version: String,
        }
        let bug = |e| Error::new(ErrorKind::Bug, "a task cannot be read").because(e);
        let Any { version } = serde_json::from_str(text).map_err(bug)?;
        if version != VERSION {
            return Err(Error::usage(format!(
                "an executor is btfdb {VERSION}, and the task is of btfdb {version}"
            ))
            .hint("run the same btfdb everywhere"));
        }
        serde_json::from_str(text).map_err(bug)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_of_another_version_is_refused() {
        let work = Work::Rules { version: None };
        let (version, database) = (VERSION.to_owned(), "s3://b/d".to_owned());
        let task = Task { version, database, generation: 3, chains: Vec::new(), work };
        assert_eq!(Task::parse(&task.text().unwrap()).unwrap().generation, 3);
        let other = Task { version: "0.0.1".into(), ..task };
        let error = Task::parse(&other.text().unwrap()).unwrap_err();
        assert!(error.to_string().contains("0.0.1"), "{error}");
    }
}
