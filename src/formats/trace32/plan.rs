//! The form of the lines of an export: the role of each cell, the prefix and suffix of numbers, the decimals
//! of times. A plan is made from a line that the tolerant reader has read. It reads lines of the same form
//! several times as fast, with the same result, and leaves all other lines to the tolerant reader. Not the
//! loop over lines (see `parser`).

use super::super::text::{ByteMap, LineEnds, Pattern, Vectors, WordMap, likely};
use super::{ExportSettings, Radix, fields};
use crate::input::MAX_LINE;
use crate::time::{TimeScale, divide_half_even, with_sign};

/// The roles of the cells of an export, by their indices from left to right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RowLayout {
    pub(super) delimiter: u8,
    /// A delimiter between quotes is part of the cell.
    pub(super) quotes: bool,
    pub(super) record: Option<u8>,
    pub(super) time: u8,
    /// The unit of a time that does not state one.
    pub(super) unit: TimeScale,
    pub(super) name: u8,
    /// The cell that has the name in other lines, and is empty in these.
    pub(super) without_name: Option<u8>,
    /// The cycle of an access, or the event of a function.
    pub(super) kind: u8,
    pub(super) value: Option<u8>,
    pub(super) core: Option<u8>,
    /// The number of cells, without an empty one after the last delimiter; `None`: three or more.
    pub(super) width: Option<u8>,
}

/// The meaning of cells that are not numbers.
#[derive(Debug, Clone)]
pub(super) struct KnownCells {
    /// Names, as they are written, and their interned ids.
    pub(super) names: ByteMap,
    /// Cycles or events, as they are written, and their kinds.
    pub(super) kinds: WordMap,
}

/// The form of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plan {
    /// The number of fields of a line.
    pub(super) fields: u8,
    layout: RowLayout,
    record: Option<NumberFormat>,
    time: NumberFormat,
    value: Option<NumberFormat>,
    is_hex: bool,
    conversion: TickConversion,
    offset: i64,
    checks: Vec<(u8, CellCheck)>,
    /// The first cell is not a number, so it may begin a comment.
    begins_with_text: bool,
    /// There is more to check than the cells that are read.
    has_checks: bool,
}

/// The form of the numbers of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct NumberFormat {
    field: u8,
    /// There is nothing before the number.
    no_prefix: bool,
    /// There is only the terminator after the number.
    no_suffix: bool,
    /// The number may have a sign.
    is_signed: bool,
    /// The byte that ends the cell.
    terminator: u8,
    /// The bytes before the number: a quote, `0x`, blanks.
    prefix: Affix,
    /// More blanks may follow the prefix, as before right-aligned numbers.
    allows_padding: bool,
    /// The bytes after the number, including the terminator: a quote, a unit, blanks.
    suffix: Affix,
    /// The number of digits after the point; zero for a number without a point.
    decimals: u32,
    /// 10 to the power of `decimals`.
    scale: u64,
    /// The form of the last sixteen bytes of a cell, including the terminator.
    pattern: Pattern,
    /// For numbers with more than sixteen bytes: the form of the digits with the point, and of the decimals
    /// with the suffix.
    part_patterns: Option<[Pattern; 2]>,
}

/// A cell, `[begin, end)`, as offsets in the text. The terminator is at `end`.
type Bounds = (u32, u32);

/// A prefix or suffix of up to eight bytes, which is the same in each line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Affix {
    /// The bytes as a little-endian word; the other bytes are zero.
    text: u64,
    /// All bits of the bytes of the affix.
    mask: u64,
    /// Number of bytes.
    length: u32,
}

/// The conversion of a time, read as an integer without its point, to ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TickConversion {
    Multiply(u64),
    /// Division by ten, mostly without a remainder.
    DivideByTen,
    Divide(u64),
}

/// A check of a cell that is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CellCheck {
    Any,
    /// In quotes, without quotes inside; or without any quote.
    Quoted,
    Unquoted,
    /// Begins like a number.
    Numeric,
    /// Padding only.
    Empty,
}

