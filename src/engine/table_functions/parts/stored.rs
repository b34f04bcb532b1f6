//! Feeds all rows of a recording that explanations need, in the order of time: events, states, runnables,
//! calls and ends of instances, merged from the files of their tables. The files are sorted, and names in
//! them are keys of dictionaries: a statement would merge them as texts. Not the rows of one response (see
//! `window`), nor what a file has (see `blocks`).

use super::blocks::{Block, Blocks, Key, Limit, Rank};
use super::feed::Feed;
use super::names::Names;
use crate::error::Result;
use crate::pipeline::{Pipeline, Prefetch};
use crate::schema::tables;
use crate::store::{Database, FileEntry};

/// So many runs are asked one after the other for the place of a row.
const NEAR: usize = 8;

/// All rows of a recording.
pub(super) struct Stored<'c, 'a> {
    pipeline: &'c Pipeline<'a>,
    runs: Vec<Run<'c, 'a>>,
    /// The next row of each run that has one, and the number of the run; the first one is at the end. Of a
    /// file that is not open, its first instant. There are few that are open, and the next row is nearly
    /// always of one of the last.
    order: Vec<(Key, usize)>,
}

/// The rows of a file.
struct Run<'c, 'a> {
    rows: Reading<'c, 'a>,
    block: Block,
    /// Its place in the block.
    next: usize,
}

enum Reading<'c, 'a> {
    /// A file that is opened when its first row is next: of files that follow each other, one is open.
    Later(Box<Blocks>),
    Now(Prefetch<'c, 'a, Block>),
    Over,
}

impl<'c, 'a> Stored<'c, 'a> {
    /// `calls`: blocks of calls, in the order of time.
    pub fn of(
        pipeline: &'c Pipeline<'a>,
        (database, recording): (&Database, &str),
        calls: impl Iterator<Item = Result<Block>> + Send + 'a,
        names: &Names,
    ) -> Result<Self> {
        let (mut runs, mut order) = (Vec::new(), Vec::new());
        let mut add = |first, rows| {
            order.push(((first, Rank::Event, i64::MIN), runs.len()));
            runs.push(Run { rows, block: Block::NONE, next: 0 });
        };
        add(i64::MIN, Reading::Now(pipeline.prefetch(calls)));
        for table in
            [tables::BTF_EVENT, tables::PROCESS_STATE, tables::RUNNABLE_STATE, tables::PROCESS_INSTANCE]
        {
            let files = database.files(table, Some(recording))?;
            let is_apart = |pair: &[FileEntry]| match pair {
                [file, next] => file.end_at.is_some() && file.end_at < next.begin_at,
                _ => true,
            };
            let are_apart = files.windows(2).all(is_apart);
            for file in files {
                let blocks = Blocks::of(table, database.place_of(&file), names, !are_apart);
                add(file.begin_at.unwrap_or(i64::MIN), Reading::Later(Box::new(blocks)));
            }
        }
        order.sort_unstable_by_key(|next| std::cmp::Reverse(*next));
        Ok(Self { pipeline, runs, order })
    }

    /// Feeds about `most` rows. Returns whether there are more.
    pub fn feed(&mut self, feed: &mut Feed, most: usize) -> Result<bool> {
        let mut fed = 0;
        while fed < most {
            let Some((_, number)) = self.order.pop() else { return Ok(false) };
            let Some(run) = self.runs.get_mut(number) else { continue };
            // Up to the next row of another file.
            let limit = self.order.last().map_or(Limit::NONE, |other| Limit::of(number, *other));
            let (count, next) = run.block.feed(run.next, most - fed, limit, feed);
            (fed, run.next) = (fed + count, run.next + count);
            let next = match next {
                Some(key) => Some(key),
                None => run.open_next(self.pipeline)?,
            };
            if let Some(key) = next {
                let next = (key, number);
                let later = |other: &(Key, usize)| *other > next;
                let place = match self.order.iter().rev().take(NEAR).position(later) {
                    Some(steps) => self.order.len() - steps,
                    None => self.order.partition_point(later),
                };
                self.order.insert(place, next);
            }
        }
        Ok(true)
    }
}

impl<'c, 'a> Run<'c, 'a> {
    /// Looks for the next row in the next blocks. Returns its key.
    fn open_next(&mut self, pipeline: &'c Pipeline<'a>) -> Result<Option<Key>> {
        loop {
            self.rows = match std::mem::replace(&mut self.rows, Reading::Over) {
                Reading::Later(blocks) => Reading::Now(pipeline.prefetch(*blocks)),
                open => open,
            };
            let Reading::Now(blocks) = &mut self.rows else { return Ok(None) };
            match blocks.next().transpose()? {
                Some(block) => {
                    (self.block, self.next) = (block, 0);
                    if let Some(key) = self.block.key(0) {
                        return Ok(Some(key));
                    }
                }
                // Nothing of the file is kept.
                None => (self.rows, self.block) = (Reading::Over, Block::NONE),
            }
        }
    }
}
