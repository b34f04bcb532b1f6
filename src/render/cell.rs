//! One cell as text. Not for quoting, which differs by format.

use std::io::Write;

use arrow::array::{Array, AsArray, Float64Array, Int64Array, StringArray, StringViewArray, UInt64Array};
use arrow::datatypes::DataType;
use arrow::util::display::{ArrayFormatter, FormatOptions};

use super::misfit;
use crate::error::Result;

/// A column of a batch that returns cells.
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

#[derive(Debug, PartialEq)]
pub(super) enum Cell<'a> {
    Null,
    /// A string, to be quoted or escaped.
    Text(&'a str),
    /// A finite number that is not an integer.
    Fraction(f64),
    /// Another number; its text is in the buffer.
    Number,
    /// Anything else; its text is in the buffer, and has to be quoted or escaped.
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

    pub fn is_null(&self, row: usize) -> bool {
        self.array.is_null(row)
    }

    /// The cell of `row`, which must exist; the texts of numbers and rare types are appended to `out`.
    pub fn cell(&self, row: usize, out: &mut Vec<u8>) -> Cell<'a> {
        if self.array.is_null(row) {
            return Cell::Null;
        }
        match &self.values {
            Values::Text(texts) => return Cell::Text(texts.value(row)),
            Values::View(texts) => return Cell::Text(texts.value(row)),
            Values::Integer(numbers) => write_integer(numbers.value(row), out),
            Values::Unsigned(numbers) => write_integer(numbers.value(row), out),
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

    /// True for numbers, which are right-aligned.
    pub fn is_number(ty: &DataType) -> bool {
        ty.is_numeric()
    }
}

/// Writing into memory cannot fail.
pub(super) fn put(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    let _ = out.write_fmt(text);
}

/// Appends a decimal integer; faster than the standard library, and exports are mostly integers.
pub(crate) fn write_integer(value: impl itoa::Integer, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Appends the first `length` of some bytes. Copies N at once if there are as many: cheap for short texts.
#[cfg(feature = "engine")]
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