impl Plan {
    /// The form of a line with this number of fields, which have these ends. `None` for a line that must be
    /// left to the tolerant reader.
    pub(super) fn infer(
        text: &[u8],
        ends: &LineEnds,
        fields: u8,
        layout: &RowLayout,
        settings: &ExportSettings,
    ) -> Option<Self> {
        let cell = |field: u8| cell(text, ends, field);
        let has_empty_cell =
            fields::trim(cell(fields.checked_sub(1)?)?).is_empty() && fields > layout.width.unwrap_or(3);
        let width = fields - u8::from(has_empty_cell);
        if width < 3 || layout.width.is_some_and(|expected| expected != width) {
            return None;
        }
        let number = |field: u8, radix: Option<Radix>| {
            let terminator = *text.get(bounds(ends, field).1 as usize)?;
            NumberFormat::infer(field, cell(field)?, terminator, radix, layout)
        };
        let (time, unit) = number(layout.time, None)?;
        let record =
            layout.record.map(|field| number(field, None)).map_or(Some(None), |found| Some(Some(found?.0)));
        let value = layout.value.map(|field| number(field, Some(settings.radix)));
        let value = value.map_or(Some(None), |found| Some(Some(found?)));
        let (record, value) = (record?, value?);
        let read = [
            layout.record,
            Some(layout.time),
            Some(layout.name),
            Some(layout.kind),
            layout.value,
            layout.core,
        ];
        let checks = (0..fields).filter(|field| !read.contains(&Some(*field)));
        let checks = checks.map(|field| {
            let check = match layout.quotes {
                _ if field >= width || layout.without_name == Some(field) => CellCheck::Empty,
                true if cell(field)?.contains(&b'"') => CellCheck::Quoted,
                true => CellCheck::Unquoted,
                // The tolerant reader takes the last cell as the event if it is a known word. A cell that
                // begins like a number is not.
                false if field + 1 == width => CellCheck::Numeric,
                false => CellCheck::Any,
            };
            Some((field, check))
        });
        let checks = checks.collect::<Option<Vec<_>>>()?;
        let begins_with_text = ![layout.record, Some(layout.time), layout.value].contains(&Some(0));
        let unit = unit.unwrap_or(layout.unit);
        Some(Self {
            has_checks: begins_with_text || !checks.is_empty() || layout.core.is_some(),
            fields,
            layout: layout.clone(),
            record,
            time,
            value: value.map(|(number, _)| number),
            is_hex: settings.radix == Radix::Hex || value.is_some_and(|(number, _)| number.has_hex_prefix()),
            conversion: TickConversion::new(unit.decimals() + time.decimals, settings.scale)?,
            offset: settings.offset,
            checks,
            begins_with_text,
        })
    }

    /// Reads lines column by column into `batch`, and returns how many of them match the plan. `core` is the
    /// core of the chunk, as it is written.
    #[inline(always)]
    pub(super) fn read(
        &self,
        vectors: impl Vectors,
        lines: Lines<'_>,
        known: &KnownCells,
        core: Option<&[u8]>,
        batch: &mut Batch,
    ) -> usize {
        // Each column stops at the first line that does not match, and the next column is read up to that
        // line. Each column checks the terminator of its cells, so a line with more or fewer cells does not
        // match either.
        let mut count = lines.count.min(BATCH_SIZE);
        if self.has_checks {
            count = lines.count_valid();
        }
        if let Some(record) = &self.record {
            let Batch { record: records, .. } = batch;
            // There are at most fifteen digits, so nothing overflows.
            let signed = |number: u64| number.cast_signed();
            count = record.read_numbers(vectors, lines.first(count), |line, number, is_negative| {
                records[line] = if is_negative { -signed(number) } else { signed(number) };
                true
            });
        }
        count = self.read_times(vectors, lines.first(count), batch);
        count = self.read_names(lines.first(count), known, batch);
        count = self.read_kinds(vectors, lines.first(count), known, batch);
        if let Some(value) = &self.value {
            let values = &mut batch.value;
            count = if self.is_hex {
                value.read_hex_numbers(vectors, lines.first(count), values)
            } else {
                value.read_numbers(vectors, lines.first(count), |line, number, _| {
                    values[line] = number;
                    true
                })
            };
        }
        if self.has_checks { self.check_lines(lines.first(count), core) } else { count }
    }

