//! The rows that explanations of all responses need: events, states, runnables and ends of instances, from
//! the files of their tables, merged by time. The files are sorted, and names in them are keys of
//! dictionaries: a statement would merge them as texts. Not the rows of one response (see `window`), nor what
//! follows from rows (see `feed`).

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque, binary_heap::PeekMut};
use std::sync::mpsc::sync_channel;

use arrow::array::RecordBatch;

use super::feed::{Event, Life, Row, What, state};
use crate::btf::{Action, EntityType};
use crate::error::{Error, ErrorKind, Result};
use crate::explain::{Actor, RunnableSpan, Said, State, StateSpan};
use crate::names::{Interner, Memo};
use crate::schema::{NameView, TableSpec, find_column, tables, view};
use crate::store::{Database, Place, read_batches, row_groups_with};

const BATCH_ROWS: usize = 16 * 1024;
/// So many batches of a file are read before they are asked for.
const AHEAD: usize = 2;

view! {
    struct Events of btf_event {
        time, seq, source, source_instance, target_type, target, target_instance, action
    }
}

view! {
    struct States of process_state { process, r#type, instance, core, state, begin_at, end_at }
}

view! {
    struct Runnables of runnable_state { runnable, process, process_instance, depth, state, begin_at, end_at }
}

view! {
    struct Instances of process_instance { process, instance, activate_at, start_at, terminate_at, complete }
}

/// The column of the owners of events of the operating system.
const NOTE: &str = "note";

/// At one instant, events come first, then spans, then calls, then ended instances.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Event,
    State,
    Runnable,
    Call,
    Ended,
}

/// Time, rank, and place among the events of a tick.
type Key = (i64, Rank, i64);
type Keyed = (Key, Row);
type Batches = Box<dyn Iterator<Item = Result<RecordBatch>> + Send>;

/// All rows of a recording in the order of time.
pub(super) struct Stored {
    runs: Vec<Run>,
    /// The next row of each file, and its number. Of a file that is not open, its first instant.
    next: BinaryHeap<Reverse<(Key, usize)>>,
    /// Calls of the scheduler, which are stored in no order, as far as they are known.
    calls: VecDeque<(i64, Actor)>,
    all_calls: bool,
}

impl Stored {
    /// `ahead`: another thread reads the files.
    pub fn of(database: &Database, recording: &str, ahead: bool) -> Result<Self> {
        let (mut runs, mut next) = (Vec::new(), BinaryHeap::new());
        for table in
            [tables::BTF_EVENT, tables::PROCESS_STATE, tables::RUNNABLE_STATE, tables::PROCESS_INSTANCE]
        {
            for file in database.files(table, Some(recording))? {
                let first = file.begin_at.unwrap_or(i64::MIN);
                next.push(Reverse(((first, Rank::Event, i64::MIN), runs.len())));
                let place = database.place_of(&file);
                runs.push(Run { rows: Rows::of(table), next: None, batches: Reading::Later(place, ahead) });
            }
        }
        Ok(Self { runs, next, calls: VecDeque::new(), all_calls: false })
    }

    /// Whether [`Self::calls`] has to come before the next row.
    pub fn needs_calls(&self) -> bool {
        self.calls.is_empty() && !self.all_calls
    }

    /// The next calls, in the order of time; `None` when there are no more.
    pub fn calls(&mut self, calls: Option<impl Iterator<Item = (i64, Actor)>>) {
        match calls {
            Some(calls) => self.calls.extend(calls),
            None => self.all_calls = true,
        }
    }

    /// The next row, and its time. `names` gives names their numbers.
    pub fn next(&mut self, names: &mut Interner) -> Result<Option<(i64, Row)>> {
        loop {
            let call = self.calls.front().map(|(time, _)| (*time, Rank::Call, 0));
            let top = self.next.peek_mut();
            if let Some(call) = call
                && top.as_ref().is_none_or(|top| call < top.0.0)
            {
                return Ok(self.calls.pop_front().map(|(time, actor)| (time, Row::Yields(actor))));
            }
            let Some(mut top) = top else { return Ok(None) };
            let Reverse(((time, ..), number)) = *top;
            let Some(run) = self.runs.get_mut(number) else { return Ok(None) };
            let row = run.next.take();
            match run.advance(names)? {
                Some(key) => *top = Reverse((key, number)),
                None => drop(PeekMut::pop(top)),
            }
            if let Some(row) = row {
                return Ok(Some((time, row)));
            }
        }
    }
}

