//! The points of an exceedance plot: which share of the samples is at or above a value. Not how it is drawn;
//! the fitted curve and its band are in the fit (`Fit::curve`).

/// A point of the plot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// A sample, in its unit.
    pub value: i64,
    /// The share of samples that are at least this value: above 0, at most 1.
    pub share: f64,
}

/// Points of the samples, from the greatest value to the least: one per value for the 100 greatest samples,
/// and then at least a fiftieth more samples per point. So 1 million samples have some 600. Time is that of
/// sorting.
pub fn exceedance(samples: &[i64]) -> Vec<Point> {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable();
    let count = sorted.len() as f64;
    let mut points: Vec<Point> = Vec::new();
    let (mut seen, mut next) = (0usize, 0usize);
    for alike in sorted.rchunk_by_value() {
        seen += alike.1;
        // The least value is always there: its share is 1.
        if seen >= next || seen == sorted.len() {
            points.push(Point { value: alike.0, share: seen as f64 / count });
            next = if seen < 100 { 0 } else { seen + seen / 50 };
        }
    }
    points
}

/// Runs of values that are alike, from the greatest to the least: the value and how many.
trait Runs {
    fn rchunk_by_value(&self) -> impl Iterator<Item = (i64, usize)>;
}

impl Runs for Vec<i64> {
    fn rchunk_by_value(&self) -> impl Iterator<Item = (i64, usize)> {
        let mut rest = self.as_slice();
        std::iter::from_fn(move || {
            let value = *rest.last()?;
            let below = rest.partition_point(|other| *other < value);
            let count = rest.len() - below;
            rest = rest.get(..below)?;
            Some((value, count))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_those_of_counting() {
        let mut random = super::super::numbers::Random::new(2);
        let samples: Vec<i64> = (0..5000).map(|_| (random.bits() % 3000) as i64 - 1000).collect();
        let points = exceedance(&samples);
        assert!(points.len() < 320 && points.is_sorted_by(|a, b| a.value > b.value), "{}", points.len());
        for point in &points {
            let count = samples.iter().filter(|sample| **sample >= point.value).count();
            assert_eq!(point.share, count as f64 / 5000.0);
        }
        assert_eq!(points.first().map(|point| point.value), samples.iter().copied().max());
        assert_eq!(points.last().map(|point| (point.value, point.share)), Some((-1000, 1.0)));
    }

    #[test]
    fn few_and_no_samples_have_few_and_no_points() {
        assert_eq!(exceedance(&[]), []);
        let points = [Point { value: 9, share: 0.25 }, Point { value: 5, share: 1.0 }];
        assert_eq!(exceedance(&[5, 9, 5, 5]), points);
        assert_eq!(exceedance(&[i64::MAX, i64::MIN]).len(), 2);
    }
}
