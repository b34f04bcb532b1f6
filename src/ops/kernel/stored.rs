//! The stored events of a kernel trace, of all CPUs, in the order of (time, seq): what the mapping reads. Not what it does
//! with them.

use super::super::runs;
use crate::error::{Error, ErrorKind, Result};
use crate::map::kernel::Occurrence;
use crate::qnx::{Class, Event, Status};
use crate::schema::columns::kernel_event;
use crate::schema::tables;
use crate::store::{FileEntry, Transaction};
use arrow::array::{Array, AsArray, BooleanArray, Int64Array, RecordBatch, StringArray, UInt64Array};
use arrow::datatypes::{Int64Type, UInt32Type, UInt64Type};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What is read of an event.
const COLUMNS: [&str; 11] = [
    kernel_event::TIME,
    kernel_event::SEQ,
    kernel_event::CLASS,
    kernel_event::EVENT,
    kernel_event::IS64,
    kernel_event::FLAGS,
    kernel_event::STATUS,
    kernel_event::TEXT,
    kernel_event::D0,
    kernel_event::D1,
    kernel_event::REST,
];

/// The files of the events of each CPU.
pub(super) fn files(tx: &Transaction, recording: &str) -> BTreeMap<u8, Vec<(FileEntry, PathBuf)>> {
    let mut files: BTreeMap<u8, Vec<_>> = BTreeMap::new();
    for (file, path) in tx.files(tables::KERNEL_EVENT, recording) {
        if let Some(cpu) = file.core.as_deref().and_then(|cpu| cpu.parse().ok()) {
            files.entry(cpu).or_default().push((file, path));
        }
    }
    files
}

/// Rows of one CPU, of which the first may have been given away.
pub(super) struct Rows {
    batch: RecordBatch,
    next: usize,
}

/// The rows of a CPU in the order of time.
pub(super) fn rows(files: Vec<(FileEntry, PathBuf)>) -> impl Iterator<Item = Result<Rows>> + Send {
    runs::in_order(files, tables::KERNEL_EVENT, &COLUMNS).map(|batch| Ok(Rows { batch: batch?, next: 0 }))
}

/// Columns of a batch.
struct Columns<'a> {
    time: &'a Int64Array,
    seq: &'a Int64Array,
    class: &'a Int64Array,
    event: &'a Int64Array,
    is64: &'a BooleanArray,
    flags: &'a Int64Array,
    status: (&'a [u32], Vec<Status>),
    text: &'a StringArray,
    d0: &'a UInt64Array,
    d1: &'a UInt64Array,
    rest: &'a StringArray,
}

impl<'a> Columns<'a> {
    fn of(batch: &'a RecordBatch) -> Option<Self> {
        let number = |column: &str| batch.column_by_name(column)?.as_primitive_opt::<Int64Type>();
        let word = |column: &str| batch.column_by_name(column)?.as_primitive_opt::<UInt64Type>();
        let text = |column: &str| batch.column_by_name(column)?.as_string_opt::<i32>();
        let status = batch.column_by_name(kernel_event::STATUS)?.as_dictionary_opt::<UInt32Type>()?;
        let words = status.values().as_string_opt::<i32>()?;
        // A word that nobody wrote counts as damage of the event.
        let words = words.iter().map(|w| w.and_then(Status::parse).unwrap_or(Status::Orphan)).collect();
        Some(Self {
            time: number(kernel_event::TIME)?,
            seq: number(kernel_event::SEQ)?,
            class: number(kernel_event::CLASS)?,
            event: number(kernel_event::EVENT)?,
            is64: batch.column_by_name(kernel_event::IS64)?.as_boolean_opt()?,
            flags: number(kernel_event::FLAGS)?,
            status: (status.keys().values(), words),
            text: text(kernel_event::TEXT)?,
            d0: word(kernel_event::D0)?,
            d1: word(kernel_event::D1)?,
            rest: text(kernel_event::REST)?,
        })
    }

    fn class(&self, row: usize) -> Class {
        let number = u8::try_from(self.class.value(row)).ok();
        number.and_then(Class::of_number).unwrap_or(Class::Unknown)
    }
}

