//! Templates in the recording of the fixture, whole and with gaps. Not the templates themselves (see
//! [`crate::temporal`]).

use crate::engine::tests::fixture::{begin, engine, gap, open, put};
use crate::require::{Known, Outcome, Requirements, Verdict, measure};
use crate::schema::tables;
use std::path::Path;

/// The outcomes of entries of `[[temporal]]`, in a recording with gaps.
fn measured(gaps: &[(Option<&str>, i64, i64)], entries: &[&str]) -> Vec<Outcome> {
    let (dir, _) = engine(&["q", "r"]);
    for (core, from, to) in gaps {
        let mut tx = begin(&dir.path().join("db"));
        put(&mut tx, tables::GAP, "r", None, &gap(*core, *from, *to));
        tx.commit().unwrap();
    }
    let session = open(dir.path());
    let entry = |entry: &&str| format!("[[temporal]]\nname = \"x\"\n{entry}\n");
    let text: String = entries.iter().map(entry).collect();
    let requirements = Requirements::parse(&text, Path::new("r.toml")).unwrap();
    let known = Known::of(&session, &requirements).unwrap();
    measure(&session, &requirements, &known, &["r".to_owned()]).unwrap()
}

fn verdicts(gaps: &[(Option<&str>, i64, i64)], entries: &[&str]) -> Vec<Verdict> {
    measured(gaps, entries).iter().map(|outcome| outcome.verdict).collect()
}

/// The first violation: its interval, and the events that show it.
fn shown(outcome: &Outcome) -> String {
    let violation = &outcome.judged.as_ref().unwrap().violations[0];
    let event = |w: &crate::require::Witness| format!(", {} at {}", w.event, w.time);
    let events: String = violation.witnesses.iter().map(event).collect();
    format!("{} to {}{events}", violation.begin, violation.end)
}

const ACTIVATE: &str = "{ entity = \"T_1\", action = \"activate\" }";
const START: &str = "{ entity = \"T_1\", action = \"start\" }";
const TERMINATE: &str = "{ entity = \"T_1\", action = \"terminate\" }";
const WRITE: &str = "{ entity = \"SIG_1\", action = \"write\" }";

fn response(within: &str) -> String {
    format!("after = {ACTIVATE}\nthen = {START}\nwithin = \"{within}\"")
}

fn hold(state: &str) -> String {
    format!("once = {START}\nheld = {{ entity = \"T_1\", state = \"{state}\" }}\nuntil = {TERMINATE}")
}

fn never(state: &str) -> String {
    format!("never = {WRITE}\nduring = {{ entity = \"T_1\", state = \"{state}\" }}")
}

#[test]
fn each_template_is_judged_with_its_events() {
    let alternate = format!("alternate = [{ACTIVATE}, {START}]");
    let rate = |most: u32| format!("at_most = {most}\nof = {ACTIVATE}\nwindow = \"101ns\"");
    let between = format!("never = {WRITE}\nbetween = [{START}, {TERMINATE}]");
    let entries = [
        response("20ns"),
        hold("running"),
        hold("any"),
        never("running"),
        never("ready"),
        alternate,
        rate(1),
        rate(2),
        between,
    ];
    let outcomes = measured(&[], &entries.each_ref().map(String::as_str));
    let verdicts: Vec<Verdict> = outcomes.iter().map(|outcome| outcome.verdict).collect();
    let (kept, violated) = (Verdict::Kept, Verdict::Violated);
    let open = Verdict::MayStillBeViolated;
    assert_eq!(verdicts, [violated, violated, kept, violated, kept, open, violated, kept, violated]);
    assert_eq!(shown(&outcomes[0]), "100 to 120, T_1[1] activate at 100");
    assert_eq!(shown(&outcomes[1]), "10 to 20, T_1[0] start at 10, T_1[0] preempt at 20");
    assert_eq!(shown(&outcomes[3]), "30 to 40, T_1[0] resume at 30, SIG_1 write by T_1 at 40");
    assert_eq!(shown(&outcomes[6]), "0 to 100, T_1[0] activate at 0, T_1[1] activate at 100");
    assert_eq!(shown(&outcomes[8]), "10 to 40, T_1[0] start at 10, SIG_1 write by T_1 at 40");
    let first = &outcomes[0];
    assert_eq!((first.samples, first.violations, first.at, first.incomplete), (2, Some(1), Some(100), 0));
    assert_eq!((first.entity.as_str(), first.value, first.margin), ("T_1", Some(1.0), Some(-1.0)));
    let note = outcomes[5].note.as_deref().unwrap();
    assert_eq!(note, "not decided: 1 open at the end of the recording");
}

#[test]
fn what_a_gap_hides_is_not_decided() {
    let (response, hold) = (response("20ns"), hold("running"));
    let entries = [response.as_str(), hold.as_str()];
    // The start after 100 may be in the gap.
    let (violated, may_be_kept) = (Verdict::Violated, Verdict::MayStillBeKept);
    assert_eq!(verdicts(&[(None, 105, 115)], &entries), [may_be_kept, violated]);
    // On another core than that of T_1, no start is hidden; behind the time, it does not help.
    assert_eq!(verdicts(&[(Some("Core_9"), 105, 115)], &entries)[0], violated);
    assert_eq!(verdicts(&[(Some("Core_1"), 105, 115)], &entries)[0], may_be_kept);
    assert_eq!(verdicts(&[(None, 125, 130)], &entries)[0], violated);
    let notes = measured(&[(None, 105, 115)], &entries);
    let note = notes[0].note.as_deref().unwrap();
    assert!(note.starts_with("not decided: 1 hidden by a gap or an edge"), "{note}");
}

#[test]
fn values_sources_and_spellings_are_part_of_an_event() {
    let write = |rest: &str| {
        let event = WRITE.replace(" }", &format!(", {rest} }}"));
        format!("at_most = 0\nof = {event}\nwindow = \"10ns\"")
    };
    let entries = [
        write("value = \"1,5\""),
        write("value = 15"),
        write("source = \"T_1\""),
        write("source = \"T_1\"").replace("write", "Write"),
        "at_most = 0\nof = { entity = \"SIG_1\", action = \"read\" }\nwindow = 1".to_owned(),
    ];
    let outcomes = measured(&[], &entries.each_ref().map(String::as_str));
    let verdicts: Vec<Verdict> = outcomes.iter().map(|outcome| outcome.verdict).collect();
    let (violated, nothing) = (Verdict::Violated, Verdict::NoSamples);
    assert_eq!(verdicts, [violated, nothing, violated, violated, nothing]);
    let note = outcomes[1].note.as_deref().unwrap();
    assert_eq!(note, "nothing that it is about happens");
    assert!(outcomes[4].note.as_deref().unwrap().contains("read"), "{:?}", outcomes[4].note);
}

#[test]
fn names_that_nothing_has_are_unknown() {
    let entries = [
        response("1ns").replace("T_1", "T_9"),
        never("running").replace("T_1", "T_9"),
        never("running").replace("SIG_1", "SIG_9"),
        response("1ns").replace("\"start\"", "\"strat\""),
    ];
    let outcomes = measured(&[], &entries.each_ref().map(String::as_str));
    for outcome in &outcomes {
        assert_eq!(outcome.verdict, Verdict::Unknown, "{outcome:?}");
        assert!(outcome.note.as_ref().unwrap().contains("there is no"), "{outcome:?}");
    }
}
