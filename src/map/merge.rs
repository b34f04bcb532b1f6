//! One stream out of many: batches of all cores' data and function events, merged in the order the rules
//! need, with names resolved. Reads Arrow batches; knows nothing of files.

use super::model::Model;
use super::slots::Watch;
use super::software::{Function, SoftwareEvent, What};
use crate::error::{Error, ErrorKind, Result};
use crate::schema::columns::{data_event as data, function_event as func};
use arrow::array::{Array, AsArray, DictionaryArray, Int64Array, RecordBatch, UInt64Array};
use arrow::datatypes::{Int64Type, UInt32Type, UInt64Type};
use std::collections::HashMap;

/// Batches of one sorted run of rows.
pub type Batches = Box<dyn Iterator<Item = Result<RecordBatch>> + Send>;

/// The stored software events of one core: sorted runs (usually one each) of its two tables.
pub struct CoreInput {
    /// Runs of `data_event`, each sorted by (time, seq).
    pub data: Vec<Batches>,
    /// Runs of `function_event`, each sorted by (time, seq).
    pub functions: Vec<Batches>,
}

/// The merged stream of all cores.
pub(super) struct Merge {
    cores: Vec<Core>,
}

struct Core {
    index: usize,
    data: Vec<Run<Data>>,
    functions: Vec<Run<Calls>>,
    meanings: HashMap<String, (Option<usize>, Option<crate::btf::NameId>)>,
    known_functions: HashMap<String, Option<Function>>,
    /// A data row without meaning was passed over since the last delivered data event.
    passed: bool,
    head: Option<SoftwareEvent>,
}

struct Run<B> {
    batches: Batches,
    batch: Option<B>,
    row: usize,
}

struct Data {
    time: Int64Array,
    seq: Int64Array,
    variable: DictionaryArray<UInt32Type>,
    access: DictionaryArray<UInt32Type>,
    value: UInt64Array,
    meaning: Vec<(Option<usize>, Option<crate::btf::NameId>)>,
    is_write: Vec<bool>,
}

struct Calls {
    time: Int64Array,
    seq: Int64Array,
    function: DictionaryArray<UInt32Type>,
    kind: DictionaryArray<UInt32Type>,
    meaning: Vec<Option<Function>>,
    entry: Vec<Option<bool>>,
}

impl Merge {
    /// Starts the stream; reads the first batches.
    pub fn new(inputs: Vec<CoreInput>, model: &mut Model) -> Result<Self> {
        let run = |batches| Run { batches, batch: None, row: 0 };
        let calls = |batches| Run { batches, batch: None, row: 0 };
        let mut cores = Vec::new();
        for (index, input) in inputs.into_iter().enumerate() {
            let mut core = Core {
                index,
                data: input.data.into_iter().map(run).collect(),
                functions: input.functions.into_iter().map(calls).collect(),
                meanings: HashMap::new(),
                known_functions: HashMap::new(),
                passed: false,
                head: None,
            };
            core.advance(model)?;
            cores.push(core);
        }
        Ok(Self { cores })
    }

    /// The next event: by time; at one instant the release of a spinlock first, whatever its core (part 2,
    /// rule 11), then by core; within a core functions before data, then file order (gap 2).
    pub fn next(&mut self, model: &mut Model) -> Result<Option<SoftwareEvent>> {
        let first = self
            .cores
            .iter()
            .enumerate()
            .filter_map(|(n, c)| c.head.as_ref().map(|h| ((h.time, !releases(h, model), c.index), n)))
            .min_by_key(|(key, _)| *key)
            .map(|(_, n)| n);
        let Some(core) = first.and_then(|n| self.cores.get_mut(n)) else { return Ok(None) };
        let event = core.head.take();
        core.advance(model)?;
        Ok(event)
    }
}

fn releases(event: &SoftwareEvent, model: &Model) -> bool {
    match event.what {
        What::Access { slot: Some(slot), write: true, value: 0, .. } => {
            model.slot(slot).watches.iter().any(|w| matches!(w, Watch::Spin(_)))
        }
        _ => false,
    }
}

impl Core {
    fn advance(&mut self, model: &mut Model) -> Result<()> {
        for run in &mut self.data {
            let (index, meanings, passed) = (self.index, &mut self.meanings, &mut self.passed);
            run.skip(
                |batch| Data::new(batch, index, model, meanings),
                Data::rows,
                |b, row| {
                    let relevant = b.meaning_of(row) != (None, None);
                    *passed |= !relevant;
                    relevant
                },
            )?;
        }
        for run in &mut self.functions {
            let known = &mut self.known_functions;
            run.skip(|batch| Calls::new(batch, model, known), Calls::rows, |b, row| b.call(row).is_some())?;
        }
        let data = earliest(&self.data, |b, row| (b.time.value(row), b.seq.value(row)));
        let call = earliest(&self.functions, |b, row| (b.time.value(row), b.seq.value(row)));
        let call_first = match (&data, &call) {
            (Some((d, _)), Some((f, _))) => f.0 <= d.0,
            (None, Some(_)) => true,
            _ => false,
        };
        self.head = match (call_first, data, call) {
            (true, _, Some((key, n))) => {
                self.functions.get_mut(n).and_then(|r| r.take_call(key.0, self.index))
            }
            (false, Some((key, n)), _) => {
                let follows = !std::mem::take(&mut self.passed);
                self.data.get_mut(n).and_then(|r| r.take_access(key.0, self.index, follows))
            }
            _ => None,
        };
        Ok(())
    }
}

