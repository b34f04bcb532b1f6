//! Small recordings, judged by hand: the edges of each definition, and how the monitor is used. Not for
//! agreement with another monitor.

use super::super::{
    Counts, During, Judgement, Mistake, Monitor, Refused, Symbol, Template, Verdict, Witness,
};

const A: Symbol = Symbol(0);
const B: Symbol = Symbol(1);
const C: Symbol = Symbol(2);
const S: Symbol = Symbol(0);

fn monitor(template: Template) -> Monitor {
    Monitor::new(&[template], 0).unwrap()
}

fn end(monitor: &Monitor, at: i64) -> Judgement {
    monitor.clone().finish(at).remove(0)
}

fn verdict(monitor: &Monitor, at: i64) -> Verdict {
    end(monitor, at).verdict
}

#[test]
fn a_response_may_come_at_the_last_tick_and_the_end_leaves_it_open() {
    let mut monitor = monitor(Template::Response { a: A, b: B, within: 5 });
    assert_eq!(verdict(&monitor, 100), Verdict::Kept);
    monitor.event(10, A).unwrap();
    assert_eq!(verdict(&monitor, 15), Verdict::MayStillBeKept);
    assert_eq!(verdict(&monitor, 16), Verdict::Violated);
    let mut late = monitor.clone();
    monitor.event(15, B).unwrap();
    assert_eq!(verdict(&monitor, 15), Verdict::Kept);
    late.event(16, B).unwrap();
    let judged = end(&late, 16);
    assert_eq!(judged.counts, Counts { violated: 1, ..Counts::default() });
    let violation = &judged.violations[0];
    assert_eq!((violation.begin, violation.end), (10, 15));
    assert_eq!(violation.witnesses, [Witness { time: 10, index: 0 }]);
}

#[test]
fn records_of_a_tick_are_in_their_order() {
    let template = Template::Response { a: A, b: B, within: 0 };
    let (mut before, mut after) = (monitor(template), monitor(template));
    for (symbol, other) in [(B, A), (A, B)] {
        before.event(1, symbol).unwrap();
        after.event(1, other).unwrap();
    }
    assert_eq!((verdict(&before, 2), verdict(&after, 2)), (Verdict::Violated, Verdict::Kept));
    // What is its own answer has to come again.
    let mut own = monitor(Template::Response { a: A, b: A, within: 3 });
    own.event(1, A).unwrap();
    own.event(4, A).unwrap();
    assert_eq!(end(&own, 4).counts, Counts { kept: 1, open: 1, missing: 1, ..Counts::default() });
}

#[test]
fn a_gap_hides_answers_and_questions_of_its_core() {
    let mut monitor = monitor(Template::Response { a: A, b: B, within: 5 });
    monitor.place(A, &[0]);
    monitor.place(B, &[1]);
    let (mut of_a, mut of_b, mut short) = (monitor.clone(), monitor.clone(), monitor);
    of_b.event(10, A).unwrap();
    of_b.gap(12, 13, Some(1)).unwrap();
    of_b.event(30, A).unwrap();
    let judged = end(&of_b, 40);
    assert_eq!(judged.counts, Counts { violated: 1, unknown: 1, missing: 1, ..Counts::default() });
    assert_eq!(judged.violations[0].begin, 30);
    of_a.event(10, A).unwrap();
    of_a.gap(12, 13, Some(0)).unwrap();
    assert_eq!(end(&of_a, 40).counts, Counts { violated: 1, blind: 1, ..Counts::default() });
    // An answer soon after the gap is one to all that it may hide.
    short.gap(12, 13, Some(0)).unwrap();
    short.event(17, B).unwrap();
    assert_eq!(verdict(&short, 40), Verdict::Kept);
}

#[test]
fn a_window_is_half_open() {
    let mut monitor = monitor(Template::Rate { a: A, at_most: 2, window: 10 });
    for time in [0, 5, 10, 15] {
        monitor.event(time, A).unwrap();
    }
    assert_eq!(verdict(&monitor, 24), Verdict::MayStillBeViolated);
    assert_eq!(end(&monitor, 25).counts, Counts { kept: 4, ..Counts::default() });
    monitor.event(19, A).unwrap();
    let judged = end(&monitor, 30);
    assert_eq!(judged.counts, Counts { kept: 4, violated: 1, ..Counts::default() });
    assert_eq!((judged.violations[0].begin, judged.violations[0].end), (10, 19));
}

