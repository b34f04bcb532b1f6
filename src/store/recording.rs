//! What a database knows of one recording: its extent and its files. A commit replaces it as a whole. Not
//! where it is written down (see `log`).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::checksum::Seal;
use super::layout;
use super::page_sums::TableSeal;
use super::place::Place;
use crate::error::{Error, Result};
use crate::schema::TableSpec;

/// Fields that a later btfdb wrote, and this one does not know; kept when the log is folded.
pub(super) type Unknown = BTreeMap<String, serde_json::Value>;

/// A recording, and its files.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Recording {
    /// Its name, unique in the database.
    pub name: String,
    /// Recordings that came later have a greater one.
    pub(super) ordinal: u64,
    /// First instant in ticks; `None` when nothing in it has a time.
    pub begin_at: Option<i64>,
    /// Last instant in ticks, inclusive.
    pub end_at: Option<i64>,
    /// What the user said of it: labels and their values.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Its files of tables, by table, core and part.
    pub files: Vec<FileEntry>,
    /// Its other files, by path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) blobs: Vec<BlobEntry>,
    #[serde(flatten)]
    pub(super) other: Unknown,
}

/// One file of a table.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FileEntry {
    /// Its path, relative to the database, with `/`.
    pub path: String,
    pub table: String,
    pub recording: String,
    /// The core, in tables that are divided by core.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core: Option<String>,
    /// Number of rows; never 0.
    pub rows: u64,
    pub bytes: u64,
    /// How many of its bytes are behind its last page.
    pub(crate) tail: u64,
    /// Earliest instant in any of its columns, in ticks; `None` if there is none.
    pub begin_at: Option<i64>,
    /// Latest instant in any of its columns, in ticks, inclusive.
    pub end_at: Option<i64>,
    /// That of the tail, which has the sums of the pages: `xxh3-128:` and 32 hexadecimal digits.
    pub checksum: String,
    #[serde(flatten)]
    pub(super) other: Unknown,
}

/// One file that is not a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct BlobEntry {
    /// Its path, relative to the database, with `/`.
    pub path: String,
    /// What it is, e.g. `setup`.
    pub kind: String,
    pub name: String,
    pub bytes: u64,
    /// `xxh3-128:` and 32 hexadecimal digits.
    pub checksum: String,
    #[serde(flatten)]
    pub other: Unknown,
}

impl Recording {
    /// The files of a table, in order.
    pub fn files_of(&self, table: &TableSpec) -> impl Iterator<Item = &FileEntry> {
        self.files.iter().filter(|f| f.table == table.name)
    }

    /// Whether it has rows of a table.
    pub fn has(&self, table: &TableSpec) -> bool {
        self.files_of(table).next().is_some()
    }

    /// How many bytes its files have.
    #[cfg(feature = "engine")]
    pub(crate) fn bytes(&self) -> u64 {
        self.files.iter().map(|f| f.bytes).chain(self.blobs.iter().map(|b| b.bytes)).sum()
    }

    /// The paths of all its files, relative to the database.
    pub fn file_paths(&self) -> impl Iterator<Item = &str> {
        self.paths()
    }

    /// The paths of all its files.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|f| f.path.as_str()).chain(self.blobs.iter().map(|b| b.path.as_str()))
    }

    /// Sorts the files, so that the order in which they were added does not matter.
    pub(super) fn sort(&mut self) {
        self.files.sort_by_cached_key(|f| (f.table.clone(), f.core.clone(), layout::number(&f.path)));
        self.blobs.sort_by(|a, b| a.path.cmp(&b.path));
    }
}

impl FileEntry {
    pub(super) fn seal(&self) -> TableSeal {
        TableSeal { bytes: self.bytes, tail: self.tail, checksum: self.checksum.clone() }
    }
}

impl BlobEntry {
    /// The content of the file, which is at `place` now.
    pub(super) fn read(&self, place: &Place) -> Result<Vec<u8>> {
        let missing = || Error::io("read", place.path(), std::io::ErrorKind::NotFound.into());
        let content = place.content()?.ok_or_else(missing)?;
        if Seal::of(&content).checksum != self.checksum {
            return Err(Error::database("the file is damaged, or has just been replaced")
                .at(place.path())
                .hint("try again; if it stays, run `btfdb verify DB`"));
        }
        Ok(content.into())
    }
}
