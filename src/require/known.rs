//! Which names a database knows, and from where: what was measured, what a description or a header has but
//! did not run, and what nothing has. Not for values.

use super::Verdict;
use crate::btf::Action;
use crate::chain::ChainStep;
use crate::engine::Session;
use crate::error::{Error, ErrorKind, Result, did_you_mean};
use crate::schema::{TableSpec, tables};
use crate::selection::kinds::{Kinds, described_only};
use std::cell::OnceCell;
use std::collections::BTreeSet;

/// Why a requirement has no samples: the verdict, and a sentence for the report.
pub(super) struct Missing {
    pub verdict: Verdict,
    pub note: String,
}

/// The names of a database. They are looked up when they are needed.
pub(super) struct Known<'a> {
    session: &'a Session,
    measured: OnceCell<BTreeSet<String>>,
    described: OnceCell<BTreeSet<String>>,
}

impl<'a> Known<'a> {
    pub fn new(session: &'a Session) -> Self {
        Self { session, measured: OnceCell::new(), described: OnceCell::new() }
    }

    /// Why a process, runnable or core has no samples; `None` when it may have some.
    pub fn missing(&self, name: &str) -> Result<Option<Missing>> {
        let measured = self.measured()?;
        if measured.contains(name) {
            return Ok(None);
        }
        let described = self.described()?;
        if described.contains(name) {
            // What occurs may have samples of the metric; if not, the metric says why.
            let kinds = Kinds::of(self.session, None, name)?;
            let missing = || Missing { verdict: Verdict::NoSamples, note: described_only(name) };
            return Ok((kinds.never_ran || kinds.types.is_empty()).then(missing));
        }
        let known = measured.iter().chain(described).map(String::as_str);
        let near = did_you_mean(name, known).map(|near| format!("; did you mean '{near}'?"));
        let near = near.unwrap_or_default();
        let note =
            format!("there is no task, interrupt service routine, runnable, core or chain '{name}'{near}");
        Ok(Some(Missing { verdict: Verdict::Unknown, note }))
    }

    /// Why a core has no load; `None` when something ran on it.
    pub fn missing_core(&self, name: &str) -> Result<Option<Missing>> {
        let mut cores = Vec::new();
        for (table, sql) in [
            (tables::PROCESS_STATE, "SELECT DISTINCT core FROM process_state WHERE core IS NOT NULL"),
            (tables::ENTITY, "SELECT DISTINCT entity FROM entity WHERE type = 'C'"),
        ] {
            if self.has(table) {
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

    /// Why steps of a chain or events of a synchronisation have no events; `None` if all of them have.
    pub fn missing_step(&self, steps: &[ChainStep]) -> Result<Option<Missing>> {
        for step in steps {
            let error = match self.session.check_step(step) {
                Ok(()) => continue,
                Err(error) if error.kind() == ErrorKind::Usage => error,
                Err(error) => return Err(error),
            };
            let source = step.source.as_deref().into_iter();
            let mut names = source.chain([step.entity.as_str()]);
            let described = self.described()?;
            let is_action = Action::parse_tolerant(&step.action).is_some();
            let is_known = is_action && names.all(|name| described.contains(name));
            let verdict = match is_known {
                true => Verdict::NoSamples,
                false => Verdict::Unknown,
            };
            return Ok(Some(Missing { verdict, note: sentence(&error) }));
        }
        Ok(None)
    }

    fn measured(&self) -> Result<&BTreeSet<String>> {
        let sql = "SELECT process FROM process_instance UNION SELECT runnable FROM runnable_instance \
                   UNION SELECT core FROM process_state WHERE core IS NOT NULL";
        if self.measured.get().is_none() {
            let mut names: BTreeSet<String> = self.session.names(sql, &[])?.into_iter().collect();
            names.extend(self.session.given_chains().iter().map(|chain| chain.name.clone()));
            if self.has(tables::ENTITY) {
                // The name that cores share for their handlers (rule I9 of docs/mapping.md).
                let shared = "SELECT DISTINCT entity FROM entity WHERE type = 'I' AND occurs";
                names.extend(self.session.names(shared, &[])?);
            }
            return Ok(self.measured.get_or_init(|| names));
        }
        Ok(self.measured.get_or_init(BTreeSet::new))
    }

    fn has(&self, table: &TableSpec) -> bool {
        let database = self.session.database();
        database.recordings().iter().any(|r| database.has(table, &r.name))
    }

    /// The names in descriptions and in the headers of BTF files.
    fn described(&self) -> Result<&BTreeSet<String>> {
        if let Some(names) = self.described.get() {
            return Ok(names);
        }
        let mut names = BTreeSet::new();
        if self.has(tables::ENTITY) {
            names.extend(self.session.names("SELECT DISTINCT entity FROM entity", &[])?);
        }
        if self.has(tables::BTF_LINE) {
            let sql = "SELECT text FROM btf_line WHERE kind IN ('table_row', 'parameter')";
            for line in self.session.names(sql, &[])? {
                // `#-7 T_1`, and since BTF 2.2 `#entityMapping 7 T_1`. The other words are names that nobody
                // asks for.
                names.extend(line.split_whitespace().skip(1).map(str::to_owned));
            }
        }
        Ok(self.described.get_or_init(|| names))
    }
}

/// An error with its hint, as one sentence.
fn sentence(error: &Error) -> String {
    error.hints().iter().fold(error.to_string(), |text, hint| format!("{text}; {hint}"))
}
