//! Every rule is broken by at least one small trace, alone, and is described.

use super::{check, check_events, check_with, ids};
use crate::btf::spec::Version;
use crate::check::{Checker, Options, RULES};
use crate::diagnostics::{Severity, excerpt};
use std::collections::BTreeSet;

const OLD: Version = Version::V2_1_5;
const MID: Version = Version::V2_2_1;
const NEW: Version = Version::V2_3_0;

/// Headers that break one rule.
const HEADERS: &[(&str, &str)] = &[
    ("version-missing", "#timescale ns"),
    ("version-not-first", "# a comment\n#version 2.2.1\n#timescale ns"),
    ("version-unknown", "#version 9.9\n#timescale ns"),
    ("timescale-missing", "#version 2.2.1"),
    ("timescale-unit", "#version 2.2.1\n#timescale h"),
    ("creation-date-format", "#version 2.2.1\n#timescale ns\n#creationDate Aug 21 2022 03:55:38"),
    ("creation-date-format", "#version 2.2.1\n#timescale ns\n#creationDate 2022-13-21T03:55:38Z"),
    ("creation-date-not-utc", "#version 2.2.1\n#timescale ns\n#creationDate 2022-08-21T03:55:38.5+02:00"),
    ("parameter-repeated", "#version 2.2.1\n#timescale ns\n#creator a\n#creator b"),
    ("parameter-late", "#version 2.2.1\n#timescale ns\n0,C,0,T,A,0,start\n#creator b"),
    ("parameter-empty", "#version 2.2.1\n#timescale ns\n#creator"),
    ("parameter-spelling", "#version 2.2.1\n#TIMESCALE ns"),
    ("timescale-spelling", "#version 2.2.1\n#timeScale ns"),
    ("parameter-of-other-version", "#version 2.2.1\n#timescale ns\n#inputFile a"),
    ("parameter-of-other-version", "#version 2.1.5\n#typeMapping 0 T"),
    ("unknown-parameter", "#version 2.2.1\n#timescale ns\n#scenario 7"),
    ("table-syntax", "#version 2.2.1\n#timescale ns\n#typeMapping T 0"),
    ("table-row-alone", "#version 2.1.5\n#-0 T"),
    ("table-id-repeated", "#version 2.2.1\n#timescale ns\n#typeMapping 0 T\n#typeMapping 0 R"),
    ("table-reference", "#version 2.2.1\n#timescale ns\n#entityTypeMapping 0 A"),
    ("mapping-late", "#version 2.2.1\n#timescale ns\n0,C,0,T,A,0,start\n#typeMapping 0 T"),
    ("mapping-late", "#version 2.2.1\n#timescale ns\n0,C,0,T,A,0,start\n#entityMapping 0 A"),
    ("mapping-late", "#version 2.2.1\n#timescale ns\n0,C,0,T,A,0,start\n#entityTypeMapping T A"),
    ("not-utf8", "#version 2.2.1\n#timescale ns\n# \u{fffd}"),
    ("unreadable-line", "#version 2.2.1\n#timescale ns\n0,C,0"),
    ("unknown-type", "#version 2.1.5\n#typeTable\n#-0 Q"),
    ("name-of-two-types", "#version 2.2.1\n#timescale ns\n#entityTypeMapping T A\n#entityTypeMapping R A"),
    ("source-kind", "#version 2.2.1\n#timescale ns\n0,C,0,T,A,0,start\n#entityTypeMapping R C"),
];

