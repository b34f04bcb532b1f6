//! Samples that the trace cuts off, of which what is seen is longer than an upper bound: whatever is not
//! seen, they lie beyond it. Not for samples that are complete (see `measure`).
//!
//! Of an instance, that is what is seen before the first gap of the core that it is on: what comes behind a
//! gap may be another one. Nothing is certain of an instance that has no end while a later one of its process
//! has started: its writer may have left the end out. Then neither has the last one an end that is missing.

use std::collections::HashMap;

use super::rows::Rows;
use crate::engine::{Param, Session};
use crate::error::Result;
use crate::sql_text::{literal, literals};

/// Those of an entity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Beyond {
    pub count: i64,
    /// The longest that is seen of one, in ticks.
    pub longest: f64,
    /// When that one began.
    pub at: Option<i64>,
}

/// Recording, entity and type.
pub(super) type Whose = (String, String, String);

/// The samples beyond an upper bound, in ticks, of those of a metric that are cut off; none for metrics of
/// which that is not known.
///
/// # Errors
/// Those of a query.
pub(super) fn beyond(
    session: &Session,
    metric: &str,
    (recording, entities): (Option<&str>, &[&str]),
    upper: f64,
) -> Result<HashMap<Whose, Beyond>> {
    let mut found = HashMap::new();
    let chosen = format!(
        "entity IN ({}){}",
        literals(entities),
        recording.map_or_else(String::new, |name| format!(" AND recording = {}", literal(name)))
    );
    let Some(cut) = cut_off(metric, &chosen).filter(|_| !entities.is_empty()) else { return Ok(found) };
    let sql = format!(
        "SELECT recording, entity, type, count(*) AS beyond, CAST(max(seen) AS DOUBLE) AS longest, \
         first_value(at ORDER BY seen DESC, at) AS at FROM ({cut}) AS cut WHERE seen > $upper \
         GROUP BY recording, entity, type ORDER BY recording, entity, type"
    );
    for batch in session.sql(&sql, &[("upper", Param::Float(upper))])? {
        let batch = Rows(batch?);
        for row in 0..batch.0.num_rows() {
            let whose = (batch.text("recording", row)?, batch.text("entity", row)?, batch.text("type", row)?);
            let beyond = Beyond {
                count: batch.integer("beyond", row)?.unwrap_or_default(),
                longest: batch.number("longest", row)?.unwrap_or_default(),
                at: batch.integer("at", row)?,
            };
            found.insert(whose, beyond);
        }
    }
    Ok(found)
}

/// A row for each sample that is cut off: recording, entity, type, `at`, and how much of it is `seen`.
fn cut_off(metric: &str, chosen: &str) -> Option<String> {
    let spent = |state: &str| (STARTED, format!("sum(until - begin_at) FILTER (WHERE state = '{state}')"));
    let (at, seen) = match metric {
        "ResponseTime" => (ACTIVATED, format!("max(until) - {ACTIVATED}")),
        "StartDelay" => (ACTIVATED, format!("max(until) FILTER (WHERE state = 'active') - {ACTIVATED}")),
        "GrossExecutionTime" => (STARTED, format!("max(until) FILTER (WHERE state <> 'active') - {STARTED}")),
        "NetExecutionTime" => spent("running"),
        "ReadyTime" => spent("ready"),
        "WaitingTime" => spent("waiting"),
        "PollingTime" => spent("polling"),
        "ParkingTime" => spent("parking"),
        "ChainReaction" => {
            return Some(format!(
                "SELECT o.recording, o.entity, 'EC' AS type, o.at, \
                 coalesce(gap_after(o.recording, CAST(NULL AS VARCHAR), o.at), r.end_at) - o.at AS seen \
                 FROM (SELECT * FROM (SELECT recording, chain AS entity, begin_at AS at FROM chain_instance \
                 WHERE outcome = 'open') AS c WHERE {chosen}) AS o JOIN recording AS r ON o.recording = r.recording"
            ));
        }
        _ => return None,
    };
    Some(format!(
        "WITH every AS (SELECT recording, entity, type, core, instance, complete, activate_at, start_at, terminate_at, \
         count(*) OVER (PARTITION BY recording, entity, type, instance) AS same, \
         min(start_at) OVER (PARTITION BY recording, entity, type ORDER BY instance DESC \
         ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS next_start_at \
         FROM process_metric_base WHERE {chosen}), \
         counted AS (SELECT *, sum(CASE WHEN terminate_at IS NULL AND start_at < next_start_at \
         AND coalesce(gap_after(recording, core, start_at) > next_start_at, true) THEN 1 ELSE 0 END) \
         OVER (PARTITION BY recording, entity, type) AS left_out FROM every), \
         piece AS (SELECT c.*, s.state, s.begin_at, s.end_at, \
         gap_after(c.recording, coalesce(s.core, c.core), s.begin_at) AS piece_gap_at, \
         min(s.begin_at) OVER (PARTITION BY c.recording, c.entity, c.type, c.instance) AS first_at \
         FROM (SELECT * FROM counted WHERE NOT complete AND same = 1) AS c JOIN process_state AS s \
         ON s.recording = c.recording AND s.process = c.entity AND s.type = c.type AND s.instance = c.instance), \
         known AS (SELECT *, min(CASE WHEN piece_gap_at <= end_at THEN piece_gap_at END) \
         OVER (PARTITION BY recording, entity, type, instance) AS gap_at FROM piece), \
         certain AS (SELECT *, least(end_at, coalesce(gap_at, end_at)) AS until FROM known \
         WHERE begin_at < coalesce(gap_at, end_at) \
         AND (terminate_at IS NOT NULL OR coalesce(next_start_at > gap_at, false) \
         OR (next_start_at IS NULL AND left_out = 0))) \
         SELECT recording, entity, type, {at} AS at, {seen} AS seen FROM certain \
         GROUP BY recording, entity, type, instance"
    ))
}

/// When an instance was activated, or was seen first.
const ACTIVATED: &str = "greatest(coalesce(min(activate_at), min(first_at)), min(first_at))";
/// When it was started, or was seen first after its start.
const STARTED: &str =
    "greatest(coalesce(min(start_at), min(begin_at) FILTER (WHERE state <> 'active')), min(first_at))";
