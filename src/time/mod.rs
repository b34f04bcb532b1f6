//! Ticks and time scales: reading, converting and showing them exactly. No floating point anywhere, and no
//! calendar time: an instant is a count of ticks since the origin of its trace.

#[cfg(feature = "engine")]
mod windows;

#[cfg(feature = "engine")]
pub use windows::TimeWindows;
#[cfg(feature = "engine")]
pub(crate) use windows::{available, united};

use std::fmt;

/// The length of one tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TimeScale {
    /// Picoseconds.
    Ps,
    /// Nanoseconds.
    Ns,
    /// Microseconds.
    Us,
    /// Milliseconds.
    Ms,
    /// Seconds.
    S,
}

impl TimeScale {
    /// All scales, finest first.
    pub(crate) const ALL: [Self; 5] = [Self::Ps, Self::Ns, Self::Us, Self::Ms, Self::S];

    /// What to do when the times of an input do not fit 64 bits of this scale.
    pub(crate) fn hint_if_too_fine(self) -> &'static str {
        match self {
            Self::Ps => "nothing was written; use another database, which counts in ns: --time-scale ns",
            // Databases count in ps or ns.
            _ => {
                "nothing was written; no database counts in more than ns: is the unit of the trace the right one?"
            }
        }
    }

    /// The symbol of the unit in ASCII: `ps`, `ns`, `us`, `ms`, `s`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ps => "ps",
            Self::Ns => "ns",
            Self::Us => "us",
            Self::Ms => "ms",
            Self::S => "s",
        }
    }

    /// Reads the symbol of a unit. Both Unicode spellings of micro are accepted as well as `us`.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "µs" | "μs" => Some(Self::Us),
            _ => Self::ALL.into_iter().find(|scale| scale.as_str() == text),
        }
    }

    /// Ticks in one second.
    pub fn per_second(self) -> i64 {
        10i64.pow(self.decimals())
    }

    /// Decimal places of a second that this scale can show.
    pub(crate) fn decimals(self) -> u32 {
        match self {
            Self::Ps => 12,
            Self::Ns => 9,
            Self::Us => 6,
            Self::Ms => 3,
            Self::S => 0,
        }
    }
}

impl fmt::Display for TimeScale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A count of ticks, and whether it had to be rounded (to the nearest, ties to even).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rounded {
    /// The ticks.
    pub ticks: i64,
    /// True when digits finer than a tick were lost.
    pub inexact: bool,
}

/// Why a text cannot be read as ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotTicks {
    /// Not a decimal number.
    Garbage,
    /// A decimal number that does not fit 64 bits in the wanted scale.
    Overflow,
}

/// Reads a decimal number of `unit`s (sign, any number of digits, the decimal `point`) as ticks of `scale`.
/// No exponent, no blanks: `0.0004372600` seconds are 437260 ns.
///
/// # Errors
/// See [`NotTicks`].
pub fn read_decimal(text: &[u8], point: u8, unit: TimeScale, scale: TimeScale) -> Result<Rounded, NotTicks> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    let mut parts = digits.splitn(2, |&b| b == point);
    let whole = parts.next().unwrap_or_default();
    let fraction = parts.next().unwrap_or_default();
    if whole.len() + fraction.len() == 0 || !whole.iter().chain(fraction).all(u8::is_ascii_digit) {
        return Err(NotTicks::Garbage);
    }
    // Digits before `border` count ticks, digits after it are finer than a tick.
    let border = whole.len() as i64 + i64::from(scale.decimals()) - i64::from(unit.decimals());
    let mut ticks = 0u64;
    let mut half = 0u8;
    let mut rest = false;
    for (digit, at) in whole.iter().chain(fraction).map(|b| b - b'0').zip(0i64..) {
        if at < border {
            ticks = append_digit(ticks, digit)?;
        } else if at == border {
            half = digit;
        } else {
            rest |= digit != 0;
        }
    }
    // At most 12 zeros beyond the last digit, because scales are at most 10^12 apart.
    for _ in (whole.len() + fraction.len()) as i64..border {
        ticks = append_digit(ticks, 0)?;
    }
    if half > 5 || half == 5 && (rest || ticks % 2 == 1) {
        ticks = ticks.checked_add(1).ok_or(NotTicks::Overflow)?;
    }
    let signed = with_sign(ticks, negative).ok_or(NotTicks::Overflow)?;
    Ok(Rounded { ticks: signed, inexact: half != 0 || rest })
}

