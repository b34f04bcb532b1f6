//! Whether a text is a TRACE32 export, and of which kind. Decides by content alone, not by the name of the
//! file.

use super::super::text::Line;
use super::fields::{self, Cell};
use super::layout::{is_lost, looks_like_time, texts};
use super::lost_data::contains_ignoring_case;
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
    /// Rows of lost data, which are in all kinds, and those of them that are separated by commas.
    lost: usize,
    lost_with_commas: usize,
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
    for line in Line::all(head).take(PROBED_LINES) {
        if is_task_events_title(line.text) {
            return Some(Kind::TaskEvents);
        }
        if !fields::is_blank_or_comment(line.text) && (line.terminated || votes.lines == 0) {
            votes.lines += 1;
            votes.add_event(line.text);
            for delimiter in [b',', b';', b'\t'] {
                fields::split(line.text, delimiter, &mut cells);
                votes.data += usize::from(is_data_row(&cells) || is_data_header(&cells));
                let is_lost = usize::from(cells.len() >= 2 && is_lost(&cells));
                votes.lost += is_lost;
                votes.lost_with_commas += if delimiter == b',' { is_lost } else { 0 };
            }
        }
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
        } else if self.lost > 0 && self.lost == self.lines {
            // All records were lost.
            Some(if self.lost_with_commas > 0 { Kind::Data } else { Kind::Functions })
        } else {
            None
        }
    }
}

/// The comments at the start of a TASKEVENTS export.
fn is_task_events_title(line: &[u8]) -> bool {
    const TITLES: [&[u8]; 2] = [b"task events trace", b"task name; event"];
    let text = fields::trim(line);
    text.starts_with(b"#") && TITLES.iter().any(|title| contains_ignoring_case(text, title))
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
    let (found, _) = columns::from_header(&texts(cells));
    columns::missing(&found).is_empty()
}
