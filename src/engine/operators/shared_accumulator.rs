//! One accumulator for several aggregate functions of the same integers: count, minimum, maximum, sum,
//! average and standard deviation, by group, in one pass. Its states are those of the functions of
//! DataFusion, whose second stage consumes them. Not for other types, and not for a function that is alone
//! with its argument.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, Decimal128Array, Float64Array, Int64Array, RecordBatch, UInt64Array,
};
use arrow::datatypes::{DataType, Int64Type, Schema};
use datafusion::common::{Result, internal_err};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::aggregate::AggregateFunctionExpr;
use datafusion::physical_expr::expressions::CastExpr;
use datafusion::physical_expr_common::physical_expr::is_volatile;

use crate::engine::functions::SUM_STATE;
use crate::engine::functions::exact_sums::{self, Sums};

/// Minimum number of functions with the same argument: fewer are faster each alone (measured).
pub(super) const MIN_FUNCTIONS: usize = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SharedFunction {
    Count,
    Min,
    Max,
    Sum,
    Avg,
    Stddev,
}

impl SharedFunction {
    /// The function of `expr` and its argument; `None` if they do not qualify.
    pub fn of(expr: &AggregateFunctionExpr, input: &Schema) -> Option<(Self, Arc<dyn PhysicalExpr>)> {
        let function = match expr.fun().name() {
            "count" => Self::Count,
            "min" => Self::Min,
            "max" => Self::Max,
            "sum" => Self::Sum,
            "avg" => Self::Avg,
            "stddev" => Self::Stddev,
            _ => return None,
        };
        let mut numbers = <[_; 1]>::try_from(expr.expressions()).ok()?.into_iter().next()?;
        if function == Self::Avg {
            // DataFusion averages floating-point numbers. Integers that were cast to them are summed exactly.
            let cast = numbers.downcast_ref::<CastExpr>().filter(|c| c.cast_type() == &DataType::Float64)?;
            numbers = Arc::clone(cast.expr());
        }
        let is_whole = numbers.data_type(input).is_ok_and(|ty| ty == DataType::Int64);
        let states = expr.state_fields().ok()?;
        let has_states = states.iter().map(|f| f.data_type()).eq(&function.states());
        // A volatile argument has different values for each function.
        let is_shared = !expr.is_distinct() && !is_volatile(&numbers);
        (is_whole && has_states && is_shared).then_some((function, numbers))
    }

    /// The types of the state between the two stages.
    fn states(self) -> Vec<DataType> {
        match self {
            Self::Count | Self::Min | Self::Max => vec![DataType::Int64],
            Self::Sum => vec![SUM_STATE],
            Self::Avg => vec![DataType::UInt64, DataType::Float64],
            Self::Stddev => exact_sums::STATE.map(|(_, ty)| ty).into(),
        }
    }
}

/// What all functions need to know of the numbers of each group.
#[derive(Debug)]
pub(super) struct SharedAccumulator {
    numbers: Arc<dyn PhysicalExpr>,
    groups: Vec<Group>,
}

#[derive(Debug, Clone, Copy)]
struct Group {
    sums: Sums,
    least: i64,
    greatest: i64,
}

/// Without numbers.
impl Default for Group {
    fn default() -> Self {
        Self { sums: Sums::default(), least: i64::MAX, greatest: i64::MIN }
    }
}

impl Group {
    #[inline(always)]
    fn add(&mut self, number: i64) {
        self.sums.add(number);
        self.least = self.least.min(number);
        self.greatest = self.greatest.max(number);
    }
}

impl SharedAccumulator {
    pub fn new(numbers: Arc<dyn PhysicalExpr>) -> Self {
        Self { numbers, groups: Vec::new() }
    }

    /// Whether it accumulates these numbers.
    pub fn is_of(&self, numbers: &Arc<dyn PhysicalExpr>) -> bool {
        &self.numbers == numbers
    }

    /// Adds the rows of a batch, each to its group; `total` is greater than every group.
    pub fn add(&mut self, batch: &RecordBatch, groups: &[usize], total: usize) -> Result<()> {
        let numbers = self.numbers.evaluate(batch)?.into_array(batch.num_rows())?;
        let Some(numbers) = numbers.as_primitive_opt::<Int64Type>() else {
            return internal_err!("shared accumulators are of integers");
        };
        self.groups.resize(total, Group::default());
        let rows = groups.iter().zip(numbers.values());
        let mut add = |group: &usize, number: &i64| {
            if let Some(group) = self.groups.get_mut(*group) {
                group.add(*number);
            }
        };
        match numbers.nulls().filter(|nulls| nulls.null_count() > 0) {
            None => rows.for_each(|(group, number)| add(group, number)),
            Some(nulls) => {
                rows.zip(nulls).filter(|(_, is)| *is).for_each(|((group, number), _)| add(group, number))
            }
        }
        Ok(())
    }

    /// The columns of a state with a row for each group.
    pub fn states(&self, function: SharedFunction) -> Result<Vec<ArrayRef>> {
        let sums = self.groups.iter().map(|group| group.sums);
        // Without numbers, the state is NULL, and the count 0.
        let whole = |of: fn(&Group) -> i64| -> Vec<ArrayRef> {
            vec![Arc::new(
                self.groups.iter().map(|g| (g.sums.count > 0).then(|| of(g))).collect::<Int64Array>(),
            )]
        };
        Ok(match function {
            SharedFunction::Count => {
                vec![Arc::new(Int64Array::from_iter_values(sums.map(|s| s.count as i64)))]
            }
            SharedFunction::Min => whole(|group| group.least),
            SharedFunction::Max => whole(|group| group.greatest),
            SharedFunction::Sum => {
                let counted = sums.map(|s| (s.count > 0).then_some(s.sum));
                vec![Arc::new(counted.collect::<Decimal128Array>().with_data_type(SUM_STATE))]
            }
            SharedFunction::Avg => {
                let counted = sums.map(|s| (s.count > 0).then_some(s));
                vec![
                    Arc::new(counted.clone().map(|s| s.map(|s| s.count)).collect::<UInt64Array>()),
                    Arc::new(counted.map(|s| s.map(|s| s.sum as f64)).collect::<Float64Array>()),
                ]
            }
            SharedFunction::Stddev => exact_sums::state_arrays(sums)?,
        })
    }

    pub fn size(&self) -> usize {
        self.groups.capacity() * size_of::<Group>()
    }
}
