//! Samples → a histogram with round bounds. Not for how it is drawn.

/// Approximate number of bins of equal width.
const LINEAR: f64 = 16.0;
/// If the greatest sample is this many times the median, bins of equal width would show one bin only.
const SKEWED: f64 = 20.0;
/// From this many decades on, each has one bin; otherwise three.
const DECADES: i32 = 6;
/// Samples less than this share of the greatest one share one bin.
const MIN_SHARE: f64 = 1e-9;

/// Samples in `[from, to)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bin {
    /// Least value of the bin, in the unit of the metric.
    pub from: f64,
    /// The begin of the next bin.
    pub to: f64,
    /// Number of samples.
    pub count: i64,
}

/// 1, 2 or 5 times a power of ten.
#[derive(Debug, Clone, Copy)]
struct Round {
    digit: f64,
    power: i32,
}

impl Round {
    /// The least one that is not less than `value`, which must be greater than 0.
    fn at_least(value: f64) -> Self {
        let power = value.log10().floor() as i32;
        let all = [(1.0, power), (2.0, power), (5.0, power), (1.0, power + 1), (2.0, power + 1)];
        let round = |(digit, power)| Self { digit, power };
        all.map(round).into_iter().find(|r| r.times(1.0) >= value).unwrap_or(round((5.0, power + 1)))
    }

    /// `k` times the number, for a whole k: the nearest floating-point number, so that it is printed exactly.
    fn times(self, k: f64) -> f64 {
        let ten = 10f64.powi(self.power.abs());
        if self.power < 0 { k * self.digit / ten } else { k * self.digit * ten }
    }

    /// The next in the series of one or of three numbers per decade.
    fn next(self, coarse: bool) -> Self {
        match self.digit {
            1.0 if !coarse => Self { digit: 2.0, ..self },
            2.0 if !coarse => Self { digit: 5.0, ..self },
            _ => Self { digit: 1.0, power: self.power + 1 },
        }
    }
}

/// The least, greatest and middle sample.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extent {
    pub min: f64,
    pub max: f64,
    pub median: f64,
}

/// The bins for samples of that extent, from the least sample to the greatest: of equal width, or growing
/// with the values if most samples would be in the first bin. Bounds of whole numbers are whole. Empty if a
/// sample is infinite or not a number.
pub(super) fn bins(values: impl Iterator<Item = f64> + Clone, whole: bool, extent: Extent) -> Vec<Bin> {
    let Extent { min, max, median } = extent;
    if !(max - min).is_finite() || values.clone().any(f64::is_nan) {
        return Vec::new();
    }
    let skewed = min >= 0.0 && max > 0.0 && max >= SKEWED * median;
    let borders = if skewed { growing(values.clone(), min, max) } else { even(min, max, whole) };
    let mut counts = vec![0; borders.len()];
    for value in values {
        let bin = borders.partition_point(|b| *b <= value).saturating_sub(1);
        counts.get_mut(bin).into_iter().for_each(|c| *c += 1);
    }
    let bin = |(pair, count): (&[f64], i64)| match pair {
        [from, to] => Some(Bin { from: *from, to: *to, count }),
        _ => None,
    };
    borders.windows(2).zip(counts).filter_map(bin).collect()
}

/// Multiples of a round number, from the last one up to `min` to the first one above `max`.
fn even(min: f64, max: f64, whole: bool) -> Vec<f64> {
    let least = if whole { 1.0 } else { f64::MIN_POSITIVE };
    let wanted = match max > min {
        true => (max - min) / LINEAR,
        false if whole => 1.0,
        false => max.abs() / LINEAR,
    };
    // With a smaller width than the precision of the numbers, bounds would be equal.
    let finest = max.abs().max(min.abs()) * f64::EPSILON;
    let width = Round::at_least(wanted.max(least).max(finest));
    // One earlier, because the quotient is rounded.
    let mut k = (min / width.times(1.0)).floor() - 1.0;
    let mut borders = Vec::new();
    while borders.len() < 2 * LINEAR as usize {
        let border = width.times(k);
        if border <= min {
            borders.clear();
        }
        borders.push(border);
        if border > max {
            break;
        }
        k += 1.0;
    }
    borders
}

