//! Window functions that need one row of each key: `lag`, `lead`, `first_value`, `last_value`, `row_number`.
//! What such a function is, and its state during execution. Not for frames with other bounds.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, AsArray, PrimitiveArray, UInt32Array, UInt64Array,
    downcast_primitive_array, new_empty_array,
};
use arrow::buffer::NullBuffer;
use arrow::compute::{concat, take};
use arrow::datatypes::DataType;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{WindowFrameBound, WindowFrameUnits};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Literal;
use datafusion::physical_expr::window::{StandardWindowExpr, WindowExpr};
use datafusion::physical_plan::windows::WindowUDFExpr;

pub(super) const NONE: u32 = u32::MAX;

/// Which row of its key a function shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine) enum WindowFunctionKind {
    Lag,
    Lead,
    First,
    /// The last one up to here.
    Last,
    /// None: the number of the row, from 1.
    RowNumber,
}

#[derive(Debug, Clone)]
pub(in crate::engine) struct WindowFunction {
    pub kind: WindowFunctionKind,
    /// The value of the row to show; `None` for [`WindowFunctionKind::RowNumber`].
    pub argument: Option<Arc<dyn PhysicalExpr>>,
    pub ignore_nulls: bool,
    /// Rows that are equal in the order count as "up to here" too.
    pub peers: bool,
}

impl WindowFunction {
    /// The function of a window expression of the engine, if it is one of these.
    pub fn of(expr: &Arc<dyn WindowExpr>) -> Option<Self> {
        let standard = expr.as_any().downcast_ref::<StandardWindowExpr>()?;
        let function = standard.get_standard_func_expr().as_any().downcast_ref::<WindowUDFExpr>()?;
        let kind = match function.fun().name() {
            "lag" => WindowFunctionKind::Lag,
            "lead" => WindowFunctionKind::Lead,
            "first_value" => WindowFunctionKind::First,
            "last_value" => WindowFunctionKind::Last,
            "row_number" => WindowFunctionKind::RowNumber,
            _ => return None,
        };
        let argument = function.args().first().map(Arc::clone);
        let is_one = |e: &Arc<dyn PhysicalExpr>| {
            e.downcast_ref::<Literal>().is_some_and(|l| *l.value() == ScalarValue::Int64(Some(1)))
        };
        // An offset other than one row, or a default.
        let plain = match function.args() {
            [] => kind == WindowFunctionKind::RowNumber,
            [_] => kind != WindowFunctionKind::RowNumber,
            [_, offset] => {
                matches!(kind, WindowFunctionKind::Lag | WindowFunctionKind::Lead) && is_one(offset)
            }
            _ => false,
        };
        let frame = expr.get_window_frame();
        let framed = matches!(kind, WindowFunctionKind::First | WindowFunctionKind::Last);
        let to_here = matches!(&frame.start_bound, WindowFrameBound::Preceding(n) if n.is_null())
            && matches!(frame.end_bound, WindowFrameBound::CurrentRow);
        let ignore_nulls = match &argument {
            Some(argument) => ignores_nulls(function, kind, argument, expr)?,
            None => false,
        };
        if !plain || (framed && !to_here) || (kind == WindowFunctionKind::Lead && ignore_nulls) {
            return None;
        }
        let peers = framed && frame.units != WindowFrameUnits::Rows;
        Some(Self { kind, argument, ignore_nulls, peers })
    }
}

