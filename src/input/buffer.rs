//! Memory of a chunk: a piece of the input at a place that suits the disk, and room in front of it for the line that began in the
//! piece before. Not what is read into it, nor when.

use std::fmt;
use std::io;
use std::ops::{Deref, Range};

use memmap2::MmapMut;

use super::{CHUNK_BYTES, MAX_LINE};

/// Where pieces begin in memory is a multiple of this: a huge page of most processors, and more than any disk asks for.
const ALIGNED: usize = 2 << 20;
/// Room in front of a piece.
const FRONT: usize = MAX_LINE.next_multiple_of(ALIGNED);

/// The bytes of a chunk, which it gives as a slice.
pub struct Buffer {
    memory: MmapMut,
    /// Where the piece begins in it.
    piece: usize,
    content: Range<usize>,
}

impl Buffer {
    /// Without content. Memory is taken when it is written; that of a piece in a page as large as the system has them, so that a disk
    /// is asked for all of it at once.
    pub(super) fn new() -> io::Result<Self> {
        let memory = MmapMut::map_anon(ALIGNED + FRONT + CHUNK_BYTES)?;
        let piece = memory.as_ptr().align_offset(ALIGNED).min(ALIGNED) + FRONT;
        #[cfg(target_os = "linux")]
        // Where there are none, small ones will do.
        let _ = memory.advise_range(memmap2::Advice::HugePage, piece, CHUNK_BYTES);
        Ok(Self { memory, piece, content: piece..piece })
    }

    /// Forgets its content.
    pub(super) fn clear(&mut self) {
        self.content = self.piece..self.piece;
    }

    /// How much of the piece is there, in bytes.
    pub(super) fn filled(&self) -> usize {
        self.content.end - self.piece
    }

    /// Room for the piece up to its byte `end`, behind what is there.
    pub(super) fn room(&mut self, end: usize) -> &mut [u8] {
        self.memory.get_mut(self.content.end..self.piece + end.min(CHUNK_BYTES)).unwrap_or_default()
    }

    /// So many more bytes of the piece are there, in the room.
    pub(super) fn add(&mut self, count: usize) {
        self.content.end += count;
    }

    /// Puts the beginning of a line, at most [`MAX_LINE`] bytes, in front of its content.
    pub(super) fn prepend(&mut self, line: &[u8]) {
        let begin = self.content.start.saturating_sub(line.len());
        if let Some(room) = self.memory.get_mut(begin..self.content.start) {
            room.copy_from_slice(line);
            self.content.start = begin;
        }
    }

    /// Keeps so many bytes of its content.
    pub(super) fn truncate(&mut self, length: usize) {
        self.content.end = self.content.end.min(self.content.start + length);
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.memory.get(self.content.clone()).unwrap_or_default()
    }
}

impl PartialEq for Buffer {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Buffer {}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer({:?})", String::from_utf8_lossy(self))
    }
}
