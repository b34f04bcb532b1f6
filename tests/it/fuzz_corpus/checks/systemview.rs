//! Promises of the reader of SystemView: those of all readers, times do not run backwards, and where pieces
//! are cut does not matter.

use super::readers::{Found, open, pieces, read};
use btfdb::Stream;

/// A recording. The first byte is the length of a description in front of it.
pub fn systemview(data: &[u8]) {
    let Some((length, rest)) = data.split_first() else { return };
    let (description, recording) = rest.split_at(rest.len().min(usize::from(*length)));
    let open = || opened(description, recording);
    let (Some(whole), Some(cut)) = (open(), open()) else { return };
    let whole = checked(read(whole, [recording]));
    assert_eq!(checked(read(cut, pieces(recording))), whole, "where pieces are cut does not matter");
}

fn opened(description: &[u8], recording: &[u8]) -> Option<Stream> {
    open("systemview", &[("SYSVIEW_fuzz.txt", description), ("fuzz.SVDat", recording)]).ok()?.pop()
}

fn checked(found: Found) -> Found {
    let is_ordered = |pair: &[(String, i64, i64)]| pair[0].0 != pair[1].0 || pair[0] < pair[1];
    assert!(found.rows.windows(2).all(is_ordered));
    found
}
