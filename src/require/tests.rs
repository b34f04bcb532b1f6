//! What requirements say of samples that gaps and the end of the recording of the fixture cut off: loads,
//! durations, events that happen together. Not templates (see `in_time`).

use crate::engine::tests::fixture::{begin, engine, gap, open, put};
use crate::require::{Known, Outcome, Requirements, Verdict, known_chains, measure};
use crate::schema::tables;
use std::path::Path;

/// The outcomes in a recording with gaps.
fn measured(gaps: &[(Option<&str>, i64, i64)], text: &str) -> Vec<Outcome> {
    let (dir, _) = engine(&["q", "r"]);
    for (core, from, to) in gaps {
        let mut tx = begin(&dir.path().join("db"));
        put(&mut tx, tables::GAP, "r", None, &gap(*core, *from, *to));
        tx.commit().unwrap();
    }
    let session = open(dir.path());
    let requirements = Requirements::parse(text, Path::new("r.toml")).unwrap();
    let chains = known_chains(&session, &requirements).unwrap();
    let session = session.with_chains(&chains).unwrap();
    let known = Known::of(&session, &requirements).unwrap();
    measure(&session, &requirements, &known, &["r".to_owned()]).unwrap()
}

/// The first outcome: its verdict, samples, those beyond, those cut off, and the worst with its instant.
fn one(gaps: &[(Option<&str>, i64, i64)], text: &str) -> (Verdict, i64, i64, i64, Option<f64>, Option<i64>) {
    let outcome = measured(gaps, text).remove(0);
    let beyond = outcome.violations.unwrap_or(-1);
    (outcome.verdict, outcome.samples, beyond, outcome.incomplete, outcome.value, outcome.at)
}

/// Of Core_1: 40 % in the first window of 100, 20 % in the second, 10 % in the third.
#[test]
fn a_window_of_a_load_that_a_gap_hides_is_decided_by_what_is_seen_and_what_may_be() {
    let load = |upper: u32| format!("[[load]]\ncore = \"Core_1\"\nwindow = \"100ns\"\nupper = {upper}\n");
    let core = |begin, end| (Some("Core_1"), begin, end);
    assert_eq!(one(&[], &load(40)), (Verdict::Kept, 3, 0, 0, Some(40.0), Some(0)));
    // Two gaps that overlap hide 70 of the third window: 10 % to 80 %.
    let gaps = [core(200, 240), core(220, 270), (Some("Core_2"), 0, 320)];
    assert_eq!(one(&gaps, &load(79)), (Verdict::Kept, 2, 0, 1, Some(40.0), Some(0)));
    assert_eq!(one(&gaps, &load(80)), (Verdict::Kept, 3, 0, 0, Some(80.0), Some(200)));
    assert_eq!(one(&gaps, &load(9)), (Verdict::Violated, 3, 3, 0, Some(40.0), Some(0)));
    // Those that adjoin hide all but what was seen; a gap of all cores hides this one.
    let gaps = [core(0, 60), (None, 60, 330)];
    assert_eq!(one(&gaps, &load(50)), (Verdict::NoSamples, 0, 0, 3, None, None));
    let note = measured(&gaps, &load(50)).remove(0).note.unwrap();
    assert_eq!(note, "gaps hide too much of every window");
}

