//! `sum` of whole numbers and decimals: added up in a type in which no sum overflows, and refused at the end
//! if the result does not fit. So it never wraps around, and whether it fails depends neither on the order of
//! the rows nor on the number of threads. For other numbers it is the engine's.

use std::fmt;
use std::hash::Hash;
use std::mem::size_of;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, ArrowNativeTypeOp, AsArray, BooleanArray, PrimitiveArray};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, Decimal128Type, Decimal256Type, DecimalType, Field, FieldRef, Int64Type,
    UInt64Type, i256,
};
use datafusion::common::utils::SingleRowListArrayBuilder;
use datafusion::common::{HashMap, internal_err};
use datafusion::error::Result;
use datafusion::functions_aggregate::sum::sum_udaf;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::{AggregateOrderSensitivity, format_state_name};
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, Documentation, EmitTo, GroupsAccumulator, ReversedUDAF,
    SetMonotonicity, Signature,
};
use datafusion::scalar::ScalarValue;

use super::checked::Overflow;

/// The type of the sum of whole numbers between the two stages of an aggregation.
pub(in crate::engine) const STATE: DataType = DataType::Decimal128(38, 0);

#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Sum {
    engine: Arc<AggregateUDF>,
}

impl Sum {
    pub(super) fn new() -> Self {
        Self { engine: sum_udaf() }
    }
}

/// Numbers whose sum is made in a wider type.
trait Summed: ArrowPrimitiveType<Native: Hash + Eq> + fmt::Debug {
    /// Its numbers are wide enough for 2⁶⁴ of the others.
    type Wide: ArrowPrimitiveType;

    fn widen(number: Self::Native) -> Wide<Self>;

    /// `None` if it does not fit into `ty`.
    fn narrow(sum: Wide<Self>, ty: &DataType) -> Option<Self::Native>;

    /// The sum of a batch without NULL.
    fn total(numbers: &[Self::Native]) -> Wide<Self> {
        numbers.iter().fold(Wide::<Self>::default(), |sum, number| sum.add_wrapping(Self::widen(*number)))
    }
}

type Wide<T> = <<T as Summed>::Wide as ArrowPrimitiveType>::Native;

impl Summed for Int64Type {
    type Wide = Decimal128Type;

    #[inline(always)]
    fn widen(number: i64) -> i128 {
        number.into()
    }

    fn narrow(sum: i128, _: &DataType) -> Option<i64> {
        sum.try_into().ok()
    }

    /// The upper and the lower halves are added apart, several rows at once; neither sum can overflow.
    fn total(numbers: &[i64]) -> i128 {
        let of = |numbers: &[i64]| {
            let (mut upper, mut lower) = (0, 0);
            for number in numbers {
                upper += number >> 32;
                lower += number & 0xffff_ffff;
            }
            (i128::from(upper) << 32) + i128::from(lower)
        };
        numbers.chunks(1 << 30).map(of).sum()
    }
}

impl Summed for UInt64Type {
    type Wide = Decimal128Type;

    #[inline(always)]
    fn widen(number: u64) -> i128 {
        number.into()
    }

    fn narrow(sum: i128, _: &DataType) -> Option<u64> {
        sum.try_into().ok()
    }
}

impl Summed for Decimal128Type {
    type Wide = Decimal256Type;

    #[inline(always)]
    fn widen(number: i128) -> i256 {
        i256::from_i128(number)
    }

    fn narrow(sum: i256, ty: &DataType) -> Option<i128> {
        let DataType::Decimal128(precision, _) = ty else { return None };
        sum.to_i128().filter(|sum| Self::is_valid_decimal_precision(*sum, *precision))
    }
}

/// The type of the state for numbers of a type; `None` if the engine adds them.
fn wide(ty: &DataType) -> Option<DataType> {
    match ty {
        DataType::Int64 | DataType::UInt64 => Some(STATE),
        DataType::Decimal128(_, scale) => Some(DataType::Decimal256(76, *scale)),
        _ => None,
    }
}

