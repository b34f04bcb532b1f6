//! Each rule on a stream of a few spans.

use crate::explain::{
    Actor, Explainer, Explanations, Happened, Kind, Part, ProcessFacts, Reason, RunnableSpan, Said, Source,
    State, StateSpan,
};

const X: Actor = Actor { process: 0, instance: 5 };
const R: Actor = Actor { process: 1, instance: 0 };
const S: Actor = Actor { process: 2, instance: 0 };

fn task(priority: i64) -> ProcessFacts {
    ProcessFacts { priority: Some(priority), is_preemptable: Some(true), ..ProcessFacts::default() }
}

/// X has priority 5, R 9, S 1.
fn explainer() -> Explainer {
    let mut explainer = Explainer::new(|actor| actor == X);
    explainer.process(0, task(5));
    explainer.process(1, task(9));
    explainer.process(2, task(1));
    explainer
}

fn state(explainer: &mut Explainer, actor: Actor, core: u32, state: State, begin: i64, end: i64) {
    explainer.state(StateSpan { actor, core: Some(core), state, begin, end });
}

fn says(explainer: &mut Explainer, time: i64, source: Source, said: Said, object: u32) {
    let object = Some(object);
    let (owner, target, triggered_by) = (Some(0), None, None);
    explainer.happened(Happened { time, source: Some(source), said, object, owner, target, triggered_by });
}

fn does(explainer: &mut Explainer, time: i64, actor: Actor, said: Said, object: u32) {
    says(explainer, time, Source::Process(actor), said, object);
}

/// The only explanation, as text.
fn only(explained: &Explanations) -> Vec<String> {
    assert_eq!(explained.len(), 1, "{explained:?}");
    explained.iter().next().unwrap().parts.iter().map(text).collect()
}

fn text(part: &Part) -> String {
    let mut text = format!("{}-{} {:?}", part.begin, part.end, part.kind);
    match part.by {
        Some(Source::Process(actor)) => text += &format!(" by {}", actor.process),
        Some(Source::Stimulus(stimulus)) => text += &format!(" by stimulus {stimulus}"),
        None => {}
    }
    for (name, number) in [("runnable", part.runnable), ("object", part.object)] {
        text += &number.map(|number| format!(" {name} {number}")).unwrap_or_default();
    }
    text += &part.reason.map(|reason| format!(" {reason:?}")).unwrap_or_default();
    text += &part.holder_state.map(|state| format!(" {state:?}")).unwrap_or_default();
    text + &part.by_behind.map(|actor| format!(" behind {}", actor.process)).unwrap_or_default()
}

/// X is activated at 10, waits until 20 and runs until 30 on core 0; `runner` had the core until `left`.
fn behind(mut explainer: Explainer, runner: Actor, left: i64) -> Vec<String> {
    explainer.began(X, 10);
    state(&mut explainer, runner, 0, State::Running, 0, left);
    state(&mut explainer, X, 0, State::Active, 10, 20);
    state(&mut explainer, X, 0, State::Running, 20, 30);
    explainer.ended(X, 10, 30);
    only(&explainer.take())
}

#[test]
fn who_has_the_core_and_why() {
    let found = behind(explainer(), R, 18);
    assert_eq!(found, ["10-18 Behind by 1 HigherPriority", "18-20 Os", "20-30 Executes"]);
    let found = behind(explainer(), S, 18);
    assert_eq!(found[0], "10-18 Behind by 2 NotKnown", "nothing says why");
    let mut with = explainer();
    with.process(2, ProcessFacts { is_preemptable: Some(false), ..task(1) });
    assert_eq!(behind(with, S, 18)[0], "10-18 Behind by 2 LowerPriorityNotPreemptable");
    let mut with = explainer();
    with.process(1, ProcessFacts { is_isr: true, ..ProcessFacts::default() });
    assert_eq!(behind(with, R, 18)[0], "10-18 Behind by 1 Isr");
    let mut with = explainer();
    with.process(1, task(5));
    assert_eq!(behind(with, R, 18)[0], "10-18 Behind by 1 EqualPriority");
    let mut with = explainer();
    with.process(1, ProcessFacts { is_preemptable: None, ..task(5) });
    assert_eq!(behind(with, R, 18)[0], "10-18 Behind by 1 NotKnown", "it may be sliced");
    let mut with = explainer();
    with.process(1, ProcessFacts { is_idle: true, ..ProcessFacts::default() });
    assert_eq!(behind(with, R, 18)[..2], ["10-18 Os by 1", "18-20 Os"]);
    let earlier = Actor { instance: 4, ..X };
    assert_eq!(behind(explainer(), earlier, 18)[0], "10-18 Behind by 0 PreviousInstance");
}

