//! One cell as text. Not for quoting, which differs by format.

use std::io::Write;

use arrow::array::{Array, AsArray, Float64Array, Int64Array, StringArray, StringViewArray, UInt64Array};
use arrow::datatypes::DataType;
use arrow::util::display::{ArrayFormatter, FormatOptions};

use super::misfit;
use crate::error::Result;

/// A column of a batch, ready to give its cells.
pub(super) struct Column<'a> {
    array: &'a dyn Array,
    values: Values<'a>,
}

enum Values<'a> {
    Integer(&'a Int64Array),
    Unsigned(&'a UInt64Array),
    Float(&'a Float64Array),
    Text(&'a StringArray),
    View(&'a StringViewArray),
    /// Types that are rare in results.
    Other(ArrayFormatter<'a>),
}

/// A cell.
#[derive(Debug, PartialEq)]
pub(super) enum Cell<'a> {
    Null,
    /// A string, to be quoted or escaped.
    Text(&'a str),
    /// A finite number that is not an integer.
    Fraction(f64),
    /// Another number, which is in the buffer.
    Number,
    /// Anything else; the text, which is to be quoted or escaped, is in the buffer.
    Written,
}

impl<'a> Column<'a> {
    pub fn new(array: &'a dyn Array) -> Result<Self> {
        let values = match array.data_type() {
            DataType::Int64 => Values::Integer(array.as_primitive()),
            DataType::UInt64 => Values::Unsigned(array.as_primitive()),
            DataType::Float64 => Values::Float(array.as_primitive()),
            DataType::Utf8 => Values::Text(array.as_string()),
            DataType::Utf8View => Values::View(array.as_string_view()),
            _ => Values::Other(ArrayFormatter::try_new(array, &FormatOptions::new()).map_err(misfit)?),
        };
        Ok(Self { array, values })
    }

    /// True when the row has no value.
    pub fn is_null(&self, row: usize) -> bool {
        self.array.is_null(row)
    }

    /// The cell of `row`, which must be less than the number of rows; numbers and rare types are appended to `out`.
    pub fn cell(&self, row: usize, out: &mut Vec<u8>) -> Cell<'a> {
        if self.array.is_null(row) {
            return Cell::Null;
        }
        match &self.values {
            Values::Text(texts) => return Cell::Text(texts.value(row)),
            Values::View(texts) => return Cell::Text(texts.value(row)),
            Values::Integer(numbers) => write_integer(numbers.value(row), out),
            Values::Unsigned(numbers) => write_unsigned(numbers.value(row), out),
            Values::Float(numbers) => {
                let value = numbers.value(row);
                if value.is_finite() && value.fract() != 0.0 {
                    return Cell::Fraction(value);
                }
                put(out, format_args!("{value}"));
            }
            Values::Other(formatter) => {
                put(out, format_args!("{}", formatter.value(row)));
                return Cell::Written;
            }
        }
        Cell::Number
    }

    /// True for numbers, which are aligned to the right.
    pub fn is_number(ty: &DataType) -> bool {
        ty.is_numeric()
    }
}

/// Writing into memory cannot fail.
pub(super) fn put(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    let _ = out.write_fmt(text);
}

/// Appends a decimal integer; faster than the formatting of the standard library, and exports are made of integers.
pub(crate) fn write_integer(value: i64, out: &mut Vec<u8>) {
    if value < 0 {
        out.push(b'-');
    }
    write_unsigned(value.unsigned_abs(), out);
}

/// The numbers below 100.
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[b'0'; 2]; 100];
    let mut n = 0;
    while n < pairs.len() {
        pairs[n] = [b'0' + n as u8 / 10, b'0' + n as u8 % 10];
        n += 1;
    }
    pairs
};

/// Appends a decimal number.
pub(crate) fn write_unsigned(mut value: u64, out: &mut Vec<u8>) {
    // The second half is what may be moved together with the digits.
    let mut pairs = [[b'0'; 2]; 20];
    let (mut begin, end) = (20, 20);
    for pair in pairs.iter_mut().take(10).rev() {
        *pair = PAIRS[(value % 100) as usize];
        begin -= if value < 10 { 1 } else { 2 };
        value /= 100;
        if value == 0 {
            break;
        }
    }
    append::<20>(pairs.as_flattened().get(begin..).unwrap_or_default(), end - begin, out);
}

/// Appends the first `length` of some bytes. Where N follow, it moves N at once: short texts of various lengths cost
/// little then.
pub(crate) fn append<const N: usize>(bytes: &[u8], length: usize, out: &mut Vec<u8>) {
    match bytes.first_chunk::<N>() {
        Some(chunk) if length <= N => {
            let end = out.len() + length;
            out.extend_from_slice(chunk);
            out.truncate(end);
        }
        _ => out.extend_from_slice(bytes.get(..length).unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn integers_are_written_as_the_standard_library_does(value: i64, unsigned: u64) {
            let mut out = Vec::new();
            write_integer(value, &mut out);
            out.push(b' ');
            write_unsigned(unsigned, &mut out);
            prop_assert_eq!(String::from_utf8(out).unwrap(), format!("{value} {unsigned}"));
        }
    }

    #[test]
    fn extreme_integers_are_written() {
        for value in [0, i64::MIN, i64::MAX] {
            let mut out = Vec::new();
            write_integer(value, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), value.to_string());
        }
    }
}
