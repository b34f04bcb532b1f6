//! `SUMMARIZE` and `DESCRIBE`: one row per column of a query, with what is in it, or with its type in the
//! words of SQL. Not for statistics of metrics.

use arrow::datatypes::{DataType, Schema};
use datafusion::common::{Column, ExprSchema, Result, ScalarValue};
use datafusion::execution::SessionState;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, cast, ident, lit};

use super::refused;

/// A row per column: its name and type, and whether it can be NULL.
pub(in crate::engine) fn described(schema: &Schema) -> Result<LogicalPlan> {
    let row = |at: usize, name: &str, ty: &DataType, nullable: bool| {
        let texts = [name.to_owned(), sql_name(ty), (if nullable { "YES" } else { "NO" }).to_owned()];
        std::iter::once(lit(at as i64)).chain(texts.map(lit)).collect::<Vec<_>>()
    };
    let fields = schema.fields().iter().enumerate();
    let rows = fields.map(|(at, f)| row(at, f.name(), f.data_type(), f.is_nullable())).collect();
    let names = ["column_name", "data_type", "is_nullable"];
    let columns = ["column2", "column3", "column4"].into_iter().zip(names);
    LogicalPlanBuilder::values(rows)?
        .sort([ident("column1").sort(true, false)])?
        .project(columns.map(|(column, name)| ident(column).alias(name)))?
        .build()
}

/// A row per column of `input`: its name and type, its least and greatest value as text, about how many
/// different values it has, average and median of numbers, and the numbers of rows and of NULLs.
pub(in crate::engine) fn summary(state: &SessionState, input: &LogicalPlan) -> Result<LogicalPlan> {
    let columns = input.schema().columns();
    let rows = columns.into_iter().enumerate().map(|(at, column)| row(state, input, at, column));
    let mut rows = rows.collect::<Result<Vec<_>>>()?.into_iter();
    let Some(first) = rows.next() else {
        return Err(refused(
            "there is no column to summarize",
            None,
            "SUMMARIZE table, or SUMMARIZE SELECT …",
        ));
    };
    let all = rows.try_fold(LogicalPlanBuilder::from(first), |all, row| all.union(row))?;
    let all = all.sort([ident("position").sort(true, false)])?;
    let columns =
        ["column_name", "column_type", "min", "max", "approx_distinct", "avg", "median", "count", "nulls"];
    all.project(columns.map(ident))?.build()
}

fn row(state: &SessionState, input: &LogicalPlan, at: usize, column: Column) -> Result<LogicalPlan> {
    let ty = input.schema().field_from_column(&column)?.data_type().clone();
    let name = column.name.clone();
    let value = Expr::Column(column);
    let text = |value: Expr| cast(value, DataType::Utf8View);
    let integer = |value: Expr| cast(value, DataType::Int64);
    let is_number = ty.is_numeric();
    let has_order = is_number || ty.is_temporal() || ty.is_string() || ty == DataType::Boolean;
    let number = cast(value.clone(), DataType::Float64);
    // Sketches have no floating-point numbers.
    let counted = if ty.is_floating() { text(value.clone()) } else { value.clone() };
    let mut aggregates = Vec::new();
    let mut aggregate = |function: &str, argument: Expr, name: &str| {
        if let Some(function) = state.aggregate_functions().get(function) {
            aggregates.push(function.call(vec![argument]).alias(name));
        }
        ident(name)
    };
    let (rows, valid) = (aggregate("count", lit(1), "rows"), aggregate("count", value.clone(), "valid"));
    let distinct = aggregate("approx_distinct", counted, "different");
    let null = |ty: DataType| ScalarValue::try_from(&ty).map(|null| Expr::Literal(null, None));
    let (min, max) = match has_order {
        true => (text(aggregate("min", value.clone(), "least")), text(aggregate("max", value, "greatest"))),
        false => (null(DataType::Utf8View)?, null(DataType::Utf8View)?),
    };
    let (avg, median) = match is_number {
        true => (aggregate("avg", number.clone(), "average"), aggregate("median", number, "middle")),
        false => (null(DataType::Float64)?, null(DataType::Float64)?),
    };
    let row = [
        lit(at as i64).alias("position"),
        text(lit(name)).alias("column_name"),
        text(lit(sql_name(&ty))).alias("column_type"),
        min.alias("min"),
        max.alias("max"),
        integer(distinct).alias("approx_distinct"),
        avg.alias("avg"),
        median.alias("median"),
        integer(rows.clone()).alias("count"),
        integer(rows - valid).alias("nulls"),
    ];
    let plan = LogicalPlanBuilder::from(input.clone()).aggregate(Vec::<Expr>::new(), aggregates)?;
    plan.project(row)?.build()
}

/// The name of a type in SQL.
fn sql_name(ty: &DataType) -> String {
    match ty {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => "VARCHAR".into(),
        DataType::Int64 => "BIGINT".into(),
        DataType::Int32 => "INTEGER".into(),
        DataType::Float64 => "DOUBLE".into(),
        DataType::Boolean => "BOOLEAN".into(),
        DataType::UInt64 => "BIGINT UNSIGNED".into(),
        DataType::Decimal128(digits, scale) => format!("DECIMAL({digits}, {scale})"),
        DataType::List(element) => format!("{}[]", sql_name(element.data_type())),
        other => other.to_string(),
    }
}
