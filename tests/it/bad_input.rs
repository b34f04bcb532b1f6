//! Bad input: a clear, located message, the right exit code, and a database that is as it was. Rows that are
//! bad among good ones are counted and located instead, and cost nothing else.

use crate::support::{Bench, Run, tree};

const DATA: &str = "\
-0000000004,0.0000000300,\"EE_th_status[0]\",\"wr-data\",00000002
-0000000003,0.0000000400,\"SIG_1\",\"rd-data\",0000000A
-0000000002,0.0000000500,\"SIG_1\",\"wr-data\",0000000B
";

/// A small recording of one core without mapping.
fn recording(data: &[u8]) -> Bench {
    let bench = Bench::new();
    bench.write("r/core0_data.csv", data);
    bench.write("r/core0_func.csv", "+20; main; fentry\n+90; main; fexit\n");
    bench
}

/// Ingests `input` into a database that holds another recording; that must stay as it is.
#[track_caller]
fn refused(bench: &Bench, args: &[&str], code: i32, words: &[&str]) -> Run {
    if !bench.path().join("a.db").exists() {
        bench.write("good/core0_data.csv", DATA);
        bench.ok(&["ingest", "a.db", "good", "-q"]);
    }
    let before = tree(&bench.path().join("a.db"));
    let run = bench.run(args);
    assert_eq!(run.code, Some(code), "{}", run.all());
    assert_eq!(run.stdout, "");
    for word in words {
        assert!(run.stderr.contains(word), "no '{word}' in:\n{}", run.stderr);
    }
    assert_eq!(tree(&bench.path().join("a.db")), before, "the database changed");
    let fresh = bench.run(&args.iter().map(|a| if *a == "a.db" { "new.db" } else { a }).collect::<Vec<_>>());
    assert_ne!(fresh.code, Some(0));
    assert!(!bench.path().join("new.db").exists(), "a failed first ingest leaves a folder");
    run
}

const INGEST: [&str; 3] = ["ingest", "a.db", "r"];

#[test]
fn missing_file() {
    let bench = recording(DATA.as_bytes());
    bench.write("r/recording.toml", "[[core]]\nname = \"C\"\ndata = \"nowhere.csv\"\n");
    refused(&bench, &INGEST, 1, &["r/nowhere.csv", "hint:"]);
    refused(&bench, &["ingest", "a.db", "absent"], 1, &["'absent' does not exist", "hint:"]);
}

#[test]
fn empty_file() {
    refused(&recording(b""), &INGEST, 1, &["r/core0_data.csv: the file is empty", "hint:"]);
}

#[test]
fn binary_garbage() {
    let garbage: Vec<u8> = (0..4096u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    refused(&recording(&garbage), &INGEST, 1, &["r/core0_data.csv: this is no TRACE32", "hint:"]);
}

#[test]
fn nothing_but_decimal_values_where_hex_was_expected() {
    let data =
        "-0000000002,0.0000000300,\"V\",\"wr-data\",43.\n-0000000001,0.0000000400,\"V\",\"wr-data\",44.\n";
    let run = refused(&recording(data.as_bytes()), &INGEST, 1, &["r/core0_data.csv:1:", "data_radix"]);
    assert!(run.stderr.contains("43."), "{}", run.stderr);
}

#[test]
fn a_core_named_twice() {
    let bench = recording(DATA.as_bytes());
    let core = "[[core]]\nname = \"C\"\ndata = \"core0_data.csv\"\n";
    bench.write("r/recording.toml", format!("{core}{core}"));
    refused(&bench, &INGEST, 1, &["recording.toml: core 'C' is described twice"]);
}

#[test]
fn an_unknown_key() {
    let bench = recording(DATA.as_bytes());
    bench.write("r/recording.toml", "name = \"x\"\nsignal = [\"a\"]\n");
    refused(&bench, &INGEST, 1, &["r/recording.toml:2:", "signal", "did you mean 'signals'?"]);
}

#[test]
fn an_orti_file_of_another_core() {
    let bench = Bench::new();
    let recording = bench.demo();
    let toml = std::fs::read_to_string(recording.join("recording.toml")).unwrap();
    std::fs::write(recording.join("recording.toml"), toml.replace("system_cpu0.orti", "system_cpu1.orti"))
        .unwrap();
    refused(
        &bench,
        &["ingest", "a.db", "recording"],
        1,
        &["system_cpu1.orti", "describes CPU 1", "exchanged"],
    );
}

#[test]
fn an_existing_recording_of_the_same_name() {
    let bench = recording(DATA.as_bytes());
    bench.ok(&["ingest", "b.db", "r", "-q"]);
    let before = tree(&bench.path().join("b.db"));
    let run = bench.run(&["ingest", "b.db", "r"]);
    assert_eq!(run.code, Some(1));
    assert!(
        run.stderr.contains("already has a recording 'r'") && run.stderr.contains("--name"),
        "{}",
        run.stderr
    );
    assert_eq!(tree(&bench.path().join("b.db")), before);
    bench.ok(&["ingest", "b.db", "r", "--name", "again", "-q"]);
}

#[test]
fn a_second_writer() {
    let bench = recording(DATA.as_bytes());
    bench.ok(&["ingest", "b.db", "r", "-q"]);
    let lock = std::fs::File::options().write(true).open(bench.path().join("b.db/.lock")).unwrap();
    lock.lock().unwrap();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| bench.ok(&["ingest", "b.db", "r", "--name", "second", "-q"]));
        // Readers are never blocked.
        bench.ok(&["info", "b.db"]);
        let count = ["query", "b.db", "SELECT count(*) FROM recording", "--format", "tsv"];
        assert!(bench.ok(&count).stdout.ends_with("\n1"));
        assert!(!writer.is_finished(), "it waits");
        drop(lock);
        writer.join().unwrap();
        assert!(bench.ok(&count).stdout.ends_with("\n2"));
    });
}

