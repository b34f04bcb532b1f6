//! What the recordings of a database show of each requirement. Not for the shape of reports, and not for
//! loads, synchronisations and templates over events and states (see `load`, `synchronised` and `in_time`).

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::cut_off::{self, Beyond, Whose};
use super::in_time::of_temporal;
use super::known::Missing;
use super::load::of_load;
use super::rows::Rows;
use super::synchronised::of_synchronisation;
use super::wanted::{Wanted, wanted};
use super::{Known, Outcome, Requirements, Verdict};
use crate::engine::Session;
use crate::error::{ErrorKind, Result};
use crate::metrics::{MetricFilter, summary_within, why_absent};
use crate::selection::{recordings_with, without};

/// Measures every requirement in some recordings of a session: recording by recording, in the order of the
/// file. A requirement of what a recording does not have is one without samples; one of what nothing knows is
/// [unknown](super::Verdict::Unknown): `known` says what the whole database knows, of which the session may
/// have a part. The session knows the [chains](Requirements::chains) whose steps the database has.
///
/// # Errors
/// [`ErrorKind::Usage`] for metrics and statistics that there are not, with a suggestion;
/// [`ErrorKind::Input`] for bounds that are not in the unit of what they bound, both with file and line;
/// otherwise as [`crate::metrics::summaries`].
pub fn measure(
    session: &Session,
    requirements: &Requirements,
    known: &Known,
    recordings: &[String],
) -> Result<Vec<Outcome>> {
    let scale = session.database().time_scale();
    let mut outcomes = Outcomes::new(recordings);
    // The bounds of a chain have its steps in common.
    let mut of_chains: HashMap<&str, BTreeMap<String, Missing>> = HashMap::new();
    for wanted in wanted(requirements, session, scale)? {
        let chain = requirements.chain.iter().find(|chain| wanted.entity == Some(chain.name.get_ref()));
        let nothing = BTreeMap::new();
        let lacking = match (chain, wanted.entity) {
            (Some(chain), Some(name)) if wanted.is_of_chain || !known.is_measured(name) => {
                if !of_chains.contains_key(name) {
                    let lacking = known.lacking(session, recordings, chain.steps.get_ref())?;
                    of_chains.insert(chain.name.get_ref(), lacking);
                }
                of_chains.get(name).unwrap_or(&nothing)
            }
            (_, entity) => match entity.and_then(|entity| known.missing(entity)) {
                Some(missing) => {
                    for recording in recordings {
                        outcomes.add(wanted.without_samples(session, recording, Some(missing.clone())));
                    }
                    continue;
                }
                None => &nothing,
            },
        };
        for (recording, missing) in lacking {
            outcomes.add(wanted.without_samples(session, recording, Some(missing.clone())));
        }
        let others = recordings.iter().map(String::as_str).filter(|name| !lacking.contains_key(*name));
        outcomes.add(of_metric(session, &wanted, &others.collect::<Vec<_>>())?);
    }
    for load in &requirements.load {
        outcomes.add(of_load(session, known, (requirements, load), recordings, scale)?);
    }
    for synchronisation in &requirements.synchronisation {
        let wanted = (requirements, synchronisation);
        outcomes.add(of_synchronisation(session, known, wanted, recordings, scale)?);
    }
    outcomes.add(of_temporal(session, known, requirements, recordings, scale)?);
    Ok(outcomes.of.concat())
}

/// The outcomes of each recording.
struct Outcomes<'r> {
    places: HashMap<&'r str, usize>,
    of: Vec<Vec<Outcome>>,
}

impl<'r> Outcomes<'r> {
    fn new(recordings: &'r [String]) -> Self {
        let places = recordings.iter().map(String::as_str).zip(0..).collect();
        Self { places, of: vec![Vec::new(); recordings.len()] }
    }

    /// Adds outcomes to those of their recordings; those of others are left out.
    fn add(&mut self, outcomes: Vec<Outcome>) {
        for outcome in outcomes {
            let place = self.places.get(outcome.recording.as_str());
            if let Some(of) = place.and_then(|place| self.of.get_mut(*place)) {
                of.push(outcome);
            }
        }
    }
}

/// The outcomes of a metric, also in other recordings of the session.
fn of_metric(session: &Session, wanted: &Wanted<'_>, recordings: &[&str]) -> Result<Vec<Outcome>> {
    let filter = MetricFilter {
        recording: match recordings {
            [] => return Ok(Vec::new()),
            [one] => Some((*one).to_owned()),
            _ => None,
        },
        entity: wanted.entity.map(str::to_owned),
        ..MetricFilter::default()
    };
    let (lower, upper) = (wanted.lower.unwrap_or(f64::NEG_INFINITY), wanted.upper.unwrap_or(f64::INFINITY));
    let mut outcomes = match summary_within(session, wanted.metric, &filter, lower, upper) {
        Ok(summary) => judged(session, wanted, filter.recording.as_deref(), &Rows(summary))?,
        // Metric and recordings are known: none of these has the name.
        Err(error) if error.kind() == ErrorKind::Usage && wanted.entity.is_some() => Vec::new(),
        Err(error) => return Err(error),
    };
    let measured: BTreeSet<&str> = outcomes.iter().map(|outcome| outcome.recording.as_str()).collect();
    let rest: Vec<&str> = recordings.iter().copied().filter(|name| !measured.contains(name)).collect();
    let notes = notes(session, wanted, &filter, &rest)?;
    for (recording, note) in rest.into_iter().zip(notes) {
        let missing = note.map(|note| Missing { verdict: Verdict::NoSamples, note });
        outcomes.extend(wanted.without_samples(session, recording, missing));
    }
    Ok(outcomes)
}

