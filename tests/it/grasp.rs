//! Grasp traces on the command line: the paper's table, every line of the corpus, the same trace with other
//! ids, mapping again, pipes. Not the commands (see `formats::grasp`) nor the rules of the mapping (see
//! `map::grasp`); views are in `grasp.slt`.

use crate::support::{Bench, root};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Stdio;

const CONTROL: &str = include_str!("../data/grasp/control.grasp");

fn csv(bench: &Bench, sql: &str) -> String {
    bench.ok(&["query", "g.db", sql, "--format", "csv"]).stdout
}

/// The only value of an answer.
#[track_caller]
fn value(bench: &Bench, sql: &str) -> String {
    let text = csv(bench, sql);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 2, "{sql}: {text}");
    lines[1].to_owned()
}

/// The Grasp traces of the corpus; none, and says so, where there is none.
fn corpus() -> Vec<PathBuf> {
    let Some(folder) = std::env::var_os("BTFDB_CORPUS") else {
        eprintln!("BTFDB_CORPUS is not set: no Grasp trace of the corpus is read");
        return Vec::new();
    };
    let files = std::fs::read_dir(PathBuf::from(folder).join("grasp")).unwrap().map(|f| f.unwrap().path());
    let mut files: Vec<_> =
        files.filter(|p| p.extension().is_some_and(|e| e == "grasp" || e == "log")).collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

#[test]
fn the_table_of_figure_6_to_the_digit() {
    let Some(trace) = corpus().into_iter().find(|p| p.ends_with("buffers.grasp")) else { return };
    let golden = std::fs::read_to_string(trace.with_file_name("figure6_golden.tsv")).unwrap();
    let bench = Bench::new();
    bench.ok(&["ingest", "g.db", trace.to_str().unwrap(), "-q"]);
    // Jobs that arrived and completed; hundredths of a unit of time, rounded half up as the player's format
    // does.
    let text = csv(
        &bench,
        "WITH job AS (
             SELECT process, running, terminate_at - activate_at AS response, r.tick
             FROM process_instance AS p INNER JOIN recording AS r ON p.recording = r.recording
             WHERE complete)
         SELECT process,
             round(max(running) * 100.0 / max(tick)) AS wcet, round(avg(running) * 100.0 / max(tick)) AS acet,
             round(min(running) * 100.0 / max(tick)) AS bcet, round(max(response) * 100.0 / max(tick)) AS wcrt,
             round(avg(response) * 100.0 / max(tick)) AS acrt, round(min(response) * 100.0 / max(tick)) AS bcrt
         FROM job GROUP BY process",
    );
    let rows: BTreeMap<&str, Vec<f64>> = text
        .lines()
        .skip(1)
        .filter_map(|line| line.split_once(','))
        .map(|(task, numbers)| (task, numbers.split(',').map(|n| n.parse::<f64>().unwrap()).collect()))
        .collect();
    let mut seen = 0;
    for line in golden.lines().skip(1) {
        let cells: Vec<&str> = line.split('\t').collect();
        if cells[1] == "-" {
            assert_eq!(rows.get(cells[0]), None, "{text}");
            continue;
        }
        let expected: Vec<f64> =
            cells[1..7].iter().map(|c| (c.parse::<f64>().unwrap() * 100.0).round()).collect();
        assert_eq!(rows.get(cells[0]), Some(&expected), "{line}\n{text}");
        seen += 1;
    }
    assert_eq!(seen, 3);
}

#[test]
fn every_line_of_every_trace_of_the_corpus_is_a_row() {
    for trace in corpus() {
        let bench = Bench::new();
        bench.ok(&["ingest", "g.db", trace.to_str().unwrap(), "--strict", "-q"]);
        let content = std::fs::read_to_string(&trace).unwrap();
        bench.ok(&[
            "query",
            "g.db",
            "SELECT string_agg(text, chr(10) ORDER BY seq) AS t FROM grasp_event",
            "--format",
            "json",
            "-o",
            "t.json",
        ]);
        let json: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(bench.path().join("t.json")).unwrap()).unwrap();
        let written = json[0]["t"].as_str().unwrap();
        assert!(written == content || format!("{written}\n") == content, "{}", trace.display());
        let lines = content.lines().count().to_string();
        assert_eq!(value(&bench, "SELECT records FROM source"), lines, "{}", trace.display());
        assert_eq!(value(&bench, "SELECT records - rows - rejected - skipped FROM source"), "0");
        let kept =
            "SELECT count(*) FROM grasp_event WHERE status NOT IN ('ok', 'custom', 'comment', 'blank')";
        assert_eq!(value(&bench, kept), "0", "{}", trace.display());
        // Every chart of BTF is kept, servers and mutexes are sound, and every metric has an answer.
        let check = bench.run(&["check", "g.db"]);
        assert_eq!(check.code, Some(0), "{}\n{}", trace.display(), check.stdout);
        assert!(value(&bench, "SELECT count(*) FROM process_instance").parse::<u64>().unwrap() > 0);
        bench.ok(&["metrics", "g.db", "-q"]);
    }
}