/// The run whose current row comes first, with that row's key.
fn earliest<B>(runs: &[Run<B>], key: impl Fn(&B, usize) -> (i64, i64)) -> Option<((i64, i64), usize)> {
    let heads = runs.iter().enumerate().filter_map(|(n, r)| r.batch.as_ref().map(|b| (key(b, r.row), n)));
    heads.min()
}

impl<B> Run<B> {
    /// Moves to the next row that `relevant` accepts, loading batches as needed.
    fn skip(
        &mut self,
        mut load: impl FnMut(&RecordBatch) -> Result<B>,
        rows: impl Fn(&B) -> usize,
        mut relevant: impl FnMut(&B, usize) -> bool,
    ) -> Result<()> {
        loop {
            if let Some(batch) = &self.batch {
                let end = rows(batch);
                while self.row < end {
                    if relevant(batch, self.row) {
                        return Ok(());
                    }
                    self.row += 1;
                }
            }
            match self.batches.next().transpose()? {
                Some(batch) => {
                    self.batch = Some(load(&batch)?);
                    self.row = 0;
                }
                None => {
                    self.batch = None;
                    return Ok(());
                }
            }
        }
    }
}

impl Run<Data> {
    fn take_access(&mut self, time: i64, core: usize, follows: bool) -> Option<SoftwareEvent> {
        let b = self.batch.as_ref()?;
        let (slot, signal) = b.meaning_of(self.row);
        let access = b.access.keys().value(self.row) as usize;
        let write = b.is_write.get(access).copied().unwrap_or_default();
        let value = b.value.value(self.row);
        self.row += 1;
        Some(SoftwareEvent { time, core, what: What::Access { slot, signal, write, value, follows } })
    }
}

impl Run<Calls> {
    fn take_call(&mut self, time: i64, core: usize) -> Option<SoftwareEvent> {
        let (function, entry) = self.batch.as_ref()?.call(self.row)?;
        self.row += 1;
        Some(SoftwareEvent { time, core, what: What::Call { function, entry } })
    }
}

impl Data {
    fn new(
        batch: &RecordBatch,
        core: usize,
        model: &mut Model,
        known: &mut HashMap<String, (Option<usize>, Option<crate::btf::NameId>)>,
    ) -> Result<Self> {
        let variable = dictionary(batch, data::VARIABLE)?;
        let access = dictionary(batch, data::ACCESS)?;
        let mut meaning = Vec::new();
        for text in texts(&variable) {
            let found = match known.get(text) {
                Some(found) => *found,
                None => {
                    let m = model.slots.meaning(core, text);
                    let found = (m.slot, m.signal.map(|s| model.names.intern(&s)));
                    known.insert(text.to_owned(), found);
                    found
                }
            };
            meaning.push(found);
        }
        let is_write = texts(&access).map(|a| a == "write").collect();
        let value =
            column(batch, data::VALUE)?.as_primitive_opt::<UInt64Type>().ok_or_else(|| shape(data::VALUE))?;
        Ok(Self {
            time: integers(batch, data::TIME)?,
            seq: integers(batch, data::SEQ)?,
            variable,
            access,
            value: value.clone(),
            meaning,
            is_write,
        })
    }

    fn rows(&self) -> usize {
        self.time.len()
    }

    fn meaning_of(&self, row: usize) -> (Option<usize>, Option<crate::btf::NameId>) {
        self.meaning.get(self.variable.keys().value(row) as usize).copied().unwrap_or_default()
    }
}

impl Calls {
    fn new(
        batch: &RecordBatch,
        model: &mut Model,
        known: &mut HashMap<String, Option<Function>>,
    ) -> Result<Self> {
        let function = dictionary(batch, func::FUNCTION)?;
        let kind = dictionary(batch, func::KIND)?;
        let mut meaning = Vec::new();
        for text in texts(&function) {
            let found = match known.get(text) {
                Some(found) => *found,
                None => {
                    let found = model.function(text);
                    known.insert(text.to_owned(), found);
                    found
                }
            };
            meaning.push(found);
        }
        let entry = texts(&kind)
            .map(|k| match k {
                "entry" | "isr_entry" => Some(true),
                "exit" | "isr_exit" => Some(false),
                _ => None,
            })
            .collect();
        let (time, seq) = (integers(batch, func::TIME)?, integers(batch, func::SEQ)?);
        Ok(Self { time, seq, function, kind, meaning, entry })
    }

    fn rows(&self) -> usize {
        self.time.len()
    }

    fn call(&self, row: usize) -> Option<(Function, bool)> {
        let function = self.meaning.get(self.function.keys().value(row) as usize).copied().flatten()?;
        let entry = self.entry.get(self.kind.keys().value(row) as usize).copied().flatten()?;
        Some((function, entry))
    }
}

fn column<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a dyn Array> {
    batch.column_by_name(name).map(|c| &**c).ok_or_else(|| shape(name))
}

fn integers(batch: &RecordBatch, name: &str) -> Result<Int64Array> {
    column(batch, name)?.as_primitive_opt::<Int64Type>().cloned().ok_or_else(|| shape(name))
}

fn dictionary(batch: &RecordBatch, name: &str) -> Result<DictionaryArray<UInt32Type>> {
    column(batch, name)?.as_dictionary_opt::<UInt32Type>().cloned().ok_or_else(|| shape(name))
}

fn texts(names: &DictionaryArray<UInt32Type>) -> impl Iterator<Item = &str> {
    names.values().as_string_opt::<i32>().into_iter().flat_map(|v| v.iter().map(Option::unwrap_or_default))
}

fn shape(column: &str) -> Error {
    Error::new(ErrorKind::Bug, format!("a batch of software events has no usable column '{column}'"))
}
