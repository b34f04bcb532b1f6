//! `gap_between(recording, core, at, next_core, next_at)`: is there a gap? Not what it is (see table `gap`).

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, StringViewArray};
use arrow::datatypes::{DataType, Int64Type};
use datafusion::common::{DataFusionError, Result, ScalarValue, internal_err};
use datafusion::logical_expr::{ColumnarValue, ScalarUDF, Volatility, create_udf};

use crate::schema::{tables, view};
use crate::store::{Database, read_batches};

view! {
    struct Gaps of gap { core, begin_at }
}

/// Begins of gaps, ascending, by recording and core (`None`: all cores).
type Begins = BTreeMap<String, BTreeMap<Option<String>, Vec<i64>>>;

/// True if a gap begins at the earlier moment or after it, and before the later one: a gap of all cores, or,
/// if both moments are on the same core, of that core. NULL is a moment after all gaps.
pub(super) fn gap_between(database: Arc<Database>) -> ScalarUDF {
    let (name, time) = (DataType::Utf8View, DataType::Int64);
    let arguments = vec![name.clone(), name.clone(), time.clone(), name, time];
    let begins = OnceLock::new();
    let gaps = move |args: &[ColumnarValue]| {
        let begins = begins.get_or_init(|| load(&database).map_err(|e| e.to_string()));
        let begins = begins.as_ref().map_err(|e| DataFusionError::Execution(e.clone()))?;
        match begins.is_empty() {
            true => Ok(ColumnarValue::Scalar(ScalarValue::Boolean(Some(false)))),
            false => are_between(begins, args),
        }
    };
    create_udf("gap_between", arguments, DataType::Boolean, Volatility::Stable, Arc::new(gaps))
}

fn load(database: &Database) -> crate::error::Result<Begins> {
    let mut begins = Begins::new();
    for file in database.files(tables::GAP, None) {
        let path = database.path_of(&file);
        for batch in read_batches(&path, tables::GAP, Some(Gaps::COLUMNS), 8192)? {
            let batch = batch?;
            let gaps = Gaps::of(&batch)?;
            let of_cores = begins.entry(file.recording.clone()).or_default();
            for (row, at) in gaps.begin_at.values().iter().enumerate() {
                of_cores.entry(gaps.core.get(row).map(str::to_owned)).or_default().push(*at);
            }
        }
    }
    begins.values_mut().flat_map(BTreeMap::values_mut).for_each(|b| b.sort_unstable());
    Ok(begins)
}

fn are_between(begins: &Begins, args: &[ColumnarValue]) -> Result<ColumnarValue> {
    let arrays = ColumnarValue::values_to_arrays(args)?;
    let [recordings, cores, times, next_cores, next_times] = &arrays[..] else {
        return internal_err!("gap_between has five arguments");
    };
    let name = |array: &ArrayRef, row| -> Option<String> {
        let names: &StringViewArray = array.as_string_view_opt()?;
        names.is_valid(row).then(|| names.value(row).to_owned())
    };
    let time = |array: &ArrayRef, row| {
        let times = array.as_primitive_opt::<Int64Type>()?;
        times.is_valid(row).then(|| times.value(row))
    };
    let between = |row| {
        let Some(begins) = name(recordings, row).and_then(|r| begins.get(&r)) else { return false };
        let (one, other) = (time(times, row), time(next_times, row));
        let core = name(cores, row).filter(|core| name(next_cores, row).as_ref() == Some(core));
        any_between(begins.get(&None), one, other)
            || core.is_some_and(|core| any_between(begins.get(&Some(core)), one, other))
    };
    let result: BooleanArray = (0..times.len()).map(|row| Some(between(row))).collect();
    Ok(ColumnarValue::Array(Arc::new(result)))
}

/// Whether one of the ascending `begins` is between two moments.
fn any_between(begins: Option<&Vec<i64>>, one: Option<i64>, other: Option<i64>) -> bool {
    let before = |begins: &Vec<i64>, at: Option<i64>| {
        at.map_or(begins.len(), |at| begins.partition_point(|begin| *begin < at))
    };
    begins.is_some_and(|begins| before(begins, one) != before(begins, other))
}

#[cfg(test)]
mod tests {
    use super::any_between;

    #[test]
    fn a_gap_counts_from_its_begin_and_moments_that_are_missing_come_last() {
        let begins = vec![10, 20];
        let between = |one, other| any_between(Some(&begins), one, other);
        assert!(between(Some(10), Some(11)) && between(Some(0), Some(15)) && between(Some(15), Some(0)));
        assert!(!between(Some(5), Some(10)) && !between(Some(11), Some(20)) && !between(Some(21), None));
        assert!(between(Some(20), None) && !between(None, None) && !any_between(None, Some(0), None));
    }
}