/// 1, 2, 5, 10 … or 1, 10, 100 …, from below the least sample that is not 0; from 0 if there are samples
/// below.
fn growing(values: impl Iterator<Item = f64>, min: f64, max: f64) -> Vec<f64> {
    let positive = values.filter(|v| *v > 0.0).fold(max, f64::min).max(max * MIN_SHARE);
    let power = positive.log10().floor() as i32;
    let coarse = max.log10().floor() as i32 - power > DECADES;
    let mut round = Round { digit: 1.0, power };
    let mut borders = Vec::new();
    loop {
        let border = round.times(1.0);
        if border <= positive {
            borders.clear();
        }
        borders.push(border);
        if border > max {
            break;
        }
        round = round.next(coarse);
    }
    if borders.first().is_some_and(|first| min < *first) {
        borders.insert(0, 0.0);
    }
    borders
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::metrics::statistics::Samples;

    fn of(values: &[i64]) -> Vec<(f64, f64, i64)> {
        let mut samples = Samples::default();
        values.iter().for_each(|v| samples.push_integer(*v, None));
        samples.finish_with_bins().1.iter().map(|b| (b.from, b.to, b.count)).collect()
    }

    #[test]
    fn even_bins_begin_at_multiples_of_a_round_number() {
        // (33 - 5) / 16 = 1.75: a width of 2, from 4 to 34.
        let bins = of(&[5, 6, 6, 33, 20, 21]);
        assert_eq!((bins[0], bins[1], bins[14]), ((4.0, 6.0, 1), (6.0, 8.0, 2), (32.0, 34.0, 1)));
        assert_eq!((bins.len(), bins[8]), (15, (20.0, 22.0, 2)));
        assert_eq!(of(&[-7, 7]).first(), Some(&(-7.0, -6.0, 1)));
        assert_eq!(of(&[10_000; 3]), [(10_000.0, 10_001.0, 3)]);
        assert_eq!(of(&[0; 2]), [(0.0, 1.0, 2)]);
        assert_eq!(of(&[]), []);
    }

    #[test]
    fn bins_grow_where_the_median_is_far_below_the_greatest() {
        // The median is 4, and 80 is 20 times that.
        let bins = of(&[3, 4, 4, 4, 80]);
        assert_eq!(bins, [(2.0, 5.0, 4), (5.0, 10.0, 0), (10.0, 20.0, 0), (20.0, 50.0, 0), (50.0, 100.0, 1)]);
        assert_eq!(of(&[0, 0, 0, 1, 7]), [(0.0, 1.0, 3), (1.0, 2.0, 1), (2.0, 5.0, 0), (5.0, 10.0, 1)]);
        // Seven decades and more: one bin each.
        assert_eq!(of(&[1, 1, 1, 10_000_000]).len(), 8);
        assert_eq!(of(&[1, 1, 1, 9_000_000]).len(), 21);
    }

    #[test]
    fn fractions_have_borders_as_they_are_meant() {
        let mut samples = Samples::default();
        [0.1, 0.3, 1.2].into_iter().for_each(|v| samples.push_fraction(v, None));
        // 1.1 / 16 = 0.069: a width of 0.1.
        let bins = samples.finish_with_bins().1;
        assert_eq!(bins.iter().map(|b| b.from).take(3).collect::<Vec<_>>(), [0.1, 0.2, 0.3]);
        assert_eq!(bins.iter().map(|b| b.count).collect::<Vec<_>>(), [1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    }

    proptest! {
        #[test]
        fn every_sample_is_in_its_bin(values in prop::collection::vec(any::<f64>(), 0..20), factor in -300i32..300) {
            let values: Vec<f64> = values.into_iter().map(|v| (v % 1.0) * 10f64.powi(factor)).collect();
            let mut samples = Samples::default();
            values.iter().for_each(|v| samples.push_fraction(*v, None));
            let bins = samples.finish_with_bins().1;
            prop_assert!(bins.len() < 64);
            prop_assert!(bins.windows(2).all(|w| w[0].to == w[1].from && w[0].from < w[0].to));
            if values.iter().all(|v| v.is_finite()) {
                prop_assert_eq!(bins.iter().map(|b| b.count).sum::<i64>(), values.len() as i64);
                for bin in &bins {
                    let within = values.iter().filter(|v| (bin.from..bin.to).contains(*v)).count();
                    prop_assert_eq!(within as i64, bin.count, "{:?}", bins);
                }
            }
        }

        #[test]
        fn whole_numbers_have_whole_borders(values in prop::collection::vec(any::<i64>(), 1..20), shift in 0u32..63) {
            let values: Vec<i64> = values.into_iter().map(|v| v >> shift).collect();
            let bins = of(&values);
            prop_assert_eq!(bins.iter().map(|b| b.2).sum::<i64>(), values.len() as i64);
            prop_assert!(bins.iter().all(|b| b.0.fract() == 0.0 && b.1.fract() == 0.0));
        }
    }
}
