//! Transactions in a bucket. What is made lies in a folder of this machine until the commit. A database is
//! either the old one or the new one, always and after any failure:
//!
//! 1. The files are put into the bucket, under names that no other writer has. No commit names them yet.
//! 2. The log is read again. If another writer has changed one of the recordings meanwhile, the commit fails.
//! 3. The object of the commit is made with the next number, if there is none of that number: **this is the
//!    commit.** If there is one, it is this one, whose answer was lost, or another writer was faster: then on
//!    to step 2.
//! 4. The bucket is asked for later commits. A vacuum deletes only commits behind which there are many: if
//!    there are so many, it may have deleted another one of this number, and the newest state must name the
//!    files.
//! 5. The number is noted, and a checkpoint may be due.
//!
//! As long as it is not known whether the commit of a number was made, no other number is tried: a request
//! that was late cannot make it a second time. A process that dies before step 3 leaves objects that no
//! commit names, which a vacuum deletes. A number that was not noted, and a checkpoint that was not made,
//! cost readers some requests.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::super::bucket::{Bucket, Put};
use super::super::database::none_at;
use super::super::disk::Disk;
use super::super::draft::Change;
use super::super::folder::Folder;
use super::super::id;
use super::super::layout::{self, LOG, LogFile, TIP};
use super::super::location::Location;
use super::super::lock::Lock;
use super::super::log::{Commit, Head, Snapshot, due_levels, folded_log, note, noted, tip};
use super::super::recording::Recording;
use super::super::staging::Staging;
use super::super::vacuum::may_be_deleted;
use super::{check_conflict, check_time_scale, tip_without_conflict};
use crate::error::{Error, ErrorKind, Result};
use crate::time::TimeScale;

/// How long the making of a commit is tried again while the bucket does not answer.
const PATIENCE: Duration = if cfg!(test) { Duration::from_millis(300) } else { Duration::from_secs(120) };
/// Between two such tries, and longest wait after another writer was faster.
const PAUSE: Duration = if cfg!(test) { Duration::from_millis(20) } else { Duration::from_millis(250) };
/// A vacuum deletes objects that no commit names when they are older than a day: a commit must not name any
/// that old.
const LONGEST_COMMIT: Duration = Duration::from_secs(12 * 3600);

#[derive(Debug)]
pub(in crate::store) struct BucketTarget {
    pub(super) location: Location,
    bucket: Arc<Bucket>,
    /// Of this machine.
    pub(super) folder: Folder,
    pub(super) staging: Staging,
    /// Of this writer.
    pub(super) id: String,
}

impl BucketTarget {
    pub(super) fn begin(
        disk: Arc<dyn Disk>,
        bucket: Arc<Bucket>,
        location: &Location,
        time_scale: Option<TimeScale>,
    ) -> Result<(Self, Snapshot)> {
        let id = id::fresh();
        let base = match (Snapshot::open(location)?, time_scale) {
            (Some(base), _) => base,
            (None, None) => return Err(none_at(location)),
            (None, Some(time_scale)) => {
                check_foreign(&bucket)?;
                check_promise(&bucket, &id)?;
                Snapshot::empty(Head::new(time_scale))
            }
        };
        let folder = Folder::new(disk, bucket.scratch());
        // Other writers of this machine have their folders beside.
        let lock = Lock::for_commit(&folder)?;
        Staging::left_behind(&folder)?.iter().try_for_each(|left| left.remove(&folder))?;
        let staging = Staging::new(&folder)?;
        drop(lock);
        Ok((Self { location: location.clone(), bucket, folder, staging, id }, base))
    }

    pub(super) fn commit(&self, base: &Snapshot, change: &Change) -> Result<()> {
        let begun = Instant::now();
        let first = change.to_commit(base, base.head())?;
        // On top of another commit it has about as many.
        let bytes = first.to_json()?.len();
        let files = change.moves(&first);
        let files: Vec<_> = files.into_iter().map(|(from, to)| (self.folder.path(&from), to)).collect();
        let committed = self.bucket.upload(&files).map_err(Outcome::NotMade);
        let committed = committed.and_then(|()| self.publish(base, change, &files, begun));
        match committed {
            Ok(number) => {
                // What cannot be done now is not needed.
                let _ = self.settle(number, bytes);
                Ok(())
            }
            Err(Outcome::NotMade(e)) => {
                let names: Vec<_> = files.into_iter().map(|(_, to)| to).collect();
                let _ = self.bucket.delete(&names);
                Err(e)
            }
            Err(Outcome::Unknown(e)) => Err(e),
        }
    }

