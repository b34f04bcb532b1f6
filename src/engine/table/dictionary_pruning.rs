//! Conditions that a column has one of some names: row groups in whose dictionaries none of them is are not read. For events
//! that are rare or do not occur at all. Not for conditions on anything else.

use std::path::Path;

use datafusion::common::ScalarValue;
use datafusion::datasource::physical_plan::parquet::{ParquetAccessPlan, RowGroupAccess};
use datafusion::logical_expr::{Expr, Operator};

use crate::schema::{ColumnType, TableSpec};
use crate::store;

/// A column, and the names one of which it has to have.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OneOf {
    column: String,
    names: Vec<String>,
}

impl OneOf {
    /// What a filter says of the names in a column of `table`; `None` if it is another kind of condition.
    pub fn of(filter: &Expr, table: &TableSpec) -> Option<Self> {
        let found = Self::any(filter)?;
        let mut columns = table.file_columns();
        columns.any(|c| c.name == found.column && c.ty == ColumnType::Name).then_some(found)
    }

    fn any(filter: &Expr) -> Option<Self> {
        match filter {
            Expr::BinaryExpr(binary) if binary.op == Operator::Or => {
                let (mut left, right) = (Self::any(&binary.left)?, Self::any(&binary.right)?);
                left.names.extend(right.names);
                (left.column == right.column).then_some(left)
            }
            Expr::BinaryExpr(binary) if binary.op == Operator::Eq => {
                match (binary.left.as_ref(), binary.right.as_ref()) {
                    (Expr::Column(column), name) | (name, Expr::Column(column)) => {
                        Some(Self { column: column.name.clone(), names: vec![text(name)?] })
                    }
                    _ => None,
                }
            }
            Expr::InList(list) if !list.negated => {
                let Expr::Column(column) = list.expr.as_ref() else { return None };
                let names = list.list.iter().map(text).collect::<Option<_>>()?;
                Some(Self { column: column.name.clone(), names })
            }
            _ => None,
        }
    }
}

fn text(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Literal(ScalarValue::Utf8(text) | ScalarValue::Utf8View(text), _) => text.clone(),
        _ => None,
    }
}

/// What is to be read of a file for rows with all of these conditions; `None`: everything.
pub(super) fn to_be_read(path: &Path, conditions: &[OneOf]) -> Option<ParquetAccessPlan> {
    let mut plan: Option<ParquetAccessPlan> = None;
    for OneOf { column, names } in conditions {
        // What is wrong with the file will be said where it is read.
        let found = store::row_groups_with(path, column, names).ok()?;
        for (group, _) in found.iter().enumerate().filter(|(_, found)| !**found) {
            plan.get_or_insert_with(|| ParquetAccessPlan::new_all(found.len()))
                .set(group, RowGroupAccess::Skip);
        }
    }
    plan
}
