//! The common shape of a line of a function export, `+437050; NAME; fentry` with a name that was seen before, read without
//! looking for its end first. Reads a line exactly like [`super::functions`], or leaves it to that.

use std::hint::cold_path;

use super::super::text::{line_end, sign, swar, usual};
use super::functions::{Few, Reader, Row, TASK_PREFIX};
#[cfg(target_arch = "x86_64")]
use super::functions_wide;
use super::task_events::{self, ENTRY, EXIT};
use super::{Settings, Way};
use crate::time::{TimeScale, with_sign};

/// Reads lines from `(offset, line number)` on for as long as they have the common shape, and gives where it
/// stopped: at a line of another shape, or within reach of the end of the chunk.
pub(super) fn read(
    way: Way,
    chunk: &[u8],
    from: (usize, usize),
    shape: &Shape,
    reader: &mut Reader<'_, '_>,
) -> (usize, usize) {
    match way {
        Way::Words => words(chunk, from, shape, reader),
        #[cfg(target_arch = "x86_64")]
        Way::Wide(wide) => functions_wide::read(wide, chunk, from, shape, reader),
    }
}

fn words(
    chunk: &[u8],
    (mut at, mut number): (usize, usize),
    shape: &Shape,
    reader: &mut Reader<'_, '_>,
) -> (usize, usize) {
    let mut few = Few::new();
    while let Some((row, next)) = shape.row(chunk, at, reader) {
        few.push(row);
        (at, number) = (next, number + 1);
        if few.is_full() {
            reader.rows.append(few.take(), number);
        }
    }
    reader.rows.append(few.take(), number);
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

    /// The row in the line at `at`, and where the next line starts.
    #[inline(always)]
    pub(super) fn row(&self, chunk: &[u8], at: usize, reader: &Reader<'_, '_>) -> Option<(Row, usize)> {
        let (negative, at) = sign(chunk, at);
        let (nanoseconds, digits) = swar::decimal(chunk, at)?;
        let time = self.instant(nanoseconds, negative)?;
        if !chunk.get(at + digits..)?.starts_with(b"; ") {
            return None;
        }
        let (function, end) = name(chunk, at + digits + 2, reader)?;
        let (kind, next) = event(chunk, end)?;
        Some((Row { time, function, kind }, next))
    }

    /// A time in ticks of the recording.
    #[inline(always)]
    pub(super) fn instant(&self, nanoseconds: u64, negative: bool) -> Option<i64> {
        with_sign(nanoseconds.checked_mul(self.factor)?, negative)?.checked_add(self.offset)
    }
}

/// The function whose name starts at `at`, and where it ends.
#[inline(always)]
pub(super) fn name(chunk: &[u8], at: usize, reader: &Reader<'_, '_>) -> Option<(u32, usize)> {
    // A name in front of which "task:" was cut off is also known without it; that line is left alone.
    let found = usual(reader.names.find_until(chunk, at, b';'))?;
    usual((!chunk.get(at..)?.starts_with(TASK_PREFIX)).then_some(found))
}

/// The kind of the event behind the name that ends at `end`, and where the next line starts.
#[inline(always)]
pub(super) fn event(chunk: &[u8], end: usize) -> Option<(u8, usize)> {
    /// Entries and exits come in no order that a branch could be guessed by: the bit that tells `n` from `x` is an index here.
    const EVENTS: [(u8, usize, u64, u64); 2] = [
        (EXIT, 7, u64::MAX >> 8, u64::from_le_bytes(*b"; fexit\0")),
        (ENTRY, 8, u64::MAX, u64::from_le_bytes(*b"; fentry")),
    ];
    let word = usual(swar::word(chunk, end))?;
    let (kind, length, mask, text) = EVENTS[(word >> 33) as usize & 1];
    let (kind, at) = if word & mask == text {
        (kind, end + length)
    } else {
        cold_path();
        other_event(chunk, end)?
    };
    let at = at + usize::from(chunk.get(at) == Some(&b';'));
    Some((kind, usual(line_end(chunk, at))?))
}

/// The kind of an event that is spelled otherwise, and where the text goes on behind it; `end` is where the name ends.
fn other_event(chunk: &[u8], end: usize) -> Option<(u8, usize)> {
    let event = chunk.get(end..)?.strip_prefix(b"; ")?;
    let length = event.iter().take(16).position(|b| matches!(b, b';' | b'\r' | b'\n'))?;
    Some((task_events::kind_of(event.get(..length)?)?, end + 2 + length))
}
