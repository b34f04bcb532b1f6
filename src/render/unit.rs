//! Columns of ticks in another unit, for people: `3025000` ns is `3.025000` ms. Whole ticks become exact
//! decimal fractions; averages are floating-point numbers. Not for files, which keep ticks.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Decimal128Type, Field, Float64Type, Int64Type, Schema, SchemaRef};

use super::misfit;
use crate::error::Result;
use crate::time::TimeScale;

/// Enough digits for any `i64` and its fraction.
const PRECISION: u8 = 38;

/// Converts the columns of a result to a unit.
#[derive(Debug)]
pub struct InUnit {
    schema: SchemaRef,
    times: Vec<bool>,
    /// The number of powers of ten by which a tick is finer than the unit; negative if it is coarser.
    digits: i8,
}

impl InUnit {
    /// Converts the columns selected by `times`, which count ticks of `scale`, to `unit`, and names them
    /// after it.
    pub fn new(schema: &SchemaRef, times: &[bool], scale: TimeScale, unit: TimeScale) -> Self {
        // At most 12: from picoseconds to seconds.
        let digits = (i64::from(scale.decimals()) - i64::from(unit.decimals())) as i8;
        let mut times = times.to_vec();
        times.resize(schema.fields().len(), false);
        for (time, field) in times.iter_mut().zip(schema.fields()) {
            *time &= matches!(field.data_type(), DataType::Int64 | DataType::Float64);
        }
        let field = |(field, time): (&Arc<Field>, &bool)| match (time, field.data_type()) {
            (false, _) => field.as_ref().clone(),
            (true, ty) => {
                let ty = if *ty == DataType::Int64 && digits != 0 { decimal(digits) } else { ty.clone() };
                Field::new(format!("{} [{unit}]", field.name()), ty, field.is_nullable())
            }
        };
        let fields: Vec<Field> = schema.fields().iter().zip(&times).map(field).collect();
        Self { schema: Arc::new(Schema::new(fields)), times, digits }
    }

    /// The columns of [`InUnit::convert`]ed batches.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The same rows in the unit.
    pub fn convert(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let convert = |(array, time): (&ArrayRef, &bool)| -> Result<ArrayRef> {
            Ok(match (time, array.data_type()) {
                (true, DataType::Int64) if self.digits != 0 => {
                    // The product of 64 bits and at most 10¹² fits.
                    let factor = 10i128.pow(u32::from(self.digits.min(0).unsigned_abs()));
                    let in_unit = |ticks: i64| i128::from(ticks) * factor;
                    let ticks = array.as_primitive::<Int64Type>().unary::<_, Decimal128Type>(in_unit);
                    Arc::new(ticks.with_data_type(decimal(self.digits)))
                }
                (true, DataType::Float64) => {
                    let values = array.as_primitive::<Float64Type>();
                    Arc::new(values.unary::<_, Float64Type>(|v| shifted(v, i32::from(self.digits))))
                }
                _ => Arc::clone(array),
            })
        };
        let columns = batch.columns().iter().zip(&self.times).map(convert).collect::<Result<Vec<_>>>()?;
        RecordBatch::try_new(Arc::clone(&self.schema), columns).map_err(misfit)
    }
}

fn decimal(digits: i8) -> DataType {
    DataType::Decimal128(PRECISION, digits.max(0))
}

/// A number without `digits` powers of ten. Both powers are exact, and so is the quotient as far as possible.
pub fn shifted(value: f64, digits: i32) -> f64 {
    if digits < 0 { value * 10f64.powi(-digits) } else { value / 10f64.powi(digits) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::{Format, render};
    use arrow::array::{Float64Array, Int64Array, StringArray};

    fn shown(scale: TimeScale, unit: TimeScale) -> Vec<String> {
        let batch = RecordBatch::try_from_iter([
            ("at", Arc::new(Int64Array::from(vec![Some(3_025_000), Some(-1), None])) as ArrayRef),
            ("avg", Arc::new(Float64Array::from(vec![1500.0, 0.5, 1e9]))),
            ("n", Arc::new(Int64Array::from(vec![1, 2, i64::MIN]))),
            ("name", Arc::new(StringArray::from(vec!["a", "b", "c"]))),
        ])
        .unwrap();
        let times = InUnit::new(&batch.schema(), &[true, true, false, true], scale, unit);
        let mut out = Vec::new();
        let mut batches = std::iter::once(times.convert(&batch));
        render(times.schema(), &mut batches, Format::Csv, &mut out, None, 1).unwrap();
        String::from_utf8(out).unwrap().lines().map(str::to_owned).collect()
    }

    #[test]
    fn ticks_are_exact_in_every_unit() {
        let ms = shown(TimeScale::Ns, TimeScale::Ms);
        assert_eq!(ms[0], "at [ms],avg [ms],n,name");
        assert_eq!(ms[1], "3.025000,0.0015,1,a");
        assert_eq!(ms[2], "-0.000001,0.0000005,2,b");
        assert_eq!(ms[3], ",1000,-9223372036854775808,c");
        assert_eq!(shown(TimeScale::Ps, TimeScale::S)[1], "0.000003025000,0.0000000015,1,a");
    }

    #[test]
    fn a_unit_that_is_not_coarser_than_the_ticks_is_exact_too() {
        assert_eq!(shown(TimeScale::Ns, TimeScale::Ns)[1], "3025000,1500,1,a");
        let ps = shown(TimeScale::Ns, TimeScale::Ps);
        assert_eq!(ps[0], "at [ps],avg [ps],n,name");
        assert_eq!(ps[1], "3025000000,1500000,1,a");
    }
}
