//! Combines parts of events into whole events. Parts belong together if CPU, class, event and time are the
//! same; any other records may be between them, also the border of a buffer. Not times, nor what the words
//! mean.
//!
//! The parser of the kernel's own tools only uses the time, which two CPUs can share.

use crate::qnx::Status;

use super::batch::Entry;

/// Maximum number of open events. Interrupts nest some levels deep on at most 64 CPUs; others were cut off.
const MAX_OPEN: usize = 256;
/// Maximum number of words of an event; the longest that the kernel writes by itself is a string of 128
/// bytes, a program can write more.
const MAX_WORDS: usize = 1 << 16;
/// After this many further buffers, no part is expected any more.
pub(super) const PATIENCE: u64 = 8;

/// The key that parts share: CPU, class and event, low half of the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Key(pub u64);

/// An event with missing parts.
#[derive(Debug)]
pub(super) struct Open {
    key: Key,
    pub entry: Entry,
    pub words: Vec<u32>,
    /// The buffer in which it began.
    buffer: u64,
}

#[derive(Debug, Default)]
pub(super) struct Combiner {
    /// Oldest first.
    open: Vec<Open>,
    /// Vectors for reuse.
    spare: Vec<Vec<u32>>,
}

impl Combiner {
    /// Adds the first part of an event. Returns the oldest event if too many are open.
    pub fn begin(&mut self, key: Key, entry: Entry, words: [u32; 2], buffer: u64) -> Option<Open> {
        let mut all = self.spare.pop().unwrap_or_default();
        all.extend(words);
        self.open.push(Open { key, entry, words: all, buffer });
        (self.open.len() > MAX_OPEN).then(|| self.open.remove(0).given_up())
    }

    /// Adds a part in the middle. Returns an event that has become too long, or one without its beginning.
    pub fn more(&mut self, key: Key, entry: Entry, words: [u32; 2]) -> Option<Open> {
        let Some(at) = self.open.iter().position(|o| o.key == key) else {
            return Some(self.orphan(key, entry, words));
        };
        let open = self.open.get_mut(at)?;
        open.words.extend(words);
        (open.words.len() > MAX_WORDS).then(|| self.open.remove(at).given_up())
    }

    /// Adds the last part: returns the event, or an orphan.
    pub fn end(&mut self, key: Key, entry: Entry, words: [u32; 2]) -> Open {
        let Some(at) = self.open.iter().position(|o| o.key == key) else {
            return self.orphan(key, entry, words);
        };
        let mut open = self.open.remove(at);
        open.words.extend(words);
        open
    }

    fn orphan(&mut self, key: Key, entry: Entry, words: [u32; 2]) -> Open {
        let mut all = self.spare.pop().unwrap_or_default();
        all.extend(words);
        Open { key, entry: entry.orphan(), words: all, buffer: 0 }
    }

    /// At the beginning of a buffer: returns an event that has waited for more than `patience` buffers.
    pub fn overdue(&mut self, buffer: u64, patience: u64) -> Option<Open> {
        let first = self.open.first()?;
        (buffer.saturating_sub(first.buffer) > patience).then(|| self.open.remove(0).given_up())
    }

    /// At the end of the file: returns what is left, oldest first.
    pub fn rest(&mut self) -> impl Iterator<Item = Open> + use<> {
        std::mem::take(&mut self.open).into_iter().map(Open::given_up)
    }

    /// Takes back the vector of an event that has been used.
    pub fn recycle(&mut self, mut words: Vec<u32>) {
        if self.spare.len() < 16 && words.capacity() <= MAX_WORDS {
            words.clear();
            self.spare.push(words);
        }
    }
}

impl Open {
    fn given_up(mut self) -> Self {
        self.entry.status = Status::Unterminated;
        self
    }
}