/// All instances of a recording, in no order.
pub(super) fn each_life(
    database: &Database,
    recording: &str,
    names: &mut Interner,
    mut visit: impl FnMut(Life),
) -> Result<()> {
    let mut known = Memo::default();
    for file in database.files(tables::PROCESS_INSTANCE, Some(recording))? {
        let place = database.place_of(&file);
        for batch in read_batches(&place, tables::PROCESS_INSTANCE, Some(Instances::COLUMNS), BATCH_ROWS)? {
            lives(&batch?, &mut known, names)?.for_each(&mut visit);
        }
    }
    Ok(())
}

/// The rows of a file.
struct Run {
    batches: Reading,
    rows: Rows,
    next: Option<Row>,
}

enum Reading {
    /// A file that is opened when its first row is next: of files that follow each other, one is open. And
    /// whether another thread is to read it.
    Later(Place, bool),
    Now(Batches),
}

impl Run {
    /// The key of the row that is next then.
    fn advance(&mut self, names: &mut Interner) -> Result<Option<Key>> {
        loop {
            if let Some((key, row)) = self.rows.ready.next() {
                self.next = Some(row);
                return Ok(Some(key));
            }
            if let Reading::Later(place, ahead) = &self.batches {
                self.batches = Reading::Now(self.rows.open(place, *ahead)?);
            }
            let Reading::Now(batches) = &mut self.batches else { return Ok(None) };
            match batches.next().transpose()? {
                Some(batch) => self.rows.take(&batch, names)?,
                None => {
                    // Nothing of the file is kept.
                    self.batches = Reading::Now(Box::new(std::iter::empty()));
                    return Ok(None);
                }
            }
        }
    }
}

/// The rows of a batch that say something, with the numbers of its names.
struct Rows {
    table: &'static TableSpec,
    ready: std::vec::IntoIter<Keyed>,
    actions: Memo<Option<Action>>,
    types: Memo<Option<EntityType>>,
    states: Memo<Option<State>>,
    /// Of processes and targets, of sources and runnables, and of cores and owners.
    names: [Memo<Option<u32>>; 3],
    processes: Memo<u32>,
}

impl Rows {
    fn of(table: &'static TableSpec) -> Self {
        let (actions, types, states, names, processes) = Default::default();
        Self { table, ready: Vec::new().into_iter(), actions, types, states, names, processes }
    }

    fn open(&self, place: &Place, ahead: bool) -> Result<Batches> {
        let mut columns = match self.table.name {
            name if name == tables::BTF_EVENT.name => Events::COLUMNS,
            name if name == tables::PROCESS_STATE.name => States::COLUMNS,
            name if name == tables::RUNNABLE_STATE.name => Runnables::COLUMNS,
            _ => Instances::COLUMNS,
        }
        .to_vec();
        let sets = |action: &str| Action::parse_tolerant(action) == Some(Action::SetEvent);
        // Notes are read for owners only. Behind a network, to look for them costs as much as to read them.
        if self.table.name == tables::BTF_EVENT.name
            && (place.is_remote() || row_groups_with(place, "action", &sets)?.contains(&true))
        {
            columns.push(NOTE);
        }
        let batches = read_batches(place, self.table, Some(&columns), BATCH_ROWS)?;
        if ahead { read_ahead(batches) } else { Ok(Box::new(batches)) }
    }

    fn take(&mut self, batch: &RecordBatch, names: &mut Interner) -> Result<()> {
        let rows = match self.table.name {
            name if name == tables::BTF_EVENT.name => self.events(batch, names)?,
            name if name == tables::PROCESS_STATE.name => self.states(batch, names)?,
            name if name == tables::RUNNABLE_STATE.name => self.runnables(batch, names)?,
            _ => {
                let ended = |life: Life| Some(((life.end?, Rank::Ended, 0), Row::Ended(life)));
                lives(batch, &mut self.processes, names)?.filter_map(ended).collect()
            }
        };
        self.ready = rows.into_iter();
        Ok(())
    }