fn append_digit(number: u64, digit: u8) -> Result<u64, NotTicks> {
    let shifted = number.checked_mul(10).ok_or(NotTicks::Overflow)?;
    shifted.checked_add(u64::from(digit)).ok_or(NotTicks::Overflow)
}

/// The signed value of a magnitude; `None` when it does not fit.
pub(crate) fn with_sign(magnitude: u64, negative: bool) -> Option<i64> {
    if negative { 0i64.checked_sub_unsigned(magnitude) } else { i64::try_from(magnitude).ok() }
}

/// `number / divisor` rounded to the nearest, ties to even, and whether that lost anything. `divisor` > 0.
pub(crate) fn divide_half_even(number: u64, divisor: u64) -> (u64, bool) {
    let (quotient, remainder) = (number / divisor, number % divisor);
    let other_half = divisor - remainder;
    let up = remainder > other_half || remainder == other_half && quotient % 2 == 1;
    (quotient + u64::from(up), remainder != 0)
}

/// A whole number of `unit`s in ticks of `scale`, rounded half to even; `None` if it does not fit 64 bits.
pub(crate) fn convert(number: i64, unit: TimeScale, scale: TimeScale) -> Option<Rounded> {
    let (unit, scale) = (unit.decimals(), scale.decimals());
    let power = 10i64.pow(unit.abs_diff(scale));
    if unit <= scale {
        return Some(Rounded { ticks: number.checked_mul(power)?, inexact: false });
    }
    let (ticks, inexact) = divide_half_even(number.unsigned_abs(), power.unsigned_abs());
    Some(Rounded { ticks: with_sign(ticks, number < 0)?, inexact })
}

/// Why a window from an instant to before another one has no instant, if it has none.
pub(crate) fn check_order(from: Option<i64>, to: Option<i64>) -> Result<(), &'static str> {
    match from.zip(to) {
        Some((from, to)) if from > to => Err("--from is later than --to"),
        Some((from, to)) if from == to => Err("the window is empty: --from is not earlier than --to"),
        _ => Ok(()),
    }
}

/// Reads a time from the command line or a description: `412ms`, `1.5us`, `250 ns`, `-3s`, or a whole number
/// of ticks of `scale`. It must be a whole number of ticks; otherwise the `Err` is a sentence that says what
/// is wrong with it.
pub fn parse_time_argument(text: &str, scale: TimeScale) -> Result<i64, String> {
    let text = text.trim();
    let number = text.trim_end_matches(char::is_alphabetic);
    let unit_text = text.strip_prefix(number).unwrap_or_default();
    let number = number.trim_end();
    let unit = if unit_text.is_empty() {
        if number.contains('.') {
            return Err(format!(
                "'{text}' has no unit; write for example '{text}ms', or a whole number of {scale}"
            ));
        }
        scale
    } else {
        TimeScale::parse(unit_text)
            .ok_or_else(|| format!("'{text}' has an unknown unit '{unit_text}'; use ps, ns, us, ms or s"))?
    };
    match read_decimal(number.as_bytes(), b'.', unit, scale) {
        Ok(Rounded { ticks, inexact: false }) => Ok(ticks),
        Ok(_) => Err(format!("'{text}' is no whole number of {scale}, the time scale in use")),
        Err(NotTicks::Overflow) => Err(format!("'{text}' does not fit 64 bits of {scale}")),
        Err(NotTicks::Garbage) => {
            Err(format!("'{text}' is no time; write for example 412ms, 1.5us, or a whole number of {scale}"))
        }
    }
}

