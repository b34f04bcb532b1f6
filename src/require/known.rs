//! Which names a database knows, and from where: what was measured, what a description or a header has but
//! did not run, and what nothing has. Not for values.

use super::{Requirements, Verdict};
use crate::chain::{Chain, ChainStep};
use crate::engine::Session;
use crate::error::{ErrorKind, Result, did_you_mean};
use crate::schema::tables;
use crate::selection::kinds::{Kinds, described, described_only};
use crate::selection::pattern;
use crate::selection::steps::{
    StepNames, mark_silent, recordings_of_entity, recordings_with, sentence, silent,
};
use serde::{Deserialize, Serialize};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

/// Why a requirement has no samples: the verdict, and a sentence for the report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Missing {
    pub verdict: Verdict,
    pub note: String,
}

/// Marks the chains of which a step never happens in the database; a sentence for each of them.
///
/// # Errors
/// [`ErrorKind::Usage`] for names of steps that nothing has, with a suggestion; those of a query.
pub fn with_silent(session: &Session, mut chains: Vec<Chain>) -> Result<(Vec<Chain>, Vec<String>)> {
    let sentences = mark_silent(session, &mut chains)?;
    Ok((chains, sentences))
}

/// The chains of a file, without those that have steps with names that nothing has: requirements on these are
/// [unknown](Verdict::Unknown).
///
/// # Errors
/// Those of a query.
pub fn known_chains(session: &Session, requirements: &Requirements) -> Result<Vec<Chain>> {
    let mut known = Vec::new();
    for mut chain in requirements.chains() {
        match mark_silent(session, std::slice::from_mut(&mut chain)) {
            Ok(_) => known.push(chain),
            Err(error) if error.kind() == ErrorKind::Usage => {}
            Err(error) => return Err(error),
        }
    }
    Ok(known)
}

/// What a database knows of the names in a file of requirements.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Known {
    /// Those of processes, runnables and cores that did something.
    measured: BTreeSet<String>,
    /// Why others have no samples.
    missing: BTreeMap<String, Missing>,
    /// Why cores have no load.
    missing_cores: BTreeMap<String, Missing>,
    /// The names that steps can have, if there are steps.
    names: StepNames,
}

impl Known {
    /// # Errors
    /// Those of a query.
    pub fn of(session: &Session, requirements: &Requirements) -> Result<Self> {
        let Requirements { limit, deadline, period, load, chain, synchronisation, temporal, .. } =
            requirements;
        let lookup = Lookup { session, measured: OnceCell::new(), described: OnceCell::new() };
        let mut known = Self::default();
        let entities = limit.iter().filter_map(|limit| limit.entity.as_ref());
        let entities = entities.chain(deadline.iter().map(|deadline| deadline.entity.get_ref()));
        let entities = entities.chain(period.iter().map(|period| &period.entity));
        let states = temporal.iter().flat_map(|temporal| [&temporal.during, &temporal.held]).flatten();
        for name in entities.chain(states.map(|state| &state.entity)) {
            if let Some(missing) = lookup.missing(name)? {
                known.missing.insert(name.clone(), missing);
            } else if lookup.measured()?.contains(name) {
                known.measured.insert(name.clone());
            }
        }
        for core in load.iter().filter_map(|load| load.core.as_ref()) {
            if let Some(missing) = lookup.missing_core(core)? {
                known.missing_cores.insert(core.clone(), missing);
            }
        }
        if !chain.is_empty() || !synchronisation.is_empty() || !temporal.is_empty() {
            known.names = StepNames::of(session)?;
        }
        Ok(known)
    }

    /// Why a process, runnable or core has no samples; `None` when it may have some.
    pub(super) fn missing(&self, name: &str) -> Option<&Missing> {
        self.missing.get(name)
    }

    /// Why a core has no load; `None` when something ran on it.
    pub(super) fn missing_core(&self, name: &str) -> Option<&Missing> {
        self.missing_cores.get(name)
    }

    /// True if a process, runnable or core has the name, and did something.
    pub(super) fn is_measured(&self, name: &str) -> bool {
        self.measured.contains(name)
    }

