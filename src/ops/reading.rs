//! An input, prefetched by a pipeline. Not for what is in it.

use super::control::Control;
use crate::error::{Error, ErrorKind, Result};
use crate::input::{Chunk, Digest, Piece, Source};
use crate::pipeline::Pipeline;

/// Gives each chunk of `source` to `take`, in order, which tells how many rows it had, for progress. What was read, at the end.
///
/// # Errors
/// Those of reading and of `take`; the user has had enough.
pub(super) fn read_all(
    pipeline: &Pipeline<'_>,
    source: Source,
    control: &Control,
    mut take: impl FnMut(&Chunk) -> Result<u64>,
) -> Result<Digest> {
    let (pieces, used) = source.pieces();
    for piece in pipeline.prefetch_first(pieces) {
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
