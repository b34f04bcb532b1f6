//! Alignments against a naive computation, known truths, and simulated clocks.

use super::band::{Assumed, band};
use super::points::{Limit, Limits, Point, Points};
use super::rates::Rates;
use super::{Alignment, Model};
use crate::error::Result;
use proptest::prelude::*;

fn limit(reference: i64, local: i64) -> Limit {
    Limit { reference, sure: reference, local }
}

/// Numbers that look random, the same each time.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> i64 {
        (self.next() % n) as i64
    }
}

/// A clock whose truth is known.
struct Truth {
    offset: i64,
    rate: f64,
    wander: f64,
    period: f64,
    phase: f64,
}

impl Truth {
    fn local(&self, x: i64) -> f64 {
        let turn = std::f64::consts::TAU / self.period;
        let wandered = |x: f64| -self.wander / turn * (turn * x + self.phase).cos();
        x as f64 * (1.0 + self.rate) + wandered(x as f64) - wandered(0.0)
    }

    fn shows(&self, x: i64) -> i64 {
        self.offset + self.local(x).round() as i64
    }
}

#[test]
fn simulated_clocks_are_inside_the_bound_and_no_effect_is_before_its_cause() -> Result<()> {
    let (mut lines, mut pieces) = (0, 0);
    for seed in 0..100 {
        let mut dice = Dice(seed);
        // Drifts to 100 ppm, wanders to 2 ppm (every third clock has none), messages of 0.2 to 4 µs.
        let truth = Truth {
            offset: dice.below(2_000_000_000_000) - 1_000_000_000_000,
            rate: (dice.below(200_001) - 100_000) as f64 * 1e-9,
            wander: if seed % 3 == 0 { 0.0 } else { dice.below(2_000) as f64 * 1e-9 },
            period: 1e7 * (1 + dice.below(100)) as f64,
            phase: dice.below(628) as f64 / 100.0,
        };
        let mut limits = Limits::default();
        let (mut x, mut end) = (1000 + dice.below(1_000_000), 0);
        let count = 40 + dice.below(400);
        for _ in 0..count {
            x += 100_000 + dice.below(2_000_000);
            let latency = 200 + dice.below(3_800);
            // One in five is lost.
            if dice.below(5) == 0 {
                continue;
            }
            if dice.below(2) == 0 {
                limits.at_most.push(limit(x, truth.shows(x + latency)));
            } else {
                limits.at_least.push(limit(x + latency, truth.shows(x)));
            }
            end = x + latency;
        }
        let span = (truth.shows(0), truth.shows(end + 10_000_000));
        let (clock, refused) = Alignment::fitted(limits.clone(), 2e-6, span)?;
        assert!(refused.is_empty(), "seed {seed}");
        assert!(clock.wander < 2e-6 + 1e-12, "seed {seed}: {}", clock.wander);
        match clock.model {
            Model::Pieces => pieces += 1,
            _ => lines += 1,
        }
        for l in &limits.at_most {
            assert!(clock.aligned(l.local) >= l.reference, "seed {seed}: received before it was sent");
        }
        for l in &limits.at_least {
            assert!(clock.aligned(l.local) <= l.reference, "seed {seed}: sent after it was received");
        }
        let probes = (0..2000).map(|n| (end + 10_000_000) / 2000 * n);
        for x in probes.chain(limits.at_most.iter().map(|l| l.reference)) {
            let aligned = clock.aligned(truth.shows(x));
            let bound = clock.bound(aligned);
            let inside = aligned - bound.early <= x && x <= aligned + bound.late;
            assert!(inside, "seed {seed}: {x} is aligned to {aligned}, {bound:?}");
        }
    }
    assert!(lines > 30, "{lines} lines, {pieces} of pieces");
    Ok(())
}

#[test]
fn a_bound_is_hardly_wider_than_what_is_known() -> Result<()> {
    let mut dice = Dice(7);
    let truth = Truth { offset: 5_000_000, rate: 37e-6, wander: 0.0, period: 1e9, phase: 0.0 };
    let mut limits = Limits::default();
    for n in 1..300 {
        let (x, latency) = (n * 1_000_000, 300 + dice.below(900));
        limits.at_most.push(limit(x, truth.shows(x + latency)));
        limits.at_least.push(limit(x + 2000 + latency, truth.shows(x + 2000)));
    }
    let (clock, _) = Alignment::fitted(limits.clone(), 0.0, (truth.shows(0), truth.shows(300_000_000)))?;
    assert_eq!(clock.model, Model::Line);
    let origin = super::points::Origin { reference: 0, local: 5_000_000 };
    let points = origin.points(&limits, |l| l.reference)?;
    for bound in clock.bounds() {
        let (least, most) = naive(&points, &Assumed::of(&Rates::of(&points), 0.0).unwrap(), bound.from);
        let (known, claimed) = (most - least, (bound.early + bound.late) as f64);
        assert!(claimed >= known && claimed <= known * 1.125 + 4.0, "{bound:?}: {known}");
    }
    Ok(())
}

#[test]
fn a_message_that_contradicts_all_others_is_refused() -> Result<()> {
    let mut limits = Limits::default();
    for n in 0..100 {
        limits.at_most.push(limit(n * 1_000_000, n * 1_000_000 + 700));
        limits.at_least.push(limit(n * 1_000_000 + 1500, n * 1_000_000 + 800));
    }
    // Received 90 µs before it was sent.
    let wrong = limit(50_500_000, 50_410_000);
    limits.at_most.push(wrong);
    let (clock, refused) = Alignment::fitted(limits, 2e-6, (0, 100_000_000))?;
    assert_eq!(refused, [wrong]);
    assert_eq!(clock.model, Model::Line);
    Ok(())
}

