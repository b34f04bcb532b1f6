//! The rows of one line of a summary: samples, a sum or a share of time, by window if there are windows. Not
//! which line a row is of (see `samples`).

use std::collections::HashMap;

use super::span::Span;
use super::statistics::Samples;
use crate::error::{Error, Result};
use crate::library::Fold;

/// The samples of one window, or of the whole time.
#[derive(Debug)]
pub(super) enum Cell {
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
    pub fn samples(
        self,
        recording: &str,
        core: Option<&str>,
        part: Option<(i64, i64)>,
        span: &Span,
    ) -> Samples {
        let mut samples = Samples::default();
        match (self, part) {
            (Self::Samples(all), _) => return all,
            (Self::Sum(sum, first), _) => match i64::try_from(sum) {
                Ok(sum) => samples.push_integer(sum, first),
                // Rounded, in place of the greatest number of 64 bits, which would be wrong.
                Err(_) => samples.push_fraction(sum as f64, first),
            },
            (Self::Share(ticks), Some(part)) => {
                let available = span.available(recording, core, part, ticks);
                if available > 0 {
                    samples.push_fraction(100.0 * ticks as f64 / available as f64, Some(part.0));
                }
            }
            (Self::Share(_), None) => {}
        }
        samples
    }
}

/// The cells of a line.
#[derive(Debug)]
pub(super) struct Cells {
    /// False as long as all rows were outside of the requested part of the recording.
    pub seen: bool,
    pub all: AllCells,
}

#[derive(Debug)]
pub(super) enum AllCells {
    /// There are no windows.
    Whole(Cell),
    Windows(Box<WindowCells>),
}

#[derive(Debug, Default)]
pub(super) struct WindowCells {
    /// The cells, and the begins of their windows.
    pub all: Vec<(i64, Cell)>,
    /// The places of the cells, once there are many.
    places: HashMap<i64, usize>,
    /// The cell of the last access, which mostly is the next one too.
    last: usize,
}

impl Cells {
    pub fn new(fold: Option<Fold>, windows: bool) -> Self {
        let all = match windows {
            false => AllCells::Whole(Cell::new(fold)),
            true => AllCells::Windows(Box::default()),
        };
        Self { seen: false, all }
    }

    /// The cell of a window; without windows, the only one.
    fn cell(&mut self, window: i64, fold: Option<Fold>) -> Option<&mut Cell> {
        match &mut self.all {
            AllCells::Whole(cell) => Some(cell),
            AllCells::Windows(cells) => cells.cell(window, fold),
        }
    }

    /// How many have been made of windows.
    fn made(&self) -> usize {
        match &self.all {
            AllCells::Whole(_) => 0,
            AllCells::Windows(cells) => cells.all.len(),
        }
    }

    /// Adds a row to its cell; `part` is the requested part of its recording. Returns about how many more
    /// bytes are in use.
    pub fn put(
        &mut self,
        part: Option<(i64, i64)>,
        fold: Option<Fold>,
        span: &Span,
        value: Value,
        at: Option<i64>,
    ) -> Result<usize> {
        let begun = self.made();
        let mut values = 0;
        match fold {
            None => {
                self.seen = true;
                let mut push = |window| {
                    let Some(Cell::Samples(samples)) = self.cell(window, fold) else { return };
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
                self.seen = true;
                let (Value::Integer(value), Some(at)) = (value, at) else { return Ok(0) };
                if value == 0 || !(span.from..span.to).contains(&at) {
                    return Ok(0);
                }
                let mut add = |window| {
                    let Some(Cell::Sum(sum, first)) = self.cell(window, fold) else { return };
                    *sum += i128::from(value);
                    *first = Some(first.map_or(at, |first| first.min(at)));
                };
                match span.windows {
                    None => add(WHOLE),
                    Some(w) => w.touching(at, at.saturating_add(1)).map_err(Error::usage)?.for_each(add),
                }
            }
            Some(Fold::Share) => {
                let (Value::Integer(value), Some(at), Some((from, to))) = (value, at, part) else {
                    return Ok(0);
                };
                let end = at.saturating_add(value);
                if at >= to || end <= from {
                    return Ok(0);
                }
                self.seen = true;
                let (begin, end) = (at.max(from), end.min(to));
                match span.windows {
                    None => self.add_share(WHOLE, begin, end),
                    Some(windows) => {
                        for window in windows.touching(begin, end).map_err(Error::usage)? {
                            self.add_share(window, begin.max(window), end.min(windows.end(window)));
                        }
                    }
                }
            }
        }
        let cells = if fold.is_none() { self.made() - begun } else { 0 };
        Ok(values * VALUE + cells * CELL)
    }

    fn add_share(&mut self, window: i64, begin: i64, end: i64) {
        if let Some(Cell::Share(ticks)) = self.cell(window, Some(Fold::Share)) {
            // A span that ends before it begins is empty.
            *ticks += (i128::from(end) - i128::from(begin)).max(0);
        }
    }
}

impl WindowCells {
    pub fn cell(&mut self, window: i64, fold: Option<Fold>) -> Option<&mut Cell> {
        if self.all.get(self.last).is_none_or(|(begin, _)| *begin != window) {
            self.last = self.place(window);
            if self.last == self.all.len() {
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
pub(super) enum Value {
    Integer(i64),
    Fraction(f64),
    /// The instance is cut off.
    Missing,
}

/// This many cells are looked through.
const FEW: usize = 8;
/// In place of a window, without windows.
const WHOLE: i64 = 0;
/// Bytes of a value in ticks.
const VALUE: usize = size_of::<i64>();
/// Bytes of a window of a line: its cell, and later its key and its statistics.
pub(super) const CELL: usize = 3 * size_of::<Samples>();
