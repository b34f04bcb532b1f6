//! `windows(begin_at, end_at, width, step)`: the windows of time that an interval touches. Not for what is summed over them.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Builder, ListBuilder};
use arrow::datatypes::{DataType, Field, Int64Type};
use datafusion::common::{Result, exec_err, internal_err};
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};

/// One interval in more windows than this is a mistake in the units.
const MAX_WINDOWS: i128 = 10_000_000;

/// The begins of all windows `[k * step, k * step + width)` that have an instant of `[begin_at, end_at)`, ascending. NULL when
/// an argument is NULL, empty for an empty interval.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Windows {
    signature: Signature,
}

impl Windows {
    pub fn new() -> Self {
        // It is not. But the engine writes what it can compute beforehand into the plan and into the names of columns, and
        // the windows of a literal interval may be millions: half the time of a query went into that.
        Self { signature: Signature::exact(vec![DataType::Int64; 4], Volatility::Volatile) }
    }
}

/// See [`Windows`]; in numbers that cannot overflow.
fn begins(begin: i64, end: i64, width: i64, step: i64) -> Result<std::ops::Range<i128>, &'static str> {
    if width <= 0 || step <= 0 {
        return Err("the width and the step of windows must be greater than 0");
    }
    let [begin, end, width, step] = [begin, end, width, step].map(i128::from);
    if begin >= end {
        return Ok(0..0);
    }
    let range = (begin - width).div_euclid(step) + 1..(end - 1).div_euclid(step) + 1;
    if range.end - range.start > MAX_WINDOWS {
        return Err("an interval touches more than ten million windows; take a larger step");
    }
    Ok(range)
}

impl ScalarUDFImpl for Windows {
    fn name(&self) -> &str {
        "windows"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::List(Arc::new(Field::new_list_field(DataType::Int64, true))))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let numbers = |array: &'_ ArrayRef| array.as_primitive_opt::<Int64Type>().cloned();
        let columns: Vec<_> = arrays.iter().filter_map(numbers).collect();
        let [begin, end, width, step] = &columns[..] else {
            return internal_err!("windows has four arguments");
        };
        let mut lists = ListBuilder::new(Int64Builder::new());
        for row in 0..begin.len() {
            let valid = columns.iter().all(|column| column.is_valid(row));
            if valid {
                match begins(begin.value(row), end.value(row), width.value(row), step.value(row)) {
                    // Windows that begin before or behind all instants there are have no begin.
                    Ok(range) => range
                        .filter_map(|n| i64::try_from(n * i128::from(step.value(row))).ok())
                        .for_each(|at| lists.values().append_value(at)),
                    Err(why) => return exec_err!("{why}"),
                }
            }
            lists.append(valid);
        }
        Ok(ColumnarValue::Array(Arc::new(lists.finish())))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::begins;

    #[test]
    fn what_makes_no_windows_says_why() {
        assert!(begins(0, 1, 0, 1).is_err() && begins(0, 1, 1, -1).is_err());
        assert!(begins(i64::MIN, i64::MAX, 1, 1).unwrap_err().contains("larger step"));
        assert_eq!(begins(7, 7, 1, 1).unwrap().count(), 0);
    }

    proptest! {
        #[test]
        fn a_window_is_there_when_it_has_an_instant_of_the_interval(
            begin in -40i64..40, length in 0i64..30, width in 1i64..20, step in 1i64..20,
        ) {
            let end = begin + length;
            let touches = |k: &i64| (k * step..k * step + width).any(|at| (begin..end).contains(&at));
            let expected: Vec<i128> = (-200..200).filter(touches).map(i128::from).collect();
            prop_assert_eq!(begins(begin, end, width, step).unwrap().collect::<Vec<_>>(), expected);
        }
    }
}
