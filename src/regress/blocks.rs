//! Samples in the order of time → sums of consecutive ones, in a bounded number of blocks of equal counts.
//! Not what the sums say about the spread of a mean (see `spread`).

/// Blocks that a recording has at most; when they are full, neighbours become one.
pub(super) const LIMIT: usize = 128;
/// The first samples, which are kept as they are: they choose the thresholds.
const FIRST: usize = 1024;
/// The shares of the first samples that are above the two thresholds.
const ABOVE: [f64; 2] = [0.10, 0.01];

/// Sums of blocks. They are of deviations from the first sample, as floating-point numbers: exact as long
/// as they are below 2^53 in size. Only spreads are computed of them, never a mean that is shown.
#[derive(Debug, Clone, Default)]
pub(super) struct Blocks {
    /// Deviations are from this value.
    origin: i64,
    /// Samples per block; 0 as long as there are only first samples.
    size: u64,
    sums: Vec<f64>,
    /// Samples of each block above each threshold.
    above: Vec<[u32; 2]>,
    thresholds: [i64; 2],
    /// The block that is not full.
    filled: u64,
    sum: f64,
    over: [u32; 2],
    first: Vec<i64>,
}

impl Blocks {
    pub fn push(&mut self, value: i64) {
        if self.size > 0 {
            return self.fill(value);
        }
        self.first.push(value);
        if self.first.len() >= FIRST {
            let first = std::mem::take(&mut self.first);
            self.begin(&first);
        }
    }

    /// Chooses the thresholds, and makes blocks of the first samples.
    fn begin(&mut self, first: &[i64]) {
        self.origin = first.first().copied().unwrap_or(0);
        self.size = 1;
        let mut sorted = first.to_vec();
        sorted.sort_unstable();
        self.thresholds = ABOVE.map(|share| {
            let rank = ((1.0 - share) * sorted.len().saturating_sub(1) as f64) as usize;
            sorted.get(rank).copied().unwrap_or(0)
        });
        first.iter().for_each(|value| self.fill(*value));
    }

    fn fill(&mut self, value: i64) {
        self.sum += (i128::from(value) - i128::from(self.origin)) as f64;
        for (over, threshold) in self.over.iter_mut().zip(self.thresholds) {
            *over = over.saturating_add(u32::from(value > threshold));
        }
        self.filled += 1;
        if self.filled < self.size {
            return;
        }
        self.sums.push(std::mem::take(&mut self.sum));
        self.above.push(std::mem::take(&mut self.over));
        self.filled = 0;
        if self.sums.len() >= LIMIT {
            self.sums = self.sums.chunks(2).map(|pair| pair.iter().sum()).collect();
            let both = |pair: &[[u32; 2]]| {
                [0, 1].map(|n| pair.iter().fold(0u32, |sum, above| sum.saturating_add(above[n])))
            };
            self.above = self.above.chunks(2).map(both).collect();
            self.size = self.size.saturating_mul(2);
        }
    }

    /// Ends the series: a short one gets its blocks.
    pub fn end(&mut self) {
        if self.size == 0 && !self.first.is_empty() {
            let first = std::mem::take(&mut self.first);
            self.begin(&first);
        }
        self.sums.shrink_to_fit();
        self.above.shrink_to_fit();
    }

    /// Samples per block.
    pub fn size(&self) -> u64 {
        self.size
    }

    pub fn count(&self) -> usize {
        self.sums.len()
    }

    /// By how much the sum of each block differs from what it would be if all blocks had the same mean.
    pub fn residuals(&self) -> Vec<f64> {
        let mean = self.sums.iter().sum::<f64>() / self.sums.len().max(1) as f64;
        self.sums.iter().map(|sum| sum - mean).collect()
    }

    /// The same of the samples above a threshold, and the share of samples above it. The threshold is the one
    /// whose share is nearest to `share` of those with some samples on both sides; `None` if none has.
    pub fn residuals_above(&self, share: f64) -> Option<(Vec<f64>, f64)> {
        let samples = self.size as f64 * self.sums.len() as f64;
        let of = |n: usize| {
            let above: f64 = self.above.iter().map(|above| f64::from(above[n])).sum();
            (n, above / samples)
        };
        let distance = |found: f64| libm::log(found / share).abs();
        let (n, found) = [of(0), of(1)]
            .into_iter()
            .filter(|(_, found)| found * samples >= 20.0 && *found <= 0.5)
            .min_by(|a, b| distance(a.1).total_cmp(&distance(b.1)))?;
        let mean = found * self.size as f64;
        Some((self.above.iter().map(|above| f64::from(above[n]) - mean).collect(), found))
    }

    /// Joins neighbours until there are at most so many blocks.
    pub fn reduce(&mut self, limit: usize) {
        while self.sums.len() > limit.max(1) {
            // A block without a neighbour goes: blocks have equal counts.
            let pairs = self.sums.chunks_exact(2).map(|pair| pair.iter().sum());
            self.sums = pairs.collect();
            let both = |pair: &[[u32; 2]]| {
                [0, 1].map(|n| pair.iter().fold(0u32, |sum, above| sum.saturating_add(above[n])))
            };
            self.above = self.above.chunks_exact(2).map(both).collect();
            self.size = self.size.saturating_mul(2);
        }
        self.sums.shrink_to_fit();
        self.above.shrink_to_fit();
    }

    /// Bytes on the heap.
    #[cfg(test)]
    pub fn heap(&self) -> usize {
        self.sums.capacity() * 8 + self.above.capacity() * 8 + self.first.capacity() * 8
    }
}
