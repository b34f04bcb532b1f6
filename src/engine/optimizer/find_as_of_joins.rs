//! Finds the as-of join in SQL: a subquery for the latest row before an instant of the outer row,
//! `WHERE b.key = a.key AND b.time <= a.time ORDER BY b.time DESC LIMIT 1`, joined LATERAL or in SELECT. Not
//! for what the join does (see `operators`).

use std::collections::HashMap;

use arrow::datatypes::DataType;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, Result, TableReference};
use datafusion::logical_expr::expr_rewriter::strip_outer_reference;
use datafusion::logical_expr::logical_plan::{FetchType, SkipType, SubqueryAlias};
use datafusion::logical_expr::utils::{conjunction, split_conjunction};
use datafusion::logical_expr::{
    BinaryExpr, Expr, ExprSchemable, Join, JoinType, LogicalPlan, LogicalPlanBuilder, Operator, Projection,
    Subquery,
};
use datafusion::optimizer::push_down_filter::replace_cols_by_name;
use datafusion::optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule};

use crate::engine::operators::key_type;
use crate::engine::table_functions::{Node, Operation, Side};

/// Runs first, before DataFusion decorrelates the query in another way.
#[derive(Debug)]
pub(in crate::engine) struct FindAsOfJoins;

impl OptimizerRule for FindAsOfJoins {
    fn name(&self) -> &str {
        "find_as_of_joins"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::BottomUp)
    }

    fn rewrite(&self, plan: LogicalPlan, _: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        let found = match &plan {
            LogicalPlan::Join(join) => lateral(join)?,
            LogicalPlan::Projection(projection) => selected(projection)?,
            _ => None,
        };
        Ok(found.map_or_else(|| Transformed::no(plan), Transformed::yes))
    }
}

/// `a LEFT JOIN LATERAL (…) AS w ON true`, or the same without LEFT, which drops rows of `a` without a match.
fn lateral(join: &Join) -> Result<Option<LogicalPlan>> {
    let always =
        |filter: &Option<Expr>| filter.as_ref().is_none_or(|f| *f == Expr::Literal(true.into(), None));
    if !matches!(join.join_type, JoinType::Left | JoinType::Inner)
        || !join.on.is_empty()
        || !always(&join.filter)
    {
        return Ok(None);
    }
    let (query, alias) = match join.right.as_ref() {
        LogicalPlan::SubqueryAlias(SubqueryAlias { input, alias, .. }) => (input.as_ref(), alias),
        _ => return Ok(None),
    };
    let LogicalPlan::Subquery(query) = query else { return Ok(None) };
    let Some(latest) = AsOfQuery::of(query, &join.left)? else { return Ok(None) };
    let inner = join.join_type == JoinType::Inner;
    let joined = latest.join(&join.left, alias, inner)?;
    if !inner {
        return Ok(Some(joined));
    }
    let there = Expr::Column(Column::new(Some(alias.clone()), TIME)).is_not_null();
    let columns: Vec<Expr> = join.schema.columns().into_iter().map(Expr::Column).collect();
    LogicalPlanBuilder::from(joined).filter(there)?.project(columns)?.build().map(Some)
}

/// `SELECT (…) FROM a`: every such query becomes a column.
fn selected(projection: &Projection) -> Result<Option<LogicalPlan>> {
    let mut input = projection.input.as_ref().clone();
    let (mut columns, mut found) = (Vec::with_capacity(projection.expr.len()), 0);
    for expr in &projection.expr {
        let name = expr.qualified_name();
        let replaced = expr.clone().transform_down(|e| {
            let Expr::ScalarSubquery(query) = &e else { return Ok(Transformed::no(e)) };
            let Some(latest) = AsOfQuery::of(query, &input)? else { return Ok(Transformed::no(e)) };
            found += 1;
            let alias = TableReference::bare(format!("latest {found}"));
            let Some((_, value)) = latest.output.first() else { return Ok(Transformed::no(e)) };
            let value = Column::new(Some(alias.clone()), value);
            input = latest.join(&input, &alias, false)?;
            Ok(Transformed::yes(Expr::Column(value)))
        })?;
        columns.push(match replaced.transformed {
            true => replaced.data.alias_qualified(name.0, name.1),
            false => replaced.data,
        });
    }
    match found {
        0 => Ok(None),
        _ => LogicalPlanBuilder::from(input).project(columns)?.build().map(Some),
    }
}

