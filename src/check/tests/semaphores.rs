//! Accesses to semaphores: what the chapter forbids, and what only looks like it.

use super::{CheckOptions, check_events, check_with, ids};
use crate::btf::spec::Version;
use crate::diagnostics::Severity;

const OLD: Version = Version::V2_1_5;
const MID: Version = Version::V2_2_1;
const NEW: Version = Version::V2_3_0;

/// Two tasks that run on two cores, and a semaphore that is free.
const BEGIN: &str = "0,M,0,SEM,M,0,FREE
0,S,0,T,A,0,activate
1,C,0,T,A,0,start
1,S,0,T,B,0,activate
2,D,0,T,B,0,start
";

/// The rules that are broken by lines after `BEGIN`, each with the number of its violations.
fn broken(version: Version, lines: &[&str]) -> Vec<(&'static str, u64)> {
    let ready = if version == OLD { "ready" } else { "free" };
    let text = BEGIN.replace("FREE", ready) + &lines.join("\n");
    let report = check_events(version, &text);
    report
        .findings
        .iter()
        .filter(|f| f.rule.severity >= Severity::Warning)
        .map(|f| (f.rule.id, f.count))
        .collect()
}

#[test]
fn a_locked_semaphore_has_one_owner() {
    let taken = ["3,A,0,SEM,M,0,requestsemaphore", "3,M,0,SEM,M,0,lock", "3,A,0,SEM,M,0,assigned"];
    let second = ["4,B,0,SEM,M,0,requestsemaphore", "4,B,0,SEM,M,0,assigned"];
    for version in Version::ALL {
        let given_back = ["4,A,0,SEM,M,0,released", "4,M,0,SEM,M,0,unlock"];
        let again = ["5,B,0,SEM,M,0,requestsemaphore", "5,M,0,SEM,M,0,lock", "5,B,0,SEM,M,0,assigned"];
        assert_eq!(broken(version, &[&taken[..], &given_back, &again].concat()), []);
        assert_eq!(broken(version, &[&taken[..], &second].concat()), [("semaphore-owner", 1)]);
        // With a waiter, and after it is no longer waited for.
        let waiting = ["4,B,0,SEM,M,0,requestsemaphore", "4,M,0,SEM,M,0,overfull", "4,B,0,SEM,M,0,waiting"];
        let passed = ["5,A,0,SEM,M,0,released", "5,M,0,SEM,M,0,full", "5,B,0,SEM,M,0,assigned"];
        assert_eq!(broken(version, &[&taken[..], &waiting, &passed].concat()), []);
        let taken_twice = ["5,M,0,SEM,M,0,full", "5,B,0,SEM,M,0,assigned"];
        assert_eq!(broken(version, &[&taken[..], &waiting, &taken_twice].concat()), [("semaphore-owner", 1)]);
        // A process that ended with the semaphore does not have it any more.
        let ended = ["4,C,0,T,A,0,terminate", "5,B,0,SEM,M,0,released", "5,M,0,SEM,M,0,unlock"];
        assert_eq!(broken(version, &[&taken[..], &ended].concat()), []);
    }
}

