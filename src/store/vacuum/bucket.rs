//! The vacuum of a bucket. Nothing in it is moved, so that the commits tell what was taken out, and when. Not
//! the rule of what may go (see `super`).

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::super::bucket::{Bucket, Object};
use super::super::database::Database;
use super::super::layout::{self, LogFile};
use super::super::location::Location;
use super::super::log::Commit;
use super::super::recording::Recording;
use super::{Superseded, VacuumReport};
use crate::error::Result;

/// What no commit has ever named may belong to a writer at work (see `target::bucket`), unless it is as old.
/// The number of a commit that was deleted could be made again by a writer that believes it is the next one:
/// the commits stay as long, whatever `age` is.
const ORPHAN: Duration = Duration::from_secs(24 * 3600);

pub(super) fn vacuum(
    bucket: &Arc<Bucket>,
    location: &Location,
    now: SystemTime,
    age: Duration,
) -> Result<VacuumReport> {
    // First the objects, then the state: what is committed in between is part of the database.
    let objects = bucket.list("")?;
    let database = Database::open(location.clone())?;
    let live: HashSet<&str> = database.recordings()?.iter().flat_map(|r| Recording::paths(r)).collect();
    let made =
        objects.iter().filter_map(|object| Some((LogFile::of_path(&object.name)?, object.made_at))).collect();
    let superseded = Superseded::of(location, database.generation(), made)?;
    let superseded: BTreeSet<_> = superseded.before(now.checked_sub(age.max(ORPHAN))).collect();
    let is_older = |object: &Object, than: Duration| {
        now.checked_sub(than).is_some_and(|before| object.made_at <= before)
    };
    let (mut freed_before, mut freed_lately) = (HashSet::new(), HashSet::new());
    for object in &objects {
        if let Some(LogFile { level: None, .. }) = LogFile::of_path(&object.name)
            && let Some(json) = bucket.content(&object.name)?
        {
            let freed = Commit::parse(&json, location.place(&object.name).path())?.freed;
            if is_older(object, age) { &mut freed_before } else { &mut freed_lately }.extend(freed);
        }
    }
    let (mut gone, mut report) = (Vec::new(), VacuumReport::default());
    for object in &objects {
        let name = object.name.as_str();
        let is_gone = match LogFile::of_path(name) {
            Some(file) if superseded.contains(&file) => true,
            Some(_) => continue,
            None if live.contains(name) || !layout::is_of_writer(name) => continue,
            None if freed_lately.contains(name) => false,
            None => freed_before.contains(name) || is_older(object, age.max(ORPHAN)),
        };
        if is_gone {
            gone.push(name.to_owned());
            (report.files, report.bytes) = (report.files + 1, report.bytes + object.bytes);
        } else if LogFile::of_path(name).is_none() {
            (report.kept, report.kept_bytes) = (report.kept + 1, report.kept_bytes + object.bytes);
        }
    }
    // The commits that tell what was taken out go last.
    gone.sort_by_key(|name| LogFile::of_path(name).is_some());
    let logs = gone.iter().position(|name| LogFile::of_path(name).is_some()).unwrap_or(gone.len());
    let (files, logs) = gone.split_at(logs);
    bucket.delete(files)?;
    bucket.delete(logs)?;
    Ok(report)
}
