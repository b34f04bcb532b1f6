//! Each metric against numbers computed by hand, and the library against the schema.

use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::{Float64Type, Int64Type};

use crate::engine::Session;
use crate::engine::tests::fixture::{self, begin, engine, gap, open, put};
use crate::engine::tests::rows;
use crate::error::ErrorKind;
use crate::library::Queries;
use crate::metrics::{MetricFilter, bins_of, histograms, summaries};
use crate::schema::tables;

/// `entity count incomplete min avg max min_at max_at` of every line, `core` before it for loads.
pub(super) fn summary(session: &Session, metric: &str, filter: &MetricFilter) -> Vec<String> {
    let batch = summaries(session, &[metric.to_owned()], filter).unwrap();
    let integer = |name: &str, row| {
        let column = batch.column_by_name(name).unwrap().as_primitive::<Int64Type>();
        column.iter().nth(row).unwrap().map_or("-".into(), |v| v.to_string())
    };
    let number = |name: &str, row| {
        let column = batch.column_by_name(name).unwrap().as_primitive::<Float64Type>();
        column.iter().nth(row).unwrap().map_or("-".into(), |v| format!("{}", (v * 1e3).round() / 1e3))
    };
    let line = |row| {
        let entity = batch.column_by_name("entity").unwrap().as_string::<i32>().value(row);
        let core = batch.column_by_name("core").unwrap().as_string::<i32>();
        let core = core.iter().nth(row).unwrap().unwrap_or("-");
        let counts = ["count", "incomplete"].map(|n| integer(n, row)).join(" ");
        let values = ["min", "avg", "max"].map(|n| number(n, row)).join(" ");
        format!("{entity} {core} {counts} {values} {} {}", integer("min_at", row), integer("max_at", row))
    };
    (0..batch.num_rows()).map(line).collect()
}

/// Compares the lines of metrics of the whole database by hand.
fn expect(expected: &[(&str, &[&str])]) {
    let (_dir, session) = engine(&["r"]);
    for (metric, lines) in expected {
        assert_eq!(summary(&session, metric, &MetricFilter::default()), *lines, "{metric}");
    }
}

#[test]
fn pairs_of_instances() {
    // Activations at 0, 100, 210, 300: the last, incomplete instance has a predecessor, but no successor.
    expect(&[
        ("ActivateToActivate", &["T_1 Core_1 3 1 90 100 110 210 100"]),
        ("StartToStart", &["T_1 Core_1 3 1 70 100 135 240 105"]),
        ("EndToEnd", &["T_1 Core_1 2 1 75 105 135 50 125"]),
        ("EndToStart", &["T_1 Core_1 3 1 50 73.333 115 260 125"]),
    ]);
}

#[test]
fn spans_within_an_instance() {
    expect(&[
        ("StartDelay", &["I_1 Core_1 1 0 0 0 0 20 20", "T_1 Core_1 3 1 5 15 30 100 210"]),
        ("ResponseTime", &["I_1 Core_1 1 0 10 10 10 20 20", "T_1 Core_1 3 1 25 41.667 50 100 0"]),
        ("GrossExecutionTime", &["I_1 Core_1 1 0 10 10 10 20 20", "T_1 Core_1 3 1 20 26.667 40 105 10"]),
    ]);
}

#[test]
fn times_in_a_state() {
    const NONE: &[&str] = &["I_1 Core_1 1 0 0 0 0 20 20", "T_1 Core_1 3 1 0 0 0 10 10"];
    expect(&[
        ("NetExecutionTime", &["I_1 Core_1 1 0 10 10 10 20 20", "T_1 Core_1 3 1 15 21.667 30 105 10"]),
        ("ReadyTime", &["I_1 Core_1 1 0 0 0 0 20 20", "T_1 Core_1 3 1 0 3.333 10 105 10"]),
        ("PollingTime", &["I_1 Core_1 1 0 0 0 0 20 20", "T_1 Core_1 3 1 0 1.667 5 10 105"]),
        ("WaitingTime", NONE),
        ("ParkingTime", NONE),
    ]);
}

#[test]
fn runnables() {
    expect(&[
        ("RunnableNetExecutionTime", &["R_1 Core_1 1 1 23 23 23 12 12"]),
        ("RunnableGrossExecutionTime", &["R_1 Core_1 1 1 33 33 33 12 12"]),
    ]);
}

