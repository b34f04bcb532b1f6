//! Promises of the reader of ftrace, through the list of formats: every line is accounted for, payloads are
//! objects of JSON, and where chunks are cut does not matter.

use btfdb::internals::{Chunk, FROM_BEGIN, TraceEventView};
use btfdb::{FORMATS, Input, OptionValues, Output, Rows, RowsToMake, Settings, Source, TimeScale};

/// A text, cut in the middle or not.
pub fn ftrace(data: &[u8]) {
    let whole = read(&[data]);
    let middle = data.len() / 2;
    if let Some(cut) = data[middle..].iter().position(|b| *b == b'\n').map(|n| middle + n + 1)
        && cut < data.len()
    {
        assert_eq!(read(&[&data[..cut], &data[cut..]]), whole, "where chunks are cut does not matter");
    }
}

/// Rows, gaps and findings, in text.
fn read(chunks: &[&[u8]]) -> Vec<String> {
    let format = FORMATS.iter().find(|format| format.info().name == "ftrace").expect("there is ftrace");
    format.probe(chunks[0]);
    let input = Input {
        name: "fuzz".to_owned(),
        path: "fuzz".into(),
        core: None,
        role: None,
        time_offset: -5,
        after: None,
        source: Source::from_reader(Box::new(std::io::empty()), "fuzz".as_ref(), None).unwrap(),
    };
    let options = OptionValues::default();
    let settings = Settings { scale: TimeScale::Ns, options: &options };
    let mut reader = format.open(vec![input], &settings).unwrap().remove(0).reader;
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
    let mut offset = 0;
    for (n, bytes) in chunks.iter().enumerate() {
        let chunk = Chunk::of(bytes, offset, n + 1 == chunks.len()).unwrap();
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
    assert_eq!(counts.rows as usize, lines.len());
    lines.extend(gaps);
    lines.extend(log.entries().iter().map(|found| format!("{found:?}")));
    lines.push(format!("{counts:?} {}", ending.is_ok()));
    lines
}
