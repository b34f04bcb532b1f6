//! Feeds all rows of a recording that explanations need, in the order of time: events, states, runnables,
//! calls and ends of instances, merged from the files of their tables. The files are sorted, and names in them
//! are keys of dictionaries: a statement would merge them as texts. Not the rows of one response (see
//! `window`), nor what a file has (see `blocks`).

use super::blocks::{Block, Blocks, Key, Rank};
use super::feed::Feed;
use super::names::Names;
use crate::error::Result;
use crate::pipeline::{Pipeline, Prefetch};
use crate::schema::tables;
use crate::store::Database;

/// All rows of a recording.
pub(super) struct Stored<'c, 'a> {
    pipeline: &'c Pipeline<'a>,
    /// Runs that have rows, the one whose row is next at the end. There are few that are open, and the next
    /// row is nearly always of one of the last.
    runs: Vec<Run<'c, 'a>>,
}

/// The rows of a file.
struct Run<'c, 'a> {
    /// Of its next row; of a file that is not open, its first instant.
    key: Key,
    /// Breaks ties between files.
    number: usize,
    rows: Reading<'c, 'a>,
    block: Block,
    /// Its place in the block.
    next: usize,
}

enum Reading<'c, 'a> {
    /// A file that is opened when its first row is next: of files that follow each other, one is open.
    Later(Blocks),
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
        let mut runs = Vec::new();
        let mut add = |key, rows| {
            runs.push(Run { key, number: runs.len(), rows, block: Block::Calls(Vec::new()), next: 0 });
        };
        add((i64::MIN, Rank::Event, i64::MIN), Reading::Now(pipeline.prefetch(calls)));
        for table in
            [tables::BTF_EVENT, tables::PROCESS_STATE, tables::RUNNABLE_STATE, tables::PROCESS_INSTANCE]
        {
            for file in database.files(table, Some(recording))? {
                let first = file.begin_at.unwrap_or(i64::MIN);
                let blocks = Blocks::of(table, database.place_of(&file), names);
                add((first, Rank::Event, i64::MIN), Reading::Later(blocks));
            }
        }
        runs.sort_unstable_by_key(|run| std::cmp::Reverse((run.key, run.number)));
        Ok(Self { pipeline, runs })
    }

    /// Feeds about `most` rows. Returns whether there are more.
    pub fn feed(&mut self, feed: &mut Feed, most: usize) -> Result<bool> {
        let mut fed = 0;
        while fed < most {
            let Some(mut run) = self.runs.pop() else { return Ok(false) };
            // Up to the next row of another file.
            let until = self.runs.last().map(|other| (other.key, other.number));
            fed += run.feed(feed, until, most - fed);
            if run.settle(self.pipeline)? {
                let later = |other: &Run| (other.key, other.number) > (run.key, run.number);
                let place = match self.runs.iter().rev().take(8).position(later) {
                    Some(steps) => self.runs.len() - steps,
                    None => self.runs.partition_point(later),
                };
                self.runs.insert(place, run);
            }
        }
        Ok(true)
    }
}

impl<'c, 'a> Run<'c, 'a> {
    /// Feeds rows of the block that come before `until`, at most so many. Returns how many.
    fn feed(&mut self, feed: &mut Feed, until: Option<(Key, usize)>, most: usize) -> usize {
        let first = self.next;
        while self.next - first < most
            && let Some(key) = self.block.key(self.next)
            && until.is_none_or(|until| (key, self.number) < until)
        {
            self.block.feed(self.next, feed);
            self.next += 1;
        }
        self.next - first
    }

    /// Looks for the next row, in the next blocks if need be. Returns whether there is one.
    fn settle(&mut self, pipeline: &'c Pipeline<'a>) -> Result<bool> {
        loop {
            if let Some(key) = self.block.key(self.next) {
                self.key = key;
                return Ok(true);
            }
            self.rows = match std::mem::replace(&mut self.rows, Reading::Over) {
                Reading::Later(blocks) => Reading::Now(pipeline.prefetch(blocks)),
                open => open,
            };
            let Reading::Now(blocks) = &mut self.rows else { return Ok(false) };
            match blocks.next().transpose()? {
                Some(block) => (self.block, self.next) = (block, 0),
                None => return Ok(false),
            }
        }
    }
}
