//! Promises of the reader of CTF: whatever metadata and streams are made of, every event is accounted for,
//! and where pieces are cut does not matter.

use btfdb::internals::TraceEventView;
use btfdb::internals::ctf::{Metadata, StreamReader};
use btfdb::{Output, Reader, Rows, RowsToMake, TimeScale};

/// Metadata: TSDL, packets of it, or JSON.
pub fn ctf_metadata(data: &[u8]) {
    if let Err(error) = Metadata::parse(data) {
        assert!(!error.to_string().is_empty());
    }
}

/// A stream. The first two bytes are the length of the metadata in front of it.
pub fn ctf_stream(data: &[u8]) {
    let Some((length, rest)) = data.split_first_chunk::<2>() else { return };
    let (metadata, stream) = rest.split_at(rest.len().min(usize::from(u16::from_le_bytes(*length))));
    let Ok(metadata) = Metadata::parse(metadata) else { return };
    let whole = read(&metadata, stream, stream.len().max(1));
    let pieces = read(&metadata, stream, 7);
    assert_eq!(whole, pieces, "where pieces are cut does not matter");
}

/// Rows, gaps and findings, in text.
fn read(metadata: &Metadata, stream: &[u8], piece: usize) -> Vec<String> {
    let mut reader = StreamReader::new(metadata, "fuzz".as_ref(), "fuzz", TimeScale::Ns, -5, None);
    let mut lines = Vec::new();
    let mut sink = |rows: Rows| {
        let RowsToMake::Batch(batch, _) = rows.content else { panic!("rows to be made later") };
        assert!(rows.core.is_some(), "each row is of a stream");
        for row in TraceEventView::of(&batch).unwrap().rows() {
            assert_eq!(row.seq, lines.len() as i64);
            assert!(row.payload.starts_with('{') && row.payload.ends_with('}'));
            assert!(!row.payload.contains(|c: char| c < ' '));
            lines.push(format!("{} {:?} {} {}", row.time, row.cpu, row.name.text(), row.payload));
        }
        Ok(())
    };
    let mut out = Output::new("fuzz", &mut sink);
    let mut pieces = stream.chunks(piece).peekable();
    while let Some(bytes) = pieces.next() {
        reader.piece(bytes, pieces.peek().is_none(), &mut out).unwrap();
    }
    let ending = Box::new(reader).finish(&mut out);
    let counts = out.counts;
    assert_eq!(counts.lines, counts.rows + counts.rejected + counts.skipped);
    let gaps: Vec<String> = out.gaps.iter().map(|gap| format!("{gap:?}")).collect();
    let log = std::mem::take(&mut out.log);
    assert_eq!(counts.rows as usize, lines.len());
    lines.extend(gaps);
    lines.extend(log.entries().iter().map(|found| format!("{found:?}")));
    lines.push(format!("{counts:?} {}", ending.is_ok()));
    lines
}
