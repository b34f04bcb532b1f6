//! The SQL library of a session: metrics and views, those that ship in the binary and those of the user. Not for their files
//! (see `shipped`, `folders`), and not for running them.

use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use super::definition::{Metric, View};
use super::file::Query;
use super::folders::{self, ParsedFile};
use super::shipped;
use crate::error::{Error, Result, did_you_mean};

/// The SQL library of a session.
#[derive(Debug, Clone)]
pub struct Queries {
    metrics: Vec<Metric>,
    views: Vec<View>,
}

impl Queries {
    /// What ships in the binary.
    pub fn shipped() -> Arc<Self> {
        static SHIPPED: LazyLock<Arc<Queries>> = LazyLock::new(|| {
            let (mut metrics, mut views) = (Vec::new(), Vec::new());
            for query in shipped::queries() {
                match query {
                    Query::Metric(metric) => metrics.push(metric),
                    Query::View(view) => views.push(view),
                }
            }
            Arc::new(Queries { metrics, views })
        });
        Arc::clone(&SHIPPED)
    }

    /// What ships in the binary, and the SQL files in some folders and in the folders in them, in the same form. `parse`
    /// is the SQL parser (see [`crate::engine::queries_with_folders`]). Whether the files fit the tables is found out by
    /// [`crate::engine::Session::open_with`].
    ///
    /// # Errors
    /// [`crate::error::ErrorKind::Usage`] when there is no such folder or no SQL file in it;
    /// [`crate::error::ErrorKind::Input`] and [`crate::error::ErrorKind::Query`] with file and line for a header or SQL that
    /// cannot be read, and for a name that is taken.
    pub fn with_folders(
        folders: &[PathBuf],
        parse: &dyn Fn(&str) -> Result<ParsedFile>,
    ) -> Result<Arc<Self>> {
        if folders.is_empty() {
            return Ok(Self::shipped());
        }
        let Self { mut metrics, mut views } = Self::clone(&Self::shipped());
        folders::read(folders, &mut metrics, &mut views, parse)?;
        Ok(Arc::new(Self { metrics, views }))
    }

    /// All metrics, in the order in which they are listed.
    pub fn metrics(&self) -> &[Metric] {
        &self.metrics
    }

    /// All views, each after the views it reads.
    pub fn views(&self) -> &[View] {
        &self.views
    }

    /// The metric of that name, or with that alias; upper and lower case are the same.
    ///
    /// # Errors
    /// [`crate::error::ErrorKind::Usage`] with a suggestion when there is none.
    pub fn metric(&self, name: &str) -> Result<&Metric> {
        let called = |m: &&Metric| m.names().any(|n| n.eq_ignore_ascii_case(name));
        self.metrics.iter().find(called).ok_or_else(|| {
            let near = did_you_mean(name, self.metrics.iter().flat_map(Metric::names));
            let near = near.map(|near| format!("did you mean '{near}'?"));
            Error::usage(format!("there is no metric '{name}'"))
                .hint(near.unwrap_or_else(|| "`btfdb metrics --list` shows all metrics".into()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn metrics_are_found_whatever_the_case_and_by_what_others_call_them() {
        let queries = Queries::shipped();
        assert_eq!(queries.metric("responsetime").unwrap().name, "ResponseTime");
        assert_eq!(queries.metric("wcrt").unwrap().name, "ResponseTime");
        assert!(queries.metric("CPULOAD").unwrap().sql.contains("polling"));
        let e = queries.metric("ResponceTime").unwrap_err();
        assert_eq!(
            (e.kind(), e.hints()),
            (ErrorKind::Usage, &["did you mean 'ResponseTime'?".to_owned()][..])
        );
        assert_eq!(queries.metrics().len(), 25);
    }

    #[test]
    fn no_name_is_there_twice() {
        let queries = Queries::shipped();
        let mut names: Vec<_> =
            queries.metrics().iter().flat_map(Metric::names).map(str::to_ascii_lowercase).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