/// Events that break one rule.
#[rustfmt::skip]
const EVENTS: &[(&str, Version, &str)] = &[
    ("time-decreases", MID, "5,C,0,T,A,0,start\n4,C,0,T,A,0,terminate"),
    ("negative-time", MID, "-5,C,0,T,A,0,start"),
    ("not-utf8", MID, "5,C\u{fffd},0,T,A,0,start"),
    ("not-utf8", MID, "5,C,0,T,A\u{fffd},0,start"),
    ("not-utf8", OLD, "5,A,0,SIM,SIM,-1,tag,n\u{fffd}me"),
    ("empty-field", MID, "5,,0,T,A,0,start"),
    ("unknown-type", MID, "5,C,0,Q,A,0,start"),
    ("type-of-other-version", MID, "5,SIM,0,SYS,SYSTEM,0,start"),
    ("type-alias", MID, "5,C,0,ISR,A,0,start"),
    ("unknown-action", MID, "5,C,0,T,A,0,begin"),
    ("action-not-for-type", MID, "5,C,0,T,A,0,trigger"),
    ("action-of-other-version", MID, "5,M,0,SEM,M,0,ready"),
    ("action-of-other-version", OLD, "5,Os,0,I,A,0,interrupt_suspended"),
    ("action-alias", OLD, "5,S,0,T,A,0,mpalimitexceeded"),
    ("action-alias", MID, "5,C,0,T,A,0,START"),
    ("vendor-action", MID, "5,C0,0,C,C0,0,set_frequence,8"),
    ("empty-instance", MID, "5,C,,T,A,0,start"),
    ("empty-instance", OLD, "5,C,0,T,A,,start"),
    ("negative-instance", MID, "5,C,-1,T,A,0,start"),
    ("negative-instance", OLD, "5,C,-1,T,A,0,start\n6,C,0,C,C,0,idle"),
    ("instance-not-zero", MID, "5,A,0,SIG,X,1,read"),
    ("instance-not-zero", MID, "5,C,1,T,A,0,start"),
    ("instance-not-zero", MID, "5,Os,1,I,A,0,interrupt_suspended"),
    ("note-missing", MID, "5,A,0,EVENT,E,0,set_event"),
    ("note-missing", OLD, "5,A,0,SIG,X,0,write,"),
    ("note-unused", MID, "5,C,0,T,A,0,start,now"),
    ("note-not-number", MID, "5,A,0,SIG,X,0,write,high"),
    ("note-not-process", MID, "5,A,0,SIG,X,0,read\n5,A,0,EVENT,E,0,set_event,X"),
    ("note-not-process", MID, "5,C,0,T,A,0,start\n5,A,0,EVENT,E,0,set_event,C"),
    ("note-not-process", MID, "5,A,0,EVENT,E,0,set_event,X\n5,A,0,SIG,X,0,read"),
    ("note-unknown", MID, "5,A,0,EVENT,E,0,set_event,X\n6,A,0,EVENT,E,0,set_event,X"),
    ("source-kind", MID, "5,C,0,T,A,0,start\n6,A,0,T,B,0,start"),
    ("source-kind", MID, "5,C,0,T,A,0,start\n6,C,0,R,B,0,start"),
    ("source-kind", MID, "5,C,0,T,A,0,start\n6,C,0,SIG,C,0,read"),
    ("source-not-self", MID, "5,M,0,SEM,M,0,lock\n6,M,0,SEM,N,0,lock"),
    ("source-not-self", NEW, "5,S,1,STI,S,0,trigger"),
    ("source-not-running", MID, "5,C,0,T,A,0,preempt\n6,A,0,SIG,X,0,read"),
    ("name-of-two-types", MID, "5,C,0,T,A,0,start\n6,A,0,R,A,0,start"),
    ("name-of-two-types", MID, "5,C,0,T,A,0,start\n6,A,0,R,A,0,start\n7,A,0,R,A,0,terminate\n8,C,0,T,A,0,terminate"),
    ("sim-trigger", MID, "5,SIM,0,STI,S,0,trigger"),
    ("sim-source", MID, "5,SIM,0,SIG,X,0,read"),
    ("process-transition", MID, "5,C,0,T,A,0,start\n6,C,0,T,A,0,resume"),
    ("runnable-transition", MID, "5,A,0,R,F,0,start\n6,A,0,R,F,0,resume"),
    ("semaphore-transition", MID, "5,M,0,SEM,M,0,lock\n6,M,0,SEM,M,0,lock"),
    ("process-instance", MID, "5,S,0,T,A,0,activate\n6,S,1,T,A,2,activate"),
    ("runnable-instance", MID, "5,A,0,R,F,0,start\n6,A,0,R,F,2,start"),
    ("stimulus-instance", MID, "5,S,0,STI,S,0,trigger\n6,S,2,STI,S,2,trigger"),
    ("stimulus-order", MID, "5,S,0,STI,S,0,trigger\n6,S,1,T,A,0,activate"),
    ("stimulus-order", MID, "5,S,0,T,A,0,activate\n5,S,0,STI,S,0,trigger"),
    ("stimulus-order", MID, "0,S,0,STI,S,0,trigger\n5,U,0,T,A,0,activate"),
    ("core-occupied", MID, "5,C,0,T,A,0,start\n6,C,0,T,B,0,start"),
    ("core-changed", MID, "5,C,0,T,A,0,start\n6,D,0,T,A,0,preempt"),
    ("core-changed", MID, "5,C,0,T,A,0,wait\n6,D,0,T,A,0,release"),
    ("runnable-process", MID, "5,A,0,R,F,0,start\n6,B,0,R,F,0,terminate"),
    ("runnable-off-core", MID, "5,C,0,T,A,0,preempt\n6,A,0,R,F,0,start"),
    ("runnable-off-core", MID, "4,A,0,R,F,0,suspend\n5,C,0,T,A,0,preempt\n6,A,0,R,F,0,resume\n6,C,0,T,A,0,resume"),
    ("runnable-not-suspended", MID, "5,A,0,R,F,0,start\n6,C,0,T,A,0,preempt\n6,A,0,R,F,0,suspend"),
    ("runnable-start-order", MID, "5,A,0,R,F,0,suspend\n6,A,0,R,G,0,start"),
    ("runnable-suspend-order", MID, "5,A,0,R,F,0,start\n5,A,0,R,G,0,start\n6,A,0,R,F,0,suspend"),
    ("runnable-suspend-order", MID, "5,A,0,R,G,0,start\n6,A,0,R,F,0,suspend"),
    ("runnable-resume-order", MID, "5,A,0,R,G,0,suspend\n5,A,0,R,F,0,suspend\n6,A,0,R,G,0,resume"),
    ("runnable-terminate-order", MID, "5,A,0,R,F,0,start\n5,A,0,R,G,0,start\n6,A,0,R,F,0,terminate"),
    ("runnable-open", MID, "5,A,0,R,F,0,start\n6,C,0,T,A,0,terminate"),
    ("runnable-resume-order", MID, "4,A,0,R,F,0,start\n4,A,0,R,G,0,start\n5,A,0,R,G,0,suspend\n5,A,0,R,F,0,suspend\n6,A,0,R,G,0,resume"),
    ("semaphore-order", MID, "5,A,0,SEM,M,0,requestsemaphore\n6,A,0,SEM,M,0,released"),
    ("semaphore-order", MID, "5,A,0,SEM,M,0,increment\n6,A,0,SEM,M,0,decrement"),
    ("semaphore-order", MID, "1,S,0,T,A,0,activate\n1,C,0,T,A,0,start\n5,B,0,SEM,M,0,requestsemaphore\n6,A,0,SEM,M,0,assigned"),
    ("semaphore-note", NEW, "5,A,0,SEM,M,0,requestsemaphore,1"),
];

