//! A histogram of bounded size: exact counts of values as long as they are few, then of ranges of values. Not
//! the order of the samples (see `blocks`).

/// Bins that a histogram has at most.
const LIMIT: usize = 1024;
/// Samples that are collected before they are sorted in.
const WAITING: usize = 512;

/// Counts of values. All values between two powers of two share the width of their bins, so the width is a
/// share of the value, as floating-point numbers have it: with 9 bits, a bin is between 1/512 and 1/256 of
/// its value.
#[derive(Debug, Clone)]
pub(super) struct Bins {
    /// Leading bits of a value that are kept; 64 keeps all.
    bits: u32,
    /// Least value of each bin, in rising order, and the number of its samples.
    bins: Vec<(i64, u64)>,
    waiting: Vec<i64>,
}

impl Default for Bins {
    fn default() -> Self {
        Self { bits: 64, bins: Vec::new(), waiting: Vec::new() }
    }
}

/// How many low bits of a value its bin does not tell apart.
fn dropped(value: i64, bits: u32) -> u32 {
    let magnitude = if value < 0 { !value } else { value };
    let length = 64 - magnitude.leading_zeros();
    length.saturating_sub(bits)
}

/// The least value of the bin of a value. Bins of negative numbers mirror those of the others.
fn least(value: i64, bits: u32) -> i64 {
    let low = dropped(value, bits);
    (value >> low) << low
}

/// The greatest value of the bin that begins with `least`.
fn greatest(least: i64, bits: u32) -> i64 {
    least | ((1i64 << dropped(least, bits)) - 1)
}

impl Bins {
    pub fn push(&mut self, value: i64) {
        self.waiting.push(value);
        if self.waiting.len() >= WAITING {
            self.settle();
        }
    }

    /// Sorts in what waits.
    pub fn settle(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.sort_unstable();
        let bits = self.bits;
        self.join(waiting.iter().map(|value| (least(*value, bits), 1)));
        waiting.clear();
        self.waiting = waiting;
    }

    /// Adds the samples of another histogram. Both have to be settled.
    pub fn add(&mut self, other: &Self) {
        let bits = self.bits.min(other.bits);
        self.coarsen(bits);
        self.join(other.bins.iter().map(|(value, count)| (least(*value, bits), *count)));
    }

    /// Merges bins that come in rising order.
    fn join(&mut self, added: impl Iterator<Item = (i64, u64)>) {
        let mut merged: Vec<(i64, u64)> = Vec::with_capacity(self.bins.len() + 16);
        let mut put = |(value, count): (i64, u64)| match merged.last_mut() {
            Some(last) if last.0 == value => last.1 = last.1.saturating_add(count),
            _ => merged.push((value, count)),
        };
        let mut there = self.bins.iter().copied().peekable();
        for bin in added {
            while let Some(before) = there.next_if(|before| before.0 <= bin.0) {
                put(before);
            }
            put(bin);
        }
        there.for_each(put);
        self.bins = merged;
        self.reduce(LIMIT);
    }

    /// Makes bins wider until there are at most so many.
    pub fn reduce(&mut self, limit: usize) {
        while self.bins.len() > limit.max(2) && self.bits > 1 {
            let longest = self.bins.iter().map(|(value, _)| dropped(*value, 0)).max().unwrap_or(0);
            self.coarsen((self.bits - 1).min(longest).max(1));
        }
        self.bins.shrink_to(limit);
    }

    fn coarsen(&mut self, bits: u32) {
        if bits >= self.bits {
            return;
        }
        self.bits = bits;
        let mut kept: Vec<(i64, u64)> = Vec::with_capacity(self.bins.len());
        for (value, count) in &self.bins {
            let value = least(*value, bits);
            match kept.last_mut() {
                Some(last) if last.0 == value => last.1 = last.1.saturating_add(*count),
                _ => kept.push((value, *count)),
            }
        }
        self.bins = kept;
    }

    pub fn count(&self) -> u64 {
        self.bins.iter().fold(0, |sum, (_, count)| sum.saturating_add(*count))
    }

    /// The value of a share of the samples: the rank is `share` · (n − 1), counted from 0, interpolated
    /// between the two nearest samples. Exact while bins hold one value each; in a wider one, samples are
    /// taken as evenly spread.
    pub fn quantile(&self, share: f64) -> Option<f64> {
        let count = self.count();
        let rank = share.clamp(0.0, 1.0) * count.checked_sub(1)? as f64;
        let (low, high) = (self.at(rank.floor() as u64)?, self.at(rank.ceil() as u64)?);
        Some(low + (high - low) * (rank - rank.floor()))
    }

    /// The sample of a rank.
    fn at(&self, rank: u64) -> Option<f64> {
        let mut before = 0u64;
        for (value, count) in &self.bins {
            if rank < before.saturating_add(*count) {
                let inside = ((rank - before) as f64 + 0.5) / *count as f64;
                let width = greatest(*value, self.bits).wrapping_sub(*value) as u64;
                return Some(*value as f64 + inside * width as f64);
            }
            before = before.saturating_add(*count);
        }
        None
    }

    /// Variance of the samples, each taken as the middle of its bin.
    pub fn variance(&self) -> f64 {
        let origin = self.bins.first().map_or(0, |(value, _)| *value);
        let (mut sum, mut squares) = (0.0, 0.0);
        for step in self.steps() {
            let middle = (i128::from(step.least) + i128::from(step.greatest)) as f64 / 2.0 - origin as f64;
            let count = (step.up_to - step.before) as f64;
            sum += middle * count;
            squares += middle * middle * count;
        }
        let count = self.count().max(1) as f64;
        (squares / count - (sum / count).powi(2)).max(0.0)
    }

    /// For each bin: its least and greatest value, and the samples before it and up to its end.
    pub fn steps(&self) -> impl Iterator<Item = Step> + '_ {
        let mut before = 0u64;
        self.bins.iter().map(move |(value, count)| {
            let step = Step {
                least: *value,
                greatest: greatest(*value, self.bits),
                before,
                up_to: before.saturating_add(*count),
            };
            before = step.up_to;
            step
        })
    }

    /// Bytes on the heap.
    #[cfg(test)]
    pub fn heap(&self) -> usize {
        self.bins.capacity() * size_of::<(i64, u64)>() + self.waiting.capacity() * size_of::<i64>()
    }

    /// Gives back what only the next samples would need.
    pub fn shrink(&mut self) {
        self.settle();
        self.waiting = Vec::new();
        self.bins.shrink_to_fit();
    }
}

/// A step of the cumulative distribution.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    pub least: i64,
    pub greatest: i64,
    pub before: u64,
    pub up_to: u64,
}
