//! The traced application: the description files of its cores, stored whole, and what they say. Not the model
//! of the mapping (see `map::osek`).

use super::orti::{Oil, Orti, OsHeader, Symbols};
use super::profile::Profile;
use crate::encoding::{Encoding, decoded_from};
use crate::error::{Error, Result};
use crate::time::TimeScale;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;

/// The traced application: the description of a recording (o and l of the thesis, equation 4.6).
#[derive(Debug, Clone)]
pub struct Application {
    pub profile: Profile,
    /// One entry per traced core, in recording order.
    pub cores: Vec<ApplicationCore>,
    /// l_r: functions that are runnables.
    pub runnables: Vec<String>,
    /// l_s: variables that are signals.
    pub signals: Vec<String>,
    /// Functions that are category 1 ISRs, which the OS does not manage.
    pub category1_isrs: Vec<String>,
    /// Traced variable name → path in ORTI, if the two differ.
    pub aliases: BTreeMap<String, String>,
    /// Task body function → task.
    pub task_functions: BTreeMap<String, String>,
    /// Window of rule I6 in ticks; 0 is off.
    pub coalescing: i64,
    /// What a tick is.
    pub time_scale: TimeScale,
}

#[derive(Debug, Clone)]
pub struct ApplicationCore {
    pub name: String,
    /// The first core of its control unit: cores of several share no memory.
    pub ecu: usize,
    /// The ORTI file of the core's OS.
    pub orti: Option<Orti>,
    /// Its path, as in the description.
    pub orti_file: Option<String>,
    /// The generated OS header: event masks, ids, spinlocks.
    pub header: Option<OsHeader>,
    /// Its path, as in the description.
    pub header_file: Option<String>,
    /// What OIL declares for it.
    pub oil: Oil,
    /// Addresses of ISR handlers.
    pub symbols: Symbols,
}

/// A core with the description files that were stored of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct CoreFiles {
    /// BTF name of the core.
    pub name: String,
    /// Name of its control unit, if the recording is of several.
    #[serde(default)]
    pub ecu: Option<String>,
    /// Its number in the words of hook variables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<u64>,
    /// The ORTI file of its OS.
    pub orti: Option<SetupFile>,
    /// The generated OS header.
    pub os_header: Option<SetupFile>,
    /// Its OIL files.
    pub oil: Vec<SetupFile>,
    /// Addresses of ISR handlers.
    pub symbols: Option<SetupFile>,
}

/// A small text file, stored whole.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
pub struct SetupFile {
    /// Path as in the description.
    pub path: String,
    /// Content; bytes that are not UTF-8 are escaped.
    pub text: String,
}

/// Maximum size: no ORTI, header or name list is larger.
const MAX_FILE: u64 = 64 << 20;

/// Reads a file that a description names; `encoding`, if it was told, is that of a text that is not UTF-8.
pub(super) fn read_file(base: &Path, path: &str, encoding: Option<Encoding>) -> Result<SetupFile> {
    let full = base.join(path);
    let io = |e| Error::io("read", &full, e);
    // A pipe may never have an end; those of a shell, `<(…)`, are what the user wrote.
    if !std::fs::metadata(&full).map_err(io)?.is_file() && !full.starts_with("/dev") {
        return Err(Error::input("a description file is expected, and this is no file").at(&full));
    }
    let mut bytes = Vec::new();
    let file = std::fs::File::open(&full).map_err(io)?;
    file.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(io)?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(
            Error::input(format!("more than {MAX_FILE} bytes are too many for a description file")).at(&full)
        );
    }
    Ok(SetupFile { path: path.to_owned(), text: decoded_from(&bytes, encoding).into_owned() })
}
