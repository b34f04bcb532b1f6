//! Turns GROUP BY names into GROUP BY interned ids: one small integer is hashed per row instead of strings.
//! Not for other groups, and not for what is computed of a group.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::array::{AsArray, RecordBatch, UInt32Array};
use arrow::datatypes::{DataType, Schema, UInt32Type};
use datafusion::common::{Result, internal_err};
use datafusion::logical_expr::ColumnarValue;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode, PhysicalGroupBy};
use datafusion::physical_plan::projection::ProjectionExec;

use super::id_aggregate::IdAggregateExec;
use super::key_interner::KeyInterner;

/// The final aggregate `node` over its partial one, with groups by id; `None` if it does not group by names.
pub(in crate::engine) fn rewrite(node: &Arc<dyn ExecutionPlan>) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let Some(last) = node.downcast_ref::<AggregateExec>() else { return Ok(None) };
    let partial = match last.mode() {
        AggregateMode::Single => last,
        AggregateMode::Final | AggregateMode::FinalPartitioned => match last.input().downcast_ref() {
            Some(partial) => partial,
            None => return Ok(None),
        },
        _ => return Ok(None),
    };
    let (groups, input) = (partial.group_expr(), partial.input());
    let is_partial = matches!(partial.mode(), AggregateMode::Partial | AggregateMode::Single);
    let limited = last.limit_options().or(partial.limit_options()).is_some();
    if groups.is_empty() || !groups.is_single() || !is_partial || limited {
        return Ok(None);
    }
    for (expr, _) in groups.expr() {
        if expr.data_type(&input.schema())? != DataType::Utf8View {
            return Ok(None);
        }
    }
    let interner = Arc::new(KeyInterner::default());
    let names: Vec<_> = groups.expr().iter().map(|(expr, _)| Arc::clone(expr)).collect();
    let width = names.len();
    let number: Arc<dyn PhysicalExpr> = Arc::new(KeyId { interner: Arc::clone(&interner), names });
    let aggregate = |mode, group: Arc<dyn PhysicalExpr>, filters: Vec<_>, input| {
        let group = PhysicalGroupBy::new_single(vec![(group, NUMBER.to_owned())]);
        let functions = partial.aggr_expr().to_vec();
        AggregateExec::try_new(mode, group, functions, filters, input, partial.input_schema())
    };
    let filters = partial.filter_expr().to_vec();
    let first = Arc::new(aggregate(*partial.mode(), number, filters.clone(), Arc::clone(input))?);
    let mut plan: Arc<dyn ExecutionPlan> = match IdAggregateExec::instead_of(&first) {
        Some(tally) => Arc::new(tally),
        None => first,
    };
    if !std::ptr::eq(last, partial) {
        plan = Arc::new(aggregate(*last.mode(), Arc::new(Column::new(NUMBER, 0)), filters, plan)?);
    }
    let schema = node.schema();
    let column = |(i, field): (usize, &Arc<arrow::datatypes::Field>)| {
        let expr: Arc<dyn PhysicalExpr> = match i < width {
            true => {
                let (number, interner) = (Arc::new(Column::new(NUMBER, 0)), Arc::clone(&interner));
                Arc::new(KeyText { interner, number, column: i, width, nullable: field.is_nullable() })
            }
            false => Arc::new(Column::new(field.name(), i + 1 - width)),
        };
        (expr, field.name().clone())
    };
    let columns: Vec<_> = schema.fields().iter().enumerate().map(column).collect();
    Ok(Some(Arc::new(ProjectionExec::try_new(columns, plan)?)))
}

/// The column of ids in a plan.
const NUMBER: &str = "name";

#[derive(Debug)]
pub(in crate::engine) struct KeyId {
    interner: Arc<KeyInterner>,
    names: Vec<Arc<dyn PhysicalExpr>>,
}

impl PhysicalExpr for KeyId {
    fn data_type(&self, _: &Schema) -> Result<DataType> {
        Ok(DataType::UInt32)
    }

    fn nullable(&self, _: &Schema) -> Result<bool> {
        Ok(false)
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<ColumnarValue> {
        let names = self.names.iter().map(|n| n.evaluate(batch)?.into_array(batch.num_rows()));
        let numbers = self.interner.ids(&names.collect::<Result<Vec<_>>>()?)?;
        Ok(ColumnarValue::Array(Arc::new(UInt32Array::from(numbers))))
    }

    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        self.names.iter().collect()
    }

    fn with_new_children(
        self: Arc<Self>,
        names: Vec<Arc<dyn PhysicalExpr>>,
    ) -> Result<Arc<dyn PhysicalExpr>> {
        Ok(Arc::new(Self { interner: Arc::clone(&self.interner), names }))
    }

    fn fmt_sql(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.names.iter().map(ToString::to_string).collect();
        write!(f, "number_of({})", names.join(", "))
    }
}

impl PartialEq for KeyId {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.interner, &other.interner) && self.names == other.names
    }
}

impl Eq for KeyId {}

impl Hash for KeyId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.names.hash(state);
    }
}

#[derive(Debug)]
struct KeyText {
    interner: Arc<KeyInterner>,
    number: Arc<dyn PhysicalExpr>,
    column: usize,
    /// How many names a key has.
    width: usize,
    nullable: bool,
}

impl PhysicalExpr for KeyText {
    fn data_type(&self, _: &Schema) -> Result<DataType> {
        Ok(DataType::Utf8View)
    }

    fn nullable(&self, _: &Schema) -> Result<bool> {
        Ok(self.nullable)
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<ColumnarValue> {
        let numbers = self.number.evaluate(batch)?.into_array(batch.num_rows())?;
        let Some(numbers) = numbers.as_primitive_opt::<UInt32Type>() else {
            return internal_err!("names are asked for where there are no numbers");
        };
        self.interner.texts(numbers, self.column, self.width).map(ColumnarValue::Array)
    }

    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        vec![&self.number]
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn PhysicalExpr>>,
    ) -> Result<Arc<dyn PhysicalExpr>> {
        let Ok([number]) = <[_; 1]>::try_from(children) else {
            return internal_err!("a name has one number");
        };
        let Self { column, width, nullable, .. } = *self;
        Ok(Arc::new(Self { interner: Arc::clone(&self.interner), number, column, width, nullable }))
    }

    fn fmt_sql(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for KeyText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "name_of({}, {})", self.number, self.column)
    }
}

impl PartialEq for KeyText {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.interner, &other.interner)
            && self.column == other.column
            && self.number.eq(&other.number)
    }
}

impl Eq for KeyText {}

impl Hash for KeyText {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.column, &self.number).hash(state);
    }
}
