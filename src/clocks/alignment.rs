//! A clock in terms of the reference clock: what is claimed, and how far off it can be. Not which messages
//! say so (see `messages`).

use super::band::{Assumed, band};
use super::points::{Limit, Limits, Origin, Point, Points};
use super::rates::{Rates, clash, proven_wander};
use crate::error::{Error, ErrorKind, Result};
use crate::words::words;

/// A clock whose rate would wander more than this contradicts itself: a message of another key, a clock that
/// was set. The crystals of control units change by some 10 ppm over their whole range of temperature.
const MOST_WANDER: f64 = 100e-6;
/// No clock of a control unit is that much faster or slower: it counts another unit of time.
const MOST_RATE: f64 = 0.1;
/// With more refused messages than this, or one in twenty, it is not known which are right.
const MOST_REFUSED: usize = 256;
/// Most rows of a bound. One with more times is coarser.
const MOST_BOUNDS: usize = 1 << 16;
/// A bound is no wider than this part of it more than what is known, as its rows hold until the next one.
const COARSE: f64 = 1.0 / 16.0;
/// Ticks between the knots of a line, at least: their rounding must not change its slope.
const LONG: i64 = 1 << 40;

words! {
    /// How a clock follows from the reference.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Model {
        /// It is the reference.
        Reference = "reference",
        /// By an offset and a drift that were given.
        Given = "given",
        /// By one line, which agrees with all messages.
        Line = "line",
        /// By pieces of lines: no line agrees with all messages.
        Pieces = "pieces",
    }
}

/// From a time on, until that of the next bound, the true time is between the aligned one less `early` and
/// the aligned one plus `late`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bound {
    /// Aligned time, in ticks.
    pub from: i64,
    /// What the clock showed then, as it is claimed.
    pub local: i64,
    /// In ticks.
    pub early: i64,
    /// In ticks.
    pub late: i64,
}

/// What is known of a clock. Times are ticks, and rates are ticks by which a clock advances more than the
/// reference, per tick of the reference.
#[derive(Debug, Clone)]
pub struct Alignment {
    /// How the rest was found.
    pub model: Model,
    /// Pairs of a time of the reference and one of the clock, both rising. Straight between them.
    knots: Vec<(i64, i64)>,
    /// What holds from the first one on; what is before it is further off.
    bounds: Vec<Bound>,
    /// The claimed rate: of the line, or the mean of the pieces.
    pub rate: f64,
    /// The rates that are possible, wander included.
    pub rates: (f64, f64),
    /// How much the rate may differ from its mean: what was assumed, or more, if messages prove it.
    pub wander: f64,
    /// How much it does differ at least, or messages would contradict each other.
    pub proven_wander: f64,
}

impl Alignment {
    /// The reference clock itself.
    pub fn reference(begin: i64) -> Self {
        let bounds = vec![Bound { from: begin, local: begin, early: 0, late: 0 }];
        let knots = vec![(0, 0), (LONG, LONG)];
        let model = Model::Reference;
        Self { model, knots, bounds, rate: 0.0, rates: (0.0, 0.0), wander: 0.0, proven_wander: 0.0 }
    }

    /// A clock that is given: it shows `offset` at time 0 of the reference, advances by `rate` more than it,
    /// and is off by `error` at most. `begin` is the first time that it showed.
    pub fn given(offset: i64, rate: f64, error: i64, begin: i64) -> Result<Self> {
        let end = offset.checked_add(LONG).and_then(|t| t.checked_add((LONG as f64 * rate).round() as i64));
        let Some(end) = end.filter(|_| rate.abs() < 0.5) else {
            return Err(Error::usage("a clock is not that far off"));
        };
        let knots = vec![(0, offset), (LONG, end)];
        let model = Model::Given;
        let mut given =
            Self { model, knots, bounds: vec![], rate, rates: (rate, rate), wander: 0.0, proven_wander: 0.0 };
        let from = given.aligned(begin);
        given.bounds.push(Bound { from, local: begin, early: error, late: error });
        Ok(given)
    }