/// Names of columns that only the join sees.
const TIME: &str = "(time)";

/// A query for the latest row before an instant of the outer row.
struct AsOfQuery {
    /// The rows, with the conditions on them alone.
    rows: LogicalPlan,
    /// Equal keys: the expressions over the outer row and over the inner one, of one type.
    keys: Vec<(Expr, Expr)>,
    /// The outer instant, the inner time.
    outer: Expr,
    time: Expr,
    strict: bool,
    /// Which row of an instant is the latest one.
    order: Vec<Expr>,
    /// The output columns of the row, with names.
    output: Vec<(Expr, String)>,
}

impl AsOfQuery {
    /// Reads `query` for every row of `outside`, if it has that form.
    fn of(query: &Subquery, outside: &LogicalPlan) -> Result<Option<Self>> {
        let LogicalPlan::Limit(limit) = past_names(&query.subquery) else { return Ok(None) };
        let one = matches!(limit.get_fetch_type()?, FetchType::Literal(Some(1)))
            && matches!(limit.get_skip_type()?, SkipType::Literal(0));
        if !one {
            return Ok(None);
        }
        // From the outside in: the output, in terms of the rows.
        let output = query.subquery.schema().columns().into_iter();
        let mut output: Vec<(Expr, String)> = output.map(|c| (Expr::Column(c.clone()), c.name)).collect();
        let (mut order, mut plan) = (None::<Vec<(Expr, bool, bool)>>, query.subquery.as_ref());
        let filter = loop {
            match plan {
                LogicalPlan::Projection(projection) => {
                    let columns = column_exprs(projection);
                    for (expr, _) in &mut output {
                        *expr = replace_cols_by_name(expr.clone(), &columns)?;
                    }
                    for (expr, ..) in order.iter_mut().flatten() {
                        *expr = replace_cols_by_name(expr.clone(), &columns)?;
                    }
                    plan = projection.input.as_ref();
                }
                LogicalPlan::Limit(l) if std::ptr::eq(l, limit) => plan = l.input.as_ref(),
                LogicalPlan::Sort(sort) if order.is_none() => {
                    let terms = sort.expr.iter();
                    order = Some(terms.map(|s| (s.expr.clone(), s.asc, s.nulls_first)).collect());
                    plan = sort.input.as_ref();
                }
                LogicalPlan::Filter(filter) => break filter,
                _ => return Ok(None),
            }
        };
        let Some(mut order) = order else { return Ok(None) };
        let rows = filter.input.as_ref();
        let mut latest = Self {
            rows: rows.clone(),
            keys: Vec::new(),
            outer: Expr::Literal(false.into(), None),
            time: Expr::Literal(false.into(), None),
            strict: false,
            order: Vec::new(),
            output,
        };
        let (mut own, mut times) = (Vec::new(), 0);
        for condition in split_conjunction(&filter.predicate) {
            if !condition.contains_outer() {
                own.push(condition.clone());
                continue;
            }
            let Expr::BinaryExpr(BinaryExpr { left, op, right }) = condition else { return Ok(None) };
            // With the inner side on the left.
            let (inner, op, outer) = match (left.contains_outer(), op.swap()) {
                (false, _) => (left, *op, right),
                (true, Some(op)) => (right, op, left),
                (true, None) => return Ok(None),
            };
            if inner.contains_outer() || !outer.column_refs().is_empty() || outer.is_volatile() {
                return Ok(None);
            }
            // In the types that both sides were made equal in: often, one side is a cast.
            let (inner, outer) = (inner.as_ref().clone(), strip_outer_reference(outer.as_ref().clone()));
            if outer.column_refs().iter().any(|column| !outside.schema().has_column(column)) {
                return Ok(None);
            }
            let ty = inner.get_type(rows.schema())?;
            if ty != outer.get_type(outside.schema())? {
                return Ok(None);
            }
            match (op, key_type(&ty)) {
                (Operator::Eq, Some(ty)) => {
                    let (outer, inner) =
                        (outer.cast_to(&ty, outside.schema())?, inner.cast_to(&ty, rows.schema())?);
                    latest.keys.push((outer, inner));
                }
                (Operator::Lt | Operator::LtEq, _) if ty == DataType::Int64 => {
                    (latest.time, latest.outer, latest.strict) = (inner, outer, op == Operator::Lt);
                    times += 1;
                }
                _ => return Ok(None),
            }
        }
        // NULL is the highest of all, which is the default order.
        if times != 1 || order.iter().any(|(_, asc, nulls_first)| *asc || !*nulls_first) {
            return Ok(None);
        }
        // A whole number is in the same order after a cast.
        let uncast = match &latest.time {
            Expr::Cast(cast) if cast.expr.get_type(rows.schema())?.is_integer() => cast.expr.as_ref(),
            time => time,
        };
        if order.first().is_none_or(|(first, ..)| first != uncast && *first != latest.time) {
            return Ok(None);
        }
        latest.order = order.drain(1..).map(|(expr, ..)| expr).collect();
        if let Some(own) = conjunction(own) {
            latest.rows = LogicalPlanBuilder::from(latest.rows).filter(own)?.build()?;
        }
        let outer_remains = latest.rows.contains_outer_reference()
            || latest.output.iter().map(|(expr, _)| expr).chain(&latest.order).any(Expr::contains_outer);
        Ok((!outer_remains).then_some(latest))
    }