/// A duration as text for people: in the largest unit of which it has at least one, with up to six
/// significant digits, rounded half-even: `3.025 ms`, `-12 ns`, `99.0011 ms`. Digits before the decimal point
/// are never rounded away, so hours stay exact to the second. Not for files: [`parse_time_argument`] may read
/// back less.
pub fn format_duration(ticks: i64, scale: TimeScale) -> String {
    const SIGNIFICANT: u32 = 6;
    let magnitude = u128::from(ticks.unsigned_abs());
    let sign = if ticks < 0 { "-" } else { "" };
    for unit in TimeScale::ALL.into_iter().rev().filter(|unit| *unit >= scale) {
        let per_unit = 10u128.pow(scale.decimals() - unit.decimals());
        let whole_digits = match magnitude / per_unit {
            // Rounding 999.9996 us gives 1000 us, which is 1 ms: let it through to the unit it rounds to.
            0 if (magnitude + per_unit / 2_000_000) / per_unit == 0 => continue,
            whole => whole.max(1).ilog10() + 1,
        };
        let places = SIGNIFICANT.saturating_sub(whole_digits);
        let scaled = divide_half_even_wide(magnitude * 10u128.pow(places), per_unit);
        let power = 10u128.pow(places);
        let fraction = format!("{:0width$}", scaled % power, width = places as usize);
        let fraction = if places == 0 { "" } else { fraction.trim_end_matches('0') };
        let point = if fraction.is_empty() { "" } else { "." };
        return format!("{sign}{}{point}{fraction} {unit}", scaled / power);
    }
    format!("0 {scale}")
}

/// [`divide_half_even`] of wider numbers. `divisor` > 0.
pub(crate) fn divide_half_even_wide(number: u128, divisor: u128) -> u128 {
    let (quotient, remainder) = (number / divisor, number % divisor);
    let other_half = divisor - remainder;
    quotient + u128::from(remainder > other_half || remainder == other_half && quotient % 2 == 1)
}

#[cfg(test)]
mod tests {
    use super::TimeScale::{Ms, Ns, Ps, S, Us};
    use super::*;
    use proptest::prelude::*;

    fn ticks(text: &str, unit: TimeScale, scale: TimeScale) -> Option<(i64, bool)> {
        read_decimal(text.as_bytes(), b'.', unit, scale).ok().map(|r| (r.ticks, r.inexact))
    }

    #[test]
    fn whole_numbers_are_converted_between_all_scales() {
        let convert = |number, unit, scale| convert(number, unit, scale).map(|r| (r.ticks, r.inexact));
        assert_eq!(convert(-5, S, Ps), Some((-5_000_000_000_000, false)));
        assert_eq!(convert(1500, Ns, Us), Some((2, true)));
        assert_eq!(convert(-2500, Ns, Us), Some((-2, true)));
        assert_eq!(convert(i64::MIN, Ns, Ns), Some((i64::MIN, false)));
        assert_eq!((convert(i64::MAX, Ns, Ps), convert(i64::MAX, Ps, S)), (None, Some((9_223_372, true))));
    }

    #[test]
    fn seconds_become_ticks_exactly() {
        assert_eq!(ticks("0.0004372600", S, Ns), Some((437_260, false)));
        assert_eq!(ticks("-0.0004372600", S, Ns), Some((-437_260, false)));
        assert_eq!(ticks("+12.5", Us, Ns), Some((12_500, false)));
        assert_eq!(ticks("0.0000000001", S, Ps), Some((100, false)));
        assert_eq!(ticks("1500", Ns, Us), Some((2, true)));
        assert_eq!(ticks("5", Ps, S), Some((0, true)));
        assert_eq!(ticks(".5", S, Ms), Some((500, false)));
        assert_eq!(ticks("5.", S, S), Some((5, false)));
    }

    #[test]
    fn ties_round_to_even() {
        for (text, expected) in
            [("0.5", 0), ("1.5", 2), ("2.5", 2), ("2.50000000001", 3), ("-1.5", -2), ("-0.5", 0)]
        {
            assert_eq!(ticks(text, Ns, Ns), Some((expected, true)), "{text}");
        }
    }

