//! Promises of the reader of SystemView: every record is accounted for, times do not run backwards, and where
//! pieces are cut does not matter.

use btfdb::internals::systemview::{Descriptions, File, PacketReader};
use btfdb::internals::{FROM_BEGIN, Setup, TraceEventView};
use btfdb::{Output, Reader, Rows, RowsToMake, TimeScale};

/// A recording. The first byte is the length of a description in front of it.
pub fn systemview(data: &[u8]) {
    let Some((length, rest)) = data.split_first() else { return };
    let (description, recording) = rest.split_at(rest.len().min(usize::from(*length)));
    let whole = read(description, recording, recording.len().max(1));
    let pieces = read(description, recording, 7);
    assert_eq!(whole, pieces, "where pieces are cut does not matter");
}

/// Rows, gaps and findings, in text; `None` if it is no recording.
fn read(description: &[u8], recording: &[u8], piece: usize) -> Option<Vec<String>> {
    let mut descriptions = Descriptions::default();
    descriptions.add_file(&String::from_utf8_lossy(description));
    let file = File {
        path: "fuzz".into(),
        name: "fuzz".to_owned(),
        is_alone: true,
        first_cpu: 0,
        frequency: None,
        time_offset: -5,
        scale: TimeScale::Ns,
        descriptions,
        setup: Setup { mapper: "none", settings: Default::default() },
    };
    let mut reader = PacketReader::open(file, recording).ok()?;
    let (mut lines, mut last) = (Vec::new(), None);
    let mut sink = |rows: Rows| {
        let RowsToMake::Batch(batch, _) = rows.content else { panic!("rows to be made later") };
        let core = rows.core.expect("each row is of a stream");
        for row in TraceEventView::of(&batch).unwrap().rows() {
            let key = (core.to_string(), row.time, row.seq);
            assert!(
                last.as_ref().is_none_or(|before: &(String, i64, i64)| before.0 != key.0 || *before < key)
            );
            assert!(row.payload.starts_with('{') && row.payload.ends_with('}'));
            assert!(!row.payload.contains(|c: char| c < ' '));
            lines.push(format!("{key:?} {:?} {} {}", row.cpu, row.name.text(), row.payload));
            last = Some(key);
        }
        Ok(())
    };
    let mut out = Output::new("fuzz", &mut sink);
    let mut pieces = recording.chunks(piece).peekable();
    while let Some(bytes) = pieces.next() {
        reader.piece(bytes, pieces.peek().is_none(), &mut out).unwrap();
    }
    let ending = Box::new(reader).finish(&mut out);
    let counts = out.counts;
    assert_eq!(counts.lines, counts.rows + counts.rejected + counts.skipped);
    for gap in &out.gaps {
        assert!(gap.begin == FROM_BEGIN || gap.end.is_none_or(|end| gap.begin <= end), "{gap:?}");
    }
    let gaps: Vec<String> = out.gaps.iter().map(|gap| format!("{gap:?}")).collect();
    let log = std::mem::take(&mut out.log);
    assert_eq!(counts.rows as usize, lines.len());
    lines.extend(gaps);
    lines.extend(log.entries().iter().map(|found| format!("{found:?}")));
    lines.push(format!("{counts:?} {}", ending.is_ok()));
    Some(lines)
}
