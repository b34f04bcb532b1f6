//! The namespace of a session: the tables of the database, and the views of the library, each planned on its
//! first use. Not the text of the views (see `library`), and not the list for people (see `relations`).

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use datafusion::catalog::{SchemaProvider, TableProvider};
use datafusion::common::{DataFusionError, Result};
use datafusion::datasource::ViewTable;
use datafusion::execution::SessionState;
use datafusion::prelude::SessionContext;
use futures::FutureExt;

use super::own_tables::OwnTables;
use super::plan::plan;
use super::table::Table;
use crate::library::{Queries, View};
use crate::schema::TABLES;
use crate::store::Database;

pub(super) struct Catalog {
    tables: HashMap<&'static str, Arc<dyn TableProvider>>,
    views: HashMap<String, View>,
    planned: Mutex<HashMap<String, Arc<dyn TableProvider>>>,
    /// The tables that are [restricted](Self::restrict), and whether a statement has read them since.
    restricted: Mutex<HashMap<String, bool>>,
    own: OwnTables,
    /// Gives the state to plan views with, in this very namespace; `None` when the session is closed.
    state: Box<dyn Fn() -> Option<SessionState> + Send + Sync>,
}

impl Catalog {
    /// Every table of the schema, with the files that the log lists for it, every view, and the tables
    /// and views of the session.
    pub fn new(
        database: &Arc<Database>,
        context: &SessionContext,
        queries: &Queries,
        own: OwnTables,
    ) -> Self {
        let state = context.state_weak_ref();
        let state = Box::new(move || state.upgrade().map(|state| state.read().clone()));
        let table = |spec| Arc::new(Table::new(Arc::clone(database), spec)) as Arc<dyn TableProvider>;
        let tables = TABLES.iter().map(|spec| (spec.name, table(spec))).collect();
        let views = queries.views().iter().map(|view| (view.name.clone(), view.clone())).collect();
        Self { tables, views, planned: Mutex::default(), restricted: Mutex::default(), own, state }
    }

    /// From now on, a table has only the rows for which a condition is true; not for views planned before.
    pub async fn restrict(&self, name: &str, condition: &str) -> Result<()> {
        let gone = || DataFusionError::Internal("the session is closed".to_owned());
        let state = (self.state)().ok_or_else(gone)?;
        let plan = plan(&state, &format!("SELECT * FROM {name} WHERE {condition}")).await?;
        let table: Arc<dyn TableProvider> = Arc::new(ViewTable::new(plan, None));
        let mut planned = self.planned.lock().unwrap_or_else(PoisonError::into_inner);
        planned.insert(name.to_owned(), table);
        self.restricted.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), false);
        Ok(())
    }

    /// True if a statement has read the table, also through a view, since it was restricted.
    pub fn has_read_restricted(&self, name: &str) -> bool {
        let restricted = self.restricted.lock().unwrap_or_else(PoisonError::into_inner);
        restricted.get(name).copied().unwrap_or(false)
    }

    fn planned(&self, name: &str) -> Option<Arc<dyn TableProvider>> {
        let mut restricted = self.restricted.lock().unwrap_or_else(PoisonError::into_inner);
        restricted.get_mut(name).into_iter().for_each(|read| *read = true);
        drop(restricted);
        // Plans are inserted whole, so that the map is consistent even after a panic of another thread.
        let planned = self.planned.lock().unwrap_or_else(PoisonError::into_inner);
        planned.get(name).cloned()
    }

    /// The tables and views that statements of the session made.
    pub fn own(&self) -> &OwnTables {
        &self.own
    }

    /// True for a table or view that statements cannot make or drop.
    pub fn is_of_database(&self, name: &str) -> bool {
        self.tables.contains_key(name) || self.views.contains_key(name)
    }

    /// A table or view, synchronously: for planners that cannot wait. Nothing in [`find`](Self::find) waits.
    pub fn get(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        self.find(name).now_or_never().unwrap_or(Ok(None))
    }

    async fn find(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        if let Some(found) = self.planned(name).or_else(|| self.tables.get(name).cloned()) {
            return Ok(Some(found));
        }
        let Some(view) = self.views.get(name) else { return Ok(self.own.get(name)) };
        let gone = || DataFusionError::Internal("the session is closed".to_owned());
        let state = (self.state)().ok_or_else(gone)?;
        let plan = Box::pin(plan(&state, &view.sql)).await;
        let plan = plan.map_err(|e| e.context(format!("the view '{name}' cannot be planned")))?;
        let table: Arc<dyn TableProvider> = Arc::new(ViewTable::new(plan, Some(view.sql.clone())));
        let mut planned = self.planned.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Some(Arc::clone(planned.entry(view.name.clone()).or_insert(table))))
    }
}

impl fmt::Debug for Catalog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Catalog").finish_non_exhaustive()
    }
}

#[async_trait]
impl SchemaProvider for Catalog {
    fn table_names(&self) -> Vec<String> {
        let tables = self.tables.keys().map(|name| (*name).to_owned()).chain(self.views.keys().cloned());
        tables.chain(self.own.names()).collect()
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        self.find(name).await
    }

    fn table_exist(&self, name: &str) -> bool {
        self.is_of_database(name) || self.own.get(name).is_some()
    }
}