/// Why recordings have no samples.
fn notes(
    session: &Session,
    wanted: &Wanted<'_>,
    filter: &MetricFilter,
    recordings: &[&str],
) -> Result<Vec<Option<String>>> {
    let Some(entity) = wanted.entity else { return Ok(vec![None; recordings.len()]) };
    let metric = session.queries().metric(wanted.metric)?;
    let is_chain = session.given_chains().iter().any(|chain| chain.name == entity);
    let naming = if is_chain { BTreeSet::new() } else { recordings_with(session, recordings, entity)? };
    let note = |recording: &&str| {
        if !is_chain && !naming.contains(*recording) {
            return Ok(Some(without(recording, entity)));
        }
        let filter = MetricFilter { recording: Some((*recording).to_owned()), ..filter.clone() };
        why_absent(session, metric, entity, &filter).map(Some)
    };
    recordings.iter().map(note).collect()
}

/// The samples that are cut off, and of which what is seen is longer than the bound.
fn beyond(
    session: &Session,
    wanted: &Wanted<'_>,
    recording: Option<&str>,
    summary: &Rows,
) -> Result<HashMap<Whose, Beyond>> {
    let Some(upper) = wanted.upper.filter(|_| wanted.statistic.is_none_or(|statistic| statistic == "max"))
    else {
        return Ok(HashMap::new());
    };
    let mut entities = BTreeSet::new();
    for row in 0..summary.0.num_rows() {
        if summary.integer("incomplete", row)?.unwrap_or_default() > 0 {
            entities.insert(summary.text("entity", row)?);
        }
    }
    let entities: Vec<&str> = entities.iter().map(String::as_str).collect();
    let metric = session.queries().metric(wanted.metric)?;
    cut_off::beyond(session, &metric.name, (recording, &entities), upper)
}

/// The outcomes of the lines of a summary.
fn judged(
    session: &Session,
    wanted: &Wanted<'_>,
    recording: Option<&str>,
    summary: &Rows,
) -> Result<Vec<Outcome>> {
    let beyond_upper = beyond(session, wanted, recording, summary)?;
    let limits = [("upper", wanted.upper, "max"), ("lower", wanted.lower, "min")];
    let mut outcomes = Vec::new();
    for row in 0..summary.0.num_rows() {
        for (bound, limit, extreme) in limits {
            let Some(limit) = limit else { continue };
            let statistic = wanted.statistic.unwrap_or(extreme);
            let instant = match statistic {
                "max" => Some("max_at"),
                "min" => Some("min_at"),
                _ => None,
            };
            let samples = summary.integer("count", row)?.unwrap_or_default();
            let beyond = match (bound, statistic) {
                ("upper", "max") => Some("above"),
                ("lower", "min") => Some("below"),
                _ => None,
            };
            let value = match statistic {
                "count" => Some(samples as f64),
                _ => summary.number(statistic, row)?,
            };
            let mut outcome = Outcome {
                recording: summary.text("recording", row)?,
                requirement: wanted.name.clone(),
                metric: summary.text("metric", row)?,
                entity: summary.text("entity", row)?,
                statistic: statistic.to_owned(),
                unit: match summary.text("unit", row)?.as_str() {
                    "duration" if statistic != "count" => "duration",
                    "percent" if statistic != "count" => "percent",
                    _ => "count",
                },
                bound,
                limit,
                value,
                at: instant.map(|at| summary.integer(at, row)).transpose()?.flatten(),
                samples,
                incomplete: summary.integer("incomplete", row)?.unwrap_or_default(),
                violations: beyond.map(|name| summary.integer(name, row)).transpose()?.flatten(),
                ..Outcome::default()
            };
            let whose = (outcome.recording.clone(), outcome.entity.clone(), summary.text("type", row)?);
            if let Some(beyond) = beyond_upper.get(&whose).filter(|_| bound == "upper") {
                outcome.samples += beyond.count;
                outcome.incomplete -= beyond.count;
                outcome.violations = outcome.violations.map(|violations| violations + beyond.count);
                if outcome.value.is_none_or(|value| value < beyond.longest) {
                    (outcome.value, outcome.at) = (Some(beyond.longest), beyond.at);
                }
            }
            outcomes.push(outcome.judged());
        }
    }
    Ok(outcomes)
}
