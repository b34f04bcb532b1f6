//! Release times → a periodic model: period, offset and jitter, integer-exact. Knows neither events nor
//! models.
//!
//! The model is that of LiME (B. Brandenburg et al.): no release is before `offset` + k × `period`, and the
//! latest one is exactly `jitter` after it. For a period, offset and jitter follow from the releases. So the
//! period is what has to be found:
//!
//! 1. The number k of each release: one more than the one before, or several more where releases are
//!    missing. Releases are taken as missing only where a gap has the length of several periods.
//! 2. The least jitter. It is a convex function of the period, as it is the greatest of linear functions, and
//!    the search for its minimum ends at the exact integer.
//! 3. What the releases say about the period: an interval. A few extreme releases decide about the least
//!    jitter, and in another recording they would be a little other ones. How much the least jitter sinks
//!    without them is how well it is known. All periods whose jitter is greater by no more than this (and by
//!    no more than 25 %, as in the reference implementation of LiME) explain the releases as well.
//! 4. Of these, the period that a person would have written down: the one with the fewest digits in ns, or
//!    that of a whole frequency in Hz if this has still fewer digits, such as 333,333 ns of 3 kHz.

/// A periodic model of release times. Times are in the unit of the releases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Periodic {
    /// Time between releases without jitter.
    pub period: i64,
    /// Of the first release, without its jitter; not later than it.
    pub offset: i64,
    /// How late the latest release is.
    pub jitter: i64,
    /// Releases that it was made of.
    pub samples: u64,
    /// Releases that are missing between the first and the last one.
    pub missing: u64,
    /// The least and the greatest period that explain the releases as well.
    pub known: (i64, i64),
}

/// How often the releases that decide about the least jitter are left out, one set after the other.
const ROUNDS: usize = 5;

/// From so many releases on, a period is more than a guess.
const LEAST: usize = 3;

/// The model of rising release times; `None` for less than three.
pub fn periodic(releases: &[i64]) -> Option<Periodic> {
    let first = *releases.first()?;
    let rising = releases.windows(2).all(|pair| matches!(pair, [one, next] if one < next));
    if releases.len() < LEAST || !rising {
        return None;
    }
    // So that nothing overflows.
    let times: Vec<i64> = releases.iter().map(|time| time.checked_sub(first)).collect::<Option<_>>()?;
    let points = numbered(&times)?;
    let (best, least) = least_jitter(&points)?;
    let tolerance = (least - without_extremes(&points)).min(least / 4);
    let known = around(&points, best, least.saturating_add(tolerance));
    let period = roundest(known.0, known.1, best);
    let (early, late) = spread(&points, period);
    let last = points.last()?.0;
    Some(Periodic {
        period,
        offset: first.checked_add(early)?,
        jitter: late - early,
        samples: releases.len() as u64,
        missing: (last + 1).unsigned_abs() - releases.len() as u64,
        known,
    })
}

/// A release: its number and its time.
type Point = (i64, i64);

/// Numbers the releases; between two of them, releases may be missing.
fn numbered(times: &[i64]) -> Option<Vec<Point>> {
    let mut gaps: Vec<i64> = times.windows(2).filter_map(|pair| Some(pair.last()? - pair.first()?)).collect();
    gaps.sort_unstable();
    let median = *gaps.get(gaps.len() / 2)?;
    // With a jitter below half a period, two periods are longer than one and a half.
    if *gaps.last()? <= median + median / 2 {
        return Some((0..).zip(times.iter().copied()).collect());
    }
    let mut points = Vec::with_capacity(times.len());
    let (mut number, mut before) = (0i64, 0i64);
    for time in times {
        let gap = time - before;
        if *time > 0 {
            // After some releases their mean distance is better known than the median one.
            let period = if number < 8 { median } else { before / number };
            number = number.checked_add(rounded(gap, period).max(1))?;
        }
        points.push((number, *time));
        before = *time;
    }
    // Long gaps are counted with the better period that all releases together give.
    for _ in 0..4 {
        let (period, jitter) = least_jitter(&points)?;
        let (early, _) = spread(&points, period);
        let mut next = Vec::with_capacity(points.len());
        let mut last = -1;
        for (_, time) in &points {
            let number = rounded(time - early - jitter / 2, period).max(last + 1);
            next.push((number, *time));
            last = number;
        }
        let from = next.first()?.0;
        next.iter_mut().for_each(|point| point.0 -= from);
        if next == points {
            break;
        }
        points = next;
    }
    Some(points)
}

