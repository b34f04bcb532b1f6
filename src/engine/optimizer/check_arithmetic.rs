//! Replaces `+`, `-`, `*`, `<<` and `>>` of whole numbers, which wrap around in DataFusion, by operations
//! that fail. On the way, casts and lists are checked (see `types`, `lists`). Not for the operations (see
//! `functions`); sums over rows are checked by their own accumulators.

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, LogicalPlan, Operator, ScalarUDF};
use datafusion::optimizer::AnalyzerRule;

use super::{lists, types};
use crate::engine::functions::{Checked, CheckedOp, is_checked};

/// Runs after DataFusion has made the types of both sides equal, and before it moves expressions.
#[derive(Debug)]
pub(in crate::engine) struct CheckArithmetic;

impl AnalyzerRule for CheckArithmetic {
    fn name(&self) -> &str {
        "check_arithmetic"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        plan.transform_up_with_subqueries(checked).data()
    }
}

/// The same node: neither names nor types change, so that its schema stays.
fn checked(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    // The numbers of LIMIT have to be constants, whose arithmetic is done by then.
    if matches!(plan, LogicalPlan::Limit(_)) {
        return Ok(Transformed::no(plan));
    }
    let mut schema = merge_schema(&plan.inputs());
    if let LogicalPlan::TableScan(scan) = &plan {
        let columns = DFSchema::try_from_qualified_schema(scan.table_name.clone(), &scan.source.schema())?;
        schema.merge(&columns);
    }
    // The conditions of aggregates, as in FILTER, show functions in another way than operators.
    let names = NamePreserver::new(&plan);
    plan.map_expressions(|expr| {
        let name = names.save(&expr);
        let checked = expr.transform_down(|e| {
            types::check(&e, &schema)?;
            lists::check(&e, &schema)?;
            Ok(replacement(&e, &schema).map_or_else(|| Transformed::no(e), Transformed::yes))
        })?;
        Ok(if checked.transformed { checked.update_data(|expr| name.restore(expr)) } else { checked })
    })
}

fn replacement(expr: &Expr, schema: &DFSchema) -> Option<Expr> {
    let (op, operands) = match expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
            let op = match op {
                Operator::Plus => CheckedOp::Add,
                Operator::Minus => CheckedOp::Subtract,
                Operator::Multiply => CheckedOp::Multiply,
                Operator::BitwiseShiftLeft => CheckedOp::ShiftLeft,
                Operator::BitwiseShiftRight => CheckedOp::ShiftRight,
                _ => return None,
            };
            (op, vec![left.as_ref(), right.as_ref()])
        }
        Expr::Negative(number) => (CheckedOp::Negate, vec![number.as_ref()]),
        _ => return None,
    };
    let mut types = operands.iter().map(|operand| operand.get_type(schema).ok());
    let first = types.next()??;
    if !is_checked(&first) || types.any(|ty| ty.as_ref() != Some(&first)) {
        return None;
    }
    let function = ScalarUDF::from(Checked::new(op, written(expr)));
    Some(function.call(operands.into_iter().cloned().collect()))
}

/// An expression for people, with the parentheses that it needs.
fn written(expr: &Expr) -> String {
    let Expr::BinaryExpr(BinaryExpr { left, op, right }) = expr else {
        return expr.human_display().to_string();
    };
    let operand = |operand: &Expr, binds: fn(u8, u8) -> bool| match operand {
        Expr::BinaryExpr(inner) if !binds(inner.op.precedence(), op.precedence()) => {
            format!("({})", written(operand))
        }
        _ => written(operand),
    };
    format!(
        "{} {op} {}",
        operand(left, |inner, outer| inner >= outer),
        operand(right, |inner, outer| inner > outer)
    )
}
