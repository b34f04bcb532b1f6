//! Writes accesses and functions as exports, one of each per core. Not their names (see `erika2`,
//! `osek`), nor their lines (see `form`), nor which of them are recorded (see `tap`).

use super::form::{Access, Form};
use super::options::{ProbeOptions, TracedOs};
use super::tap::{Fate, Tap};
use crate::simulate::model::Model;
use std::collections::HashMap;
use std::hash::Hash;
use std::io::{Result, Write};

/// Bytes of an export that wait for being written.
const BUFFER: usize = 1 << 16;
/// The address of the first variable.
const FIRST_ADDRESS: u32 = 0x7000_0000;

/// The exports of a core.
pub struct Exports<W> {
    pub data: W,
    /// If functions are traced.
    pub functions: Option<W>,
}

/// What was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Recorded {
    /// Records in the exports of all cores.
    pub records: u64,
    /// FIFO overflows of all cores.
    pub overflows: u64,
    /// Records that were lost by them.
    pub lost: u64,
    /// Events that a process set for a task of another core while its own core served a call. A generic
    /// system does not tell that it was not the ISR that serves.
    pub crossed: u64,
}

/// The name of a variable or function, as a shape writes it.
pub struct Name {
    text: Box<[u8]>,
    address: u32,
    /// Hexadecimal digits of the values of a variable.
    digits: usize,
    is_empty: bool,
}

impl Name {
    /// The system has no such thing.
    pub fn is_empty(&self) -> bool {
        self.is_empty
    }
}

/// Names that were used, by what they are of.
pub struct KnownNames<K> {
    names: HashMap<K, Name>,
    written: fn(&Form, &[u8]) -> Box<[u8]>,
    form: &'static Form,
}

impl<K: Eq + Hash> KnownNames<K> {
    /// Names of variables.
    pub fn of_variables(form: &'static Form) -> Self {
        Self { names: HashMap::new(), written: Form::name, form }
    }

    /// Names of functions.
    pub fn of_functions(form: &'static Form) -> Self {
        Self { names: HashMap::new(), written: Form::function_name, form }
    }

    /// The name of `key`; `write` writes a new one, and returns its digits.
    pub fn of(&mut self, key: K, write: impl FnOnce(&mut Vec<u8>) -> Result<usize>) -> &Name {
        let address = FIRST_ADDRESS + 4 * self.names.len() as u32;
        self.names.entry(key).or_insert_with(|| {
            let mut text = Vec::new();
            // Memory takes all that is written.
            let digits = write(&mut text).unwrap_or_default();
            Name { text: (self.written)(self.form, &text), address, digits, is_empty: text.is_empty() }
        })
    }
}

/// The writer. The first error of an output is kept, and nothing is written after it.
pub struct Writer<W> {
    form: &'static Form,
    begin: i64,
    /// More records than a core can have.
    most_records: u64,
    cores: Vec<Core<W>>,
    failed: Option<std::io::Error>,
    recorded: Recorded,
}

/// What the probe has of a core.
struct Core<W> {
    tap: Tap,
    data: Export<W>,
    functions: Option<Export<W>>,
    /// Records so far.
    records: u64,
    /// The time of the last row of its data export.
    before: u64,
}

/// An export, and the lines that wait for being written.
struct Export<W> {
    out: W,
    lines: Vec<u8>,
}

impl<W: Write> Export<W> {
    fn new(out: W, header: &str) -> Self {
        let mut lines = Vec::with_capacity(BUFFER + 512);
        lines.extend_from_slice(header.as_bytes());
        Self { out, lines }
    }

    /// After a line.
    fn line_ends(&mut self) -> Result<()> {
        if self.lines.len() < BUFFER {
            return Ok(());
        }
        self.write()
    }

    fn write(&mut self) -> Result<()> {
        self.out.write_all(&self.lines)?;
        self.lines.clear();
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        self.write()?;
        self.out.flush()
    }
}

