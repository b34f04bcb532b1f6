//! `stddev` of whole numbers, such as times: sums and squares are exact and rounded once at the end, so that
//! the result depends neither on the order of the rows nor on the number of threads, and no row costs a
//! division. For other numbers it is the engine's, and so are `stddev_pop` and the variances.

use std::mem::size_of;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Float64Array};
use arrow::datatypes::{DataType, Field, FieldRef, Int64Type};
use datafusion::error::Result;
use datafusion::functions_aggregate::stddev::stddev_udaf;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::format_state_name;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, Documentation, EmitTo, GroupsAccumulator, Signature,
    Volatility,
};
use datafusion::scalar::ScalarValue;

use crate::engine::functions::exact_sums::{STATE, Sums, state_arrays, states};

#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Stddev {
    engine: Arc<AggregateUDF>,
    signature: Signature,
}

impl Stddev {
    pub(super) fn new() -> Self {
        Self { engine: stddev_udaf(), signature: Signature::user_defined(Volatility::Immutable) }
    }
}

/// Types whose values are all signed 64-bit integers.
fn is_whole(ty: &DataType) -> bool {
    ty.is_signed_integer() || matches!(ty, DataType::UInt8 | DataType::UInt16 | DataType::UInt32)
}

fn plain(ty: &DataType) -> &DataType {
    if let DataType::Dictionary(_, values) = ty { values } else { ty }
}

fn takes_whole(args: &AccumulatorArgs<'_>) -> bool {
    !args.is_distinct && args.expr_fields.first().is_some_and(|field| field.data_type() == &DataType::Int64)
}

impl AggregateUDFImpl for Stddev {
    fn name(&self) -> &str {
        self.engine.name()
    }

    fn aliases(&self) -> &[String] {
        self.engine.aliases()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        let of = |ty: &DataType| if is_whole(ty) { DataType::Int64 } else { DataType::Float64 };
        let types: Vec<_> = types.iter().map(plain).collect();
        match types.as_slice() {
            [ty] if ty.is_numeric() || ty.is_null() => Ok(vec![of(ty)]),
            [ty] => datafusion::common::plan_err!("'{}' is of numbers, not of {ty}", self.name()),
            _ => datafusion::common::plan_err!("'{}' is of one column, not of {}", self.name(), types.len()),
        }
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.engine.documentation()
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Float64)
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        if args.input_fields.first().is_none_or(|field| field.data_type() != &DataType::Int64) {
            return self.engine.state_fields(args);
        }
        let field = |name, ty| Arc::new(Field::new(format_state_name(args.name, name), ty, true));
        Ok(STATE.map(|(name, ty)| field(name, ty)).into())
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        if takes_whole(&args) { Ok(Box::new(Sums::default())) } else { self.engine.accumulator(args) }
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs<'_>) -> bool {
        !args.is_distinct
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn GroupsAccumulator>> {
        if takes_whole(&args) {
            return Ok(Box::new(Groups::default()));
        }
        self.engine.create_groups_accumulator(args)
    }
}

/// The numbers of a column with their rows, without NULL.
fn numbers(values: &[ArrayRef]) -> impl Iterator<Item = (usize, i64)> {
    let column = values.first().and_then(|array| array.as_primitive_opt::<Int64Type>());
    column.into_iter().flat_map(|column| column.iter().enumerate().filter_map(|(row, n)| Some((row, n?))))
}

impl Accumulator for Sums {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        numbers(values).for_each(|(_, number)| self.add(number));
        Ok(())
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        numbers(values).for_each(|(_, number)| self.remove(number));
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn merge_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        states(values).for_each(|other| self.with(other));
        Ok(())
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        state_arrays(std::iter::once(*self))?
            .iter()
            .map(|array| ScalarValue::try_from_array(array, 0))
            .collect()
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        Ok(ScalarValue::Float64(self.stddev()))
    }

    fn size(&self) -> usize {
        size_of::<Self>()
    }
}

#[derive(Debug, Default)]
struct Groups {
    sums: Vec<Sums>,
}

impl GroupsAccumulator for Groups {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        groups: &[usize],
        filter: Option<&BooleanArray>,
        total: usize,
    ) -> Result<()> {
        self.sums.resize(total, Sums::default());
        let mut add = |group: usize, number: i64| {
            if let Some(sums) = self.sums.get_mut(group) {
                sums.add(number);
            }
        };
        let column = values.first().and_then(|array| array.as_primitive_opt::<Int64Type>());
        match column {
            Some(column) if column.null_count() == 0 && filter.is_none() => {
                groups.iter().zip(column.values()).for_each(|(group, number)| add(*group, *number));
            }
            _ => {
                for (row, number) in numbers(values).filter(|(row, _)| passes(filter, *row)) {
                    groups.get(row).into_iter().for_each(|group| add(*group, number));
                }
            }
        }
        Ok(())
    }

    fn merge_batch(&mut self, values: &[ArrayRef], groups: &[usize], total: usize) -> Result<()> {
        self.sums.resize(total, Sums::default());
        for (group, other) in groups.iter().zip(states(values)) {
            if let Some(sums) = self.sums.get_mut(*group) {
                sums.with(other);
            }
        }
        Ok(())
    }

    fn evaluate(&mut self, emit: EmitTo) -> Result<ArrayRef> {
        let sums = emit.take_needed(&mut self.sums);
        Ok(Arc::new(sums.into_iter().map(Sums::stddev).collect::<Float64Array>()))
    }

    fn state(&mut self, emit: EmitTo) -> Result<Vec<ArrayRef>> {
        state_arrays(emit.take_needed(&mut self.sums).iter().copied())
    }

    fn convert_to_state(&self, values: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        let mut sums = vec![Sums::default(); values.first().map_or(0, Array::len)];
        for (row, number) in numbers(values).filter(|(row, _)| passes(filter, *row)) {
            sums.get_mut(row).into_iter().for_each(|sums| sums.add(number));
        }
        state_arrays(sums.iter().copied())
    }

    fn size(&self) -> usize {
        self.sums.capacity() * size_of::<Sums>()
    }
}

