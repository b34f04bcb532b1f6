//! Rows on their way from tasks to who asks. Each says of which share of the recordings it is, and the last
//! one of a share how many came before it: so none is missing and none is there twice, whatever happened to
//! executors. Tasks that make other rows of them say how many they had. Not what the rows are.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, RecordBatch, RecordBatchOptions, UInt32Array};
use arrow::array::{Int64Array, new_null_array};
use arrow::compute::{filter_record_batch, is_null};
use arrow::datatypes::{DataType, Field, Int64Type, Schema, SchemaRef, UInt32Type};
use datafusion::common::{Result, exec_err, internal_datafusion_err, internal_err};

/// The columns of rows on their way: those of the result, the share, and how many rows came, in a row that
/// has nothing else.
pub(super) fn framed(schema: &Schema) -> SchemaRef {
    let nullable = |field: &Arc<Field>| field.as_ref().clone().with_nullable(true);
    let mut fields: Vec<Field> = schema.fields().iter().map(nullable).collect();
    fields.push(Field::new("share", DataType::UInt32, false));
    fields.push(Field::new("rows of the share", DataType::Int64, true));
    Arc::new(Schema::new(fields))
}

/// Puts the rows of one share on their way.
pub(super) struct Frames {
    schema: SchemaRef,
    share: u32,
    rows: i64,
}

impl Frames {
    /// `schema`: [framed].
    pub fn new(schema: SchemaRef, share: u32) -> Self {
        Self { schema, share, rows: 0 }
    }

    pub fn batch(&mut self, batch: RecordBatch) -> Result<RecordBatch> {
        let rows = batch.num_rows();
        self.rows += rows as i64;
        let (_, mut columns, _) = batch.into_parts();
        columns.push(Arc::new(UInt32Array::from_value(self.share, rows)));
        columns.push(new_null_array(&DataType::Int64, rows));
        Ok(RecordBatch::try_new(Arc::clone(&self.schema), columns)?)
    }

    /// The last row; `of_others`: rows that were taken, see [`Taken`].
    pub fn end(self, of_others: Taken) -> Result<RecordBatch> {
        let mut counts = of_others.counts;
        counts.push((self.share, self.rows));
        let fields = self.schema.fields();
        let results = fields.len().saturating_sub(2);
        let empty = |field: &Arc<Field>| new_null_array(field.data_type(), counts.len());
        let mut columns: Vec<ArrayRef> = fields.iter().take(results).map(empty).collect();
        columns.push(Arc::new(counts.iter().map(|(share, _)| Some(*share)).collect::<UInt32Array>()));
        columns.push(Arc::new(counts.iter().map(|(_, rows)| Some(*rows)).collect::<Int64Array>()));
        Ok(RecordBatch::try_new(self.schema, columns)?)
    }
}

/// What a task took of the rows on their way, to make other rows of them.
#[derive(Default)]
pub(super) struct Taken {
    /// Without those that say how many there are.
    pub rows: Vec<RecordBatch>,
    /// A share, and how many rows it has, or less than 0: how many of it were taken.
    counts: Vec<(u32, i64)>,
}

impl Taken {
    pub fn add(&mut self, batch: RecordBatch) -> Result<()> {
        let (shares, counts) = shares_of(&batch)?;
        let mut taken: BTreeMap<u32, i64> = BTreeMap::new();
        for row in 0..batch.num_rows() {
            match counts.is_valid(row).then(|| counts.value(row)) {
                Some(count) => self.counts.push((shares.value(row), count)),
                None => *taken.entry(shares.value(row)).or_default() -= 1,
            }
        }
        self.counts.extend(taken);
        let fields = batch.schema().fields().iter().rev().skip(2).rev().cloned().collect::<Vec<_>>();
        let rows = results_of(batch, &Arc::new(Schema::new(fields)))?;
        if rows.num_rows() > 0 {
            self.rows.push(rows);
        }
        Ok(())
    }
}

/// The last two columns.
fn shares_of(batch: &RecordBatch) -> Result<(UInt32Array, Int64Array)> {
    let [.., shares, counts] = batch.columns() else { return internal_err!("rows came without a share") };
    let shares = shares.as_primitive_opt::<UInt32Type>().cloned();
    shares
        .zip(counts.as_primitive_opt::<Int64Type>().cloned())
        .ok_or_else(|| internal_datafusion_err!("rows came without a share"))
}

/// The rows of the result, with its columns.
fn results_of(batch: RecordBatch, schema: &SchemaRef) -> Result<RecordBatch> {
    let of_result: BooleanArray = is_null(batch.column(batch.num_columns() - 1))?;
    let all = of_result.true_count() == batch.num_rows();
    let batch = if all { batch } else { filter_record_batch(&batch, &of_result)? };
    let rows = batch.num_rows();
    let (_, mut columns, _) = batch.into_parts();
    columns.truncate(columns.len().saturating_sub(2));
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    Ok(RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)?)
}

/// Counts the rows that come.
pub(super) struct Tally {
    shares: Vec<Count>,
}

#[derive(Clone, Copy, Default)]
struct Count {
    /// Rows that came, or were taken.
    came: i64,
    /// Rows that there are.
    announced: i64,
    /// How often that was said, and will be.
    ends: usize,
    expected: usize,
}

impl Tally {
    /// Of so many shares, each of which ends once; and, if rows are made of their rows, of one more share,
    /// which ends so often.
    pub fn new(shares: usize, made: Option<usize>) -> Self {
        let count = |expected| Count { expected, ..Count::default() };
        Self { shares: std::iter::repeat_n(1, shares).chain(made).map(count).collect() }
    }

