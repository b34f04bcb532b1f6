//! The metrics and views of a session: those that ship in the binary and those of the user. Not for reading
//! their files (see `shipped`, `folders`), and not for running them (see [`crate::engine`]).

use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use serde::{Deserialize, Serialize};

use super::definition::{Metric, View};
use super::file::Query;
use super::folders::{self, ParsedFile};
use super::shipped;
use crate::error::{Error, Result};

/// The metrics and views of a session.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Queries {
    metrics: Vec<Metric>,
    views: Vec<View>,
}

impl Queries {
    /// The metrics and views that ship in the binary.
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

    /// The shipped metrics and views, and those of the SQL files in `folders` and their subfolders. The files
    /// have the same format as the shipped ones. `parse` calls the SQL parser (see
    /// [`crate::engine::queries_with_folders`]). [`crate::engine::Session::open_with`] checks whether the
    /// files fit the tables.
    ///
    /// # Errors
    /// * [`crate::error::ErrorKind::Usage`] when a folder does not exist or contains no SQL file.
    /// * [`crate::error::ErrorKind::Input`] and [`crate::error::ErrorKind::Query`], with file and line, for a
    ///   header or SQL that cannot be parsed, and for a name that exists already.
    /// * [`crate::error::ErrorKind::Io`] when a folder or file cannot be read.
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

    /// Those of the user alone.
    #[cfg(feature = "cluster")]
    pub(crate) fn added(&self) -> Self {
        let metrics = self.metrics.iter().filter(|metric| metric.file.is_some()).cloned().collect();
        let views = self.views.iter().filter(|view| view.file.is_some()).cloned().collect();
        Self { metrics, views }
    }

    /// The shipped ones, and those that another process [added](Self::added) to them.
    #[cfg(feature = "cluster")]
    pub(crate) fn with_added(added: Self) -> Arc<Self> {
        if added.metrics.is_empty() && added.views.is_empty() {
            return Self::shipped();
        }
        let Self { mut metrics, mut views } = Self::clone(&Self::shipped());
        metrics.extend(added.metrics);
        views.extend(added.views);
        Arc::new(Self { metrics, views })
    }

    /// All metrics, in the order of the lists.
    pub fn metrics(&self) -> &[Metric] {
        &self.metrics
    }

    /// All views, each after the views that it reads.
    pub fn views(&self) -> &[View] {
        &self.views
    }

    /// The metric with this name or alias. Upper and lower case are equal.
    ///
    /// # Errors
    /// [`crate::error::ErrorKind::Usage`] with a suggestion when there is none.
    pub fn metric(&self, name: &str) -> Result<&Metric> {
        let has_name = |m: &&Metric| m.names().any(|n| n.eq_ignore_ascii_case(name));
        self.metrics.iter().find(has_name).ok_or_else(|| {
            let known = || self.metrics.iter().flat_map(Metric::names);
            // `Response` is too short to be near.
            let begins = |longer: &&str| {
                name.len() > 2 && longer.get(..name.len()).is_some_and(|k| k.eq_ignore_ascii_case(name))
            };
            Error::usage(format!("there is no metric '{name}'")).hint_near(name, known(), |_| {
                let longer = known().find(begins).map(|longer| format!("did you mean '{longer}'?"));
                longer.unwrap_or_else(|| "`btfdb metrics --list` shows all metrics".into())
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn metrics_are_found_by_name_or_alias_in_any_case() {
        let queries = Queries::shipped();
        assert_eq!(queries.metric("responsetime").unwrap().name, "ResponseTime");
        assert_eq!(queries.metric("wcrt").unwrap().name, "ResponseTime");
        assert!(queries.metric("CPULOAD").unwrap().sql.contains("polling"));
        let e = queries.metric("ResponceTime").unwrap_err();
        assert_eq!(
            (e.kind(), e.hints()),
            (ErrorKind::Usage, &["did you mean 'ResponseTime'?".to_owned()][..])
        );
        let files = concat!(env!("CARGO_MANIFEST_DIR"), "/queries/metrics");
        assert_eq!(queries.metrics().len(), std::fs::read_dir(files).unwrap().count());
    }

    #[test]
    fn names_and_aliases_are_unique() {
        let queries = Queries::shipped();
        let mut names: Vec<_> =
            queries.metrics().iter().flat_map(Metric::names).map(str::to_ascii_lowercase).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
