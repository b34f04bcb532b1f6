//! Where things lie in a database folder. Only names: nothing here touches a disk.

use super::id;
use crate::error::{Error, ErrorKind, Result};
use crate::schema::{TableSpec, table};

/// The folder of the log: a database is what it says.
pub(super) const LOG: &str = "log";
/// The number of a commit that is not long ago, to begin looking for the newest one.
pub(super) const TIP: &str = "log/tip";
/// The begin of the names of objects by which a bucket is tried.
pub(super) const PROMISE: &str = "log/promise-";
/// Held during a commit.
pub(super) const LOCK: &str = ".lock";
/// Holds what is not committed yet, in one folder per writer; hidden, and no file in it ends in `.parquet`,
/// so that no glob finds it.
pub(super) const STAGING: &str = ".staging";
/// Holds what commits took out, for readers of older states; hidden, and no file in it ends in `.parquet`.
pub(super) const REMOVED: &str = ".removed";
/// Room that is given up when a recording is removed from a full disk.
pub(super) const RESERVE: &str = ".reserve";
/// The end of the names in [`REMOVED`].
pub(super) const KEPT: &str = ".removed";

/// Longest partition value in a path, in bytes; file systems allow 255 for the whole `NAME=VALUE`.
const MAX_VALUE: usize = 200;

/// The folder of a partition, with `/`: `data_event/recording=idle/core=Core_0`. Fails if there is none.
pub(super) fn folder(table: &TableSpec, recording: &str, core: Option<&str>) -> Result<String> {
    let mut values = [Some(recording), core].into_iter().flatten();
    let mut out = table.name.to_owned();
    for column in table.partition_columns() {
        let value = values.next().ok_or_else(|| mismatch(table))?;
        out += &format!("/{}={}", column.name, encode(value)?);
    }
    values.next().map_or(Ok(out), |_| Err(mismatch(table)))
}

fn mismatch(table: &TableSpec) -> Error {
    let by = if table.partition_columns().count() > 1 { "recording and core" } else { "recording" };
    Error::new(ErrorKind::Bug, format!("table '{}' is divided by {by}", table.name))
}

/// The path of a part, `FOLDER/part-00000.parquet`, or with the id of a writer, `part-00000.ID.parquet`.
pub(super) fn part(folder: &str, number: u32, writer: Option<&str>) -> String {
    format!("{folder}/part-{}.parquet", numbered(number, writer))
}

fn numbered(number: u32, writer: Option<&str>) -> String {
    let id = writer.map(|id| format!(".{id}")).unwrap_or_default();
    format!("{number:05}{id}")
}

/// The path of a blob, `state/recording=idle/state-00000.json`. Fails for names that cannot be in it.
pub(super) fn blob(
    (kind, recording, name): (&str, &str, &str),
    number: u32,
    writer: Option<&str>,
) -> Result<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let word = |w: &str| w.starts_with(|c: char| c.is_ascii_alphabetic()) && w.chars().all(plain);
    if !word(kind) || !word(name) || table(kind).is_some() || name.ends_with(".parquet") {
        return Err(Error::new(ErrorKind::Bug, format!("'{kind}/{name}' is no place for a blob")));
    }
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, "bin"));
    let number = numbered(number, writer);
    Ok(format!("{kind}/recording={}/{stem}-{number}.{extension}", encode(recording)?))
}

/// What the numbers of a blob are counted under.
pub(super) fn blob_key(kind: &str, name: &str) -> String {
    format!("{kind}/{name}")
}

/// The number in the path of a part or of a blob.
pub(super) fn number(path: &str) -> Option<u32> {
    let (_, name) = path.rsplit_once('/')?;
    name.rsplit_once('-')?.1.split_once('.')?.0.parse().ok()
}

/// The file of a commit.
pub(super) fn commit(number: u64) -> String {
    format!("{LOG}/{number:020}.json")
}

