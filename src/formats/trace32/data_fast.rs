//! The common shape of a data line, `-0083448136,0.0004372600,"EE_ORTI_servicetrace","wr-data",43`, read without
//! looking for its end first. Reads a line exactly like [`super::data`], or leaves it to that.

use std::hint::cold_path;

use super::super::text::{line_end, sign, swar, usual};
use super::data::{Few, Reader, Row};
#[cfg(target_arch = "x86_64")]
use super::data_wide;
use super::{Radix, Settings, Way, fields};
use crate::time::{divide_half_even, with_sign};

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
        Way::Wide(wide) => data_wide::read(wide, chunk, from, shape, reader),
    }
}

fn words(
    chunk: &[u8],
    (mut at, mut number): (usize, usize),
    shape: &Shape,
    reader: &mut Reader<'_, '_>,
) -> (usize, usize) {
    let mut inexact_times = 0;
    let mut few = Few::new();
    while let Some((row, inexact, next)) = shape.row(chunk, at, reader) {
        inexact_times += u64::from(inexact);
        (at, number) = (next, number + 1);
        few.push(row, number, &mut reader.rows);
    }
    reader.rows.append(&mut few, number);
    reader.report.counts.inexact_times += inexact_times;
    (at, number)
}

/// What has to be known of all lines.
pub(super) struct Shape {
    places: usize,
    per_second: u64,
    offset: i64,
    pub(super) radix: Radix,
}

impl Shape {
    pub(super) fn new(settings: &Settings) -> Self {
        Self {
            places: settings.scale.decimals() as usize,
            per_second: settings.scale.per_second().unsigned_abs(),
            offset: settings.offset,
            radix: settings.radix,
        }
    }

    /// The row in the line at `at`, whether its time was rounded, and where the next line starts.
    #[inline(always)]
    pub(super) fn row(&self, chunk: &[u8], at: usize, reader: &Reader<'_, '_>) -> Option<(Row, bool, usize)> {
        let (negative, at) = sign(chunk, at);
        // TRACE32 prints records with ten digits, and times with ten decimals (thesis, 5.1.2).
        let (record, at) = match swar::ten_digits(chunk, at) {
            Some(record) if chunk.get(at + 10) == Some(&b',') => (record, at + 11),
            _ => decimal_before(chunk, at, b',')?,
        };
        let record = with_sign(record, negative)?;

        let (negative, at) = sign(chunk, at);
        let (seconds, at) = decimal_before(chunk, at, b'.')?;
        let (ticks, inexact, at) = match swar::ten_digits(chunk, at) {
            Some(fraction) if chunk.get(at + 10) == Some(&b',') => {
                let (ticks, inexact) = self.fraction_ticks(fraction, 10)?;
                (ticks, inexact, at + 11)
            }
            _ => {
                let (fraction, places) = swar::decimal(chunk, at)?;
                let (ticks, inexact) = self.fraction_ticks(fraction, places)?;
                (ticks, inexact, expect(chunk, at + places, b',')?)
            }
        };
        let ticks = seconds.checked_mul(self.per_second)?.checked_add(ticks)?;
        let time = with_sign(ticks, negative)?.checked_add(self.offset)?;

        let name = expect(chunk, at, b'"')?;
        let (variable, is_write, at) = access(chunk, name, reader)?;
        let (value, digits) = match self.radix {
            Radix::Hex => swar::hex(chunk, at)?,
            Radix::Decimal => swar::decimal(chunk, at)?,
        };
        let next = line_end(chunk, at + digits)?;
        Some((Row { time, record, variable, is_write, value }, inexact, next))
    }

    /// A time in 10⁻¹⁰ seconds, below 10¹⁵ of them, as an instant, and whether digits were lost.
    #[inline(always)]
    pub(super) fn instant(&self, time: u64) -> Option<(i64, bool)> {
        let (ticks, inexact) = self.fraction_ticks(time, 10)?;
        Some((i64::try_from(ticks).ok()?.checked_add(self.offset)?, inexact))
    }

    /// A fraction of a second with `places` digits in ticks, and whether digits were lost.
    #[inline(always)]
    fn fraction_ticks(&self, fraction: u64, places: usize) -> Option<(u64, bool)> {
        if places <= self.places {
            return Some((fraction.checked_mul(*swar::POWERS.get(self.places - places)?)?, false));
        }
        // The last of ten decimals is mostly zero, and a constant divides quickly.
        if places == self.places + 1 && fraction.is_multiple_of(10) {
            return Some((fraction / 10, false));
        }
        // Half a second goes to the even one, and a fraction alone does not tell which one that is.
        let divisor = *swar::POWERS.get(places - self.places)?;
        (self.places > 0).then(|| divide_half_even(fraction, divisor))
    }
}

/// A number and where the text goes on behind the byte that ends it.
#[inline(always)]
fn decimal_before(text: &[u8], at: usize, end: u8) -> Option<(u64, usize)> {
    let (number, digits) = swar::decimal(text, at)?;
    Some((number, expect(text, at + digits, end)?))
}

/// The variable whose name starts at `at`, whether it is written, and where its value starts.
#[inline(always)]
pub(super) fn access(chunk: &[u8], at: usize, reader: &Reader<'_, '_>) -> Option<(u32, bool, usize)> {
    // Only names that the tolerant reader has accepted before are found, so they need no check here.
    let (variable, quote) = usual(reader.names.find_until(chunk, at, b'"'))?;
    // Reads and writes come in no order that a branch could be guessed by.
    let cycle: &[u8; 12] = usual(chunk.get(quote..)?.first_chunk())?;
    let is_write = cycle == b"\",\"wr-data\",";
    let is_read = cycle == b"\",\"rd-data\",";
    if is_write | is_read {
        return Some((variable, is_write, quote + cycle.len()));
    }
    cold_path();
    let (is_write, at) = other_cycle(chunk, quote)?;
    Some((variable, is_write, at))
}

/// Whether a cycle that is spelled otherwise is a write, and where the text goes on behind it; `quote` is where the name ends.
fn other_cycle(text: &[u8], quote: usize) -> Option<(bool, usize)> {
    let cycle = text.get(quote..)?.strip_prefix(b"\",\"")?;
    let length = cycle.iter().take(16).position(|b| matches!(b, b'"' | b'\n'))?;
    let is_write = fields::access(cycle.get(..length)?)?;
    cycle.get(length..)?.starts_with(b"\",").then_some((is_write, quote + 3 + length + 2))
}

/// Where the text goes on behind `byte`; `None` when something else is there.
#[inline(always)]
fn expect(text: &[u8], at: usize, byte: u8) -> Option<usize> {
    (*text.get(at)? == byte).then_some(at + 1)
}
