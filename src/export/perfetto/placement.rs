//! Chooses the track of a slice: slices of one track may not cross, so slices that overlap get tracks of
//! their own. The Perfetto UI merges tracks of one name below one parent. Not for what the slices are.

use super::packets::{Packets, Track};
use crate::error::Result;

/// Tracks of one name for slices that may overlap.
#[derive(Debug)]
pub(super) struct OverlapTracks {
    parent: u64,
    name: String,
    rank: i64,
    slots: Vec<Slot>,
}

/// One of these tracks, and until when it is taken.
#[derive(Debug)]
struct Slot {
    track: u64,
    end: i64,
    /// The instance whose spans are on it, until it ends.
    occupant: Option<Occupant>,
}

#[derive(Debug)]
struct Occupant {
    instance: i64,
    started: bool,
}

impl OverlapTracks {
    pub fn new(parent: u64, name: &str, rank: i64) -> Self {
        Self { parent, name: name.to_owned(), rank, slots: Vec::new() }
    }

    /// Tracks of which the first one exists already.
    pub fn on(track: u64, parent: u64, name: &str) -> Self {
        let slot = Slot { track, end: i64::MIN, occupant: None };
        Self { parent, name: name.to_owned(), rank: 0, slots: vec![slot] }
    }

    fn more(&mut self, packets: &mut Packets<'_>) -> Result<u64> {
        let track = packets.track(&Track { rank: self.rank, ..Track::below(self.parent, &self.name) })?;
        self.slots.push(Slot { track, end: i64::MIN, occupant: None });
        Ok(track)
    }

    /// The track for a span `[begin, end)`. Spans must come in the order of their ends or of their begins.
    pub fn place(&mut self, (begin, end): (i64, i64), packets: &mut Packets<'_>) -> Result<u64> {
        let found = self.slots.iter().position(|slot| slot.end <= begin && slot.occupant.is_none());
        let track = match found {
            None => self.more(packets)?,
            Some(found) => self.slots.get(found).map_or(0, |slot| slot.track),
        };
        if let Some(slot) = self.slots.iter_mut().find(|slot| slot.track == track) {
            slot.end = end;
        }
        Ok(track)
    }

    /// The same for a span of an instance, which keeps its track until [`OverlapTracks::leave`]. Also returns
    /// whether this is the first span that `starts` it.
    pub fn place_instance(
        &mut self,
        instance: i64,
        starts: bool,
        (begin, end): (i64, i64),
        packets: &mut Packets<'_>,
    ) -> Result<(u64, bool)> {
        let of = |slot: &Slot| slot.occupant.as_ref().map(|o| o.instance);
        let find = |slots: &[Slot], occupant| {
            slots.iter().position(|slot| of(slot) == occupant && slot.end <= begin)
        };
        let place = find(&self.slots, Some(instance)).or_else(|| find(&self.slots, None));
        if place.is_none() {
            self.more(packets)?;
        }
        let last = self.slots.len().saturating_sub(1);
        let Some(slot) = self.slots.get_mut(place.unwrap_or(last)) else { return Ok((0, false)) };
        slot.end = end;
        let occupant = slot.occupant.get_or_insert(Occupant { instance, started: false });
        let first = starts && !occupant.started;
        occupant.started |= starts;
        Ok((slot.track, first))
    }

    /// An instance has ended.
    pub fn leave(&mut self, instance: i64) {
        for slot in &mut self.slots {
            if slot.occupant.as_ref().is_some_and(|o| o.instance == instance) {
                slot.occupant = None;
            }
        }
    }
}

#[derive(Debug)]
struct Open {
    end: i64,
    depth: i64,
    owner: i64,
}

/// Tracks for nested slices.
#[derive(Debug)]
pub(super) struct NestedTracks {
    parent: u64,
    nests: Vec<(u64, Vec<Open>)>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Slice {
    pub begin: i64,
    pub end: i64,
    /// How many slices of its owner it is nested in.
    pub depth: i64,
    /// Slices of different owners are never nested.
    pub owner: i64,
}

impl NestedTracks {
    /// The first track is `track` itself, the others are below it.
    pub fn new(track: u64) -> Self {
        Self { parent: track, nests: vec![(track, Vec::new())] }
    }

    /// Ends the slices that have ended when `slice` begins, and returns the track where it begins. Slices
    /// must come in the order of their begins, outer ones first if they begin at the same time.
    pub fn place(&mut self, slice: Slice, packets: &mut Packets<'_>) -> Result<u64> {
        let mut found = None;
        for (track, open) in &mut self.nests {
            while let Some(top) = open.last() {
                // A slice without duration at the end of another one may be nested in it.
                let inside = top.owner == slice.owner && top.depth < slice.depth;
                if top.end > slice.begin || (inside && top.end == slice.begin && slice.end == slice.begin) {
                    break;
                }
                packets.end(*track, top.end)?;
                open.pop();
            }
            let fits = open.last().is_none_or(|top| {
                top.owner == slice.owner && top.depth < slice.depth && slice.end <= top.end
            });
            if fits {
                found = Some((*track, open));
                break;
            }
        }
        let open = Open { end: slice.end, depth: slice.depth, owner: slice.owner };
        if let Some((track, stack)) = found {
            stack.push(open);
            return Ok(track);
        }
        let track = packets.track(&Track { rank: 1, ..Track::below(self.parent, "runnables") })?;
        self.nests.push((track, vec![open]));
        Ok(track)
    }

    pub fn close(&mut self, packets: &mut Packets<'_>) -> Result<()> {
        for (track, open) in &mut self.nests {
            while let Some(top) = open.pop() {
                packets.end(*track, top.end)?;
            }
        }
        Ok(())
    }
}
