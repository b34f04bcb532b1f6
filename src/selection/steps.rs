//! Whether the steps of event chains happen: an entity that only a description has is no mistake, a name that
//! nothing has is one. Not what follows from what (see `chain`).

use super::kinds::{described, described_only};
use crate::btf::Action;
use crate::chain::{Chain, ChainStep};
use crate::engine::{Param, Session};
use crate::error::{Error, Result, did_you_mean};
use crate::schema::result::{self, Texts};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap, HashSet};

/// The names of a database that steps can have.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct StepNames {
    targets: Vec<String>,
    actions: Vec<String>,
    sources: Vec<String>,
    described: BTreeSet<String>,
}

impl StepNames {
    /// # Errors
    /// Those of a query.
    pub fn of(session: &Session) -> Result<Self> {
        let all = |name: &str| column(session, None, name, None);
        let (targets, actions, sources) = (all("target")?, all("action")?, all("source")?);
        Ok(Self { targets, actions, sources, described: described(session)? })
    }
}

/// The recordings in which an event is the step, sorted.
///
/// # Errors
/// Those of a query.
pub(crate) fn recordings_with(session: &Session, step: &ChainStep) -> Result<Vec<String>> {
    column(session, None, "recording", Some(&step.condition()))
}

/// The recordings in which something happens to the entity of a step, sorted.
///
/// # Errors
/// Those of a query.
pub(crate) fn recordings_of_entity(session: &Session, step: &ChainStep) -> Result<Vec<String>> {
    column(session, None, "recording", Some(&step.of_entity()))
}

/// Why nothing is a step, in a recording or in all of them: a sentence, or `None` where something may be. For
/// steps that nothing is. `is_here`: something happens to the entity of the step.
///
/// # Errors
/// [`crate::error::ErrorKind::Usage`], with a suggestion, for names that neither the events of the database
/// nor its descriptions have; those of a query.
pub(crate) fn silent(
    session: &Session,
    recording: Option<&str>,
    step: &ChainStep,
    (names, is_here): (&StepNames, bool),
) -> Result<Option<String>> {
    let (entity, action, source) = (step.entity.as_str(), step.action.as_str(), step.source.as_deref());
    let StepNames { targets: all_entities, actions: all_actions, described, .. } = names;
    let is_in = |names: &[String], name: &str| names.iter().any(|known| known == name);
    if !is_here {
        return match (described.contains(entity), recording) {
            (true, _) => Ok(Some(described_only(entity))),
            (false, Some(recording)) if is_in(all_entities, entity) => {
                Ok(Some(format!("nothing happens to '{entity}' in recording '{recording}'")))
            }
            (false, _) => Err(unknown("entity", entity, all_entities)),
        };
    }
    let actions = column(session, recording, "action", Some(&step.of_entity()))?;
    if !actions.iter().any(|known| Action::same(known, action)) {
        let error = unknown(&format!("action of {entity}"), action, &actions);
        let is_known = Action::parse_tolerant(action).is_some()
            || all_actions.iter().any(|known| Action::same(known, action));
        return if is_known { Ok(Some(sentence(&error))) } else { Err(error) };
    }
    let Some(source) = source else { return Ok(None) };
    let of_action = ChainStep { source: None, ..step.clone() }.condition();
    let sources = column(session, recording, "source", Some(&of_action))?;
    let error = unknown(&format!("source of '{action}' of {entity}"), source, &sources);
    let occurs_here = match recording {
        Some(_) => {
            is_in(&column(session, recording, "target", None)?, source)
                || is_in(&column(session, recording, "source", None)?, source)
        }
        None => is_in(all_entities, source) || is_in(&names.sources, source),
    };
    match () {
        () if occurs_here => Ok(Some(sentence(&error))),
        () if described.contains(source) => Ok(Some(described_only(source))),
        () if is_in(all_entities, source) || is_in(&names.sources, source) => Ok(Some(sentence(&error))),
        () => Err(error),
    }
}

/// Marks the chains of which a step never happens in the database; a sentence for each of them.
///
/// # Errors
/// Those of [`silent`].
pub(crate) fn mark_silent(session: &Session, chains: &mut [Chain]) -> Result<Vec<String>> {
    let happened = Happened::of(session, chains)?;
    let (mut sentences, mut names) = (Vec::new(), None);
    for chain in chains {
        for step in &chain.steps {
            if happened.has(session, step)? {
                continue;
            }
            let names = match &mut names {
                Some(names) => names,
                none => none.insert(StepNames::of(session)?),
            };
            let is_here = names.targets.contains(&step.entity);
            if let Some(why) = silent(session, None, step, (names, is_here))? {
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

/// What happened to the entities of many steps, so that there is no statement for each of them.
struct Happened {
    /// By entity: actions, with their sources. `None` for few steps: a statement for one ends with the first
    /// event that is the step.
    events: Option<HashMap<String, Vec<(String, String)>>>,
}

impl Happened {
    /// Steps beyond which one pass over all events takes less time.
    const FEW: usize = 16;

    fn of(session: &Session, chains: &[Chain]) -> Result<Self> {
        let steps: HashSet<String> =
            chains.iter().flat_map(|chain| &chain.steps).map(ChainStep::condition).collect();
        if steps.len() <= Self::FEW {
            return Ok(Self { events: None });
        }
        let mut events: HashMap<String, Vec<(String, String)>> =
            chains.iter().flat_map(|chain| &chain.steps).map(|step| (step.entity.clone(), vec![])).collect();
        for batch in session.sql("SELECT DISTINCT target, action, source FROM btf_event", &[])? {
            let [targets, actions, sources] = result::columns::<[Texts; 3]>(&batch?)?;
            for row in 0..targets.len() {
                if let Some(of_target) = events.get_mut(targets.value(row)) {
                    of_target.push((actions.value(row).to_owned(), sources.value(row).to_owned()));
                }
            }
        }
        Ok(Self { events: Some(events) })
    }

    /// Whether an event is the step, in any recording.
    fn has(&self, session: &Session, step: &ChainStep) -> Result<bool> {
        let Some(events) = &self.events else {
            let sql = format!("SELECT action FROM btf_event WHERE {} LIMIT 1", step.condition());
            return Ok(!session.names(&sql, &[])?.is_empty());
        };
        let is_step = |(action, source): &(String, String)| {
            Action::same(action, &step.action) && step.source.as_ref().is_none_or(|wanted| wanted == source)
        };
        Ok(events.get(&step.entity).is_some_and(|events| events.iter().any(is_step)))
    }
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
