//! Histograms of metrics as text: a title each, and a bar per bin. Not for how bars are drawn.

use crate::library::Unit;
use crate::metrics::{Bin, Histogram};
use crate::render::bars;
use crate::time::{TimeScale, format_duration};

/// Whole numbers up to this are exact.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// All histograms, for a terminal of `width` columns; ticks of `scale` in a suitable unit.
pub(in crate::cli) fn text(histograms: &[Histogram], scale: TimeScale, width: usize) -> String {
    let one = |h: &Histogram| {
        let rows: Vec<_> = labels(&h.bins, h.unit, scale)
            .into_iter()
            .zip(&h.bins)
            .map(|(label, bin)| (label, bin.count.unsigned_abs()))
            .collect();
        format!("{}\n{}", title(h, scale), bars(&rows, width))
    };
    match histograms {
        [] => "no samples\n".to_owned(),
        some => some.iter().map(one).collect::<Vec<_>>().join("\n"),
    }
}

fn title(h: &Histogram, scale: TimeScale) -> String {
    let core = h.core.as_ref().filter(|core| **core != h.entity);
    let core = core.map(|core| format!(" on {core}")).unwrap_or_default();
    let s = if h.count == 1 { "" } else { "s" };
    let of = format!("{}: {} of {}{core}: {} sample{s}", h.recording, h.metric, h.entity, h.count);
    match (h.min, h.p50, h.max) {
        (Some(min), Some(median), Some(max)) => {
            let [min, median, max] = [min, median, max].map(|v| value(v, h.unit, scale));
            format!("{of}, {min} to {max}, median {median}")
        }
        _ => of,
    }
}

/// A number in its unit.
fn value(value: f64, unit: Unit, scale: TimeScale) -> String {
    match unit {
        Unit::Duration if value.abs() < EXACT => format_duration(value.round() as i64, scale),
        Unit::Duration => format!("{value} {scale}"),
        Unit::Count => format!("{value}"),
        Unit::Percent => format!("{} %", (value * 1e3).round() / 1e3),
    }
}

/// The begin of each bin. Bins of equal width have one unit, so that their digits are aligned.
fn labels(bins: &[Bin], unit: Unit, scale: TimeScale) -> Vec<String> {
    let begins: Vec<f64> = bins.iter().map(|b| b.from).collect();
    let ticks = begins.iter().all(|b| b.fract() == 0.0 && b.abs() < EXACT);
    match unit {
        Unit::Duration if !ticks => begins.iter().map(|b| format!("{b} {scale}")).collect(),
        Unit::Duration => {
            let begins: Vec<i64> = begins.iter().map(|b| *b as i64).collect();
            let even = begins.windows(3).all(|w| matches!(w, [a, b, c] if b - a == c - b));
            match even {
                true => aligned(&begins, scale),
                false => begins.iter().map(|b| format_duration(*b, scale)).collect(),
            }
        }
        Unit::Count => begins.iter().map(|b| format!("{b}")).collect(),
        Unit::Percent => begins.iter().map(|b| format!("{b} %")).collect(),
    }
}

/// Times in the greatest unit in which the greatest of them is at least 1, with as many decimals as they
/// need; exact.
fn aligned(ticks: &[i64], scale: TimeScale) -> Vec<String> {
    let greatest = ticks.iter().map(|t| t.unsigned_abs()).max().unwrap_or(0);
    let power = |unit: TimeScale| 10u64.pow(scale.decimals() - unit.decimals());
    let units = TimeScale::ALL.into_iter().filter(|unit| *unit >= scale);
    let unit = units.filter(|unit| greatest >= power(*unit)).max().unwrap_or(scale);
    let mut places = (scale.decimals() - unit.decimals()) as usize;
    let mut rest = power(unit);
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
        let aligned = |ticks: &[i64]| aligned(ticks, TimeScale::Ns);
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
        let of = |begins: &[f64], unit| labels(&bins(begins), unit, TimeScale::Ns);
        assert_eq!(of(&[0.0, 200.0, 5000.0], Unit::Duration), ["0 ns", "200 ns", "5 us"]);
        assert_eq!(of(&[0.5, 1.0], Unit::Duration), ["0.5 ns", "1 ns"]);
        assert_eq!(of(&[2.0], Unit::Count), ["2"]);
        assert_eq!(of(&[0.3], Unit::Percent), ["0.3 %"]);
    }
}
