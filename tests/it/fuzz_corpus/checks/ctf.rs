//! Promises of the reader of CTF: those of all readers, whatever metadata and streams are made of, and where
//! pieces are cut does not matter.

use super::readers::{Found, open, pieces, read};
use btfdb::Stream;

/// Metadata: TSDL, packets of it, or JSON.
pub fn ctf_metadata(data: &[u8]) {
    if let Err(error) = open("ctf", &[("metadata", data), ("stream", b"")]) {
        assert!(!error.to_string().is_empty());
    }
}

/// A stream. The first two bytes are the length of the metadata in front of it.
pub fn ctf_stream(data: &[u8]) {
    let Some((length, rest)) = data.split_first_chunk::<2>() else { return };
    let (metadata, stream) = rest.split_at(rest.len().min(usize::from(u16::from_le_bytes(*length))));
    let (Some(whole), Some(cut)) = (opened(metadata), opened(metadata)) else { return };
    let whole = checked(read(whole, [stream]));
    assert_eq!(checked(read(cut, pieces(stream))), whole, "where pieces are cut does not matter");
}

fn opened(metadata: &[u8]) -> Option<Stream> {
    open("ctf", &[("metadata", metadata), ("stream", b"")]).ok()?.pop()
}

fn checked(found: Found) -> Found {
    assert!(found.rows.iter().zip(0..).all(|((_, _, seq), n)| *seq == n));
    found
}