fn not_of_the_table() -> Error {
    Error::new(ErrorKind::Bug, "a batch of kernel events does not have the columns of its table")
}

impl Rows {
    /// How many rows were read.
    pub fn read(&self) -> u64 {
        self.batch.num_rows() as u64
    }
}

/// Gives the events of all CPUs to `take`, in the order of (time, seq).
///
/// # Errors
/// When reading fails, or `take` does.
pub(super) fn in_order(
    cpus: Vec<(u8, impl Iterator<Item = Result<Rows>>)>,
    mut take: impl FnMut(&Occurrence<'_>) -> Result<()>,
) -> Result<()> {
    let (numbers, mut streams): (Vec<u8>, Vec<_>) = cpus.into_iter().unzip();
    let mut now: Vec<Option<Rows>> = Vec::new();
    for stream in &mut streams {
        now.push(next_rows(stream)?);
    }
    let mut words = Vec::new();
    while now.iter().any(Option::is_some) {
        let mut cursors = Vec::new();
        for (n, rows) in now.iter().enumerate() {
            if let (Some(rows), Some(cpu)) = (rows, numbers.get(n)) {
                cursors.push(Cursor::new(n, *cpu, rows)?);
            }
        }
        // Until one of the batches ends, nothing has to be read.
        let ended = loop {
            let Some(first) = cursors.iter_mut().min_by_key(|c| c.key) else { return Ok(()) };
            take(&first.occurrence(&mut words))?;
            if !first.advance() {
                break first.stream;
            }
        };
        let left: Vec<(usize, usize)> = cursors.iter().map(|c| (c.stream, c.next)).collect();
        for (stream, next) in left {
            if let Some(Some(rows)) = now.get_mut(stream) {
                rows.next = next;
            }
        }
        if let (Some(rows), Some(stream)) = (now.get_mut(ended), streams.get_mut(ended)) {
            *rows = next_rows(stream)?;
        }
    }
    Ok(())
}

/// The next rows, if there are any.
fn next_rows(stream: &mut impl Iterator<Item = Result<Rows>>) -> Result<Option<Rows>> {
    for rows in stream {
        let rows = rows?;
        if rows.read() > 0 {
            return Ok(Some(rows));
        }
    }
    Ok(None)
}

/// Where a CPU is.
struct Cursor<'a> {
    stream: usize,
    cpu: u8,
    columns: Columns<'a>,
    rows: usize,
    next: usize,
    key: (i64, i64),
}

impl<'a> Cursor<'a> {
    fn new(stream: usize, cpu: u8, rows: &'a Rows) -> Result<Self> {
        let columns = Columns::of(&rows.batch).ok_or_else(not_of_the_table)?;
        let mut cursor =
            Self { stream, cpu, columns, rows: rows.batch.num_rows(), next: rows.next, key: (0, 0) };
        cursor.look();
        Ok(cursor)
    }

    fn look(&mut self) {
        self.key = (self.columns.time.value(self.next), self.columns.seq.value(self.next));
    }

    /// False at the end of the batch.
    fn advance(&mut self) -> bool {
        self.next += 1;
        let more = self.next < self.rows;
        if more {
            self.look();
        }
        more
    }

    fn occurrence<'w>(&self, words: &'w mut Vec<u32>) -> Occurrence<'w>
    where
        'a: 'w,
    {
        let (c, row) = (&self.columns, self.next);
        words.clear();
        words.extend([c.d0.value(row) as u32, c.d1.value(row) as u32]);
        if c.rest.is_valid(row) {
            words.extend(c.rest.value(row).split(' ').map(|w| u32::from_str_radix(w, 16).unwrap_or(0)));
        }
        let status = c.status.0.get(row).and_then(|key| c.status.1.get(*key as usize));
        let event = Event {
            record: 0,
            cpu: self.cpu,
            flags: c.flags.value(row) as u8,
            class: c.class(row),
            event: c.event.value(row) as u16,
            is64: c.is64.value(row),
            status: status.copied().unwrap_or(Status::Orphan),
            cycles: 0,
            words,
        };
        let text = c.text.is_valid(row).then(|| c.text.value(row));
        Occurrence { time: self.key.0, seq: self.key.1, event, text }
    }
}