#[test]
fn counts_have_one_sample_and_show_zeros() {
    expect(&[
        ("Activations", &["I_1 Core_1 1 0 1 1 1 20 20", "T_1 Core_1 1 0 4 4 4 0 0"]),
        ("Preemptions", &["I_1 Core_1 1 0 0 0 0 - -", "T_1 Core_1 1 0 1 1 1 0 0"]),
        ("MtaLimitExceeding", &["I_1 Core_1 1 0 0 0 0 - -", "T_1 Core_1 1 0 1 1 1 150 150"]),
        ("FullMigrations", &["I_1 Core_1 1 0 0 0 0 - -", "T_1 - 1 0 1 1 1 240 240"]),
        ("BoundedMigrations", &["I_1 Core_1 1 0 0 0 0 - -", "T_1 - 1 0 1 1 1 240 240"]),
    ]);
}

#[test]
fn loads_per_core_and_per_process() {
    let lines: &[&str] = &[
        "Core_1 Core_1 1 0 25 25 25 0 0",
        "Core_2 Core_2 1 0 3.125 3.125 3.125 0 0",
        "I_1 Core_1 1 0 3.125 3.125 3.125 0 0",
        "T_1 Core_1 1 0 21.875 21.875 21.875 0 0",
        "T_1 Core_2 1 0 3.125 3.125 3.125 0 0",
    ];
    expect(&[("CPULoad", lines)]);
}

#[test]
fn windows_are_half_open_and_clip_loads() {
    let (_dir, session) = engine(&["r"]);
    let window = |from, to| MetricFilter { from, to, entity: Some("T_1".into()), ..MetricFilter::default() };
    let first = summary(&session, "ResponseTime", &window(Some(0), Some(210)));
    assert_eq!(first, ["T_1 Core_1 2 0 25 37.5 50 100 0"]);
    assert_eq!(
        summary(&session, "ResponseTime", &window(Some(210), None)),
        ["T_1 Core_1 1 1 50 50 50 210 210"]
    );
    assert_eq!(
        summary(&session, "Activations", &window(Some(100), Some(300))),
        ["T_1 Core_1 1 0 2 2 2 100 100"]
    );
    // In [110, 210) the core is occupied from 110 to 125.
    assert_eq!(
        summary(&session, "CPULoad", &window(Some(110), Some(210))),
        ["T_1 Core_1 1 0 15 15 15 110 110"]
    );
    // The window is longer than the recording: the load is that of the recorded part, 260 to 320.
    assert_eq!(
        summary(&session, "CPULoad", &window(Some(260), Some(9999)))[0],
        "T_1 Core_1 1 0 16.667 16.667 16.667 260 260"
    );
    let outside = summaries(&session, &["CPULoad".into()], &window(Some(500), Some(600))).unwrap_err();
    assert_eq!(outside.hints(), ["recording 'r' lasts from 0 ns to 320 ns"]);
}

#[test]
fn a_gap_separates_the_instances_of_its_core() {
    let paired = |core: Option<&str>| {
        let (dir, _) = engine(&["r"]);
        let mut tx = begin(&dir.path().join("db"));
        put(&mut tx, tables::GAP, "r", None, &gap(core, 60, 90));
        tx.commit().unwrap();
        summary(&open(dir.path()), "ActivateToActivate", &MetricFilter::default())
    };
    assert_eq!(paired(Some("Core_1")), ["T_1 Core_1 2 1 90 100 110 210 100"]);
    assert_eq!(paired(None), ["T_1 Core_1 2 1 90 100 110 210 100"]);
    assert_eq!(paired(Some("Core_2")), ["T_1 Core_1 3 1 90 100 110 210 100"]);
}

