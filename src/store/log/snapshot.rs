//! A database at one commit: finds the newest commit and the pieces of the log that together say what there
//! is, and looks recordings up in them. Reads no more of the log than it is asked for. Not for changes (see
//! [`super::super::transaction`]).

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use super::checkpoint::Checkpoint;
use super::entry::{Commit, Head};
use super::levels::{FOLD, SMALL, levels};
use super::tip::noted;
use crate::error::{Error, Result};
use crate::store::layout::{self, LogFile};
use crate::store::location::Location;
use crate::store::recording::Recording;

/// What a database held after one commit.
#[derive(Debug)]
pub(in crate::store) struct Snapshot {
    head: Head,
    /// The log, newest piece first.
    pieces: Vec<Piece>,
    /// The recordings, in the order in which they came, once they have been asked for.
    all: OnceLock<All>,
}

/// All recordings.
#[derive(Debug)]
struct All {
    recordings: Vec<Arc<Recording>>,
    by_name: HashMap<String, usize>,
}

impl All {
    fn new(mut recordings: Vec<Arc<Recording>>) -> Self {
        recordings.sort_by_key(|r| r.ordinal);
        let by_name = recordings.iter().enumerate().map(|(n, r)| (r.name.clone(), n)).collect();
        Self { recordings, by_name }
    }
}

/// Consecutive commits.
#[derive(Debug)]
pub(in crate::store) enum Piece {
    One(Commit),
    Folded(Checkpoint),
}

/// What a piece says of a name.
enum Answer {
    Put(Recording),
    Dropped,
    Nothing,
}

impl Piece {
    /// The number of the commit before its first one.
    fn after(&self) -> u64 {
        match self {
            Self::One(commit) => commit.head.number.saturating_sub(1),
            Self::Folded(checkpoint) => checkpoint.after(),
        }
    }

    /// Whether it has the commits that the name of a file says, and no other.
    fn is_of(&self, file: LogFile) -> bool {
        match self {
            Self::One(commit) => commit.head.number == file.number && file.level.is_none() && file.number > 0,
            Self::Folded(checkpoint) => checkpoint.is_of(file),
        }
    }

    pub(in crate::store) fn head(&self) -> &Head {
        match self {
            Self::One(commit) => &commit.head,
            Self::Folded(checkpoint) => checkpoint.head(),
        }
    }

    pub(super) fn drops(&self) -> &[String] {
        match self {
            Self::One(commit) => &commit.drops,
            Self::Folded(checkpoint) => checkpoint.drops(),
        }
    }

    /// The names of the recordings that its commits changed.
    pub(in crate::store) fn changed(&self) -> Result<Vec<String>> {
        let puts = self.puts()?.into_iter().map(|recording| recording.name);
        Ok(puts.chain(self.drops().iter().cloned()).collect())
    }

    pub(super) fn puts(&self) -> Result<Vec<Recording>> {
        match self {
            Self::One(commit) => Ok(commit.puts.clone()),
            Self::Folded(checkpoint) => checkpoint.recordings(),
        }
    }

    /// The first names that begin with `prefix` among its recordings.
    fn names(&self, prefix: &str, max: usize) -> Result<Vec<String>> {
        match self {
            Self::One(commit) => {
                let names = commit.puts.iter().map(|r| &r.name).filter(|name| name.starts_with(prefix));
                Ok(names.take(max).cloned().collect())
            }
            Self::Folded(checkpoint) => checkpoint.names(prefix, max),
        }
    }

    /// Of names, which are sorted: takes those of which it says what there is, and returns their recordings.
    fn take(&self, names: &mut Vec<&str>) -> Result<Vec<Recording>> {
        let found = match self {
            Self::One(commit) => {
                let is_asked = |r: &&Recording| names.binary_search(&r.name.as_str()).is_ok();
                commit.puts.iter().filter(is_asked).cloned().collect()
            }
            Self::Folded(checkpoint) => checkpoint.named(names)?,
        };
        let said: HashSet<&str> =
            found.iter().map(|r| r.name.as_str()).chain(self.drops().iter().map(String::as_str)).collect();
        names.retain(|name| !said.contains(name));
        Ok(found)
    }

    fn find(&self, name: &str) -> Result<Answer> {
        let put = match self {
            Self::One(commit) => commit.puts.iter().find(|r| r.name == name).cloned(),
            Self::Folded(checkpoint) => checkpoint.find(name)?,
        };
        let is_dropped = || self.drops().binary_search_by(|drop| drop.as_str().cmp(name)).is_ok();
        Ok(match put {
            Some(recording) => Answer::Put(recording),
            None if is_dropped() => Answer::Dropped,
            None => Answer::Nothing,
        })
    }
}

