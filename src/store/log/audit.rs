//! Looks for faults in the log: every commit and every checkpoint must be readable, and a checkpoint must say
//! what its commits say. Not whether the files that the log names are sound (see `verify`).

use std::collections::BTreeMap;

use super::checkpoint::Checkpoint;
use super::entry::Commit;
use super::snapshot::{Piece, files_of_log, folded};
use super::tip::noted;
use crate::error::Result;
use crate::store::layout::{self, LogFile};
use crate::store::location::Location;
use crate::store::place::Place;

/// What is wrong with the log: a file of it, and a sentence without a full stop.
pub(in crate::store) fn audit(location: &Location) -> Result<Vec<(String, String)>> {
    let mut problems = Vec::new();
    let mut commits = BTreeMap::new();
    for file in files_of_log(location)? {
        let name = file.path();
        let place = location.place(&name);
        let found = match file.level {
            None => match place.content()? {
                // A vacuum has deleted it since the log was listed.
                None => continue,
                Some(json) => Commit::parse(&json, place.path()).map(|commit| {
                    commits.insert(file.number, commit);
                    true
                }),
            },
            Some(_) => agrees(file, &place, &commits),
        };
        match found {
            Ok(true) => {}
            Ok(false) => problems.push((name, "the checkpoint does not say what its commits say".into())),
            Err(e) => problems.push((name, e.to_string())),
        }
    }
    if let Some(text) = location.place(layout::TIP).content()?
        && noted(&text).is_none()
    {
        problems
            .push((layout::TIP.to_owned(), "the number in it is damaged; the next commit writes it".into()));
    }
    Ok(problems)
}

/// Whether a checkpoint is what was written.
pub(in crate::store) fn is_sound(file: LogFile, place: &Place) -> bool {
    let is_whole = |checkpoint: Checkpoint| checkpoint.is_of(file) && checkpoint.recordings().is_ok();
    Checkpoint::open(place).is_ok_and(|found| found.is_some_and(is_whole))
}

/// Whether a checkpoint is what its commits leave; true if not all of them are there any more.
fn agrees(file: LogFile, place: &Place, commits: &BTreeMap<u64, Commit>) -> Result<bool> {
    let Some(checkpoint) = Checkpoint::open(place)? else { return Ok(true) };
    if !checkpoint.is_of(file) {
        return Ok(false);
    }
    let found = checkpoint.recordings()?;
    let (after, last) = (checkpoint.after(), checkpoint.head().number);
    let folded_in: Vec<_> =
        commits.range(after + 1..=last).rev().map(|(_, c)| Piece::One(c.clone())).collect();
    if folded_in.len() as u64 != last - after {
        return Ok(true);
    }
    let (mut expected, _) = folded(&folded_in)?;
    expected.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(expected == found)
}
