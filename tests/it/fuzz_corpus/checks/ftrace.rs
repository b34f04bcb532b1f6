//! Promises of the reader of ftrace: those of all readers, and where chunks are cut does not matter.

use super::readers::{Found, open, read};

/// A text, cut behind lines or not.
pub fn ftrace(data: &[u8]) {
    let whole = of(&[data]);
    let middle = data.len() / 2;
    if let Some(cut) = data[middle..].iter().position(|b| *b == b'\n').map(|n| middle + n + 1)
        && cut < data.len()
    {
        assert_eq!(of(&[&data[..cut], &data[cut..]]), whole, "where chunks are cut does not matter");
    }
}

fn of(chunks: &[&[u8]]) -> Found {
    let stream = open("ftrace", &[("fuzz", b"")]).unwrap().remove(0);
    let found = read(stream, chunks.iter().copied());
    assert!(found.rows.iter().zip(0..).all(|((_, _, seq), n)| *seq == n));
    found
}
