//! Results of recordings as texts, which say what columns cannot: how they are passed on. Not what they say.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::ask::Fleet;
use super::task::Work;
use crate::error::{Error, ErrorKind, Result};
use crate::schema::result::{Texts, column};

fn schema() -> SchemaRef {
    let text = |name: &str| Field::new(name, DataType::Utf8, false);
    Arc::new(Schema::new(vec![text("recording"), text("text")]))
}

/// The results of the recordings of a fleet, in the order of the database; recordings without a result are
/// left out.
pub(super) fn gathered<T: DeserializeOwned>(fleet: &Fleet<'_>, work: Work) -> Result<Vec<(String, T)>> {
    let mut all = Vec::new();
    for batch in fleet.run_in_order(work, &schema())? {
        let (names, texts): (Texts, Texts) = (column(&batch, "recording")?, column(&batch, "text")?);
        for row in 0..batch.num_rows() {
            let result = serde_json::from_str(texts.value(row)).map_err(bug)?;
            all.push((names.value(row).to_owned(), result));
        }
    }
    Ok(all)
}

/// Results of some recordings, to be passed on.
pub(super) fn passed<T: Serialize>(results: &[(String, T)]) -> Result<RecordBatch> {
    let names = results.iter().map(|(name, _)| Some(name.as_str()));
    let texts = results.iter().map(|(_, result)| serde_json::to_string(result).map_err(bug));
    let texts = texts.collect::<Result<Vec<_>>>()?;
    let columns: Vec<ArrayRef> =
        vec![Arc::new(names.collect::<StringArray>()), Arc::new(StringArray::from(texts))];
    RecordBatch::try_new(schema(), columns)
        .map_err(|e| Error::new(ErrorKind::Bug, "results do not fit their columns").because(e))
}

fn bug(e: serde_json::Error) -> Error {
    Error::new(ErrorKind::Bug, "a result of an executor cannot be read").because(e)
}
