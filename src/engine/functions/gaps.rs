//! `gap_between(recording, core, at, next_core, next_at)`: is there a gap? `gap_after(recording, core, at)`:
//! up to when is everything known? Not what a gap is (see table `gap`).

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Int64Array, StringViewArray};
use arrow::datatypes::{DataType, Int64Type};
use datafusion::common::{DataFusionError, Result, ScalarValue, internal_err};
use datafusion::logical_expr::{ColumnarValue, ScalarUDF, Volatility, create_udf};

use crate::schema::{tables, view};
use crate::store::{Database, read_batches};

view! {
    struct Gaps of gap { core, begin_at, end_at }
}

/// The functions that read gaps: those of the recording that is their first argument.
#[cfg(feature = "cluster")]
pub(in crate::engine) const READ_GAPS: [&str; 2] = ["gap_between", "gap_after"];

/// What a function answers for each row.
type OfRows = fn(&Begins, &[ArrayRef]) -> Result<ArrayRef>;

/// Gaps in the order of their begins, by recording and core (`None`: all cores).
type Begins = BTreeMap<String, BTreeMap<Option<String>, Spans>>;

/// Begins, and for each the latest end of the gaps up to there.
type Spans = Vec<(i64, i64)>;

/// The two functions. They count a gap from its begin on.
///
/// `gap_between`: true if a gap begins at the earlier moment or after it, and before the later one: a gap of
/// all cores, or, if both moments are on the same core, of that core. NULL is a moment after all gaps.
///
/// `gap_after`: the first instant, from a moment on, that lies in a gap of all cores, or of the core; of any
/// core if that is NULL. It is the moment itself if such a gap began before it. NULL if there is none.
pub(super) fn functions(database: &Arc<Database>) -> [ScalarUDF; 2] {
    let (name, time) = (DataType::Utf8View, DataType::Int64);
    let begins = Arc::new(OnceLock::new());
    let make = |function: &str, arguments: Vec<DataType>, without_gaps: ScalarValue, of_rows: OfRows| {
        let result = without_gaps.data_type();
        let (database, begins) = (Arc::clone(database), Arc::clone(&begins));
        let call = move |args: &[ColumnarValue]| {
            let begins = begins.get_or_init(|| load(&database).map_err(|e| e.to_string()));
            let begins = begins.as_ref().map_err(|e| DataFusionError::Execution(e.clone()))?;
            match begins.is_empty() {
                true => Ok(ColumnarValue::Scalar(without_gaps.clone())),
                false => of_rows(begins, &ColumnarValue::values_to_arrays(args)?).map(ColumnarValue::Array),
            }
        };
        create_udf(function, arguments, result, Volatility::Stable, Arc::new(call))
    };
    let two = vec![name.clone(), name.clone(), time.clone(), name.clone(), time.clone()];
    [
        make("gap_between", two, ScalarValue::Boolean(Some(false)), are_between),
        make("gap_after", vec![name.clone(), name, time], ScalarValue::Int64(None), begin_after),
    ]
}

fn load(database: &Database) -> crate::error::Result<Begins> {
    let mut begins = Begins::new();
    for file in database.files(tables::GAP, None)? {
        let path = database.place_of(&file);
        for batch in read_batches(&path, tables::GAP, Some(Gaps::COLUMNS), 8192)? {
            let batch = batch?;
            let gaps = Gaps::of(&batch)?;
            let of_cores = begins.entry(file.recording.clone()).or_default();
            for (row, span) in gaps.begin_at.values().iter().zip(gaps.end_at.values()).enumerate() {
                of_cores.entry(gaps.core.get(row).map(str::to_owned)).or_default().push((*span.0, *span.1));
            }
        }
    }
    for spans in begins.values_mut().flat_map(BTreeMap::values_mut) {
        spans.sort_unstable();
        let mut latest = i64::MIN;
        for (_, end) in spans {
            latest = latest.max(*end);
            *end = latest;
        }
    }
    Ok(begins)
}

fn name(array: &ArrayRef, row: usize) -> Option<&str> {
    let names: &StringViewArray = array.as_string_view_opt()?;
    names.is_valid(row).then(|| names.value(row))
}

fn time(array: &ArrayRef, row: usize) -> Option<i64> {
    let times = array.as_primitive_opt::<Int64Type>()?;
    times.is_valid(row).then(|| times.value(row))
}

