//! The rows of files that explanations need, in blocks: the columns that say something, with numbers for
//! names. Each file is read by one stage of a pipeline. Not the order of the rows of several files (see
//! `stored`), nor what follows from them (see `feed`).

use arrow::array::RecordBatch;

use super::feed::{Ended, Event, Feed, What, state};
use super::names::Names;
use crate::btf::{Action, EntityType};
use crate::error::Result;
use crate::explain::{Actor, RunnableSpan, Said, State, StateSpan};
use crate::names::Memo;
use crate::schema::{NameView, NumberView, TableSpec, find_column, tables, view};
use crate::store::{Place, read_batches, row_groups_with};

const BATCH_ROWS: usize = 16 * 1024;

view! {
    struct Events of btf_event {
        time, source, source_instance, target_type, target, target_instance, action
    }
}

/// The column of the places of events among those of their tick.
const SEQ: &str = "seq";

view! {
    struct States of process_state { process, r#type, instance, core, state, begin_at, end_at }
}

view! {
    struct Runnables of runnable_state { runnable, process, process_instance, depth, state, begin_at, end_at }
}

view! {
    struct Ends of process_instance { process, instance, activate_at, start_at, terminate_at }
}

/// The column of the owners of events of the operating system.
const NOTE: &str = "note";

/// At one instant, events come first, then spans, then calls, then ended instances. As wide as the times next
/// to it: keys without holes are moved in whole words.
#[repr(u64)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    Event,
    State,
    Runnable,
    Call,
    Ended,
}

/// Time, rank, and place among the events of a tick.
pub(super) type Key = (i64, Rank, i64);

/// Rows of one kind, in the order of a file.
#[derive(Debug)]
pub(super) enum Block {
    /// Each with its time, and its place among the events of a tick.
    Events(Vec<(i64, i64, Event)>),
    /// Each with whether its process is an ISR.
    States(Vec<(StateSpan, bool)>),
    Runnables(Vec<RunnableSpan>),
    /// Calls of the scheduler, by which a task may lose its core, with their times.
    Calls(Vec<(i64, Actor)>),
    /// Instances that end.
    Ended(Vec<Ended>),
}

impl Block {
    /// No rows.
    pub const NONE: Self = Self::Calls(Vec::new());

    /// Where a row belongs: a span at its end.
    pub fn key(&self, row: usize) -> Option<Key> {
        match self {
            Self::Events(rows) => rows.get(row).map(event_key),
            Self::States(rows) => rows.get(row).map(state_key),
            Self::Runnables(rows) => rows.get(row).map(runnable_key),
            Self::Calls(rows) => rows.get(row).map(call_key),
            Self::Ended(rows) => rows.get(row).map(ended_key),
        }
    }

    /// Feeds the rows from one on that come before a limit, at most so many. Returns how many, and the key of
    /// the next one.
    pub fn feed(&self, from: usize, most: usize, limit: Limit, feed: &mut Feed) -> (usize, Option<Key>) {
        // What kind of rows it has is asked once.
        match self {
            Self::Events(rows) => {
                taken(rows, (from, most), limit, event_key, |(time, _, event)| feed.event(*time, event))
            }
            Self::States(rows) => {
                taken(rows, (from, most), limit, state_key, |(span, is_isr)| feed.state(*span, *is_isr))
            }
            Self::Runnables(rows) => {
                taken(rows, (from, most), limit, runnable_key, |span| feed.runnable(*span))
            }
            Self::Calls(rows) => {
                taken(rows, (from, most), limit, call_key, |(time, actor)| feed.yields(*actor, *time))
            }
            Self::Ended(rows) => taken(rows, (from, most), limit, ended_key, |one| feed.ended(*one)),
        }
    }
}

fn event_key((time, seq, _): &(i64, i64, Event)) -> Key {
    (*time, Rank::Event, *seq)
}

fn state_key((span, _): &(StateSpan, bool)) -> Key {
    (span.end, Rank::State, 0)
}

fn runnable_key(span: &RunnableSpan) -> Key {
    (span.end, Rank::Runnable, 0)
}

fn call_key((time, _): &(i64, Actor)) -> Key {
    (*time, Rank::Call, 0)
}

fn ended_key(one: &Ended) -> Key {
    (one.end, Rank::Ended, 0)
}

/// Up to where the rows of a run come first: before the next row of another run, or up to it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limit {
    key: Key,
    /// Of equal keys, the run with the lower number comes first.
    with_equal: bool,
}

impl Limit {
    /// All rows come.
    pub const NONE: Self = Self { key: (i64::MAX, Rank::Ended, i64::MAX), with_equal: true };

    /// Those of run `number`, before the next row of another run.
    pub fn of(number: usize, (key, other): (Key, usize)) -> Self {
        Self { key, with_equal: number < other }
    }