fn passes(filter: Option<&BooleanArray>, row: usize) -> bool {
    filter.is_none_or(|filter| filter.is_valid(row) && filter.value(row))
}

#[cfg(test)]
mod tests {
    use arrow::array::Int64Array;
    use proptest::prelude::*;

    use super::*;

    fn column(numbers: &[Option<i64>]) -> ArrayRef {
        Arc::new(numbers.iter().copied().collect::<Int64Array>())
    }

    /// By its definition, in two passes; `None` for fewer than two.
    fn naive(numbers: &[i64]) -> Option<f64> {
        let n = numbers.len() as f64;
        let mean = numbers.iter().map(|x| *x as f64).sum::<f64>() / n;
        let squares = numbers.iter().map(|x| (*x as f64 - mean).powi(2)).sum::<f64>();
        (numbers.len() > 1).then(|| (squares / (n - 1.0)).sqrt())
    }

    fn assert_near(found: Option<f64>, expected: Option<f64>) {
        let near = match (found, expected) {
            (Some(found), Some(expected)) => (found - expected).abs() <= 1e-9 * expected.abs().max(1.0),
            _ => found == expected,
        };
        assert!(near, "{found:?} in place of {expected:?}");
    }

    #[test]
    fn known_values_and_extremes() {
        let of = |numbers: &[i64]| {
            let mut sums = Sums::default();
            numbers.iter().for_each(|number| sums.add(*number));
            sums.stddev()
        };
        assert_eq!(of(&[2, 4, 4, 4, 5, 5, 7, 9]), Some((32f64 / 7.0).sqrt()));
        assert_eq!((of(&[]), of(&[5]), of(&[5, 5])), (None, None, Some(0.0)));
        // A shift changes nothing, however large: doubles would give 0 here.
        assert_eq!(of(&[i64::MAX - 2, i64::MAX]), Some(2f64.sqrt()));
        assert_near(of(&[i64::MIN, i64::MAX]), Some(2f64.powi(64) / 2f64.sqrt()));
    }

    proptest! {
        #[test]
        fn however_they_are_added(
            rows in prop::collection::vec((prop::option::of(-1_000_000i64..1_000_000), 0usize..3, prop::option::of(any::<bool>())), 0..60),
            cut in 0usize..60, filtered: bool,
        ) {
            let filter: BooleanArray = rows.iter().map(|row| row.2).collect();
            let passes_filter = |row: &&(Option<i64>, usize, Option<bool>)| !filtered || row.2 == Some(true);
            let (mut one, mut halves) = (Groups::default(), [Groups::default(), Groups::default()]);
            let all: Vec<_> = rows.iter().map(|row| row.0).collect();
            let groups: Vec<_> = rows.iter().map(|row| row.1).collect();
            let cut = cut.min(rows.len());
            let filter = |from, length| filtered.then(|| filter.slice(from, length));
            let whole = filter(0, rows.len());
            one.update_batch(&[column(&all)], &groups, whole.as_ref(), 3).unwrap();
            let [front, back] = &mut halves;
            let first = filter(0, cut);
            front.update_batch(&[column(&all[..cut])], &groups[..cut], first.as_ref(), 3).unwrap();
            let rest = filter(cut, rows.len() - cut);
            let states = Groups::default().convert_to_state(&[column(&all[cut..])], rest.as_ref()).unwrap();
            back.merge_batch(&states, &groups[cut..], 3).unwrap();
            let state = back.state(EmitTo::All).unwrap();
            front.merge_batch(&state, &[0, 1, 2], 3).unwrap();
            let found = |groups: &mut Groups| {
                let array = groups.evaluate(EmitTo::All).unwrap();
                array.as_primitive::<arrow::datatypes::Float64Type>().iter().collect::<Vec<_>>()
            };
            let (one, halves) = (found(&mut one), found(front));
            prop_assert_eq!(&one, &halves);
            for (group, found) in one.into_iter().enumerate() {
                let numbers: Vec<i64> =
                    rows.iter().filter(passes_filter).filter(|row| row.1 == group).filter_map(|row| row.0).collect();
                assert_near(found, naive(&numbers));
            }
        }

        #[test]
        fn what_is_taken_away_was_never_there(numbers: Vec<i64>, others: Vec<i64>) {
            let array = |numbers: &[i64]| column(&numbers.iter().copied().map(Some).collect::<Vec<_>>());
            let (mut with, mut without) = (Sums::default(), Sums::default());
            with.update_batch(&[array(&others)]).unwrap();
            with.update_batch(&[array(&numbers)]).unwrap();
            with.retract_batch(&[array(&others)]).unwrap();
            without.update_batch(&[array(&numbers)]).unwrap();
            prop_assert_eq!(with.evaluate().unwrap(), without.evaluate().unwrap());
        }
    }
}