    /// Steps 2 and 3; returns the number of the commit.
    fn publish(
        &self,
        base: &Snapshot,
        change: &Change,
        files: &[(PathBuf, String)],
        begun: Instant,
    ) -> Result<u64, Outcome> {
        let location = &self.location;
        let newer = tip(location).and_then(|tip| tip_without_conflict(location, base, change, tip));
        let mut head = newer.map_err(Outcome::NotMade)?.unwrap_or_else(|| base.head().clone());
        for losses in 0_u32.. {
            if begun.elapsed() > LONGEST_COMMIT {
                let message = "the files were put into the bucket too long ago to be committed";
                return Err(Outcome::NotMade(
                    Error::database(message).hint("nothing was written; try again"),
                ));
            }
            if let Some((_, first)) = files.first()
                && self.bucket.size(first).map_err(Outcome::NotMade)?.is_none()
            {
                let message =
                    "the files that were put into the bucket are gone: a vacuum took them for old ones";
                return Err(Outcome::NotMade(
                    Error::database(message).hint("nothing was written; try again"),
                ));
            }
            let commit = change.to_commit(base, &head).map_err(Outcome::NotMade)?;
            let commit = Commit { id: self.id.clone(), ..commit };
            let json: Bytes = commit.to_json().map_err(Outcome::NotMade)?.into();
            let number = commit.head.number;
            let Some(other) = self.make(&layout::commit(number), &json)? else {
                return self.check_read(number, files).map(|()| number);
            };
            head = self.next(base, change, other).map_err(Outcome::NotMade)?;
            sleep(pause(losses));
        }
        Err(Outcome::NotMade(Error::database("other writers were always faster").hint("try again")))
    }

    /// Makes the object of a commit. If another writer has made one of that number, returns it.
    fn make(&self, name: &str, json: &Bytes) -> Result<Option<Bytes>, Outcome> {
        let begun = Instant::now();
        loop {
            let made = self.bucket.put_new(name, json.clone());
            if let Ok(Put::Made) = made {
                return Ok(None);
            }
            // Only the content tells whose it is, also when the answer was lost.
            let found = match (self.bucket.content(name), made) {
                (Ok(None), Err(e)) => Err(e),
                (found, _) => found,
            };
            match found {
                Ok(Some(content)) if content == *json => return Ok(None),
                Ok(Some(content)) => return Ok(Some(content)),
                // A bucket that does not have what it says it has will have it soon.
                Ok(None) if begun.elapsed() < PATIENCE => {}
                Err(_) if begun.elapsed() < PATIENCE => {}
                Ok(None) => {
                    let message = "the bucket says that it has the commit, and does not have it";
                    return Err(Outcome::Unknown(
                        Error::database(message).at(self.location.place(name).path()),
                    ));
                }
                Err(e) => return Err(self.no_answer(e)),
            }
            sleep(PAUSE);
        }
    }

    /// Step 4: whatever time has passed since the log was read, a commit that nobody reads is none.
    fn check_read(&self, number: u64, files: &[(PathBuf, String)]) -> Result<(), Outcome> {
        let begun = Instant::now();
        loop {
            match self.is_read(number, files) {
                Ok(true) => return Ok(()),
                Ok(false) => {
                    // It may be one that was replaced since: nothing is deleted.
                    let message = "it is not known whether the commit was made: while it was in the making, many \
                                   others were, and a vacuum may have deleted the one on which it rests";
                    return Err(Outcome::Unknown(self.hint_to_look(Error::database(message))));
                }
                Err(_) if begun.elapsed() < PATIENCE => sleep(PAUSE),
                Err(e) => return Err(self.no_answer(e)),
            }
        }
    }

    /// True if the commit of that number, which was made, is certainly a part of the log.
    fn is_read(&self, number: u64, files: &[(PathBuf, String)]) -> Result<bool> {
        let later = self.bucket.list_behind(LOG, &layout::commit(number))?;
        let later = later.iter().filter_map(|object| LogFile::of_path(&object.name));
        let newest = later.filter(|file| file.level.is_none()).map(|file| file.number).max();
        let Some(newest) = newest.filter(|newest| may_be_deleted(number, *newest)) else { return Ok(true) };
        let made: HashSet<&str> = files.iter().map(|(_, to)| to.as_str()).collect();
        let state = Snapshot::at(&self.location, newest)?;
        let is_made = |recording: &Arc<Recording>| recording.paths().any(|path| made.contains(path));
        Ok(state.recordings()?.iter().any(is_made))
    }

