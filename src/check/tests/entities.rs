//! Entities in doubt: names of two types, instances that never existed, causes that are not written.

use super::{check, check_events, ids};
use crate::btf::spec::Version;
use crate::diagnostics::Severity;

const OLD: Version = Version::V2_1_5;
const MID: Version = Version::V2_2_1;
const NEW: Version = Version::V2_3_0;

#[test]
fn a_name_of_two_types_is_reported_once() {
    let run = |n: u32| {
        let lines = ["S,#,T,A,#,activate", "C,0,T,A,#,start", "A,#,R,A,#,start", "A,#,SIG,X,0,read"];
        let end = ["A,#,R,A,#,terminate", "C,0,T,A,#,terminate"];
        let lines =
            lines.iter().chain(&end).map(|line| format!("{n},{}\n", line.replace('#', &n.to_string())));
        lines.collect::<String>()
    };
    let report = check_events(MID, &(0..3).map(run).collect::<String>());
    assert_eq!(ids(&report, Severity::Info), ["name-of-two-types"], "{:#?}", report.findings);
    assert_eq!(report.violations(Severity::Info), 1);
    // The type of an activated core is not certain: the source may be what is wrong.
    let core = check_events(MID, "0,C,0,T,A,0,start\n1,S,0,T,C,0,activate");
    assert_eq!(ids(&core, Severity::Info), ["source-kind"]);
    assert!(core.findings[0].first[0].message.contains("a name of two types"));
}

/// Some loggers name the previous task in place of the core, also tasks that have no event.
#[test]
fn the_previous_task_is_not_a_core() {
    let begin = "0,S,0,T,A,0,activate\n0,S,0,T,B,0,activate\n1,B,0,T,A,0,start\n2,A,0,T,A,0,preempt\n";
    let previous =
        format!("{begin}3,B,0,T,A,0,resume\n4,X,0,T,A,0,preempt\n5,B,0,T,A,0,resume\n6,Y,0,T,A,0,preempt");
    let found = ids(&check_events(MID, &previous), Severity::Info);
    assert!(!found.contains(&"core-changed"), "{found:?}");
    let cores = previous.replace(",B,0,T,A", ",X,0,T,A").replace(",A,0,T,A", ",X,0,T,A");
    assert!(ids(&check_events(MID, &cores), Severity::Info).contains(&"core-changed"));
}

/// Numbers of tasks, without a name when no task ran, in a trace that has no event of its cores.
#[test]
fn the_number_of_a_task_is_not_a_core() {
    let text = "0,Core_0,0,T,[0/0001]A,0,preempt\n1,[0/0000],0,T,[0/0001]A,0,resume\n2,Core_0,0,T,[0/0001]A,0,preempt\n3,(0002),0,T,[0/0001]A,0,resume\n4,Core_0,0,T,[0/0001]A,0,preempt";
    let found = ids(&check_events(MID, text), Severity::Info);
    assert!(!found.contains(&"core-changed"), "{found:?}");
}

#[test]
fn an_empty_name_is_the_only_fault_of_its_line() {
    for text in [
        "5,C,0,T,,0,start\n6,C,0,T,A,0,start",
        "5,,0,T,A,0,start\n6,C,0,T,A,0,terminate\n7,C,0,T,B,0,start",
        "5,,0,R,F,0,start\n6,A,0,R,F,0,terminate\n7,A,0,R,F,1,start",
        "5,A,0,R,F,0,start\n6,,0,R,F,0,terminate",
        "5,C,0,T,,0,start\n6,A,0,R,,0,start",
    ] {
        assert_eq!(ids(&check_events(MID, text), Severity::Info), ["empty-field"], "{text}");
    }
}

#[test]
fn an_ended_instance_is_remembered_and_an_older_one_is_not_invented() {
    let ended = "0,S,4,T,A,4,activate\n1,C,0,T,A,4,start\n2,C,0,T,A,4,terminate\n3,C,0,T,A,4,preempt";
    assert_eq!(ids(&check_events(MID, ended), Severity::Info), ["process-transition"]);
    // Instance 3 was alive before the trace.
    let older = "0,S,4,T,A,4,activate\n1,C,0,T,A,3,resume\n2,C,0,T,A,3,terminate\n3,C,0,T,A,4,start";
    assert_eq!(ids(&check_events(MID, older), Severity::Info), [] as [&str; 0]);
    let older_twice = "0,C,0,T,A,3,terminate\n1,C,0,T,A,3,terminate";
    assert_eq!(ids(&check_events(MID, older_twice), Severity::Info), ["process-transition"]);
}

#[test]
fn an_instance_that_never_was_does_nothing() {
    let activated = |line: &str| format!("0,S,0,T,A,0,activate\n1,C,0,T,A,0,start\n2,{line}");
    for (line, rule, message) in [
        ("A,5,SIG,X,0,read", "source-not-running", "'A' instance 5 is not activated yet"),
        ("A,3,R,F,0,start", "runnable-off-core", "the process is not activated yet"),
        ("D,0,T,A,1,start", "process-transition", "start while not activated yet"),
        ("A,0,R,F,0,start\n2,A,0,R,F,1,suspend", "runnable-transition", "suspend while not started yet"),
    ] {
        let report = check_events(MID, &activated(line));
        assert_eq!(ids(&report, Severity::Info), [rule], "{line}");
        assert_eq!(report.findings[0].first[0].message, message);
    }
    // If activations are not recorded, or the instance can be older than the trace, nothing is known of it.
    assert_eq!(
        ids(&check_events(MID, "0,C,0,T,A,0,start\n2,A,5,SIG,X,0,read"), Severity::Info),
        [] as [&str; 0]
    );
    let older = "0,S,4,T,A,4,activate\n1,A,3,SIG,X,0,read\n2,A,2,R,F,0,start";
    assert_eq!(ids(&check_events(MID, older), Severity::Info), [] as [&str; 0]);
}

