//! A recording → a trace for the Perfetto UI and its trace processor: cores, tasks and ISRs with their states, runnables,
//! semaphores, signals, stimuli, and flows from activation to start and along event chains. Streams: what is held in memory
//! are names, and what is open. Not for the encoding of packets (see `packets`, `wire`).
//!
//! Every event is on a track: as slice (states, runnables, holds of and waits for semaphores), as value of a counter
//! (signals, budgets and buffers of Grasp) or as instant (everything else).

mod events;
mod grasp;
mod lanes;
mod packets;
mod spans;
mod states;
mod tracks;
mod wire;

#[cfg(test)]
mod tests;

use super::Selection;
use crate::btf::spec::{self, Kind};
use crate::engine::Session;
use crate::error::Result;
use packets::{Clock, Packets};
use std::io::Write;
use tracks::Tracks;

/// What was exported.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PerfettoDone {
    /// Tracks, groups of them included.
    pub tracks: u64,
    /// Stretches of time.
    pub slices: u64,
    /// Events without duration.
    pub instants: u64,
    /// Values of signals.
    pub counters: u64,
    /// Times that are no whole number of nanoseconds; they were rounded half to even.
    pub rounded: u64,
    /// Ticks added to every time, because there are no negative ones; 0 for nearly every recording.
    pub shifted_by: u64,
}

impl PerfettoDone {
    /// True when nothing was selected.
    pub fn is_empty(&self) -> bool {
        self.slices + self.instants + self.counters == 0
    }
}

/// What all parts of an export need.
struct Export<'a, 'o> {
    session: &'a Session,
    selection: &'a Selection,
    recording: &'a str,
    /// Begin of the window, or of the recording.
    begin: i64,
    packets: Packets<'o>,
    tracks: Tracks,
}

/// Writes the selected part of a recording. Slices that reach into the window are cut at its ends. An entity is selected
/// when it is what a slice is about, or source or target of an event; its core shows what it runs.
///
/// # Errors
/// [`crate::error::ErrorKind::Usage`] when the recording is not clear, [`crate::error::ErrorKind::Io`] when `out` fails,
/// otherwise those of a query.
pub fn export_perfetto(
    session: &Session,
    selection: &Selection,
    out: &mut dyn Write,
) -> Result<PerfettoDone> {
    let recording = selection.recording(session)?;
    let entry = session.database().manifest().recording(&recording);
    let first = entry.and_then(|r| r.begin_at);
    let zero = first.unwrap_or(0).min(0);
    let mut packets = Packets::new(out, Clock::new(session.database().time_scale(), zero));
    let tracks = Tracks::new(&recording, &mut packets)?;
    let begin = selection.from.or(first).unwrap_or(0);
    let mut export = Export { session, selection, recording: &recording, begin, packets, tracks };
    // Activations come first: a flow goes from what stands first in the file, where times are equal.
    export.events()?;
    export.activations()?;
    export.states()?;
    export.spans()?;
    export.grasp()?;
    let counts = export.packets.finish()?;
    Ok(PerfettoDone {
        tracks: counts.tracks,
        slices: counts.slices,
        instants: counts.instants,
        counters: counts.counters,
        rounded: counts.rounded,
        shifted_by: zero.unsigned_abs(),
    })
}

impl Export<'_, '_> {
    /// True when entities of this kind are selected.
    fn wants(&self, kind: Kind) -> bool {
        let types = &self.selection.types;
        types.is_empty() || types.iter().any(|word| spec::kind_alias(word) == Some(kind))
    }
}

/// A stretch of time, cut at the ends of the window.
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

/// Flows of chains do not meet those of activations.
const CHAINS: u64 = 1 << 63;
