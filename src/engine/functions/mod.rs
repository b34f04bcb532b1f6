//! Functions of SQL over traces that DataFusion does not have. Not for operators that run plain SQL.

mod argument;
mod checked;
pub(super) mod exact_sums;
mod gaps;
mod json_part;
mod mode;
mod shifts;
mod stddev;
mod sum;
mod windows;
pub(super) mod words;

use std::sync::Arc;

use datafusion::logical_expr::{AggregateUDF, ScalarUDF};

use crate::store::Database;

pub(super) use checked::{Checked, CheckedOp, Overflow, is_checked};
#[cfg(feature = "cluster")]
pub(super) use gaps::READ_GAPS;
pub(super) use json_part::JsonParts;
pub(super) use sum::STATE as SUM_STATE;

/// Functions of one row that need no database.
pub(super) fn of_rows() -> Vec<ScalarUDF> {
    let mut functions = vec![argument::argument(), json_part::json_part()];
    functions.extend(words::words());
    functions
}

/// Aggregates that the engine does not have, or not as well.
pub(super) fn aggregates() -> Vec<AggregateUDF> {
    vec![
        AggregateUDF::from(mode::Mode::new()),
        AggregateUDF::from(stddev::Stddev::new()),
        AggregateUDF::from(sum::Sum::new()),
    ]
}

/// All functions of one row, for the tables of a database.
pub(super) fn functions(database: &Arc<Database>) -> Vec<ScalarUDF> {
    let mut functions = of_rows();
    functions.extend(gaps::functions(database));
    functions.push(windows::windows());
    functions
}