#[test]
fn instances_of_one_number_are_explained_each() {
    // Writers that do not count instances: the second one begins when the first one has ended, or later.
    let mut explainer = explainer();
    for (begin, end) in [(10, 30), (30, 40), (50, 70)] {
        explainer.began(X, begin);
        state(&mut explainer, X, 0, State::Active, begin, begin + 5);
        state(&mut explainer, X, 0, State::Running, begin + 5, end);
        explainer.ended(X, begin, end);
    }
    let explained = explainer.finish();
    let spans: Vec<_> =
        explained.iter().map(|of| (of.parts[0].begin, of.parts.last().unwrap().end)).collect();
    assert_eq!(spans, [(10, 30), (30, 40), (50, 70)]);
}

/// R has the core of X until 18, and polls from 6 on for 7, which S has until 14.
fn behind_a_poller(gap: Option<(u32, i64)>, asks: bool) -> Vec<String> {
    let mut with = explainer();
    if let Some((core, begin)) = gap {
        with.gap(Some(core), begin, begin + 1);
    }
    with.began(X, 0);
    does(&mut with, 1, S, Said::Assigned, 7);
    if asks {
        does(&mut with, 5, R, Said::Request, 7);
    }
    state(&mut with, R, 0, State::Running, 0, 6);
    does(&mut with, 14, S, Said::Released, 7);
    does(&mut with, 18, R, Said::Assigned, 7);
    state(&mut with, R, 0, State::Polling, 6, 18);
    state(&mut with, R, 0, State::Running, 18, 19);
    state(&mut with, X, 0, State::Active, 10, 20);
    state(&mut with, X, 0, State::Running, 20, 30);
    with.ended(X, 10, 30);
    only(&with.take())
}

#[test]
fn who_has_the_core_and_polls_there_waits_for_a_holder() {
    let found = behind_a_poller(None, true);
    let polls = [
        "10-14 Behind by 1 object 7 HigherPriority Polling behind 2",
        "14-18 Behind by 1 object 7 HigherPriority Polling",
        "18-19 Behind by 1 HigherPriority",
        "19-20 Os",
    ];
    assert_eq!(found[..4], polls);
    let unknown = "10-18 Behind by 1 HigherPriority Polling";
    assert_eq!(behind_a_poller(None, false)[0], unknown, "nothing says for what");
    assert_eq!(
        behind_a_poller(Some((2, 8)), true)[0],
        unknown,
        "it may have got it, and ask for another one"
    );
    let found = behind_a_poller(Some((1, 3)), true);
    assert_eq!(found[0], "10-18 Behind by 1 object 7 HigherPriority Polling", "it may be given back");
    assert_eq!(behind_a_poller(Some((2, 0)), true)[..4], polls, "before all that");
}

#[test]
fn what_instances_without_an_end_ask_for_is_forgotten() {
    let mut with = Explainer::new(|_| false);
    for n in 0..1000 {
        does(&mut with, n, Actor { process: 1, instance: n }, Said::Request, 7);
    }
    assert_eq!(with.processes.at(1).asks.len(), 64);
    let last = Actor { process: 1, instance: 999 };
    with.ended(last, 999, 1000);
    assert_eq!(with.processes.at(1).asks.len(), 63);
}

#[test]
fn a_lower_task_is_blamed_for_what_it_holds_now() {
    let mut with = explainer();
    does(&mut with, 1, S, Said::Assigned, 7);
    does(&mut with, 2, S, Said::Released, 7);
    assert_eq!(behind(with, S, 18)[0], "10-18 Behind by 2 NotKnown", "given back long before");
    let mut with = explainer();
    with.began(X, 1);
    does(&mut with, 5, S, Said::Assigned, 7);
    does(&mut with, 14, S, Said::Released, 7);
    let found = behind(with, S, 18);
    assert_eq!(found[..2], ["10-14 Behind by 2 LowerPriorityHolds(7)", "14-18 Behind by 2 NotKnown"]);
}

