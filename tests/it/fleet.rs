//! Many recordings in one database: labels, the choice of recordings, metrics of several as one, writers at
//! the same time.

use crate::support::Bench;
use std::fmt::Write as _;

/// A trace of task `T`, whose instances last as long as `times` say.
fn trace(times: &[i64]) -> String {
    let mut text = String::from("#version 2.1.5\n#timeScale ns\n");
    for (n, time) in times.iter().enumerate() {
        let at = n as i64 * 1000;
        writeln!(text, "{at},S,{n},T,T,{n},activate").unwrap();
        writeln!(text, "{at},Core_0,0,T,T,{n},start").unwrap();
        writeln!(text, "{},Core_0,0,T,T,{n},terminate", at + time).unwrap();
    }
    text
}

/// Three nights: two of build 1, one of build 2.
fn nights() -> Bench {
    let bench = Bench::new();
    for (name, times, build, bench_of) in [
        ("night-1", [10, 20].as_slice(), 1, "a"),
        ("night-2", &[5, 90, 30], 1, "b"),
        ("day-3", &[50], 2, "a"),
    ] {
        bench.write(&format!("{name}.btf"), trace(times).as_bytes());
        let (build, on) = (format!("build={build}"), format!("bench={bench_of}"));
        bench.ok(&["ingest", "f.db", &format!("{name}.btf"), "--label", &build, "--label", &on, "-q"]);
    }
    bench
}

fn tsv(bench: &Bench, words: &[&str]) -> String {
    bench.ok(&[words, &["--format", "tsv"]].concat()).stdout
}

#[test]
fn labels_are_a_table() {
    let bench = nights();
    let labels = "SELECT recording, label, value FROM recording_label ORDER BY recording, label";
    assert_eq!(
        tsv(&bench, &["query", "f.db", labels]),
        "recording\tlabel\tvalue\nday-3\tbench\ta\nday-3\tbuild\t2\nnight-1\tbench\ta\nnight-1\tbuild\t1\n\
         night-2\tbench\tb\nnight-2\tbuild\t1"
    );
    let bad = bench.run(&["ingest", "f.db", "day-3.btf", "--name", "x", "--label", "build"]);
    assert_eq!(bad.code, Some(2));
    assert!(
        bad.stderr.contains("'build' is no label") && bad.stderr.contains("LABEL=VALUE"),
        "{}",
        bad.stderr
    );
}

#[test]
fn a_description_gives_labels_too() {
    let bench = Bench::new();
    bench.write("r/c_data.csv", b"-0000000001,0.0000000300,\"V\",\"wr-data\",2\n");
    bench.write(
        "r/recording.toml",
        b"[labels]\nbuild = \"7\"\nkind = \"hot\"\n[[core]]\nname = \"c\"\ndata = \"c_data.csv\"\n",
    );
    bench.ok(&["ingest", "f.db", "r", "--label", "build=8", "-q"]);
    let labels = "SELECT label, value FROM recording_label ORDER BY label";
    assert_eq!(tsv(&bench, &["query", "f.db", labels]), "label\tvalue\nbuild\t8\nkind\thot");
    assert!(bench.ok(&["info", "f.db"]).stdout.contains("labels      build=8, kind=hot"));
}

#[test]
fn commands_choose_recordings_by_name_and_label() {
    let bench = nights();
    let names = |choice: &[&str]| {
        let sql = "SELECT recording FROM recording ORDER BY recording";
        tsv(&bench, &[&["query", "f.db", sql], choice].concat()).lines().skip(1).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(names(&[]), "day-3 night-1 night-2");
    assert_eq!(names(&["--recording", "night-*"]), "night-1 night-2");
    assert_eq!(names(&["--recording", "day-3,night-1"]), "day-3 night-1");
    assert_eq!(names(&["--where-label", "build=1"]), "night-1 night-2");
    assert_eq!(names(&["--where-label", "build=1", "--where-label", "bench=b"]), "night-2");
    assert_eq!(names(&["--where-label", "bench=*", "--recording", "day-3"]), "day-3");

    let metrics = tsv(&bench, &["metrics", "f.db", "ResponseTime", "--where-label", "build=1"]);
    assert_eq!(metrics.lines().count(), 3, "{metrics}");
    assert!(!metrics.contains("day-3"));
    let info = bench.ok(&["info", "f.db", "--recording", "night-?"]).stdout;
    assert!(info.contains("recordings  2\n") && !info.contains("day-3"), "{info}");
    let check = bench.ok(&["check", "f.db", "--recording", "night-*"]).stdout;
    assert!(check.contains("night-1:") && check.contains("night-2:") && !check.contains("day-3:"), "{check}");

    let unknown = bench.run(&["metrics", "f.db", "--recording", "nigth-1"]);
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.stderr.contains("did you mean 'night-1'?"), "{}", unknown.stderr);
    let nothing = bench.run(&["query", "f.db", "SELECT 1", "--where-label", "build=3"]);
    assert_eq!(nothing.code, Some(2));
    assert!(nothing.stderr.contains("no recording has the label build=3"), "{}", nothing.stderr);

    let all = bench.run(&["remove", "f.db"]);
    assert_eq!(all.code, Some(2), "nothing is removed unless it is named");
    let removed = bench.ok(&["remove", "f.db", "--where-label", "build=1"]).stderr;
    assert!(removed.contains("removed night-1") && removed.contains("removed night-2"), "{removed}");
    assert_eq!(names(&[]), "day-3");
}

