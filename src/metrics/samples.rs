//! Rows of a metric → the samples of each line of its summary: by recording, entity and type, by core if the
//! metric is per core, and by window of time if there are windows. Not for what is computed from the samples.

use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher as _;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use foldhash::fast::RandomState;
use hashbrown::HashTable;

use super::statistics::Samples;
use crate::engine::{self, KeyInterner};
use crate::error::{Error, ErrorKind, Result};
use crate::library::{Fold, Metric};
use crate::schema::result::{Fractions, Integers, ResultColumn, Texts, columns};
use crate::time::TimeWindows;

/// One line of a summary, without its statistics. The order is that of the lines within a metric. Most lines
/// share their names, but for the entity.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub recording: Arc<str>,
    pub entity: Arc<str>,
    pub ty: Arc<str>,
    pub core: Option<Arc<str>>,
    /// Begin and end of the window, if there are windows.
    pub window: Option<(i64, i64)>,
}

/// A gap of a core, or of all cores: begin and end.
pub(super) type CoreGap = (Option<String>, (i64, i64));

/// The requested time.
#[derive(Debug, Clone)]
pub(super) struct Span {
    pub from: i64,
    pub to: i64,
    pub windows: Option<TimeWindows>,
    /// Begin and end of every recording.
    pub recordings: HashMap<String, (i64, i64)>,
    /// The times between the traces of a recording whose clock was set back: they are no time of the system.
    pub between: HashMap<String, Vec<(i64, i64)>>,
    /// The gaps of every recording, with their cores; `None`: all cores.
    pub gaps: HashMap<String, Vec<CoreGap>>,
}

impl Span {
    /// The requested part of a recording; `None` if it is empty.
    fn of(&self, recording: &str) -> Option<(i64, i64)> {
        let (begin, end) = *self.recordings.get(recording)?;
        let (begin, end) = (begin.max(self.from), end.min(self.to));
        (begin < end).then_some((begin, end))
    }

    /// The ticks of a part of a recording; 0 if nothing of it is known of the core.
    fn available(&self, recording: &str, core: Option<&str>, (begin, end): (i64, i64)) -> i128 {
        let mut gaps = self.gaps.get(recording).into_iter().flatten();
        let hides = |of: &Option<String>| of.is_none() || of.as_deref() == core;
        if gaps.any(|(of, (from, to))| hides(of) && *from <= begin && end <= *to) {
            return 0;
        }
        let length = |(begin, end): (i64, i64)| (i128::from(end) - i128::from(begin)).max(0);
        let between = self.between.get(recording).into_iter().flatten();
        let left_out = between.map(|(from, to)| length((begin.max(*from), end.min(*to))));
        length((begin, end)) - left_out.sum::<i128>()
    }
}

/// The samples of one window, or of the whole time.
#[derive(Debug)]
enum Cell {
    Samples(Samples),
    /// Sum, and the first instant of a summand that is not 0.
    Sum(i128, Option<i64>),
    /// Ticks.
    Share(i128),
}

impl Cell {
    fn new(fold: Option<Fold>) -> Self {
        match fold {
            None => Self::Samples(Samples::default()),
            Some(Fold::Sum) => Self::Sum(0, None),
            Some(Fold::Share) => Self::Share(0),
        }
    }

    /// The samples: a single one for sums and shares. `part` is the part of the recording in the cell.
    fn samples(self, key: &Key, part: Option<(i64, i64)>, span: &Span) -> Samples {
        let mut samples = Samples::default();
        match (self, part) {
            (Self::Samples(all), _) => return all,
            (Self::Sum(sum, first), _) => match i64::try_from(sum) {
                Ok(sum) => samples.push_integer(sum, first),
                // Rounded, in place of the greatest number of 64 bits, which would be wrong.
                Err(_) => samples.push_fraction(sum as f64, first),
            },
            (Self::Share(ticks), Some(part)) => {
                let available = span.available(&key.recording, key.core.as_deref(), part);
                if available > 0 {
                    samples.push_fraction(100.0 * ticks as f64 / available as f64, Some(part.0));
                }
            }
            (Self::Share(_), None) => {}
        }
        samples
    }
}

#[derive(Debug)]
struct Line {
    key: Key,
    /// Its instances ran on more than one core.
    scattered: bool,
    /// The requested part of its recording.
    part: Option<(i64, i64)>,
    /// False as long as all rows were outside of that part.
    seen: bool,
    /// The cells, and the begins of their windows.
    all: Vec<(i64, Cell)>,
    /// The places of the cells, once there are many.
    places: HashMap<i64, usize>,
    /// The cell of the last access, which mostly is the next one too.
    last: usize,
}

impl Line {
    fn cell(&mut self, window: i64, fold: Option<Fold>) -> Option<&mut Cell> {
        if self.all.get(self.last).is_none_or(|(begin, _)| *begin != window) {
            self.last = self.place(window);
            if self.last == self.all.len() {
                if self.all.is_empty() {
                    // Without windows, there is only this one.
                    self.all.reserve_exact(1);
                }
                self.all.push((window, Cell::new(fold)));
            }
        }
        self.all.get_mut(self.last).map(|(_, cell)| cell)
    }

