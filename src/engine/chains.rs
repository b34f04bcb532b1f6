//! The chains of events of a session: set once, with their steps looked up in the database. Not for their
//! rows (see `table_functions::chains`), and not for what follows from what (see [`crate::chain`]).

use std::sync::{Arc, OnceLock};

use super::run::Runner;
use crate::btf::Action;
use crate::chain::{Chain, ChainStep};
use crate::error::{Error, Result, did_you_mean};

pub(super) type Chains = Arc<OnceLock<Arc<[Chain]>>>;

pub(super) fn set(runner: &Runner, given: &Chains, chains: &[Chain]) -> Result<()> {
    for (i, chain) in chains.iter().enumerate() {
        if chain.steps.len() < 2 {
            return Err(Error::usage(format!("the chain '{}' has less than two steps", chain.name)));
        }
        if chains.iter().take(i).any(|c| c.name == chain.name) {
            return Err(Error::usage(format!("two chains are called '{}'", chain.name)));
        }
        for step in &chain.steps {
            check_step(runner, step)?;
        }
    }
    given.set(chains.into()).map_err(|_| Error::usage("the chains of a session are given once"))
}

/// Fails if nothing in the database matches the step, which means a mistake in its names.
pub(super) fn check_step(runner: &Runner, step: &ChainStep) -> Result<()> {
    let (entity, action) = (step.entity.as_str(), step.action.as_str());
    let filter = "WHERE target = $entity AND is_action(action, $action)";
    let given = [("entity", entity.into()), ("action", action.into())];
    let found = match &step.source {
        None => runner.names(&format!("SELECT action FROM btf_event {filter} LIMIT 1"), &given)?,
        Some(source) => {
            let [entity, action] = given.clone();
            let sql = format!("SELECT source FROM btf_event {filter} AND source = $source LIMIT 1");
            runner.names(&sql, &[entity, action, ("source", source.as_str().into())])?
        }
    };
    if !found.is_empty() {
        return Ok(());
    }
    let entities = runner.names("SELECT DISTINCT target FROM btf_event", &[])?;
    if !entities.iter().any(|e| e == entity) {
        return Err(unknown("entity", entity, &entities));
    }
    let actions =
        runner.names("SELECT DISTINCT action FROM btf_event WHERE target = $entity", &given[..1])?;
    if !actions.iter().any(|known| Action::same(known, action)) {
        return Err(unknown(&format!("action of {entity}"), action, &actions));
    }
    let sources = runner.names(&format!("SELECT DISTINCT source FROM btf_event {filter}"), &given)?;
    let source = step.source.as_deref().unwrap_or_default();
    Err(unknown(&format!("source of '{action}' of {entity}"), source, &sources))
}

fn unknown(what: &str, name: &str, known: &[String]) -> Error {
    let error = Error::usage(format!("there is no {what} '{name}'"));
    match did_you_mean(name, known.iter().map(String::as_str)) {
        Some(near) => error.hint(format!("did you mean '{near}'?")),
        None if known.len() <= 8 => error.hint(format!("there are: {}", known.join(", "))),
        None => error,
    }
}