#[test]
fn metrics_take_recordings_together() {
    let bench = nights();
    let columns = |across: &str, wanted: &[&str]| {
        let rows = tsv(&bench, &["metrics", "f.db", "ResponseTime", across]);
        let mut lines = rows.lines().map(|line| line.split('\t').collect::<Vec<_>>());
        let head = lines.next().unwrap();
        let at: Vec<_> = wanted.iter().map(|name| head.iter().position(|h| h == name).unwrap()).collect();
        lines.map(|line| at.iter().map(|n| line[*n]).collect::<Vec<_>>().join(" ")).collect::<Vec<_>>()
    };
    let wanted =
        ["recordings", "count", "min", "avg", "max", "p50", "min_recording", "max_recording", "max_at"];
    // 5, 10, 20, 30, 50, 90
    assert_eq!(columns("--across", &wanted), ["3 6 5 34.166666666666664 90 25 night-2 night-2 1000"]);
    let wanted = ["label", "recordings", "count", "min", "max", "max_recording"];
    assert_eq!(columns("--across=build", &wanted), ["1 2 5 5 90 night-2", "2 1 1 50 50 day-3"]);
    assert_eq!(columns("--across=bench", &wanted), ["a 2 3 10 50 day-3", "b 1 3 5 90 night-2"]);
    // Not taken together in silence: these are of each recording by itself.
    for alone in [["grasp", "--across"], ["--histogram", "--across"]] {
        assert_eq!(bench.run(&[&["metrics", "f.db"], &alone[..]].concat()).code, Some(2), "{alone:?}");
    }
    let unknown = bench.run(&["metrics", "f.db", "--across=biuld"]);
    assert!(unknown.stderr.contains("did you mean 'build'?"), "{}", unknown.stderr);
}

/// Eight processes at once, and queries beside them.
#[test]
fn writers_at_the_same_time() {
    let bench = Bench::new();
    bench.write("t.btf", trace(&[10, 20]).as_bytes());
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..8)
            .map(|n| {
                scope.spawn({
                    let bench = &bench;
                    move || {
                        for i in 0..3 {
                            bench.ok(&["ingest", "f.db", "t.btf", "--name", &format!("r{n}-{i}"), "-q"]);
                        }
                    }
                })
            })
            .collect();
        while !writers.iter().all(|writer| writer.is_finished()) {
            if bench.path().join("f.db/log/tip").exists() {
                let both = "SELECT (SELECT count(*) FROM recording), (SELECT count(DISTINCT recording) FROM btf_event)";
                let rows = tsv(&bench, &["query", "f.db", both]);
                let (a, b) = rows.lines().nth(1).unwrap().split_once('\t').unwrap();
                assert_eq!(a, b);
            }
        }
    });
    assert_eq!(tsv(&bench, &["query", "f.db", "SELECT count(*) AS n FROM recording"]), "n\n24");
    bench.ok(&["verify", "f.db"]);
    let again = bench.run(&["ingest", "f.db", "t.btf", "--name", "r0-0"]);
    assert!(again.stderr.contains("already has a recording 'r0-0'"), "{}", again.stderr);
}

/// A query that began before a recording was removed goes on; a vacuum of what is old leaves it alone.
#[test]
fn vacuum_deletes_what_was_removed() {
    let bench = nights();
    bench.ok(&["remove", "f.db", "--recording", "day-3", "-q"]);
    let young = bench.ok(&["vacuum", "f.db"]).stderr;
    assert!(young.contains("deleted 0 files") && young.contains("kept"), "{young}");
    assert!(bench.ok(&["verify", "f.db"]).stderr.contains("wait for btfdb vacuum"));
    let done = bench.ok(&["vacuum", "f.db", "--older-than", "0s"]).stderr;
    assert!(!done.contains("deleted 0 files") && !done.contains("kept"), "{done}");
    assert!(!bench.ok(&["verify", "f.db"]).stderr.contains("vacuum"));
    let bad = bench.run(&["vacuum", "f.db", "--older-than", "soon"]);
    assert_eq!(bad.code, Some(2));
    assert_eq!(bench.run(&["vacuum", "nothing.db"]).code, Some(1));
}

