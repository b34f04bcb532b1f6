//! What a metric and a view are. Not where they come from (see `file`), and not for running them.

use crate::words::words;
use std::borrow::Cow;
use std::path::PathBuf;

words! {
    /// What the value of a metric is. `as_str` is the word in the header of the SQL file and in the `unit` column of a result.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Unit {
        /// A length of time, in ticks of the database's time scale.
        Duration = "duration",
        /// How many.
        Count = "count",
        /// A share of 100.
        Percent = "percent",
    }
}

words! {
    /// How the rows of a metric that has one value per entity (and window of time) become that value. `as_str` is the word in
    /// the header of the SQL file.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Fold {
        /// The values of the rows whose `at` lies in the window are added; an entity without such rows has 0.
        Sum = "sum",
        /// A row is a stretch of time that begins at `at` and is `value` ticks long; its part in the window counts, as a share
        /// of the window's part in the recording, in percent.
        Share = "share",
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

impl Metric {
    /// Its name, and then its other names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.name.as_str()).chain(self.aliases.iter().map(|a| a.name.as_str()))
    }
}
