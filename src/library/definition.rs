//! Metrics and views as data. Not where they come from (see `file`), and not for running them.

use crate::words::words;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::path::PathBuf;

words! {
    /// The unit of the values of a metric. `as_str` is the word in the header of the SQL file and in the
    /// `unit` column of a result.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    pub enum Unit {
        /// Ticks of the database's time scale.
        Duration = "duration",
        /// A number of events or instances.
        Count = "count",
        /// A share of the whole, which is 100.
        Percent = "percent",
    }
}

words! {
    /// How rows become the value of a metric that has one value per entity and window of time. `as_str` is
    /// the word in the header of the SQL file.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    pub enum Fold {
        /// The sum of the values whose `at` is in the window; 0 for an entity without such rows.
        Sum = "sum",
        /// A row is a span of `value` ticks that begins at `at`. Its part in the window counts, in percent of
        /// the part of the window that is within the recording.
        Share = "share",
    }
}

/// The description of a column, parameter or argument.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Documented {
    /// Name in SQL; a parameter is written `$NAME`.
    pub name: Cow<'static, str>,
    /// The type. In a header: `text`, `integer`, `time`, `duration`, `percent`, `number`, `boolean` or
    /// `list`. Table functions also have types that are not values, e.g. `relation`, `columns` and
    /// `condition`.
    pub ty: Cow<'static, str>,
    /// What it means.
    pub doc: Cow<'static, str>,
}

/// Another name of a metric.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alias {
    /// The name.
    pub name: String,
    /// The origin of the name, and the column of the result that it denotes or how its definition differs.
    pub doc: String,
}

/// A metric: one `SELECT` with the columns [`METRIC_COLUMNS`], one row per sample.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Metric {
    /// Its name: the one in AMALTHEA, if there is one.
    pub name: String,
    /// What it measures, from the header.
    pub doc: String,
    /// The unit of its values.
    pub unit: Unit,
    /// Whether an entity has one result per core (`true`) or one for all its cores (`false`).
    pub per_core: bool,
    /// How rows become one value per entity; `None`: every row is a sample.
    pub fold: Option<Fold>,
    /// `$from` and `$to`, if the SQL has them: the requested window. Rows outside of it need not be read.
    pub params: Vec<Documented>,
    /// Its names in other tools, and short forms.
    pub aliases: Vec<Alias>,
    /// The SQL text, with its header.
    pub sql: String,
    /// The path of its file; `None` if it ships in the binary.
    pub file: Option<PathBuf>,
}

/// A view: a named query that SQL reads like a table.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct View {
    /// Name in SQL.
    pub name: String,
    /// Its subject: the name of the folder of its file.
    pub area: String,
    /// The meaning of a row, from the header.
    pub doc: String,
    /// Its parameters, `$NAME` in SQL. The values are given with the query that reads the view.
    pub params: Vec<Documented>,
    /// Its columns, in order.
    pub columns: Vec<Documented>,
    /// The SQL text, with its header.
    pub sql: String,
    /// The path of its file; `None` if it ships in the binary.
    pub file: Option<PathBuf>,
}

/// The columns of every metric. `value` is NULL for an instance that the trace cuts off. It is counted as
/// incomplete and used for nothing else.
pub const METRIC_COLUMNS: [&str; 7] = ["recording", "entity", "type", "core", "instance", "value", "at"];

impl Metric {
    /// Its name, followed by its aliases.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.name.as_str()).chain(self.aliases.iter().map(|a| a.name.as_str()))
    }
}
