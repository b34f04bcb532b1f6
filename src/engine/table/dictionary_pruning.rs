//! Dictionary pruning: if a column has to hold one of some names, row groups are skipped whose dictionaries
//! hold none of them. For events that are rare or do not occur at all. Not for other conditions.

use std::path::Path;

use datafusion::common::ScalarValue;
use datafusion::datasource::physical_plan::parquet::{ParquetAccessPlan, RowGroupAccess};
use datafusion::logical_expr::{Expr, Operator};

use crate::schema::{ColumnType, TableSpec};
use crate::store;

/// A column, and the names of which it has to have one.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NameFilter {
    column: String,
    names: Vec<String>,
}

impl NameFilter {
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

/// The row groups of a file that may hold rows with all of these conditions; `None`: all.
pub(super) fn access_plan(path: &Path, conditions: &[NameFilter]) -> Option<ParquetAccessPlan> {
    let mut plan: Option<ParquetAccessPlan> = None;
    for NameFilter { column, names } in conditions {
        // A damaged file is reported where it is read.
        let found = store::row_groups_with(path, column, names).ok()?;
        for (group, _) in found.iter().enumerate().filter(|(_, found)| !**found) {
            plan.get_or_insert_with(|| ParquetAccessPlan::new_all(found.len()))
                .set(group, RowGroupAccess::Skip);
        }
    }
    plan
}
