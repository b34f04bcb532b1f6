//! Memory of a chunk: a piece of the input at an aligned address, as direct reads need it, and room before it
//! for the line that began in the previous piece. Not what is read into it, nor when.

use std::fmt;
use std::io;
use std::ops::{Deref, Range};

use memmap2::MmapMut;

use super::{CHUNK_BYTES, MAX_LINE};

/// Alignment of pieces in memory: a huge page of most processors, and more than any disk needs.
const ALIGNED: usize = 2 << 20;
/// Room before a piece.
const FRONT: usize = MAX_LINE.next_multiple_of(ALIGNED);

/// The bytes of a chunk; dereferences to a slice.
pub struct Buffer {
    memory: MmapMut,
    /// Offset of the piece in `memory`.
    piece: usize,
    content: Range<usize>,
    /// It was made by [`Buffer::huge`].
    pub(super) is_huge: bool,
}

impl Buffer {
    /// Empty. Memory is taken page by page, when it is written.
    pub(super) fn new() -> io::Result<Self> {
        let memory = MmapMut::map_anon(ALIGNED + FRONT + CHUNK_BYTES)?;
        let piece = memory.as_ptr().align_offset(ALIGNED).min(ALIGNED) + FRONT;
        Ok(Self { memory, piece, content: piece..piece, is_huge: false })
    }

    /// A copy of some bytes, which fit a piece.
    pub(super) fn of(bytes: &[u8]) -> io::Result<Self> {
        let mut buffer = Self::new()?;
        let room = buffer.room(bytes.len());
        if room.len() < bytes.len() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "more bytes than a piece has"));
        }
        room.copy_from_slice(bytes);
        buffer.add(bytes.len());
        Ok(buffer)
    }

    /// Empty, with the piece in huge pages: one request to the disk covers it. The first write takes them.
    pub(super) fn huge() -> io::Result<Self> {
        let buffer = Self::new()?;
        #[cfg(target_os = "linux")]
        // Without huge pages, small ones will do. Not for the room before it: most of it would be unused.
        let _ = (
            buffer.memory.advise_range(memmap2::Advice::NoHugePage, 0, buffer.piece),
            buffer.memory.advise_range(memmap2::Advice::HugePage, buffer.piece, CHUNK_BYTES),
        );
        Ok(Self { is_huge: true, ..buffer })
    }

    /// Forgets its content.
    pub(super) fn clear(&mut self) {
        self.content = self.piece..self.piece;
    }

    /// Bytes of the piece that were read.
    pub(super) fn filled(&self) -> usize {
        self.content.end - self.piece
    }

    /// Room for the rest of the piece, up to its byte `end`.
    pub(super) fn room(&mut self, end: usize) -> &mut [u8] {
        self.memory.get_mut(self.content.end..self.piece + end.min(CHUNK_BYTES)).unwrap_or_default()
    }

    /// Marks `count` bytes of the room as written.
    pub(super) fn add(&mut self, count: usize) {
        self.content.end += count;
    }

    /// Puts the beginning of a line, at most [`MAX_LINE`] bytes, before the content.
    pub(super) fn prepend(&mut self, line: &[u8]) {
        const { assert!(MAX_LINE <= FRONT) };
        debug_assert!(line.len() <= MAX_LINE && self.content.start == self.piece, "{} bytes", line.len());
        let begin = self.content.start.saturating_sub(line.len());
        if let Some(room) = self.memory.get_mut(begin..self.content.start) {
            room.copy_from_slice(line);
            self.content.start = begin;
        }
    }

    /// The content, to be changed.
    pub(super) fn content_mut(&mut self) -> &mut [u8] {
        self.memory.get_mut(self.content.clone()).unwrap_or_default()
    }

    /// Keeps the first `length` bytes of the content.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_lies_where_a_disk_can_write_it() {
        for make in [Buffer::new, Buffer::huge] {
            let mut buffer = make().unwrap();
            let room = buffer.room(usize::MAX);
            assert_eq!((room.as_ptr().addr() % ALIGNED, room.len()), (0, CHUNK_BYTES));
            room.fill(b'x');
            buffer.add(CHUNK_BYTES);
            assert!(buffer.room(CHUNK_BYTES).is_empty());
            buffer.prepend(&vec![b'y'; MAX_LINE]);
            assert_eq!((buffer.len(), buffer.filled()), (MAX_LINE + CHUNK_BYTES, CHUNK_BYTES));
            assert!(buffer.starts_with(b"yy") && buffer.ends_with(b"xx"));
        }
    }
}