#[test]
fn no_space_left_for_an_export() {
    if !std::path::Path::new("/dev/full").exists() {
        return;
    }
    let bench = recording(DATA.as_bytes());
    bench.ok(&["ingest", "b.db", "r", "-q"]);
    let run = bench.run(&["export", "b.db", "--table", "data_event", "--format", "csv", "-o", "/dev/full"]);
    assert_eq!(run.code, Some(1), "{}", run.all());
    assert!(run.stderr.contains("No space left"), "{}", run.stderr);
}

#[test]
fn a_file_of_the_other_kind() {
    let bench = recording(DATA.as_bytes());
    let toml = "[[core]]\nname = \"C\"\ndata = \"core0_func.csv\"\nfunctions = \"core0_data.csv\"\n";
    bench.write("r/recording.toml", toml);
    refused(&bench, &INGEST, 1, &["core0_func.csv: the file holds functions"]);
}

/// One bad line among good ones: counted, located, and nothing else is lost; refused with --strict.
#[track_caller]
fn one_bad_line(data: &str, line: u64, code: &str, rows: u64) {
    let bench = recording(data.as_bytes());
    let run = bench.ok(&["ingest", "b.db", "r"]);
    assert!(run.stderr.contains(&format!("core0_data.csv:{line}:")), "{}", run.stderr);
    assert!(run.stderr.contains(code), "{}", run.stderr);
    let one = |sql: &str| bench.ok(&["query", "b.db", sql]).stdout.lines().last().unwrap_or("").to_owned();
    assert_eq!(one("SELECT count(*) FROM data_event"), rows.to_string());
    let found = format!("SELECT count(*) FROM diagnostic WHERE code = '{code}' AND line = {line}");
    assert_eq!(one(&found), "1");
    assert_eq!(one("SELECT bool_and(records = rows + rejected + skipped) FROM source"), "true");
    refused(
        &bench,
        &["ingest", "a.db", "r", "--strict"],
        3,
        &["core0_data.csv", code, "nothing was written"],
    );
}

#[test]
fn a_truncated_last_line() {
    one_bad_line(&format!("{DATA}-0000000001,0.00000006"), 4, "truncated-line", 3);
}

#[test]
fn a_wrong_column_count() {
    let later = DATA.replace("0.00000", "0.10000");
    one_bad_line(
        &format!("{DATA}-0000000001,0.0000000600,\"A\",\"wr-data\",1,2,3\n{later}"),
        4,
        "wrong-column-count",
        6,
    );
}

#[test]
fn a_decimal_value_where_hex_was_expected() {
    one_bad_line(&format!("{DATA}-0000000001,0.0000000600,\"A\",\"wr-data\",43.\n"), 4, "bad-value", 3);
}

#[test]
fn time_running_backwards_keeps_every_row_sorted_and_numbered() {
    one_bad_line(&format!("{DATA}-0000000001,0.0000000100,\"A\",\"wr-data\",1\n"), 4, "time-backwards", 4);
    let bench = recording(format!("{DATA}-0000000001,0.0000000100,\"A\",\"wr-data\",1\n").as_bytes());
    bench.ok(&["ingest", "b.db", "r", "-q"]);
    let run = bench.ok(&["query", "b.db", "SELECT time, seq FROM data_event ORDER BY time, seq"]);
    assert_eq!(run.stdout, "time,seq\n10,3\n30,0\n40,1\n50,2");
}

#[cfg(unix)]
#[test]
fn ctrl_c_leaves_the_database_as_it_was() {
    use std::process::Stdio;
    let bench = Bench::new();
    bench.write("good/core0_data.csv", DATA);
    bench.ok(&["ingest", "a.db", "good", "-q"]);
    let before = tree(&bench.path().join("a.db"));
    // A pipe that never ends keeps the ingest in the middle until it is interrupted.
    let mut child = bench
        .command()
        .args(["ingest", "a.db", "--core", "name=C,data=-", "--name", "piped"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let lines = DATA.repeat(100_000);
    std::io::Write::write_all(&mut pipe, lines.as_bytes()).unwrap();
    let killed = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    std::thread::sleep(std::time::Duration::from_millis(100));
    let _ = std::io::Write::write_all(&mut pipe, lines.as_bytes());
    drop(pipe);
    let run = Run::of(child.wait_with_output().unwrap(), bench.path());
    assert_eq!(run.code, Some(130), "{}", run.stderr);
    assert!(run.stderr.contains("interrupted"), "{}", run.stderr);
    assert_eq!(tree(&bench.path().join("a.db")), before);
}

#[test]
fn a_damaged_database_is_named_and_never_a_panic() {
    let bench = recording(DATA.as_bytes());
    bench.ok(&["ingest", "b.db", "r", "-q"]);
    let part = bench.path().join("b.db/data_event/recording=r/core=core0/part-00000.parquet");
    let mut bytes = std::fs::read(&part).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&part, &bytes).unwrap();
    let run = bench.run(&["verify", "b.db"]);
    assert_eq!(run.code, Some(3), "{}", run.all());
    assert!(run.stdout.contains("data_event/recording=r/core=core0/part-00000.parquet"), "{}", run.stdout);
    std::fs::write(&part, &bytes[..100]).unwrap();
    let run = bench.run(&["query", "b.db", "SELECT * FROM data_event"]);
    assert_eq!(run.code, Some(1), "{}", run.all());
    assert!(run.stderr.contains("verify") && !run.stderr.contains("panicked"), "{}", run.stderr);
    let run = bench.run(&["query", "nowhere.db", "SELECT 1"]);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("nowhere.db"), "{}", run.stderr);
}