    #[inline(always)]
    fn takes(self, key: Key) -> bool {
        // Nearly always, the time says it.
        if key.0 == self.key.0 {
            key < self.key || self.with_equal && key == self.key
        } else {
            key.0 < self.key.0
        }
    }
}

/// Takes rows from a place on, up to a limit and a number. Returns how many, and the key of the next one.
#[inline(always)]
fn taken<T>(
    rows: &[T],
    (from, most): (usize, usize),
    limit: Limit,
    key: impl Fn(&T) -> Key,
    mut take: impl FnMut(&T),
) -> (usize, Option<Key>) {
    let rest = rows.get(from..).unwrap_or_default();
    for (count, row) in rest.iter().enumerate() {
        let key = key(row);
        if count == most || !limit.takes(key) {
            return (count, Some(key));
        }
        take(row);
    }
    (rest.len(), None)
}

/// The blocks of a file, which is opened when the first one is asked for.
pub(super) struct Blocks {
    table: &'static TableSpec,
    place: Place,
    names: Names,
    /// Other files have events of the same ticks: the order in the file is not enough.
    with_seq: bool,
    batches: Option<Batches>,
    known: Known,
}

type Batches = Box<dyn Iterator<Item = Result<RecordBatch>> + Send>;

/// What is known of the words and names of a file.
#[derive(Default)]
struct Known {
    actions: Memo<Option<Action>>,
    types: Memo<Option<EntityType>>,
    states: Memo<Option<State>>,
    /// Of processes and targets, of sources and runnables, and of cores and owners.
    names: [Memo<Option<u32>>; 3],
    processes: Memo<u32>,
}

impl Blocks {
    /// `with_seq`: whether other files have rows of the same time.
    pub fn of(table: &'static TableSpec, place: Place, names: &Names, with_seq: bool) -> Self {
        Self { table, place, names: names.clone(), with_seq, batches: None, known: Known::default() }
    }

    fn next_block(&mut self) -> Result<Option<Block>> {
        let batches = match &mut self.batches {
            Some(batches) => batches,
            None => {
                let batches = self.open()?;
                self.batches.insert(batches)
            }
        };
        let Some(batch) = batches.next().transpose()? else { return Ok(None) };
        Ok(Some(match self.table.name {
            name if name == tables::BTF_EVENT.name => Block::Events(self.events(&batch)?),
            name if name == tables::PROCESS_STATE.name => Block::States(self.states(&batch)?),
            name if name == tables::RUNNABLE_STATE.name => Block::Runnables(self.runnables(&batch)?),
            _ => Block::Ended(self.ended(&batch)?),
        }))
    }

    fn open(&self) -> Result<Batches> {
        let place = &self.place;
        let mut columns = match self.table.name {
            name if name == tables::BTF_EVENT.name => Events::COLUMNS,
            name if name == tables::PROCESS_STATE.name => States::COLUMNS,
            name if name == tables::RUNNABLE_STATE.name => Runnables::COLUMNS,
            _ => Ends::COLUMNS,
        }
        .to_vec();
        let sets = |action: &str| Action::parse_tolerant(action) == Some(Action::SetEvent);
        // Notes are read for owners only. Behind a network, to look for them costs as much as to read them.
        if self.table.name == tables::BTF_EVENT.name
            && (place.is_remote() || row_groups_with(place, "action", &sets)?.contains(&true))
        {
            columns.push(NOTE);
        }
        if self.table.name == tables::BTF_EVENT.name && self.with_seq {
            columns.push(SEQ);
        }
        Ok(Box::new(read_batches(place, self.table, Some(&columns), BATCH_ROWS)?))
    }

