//! What a picture shows of many spans, instants and values, against all of them.

use super::*;
use proptest::prelude::*;

const FROM: i64 = -100;

fn grid(columns: u32) -> Grid {
    Grid::new(FROM, 900, columns)
}

/// Spans of one track: they follow each other.
fn track() -> impl Strategy<Value = Vec<Span>> {
    let one = (0i64..40, prop_oneof![0i64..4, 0i64..300], 0usize..State::COUNT, 0u32..3);
    prop::collection::vec(one, 0..80).prop_map(|all| {
        let mut at = FROM - 50;
        let span = |(gap, length, state, name): (i64, i64, usize, u32)| {
            let begin = at + gap;
            at = begin + length;
            let (state, name) = (State::ALL[state], Some(name));
            Span { begin, end: at, state, name, instance: Some(begin) }
        };
        all.into_iter().map(span).collect()
    })
}

fn drawn(all: &[Span], columns: u32) -> Vec<Run> {
    let mut runs = Runs::new(grid(columns));
    all.iter().for_each(|s| runs.add(*s));
    runs.finish()
}

fn shown(all: &[Span]) -> Vec<Span> {
    all.iter().copied().filter(|s| grid(1).shows(s.begin, s.end)).collect()
}

proptest! {
    #[test]
    fn nothing_is_lost_in_merged_runs(all in track(), columns in 1u32..400) {
        let runs = drawn(&all, columns);
        let shown = shown(&all);
        let length = |s: &Span| s.end - s.begin;
        prop_assert_eq!(runs.iter().map(|r| r.count as usize).sum::<usize>(), shown.len());
        prop_assert_eq!(runs.iter().map(|r| r.covered).sum::<i64>(), shown.iter().map(length).sum::<i64>());
        let occupied = shown.iter().filter(|s| s.state.is_occupied()).map(length).sum::<i64>();
        prop_assert_eq!(runs.iter().map(|r| r.occupied).sum::<i64>(), occupied);
        prop_assert!(runs.len() <= 2 * columns as usize);
        // Runs of one track do not overlap, and have the number of spans they stand for.
        prop_assert!(runs.windows(2).all(|pair| pair[0].end <= pair[1].begin), "{:?}", runs);
        for run in &runs {
            let within: Vec<_> = shown.iter().filter(|s| run.begin <= s.begin && s.end <= run.end).collect();
            prop_assert!(within.len() >= run.count as usize);
            let longest = within.iter().map(|s| length(s)).max().unwrap();
            prop_assert_eq!(longest, run.longest);
            prop_assert!(within.iter().any(|s| s.begin == run.longest_at && length(s) == longest));
            prop_assert!(run.covered <= run.end - run.begin);
            if run.count == 1 {
                prop_assert!(within.iter().any(|s| s.begin == run.begin && s.end == run.end && s.state == run.state));
            }
        }
    }

    #[test]
    fn what_is_wide_enough_stays_exact(all in track(), columns in 50u32..400) {
        let runs = drawn(&all, columns);
        let wide = i64::from(3 * 1000 / columns + 3);
        for s in shown(&all).iter().filter(|s| s.begin >= FROM && s.end <= 900 && s.end - s.begin >= wide) {
            prop_assert!(runs.iter().any(|r| (r.begin, r.end, r.count) == (s.begin, s.end, 1)), "{:?}", s);
        }
    }

    #[test]
    fn parts_give_the_same_picture_as_the_whole(all in track(), cut in 0usize..80, columns in 1u32..200) {
        let cut = cut.min(all.len());
        let mut first = Runs::new(grid(columns));
        all[..cut].iter().for_each(|s| first.add(*s));
        let mut second = Runs::new(grid(columns));
        all[cut..].iter().for_each(|s| second.add(*s));
        first.join(second);
        prop_assert_eq!(first.finish(), drawn(&all, columns));
    }

    #[test]
    fn every_instant_is_counted_under_its_kind(all in prop::collection::vec((-200i64..1000, 0usize..MarkKind::COUNT), 0..200), columns in 1u32..50) {
        let mut marks = Marks::new(grid(columns));
        let mut other = Marks::new(grid(columns));
        for (n, (at, kind)) in all.iter().enumerate() {
            let to = if n % 2 == 0 { &mut marks } else { &mut other };
            to.add(*at, MarkKind::ALL[*kind], Some(n as u32));
        }
        marks.join(other);
        let within: Vec<_> = all.iter().filter(|(at, _)| (FROM..900).contains(at)).collect();
        prop_assert_eq!(marks.count() as usize, within.len());
        let marks = marks.finish();
        for kind in MarkKind::ALL {
            let of = marks.iter().filter(|m| m.kind == kind);
            let counted: usize = of.clone().map(|m| m.count as usize).sum();
            prop_assert_eq!(counted, within.iter().filter(|(_, k)| MarkKind::ALL[*k] == kind).count());
            prop_assert!(of.clone().count() <= columns as usize);
            prop_assert!(of.clone().all(|m| grid(columns).column(m.at) == grid(columns).column(m.last)));
        }
        prop_assert!(marks.is_sorted_by_key(|m| m.at));
    }

    #[test]
    fn curves_keep_extremes_and_the_last_value(mut all in prop::collection::vec((-200i64..1000, -50i32..50), 1..200), columns in 1u32..50) {
        all.sort_by_key(|v| v.0);
        let mut values = Values::new(grid(columns), Shape::Steps);
        all.iter().for_each(|(at, v)| values.add(*at, f64::from(*v)));
        let within: Vec<_> = all.iter().filter(|(at, _)| (FROM..900).contains(at)).collect();
        let before = all.iter().rfind(|(at, _)| *at < FROM);
        let Some(curve) = values.finish(None, "") else {
            prop_assert!(within.is_empty() && before.is_none());
            return Ok(());
        };
        let inside: Vec<_> = curve.points.iter().filter(|p| p.at >= FROM).collect();
        prop_assert_eq!(inside.iter().map(|p| p.count as usize).sum::<usize>(), within.len());
        prop_assert!(inside.len() <= columns as usize);
        prop_assert_eq!(curve.points.len() - inside.len(), usize::from(before.is_some()));
        if let Some(last) = within.last() {
            prop_assert_eq!(inside.last().unwrap().value, f64::from(last.1));
            let extremes = |f: fn(f64, f64) -> f64, get: fn(&Point) -> f64| inside.iter().map(|p| get(p)).reduce(f);
            prop_assert_eq!(extremes(f64::min, |p| p.least), within.iter().map(|v| f64::from(v.1)).reduce(f64::min));
            prop_assert_eq!(extremes(f64::max, |p| p.greatest), within.iter().map(|v| f64::from(v.1)).reduce(f64::max));
        }
    }
}

