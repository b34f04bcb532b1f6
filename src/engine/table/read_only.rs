//! What stores answer that statements read the database from: they change no file of it. Not the reading.

use datafusion::object_store::Error;

pub(super) fn read_only(operation: &str) -> Error {
    Error::NotSupported { source: format!("{operation}: the database is read-only").into() }
}
