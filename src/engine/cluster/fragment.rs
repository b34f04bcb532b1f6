//! Which parts of a statement can be computed recording by recording: the fragments that executors run, each
//! for its recordings. Not how they are run (see `statement`).
//!
//! The rows of a fragment are those of all recordings together. That holds for the tables of the database,
//! and for a node over fragments in which the recording is a key: a group, a partition of a window, a
//! condition of a join that equates recordings. A filter, a projection or a union has no need of the key. Any
//! other node is none, whatever it does.

use std::collections::BTreeSet;

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::datasource::source_as_provider;
use datafusion::logical_expr::{
    Aggregate, Distinct, Expr, Join, JoinType, LogicalPlan, Projection, TableScan,
};

use crate::engine::functions::READ_GAPS;
use crate::engine::table::{Table, is_plain};
use crate::engine::table_functions::{ChainsTable, DiscoveredTable, Node, PartsTable};
use crate::schema::columns::btf_event::RECORDING;

/// What is known of a node whose rows are those of all recordings together: which of its columns are the
/// recording.
type Recordings = BTreeSet<usize>;

/// The largest fragments of a plan, from left to right.
pub(super) fn fragments(plan: &LogicalPlan) -> Result<Vec<LogicalPlan>> {
    let mut found = Vec::new();
    cut(plan.clone(), &mut |fragment| {
        found.push(fragment.clone());
        Ok(fragment)
    })?;
    Ok(found)
}

/// The plan with another plan in place of each of its largest fragments.
pub(super) fn cut(
    plan: LogicalPlan,
    other: &mut dyn FnMut(LogicalPlan) -> Result<LogicalPlan>,
) -> Result<LogicalPlan> {
    let cut = plan.transform_down(|node| match of_plan(&node) {
        Some(_) => Ok(Transformed::new(other(node)?, true, TreeNodeRecursion::Jump)),
        None => Ok(Transformed::no(node)),
    })?;
    Ok(cut.data)
}

/// True if all that a plan reads is in the database, so that an executor can plan the same.
pub(super) fn is_of_database(plan: &LogicalPlan) -> Result<bool> {
    let mut all = true;
    plan.apply_with_subqueries(|node| {
        if let LogicalPlan::TableScan(scan) = node {
            all &= is_ours(scan);
        }
        Ok(if all { TreeNodeRecursion::Continue } else { TreeNodeRecursion::Stop })
    })?;
    Ok(all)
}

fn is_ours(scan: &TableScan) -> bool {
    source_as_provider(&scan.source).is_ok_and(|provider| {
        provider.downcast_ref::<Table>().is_some()
            || provider.downcast_ref::<ChainsTable>().is_some()
            || provider.downcast_ref::<DiscoveredTable>().is_some()
            || provider.downcast_ref::<PartsTable>().is_some()
    })
}

/// `None` if the node is no fragment.
fn of_plan(plan: &LogicalPlan) -> Option<Recordings> {
    let mut plain = true;
    let read = plan.apply_expressions(|expr| {
        plain &= is_plain(expr);
        Ok(TreeNodeRecursion::Continue)
    });
    if read.is_err() || !plain {
        return None;
    }
    match plan {
        LogicalPlan::TableScan(scan) => of_scan(scan),
        LogicalPlan::SubqueryAlias(alias) => of_plan(&alias.input),
        LogicalPlan::Filter(filter) => of_checked(&filter.input, [&filter.predicate]),
        LogicalPlan::Projection(projection) => of_projection(projection),
        LogicalPlan::Aggregate(aggregate) => of_aggregate(aggregate),
        LogicalPlan::Distinct(Distinct::All(input)) => of_plan(input).filter(|known| !known.is_empty()),
        LogicalPlan::Window(window) => {
            let known = of_checked(&window.input, &window.window_expr)?;
            let by_recording = |expr: &Expr| match unaliased(expr) {
                Expr::WindowFunction(call) => {
                    call.params.partition_by.iter().any(|key| is_recording(key, &window.input, &known))
                }
                _ => false,
            };
            window.window_expr.iter().all(by_recording).then_some(known)
        }
        LogicalPlan::Join(join) => of_join(join),
        LogicalPlan::Union(union) => {
            let inputs = union.inputs.iter().map(|input| of_plan(input)).collect::<Option<Vec<_>>>()?;
            inputs.into_iter().reduce(|a, b| a.intersection(&b).copied().collect())
        }
        LogicalPlan::Extension(extension) => {
            let node = extension.node.as_any().downcast_ref::<Node>()?;
            let inputs = node.plans().iter().map(of_plan).collect::<Option<Vec<_>>>()?;
            node.keyed_by(&inputs)
        }
        _ => None,
    }
}

fn of_scan(scan: &TableScan) -> Option<Recordings> {
    // The first rows are those of the first recordings.
    if !is_ours(scan) || scan.fetch.is_some() || scan.source.schema().index_of(RECORDING).is_err() {
        return None;
    }
    let fields = scan.projected_schema.fields().iter();
    Some(fields.zip(0..).filter(|(field, _)| field.name() == RECORDING).map(|(_, at)| at).collect())
}

