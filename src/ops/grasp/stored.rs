//! The stored commands of a Grasp trace in the order of time: what the mapping and the checks read. Where processors have
//! clocks of their own, each is a stream, put onto the clock of the reference. Not what is done with them.

use super::super::runs;
use crate::error::{Error, ErrorKind, Result};
use crate::map::grasp::{Clock, Clocks, Directory, Fault, Occurrence, Watch};
use crate::schema::columns::grasp_event;
use crate::schema::tables;
use crate::store::{Database, FileEntry};
use arrow::array::{Array, AsArray, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{Int64Type, UInt32Type};
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

/// What is read of a command.
const COLUMNS: [&str; 18] = [
    grasp_event::EFFECT_AT,
    grasp_event::SEQ,
    grasp_event::LINE,
    grasp_event::STATUS,
    grasp_event::COMMAND,
    grasp_event::EVENT,
    grasp_event::PROCESSOR,
    grasp_event::TASK,
    grasp_event::JOB,
    grasp_event::SERVER,
    grasp_event::MUTEX,
    grasp_event::SEMAPHORE,
    grasp_event::TARGET,
    grasp_event::NAME,
    grasp_event::KIND,
    grasp_event::BUDGET,
    grasp_event::MESSAGE,
    grasp_event::TIME,
];

/// The files of the commands of a recording.
pub(super) type Files = Vec<(FileEntry, PathBuf)>;

/// A column of names.
struct Words<'a> {
    keys: &'a arrow::array::UInt32Array,
    values: &'a StringArray,
}

impl<'a> Words<'a> {
    fn of(batch: &'a RecordBatch, column: &str) -> Option<Self> {
        let array = batch.column_by_name(column)?.as_dictionary_opt::<UInt32Type>()?;
        Some(Self { keys: array.keys(), values: array.values().as_string_opt()? })
    }

    fn get(&self, row: usize) -> Option<&'a str> {
        let key = self.keys.is_valid(row).then(|| self.keys.value(row) as usize)?;
        (key < self.values.len()).then(|| self.values.value(key))
    }
}

/// Columns of a batch.
struct Columns<'a> {
    effect_at: &'a Int64Array,
    seq: &'a Int64Array,
    line: &'a Int64Array,
    budget: &'a Int64Array,
    message: &'a StringArray,
    words: [Words<'a>; 12],
}

impl<'a> Columns<'a> {
    fn of(batch: &'a RecordBatch) -> Option<Self> {
        let number = |column: &str| batch.column_by_name(column)?.as_primitive_opt::<Int64Type>();
        let word = |column: &str| Words::of(batch, column);
        Some(Self {
            effect_at: number(grasp_event::EFFECT_AT)?,
            seq: number(grasp_event::SEQ)?,
            line: number(grasp_event::LINE)?,
            budget: number(grasp_event::BUDGET)?,
            message: batch.column_by_name(grasp_event::MESSAGE)?.as_string_opt()?,
            words: [
                word(grasp_event::STATUS)?,
                word(grasp_event::COMMAND)?,
                word(grasp_event::EVENT)?,
                word(grasp_event::PROCESSOR)?,
                word(grasp_event::TASK)?,
                word(grasp_event::JOB)?,
                word(grasp_event::SERVER)?,
                word(grasp_event::MUTEX)?,
                word(grasp_event::SEMAPHORE)?,
                word(grasp_event::TARGET)?,
                word(grasp_event::NAME)?,
                word(grasp_event::KIND)?,
            ],
        })
    }

    /// A row, unless it says nothing of the recording.
    fn occurrence(&self, row: usize) -> Option<Occurrence<'a>> {
        let [status, command, event, processor, task, job, server, mutex, semaphore, target, name, kind] =
            &self.words;
        if status.get(row) != Some("ok") {
            return None;
        }
        Some(Occurrence {
            effect_at: self.effect_at.value(row),
            seq: self.seq.value(row),
            line: self.line.value(row),
            command: command.get(row).unwrap_or_default(),
            event: event.get(row).unwrap_or_default(),
            processor: processor.get(row),
            task: task.get(row),
            job: job.get(row),
            server: server.get(row),
            mutex: mutex.get(row),
            semaphore: semaphore.get(row),
            target: target.get(row),
            name: name.get(row),
            kind: kind.get(row),
            budget: self.budget.is_valid(row).then(|| self.budget.value(row)),
            message: self.message.is_valid(row).then(|| self.message.value(row)),
        })
    }
}

