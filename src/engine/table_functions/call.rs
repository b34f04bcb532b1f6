//! A call of a table function in SQL: its relations, keys and named values. Not what functions do with them.

use std::collections::HashMap;

use arrow::datatypes::DataType;
use datafusion::common::{Column, DFSchema, ExprSchema, Result, TableReference, plan_err};
use datafusion::datasource::provider_as_source;
use datafusion::logical_expr::planner::RelationPlannerContext;
use datafusion::logical_expr::type_coercion::binary::comparison_coercion;
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan, LogicalPlanBuilder};
use datafusion::sql::sqlparser::ast::{
    Expr as Sql, FunctionArg, FunctionArgExpr, Ident, ObjectName, TableFactor,
};

use super::TableFunction;
use crate::engine::catalog::Catalog;
use crate::engine::operators::key_type;
use crate::error::did_you_mean;

/// The arguments of a call; each is removed when it is read.
pub(super) struct Call<'a> {
    pub function: &'static TableFunction,
    context: &'a mut dyn RelationPlannerContext,
    relations: std::vec::IntoIter<LogicalPlan>,
    values: Vec<Sql>,
    named: Vec<(String, Sql)>,
}

impl<'a> Call<'a> {
    /// `factor` is the call; the first arguments are `relations`: names of tables, or queries.
    pub fn read(
        function: &'static TableFunction,
        factor: &TableFactor,
        relations: usize,
        catalog: &Catalog,
        context: &'a mut dyn RelationPlannerContext,
    ) -> Result<Self> {
        let (mut given, mut named) = (Vec::new(), Vec::new());
        if let TableFactor::Table { args: Some(args), .. } = factor {
            for arg in &args.args {
                match arg {
                    FunctionArg::Unnamed(FunctionArgExpr::Expr(value)) => given.push(value.clone()),
                    FunctionArg::Named { name, arg: FunctionArgExpr::Expr(value), .. } => {
                        named.push((name.value.to_ascii_lowercase(), value.clone()));
                    }
                    other => return plan_err!("'{other}' cannot be an argument of {}", function.name),
                }
            }
        }
        for (name, _) in &named {
            let known = || function.arguments.iter().filter_map(|a| a.name.strip_suffix(" =>"));
            if !known().any(|k| k == name) {
                let near = did_you_mean(name, known()).map(|near| format!("; did you mean '{near}'?"));
                let near = near.unwrap_or_default();
                return plan_err!("{} has no argument '{name}'{near}", function.name);
            }
        }
        if given.len() < relations {
            return plan_err!("{} takes {relations} relation(s): {}", function.name, function.example);
        }
        let values = given.split_off(relations);
        let plans = given.into_iter().map(|value| match as_factor(value, factor) {
            Some(relation) => match (context.plan(relation.clone()), table(&relation, catalog)?) {
                (Ok(plan), _) => Ok(plan),
                (Err(_), Some(plan)) => Ok(plan),
                (Err(e), None) => Err(e),
            },
            None => plan_err!("{} takes the name of a table, or a query in brackets", function.name),
        });
        let relations = plans.collect::<Result<Vec<_>>>()?.into_iter();
        Ok(Self { function, context, relations, values, named })
    }

    /// The next relation, with unqualified columns.
    pub fn relation(&mut self) -> Result<LogicalPlan> {
        let Some(plan) = self.relations.next() else {
            return plan_err!("{} lacks a relation", self.function.name);
        };
        let columns = plan.schema().columns().into_iter().map(|c| {
            let name = c.name.clone();
            Expr::Column(c).alias(name)
        });
        let columns: Vec<_> = columns.collect();
        LogicalPlanBuilder::from(plan).project(columns)?.build()
    }

    /// The remaining arguments without a name, as expressions over `schema`.
    pub fn values(&mut self, schema: &DFSchema) -> Result<Vec<Expr>> {
        let values = std::mem::take(&mut self.values).into_iter();
        values.map(|value| self.context.sql_to_expr(value, schema)).collect()
    }

