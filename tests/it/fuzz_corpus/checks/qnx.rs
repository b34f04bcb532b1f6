//! Promises of the readers of QNX traces: every line or record is accounted for, where chunks are cut does
//! not matter, and whatever they give has a name and can be written as arguments on one line.

use btfdb::internals::qnx::{
    Batch, Decoder, Event, Flavour, Listed, ListingReader, MAX_WORDS, OwnedEvent, Version, arguments,
    event_name, probe, subject, text,
};

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
    check_reports(&whole, &events);
}

fn read(chunks: &[&[u8]]) -> (ListingReader<'static>, Vec<OwnedEvent>) {
    let (mut reader, mut events) = (ListingReader::new("fuzz", None), Vec::new());
    for chunk in chunks {
        reader.chunk(chunk, false, &mut events);
    }
    reader.finish(&mut events);
    (reader, events)
}

fn check_reports(reader: &ListingReader<'_>, events: &[OwnedEvent]) {
    let mut line = 0;
    for (n, owned) in events.iter().enumerate() {
        assert!(owned.line >= line && owned.words.len() <= MAX_WORDS + 1);
        line = owned.line;
        says_something(reader.flavour(), &owned.view(n as u64, u64::from(owned.timeoff)));
    }
}

fn says_something(flavour: Flavour, event: &Event<'_>) {
    assert!(!event_name(flavour.version, event).is_empty());
    let subject = subject(flavour, event);
    assert!(subject.pid.is_none_or(|pid| pid > 0) && subject.tid.is_none_or(|tid| tid > 0));
    assert!(text(flavour, event).is_none_or(|text| !text.is_empty()));
    let mut shown = String::new();
    arguments(flavour, event, &mut shown);
    assert!(!shown.contains('\n'), "{shown}");
}

/// A `.kev` file. The first bytes of the input choose the version to read it as.
pub fn qnx_kev(data: &[u8]) {
    let (version, data) = match data.split_first() {
        Some((first, rest)) if usize::from(*first) < Version::ALL.len() => {
            (Version::ALL.get(usize::from(*first)).copied(), rest)
        }
        _ => (None, data),
    };
    let whole = decoded(data, version, data.len().max(1));
    let pieces = decoded(data, version, 7);
    match (whole, pieces) {
        (Some((flavour, records, events)), Some(pieces)) => {
            let words: usize = events.iter().map(|(_, words)| words.len()).sum();
            assert_eq!(words as u64, 2 * records, "every word of every record is in one event");
            assert_eq!((flavour, records, &events), (pieces.0, pieces.1, &pieces.2));
            for (event, words) in &events {
                says_something(flavour, &Event { words, ..*event });
            }
        }
        (whole, pieces) => assert_eq!(whole.is_some(), pieces.is_some()),
    }
    // The same for the text of the printer, with its own reader.
    let mut listed = Listed::new("fuzz", version);
    let _ = listed.chunk(data).and_then(|_| listed.finish());
}

type Events = Vec<(Event<'static>, Vec<u32>)>;

/// Flavour, records and events; `None` for what is refused.
fn decoded(data: &[u8], version: Option<Version>, piece: usize) -> Option<(Flavour, u64, Events)> {
    let mut decoder = Decoder::new("fuzz", version);
    let (mut records, mut events) = (0, Vec::new());
    let mut keep = |batch: Batch| {
        records += batch.records;
        events.extend(batch.iter().map(|e| (Event { words: &[], ..e }, e.words.to_vec())));
    };
    for bytes in data.chunks(piece) {
        keep(decoder.chunk(bytes).ok()?);
    }
    keep(decoder.finish().ok()?);
    Some((decoder.preamble()?.flavour, records, events))
}
