//! The aggregate `mode(x)`: the value that occurs most often. Not for medians.

use std::collections::HashMap;
use std::mem::{size_of, size_of_val};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array};
use arrow::datatypes::{DataType, Field, FieldRef, Int64Type};
use arrow::row::{OwnedRow, RowConverter, SortField};
use datafusion::common::utils::SingleRowListArrayBuilder;
use datafusion::error::Result;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::format_state_name;
use datafusion::logical_expr::{Accumulator, AggregateUDFImpl, Signature, Volatility};
use datafusion::scalar::ScalarValue;

/// NULLs do not count. Of several values that occur equally often, it is the least.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Mode {
    signature: Signature,
}

impl Mode {
    pub(super) fn new() -> Self {
        Self { signature: Signature::any(1, Volatility::Immutable) }
    }
}

impl AggregateUDFImpl for Mode {
    fn name(&self) -> &str {
        "mode"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        match types {
            [ty] => Ok(ty.clone()),
            _ => datafusion::common::plan_err!("'mode' is of one column, not of {}", types.len()),
        }
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let list = |name, ty: &DataType| {
            let name = format_state_name(args.name, name);
            Arc::new(Field::new(name, DataType::new_list(ty.clone(), true), true))
        };
        Ok(vec![list("values", args.return_field.data_type()), list("counts", &DataType::Int64)])
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let ty = args.return_field.data_type().clone();
        let rows = RowConverter::new(vec![SortField::new(ty.clone())])?;
        Ok(Box::new(Counts { ty, rows, counts: HashMap::new(), bytes: 0 }))
    }
}

/// How often each value occurred, by its row form, which sorts as values do.
#[derive(Debug)]
struct Counts {
    ty: DataType,
    rows: RowConverter,
    counts: HashMap<OwnedRow, i64>,
    bytes: usize,
}

impl Counts {
    fn add(&mut self, values: &ArrayRef, count: impl Fn(usize) -> i64) -> Result<()> {
        let rows = self.rows.convert_columns(std::slice::from_ref(values))?;
        for (at, row) in rows.iter().enumerate() {
            if values.is_valid(at) {
                let row = row.owned();
                let bytes = row.as_ref().len() + size_of::<(OwnedRow, i64)>();
                let entry = self.counts.entry(row);
                if matches!(entry, std::collections::hash_map::Entry::Vacant(_)) {
                    self.bytes += bytes;
                }
                *entry.or_default() += count(at);
            }
        }
        Ok(())
    }

    fn values<'a>(&self, rows: impl Iterator<Item = &'a OwnedRow>) -> Result<ArrayRef> {
        let columns = self.rows.convert_rows(rows.map(OwnedRow::row))?;
        Ok(columns.into_iter().next().unwrap_or_else(|| arrow::array::new_empty_array(&self.ty)))
    }
}

impl Accumulator for Counts {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        values.first().map_or(Ok(()), |values| self.add(values, |_| 1))
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let most = self.counts.iter().max_by(|a, b| a.1.cmp(b.1).then_with(|| b.0.cmp(a.0)));
        match most {
            Some((row, _)) => ScalarValue::try_from_array(&self.values(std::iter::once(row))?, 0),
            None => ScalarValue::try_from(&self.ty),
        }
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.rows.size() + self.bytes
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let counts: Int64Array = self.counts.values().copied().collect();
        let values = match self.counts.is_empty() {
            true => arrow::array::new_empty_array(&self.ty),
            false => self.values(self.counts.keys())?,
        };
        let list = |array| SingleRowListArrayBuilder::new(array).build_list_scalar();
        Ok(vec![list(values), list(Arc::new(counts))])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let [values, counts] = states else { return Ok(()) };
        for (values, counts) in values.as_list::<i32>().iter().zip(counts.as_list::<i32>().iter()) {
            if let (Some(values), Some(counts)) = (values, counts) {
                let counts = counts.as_primitive::<Int64Type>();
                self.add(&values, |at| counts.value(at))?;
            }
        }
        Ok(())
    }
}
