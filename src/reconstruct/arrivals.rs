//! Release times → what starts something in a model: an alarm, a schedule table, or the arrivals of an ISR.
//! Not who releases what (see `sources`).

use super::bodies;
use super::body::Gap;
use super::stimuli::{Periodic, periodic};
use super::times;
use crate::simulate::model::{Arrivals, Distribution};

/// When something happens, in ticks of a timer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ticks {
    /// First, and then again and again.
    Cyclic { first: i64, cycle: i64 },
    /// Once.
    Once(i64),
    /// A table of points: when it begins, how long it is, whether it repeats, and how often something happens
    /// at each point.
    Table { first: i64, length: i64, repeats: bool, points: Vec<(i64, u32)> },
}

/// Points of a schedule table.
const MOST_POINTS: usize = 20_000;
/// Arrivals are periodic in a model up to this part of a period as jitter: so late is an interrupt that the
/// kernel delays. With more, it matters to others which one is late.
const FINE: i64 = 100;
/// Instants of an ISR.
const MOST_INSTANTS: usize = 5_000;

/// What gives ticks, which rise or are equal; nothing happens between the last one and `end`. `None` if they
/// are too many without a rule.
pub fn of_ticks(ticks: &[i64], end: i64) -> Option<Ticks> {
    let (first, last) = (*ticks.first()?, *ticks.last()?);
    if ticks.len() == 1 {
        return Some(Ticks::Once(first));
    }
    let gaps: Vec<i64> = ticks.windows(2).filter_map(|pair| Some(pair.last()? - pair.first()?)).collect();
    let cycle = *gaps.first()?;
    if cycle > 0 && gaps.iter().all(|gap| *gap == cycle) && last.saturating_add(cycle) >= end {
        return Some(Ticks::Cyclic { first, cycle });
    }
    if let Some(table) = repeating(ticks, &gaps, end) {
        return Some(table);
    }
    let points = counted(ticks, first);
    (points.len() <= MOST_POINTS).then_some(Ticks::Table {
        first,
        length: last - first + 1,
        repeats: false,
        points,
    })
}

/// A table that repeats: the gaps begin again after some of them, and go on so up to the end.
fn repeating(ticks: &[i64], gaps: &[i64], end: i64) -> Option<Ticks> {
    let first = *ticks.first()?;
    let count = bodies::cycle(gaps)?;
    let length: i64 = gaps.get(..count)?.iter().sum();
    // The next one after the last.
    let next = gaps.get(gaps.len() % count)?;
    let goes_on = length > 0 && ticks.last()?.saturating_add(*next) >= end;
    let points = counted(ticks.get(..count)?, first);
    let inside = points.last().is_some_and(|(at, _)| *at < length);
    (goes_on && inside).then_some(Ticks::Table { first, length, repeats: true, points })
}

fn counted(ticks: &[i64], first: i64) -> Vec<(i64, u32)> {
    let mut points: Vec<(i64, u32)> = Vec::new();
    for tick in ticks {
        match points.last_mut().filter(|(at, _)| *at == tick - first) {
            Some((_, times)) => *times += 1,
            None => points.push((tick - first, 1)),
        }
    }
    points
}

/// The arrivals of an ISR, from instants in ns that rise; nothing arrives between the last one and `end`.
/// Periodic if the recording would have the same number of them, with a jitter of at most 1 % of the
/// period; else the instants themselves, as far as they are not too many; else their distances.
pub fn of_instants(instants: &[i64], end: i64) -> Option<(Arrivals, Option<Periodic>)> {
    let mut instants = instants.to_vec();
    // One that comes at the instant of another one is lost.
    instants.dedup();
    instants.retain(|at| *at >= 0);
    let first = *instants.first()?;
    let fit = periodic(&instants);
    if let Some(Periodic { period, offset, jitter, missing: 0, .. }) = fit {
        let count = i64::try_from(instants.len()).ok()?;
        let next = offset.saturating_add(period.saturating_mul(count));
        let latest = next - period + jitter;
        if jitter <= period / FINE && offset >= 0 && next >= end && (latest < end || jitter == 0) {
            return Some((Arrivals::Periodic { offset, period, jitter }, fit));
        }
    }
    if instants.len() <= MOST_INSTANTS {
        return Some((Arrivals::At(instants), fit));
    }
    let distances: Vec<Gap> = instants
        .windows(2)
        .filter_map(|pair| Some(Gap { at: *pair.first()?, net: pair.last()? - pair.first()?, remote: false }))
        .collect();
    let distance = distances.iter().map(|gap| gap.net).min()?;
    let more = distances.iter().map(|gap| Gap { net: gap.net - distance, ..*gap }).collect();
    let more = times::distribution(more).unwrap_or(Distribution::Constant(0));
    Some((Arrivals::Sporadic { offset: first, distance, more }, fit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_become_alarms_where_they_can() {
        assert_eq!(of_ticks(&[5], 100), Some(Ticks::Once(5)));
        assert_eq!(of_ticks(&[5, 15, 25], 34), Some(Ticks::Cyclic { first: 5, cycle: 10 }));
        // It stops before the end.
        let points = vec![(0, 1), (10, 1), (20, 1)];
        assert_eq!(
            of_ticks(&[5, 15, 25], 50),
            Some(Ticks::Table { first: 5, length: 21, repeats: false, points })
        );
    }

    #[test]
    fn ticks_of_several_alarms_become_a_table() {
        let ticks = [2, 4, 4, 6, 8, 8, 10, 12, 12];
        let points = vec![(0, 1), (2, 2)];
        assert_eq!(of_ticks(&ticks, 14), Some(Ticks::Table { first: 2, length: 4, repeats: true, points }));
        let points = vec![(0, 1), (1, 1), (5, 2)];
        assert_eq!(
            of_ticks(&[1, 2, 6, 6], 9),
            Some(Ticks::Table { first: 1, length: 6, repeats: false, points })
        );
        assert_eq!(of_ticks(&[], 9), None);
    }

    #[test]
    fn a_missing_tick_near_the_end_takes_no_longer() {
        // 200 s of an alarm of 1 ms.
        let ticks: Vec<i64> = (0..200_000).filter(|tick| *tick != 199_990).collect();
        assert_eq!(of_ticks(&ticks, 200_000), None);
        // Where the gaps are a cycle of which the last one is not whole.
        let ticks: Vec<i64> = (0..200_000).filter(|tick| tick % 3 != 2).collect();
        let points = vec![(0, 1), (1, 1)];
        assert_eq!(
            of_ticks(&ticks, 200_000),
            Some(Ticks::Table { first: 0, length: 3, repeats: true, points })
        );
    }

    #[test]
    fn instants_become_periodic_arrivals_where_the_end_allows_it() {
        let instants: Vec<i64> = (0..20).map(|n| 1_000 + n * 10_000 + n % 3).collect();
        let arrivals = |end: i64| of_instants(&instants, end).map(|(arrivals, _)| arrivals);
        let periodic = Arrivals::Periodic { offset: 1_000, period: 10_000, jitter: 2 };
        assert_eq!(arrivals(201_000), Some(periodic));
        assert_eq!(arrivals(202_000), Some(Arrivals::At(instants.clone())));
    }
}
