//! How the lines of an export are written: which cell is what, what stands around its number, how many decimals a time has. A
//! plan is made from a line that the tolerant reader has read, and reads lines that are written like it, a few times as fast.
//! It gives what the tolerant reader gives, or leaves the line to that. Not the loop over lines (see `parser`).

use super::super::text::{ByteMap, Bytes, LineEnds, Pattern, Vectors, WordMap, likely, swar};
use super::{ExportSettings, Radix, fields};
use crate::input::MAX_LINE;
use crate::time::{TimeScale, divide_half_even, with_sign};

/// Which cells of an export are what, from left to right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cells {
    pub(super) delimiter: u8,
    /// A delimiter between quotes is part of the cell.
    pub(super) quotes: bool,
    pub(super) record: Option<u8>,
    pub(super) time: u8,
    /// What a time without a unit counts.
    pub(super) unit: TimeScale,
    pub(super) name: u8,
    /// The cycle of an access, or the event of a function.
    pub(super) kind: u8,
    pub(super) value: Option<u8>,
    pub(super) core: Option<u8>,
    /// How many cells there are, without an empty one behind the last delimiter; `None`: three or more.
    pub(super) width: Option<u8>,
}

/// What is known of the cells that are no numbers.
#[derive(Debug, Clone)]
pub(super) struct Known {
    /// Names, as they are written, and their numbers.
    pub(super) names: ByteMap,
    /// Cycles or events, as they are written, and their kinds.
    pub(super) kinds: WordMap,
}

/// How a line is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) fields: u8,
    cells: Cells,
    record: Option<Number>,
    time: Number,
    value: Option<Number>,
    is_hex: bool,
    ticks: Ticks,
    offset: i64,
    others: Vec<(u8, Other)>,
    /// The first cell is no number, and so may begin a comment.
    begins_with_text: bool,
    /// There is more to look at than what is read.
    has_others: bool,
}

/// What a number of a column looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Number {
    field: u8,
    /// Nothing stands in front of it, and behind it only the byte that ends the cell.
    begins_bare: bool,
    ends_bare: bool,
    /// It may have a sign.
    is_signed: bool,
    /// The byte that ends the cell.
    end: u8,
    /// What is in front of it: a quote, `0x`, blanks.
    before: Affix,
    /// There may be more blanks behind that: numbers that are right-aligned.
    may_be_padded: bool,
    /// What is behind it, with the byte that ends the cell: a quote, a unit, blanks.
    behind: Affix,
    /// Digits behind the point; none, and no point, where this is zero.
    decimals: u32,
    /// Ten to the power of that.
    scale: u64,
    point: u8,
    /// All of that, as far as sixteen bytes reach, and the same without the point.
    pattern: Pattern,
    long: Option<Pattern>,
}

/// Where a cell begins and ends.
type Bounds = (u32, u32);

/// Up to eight bytes that are the same in each line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Affix {
    text: u64,
    mask: u64,
    length: u32,
}

/// How the digits of a time become ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ticks {
    Times(u64),
    /// By ten, most often without a rest.
    Tenth,
    By(u64),
}

/// A cell whose content does not matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Other {
    /// Anything.
    Any,
    /// The same in quotes, or without any.
    Quoted,
    Bare,
    /// Begins like a number.
    Numeric,
    /// Nothing.
    Empty,
}

