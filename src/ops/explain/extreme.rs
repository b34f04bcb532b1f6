//! The greatest or the least response of a task or ISR: a look at the columns that say when instances begin
//! and end, several times as fast as a statement. Not another instance (see `find`).

use super::Which;
use crate::engine::Session;
use crate::error::Result;
use crate::schema::{columns::process_instance, tables, view};
use crate::store::{Having, Scan, Within};
use arrow::array::RecordBatch;

view! {
    struct Ends of process_instance { process, activate_at, terminate_at, complete }
}

/// A response, and among how many it is the greatest or the least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Extreme {
    pub recording: String,
    /// Activation and termination, in ticks.
    pub span: (i64, i64),
    pub count: i64,
}

/// The greatest or the least response of a process in these recordings, or in all if there are none. Of equal
/// ones, it is that of the first recording by name, and in it the one that begins first. `None` if no
/// response of it is complete, or another one is asked for.
///
/// # Errors
/// Those of reading the files.
pub(super) fn extreme(
    session: &Session,
    process: &str,
    which: Which,
    recordings: &[String],
) -> Result<Option<Extreme>> {
    let sign = match which {
        Which::Greatest => -1,
        Which::Least => 1,
        Which::Percentile(_) | Which::Number(_) => return Ok(None),
    };
    let (begin, end) = (process_instance::ACTIVATE_AT, process_instance::TERMINATE_AT);
    let is_wanted = |name: &str| name == process;
    let (mut first, mut count) = (None, 0);
    for recording in session.database().recordings()? {
        let recording = recording.name.as_str();
        if !(recordings.is_empty() || recordings.iter().any(|one| one == recording)) {
            continue;
        }
        let scan = Scan {
            table: tables::PROCESS_INSTANCE,
            recording,
            columns: Ends::COLUMNS,
            within: Within { begin, end, from: i64::MIN, to: i64::MAX },
            having: Some(Having { column: process_instance::PROCESS, wanted: &is_wanted }),
        };
        let add = |seen: &mut Seen, batch: &RecordBatch| seen.add(&Ends::of(batch)?, process, sign);
        for seen in session.scanner().scan(&scan, Seen::default, add)? {
            count += seen.count;
            let of_recording = seen.first.map(|(length, begin, end)| (length, recording, begin, end));
            first = of_recording.into_iter().chain(first).min();
        }
    }
    Ok(first.map(|(_, recording, begin, end)| Extreme {
        recording: recording.to_owned(),
        span: (begin, end),
        count,
    }))
}

/// What one thread has seen of a recording.
#[derive(Debug, Default)]
struct Seen {
    count: i64,
    /// Length with the sign of the order, begin, end.
    first: Option<(i128, i64, i64)>,
}

impl Seen {
    fn add(&mut self, ends: &Ends<'_>, process: &str, sign: i128) -> Result<()> {
        let names = ends.process.translate(|name| (name == process).then_some(()));
        if names.is_meaningless() {
            return Ok(());
        }
        for row in (0..ends.len()).filter(|row| names.get(*row).is_some() && ends.complete.value(*row)) {
            let Some((begin, end)) = ends.activate_at.get(row).zip(ends.terminate_at.get(row)) else {
                continue;
            };
            let length = i128::from(end) - i128::from(begin);
            self.count += 1;
            self.first = self.first.into_iter().chain([(sign * length, begin, end)]).min();
        }
        Ok(())
    }
}
