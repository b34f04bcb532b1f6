//! Recordings of SystemView on the command line: what becomes of one, with its description and without, as
//! every other recording; and each event of the recording of the corpus. Not the packets (see
//! `formats::systemview`) nor the rules (see `map::scheduler`).

use crate::support::{Bench, copy_dir, root};
use std::path::PathBuf;

/// A bench with a control loop of FreeRTOS, whose tick is a task every millisecond: `tests/data/systemview`.
fn bench() -> Bench {
    let bench = Bench::new();
    copy_dir(&root().join("tests/data/systemview/motor"), &bench.path().join("motor"));
    bench
}

#[test]
fn a_folder_is_a_recording_and_its_jobs_have_response_times() {
    let bench = bench();
    insta::assert_snapshot!("ingest", bench.ok(&["ingest", "s.db", "motor", "--endless", "Ctrl"]).all());
    insta::assert_snapshot!("events", bench.ok(&["export", "s.db", "-o", "-", "--format", "btf"]).stdout);
    let times = "SELECT instance, terminate_at - activate_at AS response FROM process_instance WHERE process = 'Ctrl'";
    let found = bench.ok(&["query", "s.db", &format!("{times} ORDER BY instance"), "--format", "csv"]);
    assert_eq!(found.stdout, "instance,response\n0,249000\n1,121000\n2,49000\n3,249000");
    let waits = "SELECT count(*) AS n FROM process_state WHERE process = 'Log' AND state = 'waiting' AND begin_at < 3000000";
    let found = bench.ok(&["query", "s.db", waits, "--format", "csv"]);
    assert_eq!(found.stdout, "n\n0", "what inherits a priority is not released");
}

#[test]
fn parameters_are_asked_by_name() {
    let bench = bench();
    bench.ok(&["ingest", "s.db", "motor/motor.SVDat", "-q"]);
    let sql = "SELECT time, name, payload['percent'] AS percent, payload['text'], payload['args'][1] AS first
               FROM trace_event WHERE payload['percent'] > 40 OR name IN ('fault', 'PRINT') ORDER BY time";
    insta::assert_snapshot!("parameters", bench.ok(&["query", "s.db", sql, "--format", "table"]).stdout);
}

#[test]
fn all_that_is_done_with_recordings_is_done_with_it() {
    let bench = bench();
    bench.ok(&["ingest", "s.db", "motor", "-q"]);
    let check = bench.ok(&["check", "s.db"]);
    assert!(check.stdout.contains("0 errors, 0 warnings"), "{}", check.all());
    for (format, file) in [("btf", "s.btf"), ("perfetto", "s.pftrace"), ("csv", "s.csv")] {
        bench.ok(&["export", "s.db", "--format", format, "-o", file]);
    }
    let same = bench.ok(&["compare", "s.db", "s.btf"]);
    assert!(same.stdout.contains("0 only in A, 0 only in B"), "{}", same.all());
    let same = bench.ok(&["compare", "motor/motor.SVDat", "s.btf"]);
    assert!(same.stdout.contains("0 only in A, 0 only in B"), "{}", same.all());
    bench.ok(&["plot", "s.db", "-o", "s.svg"]);
    let again = bench.ok(&["map", "s.db"]);
    assert!(again.stderr.contains("motor: mapped to"), "{}", again.all());
    let found = bench.ok(&["metrics", "s.db", "CPULoad", "--entity", "Ctrl", "--format", "csv"]);
    assert_eq!(found.stdout.lines().count(), 2, "{}", found.all());
}

