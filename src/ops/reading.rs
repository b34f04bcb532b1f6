//! An input, read by a crew ahead of the one who needs it. Not for what is in it.

use super::control::Control;
use super::crew::Crew;
use crate::error::{Error, ErrorKind, Result};
use crate::input::{Chunk, Digest, Piece, Source};

/// Gives each chunk of `source` to `take`, in order, which tells how many rows it had, for progress. What was read, at the end.
///
/// # Errors
/// Those of reading and of `take`; the user has had enough.
pub(super) fn read_all(
    crew: &Crew<'_>,
    source: Source,
    control: &Control,
    mut take: impl FnMut(&Chunk) -> Result<u64>,
) -> Result<Digest> {
    let (pieces, used) = source.pieces();
    for piece in crew.ahead_of_all(pieces) {
        control.check()?;
        match piece? {
            Piece::Chunk { chunk, raw } => {
                let rows = take(&chunk)?;
                control.advance(raw, rows);
                used.give(chunk.bytes);
            }
            Piece::End(digest) => return Ok(digest),
        }
    }
    Err(Error::new(ErrorKind::Bug, "an input has no end"))
}
