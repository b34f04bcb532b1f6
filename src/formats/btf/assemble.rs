//! Assembles the parsed chunks of a BTF file, in order, into rows of `btf_event` and `btf_line`: line and
//! event numbers, the time scale of the database, names for numbers, and findings across chunks. Does not
//! parse.

use super::chunk::MAX_NOTES;
use super::{DeltaStart, EventRows, Header, Keyword, LineKind, OtherLine};
use crate::diagnostics::{Diagnostic, Severity};
use crate::error::Result;
use crate::formats::text::MAX_NAMES;
use crate::formats::{Output, Rows};
use crate::names::{Interner, MergedNames, NameColumn};
use crate::schema::{BtfEventRows, BtfLineRow, BtfLineRows, tables};
use crate::time::{TimeScale, divide_half_even, with_sign};
use std::collections::{HashMap, HashSet};

/// Rows per batch of lines that are not events.
const LINES_OUT: usize = 16 * 1024;

/// See the module.
pub(super) struct Assembler {
    /// The path given by the user.
    name: String,
    scale: TimeScale,
    line_rows: BtfLineRows,
    /// Number of events so far: the `seq` of the next one.
    seq: i64,
    /// Time of the previous event, in file order.
    before: Option<i64>,
    /// Numbers that no table of the file explains.
    undefined: HashSet<String>,
    names: MergedNames,
    words: MergedNames,
    notes: MergedNames,
    /// The header lines so far.
    pub header: Header,
    /// Entities are named by number, which a table of the file explains.
    pub numeric: bool,
}

impl Assembler {
    /// `name` is the path given by the user; times become ticks of `scale`.
    pub fn new(name: &str, scale: TimeScale) -> Self {
        Self {
            name: name.to_owned(),
            scale,
            line_rows: BtfLineRows::new(),
            seq: 0,
            before: None,
            undefined: HashSet::new(),
            names: MergedNames::default(),
            words: MergedNames::default(),
            notes: MergedNames::default(),
            header: Header::default(),
            numeric: false,
        }
    }

    /// Adds the next chunk of the file, read by the parser of this number.
    pub fn take(&mut self, parser: usize, mut rows: EventRows, out: &mut Output<'_>) -> Result<()> {
        self.share_names(parser, &mut rows);
        let mut log = std::mem::take(&mut rows.log);
        log.shift_lines(out.counts.lines);
        out.log.merge(log);
        let others = std::mem::take(&mut rows.others);
        let mut from = 0;
        let mut restart = None;
        for other in &others {
            let to = other.before as usize;
            self.segment(&mut rows, from, to, out);
            from = to;
            if self.other(other, out) {
                restart = Some(to);
            }
        }
        let all = rows.time.len();
        self.segment(&mut rows, from, all, out);
        let lines_before = out.counts.lines;
        out.counts.add(&rows.counts);
        let previous = self.before;
        self.before = rows.time.last().copied().or(previous);
        // A header between events whose times start again: another trace was appended.
        match restart.filter(|r| begins_anew(&rows.time, *r, previous)) {
            Some(at) => {
                let later = split_off(&mut rows, at);
                self.emit(rows, lines_before, out)?;
                out.rows(Rows::new_trace(tables::BTF_EVENT))?;
                self.emit(later, lines_before, out)?;
            }
            None => self.emit(rows, lines_before, out)?,
        }
        [&mut self.names, &mut self.words].into_iter().for_each(|names| names.trim(MAX_NAMES));
        self.notes.trim(MAX_NOTES);
        if self.line_rows.len() >= LINES_OUT {
            self.emit_lines(out)?;
        }
        Ok(())
    }

    /// Emits the lines that are not events.
    pub fn emit_lines(&mut self, out: &mut Output<'_>) -> Result<()> {
        out.rows(Rows::new(tables::BTF_LINE, self.line_rows.take_batch()?))
    }

    /// Replaces the parser's ids of names by keys.
    fn share_names(&mut self, parser: usize, rows: &mut EventRows) {
        let DeltaStart { names, words, notes } = rows.delta_start;
        self.names.learn(parser, names, &rows.names);
        self.words.learn(parser, words, &rows.words);
        self.notes.learn(parser, notes, &rows.notes);
        self.names.translate(parser, &mut rows.source);
        self.names.translate(parser, &mut rows.target);
        self.words.translate(parser, &mut rows.target_type);
        self.words.translate(parser, &mut rows.action);
        self.notes.translate(parser, &mut rows.note);
    }

    /// Stores a line that is not an event; returns true if it may begin another trace.
    fn other(&mut self, other: &OtherLine, out: &mut Output<'_>) -> bool {
        let line = out.counts.lines + u64::from(other.line) + 1;
        self.line_rows.push(BtfLineRow {
            line: line as i64,
            next_seq: self.seq + i64::from(other.before),
            kind: other.kind.as_str().into(),
            text: &other.text,
        });
        if let Some((severity, code, message)) = self.header.line(other.kind, &other.text) {
            let (source, line, text) = (self.name.clone(), Some(line), other.text.clone());
            out.log.push(Diagnostic { source, line, severity, code, message, text });
        }
        let version = matches!(Keyword::split(&other.text), Some((Keyword::Version, _)));
        other.kind == LineKind::Parameter && version
    }

