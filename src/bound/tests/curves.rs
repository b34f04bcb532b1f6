//! Event models against all windows of the arrivals.

use super::super::{Curve, Distances, ENDLESS};
use super::simulator::Numbers;

fn arrivals(numbers: &mut Numbers, count: usize) -> Vec<i64> {
    let (period, jitter) = (numbers.between(0, 50), numbers.between(0, 120));
    let mut times: Vec<i64> = (0..count as i64).map(|n| n * period + numbers.between(0, jitter)).collect();
    if numbers.one_in(3) {
        times.iter_mut().for_each(|time| *time += (*time / 300) * 150);
    }
    times.sort_unstable();
    times
}

fn observed(times: &[i64], most: usize) -> Curve {
    let mut distances = Distances::new(most);
    times.iter().for_each(|time| distances.push(*time));
    distances.curve(times.last().unwrap().saturating_sub(times[0]))
}

fn distances(times: &[i64], n: usize) -> (i64, i64) {
    let all = || times.windows(n).map(|window| window[n - 1] - window[0]);
    (all().min().unwrap(), all().max().unwrap())
}

#[test]
fn distances_are_those_of_all_windows() {
    let mut numbers = Numbers(1);
    for _ in 0..60 {
        let count = numbers.between(2, 400) as usize;
        let times = arrivals(&mut numbers, count);
        let curve = observed(&times, 16);
        for n in 2..=count {
            let (least, most) = distances(&times, n);
            let (low, high) = (curve.least_distance(n as u64), curve.greatest_distance(n as u64).unwrap());
            if n <= 16 {
                assert_eq!((low, high), (least, most), "{n} of {count}");
            }
            assert!(low <= least && high >= most, "{n} of {count}: {low} {least} {high} {most}");
        }
        let long = times.last().unwrap() - times[0];
        assert!(curve.least_distance(count as u64 + 1) >= long);
    }
}

#[test]
fn arrivals_in_windows_are_bounded() {
    let mut numbers = Numbers(2);
    for _ in 0..20 {
        let times = arrivals(&mut numbers, 150);
        let curve = observed(&times, 200);
        let (first, last) = (times[0], *times.last().unwrap());
        let lengths = [0, 1, 2, 10, 49, 50, 51, 100, 333, 1000, last - first];
        // Longer windows than the recording are extrapolated.
        for length in lengths.into_iter().filter(|length| *length <= last - first) {
            let inside =
                |from: i64| times.iter().filter(|time| (from..from + length).contains(*time)).count();
            let most = (first - length..=last).map(inside).max().unwrap() as u64;
            assert_eq!(curve.most_arrivals(length), most, "{length}");
            assert_eq!(curve.most_arrivals_closed(length - 1), most);
            let fewest = (first + 1..=last - length).map(inside).min();
            if let Some(fewest) = fewest.filter(|_| length > 0) {
                assert_eq!(curve.least_arrivals(length), fewest as u64, "{length}");
            }
        }
    }
}

#[test]
fn distances_never_fall_and_add_up() {
    let mut numbers = Numbers(3);
    for _ in 0..40 {
        let count = numbers.between(2, 300) as usize;
        let curve = observed(&arrivals(&mut numbers, count), 8);
        let least: Vec<i64> = (1..700).map(|n| curve.least_distance(n)).collect();
        let most: Vec<i64> = (1..700).map(|n| curve.greatest_distance(n).unwrap()).collect();
        assert!(least.windows(2).all(|pair| pair[0] <= pair[1]));
        assert!(most.windows(2).all(|pair| pair[0] <= pair[1]));
        for length in (0..5000).step_by(13) {
            let arrivals = curve.most_arrivals(length);
            if arrivals != ENDLESS {
                assert!(arrivals == 0 || curve.least_distance(arrivals) < length);
                assert!(curve.least_distance(arrivals + 1) >= length);
            }
        }
    }
}

#[test]
fn the_long_run_is_nearly_that_of_the_arrivals() {
    let mut numbers = Numbers(4);
    for jitter in [0, 30, 99, 500] {
        let mut times: Vec<i64> = (0..20_000).map(|n| n * 100 + numbers.between(0, jitter)).collect();
        times.sort_unstable();
        let (arrivals, ticks) = observed(&times, 64).long_run().unwrap();
        let millionths = i64::try_from(arrivals).unwrap() * 100 * 1_000_000 / ticks;
        assert!((1_000_000..1_000_500).contains(&millionths), "{millionths}");
    }
}

