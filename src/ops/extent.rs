//! The times of the rows of a table or an input: first, last, and the longest silence. Not what they say
//! about a recording (see `coverage`).

use crate::schema::NumberView;
use serde::{Deserialize, Serialize};

/// The times of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Extent {
    /// The earliest and the latest, both inclusive.
    pub first: i64,
    pub last: i64,
    /// The longest time between a row and the next one.
    pub silence: i64,
    /// How many rows there are.
    pub rows: u64,
}

impl Extent {
    /// Of a sorted column, of rows that have a time; `None` if none has.
    pub fn of(column: NumberView<'_, i64>) -> Option<Self> {
        let (first, last) = span_of(column)?;
        let times = column.values();
        let silence = if column.is_complete() {
            longest(times)
        } else {
            longest(&(0..times.len()).filter_map(|row| column.get(row)).collect::<Vec<_>>())
        };
        Some(Self { first, last, silence, rows: times.len() as u64 })
    }

    /// Of the rows that follow these in their file, too. Time may have been set back between them.
    pub fn then(self, next: Self) -> Self {
        let between = next.first.saturating_sub(self.last);
        let silence = self.silence.max(next.silence).max(between);
        Self { silence, ..self.with(next) }
    }

    /// Of these rows and those of another table.
    pub fn with(self, other: Self) -> Self {
        Self {
            first: self.first.min(other.first),
            last: self.last.max(other.last),
            silence: self.silence_in(other).min(other.silence_in(self)),
            rows: self.rows.saturating_add(other.rows),
        }
    }

    /// The longest silence between the rows, and before and after them where `other` has rows.
    fn silence_in(self, other: Self) -> i64 {
        let before = self.first.saturating_sub(other.first);
        let after = other.last.saturating_sub(self.last);
        self.silence.max(before).max(after)
    }
}

/// The longest time from an instant to the next one.
fn longest(times: &[i64]) -> i64 {
    // A span that does not fit is refused, see `read`. Two slices, so that the loop is free of branches.
    let next = times.get(1..).unwrap_or_default();
    times.iter().zip(next).fold(0, |longest, (time, next)| longest.max(next.wrapping_sub(*time)))
}

/// First and last value of a sorted column, of rows that have one.
pub(super) fn span_of(column: NumberView<'_, i64>) -> Option<(i64, i64)> {
    let mut values = (0..column.values().len()).filter_map(|row| column.get(row));
    let first = values.next()?;
    Some((first, values.next_back().unwrap_or(first)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::find_column;
    use arrow::array::{ArrayRef, Int64Array, RecordBatch};
    use proptest::prelude::*;
    use std::sync::Arc;

    fn extent(times: &[i64]) -> Option<Extent> {
        let column: ArrayRef = Arc::new(Int64Array::from(times.to_vec()));
        let batch = RecordBatch::try_from_iter([("time", column)]).unwrap();
        Extent::of(find_column(&batch, "times", "time").unwrap())
    }

    #[test]
    fn a_table_that_covers_a_part_of_a_core_is_silent_elsewhere() {
        let data = extent(&[0, 10, 20, 30, 40]).unwrap();
        let functions = extent(&[18, 19]).unwrap();
        assert_eq!(data.with(functions), Extent { first: 0, last: 40, silence: 10, rows: 7 });
        assert_eq!(functions.with(data), data.with(functions));
        assert_eq!(functions.with(extent(&[0]).unwrap()).silence, 18);
    }

    proptest! {
        #[test]
        fn the_extent_of_batches_is_that_of_all(mut times in prop::collection::vec(-50i64..50, 1..30), at in 0usize..30) {
            times.sort_unstable();
            let (first, second) = times.split_at(at.min(times.len()));
            let joined = match (extent(first), extent(second)) {
                (Some(first), Some(second)) => Some(first.then(second)),
                (first, second) => first.or(second),
            };
            prop_assert_eq!(joined, extent(&times));
        }

        /// The silence of two tables is an upper bound of that of their rows.
        #[test]
        fn two_tables_are_never_silent_for_longer_than_said(
            mut one in prop::collection::vec(0i64..100, 1..20),
            mut other in prop::collection::vec(0i64..100, 1..20),
        ) {
            one.sort_unstable();
            other.sort_unstable();
            let both = extent(&one).unwrap().with(extent(&other).unwrap());
            let mut all = [one, other].concat();
            all.sort_unstable();
            let all = extent(&all).unwrap();
            prop_assert!(both.silence >= all.silence);
            prop_assert_eq!((both.first, both.last, both.rows), (all.first, all.last, all.rows));
        }
    }
}
