//! The command line as users see it: standard output, standard error, exit code.

use crate::support::{Bench, Run, tree};
use std::process::Stdio;

#[test]
fn ingest_reports_every_line() {
    let bench = Bench::new();
    bench.demo();
    let run = bench.ok(&["ingest", "engine.db", "recording"]);
    insta::assert_snapshot!(run.all());
}

#[test]
fn info_lists_tables() {
    let run = Bench::engine().ok(&["info", "engine.db"]);
    // Sizes depend on the version of the compressor.
    let cut = |line: &str| line.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
    insta::assert_snapshot!(run.stdout.lines().map(cut).collect::<Vec<_>>().join("\n"));
}

#[test]
fn metrics_of_one_entity() {
    let run = Bench::engine().ok(&["metrics", "engine.db", "responsetime", "StartDelay", "--entity", "T_4"]);
    insta::assert_snapshot!(run.all());
}

#[test]
fn metrics_are_listed_and_shown() {
    let bench = Bench::new();
    let run = bench.ok(&["metrics", "--list"]);
    assert!(run.stdout.lines().count() >= 18, "{}", run.stdout);
    for line in run.stdout.lines() {
        let name = line.split_whitespace().next().unwrap();
        let shown = bench.ok(&["metrics", "--show", name]);
        assert!(shown.stdout.to_uppercase().contains("SELECT"), "{name}");
    }
    let run = bench.run(&["metrics", "--show", "ResponsTime"]);
    insta::assert_snapshot!(run.all());
}

#[test]
fn query_formats() {
    let bench = Bench::engine();
    let sql = "SELECT process, type, count(*) AS n FROM process_instance GROUP BY process, type ORDER BY n DESC LIMIT 2";
    let mut all = String::new();
    for format in ["auto", "table", "csv", "tsv", "json", "jsonl"] {
        let run = bench.ok(&["query", "engine.db", sql, "--format", format]);
        all.push_str(&format!("== {format}\n{}\n", run.stdout));
    }
    insta::assert_snapshot!(all);
    bench.ok(&["query", "engine.db", sql, "--format", "parquet", "-o", "r.parquet"]);
    assert_eq!(&std::fs::read(bench.path().join("r.parquet")).unwrap()[..4], b"PAR1");
    let again = bench.run(&["query", "engine.db", sql, "--format", "parquet", "-o", "r.parquet"]);
    assert_eq!(again.code, Some(2), "{}", again.stderr);
}