/// What the accumulators of a sum have in common.
#[derive(Debug, Clone)]
struct Of {
    /// The call, for errors.
    name: String,
    ty: DataType,
    state: DataType,
}

impl Of {
    fn narrow<T: Summed>(&self, sum: Wide<T>) -> Result<T::Native> {
        let failed = || Overflow { expression: self.name.clone(), ty: self.ty.clone(), numbers: None }.into();
        T::narrow(sum, &self.ty).ok_or_else(failed)
    }

    fn result<T: Summed>(&self, sum: Option<Wide<T>>) -> Result<ScalarValue> {
        ScalarValue::new_primitive::<T>(sum.map(|sum| self.narrow::<T>(sum)).transpose()?, &self.ty)
    }
}

/// Calls a function for the type of the numbers, if this file adds them.
macro_rules! with_type {
    ($args:ident, $make:ident) => {
        match wide($args.return_type()) {
            Some(state) => {
                let of = Of { name: $args.name.to_owned(), ty: $args.return_type().clone(), state };
                match $args.return_type() {
                    DataType::Int64 => Some($make::<Int64Type>(of)),
                    DataType::UInt64 => Some($make::<UInt64Type>(of)),
                    _ => Some($make::<Decimal128Type>(of)),
                }
            }
            None => None,
        }
    };
}

fn total<T: Summed>(of: Of) -> Box<dyn Accumulator> {
    Box::new(Total::<T> { of, sum: Wide::<T>::default(), count: 0 })
}

fn distinct<T: Summed>(of: Of) -> Box<dyn Accumulator> {
    Box::new(Distinct::<T> { of, sum: Wide::<T>::default(), rows: HashMap::new() })
}

fn totals<T: Summed>(of: Of) -> Box<dyn GroupsAccumulator> {
    Box::new(Totals::<T> { of, sums: Vec::new(), rest: HashMap::new(), seen: None })
}

impl AggregateUDFImpl for Sum {
    fn name(&self) -> &str {
        self.engine.name()
    }

    fn signature(&self) -> &Signature {
        self.engine.signature()
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        self.engine.return_type(types)
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        match wide(args.return_type()) {
            Some(state) if !args.is_distinct => {
                Ok(vec![Arc::new(Field::new(format_state_name(args.name, "sum"), state, true))])
            }
            _ => self.engine.state_fields(args),
        }
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let found = match args.is_distinct {
            true => with_type!(args, distinct),
            false => with_type!(args, total),
        };
        found.map_or_else(|| self.engine.accumulator(args), Ok)
    }

    fn create_sliding_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let found = match args.is_distinct {
            true => with_type!(args, distinct),
            false => with_type!(args, total),
        };
        found.map_or_else(|| self.engine.create_sliding_accumulator(args), Ok)
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs<'_>) -> bool {
        !args.is_distinct
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn GroupsAccumulator>> {
        with_type!(args, totals).map_or_else(|| self.engine.create_groups_accumulator(args), Ok)
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::Identical
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::Insensitive
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.engine.documentation()
    }

    fn set_monotonicity(&self, ty: &DataType) -> SetMonotonicity {
        self.engine.inner().set_monotonicity(ty)
    }
}

/// The numbers of a column with their rows, without NULL.
fn numbers<T: ArrowPrimitiveType>(values: &[ArrayRef]) -> Result<&PrimitiveArray<T>> {
    match values.first().and_then(|array| array.as_primitive_opt::<T>()) {
        Some(column) => Ok(column),
        None => internal_err!("a sum is of one column of {}", T::DATA_TYPE),
    }
}

/// A sum over all rows, or over the rows of a frame.
#[derive(Debug)]
struct Total<T: Summed> {
    of: Of,
    sum: Wide<T>,
    /// Rows that are not NULL.
    count: u64,
}

impl<T: Summed> Total<T> {
    fn of_batch(column: &PrimitiveArray<T>) -> Wide<T> {
        if column.null_count() == 0 {
            return T::total(column.values());
        }
        let there = column.iter().flatten();
        there.fold(Wide::<T>::default(), |sum, number| sum.add_wrapping(T::widen(number)))
    }
}

