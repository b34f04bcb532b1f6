//! Refuses values and functions of lists that the engine computes wrongly. Not for lists that it computes
//! right.

use arrow::datatypes::DataType;
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::{Expr, ExprSchemable};

use crate::engine::sql::refused;

/// Fails for an expression over lists that would give a wrong value; see below for which.
pub(super) fn check(expr: &Expr, schema: &DFSchema) -> Result<()> {
    check_type(expr, schema)?;
    check_function(expr, schema)
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
fn check_function(expr: &Expr, schema: &DFSchema) -> Result<()> {
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