    /// The place of a window, which is the next one if it is new.
    fn place(&mut self, window: i64) -> usize {
        let next = self.all.len();
        if next < FEW {
            return self.all.iter().position(|(begin, _)| *begin == window).unwrap_or(next);
        }
        if self.places.is_empty() {
            self.places = self.all.iter().enumerate().map(|(place, (begin, _))| (*begin, place)).collect();
        }
        *self.places.entry(window).or_insert(next)
    }
}

#[derive(Debug, Clone, Copy)]
enum Value {
    Integer(i64),
    Fraction(f64),
    /// The instance is cut off.
    Missing,
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

/// Sorts the rows of a metric into the lines of its summary.
pub(super) struct Collector<'a> {
    metric: &'a Metric,
    span: &'a Span,
    /// Interns recording, entity, type and core of a row as one id.
    interner: KeyInterner,
    /// The line of every id.
    line_of: Vec<usize>,
    /// The indices in `lines`, by all names of a line; the core only if lines are per core.
    index: HashTable<usize>,
    hasher: RandomState,
    lines: Vec<Line>,
    /// The names of lines.
    names: HashSet<Arc<str>, RandomState>,
    /// Approximate number of bytes that are in use and not reserved yet.
    held: usize,
}

impl<'a> Collector<'a> {
    pub fn new(metric: &'a Metric, span: &'a Span) -> Self {
        let (line_of, lines, names) = Default::default();
        let (interner, index, hasher) = (KeyInterner::default(), HashTable::new(), RandomState::default());
        Self { metric, span, interner, line_of, index, hasher, lines, names, held: 0 }
    }

    /// Adds the rows of a batch: recording, entity, type, core, value, at. `grow` gets the bytes it needs.
    pub fn add(&mut self, batch: &RecordBatch, mut grow: impl FnMut(usize) -> Result<()>) -> Result<()> {
        let (names, values, times): ([Texts; 4], Values, Integers) = columns(batch)?;
        let keys = batch.columns().iter().take(names.len()).map(text).collect::<Result<Vec<_>>>()?;
        let numbers = self.interner.ids(&keys).map_err(engine::failed)?;
        for (row, number) in numbers.into_iter().enumerate() {
            // Ids are given out in the order of the rows.
            if number as usize >= self.line_of.len() {
                let line = self.line(names.each_ref().map(|names| names.get(row)))?;
                self.line_of.push(line);
            }
            if self.held > PORTION {
                grow(std::mem::take(&mut self.held))?;
            }
            let line = self.line_of.get(number as usize).and_then(|l| self.lines.get_mut(*l));
            let Some(line) = line else { continue };
            self.held += put(line, self.metric.fold, self.span, values.get(row), times.get(row))?;
        }
        grow(std::mem::take(&mut self.held))
    }

    /// The line for a new combination of names and core.
    fn line(&mut self, [recording, entity, ty, core]: [Option<&str>; 4]) -> Result<usize> {
        let per_core = self.metric.per_core;
        let names = [recording, entity, ty].map(Option::unwrap_or_default);
        let hash = self.hasher.hash_one((names, core.filter(|_| per_core)));
        let is_it = |index: &usize| {
            self.lines.get(*index).is_some_and(|line| {
                let key = &line.key;
                [&*key.recording, &*key.entity, &*key.ty] == names
                    && (!per_core || key.core.as_deref() == core)
            })
        };
        let known = self.index.find(hash, is_it).copied();
        let core = core.map(|core| self.name(core));
        let index = known.unwrap_or(self.lines.len());
        match self.lines.get_mut(index) {
            Some(line) => match (&line.key.core, core) {
                (Some(known), Some(core)) => line.scattered |= *known != core,
                // An instance that never ran does not count for the core.
                (None, Some(core)) => line.key.core = Some(core),
                _ => {}
            },
            None => {
                let [recording, entity, ty] = names.map(|name| self.name(name));
                let part = self.span.of(&recording);
                // Sums and shares exist for every window.
                if let (Some(windows), Some((begin, end)), Some(_)) =
                    (self.span.windows, part, self.metric.fold)
                {
                    self.held += CELL * windows.count(begin, end).map_err(Error::usage)?;
                }
                let key = Key { recording, entity, ty, core, window: None };
                let (all, places, last) = Default::default();
                self.lines.push(Line { key, scattered: false, part, seen: false, all, places, last });
                let (lines, hasher) = (&self.lines, &self.hasher);
                let hash_of = |index: &usize| {
                    lines.get(*index).map_or(0, |Line { key, .. }| {
                        let names = [&*key.recording, &*key.entity, &*key.ty];
                        hasher.hash_one((names, key.core.as_deref().filter(|_| per_core)))
                    })
                };
                self.index.insert_unique(hash, index, hash_of);
            }
        }
        Ok(index)
    }

