//! Histograms of metrics as text: a title each, and a bar per bin. Not for how bars are drawn.

use crate::library::Unit;
use crate::metrics::{Bin, Histogram};
use crate::render::{bars, shifted};
use crate::time::{TimeScale, format_duration};

/// Whole numbers up to this are exact.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// How times are shown.
#[derive(Debug, Clone, Copy)]
pub(in crate::cli) struct Times {
    /// What they are given in.
    pub scale: TimeScale,
    /// What they are shown in; `None`: in a suitable unit.
    pub unit: Option<TimeScale>,
}

/// All histograms, for a terminal of `width` columns.
pub(in crate::cli) fn text(histograms: &[Histogram], times: Times, width: usize) -> String {
    let one = |h: &Histogram| {
        let rows: Vec<_> = labels(&h.bins, h.unit, times)
            .into_iter()
            .zip(&h.bins)
            .map(|(label, bin)| (label, bin.count.unsigned_abs()))
            .collect();
        format!("{}\n{}", title(h, times), bars(&rows, width))
    };
    match histograms {
        [] => "no samples\n".to_owned(),
        some => some.iter().map(one).collect::<Vec<_>>().join("\n"),
    }
}

fn title(h: &Histogram, times: Times) -> String {
    let core = h.core.as_ref().filter(|core| **core != h.entity);
    let core = core.map(|core| format!(" on {core}")).unwrap_or_default();
    let s = if h.count == 1 { "" } else { "s" };
    let of = format!("{}: {} of {}{core}: {} sample{s}", h.recording, h.metric, h.entity, h.count);
    match (h.min, h.p50, h.max) {
        (Some(min), Some(median), Some(max)) => {
            let [min, median, max] = [min, median, max].map(|v| value(v, h.unit, times));
            format!("{of}, {min} to {max}, median {median}")
        }
        _ => of,
    }
}

/// A number in its unit.
fn value(value: f64, unit: Unit, times: Times) -> String {
    let Times { scale, unit: shown } = times;
    match (unit, shown) {
        (Unit::Duration, Some(shown)) => in_unit(value, scale, shown),
        (Unit::Duration, None) if value.abs() < EXACT => format_duration(value.round() as i64, scale),
        (Unit::Duration, None) => format!("{value} {scale}"),
        (Unit::Count, _) => format!("{value}"),
        (Unit::Percent, _) => format!("{} %", (value * 1e3).round() / 1e3),
    }
}

/// A number of ticks in a unit; exact if it is whole.
fn in_unit(ticks: f64, scale: TimeScale, unit: TimeScale) -> String {
    match ticks.fract() == 0.0 && ticks.abs() < EXACT {
        true => aligned(&[ticks as i64], scale, unit).concat(),
        false => format!("{} {unit}", shifted(ticks, scale.decimals() as i32 - unit.decimals() as i32)),
    }
}

/// The begin of each bin. Bins of equal width have one unit, so that their digits are aligned.
fn labels(bins: &[Bin], unit: Unit, times: Times) -> Vec<String> {
    let Times { scale, unit: shown } = times;
    let begins: Vec<f64> = bins.iter().map(|b| b.from).collect();
    let ticks = begins.iter().all(|b| b.fract() == 0.0 && b.abs() < EXACT);
    match unit {
        Unit::Duration if !ticks => {
            begins.iter().map(|b| in_unit(*b, scale, shown.unwrap_or(scale))).collect()
        }
        Unit::Duration => {
            let begins: Vec<i64> = begins.iter().map(|b| *b as i64).collect();
            let even = begins.windows(3).all(|w| matches!(w, [a, b, c] if b - a == c - b));
            match (even, shown) {
                (true, _) => aligned(&begins, scale, shown.unwrap_or_else(|| suitable(&begins, scale))),
                (false, Some(unit)) => begins.iter().map(|b| aligned(&[*b], scale, unit).concat()).collect(),
                (false, None) => begins.iter().map(|b| format_duration(*b, scale)).collect(),
            }
        }
        Unit::Count => begins.iter().map(|b| format!("{b}")).collect(),
        Unit::Percent => begins.iter().map(|b| format!("{b} %")).collect(),
    }
}

