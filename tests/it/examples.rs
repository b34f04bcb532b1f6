//! Every example of the help texts runs as it is written. Not those of the README (see `tour`).

use crate::archive::packed;
use crate::continued::{pieces, records};
use crate::neutrino::machine::{Options, simulate};
use crate::support::{Bench, copy_dir, root};
use std::process::Command;

#[path = "../../examples/ingest_and_ask.rs"]
#[expect(dead_code, reason = "the test calls what `main` calls")]
mod ingest_and_ask;

#[path = "../../examples/read_a_trace.rs"]
#[expect(dead_code, reason = "the test calls what `main` calls")]
mod read_a_trace;

#[test]
fn the_example_of_the_readers_counts_rows() {
    let text = read_a_trace::run(&root().join("tests/data/grasp/control.grasp")).unwrap();
    assert!(
        text.starts_with("grasp trace, 0 lines rejected\n") && text.contains("  grasp_event: "),
        "{text}"
    );
}

#[test]
fn the_example_of_the_library_ingests_and_asks() {
    let bench = Bench::new();
    let recording = bench.demo();
    let text = ingest_and_ask::run(&recording, &bench.path().join("example.db")).unwrap();
    assert!(text.starts_with("process  ") && text.contains("\nT_4 "), "{text}");
    assert!(text.contains("ResponseTime,"), "{text}");
    assert!(text.contains("#version 2.1.5\n"), "{text}");
}

/// A folder in which the examples make sense.
fn bench() -> Bench {
    let bench = Bench::new();
    let recording = bench.demo();
    for file in ["core0_data.csv.gz", "core0_func.csv.gz"] {
        std::fs::copy(recording.join(file), bench.path().join(file)).unwrap();
    }
    let unpacked = Command::new("sh")
        .args(["-c", "gunzip -k core0_data.csv.gz core0_func.csv.gz"])
        .current_dir(bench.path())
        .status()
        .unwrap();
    assert!(unpacked.success());
    bench.write(
        "report.sql",
        "SELECT process, count(*) AS n FROM process_instance GROUP BY process ORDER BY process;\n",
    );
    let view =
        "-- Tasks.\n-- column: task text Task.\nSELECT DISTINCT process AS task FROM process_instance\n";
    bench.write("my_queries/tasks.sql", view);
    bench.write("gate.toml", "direction = \"greater\"\n");
    bench.write("limits.toml", std::fs::read(root().join("demo/limits.toml")).unwrap());
    for (n, piece) in pieces(&recording, &[records(&recording) / 2]).iter().enumerate() {
        copy_dir(piece.path(), &bench.path().join(format!("minute{}", n + 1)));
    }
    bench.ok(&["ingest", "engine.db", "recording", "--name", "engine", "-q"]);
    bench.ok(&["export", "engine.db", "-o", "trace.btf", "-q"]);
    let trace = std::fs::read(bench.path().join("trace.btf")).unwrap();
    for name in ["old.btf", "new.btf", "a.btf", "b.btf", "monday.btf", "tuesday.btf"] {
        bench.write(name, &trace);
    }
    bench.ok(&["ingest", "week.db", "monday.btf", "tuesday.btf", "-q"]);
    bench.ok(&["ingest", "old.db", "old.btf", "-q"]);
    bench.ok(&["ingest", "new.db", "new.btf", "-q"]);
    let kernel = Options { bytes: 1 << 16, ..Options::default() };
    bench.write("trace.kev", simulate(Vec::new(), &kernel).unwrap().0);
    bench.ok(&["ingest", "kernel.db", "trace.kev", "-q"]);
    for name in ["trace.grasp", "reference.grasp"] {
        bench.write(name, include_str!("../data/grasp/control.grasp"));
    }
    packed(&bench, "zephyr.ctf.tar.gz");
    std::fs::rename(bench.path().join("zephyr"), bench.path().join("lttng-session")).unwrap();
    copy_dir(&root().join("tests/data/systemview/motor"), bench.path());
    std::fs::rename(bench.path().join("motor.SVDat"), bench.path().join("target.SVDat")).unwrap();
    copy_dir(&root().join("tests/data/clocks"), bench.path());
    bench.ok(&["ingest", "vehicle.db", "ecu_a.btf", "ecu_b.btf", "-q"]);
    let packed = Command::new("gzip").arg("tuesday.btf").current_dir(bench.path()).status().unwrap();
    assert!(packed.success());
    bench
}

#[track_caller]
fn runs(bench: &Bench, line: &str) {
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_btfdb")).parent().unwrap();
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", program.display());
    // Two texts may show the same example.
    if let Some(file) = line.split(" -o ").nth(1).and_then(|rest| rest.split_whitespace().next()) {
        let _ = std::fs::remove_file(bench.path().join(file));
    }
    // `less` would wait for keys; what it is given is what counts.
    let line = line.replace("| less", "| cat");
    let output = Command::new("sh")
        .args(["-c", &line])
        .current_dir(bench.path())
        .env_clear()
        .env("PATH", path)
        .env("HOME", bench.path())
        // A shell reads its script, and does not wait for keys.
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !stderr.contains("error:"), "{line}\n{stderr}");
}

/// The lines between `Examples:` and the next empty line.
fn examples(help: &str) -> Vec<String> {
    let after = help.split("Examples:\n").nth(1).unwrap_or("");
    let lines = after.lines().take_while(|l| !l.trim().is_empty());
    lines.map(|l| l.trim().to_owned()).filter(|l| l.contains("btfdb ")).collect()
}

#[test]
fn of_the_help_texts() {
    let bench = bench();
    let mut seen = 0;
    for command in [
        "", "ingest", "align", "query", "shell", "metrics", "explain", "bound", "chains", "regress",
        "export", "plot", "check", "compare",
    ] {
        let args: Vec<&str> = if command.is_empty() { vec!["--help"] } else { vec![command, "--help"] };
        for example in examples(&bench.ok(&args).stdout) {
            // Recordings of one name cannot be ingested twice into the database of the other examples.
            let example = example
                .replace("ingest engine.db", &format!("ingest {seen}.db"))
                .replace("ingest kernel.db", &format!("ingest {seen}.db"))
                .replace("traces.db", "other.db")
                .replace("--for 10min", "--for 1s");
            runs(&bench, &example);
            seen += 1;
        }
    }
    assert!(seen >= 26, "only {seen} examples were found");
}
