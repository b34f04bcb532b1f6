//! Promises of the tail of a file of a table: the sums of its pages. Not of what Parquet has there.

use btfdb::internals::stored::{PageSum, PageSums, TableSeal, encode_page_sums};

/// The tail of a file is refused, or has the sums of pages that end where the tail begins, and no range of
/// the file is more than it. The first two bytes are how many bytes the pages have. A file with the rest as
/// its content, cut into pages, is sound in every range, and is not when a byte is another one.
pub fn page_sums(data: &[u8]) {
    let Some((size, tail)) = data.split_first_chunk::<2>() else { return };
    let pages = u64::from(u16::from_le_bytes(*size));
    let seal = TableSeal::of(pages, tail);
    let read = ends_of(tail).filter(|ends| ends.last() == Some(&pages));
    let sums = PageSums::open(tail.to_vec().into(), &seal);
    assert_eq!(sums.is_some(), read.is_some(), "{read:?}");
    if let Some((sums, ends)) = sums.zip(read) {
        assert_eq!(sums.bytes(), pages + tail.len() as u64);
        assert!(sums.memory() <= 16 * (tail.len() + 1), "a small tail takes {} bytes", sums.memory());
        for (from, to) in ranges(sums.bytes()) {
            let around = sums.around(&(from..to));
            assert!(around.start <= from && to <= around.end && around.end <= sums.bytes());
            let is_edge = |at: u64| at == 0 || at == sums.bytes() || ends.contains(&at);
            assert!(is_edge(around.start) && is_edge(around.end), "{around:?} of {ends:?}");
            let in_tail = sums.in_tail(&(from..to));
            assert_eq!(in_tail.is_some(), from >= pages, "{from}..{to}");
            assert!(in_tail.is_none_or(|bytes| bytes.len() as u64 == to - from));
            sums.are_sound(&around, tail);
        }
    }
    is_sound(usize::from(size[0]) + 1, usize::from(size[1]), tail);
}

/// A file with this content in pages of some bytes; one of its bytes is damaged.
fn is_sound(page: usize, damaged: usize, content: &[u8]) {
    let pages: Vec<PageSum> = content.chunks(page).map(PageSum::of).collect();
    let tail = [encode_page_sums(&pages), b"footer".to_vec()].concat();
    let mut file = [b"PAR1", content, &tail].concat();
    let size = 4 + content.len();
    let sums = PageSums::open(tail.clone().into(), &TableSeal::of(size as u64, &tail));
    let sums = sums.expect("the tail that was written");
    for (from, to) in ranges(sums.bytes()) {
        let pages = sums.around(&(from..to));
        let bytes = &file[pages.start as usize..pages.end as usize];
        assert!(sums.are_sound(&pages, bytes), "{from}..{to}");
    }
    let at = damaged % file.len();
    file[at] ^= 1 + (damaged as u8 & 0x7f);
    let pages = sums.around(&(at as u64..at as u64 + 1));
    assert!(!sums.are_sound(&pages, &file[pages.start as usize..pages.end as usize]), "byte {at} is another");
}

/// Ranges at the begin, in the middle and at the end of so many bytes.
fn ranges(bytes: u64) -> impl Iterator<Item = (u64, u64)> {
    let places = [0, 1, 3, 4, 5, bytes / 3, bytes / 2, bytes.saturating_sub(7), bytes.saturating_sub(1)];
    let lengths = [1, 2, 8, bytes / 2, bytes];
    let all =
        places.into_iter().flat_map(move |from| lengths.map(|length| (from, (from + length).min(bytes))));
    all.filter(|(from, to)| from < to)
}

/// Where the pages end whose sums a tail begins with, read in another way: a number is the sum of its groups
/// of seven bits. The first page is the mark of the file.
fn ends_of(mut tail: &[u8]) -> Option<Vec<u64>> {
    let count = number(&mut tail)?;
    let mut ends = vec![4_u64];
    for _ in 0..count {
        let bytes = number(&mut tail)?;
        // The sum.
        tail = tail.get(4..)?;
        ends.push(ends.last()?.checked_add(bytes)?);
    }
    Some(ends)
}

/// A number of nine groups at most.
fn number(tail: &mut &[u8]) -> Option<u64> {
    let last = tail.iter().take(9).position(|byte| byte & 0x80 == 0)?;
    let (groups, rest) = tail.split_at(last + 1);
    *tail = rest;
    Some(groups.iter().rev().fold(0, |number, group| number * 128 + u64::from(group & 0x7f)))
}
