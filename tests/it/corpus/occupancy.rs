//! Which process is on each core, replayed from the system events of a recording. Not which process ought to
//! be there.

use super::Event;
use std::collections::BTreeMap;

/// What a core does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Occupant {
    /// Unknown: nothing enters or leaves the core from here on.
    Unknown,
    Nobody,
    /// A task or an ISR with its instance, running or polling.
    Process(String, i64),
}

impl Occupant {
    /// Name of the process, `-` for none, `?` for unknown.
    pub fn name(&self) -> &str {
        match self {
            Self::Unknown => "?",
            Self::Nobody => "-",
            Self::Process(name, _) => name,
        }
    }
}

/// The occupants of one core over time.
#[derive(Debug, Clone, Default)]
pub struct Timeline {
    /// Changes in the order of the events; several may have one time.
    changes: Vec<(i64, Occupant)>,
    first: Option<Occupant>,
}

impl Timeline {
    fn changed(&mut self, time: i64, occupant: Occupant) {
        self.changes.push((time, occupant));
    }

    /// The occupant just before everything that happens at `time`.
    pub fn before(&self, time: i64) -> &Occupant {
        self.after_change(self.changes.partition_point(|c| c.0 < time))
    }

    /// The occupant when everything has happened that happens at `time`.
    pub fn at(&self, time: i64) -> &Occupant {
        self.after_change(self.changes.partition_point(|c| c.0 <= time))
    }

    fn after_change(&self, changes: usize) -> &Occupant {
        let before = changes.checked_sub(1).map(|n| &self.changes[n].1);
        before.or(self.first.as_ref()).unwrap_or(&Occupant::Unknown)
    }

    /// Spans of one occupant from `begin` on, without spans of no length.
    pub fn stretches(&self, begin: i64) -> Vec<(i64, Occupant)> {
        let mut out: Vec<(i64, Occupant)> = vec![(begin, self.at(begin).clone())];
        for (time, occupant) in self.changes.iter().filter(|c| c.0 > begin) {
            if out.last().is_some_and(|last| last.0 == *time) {
                out.pop();
            }
            if out.last().is_none_or(|last| last.1 != *occupant) {
                out.push((*time, occupant.clone()));
            }
        }
        out
    }
}

/// The timelines of all cores. A process that leaves a core without having entered it was there from the
/// beginning; a core that a process enters first was free until then. A core without a process event is free
/// if it is recorded from the start of the OS on.
pub fn occupancy<'a>(
    cores: impl Iterator<Item = &'a str>,
    events: &[Event],
    from_start: bool,
) -> BTreeMap<String, Timeline> {
    let mut out: BTreeMap<String, Timeline> = cores.map(|c| (c.to_owned(), Timeline::default())).collect();
    for event in events.iter().filter(|e| e.is_process()) {
        let process = Occupant::Process(event.target.clone(), event.instance);
        let (before, after) = match event.action.as_str() {
            "start" | "resume" | "poll_parking" => (Occupant::Nobody, process),
            "preempt" | "park" | "wait" | "terminate" => (process, Occupant::Nobody),
            "poll" | "run" => (process.clone(), process),
            _ => continue,
        };
        let timeline = out.get_mut(&event.source).unwrap_or_else(|| panic!("no such core: {}", event.line()));
        timeline.first.get_or_insert(before);
        timeline.changed(event.time, after);
    }
    if from_start {
        for timeline in out.values_mut() {
            timeline.first.get_or_insert(Occupant::Nobody);
        }
    }
    out
}
