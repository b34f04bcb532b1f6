//! A chunk of BTF lines into columns: one tolerant reader of a line, and a fast path for the common shape
//! of an event with the same result. Not what the header means (see [`super::Header`]).

use super::super::text::{Findings, Line, Names, line_end, sign, stops, swar};
use super::super::{Counts, RowLines};
use super::{LineKind, OtherLine};
use crate::btf::{Fields, Unreadable};
use crate::diagnostics::{Log, Severity, excerpt};
use crate::encoding::{NOT_UTF8, escaped};
use crate::names::{NameColumn, TextList};
use crate::schema::Optional;
use crate::time::with_sign;
use std::borrow::Cow;

/// The events of a chunk, column by column, in the order of the text, and the lines between them.
#[derive(Debug, Clone, Default)]
pub struct EventRows {
    /// Times in the unit of the file, as they are written.
    pub time: Vec<i64>,
    /// Indices into `names`.
    pub source: Vec<u32>,
    /// `None` where the field is empty.
    pub source_instance: Optional<i64>,
    /// Indices into `words`.
    pub target_type: Vec<u32>,
    /// Indices into `names`.
    pub target: Vec<u32>,
    /// `None` where the field is empty.
    pub target_instance: Optional<i64>,
    /// Indices into `words`.
    pub action: Vec<u32>,
    /// Indices into `notes`; [`EventRows::NO_NOTE`] for lines with seven fields.
    pub note: Vec<u32>,
    /// The line of each row.
    pub lines: RowLines,
    /// Dictionary delta: names of entities by first use, without those of earlier chunks of the parser.
    /// Bytes that are not UTF-8 are escaped.
    pub names: TextList,
    /// Types and actions, likewise.
    pub words: TextList,
    /// Notes, likewise.
    pub notes: TextList,
    /// The ids of the first of `names`, `words` and `notes`: the number of those in earlier deltas. A
    /// smaller id means that the parser has dropped the names from there on.
    pub delta_start: DeltaStart,
    /// Lines that are not events, in order.
    pub others: Vec<OtherLine>,
    /// The counts of lines.
    pub counts: Counts,
    /// The findings; lines are 1-based within the chunk.
    pub log: Log,
}

impl EventRows {
    /// The note of an event that has none.
    pub const NO_NOTE: u32 = NameColumn::NULL;

    fn with_room_for(bytes: usize) -> Self {
        // Lines of real traces have 35 to 60 bytes.
        let rows = bytes / 40 + 8;
        Self {
            time: Vec::with_capacity(rows),
            source: Vec::with_capacity(rows),
            source_instance: Optional::with_capacity(rows),
            target_type: Vec::with_capacity(rows),
            target: Vec::with_capacity(rows),
            target_instance: Optional::with_capacity(rows),
            action: Vec::with_capacity(rows),
            note: Vec::with_capacity(rows),
            ..Self::default()
        }
    }

    #[inline(always)]
    fn push(&mut self, row: &Row, line: usize) {
        self.lines.put(self.time.len(), line);
        self.time.push(row.time);
        self.source.push(row.source);
        self.source_instance.push(row.source_instance);
        self.target_type.push(row.target_type);
        self.target.push(row.target);
        self.target_instance.push(row.target_instance);
        self.action.push(row.action);
        self.note.push(row.note);
    }
}

/// See [`EventRows::delta_start`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DeltaStart {
    /// Names of entities.
    pub names: u32,
    /// Types and actions.
    pub words: u32,
    /// Notes.
    pub notes: u32,
}

struct Row {
    time: i64,
    source: u32,
    source_instance: Option<i64>,
    target_type: u32,
    target: u32,
    target_instance: Option<i64>,
    action: u32,
    note: u32,
}

/// With more notes, all are dropped. Many are values of signals, which are new all the time.
pub(super) const MAX_NOTES: usize = 1 << 12;

/// A longer new note is left to the tolerant reader.
const MAX_NEW_NOTE: usize = 256;

/// Reads chunks of one file, not necessarily all of them, and returns each name once.
#[derive(Debug)]
pub struct Parser<'s> {
    /// The path given by the user.
    source: Cow<'s, str>,
    names: Names,
    words: Names,
    notes: Names,
    /// A line had bytes that are no UTF-8.
    foreign: bool,
}

