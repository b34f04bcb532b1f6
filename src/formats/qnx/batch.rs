//! Batches of events from the decoder, with their words in one vector. Not the decoding.

use crate::diagnostics::Log;
use crate::qnx::{Class, Event, Status};

/// Decoded events in the order in which they were complete, and the findings about them.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    entries: Vec<Entry>,
    words: Vec<u32>,
    /// Records of 16 bytes that were read for this batch, whether or not their events are complete.
    pub records: u64,
    /// Findings; a diagnostic's line is an offset in the file, in bytes.
    pub log: Log,
}

/// An event without its words.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub record: u64,
    pub cycles: u64,
    /// The index of its words in those of the batch.
    from: u32,
    length: u32,
    pub event: u16,
    pub cpu: u8,
    pub flags: u8,
    pub class: Class,
    pub is64: bool,
    pub status: Status,
    /// `cycles` is the count of the target; else the clock of the CPU still has to settle it.
    pub settled: bool,
}

impl Entry {
    pub fn of(event: &Event<'_>, settled: bool) -> Self {
        let Event { record, cpu, flags, class, event, is64, status, cycles, words: _ } = *event;
        Self { record, cycles, from: 0, length: 0, event, cpu, flags, class, is64, status, settled }
    }
}

impl Entry {
    /// The same event, with words that hold the text of its arguments (see `printed`).
    pub fn unread(self) -> Self {
        Self { status: Status::Unread, ..self }
    }

    /// The same event without its beginning.
    pub fn orphan(self) -> Self {
        Self { status: Status::Orphan, ..self }
    }
}

impl Batch {
    /// The events.
    pub fn iter(&self) -> impl Iterator<Item = Event<'_>> {
        self.entries.iter().map(|entry| self.whole(entry))
    }

    /// An event by its place.
    pub fn get(&self, n: usize) -> Option<Event<'_>> {
        self.entries.get(n).map(|entry| self.whole(entry))
    }

    /// Empty, with room for `events` events.
    pub fn with_capacity(events: usize) -> Self {
        // Most events have two words, some many.
        Self { entries: Vec::with_capacity(events), words: Vec::with_capacity(3 * events), ..Self::default() }
    }

    /// How many events there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// True when there is no event.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn reserve(&mut self, events: usize) {
        self.entries.reserve(events);
        self.words.reserve(2 * events);
    }

    pub(super) fn clear(&mut self) {
        self.entries.clear();
        self.words.clear();
    }

    /// Appends an event.
    pub fn push(&mut self, event: &Event<'_>) {
        self.add(Entry::of(event, true), event.words);
    }

    #[inline]
    pub(super) fn add(&mut self, mut entry: Entry, words: &[u32]) {
        // A chunk of input has far fewer than 2^32 words.
        (entry.from, entry.length) = (self.words.len() as u32, words.len() as u32);
        self.words.extend_from_slice(words);
        self.entries.push(entry);
    }

    pub(super) fn entry(&self, n: usize) -> Option<(Entry, &[u32])> {
        let entry = self.entries.get(n)?;
        Some((*entry, self.words_of(entry)))
    }

    fn words_of(&self, entry: &Entry) -> &[u32] {
        let from = entry.from as usize;
        self.words.get(from..from + entry.length as usize).unwrap_or_default()
    }

    fn whole(&self, entry: &Entry) -> Event<'_> {
        let Entry { record, cycles, event, cpu, flags, class, is64, status, .. } = *entry;
        Event { record, cpu, flags, class, event, is64, status, cycles, words: self.words_of(entry) }
    }
}