impl Plan {
    /// How a line is written that has so many fields, with these ends. `None` for a line that is to be left to the tolerant
    /// reader.
    pub(super) fn of(
        text: &[u8],
        ends: &LineEnds,
        fields: u8,
        cells: &Cells,
        settings: &ExportSettings,
    ) -> Option<Self> {
        let cell = |field: u8| cell(text, ends, field);
        let trailing =
            fields::trim(cell(fields.checked_sub(1)?)?).is_empty() && fields > cells.width.unwrap_or(3);
        let width = fields - u8::from(trailing);
        if width < 3 || cells.width.is_some_and(|wanted| wanted != width) {
            return None;
        }
        let number = |field: u8, radix: Option<Radix>| {
            let end = *text.get(bounds(ends, field).1 as usize)?;
            Number::of(field, cell(field)?, end, radix, cells)
        };
        let (time, unit) = number(cells.time, None)?;
        let record =
            cells.record.map(|field| number(field, None)).map_or(Some(None), |found| Some(Some(found?.0)));
        let value = cells.value.map(|field| number(field, Some(settings.radix)));
        let value = value.map_or(Some(None), |found| Some(Some(found?)));
        let (record, value) = (record?, value?);
        let read =
            [cells.record, Some(cells.time), Some(cells.name), Some(cells.kind), cells.value, cells.core];
        let others = (0..fields).filter(|field| !read.contains(&Some(*field)));
        let others = others.map(|field| {
            let other = match cells.quotes {
                _ if field >= width => Other::Empty,
                true if cell(field)?.contains(&b'"') => Other::Quoted,
                true => Other::Bare,
                // An event that is known must be the first that is, and behind it comes none.
                false if field + 1 == width => Other::Numeric,
                false => Other::Any,
            };
            Some((field, other))
        });
        let others = others.collect::<Option<Vec<_>>>()?;
        let begins_with_text = ![cells.record, Some(cells.time), cells.value].contains(&Some(0));
        let unit = unit.unwrap_or(cells.unit);
        Some(Self {
            has_others: begins_with_text || !others.is_empty() || cells.core.is_some(),
            fields,
            cells: cells.clone(),
            record,
            time,
            value: value.map(|(number, _)| number),
            is_hex: settings.radix == Radix::Hex || value.is_some_and(|(number, _)| number.has_hex_mark()),
            ticks: Ticks::of(unit.decimals() + time.decimals, settings.scale)?,
            offset: settings.offset,
            others,
            begins_with_text,
        })
    }

    /// Reads lines, `most` at most, column by column into `batch`, and gives how many of them are written like this. `core` is
    /// the core of the chunk, as it is written.
    #[inline(always)]
    pub(super) fn rows(
        &self,
        vectors: impl Vectors,
        lines: Lines<'_>,
        known: &Known,
        core: Option<&[u8]>,
        batch: &mut Batch,
    ) -> usize {
        // Each column ends at the first line that is written otherwise, and the next one is read that far. Each sees to the byte
        // that ends its cells, so that a line with more or fewer of them is such a line.
        let mut count = lines.count.min(BATCH);
        if self.has_others {
            count = lines.whole();
        }
        if let Some(record) = &self.record {
            let Batch { record: records, .. } = batch;
            // Fifteen digits at most, so there is no overflow.
            let signed = |number: u64| number.cast_signed();
            count = record.numbers(vectors, lines.first(count), |line, number, is_negative| {
                records[line] = if is_negative { -signed(number) } else { signed(number) };
                true
            });
        }
        count = self.times(vectors, lines.first(count), batch);
        count = self.names(lines.first(count), known, batch);
        count = self.kinds(vectors, lines.first(count), known, batch);
        if let Some(value) = &self.value {
            let values = &mut batch.value;
            count = if self.is_hex {
                value.hex_numbers(vectors, lines.first(count), values)
            } else {
                value.numbers(vectors, lines.first(count), |line, number, _| {
                    values[line] = number;
                    true
                })
            };
        }
        if self.has_others { self.others(lines.first(count), core) } else { count }
    }

    /// The instants that times stand for, and whether they were rounded.
    #[inline(always)]
    fn times(&self, vectors: impl Vectors, lines: Lines<'_>, batch: &mut Batch) -> usize {
        let Batch { time, is_inexact, .. } = batch;
        let mut put = |line: usize, (ticks, rounded): (u64, bool), is_negative| {
            let instant = with_sign(ticks, is_negative).and_then(|ticks| ticks.checked_add(self.offset));
            let Some(instant) = likely(instant) else { return false };
            (time[line], is_inexact[line]) = (instant, rounded);
            true
        };
        match self.ticks {
            Ticks::Times(factor) => self.time.numbers(vectors, lines, |line, number, is_negative| {
                number.checked_mul(factor).is_some_and(|ticks| put(line, (ticks, false), is_negative))
            }),
            Ticks::Tenth => self.time.numbers(vectors, lines, |line, number, is_negative| {
                let is_exact = number.is_multiple_of(10);
                put(
                    line,
                    if is_exact { (number / 10, false) } else { divide_half_even(number, 10) },
                    is_negative,
                )
            }),
            Ticks::By(divisor) => self.time.numbers(vectors, lines, |line, number, is_negative| {
                put(line, divide_half_even(number, divisor), is_negative)
            }),
        }
    }