impl<'s> Parser<'s> {
    /// `source` is the path given by the user.
    pub fn new(source: impl Into<Cow<'s, str>>) -> Self {
        let notes = Names::with_max(MAX_NOTES);
        Self { source: source.into(), names: Names::new(), words: Names::new(), notes, foreign: false }
    }

    /// Reads a chunk. `inside_line`: the previous chunk ended inside a line, whose rest is skipped
    /// uncounted.
    pub fn chunk(&mut self, chunk: &[u8], inside_line: bool) -> EventRows {
        self.parse_with(chunk, inside_line, true)
    }

    /// [`Parser::chunk`] with or without the fast path, which does not change the result.
    pub(super) fn parse_with(&mut self, chunk: &[u8], inside_line: bool, fast: bool) -> EventRows {
        let Self { source, names, words, notes, foreign } = self;
        let delta_start =
            DeltaStart { names: names.begin_chunk(), words: words.begin_chunk(), notes: notes.begin_chunk() };
        let rows = EventRows { delta_start, ..EventRows::with_room_for(chunk.len()) };
        let mut reader = Reader { rows, findings: Findings::new(&**source), names, words, notes, foreign };
        let (mut at, mut number) = (0, 0);
        if inside_line {
            at = memchr::memchr(b'\n', chunk).map_or(chunk.len(), |end| end + 1);
        }
        while at < chunk.len() {
            if fast {
                (at, number) = reader.common_lines(chunk, (at, number));
            }
            if at < chunk.len() {
                let (line, next) = Line::take(chunk, at, number);
                reader.line(line);
                (at, number) = (next, number + 1);
            }
        }
        reader.finish(number)
    }
}

/// Reads a single chunk, see [`Parser::chunk`].
pub fn parse_chunk(chunk: &[u8], inside_line: bool, source: &str) -> EventRows {
    Parser::new(source).chunk(chunk, inside_line)
}

struct Reader<'p> {
    rows: EventRows,
    findings: Findings<'p>,
    names: &'p mut Names,
    words: &'p mut Names,
    notes: &'p mut Names,
    foreign: &'p mut bool,
}

