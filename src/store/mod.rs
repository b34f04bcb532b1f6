//! The database on disk: a folder of Parquet files and a manifest that says which of them count. The only
//! place that creates, renames, syncs or removes files inside a database. It does so in an order that keeps a
//! database either the old one or the new one at any time. Not for what the rows mean.

mod checksum;
mod columns;
mod commit;
mod database;
mod disk;
#[cfg(test)]
#[path = "../../tests/faulty_disk/mod.rs"]
mod faulty_disk;
mod folder;
mod layout;
mod lock;
mod manifest;
mod open;
mod real_disk;
#[cfg(feature = "engine")]
mod resequence;
mod row_groups;
#[cfg(feature = "engine")]
mod scan;
mod table_reader;
mod table_writer;
mod transaction;
mod verify;
mod write_behind;

pub use database::Database;
pub use disk::{Disk, DiskFile};
pub use manifest::{FileEntry, RecordingEntry};
pub use real_disk::RealDisk;
#[cfg(feature = "engine")]
pub(crate) use resequence::Resequenced;
pub use row_groups::{names_in, row_group_spans, row_groups_with};
#[cfg(feature = "engine")]
pub(crate) use scan::{Having, Scan, Scanner, Within};
pub use table_reader::{read_batches, read_row_groups};
pub use table_writer::{StagedFile, TableWriter};
pub use transaction::Transaction;
pub use verify::{VerifyReport, verify};

#[cfg(test)]
mod tests;