    #[inline(always)]
    fn names(&self, lines: Lines<'_>, known: &Known, batch: &mut Batch) -> usize {
        let ends_with = self.end_of(self.cells.name);
        for line in 0..lines.count.min(BATCH) {
            let Some((begin, end)) = likely(lines.cell(line, self.cells.name)) else { return line };
            let Some(bytes) = likely(lines.bytes(begin)) else { return line };
            let long = || lines.text.get(begin as usize..end as usize);
            let found = likely(known.names.get_in_place(bytes, end.wrapping_sub(begin) as usize, long));
            let Some(found) = found else { return line };
            if likely(lines.ends_with(end, ends_with)).is_none() {
                return line;
            }
            batch.name[line] = found;
        }
        lines.count
    }

    #[inline(always)]
    fn kinds(&self, vectors: impl Vectors, lines: Lines<'_>, known: &Known, batch: &mut Batch) -> usize {
        let ends_with = self.end_of(self.cells.kind);
        let two = known.kinds.first_two();
        for line in 0..lines.count.min(BATCH) {
            let Some((begin, end)) = likely(lines.cell(line, self.cells.kind)) else { return line };
            let Some(bytes) = likely(lines.bytes(begin)) else { return line };
            let found = likely(known.kinds.get(vectors, &two, bytes, end.wrapping_sub(begin) as usize));
            let Some(found) = found else { return line };
            if likely(lines.ends_with(end, ends_with)).is_none() {
                return line;
            }
            batch.kind[line] = found;
        }
        lines.count
    }

    #[cold]
    #[inline(never)]
    fn others(&self, lines: Lines<'_>, core: Option<&[u8]>) -> usize {
        let mut ends = lines.ends.chunks(lines.fields).zip(0..lines.count);
        let other = ends.position(|(_, line)| {
            let ends = lines.ends.get(line * lines.fields..).and_then(|ends| ends.first_chunk());
            !ends.is_some_and(|ends| self.fits_others(lines.text, ends, core))
        });
        other.unwrap_or(lines.count)
    }

    /// Whether the cells that are not read are as they have to be.
    pub(super) fn fits_others(&self, text: &[u8], ends: &LineEnds, core: Option<&[u8]>) -> bool {
        let cell = |field: u8| {
            let end = text.get(bounds(ends, field).1 as usize);
            cell(text, ends, field).filter(|_| end == Some(&self.end_of(field)))
        };
        let is_core = self.cells.core.is_none_or(|field| core.is_some() && cell(field) == core);
        let mut others = self.others.iter();
        let fits = others.all(|(field, other)| cell(*field).is_some_and(|cell| other.fits(cell)));
        let is_text = |line: &[u8]| line.get(..64).is_some_and(|begin| !fields::is_blank_or_comment(begin));
        let line = text.get(bounds(ends, 0).0 as usize..);
        let is_comment = self.begins_with_text && !line.is_some_and(is_text);
        is_core && fits && !is_comment
    }

    /// What ends a cell.
    fn end_of(&self, field: u8) -> u8 {
        if field + 1 == self.fields { b'\n' } else { self.cells.delimiter }
    }
}

impl Other {
    fn fits(self, cell: &[u8]) -> bool {
        match self {
            Self::Any => true,
            Self::Bare => !cell.contains(&b'"'),
            Self::Quoted => match fields::trim(cell) {
                [b'"', inside @ .., b'"'] => !inside.contains(&b'"'),
                _ => false,
            },
            Self::Numeric => matches!(fields::trim(cell), [b'0'..=b'9' | b'+' | b'-', ..]),
            Self::Empty => fields::trim(cell).is_empty(),
        }
    }
}

impl Ticks {
    /// For numbers that count this many decimals of a second.
    fn of(decimals: u32, scale: TimeScale) -> Option<Self> {
        let power = |of: u32| swar::POWERS.get(of as usize).copied();
        Some(match decimals.checked_sub(scale.decimals()) {
            None => Self::Times(power(scale.decimals() - decimals)?),
            Some(0) => Self::Times(1),
            Some(1) => Self::Tenth,
            Some(more) => Self::By(power(more)?),
        })
    }
}