/// The quotient, rounded to the nearest whole number.
fn rounded(time: i64, period: i64) -> i64 {
    (time + period / 2).div_euclid(period.max(1))
}

/// How early and how late releases are with a period, at most.
fn spread(points: &[Point], period: i64) -> (i64, i64) {
    let late = |(number, time): &Point| time.saturating_sub(number.saturating_mul(period));
    let early = points.iter().map(late).min().unwrap_or(0);
    (early, points.iter().map(late).max().unwrap_or(0))
}

fn jitter(points: &[Point], period: i64) -> i64 {
    let (early, late) = spread(points, period);
    late.saturating_sub(early)
}

/// The period of the least jitter, and that jitter.
fn least_jitter(points: &[Point]) -> Option<(i64, i64)> {
    let corners = corners(points);
    let ((_, begin), (last, end)) = (points.first()?, points.last()?);
    // Even with a jitter of two periods the period is in between.
    let mean = (end - begin) / (*last).max(1);
    let (mut low, mut high) = ((mean / 4).max(1), mean.saturating_mul(4).max(2));
    while low < high {
        let middle = low + (high - low) / 2;
        if jitter(&corners, middle) <= jitter(&corners, middle + 1) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Some((low, jitter(&corners, low)))
}

/// The points that can be the earliest or the latest one with some period: the corners of the convex hull.
fn corners(points: &[Point]) -> Vec<Point> {
    // A product of differences needs more than 64 bits.
    let turn = |a: Point, b: Point, c: Point| {
        let (x, y) = (i128::from(b.0 - a.0), i128::from(b.1 - a.1));
        let (u, v) = (i128::from(c.0 - a.0), i128::from(c.1 - a.1));
        (x * v - y * u).signum()
    };
    let mut all = Vec::new();
    for side in [1, -1] {
        let mut hull: Vec<Point> = Vec::new();
        for point in points {
            while let [.., a, b] = hull[..]
                && turn(a, b, *point) * side <= 0
            {
                hull.pop();
            }
            hull.push(*point);
        }
        all.extend(hull);
    }
    all
}

/// The least jitter without the releases that decide about it.
fn without_extremes(points: &[Point]) -> i64 {
    let mut left = points.to_vec();
    let mut least = 0;
    for _ in 0..=ROUNDS {
        let Some((period, jitter)) = least_jitter(&left) else { break };
        least = jitter;
        let (early, late) = spread(&left, period);
        let is_inside = |(number, time): &Point| {
            let at = time - number * period;
            at != early && at != late
        };
        left.retain(is_inside);
        if left.len() < LEAST {
            return 0;
        }
    }
    least
}

/// The periods around the best one with at most this jitter.
fn around(points: &[Point], best: i64, most: i64) -> (i64, i64) {
    let corners = corners(points);
    let fits = |period: i64| jitter(&corners, period) <= most;
    let reach = |step: i64| {
        let mut far = 1i64;
        while best + step * far > 0 && far < best && fits(best + step * far) {
            far *= 2;
        }
        let (mut near, mut far) = (far / 2, far);
        while near + 1 < far {
            let middle = near + (far - near) / 2;
            if best + step * middle > 0 && fits(best + step * middle) {
                near = middle;
            } else {
                far = middle;
            }
        }
        best + step * near
    };
    (reach(-1), reach(1))
}

/// The period between two others, both inclusive, that is the easiest to write down.
fn roundest(low: i64, high: i64, best: i64) -> i64 {
    let time = fewest_digits(low, high, best);
    let second = 1_000_000_000;
    let near = (second + best / 2) / best.max(1);
    let (slow, fast) = ((second + high) / (high + 1).max(1), second / low.max(1));
    let frequency = fewest_digits(slow.min(near), fast.max(near), near).max(1);
    let of_frequency = (second + frequency / 2) / frequency;
    // Most periods are chosen as times, so that a frequency has to be rounder by more than one digit.
    let is_rounder = digits(frequency) + 1 < digits(time);
    if is_rounder && (low..=high).contains(&of_frequency) { of_frequency } else { time }
}

/// The number between two others with the fewest digits before its zeros; of several, the nearest to `best`.
fn fewest_digits(low: i64, high: i64, best: i64) -> i64 {
    let mut found = best;
    let mut step = 1i64;
    while let Some(next) = step.checked_mul(10) {
        step = next;
        let nearest = rounded(best, step).saturating_mul(step);
        let inside = [nearest, nearest.saturating_add(step), nearest.saturating_sub(step)];
        match inside.into_iter().find(|number| *number > 0 && (low..=high).contains(number)) {
            Some(number) => found = number,
            None => break,
        }
    }
    found
}

/// Decimal digits before the zeros at the end.
fn digits(mut number: i64) -> u32 {
    while number != 0 && number % 10 == 0 {
        number /= 10;
    }
    number.checked_ilog10().map_or(1, |log| log + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A small generator of random numbers: xorshift (G. Marsaglia, 2003).
    struct Numbers(u64);

    impl Numbers {
        fn between(&mut self, low: i64, high: i64) -> i64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            low + i64::try_from(self.0 % u64::try_from(high - low + 1).unwrap()).unwrap()
        }
    }

    /// Releases of so many periods, each later by up to `jitter`, without some in a hundred.
    fn releases(period: i64, jitter: i64, count: i64, lost: i64, numbers: &mut Numbers) -> Vec<i64> {
        let all = (0..count).map(|n| (n, 7_654_321 + n * period + numbers.between(0, jitter)));
        let all: Vec<(i64, i64)> = all.collect();
        all.into_iter().filter(|(n, _)| *n == 0 || numbers.between(0, 99) >= lost).map(|(_, at)| at).collect()
    }

    #[test]
    fn without_jitter_every_value_is_exact() {
        for period in [1, 7, 333_333, 1_000_000, 123_456_789, 1_000_000_000] {
            let times: Vec<i64> = (0..10).map(|n| 5_000 + n * period).collect();
            let expected = Periodic {
                period,
                offset: 5_000,
                jitter: 0,
                samples: 10,
                missing: 0,
                known: (period, period),
            };
            assert_eq!(periodic(&times), Some(expected));
        }
        assert_eq!(periodic(&[1, 2]), None);
        assert_eq!(periodic(&[1, 2, 2]), None);
        assert_eq!(periodic(&[i64::MIN, 0, i64::MAX]), None);
    }

    #[test]
    fn offset_and_jitter_follow_from_the_period() {
        let times = [1_003, 2_001, 3_000, 4_002, 5_001, 6_000, 7_003, 8_001, 9_000];
        let found = periodic(&times).unwrap();
        assert_eq!((found.period, found.offset, found.jitter), (1_000, 1_000, 3));
    }

    #[test]
    fn periods_are_found_with_jitter_and_losses() {
        let mut numbers = Numbers(88_172_645_463_325_252);
        for period in [333_333, 1_000_000, 2_500_000, 7_000_000, 16_666_667, 1_000_000_000] {
            for (jitter, lost) in [(0, 10), (1, 0), (5, 0), (5, 10), (30, 0), (30, 10)] {
                let times = releases(period, period * jitter / 100, 2_000, lost, &mut numbers);
                let found = periodic(&times).unwrap();
                assert_eq!(found.period, period, "{period} {jitter} {lost} {found:?}");
                assert!(found.jitter <= period * jitter / 100 + 2_000, "{found:?}");
            }
        }
    }

    #[test]
    fn long_losses_are_counted() {
        let times: Vec<i64> =
            (0..100).filter(|n| !(20..70).contains(n)).map(|n| n * 10_000 + n * n % 900).collect();
        let found = periodic(&times).unwrap();
        assert_eq!((found.period, found.missing), (10_000, 50));
    }

    #[test]
    fn a_number_with_few_digits_is_preferred_only_where_it_fits() {
        assert_eq!(roundest(9_999_990, 10_000_020, 9_999_999), 10_000_000);
        assert_eq!(roundest(9_999_998, 9_999_999, 9_999_999), 9_999_999);
        assert_eq!(roundest(333_300, 333_360, 333_340), 333_333);
        assert_eq!(roundest(123_456_789, 123_456_789, 123_456_789), 123_456_789);
    }
}