impl Reader<'_> {
    /// Reads lines from `(offset, line number)` on while they have the common shape; returns where it
    /// stopped.
    fn common_lines(&mut self, chunk: &[u8], (mut at, mut number): (usize, usize)) -> (usize, usize) {
        while let Some((row, next)) = self.common_line(chunk, at) {
            if *self.foreign {
                self.note_foreign(Line::take(chunk, at, number).0);
            }
            self.rows.push(&row, number);
            (at, number) = (next, number + 1);
        }
        (at, number)
    }

    /// Reads `12,Core_0,0,T,T_1,3,start` or the same with a note, if all its names are known. Returns the
    /// row, and where the next line starts. Fields with blanks around them are never known, so they need
    /// no special case. A note may be new: the values of signals often are.
    #[inline(always)]
    fn common_line(&mut self, chunk: &[u8], at: usize) -> Option<(Row, usize)> {
        let (time, digits) = swar::decimal(chunk, at)?;
        let at = comma(chunk, at + digits)?;
        let (source, end) = self.names.find_until(chunk, at, b',')?;
        let (source_instance, at) = instance(chunk, end + 1)?;
        let (target_type, end) = self.words.find_before::<1>(chunk, at, |bytes| stops::equal(bytes, b','))?;
        let (target, end) = self.names.find_until(chunk, end + 1, b',')?;
        let (target_instance, at) = instance(chunk, end + 1)?;
        let (action, end) =
            self.words.find_before::<1>(chunk, at, |b| stops::equal(b, b',') | line_ends(b))?;
        let (note, end) = match chunk.get(end)? {
            b',' if matches!(chunk.get(end + 1)?, b'\r' | b'\n') => (self.notes.known(b"")?, end + 1),
            b',' => match self.notes.find_before::<2>(chunk, end + 1, line_ends) {
                Some(note) => note,
                None => self.new_note(chunk, end + 1)?,
            },
            _ => (EventRows::NO_NOTE, end),
        };
        let time = time as i64;
        let row = Row { time, source, source_instance, target_type, target, target_instance, action, note };
        Some((row, line_end(chunk, end)?))
    }

    /// A new note of a simple form: its bytes are visible ASCII characters up to the line end.
    #[inline(never)]
    fn new_note(&mut self, chunk: &[u8], at: usize) -> Option<(u32, usize)> {
        let rest = chunk.get(at..)?;
        let length = rest.iter().take(MAX_NEW_NOTE).position(|b| !b.is_ascii_graphic())?;
        line_end(chunk, at + length)?;
        let note = rest.get(..length)?;
        // The scan that did not find it has looked at 32 bytes, if the chunk has them.
        let is_unknown = length < 32 && rest.len() >= 32;
        Some((if is_unknown { self.notes.add(note) } else { self.notes.id(note) }, at + length))
    }

    /// Notes bytes that are no UTF-8. From then on names may have such bytes, in lines of the common
    /// shape, too.
    fn note_foreign(&mut self, line: Line<'_>) {
        if std::str::from_utf8(line.text).is_err() {
            *self.foreign = true;
            self.findings.note(line, Severity::Warning, "not-utf8", || NOT_UTF8.to_owned());
        }
    }

    fn line(&mut self, line: Line<'_>) {
        self.note_foreign(line);
        let text = line.text.trim_ascii();
        let kind = match text {
            _ if line.too_long => return self.reject(line, &Unreadable::TooLong),
            [] => LineKind::Blank,
            [b'#'] | [b'#', b' ' | b'\t', ..] => LineKind::Comment,
            [b'#', b'-', ..] => LineKind::TableRow,
            [b'#', ..] => LineKind::Parameter,
            _ => {
                match self.event(text) {
                    Ok(row) => self.rows.push(&row, line.number),
                    Err(why) => self.reject(line, &why),
                }
                return;
            }
        };
        self.other(line, kind, escaped(line.text).into_owned());
    }

    fn other(&mut self, line: Line<'_>, kind: LineKind, text: String) {
        let (number, before) = (line.number as u32, self.rows.time.len() as u32);
        self.rows.others.push(OtherLine { line: number, before, kind, text });
    }

    fn reject(&mut self, line: Line<'_>, why: &Unreadable) {
        self.rows.counts.rejected += 1;
        self.findings.note(line, Severity::Error, why.code(), || why.to_string());
        self.other(line, LineKind::Rejected, excerpt(line.text));
    }

    fn event(&mut self, text: &[u8]) -> Result<Row, Unreadable> {
        let fields = Fields::split(text)?;
        Ok(Row {
            time: fields.time,
            source_instance: fields.source_instance,
            target_instance: fields.target_instance,
            source: self.names.id(fields.source),
            target: self.names.id(fields.target),
            target_type: self.words.id(fields.target_type),
            action: self.words.id(fields.action),
            note: fields.note.map_or(EventRows::NO_NOTE, |note| self.notes.id(note)),
        })
    }

    fn finish(self, lines: usize) -> EventRows {
        let mut rows = self.rows;
        rows.names = self.names.texts_from(rows.delta_start.names);
        rows.words = self.words.texts_from(rows.delta_start.words);
        rows.notes = self.notes.texts_from(rows.delta_start.notes);
        rows.log = self.findings.into_log();
        rows.counts.lines = lines as u64;
        rows.counts.rows = rows.time.len() as u64;
        rows.counts.skipped = rows.others.len() as u64 - rows.counts.rejected;
        debug_assert_eq!(lines, rows.time.len() + rows.others.len(), "a line is unaccounted for");
        rows
    }
}

/// Marks the first byte of a line end, or a tab, which leaves the line to the tolerant reader.
#[inline(always)]
fn line_ends(bytes: [u8; 16]) -> u32 {
    stops::up_to(bytes, b'\r')
}

#[inline(always)]
fn comma(text: &[u8], at: usize) -> Option<usize> {
    (*text.get(at)? == b',').then_some(at + 1)
}

/// An instance and the comma after it: returns where the next field starts.
#[inline(always)]
fn instance(text: &[u8], at: usize) -> Option<(Option<i64>, usize)> {
    if let Some(next) = comma(text, at) {
        return Some((None, next));
    }
    let (negative, at) = sign(text, at);
    let (number, digits) = swar::decimal(text, at)?;
    Some((Some(with_sign(number, negative)?), comma(text, at + digits)?))
}
