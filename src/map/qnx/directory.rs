//! Which process a process id means, and when: ids are used again, names come late, and threads live on where
//! the list of processes is missing. Fed by a first look at the whole recording; not the state of anything.

use super::dump::{Dump, process, thread};
use super::{Occurrence, words};
use crate::map::state::pairs;
use crate::names::IdMap;
use crate::qnx::{Class, Status, Version};
use serde::{Deserialize, Serialize};

/// More names than a process gets by executing other programs; the last one stays.
const MAX_NAMES: usize = 16;

/// More processes than any target has had in a recording.
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
    /// Paths, and from when on.
    names: Vec<(i64, String)>,
}

impl Life {
    /// The path that the kernel gave last.
    pub fn path(&self) -> Option<&str> {
        self.names.last().map(|(_, path)| path.as_str())
    }
}

/// The processes of a recording.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Directory {
    dump: Dump,
    #[serde(with = "pairs")]
    lives: IdMap<u32, Vec<Life>>,
    count: usize,
    /// Events of processes beyond the limit.
    pub(super) beyond: u64,
    /// Threads of process 1 that have names, or priorities: whether they idle.
    #[serde(with = "pairs")]
    idle: IdMap<u32, bool>,
}

impl Directory {
    /// Nothing seen yet.
    pub fn new(version: Version) -> Self {
        Self {
            dump: Dump::new(version),
            lives: IdMap::default(),
            count: 0,
            beyond: 0,
            idle: IdMap::default(),
        }
    }

    /// Takes the next event into account; all of a recording, please, in the order of the mapping.
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

    /// The last life of a process, which is new if it had ended. `None` for what cannot be a process, or
    /// beyond the limit.
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
        // A process whose threads were seen before was there before.
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

    /// Rule Q1: base name of the program of a process at an instant. The first life is that of all time
    /// before, too: without an end that was recorded, an id is not used again.
    pub(super) fn name_at(&self, pid: u32, time: i64) -> Option<&str> {
        let lives = self.lives.get(&pid)?;
        // A process has what came after the end of the one before.
        let ended = |life: &&Life| life.destroyed_at.is_some_and(|end| end < time);
        let life = lives.iter().find(|life| !ended(life)).or(lives.last())?;
        let known = life.names.iter().rev().find(|(from, _)| *from <= time);
        let (_, path) = known.or(life.names.first())?;
        path.rsplit('/').next().filter(|base| !base.is_empty())
    }

    /// Rule Q12: true for a thread that runs when nothing else does: the first threads of process 1, one per
    /// CPU, unless their names or priorities tell otherwise.
    pub(super) fn idles(&self, pid: u32, tid: u32, cpus: u32) -> bool {
        pid == 1 && self.idle.get(&tid).copied().unwrap_or(tid >= 1 && tid <= cpus)
    }

    /// Every life, in the order of their ends; those without an end last, by id.
    pub(super) fn lives(&self) -> Vec<&Life> {
        let mut all: Vec<&Life> = self.lives.values().flatten().collect();
        all.sort_by_key(|life| (life.destroyed_at.unwrap_or(i64::MAX), life.pid));
        all
    }
}
