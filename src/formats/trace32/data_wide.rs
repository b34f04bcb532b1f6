//! The common shape of a data line on processors with SSE4.1: a mask is laid upon its first thirty-two bytes, and both numbers in
//! them are made at once. Reads a line exactly like [`super::data_fast`], or leaves it to that.

use std::arch::x86_64::{
    _mm_and_si128, _mm_cmpeq_epi8, _mm_min_epu8, _mm_movemask_epi8, _mm_set1_epi8, _mm_shuffle_epi8,
    _mm_sub_epi8,
};

use super::super::text::line_end;
use super::super::text::wide::{self, Wide, load};
use super::Radix;
use super::data::{Reader, Row};
use super::data_fast::{self, Shape};
use crate::input::Beside;

/// As [`super::data_fast::read`].
pub(super) fn read(
    _: Wide,
    chunk: &[u8],
    from: (usize, usize),
    shape: &Shape,
    reader: &mut Reader<'_, '_>,
    beside: &mut Beside<'_>,
) -> (usize, usize) {
    #[expect(unsafe_code, reason = "a third of the instructions of a line")]
    // SAFETY: `Wide` shows that the processor has what `lines` is compiled for.
    unsafe {
        lines(chunk, from, shape, reader, beside)
    }
}

#[target_feature(enable = "sse4.1")]
fn lines(
    chunk: &[u8],
    (mut at, mut number): (usize, usize),
    shape: &Shape,
    reader: &mut Reader<'_, '_>,
    beside: &mut Beside<'_>,
) -> (usize, usize) {
    let mut head = Head::new(1);
    let mut inexact_times = 0;
    loop {
        let (row, next) = if let Some(found) = row(chunk, at, number, shape, &head, reader, beside) {
            found
        } else {
            let Some((row, inexact, next)) = shape.row(chunk, at, number, reader, beside) else { break };
            inexact_times += u64::from(inexact);
            head = Head::of(chunk, at).unwrap_or(head);
            (row, next)
        };
        reader.rows.push(row);
        (at, number) = (next, number + 1);
    }
    reader.report.counts.inexact_times += inexact_times;
    (at, number)
}

/// The row in the line at `at`, and where the next line starts.
#[inline]
#[target_feature(enable = "sse4.1")]
fn row(
    chunk: &[u8],
    at: usize,
    line: usize,
    shape: &Shape,
    head: &Head,
    reader: &Reader<'_, '_>,
    beside: &mut Beside<'_>,
) -> Option<(Row, usize)> {
    let (record, time) = head.read(chunk.get(at..)?.first_chunk()?)?;
    beside.step();
    let time = shape.instant(time)?;
    beside.step();
    let (variable, is_write, at) = data_fast::access(chunk, at + head.length, reader, beside)?;
    let (value, digits) = match shape.radix {
        Radix::Hex => wide::hex(chunk.get(at..)?.first_chunk()?)?,
        Radix::Decimal => wide::decimal(chunk.get(at..)?.first_chunk()?)?,
    };
    let next = line_end(chunk, at + digits)?;
    beside.step();
    Some((Row { time, record: Some(record), variable, is_write, value, line }, next))
}

/// What lines begin with whose record and time have ten digits and ten decimals, as TRACE32 prints them (thesis, 5.1.2):
/// `-0083448136,0.0004372600,"`.
struct Head {
    /// For each byte the least that it may be, and how much more it may be.
    least: [u8; 32],
    range: [u8; 32],
    /// The places of sixteen digits of the record, and of sixteen of the time, counted from the first digit of each; marks of
    /// zeros in front of them.
    order: [u8; 32],
    /// Its length in bytes.
    length: usize,
}

/// Where the digits of the time begin, behind the sign, ten digits and the comma of the record.
const TIME: usize = 12;
/// With more of them, the digits of a time are more than sixteen.
const MOST_SECONDS: usize = 5;

impl Head {
    /// That of the line at `at`, as far as the digits of its seconds tell.
    #[cold]
    fn of(chunk: &[u8], at: usize) -> Option<Self> {
        let time = chunk.get(at + TIME..)?;
        let seconds = time.iter().take(MOST_SECONDS + 1).position(|byte| *byte == b'.')?;
        (seconds > 0).then(|| Self::new(seconds))
    }

    /// The one with so many digits of seconds, 1 to [`MOST_SECONDS`].
    fn new(seconds: usize) -> Self {
        let decimals = seconds + 1;
        let layout =
            [("+", 1), ("0", 10), (",", 1), ("0", seconds), (".", 1), ("0", 10), (",", 1), ("\"", 1)];
        let layout: String = layout.iter().map(|(byte, times)| byte.repeat(*times)).collect();
        let mut head = Self { least: [0; 32], range: [0xff; 32], order: [0x80; 32], length: layout.len() };
        for ((byte, least), range) in layout.bytes().zip(&mut head.least).zip(&mut head.range) {
            // A comma is between the two signs, and refused by itself.
            (*least, *range) = (byte, if byte == b'0' { 9 } else { u8::from(byte == b'+') * 2 });
        }
        let (record, time) = head.order.split_at_mut(16);
        let set = |order: &mut [u8], places: &mut dyn Iterator<Item = usize>| {
            order.iter_mut().rev().zip(places).for_each(|(digit, place)| *digit = place as u8);
        };
        set(record, &mut (0..10).rev());
        set(time, &mut (0..seconds).chain(decimals..decimals + 10).rev());
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
            let over = _mm_sub_epi8(load(bytes), load(least));
            let few = _mm_cmpeq_epi8(_mm_min_epu8(over, load(range)), over);
            fits &= _mm_movemask_epi8(few) == 0xffff;
        }
        if !fits {
            return None;
        }
        let digits = |text: &[u8; 16], order: &[u8; 16]| {
            _mm_and_si128(_mm_shuffle_epi8(load(text), load(order)), _mm_set1_epi8(0x0f))
        };
        let record = digits(record.first_chunk()?, self.order.first_chunk()?);
        let time = digits(line[TIME..].first_chunk()?, self.order.last_chunk()?);
        let [record, time] = wide::numbers([record, time]);
        let record = record.cast_signed();
        Some((if *sign == b'-' { -record } else { record }, time))
    }
}
