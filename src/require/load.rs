//! The highest load of cores in a window of time, against a bound. Not for the load itself, which is a view.

use std::collections::BTreeSet;

use super::file::Load;
use super::known::Missing;
use super::rows::Rows;
use super::{Known, Outcome, Requirements, Verdict};
use crate::engine::{Param, Session};
use crate::error::Result;
use crate::time::TimeScale;

/// A window that gaps of its core hide in part has a load between that of what is seen and that of which the
/// hidden part is occupied, too. It is decided if both are on the same side of the bound; then the one that
/// is next to the bound is what is certain.
const SQL: &str = "WITH load AS (SELECT recording, core, begin_at, 100.0 * CAST(occupied AS DOUBLE) / $window AS low, \
                   100.0 * CAST(occupied + hidden AS DOUBLE) / $window AS high \
                   FROM core_load WHERE process IS NULL AND ($core IS NULL OR core = $core)), \
                   judged AS (SELECT recording, core, begin_at, \
                   CASE WHEN low > $upper THEN low WHEN high <= $upper THEN high END AS load FROM load) \
                   SELECT recording, core, max(load) AS load, count(load) AS windows, count(*) - count(load) AS hidden, \
                   count(*) FILTER (WHERE load > $upper) AS beyond, \
                   first_value(CASE WHEN load IS NOT NULL THEN begin_at END ORDER BY load DESC NULLS LAST, begin_at) AS begin_at \
                   FROM judged GROUP BY recording, core ORDER BY recording, core";

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
                incomplete: batch.integer("hidden", row)?.unwrap_or_default(),
                ..outcome_of(batch.text("recording", row)?, batch.text("core", row)?)
            };
            let mut outcome = outcome.judged();
            if outcome.samples == 0 {
                outcome.note = Some("gaps hide too much of every window".to_owned());
            }
            outcomes.push(outcome);
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
