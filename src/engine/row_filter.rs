//! A condition in SQL over rows of one table that are not in a database yet. Not for queries.

use std::sync::Arc;

use arrow::array::{Array, BooleanArray, RecordBatch};
use arrow::datatypes::{Field, Schema};
use datafusion::common::DFSchema;
use datafusion::common::cast::as_boolean_array;
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::optimizer::simplify_expressions::ExprSimplifier;
use datafusion::physical_plan::PhysicalExpr;
use datafusion::prelude::{SessionConfig, SessionContext};

use super::sql::check_meaning;
use super::{failure, functions};
use crate::error::{Error, ErrorKind, Result};
use crate::schema::TableSpec;

/// A compiled condition.
#[derive(Debug)]
pub struct RowFilter {
    predicate: Arc<dyn PhysicalExpr>,
}

impl RowFilter {
    /// A condition over the columns of a table. Fails if it is none, or names unknown columns.
    pub fn new(table: &'static TableSpec, condition: &str) -> Result<Self> {
        let mut config = SessionConfig::new();
        config.options_mut().sql_parser.collect_spans = true;
        let context = SessionContext::new_with_config(config);
        functions::of_rows().into_iter().for_each(|f| context.register_udf(f));
        let engine = |e| failure::from_engine(&e, condition, &[]);
        let schema = DFSchema::try_from(schema(table)).map_err(engine)?;
        let state = context.state();
        let dialect = state.config().options().sql_parser.dialect;
        let words = state.sql_to_expr(condition, &dialect).map_err(engine)?;
        check_meaning(&words).map_err(engine)?;
        let parsed = context.parse_sql_expr(condition, &schema).map_err(engine)?;
        // Some functions (coalesce) cannot be computed directly: they are rewritten in terms of others.
        let rules = SimplifyContext::builder().with_schema(Arc::new(schema.clone())).build();
        let rules = ExprSimplifier::new(rules);
        let typed = rules.coerce(parsed, &schema).and_then(|e| rules.simplify(e)).map_err(engine)?;
        let predicate = context.create_physical_expr(typed, &schema).map_err(engine)?;
        match predicate.data_type(schema.as_arrow()).map_err(engine)? {
            arrow::datatypes::DataType::Boolean => Ok(Self { predicate }),
            other => {
                Err(Error::usage(format!("the condition is no condition: its value is of type {other}")))
            }
        }
    }

    /// The rows for which it is true. `batch` has the columns of the table in its order, in our Arrow types.
    /// Fails when the condition cannot be computed for a row.
    pub fn keep(&self, batch: &RecordBatch) -> Result<BooleanArray> {
        let engine = |e| failure::from_engine(&e, "", &[]);
        let result =
            self.predicate.evaluate(batch).and_then(|v| v.into_array(batch.num_rows())).map_err(engine)?;
        let result = as_boolean_array(&result)
            .map_err(|e| Error::new(ErrorKind::Bug, "a condition that is none").because(e))?;
        Ok((0..result.len()).map(|row| Some(result.is_valid(row) && result.value(row))).collect())
    }
}

/// Partition columns with the types of SQL, the others with those of our batches.
fn schema(table: &'static TableSpec) -> Schema {
    let (full, own) = (table.full_schema(), table.arrow_schema());
    let field =
        |f: &Arc<Field>| own.field_with_name(f.name()).cloned().unwrap_or_else(|_| f.as_ref().clone());
    Schema::new(full.fields().iter().map(field).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::tables::KERNEL_EVENT;

    #[test]
    fn conditions_are_written_as_in_a_query() {
        for sql in [
            "class_name = 'USER' AND argument(arguments, 'd0') > 1 OR cpu IN (1, 2)",
            "coalesce(pid IN (1, 2), FALSE) AND nullif(tid, 1) IS NOT NULL",
            "text LIKE 'a%' AND CASE WHEN priority BETWEEN 1 AND 9 THEN is64 ELSE TRUE END",
        ] {
            let filter = RowFilter::new(KERNEL_EVENT, sql).unwrap();
            let none = RecordBatch::new_empty(Arc::new(schema(KERNEL_EVENT)));
            assert_eq!(filter.keep(&none).unwrap().len(), 0, "{sql}");
        }
    }

    #[test]
    fn what_is_no_condition_is_refused() {
        let refused = |sql: &str| RowFilter::new(KERNEL_EVENT, sql).unwrap_err().to_string();
        assert!(refused("cpu + 1").contains("Int64"), "{}", refused("cpu + 1"));
        let unknown = refused("cpu = 1\nAND nonsense = 1");
        assert!(unknown.contains("nonsense") && unknown.contains("(line 2, column 5)"), "{unknown}");
        assert!(refused("cpu = ").len() > 5);
        let misread = refused("cpu = 1 OR is64 IS DISTINCT FROM TRUE AND cpu = 2");
        assert!(misread.contains("not clear before AND"), "{misread}");
    }
}
