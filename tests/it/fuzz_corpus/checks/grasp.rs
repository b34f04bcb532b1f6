//! Promises of the reader of Grasp traces: every line is accounted for, the rows are the file, and where
//! chunks are cut does not matter; and of the words of Tcl: what is written is read back.

use btfdb::internals::Counts;
use btfdb::internals::grasp::{CommandReader, join, probe, split};

/// A trace, cut in the middle or not.
pub fn grasp(data: &[u8]) {
    probe(data);
    let (rows, counts) = read(&[data]);
    assert_eq!(counts.lines, counts.rows + counts.rejected + counts.skipped);
    assert_eq!(counts.rows as usize, rows.len());
    if let Ok(text) = std::str::from_utf8(data)
        && counts.rejected == 0
    {
        let written: Vec<&str> = rows.iter().map(|(_, text, _)| text.as_str()).collect();
        // One byte order mark is none of the text; a second one is.
        let (written, text) = (written.join("\n"), text.strip_prefix('\u{feff}').unwrap_or(text));
        assert!(text.strip_suffix('\n').unwrap_or(text) == written || text == written);
        words(text);
    }
    let middle = data.len() / 2;
    if let Some(cut) = data[middle..].iter().position(|b| *b == b'\n').map(|n| middle + n + 1)
        && cut < data.len()
    {
        assert_eq!(read(&[&data[..cut], &data[cut..]]), (rows, counts));
    }
}

type Row = (u64, String, String);

fn read(chunks: &[&[u8]]) -> (Vec<Row>, Counts) {
    let mut rows = Vec::new();
    let mut reader = CommandReader::new("fuzz", 1000);
    for (n, chunk) in chunks.iter().enumerate() {
        let taken: Result<(), ()> = reader.chunk(chunk, n + 1 == chunks.len(), &mut |place, command| {
            rows.push((place.line, place.text.to_owned(), format!("{command:?}")));
            Ok(())
        });
        assert_eq!(taken, Ok(()));
    }
    (rows, reader.counts())
}

fn words(text: &str) {
    for line in text.lines().take(100) {
        if let Ok(words) = split(line) {
            let again = join(words.iter().map(AsRef::as_ref));
            assert_eq!(split(&again).as_ref(), Ok(&words), "{again}");
        }
        assert_eq!(split(&join([line])), Ok(vec![line.into()]));
    }
}
