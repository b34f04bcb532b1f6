//! The checksum of every file of a database: XXH3-128, which finds accidents, not attacks. Not a Parquet
//! matter: Parquet does not notice damage by itself.

use std::io::{self, BufWriter, Read, Write};

use twox_hash::XxHash3_128;
use twox_hash::xxhash3_128::Hasher;

use super::disk::DiskFile;

/// The number of bytes read and written at once.
const BUFFER: usize = 128 * 1024;

/// Size in bytes and checksum of a file, as the log has them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seal {
    pub(super) bytes: u64,
    pub(super) checksum: String,
}

impl Seal {
    pub(super) fn of(bytes: &[u8]) -> Self {
        Self { bytes: bytes.len() as u64, checksum: text(XxHash3_128::oneshot(bytes)) }
    }

    /// The seal of what a reader reads.
    pub(super) fn of_all(mut file: impl Read) -> io::Result<Self> {
        let mut buffer = vec![0; BUFFER];
        let (mut bytes, mut hasher) = (0, Hasher::new());
        loop {
            match file.read(&mut buffer) {
                Ok(0) => return Ok(Self { bytes, checksum: text(hasher.finish_128()) }),
                Ok(n) => {
                    hasher.write(buffer.get(..n).unwrap_or_default());
                    bytes += n as u64;
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
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
}

impl SealedFile {
    pub(super) fn new(file: Box<dyn DiskFile>) -> Self {
        // Parquet writes pieces of 8 KiB.
        let file = BufWriter::with_capacity(BUFFER, file);
        Self { file, hasher: Hasher::new(), bytes: 0 }
    }

    pub(super) fn finish(mut self) -> io::Result<Seal> {
        self.file.flush()?;
        self.file.get_mut().sync()?;
        Ok(Seal { bytes: self.bytes, checksum: text(self.hasher.finish_128()) })
    }
}

impl Write for SealedFile {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let written = self.file.write(buffer)?;
        self.hasher.write(buffer.get(..written).unwrap_or(buffer));
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
    fn writing_reading_and_memory_agree() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        let content: Vec<u8> = (0..3_000_000u32).map(|n| (n * 7) as u8).collect();
        let mut file = SealedFile::new(RealDisk.create(&path).unwrap());
        content.chunks(4097).for_each(|c| file.write_all(c).unwrap());
        let seal = file.finish().unwrap();
        assert_eq!(seal, Seal::of(&content));
        assert_eq!(seal, Seal::of_all(std::fs::File::open(&path).unwrap()).unwrap());
    }

    #[test]
    fn the_empty_file_has_the_published_checksum() {
        assert_eq!(Seal::of(b"").checksum, "xxh3-128:99aa06d3014798d86001c324468d497f");
    }
}
