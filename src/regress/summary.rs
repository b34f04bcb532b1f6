//! Samples of one metric of one entity in one recording, in the order of time → a summary of bounded size,
//! in one pass. Not what two summaries say about each other (see `compare`).

use super::bins::Bins;
use super::blocks::Blocks;

/// Blocks and bins that a reduced summary keeps.
const REDUCED: (usize, usize) = (16, 96);

/// What is kept of the samples of one metric of one entity in one recording: at most 21 KiB while they
/// come, at most 2 KiB when [`reduced`](Self::reduce). Sums, extremes and counts are exact; percentiles are
/// exact up to 1024 different values, and beyond that off by less than a part in 256 of the value.
#[derive(Debug, Clone, Default)]
pub struct Summary {
    count: u64,
    sum: i128,
    extremes: Option<(i64, i64)>,
    bins: Bins,
    blocks: Blocks,
    /// The median and the 99th percentile, from before bins became wider.
    quantiles: Option<(f64, f64)>,
}

impl Summary {
    /// Adds the next sample in time, in ticks or whatever the metric counts.
    pub fn push(&mut self, sample: i64) {
        self.count = self.count.saturating_add(1);
        // 2^63 samples of 2^63 fit.
        self.sum = self.sum.saturating_add(i128::from(sample));
        self.extremes =
            Some(self.extremes.map_or((sample, sample), |(min, max)| (min.min(sample), max.max(sample))));
        self.bins.push(sample);
        self.blocks.push(sample);
    }

    /// Ends the series. Call it once, after the last sample; a side does it by itself.
    pub fn finish(&mut self) {
        self.bins.shrink();
        self.blocks.end();
        if self.quantiles.is_none() {
            self.quantiles = self.bins.quantile(0.5).zip(self.bins.quantile(0.99));
        }
    }

    /// Ends the series and keeps a coarser copy of its order and distribution: enough where a recording is
    /// one of many. The mean, the median, the 99th percentile and the extremes stay what they are.
    pub fn reduce(&mut self) {
        self.finish();
        self.blocks.reduce(REDUCED.0);
        self.bins.reduce(REDUCED.1);
    }

    /// Number of samples.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Arithmetic mean, from an exact sum; `None` without samples.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// Median; `None` without samples or before [`finish`](Self::finish).
    #[cfg(test)]
    pub fn median(&self) -> Option<f64> {
        self.quantiles.map(|both| both.0)
    }

    /// 99th percentile; `None` without samples or before [`finish`](Self::finish).
    pub fn p99(&self) -> Option<f64> {
        self.quantiles.map(|both| both.1)
    }

    /// Least and greatest sample; `None` without samples.
    pub fn extremes(&self) -> Option<(i64, i64)> {
        self.extremes
    }

    /// Bytes that it takes.
    #[cfg(test)]
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + self.bins.heap() + self.blocks.heap()
    }

    pub(super) fn bins(&self) -> &Bins {
        &self.bins
    }

    pub(super) fn blocks(&self) -> &Blocks {
        &self.blocks
    }
}

impl FromIterator<i64> for Summary {
    fn from_iter<T: IntoIterator<Item = i64>>(samples: T) -> Self {
        let mut summary = Self::default();
        samples.into_iter().for_each(|sample| summary.push(sample));
        summary.finish();
        summary
    }
}

/// The recordings of one side: those before the change, or those after it.
#[derive(Debug, Clone, Default)]
pub struct Side {
    recordings: Vec<Summary>,
    is_overloaded: bool,
}

/// Recordings per side up to which summaries keep their full resolution.
const FULL: usize = 4;

impl Side {
    /// Adds a recording. Those of a side with many are reduced, which bounds the memory: a side of n
    /// recordings takes 84 KiB + n · 2 KiB at most.
    pub fn push(&mut self, mut summary: Summary) {
        summary.finish();
        self.recordings.push(summary);
        if self.recordings.len() > FULL {
            self.recordings.iter_mut().for_each(|summary| {
                if summary.blocks.count() > REDUCED.0 {
                    summary.reduce();
                }
            });
        }
    }

    /// Says that the core of the entity was overloaded: it had more to do than it could.
    pub fn set_overloaded(&mut self) {
        self.is_overloaded = true;
    }

    /// Whether it was.
    pub(super) fn is_overloaded(&self) -> bool {
        self.is_overloaded
    }

    /// The recordings that have samples.
    pub fn recordings(&self) -> impl Iterator<Item = &Summary> + Clone {
        self.recordings.iter().filter(|summary| summary.count > 0)
    }

    /// Bytes that it takes.
    #[cfg(test)]
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + self.recordings.iter().map(Summary::bytes).sum::<usize>()
    }

    /// Mean of all samples.
    pub fn mean(&self) -> Option<f64> {
        let count = self.count();
        let sum = self.recordings.iter().fold(0i128, |sum, one| sum.saturating_add(one.sum));
        (count > 0).then(|| sum as f64 / count as f64)
    }

    /// Samples of all recordings.
    pub fn count(&self) -> u64 {
        self.recordings.iter().fold(0, |sum, one| sum.saturating_add(one.count))
    }

    /// Least and greatest sample of all recordings.
    pub fn extremes(&self) -> Option<(i64, i64)> {
        self.recordings.iter().filter_map(Summary::extremes).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    }

    /// The distribution of all samples.
    pub(super) fn bins(&self) -> Bins {
        let mut bins = Bins::default();
        self.recordings.iter().for_each(|one| bins.add(&one.bins));
        bins
    }
}

impl FromIterator<Summary> for Side {
    fn from_iter<T: IntoIterator<Item = Summary>>(summaries: T) -> Self {
        let mut side = Self::default();
        summaries.into_iter().for_each(|summary| side.push(summary));
        side
    }
}