/// Whether a function skips NULL, which the engine does not say: found out from its result for an example.
fn ignores_nulls(
    function: &WindowUDFExpr,
    kind: WindowFunctionKind,
    argument: &Arc<dyn PhysicalExpr>,
    expr: &Arc<dyn WindowExpr>,
) -> Option<bool> {
    use datafusion::physical_expr::window::StandardWindowFunctionExpr;
    let ty = match argument.downcast_ref::<Literal>() {
        Some(literal) => literal.value().data_type(),
        None => expr.field().ok()?.data_type().clone(),
    };
    if has_map(&ty) {
        return None;
    }
    let (null, value) = (ScalarValue::try_from(&ty).ok()?, ScalarValue::new_default(&ty).ok()?);
    let example = |values: [&ScalarValue; 3]| ScalarValue::iter_to_array(values.into_iter().cloned()).ok();
    let mut evaluator = function.create_evaluator().ok()?;
    let ends = match kind {
        WindowFunctionKind::First => {
            evaluator.evaluate(&[example([&null, &value, &value])?], &(0..3)).ok()?
        }
        WindowFunctionKind::Last => evaluator.evaluate(&[example([&value, &value, &null])?], &(0..3)).ok()?,
        WindowFunctionKind::Lag => {
            let all = evaluator.evaluate_all(&[example([&value, &null, &null])?], 3).ok()?;
            ScalarValue::try_from_array(&all, 2).ok()?
        }
        WindowFunctionKind::Lead => {
            let all = evaluator.evaluate_all(&[example([&null, &null, &value])?], 3).ok()?;
            ScalarValue::try_from_array(&all, 0).ok()?
        }
        WindowFunctionKind::RowNumber => return Some(false),
    };
    Some(!ends.is_null())
}

/// Whether a type has a map in it, of which the engine has no example: it panics.
fn has_map(ty: &DataType) -> bool {
    match ty {
        DataType::Map(..) => true,
        DataType::Dictionary(_, values) => has_map(values),
        DataType::Struct(fields) => fields.iter().any(|field| has_map(field.data_type())),
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::ListView(field)
        | DataType::LargeListView(field)
        | DataType::FixedSizeList(field, _) => has_map(field.data_type()),
        _ => false,
    }
}

/// The row of every key that a function will show.
#[derive(Debug)]
pub(super) struct WindowState {
    /// The values of these rows.
    carried: ArrayRef,
    /// By key, the index in `carried`, or [`NONE`].
    slots: Vec<u32>,
    /// By key, the number of rows.
    counts: Vec<u64>,
}

impl WindowState {
    pub fn new(ty: &DataType) -> Self {
        Self { carried: new_empty_array(ty), slots: Vec::new(), counts: Vec::new() }
    }

    /// Numbers the rows of each of `count` keys; `keys` has the key of every row. Numbers start again at rows
    /// that are `fresh` (empty: no row is).
    pub fn number(&mut self, keys: &[u32], count: usize, fresh: &[bool]) -> ArrayRef {
        self.counts.resize(count, 0);
        let number = |(row, key): (usize, &u32)| {
            self.counts.get_mut(*key as usize).map_or(0, |n| {
                *n = if fresh.get(row) == Some(&true) { 1 } else { *n + 1 };
                *n
            })
        };
        Arc::new(keys.iter().enumerate().map(number).collect::<UInt64Array>())
    }

    /// The values of the function for the next rows: `keys` has the key of every row, out of `count` keys,
    /// `values` that of its argument, `peers` the runs of rows that are equal in the order. A `fresh` row has
    /// no predecessor.
    pub fn follow(
        &mut self,
        function: &WindowFunction,
        keys: &[u32],
        count: usize,
        values: &ArrayRef,
        peers: &[Range<usize>],
        fresh: &[bool],
    ) -> Result<ArrayRef> {
        self.slots.resize(count, NONE);
        let fills = function.kind == WindowFunctionKind::Last && function.ignore_nulls && !function.peers;
        if fills
            && count == 1
            && fresh.is_empty()
            && let Some(filled) = self.filled(values)?
        {
            return Ok(filled);
        }
        let base = self.carried.len() as u32;
        let nulls = values.logical_nulls().filter(|n| function.ignore_nulls && n.null_count() > 0);
        let counts = |row: usize| nulls.as_ref().is_none_or(|n| n.is_valid(row));
        let mut unused = NONE;
        let slots = &mut self.slots;
        let mut step = |row: usize, key: u32| {
            let slot = slots.get_mut(key as usize).unwrap_or(&mut unused);
            if fresh.get(row) == Some(&true) {
                *slot = NONE;
            }
            let before = *slot;
            if (function.kind != WindowFunctionKind::First || before == NONE) && counts(row) {
                *slot = base + row as u32;
            }
            if function.kind == WindowFunctionKind::Lag { before } else { *slot }
        };
        let mut sources: Vec<u32> = keys.iter().enumerate().map(|(row, key)| step(row, *key)).collect();
        if function.peers {
            // The last of a run of equal rows, per key, has seen all of them.
            for run in peers.iter().filter(|r| r.len() > 1) {
                let rows = || keys.get(run.clone()).unwrap_or(&[]).iter();
                let seen: Vec<_> = rows().zip(sources.get(run.clone()).unwrap_or(&[])).collect();
                let last = |key: &u32| seen.iter().rev().find(|(k, _)| *k == key).map_or(NONE, |(_, s)| **s);
                let settled: Vec<u32> = rows().map(last).collect();
                if let Some(range) = sources.get_mut(run.clone()) {
                    range.copy_from_slice(&settled);
                }
            }
        }
        let rows = concat(&[&self.carried, values])?;
        let result = take(&rows, &rows_of(sources), None)?;
        self.carried = carry(&rows, &mut self.slots)?;
        Ok(result)
    }