#[test]
fn the_first_change_of_a_state_says_what_it_was() {
    let template = Template::Absence { a: A, during: During::State(S) };
    let mut unknown = monitor(template);
    unknown.event(3, A).unwrap();
    assert_eq!(end(&unknown, 9).counts, Counts { unknown: 1, missing: 1, ..Counts::default() });
    let (mut held, mut not) = (unknown.clone(), unknown);
    held.state(9, S, false).unwrap();
    let judged = end(&held, 9);
    assert_eq!(judged.verdict, Verdict::Violated);
    assert_eq!((judged.violations[0].begin, judged.violations[0].end), (0, 3));
    assert_eq!(judged.violations[0].witnesses.iter().map(|w| w.time).collect::<Vec<_>>(), [3, 9]);
    not.state(9, S, true).unwrap();
    assert_eq!(end(&not, 9).counts, Counts { open: 1, ..Counts::default() });
    not.state(12, S, false).unwrap();
    assert_eq!(verdict(&not, 12), Verdict::Kept);

    // Events do not alternate, so that they do not say it.
    let mut between = monitor(Template::Absence { a: A, during: During::Between { from: B, to: C } });
    between.event(3, A).unwrap();
    between.event(9, C).unwrap();
    assert_eq!(verdict(&between, 9), Verdict::MayStillBeKept);
}

#[test]
fn a_state_may_be_known_from_the_begin() {
    let mut absence = monitor(Template::Absence { a: A, during: During::State(S) });
    absence.begin_without(S);
    absence.event(3, A).unwrap();
    assert_eq!(end(&absence, 9).counts, Counts::default());
    let mut hold = monitor(Template::Hold { start: A, held: S, until: B });
    hold.begin_without(S);
    hold.event(3, A).unwrap();
    assert_eq!((verdict(&hold, 3), verdict(&hold, 4)), (Verdict::MayStillBeKept, Verdict::Violated));
    let mut held = monitor(Template::Absence { a: A, during: During::State(S) });
    held.state(0, S, true).unwrap();
    held.event(3, A).unwrap();
    assert_eq!(end(&held, 9).counts, Counts { violated: 1, ..Counts::default() });
}

#[test]
fn one_after_the_other() {
    let mut monitor = monitor(Template::Alternation { a: A, b: B });
    for (time, symbol) in [(1, B), (2, A), (3, B), (4, B)] {
        monitor.event(time, symbol).unwrap();
    }
    let judged = end(&monitor, 5);
    assert_eq!(judged.counts, Counts { kept: 2, violated: 1, open: 1, ..Counts::default() });
    assert_eq!((judged.violations[0].begin, judged.violations[0].end), (3, 4));
}

#[test]
fn a_state_is_held_from_start_to_end() {
    let mut monitor = monitor(Template::Hold { start: A, held: S, until: B });
    // The state begins and ends in the ticks of the events, in any order.
    monitor.event(10, A).unwrap();
    monitor.state(10, S, true).unwrap();
    monitor.state(20, S, false).unwrap();
    monitor.event(20, B).unwrap();
    assert_eq!(verdict(&monitor, 30), Verdict::Kept);
    monitor.event(40, A).unwrap();
    monitor.state(41, S, true).unwrap();
    let judged = end(&monitor, 50);
    assert_eq!(judged.counts, Counts { kept: 1, violated: 1, ..Counts::default() });
    assert_eq!((judged.violations[0].begin, judged.violations[0].end), (40, 40));
    assert_eq!(judged.violations[0].witnesses.iter().map(|w| w.time).collect::<Vec<_>>(), [40, 20]);
    // Without an end it lasts.
    let mut open = monitor;
    open.event(50, B).unwrap();
    open.event(51, A).unwrap();
    assert_eq!(end(&open, 60).counts.open, 1);
}

