//! The frame of a panel of a chart: where it is, and how its values are written. Not what is drawn in it (see
//! `chart` and `shares`).

use super::sheet::{Across, PX};
use crate::picture::{Content, Panel};
use crate::time::TimeScale;

/// Height of the plot area of most panels.
pub(super) const HEIGHT: i64 = 110 * PX;
/// That of panels of shares.
pub(super) const SHARES: i64 = 220 * PX;

/// A panel that is being drawn.
pub(super) struct Frame<'a> {
    pub panel: &'a Panel,
    pub scale: TimeScale,
    pub across: Across,
    pub top: i64,
}

/// Height of the plot area of a panel.
pub(super) fn height(content: &Content) -> i64 {
    match content {
        Content::Exceedance(_) | Content::Shares(_) => SHARES,
        Content::Histogram(_) | Content::Spread { .. } | Content::Steps { .. } => HEIGHT,
    }
}

impl Frame<'_> {
    pub fn bottom(&self) -> i64 {
        self.top + height(&self.panel.content)
    }

    /// A value as text.
    pub fn value(&self, value: f64) -> String {
        self.panel.measure.shown(value, self.scale)
    }
}

/// The least of 1, 2 or 5 times a power of ten that is not less than `value`.
pub(super) fn round_up(value: f64) -> f64 {
    if !(value > 0.0 && value.is_finite()) {
        return 1.0;
    }
    let power = 10f64.powi(value.log10().floor() as i32);
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|digit| digit * power)
        .find(|round| *round >= value)
        .unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_are_round() {
        let of = [0.0, f64::NAN, 1.0, 33.3, 50.0, 51.0, 0.3, 7e9].map(round_up);
        assert_eq!(of, [1.0, 1.0, 1.0, 50.0, 50.0, 100.0, 0.5, 1e10]);
    }
}