/// Instance 3 is activated at 300, starts at 310 and runs when the recording ends at 320; its states begin
/// at 310.
#[test]
fn what_is_seen_of_an_instance_without_an_end_violates_an_upper_bound() {
    let deadline = |ns: u32| format!("[[deadline]]\nentity = \"T_1\"\ndeadline = \"{ns}ns\"\n");
    let limit =
        |metric: &str, bound: &str| format!("[[limit]]\nmetric = \"{metric}\"\nentity = \"T_1\"\n{bound}\n");
    assert_eq!(one(&[], &deadline(60)), (Verdict::Kept, 3, 0, 1, Some(50.0), Some(0)));
    // Three of 50, 25 and 50, and the one of which 10 are seen.
    assert_eq!(one(&[], &deadline(9)), (Verdict::Violated, 4, 4, 0, Some(50.0), Some(0)));
    assert_eq!(one(&[], &deadline(10)), (Verdict::Violated, 3, 3, 1, Some(50.0), Some(0)));
    let running = limit("NetExecutionTime", "upper = \"9ns\"");
    assert_eq!(one(&[], &running), (Verdict::Violated, 4, 4, 0, Some(30.0), Some(10)));
    // Up to the begin of a gap of its core, 4 are seen.
    let gaps = [(Some("Core_1"), 314, 318)];
    assert_eq!(one(&gaps, &deadline(4)), (Verdict::Violated, 3, 3, 1, Some(50.0), Some(0)));
    assert_eq!(one(&gaps, &deadline(3)), (Verdict::Violated, 4, 4, 0, Some(50.0), Some(0)));
    assert_eq!(one(&[(Some("Core_2"), 314, 318)], &deadline(9)).1, 4, "another core hides nothing of it");
    // What is cut off can lie below a lower bound, too.
    let least = one(&[], &limit("ResponseTime", "lower = \"20ns\""));
    assert_eq!(least, (Verdict::Kept, 3, 0, 1, Some(25.0), Some(100)));
    let most = one(&[], &limit("ResponseTime", "statistic = \"p50\"\nupper = \"9ns\""));
    assert_eq!((most.0, most.1, most.3), (Verdict::Violated, 3, 1));
}

/// T_1 is activated at 0 and at 100; nothing follows from the second one.
#[test]
fn a_first_step_that_nothing_answers_violates_the_bound_of_a_reaction() {
    let chain = |ns: u32| {
        let step = |action: &str| format!("{{ entity = \"T_1\", action = \"{action}\" }}");
        let steps = format!("{}, {}", step("activate"), step("terminate"));
        format!("[[chain]]\nname = \"c\"\nreaction = \"{ns}ns\"\nsteps = [{steps}]\n")
    };
    assert_eq!(one(&[], &chain(220)), (Verdict::Kept, 1, 0, 1, Some(50.0), Some(0)));
    assert_eq!(one(&[], &chain(219)), (Verdict::Violated, 2, 1, 0, Some(220.0), Some(100)));
    let gaps = [(Some("Core_2"), 180, 190)];
    assert_eq!(one(&gaps, &chain(80)), (Verdict::Kept, 1, 0, 1, Some(50.0), Some(0)));
    assert_eq!(one(&gaps, &chain(79)), (Verdict::Violated, 2, 1, 0, Some(80.0), Some(100)));
}

/// I_1 starts at 20 on Core_1, T_1 at 10; SIG_1 is written at 40, by whom, a gap of any core may hide.
#[test]
fn a_gap_hides_the_events_of_its_core() {
    let together = |entity: &str, action: &str, ns: u32| {
        format!(
            "[[synchronisation]]\nname = \"s\"\ntolerance = \"{ns}ns\"\n\
             events = [{{ entity = \"I_1\", action = \"start\" }}, {{ entity = \"{entity}\", action = \"{action}\" }}]\n"
        )
    };
    let of_task = |gaps: &[(Option<&str>, i64, i64)]| one(gaps, &together("T_1", "start", 5));
    assert_eq!(of_task(&[]), (Verdict::Violated, 2, 2, 0, Some(10.0), Some(10)));
    // None was seen on Core_3.
    assert_eq!(of_task(&[(Some("Core_3"), 5, 90)]).0, Verdict::Violated);
    assert_eq!(
        of_task(&[(Some("Core_1"), 8, 90)]).3,
        2,
        "whatever happens in a gap may have its partner there"
    );
    assert_eq!(of_task(&[(Some("Core_1"), 12, 18)]).3, 2, "near a gap, too");
    assert_eq!(one(&[(Some("Core_3"), 5, 90)], &together("SIG_1", "write", 5)).3, 1);
}
