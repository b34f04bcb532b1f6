//! Tests of statements on a real database.

mod arithmetic;
mod chains;
mod differential;
mod disorder;
pub(crate) mod fixture;
mod key_types;
pub(crate) mod operators;
mod overlaps;
mod parts;
mod scans;
mod sql_path;
mod statements;
mod table_functions;
mod times;

use arrow::array::RecordBatch;
use arrow::compute::concat_batches;
use arrow::util::display::{ArrayFormatter, FormatOptions};

use super::{Param, Session};
use crate::error::Result;

/// All rows of a statement.
pub(crate) fn collect(session: &Session, sql: &str, params: &[(&str, Param)]) -> Result<RecordBatch> {
    let stream = session.sql(sql, params)?;
    let schema = stream.schema().clone();
    let batches = stream.collect::<Result<Vec<_>>>()?;
    Ok(concat_batches(&schema, &batches).unwrap())
}

/// Rows as text: cells separated by blanks, NULL as `-`.
pub(crate) fn lines(batch: &RecordBatch) -> Vec<String> {
    let options = FormatOptions::new().with_null("-");
    let columns: Vec<_> =
        batch.columns().iter().map(|c| ArrayFormatter::try_new(c, &options).unwrap()).collect();
    let line = |row| columns.iter().map(|c| c.value(row).to_string()).collect::<Vec<_>>().join(" ");
    (0..batch.num_rows()).map(line).collect()
}

pub(crate) fn rows(session: &Session, sql: &str) -> Vec<String> {
    lines(&collect(session, sql, &[]).unwrap())
}
