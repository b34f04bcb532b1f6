//! One recording in a transaction, as it will be. Not the transaction (see `transaction`).

use std::collections::HashMap;

use super::layout;
use super::recording::Recording;

/// One recording as it will be.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub recording: Recording,
    /// False while it is only the owner of files, or after it was dropped.
    pub is_there: bool,
    /// Where the files that are not committed are, by their paths.
    pub staged: HashMap<String, String>,
    /// The next part of each folder that has been given one.
    pub next_parts: HashMap<String, u32>,
}

impl Draft {
    /// The next free number in a folder of tables, or of a blob.
    pub fn next_part(&self, key: &str) -> u32 {
        let given = self.next_parts.get(key).copied().unwrap_or(0);
        let files = self.recording.files.iter().map(|f| &f.path);
        let files = files.filter(|path| path.rsplit_once('/').is_some_and(|p| p.0 == key));
        let blobs = self.recording.blobs.iter().filter(|b| layout::blob_key(&b.kind, &b.name) == key);
        let numbers = files.chain(blobs.map(|b| &b.path)).filter_map(|path| layout::number(path));
        numbers.max().map_or(0, |n| n.saturating_add(1)).max(given)
    }
}
