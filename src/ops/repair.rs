//! `verify --repair`: makes again what is damaged and follows from what is not. Tables that a mapping writes
//! follow from the software or kernel events, checkpoints of the log from its commits. Not the check itself
//! (see `store::verify`).

use super::choice::Choice;
use super::control::Control;
use super::forget::REMADE;
use super::map::MAPPERS;
use super::map::MapOptions;
use super::map_again::map_again;
use super::setup::STATE;
use crate::error::{ErrorKind, Result};
use crate::store::{Database, Disk, Location, VerifyReport, repair_log, verify};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What was made again, and what is still wrong.
#[derive(Debug, Clone)]
pub struct RepairReport {
    /// Files of the log that were written again, and the recordings that were mapped again.
    pub repaired: Vec<String>,
    /// Why a recording with damaged files could not be mapped again.
    pub failed: Vec<(String, String)>,
    /// The database afterwards.
    pub after: VerifyReport,
}

/// Repairs a database. Nothing is touched that is not damaged, but for the other tables of a mapping.
///
/// # Errors
/// When the log cannot be read, even so; the disk.
pub fn repair(
    disk: &Arc<dyn Disk>,
    at: &Location,
    threads: usize,
    control: &Arc<Control>,
) -> Result<RepairReport> {
    let mut repaired = repair_log(Arc::clone(disk), at)?;
    let (before, database) = (verify(at)?, Database::open(at)?);
    let mut owners = BTreeMap::new();
    for recording in database.recordings()? {
        for path in recording.file_paths() {
            owners.insert(path.to_owned(), recording.name.clone());
        }
    }
    let remade = |path: &str| {
        let tables = REMADE.iter().chain(MAPPERS.iter().flat_map(|mapper| mapper.native_tables));
        let folders = tables.map(|table| table.name).chain([STATE]);
        path.split_once('/').is_some_and(|(folder, _)| folders.into_iter().any(|other| other == folder))
    };
    // What cannot be read may be sound.
    let damaged = before.problems.iter().filter(|problem| !problem.is_unread);
    let damaged = damaged.filter_map(|problem| problem.path.to_str());
    let mut damaged: Vec<&String> =
        damaged.filter(|path| remade(path)).filter_map(|path| owners.get(path)).collect();
    damaged.sort();
    damaged.dedup();
    let mut failed = Vec::new();
    for name in damaged {
        let choice = Choice { recording: Some(name.clone()), labels: Vec::new() };
        match map_again(
            Arc::clone(disk),
            at,
            &choice,
            MapOptions { threads, ..MapOptions::default() },
            control,
        ) {
            Ok(_) => repaired.push(format!("recording '{name}'")),
            // What the database says; a full disk says nothing of a recording.
            Err(e) if [ErrorKind::Database, ErrorKind::Usage].contains(&e.kind()) => {
                failed.push((name.clone(), e.to_string()));
            }
            Err(e) => return Err(e),
        }
    }
    Ok(RepairReport { repaired, failed, after: verify(at)? })
}
