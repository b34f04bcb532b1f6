//! Which columns of a result are times: derived from the columns of the tables through the expressions of a
//! plan, so that `max(end_at - begin_at)` is known to be one and `count(*)` is not. Only what certainly still
//! counts ticks is a time: what a statement multiplies or divides has a unit of its own. Not for the unit of
//! a time: all are ticks.

use arrow::datatypes::Field;
use datafusion::common::{Column, DFSchema};
use datafusion::datasource::source_as_provider;
use datafusion::logical_expr::expr::WindowFunctionDefinition;
use datafusion::logical_expr::{Distinct, Expr, LogicalPlan, Operator, TableScan};

use super::table::Table;
use crate::schema::ColumnType;

/// Marks a column that holds times, in its metadata.
const IS_TIME: &str = "btfdb.time";
/// A column of times, of a table that is none of the database.
pub(super) fn time_column(field: &Field) -> Field {
    field.clone().with_metadata([(IS_TIME.to_owned(), String::new())].into())
}

/// Functions whose result is of the kind of their first argument.
const OF_THE_FIRST: &str = "\
    abs avg ceil first_value floor lag last_value lead max median min mode nth_value nullif percentile_cont \
    round stddev stddev_pop sum trunc windows";
/// Functions whose result is one of their arguments.
const ONE_OF: &str = "coalesce greatest ifnull least nvl";

/// What the values of a column or an expression count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Ticks.
    Time,
    /// Nothing: NULL.
    Nothing,
    /// A number that the statement spells, which may be ticks or not.
    Number,
    /// Rows.
    Count,
    /// Anything else.
    Other,
}

impl Kind {
    /// The kind of values that come from several expressions: all must agree.
    fn of_several(kinds: impl IntoIterator<Item = Self>) -> Self {
        let agreed = kinds.into_iter().try_fold(Self::Nothing, |all, kind| match (all, kind) {
            (all, Self::Nothing) => Some(all),
            (Self::Nothing, kind) => Some(kind),
            // The 0 of `coalesce(end_at, 0)` is one of the times.
            (Self::Time, Self::Number) | (Self::Number, Self::Time) => Some(Self::Time),
            (all, kind) => (all == kind).then_some(all),
        });
        agreed.unwrap_or(Self::Other)
    }

    /// The kind of a column with rows of several queries; numbers of a query of its own are not known to be
    /// ticks.
    fn of_queries(left: Self, right: Self) -> Self {
        match (left, right) {
            (Self::Time, Self::Number) | (Self::Number, Self::Time) => Self::Other,
            _ => Self::of_several([left, right]),
        }
    }
}

/// The rows that a recursive query has so far, which it reads as a table.
type Work<'a> = Option<(&'a str, &'a [Kind])>;

/// For every column of a plan: does it count ticks?
pub(super) fn times(plan: &LogicalPlan) -> Vec<bool> {
    kinds(plan, None).into_iter().map(|kind| kind == Kind::Time).collect()
}

fn kinds(plan: &LogicalPlan, work: Work<'_>) -> Vec<Kind> {
    let width = plan.schema().fields().len();
    let mut found = match plan {
        LogicalPlan::TableScan(scan) => of_scan(scan, work),
        LogicalPlan::Projection(p) => Columns::of(&p.input, work).all(&p.expr),
        LogicalPlan::Aggregate(a) => {
            let input = Columns::of(&a.input, work);
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
            let input = Columns::of(&w.input, work);
            let windows = input.all(&w.window_expr);
            [input.kinds, windows].concat()
        }
        LogicalPlan::Union(u) => {
            let all = u.inputs.iter().map(|input| kinds(input, work));
            all.reduce(|left, right| of_queries(&left, &right)).unwrap_or_default()
        }
        LogicalPlan::RecursiveQuery(r) => {
            let first = kinds(&r.static_term, work);
            let others = kinds(&r.recursive_term, Some((&r.name, &first)));
            of_queries(&first, &others)
        }
        LogicalPlan::Join(j) => match (Columns::of(&j.left, work), Columns::of(&j.right, work)) {
            (left, right) if left.kinds.len() + right.kinds.len() == width => {
                [left.kinds, right.kinds].concat()
            }
            // A semi join has the columns of one side.
            (left, right) => {
                let side =
                    |c: &Column| if left.schema.has_column(c) { left.column(c) } else { right.column(c) };
                plan.schema().columns().iter().map(side).collect()
            }
        },
        LogicalPlan::Unnest(u) => {
            let input = kinds(&u.input, work);
            u.dependency_indices.iter().map(|at| input.get(*at).copied().unwrap_or(Kind::Other)).collect()
        }
        LogicalPlan::Extension(_) => {
            // Columns of our own nodes are those of an input, or have the names of table columns.
            let inputs: Vec<_> = plan.inputs().into_iter().map(|input| Columns::of(input, work)).collect();
            let of = |column: &Column| match inputs.iter().find(|input| input.schema.has_column(column)) {
                Some(input) => input.column(column),
                None => time_if(matches!(column.name(), "begin_at" | "end_at")),
            };
            plan.schema().columns().iter().map(of).collect()
        }
        LogicalPlan::Distinct(Distinct::On(on)) => Columns::of(&on.input, work).all(&on.select_expr),
        LogicalPlan::Filter(_)
        | LogicalPlan::Sort(_)
        | LogicalPlan::Limit(_)
        | LogicalPlan::Distinct(_)
        | LogicalPlan::Repartition(_)
        | LogicalPlan::Subquery(_)
        | LogicalPlan::SubqueryAlias(_) => {
            plan.inputs().first().map(|input| kinds(input, work)).unwrap_or_default()
        }
        _ => Vec::new(),
    };
    found.resize(width, Kind::Other);
    found
}