#[test]
fn what_is_undecided_is_bounded() {
    let mut monitor = monitor(Template::Hold { start: A, held: S, until: B });
    monitor.keep(3);
    for n in 0..1000 {
        monitor.event(2 * n, A).unwrap();
        monitor.event(2 * n + 1, B).unwrap();
    }
    let mut held = monitor.clone();
    assert_eq!(end(&monitor, 5000).counts, Counts { unknown: 1000, ..Counts::default() });
    held.state(5000, S, false).unwrap();
    assert_eq!(end(&held, 5000).counts, Counts { kept: 1000, ..Counts::default() });
    monitor.state(5000, S, true).unwrap();
    let judged = end(&monitor, 5000);
    assert_eq!((judged.counts.violated, judged.violations.len()), (1000, 3));
}

#[test]
fn violations_are_listed_up_to_a_number_or_taken_on_the_way() {
    let mut monitor = monitor(Template::Rate { a: A, at_most: 0, window: 1 });
    monitor.keep(2);
    (0..5).for_each(|time| monitor.event(time, A).unwrap());
    assert_eq!(monitor.take_violations(0).iter().map(|v| v.begin).collect::<Vec<_>>(), [0, 1]);
    monitor.event(9, A).unwrap();
    assert_eq!(monitor.take_violations(1), []);
    let judged = end(&monitor, 10);
    assert_eq!((judged.counts.violated, judged.violations.len()), (6, 1));
    assert_eq!(judged.counts.obligations(), 6);
}

#[test]
fn what_cannot_be_is_refused() {
    let new = |template| Monitor::new(&[template], 0).map(drop);
    assert_eq!(new(Template::Response { a: A, b: B, within: -1 }), Err((0, Mistake::NegativeTime)));
    assert_eq!(new(Template::Rate { a: A, at_most: 1, window: 0 }), Err((0, Mistake::NoWindow)));
    assert_eq!(new(Template::Alternation { a: A, b: A }), Err((0, Mistake::SameSymbol)));
    for (from, to) in [(B, B), (B, A)] {
        let between = During::Between { from, to };
        assert_eq!(new(Template::Absence { a: A, during: between }), Err((0, Mistake::SameSymbol)));
    }
    let large = Template::Hold { start: A, held: Symbol(u32::MAX), until: B };
    assert_eq!(new(large), Err((0, Mistake::LargeSymbol)));
    let mut monitor = monitor(Template::Rate { a: A, at_most: 1, window: 5 });
    monitor.event(7, A).unwrap();
    assert_eq!(monitor.event(6, A), Err(Refused::Backwards { now: 7 }));
    assert_eq!(monitor.state(6, S, true), Err(Refused::Backwards { now: 7 }));
    assert_eq!(monitor.gap(6, 9, None), Err(Refused::Backwards { now: 7 }));
    assert_eq!(monitor.gap(8, 7, None), Err(Refused::Reversed));
    // An unknown symbol is of no interest, and counts as a record.
    monitor.event(8, Symbol(u32::MAX)).unwrap();
    monitor.event(9, A).unwrap();
    let violations = end(&monitor, 0).violations;
    assert_eq!(violations[0].witnesses.iter().map(|w| w.index).collect::<Vec<_>>(), [0, 2]);
}

#[test]
fn times_reach_over_their_whole_range() {
    let templates = [
        Template::Response { a: A, b: B, within: i64::MAX },
        Template::Rate { a: A, at_most: 1, window: i64::MAX },
    ];
    let mut monitor = Monitor::new(&templates, i64::MIN).unwrap();
    monitor.event(i64::MIN, A).unwrap();
    monitor.event(-2, A).unwrap();
    monitor.event(i64::MAX, B).unwrap();
    let judged = monitor.finish(i64::MAX);
    assert_eq!((judged[0].counts.kept, judged[0].counts.violated), (0, 2));
    assert_eq!(judged[0].violations[1].end, i64::MAX - 2);
    assert_eq!((judged[1].counts.kept, judged[1].counts.violated), (1, 1));
}
