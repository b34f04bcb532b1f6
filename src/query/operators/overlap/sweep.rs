//! The sweep: two inputs in the order of their begins go in, the pairs of rows that overlap come out. Each row is looked at
//! when it begins; until it ends, it waits for rows of the other side. Not for plans, and not for reading inputs.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array, RecordBatch};
use arrow::buffer::NullBuffer;
use arrow::compute::{cast, interleave};
use arrow::datatypes::{DataType, Int64Type, SchemaRef};
use datafusion::common::{DataFusionError, Result};
use datafusion::physical_expr::PhysicalExpr;

use super::super::numbers::Numbers;

/// Pairs that are given away at once.
const PAIRS: usize = 8192;
/// With more batches than this kept for a few of their rows, these are copied.
const MANY_BATCHES: usize = 32;

/// What is asked of the rows of one side.
#[derive(Debug, Clone)]
pub(super) struct Bounds {
    /// Begin; the input is sorted by it.
    pub lo: Arc<dyn PhysicalExpr>,
    /// End.
    pub hi: Arc<dyn PhysicalExpr>,
    /// What has to be equal on both sides.
    pub keys: Vec<Arc<dyn PhysicalExpr>>,
    /// The begin has to be before the end of the other side, not just at it.
    pub strict: bool,
}

/// What [`Sweep::step`] wants or gives.
pub(super) enum Step {
    /// The next batch of this side, or its end.
    Needs(usize),
    /// Columns of the first side and then of the second one.
    Rows(RecordBatch),
    Done,
}

/// A row that waits for rows of the other side.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    lo: i64,
    hi: i64,
    batch: u32,
    row: u32,
}

/// Rows of one key, by side.
#[derive(Debug, Default)]
struct Lists {
    rows: [Vec<Waiting>; 2],
    /// So many rows may wait before those that have ended are looked for.
    patience: [usize; 2],
}

/// A batch of which rows are waiting or to be given away.
#[derive(Debug)]
struct Kept {
    batch: RecordBatch,
    waiting: usize,
}

/// The rows of one side that are still to come.
#[derive(Debug)]
struct Side {
    bounds: Bounds,
    lo: Int64Array,
    hi: Int64Array,
    valid: Option<NullBuffer>,
    keys: Vec<u32>,
    /// The slot of the batch they are of.
    batch: u32,
    next: usize,
    ended: bool,
    kept: Vec<Option<Kept>>,
    waiting: usize,
    /// One row of each pair.
    pairs: Vec<(u32, u32)>,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Sweep {
    sides: [Side; 2],
    /// Which side comes first where both begin at once.
    first: usize,
    numbers: Numbers,
    lists: Vec<Lists>,
    schema: SchemaRef,
}

impl Bounds {
    fn before(&self, lo: i64, hi_of_other: i64) -> bool {
        if self.strict { lo < hi_of_other } else { lo <= hi_of_other }
    }
}

impl Side {
    fn new(bounds: Bounds) -> Self {
        let none = || Int64Array::from(Vec::<i64>::new());
        Self {
            bounds,
            lo: none(),
            hi: none(),
            valid: None,
            keys: Vec::new(),
            batch: 0,
            next: 0,
            ended: false,
            kept: Vec::new(),
            waiting: 0,
            pairs: Vec::new(),
        }
    }

    fn take(&mut self, batch: RecordBatch, numbers: &Numbers) -> Result<()> {
        let rows = batch.num_rows();
        let column = |e: &Arc<dyn PhysicalExpr>| e.evaluate(&batch)?.into_array(rows);
        let times = |e| column(e)?.as_primitive_opt::<Int64Type>().cloned().ok_or_else(not_integers);
        (self.lo, self.hi) = (times(&self.bounds.lo)?, times(&self.bounds.hi)?);
        let names = |e| Ok(cast(&column(e)?, &DataType::Utf8View)?);
        let names = self.bounds.keys.iter().map(names).collect::<Result<Vec<ArrayRef>>>()?;
        // NULL equals nothing and lies nowhere.
        let nulls = names.iter().map(|n| n.nulls()).chain([self.lo.nulls(), self.hi.nulls()]);
        self.valid = nulls.fold(None, |valid, nulls| NullBuffer::union(valid.as_ref(), nulls));
        self.keys = if names.is_empty() { vec![0; rows] } else { numbers.of(&names)? };
        let free = self.kept.iter().position(Option::is_none).unwrap_or(self.kept.len());
        if free == self.kept.len() {
            self.kept.push(None);
        }
        if let Some(slot) = self.kept.get_mut(free) {
            *slot = Some(Kept { batch, waiting: 0 });
        }
        (self.batch, self.next) = (free as u32, 0);
        Ok(())
    }

