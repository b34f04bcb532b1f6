//! The database: Parquet files and a log of commits that says which of them count, in a folder of a disk or
//! in a bucket of an object store. The only place that creates, renames, syncs or removes files inside a
//! database. It does so in an order that keeps a database either the old one or the new one at any time. Not
//! for what the rows mean.

mod bucket;
mod checksum;
mod columns;
mod database;
mod delta;
mod disk;
mod draft;
#[cfg(test)]
#[path = "../../tests/faulty_disk/mod.rs"]
mod faulty_disk;
mod folder;
mod id;
mod layout;
mod location;
mod lock;
mod log;
mod occurrences;
#[cfg(feature = "engine")]
mod open_files;
mod page_sums;
mod place;
mod real_disk;
mod recording;
mod repair;
#[cfg(feature = "engine")]
mod resequence;
mod reserve;
mod row_groups;
#[cfg(feature = "engine")]
mod scan;
mod source;
mod staging;
mod table_reader;
mod table_writer;
mod target;
mod transaction;
mod vacuum;
mod verify;
mod write_behind;

pub use bucket::{Remote, is_url};
pub use database::Database;
pub use delta::{DeltaReport, publish_delta};
pub use disk::{Disk, DiskFile};
pub use location::Location;
pub use log::as_written;
pub use occurrences::Occurrence;
#[cfg(feature = "engine")]
pub(crate) use open_files::OpenFile;
pub use page_sums::{PageSum, PageSums, TableSeal, encode as encode_page_sums};
pub use place::Place;
pub use real_disk::RealDisk;
pub use recording::{FileEntry, Recording};
pub use repair::repair_log;
#[cfg(feature = "engine")]
pub(crate) use resequence::Resequenced;
pub use row_groups::{names_in, occurrences_in, row_group_spans, row_groups_with};
#[cfg(feature = "engine")]
pub(crate) use scan::{Having, Scan, Scanner, Within};
pub use table_reader::{read_batches, read_row_groups};
pub use table_writer::{StagedFile, TableWriter};
pub use transaction::Transaction;
pub use vacuum::{VacuumReport, vacuum};
pub use verify::{VerifyReport, verify};

#[cfg(test)]
mod tests;
