//! What the windows of one operator have in common: keys, order, assumptions on it. Not their functions.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch};
use arrow::datatypes::{DataType, Int64Type};
use datafusion::common::{Result, internal_err};
use datafusion::physical_expr::window::WindowExpr;
use datafusion::physical_expr::{LexOrdering, PhysicalExpr, PhysicalSortExpr};
use datafusion::physical_plan::ExecutionPlan;

use super::key_interner::KeyInterner;
use super::key_order::CHECKABLE;
use super::window_function::{WindowFunction, WindowFunctionKind};

/// Windows with the same keys and the same order.
#[derive(Debug, Clone)]
pub(in crate::engine) struct WindowSpec {
    pub names: Vec<String>,
    pub functions: Vec<WindowFunction>,
    /// The names in PARTITION BY.
    pub keys: Vec<Arc<dyn PhysicalExpr>>,
    pub order: LexOrdering,
    /// The first column of the order is part of PARTITION BY as well: the number of an instance.
    pub split_by_first: bool,
    /// The rows of each key are assumed to be in order, though the rows as a whole are not; otherwise the
    /// statement fails with [`OutOfOrder`](super::OutOfOrder).
    pub order_assumed: bool,
    /// The input is in the right order, whatever its plan says.
    pub order_guaranteed: bool,
}

impl WindowSpec {
    /// The windows of a window operator of the engine; `None` if one pass is not enough for them.
    pub fn of(exprs: &[Arc<dyn WindowExpr>], input: &Arc<dyn ExecutionPlan>) -> Result<Option<Self>> {
        let Some(first) = exprs.first() else { return Ok(None) };
        let (mut keys, mut parts) = (Vec::new(), Vec::new());
        for key in first.partition_by() {
            match key.data_type(&input.schema())? {
                DataType::Utf8View => keys.push(Arc::clone(key)),
                DataType::Int64 => parts.push(PhysicalSortExpr::new(Arc::clone(key), CHECKABLE)),
                _ => return Ok(None),
            }
        }
        let same = exprs
            .iter()
            .all(|e| e.partition_by() == first.partition_by() && e.order_by() == first.order_by());
        let order = LexOrdering::new(parts.iter().chain(first.order_by()).cloned());
        let functions = exprs.iter().map(WindowFunction::of).collect::<Option<Vec<_>>>();
        let (true, 0..=1, Some(order), Some(functions)) = (same, parts.len(), order, functions) else {
            return Ok(None);
        };
        if !parts.is_empty() && functions.iter().any(|f| f.kind == WindowFunctionKind::Lead) {
            return Ok(None);
        }
        let names = exprs.iter().map(|e| e.name().to_owned()).collect();
        Ok(Some(Self {
            names,
            functions,
            keys,
            order,
            split_by_first: !parts.is_empty(),
            order_assumed: false,
            order_guaranteed: false,
        }))
    }

    /// Whether anything depends on the order of rows during execution.
    pub fn look_at_order(&self) -> bool {
        self.order_assumed || self.functions.iter().any(|f| f.peers)
    }

    /// Whether it can be checked during execution that the rows of a key are in order.
    pub fn can_be_checked(&self, input: &Arc<dyn ExecutionPlan>) -> Result<bool> {
        for term in &self.order {
            if term.options != CHECKABLE || term.expr.data_type(&input.schema())? != DataType::Int64 {
                return Ok(false);
            }
        }
        // Equal rows of a key may have rows of other keys between them.
        Ok(self.functions.iter().all(|f| !f.peers))
    }

    /// The key id of every row, and the number of keys so far.
    pub fn keys_of(&self, batch: &RecordBatch, numbers: &KeyInterner) -> Result<(Vec<u32>, usize)> {
        let rows = batch.num_rows();
        let names = self.keys.iter().map(|k| k.evaluate(batch)?.into_array(rows));
        let names = names.collect::<Result<Vec<_>>>()?;
        Ok(match names.is_empty() {
            true => (vec![0; rows], 1),
            false => (numbers.ids(&names)?, numbers.count()),
        })
    }

    pub fn columns_of_order(&self, batch: &RecordBatch) -> Result<Vec<ArrayRef>> {
        self.order.iter().map(|o| o.expr.evaluate(batch)?.into_array(batch.num_rows())).collect()
    }

    /// The columns of an order that can be checked.
    pub fn order_of(&self, batch: &RecordBatch) -> Result<Vec<Int64Array>> {
        let integers = |column: ArrayRef| match column.as_primitive_opt::<Int64Type>() {
            Some(integers) => Ok(integers.clone()),
            None => internal_err!("an order that is taken for granted is one of integers"),
        };
        self.columns_of_order(batch)?.into_iter().map(integers).collect()
    }
}