    /// The last values that are not NULL, if there is one key and they are numbers.
    fn filled(&mut self, values: &ArrayRef) -> Result<Option<ArrayRef>> {
        let before = self.slots.first().filter(|slot| **slot != NONE);
        let before = before.map(|slot| self.carried.slice(*slot as usize, 1));
        let Some(filled) = fill(values, before.as_ref()) else { return Ok(None) };
        let last = filled.len().checked_sub(1).filter(|last| filled.is_valid(*last));
        self.slots = vec![last.map_or(NONE, |last| last as u32)];
        self.carried = carry(&filled, &mut self.slots)?;
        Ok(Some(filled))
    }
}

/// Numbers with every NULL replaced by the value before it, first of all `before`; `None` for other types.
fn fill(values: &ArrayRef, before: Option<&ArrayRef>) -> Option<ArrayRef> {
    fn filled<T: ArrowPrimitiveType>(values: &PrimitiveArray<T>, before: Option<T::Native>) -> ArrayRef {
        let Some(nulls) = values.nulls() else { return Arc::new(values.clone()) };
        let mut rows = Vec::with_capacity(values.len());
        let mut last = before.unwrap_or_default();
        for row in nulls.valid_indices() {
            rows.resize(row, last);
            last = values.value(row);
        }
        rows.resize(values.len(), last);
        let empty = match before {
            Some(_) => 0,
            None => nulls.valid_indices().next().unwrap_or(values.len()),
        };
        let nulls = (empty > 0).then(|| NullBuffer::from_iter((0..values.len()).map(|row| row >= empty)));
        Arc::new(PrimitiveArray::<T>::new(rows.into(), nulls).with_data_type(values.data_type().clone()))
    }
    downcast_primitive_array! {
        values => Some(filled(values, before.and_then(|b| first_of(values, b)))),
        _ => None,
    }
}

/// The value of an array of one row, in the type of `like`.
fn first_of<T: ArrowPrimitiveType>(_: &PrimitiveArray<T>, one: &ArrayRef) -> Option<T::Native> {
    one.as_primitive_opt::<T>().filter(|one| one.is_valid(0)).map(|one| one.value(0))
}

/// Indices of rows, NULL for [`NONE`].
pub(super) fn rows_of(rows: Vec<u32>) -> UInt32Array {
    match rows.contains(&NONE) {
        true => rows.into_iter().map(|r| (r != NONE).then_some(r)).collect(),
        false => rows.into(),
    }
}

/// Only those rows of `rows` that are in `slots`; `slots` then point into the result.
fn carry(rows: &ArrayRef, slots: &mut [u32]) -> Result<ArrayRef> {
    let mut carried = Vec::new();
    for slot in slots.iter_mut().filter(|s| **s != NONE) {
        carried.push(std::mem::replace(slot, carried.len() as u32));
    }
    Ok(compact(take(rows, &UInt32Array::from(carried), None)?))
}

/// The same values without unused text buffers, which would pile up.
pub(super) fn compact(values: ArrayRef) -> ArrayRef {
    match values.as_string_view_opt() {
        Some(views) if !views.data_buffers().is_empty() => Arc::new(views.gc()),
        _ => values,
    }
}
