//! Chooses the track of a slice: slices of one track may not cross, so slices that overlap get tracks of
//! their own. The Perfetto UI merges tracks of one name below one parent. Not for what the slices are.

use super::packets::{Packets, Track};
use super::slots::Slots;
use crate::error::Result;
use std::collections::HashMap;

/// Tracks of one name for slices that may overlap.
#[derive(Debug)]
pub(super) struct OverlapTracks {
    parent: u64,
    name: String,
    rank: i64,
    tracks: Vec<Taken>,
    /// From when on each track is free; those of instances are taken.
    free: Slots,
    /// The instances that have not ended: their tracks, in order, and whether one of their spans starts them.
    occupants: HashMap<i64, Occupant>,
}

/// One of these tracks, and until when it is taken.
#[derive(Debug)]
struct Taken {
    track: u64,
    end: i64,
}

#[derive(Debug, Default)]
struct Occupant {
    places: Vec<usize>,
    started: Vec<bool>,
}

impl OverlapTracks {
    pub fn new(parent: u64, name: &str, rank: i64) -> Self {
        let (tracks, free, occupants) = Default::default();
        Self { parent, name: name.to_owned(), rank, tracks, free, occupants }
    }

    /// Tracks of which the first one exists already.
    pub fn on(track: u64, parent: u64, name: &str) -> Self {
        let mut tracks = Self::new(parent, name, 0);
        tracks.add(track);
        tracks
    }

    /// Adds a track, which is free.
    fn add(&mut self, track: u64) -> usize {
        let place = self.tracks.len();
        self.tracks.push(Taken { track, end: i64::MIN });
        self.free.push();
        self.free.set(place, i64::MIN);
        place
    }

    /// The first track that is free at this moment, a new one if need be.
    fn first_free(&mut self, at: i64, packets: &mut Packets<'_>) -> Result<usize> {
        match self.free.first(at) {
            Some(place) => Ok(place),
            None => {
                let track =
                    packets.track(&Track { rank: self.rank, ..Track::below(self.parent, &self.name) })?;
                Ok(self.add(track))
            }
        }
    }

    /// Takes a track until `end`, and from then on until its instance ends if it is of one.
    fn take(&mut self, place: usize, end: i64, of_instance: bool) -> u64 {
        self.free.set(place, if of_instance { i64::MAX } else { end });
        self.tracks.get_mut(place).map_or(0, |taken| {
            taken.end = end;
            taken.track
        })
    }

    /// The track for a span `[begin, end)`. Spans must come in the order of their ends or of their begins.
    pub fn place(&mut self, (begin, end): (i64, i64), packets: &mut Packets<'_>) -> Result<u64> {
        let place = self.first_free(begin, packets)?;
        Ok(self.take(place, end, false))
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
        let has_ended = |place: usize| self.tracks.get(place).is_some_and(|taken| taken.end <= begin);
        let own = self.occupants.get(&instance).into_iter().flat_map(|own| own.places.iter().enumerate());
        let own =
            own.filter(|(_, place)| has_ended(**place)).min_by_key(|(_, place)| **place).map(|(n, _)| n);
        let own = match own {
            Some(own) => own,
            None => {
                let place = self.first_free(begin, packets)?;
                let occupant = self.occupants.entry(instance).or_default();
                occupant.places.push(place);
                occupant.started.push(false);
                occupant.places.len() - 1
            }
        };
        let occupant = self.occupants.entry(instance).or_default();
        let first = starts && occupant.started.get(own) == Some(&false);
        if let Some(started) = occupant.started.get_mut(own) {
            *started |= starts;
        }
        let place = occupant.places.get(own).copied().unwrap_or_default();
        Ok((self.take(place, end, true), first))
    }

    /// An instance has ended.
    pub fn leave(&mut self, instance: i64) {
        for place in self.occupants.remove(&instance).unwrap_or_default().places {
            let end = self.tracks.get(place).map_or(i64::MIN, |taken| taken.end);
            self.free.set(place, end);
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
