//! Ignoring, renaming, tolerances, cutting, aligning.

use super::super::{CompareOptions, Level, Tolerance};
use super::{Owned, early, trace, with};

fn exact() -> CompareOptions {
    CompareOptions::default()
}

fn timing(ticks: u64, per_mille: u32) -> CompareOptions {
    CompareOptions {
        level: Level::Timing,
        tolerance: Tolerance { ticks, per_mille },
        ..CompareOptions::default()
    }
}

#[test]
fn ignored_types_and_entities_are_left_out() {
    let left = early();
    let right: Vec<Owned> = left.iter().filter(|e| e.kind != "SIG").cloned().collect();
    let options = CompareOptions { ignore_types: vec!["sig".into()], ..exact() };
    let result = with(&options, &left, &right);
    assert!(result.equal);
    assert_eq!((result.left_ignored, result.right_ignored, result.compared), (1, 0, 10));
    let right: Vec<Owned> =
        left.iter().filter(|e| e.source != "STI_2" && e.target != "STI_2").cloned().collect();
    let options = CompareOptions { ignore_entities: vec!["STI_2".into()], ..exact() };
    assert!(with(&options, &left, &right).equal);
    assert!(!with(&exact(), &left, &right).equal);
}

const INTERRUPTED: &str = "0,C,0,T,A,0,start
    1,A,0,R,R,0,start
    2,A,0,R,R,0,suspend
    2,C,0,T,A,0,preempt
    2,C,0,ISR,I_1,0,start
    3,I_1,0,R,R_I,0,start
    4,I_1,0,R,R_I,0,terminate
    5,C,0,ISR,I_1,0,terminate
    5,C,0,T,A,0,resume
    5,A,0,R,R,0,resume
    6,A,0,R,R,0,terminate
    7,C,0,T,A,0,terminate";

#[test]
fn an_ignored_interrupt_leaves_no_trace_when_asked_for() {
    let left = trace(INTERRUPTED);
    let right: Vec<Owned> = [0, 1, 10, 11].map(|n| left[n].clone()).to_vec();
    let mut options = CompareOptions { ignore_types: vec!["I".into()], ..exact() };
    let result = with(&options, &left, &right);
    assert_eq!((result.left_ignored, result.only_left), (4, 4));
    options.collapse_ignored_isrs = true;
    let result = with(&options, &left, &right);
    assert!(result.equal, "{result:#?}");
    assert_eq!(result.left_ignored, 8);
}

#[test]
fn a_preemption_by_a_task_stays() {
    let left = trace(&INTERRUPTED.replace("3,I_1,0,R,R_I,0,start", "3,C,0,T,B,0,start"));
    let options =
        CompareOptions { ignore_entities: vec!["I_1".into()], collapse_ignored_isrs: true, ..exact() };
    assert_eq!(with(&options, &left, &left).left_events, 9);
    // The same for a trace without any interrupt.
    let quiet: Vec<Owned> = left.iter().filter(|e| e.target != "I_1" && e.target != "B").cloned().collect();
    assert_eq!(with(&options, &quiet, &quiet).left_events, quiet.len() as u64 - 1);
}

#[test]
fn renamed_entities_are_the_same() {
    let left = early();
    let mut right = left.clone();
    for e in &mut right {
        for name in [&mut e.source, &mut e.target] {
            if name == "T_1" {
                *name = "Task_1".into();
            }
        }
    }
    let mut options = exact();
    assert!(!with(&options, &left, &right).equal);
    options.rename = vec![("T_1".into(), "Task_1".into())];
    assert!(with(&options, &left, &right).equal);
    // Lines have the names of their file.
    right[2].target_instance = Some(8);
    let first = with(&options, &left, &right).first.unwrap();
    assert!(first.difference.left.unwrap().text.contains(",T_1,"));
}

#[test]
fn the_task_in_the_note_of_set_event_is_renamed() {
    let left = trace("0,A,0,EVENT,E,0,set_event,B");
    let right = trace("0,A,0,EVENT,E,0,set_event,B2");
    let options = CompareOptions { rename: vec![("B".into(), "B2".into())], ..exact() };
    assert!(with(&options, &left, &right).equal);
}

#[test]
fn absolute_tolerance_is_inclusive() {
    let left = early();
    let mut right = left.clone();
    right[7].time += 5;
    assert_eq!(with(&timing(4, 0), &left, &right).temporal, 1);
    assert!(with(&timing(5, 0), &left, &right).equal);
}

#[test]
fn relative_tolerance_lets_a_clock_drift() {
    let mut left = early();
    left.iter_mut().for_each(|e| e.time *= 100);
    let mut right = left.clone();
    right.iter_mut().for_each(|e| e.time += e.time / 10);
    assert!(with(&timing(0, 100), &left, &right).equal);
    assert!(with(&timing(0, 80), &left, &right).temporal > 0);
}

#[test]
fn an_action_has_its_own_tolerance() {
    let left = early();
    let mut right = left.clone();
    right.iter_mut().filter(|e| e.action == "start").for_each(|e| e.time += 3);
    let mut options = timing(0, 0);
    assert_eq!(with(&options, &left, &right).temporal, 3);
    options.action_tolerances = vec![("start".into(), Tolerance { ticks: 3, per_mille: 0 })];
    assert!(with(&options, &left, &right).equal);
    right.iter_mut().filter(|e| e.action == "write").for_each(|e| e.time += 3);
    assert_eq!(with(&options, &left, &right).temporal, 1);
}

