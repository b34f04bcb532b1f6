//! How far events of a recording are apart that have to happen together, against a bound. Not the distances
//! themselves (see `synchronisation`).

use std::collections::{HashMap, HashSet};

use super::file::Synchronisation;
use super::places::cores;
use super::rows::Rows;
use super::synchronisation::{Apart, Together};
use super::watch::Cores;
use super::{Known, Outcome, Requirements};
use crate::btf::Action;
use crate::btf::spec::is_on_core;
use crate::chain::ChainStep;
use crate::engine::Session;
use crate::error::Result;
use crate::schema::result::{Integers, Texts, columns};
use crate::sql_text::literals;
use crate::time::TimeScale;

/// Of so many recordings, the statement does not say which they are.
const MANY: usize = 100;

/// The outcome in each of the recordings.
pub(super) fn of_synchronisation(
    session: &Session,
    known: &Known,
    (requirements, wanted): (&Requirements, &Synchronisation),
    recordings: &[String],
    scale: TimeScale,
) -> Result<Vec<Outcome>> {
    let tolerance = requirements.ticks("tolerance", &wanted.tolerance, 0, scale)?;
    let events = wanted.events.get_ref();
    let lacking = known.lacking(session, recordings, events)?;
    let asked = recordings.iter().map(String::as_str).filter(|name| !lacking.contains_key(*name));
    let asked: Vec<&str> = asked.collect();
    let mut judges = judges(session, &asked.iter().copied().collect(), events, tolerance)?;
    let when = events.iter().enumerate().map(|(i, event)| format!("WHEN {} THEN {i}", event.condition()));
    let chosen = match asked.len() {
        0..MANY => format!(" WHERE recording IN ({})", literals(&asked)),
        _ => String::new(),
    };
    let sql = format!(
        "SELECT recording, time, seq, kind, 0 AS until, NULL AS core FROM (SELECT recording, time, seq, CASE {} END AS kind \
         FROM btf_event{chosen}) AS e WHERE kind IS NOT NULL \
         UNION ALL SELECT recording, begin_at, {}, -1, end_at, core FROM gap{chosen} ORDER BY recording, time, seq",
        when.collect::<Vec<_>>().join(" "),
        i64::MAX
    );
    let rows = if asked.is_empty() { None } else { Some(session.sql(&sql, &[])?) };
    for batch in rows.into_iter().flatten() {
        let batch = batch?;
        let (names, [times, _, kinds, ends], cores): (Texts, [Integers; 4], Texts) = columns(&batch)?;
        for row in 0..batch.num_rows() {
            let Some(judge) = judges.get_mut(names.value(row)) else { continue };
            let (Some(time), Some(kind)) = (times.get(row), kinds.get(row)) else { continue };
            match usize::try_from(kind) {
                Ok(kind) => judge.together.push(kind, time, &mut judge.apart),
                Err(_) => judge.hide(cores.get(row), (time, ends.get(row).unwrap_or(time))),
            }
            judge.take();
        }
    }
    let mut outcome = |recording: &String| {
        let outcome = Outcome {
            recording: recording.clone(),
            requirement: wanted.name.clone(),
            metric: "Synchronisation".to_owned(),
            entity: events.iter().map(|e| e.entity.as_str()).collect::<Vec<_>>().join(", "),
            statistic: "max".to_owned(),
            unit: "duration",
            bound: "upper",
            limit: tolerance as f64,
            ..Outcome::default()
        };
        if let Some(missing) = lacking.get(recording) {
            return Outcome { verdict: missing.verdict, note: Some(missing.note.clone()), ..outcome };
        }
        match judges.remove(recording) {
            Some(judge) => judge.outcome(outcome),
            None => outcome,
        }
    };
    Ok(recordings.iter().map(&mut outcome).collect())
}

/// The events of one recording, as they come.
struct Judge {
    together: Together,
    cores: Cores,
    /// The cores that each kind of events can be on.
    places: Vec<Vec<u32>>,
    /// The end of the recording.
    end: i64,
    tolerance: i64,
    apart: Vec<Apart>,
    worst: Option<Apart>,
    samples: i64,
    incomplete: i64,
    violations: i64,
}

impl Judge {
    /// A gap of a core hides what can be on it, one of all cores everything.
    fn hide(&mut self, core: Option<&str>, gap: (i64, i64)) {
        let core = core.and_then(|core| self.cores.get(core));
        for (kind, places) in self.places.iter().enumerate() {
            if core.is_none_or(|core| places.contains(&core)) {
                self.together.hide(kind, gap, &mut self.apart);
            }
        }
    }

    fn take(&mut self) {
        for a in self.apart.drain(..) {
            if !a.exact && a.distance <= self.tolerance {
                self.incomplete += 1;
                continue;
            }
            self.samples += 1;
            self.violations += i64::from(a.distance > self.tolerance);
            if self.worst.is_none_or(|w: Apart| a.distance > w.distance) {
                self.worst = Some(a);
            }
        }
    }

    fn outcome(mut self, outcome: Outcome) -> Outcome {
        self.together.finish(self.end, &mut self.apart);
        self.take();
        Outcome {
            value: self.worst.map(|w| w.distance as f64),
            at: self.worst.map(|w| w.at),
            samples: self.samples,
            incomplete: self.incomplete,
            violations: Some(self.violations),
            ..outcome
        }
        .judged()
    }
}

/// For each of these recordings.
fn judges(
    session: &Session,
    recordings: &HashSet<&str>,
    events: &[ChainStep],
    tolerance: i64,
) -> Result<HashMap<String, Judge>> {
    let mut judges = HashMap::new();
    let entities: Vec<&str> = events.iter().map(|event| event.entity.as_str()).collect();
    let mut all_cores = cores(session, &entities)?;
    for batch in session.sql("SELECT recording, begin_at, end_at FROM recording", &[])? {
        let batch = Rows(batch?);
        for row in 0..batch.0.num_rows() {
            let recording = batch.text("recording", row)?;
            if !recordings.contains(recording.as_str()) {
                continue;
            }
            let begin = batch.integer("begin_at", row)?.unwrap_or(i64::MIN);
            let end = batch.integer("end_at", row)?.unwrap_or(i64::MAX);
            let cores = all_cores.remove(&recording).unwrap_or_default();
            let place =
                |event: &ChainStep| match Action::parse_tolerant(&event.action).is_some_and(is_on_core) {
                    true => cores.of(&event.entity),
                    false => cores.all(),
                };
            let judge = Judge {
                together: Together::new(events.len(), begin),
                places: events.iter().map(place).collect(),
                cores,
                end,
                tolerance,
                apart: Vec::new(),
                worst: None,
                samples: 0,
                incomplete: 0,
                violations: 0,
            };
            judges.insert(recording, judge);
        }
    }
    Ok(judges)
}