    /// The clock that agrees with messages, except for some that it contradicts, which are returned: what
    /// they say cannot be, because the clock would have wandered by more than clocks do. `wander` is assumed;
    /// `span` is the first and the last time that the clock showed.
    ///
    /// # Errors
    /// If the messages do not say how fast the clock can be and how slow, or contradict each other.
    pub fn fitted(mut limits: Limits, wander: f64, span: (i64, i64)) -> Result<(Self, Vec<Limit>)> {
        let origin = match limits.at_most.first().or(limits.at_least.first()) {
            Some(first) => Origin { reference: first.reference, local: first.local },
            None => return Err(undetermined((0, 0))),
        };
        let counts = (limits.at_most.len(), limits.at_least.len());
        let undetermined = || undetermined(counts);
        let mut refused = Vec::new();
        let enough = MOST_REFUSED.min(8 + (limits.at_most.len() + limits.at_least.len()) / 20);
        let (points, rates, proven) = loop {
            let points = origin.points(&limits, |limit| limit.reference)?;
            let rates = Rates::of(&points);
            let proven = proven_wander(&points, &rates);
            if proven <= MOST_WANDER {
                break (points, rates, proven);
            }
            if refused.len() == enough {
                return Err(Error::new(ErrorKind::Input, "the messages contradict each other").hint(
                    "are the keys of messages unique? was a clock set? do both sides mean the same message?",
                ));
            }
            refused.push(without_worst(&mut limits, origin, &points, &rates)?);
        };
        let wander = if wander >= proven { wander } else { 2.0 * proven };
        let sure = origin.points(&limits, |limit| limit.sure)?;
        let assumed = Assumed::of(&Rates::of(&sure), wander).ok_or_else(undetermined)?;
        let (Some(steepest), Some(flattest)) = (rates.steepest, rates.flattest) else {
            return Err(undetermined());
        };
        let rate = steepest.slope().midpoint(flattest.slope());
        if rate.abs() > MOST_RATE {
            return Err(Error::input(format!(
                "the clock would be {:.3} times as fast as the reference",
                1.0 + rate
            ))
            .hint("is the unit of its times right? are the messages the same on both sides?"));
        }
        if assumed.slopes().1 - assumed.slopes().0 > 2.0 * MOST_RATE {
            return Err(undetermined());
        }
        let (first, last) =
            (origin.point(origin.reference, span.0)?.ahead, origin.point(origin.reference, span.1)?.ahead);
        let mut times = points.times();
        // The begin and the end, in terms of the reference.
        times.extend([first, last].map(|local| (local as f64 / (1.0 + rate)) as i64));
        times.sort_unstable();
        times.dedup();
        let (from, to) = (times.first().copied().unwrap_or(0), times.last().copied().unwrap_or(0));
        let line = |at: i64| steepest.at(at).midpoint(flattest.at(at)).round() as i64;
        let knots = [from, to.max(from.saturating_add(LONG))].map(|at| (at, line(at)));
        let mut own = Self {
            model: Model::Line,
            knots: knots.iter().filter_map(|knot| origin.knot(*knot)).collect(),
            bounds: Vec::new(),
            rate,
            rates: assumed.slopes(),
            wander,
            proven_wander: proven,
        };
        if proven > 0.0 || !own.agrees(&limits) {
            own.model = Model::Pieces;
            own.knots = pieces(&points, rate, wander, &times, origin);
        }
        for local in [span.0, span.1] {
            times.push(origin.point(own.aligned(local), local)?.at);
        }
        times.sort_unstable();
        times.dedup();
        own.bounds = own.bounds_of(&sure, assumed, times, origin)?;
        Ok((own, refused))
    }

    /// The aligned time of a time of the clock, rounded. Keeps the order of times.
    pub fn aligned(&self, local: i64) -> i64 {
        between(&self.knots, local, |knot| (knot.1, knot.0))
    }

    /// The time of the clock at a time of the reference, rounded.
    fn local(&self, reference: i64) -> i64 {
        between(&self.knots, reference, |knot| knot)
    }

    /// Rows of the bound, in the order of time.
    pub fn bounds(&self) -> &[Bound] {
        &self.bounds
    }

