//! Checksums that the log has of files: XXH3-128, which finds accidents, not attacks. Of a file of a table it
//! has that of the tail, where the sums of the pages are (see `page_sums`).

use std::io::{self, BufWriter, Write};

use twox_hash::XxHash3_128;
use twox_hash::xxhash3_128::Hasher;

use super::disk::DiskFile;

/// The number of bytes written at once.
const BUFFER: usize = 128 * 1024;

/// Size in bytes and checksum of a file or its tail, as the log has them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seal {
    pub(super) bytes: u64,
    pub(super) checksum: String,
}

impl Seal {
    pub(super) fn of(bytes: &[u8]) -> Self {
        Self { bytes: bytes.len() as u64, checksum: text(XxHash3_128::oneshot(bytes)) }
    }
}

fn text(hash: u128) -> String {
    format!("xxh3-128:{hash:032x}")
}

/// A file being written that knows its seal.
pub(super) struct SealedFile {
    file: BufWriter<Box<dyn DiskFile>>,
    hasher: Hasher,
    bytes: u64,
    /// Where the part begins that has the checksum.
    from: u64,
}

impl SealedFile {
    pub(super) fn new(file: Box<dyn DiskFile>) -> Self {
        // Parquet writes pieces of 8 KiB.
        let file = BufWriter::with_capacity(BUFFER, file);
        Self { file, hasher: Hasher::new(), bytes: 0, from: 0 }
    }

    /// The checksum is that of what is written behind `at`, which was not written yet.
    pub(super) fn seal_from(&mut self, at: u64) {
        self.from = at;
    }

    /// The size of the whole file, and the checksum.
    pub(super) fn finish(mut self) -> io::Result<Seal> {
        self.file.flush()?;
        self.file.get_mut().sync()?;
        Ok(Seal { bytes: self.bytes, checksum: text(self.hasher.finish_128()) })
    }
}

impl Write for SealedFile {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let written = self.file.write(buffer)?;
        let before = self.from.saturating_sub(self.bytes);
        let before = usize::try_from(before).unwrap_or(usize::MAX);
        self.hasher.write(buffer.get(before..written).unwrap_or_default());
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Disk, RealDisk};

    #[test]
    fn writing_and_memory_agree() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        let content: Vec<u8> = (0..3_000_000u32).map(|n| (n * 7) as u8).collect();
        let mut file = SealedFile::new(RealDisk.create(&path).unwrap());
        content.chunks(4097).for_each(|c| file.write_all(c).unwrap());
        let seal = file.finish().unwrap();
        assert_eq!(seal, Seal::of(&content));
    }

    #[test]
    fn a_tail_has_the_checksum_of_its_bytes() {
        let dir = tempfile::tempdir().unwrap();
        let content: Vec<u8> = (0..1000u32).map(|n| n as u8).collect();
        for from in [0, 1, 499, 500, 501, 1000] {
            let mut file = SealedFile::new(RealDisk.create(&dir.path().join(from.to_string())).unwrap());
            file.seal_from(u64::MAX);
            let (early, late) = content.split_at(from / 2);
            file.write_all(early).unwrap();
            file.seal_from(from as u64);
            late.chunks(7).for_each(|chunk| file.write_all(chunk).unwrap());
            let seal = file.finish().unwrap();
            assert_eq!((seal.bytes, seal.checksum), (1000, Seal::of(&content[from..]).checksum));
        }
    }

    #[test]
    fn the_empty_file_has_the_published_checksum() {
        assert_eq!(Seal::of(b"").checksum, "xxh3-128:99aa06d3014798d86001c324468d497f");
    }
}