impl Number {
    /// What is around the number of a cell, which ends with the byte `end`; for a time also the unit, if one is written.
    /// `radix`: that of a value.
    fn of(
        field: u8,
        cell: &[u8],
        end: u8,
        radix: Option<Radix>,
        cells: &Cells,
    ) -> Option<(Self, Option<TimeScale>)> {
        let blanks = |at: usize, unwanted: fn(u8) -> bool| {
            at + cell.iter().skip(at).take_while(|byte| unwanted(**byte)).count()
        };
        let mut at = blanks(0, fields::is_padding);
        let is_quoted = cells.quotes && cell.get(at) == Some(&b'"');
        if is_quoted {
            at = blanks(at + 1, fields::is_blank);
        }
        let marks: [&[u8]; 2] = [b"0x", b"0X"];
        let is_marked =
            radix.is_some() && marks.iter().any(|mark| cell.get(at..).is_some_and(|c| c.starts_with(mark)));
        if is_marked {
            at += 2;
        }
        let before = cell.get(..at)?;
        if radix.is_none() && matches!(cell.get(at), Some(b'-' | b'+')) {
            at += 1;
        }
        let is_hex = is_marked || radix == Some(Radix::Hex);
        let digits =
            |at: usize| blanks(at, if is_hex { |b| b.is_ascii_hexdigit() } else { |b| b.is_ascii_digit() });
        let mut end_of_number = digits(at);
        let (mut point, mut decimals) = (b'.', 0);
        if radix.is_none()
            && let Some(&byte) = cell.get(end_of_number)
            && (byte == b'.' || byte == b',' && cells.delimiter != b',')
        {
            let fraction = end_of_number + 1;
            (point, decimals) = (byte, digits(fraction) - fraction);
            end_of_number = if decimals > 0 { fraction + decimals } else { end_of_number };
        }
        let rest = cell.get(end_of_number..)?;
        let suffix = fields::trim(rest);
        let suffix = if is_quoted { fields::trim(suffix.strip_suffix(b"\"")?) } else { suffix };
        let is_time = field == cells.time;
        let unit = if is_time && !suffix.is_empty() { Some(fields::unit(suffix)?) } else { None };
        let fits =
            is_time || suffix.is_empty() || radix == Some(Radix::Decimal) && !is_marked && suffix == b".";
        let (begins_bare, ends_bare, is_signed) = (before.is_empty(), rest.is_empty(), radix.is_none());
        let scale = *swar::POWERS.get(decimals)?;
        let (before, may_be_padded) = Affix::before_padding(before)?;
        let suffix = [rest, &[end]].concat();
        let behind = Affix::behind(&suffix)?;
        let pattern = Pattern::new(decimals, point, &suffix)?;
        let long = Pattern::new(0, point, &suffix).filter(|_| decimals > 0);
        let decimals = decimals as u32;
        let number = Self {
            field,
            begins_bare,
            ends_bare,
            is_signed,
            end,
            before,
            may_be_padded,
            behind,
            decimals,
            scale,
            point,
            pattern,
            long,
        };
        fits.then_some((number, unit))
    }

    fn has_hex_mark(&self) -> bool {
        let bytes = self.before.text.to_le_bytes();
        bytes.iter().any(|byte| matches!(byte, b'x' | b'X'))
    }

    /// Gives the numbers of a column, with the decimals of this plan counted in, and whether they are negative, to `put`, which
    /// says whether they can be used.
    #[inline(always)]
    fn numbers(
        &self,
        vectors: impl Vectors,
        lines: Lines<'_>,
        put: impl FnMut(usize, u64, bool) -> bool,
    ) -> usize {
        if self.begins_bare && self.is_signed {
            self.numbers_of::<true>(vectors, lines, put)
        } else {
            self.numbers_of::<false>(vectors, lines, put)
        }
    }

