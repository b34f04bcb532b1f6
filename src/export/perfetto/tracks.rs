//! The tree of tracks, with additional tracks for slices that overlap. Not for what is on them.
//!
//! The recording is a process; its threads are the tasks and ISRs, each with a track of states and its
//! runnables. In addition, there are groups of cores, chains, stimuli, semaphores, signals and others.

use super::packets::{Order, Packets, Track, TrackKind};
use super::placement::{NestedTracks, OverlapTracks};
use crate::btf::spec::EntityType;
use crate::error::{Error, ErrorKind, Result};
use std::collections::HashMap;

/// Groups of tracks, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Group {
    Cores,
    Chains,
    Stimuli,
    Semaphores,
    Signals,
    Servers,
    Buffers,
    Others,
}

const GROUPS: [(Group, &str); 8] = [
    (Group::Cores, "Cores"),
    (Group::Chains, "Event chains"),
    (Group::Stimuli, "Stimuli"),
    (Group::Semaphores, "Semaphores"),
    (Group::Signals, "Signals"),
    (Group::Servers, "Servers"),
    (Group::Buffers, "Buffers"),
    (Group::Others, "Others"),
];

/// The tracks of a task or ISR.
#[derive(Debug)]
pub(super) struct Thread {
    /// Its runnables, and what it does to others.
    pub track: u64,
    pub number: i64,
    /// Its activations are on the tracks of their causes.
    pub activated: bool,
    pub states: OverlapTracks,
    pub runnables: NestedTracks,
}

#[derive(Debug)]
pub(super) struct Row {
    pub track: u64,
    pub slices: OverlapTracks,
    /// The slices below it: waits for a semaphore, the gaps of a core.
    pub below: OverlapTracks,
}

#[derive(Debug)]
struct ByName<T> {
    places: HashMap<String, usize>,
    things: Vec<T>,
}

impl<T> ByName<T> {
    fn new() -> Self {
        Self { places: HashMap::new(), things: Vec::new() }
    }

    /// The track of that name, made on first use.
    fn get(&mut self, name: &str, make: impl FnOnce() -> Result<T>) -> Result<&mut T> {
        let place = match self.places.get(name) {
            Some(place) => *place,
            None => {
                self.things.push(make()?);
                self.places.insert(name.to_owned(), self.things.len() - 1);
                self.things.len() - 1
            }
        };
        self.things.get_mut(place).ok_or_else(|| Error::new(ErrorKind::Bug, "a track was lost"))
    }
}

#[derive(Debug)]
pub(super) struct Tracks {
    process: u64,
    groups: [Option<u64>; GROUPS.len()],
    rows: [ByName<Row>; GROUPS.len()],
    tasks: ByName<Thread>,
    isrs: ByName<Thread>,
    threads: i64,
}

impl Tracks {
    /// The track of a recording.
    pub fn new(recording: &str, packets: &mut Packets<'_>) -> Result<Self> {
        let process = packets.track(&Track {
            name: recording,
            parent: None,
            track_kind: TrackKind::Process,
            children: Order::ByRank,
            rank: 0,
            description: "Recording; its threads are tasks and interrupt service routines",
        })?;
        Ok(Self {
            process,
            groups: Default::default(),
            rows: std::array::from_fn(|_| ByName::new()),
            tasks: ByName::new(),
            isrs: ByName::new(),
            // The thread with the id of its process would be the main one.
            threads: 1,
        })
    }

    pub fn thread(&mut self, kind: EntityType, name: &str, packets: &mut Packets<'_>) -> Result<&mut Thread> {
        let isr = kind == EntityType::Isr;
        let threads = if isr { &mut self.isrs } else { &mut self.tasks };
        let (process, last) = (self.process, &mut self.threads);
        threads.get(name, || {
            *last += 1;
            let number = *last;
            let track = packets.track(&Track {
                name,
                parent: Some(process),
                track_kind: TrackKind::Thread(number),
                children: Order::ByRank,
                rank: number,
                description: if isr { "Interrupt service routine" } else { "Task" },
            })?;
            let states = OverlapTracks::new(track, "state", 0);
            Ok(Thread { track, number, activated: false, states, runnables: NestedTracks::new(track) })
        })
    }

    /// A task or ISR that already has tracks.
    pub fn known_thread(&mut self, kind: EntityType, name: &str) -> Option<&mut Thread> {
        let threads = if kind == EntityType::Isr { &mut self.isrs } else { &mut self.tasks };
        let place = *threads.places.get(name)?;
        threads.things.get_mut(place)
    }

    /// A track of a group. `below` is the name of the tracks below it.
    pub fn row(
        &mut self,
        group: Group,
        name: &str,
        track_kind: TrackKind,
        below: &'static str,
        packets: &mut Packets<'_>,
    ) -> Result<&mut Row> {
        let place = GROUPS.iter().position(|(g, _)| *g == group).unwrap_or(0);
        let (Some(parent), Some(rows)) = (self.groups.get_mut(place), self.rows.get_mut(place)) else {
            return Err(Error::new(ErrorKind::Bug, "a group of tracks was lost"));
        };
        let group_track = match *parent {
            Some(track) => track,
            None => {
                let name = GROUPS.get(place).map_or("", |(_, name)| name);
                // Before the threads.
                let rank = place as i64 - GROUPS.len() as i64;
                let track = packets.track(&Track { rank, ..Track::below(self.process, name) })?;
                *parent = Some(track);
                track
            }
        };
        rows.get(name, || {
            let children = Order::ByRank;
            let track = packets.track(&Track { track_kind, children, ..Track::below(group_track, name) })?;
            Ok(Row {
                track,
                slices: OverlapTracks::on(track, group_track, name),
                below: OverlapTracks::new(track, below, 1),
            })
        })
    }
}
