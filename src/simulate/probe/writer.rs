//! Writes accesses and functions as the exports of TRACE32, one of each per core. Not their names (see
//! `names`).

use super::names;
use crate::simulate::kernel::access::{Function, Recorder, Variable};
use crate::simulate::kernel::{Handlers, NONE};
use crate::simulate::model::Model;
use std::collections::HashMap;
use std::io::{Result, Write};

/// The two exports of a core.
pub struct Exports<W> {
    pub data: W,
    pub functions: W,
}

/// The probe. The first error of an output is kept, and nothing is written after it.
pub struct Probe<'m, W> {
    model: &'m Model,
    handlers: &'m Handlers,
    cores: Vec<Exports<W>>,
    /// Names that were used, with the width of their values.
    variables: HashMap<Variable, (Box<[u8]>, usize)>,
    functions: HashMap<(Function, usize), Box<[u8]>>,
    line: Vec<u8>,
    failed: Option<std::io::Error>,
    records: u64,
}

impl<'m, W: Write> Probe<'m, W> {
    /// Into the exports of each core.
    pub fn new(model: &'m Model, handlers: &'m Handlers, cores: Vec<Exports<W>>) -> Self {
        Self {
            model,
            handlers,
            cores,
            variables: HashMap::new(),
            functions: HashMap::new(),
            line: Vec::with_capacity(128),
            failed: None,
            records: 0,
        }
    }

    /// The number of records, and what has failed.
    pub fn finish(mut self) -> Result<u64> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        for core in &mut self.cores {
            core.data.flush()?;
            core.functions.flush()?;
        }
        Ok(self.records)
    }

    fn try_data(
        &mut self,
        core: usize,
        time: i64,
        variable: Variable,
        write: bool,
        value: u32,
    ) -> Result<()> {
        if !self.variables.contains_key(&variable) {
            let mut name = Vec::new();
            let digits = names::variable(&mut name, variable, self.model)?;
            self.variables.insert(variable, (name.into(), digits));
        }
        let (Some((name, digits)), Some(out)) = (self.variables.get(&variable), self.cores.get_mut(core))
        else {
            return Ok(());
        };
        let value = match variable {
            Variable::RunningIsr2 if value == NONE => 0,
            Variable::RunningIsr2 => names::address(value),
            _ => value,
        };
        self.records += 1;
        self.line.clear();
        // Records are numbered backwards from the trigger, which is at the end.
        write!(self.line, "-{:010},", self.records)?;
        seconds(&mut self.line, time)?;
        self.line.extend_from_slice(b",\"");
        self.line.extend_from_slice(name);
        self.line.extend_from_slice(if write { b"\",\"wr-data\"," } else { b"\",\"rd-data\"," });
        writeln!(self.line, "{value:0digits$X}")?;
        out.data.write_all(&self.line)
    }

    fn try_function(&mut self, core: usize, time: i64, function: Function, entry: bool) -> Result<()> {
        let key = (function, core);
        if !self.functions.contains_key(&key) {
            let mut name = Vec::new();
            names::function(&mut name, function, self.model, self.handlers, core)?;
            self.functions.insert(key, name.into());
        }
        let (Some(name), Some(out)) = (self.functions.get(&key), self.cores.get_mut(core)) else {
            return Ok(());
        };
        self.records += 1;
        self.line.clear();
        write!(self.line, "+{time}; ")?;
        self.line.extend_from_slice(name);
        self.line.extend_from_slice(if entry { b"; fentry\n" } else { b"; fexit\n" });
        out.functions.write_all(&self.line)
    }
}

/// A time in ns as seconds with ten digits.
fn seconds(line: &mut Vec<u8>, time: i64) -> Result<()> {
    write!(line, "{}.{:09}0", time / 1_000_000_000, time % 1_000_000_000)
}

impl<W: Write> Recorder for Probe<'_, W> {
    fn data(&mut self, core: usize, time: i64, variable: Variable, write: bool, value: u32) {
        if self.failed.is_none() {
            self.failed = self.try_data(core, time, variable, write, value).err();
        }
    }

    fn function(&mut self, core: usize, time: i64, function: Function, entry: bool) {
        if self.failed.is_none() {
            self.failed = self.try_function(core, time, function, entry).err();
        }
    }
}