impl<T: Summed> Accumulator for Total<T> {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let column = numbers::<T>(values)?;
        self.sum = self.sum.add_wrapping(Self::of_batch(column));
        self.count += (column.len() - column.null_count()) as u64;
        Ok(())
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let column = numbers::<T>(values)?;
        self.sum = self.sum.sub_wrapping(Self::of_batch(column));
        self.count -= (column.len() - column.null_count()) as u64;
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        for sum in numbers::<T::Wide>(states)?.iter().flatten() {
            self.sum = self.sum.add_wrapping(sum);
            self.count += 1;
        }
        Ok(())
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let sum = (self.count > 0).then_some(self.sum);
        Ok(vec![ScalarValue::new_primitive::<T::Wide>(sum, &self.of.state)?])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        self.of.result::<T>((self.count > 0).then_some(self.sum))
    }

    fn size(&self) -> usize {
        size_of::<Self>() + self.of.name.capacity()
    }
}

/// A sum of different numbers, over all rows or over the rows of a frame.
#[derive(Debug)]
struct Distinct<T: Summed> {
    of: Of,
    sum: Wide<T>,
    /// How many rows have a number.
    rows: HashMap<T::Native, u64>,
}

impl<T: Summed> Distinct<T> {
    fn add(&mut self, column: &PrimitiveArray<T>) {
        for number in column.iter().flatten() {
            let rows = self.rows.entry(number).or_insert(0);
            if *rows == 0 {
                self.sum = self.sum.add_wrapping(T::widen(number));
            }
            *rows += 1;
        }
    }
}

impl<T: Summed> Accumulator for Distinct<T> {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.add(numbers::<T>(values)?);
        Ok(())
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        for number in numbers::<T>(values)?.iter().flatten() {
            let Some(rows) = self.rows.get_mut(&number) else { continue };
            *rows -= 1;
            if *rows == 0 {
                self.rows.remove(&number);
                self.sum = self.sum.sub_wrapping(T::widen(number));
            }
        }
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let Some(lists) = states.first().and_then(|array| array.as_list_opt::<i32>()) else {
            return internal_err!("the state of a sum of different numbers is a list");
        };
        for list in lists.iter().flatten() {
            self.add(numbers::<T>(&[list])?);
        }
        Ok(())
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let all = PrimitiveArray::<T>::from_iter_values(self.rows.keys().copied());
        let all = all.with_data_type(self.of.ty.clone());
        Ok(vec![SingleRowListArrayBuilder::new(Arc::new(all)).build_list_scalar()])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        self.of.result::<T>((!self.rows.is_empty()).then_some(self.sum))
    }

    fn size(&self) -> usize {
        size_of::<Self>() + self.rows.capacity() * size_of::<(T::Native, u64)>() + self.of.name.capacity()
    }
}

/// The sums of groups: in the type of the numbers as long as they fit, which takes half the time of a wider
/// one.
#[derive(Debug)]
struct Totals<T: Summed> {
    of: Of,
    sums: Vec<T::Native>,
    /// What did not fit, by group.
    rest: HashMap<usize, Wide<T>>,
    /// Whether a group has a number; `None`: every one has.
    seen: Option<Vec<bool>>,
}

impl<T: Summed> Totals<T> {
    /// From now on, some groups may have no number.
    fn resize(&mut self, total: usize, all: bool) {
        if !all && self.seen.is_none() {
            self.seen = Some(vec![true; self.sums.len()]);
        }
        self.sums.resize(total, T::Native::default());
        if let Some(seen) = &mut self.seen {
            seen.resize(total, false);
        }
    }

    #[inline(always)]
    fn add(&mut self, group: usize, number: T::Native) {
        let Some(sum) = self.sums.get_mut(group) else { return };
        match sum.add_checked(number) {
            Ok(more) => *sum = more,
            Err(_) => {
                let both = T::widen(*sum).add_wrapping(T::widen(number));
                *sum = T::Native::default();
                self.add_rest(group, both);
            }
        }
    }

