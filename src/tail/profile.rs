//! Confidence intervals by profile likelihood: all levels with which the likelihood, at its greatest over the
//! other parameters, is not much less than that of the fit. Not the likelihoods (see `peaks`, `maxima`).
//!
//! Such an interval is not symmetric: it reaches further up than down where the tail is heavy, as it has to.
//! With few extremes its upper end still is too low. So the signed root of the deviance at the true level is
//! not taken as a standard normal variable: its mean and standard deviation come from samples of the fit, as
//! T. DiCiccio, M. Martin and S. Stern (2001) propose.

use super::numbers::{Random, chi_squared_quantile};
use super::report::Level;
use super::search::{Found, simplex};

/// How often the distance from the fit is made longer before the interval counts as unbounded.
const LONGER: usize = 40;
/// An end that is farther from the fit, as a multiple of the level, is no end.
const FARTHEST: f64 = 1e4;
/// How close to the limit the end of an interval is, in square roots of the deviance.
const CLOSE: f64 = 2e-3;
/// A root that is greater, of a level beyond the end of the tail, counts as this.
const MOST_ROOT: f64 = 3.5;
/// Samples of the fit for the mean and the standard deviation of the root.
const DRAWN: usize = 100;

/// A fit in terms of a level and two other parameters, all in units of its own.
#[derive(Debug, Clone, Copy)]
pub(super) struct Best {
    /// The level: a value less the origin, divided by the unit.
    pub level: f64,
    /// The other two parameters. The second is the shape.
    pub others: [f64; 2],
    /// The negative logarithm of the likelihood.
    pub cost: f64,
}

/// Extremes and their fit, as the intervals need them.
pub(super) trait Tail: Sized {
    /// The value of level 0, and of level 1 less that.
    fn origin_and_unit(&self) -> (f64, f64);
    /// A small change of parameters: that of one standard deviation, roughly.
    fn edge(&self) -> f64;
    /// The fit in terms of the level that one instance in so many exceeds.
    fn best(&self, instances: f64) -> Best;
    /// The negative logarithm of the likelihood, if one instance in so many exceeds the level. Infinite
    /// where that is impossible.
    fn cost(&self, instances: f64, level: f64, others: [f64; 2]) -> f64;
    /// As many extremes of this fit, and the fit to them. Their origin and unit are in levels of this fit.
    fn redrawn(&self, random: &mut Random) -> Option<Self>;
    /// The true level for redrawn extremes, in levels of this fit.
    fn true_level(&self, redrawn: &Self, instances: f64) -> f64;
}

/// A fit that makes levels with intervals.
pub(super) struct Intervals<T> {
    tail: T,
    redrawn: Vec<T>,
    /// The quantile of a standard normal variable, both sides.
    quantile: f64,
}

impl<T: Tail> Intervals<T> {
    /// Draws the samples of the fit.
    pub fn new(tail: T, confidence: f64, seed: u64) -> Self {
        let mut random = Random::new(seed ^ 0x5eed_0004);
        let redrawn = (0..DRAWN).filter_map(|_| tail.redrawn(&mut random)).collect();
        Self { tail, redrawn, quantile: chi_squared_quantile(confidence).sqrt() }
    }

    /// The level that one instance in so many exceeds; `None` if its interval has no upper end.
    pub fn level(&self, instances: f64) -> Option<Level> {
        let best = self.tail.best(instances);
        let (mean, deviation) = self.root(instances);
        let end = |sign: f64, limit: f64| {
            let step = sign * self.tail.edge() * (1.0 + best.level.abs());
            Walk::new(&self.tail, instances).end(limit.max(0.1), step)
        };
        let high = end(1.0, self.quantile * deviation - mean)?;
        let low = end(-1.0, self.quantile * deviation + mean).unwrap_or(f64::NEG_INFINITY);
        let (origin, unit) = self.tail.origin_and_unit();
        let value = |level: f64| origin + unit * level;
        low.is_finite().then(|| Level {
            instances,
            value: value(best.level),
            low: value(low),
            high: value(high),
        })
    }

    /// The mean and the standard deviation of the signed root at the true level: positive if the level is
    /// estimated too high.
    fn root(&self, instances: f64) -> (f64, f64) {
        let roots: Vec<f64> = self
            .redrawn
            .iter()
            .map(|redrawn| {
                let (origin, unit) = redrawn.origin_and_unit();
                let level = (self.tail.true_level(redrawn, instances) - origin) / unit;
                let mut walk = Walk::new(redrawn, instances);
                let root = walk.root(level).min(MOST_ROOT);
                root.copysign(walk.best.level - level)
            })
            .collect();
        let count = roots.len() as f64;
        let mean = roots.iter().sum::<f64>() / count;
        let variance = roots.iter().map(|root| (root - mean).powi(2)).sum::<f64>() / (count - 1.0);
        // Few or strange samples of the fit: as in the limit of many extremes.
        if variance.is_finite() && variance > 0.0 { (mean, variance.sqrt()) } else { (0.0, 1.0) }
    }
}

/// A walk from the fit to one end of the interval. The other parameters change little from step to step.
struct Walk<'a, T> {
    tail: &'a T,
    instances: f64,
    best: Best,
    last: Found<2>,
}

