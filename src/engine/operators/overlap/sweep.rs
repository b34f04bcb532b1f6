//! The sweep: from two inputs in the order of their begins to the pairs of rows that overlap and, on demand,
//! the rows without a match. Each row is compared when it begins; until it ends, it waits for rows of the
//! other side. Not for plans, and not for reading inputs.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow::array::{AsArray, RecordBatch, RecordBatchOptions, UInt32Array, new_null_array};
use arrow::compute::take;
use arrow::datatypes::{Schema, SchemaRef};
use datafusion::common::{JoinSide, Result, internal_err};
use datafusion::physical_plan::joins::utils::JoinFilter;

use super::super::key_interner::KeyInterner;
use super::super::row_buffer::{BufferedBatch, RowRef};
use super::super::streaming::{OperatorRun, Progress};
use super::side::{Bounds, Side};

/// Pairs per output batch.
const PAIRS: usize = 8192;

/// With more keys than this, those without a waiting row are forgotten: keys may be instances, as many as
/// there are rows.
const MAX_KEYS: usize = 1 << 16;
/// Bytes of a key in the interner, about: its text twice, its number, and the slots of two tables.
const KEY_BYTES: usize = 128;

#[derive(Debug, Clone)]
pub(super) struct SweepOutput {
    pub pairs: bool,
    /// For each side, the rows that have a match (`true`), once, or those that have none.
    pub single: [Option<bool>; 2],
    pub filter: Option<JoinFilter>,
    /// The output columns: side, and column of that side.
    pub columns: Vec<(usize, usize)>,
    pub schema: SchemaRef,
}

/// A row that waits for rows of the other side.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    lo: i64,
    hi: i64,
    place: RowRef,
}

/// Rows of one key, by side.
#[derive(Debug, Default)]
struct Lists {
    rows: [Vec<Waiting>; 2],
    /// Number of waiting rows from which on those that have ended are removed.
    patience: [usize; 2],
}

#[derive(Debug)]
pub(super) struct Sweep {
    sides: [Side; 2],
    /// The side that comes first if both begin at once.
    first: usize,
    numbers: KeyInterner,
    lists: Vec<Lists>,
    /// How many keys there may be before some are forgotten.
    pub most_keys: usize,
    /// The latest begin of a row.
    now: i64,
    output: SweepOutput,
    ready: VecDeque<RecordBatch>,
}

impl Sweep {
    /// The rows `l` of the first side and `r` of the second one with equal keys for which `l.lo < r.hi` and
    /// `r.lo < l.hi` (`<=` if a side is not strict), and the filter is true. `schemas`: the columns of the
    /// sides.
    pub fn new(bounds: [Bounds; 2], schemas: Vec<SchemaRef>, output: SweepOutput) -> Self {
        // A point is an interval with equal bounds: if it comes second, it never has to wait.
        let first = usize::from(bounds[0].strict && !bounds[1].strict);
        let mut schemas = schemas.into_iter();
        let mut single = output.single.iter();
        let sides = bounds.map(|bounds| {
            let schema = schemas.next().unwrap_or_else(|| Arc::new(Schema::empty()));
            Side::new(bounds, schema, single.next().is_some_and(Option::is_some))
        });
        Self {
            sides,
            first,
            numbers: KeyInterner::default(),
            lists: Vec::new(),
            most_keys: MAX_KEYS,
            now: i64::MIN,
            output,
            ready: VecDeque::new(),
        }
    }

    /// The next row of a side begins.
    #[inline]
    fn arrive(&mut self, side: usize) {
        let [left, right] = &mut self.sides;
        let (own, other) = if side == 0 { (left, right) } else { (right, left) };
        let row = own.next;
        own.next += 1;
        let (lo, hi) = (own.lo.value(row), own.hi.value(row));
        self.now = lo;
        let Some(lists) = own.keys.get(row).and_then(|key| self.lists.get_mut(*key as usize)) else { return };
        let [of_left, of_right] = &mut lists.rows;
        let (mine, theirs) = if side == 0 { (of_left, of_right) } else { (of_right, of_left) };
        let place = own.buffer.place(row);
        theirs.retain(|their| {
            let goes_on = own.bounds.before(lo, their.hi);
            if goes_on && other.bounds.before(their.lo, hi) {
                own.pairs.push(place);
                other.pairs.push(their.place);
            } else if !goes_on {
                other.buffer.release(their.place);
            }
            goes_on
        });
        // The earliest begin that the other side can still have: not earlier than this, and not this very
        // instant if it has come already.
        let earliest = if side == self.first { Some(lo) } else { lo.checked_add(1) };
        let waits = earliest.is_some_and(|earliest| other.bounds.before(earliest, hi));
        if !waits || (other.ended && other.next >= other.lo.len()) {
            return;
        }
        let patience = &mut lists.patience[side];
        if mine.len() >= *patience {
            mine.retain(|my| {
                let goes_on = other.bounds.before(lo, my.hi);
                if !goes_on {
                    own.buffer.release(my.place);
                }
                goes_on
            });
            *patience = (mine.len() * 2).max(16);
        }
        own.buffer.hold(place);
        mine.push(Waiting { lo, hi, place });
    }