    /// The same as names of columns that can be keys, in every one of `relations`, where a key gets one type:
    /// rows are distributed and compared by it.
    pub fn keys(&mut self, relations: &mut [LogicalPlan]) -> Result<Vec<String>> {
        let mut keys: Vec<String> = Vec::new();
        let Some(first) = relations.first() else { return Ok(keys) };
        for value in std::mem::take(&mut self.values) {
            let written = value.to_string();
            match self.context.sql_to_expr(value, first.schema())? {
                Expr::Column(column) if !keys.contains(&column.name) => keys.push(column.name),
                _ => {
                    return plan_err!(
                        "the key '{written}' of {} has to be a column, once",
                        self.function.name
                    );
                }
            }
        }
        let mut types = HashMap::new();
        for key in &keys {
            let mut common: Option<DataType> = None;
            for relation in relations.iter() {
                let given = self.column(relation, key)?.get_type(relation.schema())?;
                let Some(ty) = key_type(&given) else {
                    return plan_err!("'{key}' cannot be a key of {}: {given}", self.function.name);
                };
                common = match common {
                    None => Some(ty),
                    Some(other) => match common_type(&other, &ty) {
                        Some(ty) => Some(ty),
                        None => {
                            return plan_err!(
                                "the key '{key}' of {} is {other} in one relation and {ty} in the other",
                                self.function.name
                            );
                        }
                    },
                };
            }
            // A key that is always NULL.
            types.insert(key.as_str(), common.filter(|ty| !ty.is_null()).unwrap_or(DataType::Utf8View));
        }
        for relation in relations {
            let schema = relation.schema();
            let columns = schema.columns().into_iter().map(|column| {
                let name = column.name.clone();
                let given = schema.data_type(&column)?.clone();
                let column = Expr::Column(column);
                match types.get(name.as_str()) {
                    Some(ty) if *ty != given => Ok(column.cast_to(ty, schema)?.alias(name)),
                    _ => Ok(column),
                }
            });
            let columns = columns.collect::<Result<Vec<_>>>()?;
            if columns.iter().any(|column| !matches!(column, Expr::Column(_))) {
                *relation = LogicalPlanBuilder::from(relation.clone()).project(columns)?.build()?;
            }
        }
        Ok(keys)
    }

    /// An argument that is given by name.
    pub fn named(&mut self, name: &str, schema: &DFSchema) -> Result<Option<Expr>> {
        let Some(at) = self.named.iter().position(|(n, _)| n == name) else { return Ok(None) };
        let (_, value) = self.named.swap_remove(at);
        self.context.sql_to_expr(value, schema).map(Some)
    }

    pub fn column(&self, relation: &LogicalPlan, name: &str) -> Result<Expr> {
        if relation.schema().has_column_with_unqualified_name(name) {
            return Ok(Expr::Column(Column::new_unqualified(name)));
        }
        let known = relation.schema().field_names().join(", ");
        plan_err!(
            "{} needs a column '{name}', there are: {known}; a query can name one: (SELECT … AS {name} FROM …)",
            self.function.name
        )
    }

    pub fn time(&self, relation: &LogicalPlan, name: &str) -> Result<Expr> {
        let column = self.column(relation, name)?;
        match column.get_type(relation.schema())? {
            DataType::Int64 => Ok(column),
            ty if ty.is_integer() || ty.is_null() => {
                Ok(column.cast_to(&DataType::Int64, relation.schema())?.alias(name))
            }
            ty => plan_err!(
                "the column '{name}' of {} has to hold times, which are integers: {ty}",
                self.function.name
            ),
        }
    }

    pub fn scalar(&self, name: &str, arguments: Vec<Expr>) -> Result<Expr> {
        match self.context.context_provider().get_function_meta(name) {
            Some(function) => Ok(function.call(arguments)),
            None => plan_err!("there is no function '{name}'"),
        }
    }
}

/// The type by which keys of both types are compared, as `=` does.
fn common_type(one: &DataType, other: &DataType) -> Option<DataType> {
    let ty = if one == other { one.clone() } else { comparison_coercion(one, other)? };
    key_type(&ty)
}

/// A table or view; the engine resolves only those in FROM itself.
fn table(factor: &TableFactor, catalog: &Catalog) -> Result<Option<LogicalPlan>> {
    let TableFactor::Table { name, .. } = factor else { return Ok(None) };
    let name = TableReference::parse_str(&name.to_string());
    match catalog.get(name.table())? {
        Some(table) => LogicalPlanBuilder::scan(name, provider_as_source(table), None)?.build().map(Some),
        None => Ok(None),
    }
}

/// An argument as a factor of FROM; `call` is the whole call.
fn as_factor(argument: Sql, call: &TableFactor) -> Option<TableFactor> {
    let table = |parts: Vec<Ident>| {
        let mut factor = call.clone();
        if let TableFactor::Table { name, alias, args, .. } = &mut factor {
            (*name, *alias, *args) = (ObjectName::from(parts), None, None);
        }
        factor
    };
    match argument {
        Sql::Identifier(name) => Some(table(vec![name])),
        Sql::CompoundIdentifier(names) => Some(table(names)),
        Sql::Subquery(subquery) => {
            Some(TableFactor::Derived { lateral: false, subquery, alias: None, sample: None })
        }
        Sql::Nested(inner) => as_factor(*inner, call),
        _ => None,
    }
}
