//! Arbitrary records, and the memory of the checker on long traces.

use proptest::prelude::*;

use crate::btf::spec::Version;
use crate::btf::{Place, Record};
use crate::check::{CheckOptions, Checker, Finding};
use crate::diagnostics::Severity;

fn word(words: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop_oneof![8 => prop::sample::select(words).prop_map(str::to_owned), 1 => ".*"]
}

fn instance() -> impl Strategy<Value = Option<i64>> {
    prop_oneof![6 => (0..3_i64).prop_map(Some), 1 => Just(None), 1 => any::<i64>().prop_map(Some)]
}

const NAMES: &[&str] = &["A", "B", "C0", "C1", "S", "SIM", "R1", "R2", "M", ""];
const TYPES: &[&str] = &["T", "I", "R", "STI", "SEM", "SIG", "EVENT", "SCHED", "SIM", "C", "ISR", "0"];
const ACTIONS: &[&str] = &[
    "activate",
    "start",
    "preempt",
    "resume",
    "terminate",
    "poll",
    "run",
    "park",
    "wait",
    "release",
    "suspend",
    "trigger",
    "lock",
    "unlock",
    "free",
    "used",
    "overfull",
    "full",
    "requestsemaphore",
    "increment",
    "queued",
    "assigned",
    "released",
    "decrement",
    "read",
    "write",
    "set_event",
    "mtalimitexceeded",
    "execute",
    "tag",
];
const OTHERS: &[&str] = &[
    "#version 2.1.5",
    "#timescale ns",
    "#typeTable",
    "#-0 T",
    "#entityTypeMapping 0 A",
    "#typeMapping 0 R",
    "#",
    "",
];

type Event = (i64, String, Option<i64>, String, String, Option<i64>, String, Option<String>);

fn event() -> impl Strategy<Value = Event> {
    let time = prop_oneof![any::<i64>(), 0..100_i64];
    let note = prop_oneof![Just(None), Just(Some("1".to_owned())), ".*".prop_map(Some)];
    (time, word(NAMES), instance(), word(TYPES), word(NAMES), instance(), word(ACTIONS), note)
}

proptest! {
    #[test]
    fn nothing_panics_and_counts_add_up(
        lines in prop::collection::vec(prop_oneof![5 => event().prop_map(Ok), 1 => word(OTHERS).prop_map(Err)], 0..60),
        version in prop::sample::select(vec![None, Some(Version::V2_1_5), Some(Version::V2_2_1), Some(Version::V2_3_0)]),
        header in any::<bool>(),
    ) {
        let mut checker = Checker::new(CheckOptions { version, header });
        let mut events = 0;
        for (n, line) in lines.iter().enumerate() {
            match line {
                Ok((time, source, source_instance, target_type, target, target_instance, action, note)) => {
                    let record = Record {
                        time: *time, source, source_instance: *source_instance, target_type, target,
                        target_instance: *target_instance, action, note: note.as_deref(),
                    };
                    checker.event(Place { seq: events, line: Some(n as u64 + 1) }, &record);
                    events += 1;
                }
                Err(text) => checker.other_line(n as u64 + 1, text),
            }
        }
        let report = checker.finish();
        prop_assert_eq!(report.events, events as u64);
        for finding in &report.findings {
            prop_assert!(finding.first.len() as u64 <= finding.count);
            prop_assert!(finding.first.len() <= Finding::MAX_STORED);
        }
    }
}

fn record<'a>(
    time: i64,
    source: &'a str,
    target_type: &'a str,
    target: (&'a str, i64),
    action: &'a str,
) -> Record<'a> {
    Record {
        time,
        source,
        source_instance: Some(if source == "C0" { 0 } else { target.1 }),
        target_type,
        target: target.0,
        target_instance: Some(target.1),
        action,
        note: None,
    }
}

#[test]
fn only_open_instances_are_kept() {
    let mut checker = Checker::new(CheckOptions { version: None, header: false });
    for n in 0..20_000 {
        for record in [
            record(n, "S", "STI", ("S", n), "trigger"),
            record(n, "S", "T", ("A", n), "activate"),
            record(n, "C0", "T", ("A", n), "start"),
            record(n, "A", "R", ("R1", n), "start"),
            record(n, "A", "R", ("R1", n), "terminate"),
            record(n, "C0", "T", ("A", n), "terminate"),
        ] {
            checker.event(Place::default(), &record);
        }
    }
    assert!(checker.software.processes.is_empty() && checker.software.runnables.is_empty());
    assert_eq!(checker.finish().violations(Severity::Info), 0);
}

#[test]
fn runnables_that_never_end_do_not_pile_up() {
    let mut checker = Checker::new(CheckOptions { version: None, header: false });
    for n in 0..5_000 {
        let mut record = record(n, "A", "R", ("R1", n), "start");
        record.source_instance = Some(0);
        checker.event(Place::default(), &record);
    }
    assert!(checker.software.runnables.len() <= 256);
    assert_eq!(checker.finish().violations(Severity::Info), 0);
}

#[test]
fn random_words_do_not_pile_up() {
    let mut checker = Checker::new(CheckOptions::default());
    for n in 0..10_000 {
        let action = format!("action{n}");
        checker.event(Place::default(), &record(n, "A", "T", ("B", 0), &action));
    }
    let report = checker.finish();
    let unknown = report.findings.iter().find(|f| f.rule.id == "unknown-action").unwrap();
    assert_eq!((unknown.count, unknown.words.len()), (10_000, Finding::WORDS));
}