/// The greatest unit in which the greatest of the times is at least 1.
fn suitable(ticks: &[i64], scale: TimeScale) -> TimeScale {
    let greatest = ticks.iter().map(|t| t.unsigned_abs()).max().unwrap_or(0);
    let power = |unit: TimeScale| 10u64.pow(scale.decimals() - unit.decimals());
    let units = TimeScale::ALL.into_iter().filter(|unit| *unit >= scale);
    units.filter(|unit| greatest >= power(*unit)).max().unwrap_or(scale)
}

/// Times in a unit, with as many decimals as they need; exact.
fn aligned(ticks: &[i64], scale: TimeScale, unit: TimeScale) -> Vec<String> {
    let finer = 10i128.pow(unit.decimals().saturating_sub(scale.decimals()));
    if finer > 1 {
        return ticks.iter().map(|t| format!("{} {unit}", i128::from(*t) * finer)).collect();
    }
    let mut places = (scale.decimals() - unit.decimals()) as usize;
    let mut rest = 10u64.pow(places as u32);
    let mut dropped = 1;
    while places > 0 && ticks.iter().all(|t| t.unsigned_abs() % (dropped * 10) == 0) {
        (places, rest, dropped) = (places - 1, rest / 10, dropped * 10);
    }
    let text = |t: &i64| {
        let sign = if *t < 0 { "-" } else { "" };
        let digits = t.unsigned_abs() / dropped;
        match places {
            0 => format!("{sign}{digits} {unit}"),
            _ => format!("{sign}{}.{:0places$} {unit}", digits / rest, digits % rest),
        }
    };
    ticks.iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_even_bins_share_a_unit() {
        let aligned = |ticks: &[i64]| aligned(ticks, TimeScale::Ns, suitable(ticks, TimeScale::Ns));
        assert_eq!(aligned(&[950_000, 1_000_000, 1_050_000]), ["0.95 ms", "1.00 ms", "1.05 ms"]);
        assert_eq!(aligned(&[-20, 0, 20]), ["-20 ns", "0 ns", "20 ns"]);
        assert_eq!(aligned(&[2_000_000_000, 4_000_000_000]), ["2 s", "4 s"]);
        assert_eq!(aligned(&[10_000_000_001]), ["10.000000001 s"]);
        assert_eq!((aligned(&[0]), aligned(&[])), (vec!["0 ns".into()], vec![]));
    }

    #[test]
    fn labels_say_their_unit() {
        let bins = |begins: &[f64]| -> Vec<Bin> {
            begins.iter().map(|b| Bin { from: *b, to: b + 1.0, count: 1 }).collect()
        };
        let times = Times { scale: TimeScale::Ns, unit: None };
        let of = |begins: &[f64], unit| labels(&bins(begins), unit, times);
        assert_eq!(of(&[0.0, 200.0, 5000.0], Unit::Duration), ["0 ns", "200 ns", "5 us"]);
        assert_eq!(of(&[0.5, 1.0], Unit::Duration), ["0.5 ns", "1 ns"]);
        assert_eq!(of(&[2.0], Unit::Count), ["2"]);
        assert_eq!(of(&[0.3], Unit::Percent), ["0.3 %"]);
        // In the unit that is asked for.
        let of =
            |begins: &[f64], unit, shown| labels(&bins(begins), unit, Times { unit: Some(shown), ..times });
        assert_eq!(of(&[0.0, 2e6, 4e6], Unit::Duration, TimeScale::Us), ["0 us", "2000 us", "4000 us"]);
        assert_eq!(of(&[0.0, 200.0, 5000.0], Unit::Duration, TimeScale::Us), ["0 us", "0.2 us", "5 us"]);
        assert_eq!(of(&[0.5, 1.0], Unit::Duration, TimeScale::Ps), ["500 ps", "1000 ps"]);
        assert_eq!(of(&[2.0], Unit::Count, TimeScale::Us), ["2"]);
        let shown = |ticks, unit| value(ticks, Unit::Duration, Times { unit: Some(unit), ..times });
        assert_eq!(shown(2_737_181.0, TimeScale::S), "0.002737181 s");
        assert_eq!(shown(7.0, TimeScale::Ps), "7000 ps");
    }
}