    /// The rows of the result in a batch, with its columns.
    pub fn take(&mut self, batch: RecordBatch, schema: &SchemaRef) -> Result<RecordBatch> {
        let (shares, counts) = shares_of(&batch)?;
        for row in 0..batch.num_rows() {
            let share = usize::try_from(shares.value(row)).ok().and_then(|at| self.shares.get_mut(at));
            let Some(count) = share else {
                return internal_err!("rows of a share came that was not asked for");
            };
            match counts.is_valid(row).then(|| counts.value(row)) {
                None => count.came += 1,
                Some(taken @ ..0) => count.came -= taken,
                Some(rows) => {
                    count.announced += rows;
                    count.ends += 1;
                }
            }
        }
        results_of(batch, schema)
    }

    /// # Errors
    /// When rows are missing, or there are too many.
    pub fn check(&self) -> Result<()> {
        for (share, Count { came, announced, ends, expected }) in self.shares.iter().enumerate() {
            if ends != expected || came != announced {
                return exec_err!(
                    "rows were lost or doubled between executors: {came} of {announced} rows of share {share} came, and {ends} of {expected} ends"
                );
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::compute::concat_batches;

    fn schema() -> SchemaRef {
        Arc::new(Schema::new(vec![Field::new("n", DataType::Int64, false)]))
    }

    fn batch(values: &[i64]) -> RecordBatch {
        RecordBatch::try_new(schema(), vec![Arc::new(Int64Array::from(values.to_vec()))]).unwrap()
    }

    /// The batches of a share with these values.
    fn share(number: u32, batches: &[&[i64]]) -> Vec<RecordBatch> {
        let mut frames = Frames::new(framed(&schema()), number);
        let mut all: Vec<_> = batches.iter().map(|values| frames.batch(batch(values)).unwrap()).collect();
        all.push(frames.end(Taken::default()).unwrap());
        all
    }

    fn taken(shares: usize, batches: &[RecordBatch]) -> Result<Vec<i64>> {
        let mut tally = Tally::new(shares, None);
        let mut values = Vec::new();
        for batch in batches {
            let rows = tally.take(batch.clone(), &schema())?;
            values.extend_from_slice(rows.column(0).as_primitive::<Int64Type>().values());
        }
        tally.check().map(|()| values)
    }

    #[test]
    fn all_rows_come_once() {
        let whole = [share(1, &[&[3], &[4, 5]]), share(0, &[&[1, 2]]), share(2, &[])].concat();
        assert_eq!(taken(3, &whole).unwrap(), [3, 4, 5, 1, 2]);
        // Batches may be put together on their way.
        let one = concat_batches(&framed(&schema()), &whole).unwrap();
        assert_eq!(taken(3, &[one]).unwrap(), [3, 4, 5, 1, 2]);
        for without in 0..whole.len() {
            let mut less = whole.clone();
            less.remove(without);
            assert!(taken(3, &less).is_err(), "without batch {without}");
            let mut more = whole.clone();
            more.push(whole[without].clone());
            assert!(taken(3, &more).is_err(), "batch {without} twice");
        }
        assert!(taken(2, &whole).is_err(), "a share too many");
        assert!(taken(4, &whole).is_err(), "a share too few");
    }

    /// Rows of three shares are dealt to two tasks, each of which makes one row of them: their sum.
    #[test]
    fn rows_that_others_are_made_of_are_counted() {
        let dealt = [share(0, &[&[1, 2], &[3]]), share(1, &[&[4]]), share(2, &[])].concat();
        let made = |lost: Option<usize>, twice: Option<usize>| -> Result<i64> {
            let mut tasks = [Taken::default(), Taken::default()];
            for (n, batch) in dealt.iter().enumerate() {
                if lost != Some(n) {
                    tasks[n % 2].add(batch.clone())?;
                }
                if twice == Some(n) {
                    tasks[n % 2].add(batch.clone())?;
                }
            }
            let mut tally = Tally::new(3, Some(2));
            let mut sum = 0;
            for mut taken in tasks {
                let mut frames = Frames::new(framed(&schema()), 3);
                let values = std::mem::take(&mut taken.rows);
                let values = values.iter().flat_map(|b| b.column(0).as_primitive::<Int64Type>().values());
                let of_task = frames.batch(batch(&[values.sum()]))?;
                for batch in [of_task, frames.end(taken)?] {
                    let rows = tally.take(batch, &schema())?;
                    sum += rows.column(0).as_primitive::<Int64Type>().values().iter().sum::<i64>();
                }
            }
            tally.check().map(|()| sum)
        };
        assert_eq!(made(None, None).unwrap(), 10);
        for n in 0..dealt.len() {
            assert!(made(Some(n), None).is_err(), "without batch {n}");
            assert!(made(None, Some(n)).is_err(), "batch {n} twice");
        }
    }

    #[test]
    fn rows_without_columns_are_counted() {
        let none = Arc::new(Schema::empty());
        let options = RecordBatchOptions::new().with_row_count(Some(7));
        let rows = RecordBatch::try_new_with_options(Arc::clone(&none), Vec::new(), &options).unwrap();
        let mut frames = Frames::new(framed(&none), 0);
        let mut tally = Tally::new(1, None);
        assert_eq!(tally.take(frames.batch(rows).unwrap(), &none).unwrap().num_rows(), 7);
        assert!(tally.check().is_err());
        assert_eq!(tally.take(frames.end(Taken::default()).unwrap(), &none).unwrap().num_rows(), 0);
        tally.check().unwrap();
    }
}
