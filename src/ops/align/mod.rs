//! `align`: several recordings, each with a clock of its own, as one recording on one clock. Not what
//! messages say about clocks (see [`crate::clocks`]).

mod copied;
mod ecu;
mod fitted;
mod sightings;
mod spent;
mod tables;

use self::ecu::{Ecu, Known};
use self::fitted::Fit;
use super::control::Control;
use super::describe::write_recording_row;
use super::ingest_one::write_diagnostics;
use crate::clocks::{Fate, Model};
use crate::description::ClocksFile;
use crate::diagnostics::{Diagnostic, Log, Severity};
use crate::encoding::read_text;
use crate::engine::SessionOptions;
use crate::error::{Error, Result};
use crate::formats::Header;
use crate::library::Queries;
use crate::schema::tables as table;
use crate::store::{Database, Disk, Location, Transaction};
use crate::time::TimeScale;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// Limits of an alignment.
#[derive(Debug, Clone)]
pub struct AlignOptions {
    /// Limits of the statements of rules.
    pub session: SessionOptions,
    /// The library of SQL that they can use.
    pub queries: Arc<Queries>,
}

/// What became of the clock of a control unit. Times are ticks, rates ticks per tick.
#[derive(Debug, Clone)]
pub struct ClockReport {
    /// Name of the control unit.
    pub ecu: String,
    /// How the clock was found.
    pub model: Model,
    /// How much faster it is than the reference.
    pub drift: f64,
    /// The rates that are possible.
    pub drifts: (f64, f64),
    /// Its first event, aligned, and what it showed then.
    pub begin: (i64, i64),
    /// The widest and the narrowest bound: how much earlier and later an event can have been, together.
    pub widths: (i64, i64),
    /// By how much its rate differs at least from its mean.
    pub proven_wander: f64,
    /// Messages that were used for it.
    pub messages: u64,
}

/// The result of an alignment.
#[derive(Debug, Clone)]
pub struct AlignReport {
    /// The clocks, in the order of the file.
    pub clocks: Vec<ClockReport>,
    /// System events written.
    pub events: u64,
    /// Messages that were used.
    pub used: u64,
    /// Those that were not, and what else there is to say.
    pub log: Log,
    /// Unit of every tick.
    pub time_scale: TimeScale,
}

/// Writes the recordings that a file of clocks lists as one more recording, `into`, whose times are those of
/// the reference clock.
///
/// # Errors
/// A file with mistakes; recordings that are not there; a recording `into` that is; rules that fail, or that
/// do not tell enough about a clock; the disk. The database is then unchanged.
pub fn align(
    disk: Arc<dyn Disk>,
    at: impl Into<Location>,
    file: &Path,
    into: &str,
    options: &AlignOptions,
    control: &Arc<Control>,
) -> Result<AlignReport> {
    let clocks = ClocksFile::parse(&read_text(file)?, file)?;
    let mut tx = Database::begin(disk, at, None)?;
    if tx.has_recording(into)? {
        return Err(Error::usage(format!("there is already a recording '{into}'"))
            .hint("give another name with --into, or remove it first"));
    }
    let spans = spans(&tx, &clocks)?;
    let (messages, without_key) = sightings::messages(&tx.before(), &clocks, file, options, control)?;
    let Fit { alignments, messages, mut log } = fitted::fit(&clocks, &spans, messages, tx.time_scale())?;
    if without_key > 0 {
        let message = format!("{without_key} rows of the statements have no time or no key, and say nothing");
        log.push(finding(Severity::Warning, "without-key", message));
    }
    let known = clocks.clock.iter().map(|clock| Known::of(&tx, clock.recording.get_ref()));
    let known = known.collect::<Result<Vec<_>>>()?;
    let shared = shared_names(&clocks, &known);
    let ecus = alignments.into_iter().zip(&known).enumerate();
    let ecus = ecus.map(|(n, (clock, known))| Ecu::new(&clocks, n, clock, (&shared, known)));
    let ecus: Vec<Ecu<'_>> = ecus.collect();
    check_unique(&ecus, &known, file)?;
    control.begin(format!("aligning {into}"), copied::rows(&tx, &ecus)?);
    let tags = tables::hierarchy(&ecus, &spans)?;
    let events = copied::copy(&mut tx, &ecus, &tags, into, control)?;
    tables::write(&mut tx, &ecus, &messages, into)?;
    let of_ecus = tables::diagnostics(&tx, &ecus)?;
    write_diagnostics(&mut tx, into, vec![of_ecus], &log)?;
    write_recording_row(&mut tx, into, &Header::default())?;
    control.check()?;
    let time_scale = tx.time_scale();
    tx.commit()?;
    let of_clock = |n: usize| {
        let of = messages.iter().filter(|m| m.message.fate == Fate::Used && m.is_of(n));
        of.count() as u64
    };
    let used = messages.iter().filter(|m| m.message.fate == Fate::Used).count() as u64;
    let reports = ecus.iter().zip(&spans).enumerate().map(|(n, (ecu, span))| {
        let clock = &ecu.clock;
        let widths = clock.bounds().iter().map(|bound| bound.early.saturating_add(bound.late));
        ClockReport {
            ecu: ecu.name.to_owned(),
            model: clock.model,
            drift: clock.rate,
            drifts: clock.rates,
            begin: (clock.aligned(span.0), span.0),
            widths: (widths.clone().max().unwrap_or(0), widths.min().unwrap_or(0)),
            proven_wander: clock.proven_wander,
            messages: of_clock(n),
        }
    });
    Ok(AlignReport { clocks: reports.collect(), events, used, log, time_scale })
}