/// Gives every command that says something of the recording, by the times of the file. `read` hears of rows.
pub(super) fn as_written(
    files: &Files,
    mut take: impl FnMut(&Occurrence<'_>) -> Result<()>,
    mut read: impl FnMut(u64) -> Result<()>,
) -> Result<()> {
    for batch in runs::in_order(files.clone(), tables::GRASP_EVENT, &COLUMNS) {
        let batch = batch?;
        let columns = Columns::of(&batch).ok_or_else(not_of_the_table)?;
        for row in 0..batch.num_rows() {
            if let Some(occurrence) = columns.occurrence(row) {
                take(&occurrence)?;
            }
        }
        read(batch.num_rows() as u64)?;
    }
    Ok(())
}

/// What is known of a trace before it is mapped.
#[derive(Default)]
pub(super) struct Known {
    pub directory: Directory,
    clocks: BTreeMap<String, Clock>,
    /// Processors of jobs, tasks and servers by their ids, where clocks differ.
    jobs: HashMap<String, String>,
    tasks: HashMap<String, String>,
    servers: HashMap<String, String>,
}

impl Known {
    /// Looks at all commands, twice: declarations may come last.
    pub fn of(files: &Files) -> Result<Self> {
        let mut known = Self::default();
        let mut clocks = Clocks::default();
        let declarations = |o: &Occurrence<'_>| {
            known.directory.declaration(o);
            clocks.occurrence(o);
            Ok(())
        };
        as_written(files, declarations, |_| Ok(()))?;
        known.clocks = clocks.fit();
        let places = !known.clocks.is_empty();
        let usages = |o: &Occurrence<'_>| {
            known.directory.usage(o);
            if places {
                known.place(o);
            }
            Ok(())
        };
        as_written(files, usages, |_| Ok(()))?;
        Ok(known)
    }

    /// Names of processors whose clocks were put onto that of another one.
    pub fn corrected(&self) -> impl Iterator<Item = &str> {
        self.clocks.keys().map(String::as_str)
    }

    fn place(&mut self, o: &Occurrence<'_>) {
        let Some(processor) = o.processor else {
            if let ("newJob" | "plot", Some(job), Some(task)) = (o.command, o.job, o.task)
                && let Some(of_task) = self.tasks.get(task)
            {
                self.jobs.entry(job.to_owned()).or_insert_with(|| of_task.clone());
            }
            return;
        };
        let (map, id) = match o.command {
            "newTask" => (&mut self.tasks, o.task),
            "newServer" => (&mut self.servers, o.server),
            "newJob" => (&mut self.jobs, o.job),
            "plot" if o.event == "jobArrived" => (&mut self.jobs, o.job),
            _ => return,
        };
        if let Some(id) = id {
            map.entry(id.to_owned()).or_insert_with(|| processor.to_owned());
        }
    }

    /// The processor whose clock a time is of; `None` for that of the reference.
    fn clock_of(&self, o: &Occurrence<'_>) -> Option<&str> {
        // A message is stamped by who sends, or who receives it.
        let said = if o.event == "syncReceived" { o.target } else { o.processor };
        let of_job = || o.job.and_then(|id| self.jobs.get(id)).map(String::as_str);
        let of_task = || o.task.and_then(|id| self.tasks.get(id)).map(String::as_str);
        let of_server = || o.server.and_then(|id| self.servers.get(id)).map(String::as_str);
        let processor = said.or_else(of_job).or_else(of_task).or_else(of_server)?;
        self.clocks.get_key_value(processor).map(|(id, _)| id.as_str())
    }

    /// Gives every command that says something of the recording, in the order of time, all processors on one clock.
    pub fn in_order(
        &self,
        files: &Files,
        mut take: impl FnMut(&Occurrence<'_>) -> Result<()>,
        mut read: impl FnMut(u64) -> Result<()>,
    ) -> Result<()> {
        if self.clocks.is_empty() {
            return as_written(files, take, read);
        }
        let all = std::iter::once(None).chain(self.clocks.keys().map(|id| Some(id.as_str())));
        let mut streams = Vec::new();
        for clock in all {
            let mut stream =
                Stream { known: self, clock, batches: Box::new(batches(files)), batch: None, row: 0 };
            let now = stream.advance()?;
            streams.push((now, stream));
        }
        loop {
            let next = streams.iter().enumerate().filter_map(|(n, (now, _))| now.map(|key| (key, n))).min();
            let Some(((time, _), n)) = next else { return Ok(()) };
            let Some((now, stream)) = streams.get_mut(n) else { return Ok(()) };
            stream.with(|o| take(&Occurrence { effect_at: time, ..*o }))?;
            read(1)?;
            *now = stream.advance()?;
        }
    }
}

