//! A recording → a trace for the Perfetto UI and its trace processor: cores, tasks and ISRs with their
//! states, runnables, semaphores, signals, stimuli, and flows from activation to start and along event
//! chains. Streams: holds only names and open slices in memory. Not for the encoding of packets (see
//! `packets`, `wire`).
//!
//! Every event is on a track: as a slice (states, runnables, holds of and waits for semaphores), as a value
//! of a counter (signals, budgets and buffers of Grasp), or as an instant (everything else).

mod events;
mod grasp;
mod packets;
mod placement;
mod slots;
mod spans;
mod states;
mod tracks;
mod wire;

#[cfg(test)]
mod tests;

use super::{CHAINS_OPTION, Content, ExportRequest, Exported, Exporter, ExporterInfo};
use crate::btf::spec::EntityType;
use crate::engine::Session;
use crate::error::Result;
use crate::options::OptionSpec;
use crate::selection::Selection;
use packets::{Clock, Counts, Packets};
use std::io::Write;
use tracks::Tracks;

pub(super) struct Perfetto;

static INFO: ExporterInfo = ExporterInfo {
    name: "perfetto",
    title: "Perfetto",
    help: "A trace for the Perfetto UI",
    extensions: &["pftrace", "perfetto-trace"],
    content: Content::SystemEvents,
    options: &[OptionSpec::text(
        CHAINS_OPTION,
        "FILE",
        "perfetto: TOML file with [[chain]] entries, shown as slices and flows",
    )],
};

impl Exporter for Perfetto {
    fn info(&self) -> &ExporterInfo {
        &INFO
    }

    fn write(&self, session: &Session, request: &ExportRequest, out: &mut dyn Write) -> Result<Exported> {
        let (counts, shifted_by) = export_perfetto(session, &request.selection, out)?;
        let Counts { tracks, slices, instants, counters, rounded } = counts;
        let summary =
            format!("{slices} slices, {instants} instants and {counters} values on {tracks} tracks");
        let scale = session.database().time_scale();
        Ok(Exported::new(summary, slices + instants + counters == 0)
            .warn(rounded, || format!("{rounded} times were rounded to whole nanoseconds"))
            .warn(shifted_by, || {
                format!("times of Perfetto cannot be negative: all times are later by {shifted_by} {scale}")
            }))
    }
}

/// What all parts of an export need.
struct Export<'a, 'o> {
    session: &'a Session,
    selection: &'a Selection,
    recording: &'a str,
    packets: Packets<'o>,
    tracks: Tracks,
}

/// Writes the selected part of a recording. Returns the counts, and how many ticks were added to every time
/// because there are no negative ones. Slices that reach into the window are cut at its ends. An entity is
/// selected if a slice is about it, or if it is source or target of an event; its core shows what it runs.
fn export_perfetto(session: &Session, selection: &Selection, out: &mut dyn Write) -> Result<(Counts, u64)> {
    let recording = selection.recording(session)?;
    let entry = session.database().recording(&recording)?;
    let first = entry.and_then(|r| r.begin_at);
    let zero = first.unwrap_or(0).min(0);
    let mut packets = Packets::new(out, Clock::new(session.database().time_scale(), zero));
    let tracks = Tracks::new(&recording, &mut packets)?;
    let mut export = Export { session, selection, recording: &recording, packets, tracks };
    // Activations come first: at equal times, a flow starts at the event that is first in the file.
    export.events()?;
    export.activations()?;
    export.states()?;
    export.spans()?;
    export.grasp()?;
    Ok((export.packets.finish()?, zero.unsigned_abs()))
}

impl Export<'_, '_> {
    /// True when entities of this kind are selected.
    fn wants(&self, kind: EntityType) -> bool {
        let types = &self.selection.types;
        types.is_empty() || types.iter().any(|word| EntityType::parse_tolerant(word) == Some(kind))
    }
}

/// A span, cut at the ends of the window.
fn cut(selection: &Selection, begin: i64, end: i64) -> (i64, i64) {
    let (from, to) = (selection.from.unwrap_or(i64::MIN), selection.to.unwrap_or(i64::MAX));
    let begin = begin.max(from);
    (begin, end.min(to).max(begin))
}

/// The flow from an activation to the start of the instance.
fn activation(thread: i64, instance: i64) -> u64 {
    const INSTANCES: u32 = 40;
    (thread.unsigned_abs() << INSTANCES) | (instance.unsigned_abs() & ((1 << INSTANCES) - 1))
}

/// Keeps the numbers of flows of chains apart from those of activations.
const CHAINS: u64 = 1 << 63;