/// First and last time of each recording.
fn spans(tx: &Transaction, clocks: &ClocksFile) -> Result<Vec<(i64, i64)>> {
    let span = |clock: &crate::description::Clock| {
        let name = clock.recording.get_ref();
        let found = tx.before().check_recording(Some(name));
        found.map_err(|e| clocks.mistake(&clock.recording, e))?;
        if !tx.files(table::CLOCK, name)?.is_empty() {
            let error = Error::usage(format!("recording '{name}' was aligned already"))
                .hint("list the recordings that it was aligned from");
            return Err(clocks.mistake(&clock.recording, error));
        }
        let recording = tx.recording(name)?.unwrap_or_default();
        let span = recording.begin_at.zip(recording.end_at).ok_or_else(|| {
            clocks.mistake(&clock.recording, Error::input(format!("recording '{name}' has no times")))
        })?;
        let mut latest = i64::MIN;
        for (file, _) in tx.files(table::BTF_EVENT, name)? {
            if file.begin_at.is_some_and(|begin| begin < latest) {
                let error = Error::input(format!("the clock of recording '{name}' was set back"))
                    .hint("it holds several traces: split the file, and ingest each as a recording");
                return Err(clocks.mistake(&clock.recording, error));
            }
            latest = latest.max(file.end_at.unwrap_or(latest));
        }
        Ok(span)
    };
    clocks.clock.iter().map(span).collect()
}

/// The names of entities that several recordings have: each is one of its own, with the name of its control
/// unit before it. So is what is called as a unit is.
fn shared_names(clocks: &ClocksFile, known: &[Known]) -> BTreeSet<String> {
    let mut owners: BTreeSet<&str> = (0..clocks.clock.len()).map(|n| clocks.ecu(n)).collect();
    let mut shared = BTreeSet::new();
    for name in known.iter().flat_map(|known| &known.all) {
        if !owners.insert(name) {
            shared.insert(name.clone());
        }
    }
    shared
}

/// Fails when two entities would get one name.
fn check_unique(ecus: &[Ecu<'_>], known: &[Known], file: &Path) -> Result<()> {
    let mut owners: BTreeMap<String, (&str, &str)> =
        ecus.iter().map(|ecu| (ecu.name.to_owned(), (ecu.name, ecu.name))).collect();
    for (ecu, known) in ecus.iter().zip(known) {
        for name in &known.all {
            let unique = ecu.entity(name).into_owned();
            if let Some((other, of_other)) = owners.insert(unique.clone(), (ecu.name, name)) {
                let message = format!(
                    "'{name}' of '{}' and '{of_other}' of '{other}' would both be called '{unique}'",
                    ecu.name
                );
                return Err(Error::input(message)
                    .at(file)
                    .hint("call a control unit otherwise: ecu = \"…\""));
            }
        }
    }
    Ok(())
}

/// The finding about an alignment.
fn finding(severity: Severity, code: &'static str, message: String) -> Diagnostic {
    Diagnostic { source: "align".into(), line: None, severity, code, message, text: String::new() }
}
