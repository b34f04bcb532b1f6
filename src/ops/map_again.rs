//! `map`: maps recordings again, after a change of profile or program. Not the mapping (see `map`).

use super::choice::Choice;
use super::control::Control;
use super::describe::{stored_header, write_recording_row};
use super::forget::forget_mapping;
use super::ingest_one::write_diagnostics;
use super::map::{MAPPERS, MapOptions, MapReport, MapperEntry, map_stored};
use super::setup::MappingSetup;
use crate::error::{Error, Result};
use crate::store::{Database, Disk, Location};
use std::sync::Arc;

/// Maps the chosen recordings again.
///
/// # Errors
/// No such database or recording; a recording that has no setup, or of which events were left out; the disk.
pub fn map_again(
    disk: Arc<dyn Disk>,
    at: impl Into<Location>,
    choice: &Choice,
    options: MapOptions,
    control: &Arc<Control>,
) -> Result<Vec<(String, MapReport)>> {
    let mut tx = Database::begin(disk, at, None)?;
    let chosen = choice.of(tx.before())?;
    let names: Vec<String> = chosen.recordings()?.iter().map(|r| r.name.clone()).collect();
    let mut reports = Vec::new();
    for name in &names {
        let Some(setup) = MappingSetup::read(&tx, name)? else { continue };
        let Some(mapper) = &setup.mapper else { continue };
        let mapper = MapperEntry::named(MAPPERS, mapper, name)?;
        if setup.left_out {
            return Err(Error::usage(format!(
                "events of '{name}' were left out when it was ingested: it cannot be mapped again"
            ))
            .hint("ingest the trace again; a mapping needs all events"));
        }
        let header = stored_header(&tx, name)?;
        let kept = forget_mapping(&mut tx, name, mapper.native_tables, |_| false)?;
        let Some(report) = map_stored(MAPPERS, &mut tx, name, options, control)? else { continue };
        write_diagnostics(&mut tx, name, kept, &report.log)?;
        write_recording_row(&mut tx, name, &header)?;
        reports.push((name.clone(), report));
    }
    if reports.is_empty() {
        return Err(Error::usage("no recording says how it is to be mapped")
            .hint("ingest it with os = \"…\" in its recording.toml, or with --os"));
    }
    control.check()?;
    tx.commit()?;
    Ok(reports)
}