#[test]
fn messages_in_one_direction_say_too_little() {
    let limits =
        Limits { at_most: (0..9).map(|n| limit(n * 1000, n * 1000 + 9)).collect(), at_least: vec![] };
    let error = Alignment::fitted(limits, 2e-6, (0, 9000)).unwrap_err();
    assert!(error.to_string().contains("how fast"), "{error}");
    assert!(Alignment::fitted(Limits::default(), 2e-6, (0, 9000)).is_err());
}

#[test]
fn clocks_that_contradict_themselves_throughout_are_an_error() {
    let mut dice = Dice(3);
    let mut random = || (0..200).map(|n| limit(n * 1000, dice.below(1_000_000))).collect();
    let limits = Limits { at_most: random(), at_least: random() };
    let error = Alignment::fitted(limits, 2e-6, (0, 9000)).unwrap_err();
    assert!(error.to_string().contains("contradict"), "{error}");
}

#[test]
fn a_given_clock_is_followed_exactly() -> Result<()> {
    let clock = Alignment::given(1_000, 1e-3, 5, 2_001)?;
    assert_eq!([1_000, 2_001, 1_002_000, -1].map(|t| clock.aligned(t)), [0, 1_000, 1_000_000, -1_000]);
    assert_eq!(clock.bound(70).early, 5);
    assert!(Alignment::given(i64::MAX, 0.0, 0, 0).is_err());
    Ok(())
}

#[test]
fn the_reference_is_itself() {
    let clock = Alignment::reference(-5);
    for time in [i64::MIN, -7, 0, 8, i64::MAX] {
        assert_eq!(clock.aligned(time), time);
    }
}

const RATES: u32 = 300;

/// The least and greatest value at a time: for many rates, the extremes over all points.
fn naive(points: &Points, assumed: &Assumed, at: i64) -> (f64, f64) {
    let of = |rate: f64| {
        let toward = |p: &Point, sign: f64| {
            let distance = (at - p.at) as f64;
            p.ahead as f64 + rate * distance + sign * assumed.wander * distance.abs()
        };
        let most = points.at_most.iter().map(|p| toward(p, 1.0)).fold(f64::INFINITY, f64::min);
        let least = points.at_least.iter().map(|p| toward(p, -1.0)).fold(f64::NEG_INFINITY, f64::max);
        (least, most)
    };
    let (from, to) = assumed.rates;
    let all: Vec<(f64, f64)> =
        (0..=RATES).map(|n| of(from + (to - from) * f64::from(n) / f64::from(RATES))).collect();
    let most = all.iter().map(|(_, most)| *most).fold(f64::NEG_INFINITY, f64::max);
    let least = all.iter().map(|(least, _)| *least).fold(f64::INFINITY, f64::min);
    (least, most)
}

fn some_points() -> impl Strategy<Value = Points> {
    let side = || prop::collection::vec((0..500i64, 0..60i64), 2..40);
    (side(), side()).prop_map(|(most, least)| {
        let sorted = |points: Vec<(i64, i64)>, up: i64| {
            let mut points: Vec<Point> =
                points.into_iter().map(|(at, ahead)| Point { at, ahead: up + ahead }).collect();
            points.sort_unstable();
            points
        };
        Points { at_most: sorted(most, 20), at_least: sorted(least, -20) }
    })
}

proptest! {
    #[test]
    fn extremes_are_those_of_all_pairs(points in some_points()) {
        let slopes = |from: &[Point], to: &[Point]| -> Vec<f64> {
            let pairs = from.iter().flat_map(|a| to.iter().map(move |b| (*a, *b)));
            pairs.filter(|(a, b)| a.at < b.at).map(|(a, b)| a.slope(b)).collect()
        };
        let rates = Rates::of(&points);
        let steepest = slopes(&points.at_least, &points.at_most).into_iter().min_by(f64::total_cmp);
        let flattest = slopes(&points.at_most, &points.at_least).into_iter().max_by(f64::total_cmp);
        prop_assert_eq!(rates.steepest.map(|line| line.slope()), steepest);
        prop_assert_eq!(rates.flattest.map(|line| line.slope()), flattest);
    }

    #[test]
    fn a_band_is_that_of_all_rates(points in some_points(), more in 0..100u32) {
        let rates = Rates::of(&points);
        let proven = super::rates::proven_wander(&points, &rates);
        prop_assume!(proven.is_finite());
        let Some(assumed) = Assumed::of(&rates, proven + f64::from(more) / 50.0) else { return Ok(()) };
        let times: Vec<i64> = (-5..=14).map(|n| n * 39).collect();
        for (at, (least, most)) in times.iter().zip(band(&points, assumed, &times)) {
            let (low, high) = naive(&points, &assumed, *at);
            // The naive one takes some rates.
            let coarse = (assumed.rates.1 - assumed.rates.0) / f64::from(RATES) * 700.0 + 1e-6;
            prop_assert!(least <= low + 1e-6 && least >= low - coarse, "{} at {at}: {least} {low}", "least");
            prop_assert!(most >= high - 1e-6 && most <= high + coarse, "{} at {at}: {most} {high}", "most");
        }
    }
}
