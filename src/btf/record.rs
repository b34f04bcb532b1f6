//! One event line of a BTF file, unchanged: text of any vendor, instances that may be missing. Readers
//! produce it, `check` and `compare` judge it. The events of the mappers are [`super::Event`].

use crate::error::Result;
use serde::{Deserialize, Serialize};

/// The octuple of the thesis, equation 2.1, as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record<'a> {
    /// When, in ticks of the database.
    pub time: i64,
    /// Entity that caused the event.
    pub source: &'a str,
    /// Its instance; `None` when the field is empty.
    pub source_instance: Option<i64>,
    /// Type of the target, in the spelling of the file.
    pub target_type: &'a str,
    /// Entity that the event happened to.
    pub target: &'a str,
    /// Its instance; `None` when the field is empty.
    pub target_instance: Option<i64>,
    /// What happened, in the spelling of the file.
    pub action: &'a str,
    /// The rest of the line; `None` when it has seven fields.
    pub note: Option<&'a str>,
}

/// Where a record is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Place {
    /// Number of the event within its recording, from 0, in the order of the file.
    pub seq: i64,
    /// 1-based line of the file it was read from; `None` for events that were mapped.
    pub line: Option<u64>,
}

/// A stream of records in the order of their file (`seq`).
pub trait Records {
    /// The next record; `None` at the end.
    ///
    /// # Errors
    /// When the records cannot be read.
    fn next(&mut self) -> Result<Option<(Place, Record<'_>)>>;
}