    /// Reads the times as instants in ticks, and whether they were rounded.
    #[inline(always)]
    fn read_times(&self, vectors: impl Vectors, lines: Lines<'_>, batch: &mut Batch) -> usize {
        let Batch { time, is_inexact, .. } = batch;
        let mut put = |line: usize, (ticks, rounded): (u64, bool), is_negative| {
            let instant = with_sign(ticks, is_negative).and_then(|ticks| ticks.checked_add(self.offset));
            let Some(instant) = likely(instant) else { return false };
            (time[line], is_inexact[line]) = (instant, rounded);
            true
        };
        match self.conversion {
            TickConversion::Multiply(factor) => {
                self.time.read_numbers(vectors, lines, |line, number, is_negative| {
                    number.checked_mul(factor).is_some_and(|ticks| put(line, (ticks, false), is_negative))
                })
            }
            TickConversion::DivideByTen => {
                self.time.read_numbers(vectors, lines, |line, number, is_negative| {
                    let is_exact = number.is_multiple_of(10);
                    put(
                        line,
                        if is_exact { (number / 10, false) } else { divide_half_even(number, 10) },
                        is_negative,
                    )
                })
            }
            TickConversion::Divide(divisor) => {
                self.time.read_numbers(vectors, lines, |line, number, is_negative| {
                    put(line, divide_half_even(number, divisor), is_negative)
                })
            }
        }
    }

    #[inline(always)]
    fn read_names(&self, lines: Lines<'_>, known: &KnownCells, batch: &mut Batch) -> usize {
        let terminator = self.terminator_of(self.layout.name);
        for line in 0..lines.count.min(BATCH_SIZE) {
            let Some((begin, end)) = likely(lines.cell(line, self.layout.name)) else { return line };
            let Some(bytes) = likely(lines.bytes(begin)) else { return line };
            let whole = || lines.text.get(begin as usize..end as usize);
            let found = likely(known.names.get_in_place(bytes, end.wrapping_sub(begin) as usize, whole));
            let Some(found) = found else { return line };
            if likely(lines.has_byte(end, terminator)).is_none() {
                return line;
            }
            batch.name[line] = found;
        }
        lines.count
    }

    #[inline(always)]
    fn read_kinds(
        &self,
        vectors: impl Vectors,
        lines: Lines<'_>,
        known: &KnownCells,
        batch: &mut Batch,
    ) -> usize {
        let terminator = self.terminator_of(self.layout.kind);
        let first_two = known.kinds.first_two();
        for line in 0..lines.count.min(BATCH_SIZE) {
            let Some((begin, end)) = likely(lines.cell(line, self.layout.kind)) else { return line };
            let Some(bytes) = likely(lines.bytes(begin)) else { return line };
            let found = likely(known.kinds.get(vectors, &first_two, bytes, end.wrapping_sub(begin) as usize));
            let Some(found) = found else { return line };
            if likely(lines.has_byte(end, terminator)).is_none() {
                return line;
            }
            batch.kind[line] = found;
        }
        lines.count
    }

    #[cold]
    #[inline(never)]
    fn check_lines(&self, lines: Lines<'_>, core: Option<&[u8]>) -> usize {
        let mut ends = lines.ends.chunks(lines.fields).zip(0..lines.count);
        let failed = ends.position(|(_, line)| {
            let ends = lines.ends.get(line * lines.fields..).and_then(|ends| ends.first_chunk());
            !ends.is_some_and(|ends| self.passes_checks(lines.text, ends, core))
        });
        failed.unwrap_or(lines.count)
    }

    /// Whether the cells that are not read pass their checks.
    pub(super) fn passes_checks(&self, text: &[u8], ends: &LineEnds, core: Option<&[u8]>) -> bool {
        let cell = |field: u8| {
            let end = text.get(bounds(ends, field).1 as usize);
            cell(text, ends, field).filter(|_| end == Some(&self.terminator_of(field)))
        };
        let is_core = self.layout.core.is_none_or(|field| core.is_some() && cell(field) == core);
        let mut checks = self.checks.iter();
        let all_pass = checks.all(|(field, check)| cell(*field).is_some_and(|cell| check.passes(cell)));
        let is_text = |line: &[u8]| line.get(..64).is_some_and(|begin| !fields::is_blank_or_comment(begin));
        let line = text.get(bounds(ends, 0).0 as usize..);
        let is_comment = self.begins_with_text && !line.is_some_and(is_text);
        is_core && all_pass && !is_comment
    }

    /// The byte that ends a cell.
    fn terminator_of(&self, field: u8) -> u8 {
        if field + 1 == self.fields { b'\n' } else { self.layout.delimiter }
    }
}

impl CellCheck {
    fn passes(self, cell: &[u8]) -> bool {
        match self {
            Self::Any => true,
            Self::Unquoted => !cell.contains(&b'"'),
            Self::Quoted => match fields::trim(cell) {
                [b'"', inside @ .., b'"'] => !inside.contains(&b'"'),
                _ => false,
            },
            Self::Numeric => matches!(fields::trim(cell), [b'0'..=b'9' | b'+' | b'-', ..]),
            Self::Empty => fields::trim(cell).is_empty(),
        }
    }
}

