//! Turns GROUP BY names into GROUP BY interned ids, and counts distinct ids in place of distinct names: small
//! integers are hashed per row instead of strings. Not for other groups, and not for what else is computed of
//! a group.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::array::{Array, AsArray, RecordBatch, UInt32Array};
use arrow::datatypes::{DataType, Schema, SchemaRef, UInt32Type};
use datafusion::common::{Result, internal_err};
use datafusion::functions_aggregate::count::Count;
use datafusion::logical_expr::ColumnarValue;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::aggregate::{AggregateExprBuilder, AggregateFunctionExpr};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode, PhysicalGroupBy};
use datafusion::physical_plan::projection::ProjectionExec;

use super::id_aggregate::IdAggregateExec;
use super::key_interner::KeyInterner;

/// An expression, and the name of its column.
type Named = (Arc<dyn PhysicalExpr>, String);

/// The final aggregate `node` over its partial one, with ids in place of names; `None` if it neither groups
/// by names nor counts distinct ones.
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
    if !groups.is_single() || !is_partial || limited {
        return Ok(None);
    }
    let functions = partial.aggr_expr().iter().map(|f| count_of_ids(f, &input.schema()));
    let counts = functions.collect::<Result<Vec<_>>>()?;
    let is_name = |group: &Named| Ok(group.0.data_type(&input.schema())? == DataType::Utf8View);
    let are_names = groups.expr().iter().map(is_name).collect::<Result<Vec<_>>>()?;
    if !are_names.contains(&true) && counts.iter().all(Option::is_none) {
        return Ok(None);
    }
    let functions: Vec<_> = partial
        .aggr_expr()
        .iter()
        .zip(counts)
        .map(|(f, count)| count.unwrap_or_else(|| Arc::clone(f)))
        .collect();
    let interner = Arc::new(KeyInterner::default());
    let parts = |names: bool| {
        let part = move |(group, is_name): (&Named, &bool)| (*is_name == names).then(|| group.clone());
        groups.expr().iter().zip(&are_names).filter_map(part)
    };
    let names: Vec<_> = parts(true).map(|(expr, _)| expr).collect();
    let width = names.len();
    // The id of all names comes first, then what else is grouped by.
    let mut ids: Vec<Named> = parts(false).collect();
    if width > 0 {
        ids.insert(
            0,
            (Arc::new(KeyId { interner: Arc::clone(&interner), names, of_key: true }), NUMBER.into()),
        );
    }
    let aggregate = |mode, groups: Vec<Named>, filters: Vec<_>, input| {
        let groups = PhysicalGroupBy::new_single(groups);
        AggregateExec::try_new(mode, groups, functions.clone(), filters, input, partial.input_schema())
    };
    let filters = partial.filter_expr().to_vec();
    let first = Arc::new(aggregate(*partial.mode(), ids.clone(), filters.clone(), Arc::clone(input))?);
    let mut plan: Arc<dyn ExecutionPlan> = match IdAggregateExec::instead_of(&first) {
        Some(tally) if width == groups.expr().len() => Arc::new(tally),
        _ => first,
    };
    if !std::ptr::eq(last, partial) {
        let columns = ids.into_iter().enumerate().map(|(i, (_, name))| {
            let column: Arc<dyn PhysicalExpr> = Arc::new(Column::new(&name, i));
            (column, name)
        });
        plan = Arc::new(aggregate(*last.mode(), columns.collect(), filters, plan)?);
    }
    if width == 0 {
        return Ok(Some(plan));
    }
    let (mut name, mut other) = (0, 0);
    let schema = node.schema();
    let column = |(i, field): (usize, &Arc<arrow::datatypes::Field>)| {
        let expr: Arc<dyn PhysicalExpr> = match are_names.get(i) {
            Some(true) => {
                name += 1;
                let (number, interner) = (Arc::new(Column::new(NUMBER, 0)), Arc::clone(&interner));
                Arc::new(KeyText { interner, number, column: name - 1, width, nullable: field.is_nullable() })
            }
            _ => {
                other += 1;
                Arc::new(Column::new(field.name(), other))
            }
        };
        (expr, field.name().clone())
    };
    let columns: Vec<_> = schema.fields().iter().enumerate().map(column).collect();
    Ok(Some(Arc::new(ProjectionExec::try_new(columns, plan)?)))
}

/// A count of distinct names as one of distinct ids; `None` for other functions.
fn count_of_ids(
    function: &AggregateFunctionExpr,
    input: &SchemaRef,
) -> Result<Option<Arc<AggregateFunctionExpr>>> {
    let counts = function.fun().inner().is::<Count>() && function.is_distinct();
    let [name] = &function.expressions()[..] else { return Ok(None) };
    if !counts || name.data_type(input)? != DataType::Utf8View {
        return Ok(None);
    }
    let id = KeyId { interner: Arc::default(), names: vec![Arc::clone(name)], of_key: false };
    let builder = AggregateExprBuilder::new(Arc::new(function.fun().clone()), vec![Arc::new(id)]);
    builder.schema(Arc::clone(input)).alias(function.name()).distinct().build().map(Arc::new).map(Some)
}

/// The column of ids in a plan.
const NUMBER: &str = "name";

#[derive(Debug)]
pub(in crate::engine) struct KeyId {
    interner: Arc<KeyInterner>,
    names: Vec<Arc<dyn PhysicalExpr>>,
    /// NULL has an id, as a group has; else the id of NULL is NULL.
    of_key: bool,
}

impl PhysicalExpr for KeyId {
    fn data_type(&self, _: &Schema) -> Result<DataType> {
        Ok(DataType::UInt32)
    }

    fn nullable(&self, input: &Schema) -> Result<bool> {
        match &self.names[..] {
            [name] if !self.of_key => name.nullable(input),
            _ => Ok(false),
        }
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<ColumnarValue> {
        let names = self.names.iter().map(|n| n.evaluate(batch)?.into_array(batch.num_rows()));
        let names = names.collect::<Result<Vec<_>>>()?;
        let numbers = self.interner.ids(&names)?;
        let nulls = names.first().filter(|_| !self.of_key).and_then(|names| names.logical_nulls());
        Ok(ColumnarValue::Array(Arc::new(UInt32Array::new(numbers.into(), nulls))))
    }

    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        self.names.iter().collect()
    }

    fn with_new_children(
        self: Arc<Self>,
        names: Vec<Arc<dyn PhysicalExpr>>,
    ) -> Result<Arc<dyn PhysicalExpr>> {
        Ok(Arc::new(Self { interner: Arc::clone(&self.interner), names, of_key: self.of_key }))
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
        Arc::ptr_eq(&self.interner, &other.interner)
            && self.names == other.names
            && self.of_key == other.of_key
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
