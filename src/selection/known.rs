//! Whether a recording has what a selection names: a name, type or window that selects nothing is a mistake
//! of the user. Not for selections whose parts only have nothing in common.

use super::{Selection, pattern};
use crate::btf::EntityType;
use crate::engine::{Param, Session};
use crate::error::{Error, ErrorKind, Result};
use crate::schema::{TableSpec, columns, tables};
use std::collections::BTreeSet;

/// Where names of entities are, the small tables first.
const NAMED: &[(&TableSpec, &[&str])] = &[
    (tables::ENTITY, &[columns::entity::ENTITY]),
    (tables::PROCESS_INSTANCE, &[columns::process_instance::PROCESS]),
    (tables::RUNNABLE_INSTANCE, &[columns::runnable_instance::RUNNABLE]),
    (tables::PROCESS_STATE, &[columns::process_state::CORE]),
    (
        tables::GRASP_EVENT,
        &[
            columns::grasp_event::PROCESSOR,
            columns::grasp_event::TASK,
            columns::grasp_event::SERVER,
            columns::grasp_event::MUTEX,
            columns::grasp_event::SEMAPHORE,
            columns::grasp_event::BUFFER,
        ],
    ),
    (tables::BTF_EVENT, &[columns::btf_event::TARGET, columns::btf_event::SOURCE]),
    (tables::FUNCTION_EVENT, &[columns::function_event::FUNCTION]),
    (tables::DATA_EVENT, &[columns::data_event::VARIABLE]),
];

impl Selection {
    /// Checks names, types and window against the recording that is selected.
    ///
    /// # Errors
    /// [`crate::error::ErrorKind::Usage`] for a name that nothing in the recording has, with a suggestion;
    /// for a type that BTF does not have, or that no event of the recording is of; for a window that ends
    /// before it begins, or lies outside of the recording.
    pub(crate) fn check(&self, session: &Session, recording: &str) -> Result<()> {
        self.check_window(session, recording)?;
        check_names(session, recording, &self.entities)?;
        check_types(session, recording, &self.types)
    }

    /// Names in addition the processes of a name that cores or control units share, such as `Core_0.NAME`
    /// (rules I9 and O10 of docs/mapping.md).
    ///
    /// # Errors
    /// Those of a query.
    pub(crate) fn with_handlers(&self, session: &Session, recording: &str) -> Result<Self> {
        let mut all = self.clone();
        if !all.entities.is_empty() {
            let sql = "SELECT DISTINCT process FROM process_instance WHERE recording = $recording";
            let mut processes = session.names(sql, &[("recording", recording.into())])?;
            processes.retain(|process| self.entities.iter().any(|word| pattern::fits_on_core(word, process)));
            all.entities.extend(processes);
        }
        Ok(all)
    }

    /// Names in addition what system events call the handlers that are named as processes (`Core_0.NAME`),
    /// with a sentence for each: events have one name for those of all cores (rule I9 of docs/mapping.md).
    ///
    /// # Errors
    /// Those of a query.
    pub(crate) fn with_names_in_events(
        &self,
        session: &Session,
        recording: &str,
    ) -> Result<(Self, Vec<String>)> {
        let (mut all, mut notes) = (self.clone(), Vec::new());
        let has = |table| session.database().has(table, recording);
        if all.entities.is_empty() || !has(tables::ENTITY)? || !has(tables::PROCESS_INSTANCE)? {
            return Ok((all, notes));
        }
        let of = |sql: &str| session.names(sql, &[("recording", recording.into())]);
        let processes =
            of("SELECT DISTINCT process FROM process_instance WHERE recording = $recording AND type = 'I'")?;
        let events = of(
            "SELECT DISTINCT entity FROM entity WHERE recording = $recording AND type IN ('T', 'I') AND occurs",
        )?;
        let is_shared = |name: &&String| {
            self.entities.iter().any(|word| !events.contains(word) && pattern::fits_on_core(word, name))
        };
        all.entities.extend(events.iter().filter(is_shared).cloned());
        let is_asked = |process: &&String| self.entities.iter().any(|word| pattern::fits(word, process));
        for process in processes.iter().filter(is_asked).filter(|process| !events.contains(process)) {
            let Some(name) = events.iter().find(|name| pattern::fits_on_core(name, process)) else {
                continue;
            };
            if !all.entities.contains(name) {
                all.entities.push(name.clone());
                notes.push(format!(
                    "system events call '{process}' '{name}', as that of other cores: the events of all of them are \
                     selected"
                ));
            }
        }
        Ok((all, notes))
    }

    /// Checks the window only.
    ///
    /// # Errors
    /// As [`Selection::check`].
    pub(crate) fn check_window(&self, session: &Session, recording: &str) -> Result<()> {
        session.database().check_window(Some(recording), self.from, self.to)
    }
}

