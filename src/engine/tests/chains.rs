//! Chains of events against gaps and mistakes; their rows on a whole recording are in `tests/slt/chains.slt`.

use super::fixture::{begin, engine, gap, open, put};
use super::rows;
use crate::chain::{Chain, ChainStep, Instance};
use crate::schema::tables;

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
