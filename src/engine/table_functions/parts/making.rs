//! The rows of all responses of a recording, made while it is read: a pipeline reads the files, explains, and
//! makes rows. Not how a response is cut into parts (see [`crate::explain`]).

use arrow::array::RecordBatch;

use super::blocks::Block;
use super::feed::{Feed, Made};
use super::handlers::{Handlers, Shared};
use super::instances::Complete;
use super::names::Names;
use super::rows::PartRows;
use super::stored::Stored;
use crate::engine::failure::failed as from_engine;
use crate::error::Result;
use crate::explain::Actor;
use crate::pipeline::Pipeline;
use crate::schema::result::{self, Integers, Texts};
use crate::sql_text::literal;
use crate::store::Database;

/// So many rows are read before what they explain becomes rows.
const OFTEN: usize = 64 * 1024;

/// Selects the calls of the scheduler, by which a task may lose its core, in the order of time.
pub(super) fn calls_of(recording: &str) -> String {
    format!(
        "SELECT enter_at, instance, process FROM os_call WHERE recording = {} AND name = 'Schedule' \
         AND enter_at IS NOT NULL AND process IS NOT NULL ORDER BY enter_at",
        literal(recording)
    )
}

/// Which responses are to be explained, and which columns of their parts.
pub(super) struct Asked<'a> {
    pub database: &'a Database,
    pub recording: &'a str,
    /// Of one process, or of all.
    pub process: Option<&'a str>,
    pub columns: &'a [usize],
}

/// Explains the responses of a recording on so many threads. `calls`: rows of [`calls_of`]; `give` takes the
/// rows of some responses; when it fails, it is over.
pub(super) fn make(
    asked: &Asked<'_>,
    threads: usize,
    calls: impl Iterator<Item = Result<RecordBatch>> + Send,
    give: impl Fn(Vec<RecordBatch>) -> Result<()> + Send + Sync,
) -> Result<()> {
    let Asked { database, recording, process, columns } = *asked;
    let names = Names::of(recording);
    let rows = PartRows::new(columns, &names).map_err(from_engine)?;
    let process = process.map(|process| names.intern(process));
    let shared = Shared::of_recording(database, recording)?;
    let (complete, activations) = Complete::of((database, recording), threads, (&names, &shared), process)?;
    let calls = calls.map(|batch| calls_in(&batch?, &names));
    Pipeline::run(threads, |pipeline| {
        let wanted = move |actor| complete.has(actor);
        let mut feed = Feed::of((database, recording), names.clone(), wanted)?;
        feed.handlers(Handlers::of(&shared, &names, activations));
        let rows = pipeline
            .sink(rows, |rows: &mut PartRows, made: Made| give(rows.batches(&made).map_err(from_engine)?));
        let mut stored = Stored::of(pipeline, (database, recording), calls, &names)?;
        while stored.feed(&mut feed, OFTEN)? {
            rows.push(feed.take())?;
        }
        rows.push(feed.finish())?;
        rows.finish().map(drop)
    })
}

fn calls_in(batch: &RecordBatch, names: &Names) -> Result<Block> {
    let ([times, instances], processes) = result::columns::<([Integers; 2], Texts)>(batch)?;
    let call = |row| {
        let process = names.intern(processes.value(row));
        (times.value(row), Actor { process, instance: instances.value(row) })
    };
    Ok(Block::Calls((0..batch.num_rows()).map(call).collect()))
}