    /// The begin of the next row, those with NULL being passed over.
    fn head(&mut self) -> Option<i64> {
        while self.next < self.lo.len() {
            if self.valid.as_ref().is_none_or(|valid| valid.is_valid(self.next)) {
                return Some(self.lo.value(self.next));
            }
            self.next += 1;
        }
        None
    }

    fn waits(&mut self, row: &Waiting) {
        self.waiting += 1;
        if let Some(Some(kept)) = self.kept.get_mut(row.batch as usize) {
            kept.waiting += 1;
        }
    }

    fn is_over(&mut self, row: &Waiting) {
        self.waiting -= 1;
        if let Some(Some(kept)) = self.kept.get_mut(row.batch as usize) {
            kept.waiting -= 1;
        }
    }

    /// The rows of the pairs, column by column; batches that nothing waits in are forgotten.
    fn give(&mut self) -> Result<Vec<ArrayRef>> {
        let mut places = vec![usize::MAX; self.kept.len()];
        let mut used: Vec<&RecordBatch> = Vec::new();
        let mut rows = Vec::with_capacity(self.pairs.len());
        for (batch, row) in self.pairs.drain(..) {
            let Some(place) = places.get_mut(batch as usize) else { continue };
            if *place == usize::MAX {
                let Some(Some(kept)) = self.kept.get(batch as usize) else { continue };
                *place = used.len();
                used.push(&kept.batch);
            }
            rows.push((*place, row as usize));
        }
        let columns = used.first().map_or(0, |batch| batch.num_columns());
        let column = |i: usize| {
            let arrays: Vec<&dyn Array> = used.iter().map(|batch| batch.column(i).as_ref()).collect();
            interleave(&arrays, &rows)
        };
        Ok((0..columns).map(column).collect::<Result<_, _>>()?)
    }

    fn forget(&mut self) {
        let at_hand = self.batch as usize;
        for (i, slot) in self.kept.iter_mut().enumerate() {
            if i != at_hand && slot.as_ref().is_some_and(|kept| kept.waiting == 0) {
                *slot = None;
            }
        }
    }

    /// Bytes of the batches that are kept.
    fn memory(&self) -> usize {
        self.kept.iter().flatten().map(|kept| kept.batch.get_array_memory_size()).sum()
    }
}

fn not_integers() -> DataFusionError {
    DataFusionError::Internal("the bounds of an overlap are no integers".to_owned())
}

impl Sweep {
    /// The rows `l` of the first side and `r` of the second one with equal keys for which `l.lo < r.hi` and `r.lo < l.hi`
    /// (`<=` where a side is not strict); `schema`: the columns of both.
    pub fn new(bounds: [Bounds; 2], schema: SchemaRef) -> Self {
        // A point is given as an interval whose bounds are the same: if it comes second, it never has to wait.
        let first = usize::from(bounds[0].strict && !bounds[1].strict);
        Self { sides: bounds.map(Side::new), first, numbers: Numbers::default(), lists: Vec::new(), schema }
    }

    /// Takes what [`Step::Needs`] asked for; `side` is 0 or 1.
    pub fn take(&mut self, side: usize, batch: Option<RecordBatch>) -> Result<()> {
        match batch {
            Some(batch) => {
                self.sides[side].take(batch, &self.numbers)?;
                if self.sides[side].pairs.is_empty() {
                    self.let_go(side)?;
                }
            }
            None => self.sides[side].ended = true,
        }
        self.lists.resize_with(self.numbers.count().max(1), Lists::default);
        Ok(())
    }

    /// Bytes that are held.
    pub fn memory(&self) -> usize {
        let lists = self.sides.iter().map(|s| s.waiting).sum::<usize>() * size_of::<Waiting>();
        self.sides.iter().map(Side::memory).sum::<usize>() + lists
    }

