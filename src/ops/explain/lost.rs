//! The activations of a process that were lost during a response, and who caused them. Not the instance that
//! is not made then (see `refused`).

use super::{Chosen, rows};
use crate::btf::Action;
use crate::engine::{Param, Session};
use crate::error::Result;
use crate::schema::result::{Integers, Texts, columns};

/// An activation that was lost because as many as the limit allows were pending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    /// When, in ticks.
    pub at: i64,
    /// The stimulus or process that activated, as far as the trace says it.
    pub by: Option<String>,
    /// The task or ISR that triggered that stimulus, at most a second before, and its instance.
    pub triggered_by: Option<(String, Option<i64>)>,
}

/// The activations of the process that were lost between two times, in order.
///
/// # Errors
/// Those of a query.
pub fn lost_activations(session: &Session, chosen: &Chosen, (begin, end): (i64, i64)) -> Result<Vec<Lost>> {
    let second = session.database().time_scale().per_second();
    let params = [
        ("recording", Param::Text(chosen.recording.clone())),
        ("process", Param::Text(chosen.process.clone())),
        ("begin", Param::Int(begin)),
        ("end", Param::Int(end)),
    ];
    let word = Action::MtaLimitExceeded.as_str();
    let is_lost = format!(
        "FROM btf_event WHERE recording = $recording AND target = $process AND is_action(action, '{word}') \
         AND time BETWEEN $begin AND $end"
    );
    // Most responses lose none: then nobody is looked for.
    if rows(session, &format!("SELECT time {is_lost} LIMIT 1"), &params)?.is_empty() {
        return Ok(Vec::new());
    }
    // Not the name of an ISR that several cores share: its number is none of an instance (rule I9).
    let trigger = Action::Trigger.as_str();
    let statement = format!(
        "WITH lost AS (SELECT time, seq, source, source_instance {is_lost}), \
         cause AS (\
             SELECT time, seq, source, source_instance, target, target_instance FROM btf_event \
             WHERE recording = $recording AND is_action(action, '{trigger}') \
             AND time BETWEEN {since} AND $end AND source_instance >= 0 \
             AND source IN (SELECT process FROM process_instance WHERE recording = $recording)) \
         SELECT l.time, l.source, \
             first_value(c.source ORDER BY c.time DESC, c.seq DESC), \
             first_value(c.source_instance ORDER BY c.time DESC, c.seq DESC) \
         FROM lost AS l LEFT JOIN cause AS c \
             ON c.target = l.source AND c.target_instance = l.source_instance \
             AND c.time BETWEEN l.time - {second} AND l.time \
         GROUP BY l.time, l.seq, l.source ORDER BY l.time, l.seq",
        since = begin.saturating_sub(second).max(-i64::MAX),
    );
    let mut lost = Vec::new();
    for batch in rows(session, &statement, &params)? {
        let (times, sources, triggers, instances) = columns::<(Integers, Texts, Texts, Integers)>(&batch)?;
        lost.extend((0..batch.num_rows()).map(|row| Lost {
            at: times.value(row),
            by: sources.get(row).map(str::to_owned),
            triggered_by: triggers.get(row).map(|who| (who.to_owned(), instances.get(row))),
        }));
    }
    Ok(lost)
}
