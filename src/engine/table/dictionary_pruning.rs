//! Dictionary pruning: if a column has to hold one of some names or words, row groups are skipped whose
//! dictionaries hold none of them. For events that are rare or do not occur at all. Not for other conditions.

use datafusion::common::ScalarValue;
use datafusion::datasource::physical_plan::parquet::{ParquetAccessPlan, RowGroupAccess};
use datafusion::logical_expr::{Expr, Operator};

use crate::engine::functions::words::NameTest;
use crate::schema::{ColumnType, TableSpec};
use crate::store::{self, Place};

/// A column, and the tests of which its name has to pass one.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NameFilter {
    column: String,
    tests: Vec<NameTest>,
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
                left.tests.extend(right.tests);
                (left.column == right.column).then_some(left)
            }
            Expr::BinaryExpr(binary) if binary.op == Operator::Eq => {
                match (binary.left.as_ref(), binary.right.as_ref()) {
                    (Expr::Column(column), name) | (name, Expr::Column(column)) => {
                        Some(Self { column: column.name.clone(), tests: vec![NameTest::Equals(text(name)?)] })
                    }
                    _ => None,
                }
            }
            Expr::InList(list) if !list.negated => {
                let Expr::Column(column) = list.expr.as_ref() else { return None };
                let tests = list.list.iter().map(|name| text(name).map(NameTest::Equals));
                Some(Self { column: column.name.clone(), tests: tests.collect::<Option<_>>()? })
            }
            Expr::ScalarFunction(call) => {
                let (Expr::Column(column), words) = call.args.split_first()? else { return None };
                let words = words.iter().map(text).collect::<Option<Vec<_>>>()?;
                let test = NameTest::of_call(call.name(), words.into_iter())?;
                Some(Self { column: column.name.clone(), tests: vec![test] })
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
pub(super) fn access_plan(place: &Place, conditions: &[NameFilter]) -> Option<ParquetAccessPlan> {
    if place.is_remote() {
        // To look at a dictionary there costs as much as to read the column.
        return None;
    }
    let mut plan: Option<ParquetAccessPlan> = None;
    for NameFilter { column, tests } in conditions {
        let accepts = |name: &str| tests.iter().any(|test| test.accepts(name));
        // A damaged file is reported where it is read.
        let found = store::row_groups_with(place, column, &accepts).ok()?;
        for (group, _) in found.iter().enumerate().filter(|(_, found)| !**found) {
            plan.get_or_insert_with(|| ParquetAccessPlan::new_all(found.len()))
                .set(group, RowGroupAccess::Skip);
        }
    }
    plan
}