impl TickConversion {
    /// For times with this number of decimals of a second.
    fn new(decimals: u32, scale: TimeScale) -> Option<Self> {
        let power = |exponent: u32| 10u64.checked_pow(exponent);
        Some(match decimals.checked_sub(scale.decimals()) {
            None => Self::Multiply(power(scale.decimals() - decimals)?),
            Some(0) => Self::Multiply(1),
            Some(1) => Self::DivideByTen,
            Some(more) => Self::Divide(power(more)?),
        })
    }
}

impl NumberFormat {
    /// The form of the number in a cell that is followed by the byte `terminator`. For a time also the unit,
    /// if the cell has one. `radix` is that of a value; `None` for other numbers.
    fn infer(
        field: u8,
        cell: &[u8],
        terminator: u8,
        radix: Option<Radix>,
        layout: &RowLayout,
    ) -> Option<(Self, Option<TimeScale>)> {
        let skip = |at: usize, is_skipped: fn(u8) -> bool| {
            at + cell.iter().skip(at).take_while(|byte| is_skipped(**byte)).count()
        };
        let mut at = skip(0, fields::is_padding);
        let is_quoted = layout.quotes && cell.get(at) == Some(&b'"');
        if is_quoted {
            at = skip(at + 1, fields::is_blank);
        }
        let hex_prefixes: [&[u8]; 2] = [b"0x", b"0X"];
        let has_hex_prefix = radix.is_some()
            && hex_prefixes.iter().any(|hex| cell.get(at..).is_some_and(|c| c.starts_with(hex)));
        if has_hex_prefix {
            at += 2;
        }
        let prefix = cell.get(..at)?;
        if radix.is_none() && matches!(cell.get(at), Some(b'-' | b'+')) {
            at += 1;
        }
        let is_hex = has_hex_prefix || radix == Some(Radix::Hex);
        let skip_digits =
            |at: usize| skip(at, if is_hex { |b| b.is_ascii_hexdigit() } else { |b| b.is_ascii_digit() });
        let mut end_of_number = skip_digits(at);
        let (mut point, mut decimals) = (b'.', 0);
        // A record number with a point is none: the tolerant reader says so.
        let is_time = field == layout.time;
        if is_time
            && let Some(&byte) = cell.get(end_of_number)
            && (byte == b'.' || byte == b',' && layout.delimiter != b',')
        {
            let fraction = end_of_number + 1;
            (point, decimals) = (byte, skip_digits(fraction) - fraction);
            end_of_number = if decimals > 0 { fraction + decimals } else { end_of_number };
        }
        let rest = cell.get(end_of_number..)?;
        let trimmed = fields::trim(rest);
        let trimmed = if is_quoted { fields::trim(trimmed.strip_suffix(b"\"")?) } else { trimmed };
        let unit = if is_time && !trimmed.is_empty() { Some(fields::unit(trimmed)?) } else { None };
        let is_valid = is_time
            || trimmed.is_empty()
            || radix == Some(Radix::Decimal) && !has_hex_prefix && trimmed == b".";
        let (no_prefix, no_suffix, is_signed) = (prefix.is_empty(), rest.is_empty(), radix.is_none());
        let scale = 10u64.checked_pow(decimals as u32)?;
        let (prefix, allows_padding) = Affix::prefix_without_padding(prefix)?;
        let tail = [rest, &[terminator]].concat();
        let suffix = Affix::suffix(&tail)?;
        let pattern = Pattern::new(decimals, point, &tail)?;
        let parts = Pattern::new(0, point, &[point]).zip(Pattern::new(0, point, &tail));
        let part_patterns = parts.map(|(whole, fraction)| [whole, fraction]).filter(|_| decimals > 0);
        let decimals = decimals as u32;
        let number = Self {
            field,
            no_prefix,
            no_suffix,
            is_signed,
            terminator,
            prefix,
            allows_padding,
            suffix,
            decimals,
            scale,
            pattern,
            part_patterns,
        };
        is_valid.then_some((number, unit))
    }

    fn has_hex_prefix(&self) -> bool {
        let bytes = self.prefix.text.to_le_bytes();
        bytes.iter().any(|byte| matches!(byte, b'x' | b'X'))
    }

