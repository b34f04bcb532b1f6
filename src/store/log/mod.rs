//! The log of commits: what a database is. Each commit is one small file with the next number, which is made
//! if it is not there and never changed. Every eighth commit, a checkpoint folds the last 8, 64, 512, …
//! commits into one file, so that opening a database reads a few files, however many commits there were. Not
//! how a commit is made (see [`super::target`]).
//!
//! ```text
//!  log/00000000000000000017.json          one commit: the recordings that it puts and drops
//!  log/00000000000000000016.1.checkpoint  the commits 9 to 16
//!  log/tip                                the number of a commit that is not long ago
//! ```

mod audit;
mod checkpoint;
mod entry;
mod fold;
mod levels;
mod sealed;
mod snapshot;
mod tip;
mod written;

pub(super) use audit::{audit, is_sound};
pub(super) use entry::{Commit, Head};
pub(super) use fold::folded_log;
pub(super) use levels::{due_levels, folded_in, levels};
pub(super) use snapshot::{Snapshot, files_of_log, pieces, pieces_of, tip};
pub(super) use tip::{note, noted};
pub use written::as_written;