    /// The bound at an aligned time. Before the first bound it is that of the first.
    pub fn bound(&self, aligned: i64) -> Bound {
        let behind = self.bounds.partition_point(|bound| bound.from <= aligned);
        let bound = self.bounds.get(behind.saturating_sub(1)).or(self.bounds.last()).copied();
        bound.unwrap_or(Bound { from: aligned, local: aligned, early: i64::MAX, late: i64::MAX })
    }

    /// Whether every effect is behind its cause, or at the same time.
    fn agrees(&self, limits: &Limits) -> bool {
        limits.at_most.iter().all(|l| self.aligned(l.local) >= l.reference)
            && limits.at_least.iter().all(|l| self.aligned(l.local) <= l.reference)
    }

    /// The band about the claimed times, as bounds.
    fn bounds_of(
        &self,
        points: &Points,
        assumed: Assumed,
        mut times: Vec<i64>,
        origin: Origin,
    ) -> Result<Vec<Bound>> {
        if times.len() > MOST_BOUNDS / 2 {
            let step = times.len().div_ceil(MOST_BOUNDS / 2);
            let last = times.last().copied();
            times = times.into_iter().step_by(step).chain(last).collect();
            times.dedup();
        }
        let slopes = assumed.slopes();
        // How fast the band and the claimed time can part, per tick.
        let apart = slopes.1 - slopes.0;
        let margins = |times: &[i64]| -> Result<Vec<(f64, f64)>> {
            let band = band(points, assumed, times);
            let margins = times.iter().zip(band).map(|(at, (least, most))| {
                let reference = origin.reference.saturating_add(*at);
                let claimed = origin.point(reference, self.local(reference))?.ahead as f64;
                Ok(((most - claimed).max(0.0), (claimed - least).max(0.0)))
            });
            margins.collect()
        };
        let coarse = margins(&times)?;
        let mut fine = Vec::with_capacity(times.len());
        for (n, (at, margin)) in times.iter().zip(&coarse).enumerate() {
            fine.push(*at);
            let Some(next) = times.get(n + 1) else { break };
            let width = (margin.0 + margin.1).max(1.0);
            let parts = (apart * (next - at) as f64 / (2.0 * COARSE * width)).ceil().clamp(1.0, 16.0) as i64;
            fine.extend((1..parts).map(|part| at + (next - at) / parts * part));
        }
        fine.dedup();
        let margins = margins(&fine)?;
        let least_rise = 1.0 + slopes.0 - apart;
        // One more, because times are rounded.
        let ticks = |margin: f64| (margin / least_rise).ceil().min(i64::MAX as f64 / 4.0) as i64 + 1;
        let bound = |(n, at): (usize, &i64)| {
            let here = margins.get(n).copied().unwrap_or_default();
            let next = margins.get(n + 1).copied().unwrap_or(here);
            let between = fine.get(n + 1).map_or(0.0, |next| apart * (next - at) as f64);
            let most = |a: f64, b: f64| ticks((a + b + between) / 2.0);
            let from = origin.reference.saturating_add(*at);
            let (early, late) = (most(here.0, next.0), most(here.1, next.1));
            Bound { from, local: self.local(from), early, late }
        };
        Ok(fine.iter().enumerate().map(bound).collect())
    }
}

impl Origin {
    fn knot(self, (at, ahead): (i64, i64)) -> Option<(i64, i64)> {
        let reference = self.reference.checked_add(at)?;
        Some((reference, self.local.checked_add(at)?.checked_add(ahead)?))
    }
}

/// `counts`: the messages that a clock received, and that it sent.
fn undetermined(counts: (usize, usize)) -> Error {
    let (received, sent) = counts;
    let message = format!(
        "the messages do not say how fast the clock can be, and how slow: it received {received} from clocks that are \
         known, and sent them {sent}"
    );
    Error::new(ErrorKind::Input, message)
        .hint("there must be several in both directions, over some time; or give offset, drift_ppm and error")
}

