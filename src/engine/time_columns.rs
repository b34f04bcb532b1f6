//! Which columns of a result are times: derived from the columns of the tables through the expressions of a
//! plan, so that `max(end_at - begin_at)` is known to be one and `count(*)` is not. Not for the unit of a
//! time: all are ticks.

use arrow::datatypes::DataType;
use datafusion::common::{Column, DFSchema, ScalarValue};
use datafusion::datasource::source_as_provider;
use datafusion::logical_expr::expr::WindowFunctionDefinition;
use datafusion::logical_expr::{Expr, LogicalPlan, Operator, TableScan};

use super::table::Table;
use crate::schema::ColumnType;

/// Marks a column of a table of the session that holds times, in its metadata.
pub(super) const IS_TIME: &str = "btfdb.time";
/// Functions whose result is of the kind of their first argument.
const OF_THE_FIRST: &str = "\
    abs approx_median approx_percentile_cont avg ceil first_value floor lag last_value lead max median min \
    nth_value nullif percentile_cont round stddev stddev_pop sum trunc windows";
/// Functions whose result is of the kind of any argument.
const OF_ANY: &str = "coalesce greatest least nvl nvl2";

/// For every column of a plan: does it count ticks?
pub(super) fn times(plan: &LogicalPlan) -> Vec<bool> {
    let width = plan.schema().fields().len();
    let mut found = match plan {
        LogicalPlan::TableScan(scan) => of_scan(scan),
        LogicalPlan::Projection(p) => TimeColumns::of(&p.input).all(&p.expr),
        LogicalPlan::Aggregate(a) => {
            let input = TimeColumns::of(&a.input);
            // Grouping sets are one expression for several columns, which are looked up by name.
            let mut found = match a.group_expr.as_slice() {
                [Expr::GroupingSet(_)] => {
                    let groups = width.saturating_sub(a.aggr_expr.len());
                    plan.schema().columns().iter().take(groups).map(|c| input.column(c)).collect()
                }
                groups => input.all(groups),
            };
            found.extend(input.all(&a.aggr_expr));
            found
        }
        LogicalPlan::Window(w) => {
            let input = TimeColumns::of(&w.input);
            let windows = input.all(&w.window_expr);
            [input.times, windows].concat()
        }
        LogicalPlan::Union(u) => u.inputs.first().map(|first| times(first)).unwrap_or_default(),
        LogicalPlan::RecursiveQuery(r) => times(&r.static_term),
        LogicalPlan::Join(j) => match (TimeColumns::of(&j.left), TimeColumns::of(&j.right)) {
            (left, right) if left.times.len() + right.times.len() == width => {
                [left.times, right.times].concat()
            }
            // A semi join has the columns of one side.
            (left, right) => {
                let columns = plan.schema().columns();
                columns.iter().map(|c| left.column(c) || right.column(c)).collect()
            }
        },
        LogicalPlan::Unnest(u) => {
            let input = times(&u.input);
            u.dependency_indices.iter().map(|at| input.get(*at).copied().unwrap_or(false)).collect()
        }
        LogicalPlan::Extension(_) => {
            // Columns of our own nodes are those of an input, or have the names of table columns.
            let inputs: Vec<_> = plan.inputs().into_iter().map(TimeColumns::of).collect();
            let of = |column: &Column| {
                let given = inputs.iter().find(|input| input.schema.has_column(column));
                given.map_or(matches!(column.name(), "begin_at" | "end_at"), |input| input.column(column))
            };
            plan.schema().columns().iter().map(of).collect()
        }
        LogicalPlan::Filter(_)
        | LogicalPlan::Sort(_)
        | LogicalPlan::Limit(_)
        | LogicalPlan::Distinct(_)
        | LogicalPlan::Repartition(_)
        | LogicalPlan::Subquery(_)
        | LogicalPlan::SubqueryAlias(_) => {
            plan.inputs().first().map(|input| times(input)).unwrap_or_default()
        }
        _ => Vec::new(),
    };
    found.resize(width, false);
    found
}

