//! What a comparison has to show before it says that something changed. Only settings.

/// A statistic of the samples that is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Statistic {
    /// Arithmetic mean. The parts of a response time add up to it, and any change of a typical instance is
    /// in it.
    Mean,
    /// 99th percentile: a change of the slow instances that the mean hides.
    P99,
    /// Greatest sample of a recording. One number per recording, so only compared with
    /// [`RECORDINGS_FOR_MAX`] recordings on each side at least.
    Max,
}

/// Recordings on each side from which on the greatest samples are compared.
pub const RECORDINGS_FOR_MAX: usize = 10;

/// The least change that matters. A change matters if it is at least the greater one of both.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Matters {
    /// As a share of the value before: 0.005 is half a percent.
    pub relative: f64,
    /// In the unit of the samples (ticks for durations).
    pub absolute: f64,
}

impl Matters {
    /// The least change of a value that matters, in its unit.
    pub fn of(&self, before: f64) -> f64 {
        (self.relative * before.abs()).max(self.absolute)
    }
}

/// Which changes matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Direction {
    /// Both.
    #[default]
    Either,
    /// Only to greater values: a build that became faster passes.
    Greater,
}

/// What has to be shown. Every field has a default, and the defaults are the default gate.
#[derive(Debug, Clone, PartialEq)]
pub struct Gate {
    /// The probability that anything at all is called changed although nothing did, over all metrics,
    /// entities and statistics of one comparison of builds: 0.01.
    pub alpha: f64,
    /// Coverage of the shown intervals, each by itself: 0.95.
    pub coverage: f64,
    /// What matters for the mean: 0.5 %, one unit.
    pub mean: Matters,
    /// What matters for the 99th percentile: 1 %, one unit. It is less certain than the mean by nature.
    pub p99: Matters,
    /// What matters for the greatest sample: 5 %, one unit.
    pub max: Matters,
    /// The statistics that are compared: mean and 99th percentile.
    pub statistics: Vec<Statistic>,
    /// Which changes fail the gate: either direction. The verdict does not depend on it.
    pub direction: Direction,
    /// Resampled data sets per comparison: 999.
    pub replicates: usize,
    /// Begin of the random numbers: 1. The same seed and data give the same result.
    pub seed: u64,
}

impl Default for Gate {
    fn default() -> Self {
        Self {
            alpha: 0.01,
            coverage: 0.95,
            mean: Matters { relative: 0.005, absolute: 1.0 },
            p99: Matters { relative: 0.01, absolute: 1.0 },
            max: Matters { relative: 0.05, absolute: 1.0 },
            statistics: vec![Statistic::Mean, Statistic::P99],
            direction: Direction::Either,
            replicates: 999,
            seed: 1,
        }
    }
}

impl Gate {
    /// What matters for a statistic.
    pub fn matters(&self, statistic: Statistic) -> Matters {
        match statistic {
            Statistic::Mean => self.mean,
            Statistic::P99 => self.p99,
            Statistic::Max => self.max,
        }
    }
}
