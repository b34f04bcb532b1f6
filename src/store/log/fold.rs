//! Makes a checkpoint of the pieces before it. Not when one is due (see `levels`), nor the file itself (see
//! `checkpoint`).

use super::checkpoint;
use super::levels::FOLD;
use super::snapshot::{folded, pieces};
use crate::error::Result;
use crate::store::location::Location;

/// The content of the checkpoint of a level that ends with a commit. It says nothing new: a database without
/// it is the same.
pub(in crate::store) fn folded_log(location: &Location, number: u64, level: u32) -> Result<Vec<u8>> {
    let after = number.saturating_sub(FOLD.saturating_pow(level));
    let pieces = pieces(location, after, number)?;
    let Some(head) = pieces.first().map(|piece| piece.head().clone()) else { return Ok(Vec::new()) };
    let (mut puts, drops) = folded(&pieces)?;
    puts.sort_by(|a, b| a.name.cmp(&b.name));
    // Nothing is before the first commit that could be dropped.
    let mut drops: Vec<_> = drops.into_iter().filter(|_| after > 0).collect();
    drops.sort_unstable();
    checkpoint::to_bytes(after, head, &puts, drops)
}
