//! Parts of combine events to whole events. Parts belong together when CPU, class, event and time are the
//! same; between them may lie any other records, also the border of a buffer. Not times, nor what the words
//! mean.
//!
//! The parser of the kernel's own tools goes by the time alone, which two CPUs can share.

use crate::qnx::Status;

use super::batch::Entry;

/// Events that are open at once. Interrupts nest a few levels deep on each of at most 64 CPUs; what is beyond
/// was cut off.
const MOST_OPEN: usize = 256;
/// Words of one event; the longest that the kernel writes by itself is a string of 128 bytes, a program can
/// write more.
const MOST_WORDS: usize = 1 << 16;
/// So many buffers later, no part comes any more.
pub(super) const PATIENCE: u64 = 8;

/// What makes parts belong together: CPU, class and event, low half of the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Key(pub u64);

/// An event of which parts are missing.
#[derive(Debug)]
pub(super) struct Open {
    key: Key,
    pub entry: Entry,
    pub words: Vec<u32>,
    /// The buffer in which it began.
    buffer: u64,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Combiner {
    /// Oldest first.
    open: Vec<Open>,
    /// Vectors for words, to be used again.
    spare: Vec<Vec<u32>>,
}

impl Combiner {
    /// The first part of an event. Gives the oldest one when too many are open.
    pub fn begin(&mut self, key: Key, entry: Entry, words: [u32; 2], buffer: u64) -> Option<Open> {
        let mut all = self.spare.pop().unwrap_or_default();
        all.extend(words);
        self.open.push(Open { key, entry, words: all, buffer });
        (self.open.len() > MOST_OPEN).then(|| self.open.remove(0).given_up())
    }

    /// A part in the middle. Gives what has become too long, and a part that has no beginning, which is an
    /// orphan.
    pub fn more(&mut self, key: Key, entry: Entry, words: [u32; 2]) -> Option<Open> {
        let Some(at) = self.open.iter().position(|o| o.key == key) else {
            return Some(self.orphan(key, entry, words));
        };
        let open = self.open.get_mut(at)?;
        open.words.extend(words);
        (open.words.len() > MOST_WORDS).then(|| self.open.remove(at).given_up())
    }

    /// The last part: the event, or an orphan.
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

    /// At the beginning of a buffer: an event that has waited for more than `patience` buffers.
    pub fn overdue(&mut self, buffer: u64, patience: u64) -> Option<Open> {
        let first = self.open.first()?;
        (buffer.saturating_sub(first.buffer) > patience).then(|| self.open.remove(0).given_up())
    }

    /// At the end of the file: what is left, oldest first.
    pub fn rest(&mut self) -> impl Iterator<Item = Open> + use<> {
        std::mem::take(&mut self.open).into_iter().map(Open::given_up)
    }

    /// Takes back the vector of an event that has been used.
    pub fn recycle(&mut self, mut words: Vec<u32>) {
        if self.spare.len() < 16 && words.capacity() <= MOST_WORDS {
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
