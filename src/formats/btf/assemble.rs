//! Assembles the parsed chunks of a BTF file, in order, into rows of `btf_event` and `btf_line`: line and
//! event numbers, the time scale of the database, names for numbers, and findings across chunks. Does not
//! parse.

use super::chunk::MAX_NOTES;
use super::steps::{Counter, Restart, Steps};
use super::{DeltaStart, EventRows, Header, Keyword, LineKind, OtherLine};
use crate::btf::spec::process_transition;
use crate::btf::{Action, EntityType, remark};
use crate::diagnostics::{Diagnostic, Severity};
use crate::error::{Error, Result};
use crate::formats::text::MAX_NAMES;
use crate::formats::{Gap, Output, Remark, Rows};
use crate::names::{Interner, MergedNames, NameColumn};
use crate::schema::{BtfEventRows, BtfLineRow, BtfLineRows, tables};
use crate::time::{TimeScale, convert, divide_half_even, with_sign};
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
    /// Steps back in time.
    steps: Steps,
    /// The counter of the writer, if the user says that it overflows.
    counter: Option<Counter>,
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
    /// `name` is the path given by the user; times become ticks of `scale`, and go on over the overflows of
    /// `counter`.
    pub fn new(name: &str, scale: TimeScale, counter: Option<Counter>) -> Self {
        Self {
            name: name.to_owned(),
            scale,
            line_rows: BtfLineRows::new(),
            seq: 0,
            steps: Steps::default(),
            counter,
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
        let mut headers = Vec::new();
        for other in &others {
            let to = other.before as usize;
            self.segment(&mut rows, from, to, out)?;
            from = to;
            if self.other(other, out) {
                headers.push(to);
            }
            let is_gap = |text| matches!(remark::read(text), Some(remark::Remark::Gap { .. }));
            if self.counter.is_some() && other.kind == LineKind::Comment && is_gap(&other.text) {
                let line = out.counts.lines + u64::from(other.line) + 1;
                let message = "where the times of a gap are is not known if a counter is continued";
                out.find(Some(line), Severity::Warning, "gap-not-read", message);
            }
            if let Some(remark) = self.remark(other) {
                if let Remark::Gap(gap) = &remark {
                    out.gaps.push(gap.clone());
                }
                out.rows(Rows::remark(tables::BTF_EVENT, remark))?;
            }
        }
        let all = rows.time.len();
        self.segment(&mut rows, from, all, out)?;
        let lines_before = out.counts.lines;
        out.counts.add(&rows.counts);
        let restarts = self.restarts(&rows, &headers);
        let mut later = Vec::new();
        for restart in restarts.iter().rev() {
            later.push((restart, split_off(&mut rows, restart.row)));
        }
        self.emit(rows, lines_before, out)?;
        for (restart, rows) in later.into_iter().rev() {
            let why = restart.why(self.header.scale(), self.scale);
            out.rows(Rows::new_trace(tables::BTF_EVENT, why))?;
            self.emit(rows, lines_before, out)?;
        }
        let names = self.names.names_mut().len();
        [&mut self.names, &mut self.words].into_iter().for_each(|names| names.trim(MAX_NAMES));
        if self.names.names_mut().len() < names {
            self.steps.forget_places();
        }
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

    /// What a comment says about the events that follow. The times of a gap are those of events, which go on
    /// over the overflows of a counter: there, they are not known.
    fn remark(&self, other: &OtherLine) -> Option<Remark> {
        if other.kind != LineKind::Comment {
            return None;
        }
        match remark::read(&other.text)? {
            remark::Remark::Handlers(name) => Some(Remark::Handlers(name.to_owned())),
            remark::Remark::Gap { .. } if self.counter.is_some() => None,
            remark::Remark::Part | remark::Remark::Known(_) => None,
            remark::Remark::Gap { core, reason, span, unit } => {
                let unit = unit.and_then(TimeScale::parse).unwrap_or_else(|| self.header.scale());
                let ticks = |time| convert(time, unit, self.scale).map(|rounded| rounded.ticks);
                let (begin, end) = (ticks(span.0)?, Some(ticks(span.1)?).filter(|_| span.1 >= span.0)?);
                let (core, reason) = (core.map(str::to_owned), reason.to_owned());
                Some(Remark::Gap(Gap { begin, end: Some(end), core, reason }))
            }
        }
    }

    /// Where another trace begins.
    fn restarts(&mut self, rows: &EventRows, headers: &[usize]) -> Vec<Restart> {
        let words = &self.words;
        let mut kinds: HashMap<(u32, u32), bool> = HashMap::new();
        // The source of these events is the core that the process is on.
        let is_on_core = |(kind, action): (u32, u32)| {
            let kind = EntityType::parse_tolerant(words.text(kind));
            let action = Action::parse_tolerant(words.text(action));
            let is_process = matches!(kind, Some(EntityType::Task | EntityType::Isr));
            is_process && action.is_some_and(|a| a != Action::Activate && process_transition(a).is_some())
        };
        let place_of = |row: usize| {
            let words = (*rows.target_type.get(row)?, *rows.action.get(row)?);
            let place = (*rows.source.get(row)?, *rows.target.get(row)?);
            kinds.entry(words).or_insert_with(|| is_on_core(words)).then_some(place)
        };
        self.steps.restarts(&rows.time, headers, place_of)
    }

    /// Applies the header to the rows `[from, to)`.
    fn segment(&mut self, rows: &mut EventRows, from: usize, to: usize, out: &mut Output<'_>) -> Result<()> {
        if from >= to {
            return Ok(());
        }
        if let Some((severity, code, message)) = self.header.begin_events() {
            out.find(None, severity, code, message);
        }
        self.continue_times(rows, from, to, out)?;
        self.scale_times(rows, from, to, out)?;
        if self.header.has_ids() {
            self.name_numbers(rows, from, to, out);
        }
        Ok(())
    }

    /// Continues the times over the overflows of a counter.
    fn continue_times(
        &mut self,
        rows: &mut EventRows,
        from: usize,
        to: usize,
        out: &Output<'_>,
    ) -> Result<()> {
        let Some(counter) = &mut self.counter else { return Ok(()) };
        let times = rows.time.get_mut(from..to).unwrap_or_default();
        counter.continue_times(times).map_err(|row| {
            let line = out.counts.lines + u64::from(rows.lines.line(from + row)) + 1;
            let time = rows.time.get(from + row).copied().unwrap_or_default();
            Error::input(format!("the time {time} is none of a counter of {} bits", counter.bits()))
                .at(&self.name)
                .line(line)
                .hint("give --counter-bits the width of the counter, or leave it out")
        })
    }

    /// The times in the scale of the database. Fails if one does not fit: in that scale, the trace is none.
    fn scale_times(&self, rows: &mut EventRows, from: usize, to: usize, out: &mut Output<'_>) -> Result<()> {
        let (unit, scale) = (self.header.scale().decimals(), self.scale.decimals());
        let times = rows.time.get_mut(from..to).unwrap_or_default();
        if unit < scale {
            let factor = 10i64.pow(scale - unit);
            for (n, time) in times.iter_mut().enumerate() {
                let Some(ticks) = time.checked_mul(factor) else {
                    let line = out.counts.lines + u64::from(rows.lines.line(from + n)) + 1;
                    let (unit, scale) = (self.header.scale(), self.scale);
                    let message = format!(
                        "the time {time} {unit} does not fit 64 bits of {scale}, in which the database counts"
                    );
                    return Err(Error::input(message)
                        .at(&self.name)
                        .line(line)
                        .hint(self.scale.hint_if_too_fine()));
                };
                *time = ticks;
            }
        } else if unit > scale {
            let divisor = 10u64.pow(unit - scale);
            for time in times {
                let (ticks, inexact) = divide_half_even(time.unsigned_abs(), divisor);
                *time = with_sign(ticks, *time < 0).unwrap_or(*time);
                out.counts.inexact_times += u64::from(inexact);
            }
        }
        Ok(())
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
