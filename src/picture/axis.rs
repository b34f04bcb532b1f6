//! Where the lines of a time axis are, and their labels: multiples of 1, 2 or 5 times a power of ten, in
//! exact integers. Not for how they are drawn.

use crate::time::TimeScale;

/// Longer labels are relative to a common origin.
const LONG: usize = 9;

/// The lines of a time axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axis {
    /// The text next to the axis: the unit, and the origin of the labels if that is not 0.
    pub title: String,
    /// Lines with labels: instant in ticks, and text.
    pub major: Vec<(i64, String)>,
    /// Lines without labels, in ticks.
    pub minor: Vec<i64>,
}

/// The least 1, 2 or 5 times a power of ten that is not less than `least`.
fn round(least: u128) -> u128 {
    let mut power = 1u128;
    loop {
        for digit in [1, 2, 5] {
            if power * digit >= least {
                return power * digit;
            }
        }
        power *= 10;
    }
}

/// The multiples of `step` in `[from, to)`, with one more at `to`.
fn multiples(from: i64, to: i64, step: i64) -> impl Iterator<Item = i64> {
    let first = i128::from(from).div_euclid(i128::from(step)) * i128::from(step);
    let first = if first < i128::from(from) { first + i128::from(step) } else { first };
    let all = (0..).map(move |n| first + n * i128::from(step));
    all.take_while(move |at| *at <= i128::from(to)).filter_map(|at| i64::try_from(at).ok())
}

/// Ticks of `scale` in a unit.
fn per(unit: TimeScale, scale: TimeScale) -> u64 {
    10u64.pow(scale.decimals() - unit.decimals())
}

/// Ticks in a unit, with a number of decimal places; exact if those suffice.
fn decimal(ticks: i128, unit: u64, places: usize) -> String {
    let sign = if ticks < 0 { "-" } else { "" };
    let (magnitude, unit) = (ticks.unsigned_abs(), u128::from(unit));
    let whole = magnitude / unit;
    if places == 0 {
        return format!("{sign}{whole}");
    }
    let digits = unit.ilog10() as usize;
    let fraction = format!("{:0digits$}", magnitude % unit);
    format!("{sign}{whole}.{}", fraction.get(..places).unwrap_or(&fraction))
}

/// Decimal places that multiples of `step` need in a unit.
fn places(step: i64, unit: u64) -> usize {
    let mut unit = unit;
    let mut places = 0;
    while unit > 1 && !step.unsigned_abs().is_multiple_of(unit) {
        (unit, places) = (unit / 10, places + 1);
    }
    places
}

/// The greatest unit in which a number of ticks is at least 1.
fn unit_of(ticks: u64, scale: TimeScale) -> TimeScale {
    let units = TimeScale::ALL.into_iter().filter(|unit| *unit >= scale);
    units.filter(|unit| ticks >= per(*unit, scale)).max().unwrap_or(scale)
}

impl Axis {
    /// The axis of a window `[from, to)`, in ticks of `scale`, with at most about `most` labels.
    pub fn new(from: i64, to: i64, scale: TimeScale, most: u32) -> Self {
        let span = (i128::from(to) - i128::from(from)).max(1).unsigned_abs();
        let step = round(span.div_ceil(u128::from(most.max(1))));
        let step = i64::try_from(step).unwrap_or(i64::MAX);
        // A step of 2 has 4 parts, so that all lines are at multiples of 5; other steps have 5.
        let parts = if step.to_string().starts_with('2') { 4 } else { 5 };
        let minor = if step % parts == 0 { step / parts } else { 0 };
        let at: Vec<i64> = multiples(from, to, step).collect();
        let minor = match minor {
            0 => Vec::new(),
            minor => multiples(from, to, minor).filter(|t| t.rem_euclid(step) != 0).collect(),
        };
        let greatest = from.unsigned_abs().max(to.unsigned_abs());
        let unit = unit_of(greatest, scale);
        let plain = |t: &i64| decimal(i128::from(*t), per(unit, scale), places(step, per(unit, scale)));
        let labels: Vec<String> = at.iter().map(plain).collect();
        if labels.iter().all(|label| label.len() <= LONG) {
            let major = at.into_iter().zip(labels).collect();
            return Self { title: unit.to_string(), major, minor };
        }
        // The common origin: the last multiple of a power of ten before the window that is longer than it.
        let whole = round(span * 2);
        let begin = match i64::try_from(whole) {
            Ok(whole) => from.div_euclid(whole).saturating_mul(whole),
            Err(_) => 0,
        };
        let unit = unit_of(span.try_into().unwrap_or(u64::MAX), scale);
        let ticks = per(unit, scale);
        let label = |t: &i64| {
            let passed = i128::from(*t) - i128::from(begin);
            format!("+{}", decimal(passed, ticks, places(step, ticks)))
        };
        let major = at.iter().map(|t| (*t, label(t))).collect();
        Self { title: format!("{unit} after {}", exact(begin, scale)), major, minor }
    }
}

