//! The cells of a line: how a line is split, and the forms of numbers, times, cycles and gap texts. Does not
//! know the roles of columns.

use std::borrow::Cow;

use super::Radix;
use crate::time::{NotTicks, Rounded, TimeScale, read_decimal};

/// A cell, without the blanks, listing bars and quotes around it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cell<'a> {
    /// The text between the quotes, or the unquoted text.
    pub(super) text: &'a [u8],
    /// True if the cell was in quotes.
    pub(super) quoted: bool,
    /// True if quotes inside the text are doubled.
    doubled: bool,
}

impl<'a> Cell<'a> {
    /// The text, with one quote in place of each doubled one.
    pub(super) fn value(self) -> Cow<'a, [u8]> {
        if !self.doubled {
            return Cow::Borrowed(self.text);
        }
        let mut value = Vec::with_capacity(self.text.len());
        let mut bytes = self.text.iter();
        while let Some(&byte) = bytes.next() {
            value.push(byte);
            if byte == b'"' {
                bytes.next();
            }
        }
        Cow::Owned(value)
    }

    /// True for a cell without content: empty, or a single `-`.
    pub(super) fn is_null(self) -> bool {
        matches!(self.text, b"" | b"-")
    }
}

/// True for bytes around a cell that are not part of it. Listings separate their columns with bars.
pub(super) fn is_padding(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'|' | b'\r')
}

/// True for bytes around a text in quotes that are not part of it.
pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

pub(super) fn trim_by(text: &[u8], is_trimmed: impl Fn(u8) -> bool) -> &[u8] {
    let begin = text.iter().position(|&b| !is_trimmed(b)).unwrap_or(text.len());
    let end = text.iter().rposition(|&b| !is_trimmed(b)).map_or(begin, |at| at + 1);
    text.get(begin..end).unwrap_or_default()
}

/// The text without blanks, listing bars and carriage returns around it.
pub(super) fn trim(text: &[u8]) -> &[u8] {
    trim_by(text, is_padding)
}

/// True for a line without a record in any export: blank, or a comment.
pub(super) fn is_blank_or_comment(line: &[u8]) -> bool {
    matches!(trim(line), [] | [b'#', ..])
}

/// Splits a line into `cells`, which is cleared first. A delimiter inside quotes does not split. A quote that
/// is never closed takes the rest of the line.
pub(super) fn split<'a>(line: &'a [u8], delimiter: u8, cells: &mut Vec<Cell<'a>>) {
    cells.clear();
    let mut rest = Some(line);
    while let Some(text) = rest {
        let (cell, after) = take_cell(text, delimiter);
        cells.push(cell);
        rest = after;
    }
}

/// True if the first cell that [`split`] takes from a line has this length in bytes, with everything around
/// it.
pub(super) fn first_cell_has_length(line: &[u8], length: usize, delimiter: u8) -> bool {
    let (_, tail) = take_cell(line, delimiter);
    tail.map_or(line.len(), |tail| line.len() - tail.len() - 1) == length
}

fn take_cell(text: &[u8], delimiter: u8) -> (Cell<'_>, Option<&[u8]>) {
    let padding = |&b: &u8| b != delimiter && is_padding(b);
    let begin = text.iter().position(|b| !padding(b)).unwrap_or(text.len());
    if let Some((b'"', inside)) = text.get(begin..).and_then(<[u8]>::split_first) {
        let (length, doubled) = quoted_length(inside);
        let quoted = inside.get(..length).unwrap_or_default();
        let tail = inside.get(length + 1..).unwrap_or_default();
        let end = tail.iter().position(|b| !padding(b)).unwrap_or(tail.len());
        let after = tail.get(end..).unwrap_or_default();
        // Anything else after the closing quote: the cell is not in quotes, but a text that has quotes.
        if after.first().is_none_or(|&b| b == delimiter) {
            let cell = Cell { text: trim_by(quoted, is_blank), quoted: true, doubled };
            return (cell, after.get(1..));
        }
    }
    let end = memchr::memchr(delimiter, text).unwrap_or(text.len());
    let bare = trim(text.get(..end).unwrap_or_default());
    (Cell { text: bare, quoted: false, doubled: false }, text.get(end + 1..))
}

/// The length up to the closing quote, or of the whole text if there is none; and whether there are doubled
/// quotes before.
fn quoted_length(inside: &[u8]) -> (usize, bool) {
    let mut doubled = false;
    let mut at = 0;
    while let Some(quote) = inside.get(at..).and_then(|rest| memchr::memchr(b'"', rest)) {
        at += quote;
        if inside.get(at + 1) != Some(&b'"') {
            return (at, doubled);
        }
        doubled = true;
        at += 2;
    }
    (inside.len(), doubled)
}

