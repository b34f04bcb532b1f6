//! `windows(begin_at, end_at, width, step)`: the windows that an interval touches. Not sums over them.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Builder, ListBuilder};
use arrow::datatypes::{DataType, Field, Int64Type};
use datafusion::common::{Result, exec_err, internal_err};
use datafusion::logical_expr::{ColumnarValue, ScalarUDF, Volatility, create_udf};

use crate::time::TimeWindows;

/// The begins of all windows `[k * step, k * step + width)` that contain an instant of `[begin_at, end_at)`,
/// ascending. NULL when an argument is NULL, empty for an empty interval.
pub(super) fn windows() -> ScalarUDF {
    let lists = DataType::List(Arc::new(Field::new_list_field(DataType::Int64, true)));
    // It is not volatile. But the engine writes constants into the plan and into the names of columns, and
    // the windows of a literal interval may be millions: that took half the time of a query.
    create_udf("windows", vec![DataType::Int64; 4], lists, Volatility::Volatile, Arc::new(begins))
}

fn begins(args: &[ColumnarValue]) -> Result<ColumnarValue> {
    let arrays = ColumnarValue::values_to_arrays(args)?;
    let numbers = |array: &'_ ArrayRef| array.as_primitive_opt::<Int64Type>().cloned();
    let columns: Vec<_> = arrays.iter().filter_map(numbers).collect();
    let [begin, end, width, step] = &columns[..] else { return internal_err!("windows has four arguments") };
    let mut lists = ListBuilder::new(Int64Builder::new());
    for row in 0..begin.len() {
        let valid = columns.iter().all(|column| column.is_valid(row));
        if valid {
            let windows = TimeWindows { width: width.value(row), step: step.value(row) };
            match windows.touching(begin.value(row), end.value(row)) {
                Ok(begins) => begins.for_each(|at| lists.values().append_value(at)),
                Err(why) => return exec_err!("{why}"),
            }
        }
        lists.append(valid);
    }
    Ok(ColumnarValue::Array(Arc::new(lists.finish())))
}
