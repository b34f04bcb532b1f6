//! The operators against a look at every single instant.

use proptest::prelude::*;

use super::{IntervalFunction, Intervals, State};

/// Begin and end; never empty.
type Interval = (i64, i64);

/// The instants to look at: all at which results can differ.
const INSTANTS: std::ops::Range<i64> = -20..60;

fn operator_result(
    function: IntervalFunction,
    intervals: &[Interval],
    bounds: [Option<i64>; 2],
) -> Vec<(i64, i64, i64)> {
    let mut sorted = intervals.to_vec();
    sorted.sort_by_key(|i| i.0);
    let (mut found, mut state) = (Intervals::default(), None);
    for (begin, end) in sorted {
        let state = state.get_or_insert_with(|| State::begin(function, begin, bounds));
        state.follow(0, begin, end, &mut found);
    }
    state.iter_mut().for_each(|state| state.end(0, &mut found));
    let mut all: Vec<_> =
        found.begins.iter().zip(&found.ends).zip(&found.counts).map(|((b, e), c)| (*b, *e, *c)).collect();
    all.sort_unstable();
    all
}

/// How many intervals contain an instant.
fn open(intervals: &[Interval], at: i64) -> i64 {
    intervals.iter().filter(|(begin, end)| (*begin..*end).contains(&at)).count() as i64
}

/// Runs of instants for which `of` gives the same value, and not `None`.
fn runs(of: impl Fn(i64) -> Option<i64>) -> Vec<(i64, i64, i64)> {
    let mut runs: Vec<(i64, i64, i64)> = Vec::new();
    for at in INSTANTS {
        match (of(at), runs.last_mut()) {
            (Some(value), Some((_, end, last))) if *end == at && *last == value => *end = at + 1,
            (Some(value), _) => runs.push((at, at + 1, value)),
            (None, _) => {}
        }
    }
    runs
}

fn intervals() -> impl Strategy<Value = Vec<Interval>> {
    prop::collection::vec((0i64..30, 1i64..12).prop_map(|(begin, length)| (begin, begin + length)), 0..12)
}

proptest! {
    #[test]
    fn a_union_has_the_instants_of_its_intervals(intervals in intervals()) {
        let within = |at| (open(&intervals, at) > 0).then_some(0);
        let count = |b, e| intervals.iter().filter(|i| b <= i.0 && i.1 <= e).count() as i64;
        let expected: Vec<_> = runs(within).into_iter().map(|(b, e, _)| (b, e, count(b, e))).collect();
        prop_assert_eq!(operator_result(IntervalFunction::Merge, &intervals, [None, None]), expected);
    }

    #[test]
    fn gaps_have_the_other_instants(
        intervals in intervals(),
        from in prop::option::of(-10i64..40),
        to in prop::option::of(-10i64..50),
    ) {
        let first = intervals.iter().map(|i| i.0).min();
        let last = intervals.iter().map(|i| i.1).max();
        let whole = first.zip(last).map(|(first, last)| from.unwrap_or(first)..to.unwrap_or(last));
        let between = |at| {
            let within = whole.as_ref().is_some_and(|whole| whole.contains(&at));
            (within && open(&intervals, at) == 0).then_some(0)
        };
        prop_assert_eq!(operator_result(IntervalFunction::Gaps, &intervals, [from, to]), runs(between));
    }

    #[test]
    fn concurrency_counts_at_every_instant(intervals in intervals()) {
        let first = intervals.iter().map(|i| i.0).min().unwrap_or(0);
        let last = intervals.iter().map(|i| i.1).max().unwrap_or(0);
        let counted = |at| (first..last).contains(&at).then(|| open(&intervals, at));
        prop_assert_eq!(operator_result(IntervalFunction::Concurrency, &intervals, [None, None]), runs(counted));
    }
}