    fn events(&mut self, batch: &RecordBatch) -> Result<Vec<(i64, i64, Event)>> {
        let (rows, names, known) = (Events::of(batch)?, &self.names, &mut self.known);
        let note =
            batch.column_by_name(NOTE).map(|_| find_column::<NameView<'_>>(batch, self.table.name, NOTE));
        let note = note.transpose()?;
        let says = |word: &str| Action::parse_tolerant(word).filter(|action| Event::can_say(*action));
        known.actions.follow(rows.action.dictionary(), says);
        known.types.follow(rows.target_type.dictionary(), EntityType::parse_tolerant);
        let [targets, sources, owners] = &mut known.names;
        targets.turn_to(rows.target.dictionary());
        sources.turn_to(rows.source.dictionary());
        if let Some(note) = &note {
            owners.turn_to(note.dictionary());
        }
        let seq = self.with_seq.then(|| find_column::<NumberView<'_, i64>>(batch, self.table.name, SEQ));
        let seq = seq.transpose()?;
        let action = |row| rows.action.key(row).and_then(|key| *known.actions.get(key)?);
        let saying = saying(&known.actions, rows.action.keys());
        let mut made = Vec::with_capacity(saying.len());
        for row in saying {
            // Also without one: a missing name has a key, too.
            let Some(action) = action(row) else { continue };
            let kind = rows.target_type.key(row).and_then(|key| *known.types.get(key)?);
            let Some(what) = Event::what(Some(action), kind) else { continue };
            let owner = note.filter(|_| what == What::Said(Said::SetEvent));
            let event = Event {
                what,
                target: number(&rows.target, row, targets, names),
                instance: rows.target_instance.get(row),
                source: number(&rows.source, row, sources, names),
                number: rows.source_instance.get(row),
                owner: owner.and_then(|note| number(&note, row, owners, names)),
            };
            if !event.is_by_itself() {
                made.push((rows.time.value(row), seq.map_or(0, |seq| seq.value(row)), event));
            }
        }
        Ok(made)
    }

    fn states(&mut self, batch: &RecordBatch) -> Result<Vec<(StateSpan, bool)>> {
        let (rows, names, known) = (States::of(batch)?, &self.names, &mut self.known);
        known.states.follow(rows.state.dictionary(), state);
        known.types.follow(rows.r#type.dictionary(), EntityType::parse_tolerant);
        let [processes, _, cores] = &mut known.names;
        processes.turn_to(rows.process.dictionary());
        cores.turn_to(rows.core.dictionary());
        let mut made = Vec::with_capacity(rows.len());
        for row in 0..rows.len() {
            let state = rows.state.key(row).and_then(|key| *known.states.get(key)?);
            let process = number(&rows.process, row, processes, names);
            let Some((state, process)) = state.zip(process) else { continue };
            let kind = rows.r#type.key(row).and_then(|key| *known.types.get(key)?);
            let (begin, end) = (rows.begin_at.value(row), rows.end_at.value(row));
            let actor = Actor { process, instance: rows.instance.value(row) };
            let span = StateSpan { actor, core: number(&rows.core, row, cores, names), state, begin, end };
            let is_isr = kind == Some(EntityType::Isr);
            made.push((span, is_isr));
        }
        Ok(made)
    }

    fn ended(&mut self, batch: &RecordBatch) -> Result<Vec<Ended>> {
        let (rows, names, known) = (Ends::of(batch)?, &self.names, &mut self.known.processes);
        known.follow(rows.process.dictionary(), |name| names.intern(name));
        let ended = |row| {
            let process = *known.get(rows.process.key(row)?)?;
            let actor = Actor { process, instance: rows.instance.value(row) };
            let end = rows.terminate_at.get(row)?;
            let begin = rows.activate_at.get(row).or_else(|| rows.start_at.get(row));
            Some(Ended { actor, begin: begin.unwrap_or(end), end })
        };
        Ok((0..rows.len()).filter_map(ended).collect())
    }

    fn runnables(&mut self, batch: &RecordBatch) -> Result<Vec<RunnableSpan>> {
        let (rows, names, known) = (Runnables::of(batch)?, &self.names, &mut self.known);
        known.states.follow(rows.state.dictionary(), state);
        let [processes, runnables, _] = &mut known.names;
        processes.turn_to(rows.process.dictionary());
        runnables.turn_to(rows.runnable.dictionary());
        let mut made = Vec::with_capacity(rows.len());
        for row in 0..rows.len() {
            let state = rows.state.key(row).and_then(|key| *known.states.get(key)?);
            if state != Some(State::Running) {
                continue;
            }
            let process = number(&rows.process, row, processes, names);
            let runnable = number(&rows.runnable, row, runnables, names);
            let Some((process, runnable)) = process.zip(runnable) else { continue };
            let (begin, end) = (rows.begin_at.value(row), rows.end_at.value(row));
            let actor = Actor { process, instance: rows.process_instance.value(row) };
            let depth = u32::try_from(rows.depth.value(row)).unwrap_or(u32::MAX);
            made.push(RunnableSpan { actor, runnable, depth, begin, end });
        }
        Ok(made)
    }
}

impl Iterator for Blocks {
    type Item = Result<Block>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_block().transpose()
    }
}

/// The rows whose action may say something: most do not. The processor has nothing to guess.
fn saying(actions: &Memo<Option<Action>>, keys: &[u32]) -> Vec<usize> {
    let says: Vec<bool> = actions.values().iter().map(Option::is_some).collect();
    let mut rows = vec![0; keys.len()];
    let mut count = 0;
    for (row, key) in keys.iter().enumerate() {
        if let Some(place) = rows.get_mut(count) {
            *place = row;
        }
        count += usize::from(says.get(*key as usize).copied().unwrap_or_default());
    }
    rows.truncate(count);
    rows
}

/// The number of a name; each is looked for once.
fn number(column: &NameView<'_>, row: usize, known: &mut Memo<Option<u32>>, names: &Names) -> Option<u32> {
    known.get_or_compute(column.key(row)?, |name| names.intern(name))
}