    #[cold]
    fn add_rest(&mut self, group: usize, sum: Wide<T>) {
        let rest = self.rest.entry(group).or_default();
        *rest = rest.add_wrapping(sum);
    }

    fn see(&mut self, group: usize) {
        if let Some(seen) = self.seen.as_mut().and_then(|seen| seen.get_mut(group)) {
            *seen = true;
        }
    }

    fn take(&mut self, emit: EmitTo) -> impl Iterator<Item = Option<Wide<T>>> + use<T> {
        let sums = emit.take_needed(&mut self.sums);
        let seen = self.seen.as_mut().map(|seen| emit.take_needed(seen));
        let count = sums.len();
        let (mut rest, later): (HashMap<_, _>, HashMap<_, _>) =
            std::mem::take(&mut self.rest).into_iter().partition(|(group, _)| *group < count);
        self.rest = later.into_iter().map(|(group, sum)| (group - count, sum)).collect();
        sums.into_iter().enumerate().map(move |(group, sum)| {
            let there = seen.as_ref().is_none_or(|seen| seen.get(group).is_some_and(|seen| *seen));
            there.then(|| match rest.remove(&group) {
                Some(rest) => rest.add_wrapping(T::widen(sum)),
                None => T::widen(sum),
            })
        })
    }

    fn states(&self, sums: impl Iterator<Item = Option<Wide<T>>>) -> Vec<ArrayRef> {
        let states = sums.collect::<PrimitiveArray<T::Wide>>();
        vec![Arc::new(states.with_data_type(self.of.state.clone()))]
    }
}

fn passes(filter: Option<&BooleanArray>, row: usize) -> bool {
    filter.is_none_or(|filter| filter.is_valid(row) && filter.value(row))
}

impl<T: Summed> GroupsAccumulator for Totals<T> {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        groups: &[usize],
        filter: Option<&BooleanArray>,
        total: usize,
    ) -> Result<()> {
        let column = numbers::<T>(values)?;
        let all = column.null_count() == 0 && filter.is_none();
        self.resize(total, all);
        if all && self.seen.is_none() {
            groups.iter().zip(column.values()).for_each(|(group, number)| self.add(*group, *number));
            return Ok(());
        }
        for (row, (group, number)) in groups.iter().zip(column).enumerate() {
            if let Some(number) = number.filter(|_| passes(filter, row)) {
                self.see(*group);
                self.add(*group, number);
            }
        }
        Ok(())
    }

    fn merge_batch(&mut self, states: &[ArrayRef], groups: &[usize], total: usize) -> Result<()> {
        let sums = numbers::<T::Wide>(states)?;
        self.resize(total, sums.null_count() == 0);
        for (group, sum) in groups.iter().zip(sums) {
            let Some(sum) = sum else { continue };
            self.see(*group);
            match T::narrow(sum, &self.of.ty) {
                Some(number) => self.add(*group, number),
                None => self.add_rest(*group, sum),
            }
        }
        Ok(())
    }

    fn evaluate(&mut self, emit: EmitTo) -> Result<ArrayRef> {
        let sums = self.take(emit).map(|sum| sum.map(|sum| self.of.narrow::<T>(sum)).transpose());
        let sums = sums.collect::<Result<PrimitiveArray<T>>>()?;
        Ok(Arc::new(sums.with_data_type(self.of.ty.clone())))
    }

    fn state(&mut self, emit: EmitTo) -> Result<Vec<ArrayRef>> {
        let sums = self.take(emit);
        Ok(self.states(sums))
    }

    fn convert_to_state(&self, values: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        let rows = numbers::<T>(values)?.iter().enumerate();
        Ok(self.states(rows.map(|(row, number)| number.filter(|_| passes(filter, row)).map(T::widen))))
    }

    fn size(&self) -> usize {
        let rest = self.rest.capacity() * size_of::<(usize, Wide<T>)>();
        self.sums.capacity() * size_of::<T::Native>() + self.seen.as_ref().map_or(0, Vec::capacity) + rest
    }
}