    /// Emits the pairs that were found.
    fn emit(&mut self) -> Result<()> {
        let mut pairs = self.sides.each_mut().map(|side| std::mem::take(&mut side.pairs));
        if let Some(filter) = &self.output.filter {
            let columns = filter.column_indices().iter();
            let columns: Vec<_> =
                columns.map(|c| (usize::from(c.side == JoinSide::Right), c.index)).collect();
            let batch = self.batch(filter.schema(), &columns, &pairs)?;
            let holds = filter.expression().evaluate(&batch)?.into_array(batch.num_rows())?;
            let Some(holds) = holds.as_boolean_opt() else {
                return internal_err!("the filter of a join is no condition");
            };
            for places in &mut pairs {
                let mut holds = holds.iter();
                places.retain(|_| holds.next().flatten() == Some(true));
            }
        }
        for (side, places) in self.sides.iter_mut().zip(&pairs) {
            places.iter().for_each(|place| side.buffer.mark(*place));
        }
        if self.output.pairs && !pairs[0].is_empty() {
            let rows = self.batch(&self.output.schema, &self.output.columns, &pairs)?;
            self.ready.push_back(rows);
        }
        for (side, mut places) in self.sides.iter_mut().zip(pairs) {
            places.clear();
            side.pairs = places;
        }
        self.release(0)?;
        self.release(1)
    }

    fn batch(
        &self,
        schema: &SchemaRef,
        columns: &[(usize, usize)],
        pairs: &[Vec<RowRef>; 2],
    ) -> Result<RecordBatch> {
        let of = |side: usize| columns.iter().filter(move |c| c.0 == side).map(|c| c.1);
        let mut found = Vec::with_capacity(2);
        for (side, places) in self.sides.iter().zip(pairs) {
            found.push(side.buffer.rows(places, of(found.len()))?.into_iter());
        }
        let columns = columns.iter().filter_map(|(side, _)| found.get_mut(*side)?.next()).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(pairs[0].len()));
        Ok(RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)?)
    }

    /// Rows that have ended wait no longer. Those of a key are noticed when its next row begins, which a key
    /// that does not come again never has.
    fn forget_ended(&mut self) {
        let bounds = self.sides.each_ref().map(|side| side.bounds.clone());
        for (n, side) in self.sides.iter_mut().enumerate() {
            let other = &bounds[1 - n];
            for lists in &mut self.lists {
                lists.rows[n].retain(|row| {
                    let goes_on = other.before(self.now, row.hi);
                    if !goes_on {
                        side.buffer.release(row.place);
                    }
                    goes_on
                });
            }
        }
    }

    /// Keeps only the keys of rows that wait or are being read.
    fn forget_keys(&mut self) -> Result<()> {
        self.forget_ended();
        let (numbers, mut lists) = (KeyInterner::default(), Vec::<Lists>::new());
        for (n, side) in self.sides.iter_mut().enumerate() {
            let waiting: Vec<Waiting> =
                self.lists.iter_mut().flat_map(|lists| std::mem::take(&mut lists.rows[n])).collect();
            let places: Vec<RowRef> = waiting.iter().map(|row| row.place).collect();
            for (key, row) in side.keys_of(&places, &numbers)?.into_iter().zip(waiting) {
                let key = key as usize;
                lists.resize_with(lists.len().max(key + 1), Lists::default);
                lists[key].rows[n].push(row);
            }
            if !side.ended {
                let places: Vec<RowRef> = (0..side.lo.len()).map(|row| side.buffer.place(row)).collect();
                side.keys = side.keys_of(&places, &numbers)?;
            }
        }
        self.most_keys = self.most_keys.max(4 * numbers.count());
        (self.numbers, self.lists) = (numbers, lists);
        Ok(())
    }

    /// Releases batches that are no longer needed, if there are no pairs to emit.
    fn release(&mut self, side: usize) -> Result<()> {
        if self.sides[side].buffer.too_many() {
            self.forget_ended();
        }
        let mut gone = self.sides[side].buffer.release_batches();
        if self.sides[side].buffer.too_many() {
            let waiting = self.lists.iter_mut().flat_map(|lists| &mut lists.rows[side]);
            let mut held: Vec<&mut RowRef> = waiting.map(|row| &mut row.place).collect();
            // A row that was copied is not emitted from its old batch.
            let copied = self.output.single[side] == Some(false);
            gone.extend(self.sides[side].buffer.compact(&mut held, copied)?);
        }
        self.give_single(side, &gone)
    }

    /// Emits the wanted single rows of released batches.
    fn give_single(&mut self, side: usize, gone: &[BufferedBatch]) -> Result<()> {
        let Some(with_partner) = self.output.single[side] else { return Ok(()) };
        for BufferedBatch { rows, marked, .. } in gone {
            let selected = (0..).zip(marked).filter(|(_, marked)| **marked == with_partner);
            let selected = UInt32Array::from_iter_values(selected.map(|(row, _)| row));
            if selected.is_empty() {
                continue;
            }
            let column = |(of, i): &(usize, usize)| match *of == side {
                true => take(rows.column(*i), &selected, None),
                false => Ok(new_null_array(self.sides[*of].schema.field(*i).data_type(), selected.len())),
            };
            let columns = self.output.columns.iter().map(column).collect::<Result<_, _>>()?;
            let options = RecordBatchOptions::new().with_row_count(Some(selected.len()));
            let schema = Arc::clone(&self.output.schema);
            self.ready.push_back(RecordBatch::try_new_with_options(schema, columns, &options)?);
        }
        Ok(())
    }

    /// No more matches can come.
    fn finish(&mut self) -> Result<()> {
        for lists in &mut self.lists {
            for (side, rows) in self.sides.iter_mut().zip(&mut lists.rows) {
                rows.drain(..).for_each(|row| side.buffer.release(row.place));
            }
        }
        for side in [0, 1] {
            self.sides[side].buffer.end();
            let gone = self.sides[side].buffer.release_batches();
            self.give_single(side, &gone)?;
        }
        Ok(())
    }
}

