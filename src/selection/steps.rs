//! Whether the steps of event chains happen: an entity that only a description has is no mistake, a name that
//! nothing has is one. Not what follows from what (see `chain`).

use super::kinds::{described, described_only};
use crate::btf::Action;
use crate::chain::{Chain, ChainStep};
use crate::engine::{Param, Session};
use crate::error::{Error, Result, did_you_mean};

/// Why nothing is a step, in a recording or in all of them: a sentence, or `None` where something is.
///
/// # Errors
/// [`crate::error::ErrorKind::Usage`], with a suggestion, for names that neither the events of the database
/// nor its descriptions have; those of a query.
pub(crate) fn silent(session: &Session, recording: Option<&str>, step: &ChainStep) -> Result<Option<String>> {
    if has(session, recording, step)? {
        return Ok(None);
    }
    let (entity, action, source) = (step.entity.as_str(), step.action.as_str(), step.source.as_deref());
    let entities = column(session, recording, "target", None)?;
    let all_entities = column(session, None, "target", None)?;
    let described = described(session)?;
    let is_in = |names: &[String], name: &str| names.iter().any(|known| known == name);
    if !is_in(&entities, entity) {
        return match (described.contains(entity), recording) {
            (true, _) => Ok(Some(described_only(entity))),
            (false, Some(recording)) if is_in(&all_entities, entity) => {
                Ok(Some(format!("nothing happens to '{entity}' in recording '{recording}'")))
            }
            (false, _) => Err(unknown("entity", entity, &all_entities)),
        };
    }
    let actions = column(session, recording, "action", Some(&step.of_entity()))?;
    if !actions.iter().any(|known| Action::same(known, action)) {
        let error = unknown(&format!("action of {entity}"), action, &actions);
        let all_actions = column(session, None, "action", None)?;
        let is_known = Action::parse_tolerant(action).is_some()
            || all_actions.iter().any(|known| Action::same(known, action));
        return if is_known { Ok(Some(sentence(&error))) } else { Err(error) };
    }
    let Some(source) = source else { return Ok(None) };
    let of_action = ChainStep { source: None, ..step.clone() }.condition();
    let sources = column(session, recording, "source", Some(&of_action))?;
    let error = unknown(&format!("source of '{action}' of {entity}"), source, &sources);
    let occurs = |recording: Option<&str>| -> Result<bool> {
        Ok(is_in(&column(session, recording, "source", None)?, source))
    };
    match () {
        () if is_in(&entities, source) || occurs(recording)? => Ok(Some(sentence(&error))),
        () if described.contains(source) => Ok(Some(described_only(source))),
        () if is_in(&all_entities, source) || occurs(None)? => Ok(Some(sentence(&error))),
        () => Err(error),
    }
}

/// Marks the chains of which a step never happens in the database; a sentence for each of them.
///
/// # Errors
/// Those of [`silent`].
pub(crate) fn mark_silent(session: &Session, chains: &mut [Chain]) -> Result<Vec<String>> {
    let mut sentences = Vec::new();
    for chain in chains {
        for step in &chain.steps {
            if let Some(why) = silent(session, None, step)? {
                chain.is_silent = true;
                sentences.push(format!("the chain '{}' has no rows: {why}", chain.name));
                break;
            }
        }
    }
    Ok(sentences)
}

/// An error with its hint, as one sentence.
pub(crate) fn sentence(error: &Error) -> String {
    error.hints().iter().fold(error.to_string(), |text, hint| format!("{text}; {hint}"))
}

/// Whether an event is the step.
fn has(session: &Session, recording: Option<&str>, step: &ChainStep) -> Result<bool> {
    let sql = format!("SELECT action FROM btf_event WHERE {}{} LIMIT 1", step.condition(), here(recording));
    Ok(!session.names(&sql, &params(recording))?.is_empty())
}

/// The names in a column of the events, or of those for which a condition is true.
fn column(
    session: &Session,
    recording: Option<&str>,
    column: &str,
    condition: Option<&str>,
) -> Result<Vec<String>> {
    let (condition, here) = (condition.unwrap_or("TRUE"), here(recording));
    let sql = format!("SELECT DISTINCT {column} FROM btf_event WHERE {condition}{here}");
    session.names(&sql, &params(recording))
}

fn here(recording: Option<&str>) -> &'static str {
    if recording.is_some() { " AND recording = $recording" } else { "" }
}

fn params(recording: Option<&str>) -> Vec<(&'static str, Param)> {
    recording.map(|name| ("recording", Param::from(name))).into_iter().collect()
}

fn unknown(what: &str, name: &str, known: &[String]) -> Error {
    let error = Error::usage(format!("there is no {what} '{name}'"));
    match did_you_mean(name, known.iter().map(String::as_str)) {
        Some(near) => error.hint(format!("did you mean '{near}'?")),
        None if known.len() <= 8 => error.hint(format!("there are: {}", known.join(", "))),
        None => error,
    }
}
