//! Exports of the cores of one recording that begin or end at different times, as those of trace buffers per
//! core do: nothing is said of a core before its first record, and what is said after its last one is
//! doubtful.

use crate::continued::{read, time_of};
use crate::support::{Bench, Run};
use std::fs;

/// One value, or rows, of a query.
fn rows(bench: &Bench, db: &str, sql: &str) -> String {
    bench.ok(&["query", db, sql, "--format", "csv"]).stdout.lines().skip(1).collect::<Vec<_>>().join("\n")
}

/// The demo, with only those lines of core 1 whose time is in `[from, to)` ms, as `part`; and the whole, as
/// `whole.db`.
fn part_of_a_core(from: i64, to: i64) -> Bench {
    let bench = Bench::new();
    let folder = bench.demo();
    bench.ok(&["ingest", "whole.db", "recording", "-q"]);
    fs::rename(&folder, bench.path().join("part")).unwrap();
    let ticks = from * 100_000_000..to * 100_000_000;
    for file in ["core1_data.csv", "core1_func.csv"] {
        let zipped = bench.path().join("part").join(format!("{file}.gz"));
        let text = read(&zipped);
        let is_kept = |line: &&str| time_of(line).is_some_and(|time| ticks.contains(&time));
        let kept: Vec<&str> = text.lines().filter(is_kept).collect();
        assert!(!kept.is_empty());
        fs::remove_file(zipped).unwrap();
        bench.write(&format!("part/{file}"), kept.join("\n") + "\n");
    }
    let description = bench.path().join("part/recording.toml");
    let text = fs::read_to_string(&description).unwrap();
    fs::write(
        description,
        text.replace("core1_data.csv.gz", "core1_data.csv").replace("core1_func.csv.gz", "core1_func.csv"),
    )
    .unwrap();
    bench
}

fn ingested(bench: &Bench) -> Run {
    bench.ok(&["ingest", "part.db", "part"])
}

const OCCUPANT: &str = "SELECT process, begin_at, end_at FROM core_slice WHERE core = 'Core_1' AND begin_at > 81000000 ORDER BY begin_at";

#[test]
fn nothing_is_known_of_a_core_before_its_first_record() {
    let bench = part_of_a_core(80, 1000);
    let said = ingested(&bench).stderr;
    assert!(said.contains("Core_1 is 8") && said.contains("[core-begins-later]"), "{said}");
    let gaps = rows(&bench, "part.db", "SELECT core, begin_at, end_at, reason FROM gap");
    let first = rows(
        &bench,
        "part.db",
        "SELECT min(time) FROM (SELECT core, time FROM data_event UNION ALL SELECT core, time FROM function_event) WHERE core = 'Core_1'",
    );
    let begin = rows(&bench, "part.db", "SELECT begin_at FROM recording");
    assert_eq!(gaps, format!("Core_1,{begin},{first},not_recorded"));
    for table in ["process_state", "runnable_state", "core_slice"] {
        let sql = format!("SELECT count(*) FROM {table} WHERE core = 'Core_1' AND begin_at < {first}");
        assert_eq!(rows(&bench, "part.db", &sql), "0", "{table}");
    }
    assert_eq!(rows(&bench, "part.db", OCCUPANT), rows(&bench, "whole.db", OCCUPANT));
    let said = bench.ok(&["check", "part.db"]).all();
    assert!(said.contains(": 0 errors, 0 warnings"), "{said}");
}

#[test]
fn what_is_said_of_a_core_after_its_last_record_is_doubtful() {
    let bench = part_of_a_core(0, 150);
    let said = ingested(&bench).stderr;
    assert!(said.contains("[core-ends-earlier]"), "{said}");
    assert_eq!(rows(&bench, "part.db", "SELECT count(*) FROM gap"), "0");
    let doubtful = bench.ok(&["metrics", "part.db", "CPULoad"]).stderr;
    assert!(doubtful.contains("doubtful") && doubtful.contains("[core-ends-earlier]"), "{doubtful}");
}

#[test]
fn a_later_piece_tells_more_of_the_end_of_a_core() {
    let bench = part_of_a_core(0, 150);
    ingested(&bench);
    let rest = part_of_a_core(150, 1000);
    let piece = bench.path().join("rest");
    fs::rename(rest.path().join("part"), &piece).unwrap();
    for file in ["core0_data.csv.gz", "core0_func.csv.gz"] {
        fs::remove_file(piece.join(file)).unwrap();
    }
    let description = fs::read_to_string(piece.join("recording.toml")).unwrap();
    let is_of_core_0 =
        |line: &&str| !line.ends_with("\"core0_data.csv.gz\"") && !line.ends_with("\"core0_func.csv.gz\"");
    let kept: Vec<&str> = description.lines().filter(is_of_core_0).collect();
    fs::write(piece.join("recording.toml"), kept.join("\n")).unwrap();
    bench.ok(&["ingest", "part.db", "rest", "--continue", "demo"]);
    let doubts = "SELECT count(*) FROM diagnostic WHERE code LIKE 'core-%'";
    assert_eq!(rows(&bench, "part.db", doubts), "0");
    let events = "SELECT time, source, source_instance, target_type, target, target_instance, action FROM btf_event ORDER BY seq";
    assert_eq!(rows(&bench, "part.db", events), rows(&bench, "whole.db", events));
}

/// A core that started and sleeps ever since tells nothing about how long it can be silent.
#[test]
fn a_core_with_few_records_is_not_judged() {
    let bench = part_of_a_core(0, 1);
    for export in ["part/core1_data.csv", "part/core1_func.csv"] {
        let path = bench.path().join(export);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(path, text.lines().take(5).flat_map(|line| [line, "\n"]).collect::<String>()).unwrap();
    }
    let said = ingested(&bench).stderr;
    assert!(!said.contains("[core-"), "{said}");
    assert_eq!(rows(&bench, "part.db", "SELECT count(*) FROM gap"), "0");
}
