//! Each metric against numbers computed by hand, and the library against the schema.

use arrow::array::AsArray;
use arrow::datatypes::{DataType, Float64Type, Int64Type};

use super::fixture::{self, begin, engine, gap, open, put};
use super::{collect, rows};
use crate::error::ErrorKind;
use crate::query::{METRIC_COLUMNS, MetricFilter, SUMMARY_COLUMNS, Session, Unit, metrics, views};
use crate::schema::tables;

/// `entity count incomplete min avg max min_at max_at` of every line, `core` before it for loads.
fn summary(session: &Session, metric: &str, filter: &MetricFilter) -> Vec<String> {
    let batch = session.metrics(&[metric.to_owned()], filter).unwrap();
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

/// Compares the lines of metrics on the whole of the database by hand.
fn expect(expected: &[(&str, &[&str])]) {
    let (_dir, session) = engine(&["r"]);
    for (metric, lines) in expected {
        assert_eq!(summary(&session, metric, &MetricFilter::default()), *lines, "{metric}");
    }
}

#[test]
fn pairs_of_instances() {
    // Activations at 0, 100, 210, 300: the last, incomplete instance has a neighbour before, and none after it.
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
    // The window is longer than the recording: the load is that of its part within, 260 to 320.
    assert_eq!(
        summary(&session, "CPULoad", &window(Some(260), Some(9999)))[0],
        "T_1 Core_1 1 0 16.667 16.667 16.667 260 260"
    );
    assert!(summary(&session, "CPULoad", &window(Some(500), Some(600))).is_empty());
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
    let both = session.metrics(&["ActivateToActivate".into()], &MetricFilter::default()).unwrap();
    assert_eq!(both.num_rows(), 2);
    let filter = MetricFilter { recording: Some("s".into()), ..MetricFilter::default() };
    let one = session.metrics(&[], &filter).unwrap();
    assert!(one.column(0).as_string::<i32>().iter().all(|r| r == Some("s")));
    // Every metric is there, in the order of the list.
    let mut shown: Vec<_> = one.column(1).as_string::<i32>().iter().flatten().collect();
    shown.dedup();
    assert_eq!(shown, metrics().iter().map(|m| m.name).collect::<Vec<_>>());
}

#[test]
fn unknown_names_are_usage_errors_with_a_suggestion() {
    let (_dir, session) = engine(&["r"]);
    let bad_metric = session.metrics(&["ResponsTime".into()], &MetricFilter::default()).unwrap_err();
    assert_eq!(bad_metric.hints(), ["did you mean 'ResponseTime'?"]);
    let filter = MetricFilter { recording: Some("R".into()), ..MetricFilter::default() };
    assert_eq!(session.metrics(&[], &filter).unwrap_err().hints(), ["did you mean 'r'?"]);
    let filter = MetricFilter { entity: Some("T_2".into()), ..MetricFilter::default() };
    let bad_entity = session.metrics(&[], &filter).unwrap_err();
    assert_eq!((bad_entity.kind(), bad_entity.hints().len()), (ErrorKind::Usage, 1));
}

/// Every file of the library plans on an empty database and has the columns that are promised.
#[test]
fn the_library_fits_the_schema() {
    let (_dir, session) = fixture::empty();
    for view in views() {
        let params: Vec<_> = view.params.iter().map(|p| (p.name, 1000.into())).collect();
        let select = format!("SELECT * FROM {}", view.name);
        let stream = session.sql(&select, &params).unwrap_or_else(|e| panic!("{}: {e}", view.name));
        let planned: Vec<_> =
            stream.schema().fields().iter().map(|f| (f.name().as_str(), f.data_type())).collect();
        let promised: Vec<_> = view.columns.iter().map(|c| c.name).collect();
        assert_eq!(planned.iter().map(|p| p.0).collect::<Vec<_>>(), promised, "{}", view.name);
        for ((name, planned), column) in planned.iter().zip(&view.columns) {
            let fits = match column.ty {
                "text" => **planned == DataType::Utf8View,
                "time" | "duration" | "integer" => **planned == DataType::Int64,
                "percent" => **planned == DataType::Float64,
                "boolean" => **planned == DataType::Boolean,
                _ => false,
            };
            assert!(fits, "{}.{name}: {planned} is not {}", view.name, column.ty);
        }
    }
    for metric in metrics() {
        let all = [("from", i64::MIN.into()), ("to", i64::MAX.into())];
        let params = if metric.params.is_empty() { &[][..] } else { &all[..] };
        let batch = collect(&session, metric.sql, params).unwrap_or_else(|e| panic!("{}: {e}", metric.name));
        let schema = batch.schema();
        assert_eq!(
            schema.fields().iter().map(|f| f.name().as_str()).collect::<Vec<_>>(),
            METRIC_COLUMNS,
            "{}",
            metric.name
        );
        let value = schema.field_with_name("value").unwrap().data_type();
        let expected = if metric.unit == Unit::Percent { DataType::Float64 } else { DataType::Int64 };
        assert_eq!(*value, expected, "{}", metric.name);
        assert_eq!(*schema.field_with_name("at").unwrap().data_type(), DataType::Int64, "{}", metric.name);
        assert_eq!(batch.num_rows(), 0, "{}", metric.name);
    }
    let none = session.metrics(&[], &MetricFilter::default()).unwrap();
    assert_eq!(none.num_rows(), 0);
    assert_eq!(none.schema().fields().iter().map(|f| f.name().as_str()).collect::<Vec<_>>(), SUMMARY_COLUMNS);
}

#[test]
fn views_can_be_queried() {
    let (_dir, session) = engine(&["r"]);
    let sql = "SELECT entity, instance, next_activate_at FROM process_pair ORDER BY entity, instance";
    assert_eq!(rows(&session, sql), ["I_1 0 -", "T_1 0 100", "T_1 1 210", "T_1 2 300", "T_1 3 -"]);
    let names: Vec<_> = session.relations().iter().filter(|r| r.view).map(|r| r.name.as_str()).collect();
    assert_eq!(names[..2], ["process_metric_base", "process_pair"]);
    assert_eq!(names.len(), views().len());
}
