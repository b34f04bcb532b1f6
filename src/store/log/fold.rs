//! Makes a checkpoint of the pieces before it. Not when one is due (see `levels`), nor the file itself (see
//! `checkpoint`).

use super::checkpoint;
use super::levels::FOLD;
use super::snapshot::{folded, pieces};
use crate::error::Result;
use crate::store::folder::Folder;
use crate::store::layout;

/// Makes a checkpoint by way of the file `staged`. It says nothing new: a database without it is the same.
pub(in crate::store) fn write_checkpoint(
    folder: &Folder,
    number: u64,
    level: u32,
    staged: &str,
) -> Result<()> {
    let after = number.saturating_sub(FOLD.pow(level));
    let pieces = pieces(folder.root(), after, number)?;
    let Some(head) = pieces.first().map(|piece| piece.head().clone()) else { return Ok(()) };
    let (mut puts, drops) = folded(&pieces)?;
    puts.sort_by(|a, b| a.name.cmp(&b.name));
    // Nothing is before the first commit that could be dropped.
    let mut drops: Vec<_> = drops.into_iter().filter(|_| after > 0).collect();
    drops.sort_unstable();
    folder.write(staged, &checkpoint::to_bytes(after, head, &puts, drops)?)?;
    folder.rename(staged, &layout::checkpoint(number, level))
}