#[test]
fn recordings_are_kept_apart() {
    let (_dir, session) = engine(&["r", "s"]);
    let both = summaries(&session, &["ActivateToActivate".into()], &MetricFilter::default()).unwrap();
    assert_eq!(both.num_rows(), 2);
    let filter = MetricFilter { recording: Some("s".into()), ..MetricFilter::default() };
    let one = summaries(&session, &[], &filter).unwrap();
    assert!(one.column(0).as_string::<i32>().iter().all(|r| r == Some("s")));
    // All metrics, in the order of the list, except those of chains, because no chain is set, that of
    // services, which nobody calls, and those of states that no process is in.
    let mut shown: Vec<_> = one.column(1).as_string::<i32>().iter().flatten().collect();
    shown.dedup();
    let shipped = Queries::shipped();
    let listed = shipped.metrics().iter().map(|m| m.name.as_str());
    let without = ["OsOverhead", "CPUWaiting", "CPUParking"];
    let expected = listed.filter(|name| !name.starts_with("Chain") && !without.contains(name));
    assert_eq!(shown, expected.collect::<Vec<_>>());
}

#[test]
fn unknown_names_are_usage_errors_with_a_suggestion() {
    let (_dir, session) = engine(&["r"]);
    let bad_metric = summaries(&session, &["ResponsTime".into()], &MetricFilter::default()).unwrap_err();
    assert_eq!(bad_metric.hints(), ["did you mean 'ResponseTime'?"]);
    let filter = MetricFilter { recording: Some("R".into()), ..MetricFilter::default() };
    assert_eq!(summaries(&session, &[], &filter).unwrap_err().hints(), ["did you mean 'r'?"]);
    let filter = MetricFilter { entity: Some("T_2".into()), ..MetricFilter::default() };
    let bad_entity = summaries(&session, &[], &filter).unwrap_err();
    assert_eq!((bad_entity.kind(), bad_entity.hints().len()), (ErrorKind::Usage, 1));
}

#[test]
fn an_empty_database_has_no_lines() {
    let (_dir, session) = fixture::empty();
    let none = summaries(&session, &[], &MetricFilter::default()).unwrap();
    assert_eq!(none.num_rows(), 0);
    let (_dir, session) = engine(&["r"]);
    let some = summaries(&session, &[], &MetricFilter::default()).unwrap();
    assert_eq!(names_of(&none), names_of(&some));
}

pub(super) fn names_of(batch: &RecordBatch) -> Vec<String> {
    batch.schema().fields().iter().map(|f| f.name().clone()).collect()
}

#[test]
fn jitter_and_high_percentiles() {
    let (_dir, session) = engine(&["r"]);
    let filter = MetricFilter { entity: Some("T_1".into()), ..MetricFilter::default() };
    let batch = summaries(&session, &["RT".into()], &filter).unwrap();
    let number = |name: &str| batch.column_by_name(name).unwrap().as_primitive::<Float64Type>().value(0);
    // Responses of 25, 50 and 50.
    assert_eq!((number("jitter"), number("p999"), number("p99")), (25.0, 50.0, 50.0));
    assert_eq!(batch.column_by_name("metric").unwrap().as_string::<i32>().value(0), "ResponseTime");
}

#[test]
fn histograms_of_samples() {
    let (_dir, session) = engine(&["r"]);
    let filter = MetricFilter { entity: Some("T_1".into()), ..MetricFilter::default() };
    let histograms = histograms(&session, &["ResponseTime".into()], &filter).unwrap();
    // (50 - 25) / 16 is less than 2: bins of 2, from 24 to 52.
    let [h] = &histograms[..] else { panic!("{histograms:?}") };
    assert_eq!((h.bins.len(), h.count, h.min, h.max), (14, 3, Some(25.0), Some(50.0)));
    let full: Vec<_> = h.bins.iter().filter(|b| b.count > 0).map(|b| (b.from, b.to, b.count)).collect();
    assert_eq!(full, [(24.0, 26.0, 1), (50.0, 52.0, 2)]);
    let rows = bins_of(&histograms).unwrap();
    assert_eq!((rows.num_rows(), names_of(&rows)[6].as_str()), (14, "bin_from"));
}

#[test]
fn views_can_be_queried() {
    let (_dir, session) = engine(&["r"]);
    let sql = "SELECT entity, instance, next_activate_at FROM process_pair ORDER BY entity, instance";
    assert_eq!(rows(&session, sql), ["I_1 0 -", "T_1 0 100", "T_1 1 210", "T_1 2 300", "T_1 3 -"]);
    let relations = session.relations();
    let names: Vec<_> = relations.iter().filter(|r| r.view).map(|r| r.name.as_str()).collect();
    assert_eq!(names[..2], ["process_metric_base", "process_pair"]);
    assert_eq!(names.len(), Queries::shipped().views().len());
}