#[test]
fn a_trace_is_recognised_by_content_from_a_pipe_or_compressed() {
    let bench = Bench::new();
    bench.write("a.log", format!("boot \"up\n{CONTROL}"));
    bench.write("b.grasp", CONTROL);
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(CONTROL.as_bytes()).unwrap();
    bench.write("c.gz", encoder.finish().unwrap());
    bench.ok(&["ingest", "g.db", "a.log", "b.grasp", "c.gz", "-q"]);
    let mut child = bench
        .command()
        .args(["ingest", "g.db", "-", "--name", "d", "--format", "grasp", "-q"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(CONTROL.as_bytes()).unwrap();
    assert!(child.wait_with_output().unwrap().status.success());
    let text = csv(
        &bench,
        "SELECT recording, count(*) AS n FROM process_instance WHERE complete GROUP BY recording ORDER BY recording",
    );
    assert_eq!(text, "recording,n\na,3\nb,3\nc,3\nd,3");
    let info = bench.ok(&["info", "g.db"]).stdout;
    assert!(info.contains("grasp_event"), "{info}");
    bench.ok(&["remove", "g.db", "--recording", "a"]);
    assert_eq!(value(&bench, "SELECT count(DISTINCT recording) FROM grasp_event"), "3");
}

#[test]
fn a_trace_is_mapped_again_to_the_same() {
    let bench = Bench::new();
    bench.write("t.grasp", CONTROL);
    bench.ok(&["ingest", "g.db", "t.grasp", "--no-map", "-q"]);
    assert_eq!(value(&bench, "SELECT count(*) FROM btf_event"), "0");
    assert_eq!(value(&bench, "SELECT tick FROM recording"), "1000000");
    bench.ok(&["map", "g.db", "-q"]);
    let all = "SELECT * FROM btf_event ORDER BY seq";
    let first = csv(&bench, all);
    assert!(first.lines().count() > 20);
    bench.ok(&["map", "g.db", "--threads", "4", "-q"]);
    assert_eq!(csv(&bench, all), first);
    assert_eq!(value(&bench, "SELECT tick FROM recording"), "1000000");
}

#[test]
fn the_unit_of_time_is_what_the_user_says() {
    let bench = Bench::new();
    bench.write(
        "t.grasp",
        "newTask a\nplot 0 jobArrived a.1 a\nplot 1 jobResumed a.1\nplot 2.00005 jobCompleted a.1\n",
    );
    let run = bench.ok(&["ingest", "g.db", "t.grasp", "--tick", "10us"]);
    assert!(run.stderr.contains("1 times were rounded"), "{}", run.stderr);
    assert_eq!(value(&bench, "SELECT running FROM process_instance"), "10000");
    assert_eq!(value(&bench, "SELECT tick FROM recording"), "10000");
    for tick in ["0ms", "-1ms", "soon"] {
        assert_eq!(
            bench.run(&["ingest", "h.db", "t.grasp", &format!("--tick={tick}")]).code,
            Some(2),
            "{tick}"
        );
    }
    bench.write("b.btf", "#version 2.1.5\n0,Core_0,0,T,Task_1,0,start\n");
    assert_eq!(bench.run(&["ingest", "h.db", "b.btf", "--tick", "1ms"]).code, Some(2));
}

#[test]
fn what_would_have_to_run_is_reported_and_refused_when_strict() {
    let bench = Bench::new();
    bench.write("t.grasp", "newTask a\nfor {set i 0} {$i < 3} {incr i} {\n plot $i nop\n}\nplot 1 jobResumed a.1\nplot 2 nop; exec rm x\n");
    let run = bench.run(&["ingest", "g.db", "t.grasp", "--strict"]);
    assert_eq!(run.code, Some(3), "{}", run.stderr);
    assert!(run.stderr.contains("t.grasp:2:"), "{}", run.stderr);
    bench.ok(&["ingest", "g.db", "t.grasp", "-q"]);
    let text = csv(&bench, "SELECT line, severity, code FROM diagnostic ORDER BY line");
    assert_eq!(text, "line,severity,code\n2,error,script\n6,error,several-commands");
    assert_eq!(value(&bench, "SELECT count(*) FROM grasp_event WHERE status = 'refused'"), "2");
}

#[test]
fn faults_of_servers_and_mutexes_are_violations() {
    let bench = Bench::new();
    let trace = root().join("tests/data/grasp/faults.grasp");
    let run = bench.run(&["check", trace.to_str().unwrap()]);
    assert_eq!(run.code, Some(3), "{}", run.stdout);
    for (rule, line) in [("budget-negative", 14), ("mutex-not-held", 13), ("mutex-not-nested", 11)] {
        assert!(run.stdout.contains(&format!("{rule}  ×1")), "{}", run.stdout);
        assert!(run.stdout.contains(&format!("line {line}: ")), "{rule}: {}", run.stdout);
    }
    bench.ok(&["ingest", "g.db", trace.to_str().unwrap(), "-q"]);
    assert_eq!(bench.run(&["check", "g.db"]).code, Some(3));
    let negative = "SELECT min(end_budget) FROM server_budget";
    assert_eq!(value(&bench, negative), "-3000000");
    bench.write("control.grasp", CONTROL);
    assert_eq!(bench.run(&["check", "control.grasp"]).code, Some(0));
}

#[test]
fn traces_are_equal_modulo_ids() {
    let bench = Bench::new();
    bench.write("a.grasp", CONTROL);
    // As every run of a recorder gives them: other addresses.
    let mut other = CONTROL.to_owned();
    for (from, to) in [
        ("job1.", "j0x77a0."),
        ("job2.", "j0x88b0."),
        ("job3.", "j0x99c0."),
        ("t1", "task0x77a0"),
        ("t2", "task0x88b0"),
        ("t3", "task0x99c0"),
        ("m1", "mutex0x5"),
        ("s1", "sem0x6"),
        ("cpu0", "p0x0"),
        ("cpu1", "p0x1"),
    ] {
        other = other.replace(from, to);
    }
    assert_ne!(other, CONTROL);
    bench.write("b.grasp", &other);
    for level in ["exact", "timing", "order"] {
        let run = bench.run(&["compare", "a.grasp", "b.grasp", "--level", level]);
        assert_eq!(run.code, Some(0), "{level}: {}", run.stdout);
        assert!(run.stdout.contains("equal"), "{}", run.stdout);
    }
    // Another overhead: a job completes later, and its successor resumes later.
    bench.write("c.grasp", other.replace("plot 7.5 ", "plot 7.75 "));
    for (level, code) in [("exact", 3), ("timing", 3), ("order", 0)] {
        let run = bench.run(&["compare", "a.grasp", "c.grasp", "--level", level]);
        assert_eq!(run.code, Some(code), "{level}: {}", run.stdout);
    }
    bench.ok(&["ingest", "g.db", "a.grasp", "-q"]);
    assert_eq!(bench.run(&["compare", "g.db:a", "b.grasp"]).code, Some(0));
}

#[test]
fn processors_are_put_onto_one_clock_by_the_messages_between_them() {
    let bench = Bench::new();
    // The clock of q is fast by 100, and each processor is listed by itself.
    bench.write(
        "t.grasp",
        "newProcessor p\nnewProcessor q\nnewTask a -processor p\nnewTask b -processor q\n\
         plot 0 jobArrived a.1 a\nplot 1 jobResumed a.1\nplot 10 syncSent p q 1\nplot 20 syncSent p q 2\nplot 30 jobCompleted a.1\n\
         plot 105 jobArrived b.1 b\nplot 106 jobResumed b.1\nplot 110 syncReceived p q 1\nplot 120 syncReceived p q 2\nplot 125 jobCompleted b.1\n",
    );
    bench.ok(&["ingest", "g.db", "t.grasp", "--tick", "1ns", "-q"]);
    let text = csv(
        &bench,
        "SELECT process, activate_at, start_at, terminate_at FROM process_instance ORDER BY process",
    );
    assert_eq!(text, "process,activate_at,start_at,terminate_at\na,0,1,30\nb,5,6,25");
    // What was written stays as it was.
    assert_eq!(value(&bench, "SELECT max(time) FROM grasp_event"), "125");
    assert_eq!(value(&bench, "SELECT count(*) FROM diagnostic WHERE code = 'clock-corrected'"), "1");
    assert_eq!(bench.run(&["check", "g.db"]).code, Some(0));
}

#[test]
fn a_file_without_commands_is_no_trace() {
    let bench = Bench::new();
    bench.write("t.txt", "nothing\nof the kind\n");
    let run = bench.run(&["ingest", "g.db", "t.txt", "--format", "grasp"]);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert!(run.stderr.contains("no command of Grasp"), "{}", run.stderr);
}
