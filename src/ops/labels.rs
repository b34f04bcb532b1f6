//! Labels of recordings: what the user says of them, to choose them by. Not the choice (see `choice`).

use crate::error::{Error, Result};
use crate::schema::{RecordingLabelRow, RecordingLabelRows, tables};
use crate::store::Transaction;
use std::collections::BTreeMap;

/// Labels and their values.
pub type Labels = BTreeMap<String, String>;

/// `LABEL=VALUE`, as users write it.
///
/// # Errors
/// [`crate::error::ErrorKind::Usage`] when it is not of that form.
pub fn label(text: &str) -> Result<(String, String)> {
    let split = text.split_once('=').map(|(label, value)| (label.trim(), value.trim()));
    match split {
        Some((label, value)) if !label.is_empty() => Ok((label.to_owned(), value.to_owned())),
        _ => Err(Error::usage(format!("'{text}' is no label")).hint("write LABEL=VALUE, e.g. build=1234")),
    }
}

/// Adds labels to those of a recording; a new value takes the place of the old one.
pub(super) fn add(tx: &mut Transaction, recording: &str, labels: &Labels) -> Result<()> {
    if labels.is_empty() {
        return Ok(());
    }
    let mut all = tx.recording(recording)?.map_or_else(Labels::new, |r| r.labels.clone());
    all.extend(labels.clone());
    let mut rows = RecordingLabelRows::new();
    for (label, value) in &all {
        rows.push(RecordingLabelRow { label: label.as_str().into(), value: value.as_str().into() });
    }
    tx.drop_table(tables::RECORDING_LABEL, recording)?;
    tx.put_rows(tables::RECORDING_LABEL, recording, &[rows.take_batch()?])?;
    tx.set_labels(recording, all)
}
