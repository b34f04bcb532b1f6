//! Inserted, deleted and changed events are reported as such.

use super::super::Level;
use super::super::result::DifferenceKind;
use super::{Owned, at, early, trace};

/// A task that runs ten times with a runnable that reads the same signal often.
fn busy() -> Vec<Owned> {
    let mut text = String::new();
    for n in 0..10 {
        let t = n * 100;
        text += &format!(
            "{t},SIM,-1,STI,S,{n},trigger\n{t},S,{n},T,A,{n},activate\n{t},C_0,0,T,A,{n},start\n\
             {},A,{n},R,R,{n},start\n",
            t + 1
        );
        for k in 0..5 {
            text += &format!("{},A,{n},SIG,X,0,read,{}\n", t + 2 + k, k % 2);
        }
        text += &format!("{},A,{n},R,R,{n},terminate\n{},C_0,0,T,A,{n},terminate\n", t + 9, t + 9);
    }
    trace(&text)
}

const LEVELS: [Level; 3] = [Level::Exact, Level::Order, Level::Timing];

#[test]
fn two_changed_lines_are_those_two_lines() {
    let left = busy();
    for (a, b) in [(3, 50), (2, 60), (8, 9), (24, 108), (0, 109), (1, 2), (4, 5)] {
        let mut right = left.clone();
        right[a].target = "Z".into();
        right[b].action = "other".into();
        for level in LEVELS {
            let result = at(level, &left, &right);
            let lines: Vec<_> = result
                .differing
                .iter()
                .map(|d| [&d.left, &d.right].map(|l| l.as_ref().and_then(|l| l.place.line)))
                .collect();
            let want = [a, b].map(|n| [Some(n as u64 + 1); 2]);
            assert_eq!(lines, want, "{level:?} {a} {b} {:#?}", result.differing);
            assert_eq!((result.semantic, result.temporal), (2, 0));
        }
    }
}

#[test]
fn a_changed_core_does_not_spread() {
    let left = busy();
    let mut right = left.clone();
    right[2].source = "C_1".into();
    for level in LEVELS {
        let result = at(level, &left, &right);
        assert_eq!((result.semantic, result.only_left + result.only_right), (1, 0), "{result:#?}");
        assert_eq!(result.differing[0].fields, ["source"]);
    }
}

#[test]
fn an_inserted_event_is_one_difference() {
    let left = busy();
    for n in [0, 4, 17, 40, 110] {
        let mut right = left.clone();
        let mut extra = left[n.min(109)].clone();
        extra.target = "EXTRA".into();
        right.insert(n, extra);
        for level in LEVELS {
            let there = at(level, &left, &right);
            assert_eq!((there.only_right, there.only_left, there.semantic), (1, 0, 0), "{there:#?}");
            assert_eq!(there.differing[0].right.as_ref().unwrap().place.line, Some(n as u64 + 1));
            let back = at(level, &right, &left);
            assert_eq!((back.only_left, back.only_right, back.semantic), (1, 0, 0));
            assert_eq!(back.first.unwrap().difference.kind, DifferenceKind::OnlyLeft);
        }
    }
}

#[test]
fn a_deleted_event_is_one_difference() {
    let left = busy();
    for n in 0..left.len() {
        let mut right = left.clone();
        right.remove(n);
        for level in LEVELS {
            let result = at(level, &left, &right);
            assert_eq!((result.only_left, result.only_right, result.semantic), (1, 0, 0), "{n} {result:#?}");
            assert!(!result.equal);
        }
    }
}

#[test]
fn a_deleted_block_is_as_many_differences() {
    let left = busy();
    let right: Vec<Owned> = left.iter().take(20).chain(left.iter().skip(75)).cloned().collect();
    for level in LEVELS {
        let result = at(level, &left, &right);
        assert_eq!(
            (result.only_left, result.only_right, result.semantic),
            (55, 0, 0),
            "{:#?}",
            result.differing
        );
        assert_eq!(result.differing.len(), 20);
    }
}

#[test]
fn a_time_is_a_temporal_difference_at_exact_only() {
    let left = early();
    let mut right = left.clone();
    right[5].time += 1;
    let exact = at(Level::Exact, &left, &right);
    assert_eq!((exact.temporal, exact.semantic, exact.equal), (1, 0, false));
    assert_eq!(exact.differing[0].fields, ["time"]);
    assert_eq!(exact.strict.unwrap().temporal, 1);
    assert!(at(Level::Order, &left, &right).equal);
    let r_1 = exact.entities.iter().find(|e| e.entity == "R_1").unwrap();
    assert_eq!((r_1.left, r_1.right, r_1.temporal, r_1.semantic), (2, 2, 1, 0));
}

#[test]
fn context_is_three_before_and_three_after_in_the_sequence() {
    let left = busy();
    let mut right = left.clone();
    right[17].note = Some("9".into());
    let first = at(Level::Order, &left, &right).first.unwrap();
    assert_eq!(first.difference.sequence, "task A instance 1");
    let lines: Vec<_> = first.left_context.iter().map(|l| l.place.line.unwrap()).collect();
    assert_eq!(lines, [15, 16, 17, 19, 20, 21]);
    let lines: Vec<_> = first.right_context.iter().map(|l| l.place.line.unwrap()).collect();
    assert_eq!(lines, [15, 16, 17, 19, 20, 21]);
}

#[test]
fn accesses_of_two_cores_to_a_signal_may_interleave() {
    let left = trace(
        "0,C_0,0,T,A,0,start
         0,C_1,0,T,B,0,start
         1,A,0,SIG,X,0,write,1
         2,B,0,SIG,X,0,write,2
         3,A,0,SEM,M,0,requestsemaphore
         3,M,0,SEM,M,0,lock",
    );
    let mut right = left.clone();
    right.swap(2, 3);
    right.swap(4, 5);
    assert!(at(Level::Order, &left, &right).equal);
    // The spelling of a type does not count at this level.
    right[0].kind = "t".into();
    assert!(at(Level::Order, &left, &right).equal);
    assert!(!at(Level::Exact, &left, &right).equal);
}
