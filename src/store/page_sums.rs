//! The sums of the pages of a file: CRC-32 of each page with its header. They are the begin of the tail of
//! the file, which is all behind its last page: the sums, then the page index and the footer of Parquet. The
//! log has the checksum of the tail. So every byte that is read is known to be what was written, whatever it
//! means. Finds accidents, not attacks. Not the reading (see `source`).

use std::ops::Range;

use bytes::Bytes;

use super::checksum::Seal;

/// The first bytes of a Parquet file. They count as a page.
const MAGIC: &[u8] = b"PAR1";

/// Size and sum of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageSum {
    /// How long it is.
    pub bytes: u32,
    /// Its CRC-32.
    pub sum: u32,
}

impl PageSum {
    /// Of a page with its header.
    pub fn of(page: &[u8]) -> Self {
        Self { bytes: page.len() as u32, sum: crc32fast::hash(page) }
    }
}

/// What a file begins its tail with: the number of its pages, then size (LEB128) and sum of each.
pub fn encode(pages: &[PageSum]) -> Vec<u8> {
    let mut out = Vec::with_capacity(5 + 7 * pages.len());
    number(pages.len() as u64, &mut out);
    for page in pages {
        number(u64::from(page.bytes), &mut out);
        out.extend(page.sum.to_le_bytes());
    }
    out
}

fn number(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// The tail of an open file, and the sums of its pages.
#[derive(Debug)]
pub struct PageSums {
    /// Where each page ends and its sum; the last end is the begin of the tail.
    pages: Vec<(u64, u32)>,
    tail: Bytes,
}

impl PageSums {
    /// The sums in the tail of a file; `None` when it is not the tail that was written.
    pub fn open(tail: Bytes, seal: &TableSeal) -> Option<Self> {
        if tail.len() as u64 != seal.tail || Seal::of(&tail).checksum != seal.checksum {
            return None;
        }
        let mut rest: &[u8] = &tail;
        let count = take_number(&mut rest)?;
        let mut end = MAGIC.len() as u64;
        let mut pages = vec![(end, crc32fast::hash(MAGIC))];
        for _ in 0..count {
            end = end.checked_add(take_number(&mut rest)?)?;
            let (sum, behind) = rest.split_first_chunk()?;
            pages.push((end, u32::from_le_bytes(*sum)));
            rest = behind;
        }
        (end == seal.bytes.checked_sub(seal.tail)?).then_some(Self { pages, tail })
    }

    /// Where the tail begins.
    fn end_of_pages(&self) -> u64 {
        self.pages.last().map_or(0, |(end, _)| *end)
    }

    /// The size of the file in bytes.
    pub fn bytes(&self) -> u64 {
        self.end_of_pages() + self.tail.len() as u64
    }

    /// About how many bytes this takes in memory.
    pub fn memory(&self) -> usize {
        self.tail.len() + self.pages.len() * size_of::<(u64, u32)>()
    }

    /// What of a range is read without the file, because it is in the tail.
    pub fn in_tail(&self, range: &Range<u64>) -> Option<Bytes> {
        cut(self.end_of_pages(), &self.tail, range)
    }

    /// The pages that a range touches, as a range of bytes, up to the end of the file if it reaches into the
    /// tail.
    pub fn around(&self, range: &Range<u64>) -> Range<u64> {
        let begin = match self.pages.partition_point(|(end, _)| *end <= range.start) {
            0 => 0,
            before => self.pages.get(before - 1).map_or(0, |(end, _)| *end),
        };
        let last = self.pages.partition_point(|(end, _)| *end < range.end);
        begin..self.pages.get(last).map_or_else(|| self.bytes(), |(end, _)| *end)
    }

    /// Whether the bytes of pages (see [`PageSums::around`]) are those that were written.
    pub fn are_sound(&self, range: &Range<u64>, mut bytes: &[u8]) -> bool {
        if bytes.len() as u64 != range.end.saturating_sub(range.start) {
            return false;
        }
        let first = self.pages.partition_point(|(end, _)| *end <= range.start);
        let mut begin = range.start;
        for (end, sum) in self.pages.iter().skip(first).take_while(|(end, _)| *end <= range.end) {
            let Some((page, rest)) =
                usize::try_from(end - begin).ok().and_then(|length| bytes.split_at_checked(length))
            else {
                return false;
            };
            if crc32fast::hash(page) != *sum {
                return false;
            }
            (begin, bytes) = (*end, rest);
        }
        bytes.is_empty() || (begin == self.end_of_pages() && bytes == self.tail)
    }
}

/// What the log says of a file of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableSeal {
    /// Its size.
    pub bytes: u64,
    /// The size of its tail.
    pub tail: u64,
    /// The checksum of its tail, as in [`Seal`].
    pub checksum: String,
}