#[test]
fn every_rule_is_broken_alone() {
    let mut wrong = Vec::new();
    for (rule, text) in HEADERS {
        let found = ids(&check(text), Severity::Info);
        if found != [*rule] {
            wrong.push(format!("{text:?} breaks {found:?}, not {rule}"));
        }
    }
    for (rule, version, text) in EVENTS {
        // A vendor's core events only say that a name is a core.
        let mut found = ids(&check_events(*version, text), Severity::Info);
        found.retain(|id| *id != "vendor-action" || id == rule);
        if found != [*rule] {
            wrong.push(format!("{version}: {text:?} breaks {found:?}, not {rule}"));
        }
    }
    let options = Options { version: Some(NEW), header: true };
    let found = ids(&check_with(options, "#version 2.1.5\n#timescale ns"), Severity::Info);
    if !found.contains(&"version-mismatch") {
        wrong.push(format!("version-mismatch is not in {found:?}"));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");

    let mut tested: BTreeSet<_> = HEADERS.iter().map(|(rule, _)| *rule).collect();
    tested.extend(EVENTS.iter().map(|(rule, ..)| *rule));
    tested.insert("version-mismatch");
    let all: BTreeSet<_> = RULES.iter().map(|rule| rule.id).collect();
    assert_eq!(tested, all);
}

#[test]
fn rules_are_well_formed() {
    for (n, rule) in RULES.iter().enumerate() {
        assert!(rule.id.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'), "{}", rule.id);
        assert!(rule.section.starts_with("BTF 2.") && rule.section.contains(['§', 't', 'f']), "{}", rule.id);
        assert!(!rule.meaning.is_empty() && !rule.meaning.ends_with('.'), "{}", rule.id);
        assert!(RULES.iter().skip(n + 1).all(|other| other.id != rule.id), "{} twice", rule.id);
    }
}

#[test]
fn the_first_violations_are_kept_with_their_lines() {
    let lines: Vec<_> = (0..9).map(|n| format!("{},C,0,T,A,0,begin , x", 100 - 2 * n)).collect();
    let mut report = check(&format!("#version 2.1.0\n\n{}", lines.join("\n")));
    assert_eq!((report.version, report.events, report.largest_step_back), (OLD, 9, 2));
    assert_eq!(report.findings.remove(0).rule.id, "version-mismatch");
    let steps = &report.findings[0];
    assert_eq!((steps.rule.id, steps.count, steps.first.len()), ("time-decreases", 8, 5));
    assert_eq!(
        (steps.first[0].place.seq, steps.first[0].place.line, steps.first[0].time),
        (1, Some(4), Some(98))
    );
    let unknown = &report.findings[1];
    assert_eq!((unknown.rule.id, unknown.words.get("T begin")), ("unknown-action", Some(&9)));
    assert_eq!(unknown.first[0].text, "100,C,0,T,A,0,begin,x");
    assert_eq!(report.violations(Severity::Error), 17);
}

#[test]
fn the_last_version_before_the_events_counts() {
    let report = check("#version 2.2.0\n#timescale ns\n#version 2.1.0\n0,M,0,SEM,M,0,ready\n#version 2.3.0");
    assert_eq!(report.version, OLD);
    assert_eq!(ids(&report, Severity::Info), ["version-mismatch", "parameter-repeated", "parameter-late"]);
}

#[test]
fn lines_before_the_version_are_judged_by_it() {
    let text = "#typeTable\n#-0 T\n#inputFile a\n#timeScale ns\n#version 2.1.5\n0,S,0,T,A,0,activate";
    let report = check(text);
    assert_eq!((report.version, ids(&report, Severity::Info)), (OLD, vec![]), "{:#?}", report.findings);
    let report = check("#typeTable\n#version 2.2.1\n#timescale ns");
    assert_eq!(ids(&report, Severity::Info), ["version-not-first", "parameter-of-other-version"]);
}

#[test]
fn a_version_that_is_judged_by_the_rules_of_another_is_named() {
    for (named, judged) in [("1.0", OLD), ("2.1.3", OLD), ("2.1.4", OLD), ("2.2.0", MID), ("2.2", MID)] {
        let report = check(&format!("#version {named}\n#timescale ns"));
        assert_eq!(
            (report.version, ids(&report, Severity::Info)),
            (judged, vec!["version-mismatch"]),
            "{named}"
        );
        let message = format!("{named} is judged by the rules of {judged}");
        assert_eq!(report.findings[0].first[0].message, message);
    }
    for exact in ["2.1.5", "2.2.1", "2.3.0", "2.3"] {
        let report = check(&format!("#version {exact}\n#timescale ns"));
        assert_eq!(ids(&report, Severity::Info), [] as [&str; 0], "{exact}");
    }
}

#[test]
fn words_of_the_version_that_a_file_names_are_right() {
    let text = |version: &str| {
        format!(
            "#version {version}\n#typeTable\n#-0 ISR\n0,S,0,ISR,A,0,activate\n1,S,1,T,B,0,mpalimitexceeded"
        )
    };
    assert_eq!(ids(&check(&text("2.1.3")), Severity::Warning), [] as [&str; 0]);
    assert_eq!(ids(&check(&text("2.1.4")), Severity::Warning), ["action-alias"]);
    assert_eq!(ids(&check(&text("2.1.5")), Severity::Warning), ["type-alias", "action-alias"]);
    // Asked for 2.1.5, it is 2.1.5 that counts.
    let options = Options { version: Some(OLD), header: true };
    assert_eq!(ids(&check_with(options, &text("2.1.3")), Severity::Warning), ["type-alias", "action-alias"]);
}

#[test]
fn an_unreadable_line_says_why() {
    let long = "x".repeat(200);
    let cases = [
        ("5,C,0,T", "an event has 7 or 8 fields, this line has 4".to_owned()),
        ("1.5,C,0,T,A,0,start", "'1.5' is no time in whole ticks".to_owned()),
        ("5,C,0,T,A,one,start", "'one' is no instance number".to_owned()),
        (&*excerpt(format!("5,C,0,T,A,0,start,{long}").as_bytes()), "the line has 1 MiB or more".to_owned()),
        (&*excerpt(format!("5,{long}").as_bytes()), "too long, and no event as far as it goes".to_owned()),
    ];
    for (line, message) in cases {
        let mut checker = Checker::new(Options::default());
        checker.other_line(1, "#version 2.2.1");
        checker.other_line(2, "#timescale ns");
        checker.other_line(3, line);
        let report = checker.finish();
        assert_eq!(ids(&report, Severity::Info), ["unreadable-line"], "{line}");
        assert_eq!(report.findings[0].first[0].message, message, "{line}");
    }
}

#[test]
fn a_file_with_carriage_returns_alone_has_one_fault() {
    let mut checker = Checker::new(Options::default());
    checker.other_line(1, "#version 2.1.5\r#timeScale ns\r# a\r0,S,0,T,A,0,activate\r");
    let report = checker.finish();
    assert_eq!((report.version, ids(&report, Severity::Info)), (OLD, vec!["unreadable-line"]));
    assert!(report.findings[0].first[0].message.contains("carriage return"));
    let long = format!("#version 2.1.5\r#timeScale ns\r{}", "0,S,0,T,A,0,activate\r".repeat(60_000));
    let mut checker = Checker::new(Options::default());
    checker.other_line(1, &excerpt(long.as_bytes()));
    assert_eq!(ids(&checker.finish(), Severity::Info), ["unreadable-line"]);
    // At the end of a line they mean nothing.
    assert_eq!(ids(&check("#version 2.2.1\r\n#timescale ns\r\r\n"), Severity::Info), [] as [&str; 0]);
}

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
    // That of a core that is activated is not certain: its source may be what is wrong.
    let core = check_events(MID, "0,C,0,T,A,0,start\n1,S,0,T,C,0,activate");
    assert_eq!(ids(&core, Severity::Info), ["source-kind"]);
    assert!(core.findings[0].first[0].message.contains("a name of two types"));
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
fn a_header_without_end_is_not_kept() {
    let mut checker = Checker::new(Options::default());
    for n in 0..200_000 {
        checker.other_line(n, "#version 2.1.5");
    }
    assert!(checker.held.is_none());
    assert_eq!(checker.finish().version, OLD);
}

#[test]
fn a_recording_without_a_header_has_no_header_faults() {
    assert_eq!(check_events(NEW, "0,C,0,T,A,0,start\n#nonsense\nnonsense").violations(Severity::Info), 0);
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
    // Where activations are not recorded, or the instance can be older than the trace, nothing is known of it.
    assert_eq!(
        ids(&check_events(MID, "0,C,0,T,A,0,start\n2,A,5,SIG,X,0,read"), Severity::Info),
        [] as [&str; 0]
    );
    let older = "0,S,4,T,A,4,activate\n1,A,3,SIG,X,0,read\n2,A,2,R,F,0,start";
    assert_eq!(ids(&check_events(MID, older), Severity::Info), [] as [&str; 0]);
}

/// A writer suspends a runnable for the time of a call: that nobody called while suspended is not written anywhere.
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
    // Never triggered, in a trace that has triggers; the first activation is where the trace begins.
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