#[test]
fn what_a_lower_task_still_holds_or_gave_back_before_it_went_on_is_no_reason() {
    let blamed = |events: &[(i64, Said, u32)]| {
        let mut with = explainer();
        with.began(X, 1);
        events.iter().for_each(|(time, said, object)| does(&mut with, *time, S, *said, *object));
        behind(with, S, 18)
    };
    let nested = [(5, Said::Assigned, 7), (6, Said::Assigned, 8), (9, Said::Released, 8)];
    assert_eq!(blamed(&nested)[0], "10-18 Behind by 2 NotKnown", "it holds 7 when X runs");
    let both = [(5, Said::Assigned, 7), (12, Said::Assigned, 8), (14, Said::Released, 8)];
    let both = [&both[..], &[(17, Said::Released, 7)]].concat();
    let found = blamed(&both);
    assert_eq!(found[..2], ["10-17 Behind by 2 LowerPriorityHolds(7)", "17-18 Behind by 2 NotKnown"]);
    let goes_on = [(5, Said::Assigned, 7), (14, Said::Released, 7), (16, Said::WaitEvent, 9)];
    assert_eq!(blamed(&goes_on)[0], "10-18 Behind by 2 NotKnown", "it waits, and has not lost its core");
    let mut with = explainer();
    with.began(X, 1);
    does(&mut with, 5, S, Said::Assigned, 7);
    does(&mut with, 14, S, Said::Released, 7);
    with.yields(S, 15);
    assert_eq!(behind(with, S, 18)[0], "10-18 Behind by 2 NotKnown", "it lets others run");
    let mut with = explainer();
    with.process(2, ProcessFacts { is_preemptable: Some(false), ..task(1) });
    with.began(X, 1);
    does(&mut with, 5, S, Said::Assigned, 7);
    does(&mut with, 18, S, Said::Released, 7);
    assert_eq!(behind(with, S, 18)[0], "10-18 Behind by 2 LowerPriorityNotPreemptable");
}

/// A runnable that polls goes on in the trace, so that it comes when it ends.
#[test]
fn a_runnable_is_known_before_and_after_it_polls() {
    let mut with = explainer();
    with.began(X, 0);
    for n in 0..40 {
        let at = 10 * n;
        does(&mut with, at + 2, X, Said::Request, 7);
        state(&mut with, X, 0, State::Running, at, at + 2);
        state(&mut with, X, 0, State::Polling, at + 2, at + 4);
        does(&mut with, at + 4, X, Said::Assigned, 7);
        does(&mut with, at + 5, X, Said::Released, 7);
        state(&mut with, X, 0, State::Running, at + 4, at + 10);
        // One for all polls of its time, and one inside of it.
        with.runnable(RunnableSpan { actor: X, runnable: 3, depth: 1, begin: at + 1, end: at + 6 });
        if n == 39 {
            with.runnable(RunnableSpan { actor: X, runnable: 2, depth: 0, begin: 0, end: at + 10 });
        }
    }
    with.ended(X, 0, 400);
    let found = only(&with.take());
    let first = ["0-1 Executes runnable 2", "1-2 Executes runnable 3", "2-4 Lock object 7"];
    assert_eq!(found[..3], first);
    assert_eq!(found[3..5], ["4-6 Executes runnable 3", "6-11 Executes runnable 2"]);
    assert_eq!(found.len(), 40 * 4 + 1);
}

#[test]
fn a_gap_hides_who_has_the_core_until_the_next_span() {
    let mut with = explainer();
    with.gap(Some(0), 12, 14);
    assert_eq!(
        behind(with, R, 11),
        ["10-11 Behind by 1 HigherPriority", "11-12 Os", "12-20 Unknown", "20-30 Executes"]
    );
    let mut with = explainer();
    with.gap(Some(1), 12, 14);
    assert_eq!(behind(with, R, 11)[1], "11-20 Os", "another core");
    let mut with = explainer();
    with.gap(None, 12, 14);
    assert_eq!(behind(with, R, 11)[2], "12-20 Unknown", "all cores");
}

#[test]
fn a_holder_on_another_core_that_is_preempted() {
    let mut with = explainer();
    with.began(X, 0);
    does(&mut with, 1, S, Said::Assigned, 7);
    does(&mut with, 3, X, Said::Request, 7);
    state(&mut with, X, 0, State::Running, 0, 5);
    state(&mut with, S, 1, State::Running, 0, 8);
    state(&mut with, R, 1, State::Running, 8, 12);
    state(&mut with, S, 1, State::Ready, 8, 12);
    does(&mut with, 16, S, Said::Released, 7);
    does(&mut with, 16, X, Said::Assigned, 7);
    state(&mut with, X, 0, State::Polling, 5, 16);
    state(&mut with, X, 0, State::Running, 16, 20);
    with.ended(X, 0, 20);
    let expected = [
        "0-5 Executes",
        "5-8 Lock by 2 object 7 Running",
        "8-12 Lock by 2 object 7 Ready behind 1",
        "12-16 Lock by 2 object 7 Running",
        "16-20 Executes",
    ];
    assert_eq!(only(&with.take()), expected, "the holder runs when it gives the lock back");
}

#[test]
fn a_holder_that_is_not_known_yet_is_waited_for() {
    let mut with = explainer();
    with.began(X, 0);
    does(&mut with, 1, S, Said::Assigned, 7);
    does(&mut with, 3, X, Said::Request, 7);
    state(&mut with, X, 0, State::Running, 0, 5);
    state(&mut with, X, 0, State::Polling, 5, 16);
    state(&mut with, X, 0, State::Running, 16, 20);
    with.ended(X, 0, 20);
    assert_eq!(with.take().len(), 0);
    state(&mut with, S, 1, State::Running, 0, 40);
    assert_eq!(only(&with.take())[1], "5-16 Lock by 2 object 7 Running");
}

