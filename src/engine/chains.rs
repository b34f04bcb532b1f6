//! The chains of events of a session: set once. Not whether the database has their steps (see `selection`),
//! not for their rows (see `table_functions::chains`), and not for what follows from what (see
//! [`crate::chain`]).

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use crate::chain::Chain;
use crate::error::{Error, Result};

/// The chains of a session, and whether a statement wanted some where there are none.
#[derive(Debug, Default)]
pub(super) struct Given {
    chains: OnceLock<Arc<[Chain]>>,
    missed: AtomicBool,
}

pub(super) type Chains = Arc<Given>;

impl Given {
    pub fn set(&self, chains: &[Chain]) -> Result<()> {
        for (i, chain) in chains.iter().enumerate() {
            if chain.steps.len() < 2 {
                return Err(Error::usage(format!("the chain '{}' has less than two steps", chain.name)));
            }
            if chains.iter().take(i).any(|c| c.name == chain.name) {
                return Err(Error::usage(format!("two chains are called '{}'", chain.name)));
            }
        }
        self.chains.set(chains.into()).map_err(|_| Error::usage("the chains of a session are given once"))
    }

    pub fn all(&self) -> &[Chain] {
        self.chains.get().map_or(&[], |chains| chains)
    }

    /// The chains for a statement that reads their rows.
    pub fn read(&self) -> &[Chain] {
        if self.chains.get().is_none() {
            self.missed.store(true, Ordering::Relaxed);
        }
        self.all()
    }

    /// True if a statement has read rows of chains, and none were given; false until the next one does.
    pub fn take_missed(&self) -> bool {
        self.missed.swap(false, Ordering::Relaxed)
    }
}
