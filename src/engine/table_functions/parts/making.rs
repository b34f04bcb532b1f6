//! The rows of all responses of a recording, made while it is read. Not how it is read (see `stored`), nor
//! how a response is cut into parts (see [`crate::explain`]).

use arrow::array::RecordBatch;
use datafusion::common::Result;
use datafusion::execution::SendableRecordBatchStream;
use futures::StreamExt;

use super::failed;
use super::feed::Feed;
use super::rows::PartRows;
use super::stored::{Stored, each_life};
use crate::explain::Actor;
use crate::names::{IdSet, Interner};
use crate::schema::result::{self, Integers, Texts};
use crate::store::Database;

/// So many rows are read before what they explain becomes rows.
const OFTEN: usize = 64 * 1024;

/// Selects the calls of the scheduler, by which a task may lose its core, in the order of time.
pub(super) fn calls_of(recording: &str) -> String {
    format!(
        "SELECT enter_at, instance, process FROM os_call WHERE recording = '{}' AND name = 'Schedule' \
         AND enter_at IS NOT NULL AND process IS NOT NULL ORDER BY enter_at",
        recording.replace('\'', "''")
    )
}

/// Explains the responses of a recording.
pub(super) struct Making {
    feed: Feed,
    stored: Stored,
    calls: SendableRecordBatchStream,
    rows: PartRows,
    is_over: bool,
}

impl Making {
    /// Of all processes, or of one. `calls`: rows of [`calls_of`]; `ahead`: other threads read the files.
    pub fn new(
        (database, recording): (&Database, &str),
        process: Option<&str>,
        rows: PartRows,
        calls: SendableRecordBatchStream,
        ahead: bool,
    ) -> crate::error::Result<Self> {
        let mut names = Interner::default();
        let (mut known, mut incomplete) = (IdSet::default(), IdSet::default());
        each_life(database, recording, &mut names, |life| {
            known.insert(life.actor.process);
            if !life.is_complete {
                incomplete.insert(life.actor);
            }
        })?;
        let process = process.map(|process| names.intern(process));
        let wanted = move |actor: Actor| {
            process.is_none_or(|process| actor.process == process)
                && known.contains(&actor.process)
                && !incomplete.contains(&actor)
        };
        let feed = Feed::of_all(database, recording, names, wanted)?;
        let stored = Stored::of(database, recording, ahead)?;
        Ok(Self { feed, stored, calls, rows, is_over: false })
    }

    /// The next rows, for [`futures::stream::unfold`]. After an error nothing follows.
    pub async fn step(mut self) -> Option<(Result<Vec<RecordBatch>>, Self)> {
        if self.is_over {
            return None;
        }
        let batches = self.more().await;
        self.is_over |= batches.is_err();
        Some((batches, self))
    }

    async fn more(&mut self) -> Result<Vec<RecordBatch>> {
        for _ in 0..OFTEN {
            while self.stored.needs_calls() {
                let calls = self.calls.next().await.transpose()?;
                let calls = calls.map(|batch| self.calls_in(&batch)).transpose()?;
                self.stored.calls(calls.map(Vec::into_iter));
            }
            match self.stored.next(self.feed.names()).map_err(failed)? {
                Some((time, row)) => self.feed.take_in(time, row),
                None => {
                    self.feed.end();
                    self.is_over = true;
                    break;
                }
            }
        }
        self.rows.batches(&mut self.feed)
    }

    fn calls_in(&mut self, batch: &RecordBatch) -> Result<Vec<(i64, Actor)>> {
        let ([times, instances], processes) =
            result::columns::<([Integers; 2], Texts)>(batch).map_err(failed)?;
        let call = |row| {
            let process = self.feed.intern(processes.value(row));
            (times.value(row), Actor { process, instance: instances.value(row) })
        };
        Ok((0..batch.num_rows()).map(call).collect())
    }
}