    /// Reads the numbers of a column, and returns how many lines match. `put` gets the index of the line, the
    /// number without its point, and whether it is negative. It returns whether the number is usable.
    #[inline(always)]
    fn read_numbers(
        &self,
        vectors: impl Vectors,
        lines: Lines<'_>,
        put: impl FnMut(usize, u64, bool) -> bool,
    ) -> usize {
        if self.no_prefix && self.is_signed {
            self.read_numbers_with::<true>(vectors, lines, put)
        } else {
            self.read_numbers_with::<false>(vectors, lines, put)
        }
    }

    #[inline(always)]
    fn read_numbers_with<const SIGN_FIRST: bool>(
        &self,
        vectors: impl Vectors,
        lines: Lines<'_>,
        mut put: impl FnMut(usize, u64, bool) -> bool,
    ) -> usize {
        for line in 0..lines.count.min(BATCH_SIZE) {
            let Some((mut begin, end)) = likely(lines.cell(line, self.field)) else { return line };
            if !SIGN_FIRST {
                let Some(start) = likely(self.number_start(lines, (begin, end))) else { return line };
                begin = start;
            }
            let mut is_negative = false;
            if SIGN_FIRST || self.is_signed {
                let Some(byte) = likely(lines.text.get(begin as usize)) else { return line };
                is_negative = *byte == b'-';
                begin = begin.wrapping_add(u32::from(is_negative | (*byte == b'+')));
            }
            // The end, including the terminator.
            let end = end.wrapping_add(1);
            let Some(bytes) = likely(lines.bytes(end.wrapping_sub(16))) else { return line };
            let found = match vectors.decimal(bytes, end.wrapping_sub(begin) as usize, &self.pattern) {
                Some(found) => found,
                None => match self.read_long_number(vectors, lines, begin, end) {
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

    /// A number that does not fit in sixteen bytes with its suffix, in two parts. `None` if the cell has no
    /// number.
    #[inline(never)]
    fn read_long_number(&self, vectors: impl Vectors, lines: Lines<'_>, begin: u32, end: u32) -> Option<u64> {
        let [whole, fraction] = self.part_patterns.as_ref()?;
        let read = |begin: u32, end: u32, pattern| {
            let bytes = lines.bytes(end.wrapping_sub(16))?;
            vectors.decimal(bytes, end.wrapping_sub(begin) as usize, pattern)
        };
        let after_point = end.wrapping_sub(self.decimals + self.suffix.length);
        let whole = read(begin, after_point, whole)?;
        let fraction = read(after_point, end, fraction)?;
        whole.checked_mul(self.scale)?.checked_add(fraction)
    }

    #[inline(always)]
    fn read_hex_numbers(
        &self,
        vectors: impl Vectors,
        lines: Lines<'_>,
        values: &mut [u64; BATCH_SIZE],
    ) -> usize {
        for (line, value) in values.iter_mut().enumerate().take(lines.count) {
            let Some(cell) = likely(lines.cell(line, self.field)) else { return line };
            let Some(begin) = likely(self.number_start(lines, cell)) else { return line };
            if self.no_suffix {
                if likely(lines.has_byte(cell.1, self.terminator)).is_none() {
                    return line;
                }
            } else if likely(self.has_suffix(lines, cell.1)).is_none() {
                return line;
            }
            let end = cell.1.wrapping_add(1).wrapping_sub(self.suffix.length);
            let Some(bytes) = likely(lines.bytes(end.wrapping_sub(16))) else { return line };
            let Some(number) = likely(vectors.hex(bytes, end.wrapping_sub(begin) as usize)) else {
                return line;
            };
            *value = number;
        }
        lines.count
    }

    /// The offset of the number in a cell, or of its sign if it has one. The padding may differ from line to
    /// line.
    #[inline(always)]
    fn number_start(&self, lines: Lines<'_>, (begin, end): Bounds) -> Option<u32> {
        if self.no_prefix {
            return Some(begin);
        }
        let bytes = u64::from_le_bytes(*likely(lines.bytes(begin))?);
        likely(((bytes & self.prefix.mask) == self.prefix.text).then_some(()))?;
        let mut begin = begin.wrapping_add(self.prefix.length);
        if self.allows_padding {
            while begin < end && lines.text.get(begin as usize) == Some(&b' ') {
                begin += 1;
            }
        }
        Some(begin)
    }

    #[inline(always)]
    fn has_suffix(&self, lines: Lines<'_>, end: u32) -> Option<()> {
        let bytes = u64::from_le_bytes(*likely(lines.bytes(end.wrapping_sub(7)))?);
        ((bytes & self.suffix.mask) == self.suffix.text).then_some(())
    }
}

impl Affix {
    /// The affix at the start of a word.
    fn prefix(bytes: &[u8]) -> Option<Self> {
        let mut word = [0; 8];
        word.get_mut(..bytes.len())?.copy_from_slice(bytes);
        let mask = 1u64.checked_shl(8 * bytes.len() as u32).map_or(u64::MAX, |bit| bit - 1);
        Some(Self { text: u64::from_le_bytes(word), mask, length: bytes.len() as u32 })
    }

    /// The affix at the start of a word, without blanks at its end; and whether there were any.
    fn prefix_without_padding(bytes: &[u8]) -> Option<(Self, bool)> {
        let padding = bytes.iter().rev().take_while(|byte| **byte == b' ').count();
        Some((Self::prefix(bytes.get(..bytes.len() - padding)?)?, padding > 0))
    }

    /// The affix at the end of a word.
    fn suffix(bytes: &[u8]) -> Option<Self> {
        let Self { text, mask, length } = Self::prefix(bytes)?;
        let shift = 64 - 8 * length;
        Some(Self { text: text.checked_shl(shift)?, mask: mask.checked_shl(shift)?, length })
    }
}

/// Maximum number of lines that are read together. Their rows fit in the first-level cache.
pub(super) const BATCH_SIZE: usize = 64;

/// Successive lines that should have the same number of fields.
#[derive(Clone, Copy)]
pub(super) struct Lines<'t> {
    pub(super) text: &'t [u8],
    /// The end of the line before the first one, then the ends of all fields, line by line. What follows is
    /// unspecified.
    pub(super) ends: &'t [u32],
    pub(super) fields: usize,
    /// The number of lines.
    pub(super) count: usize,
}

impl<'t> Lines<'t> {
    fn first(self, count: usize) -> Self {
        Self { count, ..self }
    }

    /// The number of lines before the first one that has another number of fields, or a length that must be
    /// reported.
    #[inline(always)]
    fn count_valid(self) -> usize {
        let mut before = self.ends.first().copied().unwrap_or_default();
        for line in 0..self.count.min(BATCH_SIZE) {
            let Some(end) = self.ends.get((line + 1) * self.fields) else { return line };
            let length = end.wrapping_sub(before) as usize;
            if likely(self.has_byte(*end, b'\n')).is_none() || length > MAX_LINE {
                return line;
            }
            before = *end;
        }
        self.count
    }

    /// The offsets of a cell of a line.
    #[inline(always)]
    fn cell(self, line: usize, field: u8) -> Option<Bounds> {
        let at = line * self.fields + usize::from(field);
        let [before, end] = likely(self.ends.get(at..at + 2)?.first_chunk()).copied()?;
        Some((before.wrapping_add(1), end))
    }

    /// The `N` bytes at an offset.
    #[inline(always)]
    fn bytes<const N: usize>(self, offset: u32) -> Option<&'t [u8; N]> {
        let at = offset as usize;
        self.text.get(at..at + N)?.first_chunk()
    }

    #[inline(always)]
    fn has_byte(self, at: u32, byte: u8) -> Option<()> {
        (self.text.get(at as usize) == Some(&byte)).then_some(())
    }
}

/// Rows of successive lines, column by column.
pub(super) struct Batch {
    pub(super) time: [i64; BATCH_SIZE],
    pub(super) is_inexact: [bool; BATCH_SIZE],
    pub(super) record: [i64; BATCH_SIZE],
    pub(super) name: [u32; BATCH_SIZE],
    pub(super) kind: [u8; BATCH_SIZE],
    pub(super) value: [u64; BATCH_SIZE],
}

impl Batch {
    pub(super) fn new() -> Self {
        Self {
            time: [0; BATCH_SIZE],
            is_inexact: [false; BATCH_SIZE],
            record: [0; BATCH_SIZE],
            name: [0; BATCH_SIZE],
            kind: [0; BATCH_SIZE],
            value: [0; BATCH_SIZE],
        }
    }
}

/// The offsets of a cell.
pub(super) fn bounds(ends: &LineEnds, field: u8) -> Bounds {
    (ends[usize::from(field)].wrapping_add(1), ends[usize::from(field) + 1])
}

/// The bytes of a cell.
pub(super) fn cell<'t>(text: &'t [u8], ends: &LineEnds, field: u8) -> Option<&'t [u8]> {
    let (begin, end) = bounds(ends, field);
    text.get(begin as usize..end as usize)
}
