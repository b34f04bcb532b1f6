//! The description files of a core, stored whole. Not what is in them (see [`super::orti`]).

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::path::Path;

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
pub struct CoreFiles {
    /// BTF name of the core.
    pub name: String,
    /// ORTI file.
    pub orti: Option<SetupFile>,
    /// OS header.
    pub os_header: Option<SetupFile>,
    /// Symbol table.
    pub symbols: Option<SetupFile>,
}

/// A small text file, stored whole.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
pub struct SetupFile {
    /// Path as in the description.
    pub path: String,
    /// Content; bytes that are not UTF-8 are replaced.
    pub text: String,
}

/// Maximum size: no ORTI, header or name list is larger.
const MAX_FILE: u64 = 64 << 20;

/// Reads a file that a description names.
pub(super) fn read_file(base: &Path, path: &str) -> Result<SetupFile> {
    let full = base.join(path);
    let size = std::fs::metadata(&full).map_err(|e| Error::io("read", &full, e))?.len();
    if size > MAX_FILE {
        return Err(Error::input(format!("{size} bytes are too many for a description file")).at(&full));
    }
    let bytes = std::fs::read(&full).map_err(|e| Error::io("read", &full, e))?;
    Ok(SetupFile { path: path.to_owned(), text: String::from_utf8_lossy(&bytes).into_owned() })
}
