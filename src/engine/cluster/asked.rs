//! What executors are asked of statements, and who asks them. Not how the answer is found (see `statement`).

use std::fmt;

use arrow::array::RecordBatch;
use arrow::array::temporal_conversions::as_datetime;
use arrow::array::types::TimestampNanosecondType;
use arrow::datatypes::SchemaRef;
use datafusion::common::{ParamValues, Result, ScalarValue};
use datafusion::execution::SessionState;
use datafusion::logical_expr::{LogicalPlan, LogicalPlanBuilder};
use serde::{Deserialize, Serialize};

use crate::engine::param::Param;
use crate::engine::plan::planned;

/// A statement whose fragments executors run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Asked {
    pub sql: String,
    pub params: Vec<(String, Param)>,
    /// Rows that are needed; `None`: all.
    pub limit: Option<usize>,
    /// What `now()` is, in nanoseconds since 1970.
    pub now: Option<i64>,
}

impl Asked {
    /// What `now()` is in a state.
    pub(in crate::engine) fn now_of(state: &SessionState) -> Option<i64> {
        state.execution_props().query_execution_start_time?.timestamp_nanos_opt()
    }

    /// The plan of the statement, as it is before fragments are found.
    pub(in crate::engine) async fn plan(&self, mut state: SessionState) -> Result<LogicalPlan> {
        if let Some(now) = self.now.and_then(as_datetime::<TimestampNanosecondType>) {
            state.execution_props_mut().query_execution_start_time = Some(now.and_utc());
        }
        let state = &state;
        let mut plan = planned(state, &self.sql).await?.plan;
        if !self.params.is_empty() {
            let values =
                self.params.iter().map(|(name, value)| (name.clone(), ScalarValue::from(value.clone())));
            plan = plan.with_param_values(ParamValues::from(values.collect::<Vec<_>>()))?;
        }
        self.optimized(state, plan)
    }

    /// The same, of the statement as it is planned.
    pub(in crate::engine) fn optimized(
        &self,
        state: &SessionState,
        plan: LogicalPlan,
    ) -> Result<LogicalPlan> {
        let plan = match self.limit {
            Some(limit) => LogicalPlanBuilder::from(plan).limit(0, Some(limit))?.build()?,
            None => plan,
        };
        state.optimize(&plan)
    }
}

/// A part of a statement, for executors.
#[derive(Debug, Clone)]
pub(crate) struct Fragment {
    /// Which one, from left to right.
    pub number: usize,
    /// The plan of it, as text: an executor that finds another one is not asked the same.
    pub plan: String,
    /// What is done with its rows, as bytes; empty: nothing.
    pub above: Vec<u8>,
}

/// Who has fragments run on executors.
pub(crate) trait RunFragment: fmt::Debug + Send + Sync {
    /// Gives `rows` each batch of a fragment of a statement, in any order, until that returns false.
    ///
    /// # Errors
    /// Those of the executors, and of the cluster.
    fn run(
        &self,
        asked: &Asked,
        fragment: &Fragment,
        schema: &SchemaRef,
        rows: &mut dyn FnMut(RecordBatch) -> bool,
    ) -> crate::error::Result<()>;
}
