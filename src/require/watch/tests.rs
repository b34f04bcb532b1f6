//! What is watched, in which order, on recordings by hand. Not for verdicts (see [`crate::temporal`]).

use super::*;

const RUNNING: Symbol = Symbol(3);

/// A row of a recording, with its time.
type At<'a> = (i64, Row<'a>);

fn event<'a>(seq: i64, kind: &'a str, entity: &'a str, instance: i64, action: &'a str) -> Row<'a> {
    Row::Event { seq, kind, entity, instance: Some(instance), action, source: "C", note: None }
}

fn state<'a>(entity: &'a str, instance: i64, state: &'a str, begins: bool) -> Row<'a> {
    Row::State { entity, is_task: entity.starts_with('T'), instance: Some(instance), state, begins }
}

fn happening(entity: &str, action: &str) -> Happening {
    Happening { entity: entity.into(), action: action.into(), source: None, value: None }
}

/// A watch of the runs of T, and of writes of S.
fn of_running() -> Watch {
    let mut watch = Watch::default();
    watch.event(&happening("S", "write"), Rank::Asks, Symbol(0));
    watch.state("T", vec![State::Running], RUNNING);
    watch
}

/// The records of a recording that ends at 100, with the numbers of their events.
fn fed(watch: &mut Watch, rows: &[At<'_>]) -> Vec<(i64, Record, Option<i64>)> {
    let mut out = Vec::new();
    watch.begin(100, Cores::default());
    rows.iter().for_each(|(time, row)| watch.row(*time, *row, &mut out));
    watch.finish(&mut out);
    out.iter().map(|fed| (fed.time, fed.record, fed.origin.map(|origin| origin.seq))).collect()
}

#[test]
fn a_state_begins_and_ends_with_the_event_that_says_so() {
    let rows = [
        (10, state("T", 0, "running", true)),
        (10, event(0, "SIG", "S", 0, "write")),
        (10, event(1, "T", "T", 0, "start")),
        (10, event(2, "SIG", "S", 0, "Write")),
        (20, state("T", 0, "running", false)),
        (20, event(3, "SIG", "S", 0, "write")),
        (20, event(4, "T", "T", 0, "terminate")),
        (20, event(5, "SIG", "S", 0, "write")),
        (20, event(6, "SIG", "S", 0, "read")),
    ];
    let write = |time: i64, seq: i64| (time, Record::Event(Symbol(0)), Some(seq));
    let expected = [
        write(10, 0),
        (10, Record::State(RUNNING, true), Some(1)),
        write(10, 2),
        write(20, 3),
        (20, Record::State(RUNNING, false), Some(4)),
        write(20, 5),
    ];
    let mut watch = of_running();
    assert_eq!(fed(&mut watch, &rows), expected);
    // Nothing is left of the recording before.
    assert_eq!(fed(&mut watch, &rows), expected);
}

#[test]
fn a_state_that_a_gap_or_the_end_cuts_off_does_not_end() {
    let rows = [
        (10, state("T", 0, "running", true)),
        (10, event(0, "T", "T", 0, "start")),
        (30, state("T", 0, "running", false)),
        (30, Row::Gap { end: 50, core: None }),
        // It was running before, since the gap.
        (60, state("T", 0, "ready", true)),
        (60, event(1, "T", "T", 0, "preempt")),
        (70, state("T", 0, "ready", false)),
        (70, state("T", 0, "running", true)),
        (70, event(2, "T", "T", 0, "resume")),
        (100, state("T", 0, "running", false)),
    ];
    let expected = [
        (10, Record::State(RUNNING, true), Some(0)),
        (30, Record::Gap { end: 50, core: None }, None),
        (60, Record::State(RUNNING, false), Some(1)),
        (70, Record::State(RUNNING, true), Some(2)),
    ];
    assert_eq!(fed(&mut of_running(), &rows), expected);
}

#[test]
fn a_core_that_is_lost_without_an_event_ends_a_state() {
    let rows = [
        (10, state("T", 0, "running", true)),
        (10, event(0, "T", "T", 0, "start")),
        (30, state("T", 0, "running", false)),
        (30, state("T", 0, "ready", true)),
        (30, event(1, "SIG", "S", 0, "write")),
    ];
    let records = fed(&mut of_running(), &rows);
    assert_eq!(records[1], (30, Record::State(RUNNING, false), None));
    assert_eq!(records[2].2, Some(1));
}

#[test]
fn a_state_of_several_instances_lasts_from_the_first_to_the_last() {
    let mut watch = Watch::default();
    watch.state("T", vec![State::Active], RUNNING);
    let rows = [
        (10, state("T", 0, "active", true)),
        (10, event(0, "T", "T", 0, "activate")),
        (20, state("T", 1, "active", true)),
        (20, event(1, "T", "T", 1, "activate")),
        (30, state("T", 0, "active", false)),
        (30, event(2, "T", "T", 0, "start")),
        (40, state("T", 1, "active", false)),
        (40, event(3, "T", "T", 1, "start")),
    ];
    let expected = [
        // An instance before the recording may wait for its start as well.
        (10, Record::Gap { end: 10, core: Some(0) }, None),
        (10, Record::State(RUNNING, true), Some(0)),
        (40, Record::State(RUNNING, false), Some(3)),
    ];
    let without_origin = |(time, record, seq): (i64, Record, Option<i64>)| {
        (time, record, seq.filter(|_| !matches!(record, Record::Gap { .. })))
    };
    let records: Vec<_> = fed(&mut watch, &rows).into_iter().map(without_origin).collect();
    assert_eq!(records, expected);
}

#[test]
fn any_state_lasts_while_one_follows_the_other() {
    let mut watch = Watch::default();
    watch.state("R", Vec::new(), RUNNING);
    let rows = [
        (10, state("R", 0, "running", true)),
        (10, event(0, "R", "R", 0, "start")),
        (20, state("R", 0, "running", false)),
        (20, state("R", 0, "suspended", true)),
        (20, event(1, "R", "R", 0, "suspend")),
        (30, state("R", 0, "suspended", false)),
        (30, state("R", 0, "running", true)),
        (30, event(2, "R", "R", 0, "resume")),
        (40, state("R", 0, "running", false)),
        (40, event(3, "R", "R", 0, "terminate")),
    ];
    let records = fed(&mut watch, &rows);
    let states: Vec<_> =
        records.iter().filter(|(_, record, _)| matches!(record, Record::State(..))).copied().collect();
    let expected =
        [(10, Record::State(RUNNING, true), Some(0)), (40, Record::State(RUNNING, false), Some(3))];
    assert_eq!(states, expected);
}

#[test]
fn an_event_answers_before_it_asks() {
    let mut watch = Watch::default();
    let wanted = happening("S", "write");
    watch.event(&wanted, Rank::Begins, Symbol(2));
    watch.event(&Happening { source: Some("U".into()), ..wanted.clone() }, Rank::Asks, Symbol(4));
    watch.event(&wanted, Rank::Asks, Symbol(1));
    watch.event(&wanted, Rank::Answers, Symbol(0));
    let records = fed(&mut watch, &[(10, event(0, "SIG", "S", 0, "write"))]);
    let symbols: Vec<_> = records.iter().map(|(_, record, _)| *record).collect();
    assert_eq!(symbols, [0, 1, 2].map(|n| Record::Event(Symbol(n))));
}

#[test]
fn gaps_of_a_core_hide_what_is_on_it() {
    let mut watch = of_running();
    watch.event(&happening("T", "start"), Rank::Asks, Symbol(1));
    watch.event(&happening("T", "activate"), Rank::Asks, Symbol(2));
    let mut cores = Cores::default();
    for (core, entity) in [("C0", None), ("C1", Some("T")), ("C2", None)] {
        cores.seen(core, entity);
    }
    let mut places = watch.begin(100, cores);
    places.sort();
    let all = vec![0, 1, 2];
    // The state has a core of its own, in addition.
    let expected = [(Symbol(0), all.clone()), (Symbol(1), vec![1]), (Symbol(2), all), (RUNNING, vec![1, 3])];
    assert_eq!(places, expected);
    // The state goes on in a gap of another core.
    let mut out = Vec::new();
    for (time, row) in [
        (10, state("T", 0, "running", true)),
        (10, event(0, "T", "T", 0, "start")),
        (30, state("T", 0, "running", false)),
        (30, Row::Gap { end: 50, core: Some("C0") }),
    ] {
        watch.row(time, row, &mut out);
    }
    watch.finish(&mut out);
    let records: Vec<_> = out.iter().map(|fed| fed.record).collect();
    let gap = Record::Gap { end: 50, core: Some(0) };
    let (begins, ends) = (Record::State(RUNNING, true), Record::State(RUNNING, false));
    assert_eq!(records, [Record::Event(Symbol(1)), begins, ends, gap]);
    let words: Vec<_> = out.iter().map(|fed| watch.describe(fed)).collect();
    assert_eq!(words, ["T[0] start", "T[0] start", "T leaves running", ""]);
}