    #[test]
    fn the_borders_of_64_bits_hold() {
        assert_eq!(ticks("9223372036.854775807", S, Ns), Some((i64::MAX, false)));
        assert_eq!(ticks("-9223372036.854775808", S, Ns), Some((i64::MIN, false)));
        assert_eq!(ticks("9223372036.854775808", S, Ns), None);
        assert_eq!(ticks("9223372036.8547758075", S, Ns), None);
        assert_eq!(read_decimal(&[b'9'; 5000], b'.', S, Ns), Err(NotTicks::Overflow));
    }

    #[test]
    fn garbage_is_no_number() {
        for text in ["", "+", "-", ".", "1e3", "1.2.3", " 1", "0x1", "--1", "1,5", "１"] {
            assert_eq!(ticks(text, S, Ns), None, "{text}");
        }
    }

    #[test]
    fn arguments_must_be_exact() {
        assert_eq!(parse_time_argument("412ms", Ns), Ok(412_000_000));
        assert_eq!(parse_time_argument(" 1.5 µs ", Ns), Ok(1500));
        assert_eq!(parse_time_argument("-3s", Us), Ok(-3_000_000));
        assert_eq!(parse_time_argument("42", Ns), Ok(42));
        for (text, word) in [
            ("1.5ns", "whole number"),
            ("1.5", "no unit"),
            ("3 parsec", "unknown unit"),
            ("9999999999999s", "64 bits"),
            ("soon", "unknown unit"),
            ("1..2s", "no time"),
            ("", "no time"),
        ] {
            let error = parse_time_argument(text, Ns).unwrap_err();
            assert!(error.contains(word), "{text}: {error}");
        }
    }

    #[test]
    fn durations_read_well() {
        for (value, scale, expected) in [
            (3_025_000, Ns, "3.025 ms"),
            (-12, Ns, "-12 ns"),
            (0, Ns, "0 ns"),
            (99_001_081, Ns, "99.0011 ms"),
            (999_999_999, Ns, "1 s"),
            (999_999_499, Ns, "999.999 ms"),
            (999_999, Ps, "999.999 ns"),
            (86_400_000_000_001, Ns, "86400 s"),
            (1_234_567_500_000_000, Ns, "1234568 s"),
            (1, Ps, "1 ps"),
            (1500, S, "1500 s"),
        ] {
            assert_eq!(format_duration(value, scale), expected);
        }
    }

    #[test]
    fn names_of_scales_read_back() {
        for scale in TimeScale::ALL {
            assert_eq!(TimeScale::parse(scale.as_str()), Some(scale));
        }
        assert_eq!(TimeScale::parse("min"), None);
        assert_eq!(Ns.per_second(), 1_000_000_000);
        assert_eq!(format!("{Us:>3}"), " us");
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(text: Vec<u8>, point: u8) {
            let _ = read_decimal(&text, point, S, Ns);
            let _ = parse_time_argument(&String::from_utf8_lossy(&text), Ps);
        }

        #[test]
        fn integers_survive(value: i64) {
            prop_assert_eq!(ticks(&value.to_string(), Us, Us), Some((value, false)));
            prop_assert!(!format_duration(value, Ps).is_empty());
        }

        #[test]
        fn both_roundings_agree(value: i64) {
            let (magnitude, inexact) = divide_half_even(value.unsigned_abs(), 1_000_000);
            let rounded = with_sign(magnitude, value < 0).map(|ticks| (ticks, inexact));
            prop_assert_eq!(ticks(&value.to_string(), Ps, Us), rounded);
        }

        #[test]
        fn shown_durations_are_near(value in -1_000_000_000_000_000i64..1_000_000_000_000_000) {
            let shown = format_duration(value, Ns).replace(' ', "");
            let back = parse_time_argument(&shown, Ns).unwrap();
            prop_assert!((back - value).unsigned_abs() <= value.unsigned_abs() / 100_000 + 1);
        }
    }
}