/// Many small inputs are ingested at the same time, and the result does not show it.
#[test]
fn many_inputs_are_as_one_after_the_other() {
    let bench = Bench::new();
    let names: Vec<_> = (0..20).map(|n| format!("r{n:02}.btf")).collect();
    for (n, name) in names.iter().enumerate() {
        bench.write(name, trace(&[n as i64 + 1, 40]).as_bytes());
    }
    for threads in ["1", "2", "8"] {
        let inputs: Vec<&str> = names.iter().map(String::as_str).collect();
        let run =
            bench.ok(&[&["ingest", &format!("{threads}.db"), "--threads", threads], &inputs[..]].concat());
        let said: Vec<_> = run.stderr.lines().filter(|l| l.contains("8 lines = 6 rows")).collect();
        assert!(said.is_sorted() && said.len() == 20, "{}", run.stderr);
        bench.ok(&["verify", &format!("{threads}.db")]);
    }
    for other in ["2.db", "8.db"] {
        bench.ok(&["compare", "1.db:r07", &format!("{other}:r07")]);
        let of = |db: &str| bench.ok(&["info", db, "--format", "json"]).stdout.replace(db, "");
        assert_eq!(of("1.db"), of(other));
    }
    // One that fails, and all is as before.
    bench.write("bad.btf", b"nothing of a trace");
    let inputs = ["ingest", "new.db", "r00.btf", "bad.btf", "r01.btf"];
    let run = bench.run(&inputs);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("bad.btf") && !bench.path().join("new.db").exists(), "{}", run.stderr);
}

/// What other engines read of it: `interop.py`.
#[test]
fn tables_are_published_as_delta() {
    let bench = nights();
    let publish = || bench.ok(&["publish", "f.db", "--delta"]).stderr;
    let version = |n: u32| {
        let log = bench.path().join(format!("f.db/btf_event/_delta_log/{n:020}.json"));
        let lines = std::fs::read_to_string(log).unwrap_or_default();
        let actions: Vec<serde_json::Value> =
            lines.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
        let paths = |what: &str| {
            let of = |action: &serde_json::Value| Some(action.get(what)?["path"].as_str()?.to_owned());
            let mut paths: Vec<_> = actions.iter().filter_map(of).collect();
            paths.sort();
            paths.join(" ")
        };
        (paths("add"), paths("remove"), actions)
    };
    assert!(publish().contains("0 removed"));
    let (added, removed, actions) = version(0);
    let part = |recording: &str| format!("recording={recording}/part-00000.parquet");
    assert_eq!(added, ["day-3", "night-1", "night-2"].map(part).join(" "));
    assert_eq!(removed, "");
    assert_eq!(actions[0]["protocol"]["minReaderVersion"], 1);
    assert_eq!(actions[1]["metaData"]["partitionColumns"][0], "recording");
    let schema = actions[1]["metaData"]["schemaString"].as_str().unwrap();
    assert!(schema.contains(r#""name":"time""#) && schema.contains(r#""type":"long""#), "{schema}");

    assert!(publish().contains("0 files added, 0 removed"), "nothing has changed");
    assert_eq!(version(1).2.len(), 0);
    bench.ok(&["remove", "f.db", "--recording", "night-1", "-q"]);
    bench.ok(&["ingest", "f.db", "day-3.btf", "--name", "50 %", "-q"]);
    publish();
    let (added, removed, actions) = version(1);
    assert_eq!((added, removed), ("recording=50%2520%2525/part-00001.parquet".to_owned(), part("night-1")));
    let txn = actions.iter().find_map(|action| action.get("txn")).unwrap();
    assert_eq!((txn["appId"].as_str(), txn["version"].as_u64()), (Some("btfdb"), Some(5)));
    bench.ok(&["verify", "f.db"]);
    bench.ok(&["vacuum", "f.db", "--older-than", "0s"]);
    bench.ok(&["verify", "f.db"]);
}

#[test]
fn exports_and_pictures_choose_by_labels_and_patterns() {
    let bench = nights();
    let one = bench.ok(&["export", "f.db", "--where-label", "build=2", "-o", "-"]).stdout;
    assert_eq!(one, bench.ok(&["export", "f.db", "--recording", "day-3", "-o", "-"]).stdout);
    let several = bench.run(&["export", "f.db", "--where-label", "build=1", "-o", "-"]);
    assert!(several.stderr.contains("choose one") && several.code == Some(2), "{}", several.stderr);
    let picture = |words: &[&str]| bench.ok(&[&["plot", "f.db", "-o", "-"], words].concat()).stdout;
    let both = picture(&["--recording", "night-1", "--recording", "night-2"]);
    assert_eq!(both, picture(&["--recording", "night-*"]));
    assert_eq!(both, picture(&["--where-label", "build=1"]));
    assert_eq!(both, picture(&["--recording", "*", "--where-label", "build=1"]));
    let unknown = bench.run(&["plot", "f.db", "-o", "-", "--recording", "nigth-1"]);
    assert!(unknown.stderr.contains("did you mean 'night-1'?"), "{}", unknown.stderr);
}

#[test]
fn the_shell_exports_one_of_the_chosen_recordings() {
    let bench = nights();
    let run = |line: &str| bench.run_with_input(&["shell", "f.db"], line);
    assert_eq!(run(".export day.btf --where-label build=2\n").code, Some(0));
    let several = run(".export nights.csv --recording night-* --table process_instance\n");
    assert!(several.stderr.contains("2 recordings are chosen"), "{}", several.stderr);
}
