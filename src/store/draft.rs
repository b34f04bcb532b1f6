//! What a transaction changes: recordings as they will be, and the commit that says so. Not how a commit is
//! made (see `target`).

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::layout;
use super::log::{Commit, Head, Snapshot};
use super::recording::Recording;
use crate::error::{Error, ErrorKind, Result};

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

/// What differs from the state that a transaction began from.
#[derive(Debug, Default)]
pub(super) struct Change {
    /// By the name of a recording.
    pub drafts: BTreeMap<String, Draft>,
    /// The names in `drafts` of recordings that were not there, in the order in which they came.
    pub new: Vec<String>,
    /// New parts get at least this number.
    pub next_part: u32,
}

impl Change {
    /// Fails when files would belong to no recording.
    pub fn check(&self) -> Result<()> {
        let homeless = |d: &Draft| !d.is_there && d.recording.paths().next().is_some();
        let Some((name, _)) = self.drafts.iter().find(|(_, draft)| homeless(draft)) else { return Ok(()) };
        Err(Error::new(ErrorKind::Bug, format!("there are files of '{name}', which is no recording")))
    }

    /// The commit behind `before`, which has changed no recording of these since `base`.
    pub fn to_commit(&self, base: &Snapshot, before: &Head) -> Result<Commit> {
        let mut head = before.clone();
        head.number += 1;
        head.creator = format!("btfdb {}", env!("CARGO_PKG_VERSION"));
        head.next_part = head.next_part.max(self.next_part);
        let (mut puts, mut drops, mut freed) = (Vec::new(), Vec::new(), Vec::new());
        for (name, draft) in &self.drafts {
            let present = base.recording(name)?;
            let live: BTreeSet<&str> = draft.recording.paths().collect();
            let gone = present.iter().flat_map(|present| present.paths());
            freed.extend(gone.filter(|path| !live.contains(path)).map(str::to_owned));
            head.count(present.as_deref(), draft.is_there.then_some(&draft.recording));
            match (draft.is_there, present) {
                (true, _) => puts.push(draft.recording.clone()),
                (false, Some(_)) => {
                    drops.push(name.clone());
                    head.recordings = head.recordings.saturating_sub(1);
                }
                (false, None) => {}
            }
        }
        // In the order of their names, as the drafts are.
        for name in &self.new {
            let at = puts.binary_search_by(|put: &Recording| put.name.as_str().cmp(name));
            if let Some(put) = at.ok().and_then(|at| puts.get_mut(at)) {
                put.ordinal = head.next_ordinal;
                head.next_ordinal = head.next_ordinal.saturating_add(1);
                head.recordings = head.recordings.saturating_add(1);
            }
        }
        Ok(Commit { id: String::new(), head, puts, drops, freed })
    }

    /// The new files of a commit of this change: where each is, and where it belongs. One folder after the
    /// other.
    pub fn moves(&self, commit: &Commit) -> Vec<(String, String)> {
        let drafts = commit.puts.iter().filter_map(|put| self.drafts.get(&put.name));
        let staged = drafts.flat_map(|draft| &draft.staged);
        let mut moves: Vec<_> = staged.map(|(path, place)| (place.clone(), path.clone())).collect();
        moves.sort_unstable_by(|(_, a), (_, b)| a.cmp(b));
        moves
    }
}