    /// `outside` with the output of the row as columns of `alias`; with the time of the row if `timed`.
    fn join(&self, outside: &LogicalPlan, alias: &TableReference, timed: bool) -> Result<LogicalPlan> {
        let hidden = |what: &str, at: usize| format!("({what} {at})");
        let mut columns: Vec<Expr> =
            self.output.iter().map(|(expr, name)| expr.clone().alias(name)).collect();
        columns.push(self.time.clone().alias(TIME));
        for (what, exprs) in [
            ("key", self.keys.iter().map(|k| &k.1).collect()),
            ("order", self.order.iter().collect::<Vec<_>>()),
        ] {
            columns.extend(exprs.into_iter().enumerate().map(|(at, e)| e.clone().alias(hidden(what, at))));
        }
        let rows =
            LogicalPlanBuilder::from(self.rows.clone()).project(columns)?.alias(alias.clone())?.build()?;
        let of = |name: &str| Column::new(Some(alias.clone()), name);
        let all = |what: &str, count: usize| (0..count).map(|at| of(&hidden(what, at))).collect::<Vec<_>>();
        let mut output: Vec<Column> = self.output.iter().map(|(_, name)| of(name)).collect();
        output.extend(timed.then(|| of(TIME)));
        // What is compared of the outer row becomes a column, if it is none.
        let mut outer_columns: Vec<Expr> = outside.schema().columns().into_iter().map(Expr::Column).collect();
        let mut place = |expr: &Expr, name: String| match expr {
            Expr::Column(column) => column.clone(),
            expr => {
                outer_columns.push(expr.clone().alias(&name));
                Column::new_unqualified(name)
            }
        };
        let keys = self.keys.iter().enumerate();
        let first = Side {
            keys: keys.map(|(at, (outer, _))| place(outer, hidden("outer key", at))).collect(),
            time: place(&self.outer, hidden("outer time", 0)),
            order: Vec::new(),
            output: outside.schema().columns(),
        };
        let outside = match outer_columns.len() > outside.schema().fields().len() {
            true => LogicalPlanBuilder::from(outside.clone()).project(outer_columns)?.build()?,
            false => outside.clone(),
        };
        let second = Side {
            keys: all("key", self.keys.len()),
            time: of(TIME),
            order: all("order", self.order.len()),
            output,
        };
        Node::plan(Operation::AsOf { sides: [first, second], strict: self.strict }, vec![outside, rows])
    }
}

/// The plan below nodes that only name columns.
fn past_names(plan: &LogicalPlan) -> &LogicalPlan {
    match plan {
        LogicalPlan::Projection(projection) => past_names(&projection.input),
        plan => plan,
    }
}

fn column_exprs(projection: &Projection) -> HashMap<String, Expr> {
    let columns = projection.schema.columns().into_iter().zip(&projection.expr);
    columns.map(|(column, expr)| (column.flat_name(), expr.clone().unalias())).collect()
}
