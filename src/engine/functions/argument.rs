//! `argument(arguments, name)`: an argument of a kernel event. Not which ones there are (see `crate::qnx`).

use std::sync::Arc;

use arrow::array::{AsArray, Int64Array};
use arrow::datatypes::DataType;
use datafusion::common::{Result, internal_err};
use datafusion::logical_expr::{ColumnarValue, ScalarUDF, Volatility, create_udf};

/// The value after `name:` in column `arguments`, as a number: decimal or hexadecimal, 64 bits. NULL if there
/// is no such argument, or if it is text.
pub(super) fn argument() -> ScalarUDF {
    let texts = vec![DataType::Utf8View; 2];
    create_udf("argument", texts, DataType::Int64, Volatility::Immutable, Arc::new(numbers))
}

fn numbers(args: &[ColumnarValue]) -> Result<ColumnarValue> {
    let arrays = ColumnarValue::values_to_arrays(args)?;
    let [arguments, names] = &arrays[..] else { return internal_err!("argument has two arguments") };
    let (Some(arguments), Some(names)) = (arguments.as_string_view_opt(), names.as_string_view_opt()) else {
        return internal_err!("argument is called with texts");
    };
    let numbers = arguments.iter().zip(names.iter()).map(|(all, name)| number(all?, name?));
    Ok(ColumnarValue::Array(Arc::new(numbers.collect::<Int64Array>())))
}

/// The number after `name:`, which begins a word outside of quotes.
fn number(all: &str, name: &str) -> Option<i64> {
    let mut quoted = false;
    let mut begins = true;
    for (at, c) in all.char_indices() {
        if begins && !quoted {
            let value = all.get(at..).and_then(|rest| rest.strip_prefix(name)?.strip_prefix(':'));
            if let Some(value) = value {
                return value_of(value.split([' ', ',']).next().unwrap_or_default());
            }
        }
        quoted ^= c == '"';
        begins = c == ' ';
    }
    None
}

fn value_of(text: &str) -> Option<i64> {
    match text.strip_prefix("0x") {
        // Addresses of 64 bits keep their bits.
        Some(digits) => u64::from_str_radix(digits, 16).ok().map(|n| n as i64),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn arguments_are_found_by_name() {
        let all = r#"coid:0x40000001 sparts:1 msg:"x y:7 z" (0x64636261) id:-1 what:text last:9, errno:4"#;
        assert_eq!(number(all, "coid"), Some(0x4000_0001));
        assert_eq!(number(all, "sparts"), Some(1));
        assert_eq!(number(all, "id"), Some(-1), "not the end of coid");
        assert_eq!(number(all, "y"), None, "inside of quotes");
        assert_eq!(number(all, "what"), None);
        assert_eq!(number(all, "last"), Some(9));
        assert_eq!(number(all, "errno"), Some(4));
        assert_eq!(number("X:0xffffffffffffffff", "X"), Some(-1));
        assert_eq!(number("", "X"), None);
    }
}
