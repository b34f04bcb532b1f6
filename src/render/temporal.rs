//! Dates and instants that have no text, because they are beyond the years that a calendar here has: an
//! error, where Arrow would write one into the cell. Not for files that keep them as numbers.

use arrow::array::{Array, RecordBatch};
use arrow::datatypes::DataType;
use arrow::util::display::{ArrayFormatter, FormatOptions};

use super::unwritable_value;
use crate::error::{Error, ErrorKind, Result};

/// Checks that every value of a batch has a text.
///
/// # Errors
/// [`ErrorKind::Query`], with the column, for the first one that has none.
pub(super) fn check(batch: &RecordBatch) -> Result<()> {
    let options = FormatOptions::new().with_display_error(false);
    for (field, array) in batch.schema_ref().fields().iter().zip(batch.columns()) {
        if !is_temporal(field.data_type()) {
            continue;
        }
        let formatter = ArrayFormatter::try_new(array.as_ref(), &options).map_err(unwritable_value)?;
        for row in (0..array.len()).filter(|row| array.is_valid(*row)) {
            if let Err(e) = formatter.value(row).try_to_string() {
                let (name, why) = (field.name(), e.to_string());
                // A list does not say which of its values it is.
                let why = match why.trim_start_matches("Cast error: ") {
                    "Format error" => "a date or instant in it is beyond the calendar",
                    why => why,
                };
                return Err(Error::new(ErrorKind::Query, format!("column '{name}' cannot be shown: {why}"))
                    .hint(
                        "is its unit right? to_timestamp_nanos, _micros, _millis and _seconds take a number",
                    )
                    .hint("CAST(… AS BIGINT) shows the number"));
            }
        }
    }
    Ok(())
}

/// True for dates and instants, and for what has them inside.
fn is_temporal(ty: &DataType) -> bool {
    match ty {
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::ListView(field)
        | DataType::LargeListView(field)
        | DataType::FixedSizeList(field, _)
        | DataType::Map(field, _) => is_temporal(field.data_type()),
        DataType::Struct(fields) => fields.iter().any(|field| is_temporal(field.data_type())),
        DataType::Union(fields, _) => fields.iter().any(|(_, field)| is_temporal(field.data_type())),
        DataType::Dictionary(_, value) => is_temporal(value),
        DataType::RunEndEncoded(_, values) => is_temporal(values.data_type()),
        other => other.is_temporal(),
    }
}

#[cfg(test)]
mod tests {
    use crate::render::{Format, render};
    use arrow::array::{ArrayRef, RecordBatch, TimestampSecondArray};
    use std::sync::Arc;

    #[test]
    fn an_instant_beyond_the_calendar_is_an_error_in_every_text() {
        let of = |second: i64| {
            let array = TimestampSecondArray::from(vec![None, Some(second)]);
            RecordBatch::try_from_iter([("x", Arc::new(array) as ArrayRef)]).unwrap()
        };
        let (good, bad) = (of(1), of(9_000_000_000_000_000));
        for format in Format::ALL {
            let shown = |batch: &RecordBatch| {
                let mut out = Vec::new();
                let rows = &mut std::iter::once(Ok(batch.clone()));
                render(&batch.schema(), rows, format, &mut out, None, 1).map_err(|e| e.to_string())
            };
            assert!(shown(&good).is_ok(), "{format:?}");
            match shown(&bad) {
                Ok(_) => assert!(format.is_binary(), "{format:?}"),
                Err(e) => assert!(e.starts_with("column 'x' cannot be shown: Failed to convert 9000"), "{e}"),
            }
        }
    }
}
