//! How far events of a recording are apart that have to happen together, against a bound. Not the distances
//! themselves (see `synchronisation`).

use std::collections::HashMap;

use super::file::Synchronisation;
use super::rows::Rows;
use super::synchronisation::{Apart, Together};
use super::{Known, Outcome, Requirements};
use crate::engine::Session;
use crate::error::Result;
use crate::schema::result::{Integers, Texts, columns};
use crate::time::TimeScale;

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
    let mut judges = judges(session, events.len(), tolerance)?;
    let when = events.iter().enumerate().map(|(i, event)| format!("WHEN {} THEN {i}", event.condition()));
    let sql = format!(
        "SELECT recording, time, seq, kind, 0 AS until FROM (SELECT recording, time, seq, CASE {} END AS kind \
         FROM btf_event) AS e WHERE kind IS NOT NULL \
         UNION ALL SELECT recording, begin_at, {}, -1, end_at FROM gap ORDER BY recording, time, seq",
        when.collect::<Vec<_>>().join(" "),
        i64::MAX
    );
    for batch in session.sql(&sql, &[])? {
        let batch = batch?;
        let ([names], [times, _, kinds, ends]): ([Texts; 1], [Integers; 4]) = columns(&batch)?;
        for row in 0..batch.num_rows() {
            let Some(judge) = judges.get_mut(names.value(row)) else { continue };
            let (Some(time), Some(kind)) = (times.get(row), kinds.get(row)) else { continue };
            match usize::try_from(kind) {
                Ok(kind) => judge.together.push(kind, time, &mut judge.apart),
                Err(_) => judge.together.gap(time, ends.get(row).unwrap_or(time), &mut judge.apart),
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
        self.together.gap(self.end, self.end, &mut self.apart);
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

/// For each recording of the session.
fn judges(session: &Session, kinds: usize, tolerance: i64) -> Result<HashMap<String, Judge>> {
    let mut judges = HashMap::new();
    for batch in session.sql("SELECT recording, begin_at, end_at FROM recording", &[])? {
        let batch = Rows(batch?);
        for row in 0..batch.0.num_rows() {
            let begin = batch.integer("begin_at", row)?.unwrap_or(i64::MIN);
            let end = batch.integer("end_at", row)?.unwrap_or(i64::MAX);
            let judge = Judge {
                together: Together::new(kinds, begin),
                end,
                tolerance,
                apart: Vec::new(),
                worst: None,
                samples: 0,
                incomplete: 0,
                violations: 0,
            };
            judges.insert(batch.text("recording", row)?, judge);
        }
    }
    Ok(judges)
}
