//! What entities are, in words, and whether anything happened to them: for messages about names that have no
//! rows. Not whether a name is known at all (see `known`).

use super::pattern;
use crate::btf::EntityType;
use crate::btf::remark::{self, Remark};
use crate::engine::{Param, Session};
use crate::error::Result;
use crate::schema::{TableSpec, tables};
use std::collections::BTreeSet;

/// The type of chains in metrics.
const CHAIN: &str = "EC";

/// What a name, or a pattern, is of.
#[derive(Debug, Default)]
pub(crate) struct Kinds {
    /// Types as BTF abbreviates them.
    pub types: BTreeSet<String>,
    /// A description names it, and nothing happened to any of them.
    pub never_ran: bool,
}

impl Kinds {
    /// In one recording, or in all of them.
    ///
    /// # Errors
    /// Those of a query.
    pub fn of(session: &Session, recording: Option<&str>, word: &str) -> Result<Self> {
        let here = |table: &TableSpec| session.database().has(table, recording);
        let (is, name) = match pattern::is_pattern(word) {
            true => ("LIKE", pattern::like(word)),
            false => ("=", word.to_owned()),
        };
        let params =
            [("recording", recording.map_or(Param::Null, Param::from)), ("name", Param::from(name.as_str()))];
        let types = |table: &TableSpec, column: &str, ty: &str, rest: &str| {
            match here(table)? {
            true => session.names(
                &format!(
                    "SELECT DISTINCT {ty} AS type FROM {} WHERE ($recording IS NULL OR recording = $recording) \
                     AND {column} {is} $name{rest}",
                    table.name
                ),
                &params,
            ),
            false => Ok(Vec::new()),
        }
        };
        let described = types(tables::ENTITY, "entity", "type", " AND NOT occurs")?;
        let mut found: BTreeSet<String> =
            types(tables::ENTITY, "entity", "type", " AND occurs")?.into_iter().collect();
        found.extend(types(tables::PROCESS_INSTANCE, "process", "type", "")?);
        found.extend(types(tables::RUNNABLE_INSTANCE, "runnable", "'R'", "")?);
        found.extend(types(tables::PROCESS_STATE, "core", "'C'", "")?);
        let mut chains = session.given_chains().iter();
        found.extend(chains.any(|chain| pattern::fits(word, &chain.name)).then(|| CHAIN.to_owned()));
        let never_ran = found.is_empty() && !described.is_empty();
        found.extend(described);
        Ok(Self { types: found, never_ran })
    }

    /// True if some of them are among the types. Tasks and ISRs are alike for metrics.
    pub fn are_among(&self, types: &BTreeSet<String>) -> bool {
        let is_process = |ty: &String| EntityType::parse_tolerant(ty).is_some_and(EntityType::is_process);
        !self.types.is_disjoint(types) || (self.types.iter().any(is_process) && types.iter().any(is_process))
    }

    /// `, a task`; nothing where names of several types fit.
    pub fn apposition(&self) -> String {
        let mut types = self.types.iter();
        match (types.next().map(|ty| noun(ty)), types.next()) {
            (Some(noun), None) => {
                let article = if noun.starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" };
                format!(", {article} {noun}")
            }
            _ => String::new(),
        }
    }
}

/// `tasks and interrupt service routines`
pub(crate) fn plural(types: &BTreeSet<String>) -> String {
    let nouns: Vec<String> = types.iter().rev().map(|ty| many(noun(ty))).collect();
    match nouns.as_slice() {
        [all @ .., last] if !all.is_empty() => format!("{} and {last}", all.join(", ")),
        all => all.concat(),
    }
}

/// A sentence for each of the names, or patterns, that only descriptions have in these recordings.
///
/// # Errors
/// Those of a query.
pub(crate) fn never_ran(session: &Session, recordings: &[String], words: &[String]) -> Result<Vec<String>> {
    let mut sentences = Vec::new();
    for word in words {
        let mut kinds = Vec::new();
        for recording in recordings {
            kinds.push(Kinds::of(session, Some(recording), word)?);
        }
        kinds.retain(|kinds| !kinds.types.is_empty());
        if !kinds.is_empty() && kinds.iter().all(|kinds| kinds.never_ran) {
            sentences.push(described_only(word));
        }
    }
    Ok(sentences)
}

/// The names in descriptions and in the headers of BTF files.
///
/// # Errors
/// Those of a query.
pub(crate) fn described(session: &Session) -> Result<BTreeSet<String>> {
    let database = session.database();
    let mut names = BTreeSet::new();
    if database.rows(tables::ENTITY) > 0 {
        names.extend(session.names("SELECT DISTINCT entity FROM entity", &[])?);
    }
    if database.rows(tables::BTF_LINE) > 0 {
        let sql = "SELECT text FROM btf_line WHERE kind IN ('table_row', 'parameter') \
                   OR (kind = 'comment' AND starts_with(text, $known))";
        for line in session.names(sql, &[("known", remark::KNOWN.into())])? {
            if let Some(Remark::Known(name)) = remark::read(&line) {
                names.insert(name.to_owned());
                continue;
            }
            // `#-7 T_1`, and since BTF 2.2 `#entityMapping 7 T_1`. What else is read are names that nobody
            // asks for.
            let rest = line.split_once(' ').map(|(_, rest)| rest);
            let of_mapping = rest.and_then(|rest| rest.split_once(' ')).map(|(_, name)| name);
            names.extend(rest.into_iter().chain(of_mapping).map(|name| name.trim().to_owned()));
        }
    }
    Ok(names)
}

/// What a name is of which only descriptions know.
pub(crate) fn described_only(word: &str) -> String {
    format!("'{word}' is described, but it never ran")
}

fn many(noun: &str) -> String {
    match noun {
        "stimulus" => "stimuli".to_owned(),
        noun => format!("{noun}s"),
    }
}

fn noun(ty: &str) -> &str {
    match EntityType::parse_tolerant(ty) {
        Some(EntityType::Task) => "task",
        Some(EntityType::Isr) => "interrupt service routine",
        Some(EntityType::Runnable) => "runnable",
        Some(EntityType::Core) => "core",
        Some(EntityType::Signal) => "signal",
        Some(EntityType::Semaphore) => "semaphore",
        Some(EntityType::OsEvent) => "event",
        Some(EntityType::Stimulus) => "stimulus",
        _ if ty == CHAIN => "chain",
        _ => ty,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn types(words: &[&str]) -> BTreeSet<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn types_are_words() {
        assert_eq!(plural(&types(&["T", "I"])), "tasks and interrupt service routines");
        assert_eq!(plural(&types(&["C"])), "cores");
        assert_eq!(plural(&types(&[])), "");
        let of = |words: &[&str]| Kinds { types: types(words), never_ran: false };
        assert_eq!(of(&["EVENT"]).apposition(), ", an event");
        assert_eq!(of(&["C"]).apposition(), ", a core");
        assert_eq!(of(&["C", "T"]).apposition(), "");
        assert!(of(&["I"]).are_among(&types(&["T"])) && !of(&["C"]).are_among(&types(&["T"])));
    }
}
