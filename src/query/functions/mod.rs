//! Functions that SQL over traces needs beside those of the engine. Not for operators that stand behind plain SQL.

mod gap_between;
mod windows;

use std::sync::Arc;

use datafusion::logical_expr::ScalarUDF;

use crate::store::Database;

/// All functions, over the tables of a database.
pub(super) fn functions(database: &Arc<Database>) -> Vec<ScalarUDF> {
    vec![
        ScalarUDF::from(gap_between::GapBetween::new(Arc::clone(database))),
        ScalarUDF::from(windows::Windows::new()),
    ]
}
