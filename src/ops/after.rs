//! Where a recording ends, before which its next piece must not begin. Not what else is checked of a piece
//! (see `continued`).

use crate::error::{Error, Result};
use crate::schema::TableSpec;
use crate::store::Transaction;
use crate::time::{TimeScale, format_duration};

/// The end of a recording, by table and core.
pub(super) struct After {
    recording: String,
    /// The last instant of each file, in ticks.
    last: Vec<(String, Option<String>, i64)>,
    scale: TimeScale,
}

impl After {
    pub fn of(tx: &Transaction, recording: &str) -> Result<Self> {
        let files = tx.recording(recording)?.map_or_else(Vec::new, |recording| recording.files.clone());
        let last = files.into_iter().filter_map(|file| Some((file.table, file.core, file.end_at?))).collect();
        Ok(Self { recording: recording.to_owned(), last, scale: tx.time_scale() })
    }

    /// The last instant of a table and core; `None` if the recording has no row of it.
    pub fn end_of(&self, table: &TableSpec, core: Option<&str>) -> Option<i64> {
        let of = self.last.iter().filter(|(name, of, _)| name == table.name && of.as_deref() == core);
        of.map(|(.., end)| *end).max()
    }

    /// The error about a piece whose rows begin at `first`, before `end`.
    pub fn refusal(&self, (first, end): (i64, i64), core: Option<&str>) -> Error {
        let of = core.map_or(String::new(), |core| format!(" of core '{core}'"));
        let [first, end] = [first, end].map(|ticks| format_duration(ticks, self.scale));
        let recording = &self.recording;
        Error::input(format!("the trace{of} begins at {first}, before that of '{recording}' ends, at {end}"))
            .hint("pieces are given in the order of time, each once")
            .hint("if its times count from zero again, say from where with time_offset")
    }
}