/// An instant or a length of time with all its digits, so that parts add up, in the greatest unit in which it
/// is at least 1: `12.345678901 s`.
pub fn exact(ticks: i64, scale: TimeScale) -> String {
    let unit = unit_of(ticks.unsigned_abs(), scale);
    let places = places(ticks, per(unit, scale));
    format!("{} {unit}", decimal(i128::from(ticks), per(unit, scale), places))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn labels(from: i64, to: i64, scale: TimeScale) -> (String, Vec<String>) {
        let axis = Axis::new(from, to, scale, 5);
        (axis.title, axis.major.into_iter().map(|(_, label)| label).collect())
    }

    #[test]
    fn labels_are_short_and_exact() {
        let of = |from, to, scale| {
            let (title, labels) = labels(from, to, scale);
            format!("{} {title}", labels.join(" "))
        };
        assert_eq!(of(0, 10_000_000, TimeScale::Ns), "0 2 4 6 8 10 ms");
        assert_eq!(of(412_000_000, 415_000_000, TimeScale::Ns), "412 413 414 415 ms");
        assert_eq!(of(1_500, 2_600, TimeScale::Ns), "1.5 2.0 2.5 us");
        assert_eq!(of(-50, 50, TimeScale::Ns), "-40 -20 0 20 40 ns");
        assert_eq!(
            of(12_345_678_000, 12_345_678_900, TimeScale::Ns),
            "+0 +200 +400 +600 +800 ns after 12.345678 s"
        );
        assert_eq!(of(0, 1, TimeScale::S), "0 1 s");
        assert_eq!(
            of(3_000_000_000_000, 3_000_000_001_000, TimeScale::Ps),
            "+0.0 +0.2 +0.4 +0.6 +0.8 +1.0 ns after 3 s"
        );
    }

    #[test]
    fn instants_keep_all_digits() {
        assert_eq!(exact(12_345_678_901, TimeScale::Ns), "12.345678901 s");
        assert_eq!(
            (exact(0, TimeScale::Ns), exact(-1_500, TimeScale::Ns)),
            ("0 ns".into(), "-1.5 us".into())
        );
        assert_eq!(exact(i64::MIN, TimeScale::Ps), "-9223372.036854775808 s");
    }

    proptest! {
        #[test]
        fn every_label_reads_back(from in -1_000_000_000_000_000i64..1_000_000_000_000_000, span in 1i64..1_000_000_000_000, most in 1u32..20) {
            let axis = Axis::new(from, from + span, TimeScale::Ns, most);
            prop_assert!(axis.major.len() <= most as usize + 2, "{axis:?}");
            prop_assert!(axis.major.iter().all(|(at, _)| (from..=from + span).contains(at)));
            prop_assert!(axis.minor.len() <= 5 * (axis.major.len() + 1));
            if !axis.title.contains("after") {
                for (at, label) in &axis.major {
                    let text = format!("{label}{}", axis.title);
                    prop_assert_eq!(crate::time::parse_time_argument(&text, TimeScale::Ns), Ok(*at));
                }
            }
        }

        #[test]
        fn any_window_has_an_axis(from: i64, to: i64, most in 0u32..2000) {
            let axis = Axis::new(from.min(to), from.max(to), TimeScale::Ps, most);
            prop_assert!(axis.major.windows(2).all(|pair| pair[0].0 < pair[1].0));
        }
    }
}