    #[inline(always)]
    fn numbers_of<const BARE_AND_SIGNED: bool>(
        &self,
        vectors: impl Vectors,
        lines: Lines<'_>,
        mut put: impl FnMut(usize, u64, bool) -> bool,
    ) -> usize {
        for line in 0..lines.count.min(BATCH) {
            let Some((mut begin, end)) = likely(lines.cell(line, self.field)) else { return line };
            if !BARE_AND_SIGNED {
                let Some(behind) = likely(self.begin_of(lines, (begin, end))) else { return line };
                begin = behind;
            }
            let mut is_negative = false;
            if BARE_AND_SIGNED || self.is_signed {
                let Some(byte) = likely(lines.text.get(begin as usize)) else { return line };
                is_negative = *byte == b'-';
                begin = begin.wrapping_add(u32::from(is_negative | (*byte == b'+')));
            }
            // With the byte that ends the cell.
            let end = end.wrapping_add(1);
            let Some(bytes) = likely(lines.bytes(end.wrapping_sub(16))) else { return line };
            let found = match vectors.number(bytes, end.wrapping_sub(begin) as usize, &self.pattern) {
                Some(found) => found,
                None => match self.long_number(lines, begin, end) {
                    Some(found) => found,
                    None => return line,
                },
            };
            if !put(line, found, is_negative) {
                return line;
            }
        }
        lines.count
    }

    /// A number that does not fit sixteen bytes with what is around it, or is none.
    #[cold]
    #[inline(never)]
    fn long_number(&self, lines: Lines<'_>, begin: u32, end: u32) -> Option<u64> {
        let long = self.long?;
        let cell = lines.text.get(begin as usize..end as usize)?;
        let point = cell.len().checked_sub(self.behind.length as usize + self.decimals as usize + 1)?;
        let whole = cell.get(..point).filter(|whole| (1..=16).contains(&whole.len()))?;
        let whole = whole.iter().try_fold(0u64, |number, byte| {
            byte.is_ascii_digit().then(|| number * 10 + u64::from(byte - b'0'))
        })?;
        let behind = lines.bytes(end.wrapping_sub(16))?;
        // The digits behind the point, and what is behind them.
        let fraction = Bytes.number(behind, cell.len() - point - 1, &long)?;
        (cell.get(point) == Some(&self.point)).then_some(())?;
        whole.checked_mul(self.scale)?.checked_add(fraction)
    }

    #[inline(always)]
    fn hex_numbers(&self, vectors: impl Vectors, lines: Lines<'_>, values: &mut [u64; BATCH]) -> usize {
        for (line, value) in values.iter_mut().enumerate().take(lines.count) {
            let Some(cell) = likely(lines.cell(line, self.field)) else { return line };
            let Some(begin) = likely(self.begin_of(lines, cell)) else { return line };
            if self.ends_bare {
                if likely(lines.ends_with(cell.1, self.end)).is_none() {
                    return line;
                }
            } else if likely(self.ends_well(lines, cell.1)).is_none() {
                return line;
            }
            let end = cell.1.wrapping_add(1).wrapping_sub(self.behind.length);
            let Some(bytes) = likely(lines.bytes(end.wrapping_sub(16))) else { return line };
            let Some(number) = likely(vectors.hex(bytes, end.wrapping_sub(begin) as usize)) else {
                return line;
            };
            *value = number;
        }
        lines.count
    }

    /// Where the number of a cell begins, with a sign if there is one; blanks in front may differ from line to line.
    #[inline(always)]
    fn begin_of(&self, lines: Lines<'_>, (begin, end): Bounds) -> Option<u32> {
        if self.begins_bare {
            return Some(begin);
        }
        let before = u64::from_le_bytes(*likely(lines.bytes(begin))?);
        likely(((before & self.before.mask) == self.before.text).then_some(()))?;
        let mut begin = begin.wrapping_add(self.before.length);
        if self.may_be_padded {
            while begin < end && lines.text.get(begin as usize) == Some(&b' ') {
                begin += 1;
            }
        }
        Some(begin)
    }

    #[inline(always)]
    fn ends_well(&self, lines: Lines<'_>, end: u32) -> Option<()> {
        let behind = u64::from_le_bytes(*likely(lines.bytes(end.wrapping_sub(7)))?);
        ((behind & self.behind.mask) == self.behind.text).then_some(())
    }
}