/// The input, if all that is computed from it needs no more than its recording.
fn of_checked<'e>(input: &LogicalPlan, exprs: impl IntoIterator<Item = &'e Expr>) -> Option<Recordings> {
    let known = of_plan(input)?;
    exprs.into_iter().all(|expr| reads_own_gaps(expr, input, &known)).then_some(known)
}

fn of_projection(projection: &Projection) -> Option<Recordings> {
    let known = of_checked(&projection.input, &projection.expr)?;
    let of = |(expr, at): (&Expr, usize)| is_recording(expr, &projection.input, &known).then_some(at);
    Some(projection.expr.iter().zip(0..).filter_map(of).collect())
}

fn of_aggregate(aggregate: &Aggregate) -> Option<Recordings> {
    let known = of_checked(&aggregate.input, aggregate.group_expr.iter().chain(&aggregate.aggr_expr))?;
    if aggregate.group_expr.iter().any(|key| matches!(key, Expr::GroupingSet(_))) {
        return None;
    }
    let of = |(key, at): (&Expr, usize)| is_recording(key, &aggregate.input, &known).then_some(at);
    let keys: Recordings = aggregate.group_expr.iter().zip(0..).filter_map(of).collect();
    Some(keys).filter(|keys| !keys.is_empty())
}

fn of_join(join: &Join) -> Option<Recordings> {
    // NOT IN: one NULL anywhere empties the result.
    if join.null_aware {
        return None;
    }
    let (left, right) = (of_plan(&join.left)?, of_plan(&join.right)?);
    let equates =
        |(l, r): &(Expr, Expr)| is_recording(l, &join.left, &left) && is_recording(r, &join.right, &right);
    if !join.on.iter().any(equates) || join.filter.iter().any(reads_gaps) {
        return None;
    }
    let width = join.left.schema().fields().len();
    let shifted = || right.iter().map(|at| at + width);
    Some(match join.join_type {
        JoinType::Inner => left.iter().copied().chain(shifted()).collect(),
        JoinType::Left | JoinType::LeftSemi | JoinType::LeftAnti | JoinType::LeftMark => left,
        JoinType::Right => shifted().collect(),
        JoinType::RightSemi | JoinType::RightAnti | JoinType::RightMark => right,
        // The recording of a row is in one of two columns.
        JoinType::Full => Recordings::new(),
    })
}

fn unaliased(expr: &Expr) -> &Expr {
    match expr {
        Expr::Alias(alias) => unaliased(&alias.expr),
        expr => expr,
    }
}

fn is_recording(expr: &Expr, input: &LogicalPlan, known: &Recordings) -> bool {
    match unaliased(expr) {
        Expr::Column(column) => {
            input.schema().maybe_index_of_column(column).is_some_and(|at| known.contains(&at))
        }
        _ => false,
    }
}

fn reads_gaps(expr: &Expr) -> bool {
    let call =
        |e: &Expr| Ok(matches!(e, Expr::ScalarFunction(call) if READ_GAPS.contains(&call.func.name())));
    expr.exists(call).unwrap_or(true)
}

