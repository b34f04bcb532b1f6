//! Calls of table functions as logical plans, plain or with a node of ours. Not reading calls (see `call`).

use std::sync::Arc;

use datafusion::common::{Column, Result, ScalarValue, plan_err};
use datafusion::logical_expr::planner::{
    PlannedRelation, RelationPlanner, RelationPlannerContext, RelationPlanning,
};
use datafusion::logical_expr::{Expr, JoinType, LogicalPlan, LogicalPlanBuilder, col, ident};
use datafusion::sql::sqlparser::ast::TableFactor;

use super::call::Call;
use super::node::{Node, Operation, Side};
use super::{TableFunction, find};
use crate::engine::catalog::Catalog;
use crate::engine::operators::IntervalFunction;

/// Finds the calls of table functions in FROM.
#[derive(Debug)]
pub(in crate::engine) struct TableFunctions {
    catalog: Arc<Catalog>,
}

impl TableFunctions {
    pub fn new(catalog: Arc<Catalog>) -> Self {
        Self { catalog }
    }
}

impl RelationPlanner for TableFunctions {
    fn plan_relation(
        &self,
        relation: TableFactor,
        context: &mut dyn RelationPlannerContext,
    ) -> Result<RelationPlanning> {
        let (function, alias) = match &relation {
            TableFactor::Table { name, alias, args: Some(_), .. } => (find(&name.to_string()), alias.clone()),
            _ => (None, None),
        };
        let Some(function) = function else { return Ok(RelationPlanning::Original(Box::new(relation))) };
        let plan = call(function, &relation, &self.catalog, context)?;
        let plan = LogicalPlanBuilder::from(plan).alias(function.name)?.build()?;
        Ok(RelationPlanning::Planned(Box::new(PlannedRelation::new(plan, alias))))
    }
}

fn call(
    function: &'static TableFunction,
    factor: &TableFactor,
    catalog: &Catalog,
    context: &mut dyn RelationPlannerContext,
) -> Result<LogicalPlan> {
    let relations = if matches!(function.name, "interval_intersect" | "as_of") { 2 } else { 1 };
    let call = Call::read(function, factor, relations, catalog, context)?;
    match function.name {
        "interval_merge" => over_intervals(call, IntervalFunction::Merge),
        "interval_gaps" => over_intervals(call, IntervalFunction::Gaps),
        "concurrency" => over_intervals(call, IntervalFunction::Concurrency),
        "interval_intersect" => intersect(call),
        "buckets" => buckets(call),
        "pair" => pair(call),
        _ => as_of(call),
    }
}

/// Intervals with a begin and an end that are not empty.
fn intervals(call: &mut Call<'_>) -> Result<LogicalPlan> {
    let relation = call.relation()?;
    let (begin, end) = (call.time(&relation, "begin_at")?, call.time(&relation, "end_at")?);
    let columns = relation.schema().field_names().into_iter().map(|name| match name.as_str() {
        "begin_at" => begin.clone(),
        "end_at" => end.clone(),
        _ => ident(name),
    });
    let columns: Vec<_> = columns.collect();
    let relation = LogicalPlanBuilder::from(relation).project(columns)?;
    relation.filter(col("begin_at").lt(col("end_at")))?.build()
}

fn over_intervals(mut call: Call<'_>, function: IntervalFunction) -> Result<LogicalPlan> {
    let mut input = intervals(&mut call)?;
    let keys = call.keys(std::slice::from_mut(&mut input))?;
    let mut columns: Vec<Expr> = keys.iter().map(ident).chain([col("begin_at"), col("end_at")]).collect();
    if function == IntervalFunction::Gaps {
        for bound in ["from", "to"] {
            let value = call.named(bound, input.schema())?;
            let value = value.unwrap_or_else(|| Expr::Literal(ScalarValue::Int64(None), None));
            let value = datafusion::logical_expr::cast(value, arrow::datatypes::DataType::Int64);
            columns.push(value.alias(hidden(bound)));
        }
    }
    let input = LogicalPlanBuilder::from(input).project(columns)?.build()?;
    Node::plan(Operation::Intervals { function, keys: keys.len() }, vec![input])
}

/// The name of a column that only the operator sees.
fn hidden(name: &str) -> String {
    format!("({name})")
}

fn buckets(mut call: Call<'_>) -> Result<LogicalPlan> {
    let input = intervals(&mut call)?;
    let values = call.values(input.schema())?;
    let [width] = &values[..] else { return plan_err!("buckets takes intervals and a width") };
    let [begin, end, bucket] = ["begin_at", "end_at", "bucket_at"].map(col);
    let windows = call.scalar("windows", vec![begin.clone(), end.clone(), width.clone(), width.clone()])?;
    let names = input.schema().field_names();
    let pieces = names.iter().map(ident).chain([windows.alias("bucket_at")]).collect::<Vec<_>>();
    let pieces = LogicalPlanBuilder::from(input).project(pieces)?.unnest_column("bucket_at")?;
    let first = call.scalar("greatest", vec![begin, bucket.clone()])?.alias("begin_at");
    let last = call.scalar("least", vec![end, bucket.clone() + width.clone()])?.alias("end_at");
    let columns = names.iter().map(|name| match name.as_str() {
        "begin_at" => first.clone(),
        "end_at" => last.clone(),
        _ => ident(name),
    });
    pieces.project(columns.chain([bucket]).collect::<Vec<_>>())?.build()
}