#[test]
fn who_sets_the_event_that_ends_a_wait() {
    let mut with = explainer();
    with.began(X, 0);
    says(&mut with, 1, Source::Stimulus(0), Said::SetEvent, 8);
    does(&mut with, 3, X, Said::WaitEvent, 8);
    does(&mut with, 3, X, Said::WaitEvent, 9);
    state(&mut with, X, 0, State::Running, 0, 5);
    says(&mut with, 10, Source::Stimulus(0), Said::SetEvent, 9);
    says(&mut with, 11, Source::Process(R), Said::SetEvent, 8);
    state(&mut with, X, 0, State::Waiting, 5, 11);
    state(&mut with, X, 0, State::Running, 11, 20);
    state(&mut with, X, 0, State::Waiting, 20, 25);
    state(&mut with, X, 0, State::Running, 25, 26);
    with.ended(X, 0, 26);
    let found = only(&with.take());
    assert_eq!(found[1], "5-11 WaitsFor by stimulus 0 object 9", "the alarm has the name of the task");
    assert_eq!(found[3], "20-25 WaitsFor", "no second wait for the same");
}

#[test]
fn holes_are_unknown_and_runnables_are_the_innermost() {
    let mut with = explainer();
    with.began(X, 0);
    let runnable = |runnable, depth, begin, end| RunnableSpan { actor: X, runnable, depth, begin, end };
    with.runnable(runnable(3, 1, 6, 8));
    with.runnable(runnable(2, 0, 5, 10));
    state(&mut with, X, 0, State::Running, 4, 12);
    with.ended(X, 0, 15);
    let expected = [
        "0-4 Unknown",
        "4-5 Executes",
        "5-6 Executes runnable 2",
        "6-8 Executes runnable 3",
        "8-10 Executes runnable 2",
        "10-12 Executes",
        "12-15 Unknown",
    ];
    assert_eq!(only(&with.take()), expected);
}

#[test]
fn a_core_that_it_left_is_waited_for_but_not_for_ever() {
    for patience in [4, u64::MAX] {
        let mut with = explainer();
        (with.often, with.drop_at, with.patience) = (1, 1, patience);
        state(&mut with, S, 0, State::Running, -5, 0);
        with.began(X, 0);
        state(&mut with, X, 0, State::Running, 0, 5);
        state(&mut with, X, 0, State::Ready, 5, 9);
        state(&mut with, X, 1, State::Running, 9, 12);
        with.ended(X, 0, 12);
        for time in 13..40 {
            state(&mut with, S, 1, State::Running, time, time + 1);
        }
        if patience > 4 {
            assert_eq!(with.take().len(), 0);
            state(&mut with, R, 0, State::Running, 6, 60);
            let found = only(&with.take());
            assert_eq!(found[1..3], ["5-6 Os", "6-9 Behind by 1 HigherPriority"]);
        } else {
            assert_eq!(only(&with.take())[1], "5-9 Unknown");
        }
    }
}

#[test]
fn what_nobody_asks_about_is_dropped() {
    let mut with = Explainer::new(|_| false);
    for n in 0..100_000 {
        let actor = Actor { process: 1, instance: n };
        does(&mut with, 10 * n, actor, Said::Assigned, 7);
        does(&mut with, 10 * n + 5, actor, Said::Released, 7);
        state(&mut with, actor, 0, State::Running, 10 * n, 10 * n + 9);
        with.ended(actor, 10 * n, 10 * n + 9);
    }
    let kept = with.cores.values_mut().map(|core| core.len()).sum::<usize>() + with.locks.spans();
    assert!(kept < 10_000, "{kept}");
}

#[test]
fn any_input_is_answered() {
    let mut with = explainer();
    state(&mut with, X, 0, State::Ready, i64::MIN, i64::MAX);
    state(&mut with, X, u32::MAX, State::Running, 7, 3);
    state(&mut with, X, 0, State::Polling, -3, 30);
    does(&mut with, i64::MAX, X, Said::Released, u32::MAX);
    does(&mut with, i64::MIN, X, Said::Assigned, u32::MAX);
    with.gap(None, i64::MIN, i64::MAX);
    with.ended(X, 5, 2);
    with.ended(X, i64::MIN, i64::MAX);
    let all = with.finish();
    assert_eq!(all.len(), 1);
    assert_eq!(all.parts(), 0);
    assert!(all.iter().all(|one| one.parts.iter().all(|part| part.kind != Kind::Executes)));
    assert!(all.iter().all(|one| one.parts.iter().all(|part| part.reason != Some(Reason::Isr))));
}
