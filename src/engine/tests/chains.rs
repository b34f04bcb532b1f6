//! Chains of events against gaps and mistakes; their rows on a whole recording are in `tests/slt/chains.slt`.

use super::fixture::{begin, empty, engine, gap, open, put};
use super::rows;
use crate::chain::{Chain, ChainStep, Instance};
use crate::schema::{BtfEventRow, BtfEventRows, tables};

fn chain(name: &str, actions: &[&str]) -> Chain {
    let step = |action: &&str| ChainStep {
        entity: "T_1".into(),
        action: (*action).into(),
        source: None,
        instance: Instance::Any,
    };
    Chain { name: name.into(), steps: actions.iter().map(step).collect(), is_silent: false }
}

#[test]
fn nothing_follows_across_a_gap() {
    let shown = |gap_at: Option<i64>| {
        let (dir, _) = engine(&["r"]);
        if let Some(at) = gap_at {
            let mut tx = begin(&dir.path().join("db"));
            put(&mut tx, tables::GAP, "r", None, &gap(None, at, at + 1));
            tx.commit().unwrap();
        }
        let session = open(dir.path()).with_chains(&[chain("c", &["activate", "terminate"])]).unwrap();
        rows(&session, "SELECT begin_at, end_at, outcome FROM chain_instance ORDER BY begin_at")
    };
    assert_eq!(shown(None), ["0 50 used", "100 - open"]);
    assert_eq!(shown(Some(45)), ["0 - open", "100 - open"]);
    // What happens at the moment the gap begins is before it.
    assert_eq!(shown(Some(50)), ["0 50 used", "100 - open"]);
}

#[test]
fn chains_that_cannot_be_are_mistakes() {
    let message = |chains: &[Chain]| {
        let (_dir, session) = engine(&["r"]);
        session.with_chains(chains).map(|_| ()).unwrap_err().to_string()
    };
    assert_eq!(message(&[chain("c", &["start"])]), "the chain 'c' has less than two steps");
    let good = chain("c", &["activate", "start"]);
    assert_eq!(message(&[good.clone(), good.clone()]), "two chains are called 'c'");
    let (_dir, session) = engine(&["r"]);
    let session = session.with_chains(std::slice::from_ref(&good)).unwrap();
    assert!(session.with_chains(&[good]).is_err(), "they are given once");
}

#[test]
fn who_reads_rows_of_chains_without_any_is_known() {
    let (_dir, session) = engine(&["r"]);
    rows(&session, "SELECT count(*) FROM btf_event");
    assert!(!session.take_missed_chains());
    assert_eq!(rows(&session, "SELECT begin_at FROM chain_instance"), [""; 0]);
    assert!(session.take_missed_chains() && !session.take_missed_chains());
    let session = session.with_chains(&[chain("c", &["activate", "terminate"])]).unwrap();
    assert!(!rows(&session, "SELECT begin_at FROM chain_instance").is_empty());
    assert!(!session.take_missed_chains());
    // A chain of which a step never happens has no rows.
    let (_dir, session) = engine(&["r"]);
    let silent = Chain { is_silent: true, ..chain("c", &["activate", "terminate"]) };
    let session = session.with_chains(&[silent]).unwrap();
    assert_eq!(rows(&session, "SELECT begin_at FROM chain_instance"), [""; 0]);
    assert!(!session.take_missed_chains());
}

/// `(time, source, its instance, target type, target, its instance, action)`
type Row = (i64, &'static str, i64, &'static str, &'static str, i64, &'static str);

/// Three processes, of which the first one is activated by an alarm, and the others read what was written.
const FLOW: &[Row] = &[
    (0, "AL", 7, "STI", "AL", 7, "trigger"),
    (0, "AL", 7, "T", "A", 0, "activate"),
    (10, "A", 0, "SIG", "S", 0, "write"),
    (20, "B", 0, "SIG", "S", 0, "read"),
    (30, "B", 0, "SIG", "U", 0, "write"),
    (40, "C", 0, "SIG", "U", 0, "read"),
];

/// The chains that such events show, with a gap somewhere.
fn discovered(events: &[Row], gap_at: Option<i64>) -> Vec<String> {
    let (dir, _) = empty();
    let mut tx = begin(&dir.path().join("db"));
    tx.set_recording("it's", Some(0), Some(100)).unwrap();
    let mut rows_of = BtfEventRows::new();
    for (seq, &(time, source, source_instance, target_type, target, target_instance, action)) in
        events.iter().enumerate()
    {
        rows_of.push(BtfEventRow {
            time,
            seq: seq as i64,
            source: source.into(),
            source_instance: Some(source_instance),
            target_type: target_type.into(),
            target: target.into(),
            target_instance: Some(target_instance),
            action: action.into(),
            note: None,
        });
    }
    put(&mut tx, tables::BTF_EVENT, "it's", None, &rows_of.take_batch().unwrap());
    if let Some(at) = gap_at {
        put(&mut tx, tables::GAP, "it's", None, &gap(None, at, at + 1));
    }
    tx.commit().unwrap();
    let sql = "SELECT chain, occurrences FROM discovered_chain WHERE recording = 'it''s' ORDER BY chain";
    rows(&open(dir.path()), sql)
}

#[test]
fn what_comes_after_a_gap_begins_chains_of_its_own() {
    assert_eq!(discovered(FLOW, None), ["AL > A > S > B > U > C 1"]);
    assert_eq!(discovered(FLOW, Some(25)), ["AL > A > S > B 1", "B > U > C 1"]);
    // What is written at the moment the gap begins is lost; what happens then is before it.
    assert_eq!(discovered(FLOW, Some(10)), ["AL > A 1", "B > U > C 1"]);
    assert_eq!(discovered(FLOW, Some(50)), ["AL > A > S > B > U > C 1"]);
}

#[test]
fn what_nobody_wrote_or_triggered_begins_no_chain() {
    // A read of what was not written, an activation without anything else, and one by the environment.
    let events = [FLOW[3], (50, "AL", 8, "T", "A", 1, "activate"), (60, "SIM", -1, "T", "D", 0, "activate")];
    assert_eq!(discovered(&events, None), [""; 0]);
    // The environment, and a signal as its own source, are no processes.
    let events =
        [(5, "SIM", -1, "SIG", "S", 0, "write"), FLOW[3], (25, "U", 0, "SIG", "U", 0, "write"), FLOW[5]];
    assert_eq!(discovered(&events, None), ["S > B 1", "U > C 1"]);
}

#[test]
fn latencies_are_those_of_the_definitions() {
    let (dir, _) = engine(&["r"]);
    let session = open(dir.path()).with_chains(&[chain("c", &["activate", "terminate"])]).unwrap();
    let sql = "SELECT definition, begin_at, end_at, latency FROM chain_latency ORDER BY definition";
    let expected =
        ["first_to_first 0 50 50", "first_to_last 0 50 50", "last_to_first 0 50 50", "last_to_last 0 50 50"];
    assert_eq!(rows(&session, sql), expected);
}

#[test]
fn many_chains_are_one_condition_for_each_action() {
    let (dir, _) = engine(&["r"]);
    let all: Vec<_> =
        (0..5000).map(|n| chain(&format!("c{n}"), &["activate", "start", "terminate"])).collect();
    let session = open(dir.path()).with_chains(&all).unwrap();
    let sql = "SELECT count(*), min(age), max(age) FROM chain_instance WHERE outcome = 'used'";
    assert_eq!(rows(&session, sql), ["5000 50 50"]);
}