    /// A name that lines share.
    fn name(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.names.get(text) {
            return Arc::clone(known);
        }
        let name = Arc::from(text);
        self.names.insert(Arc::clone(&name));
        name
    }

    /// The lines in order, and their samples. Sums and shares exist for every window of their recording,
    /// other samples where there are any.
    pub fn finish(self) -> Result<Vec<(Key, Samples)>> {
        let fold = self.metric.fold;
        let mut found = Vec::with_capacity(self.lines.len());
        for mut line in self.lines.into_iter().filter(|l| l.seen) {
            if line.scattered {
                line.key.core = None;
            }
            let Some(windows) = self.span.windows else {
                let cell = line.all.pop().map_or_else(|| Cell::new(fold), |(_, cell)| cell);
                let samples = cell.samples(&line.key, line.part, self.span);
                found.push((line.key, samples));
                continue;
            };
            if let (Some((begin, end)), true) = (line.part, fold.is_some()) {
                for window in windows.touching(begin, end).map_err(Error::usage)? {
                    line.cell(window, fold);
                }
            }
            for (begin, cell) in line.all {
                let end = windows.end(begin);
                let part = line.part.map(|(from, to)| (begin.max(from), end.min(to)));
                let key = Key { window: Some((begin, end)), ..line.key.clone() };
                let samples = cell.samples(&key, part, self.span);
                found.push((key, samples));
            }
        }
        found.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        Ok(found)
    }
}

/// This many cells are looked through.
const FEW: usize = 8;
/// The key of the only cell without windows.
const WHOLE: i64 = 0;
/// Bytes of a value in ticks.
const VALUE: usize = size_of::<i64>();
/// Bytes of a window of a line: its cell, and later its key and its statistics.
const CELL: usize = 3 * size_of::<Samples>();

/// Bytes that are reserved at once.
const PORTION: usize = 1 << 20;

/// Adds a row to its cell; returns about how many more bytes are in use.
fn put(line: &mut Line, fold: Option<Fold>, span: &Span, value: Value, at: Option<i64>) -> Result<usize> {
    let begun = line.all.len();
    let mut values = 0;
    match fold {
        None => {
            line.seen = true;
            let mut push = |window| {
                let Some(Cell::Samples(samples)) = line.cell(window, fold) else { return };
                values += 1;
                match value {
                    Value::Integer(value) => samples.push_integer(value, at),
                    Value::Fraction(value) => samples.push_fraction(value, at),
                    Value::Missing => samples.push_incomplete(),
                }
            };
            match (span.windows, at) {
                (None, _) => push(WHOLE),
                (Some(windows), Some(at)) => {
                    windows.touching(at, at.saturating_add(1)).map_err(Error::usage)?.for_each(push);
                }
                // Without an instant, it is in no window.
                (Some(_), None) => {}
            }
        }
        Some(Fold::Sum) => {
            line.seen = true;
            let (Value::Integer(value), Some(at)) = (value, at) else { return Ok(0) };
            if value == 0 || !(span.from..span.to).contains(&at) {
                return Ok(0);
            }
            let mut add = |window| {
                let Some(Cell::Sum(sum, first)) = line.cell(window, fold) else { return };
                *sum += i128::from(value);
                *first = Some(first.map_or(at, |first| first.min(at)));
            };
            match span.windows {
                None => add(WHOLE),
                Some(w) => w.touching(at, at.saturating_add(1)).map_err(Error::usage)?.for_each(add),
            }
        }
        Some(Fold::Share) => {
            let (Value::Integer(value), Some(at), Some((from, to))) = (value, at, line.part) else {
                return Ok(0);
            };
            let end = at.saturating_add(value);
            if at >= to || end <= from {
                return Ok(0);
            }
            line.seen = true;
            let (begin, end) = (at.max(from), end.min(to));
            match span.windows {
                None => add_share(line, WHOLE, begin, end),
                Some(windows) => {
                    for window in windows.touching(begin, end).map_err(Error::usage)? {
                        add_share(line, window, begin.max(window), end.min(windows.end(window)));
                    }
                }
            }
        }
    }
    let cells = if fold.is_none() { line.all.len() - begun } else { 0 };
    Ok(values * VALUE + cells * CELL)
}

fn add_share(line: &mut Line, window: i64, begin: i64, end: i64) {
    if let Some(Cell::Share(ticks)) = line.cell(window, Some(Fold::Share)) {
        // A span that ends before it begins is empty.
        *ticks += (i128::from(end) - i128::from(begin)).max(0);
    }
}

/// A column of strings, whatever their Arrow type.
fn text(column: &ArrayRef) -> Result<ArrayRef> {
    let bug = |e| Error::new(ErrorKind::Bug, "a name in the result of a metric is not a string").because(e);
    cast(column, &DataType::Utf8View).map_err(bug)
}
