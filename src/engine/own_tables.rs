//! Views and tables that statements make for the rest of the session. They are in memory, and never touch the
//! database. Not for its own tables and views (see `catalog`), and not for statements (see `definitions`).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use datafusion::catalog::TableProvider;
use datafusion::execution::memory_pool::MemoryReservation;

use super::relations::Relation;

/// The views and tables of a session, by name. They stay when a session is opened anew on the same snapshot.
#[derive(Debug, Clone, Default)]
pub(super) struct OwnTables(Arc<Mutex<BTreeMap<String, Own>>>);

#[derive(Debug, Clone)]
pub(super) struct Own {
    pub provider: Arc<dyn TableProvider>,
    pub is_view: bool,
    /// Gives the memory of a table back with it.
    pub _memory: Option<Arc<MemoryReservation>>,
}

impl OwnTables {
    pub fn get(&self, name: &str) -> Option<Arc<dyn TableProvider>> {
        self.with(|own| own.get(name).map(|own| Arc::clone(&own.provider)))
    }

    pub fn names(&self) -> Vec<String> {
        self.with(|own| own.keys().cloned().collect())
    }

    /// For lists and completion.
    pub fn relations(&self) -> Vec<Relation> {
        let relation = |(name, own): (&String, &Own)| Relation {
            name: name.clone(),
            doc: format!("A {} of this session.", if own.is_view { "view" } else { "table" }),
            columns: own.provider.schema().fields().iter().map(|f| f.name().clone()).collect(),
            view: true,
        };
        self.with(|own| own.iter().map(relation).collect())
    }

    pub fn insert(&self, name: String, own: Own) {
        self.with(|all| all.insert(name, own));
    }

    /// False if there is none of that name.
    pub fn remove(&self, name: &str) -> bool {
        self.with(|all| all.remove(name).is_some())
    }

    fn with<T>(&self, work: impl FnOnce(&mut BTreeMap<String, Own>) -> T) -> T {
        // Entries are inserted whole, so that the map is consistent even after a panic of another thread.
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
