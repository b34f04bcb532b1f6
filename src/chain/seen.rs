//! Links between processes, by number, how often each was seen, and how much of it is kept. Not how links are
//! found (see `discover`), nor their names (see `found`).

/// How much is kept in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Most links of a way. 8, if it is not said.
    pub links: usize,
    /// Most ways that lead to an instance and go on; the ones that were seen first are kept. 64, if it is not
    /// said.
    pub ways: usize,
    /// Most ways in all. 100,000, if it is not said.
    pub all: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { links: 8, ways: 64, all: 100_000 }
    }
}

/// From process to process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Link {
    /// `None`: the environment, or nothing that is recorded.
    pub from: Option<u32>,
    /// The signal or stimulus.
    pub via: u32,
    pub is_signal: bool,
    /// The write of the signal or the trigger of the stimulus is recorded.
    pub has_begin: bool,
    pub to: u32,
}

/// How often something was seen, and when first and last.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    pub count: u64,
    pub first: i64,
    pub last: i64,
}

impl Seen {
    pub fn at(time: i64) -> Self {
        Self { count: 1, first: time, last: time }
    }

    pub fn again(&mut self, time: i64) {
        self.count += 1;
        self.last = time;
    }
}