#[test]
fn a_database_in_the_folder_above_is_read() {
    let bench = Bench::engine();
    let below = bench.path().join("below");
    std::fs::create_dir(&below).unwrap();
    for args in [
        &["query", "../engine.db", "SELECT 1 FROM recording"][..],
        &["metrics", "../engine.db", "ResponseTime"],
    ] {
        let output = bench.command().current_dir(&below).args(args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn sql_that_begins_with_a_comment_is_no_option() {
    let bench = Bench::engine();
    for sql in ["-- cores\nSELECT count(*) AS n FROM recording", "--n\nSELECT 1 AS n"] {
        let run = bench.run(&["query", "engine.db", sql, "--format", "csv"]);
        assert_eq!((run.code, run.stdout.as_str()), (Some(0), "n\n1"), "{}", run.all());
    }
    let run = bench.run(&["query", "engine.db", "--fromat", "csv", "SELECT 1"]);
    assert!(run.code == Some(2) && run.stderr.contains("'--fromat'"), "{}", run.all());
}

#[test]
fn query_errors_name_the_place() {
    let bench = Bench::engine();
    let run = bench.run(&["query", "engine.db", "SELECT proces FROM process_instance"]);
    insta::assert_snapshot!(run.all());
    let run = bench.run(&["query", "engine.db", "SELECT 1 FORM x"]);
    assert_eq!(run.code, Some(1), "{}", run.all());
    let run = bench.run(&["query", "engine.db", "DROP TABLE btf_event"]);
    assert_eq!(run.code, Some(1), "{}", run.all());
}

#[test]
fn usage_errors_exit_with_2() {
    let bench = Bench::engine();
    for args in [
        &["export", "engine.db", "-o", "x.btf", "--from", "nonsense"][..],
        &["export", "engine.db", "-o", "x.btf", "--recording", "nobody"],
        &["metrics", "engine.db", "NoSuchMetric"],
        &["map", "engine.db", "--recording", "nobody"],
        &["remove", "engine.db", "--recording", "nobody"],
        &["query", "engine.db"],
        &["nonsense"],
    ] {
        let run = bench.run(args);
        assert_eq!(run.code, Some(2), "{args:?}\n{}", run.all());
        assert_eq!(run.stdout, "", "{args:?}");
    }
    assert!(!bench.path().join("x.btf").exists());
}

#[test]
fn slices_are_half_open_and_concatenate_to_the_whole() {
    let bench = Bench::engine();
    let events = |args: &[&str]| -> Vec<String> {
        let run = bench.ok(&[&["export", "engine.db", "-o", "-"][..], args].concat());
        run.stdout.lines().filter(|l| !l.starts_with('#')).map(str::to_owned).collect()
    };
    let whole = events(&[]);
    assert_eq!(whole.len(), 2409);
    let border: i64 = whole[whole.len() / 2].split(',').next().unwrap().parse().unwrap();
    let (border, later) = (border.to_string(), (border + 5_000_000).to_string());
    let mut slices = events(&["--to", &border]);
    let first = slices.len();
    slices.extend(events(&["--from", &border, "--to", &later]));
    slices.extend(events(&["--from", &later]));
    assert_eq!(slices, whole);
    assert!(whole[first].starts_with(&format!("{border},")), "an event at `from` belongs to the slice");
    // A window without an instant is a mistake, as in `plot` and `metrics`.
    let empty = bench.run(&["export", "engine.db", "-o", "-", "--from", &border, "--to", &border]);
    assert!(empty.code == Some(2) && empty.stderr.contains("the window is empty"), "{}", empty.all());
    let tasks = events(&["--type", "T,I"]);
    assert!(tasks.iter().all(|l| [",T,", ",I,"].iter().any(|t| l.contains(t))) && tasks.len() > 100);
    let one = events(&["--entity", "T_4"]);
    let named = |l: &&String| l.split(',').enumerate().any(|(n, f)| f == "T_4" && (n == 1 || n == 4));
    assert_eq!(one, whole.iter().filter(named).cloned().collect::<Vec<_>>());
}

#[test]
fn exported_tables_are_complete() {
    let bench = Bench::engine();
    bench.ok(&["export", "engine.db", "--table", "process_state", "-o", "s.csv"]);
    let csv = std::fs::read_to_string(bench.path().join("s.csv")).unwrap();
    let count = bench.ok(&["query", "engine.db", "SELECT count(*) FROM process_state"]).stdout;
    assert_eq!(csv.lines().count() - 1, count.lines().last().unwrap().parse::<usize>().unwrap());
}

#[test]
fn mapping_again_gives_the_same_bytes_and_keeps_findings() {
    let bench = Bench::engine();
    let events = |b: &Bench| b.ok(&["export", "engine.db", "-o", "-"]).stdout;
    let before = events(&bench);
    bench.ok(&["map", "engine.db", "-q"]);
    assert_eq!(events(&bench), before);
    assert_eq!(bench.run(&["verify", "engine.db"]).code, Some(0));
    let part = bench.path().join("engine.db/btf_event/recording=demo");
    assert_eq!(tree(&part).len(), 1, "the replaced file is gone");
}

#[test]
fn a_removed_recording_leaves_nothing() {
    let bench = Bench::engine();
    bench.ok(&["remove", "engine.db", "--recording", "demo", "-q"]);
    let left: Vec<_> = tree(&bench.path().join("engine.db")).into_iter().map(|f| f.0).collect();
    assert!(left.iter().all(|p| p.extension().is_none_or(|e| e != "parquet")), "{left:?}");
    bench.ok(&["ingest", "engine.db", "recording", "-q"]);
}

#[test]
fn a_pipe_and_compressed_files_give_the_same_tables() {
    let bench = Bench::new();
    let recording = bench.demo();
    let unzip = |f: &str| {
        let out = std::process::Command::new("gunzip").args(["-c"]).arg(recording.join(f)).output().unwrap();
        out.stdout
    };
    let data = unzip("core0_data.csv.gz");
    bench.write("plain/C_data.csv", &data);
    bench.write("packed/C_data.csv.zst", zstd::encode_all(&data[..], 1).unwrap());
    bench.ok(&["ingest", "a.db", "plain", "--name", "x", "-q"]);
    bench.ok(&["ingest", "b.db", "packed", "--name", "x", "-q"]);
    let mut child = bench
        .command()
        .args(["ingest", "c.db", "--core", "name=C,data=-", "--name", "x", "-q"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), &data).unwrap();
    assert!(child.wait().unwrap().success());
    let part = |db: &str| {
        std::fs::read(bench.path().join(db).join("data_event/recording=x/core=C/part-00000.parquet"))
    };
    let plain = part("a.db").unwrap();
    assert!(plain == part("b.db").unwrap() && plain == part("c.db").unwrap());
}

#[test]
fn without_digests_only_the_digests_are_missing() {
    let bench = Bench::engine();
    bench.ok(&["export", "engine.db", "-o", "trace.btf", "-q"]);
    for (input, sources) in [("recording", 4), ("trace.btf", 1)] {
        let tables = |db: &str, options: &[&str]| {
            bench.ok(&[&["ingest", db, input, "--name", "x", "-q"], options].concat());
            let digests = "SELECT count(*), count(digest), count(DISTINCT digest), min(digest LIKE 'blake3:%'), max(length(digest)) FROM source";
            let found = bench.ok(&["query", db, digests, "--format", "tsv"]).stdout;
            let db = bench.path().join(db);
            let mut files = tree(&db);
            files.retain(|(path, _)| {
                !path.starts_with(db.join("source")) && !path.starts_with(db.join("log"))
            });
            files.iter_mut().for_each(|(path, _)| *path = path.strip_prefix(&db).unwrap().to_owned());
            (files, found.lines().last().unwrap_or_default().to_owned())
        };
        let (with, hashes) = tables(&format!("{sources}.db"), &[]);
        assert_eq!(hashes, format!("{sources}\t{sources}\t{sources}\ttrue\t71"));
        let (without, hashes) = tables(&format!("{sources}-plain.db"), &["--no-hash"]);
        assert_eq!(hashes, format!("{sources}\t0\t0\t\t"));
        assert!(with.len() > 5 && with == without, "{input}");
    }
}

#[test]
fn a_broken_pipe_is_silent() {
    let bench = Bench::engine();
    let program = env!("CARGO_BIN_EXE_btfdb");
    let line = format!(
        "'{program}' export engine.db -o - | head -n 1; '{program}' query engine.db 'SELECT * FROM data_event' | head -n 1"
    );
    let output =
        std::process::Command::new("sh").args(["-c", &line]).current_dir(bench.path()).output().unwrap();
    let run = Run::of(output, bench.path());
    assert_eq!((run.code, run.stdout.lines().count()), (Some(0), 2), "{}", run.all());
    assert!(!run.stderr.contains("error"), "{}", run.stderr);
}

#[test]
fn the_demo_runs_twice() {
    let bench = Bench::new();
    for _ in 0..2 {
        let run = bench.ok(&["demo"]);
        assert!(run.stdout.contains("ResponseTime"), "{}", run.stdout);
        let next = "\n  btfdb explain btfdb-demo/demo.db ResponseTime:T_4:max\n  btfdb plot btfdb-demo/demo.db --explain ";
        assert!(run.stderr.contains(next), "{}", run.stderr);
    }
    let run = bench.run(&["demo", "./other"]);
    assert_eq!(run.code, Some(2), "{}", run.all());
    assert!(run.stderr.contains("write btfdb demo --dir ./other"), "{}", run.stderr);
    let slice = std::fs::read_to_string(bench.path().join("btfdb-demo/slice.btf")).unwrap();
    assert!(slice.starts_with("#version 2.1.5\n"), "{slice}");
    for line in slice.lines().filter(|l| !l.starts_with('#')) {
        let time: i64 = line.split(',').next().unwrap().parse().unwrap();
        assert!((117_000_000..120_000_000).contains(&time), "{line}");
    }
}

/// A version of btfdb that came before it wrote the slice.
#[test]
fn the_demo_runs_again_after_an_update() {
    let bench = Bench::new();
    bench.ok(&["demo", "--dir", "."]);
    let new = std::fs::read_to_string(bench.path().join("slice.btf")).unwrap();
    let creator = new.lines().find(|line| line.starts_with("#creator ")).unwrap();
    let old = new.replace(creator, "#creator btfdb 0.0.9");
    let slice = bench.write("slice.btf", &old);
    bench.ok(&["demo", "--dir", "."]);
    assert_eq!(std::fs::read_to_string(&slice).unwrap(), new);
    bench.write("slice.btf", &old);
    std::fs::remove_dir_all(bench.path().join("demo.db")).unwrap();
    bench.ok(&["demo", "--dir", "."]);
    assert_eq!(std::fs::read_to_string(&slice).unwrap(), new);
    bench.write("slice.btf", "mine\n");
    let run = bench.run(&["demo", "--dir", "."]);
    assert!(run.stderr.contains("'./slice.btf' is not what the demo writes"), "{}", run.all());
    assert!(!run.stderr.contains("$ btfdb ingest"), "nothing was dropped: {}", run.all());
}

/// Files and recordings of the user that have the names of the demo's.
#[test]
fn the_demo_overwrites_nothing_of_the_user() {
    let refused = |bench: &Bench, what: &str| {
        let run = bench.run(&["demo", "--dir", "."]);
        assert_eq!(run.code, Some(2), "{}", run.all());
        let message = format!("{what} is not what the demo writes");
        assert!(run.stderr.contains(&message) && run.stderr.contains("--force"), "{}", run.stderr);
    };
    let bench = Bench::new();
    let own = bench.write("recording/recording.toml", "name = \"mine\"\n");
    refused(&bench, "'./recording/recording.toml'");
    assert_eq!(std::fs::read_to_string(&own).unwrap(), "name = \"mine\"\n");
    assert_eq!(std::fs::read_dir(bench.path()).unwrap().count(), 1, "nothing was written");
    std::fs::remove_file(own).unwrap();
    // A recording of the demo's name.
    bench.write("t.btf", "#version 2.2.1\n#timescale ns\n1,S,0,T,A,0,activate\n");
    bench.ok(&["ingest", "demo.db", "t.btf", "--name", "demo", "-q"]);
    refused(&bench, "recording 'demo' of './demo.db'");
    bench.ok(&["remove", "demo.db", "--recording", "demo", "-q"]);
    let slice = bench.write("slice.btf", "mine\n");
    refused(&bench, "'./slice.btf'");
    assert_eq!(std::fs::read_to_string(&slice).unwrap(), "mine\n");
    bench.ok(&["demo", "--dir", ".", "--force"]);
    assert!(std::fs::read_to_string(&slice).unwrap().starts_with("#version 2.1.5\n"));
    bench.ok(&["demo", "--dir", "."]);
}

#[test]
fn the_rules_are_data_too() {
    let bench = Bench::new();
    let lines = bench.ok(&["check", "--rules"]).stdout;
    let rules = bench.ok(&["check", "--rules", "--format", "json"]).stdout;
    let rules: Vec<serde_json::Value> = serde_json::from_str(&rules).unwrap();
    assert_eq!(rules.len(), lines.lines().count());
    for (rule, line) in rules.iter().zip(lines.lines()) {
        let [id, meaning] = ["rule", "meaning"].map(|key| rule[key].as_str().unwrap());
        assert!(line.starts_with(id) && line.contains(meaning), "{line}");
    }
}

#[test]
fn options_without_a_use_are_refused() {
    let bench = Bench::engine();
    bench.write("t.btf", "#version 2.2.1\n#timescale ns\n1,S,0,T,A,0,activate\n");
    for (args, message) in [
        (&["check", "t.btf", "--recording", "typo"][..], "'typo'"),
        (&["check", "t.btf", "--where-label", "a=b"], "no recording has the label a=b"),
        (&["check", "engine.db", "--sql-path", "nowhere"], "--sql-path is for requirements"),
        (&["check", "t.btf", "--no-files"], "--no-files is for requirements"),
        (&["check", "t.btf", "--max-depth", "5"], "--max-depth is for requirements"),
        (&["metrics", "engine.db", "--list", "--unit", "us"], "--unit is for samples, and --list reads none"),
        (&["metrics", "engine.db", "RT", "--list"], "--list reads no samples, also not those of 'RT'"),
        (&["check", "--rules", "--format", "junit"], "--format junit is for requirements"),
        (&["metrics", "--show", "RT", "--from", "1ms"], "--from is for samples, and --show reads none"),
        (&["metrics", "--list", "--format", "json"], "--list prints text, it has no other format"),
        (&["metrics", "--show", "RT", "--format", "csv"], "--show prints text, it has no other format"),
        (
            &["plot", "engine.db", "--chart", "load", "--legend", "none", "-o", "x.svg"],
            "--legend does not go",
        ),
        (&["plot", "engine.db", "--legend", "top", "-o", "x.html"], "--legend does not go with html"),
        (&["plot", "engine.db", "--width", "800", "-o", "x.html"], "--width does not go with html"),
        (&["plot", "engine.db", "--scale", "2", "-o", "x.svg"], "--scale does not go with svg"),
    ] {
        let run = bench.run(args);
        assert_eq!(run.code, Some(2), "{args:?}\n{}", run.all());
        assert!(run.stderr.contains(message), "{args:?}\n{}", run.stderr);
    }
    bench.ok(&["check", "t.btf", "--recording", "t*"]);
    let bars = ["metrics", "engine.db", "RT", "--entity", "T_5", "--histogram", "--format", "table"];
    let bars = bench.ok(&[&bars[..], &["--unit", "us"]].concat()).stdout;
    assert!(bars.contains(" 917.743 us to 2737.181 us") && !bars.contains(" ms"), "{bars}");
}