impl<'a, T: Tail> Walk<'a, T> {
    fn new(tail: &'a T, instances: f64) -> Self {
        let best = tail.best(instances);
        Self { tail, instances, best, last: (best.others, best.cost) }
    }

    /// The square root of the deviance at a level: grows about linearly with the distance from the fit.
    fn root(&mut self, level: f64) -> f64 {
        let at = |others| self.tail.cost(self.instances, level, others);
        let mut start = self.last.0;
        if !at(start).is_finite() {
            // The second parameter is the shape: the closer to 0, the more is possible.
            for part in [0.8, 0.5, 0.2, 0.0] {
                let closer = [start[0], start[1] * part];
                if at(closer).is_finite() {
                    start = closer;
                    break;
                }
            }
        }
        let found = simplex(start, [self.tail.edge(); 2], 1e-4, at);
        if !found.1.is_finite() {
            return f64::INFINITY;
        }
        self.last = found;
        (2.0 * (found.1 - self.best.cost)).max(0.0).sqrt()
    }

    /// Where the root is `limit`. `None` if that is beyond all bounds.
    fn end(&mut self, limit: f64, step: f64) -> Option<f64> {
        let level = self.best.level;
        let (mut inside, mut at_inside) = (level, 0.0);
        let mut step = step;
        let mut outside = None;
        for _ in 0..LONGER {
            let next = inside + step;
            if (next - level).abs() > FARTHEST * (1.0 + level.abs()) {
                return None;
            }
            let root = self.root(next);
            if root >= limit {
                outside = Some((next, root));
                break;
            }
            if limit - root < CLOSE {
                return Some(next);
            }
            // A little further than a straight line says: the root grows ever slower where the tail is heavy.
            let gone = next - level;
            let wanted = gone * (1.3 * limit / root - 1.0);
            (inside, at_inside) = (next, root);
            step = if wanted.abs() < 2.0 * gone.abs() { wanted } else { 2.0 * gone };
        }
        let (mut outside, mut at_outside) = outside?;
        for round in 0..30 {
            if (at_outside - limit).abs() < CLOSE {
                return Some(outside);
            }
            let part = (limit - at_inside) / (at_outside - at_inside);
            let part = if round % 4 == 3 || !part.is_finite() { 0.5 } else { part.clamp(0.02, 0.98) };
            let middle = inside + part * (outside - inside);
            let root = self.root(middle);
            if (root - limit).abs() < CLOSE {
                return Some(middle);
            }
            if root < limit {
                (inside, at_inside) = (middle, root);
            } else {
                (outside, at_outside) = (middle, root);
            }
        }
        Some(outside)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One number of a normal distribution of this standard deviation, which is the level. The others are
    /// best where they depend on the level.
    struct Normal {
        origin: f64,
        deviation: f64,
        /// The likelihood is flat from here on.
        flat: f64,
    }

    impl Tail for Normal {
        fn origin_and_unit(&self) -> (f64, f64) {
            (self.origin, 1.0)
        }

        fn edge(&self) -> f64 {
            0.1
        }

        fn best(&self, _: f64) -> Best {
            Best { level: 0.0, others: [0.0, 0.0], cost: 3.0 }
        }

        fn cost(&self, _: f64, level: f64, [a, b]: [f64; 2]) -> f64 {
            let deviance = (level.min(self.flat) / self.deviation).powi(2);
            3.0 + deviance / 2.0 + (a - level).powi(2) + (b - 0.1 * level).powi(2)
        }

        fn redrawn(&self, random: &mut Random) -> Option<Self> {
            // Twelve even numbers are nearly normal.
            let normal = (0..12).map(|_| random.open_unit()).sum::<f64>() - 6.0;
            Some(Self { origin: self.deviation * normal, ..*self })
        }

        fn true_level(&self, _: &Self, _: f64) -> f64 {
            0.0
        }
    }

    #[test]
    fn the_interval_of_a_normal_number_is_as_in_tables() {
        let normal = Normal { origin: 7.0, deviation: 0.5, flat: f64::INFINITY };
        let level = Intervals { redrawn: vec![], tail: normal, quantile: 1.96 }.level(10.0).unwrap();
        assert!((level.low - (7.0 - 0.98)).abs() < 2e-3, "{level:?}");
        assert!((level.high - (7.0 + 0.98)).abs() < 2e-3, "{level:?}");
        let normal = Normal { origin: 7.0, deviation: 0.5, flat: f64::INFINITY };
        let intervals = Intervals::new(normal, 0.95, 1);
        let (mean, deviation) = intervals.root(10.0);
        assert!(mean.abs() < 0.3 && (deviation - 1.0).abs() < 0.2, "{mean} {deviation}");
        let level = intervals.level(10.0).unwrap();
        assert!((level.high - (7.0 + 0.5 * (1.96 * deviation - mean))).abs() < 3e-3, "{level:?}");
    }

    #[test]
    fn an_interval_without_an_end_is_none() {
        let normal = Normal { origin: 7.0, deviation: 0.5, flat: 0.3 };
        assert_eq!(Intervals { redrawn: vec![], tail: normal, quantile: 1.96 }.level(10.0), None);
    }
}