    fn events(&mut self, batch: &RecordBatch, names: &mut Interner) -> Result<Vec<Keyed>> {
        let rows = Events::of(batch)?;
        let note =
            batch.column_by_name(NOTE).map(|_| find_column::<NameView<'_>>(batch, self.table.name, NOTE));
        let note = note.transpose()?;
        self.actions.follow(rows.action.dictionary(), Action::parse_tolerant);
        self.types.follow(rows.target_type.dictionary(), EntityType::parse_tolerant);
        let [targets, sources, owners] = &mut self.names;
        targets.turn_to(rows.target.dictionary());
        sources.turn_to(rows.source.dictionary());
        if let Some(note) = &note {
            owners.turn_to(note.dictionary());
        }
        let mut made = Vec::new();
        for row in 0..rows.len() {
            let action = rows.action.key(row).and_then(|key| *self.actions.get(key)?);
            let kind = rows.target_type.key(row).and_then(|key| *self.types.get(key)?);
            let Some(what) = Event::what(action, kind) else { continue };
            let owner = note.filter(|_| what == What::Said(Said::SetEvent));
            let event = Event {
                what,
                target: number(&rows.target, row, targets, names),
                instance: rows.target_instance.get(row),
                source: number(&rows.source, row, sources, names),
                number: rows.source_instance.get(row),
                owner: owner.and_then(|note| number(&note, row, owners, names)),
            };
            made.push(((rows.time.value(row), Rank::Event, rows.seq.value(row)), Row::Event(event)));
        }
        Ok(made)
    }

    fn states(&mut self, batch: &RecordBatch, names: &mut Interner) -> Result<Vec<Keyed>> {
        let rows = States::of(batch)?;
        self.states.follow(rows.state.dictionary(), state);
        self.types.follow(rows.r#type.dictionary(), EntityType::parse_tolerant);
        let [processes, _, cores] = &mut self.names;
        processes.turn_to(rows.process.dictionary());
        cores.turn_to(rows.core.dictionary());
        let mut made = Vec::with_capacity(rows.len());
        for row in 0..rows.len() {
            let state = rows.state.key(row).and_then(|key| *self.states.get(key)?);
            let process = number(&rows.process, row, processes, names);
            let Some((state, process)) = state.zip(process) else { continue };
            let kind = rows.r#type.key(row).and_then(|key| *self.types.get(key)?);
            let (begin, end) = (rows.begin_at.value(row), rows.end_at.value(row));
            let actor = Actor { process, instance: rows.instance.value(row) };
            let span = StateSpan { actor, core: number(&rows.core, row, cores, names), state, begin, end };
            let is_isr = kind == Some(EntityType::Isr);
            made.push(((end, Rank::State, 0), Row::State { span, is_isr }));
        }
        Ok(made)
    }

    fn runnables(&mut self, batch: &RecordBatch, names: &mut Interner) -> Result<Vec<Keyed>> {
        let rows = Runnables::of(batch)?;
        self.states.follow(rows.state.dictionary(), state);
        let [processes, runnables, _] = &mut self.names;
        processes.turn_to(rows.process.dictionary());
        runnables.turn_to(rows.runnable.dictionary());
        let mut made = Vec::with_capacity(rows.len());
        for row in 0..rows.len() {
            let state = rows.state.key(row).and_then(|key| *self.states.get(key)?);
            if state != Some(State::Running) {
                continue;
            }
            let process = number(&rows.process, row, processes, names);
            let runnable = number(&rows.runnable, row, runnables, names);
            let Some((process, runnable)) = process.zip(runnable) else { continue };
            let (begin, end) = (rows.begin_at.value(row), rows.end_at.value(row));
            let actor = Actor { process, instance: rows.process_instance.value(row) };
            let depth = u32::try_from(rows.depth.value(row)).unwrap_or(u32::MAX);
            let span = RunnableSpan { actor, runnable, depth, begin, end };
            made.push(((end, Rank::Runnable, 0), Row::Runnable(span)));
        }
        Ok(made)
    }
}

/// The number of a name; each is looked for once.
fn number(
    column: &NameView<'_>,
    row: usize,
    known: &mut Memo<Option<u32>>,
    names: &mut Interner,
) -> Option<u32> {
    known.get_or_compute(column.key(row)?, |name| names.intern(name))
}

fn lives<'a>(
    batch: &'a RecordBatch,
    known: &'a mut Memo<u32>,
    names: &mut Interner,
) -> Result<impl Iterator<Item = Life> + 'a> {
    let rows = Instances::of(batch)?;
    known.follow(rows.process.dictionary(), |name| names.intern(name));
    let known = &*known;
    Ok((0..rows.len()).filter_map(move |row| {
        let process = *known.get(rows.process.key(row)?)?;
        Some(Life {
            actor: Actor { process, instance: rows.instance.value(row) },
            begin: rows.activate_at.get(row).or_else(|| rows.start_at.get(row)),
            end: rows.terminate_at.get(row),
            is_complete: rows.complete.value(row),
        })
    }))
}

/// Batches that a thread reads, some before they are asked for. It ends when nobody asks any more.
fn read_ahead(batches: impl Iterator<Item = Result<RecordBatch>> + Send + 'static) -> Result<Batches> {
    let (give, take) = sync_channel(AHEAD);
    let read = move || {
        for batch in batches {
            if give.send(batch).is_err() {
                return;
            }
        }
    };
    let started = std::thread::Builder::new().name("btfdb-read".to_owned()).spawn(read);
    started.map_err(|e| Error::new(ErrorKind::Io, "cannot start a thread").because(e))?;
    Ok(Box::new(take.into_iter()))
}
