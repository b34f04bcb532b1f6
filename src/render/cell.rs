//! One cell as text. Not for quoting, which differs by format.

use std::io::Write;

use arrow::array::{Array, AsArray};
use arrow::datatypes::{DataType, Float64Type, Int64Type, UInt64Type};
use arrow::util::display::{ArrayFormatter, FormatOptions};

use super::misfit;
use crate::error::Result;

/// A column of a batch, ready to give its cells.
pub(super) struct Column<'a> {
    array: &'a dyn Array,
    /// For types that are rare in results.
    other: Option<ArrayFormatter<'a>>,
}

/// A cell.
#[derive(Debug, PartialEq)]
pub(super) enum Cell<'a> {
    Null,
    /// A string, to be quoted or escaped.
    Text(&'a str),
    /// A finite number that is not an integer.
    Fraction(f64),
    /// Anything else; the text is in the buffer.
    Written,
}

impl<'a> Column<'a> {
    pub fn new(array: &'a dyn Array) -> Result<Self> {
        let common = matches!(
            array.data_type(),
            DataType::Int64 | DataType::UInt64 | DataType::Float64 | DataType::Utf8 | DataType::Utf8View
        );
        let options = FormatOptions::new();
        let other =
            if common { None } else { Some(ArrayFormatter::try_new(array, &options).map_err(misfit)?) };
        Ok(Self { array, other })
    }

    /// The cell of `row`, which must be less than the number of rows. Appends it to `out` unless it has to be quoted.
    pub fn cell(&self, row: usize, out: &mut Vec<u8>) -> Cell<'a> {
        if self.array.is_null(row) {
            return Cell::Null;
        }
        match self.array.data_type() {
            DataType::Utf8View => return Cell::Text(self.array.as_string_view().value(row)),
            DataType::Utf8 => return Cell::Text(self.array.as_string::<i32>().value(row)),
            DataType::Int64 => write_integer(self.array.as_primitive::<Int64Type>().value(row), out),
            DataType::UInt64 => write_unsigned(self.array.as_primitive::<UInt64Type>().value(row), out),
            DataType::Float64 => {
                let value = self.array.as_primitive::<Float64Type>().value(row);
                if value.is_finite() && value.fract() != 0.0 {
                    return Cell::Fraction(value);
                }
                put(out, format_args!("{value}"));
            }
            _ => {
                let formatter = self.other.as_ref();
                formatter.iter().for_each(|f| put(out, format_args!("{}", f.value(row))));
            }
        }
        Cell::Written
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

/// Appends a decimal number.
pub(crate) fn write_unsigned(mut value: u64, out: &mut Vec<u8>) {
    let mut digits = [0u8; 20];
    let mut used = 0;
    for slot in digits.iter_mut().rev() {
        *slot = b'0' + (value % 10) as u8;
        value /= 10;
        used += 1;
        if value == 0 {
            break;
        }
    }
    out.extend(digits.iter().skip(digits.len() - used));
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