/// The checkpoint of a level that ends with a commit.
pub(super) fn checkpoint(number: u64, level: u32) -> String {
    format!("{LOG}/{number:020}.{level}.checkpoint")
}

/// The greatest number of a commit. No database comes near it; a greater one in a name or a file is not of a
/// writer, and could not be counted on from.
pub(super) const LAST_COMMIT: u64 = 1 << 62;

/// A file of the log: a commit, or a checkpoint that ends with it. A checkpoint of level 0 has one commit
/// only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LogFile {
    pub number: u64,
    /// Of a checkpoint.
    pub level: Option<u32>,
}

impl LogFile {
    /// By its name in the folder of the log.
    pub fn named(name: &str) -> Option<Self> {
        let (number, rest) = name.split_once('.')?;
        let number = number.parse().ok().filter(|n| *n <= LAST_COMMIT && number.len() == 20)?;
        match rest.strip_suffix(".checkpoint") {
            Some(level) => Some(Self { number, level: Some(level.parse().ok()?) }),
            None => (rest == "json").then_some(Self { number, level: None }),
        }
    }

    /// By its path in the database.
    pub fn of_path(path: &str) -> Option<Self> {
        Self::named(path.strip_prefix(LOG)?.strip_prefix('/')?)
    }

    pub fn path(self) -> String {
        match self.level {
            Some(level) => checkpoint(self.number, level),
            None => commit(self.number),
        }
    }
}

/// The folder of the log of Delta in the folder of a table.
const DELTA_LOG: &str = "_delta_log";

/// A version of the log of Delta of a table.
pub(super) fn delta(table: &str, version: u64) -> String {
    format!("{table}/{DELTA_LOG}/{version:020}.json")
}

/// Whether a file belongs to the log of Delta of a table.
pub(super) fn is_delta(path: &str) -> bool {
    let mut parts = path.split('/');
    parts.next().is_some_and(|name| table(name).is_some()) && parts.next() == Some(DELTA_LOG)
}

/// Whether a file of a bucket can be one that a writer made for a recording of the database, by its name:
/// `TABLE/recording=…/part-00000.ID.parquet`, or a blob. What lies deeper is of somebody else.
pub(super) fn is_part(path: &str) -> bool {
    let mut folders = path.split('/');
    let is_below = folders.next().is_some_and(|first| !first.is_empty())
        && folders.next().is_some_and(|second| second.starts_with("recording="));
    let writer = path.rsplit_once('/').and_then(|(_, name)| name.rsplit_once('-')?.1.split('.').nth(1));
    is_below && number(path).is_some() && writer.is_some_and(id::is_one)
}

/// Whether an object of a bucket that is not of the log can be one that a writer made: of a recording, or to
/// try the bucket. A writer that was killed leaves it, and a request that the network repeats late makes it
/// again.
pub(super) fn is_of_writer(name: &str) -> bool {
    is_part(name) || name.starts_with(PROMISE)
}

/// Where `path` is kept after the commit of that number took it out.
pub(super) fn removed(number: u64, path: &str) -> String {
    format!("{REMOVED}/{number}/{path}{KEPT}")
}

/// True for a relative path that stays inside the database.
pub(super) fn is_inside(path: &str) -> bool {
    !path.is_empty()
        && path.split('/').all(|p| !matches!(p, "" | "." | ".."))
        && !path.contains(['\\', ':', '\0'])
}

/// The folders around `path`, innermost first, without the database itself.
pub(super) fn folders_of(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(path.rsplit_once('/').map(|p| p.0), |p| p.rsplit_once('/').map(|p| p.0))
}

