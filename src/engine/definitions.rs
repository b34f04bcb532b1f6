//! Statements that make or drop the views and tables of a session. Not for where they are kept (see
//! `own_tables`).

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{Field, Schema, SchemaRef};
use datafusion::common::{Result, TableReference};
use datafusion::datasource::{MemTable, ViewTable};
use datafusion::execution::memory_pool::MemoryConsumer;
use datafusion::logical_expr::{CreateMemoryTable, CreateView, DdlStatement, LogicalPlan};
use datafusion::prelude::SessionContext;
use futures::StreamExt;

use super::catalog::Catalog;
use super::own_tables::Own;
use super::sql::refused;
use super::time_columns::{time_column, times};

/// Makes or drops a view or table.
pub(super) async fn change(
    context: &SessionContext,
    catalog: &Catalog,
    statement: DdlStatement,
) -> Result<()> {
    match statement {
        DdlStatement::CreateView(CreateView { name, input, or_replace, definition, .. }) => {
            let name = free_name(catalog, &name, or_replace)?;
            let provider = Arc::new(ViewTable::new(Arc::unwrap_or_clone(input), definition));
            let own = Own { provider, is_view: true, _memory: None };
            catalog.own().insert(name, own);
        }
        DdlStatement::CreateMemoryTable(table) => create_table(context, catalog, table).await?,
        DdlStatement::DropTable(drop) => drop_own(catalog, &drop.name, drop.if_exists)?,
        DdlStatement::DropView(drop) => drop_own(catalog, &drop.name, drop.if_exists)?,
        other => {
            return Err(refused(format!("{} is refused", other.name()), None, "the database is read-only"));
        }
    }
    Ok(())
}

async fn create_table(context: &SessionContext, catalog: &Catalog, table: CreateMemoryTable) -> Result<()> {
    let CreateMemoryTable { name, input, if_not_exists, or_replace, .. } = table;
    if if_not_exists && catalog.own().get(name.table()).is_some() {
        return Ok(());
    }
    let name = free_name(catalog, &name, or_replace)?;
    let plan = LogicalPlan::clone(&input);
    let times = times(&plan);
    let mut rows = context.execute_logical_plan(plan).await?.execute_stream().await?;
    let schema = with_times(&rows.schema(), times);
    let memory = MemoryConsumer::new(format!("table {name}")).register(&context.runtime_env().memory_pool);
    let mut batches = Vec::new();
    while let Some(batch) = rows.next().await {
        let batch = batch?;
        memory.try_grow(batch.get_array_memory_size())?;
        batches.push(RecordBatch::try_new(Arc::clone(&schema), batch.columns().to_vec())?);
    }
    let provider = Arc::new(MemTable::try_new(schema, vec![batches])?);
    let own = Own { provider, is_view: false, _memory: Some(Arc::new(memory)) };
    catalog.own().insert(name, own);
    Ok(())
}

/// The columns of a table; those that hold times say so, for later statements.
fn with_times(schema: &SchemaRef, times: Vec<bool>) -> SchemaRef {
    let field = |(field, time): (&Arc<Field>, bool)| match time {
        true => Arc::new(time_column(field)),
        false => Arc::clone(field),
    };
    let fields: Vec<_> = schema.fields().iter().zip(times).map(field).collect();
    Arc::new(Schema::new(fields))
}

/// The name of a new view or table, which no other one has.
fn free_name(catalog: &Catalog, name: &TableReference, or_replace: bool) -> Result<String> {
    let name = name.table();
    if catalog.is_of_database(name) {
        return Err(of_database(name));
    }
    if !or_replace && catalog.own().get(name).is_some() {
        let message = format!("'{name}' exists already in this session");
        return Err(refused(message, None, "CREATE OR REPLACE replaces it, DROP removes it"));
    }
    Ok(name.to_owned())
}

fn drop_own(catalog: &Catalog, name: &TableReference, if_exists: bool) -> Result<()> {
    let name = name.table();
    if catalog.own().remove(name) {
        return Ok(());
    }
    if catalog.is_of_database(name) {
        return Err(of_database(name));
    }
    if if_exists {
        return Ok(());
    }
    let names = catalog.own().names();
    let hint = match names.is_empty() {
        true => "this session has no tables and views of its own".to_owned(),
        false => format!("those of this session are: {}", names.join(", ")),
    };
    Err(refused(format!("there is no '{name}' in this session"), None, &hint))
}

fn of_database(name: &str) -> datafusion::common::DataFusionError {
    let message = format!("'{name}' belongs to the database, which SQL only reads");
    refused(message, None, "choose another name for a view or table of this session")
}