#[test]
fn runs_that_overlap_get_tracks() {
    let run = |begin, end| {
        let s = Span { begin, end, state: State::Active, name: None, instance: None };
        drawn(&[s], 1000).remove(0)
    };
    let mut runs = [run(0, 10), run(5, 30), run(10, 20), run(12, 13), run(13, 14), run(30, 40)];
    assert_eq!(spread(&mut runs), 3);
    assert_eq!(runs.map(|r| r.track), [0, 1, 0, 2, 2, 0]);
    assert_eq!(spread(&mut []), 1);
}

#[test]
fn a_million_spans_need_no_more_room_than_the_columns() {
    let mut runs = Runs::new(Grid::new(0, 10_000_000, 1200));
    for n in 0..1_000_000 {
        let state = if n % 3 == 0 { State::Running } else { State::Ready };
        runs.add(Span { begin: n * 10, end: n * 10 + 9, state, name: Some(0), instance: Some(n) });
    }
    let runs = runs.finish();
    assert!(runs.len() <= 1200, "{}", runs.len());
    assert_eq!(runs.iter().map(|r| u64::from(r.count)).sum::<u64>(), 1_000_000);
    assert_eq!(runs.iter().map(|r| r.covered).sum::<i64>(), 9_000_000);
}

#[test]
fn words_of_states_and_marks_differ() {
    let words = |all: Vec<&'static str>| all.iter().collect::<std::collections::BTreeSet<_>>().len();
    assert_eq!(words(State::ALL.map(State::as_str).to_vec()), State::COUNT);
    assert_eq!(words(MarkKind::ALL.map(MarkKind::as_str).to_vec()), MarkKind::COUNT);
    assert_eq!(words(RowKind::ALL.map(RowKind::as_str).to_vec()), RowKind::ALL.len());
    assert!(State::ALL.iter().enumerate().all(|(n, s)| s.index() == n));
    assert!(MarkKind::ALL.iter().enumerate().all(|(n, k)| k.index() == n));
}