    /// Applies the header to the rows `[from, to)`.
    fn segment(&mut self, rows: &mut EventRows, from: usize, to: usize, out: &mut Output<'_>) {
        if from >= to {
            return;
        }
        self.scale_times(rows, from, to, out);
        if self.header.has_ids() {
            self.name_numbers(rows, from, to, out);
        }
    }

    fn scale_times(&self, rows: &mut EventRows, from: usize, to: usize, out: &mut Output<'_>) {
        let (unit, scale) = (self.header.scale().decimals(), self.scale.decimals());
        let times = rows.time.get_mut(from..to).unwrap_or_default();
        if unit < scale {
            let factor = 10i64.pow(scale - unit);
            for (n, time) in times.iter_mut().enumerate() {
                match time.checked_mul(factor) {
                    Some(ticks) => *time = ticks,
                    None => {
                        let line = out.counts.lines + u64::from(rows.lines.line(from + n)) + 1;
                        let message = format!(
                            "the time {time} does not fit 64 bits in the database's scale; it is cut"
                        );
                        *time = if *time < 0 { i64::MIN } else { i64::MAX };
                        out.find(Some(line), Severity::Error, "time-overflow", message);
                    }
                }
            }
        } else if unit > scale {
            let divisor = 10u64.pow(unit - scale);
            for time in times {
                let (ticks, inexact) = divide_half_even(time.unsigned_abs(), divisor);
                *time = with_sign(ticks, *time < 0).unwrap_or(*time);
                out.counts.inexact_times += u64::from(inexact);
            }
        }
    }

    /// Numeric mode: replaces numbers by the names in the file's tables (BTF 2.1.5, numeric mode).
    fn name_numbers(&mut self, rows: &mut EventRows, from: usize, to: usize, out: &mut Output<'_>) {
        let header = &self.header;
        let mut unknown = Vec::new();
        let mut numeric = false;
        let mut rename = |keys: &mut Vec<u32>, names: &mut Interner, types: bool| {
            let mut known: HashMap<u32, u32> = HashMap::new();
            for n in from..to {
                let Some(key) = keys.get_mut(n) else { break };
                *key = *known.entry(*key).or_insert_with(|| {
                    let text = names.text(*key);
                    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
                        return *key;
                    }
                    match if types { header.type_of(text) } else { header.entity(text) } {
                        Some(name) => {
                            numeric = true;
                            names.intern(name)
                        }
                        None => {
                            unknown.push((n, text.to_owned()));
                            *key
                        }
                    }
                });
            }
        };
        rename(&mut rows.source, self.names.names_mut(), false);
        rename(&mut rows.target, self.names.names_mut(), false);
        rename(&mut rows.target_type, self.words.names_mut(), true);
        self.numeric |= numeric;
        for (row, id) in unknown {
            if self.undefined.insert(id.clone()) {
                let line = out.counts.lines + u64::from(rows.lines.line(row)) + 1;
                let message = format!("no table of the file says what the number {id} stands for");
                out.find(Some(line), Severity::Warning, "undefined-id", message);
            }
        }
    }

    fn emit(&mut self, rows: EventRows, lines_before: u64, out: &mut Output<'_>) -> Result<()> {
        let count = rows.time.len() as i64;
        if count == 0 {
            return Ok(());
        }
        let mut columns = BtfEventRows::new();
        columns.seq = (self.seq..self.seq + count).collect();
        columns.time = rows.time;
        let [names, words, notes] =
            [&mut self.names, &mut self.words, &mut self.notes].map(MergedNames::array);
        columns.source = NameColumn::from_parts(rows.source, names.clone());
        columns.source_instance = rows.source_instance;
        columns.target_type = NameColumn::from_parts(rows.target_type, words.clone());
        columns.target = NameColumn::from_parts(rows.target, names);
        columns.target_instance = rows.target_instance;
        columns.action = NameColumn::from_parts(rows.action, words);
        columns.note = NameColumn::from_parts(rows.note, notes);
        self.seq += count;
        let events = Rows::new(tables::BTF_EVENT, columns.take_batch()?);
        out.rows(events.in_lines(lines_before, rows.lines))
    }
}

/// The time of row `at` is before that of the previous row, which may be the last one of the previous chunk.
fn begins_anew(times: &[i64], at: usize, previous: Option<i64>) -> bool {
    let before = at.checked_sub(1).map_or(previous, |n| times.get(n).copied());
    before.zip(times.get(at)).is_some_and(|(before, behind)| *behind < before)
}

/// Moves the rows from `at` on to a new value.
fn split_off(rows: &mut EventRows, at: usize) -> EventRows {
    EventRows {
        time: rows.time.split_off(at),
        source: rows.source.split_off(at),
        source_instance: rows.source_instance.split_off(at),
        target_type: rows.target_type.split_off(at),
        target: rows.target.split_off(at),
        target_instance: rows.target_instance.split_off(at),
        action: rows.action.split_off(at),
        note: rows.note.split_off(at),
        lines: rows.lines.split_off(at),
        ..EventRows::default()
    }
}
