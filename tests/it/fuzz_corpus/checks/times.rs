//! Promises of the exact times: whatever the text, the ticks are those of a plain calculation with wide
//! integers.

use btfdb::internals::{Rounded, read_decimal};
use btfdb::{TimeScale, format_duration, parse_time_argument};

const SCALES: [TimeScale; 5] = [TimeScale::Ps, TimeScale::Ns, TimeScale::Us, TimeScale::Ms, TimeScale::S];

/// A text means the same ticks as by the reference, in every unit and scale, as a cell and as an argument.
pub fn times(data: &[u8]) {
    for scale in SCALES {
        for unit in SCALES {
            let found = ticks(data, unit, scale);
            match reference(data, unit, scale) {
                Known::Ticks(expected) => assert_eq!(found, expected, "{unit} in {scale}"),
                Known::TooLong => {}
            }
            if let Some(Rounded { ticks, .. }) = found {
                survives(ticks, scale);
            }
        }
        argument(&String::from_utf8_lossy(data), scale);
    }
}

fn ticks(text: &[u8], unit: TimeScale, scale: TimeScale) -> Option<Rounded> {
    read_decimal(text, b'.', unit, scale).ok()
}

/// What the reference can say.
enum Known {
    Ticks(Option<Rounded>),
    /// More digits than its integers have room for.
    TooLong,
}

/// The number as one fraction, divided once. Sign and digits N with f decimals are N * 10^scale / 10^(unit +
/// f) ticks.
fn reference(text: &[u8], unit: TimeScale, scale: TimeScale) -> Known {
    let (negative, digits) = match text.split_first() {
        Some((b'-', rest)) => (true, rest),
        Some((b'+', rest)) => (false, rest),
        _ => (false, text),
    };
    let point = digits.iter().position(|b| *b == b'.');
    let places = point.map_or(0, |at| digits.len() - at - 1);
    let number: Vec<u8> =
        digits.iter().enumerate().filter(|(at, _)| Some(*at) != point).map(|(_, b)| *b).collect();
    if number.is_empty() || !number.iter().all(u8::is_ascii_digit) {
        return Known::Ticks(None);
    }
    let significant = number.iter().skip_while(|b| **b == b'0').count();
    let divisor_digits = unit.per_second().ilog10() as usize + places;
    if significant > 25 || divisor_digits > 37 {
        return Known::TooLong;
    }
    let number = number.iter().fold(0u128, |n, digit| n * 10 + u128::from(digit - b'0'));
    let number = number * u128::from(scale.per_second().unsigned_abs());
    let divisor = 10u128.pow(divisor_digits as u32);
    let (whole, rest) = (number / divisor, number % divisor);
    let up = rest * 2 > divisor || (rest * 2 == divisor && whole % 2 == 1);
    let magnitude = i128::try_from(whole + u128::from(up)).unwrap_or(i128::MAX);
    let ticks = i64::try_from(if negative { -magnitude } else { magnitude });
    Known::Ticks(ticks.ok().map(|ticks| Rounded { ticks, inexact: rest != 0 }))
}

/// Ticks come back from their own text, and can be shown.
fn survives(number: i64, scale: TimeScale) {
    let text = number.to_string();
    assert_eq!(ticks(text.as_bytes(), scale, scale), Some(Rounded { ticks: number, inexact: false }));
    assert_eq!(parse_time_argument(&format!("{text}{scale}"), scale), Ok(number));
    assert!(!format_duration(number, scale).is_empty());
}

/// An argument is refused with a sentence, or is exactly the number and unit it spells.
fn argument(text: &str, scale: TimeScale) {
    let Ok(ticks) = parse_time_argument(text, scale) else { return };
    let number = text.trim().trim_end_matches(char::is_alphabetic);
    let unit = text.trim().strip_prefix(number).unwrap_or_default();
    let unit = if unit.is_empty() { Some(scale) } else { TimeScale::parse(unit) };
    assert!(unit.is_some(), "'{text}' has no known unit, but is {ticks} {scale}");
    let unit = unit.unwrap_or(scale);
    match reference(number.trim_end().as_bytes(), unit, scale) {
        Known::Ticks(expected) => assert_eq!(Some(Rounded { ticks, inexact: false }), expected, "{text}"),
        Known::TooLong => {}
    }
}
