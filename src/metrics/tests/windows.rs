//! Metrics by window of time, against numbers computed by hand.

use arrow::array::AsArray;
use arrow::datatypes::{Float64Type, Int64Type};

use super::summaries::{names_of, summary};
use crate::engine::Session;
use crate::engine::tests::fixture::{begin, engine, open};
use crate::error::ErrorKind;
use crate::metrics::{MetricFilter, summaries};
use crate::time::TimeWindows;

/// `begin_at` and the line of [`summary`].
fn by_window(session: &Session, metric: &str, filter: &MetricFilter) -> Vec<String> {
    let batch = summaries(session, &[metric.to_owned()], filter).unwrap();
    assert_eq!(names_of(&batch)[6..8], ["begin_at", "end_at"]);
    let column = |name: &str| batch.column_by_name(name).unwrap().as_primitive::<Int64Type>().clone();
    let (begins, ends) = (column("begin_at"), column("end_at"));
    let lines = summary(session, metric, filter);
    let line = |(n, line): (usize, String)| format!("[{}, {}) {line}", begins.value(n), ends.value(n));
    lines.into_iter().enumerate().map(line).collect()
}

fn windows(width: i64, step: i64) -> MetricFilter {
    let windows = Some(TimeWindows { width, step });
    MetricFilter { windows, entity: Some("T_1".into()), ..MetricFilter::default() }
}

// The time line of T_1, see the fixture: instances from 0 to 50, 100 to 125, 210 to 260 and from 300 on, cut
// off; the recording is [0, 320).

#[test]
fn samples_by_window() {
    let (_dir, session) = engine(&["r"]);
    // Responses of 50, 25 and 50, which belong to the windows of the activations at 0, 100 and 210; the
    // instance activated at 300 is incomplete.
    let expected = ["[0, 200) T_1 Core_1 2 0 25 37.5 50 100 0", "[200, 400) T_1 Core_1 1 1 50 50 50 210 210"];
    assert_eq!(by_window(&session, "ResponseTime", &windows(200, 200)), expected);
    // Sliding windows: each activation is in two of them, and 100 is not in [-100, 100).
    let expected = [
        "[-100, 100) T_1 Core_1 1 0 50 50 50 0 0",
        "[0, 200) T_1 Core_1 2 0 25 37.5 50 100 0",
        "[100, 300) T_1 Core_1 2 0 25 37.5 50 100 210",
        "[200, 400) T_1 Core_1 1 1 50 50 50 210 210",
        "[300, 500) T_1 Core_1 0 1 - - - - -",
    ];
    assert_eq!(by_window(&session, "ResponseTime", &windows(200, 100)), expected);
}

#[test]
fn counts_by_window_show_their_zeros() {
    let (_dir, session) = engine(&["r"]);
    // Activated at 0, 100, 210 and 300.
    let expected = [
        "[0, 80) T_1 Core_1 1 0 1 1 1 0 0",
        "[80, 160) T_1 Core_1 1 0 1 1 1 100 100",
        "[160, 240) T_1 Core_1 1 0 1 1 1 210 210",
        "[240, 320) T_1 Core_1 1 0 1 1 1 300 300",
    ];
    assert_eq!(by_window(&session, "Activations", &windows(80, 80)), expected);
    // Preempted once, in the instance of 0; only the windows of the requested part.
    let part = MetricFilter { from: Some(0), to: Some(170), ..windows(80, 80) };
    let expected = [
        "[0, 80) T_1 Core_1 1 0 1 1 1 0 0",
        "[80, 160) T_1 Core_1 1 0 0 0 0 - -",
        "[160, 240) T_1 Core_1 1 0 0 0 0 - -",
    ];
    assert_eq!(by_window(&session, "Preemptions", &part), expected);
}

#[test]
fn loads_by_window_are_those_of_the_part_within() {
    let (_dir, session) = engine(&["r"]);
    // On Core_1 from 10 to 20, 30 to 50, 105 to 125, 250 to 260, 310 to 320; on Core_2 from 240 to 250. The
    // last window has 20 ticks of the recording.
    let expected = [
        "[0, 100) T_1 Core_1 1 0 30 30 30 0 0",
        "[100, 200) T_1 Core_1 1 0 20 20 20 100 100",
        "[200, 300) T_1 Core_1 1 0 10 10 10 200 200",
        "[300, 400) T_1 Core_1 1 0 50 50 50 300 300",
        "[0, 100) T_1 Core_2 1 0 0 0 0 0 0",
        "[100, 200) T_1 Core_2 1 0 0 0 0 100 100",
        "[200, 300) T_1 Core_2 1 0 10 10 10 200 200",
        "[300, 400) T_1 Core_2 1 0 0 0 0 300 300",
    ];
    assert_eq!(by_window(&session, "CPULoad", &windows(100, 100)), expected);
    // From 115 on: 10 of 15 ticks up to 130; the span that began before is cut.
    let part = MetricFilter { from: Some(115), to: Some(130), ..windows(10, 10) };
    let expected =
        ["[110, 120) T_1 Core_1 1 0 100 100 100 115 115", "[120, 130) T_1 Core_1 1 0 50 50 50 120 120"];
    assert_eq!(by_window(&session, "CPULoad", &part), expected);
}

#[test]
fn windows_of_loads_are_those_of_the_view() {
    let (_dir, session) = engine(&["r"]);
    let filter = MetricFilter { entity: Some("Core_1".into()), ..windows(40, 20) };
    let ours: Vec<String> = by_window(&session, "CPULoad", &filter)
        .iter()
        .map(|line| {
            let words: Vec<&str> = line.split([' ', ',', '[']).collect();
            format!("{} {}", words[1], words[8])
        })
        .collect();
    let sql = "SELECT begin_at, round(load * 1000) / 1000 FROM core_load WHERE core = 'Core_1' AND process IS NULL \
               ORDER BY begin_at";
    let stream = session.sql(sql, &[("window", 40.into()), ("step", 20.into())]).unwrap();
    let mut theirs = Vec::new();
    for batch in stream {
        let batch = batch.unwrap();
        let (begins, loads) =
            (batch.column(0).as_primitive::<Int64Type>(), batch.column(1).as_primitive::<Float64Type>());
        theirs.extend(begins.values().iter().zip(loads.values()).map(|(b, l)| format!("{b} {l}")));
    }
    // The view has whole windows only: neither [-20, 20) nor [300, 340).
    assert_eq!(theirs.len(), 15);
    assert_eq!(ours[1..16], theirs);
    assert_eq!(ours.len(), 17);
}

#[test]
fn windows_that_are_none_are_refused() {
    let (_dir, session) = engine(&["r"]);
    for (metric, width, step) in [("ResponseTime", 0, 1), ("Activations", 1, -1), ("CPULoad", 1001, 1)] {
        let e = summaries(&session, &[metric.into()], &windows(width, step)).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Usage, "{metric}");
    }
}

#[test]
fn windows_that_need_too_much_memory_are_a_limit() {
    let (dir, _) = engine(&["r"]);
    let mut tx = begin(&dir.path().join("db"));
    tx.set_recording("r", Some(0), Some(1_000_000_000)).unwrap();
    tx.commit().unwrap();
    // A million windows of every line, in 64 MiB.
    for metric in ["Activations", "CPULoad"] {
        let e = summaries(&open(dir.path()), &[metric.into()], &windows(1000, 1000)).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Limit, "{metric}: {e}");
    }
}
