//! The common shape of a data line on processors with SSE4.1: a mask is laid upon its first thirty-two bytes, and both numbers in
//! them are made at once. Reads a line exactly like [`super::data_fast`], or leaves it to that.

use super::super::text::wide::{self, Wide};
use super::super::text::{line_end, usual};
use super::Radix;
use super::data::{Few, Reader, Row};
use super::data_fast::{self, Shape};

/// As [`super::data_fast::read`].
pub(super) fn read(
    _: Wide,
    chunk: &[u8],
    from: (usize, usize),
    shape: &Shape,
    reader: &mut Reader<'_, '_>,
) -> (usize, usize) {
    #[expect(unsafe_code, reason = "a third fewer instructions for a line")]
    // SAFETY: `Wide` shows that the processor has what `lines` is compiled for.
    unsafe {
        lines(chunk, from, shape, reader)
    }
}

#[target_feature(enable = "sse4.1")]
fn lines(
    chunk: &[u8],
    (mut at, mut number): (usize, usize),
    shape: &Shape,
    reader: &mut Reader<'_, '_>,
) -> (usize, usize) {
    let mut head = &HEADS[0];
    let mut inexact_times = 0;
    let mut few = Few::new();
    loop {
        while let Some((row, inexact, next)) = row(chunk, at, shape, head, reader) {
            inexact_times += u64::from(inexact);
            (at, number) = (next, number + 1);
            few.push(row, number, &mut reader.rows);
        }
        let Some((row, inexact, next)) = shape.row(chunk, at, reader) else { break };
        head = head_of(chunk, at).unwrap_or(head);
        inexact_times += u64::from(inexact);
        (at, number) = (next, number + 1);
        few.push(row, number, &mut reader.rows);
    }
    reader.rows.append(&mut few, number);
    reader.report.counts.inexact_times += inexact_times;
    (at, number)
}

/// The row in the line at `at`, whether its time was rounded, and where the next line starts.
#[inline]
#[target_feature(enable = "sse4.1")]
fn row(
    chunk: &[u8],
    at: usize,
    shape: &Shape,
    head: &Head,
    reader: &Reader<'_, '_>,
) -> Option<(Row, bool, usize)> {
    let (record, time) = usual(head.read(usual(chunk.get(at..)?.first_chunk())?))?;
    let (time, inexact) = usual(shape.instant(time))?;
    let (variable, is_write, at) = usual(data_fast::access(chunk, at + head.length, reader))?;
    let text = usual(chunk.get(at..)?.first_chunk())?;
    let (value, digits) = match shape.radix {
        Radix::Hex => usual(wide::hex(text))?,
        Radix::Decimal => usual(wide::decimal(text))?,
    };
    let next = usual(line_end(chunk, at + digits))?;
    Some((Row { time, record, variable, is_write, value }, inexact, next))
}

/// What lines begin with whose record and time have ten digits and ten decimals, as TRACE32 prints them (thesis, 5.1.2):
/// `-0083448136,0.0004372600,"`.
struct Head {
    /// For each byte the least that it may be, and how much more it may be.
    least: [u8; 32],
    range: [u8; 32],
    /// Of each of sixteen digits of the record, and then of the time, its place counted from the first one of that; marks of
    /// zeros in front.
    order: [u8; 32],
    /// Its length in bytes.
    length: usize,
}

/// Where the digits of the time begin, behind the sign, ten digits and the comma of the record.
const TIME: usize = 12;

/// Those with one to five digits of seconds. With more, the digits of a time and its point are more than sixteen bytes.
static HEADS: [Head; 5] = [Head::new(1), Head::new(2), Head::new(3), Head::new(4), Head::new(5)];

/// That of the line at `at`, as far as the digits of its seconds tell.
fn head_of(chunk: &[u8], at: usize) -> Option<&'static Head> {
    let time = chunk.get(at + TIME..)?;
    let seconds = time.iter().take(HEADS.len() + 1).position(|byte| *byte == b'.')?;
    HEADS.get(seconds.checked_sub(1)?)
}

impl Head {
    const fn new(seconds: usize) -> Self {
        let point = TIME + seconds;
        let mut head = Self { least: [0; 32], range: [0xff; 32], order: [0x80; 32], length: point + 13 };
        let mut at = 0;
        while at < head.length {
            // A comma is between the two signs, and refused by itself.
            (head.least[at], head.range[at]) = match at {
                0 => (b'+', b'-' - b'+'),
                _ if at == point => (b'.', 0),
                _ if at == TIME - 1 || at == point + 11 => (b',', 0),
                _ if at == point + 12 => (b'"', 0),
                _ => (b'0', 9),
            };
            at += 1;
        }
        let mut digit = 0;
        while digit < 10 {
            head.order[6 + digit] = digit as u8;
            head.order[22 + digit] = (seconds + 1 + digit) as u8;
            digit += 1;
        }
        let mut digit = 0;
        while digit < seconds {
            head.order[22 - seconds + digit] = digit as u8;
            digit += 1;
        }
        head
    }

    /// The record, and the time in 10⁻¹⁰ seconds. `None` for a line that begins otherwise.
    #[inline]
    #[target_feature(enable = "sse4.1")]
    fn read(&self, line: &[u8; 64]) -> Option<(i64, u64)> {
        let [sign, record @ ..] = line;
        let halves = line.as_chunks().0.iter().zip(self.least.as_chunks().0).zip(self.range.as_chunks().0);
        let mut fits = *sign != b',';
        for ((bytes, least), range) in halves {
            fits &= wide::within(bytes, least, range);
        }
        if !fits {
            return None;
        }
        let record = wide::digits(record.first_chunk()?, self.order.first_chunk()?);
        let time = wide::digits(line[TIME..].first_chunk()?, self.order.last_chunk()?);
        let [record, time] = wide::numbers([record, time]);
        let record = record.cast_signed();
        Some((if *sign == b'-' { -record } else { record }, time))
    }
}
