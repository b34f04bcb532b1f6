//! What a context of DataFusion knows before the first statement: tables, views and functions. Not which
//! tables and views there are (see `catalog`).

use std::sync::Arc;

use datafusion::catalog::SchemaProvider;
use datafusion::prelude::SessionContext;

use super::catalog::Catalog;
use super::chains::Chains;
use super::context::{CATALOG, SCHEMA};
use super::files::{Folder, ReadFile};
use super::table_functions::{
    ChainsFunction, DiscoveredFunction, MadeTables, MakeRows, PartsFunction, TableFunctions,
};
use super::{failure, functions};
use crate::error::Result;
use crate::library::MADE_FUNCTIONS;
use crate::store::Database;

/// Registers tables, views and functions with a context.
pub(super) fn register(
    context: &SessionContext,
    (database, catalog): (&Arc<Database>, &Arc<Catalog>),
    (chains, files): (&Chains, &Folder),
    maker: &Arc<dyn MakeRows>,
) -> Result<()> {
    if let Some(schemas) = context.catalog(CATALOG) {
        let functions = Arc::new(TableFunctions::new(Arc::clone(catalog)));
        context.register_relation_planner(functions).map_err(failure::failed)?;
        let schema: Arc<dyn SchemaProvider> = Arc::clone(catalog) as _;
        schemas.register_schema(SCHEMA, schema).map_err(failure::failed)?;
    }
    functions::functions(database).into_iter().for_each(|f| context.register_udf(f));
    functions::aggregates().into_iter().for_each(|f| context.register_udaf(f));
    register_chains(context, database, chains);
    for function in DiscoveredFunction::both(database) {
        context.register_udtf(function.name(), Arc::new(function));
    }
    context.register_udtf("response_parts", Arc::new(PartsFunction::new(Arc::clone(database))));
    for function in ReadFile::both(files) {
        context.register_udtf(function.name(), Arc::new(function));
    }
    for function in MADE_FUNCTIONS {
        let tables = MadeTables::new(function, maker);
        context.register_udtf(function.function.name, Arc::new(tables));
    }
    Ok(())
}

/// Registers the functions of chains, in place of those that there are.
pub(super) fn register_chains(context: &SessionContext, database: &Arc<Database>, chains: &Chains) {
    for function in ChainsFunction::both(database, chains) {
        context.register_udtf(function.name(), Arc::new(function));
    }
}
