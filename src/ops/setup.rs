//! How a recording is mapped: stored with it as JSON, so that it can be mapped again without its inputs. Not
//! what the settings mean, which is up to the mapper.

use crate::error::{Error, ErrorKind, Result};
use crate::store::Transaction;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The kind and name of the file, for the store.
const FILE: (&str, &str) = ("setup", "setup.json");

/// The kind of the files about the end of a recording, for the store.
pub(super) const STATE: &str = "state";
/// The state of its mapper there.
pub(super) const STATE_FILE: &str = "state.json";

/// The mapping of a recording.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MappingSetup {
    /// Name of the mapper, see [`crate::map::Mapper::NAME`]; `None` if the recording is not to be mapped.
    pub mapper: Option<String>,
    /// The ingest removed events after the mapping: it cannot be mapped again.
    pub left_out: bool,
    /// Patterns of the names of idle tasks that the user gave, in addition to those of the mapper.
    pub idle_tasks: Vec<String>,
    /// The settings of the mapper, see [`crate::map::Mapper::Settings`].
    pub settings: Value,
}

impl MappingSetup {
    /// A recording that `mapper` maps by `settings`.
    pub(super) fn new(mapper: Option<&str>, settings: &impl Serialize) -> Result<Self> {
        let settings = serde_json::to_value(settings).map_err(no_json)?;
        Ok(Self { mapper: mapper.map(str::to_owned), left_out: false, idle_tasks: Vec::new(), settings })
    }

    /// Reads the setup of a recording; `None` if it has none.
    pub(super) fn read(tx: &Transaction, recording: &str) -> Result<Option<Self>> {
        let text = tx.blob(FILE.0, recording, FILE.1)?;
        text.map(|text| Self::from_json(&text, recording)).transpose()
    }

    pub(super) fn write(&self, tx: &mut Transaction, recording: &str) -> Result<()> {
        tx.put_blob(FILE.0, recording, FILE.1, &self.to_json()?)
    }

    /// The text of the file.
    ///
    /// # Errors
    /// None that is known.
    pub fn to_json(&self) -> Result<Vec<u8>> {
        serde_json::to_vec_pretty(self).map_err(no_json)
    }

    /// Reads the text of the file of a recording.
    ///
    /// # Errors
    /// [`ErrorKind::Database`], with the name of the recording.
    pub fn from_json(text: &[u8], recording: &str) -> Result<Self> {
        serde_json::from_slice(text).map_err(|e| unreadable(recording, e))
    }

    /// The settings, as those of a mapper; see [`crate::map::Mapper::Settings`].
    ///
    /// # Errors
    /// [`ErrorKind::Database`], with the name of the recording, when they are of another mapper.
    pub fn settings_as<S: DeserializeOwned>(&self, recording: &str) -> Result<S> {
        S::deserialize(&self.settings).map_err(|e| unreadable(recording, e))
    }
}

fn unreadable(recording: &str, e: serde_json::Error) -> Error {
    Error::database(format!("the setup of '{recording}' cannot be read")).because(e)
}

fn no_json(e: serde_json::Error) -> Error {
    Error::new(ErrorKind::Bug, "a setup is no JSON").because(e)
}
