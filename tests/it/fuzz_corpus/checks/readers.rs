//! Reads bytes through a format of the list, as `ingest` does, for the formats that fill `trace_event`: what
//! every reader promises is checked here. Not what a single format promises in addition.

use btfdb::internals::{Chunk, FROM_BEGIN, TraceEventView};
use btfdb::{
    FORMATS, Input, OptionValues, Output, Result, Rows, RowsToMake, Settings, Source, Stream, TimeScale,
};
use std::io::Cursor;

/// All that a reader has made of an input.
#[derive(Debug, PartialEq, Eq)]
pub struct Found {
    /// Stream, time and number of each row.
    pub rows: Vec<(String, i64, i64)>,
    /// Rows, gaps, findings and counts, in text.
    pub text: Vec<String>,
}

/// Opens inputs, each with its name and its bytes.
pub fn open(format: &str, inputs: &[(&str, &[u8])]) -> Result<Vec<Stream>> {
    let format = FORMATS.iter().find(|known| known.info().name == format).expect("there is such a format");
    let input = |(name, bytes): &(&str, &[u8])| {
        format.probe(bytes);
        Ok(Input {
            name: (*name).to_owned(),
            path: name.into(),
            core: None,
            role: None,
            time_offset: -5,
            after: None,
            source: Source::from_reader(Box::new(Cursor::new(bytes.to_vec())), name.as_ref(), None)?,
        })
    };
    let inputs = inputs.iter().map(input).collect::<Result<_>>()?;
    let options = OptionValues::default();
    format.open(inputs, &Settings { scale: TimeScale::Ns, options: &options })
}

/// Reads the pieces of an input.
pub fn read<'a>(stream: Stream, pieces: impl IntoIterator<Item = &'a [u8]>) -> Found {
    let mut reader = stream.reader;
    let mut found = Found { rows: Vec::new(), text: Vec::new() };
    let mut sink = |rows: Rows| {
        let RowsToMake::Batch(batch, _) = rows.content else { panic!("rows to be made later") };
        let core = rows.core.expect("each row is of a stream");
        for row in TraceEventView::of(&batch).unwrap().rows() {
            assert!(row.payload.starts_with('{') && row.payload.ends_with('}'));
            assert!(!row.payload.contains(|c: char| c < ' '));
            found.text.push(format!("{core} {} {:?} {} {}", row.time, row.cpu, row.name.text(), row.payload));
            found.rows.push((core.to_string(), row.time, row.seq));
        }
        Ok(())
    };
    let mut out = Output::new("fuzz", &mut sink);
    let (mut pieces, mut offset) = (pieces.into_iter().peekable(), 0);
    while let Some(bytes) = pieces.next() {
        let chunk = Chunk::of(bytes, offset, pieces.peek().is_none()).unwrap();
        reader.chunk(&chunk, &mut out).unwrap();
        offset += bytes.len() as u64;
    }
    let ending = reader.finish(&mut out);
    let counts = out.counts;
    assert_eq!(counts.lines, counts.rows + counts.gaps + counts.rejected + counts.skipped);
    for gap in &out.gaps {
        assert!(gap.begin == FROM_BEGIN || gap.end != Some(FROM_BEGIN), "{gap:?}");
    }
    let gaps: Vec<String> = out.gaps.iter().map(|gap| format!("{gap:?}")).collect();
    let log = std::mem::take(&mut out.log);
    assert_eq!(counts.rows as usize, found.rows.len());
    found.text.extend(gaps);
    found.text.extend(log.entries().iter().map(|entry| format!("{entry:?}")));
    found.text.push(format!("{counts:?} {}", ending.is_ok()));
    found
}

/// An input in pieces of some bytes, not too many of them: each takes memory of its own.
pub fn pieces(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.chunks((bytes.len() / 16).max(7))
}