/// Functions that read gaps of the database read those of the recording of the row.
fn reads_own_gaps(expr: &Expr, input: &LogicalPlan, known: &Recordings) -> bool {
    let other = |e: &Expr| {
        Ok(match e {
            Expr::ScalarFunction(call) if READ_GAPS.contains(&call.func.name()) => {
                !call.args.first().is_some_and(|first| is_recording(first, input, known))
            }
            _ => false,
        })
    };
    !expr.exists(other).unwrap_or(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::cluster::asked::Asked;
    use crate::engine::tests::fixture;
    use crate::library::{MADE_FUNCTIONS, Queries};

    /// For each fragment of a statement, the first node that is no other name for what is below it; and
    /// whether the whole statement is one.
    fn found(sql: &str) -> (Vec<String>, bool) {
        let (_dir, session) = fixture::empty();
        let asked = Asked { sql: sql.to_owned(), params: Vec::new(), limit: None, now: None };
        let state = session.context().state();
        let plan = session.runner().runtime().block_on(asked.plan(state)).unwrap();
        let found = fragments(&plan).unwrap();
        let first = |plan: &LogicalPlan| {
            let mut plan = plan;
            while let LogicalPlan::SubqueryAlias(alias) = plan {
                plan = &alias.input;
            }
            let text = plan.display().to_string();
            text.split([':', ' ']).next().unwrap_or_default().to_owned()
        };
        (found.iter().map(first).collect(), found.first() == Some(&plan))
    }

    #[test]
    fn a_key_is_the_recording() {
        for whole in [
            "SELECT * FROM btf_event WHERE time > 3",
            "SELECT time + 1 FROM btf_event",
            "SELECT recording, core, count(*) FROM data_event GROUP BY 1, 2",
            "SELECT recording AS r, max(time) - min(time) FROM btf_event GROUP BY recording HAVING count(*) > 3",
            "SELECT lag(time) OVER (PARTITION BY recording, target ORDER BY time) FROM btf_event",
            "SELECT a.time FROM btf_event a JOIN gap g ON g.recording = a.recording AND g.begin_at < a.time",
            "SELECT a.time FROM btf_event a, gap g WHERE g.recording = a.recording",
            "SELECT a.time, g.core FROM btf_event a LEFT JOIN gap g ON g.recording = a.recording",
            "SELECT time FROM btf_event e WHERE EXISTS (SELECT 1 FROM gap g WHERE g.recording = e.recording)",
            "SELECT DISTINCT recording, target FROM btf_event",
            // No name of a recording is NULL.
            "SELECT recording FROM recording WHERE recording NOT IN (SELECT recording FROM gap)",
            "SELECT recording, time FROM btf_event UNION ALL SELECT recording, begin_at FROM gap",
            "SELECT recording, time, max(time) OVER (PARTITION BY recording) FROM \
             (SELECT recording, time FROM btf_event UNION ALL SELECT recording, begin_at FROM gap) u",
            "SELECT * FROM interval_merge((SELECT recording, core, begin_at, end_at FROM process_state), recording, core)",
            "SELECT gap_between(recording, core, begin_at, core, end_at) FROM gap",
            "SELECT e.time, (SELECT max(g.begin_at) FROM gap g WHERE g.recording = e.recording) FROM btf_event e",
        ] {
            assert!(found(whole).1, "{whole}: {:?}", found(whole).0);
        }
    }

    #[test]
    fn what_needs_all_recordings_is_no_fragment() {
        for (sql, fragments) in [
            ("SELECT count(*) FROM btf_event", vec!["TableScan"]),
            ("SELECT core, count(*) FROM data_event GROUP BY core", vec!["TableScan"]),
            ("SELECT upper(recording), count(*) FROM btf_event GROUP BY 1", vec!["TableScan"]),
            ("SELECT lag(time) OVER (ORDER BY time) FROM btf_event", vec!["TableScan"]),
            ("SELECT lag(time) OVER (PARTITION BY target ORDER BY time) FROM btf_event", vec!["TableScan"]),
            (
                "SELECT a.time FROM btf_event a JOIN gap g ON g.core = a.source",
                vec!["TableScan", "TableScan"],
            ),
            ("SELECT a.time FROM btf_event a CROSS JOIN gap g", vec!["TableScan", "TableScan"]),
            // The keys are recordings of different rows.
            (
                "SELECT a.time FROM btf_event a JOIN gap g ON g.recording = a.source",
                vec!["TableScan", "TableScan"],
            ),
            // A column that is called so is not the recording.
            (
                "SELECT recording, count(*) FROM (SELECT core AS recording FROM data_event) d GROUP BY 1",
                vec!["Projection"],
            ),
            ("SELECT recording, time FROM btf_event ORDER BY time LIMIT 3", vec!["TableScan"]),
            (
                "SELECT recording FROM process_instance WHERE core NOT IN (SELECT core FROM gap)",
                vec!["TableScan", "TableScan"],
            ),
            ("SELECT gap_between('a', core, begin_at, core, end_at) FROM gap", vec!["TableScan"]),
            (
                "SELECT * FROM interval_merge((SELECT core, begin_at, end_at FROM process_state), core)",
                vec!["Projection"],
            ),
            // The first rows are those of the first recordings.
            ("SELECT time FROM btf_event LIMIT 3", vec![]),
            ("SELECT 1", vec![]),
            (
                "SELECT a.time FROM (SELECT recording, time FROM btf_event LIMIT 3) a \
              JOIN gap g ON a.recording = g.recording",
                vec!["TableScan"],
            ),
            ("SELECT recording, time FROM btf_event UNION ALL SELECT 'x', 1", vec!["TableScan"]),
        ] {
            let (found, whole) = found(sql);
            assert!(!whole, "{sql}");
            assert_eq!(found, fragments, "{sql}");
        }
    }

    /// All metrics are of each recording by itself, and so are all views but those whose rows an operation
    /// makes: it runs where the statement was asked.
    #[test]
    fn the_library_is_made_of_fragments() {
        let queries = Queries::shipped();
        for view in queries.views().iter().filter(|view| view.params.is_empty()) {
            let sql = format!("SELECT * FROM {}", view.name);
            let is_made = MADE_FUNCTIONS.iter().any(|made| made.view == Some(view.name.as_str()));
            let (found, whole) = found(&sql);
            assert_eq!(whole, !is_made, "{sql}: {found:?}");
            assert!(whole || found.is_empty(), "{sql}: {found:?}");
        }
        for metric in queries.metrics().iter().filter(|metric| metric.params.is_empty()) {
            assert!(found(&metric.sql).1, "{}: {:?}", metric.name, found(&metric.sql).0);
        }
    }
}
