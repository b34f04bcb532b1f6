//! The chains of events of a session: given once, their steps looked up in the database. Not for their rows (see
//! `table_functions::chains`), and not for what follows from what (see [`crate::chain`]).

use std::sync::{Arc, OnceLock};

use super::session::Session;
use crate::chain::{Chain, ChainStep};
use crate::error::{Error, Result, did_you_mean};

/// The chains of a session, set once.
pub(super) type Chains = Arc<OnceLock<Arc<[Chain]>>>;

impl Session {
    /// The view `chain_instance` and the metrics over it show these chains. They can be given once.
    ///
    /// # Errors
    /// [`crate::error::ErrorKind::Usage`] when a chain has less than two steps or the name of another one, or when nothing in
    /// the whole database is what a step says, with a suggestion; otherwise as [`Session::run`].
    pub fn with_chains(self, chains: &[Chain]) -> Result<Self> {
        for (i, chain) in chains.iter().enumerate() {
            if chain.steps.len() < 2 {
                return Err(Error::usage(format!("the chain '{}' has less than two steps", chain.name)));
            }
            if chains.iter().take(i).any(|c| c.name == chain.name) {
                return Err(Error::usage(format!("two chains are called '{}'", chain.name)));
            }
            for step in &chain.steps {
                self.check_step(step)?;
            }
        }
        match self.chains().set(chains.into()) {
            Ok(()) => Ok(self),
            Err(_) => Err(Error::usage("the chains of a session are given once")),
        }
    }

    /// The chains that were given; none when none were.
    pub fn given_chains(&self) -> &[Chain] {
        self.chains().get().map_or(&[], |chains| chains)
    }

    /// Fails when nothing like the step is anywhere in the database, which is a mistake in its names.
    pub(crate) fn check_step(&self, step: &ChainStep) -> Result<()> {
        let (entity, action) = (step.entity.as_str(), step.action.as_str());
        let filter = "WHERE target = $entity AND action = $action";
        let given = [("entity", entity.into()), ("action", action.into())];
        let found = match &step.source {
            None => self.names(&format!("SELECT action FROM btf_event {filter} LIMIT 1"), &given)?,
            Some(source) => {
                let [entity, action] = given.clone();
                let sql = format!("SELECT source FROM btf_event {filter} AND source = $source LIMIT 1");
                self.names(&sql, &[entity, action, ("source", source.as_str().into())])?
            }
        };
        if !found.is_empty() {
            return Ok(());
        }
        let entities = self.names("SELECT DISTINCT target FROM btf_event", &[])?;
        if !entities.iter().any(|e| e == entity) {
            return Err(unknown("entity", entity, &entities));
        }
        let actions =
            self.names("SELECT DISTINCT action FROM btf_event WHERE target = $entity", &given[..1])?;
        if !actions.iter().any(|a| a == action) {
            return Err(unknown(&format!("action of {entity}"), action, &actions));
        }
        let sources = self.names(&format!("SELECT DISTINCT source FROM btf_event {filter}"), &given)?;
        let source = step.source.as_deref().unwrap_or_default();
        Err(unknown(&format!("source of '{action}' of {entity}"), source, &sources))
    }
}

fn unknown(what: &str, name: &str, known: &[String]) -> Error {
    let error = Error::usage(format!("there is no {what} '{name}'"));
    match did_you_mean(name, known.iter().map(String::as_str)) {
        Some(near) => error.hint(format!("did you mean '{near}'?")),
        None if known.len() <= 8 => error.hint(format!("there are: {}", known.join(", "))),
        None => error,
    }
}
