//! Which version a trace is checked against, and lines that are not events: cases of more than one line.

use super::{check, check_events, check_with, ids};
use crate::btf::spec::Version;
use crate::check::{CheckOptions, Checker};
use crate::diagnostics::{Severity, excerpt};

const OLD: Version = Version::V2_1_5;
const MID: Version = Version::V2_2_1;
const NEW: Version = Version::V2_3_0;

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
    // The requested version counts.
    let options = CheckOptions { version: Some(OLD), header: true };
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
        let mut checker = Checker::new(CheckOptions::default());
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
    let mut checker = Checker::new(CheckOptions::default());
    checker.other_line(1, "#version 2.1.5\r#timeScale ns\r# a\r0,S,0,T,A,0,activate\r");
    let report = checker.finish();
    assert_eq!((report.version, ids(&report, Severity::Info)), (OLD, vec!["unreadable-line"]));
    assert!(report.findings[0].first[0].message.contains("carriage return"));
    let long = format!("#version 2.1.5\r#timeScale ns\r{}", "0,S,0,T,A,0,activate\r".repeat(60_000));
    let mut checker = Checker::new(CheckOptions::default());
    checker.other_line(1, &excerpt(long.as_bytes()));
    assert_eq!(ids(&checker.finish(), Severity::Info), ["unreadable-line"]);
    // At the end of a line they mean nothing.
    assert_eq!(ids(&check("#version 2.2.1\r\n#timescale ns\r\r\n"), Severity::Info), [] as [&str; 0]);
}

#[test]
fn a_header_without_end_is_not_stored() {
    let mut checker = Checker::new(CheckOptions::default());
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
