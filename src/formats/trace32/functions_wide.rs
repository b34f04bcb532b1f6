//! The common shape of a line of a function export on processors with SSE4.1: a mask is laid upon its time, and where it ends is
//! looked for without reading what is before. Reads a line exactly like [`super::functions_fast`], or leaves it to that.

use super::super::text::wide::{self, Wide};
use super::super::text::{stops, usual};
use super::functions::{Few, Reader, Row};
use super::functions_fast::{Shape, event, name};

/// As [`super::functions_fast::read`].
pub(super) fn read(
    _: Wide,
    chunk: &[u8],
    from: (usize, usize),
    shape: &Shape,
    reader: &mut Reader<'_, '_>,
) -> (usize, usize) {
    #[expect(unsafe_code, reason = "half the instructions for a line")]
    // SAFETY: `Wide` shows that the processor has what `lines` is compiled for.
    unsafe {
        lines(chunk, from, shape, reader)
    }
}

#[target_feature(enable = "sse4.1")]
fn lines(
    chunk: &[u8],
    (at, number): (usize, usize),
    shape: &Shape,
    reader: &mut Reader<'_, '_>,
) -> (usize, usize) {
    let mut few = Few::new();
    // Not together with the rows, so that it stays in registers: all lines wait for it.
    let mut lines = Lines { chunk, at, number, head: head_of(chunk, at).unwrap_or(&HEADS[0]) };
    loop {
        while lines.next(shape, reader, &mut few) {}
        let Some((row, next)) = shape.row(chunk, lines.at, reader) else { break };
        lines.head = head_of(chunk, lines.at).unwrap_or(lines.head);
        lines.push(row, next, reader, &mut few);
    }
    reader.rows.append(few.take(), lines.number);
    (lines.at, lines.number)
}

/// Lines from one on.
struct Lines<'c> {
    chunk: &'c [u8],
    at: usize,
    number: usize,
    /// What the lines began with lately.
    head: &'static Head,
}

impl Lines<'_> {
    #[inline(always)]
    fn push(&mut self, row: Row, next: usize, reader: &mut Reader<'_, '_>, few: &mut Few) {
        few.push(row);
        (self.at, self.number) = (next, self.number + 1);
        if few.is_full() {
            reader.rows.append(few.take(), self.number);
        }
    }

    /// Reads a line; false when it has another shape.
    #[inline]
    #[target_feature(enable = "sse4.1")]
    fn next(&mut self, shape: &Shape, reader: &mut Reader<'_, '_>, few: &mut Few) -> bool {
        let Some((row, next)) = row(self.chunk, self.at, shape, self.head, reader) else {
            return false;
        };
        self.push(row, next, reader, few);
        true
    }
}

/// The row in the line at `at`, and where the next line starts.
#[inline]
#[target_feature(enable = "sse4.1")]
fn row(chunk: &[u8], at: usize, shape: &Shape, head: &Head, reader: &Reader<'_, '_>) -> Option<(Row, usize)> {
    let (nanoseconds, negative) = usual(head.read(usual(chunk.get(at..)?.first_chunk())?))?;
    let time = usual(shape.instant(nanoseconds, negative))?;
    let at = at + head.length;
    // All that the next line waits for: it can be begun before it is known what is in this one.
    let rest = usual(chunk.get(at..)?.first_chunk::<48>())?;
    let ends = rest.as_chunks::<16>().0.iter().rev();
    let ends = ends.fold(0, |ends, bytes| ends << 16 | u64::from(stops::equal(*bytes, b'\n')));
    let next = at + ends.trailing_zeros() as usize + 1;
    let (function, end) = usual(name(chunk, at, reader))?;
    let (kind, behind) = usual(event(chunk, end))?;
    usual((behind == next).then_some((Row { time, function, kind }, next)))
}

/// What lines begin with: `+437050; `.
struct Head {
    /// For each byte the least that it may be, and how much more it may be.
    least: [u8; 16],
    range: [u8; 16],
    /// Of each of sixteen digits its place, counted from the first one; marks of zeros in front.
    order: [u8; 16],
    /// Its length in bytes.
    length: usize,
}

/// Those with up to thirteen digits: more, with the sign and what is behind, are more than sixteen bytes.
static HEADS: [Head; 13] = {
    let mut heads = [const { Head::new(1) }; 13];
    let mut digits = 2;
    while digits <= heads.len() {
        heads[digits - 1] = Head::new(digits);
        digits += 1;
    }
    heads
};

/// That of the line at `at`, as far as the semicolon tells.
fn head_of(chunk: &[u8], at: usize) -> Option<&'static Head> {
    let begin = chunk.get(at..)?.first_chunk()?;
    let digits = stops::equal(*begin, b';').trailing_zeros().checked_sub(1)?;
    HEADS.get(usize::try_from(digits).ok()?.checked_sub(1)?)
}

impl Head {
    const fn new(digits: usize) -> Self {
        let mut head = Self { least: [0; 16], range: [0xff; 16], order: [0x80; 16], length: 1 + digits + 2 };
        // A comma is between the two signs, and refused by itself.
        (head.least[0], head.range[0]) = (b'+', b'-' - b'+');
        (head.least[1 + digits], head.range[1 + digits]) = (b';', 0);
        (head.least[2 + digits], head.range[2 + digits]) = (b' ', 0);
        let mut digit = 0;
        while digit < digits {
            (head.least[1 + digit], head.range[1 + digit]) = (b'0', 9);
            head.order[16 - digits + digit] = 1 + digit as u8;
            digit += 1;
        }
        head
    }

    /// The time and whether it is negative. `None` for a line that begins otherwise.
    #[inline]
    #[target_feature(enable = "sse4.1")]
    fn read(&self, line: &[u8; 16]) -> Option<(u64, bool)> {
        let [sign, ..] = line;
        if !wide::within(line, &self.least, &self.range) || *sign == b',' {
            return None;
        }
        Some((wide::number(wide::digits(line, &self.order)), *sign == b'-'))
    }
}