/// Fails for the first of the names and patterns that nothing in the recording has.
pub(crate) fn check_names(session: &Session, recording: &str, names: &[String]) -> Result<()> {
    for name in names {
        let (is, like) = compared(name);
        let params = [("recording", Param::from(recording)), ("name", Param::from(like.as_str()))];
        let mut found = false;
        for (table, column) in places(session, recording)? {
            let sql = format!(
                "SELECT {column} FROM {table} WHERE recording = $recording AND {column} {is} $name LIMIT 1"
            );
            found = found || !session.names(&sql, &params)?.is_empty();
        }
        if !found {
            let known = known_names(session, recording)?;
            if known.iter().any(|known| pattern::fits_on_core(name, known)) {
                continue;
            }
            let error = Error::usage(without(recording, name));
            return Err(error.hint_near(name, known.iter().map(String::as_str), |_| {
                "`SELECT DISTINCT target_type, target FROM btf_event` lists the entities".to_owned()
            }));
        }
    }
    Ok(())
}

/// How a column is compared with a name or pattern.
fn compared(name: &str) -> (&'static str, String) {
    match pattern::is_pattern(name) {
        true => ("LIKE", pattern::like(name)),
        false => ("=", name.to_owned()),
    }
}

/// That nothing in a recording has a name.
pub(crate) fn without(recording: &str, name: &str) -> String {
    format!("recording '{recording}' has no entity '{name}'")
}

/// Those of the recordings in which something has a name, or fits a pattern.
///
/// # Errors
/// Those of a query.
pub(crate) fn recordings_with(
    session: &Session,
    recordings: &[&str],
    name: &str,
) -> Result<BTreeSet<String>> {
    let (is, like) = compared(name);
    let mut found = BTreeSet::new();
    for (table, columns) in NAMED.iter().filter(|(table, _)| session.database().rows(table) > 0) {
        for column in *columns {
            if recordings.iter().all(|recording| found.contains(*recording)) {
                return Ok(found);
            }
            let sql = format!("SELECT DISTINCT recording FROM {} WHERE {column} {is} $name", table.name);
            found.extend(session.names(&sql, &[("name", Param::from(like.as_str()))])?);
        }
    }
    Ok(found)
}

/// Fails for the first of the names and patterns that nothing in any of the recordings has.
pub(crate) fn check_names_in_any(session: &Session, recordings: &[String], names: &[String]) -> Result<()> {
    for name in names {
        in_any(recordings, &|recording| check_names(session, recording, std::slice::from_ref(name)))?;
    }
    Ok(())
}

/// Checks each recording until one passes; the first of the failures if none does.
pub(crate) fn in_any(recordings: &[String], check: &dyn Fn(&str) -> Result<()>) -> Result<()> {
    let mut first = Ok(());
    for recording in recordings {
        match check(recording) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() != ErrorKind::Usage => return Err(error),
            Err(error) => first = first.and(Err(error)),
        }
    }
    first
}

fn known_names(session: &Session, recording: &str) -> Result<BTreeSet<String>> {
    let mut known = BTreeSet::new();
    for (table, column) in places(session, recording)? {
        let sql = format!("SELECT DISTINCT {column} FROM {table} WHERE recording = $recording");
        known.extend(session.names(&sql, &[("recording", recording.into())])?);
    }
    Ok(known)
}

/// Tables that the recording has, and their columns of names.
fn places(session: &Session, recording: &str) -> Result<Vec<(&'static str, &'static str)>> {
    let Some(recording) = session.database().recording(recording)? else { return Ok(Vec::new()) };
    let here = NAMED.iter().filter(|(table, _)| recording.has(table));
    Ok(here.flat_map(|(table, columns)| columns.iter().map(|column| (table.name, *column))).collect())
}

/// Fails for a word that is no type of BTF, and if no event of the recording is of any of the types.
pub(crate) fn check_types(session: &Session, recording: &str, words: &[String]) -> Result<()> {
    // Cores have no events, and tables that are read as they are have no types.
    let is_core = |word: &String| EntityType::parse_tolerant(word) == Some(EntityType::Core);
    let here = session.database().has(tables::BTF_EVENT, recording)?;
    if !here || words.is_empty() || words.iter().any(is_core) {
        return words.iter().try_for_each(|word| check_word(word));
    }
    let params = [("recording", Param::from(recording))];
    let sql = "SELECT DISTINCT target_type FROM btf_event WHERE recording = $recording";
    let present = session.names(sql, &params)?;
    let same = |a: &str, b: &str| match EntityType::parse_tolerant(a) {
        Some(kind) => EntityType::parse_tolerant(b) == Some(kind),
        None => a == b,
    };
    let (occur, absent): (Vec<&String>, Vec<&String>) =
        words.iter().partition(|word| present.iter().any(|kind| same(word, kind)));
    absent.iter().try_for_each(|word| check_word(word))?;
    if !occur.is_empty() {
        return Ok(());
    }
    let absent: Vec<_> = absent.iter().map(|word| format!("'{word}'")).collect();
    Err(Error::usage(format!("the recording has no event of type {}", absent.join(", ")))
        .hint(format!("its types are: {}", present.join(", "))))
}

/// Fails for a word that is no type of BTF.
fn check_word(word: &str) -> Result<()> {
    if EntityType::parse_tolerant(word).is_some() {
        return Ok(());
    }
    let words = EntityType::ALL.into_iter().map(EntityType::as_str);
    let error = Error::usage(format!("there is no type '{word}'"));
    Err(error.hint_near(word, words, |all| format!("the types are: {all}")))
}
