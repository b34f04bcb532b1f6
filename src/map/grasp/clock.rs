//! Maps the clocks of several processors to one. Each message that one processor has sent and another
//! received (`syncSent`, `syncReceived`) is a point (time of the sender, time of the receiver), and the
//! least-squares line through them gives one time as a function of the other. Whole numbers only.
//!
//! All processors are compared with one, the reference: the one with the most messages, and the first one of
//! those. If all points have the same time, only the offset is known.

use super::Occurrence;
use std::collections::BTreeMap;

/// Maximum number of points per pair of processors.
const MAX_POINTS: usize = 1 << 20;

/// From the time of a processor to that of the reference:
/// `origin + offset + (t − origin) · (1 + rate / over)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Clock {
    origin: i64,
    offset: i64,
    rate: i128,
    over: i128,
}

impl Default for Clock {
    /// The clock of the reference.
    fn default() -> Self {
        Self { origin: 0, offset: 0, rate: 0, over: 1 }
    }
}

impl Clock {
    /// The time of the reference, rounded half away from zero to a tick. It is monotonic in `t`.
    pub fn at(&self, t: i64) -> i64 {
        let since = i128::from(t) - i128::from(self.origin);
        let drift = round(since.saturating_mul(self.rate), self.over);
        let time = i128::from(t) + i128::from(self.offset) + drift;
        i64::try_from(time).unwrap_or(if time < 0 { i64::MIN } else { i64::MAX })
    }

    /// Rule J14: the line through points (time of the processor, time of the reference).
    fn through(points: &[(i64, i64)]) -> Self {
        let count = points.len() as i128;
        let Some((origin, _)) = points.first().copied() else { return Self::default() };
        // Relative to the first point: numbers stay small. The line fits the difference of the clocks.
        let (mut x, mut y, mut xx, mut xy) = (0i128, 0i128, 0i128, 0i128);
        for (t, reference) in points {
            let (dx, dy) = (i128::from(*t) - i128::from(origin), i128::from(*reference) - i128::from(*t));
            x += dx;
            y += dy;
            xx = xx.saturating_add(dx.saturating_mul(dx));
            xy = xy.saturating_add(dx.saturating_mul(dy));
        }
        let over = count.saturating_mul(xx).saturating_sub(x.saturating_mul(x));
        let rate = count.saturating_mul(xy).saturating_sub(x.saturating_mul(y));
        // All at one time, or a clock that stands still or runs backwards: the rate is unknown.
        if over <= 0 || over.saturating_add(rate) <= 0 {
            let offset = i64::try_from(round(y, count)).unwrap_or(0);
            return Self { origin, offset, rate: 0, over: 1 };
        }
        let divisor = gcd(rate, over);
        let (rate, over) = (rate / divisor, over / divisor);
        // At the mean of the times, the line has the mean of the differences.
        let offset =
            round(y.saturating_mul(over).saturating_sub(x.saturating_mul(rate)), count.saturating_mul(over));
        Self { origin, offset: i64::try_from(offset).unwrap_or(0), rate, over }
    }
}

#[derive(Debug, Default)]
pub(super) struct Clocks {
    /// Messages that were sent and not received yet: by sender, receiver and message.
    sent: BTreeMap<(String, String, String), i64>,
    /// Messages that were received before they were sent: the receiver may be listed first.
    received: BTreeMap<(String, String, String), i64>,
    /// Times of both processors, by their names in order.
    points: BTreeMap<(String, String), Vec<(i64, i64)>>,
}

impl Clocks {
    /// Adds the messages of a command.
    pub fn occurrence(&mut self, o: &Occurrence<'_>) {
        let (Some(from), Some(to)) = (o.processor, o.target) else { return };
        let key = (from.to_owned(), to.to_owned(), o.message.unwrap_or_default().to_owned());
        let (own, other) = match o.event {
            "syncSent" => (&mut self.sent, &mut self.received),
            "syncReceived" => (&mut self.received, &mut self.sent),
            _ => return,
        };
        let Some(there) = other.remove(&key) else {
            if own.len() < MAX_POINTS {
                own.insert(key, o.effect_at);
            }
            return;
        };
        let (sent, received) =
            if o.event == "syncSent" { (o.effect_at, there) } else { (there, o.effect_at) };
        let (from, to, _) = key;
        let (key, point) =
            if from <= to { ((from, to), (sent, received)) } else { ((to, from), (received, sent)) };
        let points = self.points.entry(key).or_default();
        if points.len() < MAX_POINTS {
            points.push(point);
        }
    }

    /// The clocks of the processors that can be compared with the reference, without the reference.
    pub fn fit(&self) -> BTreeMap<String, Clock> {
        let mut ends: BTreeMap<&str, usize> = BTreeMap::new();
        for ((a, b), points) in &self.points {
            *ends.entry(a).or_default() += points.len();
            *ends.entry(b).or_default() += points.len();
        }
        let most = ends.values().copied().max();
        let Some(reference) = ends.iter().find(|(_, n)| Some(**n) == most).map(|(name, _)| *name) else {
            return BTreeMap::new();
        };
        let of = |((a, b), points): (&(String, String), &Vec<(i64, i64)>)| {
            if a == reference && b != reference {
                let turned: Vec<_> = points.iter().map(|(a, b)| (*b, *a)).collect();
                Some((b.clone(), Clock::through(&turned)))
            } else if b == reference && a != reference {
                Some((a.clone(), Clock::through(points)))
            } else {
                None
            }
        };
        self.points.iter().filter_map(of).collect()
    }
}

/// A quotient rounded half away from zero; `over` > 0.
fn round(number: i128, over: i128) -> i128 {
    let over = over.max(1);
    let (quotient, rest) = (number / over, number % over);
    let up = rest.unsigned_abs() >= over.unsigned_abs() - rest.unsigned_abs();
    if up { quotient + number.signum() } else { quotient }
}

fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i128::try_from(a).unwrap_or(1).max(1)
}
