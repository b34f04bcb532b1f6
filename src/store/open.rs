//! Opens table files for reading without SQL: one of the places that an object store would change. The others
//! are scans of SQL (`engine/table/object_store`), and `manifest`, `checksum` and `folder`, which read by
//! themselves. Not for writing (see `disk`).

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
