//! A checkpoint: the recordings that some consecutive commits left, sorted by name, in compressed blocks, and
//! behind them an index of the blocks. Looking for one recording reads the index and one block. Not which
//! commits are folded (see `fold`).

use std::borrow::Cow;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::entry::Head;
use super::levels::{FOLD, levels};
use super::sealed;
use crate::error::{Error, ErrorKind, Result};
use crate::store::checksum::Seal;
use crate::store::layout::{self, LogFile};
use crate::store::place::Place;
use crate::store::recording::Recording;

/// Recordings in a block.
const BLOCK: usize = 32;
/// Ends the file, behind the length of the index in eight bytes (little endian).
const MAGIC: &[u8; 8] = b"btfdbck\n";
const TRAILER: usize = 16;
/// The end of a file that is read at first: most indexes are smaller.
const TAIL: u64 = 32 << 10;
/// Largest block in memory; names and paths of recordings are far smaller.
const MAX_BLOCK: usize = 1 << 28;

/// A checkpoint whose index is in memory.
#[derive(Debug)]
pub(in crate::store) struct Checkpoint {
    place: Place,
    index: Index,
    /// The end of the file, and where that begins: small ones are read once.
    tail: (u64, Bytes),
}

#[derive(Debug, Serialize, Deserialize)]
struct Index {
    /// The number of the commit before the first that is folded.
    after: u64,
    /// Of the last one.
    head: Head,
    blocks: Vec<Block>,
    /// The names of recordings that earlier commits may have put and these drop, sorted.
    drops: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Block {
    first: String,
    last: String,
    at: u64,
    bytes: u64,
    checksum: String,
}

/// A recording, of which only the name is wanted.
#[derive(Deserialize)]
struct Named<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
}

/// The file of a checkpoint of the commits behind `after` up to `head`; `puts` and `drops` are sorted by
/// name.
pub(super) fn to_bytes(after: u64, head: Head, puts: &[Recording], drops: Vec<String>) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut blocks = Vec::new();
    for recordings in puts.chunks(BLOCK) {
        let json = serde_json::to_vec(recordings).map_err(|e| failed("written").because(e))?;
        let packed = zstd::bulk::compress(&json, 3).map_err(|e| failed("written").because(e))?;
        let (Some(first), Some(last)) = (recordings.first(), recordings.last()) else { continue };
        let Seal { bytes: length, checksum } = Seal::of(&packed);
        let at = bytes.len() as u64;
        blocks.push(Block {
            first: first.name.clone(),
            last: last.name.clone(),
            at,
            bytes: length,
            checksum,
        });
        bytes.extend(packed);
    }
    let index = sealed::seal(&Index { after, head, blocks, drops })?;
    bytes.extend(&index);
    bytes.extend((index.len() as u64).to_le_bytes());
    bytes.extend(MAGIC);
    Ok(bytes)
}

fn failed(what: &str) -> Error {
    Error::new(ErrorKind::Bug, format!("a block of the log cannot be {what}"))
}

impl Checkpoint {
    /// Reads the index of the checkpoint at `place`; `None` when there is none.
    pub(super) fn open(place: &Place) -> Result<Option<Self>> {
        let Some((tail, length)) = place.tail(TAIL)? else { return Ok(None) };
        let damaged = || sealed::damaged(place.path());
        let (before, trailer) = tail.split_last_chunk::<TRAILER>().ok_or_else(damaged)?;
        let (size, magic) = trailer.split_first_chunk::<8>().ok_or_else(damaged)?;
        let size = u64::from_le_bytes(*size);
        let end = length - TRAILER as u64;
        let at = end.checked_sub(size).filter(|_| magic == MAGIC).ok_or_else(damaged)?;
        let in_tail = usize::try_from(size).ok().and_then(|size| before.len().checked_sub(size));
        let index: Index = match in_tail.and_then(|begin| before.get(begin..)) {
            Some(json) => sealed::open(json, place.path())?,
            None => sealed::open(&place.range(at..end)?.ok_or_else(damaged)?, place.path())?,
        };
        let is_inside = |block: &Block| block.at.checked_add(block.bytes).is_some_and(|end| end <= at);
        if !index.blocks.iter().all(is_inside) {
            return Err(damaged());
        }
        let tail = (length - tail.len() as u64, tail);
        Ok(Some(Self { place: place.clone(), index, tail }))
    }

    /// The number of the commit before the first that is folded.
    pub(in crate::store) fn after(&self) -> u64 {
        self.index.after
    }

    pub(in crate::store) fn head(&self) -> &Head {
        &self.index.head
    }

    /// Whether its commits are those of a file of that name.
    pub(super) fn is_of(&self, file: LogFile) -> bool {
        let commits = file.level.filter(|level| *level <= levels(file.number)).map(|level| FOLD.pow(level));
        commits.and_then(|commits| file.number.checked_sub(commits)) == Some(self.after())
            && self.head().number == file.number
    }

    /// The names of recordings that earlier commits may have put and these drop, sorted.
    pub(super) fn drops(&self) -> &[String] {
        &self.index.drops
    }

