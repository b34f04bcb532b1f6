//! SQL text → logical plan: queries, and views and tables of the session. Not for running it (see `run`), and
//! not for what btfdb adds to SQL (see `sql`).

use datafusion::common::Result;
use datafusion::execution::SessionState;
use datafusion::logical_expr::LogicalPlan;
use datafusion::prelude::SQLOptions;

use super::sql::{self, Names, ParseOptions, Parsed};

/// A statement that can be run.
pub(super) struct Planned {
    pub plan: LogicalPlan,
    /// The columns of its result, as typed.
    pub names: Names,
    /// Its rows describe columns, so that times and other values are in one column.
    pub summarize: bool,
}

/// Plans a query, or a statement that makes or drops a view or table of the session.
pub(super) async fn planned(state: &SessionState, text: &str) -> Result<Planned> {
    let options = state.config().get_extension::<ParseOptions>().map_or_else(ParseOptions::default, |o| *o);
    let Parsed { statement, names, summarize } = sql::parse(text, options)?;
    let plan = state.statement_to_plan(statement).await?;
    sql::check_types(plan.schema())?;
    // The parsed statement was checked; this is the same promise, made by the engine.
    let of_session = matches!(plan, LogicalPlan::Ddl(_));
    let read_only =
        SQLOptions::new().with_allow_ddl(of_session).with_allow_dml(false).with_allow_statements(false);
    read_only.verify_plan(&plan)?;
    let plan = match plan {
        plan if summarize => sql::summary(state, &plan)?,
        LogicalPlan::DescribeTable(table) => sql::described(&table.schema)?,
        plan => plan,
    };
    Ok(Planned { plan, names, summarize })
}

/// Plans a query.
pub(super) async fn plan(state: &SessionState, text: &str) -> Result<LogicalPlan> {
    match planned(state, text).await?.plan {
        LogicalPlan::Ddl(_) => Err(sql::refused("a query is expected here", None, "SELECT …")),
        plan => Ok(plan),
    }
}
