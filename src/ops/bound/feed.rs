//! The system events of a recording, in the order of time → what the analysis observes. Not what follows from
//! it (see [`crate::bound`]).

use super::system::{System, Who};
use crate::bound::{Action, CoreId, Event, Facts, Kind, LockId, LockKind, Observer, Options, ProcessId};
use crate::btf::{Action as Word, EntityType, Record};
use crate::engine::{EventOrder, Param, Session, StoredRecords};
use crate::error::Result;
use crate::export::Gaps;
use crate::names::IdMap;
use crate::ops::Control;
use crate::schema::result::{self, Integers};
use std::collections::{BTreeSet, HashMap};

/// What was observed of a recording.
pub(super) struct Observed {
    pub facts: Facts,
    /// Per process.
    pub activations: Vec<u64>,
}

/// Observes a recording.
pub(super) fn observe(
    session: &Session,
    recording: &str,
    system: &mut System,
    control: &Control,
) -> Result<Observed> {
    let mut records = StoredRecords::open_in(session, recording, EventOrder::Time)?;
    let mut gaps = Gaps::read(session, recording)?;
    let mut feed = Feed::new(system);
    let mut passed = 0u64;
    while let Some((_, record)) = records.next_with(|_, _| {})? {
        gaps.before(record.time, |core, end| feed.gap(core, end, system));
        feed.record(&record, system);
        passed += 1;
        if passed.is_multiple_of(1 << 16) {
            control.check()?;
        }
    }
    // Also those behind the last event.
    gaps.before(i64::MAX, |core, end| feed.gap(core, end, system));
    let mut end = i64::MIN;
    let sql = "SELECT end_at FROM recording WHERE recording = $recording";
    for batch in session.sql(sql, &[("recording", Param::from(recording))])? {
        end = result::columns::<Integers>(&batch?)?.get(0).unwrap_or(end);
    }
    Ok(feed.finish(end))
}

struct Feed {
    observer: Observer,
    activations: Vec<u64>,
    /// Per process: the locks that it holds, and how often.
    held: Vec<IdMap<LockId, u32>>,
    /// Somebody had to wait for it: it is no resource with a ceiling.
    contended: Vec<bool>,
    /// The process of each instance that runs, of names that are another process on each core.
    running: HashMap<(String, i64), ProcessId>,
    /// Activations of such instances, whose core is not known before they start.
    activated: HashMap<(String, i64), i64>,
}

impl Feed {
    fn new(system: &System) -> Self {
        let kinds = vec![LockKind::Ceiling; system.locks.len()];
        let processes = system.described();
        Self {
            activations: vec![0; processes.len()],
            held: vec![IdMap::default(); processes.len()],
            contended: vec![false; system.locks.len()],
            observer: Observer::new(processes, &kinds, Options::default()),
            running: HashMap::new(),
            activated: HashMap::new(),
        }
    }

    fn gap(&mut self, core: Option<&str>, end: i64, system: &mut System) {
        self.observer.gap(core.map(|core| system.core(core)), end);
        // What was held before is not known any more.
        self.held.iter_mut().for_each(IdMap::clear);
        self.activated.clear();
    }

    fn record(&mut self, record: &Record<'_>, system: &mut System) {
        let kind = match EntityType::parse_tolerant(record.target_type) {
            Some(EntityType::Task) => Kind::Task,
            Some(EntityType::Isr) => Kind::Isr,
            Some(EntityType::Semaphore) => return self.lock(record, system),
            _ => return,
        };
        let Some(word) = Word::parse_tolerant(record.action) else { return };
        let Some(who) = system.who(record.target, kind) else { return };
        let process = match who {
            Who::Process(process) => process,
            Who::Shared => match self.shared(record, word, system) {
                Some(process) => process,
                None => return,
            },
        };
        let Some(action) = action(word, || system.core(record.source)) else { return };
        match action {
            Action::Activate => self.count(process),
            Action::Terminate => self.held.get_mut(process).into_iter().for_each(IdMap::clear),
            _ => {}
        }
        self.observer.event(&Event { time: record.time, process, action });
    }

