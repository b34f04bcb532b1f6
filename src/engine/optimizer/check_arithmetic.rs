//! Replaces `+`, `-`, `*`, `<<` and `>>` of whole numbers, which wrap around in DataFusion, by operations
//! that fail, and refuses values and functions of lists that the engine computes wrongly. Not for the
//! operations (see `functions`); sums over rows are checked by their own accumulators.

use arrow::datatypes::DataType;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, LogicalPlan, Operator, ScalarUDF};
use datafusion::optimizer::AnalyzerRule;

use crate::engine::functions::{Checked, CheckedOp, is_checked};
use crate::engine::sql::refused;

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
            check_type(&e, &schema)?;
            check_list(&e, &schema)?;
            Ok(replacement(&e, &schema).map_or_else(|| Transformed::no(e), Transformed::yes))
        })?;
        Ok(if checked.transformed { checked.update_data(|expr| name.restore(expr)) } else { checked })
    })
}

/// Refuses lists of a fixed size of 0, which lose the number of their rows.
fn check_type(expr: &Expr, schema: &DFSchema) -> Result<()> {
    let is_cast = match expr {
        Expr::Cast(_) | Expr::TryCast(_) => true,
        Expr::ScalarFunction(call) => ["arrow_cast", "arrow_try_cast"].contains(&call.name()),
        _ => false,
    };
    if is_cast && has_empty_lists(&expr.get_type(schema)?) {
        return Err(refused(
            "a list of a fixed size has at least one element",
            None,
            "x::BIGINT[] has any size",
        ));
    }
    Ok(())
}

fn has_empty_lists(ty: &DataType) -> bool {
    match ty {
        DataType::FixedSizeList(_, length) if *length < 1 => true,
        DataType::Struct(fields) => fields.iter().any(|field| has_empty_lists(field.data_type())),
        DataType::Dictionary(_, values) => has_empty_lists(values),
        other => element(other).is_some_and(has_empty_lists),
    }
}

/// The type of the elements of a list.
fn element(list: &DataType) -> Option<&DataType> {
    match list {
        DataType::List(of)
        | DataType::LargeList(of)
        | DataType::ListView(of)
        | DataType::LargeListView(of)
        | DataType::FixedSizeList(of, _)
        | DataType::Map(of, _) => Some(of.data_type()),
        _ => None,
    }
}

/// Functions that compute with the numbers of lists.
const OF_NUMBERS: [&str; 10] = [
    "array_sum",
    "array_product",
    "array_avg",
    "array_normalize",
    "array_scale",
    "array_add",
    "array_subtract",
    "array_distance",
    "cosine_distance",
    "inner_product",
];

/// Refuses functions of lists that compute whole numbers as floating-point numbers, and lists that the engine
/// takes for others.
fn check_list(expr: &Expr, schema: &DFSchema) -> Result<()> {
    let Expr::ScalarFunction(call) = expr else { return Ok(()) };
    let types = || call.args.iter().map(|arg| arg.get_type(schema)).collect::<Result<Vec<_>>>();
    if OF_NUMBERS.contains(&call.name()) {
        let is_nested = |ty: &DataType| element(ty).is_some_and(|of| element(of).is_some());
        if types()?.iter().any(is_nested) {
            let message = format!("'{}' takes lists of numbers, not lists of lists", call.name());
            return Err(refused(message, None, "flatten(x) makes one list of the lists in x"));
        }
    }
    if call.name() == "array_concat" {
        let types = types()?;
        if types.windows(2).any(|two| matches!(two, [a, b] if a != b && !a.is_null() && !b.is_null())) {
            return Err(refused("'array_concat' takes lists of one type", None, "CAST(x AS BIGINT[])"));
        }
    }
    let ("array_sum" | "array_product", [Expr::Cast(list)]) = (call.name(), call.args.as_slice()) else {
        return Ok(());
    };
    let element = match list.expr.get_type(schema)? {
        DataType::List(of) | DataType::LargeList(of) | DataType::FixedSizeList(of, _) => of,
        _ => return Ok(()),
    };
    if !element.data_type().is_integer() && !element.data_type().is_decimal() {
        return Ok(());
    }
    let message = format!("'{}' computes whole numbers as DOUBLE, which may lose digits", call.name());
    Err(refused(message, None, "exact sums are those of rows: SELECT sum(x) FROM unnest(…) AS list(x)"))
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
