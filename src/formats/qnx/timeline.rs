//! Merges the events of all CPUs with full times. Until a CONTROL/TIME gives the high half of a CPU's clock,
//! its events and all later ones wait, so that the order of the file is kept. Not the decoding of records.

use super::batch::{Batch, Entry};
use super::buffers::{BUFFER, TIME};
use super::clock::Clock;
use crate::diagnostics::{Diagnostic, Severity};
use crate::qnx::{Class, Event};

/// The number of CPUs in six bits.
pub(super) const CPUS: usize = 64;
/// After this many waiting events, the time of a CPU is assumed. The kernel writes it with the first event of
/// a buffer, which has a thousand records; if it has not come by then, it is filtered out.
const MAX_WAITING: usize = 1 << 16;

#[derive(Debug)]
pub(super) struct Timeline {
    /// The path given by the user.
    source: String,
    /// The place of record `n` in diagnostics: `begin + n * step`.
    pub begin: u64,
    pub step: u64,
    clocks: Vec<Clock>,
    /// The CPU of the record before.
    before: u8,
    /// Events that wait for a clock, from `first_waiting` on.
    waiting: Batch,
    first_waiting: usize,
    /// The first record of a buffer, until the next record is known: mostly that is the TIME that it needs,
    /// because a buffer can begin after a pause in which the low half has overflowed more than once.
    opening: Option<(Entry, [u32; 2])>,
    pub out: Batch,
}

impl Timeline {
    pub fn new(source: &str, begin: u64, step: u64) -> Self {
        Self {
            source: source.to_owned(),
            begin,
            step,
            clocks: vec![Clock::default(); CPUS],
            before: 0,
            waiting: Batch::default(),
            first_waiting: 0,
            opening: None,
            out: Batch::default(),
        }
    }

    /// The full time of an event with the low half `low`; applies a complete TIME. Ignores its own `cycles`.
    /// `may_be_late`: it may be older than the one before.
    #[inline]
    pub fn place(&mut self, event: &Event<'_>, low: u32, may_be_late: bool, time: Option<[u32; 2]>) -> Entry {
        let Some(clock) = self.clock(event.cpu, low) else { return Entry::of(event, true) };
        let (cycles, jump) = match time.filter(|_| event.class == Class::Control && event.event == TIME) {
            // It is stamped when it is written, and a listing prints it in its place.
            Some([high, stated]) => clock.time(high, stated, low, false),
            None => (clock.at(low, may_be_late), None),
        };
        let settled = clock.is_anchored();
        let at_opening = self.opening.is_some_and(|(opening, _)| opening.cpu == event.cpu);
        if let Some((mut opening, words)) = self.opening.take() {
            let is_its_time = time.is_some() && event.class == Class::Control && event.event == TIME;
            if is_its_time && opening.cpu == event.cpu && opening.cycles as u32 == low {
                (opening.cycles, opening.settled) = (cycles, settled);
            }
            self.deliver_now(opening, &words);
        }
        if let Some(jump) = jump.filter(|_| !at_opening) {
            let message =
                format!("CPU {}: a TIME sets the clock from {} to {}", event.cpu, jump.from, jump.to);
            self.find(Some(event.record), Severity::Warning, "time-jump", message);
        }
        Entry::of(&Event { cycles, ..*event }, settled)
    }

    /// The clock of the next record.
    #[inline]
    fn clock(&mut self, cpu: u8, low: u32) -> Option<&mut Clock> {
        let before = std::mem::replace(&mut self.before, cpu);
        if self.clocks.get(usize::from(cpu))?.is_new() {
            let before = self.clocks.get(usize::from(before)).copied().unwrap_or_default();
            self.clocks.get_mut(usize::from(cpu))?.begin(low, before);
        }
        self.clocks.get_mut(usize::from(cpu))
    }

    /// The same for an event with a complete time.
    pub fn place_exactly(&mut self, event: &Event<'_>, high: u32, low: u32) -> Entry {
        self.open();
        let Some(clock) = self.clock(event.cpu, low) else { return Entry::of(event, true) };
        let (cycles, _) = clock.time(high, low, low, true);
        Entry::of(&Event { cycles, ..*event }, true)
    }

    /// Emits an event, or holds it and all later ones until its time is known.
    #[inline]
    pub fn deliver(&mut self, entry: Entry, words: &[u32]) {
        match *words {
            [first, second] if entry.class == Class::Control && entry.event == BUFFER => {
                self.open();
                self.opening = Some((entry, [first, second]));
            }
            _ => self.deliver_now(entry, words),
        }
    }

    /// Stops waiting for the TIME after the first record of a buffer.
    fn open(&mut self) {
        if let Some((entry, words)) = self.opening.take() {
            self.deliver_now(entry, &words);
        }
    }

    fn deliver_now(&mut self, mut entry: Entry, words: &[u32]) {
        if !entry.settled {
            self.settle(&mut entry);
        }
        if entry.settled && self.waiting.is_empty() {
            self.out.add(entry, words);
            return;
        }
        self.waiting.add(entry, words);
        if entry.settled {
            self.release();
        }
        if self.waiting.len() - self.first_waiting > MAX_WAITING {
            self.assume();
        }
    }

    /// At the end: stops waiting.
    pub fn finish(&mut self) {
        self.open();
        while self.first_waiting < self.waiting.len() {
            self.assume();
        }
    }

    /// Adds a finding about a record, or about the whole trace.
    pub fn find(&mut self, record: Option<u64>, severity: Severity, code: &'static str, message: String) {
        let (source, text) = (self.source.clone(), String::new());
        let line = record.map(|record| self.begin + self.step * record);
        self.out.log.push(Diagnostic { source, line, severity, code, message, text });
    }

    fn settle(&self, entry: &mut Entry) -> bool {
        let clock = self.clocks.get(usize::from(entry.cpu)).filter(|c| c.is_anchored());
        if let Some(clock) = clock.filter(|_| !entry.settled) {
            (entry.cycles, entry.settled) = (clock.settle(entry.cycles), true);
        }
        clock.is_some()
    }

    /// Emits the waiting events up to the first one whose clock is not known.
    fn release(&mut self) {
        let mut waiting = std::mem::take(&mut self.waiting);
        while let Some((mut entry, words)) = waiting.entry(self.first_waiting) {
            if !self.settle(&mut entry) {
                self.waiting = waiting;
                return;
            }
            self.out.add(entry, words);
            self.first_waiting += 1;
        }
        waiting.clear();
        (self.waiting, self.first_waiting) = (waiting, 0);
    }

    /// Stops waiting for the clock that the first waiting event needs.
    fn assume(&mut self) {
        let known = self.clocks.iter().find_map(Clock::shared_offset);
        let least = self.clocks.iter().filter_map(Clock::least_provisional).min();
        let offset = known.or_else(|| least.map(Clock::from_zero)).unwrap_or(0);
        let first = self.waiting.entry(self.first_waiting).map(|(entry, _)| entry);
        if let Some(entry) = first
            && let Some(clock) = self.clocks.get_mut(usize::from(entry.cpu))
            && !clock.is_anchored()
        {
            let whose = match known.is_some() || clock.least_provisional().is_none() {
                true => "that of another CPU",
                false => "0 at the first event",
            };
            clock.assume(offset);
            let message =
                format!("no TIME tells the high half of the clock of CPU {}; {whose} is taken", entry.cpu);
            self.find(Some(entry.record), Severity::Warning, "no-time", message);
        }
        self.release();
    }
}