    fn no_answer(&self, cause: Error) -> Outcome {
        let message = "it is not known whether the commit was made: the bucket does not answer";
        Outcome::Unknown(self.hint_to_look(Error::new(ErrorKind::Io, message).because(cause)))
    }

    fn hint_to_look(&self, error: Error) -> Error {
        error.hint(format!("`btfdb info {}` tells it once the bucket answers", self.location))
    }

    /// The head of the newest commit from `content` on.
    fn next(&self, base: &Snapshot, change: &Change, content: Bytes) -> Result<Head> {
        let mut content = Some(content);
        let mut head: Option<Head> = None;
        while let Some(json) = content {
            let number = head.as_ref().map_or(0, |head| head.number);
            let commit = Commit::parse(&json, self.location.path())?;
            check_time_scale(base, &commit.head)?;
            check_conflict(change, &commit.names().map(str::to_owned).collect::<Vec<_>>())?;
            if commit.head.number <= number {
                return Err(Error::database("a commit of the log has the number of another one")
                    .at(self.location.path()));
            }
            content = self.bucket.content(&layout::commit(commit.head.number + 1))?;
            head = Some(commit.head);
        }
        head.ok_or_else(|| Error::new(ErrorKind::Bug, "no commit is behind another one"))
    }

    /// Step 5. A number is never replaced by a smaller one: readers that begin there may find no way.
    fn settle(&self, number: u64, bytes: usize) -> Result<()> {
        let known = self.bucket.content(TIP)?.and_then(|text| noted(&text));
        if known.is_none_or(|known| known < number) {
            self.bucket.put(TIP, note(number).into())?;
        }
        for level in due_levels(number, bytes) {
            let folded = folded_log(&self.location, number, level)?;
            self.bucket.put(&layout::checkpoint(number, level), folded.into())?;
        }
        Ok(())
    }

    pub(super) fn end(&self) {
        let _lock = Lock::for_commit(&self.folder);
        let _ = self.staging.remove(&self.folder);
    }
}

/// Why there is no commit, as far as is known.
enum Outcome {
    NotMade(Error),
    /// It may have been made: its files stay.
    Unknown(Error),
}

/// Longer with each loss, and different for each writer.
fn pause(losses: u32) -> Duration {
    let most = PAUSE.min(Duration::from_millis(5) * 2_u32.saturating_pow(losses.min(8)));
    let part = u32::from_str_radix(id::fresh().get(..4).unwrap_or_default(), 16).unwrap_or_default();
    most * part / 0xffff
}

/// Fails if a bucket without a database holds what is not of a database in the making.
fn check_foreign(bucket: &Bucket) -> Result<()> {
    let is_ours = |name: &str| name.starts_with(&format!("{LOG}/")) || layout::is_part(name);
    let Some(foreign) = bucket.some()?.into_iter().find(|object| !is_ours(&object.name)) else {
        return Ok(());
    };
    let (url, name) = (bucket.url(), foreign.name);
    Err(Error::database(format!("'{url}' is neither a btfdb database nor empty: it holds '{name}'"))
        .hint("choose another place for the database"))
}

/// Fails if the bucket does not keep the promise on which commits rest.
fn check_promise(bucket: &Bucket, id: &str) -> Result<()> {
    let name = format!("{}{id}", layout::PROMISE);
    let refused = |what: &str| {
        Error::database(format!("'{}' cannot hold a database: {what}", bucket.url())).hint(
            "btfdb needs a store that makes an object only if there is none of its name (If-None-Match: *)",
        )
    };
    let first = bucket.put_new(&name, Bytes::from_static(b"1"));
    let second = bucket.put_new(&name, Bytes::from_static(b"2"));
    let content = bucket.content(&name);
    let _ = bucket.delete(&[name]);
    match (first?, second) {
        // The answer of an earlier try may have been lost.
        (_, Ok(Put::Taken)) if content?.as_deref() == Some(b"1") => Ok(()),
        (_, Ok(_)) => Err(refused("it makes an object twice")),
        (_, Err(e)) => Err(refused("it does not know how to make an object only once").because(e)),
    }
}
