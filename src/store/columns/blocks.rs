//! The bytes of a column chunk on their way to the file, in blocks of one size. A vector would be copied when
//! it grows, and leave a hole in memory that no other column can use. Knows nothing of what the bytes mean.

use std::collections::VecDeque;
use std::io::{self, Read, Write};

use bytes::{Buf as _, Bytes};
use parquet::errors::Result;
use parquet::file::reader::{ChunkReader, Length};

const BLOCK: usize = 64 * 1024;

/// Bytes, written at the end and read from anywhere.
#[derive(Default)]
pub(super) struct Blocks {
    /// All but the last are full.
    blocks: Vec<Vec<u8>>,
}

/// Bytes that no longer change.
pub(super) struct Sealed {
    blocks: VecDeque<Bytes>,
    len: usize,
}

impl Blocks {
    /// These bytes, followed by those of `later`.
    pub fn seal(self, later: Self) -> Sealed {
        let blocks: VecDeque<_> = self.blocks.into_iter().chain(later.blocks).map(Bytes::from).collect();
        let len = blocks.iter().map(Bytes::len).sum();
        Sealed { blocks, len }
    }
}

impl Write for Blocks {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.blocks.last().is_none_or(|last| last.len() == BLOCK) {
            self.blocks.push(Vec::with_capacity(BLOCK));
        }
        let Some(last) = self.blocks.last_mut() else { return Ok(0) };
        let now = bytes.len().min(BLOCK - last.len());
        last.extend_from_slice(bytes.split_at(now).0);
        Ok(now)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Length for Sealed {
    fn len(&self) -> u64 {
        self.len as u64
    }
}

impl ChunkReader for Sealed {
    type T = Reader;

    fn get_read(&self, start: u64) -> Result<Reader> {
        let mut reader = Reader(self.blocks.clone());
        io::copy(&mut reader.by_ref().take(start), &mut io::sink())?;
        Ok(reader)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let mut bytes = vec![0; length];
        self.get_read(start)?.read_exact(&mut bytes)?;
        Ok(bytes.into())
    }
}

pub(super) struct Reader(VecDeque<Bytes>);

impl Read for Reader {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let Some(mut block) = self.0.pop_front() else { return Ok(0) };
        let now = block.as_ref().read(into)?;
        block.advance(now);
        if !block.is_empty() {
            self.0.push_front(block);
        }
        Ok(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read() {
        let bytes: Vec<u8> = (0..3 * BLOCK + 5).map(|n| (n % 251) as u8).collect();
        for cut in [0, 1, BLOCK - 1, BLOCK, 2 * BLOCK + 7, bytes.len()] {
            let (mut first, mut later) = (Blocks::default(), Blocks::default());
            let (front, back) = bytes.split_at(cut);
            front.chunks(1000).for_each(|chunk| first.write_all(chunk).unwrap());
            later.write_all(back).unwrap();
            let sealed = first.seal(later);
            assert_eq!(sealed.len(), bytes.len() as u64);
            for start in [0, cut, bytes.len()] {
                let read = sealed.get_bytes(start as u64, bytes.len() - start).unwrap();
                assert!(read == bytes[start..], "from {start} of {cut}");
            }
            assert!(sealed.get_bytes(1, bytes.len()).is_err(), "more than there is");
        }
        assert_eq!(Blocks::default().seal(Blocks::default()).len(), 0);
    }
}