    /// The recording of that name, if it is in here.
    pub(super) fn find(&self, name: &str) -> Result<Option<Recording>> {
        let place = self.index.blocks.partition_point(|block| block.last.as_str() < name);
        let Some(block) = self.index.blocks.get(place).filter(|block| block.first.as_str() <= name) else {
            return Ok(None);
        };
        Ok(self.asked(block, |other| other == name)?.pop())
    }

    /// The recordings in here of some names, which are sorted. Reads each block once.
    pub(super) fn named(&self, names: &[&str]) -> Result<Vec<Recording>> {
        let mut found = Vec::new();
        for block in &self.index.blocks {
            let begin = names.partition_point(|name| *name < block.first.as_str());
            if names.get(begin).is_some_and(|name| *name <= block.last.as_str()) {
                found.extend(self.asked(block, |name| names.binary_search(&name).is_ok())?);
            }
        }
        Ok(found)
    }

    /// The first names that begin with `prefix`, `max` at most.
    pub(super) fn names(&self, prefix: &str, max: usize) -> Result<Vec<String>> {
        let begin = self.index.blocks.partition_point(|block| block.last.as_str() < prefix);
        let mut names = Vec::new();
        for block in self.index.blocks.iter().skip(begin) {
            let is_past = block.first.as_str() > prefix && !block.first.starts_with(prefix);
            if names.len() >= max || is_past {
                break;
            }
            let of_block = self.block(block)?.into_iter().map(|r| r.name);
            names.extend(of_block.filter(|name| name.starts_with(prefix)));
        }
        names.truncate(max);
        Ok(names)
    }

    /// All recordings in here, by name.
    pub(in crate::store) fn recordings(&self) -> Result<Vec<Recording>> {
        let mut all = Vec::new();
        for block in &self.index.blocks {
            all.extend(self.block(block)?);
        }
        Ok(all)
    }

    /// The recordings of a block.
    fn block(&self, block: &Block) -> Result<Vec<Recording>> {
        let recordings = serde_json::from_slice(&self.json(block)?);
        self.inside(recordings.map_err(|e| sealed::damaged(self.place.path()).because(e))?)
    }

    /// Those of a block whose names are asked for: the files of the others are not looked at.
    fn asked(&self, block: &Block, is_asked: impl Fn(&str) -> bool) -> Result<Vec<Recording>> {
        let asked = |json: &[u8]| -> serde_json::Result<Vec<Recording>> {
            let mut found = Vec::new();
            for recording in serde_json::from_slice::<Vec<&RawValue>>(json)? {
                if is_asked(&serde_json::from_str::<Named<'_>>(recording.get())?.name) {
                    found.push(serde_json::from_str(recording.get())?);
                }
            }
            Ok(found)
        };
        self.inside(asked(&self.json(block)?).map_err(|e| sealed::damaged(self.place.path()).because(e))?)
    }

    /// Fails if a file of them is outside of the database.
    fn inside(&self, recordings: Vec<Recording>) -> Result<Vec<Recording>> {
        if !recordings.iter().flat_map(Recording::paths).all(layout::is_inside) {
            return Err(sealed::damaged(self.place.path()));
        }
        Ok(recordings)
    }

    fn json(&self, block: &Block) -> Result<Vec<u8>> {
        let damaged = || sealed::damaged(self.place.path());
        let (begin, tail) = &self.tail;
        let in_tail = block.at.checked_sub(*begin).and_then(|at| {
            let at = usize::try_from(at).ok()?;
            let end = at.checked_add(usize::try_from(block.bytes).ok()?)?;
            tail.get(at..end).map(|_| tail.slice(at..end))
        });
        let packed = match in_tail {
            Some(packed) => Some(packed),
            None => self.place.range(block.at..block.at + block.bytes)?,
        };
        let Some(packed) = packed else {
            return Err(Error::database("a part of the log is gone: the database was opened long ago")
                .at(self.place.path())
                .hint("open the database again"));
        };
        if Seal::of(&packed).checksum != block.checksum {
            return Err(damaged());
        }
        unpacked(&packed).ok_or_else(damaged)
    }
}

/// The content of a block. Asks for as much memory as the block says that it has, not for as much as a block
/// may have: that may be more than there is.
fn unpacked(packed: &[u8]) -> Option<Vec<u8>> {
    let size = zstd::zstd_safe::get_frame_content_size(packed).ok()??;
    let size = usize::try_from(size).ok().filter(|size| *size <= MAX_BLOCK)?;
    zstd::bulk::decompress(packed, size).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_block_takes_little_memory() {
        let content = b"content ".repeat(100);
        let packed = zstd::bulk::compress(&content, 3).unwrap();
        let unpacked_again = unpacked(&packed).unwrap();
        assert_eq!(unpacked_again, content);
        assert!(unpacked_again.capacity() < 2 * content.len());
        assert!((0..packed.len()).all(|length| unpacked(&packed[..length]).is_none()));
        // A frame of 2^62 bytes, as it says.
        let huge = [0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0, 0, 0, 0, 0, 0, 0, 0x40];
        assert_eq!(unpacked(&huge), None);
    }
}
