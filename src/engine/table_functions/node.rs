//! The logical node of a streaming operator: its columns, and those it needs of its inputs. Not calls in SQL.

use std::cmp::Ordering;
#[cfg(feature = "cluster")]
use std::collections::BTreeSet;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field};
use datafusion::common::{Column, DFSchema, DFSchemaRef, Result, TableReference, internal_err};
use datafusion::logical_expr::{Expr, Extension, LogicalPlan, UserDefinedLogicalNodeCore};
use datafusion::physical_expr::expressions::Column as PhysicalColumn;
use datafusion::physical_plan::ExecutionPlan;

use crate::engine::operators::{
    AsOf, AsOfSide, IntervalFunction, IntervalOperator, Pair, StreamingExec, StreamingOperator,
    columns_of_pairs,
};

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(in crate::engine) struct Side {
    pub keys: Vec<Column>,
    pub time: Column,
    /// Orders rows of the same instant.
    pub order: Vec<Column>,
    pub output: Vec<Column>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(in crate::engine) enum Operation {
    /// See [`IntervalOperator`]; the first `keys` columns are keys.
    Intervals { function: IntervalFunction, keys: usize },
    /// See [`Pair`].
    Pair { side: Side, begins: Column, ends: Column, name: Option<Column> },
    /// See [`AsOf`].
    AsOf { sides: [Side; 2], strict: bool },
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(in crate::engine) struct Node {
    operation: Operation,
    inputs: Vec<LogicalPlan>,
    schema: DFSchemaRef,
}

type Fields = Vec<(Option<TableReference>, Arc<Field>)>;

impl Node {
    pub fn plan(operation: Operation, inputs: Vec<LogicalPlan>) -> Result<LogicalPlan> {
        Ok(LogicalPlan::Extension(Extension { node: Arc::new(Self::try_new(operation, inputs)?) }))
    }

    fn try_new(mut operation: Operation, inputs: Vec<LogicalPlan>) -> Result<Self> {
        // Columns that are not needed have been removed from the inputs.
        for (side, input) in operation.sides_mut().into_iter().zip(&inputs) {
            side.output.retain(|column| input.schema().has_column(column));
        }
        let mut fields = Fields::new();
        for (i, input) in inputs.iter().enumerate() {
            for at in operation.output(i, input.schema()) {
                let (qualifier, field) = input.schema().qualified_field(at);
                let nullable = i > 0 || field.is_nullable();
                fields.push((qualifier.cloned(), Arc::new(field.as_ref().clone().with_nullable(nullable))));
            }
        }
        fields.extend(operation.added().into_iter().map(|field| (None, Arc::new(field))));
        let schema = Arc::new(DFSchema::new_with_metadata(fields, Default::default())?);
        Ok(Self { operation, inputs, schema })
    }

    /// The inputs.
    #[cfg(feature = "cluster")]
    pub fn plans(&self) -> &[LogicalPlan] {
        &self.inputs
    }

    /// Which columns are those of the inputs with these places (one set per input), if one of them is a key
    /// on all sides: then its rows are independent of those with other values.
    #[cfg(feature = "cluster")]
    pub fn keyed_by(&self, places: &[BTreeSet<usize>]) -> Option<BTreeSet<usize>> {
        let has = |input: usize, column: &Column| {
            let place = self.inputs.get(input).and_then(|plan| plan.schema().maybe_index_of_column(column));
            place.is_some_and(|at| places.get(input).is_some_and(|known| known.contains(&at)))
        };
        let is_key = match &self.operation {
            Operation::Intervals { keys, .. } => places.first()?.iter().any(|at| at < keys),
            Operation::Pair { side, .. } => side.keys.iter().any(|key| has(0, key)),
            Operation::AsOf { sides: [first, second], .. } => {
                first.keys.iter().zip(&second.keys).any(|(one, other)| has(0, one) && has(1, other))
            }
        };
        if !is_key {
            return None;
        }
        let output = self.operation.output(0, self.inputs.first()?.schema());
        let known =
            output.iter().zip(0..).filter(|(place, _)| places.first().is_some_and(|p| p.contains(place)));
        Some(known.map(|(_, at)| at).collect())
    }

    pub fn physical(&self, inputs: Vec<Arc<dyn ExecutionPlan>>) -> Result<StreamingExec> {
        let place = |input: usize, column: &Column| -> Result<PhysicalColumn> {
            match self.inputs.get(input) {
                Some(input) => Ok(PhysicalColumn::new(&column.name, input.schema().index_of_column(column)?)),
                None => internal_err!("an input is missing"),
            }
        };
        let side = |input: usize, side: &Side| -> Result<AsOfSide> {
            let places =
                |columns: &[Column]| columns.iter().map(|c| place(input, c)).collect::<Result<Vec<_>>>();
            Ok(AsOfSide {
                keys: places(&side.keys)?,
                time: place(input, &side.time)?,
                order: places(&side.order)?,
                output: places(&side.output)?.iter().map(PhysicalColumn::index).collect(),
            })
        };
        let operator: Arc<dyn StreamingOperator> = match &self.operation {
            Operation::Intervals { function, keys } => {
                let keys = self.schema.fields().iter().take(*keys).map(|f| f.name().clone()).collect();
                Arc::new(IntervalOperator { function: *function, keys })
            }
            Operation::Pair { side: of, begins, ends, name } => {
                let AsOfSide { keys, time, order, output } = side(0, of)?;
                let (begins, ends) = (place(0, begins)?, place(0, ends)?);
                let name = name.as_ref().map(|name| place(0, name)).transpose()?;
                Arc::new(Pair { keys, name, time, order, begins, ends, output })
            }
            Operation::AsOf { sides: [first, second], strict } => {
                Arc::new(AsOf { sides: [side(0, first)?, side(1, second)?], strict: *strict })
            }
        };
        StreamingExec::try_new(inputs, operator)
    }
}

impl Operation {
    fn sides_mut(&mut self) -> Vec<&mut Side> {
        match self {
            Self::Intervals { .. } => Vec::new(),
            Self::Pair { side, .. } => vec![side],
            Self::AsOf { sides, .. } => sides.iter_mut().collect(),
        }
    }

    fn side(&self, input: usize) -> Option<&Side> {
        match self {
            Self::Intervals { .. } => None,
            Self::Pair { side, .. } => (input == 0).then_some(side),
            Self::AsOf { sides, .. } => sides.get(input),
        }
    }

    /// The output columns of an input, in order.
    fn output(&self, input: usize, schema: &DFSchema) -> Vec<usize> {
        match (self, self.side(input)) {
            (Self::Intervals { keys, .. }, _) => (0..*keys).collect(),
            (_, Some(side)) => {
                side.output.iter().filter_map(|column| schema.maybe_index_of_column(column)).collect()
            }
            (_, None) => Vec::new(),
        }
    }

    /// The output columns after those.
    fn added(&self) -> Vec<Field> {
        let integer = |name| Field::new(name, DataType::Int64, false);
        match self {
            Self::Intervals { function, .. } => {
                ["begin_at", "end_at"].into_iter().chain(function.count()).map(integer).collect()
            }
            Self::Pair { .. } => columns_of_pairs().into(),
            Self::AsOf { .. } => Vec::new(),
        }
    }
}

impl PartialOrd for Node {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (self == other).then_some(Ordering::Equal)
    }
}

impl UserDefinedLogicalNodeCore for Node {
    fn name(&self) -> &str {
        match self.operation {
            Operation::Intervals { function: IntervalFunction::Merge, .. } => "IntervalMerge",
            Operation::Intervals { function: IntervalFunction::Gaps, .. } => "IntervalGaps",
            Operation::Intervals { function: IntervalFunction::Concurrency, .. } => "Concurrency",
            Operation::Pair { .. } => "Pair",
            Operation::AsOf { .. } => "AsOfJoin",
        }
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        self.inputs.iter().collect()
    }

    fn schema(&self) -> &DFSchemaRef {
        &self.schema
    }

    fn expressions(&self) -> Vec<Expr> {
        Vec::new()
    }

    fn prevent_predicate_push_down_columns(&self) -> HashSet<String> {
        // Filters on keys may be pushed down: keys are independent of each other.
        let keys: Vec<&String> = match &self.operation {
            Operation::Intervals { keys, .. } => {
                self.schema.fields().iter().take(*keys).map(|f| f.name()).collect()
            }
            Operation::Pair { side, .. } => side.keys.iter().map(|key| &key.name).collect(),
            Operation::AsOf { .. } => Vec::new(),
        };
        let all = self.schema.fields().iter().map(|f| f.name());
        all.filter(|name| !keys.contains(name)).cloned().collect()
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |columns: &[Column]| columns.iter().map(Column::flat_name).collect::<Vec<_>>().join(", ");
        match &self.operation {
            Operation::Intervals { keys, .. } => {
                let keys: Vec<_> =
                    self.schema.fields().iter().take(*keys).map(|f| f.name().as_str()).collect();
                write!(f, "{}: keys=[{}]", self.name(), keys.join(", "))
            }
            Operation::Pair { side, .. } => {
                write!(f, "{}: time={}, keys=[{}]", self.name(), side.time, names(&side.keys))
            }
            Operation::AsOf { sides: [first, second], strict } => {
                let sign = if *strict { "<" } else { "<=" };
                let (keys, others) = (names(&first.keys), names(&second.keys));
                write!(
                    f,
                    "{}: {} {sign} {}, keys=[{keys}] = [{others}]",
                    self.name(),
                    second.time,
                    first.time
                )
            }
        }
    }

    fn with_exprs_and_inputs(&self, _: Vec<Expr>, inputs: Vec<LogicalPlan>) -> Result<Self> {
        Self::try_new(self.operation.clone(), inputs)
    }

    fn necessary_children_exprs(&self, output_columns: &[usize]) -> Option<Vec<Vec<usize>>> {
        let mut before = 0;
        let mut needed = Vec::with_capacity(self.inputs.len());
        for (i, input) in self.inputs.iter().enumerate() {
            let side = self.operation.side(i)?;
            let own = side.keys.iter().chain([&side.time]).chain(&side.order);
            let mut columns: Vec<usize> =
                own.filter_map(|c| input.schema().maybe_index_of_column(c)).collect();
            if let Operation::Pair { begins, ends, name, .. } = &self.operation {
                let more = [begins, ends].into_iter().chain(name);
                columns.extend(more.filter_map(|c| input.schema().maybe_index_of_column(c)));
            }
            let output = self.operation.output(i, input.schema());
            let selected = output_columns.iter().filter_map(|at| output.get(at.checked_sub(before)?));
            columns.extend(selected);
            columns.sort_unstable();
            columns.dedup();
            before += output.len();
            needed.push(columns);
        }
        Some(needed)
    }
}
