//! Rows on their way from tasks to who asks. Each says of which share of the recordings it is, and the last
//! one of a share how many came before it: so none is missing and none is there twice, whatever happened to
//! executors. Not what the rows are.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, RecordBatch, RecordBatchOptions, UInt32Array};
use arrow::array::{UInt64Array, new_null_array};
use arrow::compute::{filter_record_batch, is_null};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, UInt32Type, UInt64Type};
use datafusion::common::{Result, internal_datafusion_err, internal_err};

/// The columns of rows on their way: those of the result, the share, and how many rows came, in a row that
/// has nothing else.
pub(super) fn framed(schema: &Schema) -> SchemaRef {
    let nullable = |field: &Arc<Field>| field.as_ref().clone().with_nullable(true);
    let mut fields: Vec<Field> = schema.fields().iter().map(nullable).collect();
    fields.push(Field::new("share", DataType::UInt32, false));
    fields.push(Field::new("rows of the share", DataType::UInt64, true));
    Arc::new(Schema::new(fields))
}

/// Puts the rows of one share on their way.
pub(super) struct Frames {
    schema: SchemaRef,
    share: u32,
    rows: u64,
}

impl Frames {
    /// `schema`: [framed].
    pub fn new(schema: SchemaRef, share: u32) -> Self {
        Self { schema, share, rows: 0 }
    }

    pub fn batch(&mut self, batch: RecordBatch) -> Result<RecordBatch> {
        let rows = batch.num_rows();
        self.rows += rows as u64;
        let (_, mut columns, _) = batch.into_parts();
        columns.push(Arc::new(UInt32Array::from_value(self.share, rows)));
        columns.push(new_null_array(&DataType::UInt64, rows));
        Ok(RecordBatch::try_new(Arc::clone(&self.schema), columns)?)
    }

    /// The last row.
    pub fn end(self) -> Result<RecordBatch> {
        let fields = self.schema.fields();
        let results = fields.len().saturating_sub(2);
        let empty = fields.iter().take(results).map(|field| new_null_array(field.data_type(), 1));
        let mut columns: Vec<ArrayRef> = empty.collect();
        columns.push(Arc::new(UInt32Array::from_value(self.share, 1)));
        columns.push(Arc::new(UInt64Array::from_value(self.rows, 1)));
        Ok(RecordBatch::try_new(self.schema, columns)?)
    }
}

/// Counts the rows that come.
pub(super) struct Tally {
    /// Of each share: the rows that came, and how many there are.
    shares: Vec<(u64, Option<u64>)>,
}

impl Tally {
    /// Of so many shares, each of which has an end.
    pub fn new(shares: usize) -> Self {
        Self { shares: vec![(0, None); shares] }
    }

    /// The rows of the result in a batch, with its columns.
    pub fn take(&mut self, batch: RecordBatch, schema: &SchemaRef) -> Result<RecordBatch> {
        let [.., shares, ends] = batch.columns() else { return internal_err!("rows came without a share") };
        let (shares, ends) = shares
            .as_primitive_opt::<UInt32Type>()
            .zip(ends.as_primitive_opt::<UInt64Type>())
            .ok_or_else(|| internal_datafusion_err!("rows came without a share"))?;
        for row in 0..batch.num_rows() {
            let share = usize::try_from(shares.value(row)).ok().and_then(|at| self.shares.get_mut(at));
            let Some((came, end)) = share else {
                return internal_err!("rows of a share came that was not asked for");
            };
            match ends.is_valid(row).then(|| ends.value(row)) {
                None => *came += 1,
                Some(rows) => {
                    if end.replace(rows).is_some() {
                        return internal_err!("the rows of a share of the recordings came twice");
                    }
                }
            }
        }
        let of_result: BooleanArray = is_null(ends)?;
        let all = of_result.true_count() == batch.num_rows();
        let batch = if all { batch } else { filter_record_batch(&batch, &of_result)? };
        let rows = batch.num_rows();
        let (_, mut columns, _) = batch.into_parts();
        columns.truncate(columns.len().saturating_sub(2));
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        Ok(RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)?)
    }

    /// # Errors
    /// When rows are missing, or there are too many.
    pub fn check(&self) -> Result<()> {
        for (share, (came, end)) in self.shares.iter().enumerate() {
            match end {
                Some(rows) if rows == came => {}
                Some(rows) => return internal_err!("{came} of {rows} rows of share {share} came"),
                None => return internal_err!("share {share} of {} did not come whole", self.shares.len()),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::Int64Array;
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
        all.push(frames.end().unwrap());
        all
    }

    fn taken(shares: usize, batches: &[RecordBatch]) -> Result<Vec<i64>> {
        let mut tally = Tally::new(shares);
        let mut values = Vec::new();
        for batch in batches {
            let rows = tally.take(batch.clone(), &schema())?;
            values.extend_from_slice(rows.column(0).as_primitive::<arrow::datatypes::Int64Type>().values());
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

    #[test]
    fn rows_without_columns_are_counted() {
        let none = Arc::new(Schema::empty());
        let options = RecordBatchOptions::new().with_row_count(Some(7));
        let rows = RecordBatch::try_new_with_options(Arc::clone(&none), Vec::new(), &options).unwrap();
        let mut frames = Frames::new(framed(&none), 0);
        let mut tally = Tally::new(1);
        assert_eq!(tally.take(frames.batch(rows).unwrap(), &none).unwrap().num_rows(), 7);
        assert!(tally.check().is_err());
        assert_eq!(tally.take(frames.end().unwrap(), &none).unwrap().num_rows(), 0);
        tally.check().unwrap();
    }
}