/// A time with an optional unit after it (`0.0004372600`, `437.050us`); without a unit, it counts `unit`s. A
/// comma may be the decimal point if it is not the `delimiter`.
pub(super) fn time(
    text: &[u8],
    unit: TimeScale,
    scale: TimeScale,
    delimiter: u8,
) -> Result<Rounded, NotTicks> {
    let digits = text.iter().rposition(|b| b.is_ascii_digit() || *b == b'.').map_or(0, |at| at + 1);
    let (number, suffix) = text.split_at_checked(digits).unwrap_or((text, b""));
    let unit = match trim(suffix) {
        b"" => unit,
        suffix => self::unit(suffix).ok_or(NotTicks::Garbage)?,
    };
    let point = if delimiter != b',' && number.contains(&b',') { b',' } else { b'.' };
    read_decimal(number, point, unit, scale)
}

/// The unit after a time.
pub(super) fn unit(text: &[u8]) -> Option<TimeScale> {
    match text {
        // The micro sign in Latin-1.
        b"\xb5s" => Some(TimeScale::Us),
        _ => TimeScale::parse(std::str::from_utf8(text).ok()?),
    }
}

/// A record number: signed, zero-padded to any width. `None` if the text is not a number, or if it does not
/// fit.
pub(super) fn record(text: &[u8]) -> Option<i64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// A data value. By default, TRACE32 prints hexadecimal values without a prefix; `0x` is accepted with both
/// radixes. `Err` states what is wrong.
pub(super) fn value(text: &[u8], radix: Radix) -> Result<u64, &'static str> {
    let prefixed = text.strip_prefix(b"0x").or_else(|| text.strip_prefix(b"0X"));
    match (prefixed, radix) {
        (_, _) if matches!(text, b"" | b"-") => Err("the data cell is empty"),
        (Some(digits), _) => hex(digits),
        (None, Radix::Hex) => hex(text),
        (None, Radix::Decimal) => decimal(text),
    }
}

fn hex(digits: &[u8]) -> Result<u64, &'static str> {
    let looks_decimal = matches!(digits, [b'+' | b'-', ..]) || digits.contains(&b'.');
    if looks_decimal {
        return Err("decimal where hex was expected; if the export prints decimal values, say \
             data_radix = \"decimal\" in recording.toml");
    }
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_hexdigit) {
        return Err("not a hexadecimal value, which data_radix = \"hex\" asks for");
    }
    let text = std::str::from_utf8(digits).unwrap_or_default();
    match digits.len() {
        ..=16 => u64::from_str_radix(text, 16).map_err(|_| "not a hexadecimal value"),
        _ => Err("more than 16 hex digits do not fit 64 bits"),
    }
}

/// TRACE32 marks decimal numbers with a point after them (`43.`).
fn decimal(text: &[u8]) -> Result<u64, &'static str> {
    let digits = text.strip_suffix(b".").unwrap_or(text);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err("not a decimal value without a sign, which data_radix = \"decimal\" asks for");
    }
    std::str::from_utf8(digits).unwrap_or_default().parse().map_err(|_| "the value does not fit 64 bits")
}

/// `Some(true)` for a write cycle, `Some(false)` for a read, `None` for any other cycle. `wr-data` and
/// `rd-data` are those that the thesis shows (5.1.2); the others are spellings with a size, and plain words.
pub(super) fn access(cycle: &[u8]) -> Option<bool> {
    let starts = |prefix: &[u8]| cycle.get(..prefix.len()).is_some_and(|c| c.eq_ignore_ascii_case(prefix));
    let is = |word: &[u8]| cycle.eq_ignore_ascii_case(word);
    if starts(b"wr-") || starts(b"write-") || is(b"wr") || is(b"write") || is(b"w") {
        Some(true)
    } else if starts(b"rd-") || starts(b"read-") || is(b"rd") || is(b"read") || is(b"r") {
        Some(false)
    } else {
        None
    }
}

/// True for a number in scientific notation, as spreadsheet programs write it: `3.0000E-08`.
pub(super) fn is_scientific(text: &[u8]) -> bool {
    let Some(e) = text.iter().position(|b| matches!(b, b'e' | b'E')) else { return false };
    let (mantissa, exponent) = text.split_at_checked(e).unwrap_or_default();
    let digits = |text: &[u8]| text.iter().any(u8::is_ascii_digit);
    let exponent = exponent.get(1..).unwrap_or_default();
    let exponent = exponent.strip_prefix(b"-").or(exponent.strip_prefix(b"+")).unwrap_or(exponent);
    let mantissa = mantissa.strip_prefix(b"-").unwrap_or(mantissa);
    digits(mantissa)
        && mantissa.iter().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b','))
        && digits(exponent)
        && exponent.iter().all(u8::is_ascii_digit)
}