impl Affix {
    /// At the begin of a word.
    fn in_front(bytes: &[u8]) -> Option<Self> {
        let mut word = [0; 8];
        word.get_mut(..bytes.len())?.copy_from_slice(bytes);
        let mask = 1u64.checked_shl(8 * bytes.len() as u32).map_or(u64::MAX, |bit| bit - 1);
        Some(Self { text: u64::from_le_bytes(word), mask, length: bytes.len() as u32 })
    }

    /// At the begin of a word, without blanks at the end of it; and whether there were any.
    fn before_padding(bytes: &[u8]) -> Option<(Self, bool)> {
        let padding = bytes.iter().rev().take_while(|byte| **byte == b' ').count();
        Some((Self::in_front(bytes.get(..bytes.len() - padding)?)?, padding > 0))
    }

    /// At the end of a word.
    fn behind(bytes: &[u8]) -> Option<Self> {
        let Self { text, mask, length } = Self::in_front(bytes)?;
        let by = 64 - 8 * length;
        Some(Self { text: text.checked_shl(by)?, mask: mask.checked_shl(by)?, length })
    }
}

/// So many lines are read together: their rows stay in the first cache of the processor.
pub(super) const BATCH: usize = 64;

/// Successive lines, each with so many fields.
#[derive(Clone, Copy)]
pub(super) struct Lines<'t> {
    pub(super) text: &'t [u8],
    /// Behind the end of the line in front of them: the ends of all fields, line by line, and something behind them.
    pub(super) ends: &'t [u32],
    pub(super) fields: usize,
    /// How many lines there are.
    pub(super) count: usize,
}

impl<'t> Lines<'t> {
    fn first(self, count: usize) -> Self {
        Self { count, ..self }
    }

    /// How many lines have so many fields indeed, and a length that is not to be reported.
    #[inline(always)]
    fn whole(self) -> usize {
        let mut before = self.ends.first().copied().unwrap_or_default();
        for line in 0..self.count.min(BATCH) {
            let Some(end) = self.ends.get((line + 1) * self.fields) else { return line };
            let length = end.wrapping_sub(before) as usize;
            if likely(self.ends_with(*end, b'\n')).is_none() || length > MAX_LINE {
                return line;
            }
            before = *end;
        }
        self.count
    }

    /// Where a cell of a line begins and ends.
    #[inline(always)]
    fn cell(self, line: usize, field: u8) -> Option<Bounds> {
        let at = line * self.fields + usize::from(field);
        let [before, end] = likely(self.ends.get(at..at + 2)?.first_chunk()).copied()?;
        Some((before.wrapping_add(1), end))
    }

    /// The bytes from a place on.
    #[inline(always)]
    fn bytes<const N: usize>(self, place: u32) -> Option<&'t [u8; N]> {
        let at = place as usize;
        self.text.get(at..at + N)?.first_chunk()
    }

    #[inline(always)]
    fn ends_with(self, end: u32, byte: u8) -> Option<()> {
        (self.text.get(end as usize) == Some(&byte)).then_some(())
    }
}

/// Rows of successive lines, column by column.
pub(super) struct Batch {
    pub(super) time: [i64; BATCH],
    pub(super) is_inexact: [bool; BATCH],
    pub(super) record: [i64; BATCH],
    pub(super) name: [u32; BATCH],
    pub(super) kind: [u8; BATCH],
    pub(super) value: [u64; BATCH],
}

impl Batch {
    pub(super) fn new() -> Self {
        Self {
            time: [0; BATCH],
            is_inexact: [false; BATCH],
            record: [0; BATCH],
            name: [0; BATCH],
            kind: [0; BATCH],
            value: [0; BATCH],
        }
    }
}

/// Where a cell begins and ends.
pub(super) fn bounds(ends: &LineEnds, field: u8) -> Bounds {
    (ends[usize::from(field)].wrapping_add(1), ends[usize::from(field) + 1])
}

/// The bytes of a cell.
pub(super) fn cell<'t>(text: &'t [u8], ends: &LineEnds, field: u8) -> Option<&'t [u8]> {
    let (begin, end) = bounds(ends, field);
    text.get(begin as usize..end as usize)
}
