//! A comparison of two builds as rows, for SQL. Not how they are found (see `report`), nor text for people.

use super::report::{CauseRow, Report, Row};
use crate::error::{Error, ErrorKind, Result};
use arrow::array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray};
use std::sync::Arc;

impl Report {
    /// The rows as a batch, each with its first cause.
    ///
    /// # Errors
    /// [`ErrorKind::Bug`] only.
    pub fn batch(&self) -> Result<RecordBatch> {
        let text = |of: &dyn Fn(&Row) -> Option<String>| -> ArrayRef {
            Arc::new(self.rows.iter().map(of).collect::<StringArray>())
        };
        let number = |of: &dyn Fn(&Row) -> Option<f64>| -> ArrayRef {
            Arc::new(self.rows.iter().map(of).collect::<Float64Array>())
        };
        let count = |of: &dyn Fn(&Row) -> u64| -> ArrayRef {
            Arc::new(self.rows.iter().map(|row| i64::try_from(of(row)).ok()).collect::<Int64Array>())
        };
        let flag = |of: &dyn Fn(&Row) -> Option<bool>| -> ArrayRef {
            Arc::new(self.rows.iter().map(of).collect::<BooleanArray>())
        };
        let of_cause = |of: &dyn Fn(&CauseRow) -> String| text(&|row| row.causes.first().map(of));
        let word = |of: Option<&'static str>| of.map(str::to_owned);
        let batch = RecordBatch::try_from_iter_with_nullable([
            ("metric", text(&|row| Some(row.metric.clone())), true),
            ("entity", text(&|row| Some(row.entity.clone())), true),
            ("type", text(&|row| Some(row.kind.clone())), true),
            ("statistic", text(&|row| word(row.statistic)), true),
            ("count_before", count(&|row| row.count_before), true),
            ("count_after", count(&|row| row.count_after), true),
            ("before", number(&|row| row.before), true),
            ("after", number(&|row| row.after), true),
            ("effect", number(&|row| row.effect), true),
            ("percent", number(&|row| row.percent), true),
            ("low", number(&|row| row.low), true),
            ("high", number(&|row| row.high), true),
            ("p_value", number(&|row| row.p_value), true),
            ("detectable", number(&|row| row.detectable), true),
            ("needed", number(&|row| row.needed), true),
            ("verdict", text(&|row| word(Some(row.verdict))), true),
            ("fails", flag(&|row| Some(row.fails)), true),
            ("basis", text(&|row| word(row.basis)), true),
            ("hindrance", text(&|row| word(row.hindrance)), true),
            ("between_runs", number(&|row| Some(row.between_runs)), true),
            ("cause_entity", of_cause(&|cause| cause.entity.clone()), true),
            ("cause_kind", of_cause(&|cause| cause.kind.clone()), true),
            ("cause", of_cause(&|cause| cause.name.clone()), true),
            ("cause_explains", number(&|row| row.causes.first().map(|cause| cause.explains)), true),
            ("cause_sure", flag(&|row| row.causes.first().map(|cause| cause.sure)), true),
            ("cause_path", of_cause(&|cause| cause.path.join(", ")), true),
        ]);
        batch.map_err(|e| Error::new(ErrorKind::Bug, "changes do not fit their columns").because(e))
    }
}
