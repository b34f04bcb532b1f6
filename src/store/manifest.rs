//! The manifest: what a database holds, replaced as a whole, with a checksum of itself. Not a log.

use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::checksum::Seal;
use super::layout;
use crate::error::{Error, ErrorKind, Result};
use crate::schema::TableSpec;
use crate::time::TimeScale;

/// The word that marks a manifest of btfdb.
const FORMAT: &str = "btfdb database";
/// Version of the layout and of the manifest; readers accept no other.
const VERSION: u32 = 5;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Program that wrote this manifest, with its version.
    pub creator: String,
    /// Unit of every tick in the database.
    #[serde(with = "time_scale")]
    pub time_scale: TimeScale,
    /// Number of commits so far.
    pub generation: u64,
    /// New parts get at least this number. Names of removed files are not used again: a reader with an older
    /// manifest finds its file, or none, but never another one.
    pub(super) next_part: u32,
    /// The recordings, in the order in which they came.
    pub recordings: Vec<RecordingEntry>,
    /// The files of all tables, by table, recording, core and part.
    pub files: Vec<FileEntry>,
    /// The other files, by path.
    pub blobs: Vec<BlobEntry>,
    /// Files of earlier generations that the commit still has to remove.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) removals: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordingEntry {
    /// Its name, unique in the database.
    pub name: String,
    /// First instant in ticks; `None` when nothing in it has a time.
    pub begin_at: Option<i64>,
    /// Last instant in ticks, inclusive.
    pub end_at: Option<i64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FileEntry {
    /// Its path, relative to the database, with `/`.
    pub path: String,
    pub table: String,
    pub recording: String,
    /// The core, in tables that are divided by core.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core: Option<String>,
    /// Number of rows; never 0.
    pub rows: u64,
    pub bytes: u64,
    /// Earliest instant in any of its columns, in ticks; `None` if there is none.
    pub begin_at: Option<i64>,
    /// Latest instant in any of its columns, in ticks, inclusive.
    pub end_at: Option<i64>,
    /// `xxh3-128:` and 32 hexadecimal digits.
    pub checksum: String,
    /// Its path until the commit has moved it to `path`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) staged: Option<String>,
}

/// One file that is not a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlobEntry {
    /// Its path, relative to the database, with `/`.
    pub path: String,
    /// What it is, e.g. `setup`.
    pub kind: String,
    pub recording: String,
    pub name: String,
    pub bytes: u64,
    /// `xxh3-128:` and 32 hexadecimal digits.
    pub checksum: String,
    /// Its path until the commit has moved it to `path`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) staged: Option<String>,
}

impl BlobEntry {
    /// The content of the file, in the database at `root`.
    pub(super) fn read(&self, root: &Path) -> Result<Vec<u8>> {
        let path = root.join(&self.path);
        let staged = self.staged.as_ref().map(|s| fs::read(root.join(s)));
        let content = match staged {
            Some(Err(e)) if e.kind() == io::ErrorKind::NotFound => fs::read(&path),
            Some(content) => content,
            None => fs::read(&path),
        };
        let content = content.map_err(|e| Error::io("read", &path, e))?;
        if Seal::of(&content).checksum != self.checksum {
            return Err(Error::database("the file is damaged, or has just been replaced")
                .at(path)
                .hint("try again; if it stays, run `btfdb verify DB`"));
        }
        Ok(content)
    }
}

/// The file: a header that every version must be able to read, and the manifest.
#[derive(Serialize)]
struct Envelope<'a> {
    format: &'a str,
    version: u32,
    checksum: &'a str,
    manifest: &'a Manifest,
}

#[derive(Deserialize)]
struct Header {
    format: String,
    version: u32,
}

#[derive(Deserialize)]
struct Content {
    checksum: String,
    manifest: Manifest,
}

impl Manifest {
    pub(super) fn new(time_scale: TimeScale) -> Self {
        Self {
            creator: String::new(),
            time_scale,
            generation: 0,
            next_part: 0,
            recordings: Vec::new(),
            files: Vec::new(),
            blobs: Vec::new(),
            removals: Vec::new(),
        }
    }

    pub fn recording(&self, name: &str) -> Option<&RecordingEntry> {
        self.recordings.iter().find(|r| r.name == name)
    }

    /// The files of a table, of one recording or of all, in order.
    pub fn files_of(&self, table: &TableSpec, recording: Option<&str>) -> impl Iterator<Item = &FileEntry> {
        let wanted =
            move |f: &&FileEntry| f.table == table.name && recording.is_none_or(|r| f.recording == r);
        self.files.iter().filter(wanted)
    }

    /// What a finished commit still has to do, in words; empty nearly always.
    pub(super) fn pending(&self) -> Vec<String> {
        let moves = self.moves().map(|(_, to)| format!("move {to} into place"));
        moves.chain(self.removals.iter().map(|r| format!("remove {r}"))).collect()
    }

    /// The moves that a commit still has to make: (from, to).
    pub(super) fn moves(&self) -> impl Iterator<Item = (&str, &str)> {
        let files = self.files.iter().map(|f| (f.staged.as_deref(), f.path.as_str()));
        let blobs = self.blobs.iter().map(|b| (b.staged.as_deref(), b.path.as_str()));
        files.chain(blobs).filter_map(|(from, to)| Some((from?, to)))
    }

    /// The manifest once everything pending is done.
    pub(super) fn settled(&self) -> Self {
        let mut settled = self.clone();
        settled.files.iter_mut().for_each(|f| f.staged = None);
        settled.blobs.iter_mut().for_each(|b| b.staged = None);
        settled.removals.clear();
        settled
    }

