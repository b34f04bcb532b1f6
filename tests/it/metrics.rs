//! `btfdb metrics` beyond its numbers: windows, histograms, JSON as it is documented, SQL files of the user.

use crate::support::{Bench, root};
use serde_json::Value;

/// The columns of a summary, in order.
const SUMMARY_COLUMNS: [&str; 19] = [
    "recording",
    "metric",
    "entity",
    "type",
    "core",
    "unit",
    "count",
    "incomplete",
    "min",
    "avg",
    "max",
    "stddev",
    "p50",
    "p95",
    "p99",
    "p999",
    "jitter",
    "min_at",
    "max_at",
];

/// A metric, and a view that it reads.
const WRITES: &str = "-- How often a signal is written.\n-- unit: count\n-- fold: sum\n-- alias: WR Of ours.\n\
                      SELECT recording, signal AS entity, 'SIG' AS type, CAST(NULL AS VARCHAR) AS core, 0 AS instance,\n\
                      1 AS value, at FROM written;\n";
const WRITTEN: &str = "-- One row per write.\n-- column: recording text Recording.\n-- column: signal text Signal.\n\
                       -- column: at time When.\n\
                       SELECT recording, target AS signal, time AS at FROM btf_event\n\
                       WHERE target_type = 'SIG' AND action = 'write'\n";

fn with_files() -> Bench {
    let bench = Bench::engine();
    bench.write("mine/signals/written.sql", WRITTEN);
    bench.write("mine/Writes.sql", WRITES);
    bench
}

#[test]
fn json_is_as_it_is_documented() {
    let page = std::fs::read_to_string(root().join("docs/metrics.md")).unwrap();
    let example = page.split("```json\n").nth(1).unwrap().split("```").next().unwrap();
    let run =
        Bench::engine().ok(&["metrics", "engine.db", "ResponseTime", "--entity", "T_5", "--format", "json"]);
    let parse = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    assert_eq!(parse(&run.stdout), parse(example), "{}", run.stdout);
    // A parser does not show the order of keys.
    let keys = |text: &str| -> Vec<String> {
        text.split('"')
            .skip(1)
            .step_by(2)
            .filter(|k| SUMMARY_COLUMNS.contains(k))
            .map(str::to_owned)
            .collect()
    };
    assert_eq!(keys(&run.stdout), SUMMARY_COLUMNS);
    assert_eq!(keys(example), SUMMARY_COLUMNS);
    let described: Vec<&str> = page
        .lines()
        .filter_map(|l| l.strip_prefix("| `")?.split('`').next())
        // Only with windows, and with several recordings as one.
        .filter(|c| !["begin_at", "end_at", "label", "recordings"].contains(c) && !c.ends_with("_recording"))
        .collect();
    assert_eq!(described, SUMMARY_COLUMNS);
}

#[test]
fn windows_of_a_part() {
    let bench = Bench::engine();
    let run = bench.ok(&[
        "metrics",
        "engine.db",
        "ResponseTime",
        "CPULoad",
        "Preemptions",
        "--entity",
        "T_5",
        "--from",
        "100ms",
        "--to",
        "150ms",
        "--window",
        "20ms",
        "--format",
        "csv",
    ]);
    insta::assert_snapshot!(run.all());
    // The sum of a count over windows without gaps is the count.
    let counts = |args: &[&str]| -> f64 {
        let run = bench.ok(&[&["metrics", "engine.db", "Activations", "--format", "csv"][..], args].concat());
        let at = run.stdout.lines().next().unwrap().split(',').position(|c| c == "max").unwrap();
        run.stdout.lines().skip(1).map(|l| l.split(',').nth(at).unwrap().parse::<f64>().unwrap()).sum()
    };
    assert_eq!(counts(&[]), counts(&["--window", "7ms"]));
    assert_eq!(2.0 * counts(&[]), counts(&["--window", "14ms", "--step", "7ms"]));
    for wrong in [
        &["--window", "0"][..],
        &["--window", "1ms", "--step", "-1ms"],
        &["--step", "1ms"],
        &["--window", "x"],
    ] {
        let run = bench.run(&[&["metrics", "engine.db"][..], wrong].concat());
        assert_eq!(run.code, Some(2), "{wrong:?}: {}", run.all());
    }
}

