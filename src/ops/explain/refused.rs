//! Errors for what cannot be explained: no metric, no task or ISR, no instance. They say what the name is of
//! instead, and what can be asked. Not for metrics without samples (see [`crate::metrics::why_absent`]).

use super::{Asked, RESPONSE, rows, which};
use crate::btf::{Action, EntityType};
use crate::engine::{Param, Session};
use crate::error::{Error, Result};
use crate::library::Metric;
use crate::schema::result::{Integers, columns};
use crate::selection::kinds::{Kinds, described_only};

/// The metrics of instances of tasks and ISRs that ship with btfdb.
const OF_PROCESSES: &str = "ResponseTime, StartDelay, NetExecutionTime, GrossExecutionTime, ReadyTime, \
     WaitingTime, PollingTime, ParkingTime, ActivateToActivate, StartToStart, EndToEnd, EndToStart, Activations, \
     Preemptions, MtaLimitExceeding, FullMigrations, BoundedMigrations";

/// The tasks and ISRs that ran, by name.
fn processes(session: &Session) -> Result<Vec<String>> {
    session.names("SELECT DISTINCT process FROM process_instance", &[])
}

/// Fails for a metric that there is not. Where it was left out, the process is in its place: `T_4:max`.
///
/// # Errors
/// [`crate::error::ErrorKind::Usage`] for such a metric; those of a query.
pub fn check_metric(session: &Session, asked: &Asked) -> Result<()> {
    let Err(error) = session.queries().metric(&asked.metric) else { return Ok(()) };
    let Asked { metric: process, entity: word, .. } = asked;
    if which(word).is_some() && processes(session)?.contains(process) {
        return Err(Error::usage(format!("'{process}:{word}' lacks a metric"))
            .hint(format!("write {RESPONSE}:{process}:{word}")));
    }
    Err(error)
}

/// The error for an entity that is no task or ISR that ran; `None` for one that is.
pub(super) fn unknown(session: &Session, entity: &str) -> Result<Option<Error>> {
    let known = processes(session)?;
    let ran = |name: &str| known.iter().any(|known| known == name);
    if ran(entity) {
        return Ok(None);
    }
    if let Some((process, word)) = entity.rsplit_once(':')
        && ran(process)
    {
        return Ok(Some(Error::usage(format!("'{word}' chooses no instance of {process}")).hint(
            "max, min, a percentile such as p99 or p99.9, or the number of an instance, from 0, chooses one",
        )));
    }
    let no_such = || Error::usage(format!("no task or ISR '{entity}' ran"));
    // Rule I9 of docs/mapping.md.
    let is_handler = |name: &&String| name.strip_suffix(entity).is_some_and(|core| core.ends_with('.'));
    let handlers: Vec<&str> = known.iter().filter(is_handler).map(String::as_str).collect();
    if !handlers.is_empty() {
        return Ok(Some(no_such().hint(format!("it is one on each core: {}", handlers.join(", ")))));
    }
    let all = |all: &str| format!("those that ran are: {all}");
    let kinds = Kinds::of(session, None, entity)?;
    let is_process = |ty: &String| EntityType::parse_tolerant(ty).is_some_and(EntityType::is_process);
    Ok(Some(if kinds.never_ran {
        Error::usage(described_only(entity)).hint(all(&known.join(", ")))
    } else if !kinds.types.is_empty() && !kinds.types.iter().any(is_process) {
        let what = kinds.apposition().strip_prefix(", ").map_or_else(String::new, |what| format!("{what}, "));
        Error::usage(format!("'{entity}' is {what}no task or ISR")).hint(all(&known.join(", ")))
    } else {
        no_such().hint_near(entity, known.iter().map(String::as_str), all)
    }))
}

/// The error for an instance that there is not.
pub(super) fn no_instance(session: &Session, entity: &str, instance: i64) -> Result<Error> {
    if let Some(error) = unknown(session, entity)? {
        return Ok(error);
    }
    let params = [("entity", Param::Text(entity.to_owned())), ("instance", Param::Int(instance))];
    let word = Action::MtaLimitExceeded.as_str();
    let statement = format!(
        "SELECT count(*), max(e.activation_limit) FROM btf_event AS b \
         LEFT JOIN entity AS e ON e.recording = b.recording AND e.entity = b.target \
         WHERE b.target = $entity AND b.target_instance = $instance AND is_action(b.action, '{word}')"
    );
    let found = rows(session, &statement, &params)?;
    let found = found.first().map(columns::<(Integers, Integers)>).transpose()?;
    if let Some((_, limit)) = found.filter(|(count, _)| count.value(0) > 0) {
        let limit =
            limit.get(0).map_or_else(String::new, |n| format!(" ({n}, the one that has not ended included)"));
        return Ok(Error::usage(format!(
            "instance {instance} of {entity} was never made: its activation was lost, as the limit of pending \
             activations was reached{limit}"
        ))
        .hint(format!("lost activations are events '{word}' of table btf_event")));
    }
    Ok(Error::usage(format!("{entity} has no instance {instance}"))
        .hint("instances are counted from 0; table process_instance has them"))
}

/// The error for a metric of something else.
pub(super) fn no_instances(metric: &Metric) -> Error {
    Error::usage(format!("{} is no metric of instances of tasks and ISRs", metric.name))
        .hint(format!("those of tasks and ISRs are: {OF_PROCESSES}"))
}

#[cfg(test)]
mod tests {
    use super::OF_PROCESSES;
    use crate::library::Queries;

    #[test]
    fn the_metrics_of_processes_are_all_but_those_of_other_things() {
        let of_others = ["CPU", "Os", "Runnable", "Chain"];
        let queries = Queries::shipped();
        let names = queries.metrics().iter().map(|metric| metric.name.as_str());
        let mut expected: Vec<&str> =
            names.filter(|name| !of_others.iter().any(|other| name.starts_with(other))).collect();
        let mut listed: Vec<&str> = OF_PROCESSES.split(", ").collect();
        expected.sort_unstable();
        listed.sort_unstable();
        assert_eq!(listed, expected);
    }
}