type Batches = Box<dyn Iterator<Item = Result<RecordBatch>>>;

fn batches(files: &Files) -> impl Iterator<Item = Result<RecordBatch>> + use<> {
    runs::in_order(files.clone(), tables::GRASP_EVENT, &COLUMNS)
}

/// The commands of one clock.
struct Stream<'a> {
    known: &'a Known,
    clock: Option<&'a str>,
    batches: Batches,
    batch: Option<RecordBatch>,
    /// Behind the present one.
    row: usize,
}

impl Stream<'_> {
    /// Goes to the next command: its time on the clock of the reference, and its number.
    fn advance(&mut self) -> Result<Option<(i64, i64)>> {
        loop {
            if self.batch.as_ref().is_none_or(|batch| self.row >= batch.num_rows()) {
                self.batch = self.batches.next().transpose()?;
                self.row = 0;
            }
            let Some(batch) = &self.batch else { return Ok(None) };
            let columns = Columns::of(batch).ok_or_else(not_of_the_table)?;
            while self.row < batch.num_rows() {
                self.row += 1;
                let Some(o) = columns.occurrence(self.row - 1) else { continue };
                if self.known.clock_of(&o) == self.clock {
                    let clock =
                        self.clock.and_then(|id| self.known.clocks.get(id)).copied().unwrap_or_default();
                    return Ok(Some((clock.at(o.effect_at), o.seq)));
                }
            }
        }
    }

    fn with(&self, take: impl FnOnce(&Occurrence<'_>) -> Result<()>) -> Result<()> {
        let Some(batch) = &self.batch else { return Ok(()) };
        let columns = Columns::of(batch).ok_or_else(not_of_the_table)?;
        match self.row.checked_sub(1).and_then(|row| columns.occurrence(row)) {
            Some(o) => take(&o),
            None => Ok(()),
        }
    }
}

/// What is wrong with servers and mutexes of a stored Grasp trace, in the order of time, each with its line; nothing for other
/// recordings.
///
/// # Errors
/// When it cannot be read.
pub fn faults(db: &Database, recording: &str) -> Result<Vec<(i64, Fault)>> {
    let files = db.files(tables::GRASP_EVENT, Some(recording));
    let files: Files = files.into_iter().map(|file| (db.path_of(&file), file)).map(|(p, f)| (f, p)).collect();
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let known = Known::of(&files)?;
    let (mut watch, mut faults, mut end) = (Watch::default(), Vec::new(), i64::MIN);
    let watching = |o: &Occurrence<'_>| {
        end = end.max(o.effect_at);
        faults.extend(watch.occurrence(o).into_iter().map(|fault| (o.line, fault)));
        Ok(())
    };
    known.in_order(&files, watching, |_| Ok(()))?;
    faults.extend(watch.finish(end).into_iter().map(|fault| (0, fault)));
    Ok(faults)
}

fn not_of_the_table() -> Error {
    Error::new(ErrorKind::Bug, "a batch of a Grasp trace does not have the columns of its table")
}