    /// Sorts files and blobs, so that the order in which they were added does not matter.
    pub(super) fn sort(&mut self) {
        let key = |f: &FileEntry| {
            (f.table.clone(), f.recording.clone(), f.core.clone(), layout::part_number(&f.path))
        };
        self.files.sort_by_cached_key(key);
        self.blobs.sort_by(|a, b| a.path.cmp(&b.path));
    }

    pub(super) fn to_json(&self) -> Result<Vec<u8>> {
        let checksum = self.checksum()?;
        let envelope = Envelope { format: FORMAT, version: VERSION, checksum: &checksum, manifest: self };
        let mut json = serde_json::to_vec_pretty(&envelope).map_err(unwritable)?;
        json.push(b'\n');
        Ok(json)
    }

    fn checksum(&self) -> Result<String> {
        Ok(Seal::of(&serde_json::to_vec(self).map_err(unwritable)?).checksum)
    }

    /// Reads the manifest of the database at `root`. Fails with [`ErrorKind::Database`] when there is none,
    /// or it is not ours, newer than we are, or damaged.
    pub(super) fn read(root: &Path) -> Result<Self> {
        match fs::read(root.join(layout::MANIFEST)) {
            Ok(json) => Self::parse(&json, root),
            Err(e) if e.kind() == io::ErrorKind::NotFound && root.is_dir() => {
                Err(Error::database(format!("'{}' is not a btfdb database", root.display()))
                    .hint("a database is a folder with a manifest.json; `btfdb ingest` makes one"))
            }
            Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                let what = if root.exists() { "is a file, not a database" } else { "does not exist" };
                Err(Error::database(format!("'{}' {what}", root.display()))
                    .hint("`btfdb ingest DB INPUT...` makes a database"))
            }
            Err(e) => Err(Error::io("read", root.join(layout::MANIFEST), e)),
        }
    }

    fn parse(json: &[u8], root: &Path) -> Result<Self> {
        let damaged = || {
            Error::database("the manifest is damaged")
                .at(root.join(layout::MANIFEST))
                .hint("restore it from a backup, or ingest the recordings again")
        };
        let header: Header = serde_json::from_slice(json).map_err(|e| damaged().because(e))?;
        if header.format != FORMAT {
            return Err(Error::database(format!("'{}' is not a btfdb database", root.display())));
        }
        if header.version != VERSION {
            let (v, age) = (header.version, if header.version > VERSION { "newer" } else { "older" });
            return Err(Error::database(format!(
                "the database has format {v}, and this btfdb reads format {VERSION}"
            ))
            .at(root)
            .hint(format!("use the {age} btfdb that wrote it, or ingest the recordings again")));
        }
        let content: Content = serde_json::from_slice(json).map_err(|e| damaged().because(e))?;
        let manifest = content.manifest;
        let moves = manifest.moves().map(|(from, _)| from);
        let files = manifest.files.iter().map(|f| f.path.as_str());
        let blobs = manifest.blobs.iter().map(|b| b.path.as_str());
        let removals = manifest.removals.iter().map(String::as_str);
        let inside = files.chain(blobs).chain(moves).chain(removals).all(layout::is_inside);
        if !inside || manifest.checksum()? != content.checksum {
            return Err(damaged());
        }
        Ok(manifest)
    }
}

fn unwritable(error: serde_json::Error) -> Error {
    Error::new(ErrorKind::Bug, "the manifest cannot be written as JSON").because(error)
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

    fn manifest() -> Manifest {
        let mut m = Manifest::new(TimeScale::Ps);
        m.recordings.push(RecordingEntry {
            name: "a\"ü".into(),
            begin_at: Some(i64::MIN),
            end_at: Some(i64::MAX),
        });
        m.blobs.push(BlobEntry {
            path: "setup/recording=a/setup.json".into(),
            kind: "setup".into(),
            recording: "a".into(),
            name: "setup.json".into(),
            bytes: u64::MAX,
            checksum: "xxh3-128:0".into(),
            staged: Some(".staging/1/x.staged".into()),
        });
        m
    }

    fn parse(json: &[u8]) -> Result<Manifest> {
        Manifest::parse(json, Path::new("db"))
    }

    #[test]
    fn a_manifest_survives_the_way_through_json() {
        let m = manifest();
        assert_eq!(parse(&m.to_json().unwrap()).unwrap(), m);
    }

    /// Any damaged byte gives an error, or (white space) the same manifest.
    #[test]
    fn no_damage_goes_unnoticed() {
        let good = manifest().to_json().unwrap();
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 1;
            match parse(&bad) {
                Ok(m) => assert_eq!(m, manifest(), "byte {at}"),
                Err(e) => assert_eq!(e.kind(), ErrorKind::Database, "byte {at}"),
            }
        }
    }

    #[test]
    fn other_versions_and_other_programs_are_named() {
        let json = String::from_utf8(manifest().to_json().unwrap()).unwrap();
        let version = |v: u32| format!("\"version\": {v}");
        let newer = json.replace(&version(VERSION), &version(VERSION + 1));
        let newer = parse(newer.as_bytes()).unwrap_err();
        assert!(newer.to_string().contains(&format!("format {}", VERSION + 1)), "{newer}");
        let other = parse(json.replace(FORMAT, "something").as_bytes()).unwrap_err();
        assert!(other.to_string().contains("not a btfdb database"), "{other}");
    }

    #[test]
    fn paths_that_leave_the_database_are_damage() {
        let mut m = manifest();
        m.removals.push("../other/file".into());
        assert!(parse(&m.to_json().unwrap()).unwrap_err().to_string().contains("damaged"));
    }
}
