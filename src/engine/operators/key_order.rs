//! Checks whether the rows of each key come in the order of a window. Not for sorting them (see `reorder`).

use std::cmp::Ordering;
use std::fmt;

use arrow::array::{Array, Int64Array};
use arrow::compute::SortOptions;
use datafusion::common::Result;
use datafusion::physical_expr::LexOrdering;

/// The rows of a key do not come in the order that was assumed.
#[derive(Debug)]
pub(in crate::engine) struct OutOfOrder;

impl fmt::Display for OutOfOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("rows are not in the order that was assumed")
    }
}

impl std::error::Error for OutOfOrder {}

/// The order that can be checked: integers, ascending, NULL last.
pub(super) const CHECKABLE: SortOptions = SortOptions { descending: false, nulls_first: false };

/// The value of a row for comparisons of the order.
#[inline]
pub(super) fn tick(values: &Int64Array, row: usize) -> i64 {
    if values.is_valid(row) { values.value(row) } else { i64::MAX }
}

/// The order of the latest row of each key, column by column.
#[derive(Debug)]
pub(super) struct LastOrders(Vec<Vec<i64>>);

#[derive(Debug, Default)]
pub(super) struct OrderCheck {
    /// Rows that belong before an earlier one of their key. They do not change the state.
    pub late: Vec<u32>,
    /// For each row, whether the first column of the order differs from that of the row of its key before.
    pub fresh: Vec<bool>,
}

impl LastOrders {
    pub fn new(order: &LexOrdering) -> Self {
        Self(vec![Vec::new(); order.len()])
    }

    /// `keys` has the key of each row, out of `count` keys, `order` the columns of the order.
    pub fn check(&mut self, order: &[Int64Array], keys: &[u32], count: usize) -> Result<OrderCheck> {
        self.0.iter_mut().for_each(|last| last.resize(count, i64::MIN));
        let mut seen = OrderCheck { late: Vec::new(), fresh: Vec::with_capacity(keys.len()) };
        for (row, key) in keys.iter().enumerate() {
            let key = *key as usize;
            let mut found = Ordering::Equal;
            for (values, last) in order.iter().zip(&self.0) {
                found = found.then_with(|| tick(values, row).cmp(&last[key]));
            }
            let first = order.first().zip(self.0.first());
            seen.fresh.push(first.is_some_and(|(values, last)| tick(values, row) != last[key]));
            if found == Ordering::Less {
                seen.late.push(row as u32);
                continue;
            }
            for (values, last) in order.iter().zip(&mut self.0) {
                last[key] = tick(values, row);
            }
        }
        Ok(seen)
    }
}
