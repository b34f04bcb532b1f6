//! Function and task-event exports, which share one grammar: `+437050; EE_as_StartCore; fentry`, time in
//! nanoseconds, maybe with a `;` behind the event. This is the tolerant reader of one line and the loop over a chunk; the
//! common shape of line is read by [`super::functions_fast`] with the same result. The words for events are in
//! [`super::task_events`].

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::super::RowLines;
use super::super::text::{Line, Names};
use super::functions_fast::{self, Shape};
use super::report::{Report, bad_time};
use super::task_events::{self, OTHER};
use super::{Counts, Gap, Settings, Way, fields};
use crate::diagnostics::{Log, Severity};
use crate::schema::TextList;
use crate::time::TimeScale;

/// The events of a chunk, column by column, in the order of the text.
#[derive(Debug, Clone, Default)]
pub struct FunctionRows {
    /// Instants in ticks of [`Settings::scale`], with [`Settings::offset`] added.
    pub time: Vec<i64>,
    /// Indices into `functions`.
    pub function: Vec<u32>,
    /// Names of functions, tasks and interrupts by first use, without those that the parser has told before; one may be empty.
    /// Bytes that are no UTF-8 are replaced, so two entries may have the same text.
    pub functions: TextList,
    /// The index of the first of `functions`: how many the parser has told before. A smaller number than that means that it
    /// has forgotten the others.
    pub told: u32,
    /// What happened: indices into [`super::FUNCTION_KINDS`].
    pub kind: Vec<u8>,
    /// Where each row stood.
    pub lines: RowLines,
    /// Stretches of lost trace data.
    pub gaps: Vec<Gap>,
    /// Where the lines went.
    pub counts: Counts,
    /// What was wrong; lines are 1-based within the chunk.
    pub log: Log,
}

impl FunctionRows {
    fn with_room_for(bytes: usize) -> Self {
        // Lines of real recordings have 25 to 50 bytes.
        let rows = bytes / 24 + 8;
        Self {
            time: Vec::with_capacity(rows),
            function: Vec::with_capacity(rows),
            kind: Vec::with_capacity(rows),
            ..Self::default()
        }
    }

    /// Takes rows, the last of which is in the line before `line`, and each in the one behind the one before.
    pub(super) fn append(&mut self, rows: &[Row], line: usize) {
        if rows.is_empty() {
            return;
        }
        self.lines.put(self.time.len(), line - rows.len());
        self.time.extend(rows.iter().map(|row| row.time));
        self.function.extend(rows.iter().map(|row| row.function));
        self.kind.extend(rows.iter().map(|row| row.kind));
    }
}

/// One event.
#[derive(Clone, Copy, Default)]
pub(super) struct Row {
    pub(super) time: i64,
    pub(super) function: u32,
    pub(super) kind: u8,
}

/// Rows of lines in a row, before they are appended to those of the chunk together: three vectors that grow with each of them are
/// more work than all of their numbers.
pub(super) struct Few {
    rows: [Row; FEW],
    count: usize,
}

/// So many that they stay in the processor's first cache.
const FEW: usize = 64;

impl Few {
    pub(super) fn new() -> Self {
        Self { rows: [Row::default(); FEW], count: 0 }
    }

    /// To be called while it is not full.
    #[inline(always)]
    pub(super) fn push(&mut self, row: Row) {
        let at = self.count % FEW;
        self.rows[at] = row;
        self.count = at + 1;
    }

    #[inline(always)]
    pub(super) fn is_full(&self) -> bool {
        self.count == FEW
    }

    /// All rows; none are left.
    pub(super) fn take(&mut self) -> &[Row] {
        let rows = std::mem::take(&mut self.count);
        self.rows.get(..rows).unwrap_or(&self.rows)
    }
}

/// Reads chunks of one function or task-event export, and tells each name once.
#[derive(Debug)]
pub struct FunctionParser<'s> {
    settings: Cow<'s, Settings>,
    names: Names,
}

