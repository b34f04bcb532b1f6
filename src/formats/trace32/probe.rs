//! Whether a text is a TRACE32 export, and of which kind. Decides by content alone, not by the name of the
//! file.

use super::super::text::Line;
use super::fields::{self, Cell};
use super::layout::looks_like_time;
use super::{Kind, columns, task_events};
use crate::time::TimeScale;

/// Maximum number of lines that are examined.
const PROBED_LINES: usize = 1000;

/// How many lines are evidence for which kind.
#[derive(Default)]
struct Votes {
    data: usize,
    functions: usize,
    task_events: usize,
    /// Time, name, and any word as the event.
    any_event: usize,
    lines: usize,
}

/// The kind of the export that begins with these bytes; `None` for another format, for binary data, and for
/// an empty text.
pub fn probe(head: &[u8]) -> Option<Kind> {
    let start = head.get(..4096).unwrap_or(head);
    if memchr::memchr(0, start).is_some() || head.starts_with(b"#version") {
        return None;
    }
    let mut votes = Votes::default();
    let mut cells = Vec::new();
    let (mut at, mut number) = (0, 0);
    while at < head.len() && number < PROBED_LINES {
        let (line, next) = Line::take(head, at, number);
        if is_task_events_title(line.text) {
            return Some(Kind::TaskEvents);
        }
        if !fields::is_blank_or_comment(line.text) && (line.terminated || votes.lines == 0) {
            votes.lines += 1;
            votes.add_event(line.text);
            for delimiter in [b',', b';', b'\t'] {
                fields::split(line.text, delimiter, &mut cells);
                votes.data += usize::from(is_data_row(&cells) || is_data_header(&cells));
            }
        }
        (at, number) = (next, number + 1);
    }
    votes.decide()
}

impl Votes {
    fn add_event(&mut self, text: &[u8]) {
        let mut parts = text.split(|&b| b == b';').map(fields::trim);
        let time = parts.next().unwrap_or_default();
        let rest: Vec<&[u8]> = parts.skip(1).collect();
        if rest.is_empty() || fields::time(time, TimeScale::Ns, TimeScale::Ns, b';').is_err() {
            return;
        }
        if rest.iter().any(|word| task_events::is_function_word(word)) {
            self.functions += 1;
        } else if rest.iter().any(|word| task_events::kind_of(word).is_some()) {
            self.task_events += 1;
        } else if matches!(time, [b'+' | b'-', ..]) {
            self.any_event += 1;
        }
    }

    fn decide(&self) -> Option<Kind> {
        let events = self.functions + self.task_events + self.any_event;
        if self.data > 0 && self.data >= events {
            Some(Kind::Data)
        } else if self.functions > 0 {
            Some(Kind::Functions)
        } else if self.task_events > 0 {
            Some(Kind::TaskEvents)
        } else if self.any_event * 2 > self.lines {
            Some(Kind::Functions)
        } else {
            None
        }
    }
}

/// The comments at the start of a TASKEVENTS export.
fn is_task_events_title(line: &[u8]) -> bool {
    let text = fields::trim(line).to_ascii_lowercase();
    let contains = |part: &[u8]| text.windows(part.len()).any(|window| window == part);
    text.starts_with(b"#") && (contains(b"task events trace") || contains(b"task name; event"))
}

/// Whether there are a time and a cycle of TRACE32. Plain `read` and `write` do not count: other trace
/// formats have them too.
fn is_data_row(cells: &[Cell<'_>]) -> bool {
    let is_plain =
        |text: &[u8]| matches!(text.to_ascii_lowercase().as_slice(), b"read" | b"write" | b"rd" | b"wr");
    cells.len() >= 3
        && cells.iter().any(|cell| fields::is_cycle(cell.text) && !is_plain(cell.text))
        && cells.iter().any(|cell| looks_like_time(*cell))
}

fn is_data_header(cells: &[Cell<'_>]) -> bool {
    let names: Vec<String> =
        cells.iter().map(|cell| String::from_utf8_lossy(cell.text).into_owned()).collect();
    let (found, _) = columns::from_header(&names);
    columns::missing(&found).is_empty()
}
