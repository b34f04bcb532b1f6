//! The ends of the instances of a recording in the order of time, from table `process_instance`: its files
//! are sorted by them, which the engine is not told of, as open instances have none. Not the states before
//! them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use arrow::array::RecordBatch;

use crate::error::Result;
use crate::explain::Actor;
use crate::names::{Interner, Memo};
use crate::schema::{tables, view};
use crate::store::{Database, read_batches};

const BATCH_ROWS: usize = 16 * 1024;

view! {
    struct Instances of process_instance { process, instance, activate_at, start_at, terminate_at, complete }
}

/// An instance of a process, as far as it was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Life {
    pub actor: Actor,
    /// Its activation, or its start where the trace tells no activations.
    pub begin: Option<i64>,
    pub end: Option<i64>,
    pub is_complete: bool,
}

type Batches = Box<dyn Iterator<Item = Result<RecordBatch>> + Send>;

/// The rows of a file.
struct Run {
    batches: Batches,
    known: Memo<u32>,
    lives: std::vec::IntoIter<Life>,
    /// The next one that has an end.
    next: Option<Life>,
}

/// The instances of a recording by their ends; those that are open are left out.
pub(super) struct Ends {
    runs: Vec<Run>,
    /// The next end of each run, and its number.
    next: BinaryHeap<Reverse<(i64, usize)>>,
}

impl Ends {
    /// `names` gives processes their numbers.
    pub fn of(database: &Database, recording: &str, names: &mut Interner) -> Result<Self> {
        let runs = runs(database, recording)?;
        let mut ends = Self { runs, next: BinaryHeap::new() };
        for run in 0..ends.runs.len() {
            ends.advance(run, names)?;
        }
        Ok(ends)
    }

    /// The next instance that ends before an instant, or at all.
    pub fn next(&mut self, before: Option<i64>, names: &mut Interner) -> Result<Option<Life>> {
        let Some(Reverse((end, run))) = self.next.peek().copied() else { return Ok(None) };
        if before.is_some_and(|before| end >= before) {
            return Ok(None);
        }
        self.next.pop();
        let life = self.runs.get_mut(run).and_then(|run| run.next.take());
        self.advance(run, names)?;
        Ok(life)
    }

    fn advance(&mut self, number: usize, names: &mut Interner) -> Result<()> {
        let Some(run) = self.runs.get_mut(number) else { return Ok(()) };
        while let Some(life) = run.life(names)? {
            if let Some(end) = life.end {
                run.next = Some(life);
                self.next.push(Reverse((end, number)));
                return Ok(());
            }
        }
        Ok(())
    }
}

/// All instances of a recording, in no order.
pub(super) fn each(
    database: &Database,
    recording: &str,
    names: &mut Interner,
    mut visit: impl FnMut(Life),
) -> Result<()> {
    for mut run in runs(database, recording)? {
        while let Some(life) = run.life(names)? {
            visit(life);
        }
    }
    Ok(())
}

fn runs(database: &Database, recording: &str) -> Result<Vec<Run>> {
    let files = database.files(tables::PROCESS_INSTANCE, Some(recording))?.into_iter();
    let run = |file| -> Result<Run> {
        let (place, columns) = (database.place_of(&file), Some(Instances::COLUMNS));
        let batches = Box::new(read_batches(&place, tables::PROCESS_INSTANCE, columns, BATCH_ROWS)?);
        Ok(Run { batches, known: Memo::default(), lives: Vec::new().into_iter(), next: None })
    };
    files.map(run).collect()
}

impl Run {
    fn life(&mut self, names: &mut Interner) -> Result<Option<Life>> {
        loop {
            if let Some(life) = self.lives.next() {
                return Ok(Some(life));
            }
            let Some(batch) = self.batches.next().transpose()? else { return Ok(None) };
            let rows = Instances::of(&batch)?;
            self.known.follow(rows.process.dictionary(), |name| names.intern(name));
            let life = |row: usize| {
                let process = self.known.get(rows.process.keys()[row] as usize).copied().unwrap_or_default();
                Life {
                    actor: Actor { process, instance: rows.instance.value(row) },
                    begin: rows.activate_at.get(row).or_else(|| rows.start_at.get(row)),
                    end: rows.terminate_at.get(row),
                    is_complete: rows.complete.value(row),
                }
            };
            self.lives = (0..rows.len()).map(life).collect::<Vec<_>>().into_iter();
        }
    }
}
