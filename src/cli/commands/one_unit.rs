//! Lengths of time for the cells of a table: all in one unit and with as many decimals, so that they can be
//! compared at a glance and still add up. Not single ones (see [`crate::picture::exact`]).

use crate::time::TimeScale;

/// How the lengths of a table are written: exactly, `0.942631 ms`.
#[derive(Debug, Clone, Copy)]
pub(super) struct OneUnit {
    unit: TimeScale,
    /// Ticks in the unit.
    per_unit: u64,
    /// Ticks in one of the last decimal place.
    per_place: u64,
    places: u32,
}

impl OneUnit {
    /// The greatest unit in which the longest of them is at least 1, and the decimal places that the finest
    /// needs. All in ticks of `scale`.
    pub fn of(all: impl IntoIterator<Item = i64>, scale: TimeScale) -> Self {
        let all: Vec<u64> = all.into_iter().map(i64::unsigned_abs).collect();
        let longest = all.iter().copied().max().unwrap_or(0);
        let digits = |unit: TimeScale| scale.decimals().saturating_sub(unit.decimals());
        let units = TimeScale::ALL.into_iter().filter(|unit| *unit >= scale);
        let unit = units.filter(|unit| longest >= 10_u64.pow(digits(*unit))).max().unwrap_or(scale);
        let digits = digits(unit);
        let suffice =
            |places: &u32| all.iter().all(|ticks| ticks.is_multiple_of(10_u64.pow(digits - places)));
        let places = (0..digits).find(suffice).unwrap_or(digits);
        Self { unit, per_unit: 10_u64.pow(digits), per_place: 10_u64.pow(digits - places), places }
    }

    /// A length, in ticks: one of those, or a sum of some of them.
    pub fn text(self, ticks: i64) -> String {
        let Self { unit, per_unit, per_place, places } = self;
        let sign = if ticks < 0 { "-" } else { "" };
        let (whole, rest) = (ticks.unsigned_abs() / per_unit, ticks.unsigned_abs() % per_unit);
        match places as usize {
            0 => format!("{sign}{whole} {unit}"),
            places => format!("{sign}{whole}.{:0places$} {unit}", rest / per_place),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_in_the_unit_of_the_longest_with_the_decimals_of_the_finest() {
        let texts = |all: &[i64], scale| {
            let unit = OneUnit::of(all.iter().copied(), scale);
            all.iter().map(|ticks| unit.text(*ticks)).collect::<Vec<_>>().join(", ")
        };
        assert_eq!(texts(&[1_162_950, 942_630, 240], TimeScale::Ns), "1.16295 ms, 0.94263 ms, 0.00024 ms");
        assert_eq!(texts(&[-44_568, 0, 420], TimeScale::Ns), "-44.568 us, 0.000 us, 0.420 us");
        assert_eq!(texts(&[2_000_000, 500_000], TimeScale::Ns), "2.0 ms, 0.5 ms");
        assert_eq!(texts(&[100, 50], TimeScale::Ns), "100 ns, 50 ns");
        assert_eq!(texts(&[12_345_678_901], TimeScale::Ps), "12.345678901 ms");
        assert_eq!(texts(&[i64::MIN], TimeScale::S), "-9223372036854775808 s");
        assert_eq!(texts(&[], TimeScale::Ns), "");
    }
}