    /// Goes on as far as possible.
    pub fn step(&mut self) -> Result<Step> {
        loop {
            if self.sides[0].pairs.len() >= PAIRS {
                return self.give();
            }
            let heads = self.sides.each_mut().map(Side::head);
            let waits_for_input = |side: &usize| heads[*side].is_none() && !self.sides[*side].ended;
            if let Some(side) = [0, 1].into_iter().find(waits_for_input) {
                let many = self.sides.iter().any(|s| s.kept.iter().flatten().count() > MANY_BATCHES);
                return match many && !self.sides[0].pairs.is_empty() {
                    true => self.give(),
                    false => Ok(Step::Needs(side)),
                };
            }
            let side = match heads {
                [Some(l), Some(r)] if l == r => self.first,
                [Some(l), Some(r)] => usize::from(r < l),
                // Rows of the other side are matched as long as there are any to match with.
                [Some(_), None] if self.sides[1].waiting > 0 => 0,
                [None, Some(_)] if self.sides[0].waiting > 0 => 1,
                _ if self.sides[0].pairs.is_empty() => return Ok(Step::Done),
                _ => return self.give(),
            };
            self.arrive(side);
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
        let Some(lists) = own.keys.get(row).and_then(|key| self.lists.get_mut(*key as usize)) else { return };
        let [of_left, of_right] = &mut lists.rows;
        let (mine, theirs) = if side == 0 { (of_left, of_right) } else { (of_right, of_left) };
        theirs.retain(|their| {
            let goes_on = own.bounds.before(lo, their.hi);
            if goes_on && other.bounds.before(their.lo, hi) {
                own.pairs.push((own.batch, row as u32));
                other.pairs.push((their.batch, their.row));
            } else if !goes_on {
                other.is_over(their);
            }
            goes_on
        });
        // What the other side may still begin with: nothing earlier, and not this very instant if it has come already.
        let earliest = if side == self.first { Some(lo) } else { lo.checked_add(1) };
        if !earliest.is_some_and(|earliest| other.bounds.before(earliest, hi)) {
            return;
        }
        let patience = &mut lists.patience[side];
        if mine.len() >= *patience {
            mine.retain(|my| {
                let goes_on = other.bounds.before(lo, my.hi);
                if !goes_on {
                    own.is_over(my);
                }
                goes_on
            });
            *patience = (mine.len() * 2).max(16);
        }
        let waiting = Waiting { lo, hi, batch: own.batch, row: row as u32 };
        own.waits(&waiting);
        mine.push(waiting);
    }

    fn give(&mut self) -> Result<Step> {
        let mut columns = self.sides[0].give()?;
        columns.extend(self.sides[1].give()?);
        let rows = RecordBatch::try_new(Arc::clone(&self.schema), columns)?;
        self.let_go(0)?;
        self.let_go(1)?;
        Ok(Step::Rows(rows))
    }

    /// Keeps no more batches than needed, when there are no pairs to be given away.
    fn let_go(&mut self, side: usize) -> Result<()> {
        self.sides[side].forget();
        match self.sides[side].kept.iter().flatten().count() > MANY_BATCHES {
            true => self.gather(side),
            false => Ok(()),
        }
    }

    /// Copies the rows that wait into one batch, so that none is kept for a few rows of it.
    fn gather(&mut self, side: usize) -> Result<()> {
        let waiting = |lists: &mut Lists| std::mem::take(&mut lists.rows[side]);
        let mut lists: Vec<Vec<Waiting>> = self.lists.iter_mut().map(waiting).collect();
        let own = &mut self.sides[side];
        let rows = lists.iter().flatten().map(|w| (w.batch, w.row));
        own.pairs.extend(rows);
        let count = own.pairs.len();
        let schema = own.kept.iter().flatten().map(|kept| kept.batch.schema()).next();
        if let Some(schema) = schema.filter(|_| count > 0) {
            let batch = RecordBatch::try_new(schema, own.give()?)?;
            let at_hand = own.batch as usize;
            for (i, slot) in own.kept.iter_mut().enumerate() {
                match slot {
                    Some(kept) if i == at_hand => kept.waiting = 0,
                    _ => *slot = None,
                }
            }
            own.kept.push(Some(Kept { batch, waiting: count }));
            let gathered = own.kept.len() as u32 - 1;
            lists.iter_mut().flatten().zip(0..).for_each(|(w, row)| (w.batch, w.row) = (gathered, row));
        }
        self.lists.iter_mut().zip(lists).for_each(|(to, rows)| to.rows[side] = rows);
        Ok(())
    }
}