/// A partition value as Hive writes it into a path: characters with a meaning to a shell, a URL or a file
/// system become `%XX`. Letters of all alphabets stay, because not all engines decode more than ASCII.
fn encode(value: &str) -> Result<String> {
    let mut out = String::new();
    for c in value.chars() {
        match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' | '.' => out.push(c),
            c if c.is_ascii() => out += &format!("%{:02X}", u32::from(c)),
            c => out.push(c),
        }
    }
    if out.is_empty() || out.len() > MAX_VALUE {
        let what = if out.is_empty() { "empty" } else { "too long" };
        return Err(Error::usage(format!("the name '{value}' cannot be part of a path: it is {what}"))
            .hint(format!("choose a name of 1 to {MAX_VALUE} letters and digits")));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::tables::{BTF_EVENT, DATA_EVENT};

    #[test]
    fn paths_are_hive_partitions() {
        let path = part(&folder(DATA_EVENT, "engine-idle", Some("Core_0")).unwrap(), 0, None);
        assert_eq!(path, "data_event/recording=engine-idle/core=Core_0/part-00000.parquet");
        assert_eq!(number(&path), Some(0));
        assert_eq!(number(&part("a/recording=part-1", 12, Some("0123456789abcdef"))), Some(12));
        assert_eq!(number("btf_event/recording=part-1/x.parquet"), None);
        assert_eq!(folder(BTF_EVENT, "a b/ü=%", None).unwrap(), "btf_event/recording=a%20b%2Fü%3D%25");
    }

    #[test]
    fn names_that_cannot_be_in_a_path_are_refused() {
        assert_eq!(folder(BTF_EVENT, "", None).unwrap_err().kind(), ErrorKind::Usage);
        assert_eq!(folder(BTF_EVENT, &"/".repeat(90), None).unwrap_err().kind(), ErrorKind::Usage);
        assert_eq!(folder(BTF_EVENT, "a", Some("core")).unwrap_err().kind(), ErrorKind::Bug);
        assert_eq!(folder(DATA_EVENT, "a", None).unwrap_err().kind(), ErrorKind::Bug);
    }

    #[test]
    fn blobs_have_plain_names() {
        let path = blob(("state", "a", "state.json"), 7, None).unwrap();
        assert_eq!((path.as_str(), number(&path)), ("state/recording=a/state-00007.json", Some(7)));
        for (kind, name) in [("btf_event", "x"), ("..", "x"), ("state", "../x"), ("state", "x.parquet")] {
            assert!(blob((kind, "a", name), 0, None).is_err(), "{kind}/{name}");
        }
    }

    #[test]
    fn files_of_the_log_have_numbers() {
        for (number, level) in [(17, None), (17, Some(0)), (16, Some(1))] {
            let file = LogFile { number, level };
            assert_eq!(LogFile::of_path(&file.path()), Some(file));
        }
        let after_last = format!("{}.json", u64::MAX);
        for other in [
            "tip",
            "17.json",
            "00000000000000000017.x.checkpoint",
            "00000000000000000017.tmp",
            after_last.as_str(),
        ] {
            assert_eq!(LogFile::named(other), None, "{other}");
        }
    }

    #[test]
    fn files_of_others_are_no_parts() {
        let id = Some("0123456789abcdef");
        let own = part(&folder(DATA_EVENT, "a", Some("Core_0")).unwrap(), 3, id);
        assert!(is_part(&own) && is_part(&blob(("state", "a-1", "ends.json"), 7, id).unwrap()), "{own}");
        let nested = format!("sub.db/{own}");
        for other in
            [nested.as_str(), "btf_event/recording=a/mine.parquet", "btf_event/part-00000.parquet", "x"]
        {
            assert!(!is_part(other), "{other}");
        }
    }

    #[test]
    fn only_paths_inside_are_inside() {
        assert!(is_inside("a/b=c/d"));
        for path in ["", "/a", "../a", "a/../b", "a//b", "a/", "c:/a", "a\\..\\b"] {
            assert!(!is_inside(path), "{path}");
        }
        assert_eq!(folders_of("a/b/c").collect::<Vec<_>>(), ["a/b", "a"]);
    }
}
