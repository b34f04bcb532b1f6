//! Every rule is violated by at least one small trace, alone, and is described.

use super::{check, check_events, check_with, ids};
use crate::btf::spec::Version;
use crate::btf::{Place, Record};
use crate::check::rules::Rule;
use crate::check::{CheckOptions, Checker, RULES};
use crate::diagnostics::Severity;
use std::collections::BTreeSet;

const OLD: Version = Version::V2_1_5;
const MID: Version = Version::V2_2_1;
const NEW: Version = Version::V2_3_0;

/// Headers that break one rule.
const HEADERS: &[(&str, &str)] = &[
    ("version-missing", "#timescale ns"),
    // Without a header it is a recording, whose export has later times.
    ("negative-time", "#version 2.2.1\n#timescale ns\n-5,C,0,T,A,0,start"),
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
    ("core-target", OLD, "5,A,0,C,C0,0,execute"),
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
    ("sim-source", OLD, "5,SYSTEM,0,T,A,0,start"),
    ("sim-outside", OLD, "5,Sim,-1,SIG,X,0,read,1"),
    ("source-not-self", OLD, "5,M,0,SEM,M,0,lock\n6,M,0,SEM,N,0,lock"),
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
    ("semaphore-order", OLD, "1,S,0,T,A,0,activate\n1,C,0,T,A,0,start\n2,M,0,SEM,M,0,ready\n3,A,0,SEM,M,0,assigned"),
    ("semaphore-order", OLD, "5,M,0,SEM,M,0,free\n6,A,0,SEM,M,0,released"),
    ("semaphore-order", MID, "5,M,0,SEM,M,0,lock\n5,A,0,SEM,M,0,assigned\n6,B,0,SEM,M,0,released"),
    ("semaphore-ready", OLD, "5,A,0,SEM,M,0,requestsemaphore\n6,M,0,SEM,M,0,ready"),
    ("semaphore-owner", OLD, "5,M,0,SEM,M,0,lock\n5,A,0,SEM,M,0,assigned\n6,B,0,SEM,M,0,requestsemaphore\n6,B,0,SEM,M,0,assigned"),
    ("semaphore-exclusive", OLD, "5,M,0,SEM,M,0,used\n5,A,0,SEM,M,0,assigned\n6,B,0,SEM,M,0,exclusivesemaphore\n6,B,0,SEM,M,0,assigned"),
    ("semaphore-counter", MID, "5,A,0,SEM,M,0,requestsemaphore,0\n5,A,0,SEM,M,0,increment,7"),
    ("semaphore-counter", NEW, "5,M,0,SEM,M,0,free,0\n6,A,0,SEM,M,0,requestsemaphore,0\n6,A,0,SEM,M,0,increment,1\n6,M,0,SEM,M,0,lock,2"),
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
    let options = CheckOptions { version: Some(NEW), header: true };
    let found = ids(&check_with(options, "#version 2.1.5\n#timescale ns"), Severity::Info);
    if !found.contains(&"version-mismatch") {
        wrong.push(format!("version-mismatch is not in {found:?}"));
    }
    let mut checker = Checker::new(CheckOptions { version: Some(OLD), header: false });
    let (place, note) = (Place { seq: 0, line: None }, Some("T"));
    let alarm = Record {
        time: 5,
        source: "ALARM",
        source_instance: Some(0),
        target_type: "EVENT",
        target: "E",
        target_instance: Some(0),
        action: "set_event",
        note,
    };
    checker.not_expressible(place, &alarm);
    if ids(&checker.finish(), Severity::Info) != ["not-expressible"] {
        wrong.push("not-expressible".to_owned());
    }
    assert!(wrong.is_empty(), "{wrong:#?}");

    let mut tested: BTreeSet<_> = HEADERS.iter().map(|(rule, _)| *rule).collect();
    tested.extend(EVENTS.iter().map(|(rule, ..)| *rule));
    tested.extend(["version-mismatch", "not-expressible"]);
    // Rules without BTF events are tested with Grasp traces.
    let all: BTreeSet<_> = RULES.iter().filter(|rule| !of_grasp(rule)).map(|rule| rule.id).collect();
    assert_eq!(tested, all);
}

fn of_grasp(rule: &Rule) -> bool {
    rule.section.starts_with("Grasp ")
}

#[test]
fn rules_are_well_formed() {
    for (n, rule) in RULES.iter().enumerate().filter(|(_, rule)| !of_grasp(rule)) {
        assert!(
            rule.id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'),
            "{}",
            rule.id
        );
        assert!(rule.section.starts_with("BTF 2.") && rule.section.contains(['§', 't', 'f']), "{}", rule.id);
        let parts: Vec<_> = rule.section.split("; ").collect();
        assert!(parts.iter().all(|part| part.starts_with("BTF 2.")) && parts.len() <= 2, "{}", rule.id);
        if let [new, old] = *parts {
            let sections = Version::ALL.map(|version| rule.section_in(version));
            assert_eq!(sections, [old, new, new], "{}", rule.id);
        }
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