#[test]
fn a_counting_semaphore_has_as_many_owners_as_room() {
    let request = |time: i32, process: &str| format!("{time},{process},0,SEM,M,0,requestsemaphore");
    let line = |time: i32, text: &str| format!("{time},{text}");
    let two = [
        request(3, "A"),
        line(3, "M,0,SEM,M,0,used,1"),
        line(3, "A,0,SEM,M,0,assigned"),
        request(4, "B"),
        line(4, "M,0,SEM,M,0,lock_used,2"),
        line(4, "B,0,SEM,M,0,assigned"),
    ];
    let third = [request(5, "X"), line(5, "X,0,SEM,M,0,assigned")];
    let lines = |parts: &[&[String]]| parts.concat();
    let check = |lines: Vec<String>| broken(MID, &lines.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(check(lines(&[&two])), []);
    assert_eq!(check(lines(&[&two, &third])), [("semaphore-owner", 1)]);
}

#[test]
fn the_steps_of_an_access_come_in_order() {
    for version in Version::ALL {
        let order = [("semaphore-order", 1)];
        assert_eq!(broken(version, &["3,A,0,SEM,M,0,assigned"]), order);
        assert_eq!(broken(version, &["3,A,0,SEM,M,0,waiting"]), order);
        assert_eq!(broken(version, &["3,A,0,SEM,M,0,released"]), order);
        let twice = [
            "3,A,0,SEM,M,0,requestsemaphore",
            "3,M,0,SEM,M,0,lock",
            "3,A,0,SEM,M,0,assigned",
            "4,A,0,SEM,M,0,released",
            "4,A,0,SEM,M,0,released",
        ];
        assert_eq!(broken(version, &twice), order);
        let again = [&twice[..4], &["4,M,0,SEM,M,0,unlock", "5,M,0,SEM,M,0,lock", "6,A,0,SEM,M,0,released"]];
        assert_eq!(broken(version, &again.concat()), order);
        let early = ["3,A,0,SEM,M,0,requestsemaphore", "3,A,0,SEM,M,0,decrement"];
        assert_eq!(broken(version, &early)[0], order[0]);
    }
    // The listing of 2.1.5 has the increment first; since 2.2.0 it follows the request.
    let first = [
        "3,A,0,SEM,M,0,increment",
        "3,A,0,SEM,M,0,requestsemaphore",
        "3,M,0,SEM,M,0,lock",
        "3,A,0,SEM,M,0,assigned",
        "4,A,0,SEM,M,0,released",
        "4,A,0,SEM,M,0,decrement",
        "4,M,0,SEM,M,0,unlock",
    ];
    assert_eq!(broken(OLD, &first), []);
    assert_eq!(broken(NEW, &first)[0].0, "semaphore-order");
}

#[test]
fn the_counter_goes_up_and_down_by_one() {
    let counted = |notes: [&str; 6]| {
        let [request, increment, lock, released, decrement, unlock] = notes;
        [
            format!("3,A,0,SEM,M,0,requestsemaphore,{request}"),
            format!("3,A,0,SEM,M,0,increment,{increment}"),
            format!("3,M,0,SEM,M,0,lock,{lock}"),
            format!("3,A,0,SEM,M,0,assigned,{lock}"),
            format!("4,A,0,SEM,M,0,released,{released}"),
            format!("4,A,0,SEM,M,0,decrement,{decrement}"),
            format!("4,M,0,SEM,M,0,unlock,{unlock}"),
        ]
    };
    for version in Version::ALL {
        let check = |notes| {
            let lines = counted(notes);
            broken(version, &lines.iter().map(String::as_str).collect::<Vec<_>>())
        };
        assert_eq!(check(["0", "1", "1", "1", "0", "0"]), []);
        let counter = [("semaphore-counter", 1)];
        assert_eq!(check(["0", "1", "2", "1", "0", "0"])[0].0, "semaphore-counter");
        assert_eq!(check(["0", "1", "1", "1", "-1", "0"]), counter);
        assert_eq!(check(["0", "1", "1", "1", "0", "3"]), counter);
    }
}

#[test]
fn an_exclusive_request_succeeds_only_at_zero() {
    let used = ["3,A,0,SEM,M,0,requestsemaphore", "3,M,0,SEM,M,0,used", "3,A,0,SEM,M,0,assigned"];
    let alone = ["5,B,0,SEM,M,0,exclusivesemaphore", "5,B,0,SEM,M,0,assigned"];
    let free = ["4,A,0,SEM,M,0,released", "4,M,0,SEM,M,0,free"];
    assert_eq!(broken(OLD, &[&used[..], &alone].concat()), [("semaphore-exclusive", 1)]);
    assert_eq!(broken(OLD, &[&used[..], &free, &alone].concat()), []);
}

#[test]
fn a_trace_that_leaves_things_out_breaks_nothing() {
    // A kernel that sees a mutex only when two want it: no states, and what was not contended is not there.
    let contended =
        "1,S,0,T,A,0,activate\n1,C,0,T,A,0,start\n2,A,0,SEM,M,0,requestsemaphore\n3,A,0,SEM,M,0,waiting
4,C,0,T,A,0,wait\n4,S,1,T,B,0,activate\n4,C,0,T,B,0,start\n5,B,0,SEM,M,0,released
6,C,0,T,A,0,release\n7,C,0,T,B,0,preempt\n8,C,0,T,A,0,resume\n9,A,0,SEM,M,0,assigned
10,A,0,SEM,M,0,requestsemaphore\n10,A,0,SEM,M,0,assigned";
    // A trace that begins while the semaphore is taken, and one without processes.
    let middle = "5,A,0,SEM,M,0,released\n5,M,0,SEM,M,0,unlock\n6,M,0,SEM,M,0,lock\n7,M,0,SEM,M,0,unlock";
    for version in Version::ALL {
        for text in [contended, middle] {
            assert_eq!(
                ids(&check_events(version, text), Severity::Warning),
                [] as [&str; 0],
                "{version}\n{text}"
            );
        }
    }
}

#[test]
fn who_took_it_in_a_gap_may_give_it_back() {
    let before = "1,A,0,SEM,M,0,requestsemaphore\n1,M,0,SEM,M,0,lock\n1,A,0,SEM,M,0,assigned
2,A,0,SEM,M,0,released\n2,M,0,SEM,M,0,unlock";
    let gap = "# gap of C: fifo_overflow, from 0 to 4 ns";
    let seen = "3,M,0,SEM,M,0,lock\n5,B,0,SEM,M,0,released\n5,M,0,SEM,M,0,unlock";
    let check = |text: &str| {
        let options = CheckOptions { version: Some(OLD), header: true };
        let ids = ids(&check_with(options, &format!("#version 2.1.5\n{text}")), Severity::Error);
        ids.into_iter().filter(|id| id.starts_with("semaphore")).collect::<Vec<_>>()
    };
    assert_eq!(check(&format!("{gap}\n{before}\n{seen}")), [] as [&str; 0]);
    assert_eq!(check(&format!("{before}\n{seen}")), ["semaphore-order"]);
    assert_eq!(check(&format!("{gap}\n{before}\n5,B,0,SEM,M,0,released")), ["semaphore-order"]);
}