/// True for a word that TRACE32 prints in the cycle column, access or not.
pub(super) fn is_cycle(text: &[u8]) -> bool {
    const OTHERS: [&[u8]; 5] = [b"snoop", b"ptrace", b"exec", b"exes", b"fetch"];
    text.len() > 1 && access(text).is_some() || OTHERS.iter().any(|word| text.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding::escaped;

    #[test]
    fn scientific_notation_differs_from_other_cells() {
        for text in ["3.0000E-08", "3,0e-8", "-1E5", "1.5e+03"] {
            assert!(is_scientific(text.as_bytes()), "{text}");
        }
        for text in ["", "E", "1.5", "1E", "E5", "0x1E5", "1.5E-", "event", "3.0E-8s"] {
            assert!(!is_scientific(text.as_bytes()), "{text}");
        }
    }

    fn texts(line: &str, delimiter: u8) -> Vec<(String, bool)> {
        let mut cells = Vec::new();
        split(line.as_bytes(), delimiter, &mut cells);
        cells.iter().map(|c| (escaped(&c.value()).into_owned(), c.quoted)).collect()
    }

    #[test]
    fn cells_are_trimmed() {
        let cells = texts(" -01, | 0.5 ,  \"a,b\" ,\"x\"\"y\",| \" wr-data \",43 |", b',');
        let expected =
            [("-01", false), ("0.5", false), ("a,b", true), ("x\"y", true), ("wr-data", true), ("43", false)];
        assert_eq!(cells, expected.map(|(t, q)| (t.to_owned(), q)));
    }

    #[test]
    fn unbalanced_quotes_are_split_as_well() {
        assert_eq!(texts("\"open,1", b','), [("open,1".to_owned(), true)]);
        assert_eq!(texts("\"a\"b,1", b','), [("\"a\"b".to_owned(), false), ("1".to_owned(), false)]);
        assert_eq!(texts("", b',').len(), 1);
        assert_eq!(texts(",", b',').len(), 2);
        assert_eq!(texts("a\t\tb", b'\t').len(), 3);
        assert_eq!(texts("\"\"", b','), [(String::new(), true)]);
    }

    #[test]
    fn times_have_units_and_commas() {
        let ns = |text: &[u8], delimiter| time(text, TimeScale::S, TimeScale::Ns, delimiter).map(|r| r.ticks);
        assert_eq!(ns(b"0.0004372600", b','), Ok(437_260));
        for text in [&b"437.050us"[..], b"437.050 us", "437.050µs".as_bytes(), b"437.050\xb5s"] {
            assert_eq!(ns(text, b','), Ok(437_050));
        }
        assert_eq!(ns(b"-1,5ms", b';'), Ok(-1_500_000));
        assert_eq!(ns(b"1,5", b','), Err(NotTicks::Garbage));
        assert_eq!(ns(b"1.5h", b','), Err(NotTicks::Garbage));
        assert_eq!(ns(b"us", b','), Err(NotTicks::Garbage));
        assert_eq!(ns(b"99999999999.0", b','), Err(NotTicks::Overflow));
    }

    #[test]
    fn values_follow_the_radix() {
        assert_eq!(value(b"43", Radix::Hex), Ok(0x43));
        assert_eq!(value(b"0xfF", Radix::Hex), Ok(0xff));
        assert_eq!(value(b"FFFFFFFFFFFFFFFF", Radix::Hex), Ok(u64::MAX));
        assert_eq!(value(b"43", Radix::Decimal), Ok(43));
        assert_eq!(value(b"43.", Radix::Decimal), Ok(43));
        assert_eq!(value(b"18446744073709551615", Radix::Decimal), Ok(u64::MAX));
        for text in [&b"12.5"[..], b"43.", b"-1", b"+1", b"xyz", b"12us"] {
            assert!(value(text, Radix::Hex).unwrap_err().contains("data_radix"));
        }
        assert!(value(b"43.", Radix::Hex).unwrap_err().starts_with("decimal where hex was expected"));
        for text in [&b""[..], b"-", b"0x", b"00000000000000001", b"1 2"] {
            assert!(value(text, Radix::Hex).is_err());
        }
        for text in [&b"FF"[..], b"-1", b".", b"18446744073709551616", b"4.3"] {
            assert!(value(text, Radix::Decimal).is_err());
        }
    }

    #[test]
    fn cycles() {
        for (text, expected) in [
            ("wr-data", Some(true)),
            ("RD-LONG", Some(false)),
            ("read", Some(false)),
            ("snoop", None),
            ("wrong", None),
            ("", None),
        ] {
            assert_eq!(access(text.as_bytes()), expected, "{text}");
        }
        assert!(is_cycle(b"ptrace") && is_cycle(b"wr-byte") && !is_cycle(b"w"));
    }

    #[test]
    fn records_have_any_width() {
        assert_eq!(record(b"-0083448136"), Some(-83_448_136));
        assert_eq!(record(b"+00000000000001"), Some(1));
        assert_eq!(record(b"99999999999999999999"), None);
        assert_eq!(record(b"1.5"), None);
    }
}
