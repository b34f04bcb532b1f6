//! Refuses casts to types with which the engine computes wrongly, or fails. Not for what it computes with
//! values of other types (see `check_arithmetic`, `lists`).

use arrow::datatypes::DataType;
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::{Expr, ExprSchemable};

use crate::engine::sql::refused;

/// Fails for a cast to such a type, also inside of another one.
pub(super) fn check(expr: &Expr, schema: &DFSchema) -> Result<()> {
    let is_cast = match expr {
        Expr::Cast(_) | Expr::TryCast(_) => true,
        Expr::ScalarFunction(call) => ["arrow_cast", "arrow_try_cast"].contains(&call.name()),
        _ => false,
    };
    match is_cast.then(|| expr.get_type(schema)).transpose()? {
        Some(ty) => check_type(&ty),
        None => Ok(()),
    }
}

fn check_type(ty: &DataType) -> Result<()> {
    match ty {
        // It loses the number of its rows.
        DataType::FixedSizeList(_, length) if *length < 1 => {
            Err(refused("a list of a fixed size has at least one element", None, "x::BIGINT[] has any size"))
        }
        // Functions take it for one value, not for a list.
        DataType::ListView(_) | DataType::LargeListView(_) => {
            Err(refused("lists of views cannot be computed with", None, "x::BIGINT[] is a list"))
        }
        // Comparisons divide by zero, and 5 is printed as 000.
        DataType::Decimal32(_, scale)
        | DataType::Decimal64(_, scale)
        | DataType::Decimal128(_, scale)
        | DataType::Decimal256(_, scale)
            if *scale < 0 =>
        {
            Err(refused(
                "a decimal has no negative number of digits behind the point",
                None,
                "x::DECIMAL(38, 0) has all digits before it; round(x, -2) rounds to hundreds",
            ))
        }
        DataType::Struct(fields) => fields.iter().try_for_each(|field| check_type(field.data_type())),
        DataType::Dictionary(_, values) => check_type(values),
        DataType::RunEndEncoded(_, values) => check_type(values.data_type()),
        other => element(other).map_or(Ok(()), check_type),
    }
}

/// The type of the elements of a list.
pub(super) fn element(list: &DataType) -> Option<&DataType> {
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