    /// The process of an instance of a name that is another one on each core. Its activation is passed on
    /// when its core is known: if that is at once, else its start stands for it.
    fn shared(&mut self, record: &Record<'_>, word: Word, system: &mut System) -> Option<ProcessId> {
        let key = (record.target.to_owned(), record.target_instance.unwrap_or(-1));
        match word {
            Word::Activate => {
                self.activated.insert(key, record.time);
                None
            }
            Word::Start => {
                let core = system.core(record.source);
                let process = system.on_core(record.target, core)?;
                if self.activated.remove(&key) == Some(record.time) {
                    self.count(process);
                    self.observer.event(&Event { time: record.time, process, action: Action::Activate });
                }
                self.running.insert(key, process);
                Some(process)
            }
            Word::Terminate => self.running.remove(&key),
            _ => self.running.get(&key).copied(),
        }
    }

    fn count(&mut self, process: ProcessId) {
        if let Some(count) = self.activations.get_mut(process) {
            *count += 1;
        }
    }

    /// A semaphore, resource or spinlock is taken, given back or waited for.
    fn lock(&mut self, record: &Record<'_>, system: &System) {
        let Some(lock) = system.lock(record.target) else { return };
        let word = Word::parse_tolerant(record.action);
        if word == Some(Word::Waiting) {
            if let Some(contended) = self.contended.get_mut(lock) {
                *contended = true;
            }
            return;
        }
        let who = [Kind::Task, Kind::Isr].into_iter().find_map(|kind| system.who(record.source, kind));
        let process = match who {
            Some(Who::Process(process)) => process,
            Some(Who::Shared) => {
                let key = (record.source.to_owned(), record.source_instance.unwrap_or(-1));
                let Some(process) = self.running.get(&key) else { return };
                *process
            }
            None => return,
        };
        let Some(held) = self.held.get_mut(process) else { return };
        let action = match word {
            Some(Word::Assigned) => {
                let times = held.entry(lock).or_default();
                *times = times.saturating_add(1);
                // One section, from the first time to the last.
                (*times == 1).then_some(Action::Take(lock))
            }
            Some(Word::Released) => {
                let times = held.get_mut(&lock).map(|times| {
                    *times = times.saturating_sub(1);
                    *times
                });
                let is_free = times.is_none_or(|times| times == 0);
                if is_free {
                    held.remove(&lock);
                }
                is_free.then_some(Action::Free(lock))
            }
            _ => None,
        };
        if let Some(action) = action {
            self.observer.event(&Event { time: record.time, process, action });
        }
    }

    fn finish(mut self, end: i64) -> Observed {
        let mut facts = self.observer.finish(end);
        for (lock, contended) in facts.locks.iter_mut().zip(&self.contended) {
            let cores = lock.users.iter().filter_map(|user| facts.processes.get(*user));
            let cores: BTreeSet<CoreId> = cores.flat_map(|process| process.cores.iter().copied()).collect();
            if *contended || cores.len() > 1 {
                lock.kind = LockKind::Spin;
            }
        }
        for (count, process) in self.activations.iter_mut().zip(&facts.processes) {
            *count = count.saturating_add(process.seen.unactivated);
        }
        Observed { facts, activations: self.activations }
    }
}

/// What an action of BTF means here; `core` is asked for that of its source.
fn action(word: Word, core: impl FnOnce() -> CoreId) -> Option<Action> {
    Some(match word {
        Word::Activate => Action::Activate,
        Word::MtaLimitExceeded => Action::Lose,
        Word::Start => Action::Start(core()),
        Word::Resume => Action::Resume(core()),
        Word::Preempt => Action::Preempt,
        Word::Wait => Action::Wait,
        Word::Release => Action::Release,
        Word::Poll => Action::Poll,
        Word::Run => Action::Run,
        Word::Park => Action::Park,
        Word::PollParking => Action::PollParking(core()),
        Word::ReleaseParking => Action::ReleaseParking,
        Word::Terminate => Action::Terminate,
        _ => return None,
    })
}