fn are_between(begins: &Begins, args: &[ArrayRef]) -> Result<ArrayRef> {
    let [recordings, cores, times, next_cores, next_times] = args else {
        return internal_err!("gap_between has five arguments");
    };
    let between = |row| {
        let Some(begins) = name(recordings, row).and_then(|r| begins.get(r)) else { return false };
        let (one, other) = (time(times, row), time(next_times, row));
        let core = name(cores, row).filter(|core| name(next_cores, row) == Some(core));
        any_between(begins.get(&None), one, other)
            || core.is_some_and(|core| any_between(begins.get(&Some(core.to_owned())), one, other))
    };
    let result: BooleanArray = (0..times.len()).map(|row| Some(between(row))).collect();
    Ok(Arc::new(result))
}

fn begin_after(begins: &Begins, args: &[ArrayRef]) -> Result<ArrayRef> {
    let [recordings, cores, times] = args else {
        return internal_err!("gap_after has three arguments");
    };
    let after = |row| {
        let (begins, at) = (begins.get(name(recordings, row)?)?, time(times, row)?);
        let first = |spans: &Spans| {
            let next = spans.partition_point(|(begin, _)| *begin < at);
            match next.checked_sub(1).and_then(|before| spans.get(before)) {
                Some((_, end)) if *end > at => Some(at),
                _ => spans.get(next).map(|(begin, _)| *begin),
            }
        };
        match name(cores, row) {
            Some(core) => {
                let of_core = begins.get(&Some(core.to_owned())).and_then(first);
                begins.get(&None).and_then(first).into_iter().chain(of_core).min()
            }
            None => begins.values().filter_map(first).min(),
        }
    };
    let result: Int64Array = (0..times.len()).map(after).collect();
    Ok(Arc::new(result))
}

/// Whether one of the ascending `begins` is between two moments.
fn any_between(begins: Option<&Spans>, one: Option<i64>, other: Option<i64>) -> bool {
    let before = |begins: &Spans, at: Option<i64>| {
        at.map_or(begins.len(), |at| begins.partition_point(|(begin, _)| *begin < at))
    };
    begins.is_some_and(|begins| before(begins, one) != before(begins, other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_counts_from_its_begin_and_moments_that_are_missing_come_last() {
        let begins = vec![(10, 12), (20, 25)];
        let between = |one, other| any_between(Some(&begins), one, other);
        assert!(between(Some(10), Some(11)) && between(Some(0), Some(15)) && between(Some(15), Some(0)));
        assert!(!between(Some(5), Some(10)) && !between(Some(11), Some(20)) && !between(Some(21), None));
        assert!(between(Some(20), None) && !between(None, None) && !any_between(None, Some(0), None));
    }

    #[test]
    fn the_next_gap_is_that_of_the_core_or_of_all_cores() {
        let of_cores = [
            (None, vec![(30, 31)]),
            (Some("A".to_owned()), vec![(10, 11), (50, 60)]),
            (Some("B".to_owned()), vec![(20, 28)]),
        ];
        let begins = Begins::from([("r".to_owned(), of_cores.into())]);
        let rows: [(&str, Option<&str>, i64, Option<i64>); 9] = [
            ("r", Some("A"), 10, Some(10)),
            ("r", Some("A"), 11, Some(30)),
            ("r", Some("A"), 31, Some(50)),
            ("r", Some("A"), 51, Some(51)),
            ("r", Some("A"), 60, None),
            ("r", None, 22, Some(22)),
            ("r", Some("C"), 0, Some(30)),
            ("r", None, 11, Some(20)),
            ("s", None, 0, None),
        ];
        let recordings: ArrayRef = Arc::new(StringViewArray::from_iter_values(rows.map(|r| r.0)));
        let cores: ArrayRef = Arc::new(StringViewArray::from_iter(rows.map(|r| r.1)));
        let times: ArrayRef = Arc::new(Int64Array::from_iter_values(rows.map(|r| r.2)));
        let expected: ArrayRef = Arc::new(Int64Array::from_iter(rows.map(|r| r.3)));
        assert_eq!(&begin_after(&begins, &[recordings, cores, times]).unwrap(), &expected);
    }
}