fn of_queries(left: &[Kind], right: &[Kind]) -> Vec<Kind> {
    left.iter().zip(right).map(|(left, right)| Kind::of_queries(*left, *right)).collect()
}

fn time_if(is_time: bool) -> Kind {
    if is_time { Kind::Time } else { Kind::Other }
}

fn of_scan(scan: &TableScan, work: Work<'_>) -> Vec<Kind> {
    let projected = |all: &[Kind]| match &scan.projection {
        Some(columns) => columns.iter().map(|c| all.get(*c).copied().unwrap_or(Kind::Other)).collect(),
        None => all.to_vec(),
    };
    if let Some((name, all)) = work
        && scan.table_name.schema().is_none()
        && scan.table_name.table() == name
    {
        return projected(all);
    }
    if let Some(view) = scan.source.get_logical_plan() {
        return projected(&kinds(&view, None));
    }
    let fields = scan.projected_schema.fields();
    let Ok(provider) = source_as_provider(&scan.source) else { return Vec::new() };
    let Some(table) = provider.downcast_ref::<Table>() else {
        return fields.iter().map(|f| time_if(f.metadata().contains_key(IS_TIME))).collect();
    };
    let is_time = |name: &String| {
        let column = table.spec.column(name);
        column.is_some_and(|c| matches!(c.ty, ColumnType::Instant | ColumnType::Duration))
    };
    fields.iter().map(|f| time_if(is_time(f.name()))).collect()
}

struct Columns<'a> {
    schema: &'a DFSchema,
    kinds: Vec<Kind>,
    work: Work<'a>,
}

impl<'a> Columns<'a> {
    fn of(input: &'a LogicalPlan, work: Work<'a>) -> Self {
        Self { schema: input.schema(), kinds: kinds(input, work), work }
    }

    fn column(&self, column: &Column) -> Kind {
        let at = self.schema.maybe_index_of_column(column);
        at.and_then(|at| self.kinds.get(at).copied()).unwrap_or(Kind::Other)
    }

    fn all(&self, expressions: &[Expr]) -> Vec<Kind> {
        expressions.iter().map(|e| self.kind(e)).collect()
    }

    /// The kind of an expression. What is not named here is no time.
    fn kind(&self, expression: &Expr) -> Kind {
        let kind = |e: &Expr| self.kind(e);
        match expression {
            Expr::Column(column) => self.column(column),
            Expr::Literal(value, _) if value.is_null() => Kind::Nothing,
            Expr::Literal(..) => Kind::Number,
            Expr::Alias(alias) => kind(&alias.expr),
            Expr::Cast(cast) if cast.field.data_type().is_numeric() => kind(&cast.expr),
            Expr::TryCast(cast) if cast.field.data_type().is_numeric() => kind(&cast.expr),
            Expr::Negative(inner) => kind(inner),
            Expr::BinaryExpr(e) => match (kind(&e.left), e.op, kind(&e.right)) {
                // One that has ticks: the sum has no meaning in any other unit.
                (Kind::Time, Operator::Plus | Operator::Minus, _)
                | (_, Operator::Plus | Operator::Minus, Kind::Time)
                // A remainder has the unit of what is divided.
                | (Kind::Time, Operator::Modulo, _)
                // An average; a unit is no number of rows.
                | (Kind::Time, Operator::Divide, Kind::Count) => Kind::Time,
                _ => Kind::Other,
            },
            Expr::Case(case) => {
                let otherwise = case.else_expr.iter();
                let results = case.when_then_expr.iter().map(|(_, then)| then).chain(otherwise);
                Kind::of_several(results.map(|result| kind(result)))
            }
            Expr::AggregateFunction(f) => self.called(f.func.name(), &f.params.args),
            Expr::WindowFunction(f) => {
                let name = match &f.fun {
                    WindowFunctionDefinition::AggregateUDF(f) => f.name(),
                    WindowFunctionDefinition::WindowUDF(f) => f.name(),
                };
                self.called(name, &f.params.args)
            }
            Expr::ScalarFunction(f) => self.called(f.name(), &f.args),
            Expr::ScalarSubquery(query) => {
                kinds(&query.subquery, self.work).first().copied().unwrap_or(Kind::Other)
            }
            _ => Kind::Other,
        }
    }

    fn called(&self, function: &str, arguments: &[Expr]) -> Kind {
        let is = |names: &str| names.split(' ').any(|name| name == function);
        let kind = match arguments {
            _ if function == "count" => Kind::Count,
            _ if function == "gap_after" => Kind::Time,
            [first, ..] if is(OF_THE_FIRST) => self.kind(first),
            // Its first argument is a condition.
            [_, results @ ..] if function == "nvl2" => Kind::of_several(self.all(results)),
            arguments if is(ONE_OF) => Kind::of_several(self.all(arguments)),
            _ => Kind::Other,
        };
        // Numbers that are added are no longer those of the statement.
        if kind == Kind::Number { Kind::Other } else { kind }
    }
}
