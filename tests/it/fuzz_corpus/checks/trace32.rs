//! Promises of the TRACE32 readers: every line is accounted for, and where chunks are cut does not matter.

use btfdb::internals::trace32::{
    ExportRows, ExportSettings, FUNCTION_KINDS, Gap, Radix, detect_data_layout, parse_data, parse_functions,
    probe,
};
use btfdb::internals::{Counts, TextList};
use btfdb::{Log, Severity, TimeScale};

/// A data export, with the columns it seems to have and with the default ones.
pub fn trace32_data(data: &[u8]) {
    probe(data);
    let default = detect_data_layout(b"", None);
    let mut layouts: Vec<_> = [detect_data_layout(data, None), default].into_iter().flatten().collect();
    layouts.dedup();
    assert!(!layouts.is_empty(), "an input without lines has the default columns");
    for layout in &layouts {
        assert!(layout.columns.len() >= 4, "{layout:?}");
        for settings in settings() {
            let parse = |chunk: &[u8], first| Piece::from(parse_data(chunk, first, layout, &settings));
            let header = usize::try_from(layout.header_lines).unwrap_or(usize::MAX);
            whole_equals_chunks(data, header, parse);
        }
    }
}

/// A function or task-event export.
pub fn trace32_functions(data: &[u8]) {
    probe(data);
    for settings in settings() {
        whole_equals_chunks(data, 0, |chunk, _| Piece::from(parse_functions(chunk, &settings)));
    }
}

/// The default settings, and two that differ much.
fn settings() -> [ExportSettings; 3] {
    let of = |radix, scale, offset| ExportSettings { radix, scale, offset, source: "fuzz".to_owned() };
    [
        of(Radix::Hex, TimeScale::Ns, 0),
        of(Radix::Decimal, TimeScale::Ps, -1_000_000),
        of(Radix::Hex, TimeScale::Ms, i64::MAX - 1_000),
    ]
}

/// A row with its name in place of the name's number: time, record, name, kind, value, line.
type Row = (i64, Option<i64>, String, u8, u64, u64);

/// What a chunk gives, or several chunks put together.
#[derive(Debug, Default)]
struct Piece {
    rows: Vec<Row>,
    gaps: Vec<Gap>,
    counts: Counts,
    log: Log,
}

impl From<ExportRows> for Piece {
    fn from(all: ExportRows) -> Self {
        names_are_used(&all.name, &all.names);
        assert_eq!([all.name.len(), all.kind.len()], [all.time.len(); 2]);
        assert!(all.kind.iter().all(|kind| usize::from(*kind) < FUNCTION_KINDS.len()));
        // Accesses have a record and a value each, function events neither.
        assert!([[all.time.len(); 2], [0; 2]].contains(&[all.record.len(), all.value.len()]));
        let rows = (0..all.time.len()).map(|n| {
            let (name, line) = (all.names.get(all.name[n]).to_owned(), u64::from(all.lines.line(n)));
            (all.time[n], all.record.get(n), name, all.kind[n], all.value.get(n).copied().unwrap_or(0), line)
        });
        Self { rows: rows.collect(), gaps: all.gaps, counts: all.counts, log: all.log }
    }
}

/// Names are numbered by first use, and each is used.
fn names_are_used(ids: &[u32], names: &TextList) {
    let used = ids.iter().fold(0, |used, id| {
        assert!(*id <= used, "name {id} comes before name {used}");
        used.max(id + 1)
    });
    assert_eq!(used, names.len());
}

fn whole_equals_chunks(data: &[u8], header: usize, parse: impl Fn(&[u8], bool) -> Piece) {
    let whole = parse(data, true);
    accounts_for_all(&whole, data);
    let mut lines = data.split_inclusive(|byte| *byte == b'\n');
    let (mut joined, mut begin, mut at) = (Piece::default(), 0, 0);
    // The first chunk holds the header; how many lines the others hold is left to the input.
    let mut wanted = header.max(1 + data.len() % 5);
    while begin < data.len() {
        at += lines.by_ref().take(wanted).map(<[u8]>::len).sum::<usize>();
        let piece = parse(&data[begin..at], begin == 0);
        accounts_for_all(&piece, &data[begin..at]);
        joined.append(piece);
        (begin, wanted) = (at, 1 + (data.len() + at) % 5);
    }
    assert_eq!(joined.rows, whole.rows);
    assert_eq!(joined.counts, whole.counts);
    assert_eq!(ends(&joined.gaps), ends(&whole.gaps));
    assert_eq!(errors(&joined.log), errors(&whole.log));
}

fn accounts_for_all(piece: &Piece, text: &[u8]) {
    let Counts { lines, joined, rows, gaps, rejected, skipped, inexact_times } = piece.counts;
    assert_eq!(joined, 0);
    assert_eq!(lines, rows + gaps + rejected + skipped);
    assert_eq!(lines, text.split_inclusive(|byte| *byte == b'\n').count() as u64);
    assert_eq!([rows, gaps], [piece.rows.len() as u64, piece.gaps.len() as u64]);
    assert!(inexact_times <= rows + gaps);
    let found: u64 = piece.log.counts().map(|(_, _, _, count)| count).sum();
    assert!(found >= rejected, "{rejected} lines are rejected, but there are {found} findings");
    assert!(piece.log.count_at_least(Severity::Error) <= rejected);
    assert!(piece.rows.is_sorted_by(|a, b| a.5 < b.5), "rows in the order of the text");
    let last = piece
        .rows
        .last()
        .map(|row| row.5)
        .max(piece.log.entries().iter().filter_map(|e| e.line).map(|l| l - 1).max());
    assert!(last.is_none_or(|last| last < lines), "line {last:?} of {lines}");
}

impl Piece {
    /// Appends the next chunk, as the collector of the chunks does.
    fn append(&mut self, mut next: Self) {
        let before = self.rows.last().map(|row| row.0);
        let first = next.rows.first().map(|row| row.0);
        if let Some(first) = first {
            for gap in self.gaps.iter_mut().filter(|gap| gap.end.is_none()) {
                gap.end = Some(first);
            }
        }
        for gap in &mut next.gaps {
            gap.begin = gap.begin.or(before);
        }
        let lines = self.counts.lines;
        next.rows.iter_mut().for_each(|row| row.5 += lines);
        self.rows.append(&mut next.rows);
        self.gaps.append(&mut next.gaps);
        let (sum, part) = (&mut self.counts, next.counts);
        sum.lines += part.lines;
        sum.rows += part.rows;
        sum.gaps += part.gaps;
        sum.rejected += part.rejected;
        sum.skipped += part.skipped;
        sum.inexact_times += part.inexact_times;
        next.log.shift_lines(lines);
        self.log.merge(next.log);
    }
}

fn ends(gaps: &[Gap]) -> Vec<(Option<i64>, Option<i64>, &str)> {
    gaps.iter().map(|gap| (gap.begin, gap.end, gap.reason.as_str())).collect()
}

/// Rejected lines. Warnings are given once in a chunk, so they depend on where it is cut.
fn errors(log: &Log) -> Vec<(Option<u64>, &str, &str)> {
    let errors = log.entries().iter().filter(|entry| entry.severity == Severity::Error);
    errors.map(|entry| (entry.line, entry.code, entry.text.as_str())).collect()
}
