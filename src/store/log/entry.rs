//! One commit, as its file has it. Not the search for it (see `snapshot`).

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::sealed;
use crate::error::Result;
use crate::store::layout;
use crate::store::recording::Recording;
use crate::time::TimeScale;

/// What is known of the database after a commit without looking at any other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::store) struct Head {
    /// Number of commits so far.
    pub number: u64,
    /// Program that made the commit, with its version.
    pub creator: String,
    /// Unit of every tick in the database.
    #[serde(with = "time_scale")]
    pub time_scale: TimeScale,
    /// Number of recordings.
    pub recordings: u64,
    /// Number of rows of each table that has some.
    pub rows: BTreeMap<String, u64>,
    /// The next recording gets this ordinal.
    pub next_ordinal: u64,
    /// New parts get at least this number. Names of removed files are not used again: a reader of an older
    /// state finds its file, or none, but never another one.
    pub next_part: u32,
}

/// A commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::store) struct Commit {
    /// Of the writer, in a bucket: one whose answer was lost knows its own commit.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    pub head: Head,
    /// The recordings that are new or different, by name.
    pub puts: Vec<Recording>,
    /// The names of recordings that are no longer there, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drops: Vec<String>,
    /// The files that the commit takes out of the database.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub freed: Vec<String>,
}

impl Head {
    pub(in crate::store) fn new(time_scale: TimeScale) -> Self {
        let creator = String::new();
        let rows = BTreeMap::new();
        Self { number: 0, creator, time_scale, recordings: 0, rows, next_ordinal: 0, next_part: 0 }
    }

    /// Counts the rows of a recording that takes the place of another one, or of none.
    pub(in crate::store) fn count(&mut self, before: Option<&Recording>, after: Option<&Recording>) {
        for file in before.iter().flat_map(|recording| &recording.files) {
            if let Some(rows) = self.rows.get_mut(&file.table) {
                *rows = rows.saturating_sub(file.rows);
            }
        }
        for file in after.iter().flat_map(|recording| &recording.files) {
            let rows = self.rows.entry(file.table.clone()).or_default();
            *rows = rows.saturating_add(file.rows);
        }
        self.rows.retain(|_, rows| *rows > 0);
    }
}

impl Commit {
    pub(in crate::store) fn to_json(&self) -> Result<Vec<u8>> {
        sealed::seal(self)
    }

    /// Reads the commit that is in the file at `path`.
    ///
    /// # Errors
    /// [`crate::error::ErrorKind::Database`] when it is not ours, of another version, or damaged.
    pub(in crate::store) fn parse(json: &[u8], path: &Path) -> Result<Self> {
        let commit: Self = sealed::open(json, path)?;
        let paths = commit.puts.iter().flat_map(Recording::paths);
        let is_inside = paths.chain(commit.freed.iter().map(String::as_str)).all(layout::is_inside);
        if !is_inside { Err(sealed::damaged(path)) } else { Ok(commit) }
    }

    /// The recordings that it changes.
    pub(in crate::store) fn names(&self) -> impl Iterator<Item = &str> {
        self.puts.iter().map(|r| r.name.as_str()).chain(self.drops.iter().map(String::as_str))
    }
}

/// Time scales as their symbols.
mod time_scale {
    use serde::{Deserialize, Deserializer, Serializer, de::Error as _};

    use crate::time::TimeScale;

    pub(super) fn serialize<S: Serializer>(scale: &TimeScale, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(scale.as_str())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<TimeScale, D::Error> {
        let text = String::deserialize(d)?;
        TimeScale::parse(&text).ok_or_else(|| D::Error::custom(format!("unknown time scale '{text}'")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use crate::store::recording::{BlobEntry, Unknown};

    fn commit() -> Commit {
        let blob = BlobEntry {
            path: "setup/recording=a/setup.json".into(),
            kind: "setup".into(),
            name: "setup.json".into(),
            bytes: u64::MAX,
            checksum: "xxh3-128:0".into(),
            other: Unknown::default(),
        };
        let recording = Recording {
            name: "a\"ü".into(),
            begin_at: Some(i64::MIN),
            end_at: Some(i64::MAX),
            blobs: vec![blob],
            ..Recording::default()
        };
        let head = Head { number: 7, ..Head::new(TimeScale::Ps) };
        let id = "0123456789abcdef".into();
        Commit { id, head, puts: vec![recording], drops: vec!["b".into()], freed: vec!["x/y".into()] }
    }

    fn parse(json: &[u8]) -> Result<Commit> {
        Commit::parse(json, Path::new("db/log/7.json"))
    }

    #[test]
    fn a_commit_survives_the_way_through_json() {
        assert_eq!(parse(&commit().to_json().unwrap()).unwrap(), commit());
    }

    /// Any damaged byte gives an error, or (white space) the same commit.
    #[test]
    fn no_damage_goes_unnoticed() {
        let good = commit().to_json().unwrap();
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 1;
            match parse(&bad) {
                Ok(m) => assert_eq!(m, commit(), "byte {at}"),
                Err(e) => assert_eq!(e.kind(), ErrorKind::Database, "byte {at}"),
            }
        }
    }

    #[test]
    fn fields_of_a_later_btfdb_are_kept() {
        let mut later: serde_json::Value = serde_json::to_value(commit()).unwrap();
        later["puts"][0]["later"] = [1, 2].into();
        later["puts"][0]["blobs"][0]["later"] = "x".into();
        later["puts"][0]["files"] = serde_json::json!([{
            "path": "a/b", "table": "gap", "recording": "a", "rows": 1, "bytes": 2, "tail": 1, "begin_at": null,
            "end_at": null, "checksum": "", "later": { "deep": true },
        }]);
        later["later"] = true.into();
        let commit = parse(&sealed::seal(&later).unwrap()).unwrap();
        let kept = serde_json::to_value(&commit.puts).unwrap();
        assert_eq!(kept, later["puts"]);
    }

    #[test]
    fn other_versions_and_other_programs_are_named() {
        let json = String::from_utf8(commit().to_json().unwrap()).unwrap();
        let version = |v: u32| format!("\"version\":{v}");
        let newer = json.replace(&version(sealed::VERSION), &version(sealed::VERSION + 1));
        let newer = parse(newer.as_bytes()).unwrap_err();
        assert!(newer.to_string().contains(&format!("format {}", sealed::VERSION + 1)), "{newer}");
        let other = parse(json.replace("btfdb database", "something").as_bytes()).unwrap_err();
        assert!(other.to_string().contains("not of a btfdb database"), "{other}");
    }

    #[test]
    fn paths_that_leave_the_database_are_damage() {
        let mut commit = commit();
        commit.freed.push("../other/file".into());
        assert!(parse(&commit.to_json().unwrap()).unwrap_err().to_string().contains("damaged"));
    }
}
