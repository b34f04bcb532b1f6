//! Promises of the BTF reader: every line is accounted for, where chunks are cut does not matter, what it
//! gives can be written and read again, and whatever it gives can be checked.

use btfdb::internals::TextList;
use btfdb::internals::btf::{
    CheckOptions, Checker, EventRows, Header, LineKind, Parser, Place, Record, parse_chunk, probe,
    speaks_freertos,
};

/// A BTF file.
pub fn btf(data: &[u8]) {
    probe(data);
    speaks_freertos(data);
    let whole = parse_chunk(data, false, "fuzz");
    accounted(&whole);
    in_chunks(data, &whole);
    read_again(&whole);
    checked(&whole);
}

fn accounted(rows: &EventRows) {
    let c = rows.counts;
    assert_eq!(c.lines, c.rows + c.rejected + c.skipped);
    assert_eq!(c.rows as usize, rows.time.len());
    let rejected = rows.others.iter().filter(|o| o.kind == LineKind::Rejected).count() as u64;
    assert_eq!(c.rejected, rejected);
    assert_eq!(c.skipped, rows.others.len() as u64 - rejected);
    let events = (0..rows.time.len()).map(|row| rows.lines.line(row));
    let mut lines: Vec<u32> = events.chain(rows.others.iter().map(|o| o.line)).collect();
    lines.sort_unstable();
    assert!(lines.iter().zip(0..).all(|(line, n)| *line == n), "each line is one thing");
}

fn text(texts: &TextList, number: u32) -> &str {
    assert!(number < texts.len(), "the parser has not told the text {number}");
    texts.get(number)
}

/// The fields of an event, as text.
fn fields(rows: &EventRows, n: usize) -> Vec<String> {
    let instance = |i: Option<i64>| i.map(|i| i.to_string()).unwrap_or_default();
    let of = |texts: &TextList, keys: &[u32]| text(texts, keys[n]).to_owned();
    let mut fields = vec![
        rows.time[n].to_string(),
        of(&rows.names, &rows.source),
        instance(rows.source_instance.get(n)),
        of(&rows.words, &rows.target_type),
        of(&rows.names, &rows.target),
        instance(rows.target_instance.get(n)),
        of(&rows.words, &rows.action),
    ];
    if rows.note[n] != EventRows::NO_NOTE {
        fields.push(of(&rows.notes, &rows.note));
    }
    fields
}

fn in_chunks(data: &[u8], whole: &EventRows) {
    let middle = data.len() / 2;
    let Some(cut) = data[middle..].iter().position(|b| *b == b'\n').map(|n| middle + n + 1) else { return };
    let mut parser = Parser::new("fuzz");
    let [one, mut other] = [&data[..cut], &data[cut..]].map(|part| parser.chunk(part, false));
    // The parser returns a name once: names of the first chunk come before those of the second.
    let delta_start = other.delta_start;
    for (known, first, new) in [
        (&one.names, delta_start.names, &mut other.names),
        (&one.words, delta_start.words, &mut other.words),
        (&one.notes, delta_start.notes, &mut other.notes),
    ] {
        assert!(first == 0 || first == known.len());
        *new = known.iter().take(first as usize).chain(new.iter()).collect();
    }
    let all: Vec<_> = (0..whole.time.len()).map(|n| fields(whole, n)).collect();
    let mut parts: Vec<_> = (0..one.time.len()).map(|n| fields(&one, n)).collect();
    parts.extend((0..other.time.len()).map(|n| fields(&other, n)));
    assert_eq!(all, parts);
    assert_eq!(whole.counts.lines, one.counts.lines + other.counts.lines);
}

/// Whatever was read is the same when it is written without blanks.
fn read_again(rows: &EventRows) {
    for n in 0..rows.time.len().min(64) {
        let fields = fields(rows, n);
        let again = parse_chunk(fields.join(",").as_bytes(), false, "fuzz");
        // A replaced byte, or one that trimming removes, may be at the edge of a field.
        if again.time.len() == 1 && fields.iter().all(|f| !f.contains(['\r', '\u{fffd}', '\u{feff}'])) {
            assert_eq!(self::fields(&again, 0), fields);
        }
    }
}

fn checked(rows: &EventRows) {
    let (mut checker, mut header) = (Checker::new(CheckOptions::default()), Header::default());
    let mut others = rows.others.iter().peekable();
    for n in 0..rows.time.len() {
        while let Some(other) = others.next_if(|o| o.before as usize <= n) {
            header.line(other.kind, &other.text);
            checker.other_line(u64::from(other.line) + 1, &other.text);
        }
        let note = (rows.note[n] != EventRows::NO_NOTE).then(|| text(&rows.notes, rows.note[n]));
        let record = Record {
            time: rows.time[n],
            source: text(&rows.names, rows.source[n]),
            source_instance: rows.source_instance.get(n),
            target_type: text(&rows.words, rows.target_type[n]),
            target: text(&rows.names, rows.target[n]),
            target_instance: rows.target_instance.get(n),
            action: text(&rows.words, rows.action[n]),
            note,
        };
        checker.event(Place { seq: n as i64, line: Some(u64::from(rows.lines.line(n)) + 1) }, &record);
    }
    assert_eq!(checker.finish().events, rows.time.len() as u64);
}
