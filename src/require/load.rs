//! The highest load of cores in a window of time, against a bound. Not for the load itself, which is a view.

use std::collections::BTreeSet;

use super::file::Load;
use super::known::Missing;
use super::rows::Rows;
use super::{Known, Outcome, Requirements, Verdict};
use crate::engine::{Param, Session};
use crate::error::Result;
use crate::time::TimeScale;

const SQL: &str = "SELECT p.recording, p.core, p.load, p.begin_at, w.windows, w.beyond FROM core_peak AS p \
                   JOIN (SELECT recording, core, count(*) AS windows, count(*) FILTER (WHERE load > $upper) AS beyond \
                   FROM core_load WHERE process IS NULL GROUP BY recording, core) AS w \
                   ON p.recording = w.recording AND p.core = w.core \
                   WHERE ($core IS NULL OR p.core = $core) ORDER BY p.recording, p.core";

/// The outcomes in these recordings, and in others of the session.
pub(super) fn of_load(
    session: &Session,
    known: &Known,
    (requirements, load): (&Requirements, &Load),
    recordings: &[String],
    scale: TimeScale,
) -> Result<Vec<Outcome>> {
    let ticks = |key: &str, bound| requirements.ticks(key, bound, 1, scale);
    let window = ticks("window", &load.window)?;
    let step = load.step.as_ref().map_or(Ok(window), |step| ticks("step", step))?;
    let core = load.core.as_deref().map_or(Param::Null, Param::from);
    let params = [
        ("window", window.into()),
        ("step", step.into()),
        ("core", core),
        ("upper", Param::Float(load.upper.0)),
    ];
    let requirement = |core: &str| match core {
        "" => "load".to_owned(),
        core => format!("load of {core}"),
    };
    let outcome_of = |recording: String, core: String| Outcome {
        recording,
        requirement: load.name.clone().unwrap_or_else(|| requirement(&core)),
        metric: "Load".to_owned(),
        entity: core,
        statistic: "max".to_owned(),
        unit: "percent",
        bound: "upper",
        limit: load.upper.0,
        ..Outcome::default()
    };
    let mut outcomes = Vec::new();
    for batch in session.sql(SQL, &params)? {
        let batch = Rows(batch?);
        for row in 0..batch.0.num_rows() {
            let outcome = Outcome {
                value: batch.number("load", row)?,
                at: batch.integer("begin_at", row)?,
                samples: batch.integer("windows", row)?.unwrap_or_default(),
                violations: batch.integer("beyond", row)?,
                ..outcome_of(batch.text("recording", row)?, batch.text("core", row)?)
            };
            outcomes.push(outcome.judged());
        }
    }
    let measured: BTreeSet<String> = outcomes.iter().map(|outcome| outcome.recording.clone()).collect();
    let missing = load.core.as_deref().and_then(|core| known.missing_core(core)).cloned();
    let Missing { verdict, note } = missing.unwrap_or_else(|| Missing {
        verdict: Verdict::NoSamples,
        note: "no window of that length lies in the recording as a whole".to_owned(),
    });
    for recording in recordings.iter().filter(|name| !measured.contains(*name)) {
        let outcome = outcome_of(recording.clone(), load.core.clone().unwrap_or_default());
        outcomes.push(Outcome { verdict, note: Some(note.clone()), ..outcome });
    }
    Ok(outcomes)
}
