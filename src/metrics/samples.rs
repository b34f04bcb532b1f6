//! Rows of a metric → the samples of each line of its summary: by recording, entity and type, by core if the
//! metric is per core, and by window of time if there are windows. Not for what is computed from the samples.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::DataType;

use super::cells::{AllCells, CELL, Cells, Value};
use super::segments::Segments;
use super::span::Span;
use super::statistics::Samples;
use crate::engine::{self, KeyInterner};
use crate::error::{Error, ErrorKind, Result};
use crate::library::Metric;
use crate::schema::result::{Fractions, Integers, ResultColumn, Texts, columns};

/// One line of a summary, without its statistics. The order is that of the lines within a metric. Lines share
/// their names, but for the entity.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub recording: Arc<str>,
    pub entity: Arc<str>,
    pub ty: Arc<str>,
    pub core: Option<Arc<str>>,
    /// Begin and end of the window, if there are windows.
    pub window: Option<(i64, i64)>,
}

/// What is collected of one line. There may be as many lines as names.
#[derive(Debug)]
struct Line {
    /// Its place in [`Collector::recordings`].
    recording: usize,
    entity: Arc<str>,
    ty: Arc<str>,
    core: CoreOf,
    cells: Cells,
}

/// The core of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CoreOf {
    /// No instance ran.
    None,
    /// The id of the only one.
    One(u32),
    /// Its instances ran on more than one core, and the metric is not per core.
    Several,
}

impl CoreOf {
    /// With another instance.
    fn with(self, core: Option<u32>) -> Self {
        match (self, core) {
            (of, None) => of,
            (Self::None, Some(core)) => Self::One(core),
            (Self::One(known), Some(core)) if known == core => self,
            _ => Self::Several,
        }
    }
}

enum Values {
    Integers(Integers),
    Fractions(Fractions),
}

impl ResultColumn for Values {
    fn of(array: &ArrayRef) -> Option<Self> {
        match Integers::of(array) {
            Some(integers) => Some(Self::Integers(integers)),
            None if array.data_type().is_numeric() => Fractions::of(array).map(Self::Fractions),
            None => None,
        }
    }
}

impl Values {
    fn get(&self, row: usize) -> Value {
        let value = match self {
            Self::Integers(values) => values.get(row).map(Value::Integer),
            Self::Fractions(values) => values.get(row).map(Value::Fraction),
        };
        value.unwrap_or(Value::Missing)
    }
}

/// A recording, and what is requested of it: `None` if that is empty.
type RequestedPart = (Arc<str>, Option<(i64, i64)>);

/// Sorts the rows of a metric into the lines of its summary.
pub(super) struct Collector<'a> {
    metric: &'a Metric,
    span: &'a Span,
    /// The ids of lines: of recording, entity and type, and core if the metric is per core.
    ids: KeyInterner,
    /// The ids of cores.
    core_ids: KeyInterner,
    /// In the order of their ids.
    lines: Segments<Option<Line>>,
    cores: Vec<Option<Arc<str>>>,
    /// The recordings of lines, and what is requested of them.
    recordings: Vec<RequestedPart>,
    /// Their places.
    places: HashMap<Arc<str>, usize>,
    types: HashSet<Arc<str>>,
    /// Approximate number of bytes that are in use and not reserved yet.
    held: usize,
}

impl<'a> Collector<'a> {
    pub fn new(metric: &'a Metric, span: &'a Span) -> Self {
        let (ids, core_ids) = (KeyInterner::default(), KeyInterner::default());
        let (lines, cores, recordings, places, types) = Default::default();
        Self { metric, span, ids, core_ids, lines, cores, recordings, places, types, held: 0 }
    }

    /// Adds the rows of a batch: recording, entity, type, core, value, at. `grow` gets the bytes it needs.
    pub fn add(&mut self, batch: &RecordBatch, mut grow: impl FnMut(usize) -> Result<()>) -> Result<()> {
        let ([recordings, entities, types, cores], values, times): ([Texts; 4], Values, Integers) =
            columns(batch)?;
        let keys = batch.columns().iter().take(4).map(text).collect::<Result<Vec<_>>>()?;
        let (names, core) = keys.split_at(3);
        let ids = self.ids.ids(if self.metric.per_core { &keys } else { names }).map_err(engine::failed)?;
        let core_ids = self.core_ids.ids(core).map_err(engine::failed)?;
        for (row, (id, core)) in ids.into_iter().zip(core_ids).enumerate() {
            // Ids are given out in the order of the rows.
            if core as usize >= self.cores.len() {
                self.cores.push(cores.get(row).map(Arc::from));
            }
            if id as usize >= self.lines.len() {
                self.begin_line([&recordings, &entities, &types].map(|t| t.get(row).unwrap_or_default()))?;
            }
            if self.held > PORTION {
                grow(std::mem::take(&mut self.held))?;
            }
            let Some(Some(line)) = self.lines.get_mut(id as usize) else { continue };
            let is_core = self.cores.get(core as usize).is_some_and(Option::is_some);
            line.core = line.core.with(is_core.then_some(core));
            let part = self.recordings.get(line.recording).and_then(|(_, part)| *part);
            let (fold, value, at) = (self.metric.fold, values.get(row), times.get(row));
            self.held += line.cells.put(part, fold, self.span, value, at)?;
        }
        grow(std::mem::take(&mut self.held))
    }

