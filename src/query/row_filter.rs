//! A condition in SQL over the rows of one table, for rows that are not in a database yet. Not for queries: it knows no other
//! table.

use std::sync::Arc;

use arrow::array::{Array, BooleanArray, RecordBatch};
use arrow::datatypes::{Field, Schema};
use datafusion::common::DFSchema;
use datafusion::common::cast::as_boolean_array;
use datafusion::physical_plan::PhysicalExpr;
use datafusion::prelude::{SessionConfig, SessionContext};

use super::{failure, functions};
use crate::error::{Error, ErrorKind, Result};
use crate::schema::TableSpec;

/// See the module.
#[derive(Debug)]
pub struct RowFilter {
    predicate: Arc<dyn PhysicalExpr>,
}

impl RowFilter {
    /// A condition over the columns of a table, partition columns included.
    ///
    /// # Errors
    /// When it is no condition, or names what is not there.
    pub fn new(table: &'static TableSpec, condition: &str) -> Result<Self> {
        let context = SessionContext::new_with_config(SessionConfig::new());
        functions::of_rows().into_iter().for_each(|f| context.register_udf(f));
        let engine = |e| failure::from_engine(&e, condition, &[]);
        let schema = DFSchema::try_from(schema(table)).map_err(engine)?;
        let condition = context.parse_sql_expr(condition, &schema).map_err(engine)?;
        let predicate = context.create_physical_expr(condition, &schema).map_err(engine)?;
        match predicate.data_type(schema.as_arrow()).map_err(engine)? {
            arrow::datatypes::DataType::Boolean => Ok(Self { predicate }),
            other => {
                Err(Error::usage(format!("the condition is no condition: its value is of type {other}")))
            }
        }
    }

    /// For which rows it is true. `batch` has the columns of the table in its order, as they are in memory.
    ///
    /// # Errors
    /// When the condition cannot be computed for a row.
    pub fn keep(&self, batch: &RecordBatch) -> Result<BooleanArray> {
        let engine = |e| failure::from_engine(&e, "", &[]);
        let result =
            self.predicate.evaluate(batch).and_then(|v| v.into_array(batch.num_rows())).map_err(engine)?;
        let result = as_boolean_array(&result)
            .map_err(|e| Error::new(ErrorKind::Bug, "a condition that is none").because(e))?;
        Ok((0..result.len()).map(|row| Some(result.is_valid(row) && result.value(row))).collect())
    }
}

/// Partition columns as they are in SQL, the others as they are in our batches.
fn schema(table: &'static TableSpec) -> Schema {
    let (full, own) = (table.full_schema(), table.arrow_schema());
    let field =
        |f: &Arc<Field>| own.field_with_name(f.name()).cloned().unwrap_or_else(|_| f.as_ref().clone());
    Schema::new(full.fields().iter().map(field).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::RowFilter;
    use crate::schema::tables::KERNEL_EVENT;

    #[test]
    fn what_is_no_condition_is_refused() {
        let refused = |sql: &str| RowFilter::new(KERNEL_EVENT, sql).unwrap_err().to_string();
        assert!(refused("cpu + 1").contains("Int64"), "{}", refused("cpu + 1"));
        assert!(refused("nonsense = 1").contains("nonsense"), "{}", refused("nonsense = 1"));
        assert!(refused("cpu = ").len() > 5);
        RowFilter::new(
            KERNEL_EVENT,
            "class_name = 'USER' AND argument(arguments, 'd0') > 1 OR cpu IN (1, 2)",
        )
        .unwrap();
    }
}