#[test]
fn bursts_are_no_overload_in_the_long_run() {
    // Ten at once, every 10,000 ticks: a window of 64 alone would say 64 in 60,000.
    let times: Vec<i64> = (0..200).flat_map(|n| (0..10).map(move |k| n * 10_000 + k)).collect();
    let curve = observed(&times, 64);
    assert_eq!(curve.least_distance(10), 9);
    assert_eq!(curve.least_distance(11), 10_000);
    let (arrivals, ticks) = curve.long_run().unwrap();
    assert!(i64::try_from(arrivals).unwrap() * 10_000 < ticks * 10 * 101 / 100);
    // Two arrivals of a whole recording are no stream of two arrivals after another.
    let mut distances = Distances::new(64);
    distances.push(5_000);
    distances.push(5_001);
    let curve = distances.curve(100_000);
    assert_eq!((curve.least_distance(2), curve.least_distance(3)), (1, 100_000));
    assert_eq!(curve.long_run(), Some((2, 100_000)));
}

#[test]
fn nothing_is_said_across_a_loss() {
    let mut distances = Distances::new(8);
    for time in [0, 10, 20] {
        distances.push(time);
    }
    distances.cut();
    for time in [1_000, 1_030, 1_060] {
        distances.push(time);
    }
    let curve = distances.curve(500);
    assert_eq!((curve.least_distance(2), curve.least_distance(3)), (10, 20));
    assert_eq!((curve.greatest_distance(2), curve.greatest_distance(3)), (Some(30), Some(60)));
    // No stretch has four.
    assert_eq!(curve.least_distance(4), 500);
}

#[test]
fn the_fit_admits_all_windows() {
    let mut numbers = Numbers(5);
    for _ in 0..40 {
        let times = arrivals(&mut numbers, 60);
        let curve = observed(&times, 64);
        let fit = curve.fit().unwrap();
        assert_eq!(fit.checked, 60);
        let model = fit.curve();
        for n in 2..=60 {
            let (least, most) = distances(&times, n);
            assert!(model.least_distance(n as u64) <= least, "{fit:?} {n}");
            assert!(model.greatest_distance(n as u64).unwrap() >= most);
        }
        // No other period has less jitter.
        let best = (1..300).map(|period| curve.jitter_of(period)).min().unwrap();
        assert_eq!(best, fit.jitter);
    }
    let exact: Vec<i64> = (0..1_000).map(|n| 7 + n * 12_345).collect();
    let fit = observed(&exact, 32).fit().unwrap();
    assert_eq!((fit.period, fit.jitter, fit.distance), (12_345, 0, 12_345));
    assert_eq!(observed(&[1, 2], 8).fit(), None);
    assert_eq!(Curve::never().fit(), None);
}

#[test]
fn extremes_do_not_overflow() {
    let curve = observed(&[i64::MIN, -1, 0, 1, i64::MAX], 8);
    assert_eq!(curve.least_distance(2), 1);
    assert_eq!(curve.least_distance(5), i64::MAX);
    assert!(curve.least_distance(u64::MAX) == i64::MAX && curve.most_arrivals(i64::MAX) > 0);
    let same = observed(&[5; 100], 8);
    assert_eq!((same.least_distance(101), same.least_distance(201)), (1, 2));
    let periodic = Curve::periodic(i64::MAX, i64::MAX, i64::MAX);
    assert!(periodic.most_arrivals(i64::MAX) >= 1 && periodic.greatest_distance(u64::MAX) == Some(i64::MAX));
    assert_eq!(Curve::periodic(0, 0, 0).most_arrivals(1), ENDLESS);
    assert_eq!(Curve::periodic(0, 0, 0).least_arrivals(0), 0);
    assert_eq!((Curve::never().most_arrivals(i64::MAX), Curve::never().least_distance(1)), (0, i64::MAX));
    let wrong = Curve::from_distances(&[(3, -5), (1, 7), (2, 3), (0, 9)], &[(2, 1), (1, 9)], Vec::new());
    assert_eq!([2, 3, 4].map(|n| wrong.least_distance(n)), [7, 14, 21]);
    assert_eq!([2, 3].map(|n| wrong.greatest_distance(n)), [Some(1), Some(1)]);
}
