//! Looks for faults in the log: every commit and every checkpoint must be readable, and a checkpoint must say
//! what its commits say. A checkpoint of many is compared with those that it folds, which were compared
//! before: no more of the log is in memory than one checkpoint. Not whether the files that the log names are
//! sound (see `verify`).

use std::collections::BTreeSet;

use super::checkpoint::Checkpoint;
use super::entry::Commit;
use super::levels::FOLD;
use super::snapshot::{Piece, files_of_log, folded};
use super::tip::noted;
use crate::error::{Error, ErrorKind, Result};
use crate::store::layout::{self, LogFile};
use crate::store::location::Location;
use crate::store::place::Place;

/// What is wrong with the log: a file of it, and why.
pub(in crate::store) fn audit(location: &Location) -> Result<Vec<(String, Error)>> {
    let mut problems = Vec::new();
    let (mut commits, mut wrong) = (Vec::new(), BTreeSet::new());
    for file in files_of_log(location)? {
        // Those that the next checkpoints fold.
        commits.retain(|(number, _): &(u64, Commit)| number + FOLD > file.number);
        let name = file.path();
        let place = location.place(&name);
        let found = match file.level {
            None => match place.content()? {
                // A vacuum has deleted it since the log was listed.
                None => continue,
                Some(json) => Commit::parse(&json, place.path()).map(|commit| {
                    commits.push((file.number, commit));
                    true
                }),
            },
            Some(level) => agrees(file, &place, |after| {
                let last = commits.iter().rev().filter(|(number, _)| *number > after);
                let mut pieces: Vec<_> = last.map(|(_, commit)| Piece::One(commit.clone())).collect();
                for lower in lower(file.number, level).filter(|lower| !wrong.contains(lower)) {
                    pieces.extend(Checkpoint::open(&location.place(&lower.path()))?.map(Piece::Folded));
                }
                Ok(pieces)
            }),
        };
        if !matches!(found, Ok(true)) {
            wrong.insert(file);
        }
        match found {
            Ok(true) => {}
            Ok(false) => {
                problems.push((name, Error::database("the checkpoint does not say what its commits say")));
            }
            Err(e) => problems.push((name, e)),
        }
    }
    if let Some(text) = location.place(layout::TIP).content()?
        && noted(&text).is_none()
    {
        let what = "the number in it is damaged; the next commit writes it";
        problems.push((layout::TIP.to_owned(), Error::database(what)));
    }
    Ok(problems)
}

/// Whether a checkpoint is what was written.
///
/// # Errors
/// The disk or the store: what cannot be read now is not damaged.
pub(in crate::store) fn is_sound(file: LogFile, place: &Place) -> Result<bool> {
    let is_whole = |found: Option<Checkpoint>| match found {
        Some(checkpoint) if checkpoint.is_of(file) => checkpoint.recordings().map(|_| true),
        _ => Ok(false),
    };
    match Checkpoint::open(place).and_then(is_whole) {
        Err(e) if e.kind() != ErrorKind::Io => Ok(false),
        sound => sound,
    }
}

/// The checkpoints that one of a level folds before its last eight commits, newest first: seven of each lower
/// level.
fn lower(number: u64, level: u32) -> impl Iterator<Item = LogFile> {
    let of_level = move |level: u32| {
        let each = FOLD.saturating_pow(level);
        let at = move |n: u64| number.saturating_sub(n.saturating_mul(each));
        (1..FOLD).map(move |n| LogFile { number: at(n), level: Some(level) })
    };
    (1..level).flat_map(of_level)
}

/// Whether a checkpoint is what the pieces leave that it folds, newest first; true if not all of them are
/// there any more.
fn agrees(
    file: LogFile,
    place: &Place,
    pieces_behind: impl FnOnce(u64) -> Result<Vec<Piece>>,
) -> Result<bool> {
    let Some(checkpoint) = Checkpoint::open(place)? else { return Ok(true) };
    if !checkpoint.is_of(file) {
        return Ok(false);
    }
    let found = checkpoint.recordings()?;
    let pieces = pieces_behind(checkpoint.after())?;
    if pieces.len() as u64 != 1 + (FOLD - 1) * u64::from(file.level.unwrap_or_default()) {
        return Ok(true);
    }
    let (mut expected, _) = folded(&pieces)?;
    expected.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(expected == found)
}