#[test]
fn histograms_are_bars_or_rows() {
    let bench = Bench::engine();
    let args = ["metrics", "engine.db", "ResponseTime", "--entity", "T_5", "--histogram"];
    let table = bench.ok(&[&args[..], &["--format", "table"]].concat());
    assert!(
        !table.stdout.contains('\u{1b}') && table.stdout.lines().skip(1).all(|l| l.chars().count() <= 100)
    );
    let rows = bench.ok(&args);
    insta::assert_snapshot!(format!("{}\n\n{}", table.all(), rows.stdout));
    let column = |line: &str, n: usize| line.split(',').nth(n).unwrap().parse::<f64>().unwrap();
    assert_eq!(rows.stdout.lines().skip(1).map(|l| column(l, 8)).sum::<f64>(), 20.0);
    let all = bench.ok(&["metrics", "engine.db", "--histogram", "--format", "table"]);
    assert!(all.stdout.contains("CPULoad of Core_1: 1 sample,"), "{}", all.stdout);
}

#[test]
fn files_of_the_user_are_known_everywhere() {
    let bench = with_files();
    let path = ["--sql-path", "mine"];
    let count =
        bench.ok(&[&["query", "engine.db", "SELECT count(*) AS n FROM written"][..], &path].concat()).stdout;
    let summary = bench.ok(&[&["metrics", "engine.db", "wr", "--format", "csv"][..], &path].concat()).stdout;
    let sum: f64 =
        summary.lines().skip(1).map(|l| l.split(',').nth(8).unwrap().parse::<f64>().unwrap()).sum();
    assert_eq!(count.lines().nth(1).unwrap().parse::<f64>().unwrap(), sum, "{summary}");
    let list = bench.ok(&[&["metrics", "--list"][..], &path].concat()).stdout;
    assert!(list.ends_with("How often a signal is written [WR]"), "{list}");
    assert!(
        list.lines().any(|l| l.starts_with("ResponseTime ") && l.ends_with("[RT WCRT ACRT BCRT]")),
        "{list}"
    );
    let shown = bench.ok(&[&["metrics", "--show", "writes"][..], &path].concat()).stdout;
    assert_eq!(shown, WRITES.trim_end().trim_end_matches(';'));
    bench.write("shell.sql", ".schema written\n.metrics WR\n.histogram writes SIG_3\n.metric WR SIG_3\n");
    let mut shell = bench.command();
    shell.args(["shell", "engine.db", "--sql-path", "mine"]);
    shell.stdin(std::fs::File::open(bench.path().join("shell.sql")).unwrap());
    let run = crate::support::Run::of(shell.output().unwrap(), bench.path());
    assert_eq!(run.code, Some(0), "{}", run.all());
    assert!(run.stdout.contains("One row per write.") && run.stdout.contains(",bin_from,"), "{}", run.stdout);
    bench.write("limits.toml", "[[limit]]\nmetric = \"WR\"\nstatistic = \"p999\"\nupper = 1e9\n");
    let check = bench.ok(&[&["check", "engine.db", "--requirements", "limits.toml"][..], &path].concat());
    assert!(check.stdout.contains("p999"), "{}", check.stdout);
}

#[test]
fn mistakes_in_files_of_the_user() {
    let bench = with_files();
    bench.write("mine/signals/written.sql", WRITTEN.replace("target AS", "traget AS"));
    insta::assert_snapshot!(bench.run(&["query", "engine.db", "SELECT 1", "--sql-path", "mine"]).all());
    let none = bench.run(&["metrics", "--list", "--sql-path", "nowhere"]);
    assert_eq!(none.code, Some(2), "{}", none.all());
}
