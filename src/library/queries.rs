//! The SQL library of a session: metrics and views, those that ship in the binary and those of the user. Not for their files
//! (see `shipped`, `folders`), and not for running them.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use super::folders::{self, ParsedFile};
use super::header::{Header, Mistake};
use super::shipped;
use crate::error::{Error, Result, did_you_mean};

/// What the value of a metric is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// A length of time, in ticks of the database's time scale.
    Duration,
    /// How many.
    Count,
    /// A share of 100.
    Percent,
}

impl Unit {
    pub(super) const ALL: &[Self] = &[Self::Duration, Self::Count, Self::Percent];

    /// The word in the header of the SQL file and in the `unit` column of a result.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Duration => "duration",
            Self::Count => "count",
            Self::Percent => "percent",
        }
    }
}

/// How the rows of a metric that has one value per entity (and window of time) become that value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fold {
    /// The values of the rows whose `at` lies in the window are added; an entity without such rows has 0.
    Sum,
    /// A row is a stretch of time that begins at `at` and is `value` ticks long; its part in the window counts, as a share
    /// of the window's part in the recording, in percent.
    Share,
}

impl Fold {
    pub(super) const ALL: &[Self] = &[Self::Sum, Self::Share];

    /// The word in the header of the SQL file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Share => "share",
        }
    }
}

/// A column or parameter that a header describes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Documented {
    /// Name in SQL; a parameter is written `$NAME`.
    pub name: Cow<'static, str>,
    /// `text`, `integer`, `time`, `duration`, `percent`, `number`, `boolean` or `list`; of table functions, `relation` and `columns`, too.
    pub ty: Cow<'static, str>,
    /// What it is.
    pub doc: Cow<'static, str>,
}

/// Another name of a metric.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alias {
    /// The name.
    pub name: String,
    /// Where the name comes from, and which column it is, or where the definition differs.
    pub doc: String,
}

/// A metric: one `SELECT` with the columns [`METRIC_COLUMNS`], one row per sample.
#[derive(Debug, Clone)]
pub struct Metric {
    /// AMALTHEA's name, where there is one.
    pub name: String,
    /// What it measures, from the header.
    pub doc: String,
    /// What a value is.
    pub unit: Unit,
    /// True when an entity has one result per core, false when one for all its cores.
    pub per_core: bool,
    /// How rows become the one value of an entity; `None`: every row is a sample of its own.
    pub fold: Option<Fold>,
    /// `$from` and `$to`, if the SQL has them: the time that is asked for, so that rows outside need not be read.
    pub params: Vec<Documented>,
    /// What others call it.
    pub aliases: Vec<Alias>,
    /// The file, header included.
    pub sql: String,
    /// Where the file is; `None` when it ships in the binary.
    pub file: Option<PathBuf>,
}

/// A view that a session has.
#[derive(Debug, Clone)]
pub struct View {
    /// Name in SQL.
    pub name: String,
    /// What it is about: the folder of its file.
    pub area: String,
    /// What a row is, from the header.
    pub doc: String,
    /// What `$NAME` in it stands for, given with the query.
    pub params: Vec<Documented>,
    /// Its columns, in order.
    pub columns: Vec<Documented>,
    /// The file, header included.
    pub sql: String,
    /// Where the file is; `None` when it ships in the binary.
    pub file: Option<PathBuf>,
}

/// The columns of every metric. `value` is NULL for an instance that is cut off: it is counted and enters nothing
/// else.
pub const METRIC_COLUMNS: [&str; 7] = ["recording", "entity", "type", "core", "instance", "value", "at"];

/// One SQL file: a metric or a view.
pub(crate) enum Query {
    Metric(Metric),
    View(View),
}

impl Query {
    /// A metric has a unit, and a view has columns.
    pub fn parse(area: &str, name: &str, sql: &str, file: Option<&Path>) -> Result<Self, Mistake> {
        let first = |what: &str| Err(Mistake { line: 1, what: what.into() });
        let Header { doc, unit, per_core, fold, params, columns, aliases } = Header::parse(sql)?;
        let (name, sql, file) = (name.to_owned(), sql.to_owned(), file.map(Path::to_owned));
        match unit {
            Some(_) if !columns.is_empty() => {
                first("the header has a unit and columns; a metric has a unit, a view has columns")
            }
            Some(unit) => {
                if fold == Some(Fold::Share) && unit != Unit::Percent {
                    return first("a share has the unit percent");
                }
                let known = params.iter().all(|p| p.name == "from" || p.name == "to");
                if !known || !matches!(params.len(), 0 | 2) {
                    return first("a metric has the parameters from and to, or none");
                }
                Ok(Self::Metric(Metric { name, doc, unit, per_core, fold, params, aliases, sql, file }))
            }
            None if columns.is_empty() => first(
                "the header has neither a line `unit: …`, as that of a metric, nor lines `column: …`, as that of a view",
            ),
            None if fold.is_some() || per_core || !aliases.is_empty() => {
                first("a view has no fold, group or alias; a metric has, and a line `unit: …`")
            }
            None => {
                let area = area.to_owned();
                Ok(Self::View(View { name, area, doc, params, columns, sql, file }))
            }
        }
    }
}

/// The SQL library of a session.
#[derive(Debug, Clone, Default)]
pub struct Queries {
    pub(super) metrics: Vec<Metric>,
    pub(super) views: Vec<View>,
}

impl Queries {
    /// What ships in the binary.
    pub fn shipped() -> Arc<Self> {
        static SHIPPED: LazyLock<Arc<Queries>> = LazyLock::new(|| Arc::new(shipped::queries()));
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
        folders::read(folders, Self::clone(&Self::shipped()), parse).map(Arc::new)
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

impl Metric {
    /// Its name, and then its other names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.name.as_str()).chain(self.aliases.iter().map(|a| a.name.as_str()))
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

    #[test]
    fn a_file_is_a_metric_or_a_view() {
        let parse = |header: &str| Query::parse("a", "x", &format!("-- A file.\n{header}SELECT 1"), None);
        assert!(matches!(parse("-- unit: count\n"), Ok(Query::Metric(_))));
        assert!(matches!(parse("-- column: n integer One.\n"), Ok(Query::View(_))));
        let refused = [
            "",
            "-- unit: count\n-- column: n integer One.\n",
            "-- unit: count\n-- fold: share\n",
            "-- unit: count\n-- param: from time Begin.\n",
            "-- unit: count\n-- param: from time Begin.\n-- param: width time Width.\n",
            "-- column: n integer One.\n-- fold: sum\n",
        ];
        for header in refused {
            assert!(parse(header).is_err_and(|e| e.line == 1), "{header}");
        }
    }
}
