//! Values of a model as TOML: times in the unit that reads best, distributions, texts. Not for sections and
//! keys.

use super::Distribution;
use crate::time::TimeScale;

/// Columns up to which steps in a step stay on its line, and values in a list.
pub(super) const WIDTH: usize = 100;

/// The name of an entry, in quotes.
pub(super) fn name<T>(entries: &[T], ix: usize, name: impl Fn(&T) -> &String) -> String {
    quoted(entries.get(ix).map_or("", |entry| name(entry)))
}

pub(super) fn list(entries: impl Iterator<Item = String>) -> String {
    format!("[{}]", entries.collect::<Vec<_>>().join(", "))
}

/// A basic string of TOML.
pub(in crate::simulate) fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

/// A time in quotes.
pub(super) fn time(ns: i64) -> String {
    format!("\"{}\"", time_text(ns))
}

/// A time in the largest unit of which it has at least one, exactly: `1.5ms`.
pub fn time_text(ns: i64) -> String {
    let units = [TimeScale::S, TimeScale::Ms, TimeScale::Us];
    let per = |unit: TimeScale| TimeScale::Ns.per_second() / unit.per_second();
    let Some(unit) = units.into_iter().find(|unit| ns >= per(*unit)) else { return format!("{ns}ns") };
    let digits = unit_digits(unit);
    let fraction = format!("{:0digits$}", ns % per(unit));
    let fraction = fraction.trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{}{point}{fraction}{unit}", ns / per(unit))
}

/// Decimal places of a unit in ns.
fn unit_digits(unit: TimeScale) -> usize {
    (TimeScale::Ns.decimals() - unit.decimals()) as usize
}

/// A time that need not be whole, in ns.
fn fine_time(ns: f64) -> String {
    // Up to here, every whole number is one of the floating-point numbers.
    let whole = ns as i64;
    let is_whole = (0.0..9_007_199_254_740_992.0).contains(&ns) && whole as f64 == ns;
    if is_whole { time(whole) } else { format!("{ns:?}") }
}

pub(super) fn distribution(distribution: &Distribution) -> String {
    let limits = |min: i64, max: i64| format!("min = {}, max = {}", time(min), time(max));
    match *distribution {
        Distribution::Constant(constant) => time(constant),
        Distribution::Uniform { min, max } => format!("{{ uniform = [{}, {}] }}", time(min), time(max)),
        Distribution::Normal { mean, deviation, min, max } => {
            let (mean, deviation, limits) = (fine_time(mean), fine_time(deviation), limits(min, max));
            format!("{{ normal = {{ mean = {mean}, deviation = {deviation}, {limits} }} }}")
        }
        Distribution::Weibull { shape, scale, min, max } => {
            let (scale, limits) = (fine_time(scale), limits(min, max));
            format!("{{ weibull = {{ shape = {shape:?}, scale = {scale}, {limits} }} }}")
        }
        Distribution::Beta { alpha, beta, min, max } => {
            format!("{{ beta = {{ alpha = {alpha:?}, beta = {beta:?}, {} }} }}", limits(min, max))
        }
        // Not the mean and the deviation of the time: they do not give back the same bits.
        Distribution::LogNormal { mu, sigma, min, max } => {
            format!("{{ log_normal = {{ mu = {mu:?}, sigma = {sigma:?}, {} }} }}", limits(min, max))
        }
        Distribution::Observed { ref values, in_turn } => {
            let key = if in_turn { "in_turn" } else { "one_of" };
            let values = values.iter().map(|(times, value)| match times {
                1 => time(*value),
                _ => format!("{{ value = {}, times = {times} }}", time(*value)),
            });
            format!("{{ {key} = {} }}", list_on_lines(values))
        }
    }
}

/// A list on one line, or on as many as it needs.
fn list_on_lines(entries: impl Iterator<Item = String>) -> String {
    let mut lines = vec![String::new()];
    for entry in entries {
        let entry = entry + ", ";
        match lines.last_mut().filter(|line| line.len() + entry.len() <= WIDTH) {
            Some(line) => line.push_str(&entry),
            None => lines.push(entry),
        }
    }
    match &lines[..] {
        [line] => format!("[{}]", line.trim_end_matches(", ")),
        lines => {
            let lines = lines.iter().map(|line| format!("  {}\n", line.trim_end()));
            format!("[\n{}]", lines.collect::<String>())
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn times_keep_every_digit(ns in 0i64..) {
            let text = time(ns);
            let back = crate::time::parse_time_argument(text.trim_matches('"'), TimeScale::Ns);
            prop_assert_eq!(back, Ok(ns));
        }
    }

    #[test]
    fn times_have_the_unit_that_reads_best() {
        assert_eq!(
            [0, 1, 1500, 200_000_000, 1_000_000_001].map(time),
            ["\"0ns\"", "\"1ns\"", "\"1.5us\"", "\"200ms\"", "\"1.000000001s\""]
        );
        assert_eq!(fine_time(1500.0), "\"1.5us\"");
        assert_eq!(fine_time(0.1), "0.1");
        assert_eq!(quoted("a\"\\\n"), "\"a\\\"\\\\\\u000A\"");
    }
}
