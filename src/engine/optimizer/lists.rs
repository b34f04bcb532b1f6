//! Refuses functions of lists that the engine computes wrongly. Not for types of lists (see `types`).

use std::mem::discriminant;

use arrow::datatypes::DataType;
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::{Expr, ExprSchemable};

use super::types::element;
use crate::engine::sql::refused;

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
pub(super) fn check(expr: &Expr, schema: &DFSchema) -> Result<()> {
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
    if call.name() == "map" {
        // Keys and values are taken for lists of the same kind.
        let types = types()?;
        let is_other = |two: &[DataType]| {
            let [keys, values] = two else { return false };
            !keys.is_null() && !values.is_null() && discriminant(keys) != discriminant(values)
        };
        if types.windows(2).any(is_other) {
            return Err(refused("'map' takes two lists of one kind", None, "CAST(x AS BIGINT[])"));
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
