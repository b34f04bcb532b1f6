//! Inputs that grow while they are ingested: what is there before the end, and that the end is what one
//! ingest of the whole gives. Not how a step is chosen.

use crate::support::{Bench, root};
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// System events of the demo, as lines.
fn trace(bench: &Bench) -> String {
    let recording = root().join("demo/recording");
    bench.ok(&["ingest", "demo.db", recording.to_str().unwrap(), "-q"]);
    bench.ok(&["export", "demo.db", "-o", "whole.btf", "-q"]);
    std::fs::read_to_string(bench.path().join("whole.btf")).unwrap()
}

fn events(bench: &Bench) -> Option<i64> {
    let sql = "SELECT count(*) AS n FROM btf_event WHERE recording IN ('live', 'stdin')";
    let run = bench.run(&["query", "live.db", sql, "--format", "csv"]);
    if run.code == Some(0) { run.stdout.lines().nth(1)?.parse().ok() } else { None }
}

/// Waits until there are events, more than so many.
fn wait(bench: &Bench, more_than: i64) -> i64 {
    let begun = Instant::now();
    loop {
        if let Some(found) = events(bench).filter(|found| *found > more_than) {
            return found;
        }
        assert!(begun.elapsed() < Duration::from_secs(120), "no step was committed");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn same(bench: &Bench, recording: &str) {
    bench.ok(&["ingest", "once.db", "whole.btf", "--name", recording, "-q"]);
    for table in ["btf_event", "process_instance", "process_state", "btf_line"] {
        let sql = format!("SELECT * FROM {table} WHERE recording = '{recording}' ORDER BY ALL");
        let sql = sql.replace("ORDER BY ALL", if table == "btf_event" { "ORDER BY seq" } else { "" });
        let [live, once] =
            ["live.db", "once.db"].map(|db| bench.ok(&["query", db, &sql, "--format", "csv"]).stdout);
        assert_eq!(live, once, "{table}");
    }
}

#[test]
fn a_pipe_is_there_before_it_ends_and_is_the_whole_then() {
    let bench = Bench::new();
    let text = trace(&bench);
    let mut command = bench.command();
    let command = command.args(["ingest", "live.db", "-", "--follow"]);
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    // Cut within a line.
    let (first, rest) = text.split_at(text.len() / 2);
    input.write_all(first.as_bytes()).unwrap();
    let found = wait(&bench, 0);
    input.write_all(rest.as_bytes()).unwrap();
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let all = events(&bench).unwrap();
    assert!(0 < found && found < all, "{found} of {all}");
    let path = bench.ok(&["query", "live.db", "SELECT path FROM source", "--format", "csv"]);
    assert_eq!(path.stdout, "path\n-");
    same(&bench, "stdin");
}

#[test]
fn an_input_that_becomes_shorter_ends_it_and_a_time_leaves_no_copy_of_a_pipe() {
    let bench = Bench::new();
    let text = trace(&bench);
    let file = bench.write("live.btf", &text);
    let mut command = bench.command();
    let command = command.args(["ingest", "live.db", "live.btf", "--follow"]).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let found = wait(&bench, 0);
    std::fs::write(file, &text[..text.len() / 2]).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(1) && said.contains("has become shorter"), "{said}");
    assert_eq!(events(&bench), Some(found));
    let mut command = bench.command();
    let command = command.args(["ingest", "piped.db", "-", "--follow", "--for", "1s", "-q"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(text.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    let hidden = std::fs::read_dir(bench.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<_> = hidden.filter(|name| name.to_string_lossy().starts_with(".tmp")).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[cfg(unix)]
#[test]
fn a_file_is_followed_until_it_is_interrupted() {
    let bench = Bench::new();
    let text = trace(&bench);
    let (first, rest) = text.split_at(text.len() / 3);
    let file = bench.write("live.btf", first);
    let mut command = bench.command();
    let mut child = command.args(["ingest", "live.db", "live.btf", "--follow", "-q"]).spawn().unwrap();
    let found = wait(&bench, 0);
    let mut file = std::fs::OpenOptions::new().append(true).open(file).unwrap();
    file.write_all(rest.as_bytes()).unwrap();
    let all = wait(&bench, found);
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    assert!(child.wait().unwrap().success(), "Ctrl-C is the end, not a failure");
    assert!(found < all);
    same(&bench, "live");
}

#[test]
fn a_time_ends_it_and_what_is_no_trace_is_an_error_then() {
    let bench = Bench::new();
    bench.write("live.btf", "neither BTF\nnor anything else\n");
    let run = bench.run(&["ingest", "live.db", "live.btf", "--follow", "--for", "1s"]);
    assert_eq!(run.code, Some(1), "{}", run.all());
    let run = bench.run(&["ingest", "live.db", "live.btf", "--for", "1s"]);
    assert_eq!(run.code, Some(2), "{}", run.all());
    let run = bench.run(&["ingest", "live.db", "live.tar.gz", "--follow", "--for", "1s"]);
    assert!(run.code == Some(2) && run.stderr.contains("does not grow"), "{}", run.all());
    let run = bench.run(&["ingest", "live.db", "none.btf", "--follow", "--for", "1s"]);
    assert!(run.code == Some(1) && run.stderr.contains("none.btf"), "{}", run.all());
}
