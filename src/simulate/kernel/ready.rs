//! The ready queue of a core: per rank of priority a list of pairs, which are taken from a list of free
//! ones. Not the accesses by which a kernel changes it (see `schedule`).

/// The number that means none.
pub const NONE: u32 = u32::MAX;

/// The queues of one core.
#[derive(Debug, Clone)]
pub struct ReadyQueue {
    /// The first and last pair of each rank.
    pub heads: Vec<u32>,
    pub tails: Vec<u32>,
    /// The ranks with tasks, as bits.
    pub ranks: u32,
    /// The first free pair.
    pub free: u32,
    /// The pair that follows each pair in its list.
    pub next: Vec<u32>,
    /// The task of each pair.
    pub tasks: Vec<u32>,
}

impl ReadyQueue {
    /// With as many ranks and pairs.
    pub fn new(ranks: usize, pairs: usize) -> Self {
        let next = (1..pairs as u32).chain([NONE]).take(pairs).collect();
        let free = if pairs == 0 { NONE } else { 0 };
        Self {
            heads: vec![NONE; ranks],
            tails: vec![NONE; ranks],
            ranks: 0,
            free,
            next,
            tasks: vec![NONE; pairs],
        }
    }

    /// The highest rank with a task, its first pair and its task.
    pub fn first(&self) -> Option<(u32, u32, u32)> {
        let rank = self.ranks.checked_ilog2()?;
        let pair = *self.heads.get(rank as usize)?;
        Some((rank, pair, *self.tasks.get(pair as usize)?))
    }
}