impl OperatorRun for Sweep {
    fn take(&mut self, side: usize, batch: Option<RecordBatch>) -> Result<()> {
        match batch {
            Some(batch) => {
                self.sides[side].take(batch, &self.numbers)?;
                if self.sides[side].pairs.is_empty() {
                    self.release(side)?;
                }
            }
            None => self.sides[side].end(),
        }
        if self.numbers.count() > self.most_keys {
            self.forget_keys()?;
        }
        self.lists.resize_with(self.numbers.count().max(1), Lists::default);
        Ok(())
    }

    fn memory(&self) -> usize {
        let of = |side: &Side| side.buffer.memory() + side.buffer.held() * size_of::<Waiting>();
        let keys = self.lists.len() * (size_of::<Lists>() + KEY_BYTES);
        self.sides.iter().map(of).sum::<usize>() + keys
    }

    fn step(&mut self) -> Result<Progress> {
        loop {
            if let Some(rows) = self.ready.pop_front() {
                return Ok(Progress::Rows(rows));
            }
            if self.sides[0].pairs.len() >= PAIRS {
                self.emit()?;
                continue;
            }
            let heads = self.sides.each_mut().map(Side::head);
            let waits_for_input = |side: &usize| heads[*side].is_none() && !self.sides[*side].ended;
            if let Some(side) = [0, 1].into_iter().find(waits_for_input) {
                if self.sides[0].pairs.is_empty() || !self.sides.iter().any(|s| s.buffer.too_many()) {
                    return Ok(Progress::Needs(side));
                }
                self.emit()?;
                continue;
            }
            // Rows are read as long as they can match, or are wanted without a match.
            let goes_on =
                |side: usize| self.sides[1 - side].buffer.held() > 0 || self.output.single[side].is_some();
            let side = match heads {
                [Some(l), Some(r)] if l == r => self.first,
                [Some(l), Some(r)] => usize::from(r < l),
                [Some(_), None] if goes_on(0) => 0,
                [None, Some(_)] if goes_on(1) => 1,
                _ if self.sides[0].pairs.is_empty() => {
                    self.finish()?;
                    return Ok(self.ready.pop_front().map_or(Progress::Done, Progress::Rows));
                }
                _ => {
                    self.emit()?;
                    continue;
                }
            };
            self.arrive(side);
        }
    }
}