impl Snapshot {
    /// The newest state of a database; `None` if there is no log with a commit.
    ///
    /// # Errors
    /// [`crate::error::ErrorKind::Database`] when the log is damaged or of another version.
    pub(in crate::store) fn open(location: &Location) -> Result<Option<Self>> {
        match tip(location)? {
            0 => Ok(None),
            number => Self::at(location, number).map(Some),
        }
    }

    /// The state after commit `number`.
    pub(in crate::store) fn at(location: &Location, number: u64) -> Result<Self> {
        let pieces = pieces(location, 0, number)?;
        let Some(head) = pieces.first().map(|piece| piece.head().clone()) else {
            return Err(missing(location.place(&layout::commit(number)).path()));
        };
        Ok(Self { head, pieces, all: OnceLock::new() })
    }

    /// The state before the first commit.
    pub(in crate::store) fn empty(head: Head) -> Self {
        Self { head, pieces: Vec::new(), all: OnceLock::new() }
    }

    /// The same state with these recordings only.
    pub(in crate::store) fn only(&self, recordings: Vec<Arc<Recording>>) -> Self {
        let mut head = self.head.clone();
        head.recordings = recordings.len() as u64;
        head.rows.clear();
        recordings.iter().for_each(|recording| head.count(None, Some(recording)));
        Self { head, pieces: Vec::new(), all: OnceLock::from(All::new(recordings)) }
    }

    pub(in crate::store) fn head(&self) -> &Head {
        &self.head
    }

    /// The recording of that name.
    pub(in crate::store) fn recording(&self, name: &str) -> Result<Option<Arc<Recording>>> {
        if let Some(all) = self.all.get() {
            return Ok(all.by_name.get(name).and_then(|n| all.recordings.get(*n)).cloned());
        }
        for piece in &self.pieces {
            match piece.find(name)? {
                Answer::Put(recording) => return Ok(Some(Arc::new(recording))),
                Answer::Dropped => return Ok(None),
                Answer::Nothing => {}
            }
        }
        Ok(None)
    }

    /// Those of some names that there are, in the order in which they came. Reads only the part of the log
    /// that can have them, once.
    pub(in crate::store) fn named(&self, names: &[&str]) -> Result<Vec<Arc<Recording>>> {
        let mut open = names.to_vec();
        open.sort_unstable();
        open.dedup();
        let mut found = Vec::new();
        if self.all.get().is_some() {
            for name in open {
                found.extend(self.recording(name)?);
            }
        } else {
            for piece in &self.pieces {
                if open.is_empty() {
                    break;
                }
                found.extend(piece.take(&mut open)?.into_iter().map(Arc::new));
            }
        }
        found.sort_by_key(|recording| recording.ordinal);
        Ok(found)
    }

    /// The first names that begin with `prefix`, `max` at most.
    pub(in crate::store) fn names(&self, prefix: &str, max: usize) -> Result<Vec<String>> {
        if let Some(all) = self.all.get() {
            let mut names: Vec<_> =
                all.by_name.keys().filter(|name| name.starts_with(prefix)).cloned().collect();
            names.sort_unstable();
            names.truncate(max);
            return Ok(names);
        }
        let mut names = BTreeSet::new();
        let mut dropped: HashSet<&str> = HashSet::new();
        for piece in &self.pieces {
            // Those that a later commit dropped are no names any more.
            let some = piece.names(prefix, max.saturating_add(dropped.len()))?;
            names.extend(some.into_iter().filter(|name| !dropped.contains(name.as_str())));
            dropped.extend(piece.drops().iter().map(String::as_str).filter(|name| name.starts_with(prefix)));
        }
        Ok(names.into_iter().take(max).collect())
    }

    /// All recordings, in the order in which they came. Reads the whole log, once.
    pub(in crate::store) fn recordings(&self) -> Result<&[Arc<Recording>]> {
        if let Some(all) = self.all.get() {
            return Ok(&all.recordings);
        }
        let all = All::new(folded(&self.pieces)?.0.into_iter().map(Arc::new).collect());
        Ok(&self.all.get_or_init(|| all).recordings)
    }
}

