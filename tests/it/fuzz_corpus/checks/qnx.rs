//! Promises of the reader of QNX listings: every line is accounted for, where chunks are cut does not matter, and whatever
//! it gives has a name and can be written as arguments on one line.

use btfdb::formats::qnx::listing::{ListingReader, MAX_WORDS, OwnedEvent, probe};
use btfdb::qnx::{arguments, event_name, subject, text};

/// A listing of traceprinter.
pub fn qnx_listing(data: &[u8]) {
    probe(data);
    let (whole, events) = read(&[data]);
    let counts = whole.counts();
    assert_eq!(counts.lines, counts.rows + counts.rejected + counts.skipped);
    assert_eq!(counts.rows as usize, events.len());
    let middle = data.len() / 2;
    if let Some(cut) = data[middle..].iter().position(|b| *b == b'\n').map(|n| middle + n + 1) {
        let (parts, again) = read(&[&data[..cut], &data[cut..]]);
        assert_eq!((parts.counts(), again), (counts, events.clone()));
        assert_eq!(parts.attributes(), whole.attributes());
    }
    told(&whole, &events);
}

fn read(chunks: &[&[u8]]) -> (ListingReader<'static>, Vec<OwnedEvent>) {
    let (mut reader, mut events) = (ListingReader::new("fuzz", None), Vec::new());
    for chunk in chunks {
        reader.chunk(chunk, false, &mut events);
    }
    reader.finish(&mut events);
    (reader, events)
}

fn told(reader: &ListingReader<'_>, events: &[OwnedEvent]) {
    let (flavour, mut line, mut shown) = (reader.flavour(), 0, String::new());
    for (n, owned) in events.iter().enumerate() {
        assert!(owned.line >= line && owned.words.len() <= MAX_WORDS + 1);
        line = owned.line;
        let event = owned.view(n as u64, u64::from(owned.timeoff));
        assert!(!event_name(flavour.version, &event).is_empty());
        let subject = subject(flavour, &event);
        assert!(subject.pid.is_none_or(|pid| pid > 0) && subject.tid.is_none_or(|tid| tid > 0));
        assert!(text(flavour, &event).is_none_or(|text| !text.is_empty()));
        shown.clear();
        arguments(flavour, &event, &mut shown);
        assert!(!shown.contains('\n'), "{shown}");
    }
}