    /// The recordings that have no events that are steps of a chain, or events of a synchronisation, and why.
    pub(super) fn lacking(
        &self,
        session: &Session,
        recordings: &[String],
        steps: &[ChainStep],
    ) -> Result<BTreeMap<String, Missing>> {
        let mut lacking: BTreeMap<String, Missing> = BTreeMap::new();
        for step in steps {
            let have = recordings_with(session, step)?;
            let is_without =
                |name: &&String| have.binary_search(name).is_err() && !lacking.contains_key(*name);
            let without: Vec<&String> = recordings.iter().filter(is_without).collect();
            if without.is_empty() {
                continue;
            }
            let here = recordings_of_entity(session, step)?;
            for recording in without {
                let is_here = here.binary_search(recording).is_ok();
                let (verdict, note) = match silent(session, Some(recording), step, (&self.names, is_here)) {
                    Ok(None) => continue,
                    Ok(Some(note)) => (Verdict::NoSamples, note),
                    Err(error) if error.kind() == ErrorKind::Usage => (Verdict::Unknown, sentence(&error)),
                    Err(error) => return Err(error),
                };
                lacking.insert(recording.clone(), Missing { verdict, note });
            }
        }
        Ok(lacking)
    }
}

/// Looks names up in a database, when they are needed.
struct Lookup<'a> {
    session: &'a Session,
    measured: OnceCell<BTreeSet<String>>,
    described: OnceCell<BTreeSet<String>>,
}

impl Lookup<'_> {
    /// Why a process, runnable or core has no samples; `None` when it may have some.
    fn missing(&self, name: &str) -> Result<Option<Missing>> {
        let measured = self.measured()?;
        let is_chain = |name: &str| self.session.given_chains().iter().any(|chain| chain.name == name);
        // A name that cores or control units share (rules I9 and O10 of docs/mapping.md).
        let is_shared = || measured.iter().any(|process| pattern::fits_on_core(name, process));
        if measured.contains(name) || is_chain(name) || is_shared() {
            return Ok(None);
        }
        let described = self.described()?;
        if described.contains(name) {
            // What occurs may have samples of the metric; if not, the metric says why.
            let kinds = Kinds::of(self.session, None, name)?;
            let missing = || Missing { verdict: Verdict::NoSamples, note: described_only(name) };
            return Ok((kinds.never_ran || kinds.types.is_empty()).then(missing));
        }
        let chains = self.session.given_chains().iter().map(|chain| &chain.name);
        let known = measured.iter().chain(described).chain(chains).map(String::as_str);
        let near = did_you_mean(name, known).map(|near| format!("; did you mean '{near}'?"));
        let near = near.unwrap_or_default();
        let note =
            format!("there is no task, interrupt service routine, runnable, core or chain '{name}'{near}");
        Ok(Some(Missing { verdict: Verdict::Unknown, note }))
    }

    /// Why a core has no load; `None` when something ran on it.
    fn missing_core(&self, name: &str) -> Result<Option<Missing>> {
        let mut cores = Vec::new();
        for (table, sql) in [
            (tables::PROCESS_STATE, "SELECT DISTINCT core FROM process_state WHERE core IS NOT NULL"),
            (tables::ENTITY, "SELECT DISTINCT entity FROM entity WHERE type = 'C'"),
        ] {
            if self.session.database().rows(table) > 0 {
                cores.extend(self.session.names(sql, &[])?);
            }
            if table.name == tables::PROCESS_STATE.name && cores.iter().any(|core| core == name) {
                return Ok(None);
            }
        }
        if cores.iter().any(|core| core == name) {
            let note = format!("'{name}' is described, but nothing ran on it");
            return Ok(Some(Missing { verdict: Verdict::NoSamples, note }));
        }
        cores.sort();
        cores.dedup();
        let near = match did_you_mean(name, cores.iter().map(String::as_str)) {
            Some(near) => format!("did you mean '{near}'?"),
            None => format!("the cores are {}", cores.join(", ")),
        };
        let note = format!("there is no core '{name}'; {near}");
        Ok(Some(Missing { verdict: Verdict::Unknown, note }))
    }

    fn measured(&self) -> Result<&BTreeSet<String>> {
        let sql = "SELECT process FROM process_instance UNION SELECT runnable FROM runnable_instance \
                   UNION SELECT core FROM process_state WHERE core IS NOT NULL";
        if self.measured.get().is_none() {
            let mut names: BTreeSet<String> = self.session.names(sql, &[])?.into_iter().collect();
            if self.session.database().rows(tables::ENTITY) > 0 {
                // The name that cores share for their handlers (rule I9 of docs/mapping.md).
                let shared = "SELECT DISTINCT entity FROM entity WHERE type = 'I' AND occurs";
                names.extend(self.session.names(shared, &[])?);
            }
            return Ok(self.measured.get_or_init(|| names));
        }
        Ok(self.measured.get_or_init(BTreeSet::new))
    }

    fn described(&self) -> Result<&BTreeSet<String>> {
        match self.described.get() {
            Some(names) => Ok(names),
            None => {
                let names = described(self.session)?;
                Ok(self.described.get_or_init(|| names))
            }
        }
    }
}