/// What consecutive pieces, newest first, leave: the recordings, and the names that they drop.
pub(super) fn folded(pieces: &[Piece]) -> Result<(Vec<Recording>, HashSet<String>)> {
    let mut seen = HashSet::new();
    let mut dropped = HashSet::new();
    let mut all = Vec::new();
    for piece in pieces {
        let puts = piece.puts()?;
        let new: Vec<_> = puts.into_iter().filter(|r| !seen.contains(&r.name)).collect();
        let drops = piece.drops().iter().filter(|name| !seen.contains(*name)).cloned().collect::<Vec<_>>();
        seen.extend(new.iter().map(|r| r.name.clone()).chain(drops.iter().cloned()));
        dropped.extend(drops);
        all.extend(new);
    }
    Ok((all, dropped))
}

/// The pieces of the log behind the commit `after` up to `number`, newest first: as few as there are.
pub(in crate::store) fn pieces(location: &Location, after: u64, number: u64) -> Result<Vec<Piece>> {
    let mut pieces = Vec::new();
    let mut at = number;
    while at > after {
        let fits = |level: &u32| FOLD.pow(*level) <= at - after;
        let mut found = None;
        for level in (1..=levels(at)).rev().filter(fits) {
            let file = LogFile { number: at, level: Some(level) };
            found = Checkpoint::open(&location.place(&file.path()))?.map(|checkpoint| (file, checkpoint));
            if found.is_some() {
                break;
            }
        }
        let (file, piece) = match found {
            Some((file, checkpoint)) => (file, Piece::Folded(checkpoint)),
            None => one(location, at)?,
        };
        if !piece.is_of(file) {
            let place = location.place(&file.path());
            return Err(Error::database("a file of the log has the name of another one").at(place.path()));
        }
        at = piece.after();
        pieces.push(piece);
    }
    Ok(pieces)
}

/// The piece of one commit, and its file. A large one is not read as a whole, if it has a checkpoint.
fn one(location: &Location, number: u64) -> Result<(LogFile, Piece)> {
    let place = location.place(&layout::commit(number));
    let (json, bytes) = place.tail(SMALL)?.ok_or_else(|| missing(place.path()))?;
    let own = LogFile { number, level: Some(0) };
    let json = if bytes <= SMALL {
        json
    } else if let Some(checkpoint) = Checkpoint::open(&location.place(&own.path()))? {
        return Ok((own, Piece::Folded(checkpoint)));
    } else {
        place.content()?.ok_or_else(|| missing(place.path()))?
    };
    Ok((LogFile { number, level: None }, Piece::One(Commit::parse(&json, place.path())?)))
}

/// The files of the log that together are the state after a commit.
pub(in crate::store) fn pieces_of(location: &Location, number: u64) -> Result<Vec<LogFile>> {
    let file = |piece: &Piece| LogFile {
        number: piece.head().number,
        level: match piece {
            Piece::One(_) => None,
            Piece::Folded(checkpoint) => Some((checkpoint.head().number - checkpoint.after()).ilog(FOLD)),
        },
    };
    Ok(pieces(location, 0, number)?.iter().map(file).collect())
}

fn missing(path: &Path) -> Error {
    Error::database("a commit of the log is missing")
        .at(path)
        .hint("restore the folder log from a backup, or ingest the recordings again")
}

/// This many commits are looked for one by one.
const STEPS: usize = 16;

/// The number of the newest commit; 0 if there is none.
pub(in crate::store) fn tip(location: &Location) -> Result<u64> {
    let is_there = |number: u64| location.place(&layout::commit(number)).exists();
    let hint = location.place(layout::TIP).content()?;
    let hint = hint.and_then(|text| noted(&text));
    let mut tip = match hint {
        Some(number) if is_there(number)? => number,
        _ => {
            let newest = files_of_log(location)?.last().map(|file| file.number).unwrap_or(0);
            // The number of a commit is noted after the commit is safe.
            if let Some(number) = hint.filter(|number| *number > newest) {
                return Err(missing(location.place(&layout::commit(number)).path()));
            }
            newest
        }
    };
    loop {
        for _ in 0..STEPS {
            if !is_there(tip + 1)? {
                return Ok(tip);
            }
            tip += 1;
        }
        let newest = files_of_log(location)?.last().map(|file| file.number).unwrap_or(0);
        if newest < tip {
            let what = format!("there seems to be a commit {tip}, but the log does not list it");
            return Err(Error::database(what)
                .at(location.path())
                .hint("does the address belong to an object store? Some answer whatever they are asked"));
        }
        tip = newest;
    }
}

/// The files of the log, by number, the commit before its checkpoints.
pub(in crate::store) fn files_of_log(location: &Location) -> Result<Vec<LogFile>> {
    let names = location.names(layout::LOG)?;
    let mut files: Vec<_> = names.iter().filter_map(|name| LogFile::named(name)).collect();
    files.sort_unstable();
    Ok(files)
}
