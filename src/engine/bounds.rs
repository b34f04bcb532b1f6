//! Whether the least and the greatest value of a column may be used for a plan. The engine takes those of
//! `CAST(time AS VARCHAR)` to be the texts of those of `time`, so that the least of 5 and 35 as texts would
//! be '5', and that of 5 and 2191, too. It answers `min` with them, or takes them for a fault of its own. Not
//! where they come from (see `table`).

use arrow::datatypes::DataType;
use datafusion::catalog::Session;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchema, Result};
use datafusion::execution::SessionState;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan};
use std::sync::Arc;

/// In the configuration of a session: what is planned with it knows no bounds of columns.
#[derive(Debug)]
struct Unknown;

/// A session for plans that must not use bounds.
pub(super) fn without(session: &SessionState) -> SessionState {
    let mut session = session.clone();
    session.config_mut().set_extension(Arc::new(Unknown));
    session
}

/// Whether plans of a session may use bounds.
pub(super) fn may_be_used(session: &dyn Session) -> bool {
    session.config().get_extension::<Unknown>().is_none()
}

/// A plan has a cast after which values are in another order.
pub(super) fn are_changed(plan: &LogicalPlan) -> Result<bool> {
    let mut found = false;
    plan.apply_with_subqueries(|node| {
        let mut schema = merge_schema(&node.inputs());
        if let LogicalPlan::TableScan(scan) = node {
            schema
                .merge(&DFSchema::try_from_qualified_schema(scan.table_name.clone(), &scan.source.schema())?);
        }
        node.apply_expressions(|expr| {
            expr.apply(|expr| {
                found |= changes_order(expr, &schema);
                Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
            })
        })
    })?;
    Ok(found)
}

fn changes_order(expr: &Expr, schema: &DFSchema) -> bool {
    let Expr::Cast(cast) = expr else { return false };
    // Of what has no type here, nothing is known.
    let from = cast.expr.get_type(schema).ok();
    from.is_none_or(|from| Kind::of(&from).is_none_or(|kind| Kind::of(cast.field.data_type()) != Some(kind)))
}

/// Types whose values have the same order.
#[derive(PartialEq, Eq)]
enum Kind {
    Number,
    Text,
    Boolean,
}

impl Kind {
    /// `None`: none of these.
    fn of(data_type: &DataType) -> Option<Self> {
        match data_type {
            DataType::Dictionary(_, values) => Self::of(values),
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Some(Self::Text),
            DataType::Boolean => Some(Self::Boolean),
            numeric if numeric.is_numeric() => Some(Self::Number),
            DataType::Duration(_) | DataType::Timestamp(..) => Some(Self::Number),
            _ => None,
        }
    }
}
