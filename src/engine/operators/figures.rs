//! What is asked of the same whole numbers, in one pass over them: how many there are, the least, the greatest, their sum, average
//! and deviation, by group. Its states are those of the engine's functions, whose second stage goes on with them. Not for other
//! numbers, and not for functions that share theirs with none.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Float64Array, Int64Array, RecordBatch, UInt64Array};
use arrow::datatypes::{DataType, Int64Type, Schema};
use datafusion::common::{Result, internal_err};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::aggregate::AggregateFunctionExpr;
use datafusion::physical_expr::expressions::CastExpr;
use datafusion::physical_expr_common::physical_expr::is_volatile;

use crate::engine::functions::exact_sums::{self, Sums};

/// As many functions must be of the same numbers: fewer are faster each alone.
pub(super) const ENOUGH: usize = 3;

/// A function that figures answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Question {
    Count,
    Least,
    Greatest,
    Sum,
    Average,
    Deviation,
}

impl Question {
    /// What `function` asks, and of which numbers; `None` if they do not say that.
    pub fn of(function: &AggregateFunctionExpr, input: &Schema) -> Option<(Self, Arc<dyn PhysicalExpr>)> {
        let question = match function.fun().name() {
            "count" => Self::Count,
            "min" => Self::Least,
            "max" => Self::Greatest,
            "sum" => Self::Sum,
            "avg" => Self::Average,
            "stddev" => Self::Deviation,
            _ => return None,
        };
        let mut numbers = <[_; 1]>::try_from(function.expressions()).ok()?.into_iter().next()?;
        if question == Self::Average {
            // The engine wants the average of floating-point numbers; whole ones that were made such are summed as what they were.
            let cast = numbers.downcast_ref::<CastExpr>().filter(|c| c.cast_type() == &DataType::Float64)?;
            numbers = Arc::clone(cast.expr());
        }
        let is_whole = numbers.data_type(input).is_ok_and(|ty| ty == DataType::Int64);
        let states = function.state_fields().ok()?;
        let is_known = states.iter().map(|f| f.data_type()).eq(&question.states());
        // What is different each time it is asked for is not shared.
        let is_shared = !function.is_distinct() && !is_volatile(&numbers);
        (is_whole && is_known && is_shared).then_some((question, numbers))
    }

    /// The types of what the first stage hands on.
    fn states(self) -> Vec<DataType> {
        match self {
            Self::Count | Self::Least | Self::Greatest | Self::Sum => vec![DataType::Int64],
            Self::Average => vec![DataType::UInt64, DataType::Float64],
            Self::Deviation => exact_sums::STATE.map(|(_, ty)| ty).into(),
        }
    }
}

/// What is known of the numbers of each group.
#[derive(Debug)]
pub(super) struct Figures {
    numbers: Arc<dyn PhysicalExpr>,
    groups: Vec<Group>,
}

#[derive(Debug, Clone, Copy)]
struct Group {
    sums: Sums,
    least: i64,
    greatest: i64,
}

/// Of no numbers.
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

impl Figures {
    pub fn new(numbers: Arc<dyn PhysicalExpr>) -> Self {
        Self { numbers, groups: Vec::new() }
    }

    /// Whether it is of these numbers.
    pub fn is_of(&self, numbers: &Arc<dyn PhysicalExpr>) -> bool {
        &self.numbers == numbers
    }

    /// Adds the rows of a batch, each to its group; `total` is more than any of them.
    pub fn add(&mut self, batch: &RecordBatch, groups: &[u32], total: usize) -> Result<()> {
        let numbers = self.numbers.evaluate(batch)?.into_array(batch.num_rows())?;
        let Some(numbers) = numbers.as_primitive_opt::<Int64Type>() else {
            return internal_err!("figures are of whole numbers");
        };
        self.groups.resize(total, Group::default());
        let rows = groups.iter().zip(numbers.values());
        let mut add = |group: &u32, number: &i64| {
            if let Some(group) = self.groups.get_mut(*group as usize) {
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
    ///
    /// # Errors
    /// Those of the engine's types.
    pub fn states(&self, question: Question) -> Result<Vec<ArrayRef>> {
        let sums = self.groups.iter().map(|group| group.sums);
        // Where there were no numbers, nothing is known of them; the number of rows is 0.
        let whole = |of: fn(&Group) -> i64| -> Vec<ArrayRef> {
            vec![Arc::new(
                self.groups.iter().map(|g| (g.sums.count > 0).then(|| of(g))).collect::<Int64Array>(),
            )]
        };
        Ok(match question {
            Question::Count => vec![Arc::new(Int64Array::from_iter_values(sums.map(|s| s.count as i64)))],
            Question::Least => whole(|group| group.least),
            Question::Greatest => whole(|group| group.greatest),
            // As the engine has it, sums that are too large begin again at the other end.
            Question::Sum => whole(|group| group.sums.sum as i64),
            Question::Average => {
                let known = sums.map(|s| (s.count > 0).then_some(s));
                vec![
                    Arc::new(known.clone().map(|s| s.map(|s| s.count)).collect::<UInt64Array>()),
                    Arc::new(known.map(|s| s.map(|s| s.sum as f64)).collect::<Float64Array>()),
                ]
            }
            Question::Deviation => exact_sums::state_arrays(sums)?,
        })
    }

    /// Its memory, in bytes.
    pub fn size(&self) -> usize {
        self.groups.capacity() * size_of::<Group>()
    }
}
