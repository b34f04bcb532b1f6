//! The tolerant reader of a line of a function or task-event export. Both have the same grammar, with times
//! in nanoseconds and optionally a `;` after the event: `+437050; EE_as_StartCore; fentry`. Plans read common
//! lines faster, with the same result (see `plan`). Not for the words for events (see `task_events`).

use crate::encoding::escaped;
use std::collections::BTreeSet;

use super::super::text::Line;
use super::fields;
use super::line_reader::{ChunkContext, LineReader};
use super::lost_data;
use super::plan::RowLayout;
use super::report::bad_time;
use super::rows::Row;
use super::task_events::{self, OTHER};
use crate::diagnostics::Severity;
use crate::time::TimeScale;

/// Time, name, event. Quotes have no meaning.
pub(super) fn function_layout() -> RowLayout {
    RowLayout {
        delimiter: b';',
        quotes: false,
        record: None,
        time: 0,
        unit: TimeScale::Ns,
        name: 1,
        without_name: None,
        kind: 2,
        value: None,
        core: None,
        width: None,
    }
}

/// Reads lines.
#[derive(Default)]
pub(super) struct FunctionReader<'c> {
    /// The fields of the current line, trimmed.
    fields: Vec<&'c [u8]>,
    /// The unknown event words that were reported.
    reported: BTreeSet<&'c [u8]>,
}

impl<'c> LineReader<'c> for FunctionReader<'c> {
    fn line(&mut self, line: Line<'c>, chunk: &mut ChunkContext<'_>) -> Option<Row> {
        self.fields.clear();
        self.fields.extend(line.text.split(|&b| b == b';').map(fields::trim));
        // A `;` after the last field makes an empty field.
        if self.fields.len() > 2 && self.fields.last().is_some_and(|field| field.is_empty()) {
            self.fields.pop();
        }
        let time_field = self.fields.first().copied().unwrap_or_default();
        let scale = chunk.settings.scale;
        let time = fields::time(time_field, TimeScale::Ns, scale, b';');
        let event = self.event(line.text);
        if event.is_none_or(|(_, _, kind)| kind == OTHER)
            && let Some(text) = self.gap_text(event.is_some())
        {
            chunk.report.gap(time.ok(), chunk.rows.time.len(), text);
            return None;
        }
        if !matches!(time_field, [b'0'..=b'9' | b'+' | b'-' | b'.', ..]) && self.skip_header(line, chunk) {
            return None;
        }
        let Some((name, word, kind)) = event else {
            self.too_few_fields(line, chunk);
            return None;
        };
        if kind == OTHER && !line.terminated && task_events::is_event_prefix(word) {
            chunk.report.reject(line, "truncated-line", || "the input ends within the event".to_owned());
            return None;
        }
        let time = match time.map_err(bad_time).and_then(|time| chunk.report.instant(time)) {
            Ok(time) => time,
            Err((code, message)) => {
                let message = || format!("{message}: '{}'", escaped(time_field));
                chunk.report.reject(line, code, message);
                return None;
            }
        };
        if kind == OTHER && self.reported.insert(word) {
            chunk.report.findings.note(line, Severity::Warning, "unknown-function-event", || {
                format!("unknown event '{}'; its rows have the kind 'other'", escaped(word))
            });
        }
        let name = chunk.names.id(without_task_prefix(name));
        Some(Row { time, record: None, name, kind, value: 0 })
    }

    fn name_field(&self) -> usize {
        function_layout().name.into()
    }

    fn determines_kind(&self, cell: &[u8], kind: u8) -> bool {
        task_events::kind_of(fields::trim(cell)) == Some(kind)
    }
}

impl<'c> FunctionReader<'c> {
    /// Name, event word and kind. The event is the last field if that is a known word. Otherwise it is the
    /// first known word after the name, because an export with `/TRaceRecord` has more columns. Without any
    /// known word, the last field is an event of kind "other".
    fn event(&self, text: &'c [u8]) -> Option<(&'c [u8], &'c [u8], u8)> {
        let last = self.fields.len().checked_sub(1).filter(|last| *last >= 2)?;
        let known = |at: usize| self.fields.get(at).and_then(|word| task_events::kind_of(word));
        let at = if known(last).is_some() {
            last
        } else {
            (2..last).find(|at| known(*at).is_some()).unwrap_or(last)
        };
        let word = self.fields.get(at).copied()?;
        // The name is the text between the first `;` and the one before the event.
        let mut separators = memchr::memchr_iter(b';', text);
        let begin = separators.next()? + 1;
        let end = separators.nth(at - 2)?;
        Some((fields::trim(text.get(begin..end)?), word, known(at).unwrap_or(OTHER)))
    }

    /// The field that makes the line a gap. If a line `has_event`, its name may be any word.
    fn gap_text(&self, has_event: bool) -> Option<&'c [u8]> {
        let is_gap = if has_event { lost_data::is_gap_phrase } else { lost_data::is_gap_text };
        let events = self.fields.get(2..).unwrap_or_default();
        let kind = events.iter().find(|field| lost_data::is_gap_kind(field));
        self.fields.iter().find(|field| is_gap(field)).or(kind).copied()
    }

    /// Counts a line that does not begin with a time as skipped, if it is a header or a title. Returns
    /// whether it is.
    fn skip_header(&self, line: Line<'c>, chunk: &mut ChunkContext<'_>) -> bool {
        const NAMES: [&[u8]; 8] =
            [b"time", b"time(ns)", b"name", b"task", b"task name", b"function", b"event", b"address"];
        let is_name = |field: &&&[u8]| NAMES.iter().any(|name| field.eq_ignore_ascii_case(name));
        if self.fields.iter().filter(is_name).count() >= 2 {
            chunk.report.counts.skipped += 1;
            return true;
        }
        // The text that CSVFunc prints above the events is not documented. A text alone cannot be an event,
        // but the rest of a cut line could be an event word.
        let text = fields::trim(line.text);
        let is_title = text.first().is_some_and(u8::is_ascii_alphabetic)
            && self.fields.len() == 1
            && !task_events::is_event_prefix(text)
            && task_events::kind_of(text).is_none();
        if is_title {
            chunk.report.counts.skipped += 1;
            let message = || "a text that is no event was skipped".to_owned();
            chunk.report.findings.note(line, Severity::Info, "unknown-text", message);
        }
        is_title
    }

    fn too_few_fields(&self, line: Line<'c>, chunk: &mut ChunkContext<'_>) {
        let found = self.fields.len();
        if line.terminated {
            let message = || format!("time, name and event expected, {found} fields found");
            chunk.report.reject(line, "wrong-column-count", message);
        } else {
            let message = || format!("the input ends within the line, after {found} of 3 fields");
            chunk.report.reject(line, "truncated-line", message);
        }
    }
}

/// The prefix of the names of tasks in the function export.
const TASK_PREFIX: &[u8] = b"task:";

/// `task: NAME` is NAME; a C++ name such as `task::run` is not changed.
fn without_task_prefix(name: &[u8]) -> &[u8] {
    match name.strip_prefix(TASK_PREFIX) {
        Some(rest) if !rest.starts_with(b":") => fields::trim(rest),
        _ => name,
    }
}