impl TableSeal {
    /// Of a file with pages of so many bytes, and this tail.
    pub fn of(pages: u64, tail: &[u8]) -> Self {
        let Seal { bytes, checksum } = Seal::of(tail);
        Self { bytes: pages.saturating_add(bytes), tail: bytes, checksum }
    }
}

/// A part of some bytes that begin at `begin`; `None` if they do not have all of it.
pub(super) fn cut(begin: u64, bytes: &Bytes, range: &Range<u64>) -> Option<Bytes> {
    let from = usize::try_from(range.start.checked_sub(begin)?).ok()?;
    let to = usize::try_from(range.end.checked_sub(begin)?).ok()?;
    bytes.get(from..to).map(|_| bytes.slice(from..to))
}

fn take_number(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..63).step_by(7) {
        let (byte, behind) = rest.split_first()?;
        *rest = behind;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of three pages, with its seal.
    fn file() -> (Vec<u8>, TableSeal) {
        let pages: [Vec<u8>; 3] = [vec![7; 300], vec![1, 2, 3], vec![9; 20]];
        let sums: Vec<_> = pages.iter().map(|page| PageSum::of(page)).collect();
        let tail = [encode(&sums), b"the index and the footer".to_vec()].concat();
        let file = [MAGIC.to_vec(), pages.concat(), tail.clone()].concat();
        let seal = TableSeal::of((file.len() - tail.len()) as u64, &tail);
        (file, seal)
    }

    fn open(file: &[u8], seal: &TableSeal) -> Option<PageSums> {
        let tail = file.len().checked_sub(seal.tail as usize)?;
        PageSums::open(Bytes::copy_from_slice(&file[tail..]), seal)
    }

    #[test]
    fn every_range_is_read_with_its_pages() {
        let (file, seal) = file();
        let sums = open(&file, &seal).unwrap();
        assert_eq!(sums.bytes(), file.len() as u64);
        for (from, to) in [(4, 304), (5, 6), (300, 305), (303, 304), (304, 307), (0, 4), (2, 400), (306, 330)]
        {
            let range = from as u64..to.min(file.len()) as u64;
            let pages = sums.around(&range);
            assert!(pages.start <= range.start && range.end <= pages.end, "{range:?}: {pages:?}");
            let bytes = Bytes::copy_from_slice(&file[pages.start as usize..pages.end as usize]);
            assert!(sums.are_sound(&pages, &bytes), "{range:?}");
            let expected = &file[range.start as usize..range.end as usize];
            assert_eq!(cut(pages.start, &bytes, &range).unwrap(), expected);
        }
        assert_eq!(sums.around(&(304..307)), 304..307, "exact pages stay as they are");
        let last = file.len() as u64;
        assert_eq!(sums.in_tail(&(last - 6..last)).unwrap(), "footer");
        assert_eq!(sums.in_tail(&(300..310)), None);
    }

    #[test]
    fn every_flipped_bit_is_found() {
        let (file, seal) = file();
        for bit in 0..8 * file.len() {
            let mut damaged = file.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let is_found = open(&damaged, &seal).is_none_or(|sums| {
                let pages = 0..file.len() as u64;
                !sums.are_sound(&pages, &damaged)
            });
            assert!(is_found, "bit {bit}");
        }
        for bytes in 0..file.len() {
            assert!(open(&file[..bytes], &seal).is_none(), "cut off at {bytes}");
        }
    }

    #[test]
    fn a_file_without_pages_is_its_tail() {
        let tail = encode(&[]);
        let seal = TableSeal::of(4, &tail);
        let sums = PageSums::open(tail.into(), &seal).unwrap();
        assert_eq!(sums.around(&(0..5)), 0..5);
        assert!(sums.are_sound(&(0..5), b"PAR1\0"));
    }
}