#[test]
fn the_end_of_the_longer_trace_is_cut() {
    let left = early();
    for n in 0..left.len() {
        let right = &left[..n];
        // Events at exactly the end time are compared.
        let ends_between = n == 0 || left[n].time > left[n - 1].time;
        for level in [Level::Exact, Level::Order, Level::Timing] {
            let options = CompareOptions { level, cut_to_common_length: true, ..exact() };
            let result = with(&options, &left, right);
            assert_eq!(result.equal, ends_between, "{level:?} {n} {result:#?}");
            assert_eq!(with(&options, right, &left).equal, ends_between);
            assert!(!with(&CompareOptions { level, ..exact() }, &left, right).equal);
        }
    }
    let mut right = left[..8].to_vec();
    right[7].note = Some("8".into());
    let options = CompareOptions { level: Level::Order, cut_to_common_length: true, ..exact() };
    assert_eq!(with(&options, &left, &right).semantic, 1);
}

#[test]
fn a_last_event_that_differs_is_not_cut() {
    let left = trace("0,C,0,T,A,0,start\n6,C,0,T,A,0,terminate");
    for last in ["6,C,0,T,A,0,preempt", "6,D,0,T,B,0,terminate", "5,C,0,T,A,0,terminate"] {
        let right = trace(&format!("0,C,0,T,A,0,start\n{last}"));
        for level in [Level::Exact, Level::Order, Level::Timing] {
            let options = CompareOptions { level, cut_to_common_length: true, ..exact() };
            assert!(!with(&options, &left, &right).equal, "{level:?} {last}");
            assert!(!with(&options, &right, &left).equal, "{level:?} {last}");
        }
    }
}

#[test]
fn aligned_traces_begin_at_zero() {
    let left = early();
    let mut right = left.clone();
    right.iter_mut().for_each(|e| e.time += 1_000_000);
    let mut options = exact();
    assert_eq!(with(&options, &left, &right).temporal, 11);
    options.align = true;
    assert!(with(&options, &left, &right).equal);
    // Lines have the times of their file.
    right[3].time += 1;
    let first = with(&options, &left, &right).first.unwrap();
    assert!(first.difference.right.unwrap().text.starts_with("1000021,"));
}

#[test]
fn what_has_no_effect_is_said() {
    let left = early();
    let mut options = CompareOptions {
        rename: vec![("Zork".into(), "T_1".into()), ("T_2".into(), "T_2".into())],
        ignore_types: vec!["isr".into(), "sig".into()],
        ignore_entities: vec!["Zork".into(), "STI_1".into()],
        action_tolerances: ["foo", "START"]
            .map(|a| (a.into(), Tolerance { ticks: 1, per_mille: 0 }))
            .to_vec(),
        ..timing(1, 0)
    };
    let unused = with(&options, &left, &left).unused;
    assert_eq!(unused, ["rename Zork=T_1", "ignore Zork", "ignore isr", "tolerance foo"]);
    options = CompareOptions { level: Level::Order, collapse_ignored_isrs: true, ..timing(1, 0) };
    options.action_tolerances = vec![("start".into(), options.tolerance)];
    assert_eq!(with(&options, &left, &left).unused, ["tolerance", "tolerance start", "collapse-isrs"]);
    assert!(with(&exact(), &left, &left).unused.is_empty());
}

#[test]
fn a_replaced_entity_counts_on_the_rows_of_both() {
    let left = early();
    let mut right = left.clone();
    right.iter_mut().filter(|e| e.target == "R_1").for_each(|e| e.target = "R_9".into());
    for level in [Level::Exact, Level::Order] {
        let result = with(&CompareOptions { level, ..exact() }, &left, &right);
        assert_eq!((result.semantic, result.only_left, result.only_right), (2, 0, 0));
        let row = |name: &str| {
            let row = result.entities.iter().find(|e| e.entity == name).unwrap();
            (row.left, row.right, row.semantic)
        };
        assert_eq!((row("R_1"), row("R_9"), row("T_1")), ((2, 0, 2), (0, 2, 2), (3, 3, 0)), "{level:?}");
    }
    // The same if the event is then in another sequence.
    right.iter_mut().filter(|e| e.target == "T_2").for_each(|e| e.target = "T_9".into());
    let result = with(&CompareOptions { level: Level::Order, ..exact() }, &left, &right);
    let rows: Vec<_> =
        result.entities.iter().filter(|e| e.kind == "T").map(|e| (&*e.entity, e.semantic)).collect();
    assert_eq!(rows, [("T_1", 0), ("T_2", 3), ("T_9", 3)]);
    assert_eq!((result.semantic, result.only_left, result.only_right), (5, 0, 0));
}

#[test]
fn a_relative_tolerance_is_of_the_interval() {
    let period = |late: i64| {
        let mut text = String::new();
        for n in 0..100 {
            let t = 1000 * n + if n == 60 { late } else { 0 };
            text += &format!("{t},S,{n},T,A,{n},activate\n{},C,0,T,A,{n},start\n", t + 100);
        }
        trace(&text)
    };
    let (left, mut right) = (period(0), period(250));
    // 1000 ticks since the activation before, and 1250: 200 per mille, however far into the trace. The next
    // one is as much earlier.
    assert!(with(&timing(0, 250), &left, &right).equal);
    assert_eq!(with(&timing(0, 200), &left, &right).temporal, 1);
    assert_eq!(with(&timing(0, 199), &left, &right).temporal, 2);
    // The zero of the clock does not matter, aligned or not.
    right.iter_mut().for_each(|e| e.time += 7);
    for align in [false, true] {
        let of = |per_mille| with(&CompareOptions { align, ..timing(0, per_mille) }, &left, &right).temporal;
        assert_eq!([of(250), of(200), of(199)], [0, 1, 2]);
    }
}