impl<W: Write> Writer<W> {
    /// Into the exports of each core.
    pub fn new(model: &Model, options: &ProbeOptions, exports: Vec<Exports<W>>) -> Self {
        let form = options.shape.form();
        let core = |(core, exports): (usize, Exports<W>)| Core {
            tap: Tap::new(model, core, options),
            data: Export::new(exports.data, form.data_header),
            functions: exports.functions.map(|out| Export::new(out, form.function_header)),
            records: 0,
            before: options.begin.unsigned_abs(),
        };
        // Two accesses at most take the time of one; a generic system writes the time of each alarm at a
        // tick.
        let alarms = if options.os == TracedOs::Osek { model.alarms.len() as i64 + 2 } else { 0 };
        let ticks = model.duration.max(0) / model.os.tick.max(1) + 1;
        let most = (model.duration.max(0) / model.os.access.max(1) * 2 + 2)
            .saturating_add(ticks.saturating_mul(alarms.saturating_mul(2)));
        Self {
            form,
            begin: options.begin,
            most_records: most.unsigned_abs(),
            cores: exports.into_iter().enumerate().map(core).collect(),
            failed: None,
            recorded: Recorded::default(),
        }
    }

    /// What was recorded, or what has failed.
    pub fn finish(mut self) -> Result<Recorded> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        for core in &mut self.cores {
            core.data.finish()?;
            core.functions.as_mut().map_or(Ok(()), Export::finish)?;
            self.recorded.records += core.records;
        }
        Ok(self.recorded)
    }

    /// The time of a record in the exports of its core, if it is in them. Both exports say when a core
    /// loses records: which ones they were is not known.
    fn time(&mut self, core: usize, time: i64) -> Result<Option<u64>> {
        let Some(of_core) = self.cores.get_mut(core) else { return Ok(None) };
        match of_core.tap.fate(time) {
            Fate::Kept(time) => Ok(Some(time.unsigned_abs())),
            Fate::Missing => {
                self.recorded.lost += u64::from(time >= self.begin);
                Ok(None)
            }
            Fate::Overflow(time) => {
                self.recorded.overflows += 1;
                self.recorded.lost += 1;
                let Core { data, functions, records, .. } = of_core;
                let time = time.unsigned_abs();
                self.form.lost_accesses(&mut data.lines, self.most_records, *records, time);
                data.line_ends()?;
                if let Some(functions) = functions {
                    self.form.lost_functions(&mut functions.lines, time);
                    functions.line_ends()?;
                }
                Ok(None)
            }
        }
    }

    /// An access of a core; the time is in ns.
    pub fn data(&mut self, (core, time): (usize, i64), name: &Name, write: bool, value: u32) {
        if self.failed.is_none() {
            self.failed = self.try_data(core, time, name, write, value).err();
        }
    }

    /// A function is entered or left on a core.
    pub fn function(&mut self, (core, time): (usize, i64), name: &Name, entry: bool) {
        if self.failed.is_none() {
            self.failed = self.try_function(core, time, name, entry).err();
        }
    }

    fn try_data(&mut self, core: usize, time: i64, name: &Name, write: bool, value: u32) -> Result<()> {
        let Some(time) = self.time(core, time)? else { return Ok(()) };
        let Some(of_core) = self.cores.get_mut(core) else { return Ok(()) };
        let row = Access {
            record: of_core.records,
            core,
            time,
            before: std::mem::replace(&mut of_core.before, time),
            name: &name.text,
            address: name.address,
            write,
            value,
            digits: name.digits,
        };
        of_core.records += 1;
        self.form.access(&mut of_core.data.lines, self.most_records, &row);
        of_core.data.line_ends()
    }

    fn try_function(&mut self, core: usize, time: i64, name: &Name, entry: bool) -> Result<()> {
        let Some(time) = self.time(core, time)? else { return Ok(()) };
        let Some(of_core) = self.cores.get_mut(core) else { return Ok(()) };
        let record = (self.most_records, of_core.records);
        of_core.records += 1;
        let Some(functions) = &mut of_core.functions else { return Ok(()) };
        self.form.function(&mut functions.lines, record, time, &name.text, entry);
        functions.line_ends()
    }
}