    /// Adds the line of new names.
    fn begin_line(&mut self, [recording, entity, ty]: [&str; 3]) -> Result<()> {
        let fold = self.metric.fold;
        let place = match self.places.get(recording) {
            Some(place) => *place,
            None => {
                let name: Arc<str> = recording.into();
                self.places.insert(Arc::clone(&name), self.recordings.len());
                self.recordings.push((name, self.span.of(recording)));
                self.recordings.len() - 1
            }
        };
        let part = self.recordings.get(place).and_then(|(_, part)| *part);
        self.held += CELL + entity.len();
        let cells = Cells::new(fold, self.span.windows.is_some());
        // Sums and shares exist for every window.
        if let (Some(windows), Some((begin, end)), Some(_)) = (self.span.windows, part, fold) {
            self.held += CELL * windows.count(begin, end).map_err(Error::usage)?;
        }
        let ty = self.types.get(ty).map(Arc::clone).unwrap_or_else(|| Arc::from(ty));
        self.types.insert(Arc::clone(&ty));
        let (entity, core) = (entity.into(), CoreOf::None);
        let line = Line { recording: place, entity, ty, core, cells };
        self.lines.push(Some(line));
        Ok(())
    }

    /// The names of a line, without its window.
    fn key(&self, line: &Line) -> Key {
        let recording = self.recordings.get(line.recording).map(|(name, _)| Arc::clone(name));
        let core = match line.core {
            CoreOf::One(core) => self.cores.get(core as usize).cloned().flatten(),
            CoreOf::None | CoreOf::Several => None,
        };
        let [entity, ty] = [&line.entity, &line.ty].map(Arc::clone);
        Key { recording: recording.unwrap_or_default(), entity, ty, core, window: None }
    }

    /// The lines in order, and their samples. Sums and shares exist for every window of their recording,
    /// other samples where there are any.
    pub fn finish(mut self) -> Result<Segments<(Key, Samples)>> {
        let (fold, span) = (self.metric.fold, self.span);
        let mut order: Vec<(Key, usize)> = Vec::with_capacity(self.lines.len());
        for place in 0..self.lines.len() {
            let line = self.lines.get(place).and_then(Option::as_ref).filter(|line| line.cells.seen);
            order.extend(line.map(|line| (self.key(line), place)));
        }
        order.sort_unstable();
        let mut found = Segments::default();
        for (key, place) in order {
            let line = self.lines.get_mut(place).and_then(Option::take);
            let Some(Line { recording, cells, .. }) = line else { continue };
            let part = self.recordings.get(recording).and_then(|(_, part)| *part);
            let mut cells = match cells.all {
                AllCells::Whole(cell) => {
                    let samples = cell.samples(&key.recording, key.core.as_deref(), part, span);
                    found.push((key, samples));
                    continue;
                }
                AllCells::Windows(cells) => cells,
            };
            let Some(windows) = span.windows else { continue };
            if let (Some((begin, end)), true) = (part, fold.is_some()) {
                for window in windows.touching(begin, end).map_err(Error::usage)? {
                    cells.cell(window, fold);
                }
            }
            cells.all.sort_unstable_by_key(|(begin, _)| *begin);
            for (begin, cell) in cells.all {
                let end = windows.end(begin);
                let part = part.map(|(from, to)| (begin.max(from), end.min(to)));
                let key = Key { window: Some((begin, end)), ..key.clone() };
                let samples = cell.samples(&key.recording, key.core.as_deref(), part, span);
                found.push((key, samples));
            }
        }
        Ok(found)
    }
}

/// Bytes that are reserved at once.
const PORTION: usize = 1 << 20;

/// A column of strings, whatever their Arrow type.
fn text(column: &ArrayRef) -> Result<ArrayRef> {
    let bug = |e| Error::new(ErrorKind::Bug, "a name in the result of a metric is not a string").because(e);
    cast(column, &DataType::Utf8View).map_err(bug)
}
