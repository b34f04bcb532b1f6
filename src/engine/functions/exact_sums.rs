//! Sums of integers, such as times, and of their squares: exact, and rounded once at the end. For `stddev`,
//! alone and in a shared accumulator; not for floating-point numbers.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Decimal128Array, Decimal256Array, UInt64Array};
use arrow::datatypes::{DataType, Decimal128Type, Decimal256Type, UInt64Type, i256};
use datafusion::error::Result;

/// The state of an aggregation between its two stages. Decimals are the Arrow types for wide integers.
pub(in crate::engine) const STATE: [(&str, DataType); 3] = [
    ("count", DataType::UInt64),
    ("sum", DataType::Decimal128(38, 0)),
    ("squares", DataType::Decimal256(76, 0)),
];

/// Count, sum and sum of squares of some numbers. No sum overflows before 2⁶⁴ of them were added.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::engine) struct Sums {
    pub count: u64,
    pub sum: i128,
    squares: i256,
}

impl Sums {
    #[inline(always)]
    pub fn add(&mut self, number: i64) {
        self.count += 1;
        self.sum += i128::from(number);
        self.squares = self.squares.wrapping_add(square(number));
    }

    pub fn remove(&mut self, number: i64) {
        self.count -= 1;
        self.sum -= i128::from(number);
        self.squares = self.squares.wrapping_sub(square(number));
    }

    pub fn with(&mut self, other: Self) {
        self.count += other.count;
        self.sum += other.sum;
        self.squares = self.squares.wrapping_add(other.squares);
    }

    /// Of a sample (n − 1); `None` for fewer than two numbers. The only place that rounds.
    pub fn stddev(self) -> Option<f64> {
        let n = i256::from_i128(self.count.into());
        let sum = i256::from_i128(self.sum);
        // n · Σx² − (Σx)², which is n times the sum of the squared deviations from the average.
        let distances = n.wrapping_mul(self.squares).wrapping_sub(sum.wrapping_mul(sum));
        let (low, high) = distances.to_parts();
        let distances = high as f64 * 2f64.powi(128) + low as f64;
        (self.count > 1).then(|| (distances / self.count as f64 / (self.count - 1) as f64).sqrt())
    }
}

#[inline(always)]
fn square(number: i64) -> i256 {
    i256::from_i128(i128::from(number) * i128::from(number))
}

/// The rows of a state, see [`STATE`].
pub(in crate::engine) fn states(values: &[ArrayRef]) -> impl Iterator<Item = Sums> {
    let columns = match values {
        [count, sum, squares] => Some((
            count.as_primitive::<UInt64Type>(),
            sum.as_primitive::<Decimal128Type>(),
            squares.as_primitive::<Decimal256Type>(),
        )),
        _ => None,
    };
    columns.into_iter().flat_map(|(count, sum, squares)| {
        let sums = sum.values().iter().zip(squares.values());
        count.values().iter().zip(sums).map(|(count, (sum, squares))| Sums {
            count: *count,
            sum: *sum,
            squares: *squares,
        })
    })
}

/// The columns of a state, see [`STATE`].
pub(in crate::engine) fn state_arrays(sums: impl Iterator<Item = Sums> + Clone) -> Result<Vec<ArrayRef>> {
    let count = UInt64Array::from_iter_values(sums.clone().map(|s| s.count));
    let sum = Decimal128Array::from_iter_values(sums.clone().map(|s| s.sum));
    let squares = Decimal256Array::from_iter_values(sums.map(|s| s.squares));
    Ok(vec![
        Arc::new(count),
        Arc::new(sum.with_precision_and_scale(38, 0)?),
        Arc::new(squares.with_precision_and_scale(76, 0)?),
    ])
}