/// A writer suspends a runnable during a call: a call while suspended is not recorded anywhere.
#[test]
fn callers_that_are_suspended_for_a_call_are_no_error() {
    let text = "0,A,0,R,F,0,start\n0,A,0,R,F,0,suspend\n0,A,0,R,G,0,start\n1,A,0,R,G,0,suspend\n1,C,0,T,A,0,preempt\n\
                2,C,0,T,A,0,resume\n2,A,0,R,G,0,resume\n3,A,0,R,G,0,terminate\n3,A,0,R,F,0,resume\n\
                4,A,0,R,F,0,terminate\n4,C,0,T,A,0,terminate";
    let report = check_events(MID, text);
    assert_eq!(ids(&report, Severity::Info), ["runnable-start-order"], "{:#?}", report.findings);
    assert_eq!(report.violations(Severity::Error), 0);
    let message = &report.findings[0].first[0].message;
    assert_eq!(message, "runnable 'F' instance 0 may have called it and is suspended");
    // Of three, the inner two call each other while they run.
    let text = "0,A,0,R,F,0,suspend\n0,A,0,R,G,0,start\n0,A,0,R,H,0,start\n1,A,0,R,G,0,terminate";
    assert_eq!(
        ids(&check_events(MID, text), Severity::Info),
        ["runnable-start-order", "runnable-terminate-order"]
    );
}

#[test]
fn no_message_has_a_word_of_the_program() {
    let text = "5,A,0,SEM,M,0,requestsemaphore\n6,A,0,SEM,M,0,queued\n7,A,0,SEM,M,0,released";
    let report = check_events(MID, text);
    assert_eq!(report.findings[0].first[0].message, "released right after queued");
    let report = check_events(MID, "5,A,0,R,F,0,start\n6,C,0,T,A,0,terminate");
    assert_eq!(report.findings[0].first[0].message, "runnable 'F' instance 0 is open");
}

#[test]
fn a_stimulus_is_triggered_before_it_causes_something_where_triggers_are_recorded() {
    let activations = |from: i64| {
        (from..from + 3).map(|n| format!("{},S,{n},T,A,{n},activate\n", 10 * n)).collect::<String>()
    };
    let faults = |text: &str| {
        let report = check_events(MID, text);
        assert!(ids(&report, Severity::Info).iter().all(|id| *id == "stimulus-order"), "{text}");
        report.violations(Severity::Info)
    };
    // As in the listings of the specifications: a trace without triggers.
    assert_eq!(faults(&activations(0)), 0);
    // Never triggered, in a trace that has triggers; the first activation is at the begin of the trace.
    assert_eq!(faults(&format!("{}90,U,0,STI,U,0,trigger", activations(0))), 2);
    assert_eq!(faults(&format!("0,U,0,STI,U,0,trigger\n{}", activations(3))), 2);
    // First triggered afterwards.
    assert_eq!(faults(&format!("{}50,S,5,STI,S,5,trigger", activations(0))), 2);
    // In the wrong order each time.
    assert_eq!(
        faults(
            "0,C,0,T,B,0,start\n5,S,0,T,A,0,activate\n5,S,0,STI,S,0,trigger\n6,S,1,T,A,1,activate\n6,S,1,STI,S,1,trigger"
        ),
        2
    );
    // Triggered before the trace, and again in it.
    let middle = "0,U,7,STI,U,7,trigger\n1,S,4,T,A,9,activate\n1,S,4,T,B,2,activate\n2,S,5,STI,S,5,trigger\n2,S,5,T,A,10,activate";
    assert_eq!(faults(middle), 0);
}

#[test]
fn the_note_of_set_event_names_a_process_that_may_come_later() {
    let set = "5,A,0,EVENT,E,0,set_event,B\n";
    for later in
        ["6,C,0,T,B,0,start", "6,C,0,I,B,0,start", "6,B,0,SIG,X,0,read", "6,B,0,SCHED,Os,0,schedulepoint"]
    {
        assert_eq!(
            ids(&check_events(MID, &format!("{set}{later}")), Severity::Info),
            [] as [&str; 0],
            "{later}"
        );
    }
    let text =
        "#version 2.2.1\n#timescale ns\n#entityMapping 7 B\n5,A,0,EVENT,E,0,set_event,7\n6,C,0,T,B,0,start";
    assert_eq!(ids(&check(text), Severity::Info), [] as [&str; 0]);
}

#[test]
fn a_write_needs_a_value_until_2_1_5() {
    // 2.1.5 table 17 demands it; 2.3.0 table 2-36: the note "can be used".
    let write = "5,A,0,SIG,X,0,write";
    for (version, faults) in [(OLD, vec!["note-missing"]), (MID, vec![]), (NEW, vec![])] {
        assert_eq!(ids(&check_events(version, write), Severity::Info), faults, "{version}");
    }
}

#[test]
fn a_file_without_instances_can_be_checked() {
    let text = "0,C,,T,A,,start\n1,A,,R,F,,start\n2,A,,R,F,,terminate\n3,C,,T,A,,terminate\n4,C,,T,A,,start";
    assert_eq!(ids(&check_events(OLD, text), Severity::Info), ["empty-instance"]);
}