/// Takes the limit away without which the rest contradicts itself least, of those that contradict each other.
fn without_worst(limits: &mut Limits, origin: Origin, points: &Points, rates: &Rates) -> Result<Limit> {
    let lines = [rates.steepest, rates.flattest].into_iter().flatten();
    let clash = clash(points).map(|(most, least)| [most, least]);
    let suspects: Vec<_> =
        lines.flat_map(|line| [line.0, line.1]).chain(clash.into_iter().flatten()).collect();
    let mut best: Option<(f64, Limits, Limit)> = None;
    for is_most in [true, false] {
        let all = if is_most { &limits.at_most } else { &limits.at_least };
        for (n, limit) in all.iter().enumerate() {
            if !suspects.contains(&origin.point(limit.reference, limit.local)?) {
                continue;
            }
            let mut rest = limits.clone();
            if is_most {
                rest.at_most.remove(n)
            } else {
                rest.at_least.remove(n)
            };
            let points = origin.points(&rest, |limit| limit.reference)?;
            let proven = proven_wander(&points, &Rates::of(&points));
            if best.as_ref().is_none_or(|(least, ..)| proven < *least) {
                best = Some((proven, rest, *limit));
            }
        }
    }
    let (_, rest, limit) =
        best.ok_or_else(|| Error::new(ErrorKind::Bug, "no message contradicts another"))?;
    *limits = rest;
    Ok(limit)
}

/// A curve in the middle of what is possible with one rate, straight between `times`.
fn pieces(points: &Points, rate: f64, wander: f64, times: &[i64], origin: Origin) -> Vec<(i64, i64)> {
    let negated = points.negated();
    let highest = least_with(&points.at_most, rate, wander, times);
    let lowest = least_with(&negated.at_most, -rate, wander, times);
    let mut own = [points.at_most.iter().peekable(), points.at_least.iter().peekable()];
    let mut knots: Vec<(i64, i64)> = Vec::with_capacity(times.len());
    for ((at, high), low) in times.iter().zip(highest).zip(lowest) {
        let mut ahead = high.midpoint(-low).round() as i64;
        // Rounded so that it agrees with the points of this time.
        for (side, points) in own.iter_mut().enumerate() {
            while let Some(point) = points.next_if(|point| point.at <= *at) {
                ahead = if side == 0 { ahead.min(point.ahead) } else { ahead.max(point.ahead) };
            }
        }
        let Some(knot) = origin.knot((*at, ahead)) else { continue };
        if knots.last().is_none_or(|last| last.1 < knot.1) {
            knots.push(knot);
        }
    }
    if let [only] = knots.as_slice() {
        let next = (only.0.saturating_add(LONG), only.1.saturating_add(LONG));
        knots.push(next);
    }
    knots
}

/// The greatest value at each of `times` below all points, with a rate that is known.
fn least_with(points: &[Point], rate: f64, wander: f64, times: &[i64]) -> Vec<f64> {
    let mut own = points.iter().peekable();
    let mut least: Vec<f64> = Vec::with_capacity(times.len());
    let (mut before, mut last) = (f64::INFINITY, 0);
    for at in times {
        before += (rate + wander) * (at - last) as f64;
        while let Some(point) = own.next_if(|point| point.at <= *at) {
            before = before.min(point.line(rate + wander, *at));
        }
        least.push(before);
        last = *at;
    }
    let mut behind = f64::INFINITY;
    for (at, least) in times.iter().zip(&mut least).rev() {
        behind -= (rate - wander) * (last - at) as f64;
        behind = behind.min(*least);
        *least = behind;
        last = *at;
    }
    least
}

/// The value at `x` of the straight pieces between knots, rounded; beyond them, the outer pieces go on.
fn between(knots: &[(i64, i64)], x: i64, of: impl Fn((i64, i64)) -> (i64, i64)) -> i64 {
    let behind = knots.partition_point(|knot| of(*knot).0 <= x);
    let first = behind.saturating_sub(1).min(knots.len().saturating_sub(2));
    let Some([a, b]) = knots.get(first..first + 2) else { return x };
    let ((x0, y0), (x1, y1)) = (of(*a), of(*b));
    let part = (i128::from(x) - i128::from(x0)) * (i128::from(y1) - i128::from(y0));
    let run = i128::from(x1) - i128::from(x0);
    let up = i128::from(part.rem_euclid(run) >= run - run / 2);
    let y = i128::from(y0) + part.div_euclid(run) + up;
    i64::try_from(y).unwrap_or(if y < 0 { i64::MIN } else { i64::MAX })
}
