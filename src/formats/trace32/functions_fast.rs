//! The common shape of a line of a function export, `+437050; NAME; fentry` with a name that was seen before, read without
//! looking for its end first. Reads a line exactly like [`super::functions`], or leaves it to that.

use super::super::text::{line_end, sign, swar};
use super::Settings;
use super::functions::{Reader, TASK_PREFIX};
use super::task_events::{self, ENTRY, EXIT};
use crate::input::Beside;
use crate::time::{TimeScale, with_sign};

/// Reads lines from `(offset, line number)` on for as long as they have the common shape, and gives where it
/// stopped: at a line of another shape, or within reach of the end of the chunk.
pub(super) fn read(
    chunk: &[u8],
    (mut at, mut number): (usize, usize),
    shape: &Shape,
    reader: &mut Reader<'_, '_>,
    beside: &mut Beside<'_>,
) -> (usize, usize) {
    beside.during(|steps| {
        loop {
            steps.step();
            let Some((time, name, kind, next)) = shape.row(chunk, at, reader) else { break };
            reader.rows.push(time, name, kind, number);
            (at, number) = (next, number + 1);
            steps.step();
        }
    });
    (at, number)
}

/// What has to be known of all lines.
pub(super) struct Shape {
    /// Ticks in a nanosecond.
    factor: u64,
    offset: i64,
}

impl Shape {
    /// `None` when a tick is longer than a nanosecond.
    pub(super) fn new(settings: &Settings) -> Option<Self> {
        let places = settings.scale.decimals().checked_sub(TimeScale::Ns.decimals())?;
        Some(Self { factor: 10u64.pow(places), offset: settings.offset })
    }

    /// Time, name and kind in the line at `at`, and where the next line starts.
    #[inline(always)]
    fn row(&self, chunk: &[u8], at: usize, reader: &Reader<'_, '_>) -> Option<(i64, u32, u8, usize)> {
        let (negative, at) = sign(chunk, at);
        let (nanoseconds, digits) = swar::decimal(chunk, at)?;
        let ticks = with_sign(nanoseconds.checked_mul(self.factor)?, negative)?;
        let time = ticks.checked_add(self.offset)?;
        if !chunk.get(at + digits..)?.starts_with(b"; ") {
            return None;
        }
        // A name in front of which "task:" was cut off is also known without it; that line is left alone.
        let (name, end) = reader.names.find_until(chunk, at + digits + 2, b';')?;
        if chunk.get(at + digits + 2..)?.starts_with(TASK_PREFIX) {
            return None;
        }
        // Entries and exits come in no order that a branch could be guessed by.
        let word = swar::word(chunk, end)?;
        let is_entry = word == u64::from_le_bytes(*b"; fentry");
        let is_exit = word << 8 == u64::from_le_bytes(*b"\0; fexit");
        let (kind, at) = if is_entry | is_exit {
            (if is_entry { ENTRY } else { EXIT }, end + 7 + usize::from(is_entry))
        } else {
            other_event(chunk, end)?
        };
        let at = if chunk.get(at) == Some(&b';') { at + 1 } else { at };
        Some((time, name, kind, line_end(chunk, at)?))
    }
}

/// The kind of an event that is spelled otherwise, and where the text goes on behind it; `end` is where the name ends.
fn other_event(chunk: &[u8], end: usize) -> Option<(u8, usize)> {
    let event = chunk.get(end..)?.strip_prefix(b"; ")?;
    let length = event.iter().take(16).position(|b| matches!(b, b';' | b'\r' | b'\n'))?;
    Some((task_events::kind_of(event.get(..length)?)?, end + 2 + length))
}