/// A name for a column that comes after `others`.
fn renamed(name: &str, others: &[String]) -> String {
    match others.iter().any(|other| other == name) {
        true => renamed(&format!("{name}_2"), others),
        false => name.to_owned(),
    }
}

fn intersect(mut call: Call<'_>) -> Result<LogicalPlan> {
    let mut relations = [intervals(&mut call)?, intervals(&mut call)?];
    let keys = call.keys(&mut relations)?;
    let [first, second] = relations;
    let mut names: Vec<String> = keys.clone();
    names.extend(["begin_at".to_owned(), "end_at".to_owned()]);
    let shared = names.len();
    let of = |side: &str, name: &str| Expr::Column(Column::new(Some(side.to_owned()), name));
    let mut columns: Vec<Expr> = keys.iter().map(|key| of("first", key).alias(key)).collect();
    let both = |name: &str| vec![of("first", name), of("second", name)];
    columns.push(call.scalar("greatest", both("begin_at"))?.alias("begin_at"));
    columns.push(call.scalar("least", both("end_at"))?.alias("end_at"));
    for (side, relation) in [("first", &first), ("second", &second)] {
        for name in relation.schema().field_names() {
            if !names.iter().take(shared).any(|n| *n == name) {
                let renamed_to = renamed(&name, &names);
                columns.push(of(side, &name).alias(&renamed_to));
                names.push(renamed_to);
            }
        }
    }
    let mut conditions: Vec<Expr> = keys.iter().map(|key| of("first", key).eq(of("second", key))).collect();
    conditions.push(of("first", "begin_at").lt(of("second", "end_at")));
    conditions.push(of("second", "begin_at").lt(of("first", "end_at")));
    let second = LogicalPlanBuilder::from(second).alias("second")?.build()?;
    let joined =
        LogicalPlanBuilder::from(first).alias("first")?.join_on(second, JoinType::Inner, conditions)?;
    joined.project(columns)?.build()
}

fn pair(mut call: Call<'_>) -> Result<LogicalPlan> {
    let mut events = call.relation()?;
    let keys = call.keys(std::slice::from_mut(&mut events))?;
    let time = call.time(&events, "time")?;
    let names = events.schema().field_names();
    let (begins, ends) = (hidden("begins"), hidden("ends"));
    let mut columns: Vec<Expr> =
        names.iter().map(|name| if name == "time" { time.clone() } else { ident(name) }).collect();
    for (argument, name) in [("begin", &begins), ("end", &ends)] {
        let Some(condition) = call.named(argument, events.schema())? else {
            return plan_err!("pair has to be told '{argument} =>': {}", call.function.example);
        };
        columns.push(condition.alias(name));
    }
    let name = match call.named("name", events.schema())? {
        None => None,
        Some(Expr::Column(column)) => Some(Column::new_unqualified(column.name)),
        Some(_) => return plan_err!("the name of pair has to be a column"),
    };
    let order = match names.iter().any(|name| name == "seq") {
        true => "seq".to_owned(),
        // An end comes before a begin.
        false => begins.clone(),
    };
    let events = LogicalPlanBuilder::from(events).project(columns)?;
    let events = events.filter(ident(&begins).or(ident(&ends)))?.build()?;
    let column = |name: &String| Column::new_unqualified(name);
    let side = Side {
        keys: keys.iter().map(column).collect(),
        time: Column::new_unqualified("time"),
        order: vec![column(&order)],
        output: names.iter().filter(|name| *name != "time").map(column).collect(),
    };
    Node::plan(Operation::Pair { side, begins: column(&begins), ends: column(&ends), name }, vec![events])
}

fn as_of(mut call: Call<'_>) -> Result<LogicalPlan> {
    let mut relations = [call.relation()?, call.relation()?];
    let keys = call.keys(&mut relations)?;
    let mut names: Vec<String> = Vec::new();
    let (mut inputs, mut sides) = (Vec::new(), Vec::new());
    for (i, relation) in relations.into_iter().enumerate() {
        let time = call.time(&relation, "time")?;
        let (mut columns, mut output) = (Vec::new(), Vec::new());
        let own = relation.schema().field_names();
        for name in &own {
            let column = if name == "time" { time.clone() } else { ident(name) };
            // A key comes from the first relation.
            if i > 0 && keys.contains(name) {
                columns.push(column);
                continue;
            }
            let as_output = renamed(name, &names);
            columns.push(column.alias(&as_output));
            output.push(as_output.clone());
            names.push(as_output);
        }
        let place = |name: &str| {
            let at = own.iter().position(|n| n == name);
            at.and_then(|at| columns.get(at)).map(|c| Column::new_unqualified(c.schema_name().to_string()))
        };
        let order = if i > 0 { place("seq").into_iter().collect() } else { Vec::new() };
        let time = place("time").unwrap_or_else(|| Column::new_unqualified("time"));
        sides.push(Side {
            keys: keys.iter().map(Column::new_unqualified).collect(),
            time,
            order,
            output: output.into_iter().map(Column::new_unqualified).collect(),
        });
        inputs.push(LogicalPlanBuilder::from(relation).project(columns)?.build()?);
    }
    match <[Side; 2]>::try_from(sides) {
        Ok(sides) => Node::plan(Operation::AsOf { sides, strict: false }, inputs),
        Err(_) => plan_err!("as_of has two relations"),
    }
}
