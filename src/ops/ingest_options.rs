//! How recordings are ingested. Not the ingest (see `ingest`).

use super::map::MapOptions;
use crate::btf::MOST_NAMES;
use crate::encoding::Encoding;
use crate::error::Result;
use crate::formats::{FORMATS, TraceFormat};
use crate::options::OptionValues;
use crate::schema::TableSpec;
use crate::time::TimeScale;
use arrow::array::{BooleanArray, RecordBatch};
use std::sync::Arc;

/// All columns of a table in, true or false for each row out.
pub type Choice = dyn Fn(&RecordBatch) -> Result<BooleanArray> + Send + Sync;

/// Which rows of a table are kept; what is derived from them comes from all.
#[derive(Clone)]
pub struct Keep {
    pub table: &'static TableSpec,
    /// Tells which of its rows are kept.
    pub rows: Arc<Choice>,
}

impl std::fmt::Debug for Keep {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Keep")
    }
}

/// How to ingest.
#[derive(Debug, Clone)]
pub struct Options {
    /// Time scale of a new database; an existing one keeps its own.
    pub time_scale: Option<TimeScale>,
    /// The recording of the database that the inputs continue; `None`: each is a recording of its own.
    pub continues: Option<String>,
    /// A recording of the same name gives way, in the same commit.
    pub replace: bool,
    /// Map as well, where a recording says how.
    pub map: bool,
    /// Refuse everything when there is any finding of severity error, or a name in a description that nothing
    /// has.
    pub strict: bool,
    /// The formats that there are.
    pub formats: &'static [&'static dyn TraceFormat],
    /// The format that inputs are said to be of; told by content when `None`.
    pub format: Option<&'static dyn TraceFormat>,
    /// How text inputs are encoded; told by content when `None`: UTF-8 or UTF-16.
    pub encoding: Option<Encoding>,
    /// The most bytes that a compressed input may unpack to.
    pub max_unpacked: u64,
    /// The most bytes that the different names in the system events of a recording may have together.
    pub max_names: u64,
    /// Descriptions may name files outside of their folders, by any path.
    pub allow_outside: bool,
    /// Options of the formats.
    pub of_formats: OptionValues,
    /// Cores, names or an operating system were given in addition to descriptions: only exports of a probe
    /// take them.
    pub described: bool,
    /// Which rows are kept; all when `None`.
    pub keep: Option<Keep>,
    /// Make the digest of each input, for table `source`.
    pub digest: bool,
    /// Threads to use, besides those that only wait for the disk; tables do not depend on it.
    pub threads: usize,
}

impl Options {
    /// What of them a mapping needs.
    pub(super) fn of_mapping(&self) -> MapOptions {
        MapOptions { threads: self.threads, max_names: self.max_names }
    }
}

impl Default for Options {
    /// Everything that can be is mapped and told by content, findings are kept, one thread, 1 TiB unpacked,
    /// 1 GiB of names.
    fn default() -> Self {
        Self {
            time_scale: None,
            continues: None,
            replace: false,
            map: true,
            strict: false,
            formats: FORMATS,
            format: None,
            encoding: None,
            max_unpacked: 1 << 40,
            max_names: MOST_NAMES,
            allow_outside: false,
            of_formats: OptionValues::default(),
            described: false,
            keep: None,
            digest: true,
            threads: 1,
        }
    }
}
