//! Opens the files of a database for reading without SQL. The place in this room where an object store would
//! join the local disk; scans of the query engine open files in `engine/table`. Not for writing (see `disk`).

use std::fs::File;
use std::path::Path;

use crate::error::{Error, Result};

/// Opens a file for reading.
///
/// # Errors
/// [`crate::error::ErrorKind::Io`].
pub(super) fn for_reading(path: &Path) -> Result<File> {
    File::open(path).map_err(|error| Error::io("open", path, error))
}
