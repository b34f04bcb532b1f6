//! The least and the greatest that a clock can have shown, whose rate wanders no more than assumed. Not what
//! is claimed it showed (see `alignment`).

use super::hull::Hull;
use super::points::{Point, Points};
use super::rates::Rates;

/// Halvings of an interval of rates. What is left of it is added to the band.
const HALVINGS: usize = 40;

/// What is assumed of a clock: that it rises by its mean rate, give or take its wander, per tick of the
/// reference. Rates are those by which it is faster than the reference.
#[derive(Debug, Clone, Copy)]
pub(super) struct Assumed {
    /// The least and greatest mean rate.
    pub rates: (f64, f64),
    pub wander: f64,
}

impl Assumed {
    /// All mean rates with which a clock of this wander can agree with the points; `None` if they do not
    /// bound them.
    pub fn of(rates: &Rates, wander: f64) -> Option<Self> {
        let (flattest, steepest) = (rates.flattest?.slope(), rates.steepest?.slope());
        Some(Self { rates: (flattest - wander, steepest + wander), wander })
    }

    /// The least and greatest slope at any time.
    pub fn slopes(self) -> (f64, f64) {
        (self.rates.0 - self.wander, self.rates.1 + self.wander)
    }

    fn negated(self) -> Self {
        Self { rates: (-self.rates.1, -self.rates.0), ..self }
    }
}

/// The least and the greatest value at each of `times`, which are in order. Exact but for rounding, which
/// makes them wider.
pub(super) fn band(points: &Points, assumed: Assumed, times: &[i64]) -> Vec<(f64, f64)> {
    let highest = highest(&points.at_most, assumed, times);
    let lowest = self::highest(&points.negated().at_most, assumed.negated(), times);
    lowest.into_iter().map(|low| -low).zip(highest).collect()
}

/// The greatest value at each time, below all `points`. For one mean rate it is the least of the lines that
/// leave the points at the fastest, so that the hull of the points on either side has the line. On the left
/// that line rises with the rate, on the right it falls: of all rates, the one counts where they meet.
fn highest(points: &[Point], assumed: Assumed, times: &[i64]) -> Vec<f64> {
    let (mut before, mut behind) = (Hull::default(), Hull::default());
    points.iter().rev().for_each(|point| behind.push(*point));
    let mut next = points.iter().peekable();
    let mut highest = Vec::with_capacity(times.len());
    for at in times {
        while let Some(point) = next.next_if(|point| point.at <= *at) {
            before.push(*point);
            behind.pop();
        }
        let line = |hull: &Hull, slope: f64| {
            hull.lowest(slope).map_or(f64::INFINITY, |point| point.line(slope, *at))
        };
        let rises = |rate: f64| line(&before, rate + assumed.wander);
        let falls = |rate: f64| line(&behind, rate - assumed.wander);
        let (mut from, mut to) = assumed.rates;
        for _ in 0..HALVINGS {
            let middle = from.midpoint(to);
            if rises(middle) < falls(middle) {
                from = middle;
            } else {
                to = middle;
            }
        }
        highest.push(rises(to).min(falls(from)));
    }
    highest
}
