//! Which process a process id denotes at an instant: ids are reused, names come late, and threads live on
//! even if the list of processes is missing. Filled by the look-ahead over the whole recording; has no state
//! of processes.

use super::dump::{Dump, process, thread};
use super::{Occurrence, words};
use crate::map::state::pairs;
use crate::names::IdMap;
use crate::qnx::{Class, Status, Version};
use serde::{Deserialize, Serialize};

/// Maximum number of names per process, which gets one for each program that it executes; the last one stays.
const MAX_NAMES: usize = 16;

/// Maximum number of processes in a recording.
const MAX_LIVES: usize = 1 << 20;

/// A process from its creation to its end.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Life {
    pub pid: u32,
    pub ppid: Option<u32>,
    pub created_at: Option<i64>,
    pub destroyed_at: Option<i64>,
    pub dumped: bool,
    /// Paths, and the time from which each holds.
    names: Vec<(i64, String)>,
}

impl Life {
    /// The latest path from the kernel.
    pub fn path(&self) -> Option<&str> {
        self.names.last().map(|(_, path)| path.as_str())
    }
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Directory {
    dump: Dump,
    #[serde(with = "pairs")]
    lives: IdMap<u32, Vec<Life>>,
    count: usize,
    /// Events of processes beyond the limit.
    pub(super) beyond: u64,
    /// Threads of process 1 with names or priorities: whether they are idle threads.
    #[serde(with = "pairs")]
    idle: IdMap<u32, bool>,
}

impl Directory {
    pub fn new(version: Version) -> Self {
        Self { dump: Dump::new(version), ..Self::default() }
    }

    /// Adds the next event. Needs all events of a recording, in the order of the mapping.
    pub fn event(&mut self, occurrence: &Occurrence<'_>) {
        let event = &occurrence.event;
        let dumped = self.dump.event(event);
        if event.status != Status::Ok {
            return;
        }
        match (event.class, event.event) {
            (Class::Process, process::CREATE | process::CREATE_NAME) => {
                self.created(event.word(0), event.word(1), occurrence, dumped);
            }
            (Class::Process, process::DESTROY | process::DESTROY_NAME) => {
                let (ppid, pid, time) = (event.word(0), event.word(1), occurrence.time);
                if let Some(life) = self.life(pid) {
                    life.destroyed_at = Some(time);
                    life.ppid.get_or_insert(ppid);
                }
            }
            (Class::Process, process::THREAD_NAME) if event.word(0) == 1 => {
                if let Some(name) = occurrence.text {
                    self.idle.insert(event.word(1), name.to_ascii_lowercase().starts_with("idle"));
                }
            }
            (Class::Thread, number) => {
                let Some((pid, tid)) = words::thread(event) else { return };
                if pid == 1 && words::scheduling(event).0.is_some_and(|priority| priority > 0) {
                    self.idle.entry(tid).or_insert(false);
                }
                if !matches!(number, thread::DESTROY | thread::DEAD) {
                    self.life(pid);
                }
            }
            _ => {}
        }
    }

    /// The current life of a process, or a new one. `None` for what cannot be a process, or beyond the limit.
    fn life(&mut self, pid: u32) -> Option<&mut Life> {
        if pid == words::NONE {
            return None;
        }
        let lives = self.lives.entry(pid).or_default();
        if lives.last().is_none_or(|life| life.destroyed_at.is_some()) {
            if self.count >= MAX_LIVES {
                self.beyond += 1;
                return None;
            }
            self.count += 1;
            lives.push(Life { pid, ..Life::default() });
        }
        lives.last_mut()
    }

    fn created(&mut self, ppid: u32, pid: u32, occurrence: &Occurrence<'_>, dumped: bool) {
        let last = self.lives.get(&pid).and_then(|lives| lives.last());
        // A process whose threads occurred earlier existed then.
        let new = last.is_none_or(|life| life.destroyed_at.is_some());
        let Some(life) = self.life(pid) else { return };
        life.ppid = Some(ppid);
        life.dumped |= dumped;
        if new && !dumped {
            life.created_at = Some(occurrence.time);
        }
        if let Some(name) = occurrence.text.filter(|name| !name.is_empty() && life.path() != Some(*name)) {
            if life.names.len() >= MAX_NAMES {
                life.names.pop();
            }
            life.names.push((occurrence.time, name.to_owned()));
        }
    }

    /// Rule Q1: base name of the program of a process at an instant. The first life includes all time before
    /// it; without a recorded end, an id is not reused.
    pub(super) fn name_at(&self, pid: u32, time: i64) -> Option<&str> {
        let lives = self.lives.get(&pid)?;
        // Everything after the end of a process belongs to the next one of its id.
        let ended = |life: &&Life| life.destroyed_at.is_some_and(|end| end < time);
        let life = lives.iter().find(|life| !ended(life)).or(lives.last())?;
        let known = life.names.iter().rev().find(|(from, _)| *from <= time);
        let (_, path) = known.or(life.names.first())?;
        path.rsplit('/').next().filter(|base| !base.is_empty())
    }

    /// Rule Q12: the first threads of process 1 are idle, one per CPU, unless name or priority say otherwise.
    pub(super) fn idles(&self, pid: u32, tid: u32, cpus: u32) -> bool {
        pid == 1 && self.idle.get(&tid).copied().unwrap_or(tid >= 1 && tid <= cpus)
    }

    /// All lives, in the order of their ends; those without an end last, by id.
    pub(super) fn lives(&self) -> Vec<&Life> {
        let mut all: Vec<&Life> = self.lives.values().flatten().collect();
        all.sort_by_key(|life| (life.destroyed_at.unwrap_or(i64::MAX), life.pid));
        all
    }
}