impl<'s> FunctionParser<'s> {
    /// For a whole export.
    pub fn new(settings: &'s Settings) -> Self {
        Self { settings: Cow::Borrowed(settings), names: Names::new() }
    }

    /// The same with settings of its own.
    pub fn owned(settings: Settings) -> FunctionParser<'static> {
        FunctionParser { settings: Cow::Owned(settings), names: Names::new() }
    }

    /// Reads a chunk of whole lines.
    pub fn chunk(&mut self, chunk: &[u8]) -> FunctionRows {
        self.parse(chunk, Some(Way::best()))
    }

    /// [`FunctionParser::chunk`] with a fast path or without, which changes nothing but the time it takes.
    pub(super) fn parse(&mut self, chunk: &[u8], fast: Option<Way>) -> FunctionRows {
        let Self { settings, names } = self;
        let settings: &Settings = settings;
        let told = names.begin_chunk();
        let mut reader = Reader {
            settings,
            report: Report::new(settings),
            rows: FunctionRows { told, ..FunctionRows::with_room_for(chunk.len()) },
            names,
            fields: Vec::new(),
            unknown: BTreeSet::new(),
        };
        let fast = Shape::new(settings).zip(fast);
        let (mut at, mut number) = (0, 0);
        while at < chunk.len() {
            if let Some((shape, way)) = &fast {
                (at, number) = functions_fast::read(*way, chunk, (at, number), shape, &mut reader);
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

/// Reads a chunk that stands alone, see [`FunctionParser::chunk`].
pub fn parse_functions(chunk: &[u8], settings: &Settings) -> FunctionRows {
    FunctionParser::new(settings).chunk(chunk)
}

/// The state of reading a chunk.
pub(super) struct Reader<'c, 's> {
    settings: &'s Settings,
    report: Report<'s>,
    pub(super) rows: FunctionRows,
    pub(super) names: &'s mut Names,
    /// The fields of the line at hand, trimmed.
    fields: Vec<&'c [u8]>,
    /// Unknown event words that were reported.
    unknown: BTreeSet<&'c [u8]>,
}

impl<'c> Reader<'c, '_> {
    fn line(&mut self, line: Line<'c>) {
        if line.too_long {
            return self.report.reject_too_long(line);
        }
        if fields::is_blank_or_comment(line.text) {
            self.report.counts.skipped += 1;
            return;
        }
        self.fields.clear();
        self.fields.extend(line.text.split(|&b| b == b';').map(fields::trim));
        // A `;` behind the last field makes an empty one.
        if self.fields.len() > 2 && self.fields.last().is_some_and(|field| field.is_empty()) {
            self.fields.pop();
        }
        let time_field = self.fields.first().copied().unwrap_or_default();
        let scale = self.settings.scale;
        let time = fields::time(time_field, TimeScale::Ns, scale, b';');
        let event = self.event(line.text);
        if event.is_none_or(|(_, _, kind)| kind == OTHER)
            && let Some(text) = self.gap_text(event.is_some())
        {
            return self.report.gap(time.ok(), self.rows.time.len(), text);
        }
        if !matches!(time_field, [b'0'..=b'9' | b'+' | b'-' | b'.', ..]) && self.skip_header(line) {
            return;
        }
        let Some((name, word, kind)) = event else { return self.too_few_fields(line) };
        if kind == OTHER && !line.terminated && task_events::is_cut_word(word) {
            return self
                .report
                .reject(line, "truncated-line", || "the input ends within the event".to_owned());
        }
        let instant = time.map_err(bad_time).and_then(|time| self.report.instant(time));
        let instant = match instant {
            Ok(instant) => instant,
            Err((code, message)) => {
                let message = || format!("{message}: '{}'", String::from_utf8_lossy(time_field));
                return self.report.reject(line, code, message);
            }
        };
        if kind == OTHER && self.unknown.insert(word) {
            self.report.note(line, Severity::Warning, "unknown-function-event", || {
                format!("unknown event '{}'; its rows have the kind 'other'", String::from_utf8_lossy(word))
            });
        }
        let function = self.names.id(without_task_prefix(name));
        self.rows.append(&[Row { time: instant, function, kind }], line.number + 1);
    }

    /// Name, event word and kind. The event is the last field; when that is no known word, the first known one
    /// behind a name, because an export with `/TRaceRecord` has more columns; else it is of kind "other".
    fn event(&self, text: &'c [u8]) -> Option<(&'c [u8], &'c [u8], u8)> {
        let last = self.fields.len().checked_sub(1).filter(|last| *last >= 2)?;
        let known = |at: usize| self.fields.get(at).and_then(|word| task_events::kind_of(word));
        let at = if known(last).is_some() {
            last
        } else {
            (2..last).find(|at| known(*at).is_some()).unwrap_or(last)
        };
        let word = self.fields.get(at).copied()?;
        // The name is what lies between the first `;` and the one before the event.
        let mut separators = memchr::memchr_iter(b';', text);
        let begin = separators.next()? + 1;
        let end = separators.nth(at - 2)?;
        Some((fields::trim(text.get(begin..end)?), word, known(at).unwrap_or(OTHER)))
    }

    /// The field that makes the line a gap. In a line that `has_event` the name may be any word.
    fn gap_text(&self, has_event: bool) -> Option<&'c [u8]> {
        let is_gap = if has_event { fields::is_gap_phrase } else { fields::is_gap_text };
        let events = self.fields.get(2..).unwrap_or_default();
        let kind = events.iter().find(|field| fields::is_gap_kind(field));
        self.fields.iter().find(|field| is_gap(field)).or(kind).copied()
    }

    /// Counts a line that does not begin with a time as skipped if it is a header or a title.
    fn skip_header(&mut self, line: Line<'c>) -> bool {
        const NAMES: [&[u8]; 8] =
            [b"time", b"time(ns)", b"name", b"task", b"task name", b"function", b"event", b"address"];
        let is_name = |field: &&&[u8]| NAMES.iter().any(|name| field.eq_ignore_ascii_case(name));
        if self.fields.iter().filter(is_name).count() >= 2 {
            self.report.counts.skipped += 1;
            return true;
        }
        // What CSVFunc prints above the events is not documented. A lone text cannot be an event, but the rest
        // of a torn line could be an event word.
        let text = fields::trim(line.text);
        let is_title = text.first().is_some_and(u8::is_ascii_alphabetic)
            && self.fields.len() == 1
            && !task_events::is_cut_word(text)
            && task_events::kind_of(text).is_none();
        if is_title {
            self.report.counts.skipped += 1;
            let message = || "a text that is no event was skipped".to_owned();
            self.report.note(line, Severity::Info, "unknown-text", message);
        }
        is_title
    }

    fn too_few_fields(&mut self, line: Line<'c>) {
        let found = self.fields.len();
        if line.terminated {
            let message = || format!("time, name and event expected, {found} fields found");
            self.report.reject(line, "wrong-column-count", message);
        } else {
            let message = || format!("the input ends within the line, after {found} of 3 fields");
            self.report.reject(line, "truncated-line", message);
        }
    }

    fn finish(mut self, lines: usize) -> FunctionRows {
        let told = self.rows.told;
        self.report.note_lossy_names(self.names, told, &self.rows.function, &self.rows.lines);
        let (counts, gaps, log) = self.report.finish(lines, &self.rows.time);
        FunctionRows { functions: self.names.texts_from(told), gaps, counts, log, ..self.rows }
    }
}

/// What stands before the name of a task in a row of the function export.
pub(super) const TASK_PREFIX: &[u8] = b"task:";

/// `task: NAME` is NAME; a C++ name such as `task::run` stays whole.
fn without_task_prefix(name: &[u8]) -> &[u8] {
    match name.strip_prefix(TASK_PREFIX) {
        Some(rest) if !rest.starts_with(b":") => fields::trim(rest),
        _ => name,
    }
}