#[test]
fn what_is_missing_or_of_another_format_is_said() {
    let bench = bench();
    std::fs::remove_file(bench.path().join("motor/SYSVIEW_FreeRTOS.txt")).unwrap();
    let undescribed = bench.ok(&["ingest", "s.db", "motor"]);
    assert!(
        undescribed.stderr.contains("is a SYSVIEW_FreeRTOS.txt next to the file?"),
        "{}",
        undescribed.all()
    );
    bench.write("cut.svdat", &std::fs::read(bench.path().join("motor/motor.SVDat")).unwrap()[..300]);
    let cut = bench.ok(&["ingest", "s.db", "cut.svdat"]);
    assert!(cut.stderr.contains("cut.svdat:") && cut.stderr.contains("[bad-packet]"), "{}", cut.all());
    bench.write("other.svdat", "#version 2.1.5\n0,A,0,T,B,0,activate\n");
    let refused = bench.run(&["ingest", "s.db", "other.svdat", "--format", "systemview"]);
    assert_eq!(refused.code, Some(1), "{}", refused.all());
    let clock = bench.run(&["ingest", "s.db", "motor", "--name", "x", "--systemview-clock", "fast"]);
    assert!(
        clock.code == Some(2) && clock.stderr.contains("no number of ticks per second"),
        "{}",
        clock.all()
    );
    bench.write("empty/notes.txt", "nothing");
    let none = bench.run(&["ingest", "s.db", "empty"]);
    assert!(none.stderr.contains("'empty' is no recording"), "{}", none.all());
}

/// Counts per name, and the last event, are those of the facts next to the recording, by another reader.
#[test]
fn every_event_of_the_corpus_is_there() {
    let Some(corpus) = std::env::var_os("BTFDB_CORPUS") else {
        eprintln!("BTFDB_CORPUS is not set: no recording of SystemView is read");
        return;
    };
    let folder = PathBuf::from(corpus).join("systemview/esp-idf");
    let bench = Bench::new();
    bench.ok(&["ingest", "s.db", folder.to_str().unwrap(), "-q"]);
    let check = bench.ok(&["check", "s.db"]);
    assert!(check.stdout.contains("0 errors, 0 warnings"), "{}", check.all());
    for core in [0, 1] {
        let facts = std::fs::read_to_string(folder.join(format!("heap_log{core}.facts.json"))).unwrap();
        let facts: serde_json::Value = serde_json::from_str(&facts).unwrap();
        let facts = &facts["streams"][0];
        let sql = format!("SELECT count(*) AS n, max(time) AS last FROM trace_event WHERE cpu = {core}");
        let found = bench.ok(&["query", "s.db", &sql, "--format", "csv"]).stdout;
        assert_eq!(found, format!("n,last\n{},{}", facts["events"], facts["last_ns"]));
        for (name, count) in facts["by_id"].as_object().unwrap() {
            // What only the description names has a number there.
            if name.starts_with(|c: char| c.is_ascii_digit()) {
                continue;
            }
            let sql = format!("SELECT count(*) AS n FROM trace_event WHERE cpu = {core} AND name = '{name}'");
            let found = bench.ok(&["query", "s.db", &sql, "--format", "csv"]).stdout;
            assert_eq!(found, format!("n\n{count}"), "{name}");
        }
    }
    let golden = std::fs::read_to_string(folder.join("heap_log.expected.json")).unwrap();
    let golden: serde_json::Value = serde_json::from_str(&golden).unwrap();
    let rows = bench.ok(&[
        "query",
        "s.db",
        "SELECT cpu, time, payload FROM trace_event ORDER BY cpu, seq",
        "--format",
        "jsonl",
    ]);
    let rows: Vec<serde_json::Value> =
        rows.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut compared = 0;
    for core in [0, 1] {
        let mut own = rows.iter().filter(|row| row["cpu"] == core);
        let mut before = None;
        for event in golden["events"].as_array().unwrap().iter().filter(|event| event["core_id"] == core) {
            // The golden has each text that is printed twice.
            let is_again = event["id"] == 26 && before == Some(event);
            before = Some(event).filter(|_| !is_again);
            let Some(parameters) = event["params"].as_object() else {
                if !is_again {
                    own.next();
                }
                continue;
            };
            let row = own.next().unwrap();
            let payload: serde_json::Value = serde_json::from_str(row["payload"].as_str().unwrap()).unwrap();
            assert_eq!(payload.as_object().unwrap(), parameters, "{event}");
            let time = (event["ts"].as_f64().unwrap() * 1e9).round();
            assert_eq!(row["time"].as_f64(), Some(time), "{event}");
            compared += 1;
        }
        assert!(own.next().is_none());
    }
    assert!(compared > 2000, "{compared}");
}