fn of_scan(scan: &TableScan) -> Vec<bool> {
    if let Some(view) = scan.source.get_logical_plan() {
        let all = times(&view);
        return match &scan.projection {
            Some(columns) => columns.iter().map(|c| all.get(*c).copied().unwrap_or(false)).collect(),
            None => all,
        };
    }
    let Ok(provider) = source_as_provider(&scan.source) else { return Vec::new() };
    let Some(table) = provider.downcast_ref::<Table>() else {
        return scan.projected_schema.fields().iter().map(|f| f.metadata().contains_key(IS_TIME)).collect();
    };
    let is_time = |name: &String| {
        let column = table.spec.column(name);
        column.is_some_and(|c| matches!(c.ty, ColumnType::Instant | ColumnType::Duration))
    };
    scan.projected_schema.fields().iter().map(|f| is_time(f.name())).collect()
}

struct TimeColumns<'a> {
    schema: &'a DFSchema,
    times: Vec<bool>,
}

impl<'a> TimeColumns<'a> {
    fn of(input: &'a LogicalPlan) -> Self {
        Self { schema: input.schema(), times: times(input) }
    }

    fn column(&self, column: &Column) -> bool {
        let at = self.schema.maybe_index_of_column(column);
        at.and_then(|at| self.times.get(at).copied()).unwrap_or(false)
    }

    fn all(&self, expressions: &[Expr]) -> Vec<bool> {
        expressions.iter().map(|e| self.expression(e)).collect()
    }

    fn expression(&self, expression: &Expr) -> bool {
        let is = |e: &Expr| self.expression(e);
        let called = |name: &str, arguments: &[Expr]| {
            if OF_THE_FIRST.split(' ').any(|function| function == name) {
                arguments.first().is_some_and(is)
            } else {
                OF_ANY.split(' ').any(|function| function == name) && arguments.iter().any(is)
            }
        };
        match expression {
            Expr::Column(column) => self.column(column),
            Expr::Alias(alias) => is(&alias.expr),
            Expr::Cast(cast) => is(&cast.expr),
            Expr::TryCast(cast) => is(&cast.expr),
            Expr::Negative(inner) => is(inner),
            Expr::BinaryExpr(e) => match e.op {
                Operator::Plus | Operator::Minus => is(&e.left) || is(&e.right),
                Operator::Multiply => {
                    is(&e.left) != is(&e.right) && !converts(&e.left) && !converts(&e.right)
                }
                Operator::Divide => is(&e.left) && !is(&e.right) && !converts(&e.right),
                Operator::Modulo => is(&e.left),
                _ => false,
            },
            Expr::Case(case) => {
                let mut results = case.when_then_expr.iter().map(|(_, then)| then).chain(&case.else_expr);
                results.any(|result| is(result))
            }
            Expr::AggregateFunction(f) => called(f.func.name(), &f.params.args),
            Expr::WindowFunction(f) => {
                let name = match &f.fun {
                    WindowFunctionDefinition::AggregateUDF(f) => f.name(),
                    WindowFunctionDefinition::WindowUDF(f) => f.name(),
                };
                called(name, &f.params.args)
            }
            Expr::ScalarFunction(f) => called(f.name(), &f.args),
            Expr::ScalarSubquery(query) => times(&query.subquery).first().copied().unwrap_or(false),
            _ => false,
        }
    }
}

/// A factor between units of time, 10³ or more, or its inverse: who writes `x / 1e6` has converted the time,
/// and its unit is no longer the tick.
fn converts(factor: &Expr) -> bool {
    let value = match factor {
        Expr::Literal(value, _) => value.cast_to(&DataType::Float64),
        Expr::Cast(cast) => return converts(&cast.expr),
        Expr::Negative(inner) => return converts(inner),
        _ => return false,
    };
    let Ok(ScalarValue::Float64(Some(value))) = value else { return false };
    let exponent = value.abs().log10();
    exponent.is_finite() && exponent.abs().round() >= 3.0 && (exponent - exponent.round()).abs() < 1e-9
}
