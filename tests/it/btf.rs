//! BTF in and out, through the command line: what goes in comes out, every line is accounted for, and the
//! derived tables have what the file means. With `$BTFDB_CORPUS`, over the files of many writers.

use crate::support::Bench;
use std::path::{Path, PathBuf};

/// The lines of a BTF file as they must come back: blanks around fields trimmed, line ends of Unix.
fn trimmed(text: &str) -> Vec<String> {
    let line = |line: &str| match line.starts_with('#') {
        true => line.trim_end().to_owned(),
        false => line.splitn(8, ',').map(str::trim).collect::<Vec<_>>().join(","),
    };
    text.trim_start_matches('\u{feff}').lines().map(|l| line(l.trim_end_matches('\r'))).collect()
}

/// One value of a query.
fn value(bench: &Bench, sql: &str) -> String {
    let run = bench.ok(&["query", "t.db", sql, "--format", "csv"]);
    run.stdout.lines().skip(1).collect::<Vec<_>>().join(";")
}

/// Reads a text into `t.db`.
fn ingested(text: impl AsRef<[u8]>) -> Bench {
    let bench = Bench::new();
    bench.write("t.btf", text);
    bench.ok(&["ingest", "t.db", "t.btf", "-q"]);
    bench
}

fn exported(bench: &Bench, args: &[&str]) -> Vec<String> {
    let run = bench.ok(&[&["export", "t.db", "-o", "-", "--format", "btf", "-q"], args].concat());
    run.stdout.lines().map(|l| l.trim_end().to_owned()).collect()
}

fn events(lines: &[String]) -> Vec<&str> {
    lines.iter().map(String::as_str).filter(|l| !l.starts_with('#') && !l.is_empty()).collect()
}

fn corpus_files() -> Vec<PathBuf> {
    let Some(corpus) = std::env::var_os("BTFDB_CORPUS") else {
        eprintln!("skipped: BTFDB_CORPUS is not set");
        return Vec::new();
    };
    let mut files = Vec::new();
    for folder in std::fs::read_dir(Path::new(&corpus).join("btf")).unwrap() {
        files.extend(std::fs::read_dir(folder.unwrap().path()).unwrap().map(|f| f.unwrap().path()));
    }
    files.retain(|f| f.extension().is_some_and(|e| e == "btf"));
    files.sort();
    assert!(!files.is_empty(), "the corpus has no BTF files");
    files
}

#[test]
fn every_file_of_the_corpus_goes_in_and_comes_out() {
    // Of the corpus' list of files, as (part of the name, times that run backwards).
    let regressions = [("example-50k", 25), ("example-128cores", 79), ("89587af3_BTFViewer_example-1", 7)];
    println!(
        "{:55} {:>6} {:>6} {:>5} {:>5} {:>5} {:>5} {:>5}",
        "file", "lines", "rows", "param", "table", "comm", "blank", "rej"
    );
    for file in corpus_files() {
        let bench = Bench::new();
        let text = std::fs::read_to_string(&file).unwrap();
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        bench.ok(&["ingest", "t.db", file.to_str().unwrap(), "--name", "t", "-q"]);
        let counts = value(
            &bench,
            "SELECT s.records, s.rows, count(*) FILTER (WHERE kind = 'parameter'), \
             count(*) FILTER (WHERE kind = 'table_row'), count(*) FILTER (WHERE kind = 'comment'), \
             count(*) FILTER (WHERE kind = 'blank'), s.rejected FROM source AS s LEFT JOIN btf_line AS l \
             ON l.recording = s.recording GROUP BY s.records, s.rows, s.rejected",
        );
        let counts: Vec<usize> = counts.split(',').map(|n| n.parse().unwrap()).collect();
        assert_eq!(counts[0], text.lines().count(), "{name}");
        assert_eq!(counts[0], counts[1..].iter().sum::<usize>(), "{name}: {counts:?}");
        assert_eq!(counts[6], 0, "{name}: lines were rejected");
        let n = |i: usize| counts[i];
        println!("{name:55} {:6} {:6} {:5} {:5} {:5} {:5} {:5}", n(0), n(1), n(2), n(3), n(4), n(5), n(6));
        assert_eq!(exported(&bench, &[]), trimmed(&text), "{name} does not come back");
        let expected = regressions.iter().find(|r| name.contains(r.0)).map_or(0, |r| r.1);
        assert_eq!(value(&bench, "SELECT backwards FROM source"), expected.to_string(), "{name}");
        let ordered = value(
            &bench,
            "SELECT count(*) FROM (SELECT time, lag(time) OVER (ORDER BY time, seq) AS b FROM btf_event) WHERE b > time",
        );
        assert_eq!(ordered, "0", "{name}");
    }
}

/// The public trace of a simulator keeps the process chart, says its spec, and has eight kinds of vendor
/// events.
#[test]
fn the_public_trace_has_no_process_violation() {
    let Some(file) = corpus_files().into_iter().find(|f| f.to_string_lossy().contains("tracecompass")) else {
        return;
    };
    let bench = Bench::new();
    let run = bench.ok(&["ingest", "t.db", file.to_str().unwrap(), "--name", "t"]);
    assert!(!run.stderr.contains("break the state charts"), "{}", run.stderr);
    assert_eq!(value(&bench, "SELECT count(*) FROM btf_event"), "38715");
    assert_eq!(value(&bench, "SELECT count(DISTINCT process) FROM process_instance WHERE type = 'T'"), "11");
    let two_at_once = "SELECT count(*) FROM (SELECT begin_at, max(end_at) OVER (PARTITION BY core ORDER BY begin_at, \
                       end_at ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS b FROM process_state \
                       WHERE state IN ('running', 'polling')) WHERE begin_at < b";
    assert_eq!(value(&bench, two_at_once), "0");
    let report = bench.run(&["check", "t.db", "--btf-version", "2.1.5"]);
    assert!(!report.stdout.contains("process-transition"), "{}", report.stdout);
    println!("{}", report.stdout);
}

#[test]
fn numbers_get_their_names_and_come_back_as_numbers() {
    let text = "#version 2.1.5\n#timeScale us\n#typeTable\n#-0 T\n#-1 STI\n#entityTable\n#-0 Core A\n#-1 Task_1\n#-2 S\n\
                5,2,0,1,2,0,trigger\n5,2,0,0,1,0,activate\n7,0,0,0,1,0,start\n9,0,0,0,1,0,terminate\n\
                #entityTable\n#-9 late\n11,9,0,0,1,1,activate\n12,77,0,0,1,1,start\n";
    let bench = ingested(text);
    let rows = "SELECT DISTINCT source, target_type, target FROM btf_event ORDER BY 1, 2, 3";
    let expected = "77,T,Task_1;Core A,T,Task_1;S,STI,S;S,T,Task_1;late,T,Task_1";
    assert_eq!(value(&bench, rows), expected);
    assert_eq!(value(&bench, "SELECT code FROM diagnostic WHERE severity = 'warning'"), "undefined-id");
    assert_eq!(exported(&bench, &[]), trimmed(text));
    let names = exported(&bench, &["--symbolic"]);
    assert_eq!(events(&names)[2], "7,Core A,0,T,Task_1,0,start");
    // The other way round: names to new numbers, and back.
    let named = bench.write("named.btf", names.join("\n"));
    bench.ok(&["ingest", "t.db", named.to_str().unwrap(), "--name", "n", "-q"]);
    let numeric = exported(&bench, &["--recording", "n", "--numeric", "--btf-version", "2.2.1"]);
    assert!(numeric.iter().any(|l| l.starts_with("#entityMapping 0 ")), "{numeric:?}");
    assert!(
        events(&numeric).iter().all(|l| l.split(',').take(6).all(|f| f.parse::<i64>().is_ok())),
        "{numeric:?}"
    );
    let back = ingested(numeric.join("\n"));
    assert_eq!(events(&exported(&back, &["--symbolic"]))[..5], events(&names)[..5]);
}

#[test]
fn units_of_time_are_exact_both_ways() {
    for (unit, ticks, other, shown) in [
        ("s", "2000000000", "ms", "2000"),
        ("ms", "2000000", "us", "2000"),
        ("us", "2000", "ps", "2000000"),
        ("ns", "2", "ns", "2"),
    ] {
        let text = format!("#version 2.2.1\n#timescale {unit}\n2,C,0,T,A,0,start\n");
        let bench = ingested(&text);
        assert_eq!(value(&bench, "SELECT time FROM btf_event"), ticks, "{unit}");
        assert_eq!(exported(&bench, &[]), trimmed(&text));
        let lines = exported(&bench, &["--time-scale", other]);
        assert_eq!(lines[1..], [format!("#timeScale {other}"), format!("{shown},C,0,T,A,0,start")]);
    }
    let bench = Bench::new();
    bench.write("t.btf", "#timescale ps\n1500,C,0,T,A,0,start\n2500,C,0,T,A,0,terminate\n");
    let run = bench.ok(&["ingest", "t.db", "t.btf", "--time-scale", "ns"]);
    assert!(run.stderr.contains("2 times were rounded"), "{}", run.stderr);
    assert_eq!(value(&bench, "SELECT time FROM btf_event ORDER BY seq"), "2;2", "half to even");
    // A new database counts as finely as its first files.
    bench.ok(&["ingest", "ps.db", "t.btf", "-q"]);
    let run = bench.ok(&["export", "ps.db", "-o", "-", "-q"]);
    assert!(run.stdout.contains("1500,C,0,T,A,0,start"), "{}", run.stdout);
    // So do `check` and `compare` of files.
    bench.write("u.btf", "#version 2.2.1\n#timescale ps\n1500,C,0,T,A,0,start\n2400,C,0,T,A,0,terminate\n");
    bench.write("n.btf", "#version 2.2.1\n#timescale ns\n1,C,0,T,A,0,start\n2,C,0,T,A,0,terminate\n");
    for pair in [["t.btf", "u.btf"], ["n.btf", "u.btf"], ["u.btf", "n.btf"]] {
        let run = bench.run(&["compare", pair[0], pair[1], "--level", "exact"]);
        assert_eq!(run.code, Some(3), "{pair:?}: {}", run.stdout);
    }
}

#[test]
fn a_trace_after_a_trace_begins_again() {
    let one = "#version 2.1.0\n#timeScale ns\n0,S,0,T,A,0,activate\n5,C,0,T,A,0,start\n9,C,0,T,A,0,terminate\n20,S,1,T,A,1,activate\n";
    let text = format!("{one}{}", one.replace("#timeScale ns", "#timeScale us"));
    let bench = ingested(&text);
    assert_eq!(exported(&bench, &[]), trimmed(&text));
    // Instance 1 of the first trace does not go on in the second. At times of the first, nothing is derived
    // of the second.
    let rows = "SELECT instance, activate_at, terminate_at, complete FROM process_instance ORDER BY complete, activate_at";
    assert_eq!(value(&bench, rows), "1,20,,false;1,20000,,false;0,,9000,false;0,0,9,true");
    assert_eq!(value(&bench, "SELECT backwards FROM source"), "1");
    let codes = "SELECT code FROM diagnostic WHERE severity <> 'info' ORDER BY code";
    assert_eq!(value(&bench, codes), "another-time-scale;doubled-times;time-backwards");
    let bench = ingested(one.repeat(2));
    let sorted = "SELECT end_at FROM process_state ORDER BY end_at";
    assert_eq!(value(&bench, sorted), "5;9");
    bench.ok(&["verify", "t.db"]);
}

#[test]
fn small_disorder_is_sorted_and_the_file_comes_back() {
    let text = "10,C,0,T,A,0,start\n8,D,0,T,B,0,start\n12,C,0,T,A,0,terminate\n11,D,0,T,B,0,terminate\n";
    let bench = ingested(text);
    assert_eq!(exported(&bench, &[]), trimmed(text));
    assert_eq!(
        events(&exported(&bench, &["--order", "time"])),
        ["8,D,0,T,B,0,start", "10,C,0,T,A,0,start", "11,D,0,T,B,0,terminate", "12,C,0,T,A,0,terminate"]
    );
    assert_eq!(value(&bench, "SELECT process, running FROM process_instance ORDER BY process"), "A,2;B,3");
}

#[test]
fn freertos_tasks_migrate_and_are_created() {
    let text = "#version 2.2.0\n#creator FreeRTOS trace logger\n#timeScale us\n\
                1,Core_0,0,T,[0/0001]A,0,preempt,create pri:4\n2,Core_0,0,T,[0/0002]B,0,preempt,create\n\
                3,[0/0000],0,T,[0/0001]A,0,resume,\n5,Core_0,0,T,[0/0001]A,0,preempt,\n\
                5,[0/0001]A,0,T,[0/0002]B,0,resume,\n6,[1/0003]C,0,T,[1/0001]A,0,resume,\n";
    let bench = Bench::new();
    bench.write("t.btf", text);
    let run = bench.ok(&["ingest", "t.db", "t.btf"]);
    assert!(run.stderr.contains("tasks are read as FreeRTOS loggers write them"), "{}", run.stderr);
    let states = "SELECT process, core, state, begin_at / 1000 AS b, end_at / 1000 AS e FROM process_state ORDER BY process, b";
    let expected = "[0001]A,Core_0,active,1,3;[0001]A,Core_0,running,3,5;[0001]A,Core_0,ready,5,6;[0002]B,Core_0,active,2,5;[0002]B,Core_0,running,5,6";
    assert_eq!(value(&bench, states), expected);
    assert_eq!(exported(&bench, &[]), trimmed(text), "the events stay as they are");
    bench.ok(&["ingest", "t.db", "t.btf", "--name", "literal", "--dialect", "standard", "-q"]);
    let names = "SELECT count(DISTINCT process) FROM process_state WHERE recording = 'literal'";
    assert_eq!(value(&bench, names), "3");
}

#[test]
fn instances_that_are_missing_are_counted_for_the_derived_tables() {
    let text = "1,S,,T,A,,activate\n2,C,,T,A,,start\n2,A,,R,r,,start\n3,A,,R,r,,terminate\n4,C,,T,A,,terminate\n6,C,,T,A,,start\n";
    let bench = ingested(text);
    assert_eq!(exported(&bench, &[]), trimmed(text));
    assert_eq!(value(&bench, "SELECT count(*) FROM btf_event WHERE target_instance IS NULL"), "6");
    let rows = "SELECT instance, activate_at, start_at, complete FROM process_instance ORDER BY instance";
    assert_eq!(value(&bench, rows), "0,1,2,true;1,,6,false");
    assert_eq!(
        value(&bench, "SELECT runnable, instance, process, process_instance FROM runnable_instance"),
        "r,0,A,0"
    );
}

#[test]
fn several_instances_of_a_task_may_be_pending() {
    let text = "0,S,0,T,A,0,activate\n1,S,1,T,A,1,activate\n2,C,0,T,A,0,start\n3,S,2,T,A,2,mtalimitexceded\n\
                4,C,0,T,A,0,terminate\n4,C,0,T,A,1,start\n9,C,0,ISR,I,5,preempt\n";
    let bench = ingested(text);
    let rows = "SELECT process, type, instance, start_at, terminate_at FROM process_instance ORDER BY process, instance";
    assert_eq!(value(&bench, rows), "A,T,0,2,4;A,T,1,4,;I,I,5,,");
}

#[test]
fn odd_lines_lose_nothing_else() {
    let mut text = b"#version 2.1.5\n1,C,0,T,A,0,start\n".to_vec();
    text.extend(std::iter::repeat_n(b'x', 100_000_000));
    text.extend(b"\n2,C,0,SIG,\"q\",0,write,a,b,\"c, d\"\n3,C,0,T,A\0B,0,start\n4,C\xff,0,T,A,0,preempt\nnot BTF\n5,C,0,T,A,0,resume");
    let bench = Bench::new();
    bench.write("t.btf", &text);
    let run = bench.ok(&["ingest", "t.db", "t.btf"]);
    assert!(run.stderr.contains("8 lines = 5 rows + 2 rejected + 1 skipped"), "{}", run.stderr);
    let codes = "SELECT line, code FROM diagnostic WHERE severity <> 'info' ORDER BY line";
    assert_eq!(value(&bench, codes), "3,line-too-long;6,not-utf8;7,wrong-field-count;,core-occupied");
    let lines = exported(&bench, &[]);
    assert_eq!(lines[2], "2,C,0,SIG,\"q\",0,write,a,b,\"c, d\"");
    assert_eq!(lines[3], "3,C,0,T,A\0B,0,start");
    let run = bench.ok(&["export", "t.db", "-o", "-", "--format", "btf"]);
    assert!(
        run.stderr.contains("2 lines that were rejected at the import are not written"),
        "{}",
        run.stderr
    );
    let strict = bench.run(&["ingest", "strict.db", "t.btf", "--strict"]);
    assert_eq!(strict.code, Some(3), "{}", strict.stderr);
}

#[test]
fn compressed_files_and_pipes_are_read_as_they_are() {
    use std::io::Write;
    let text = "#version 2.2.1\n1,C,0,T,A,0,start\n2,C,0,T,A,0,terminate\n";
    let bench = Bench::new();
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(text.as_bytes()).unwrap();
    bench.write("a.btf.gz", gz.finish().unwrap());
    bench.write("b.btf.zst", zstd::encode_all(text.as_bytes(), 1).unwrap());
    bench.ok(&["ingest", "t.db", "a.btf.gz", "b.btf.zst", "-q"]);
    let mut child = bench.command();
    let child = child.args(["ingest", "t.db", "-", "--name", "c", "-q"]).stdin(std::process::Stdio::piped());
    let mut child = child.spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    for name in ["a", "b", "c"] {
        assert_eq!(exported(&bench, &["--recording", name]), trimmed(text));
    }
}

#[test]
fn what_is_no_trace_is_refused_and_nothing_is_written() {
    let bench = Bench::new();
    bench.write("text.txt", "hello\nworld\n");
    bench.write("empty.btf", "");
    bench.write("bad.btf", "#version 2.2.1\nx,y\n");
    for (file, words) in [
        ("text.txt", "this is no BTF trace"),
        ("empty.btf", "the file is empty"),
        ("bad.btf", "no event of the 2 lines could be read"),
        ("none.btf", "does not exist"),
    ] {
        let run = bench.run(&["ingest", "t.db", file]);
        assert_eq!(run.code, Some(1), "{file}: {}", run.stderr);
        assert!(run.stderr.contains(words), "{file}: {}", run.stderr);
    }
    let run = bench.run(&["info", "t.db"]);
    assert!(!run.stdout.contains("bad"), "{}", run.stdout);
}

#[test]
fn another_version_says_what_it_can() {
    let text = "#version 2.1.5\n#creator X\n#inputFile a.rte\n#timeScale ns\n0,SEM_1,0,SEM,SEM_1,0,ready\n\
                1,SIM,-1,STI,S,0,trigger\n1,S,0,ISR,I_1,0,activate\n# note\n2,C,0,C,C,0,set_frequence,5\n";
    let bench = ingested(text);
    let lines = exported(&bench, &["--btf-version", "2.2.1"]);
    let own = format!("#creator btfdb {}", env!("CARGO_PKG_VERSION"));
    assert_eq!(
        lines,
        [
            "#version 2.2.1",
            &own,
            "#timescale ns",
            "# from a trace of X",
            "# inputFile a.rte",
            "0,SEM_1,0,SEM,SEM_1,0,free",
            "1,S,0,STI,S,0,trigger",
            "1,S,0,I,I_1,0,activate",
            "# note",
            "# 2,C,0,C,C,0,set_frequence,5",
        ]
    );
    let run = bench.ok(&["export", "t.db", "-o", "-", "--btf-version", "2.2.1"]);
    assert!(run.stderr.contains("2 lines cannot be said in BTF 2.2.1"), "{}", run.stderr);
}

#[test]
fn slices_of_an_imported_file_make_the_whole() {
    let mut text = String::from("#version 2.2.1\n#timescale us\n");
    for n in 0..500 {
        text += &format!("{n},C,0,T,A,{n},start\n# after {n}\n{n},C,0,T,A,{n},terminate\n");
    }
    let bench = ingested(&text);
    let whole = exported(&bench, &[]);
    assert_eq!(whole, trimmed(&text));
    let mut parts = Vec::new();
    for (from, to) in [("0", "100us"), ("100us", "333us"), ("333us", "1s")] {
        let lines = exported(&bench, &["--from", from, "--to", to]);
        assert_eq!(lines[..2], whole[..2], "each slice has the header");
        parts.extend(lines[2..].to_vec());
    }
    assert_eq!(parts, whole[2..]);
}

#[test]
fn tables_do_not_depend_on_threads() {
    let mut text = String::from("#version 2.2.1\n#timescale ns\n");
    for n in 0..250_000u64 {
        // Some times go back, now and then across chunks.
        let time = n * 10 - if n % 997 == 0 { 35.min(n * 10) } else { 0 };
        text += &format!("{time},Core_{},0,T,Task_{},{},start\n", n % 3, n % 17, n / 17);
        text += &format!(
            "{},Core_{},0,T,Task_{},{},terminate,note {}\n",
            n * 10 + 7,
            n % 3,
            n % 17,
            n / 17,
            n % 101
        );
    }
    let bench = Bench::new();
    bench.write("t.btf", &text);
    let mut trees = Vec::new();
    for threads in ["1", "2", "3"] {
        let db = format!("{threads}/t.db");
        std::fs::create_dir(bench.path().join(threads)).unwrap();
        bench.ok(&["ingest", &db, "t.btf", "--threads", threads, "-q"]);
        let tree = crate::support::tree(&bench.path().join(&db));
        let tree: Vec<_> = tree
            .into_iter()
            .map(|(p, h)| (p.strip_prefix(bench.path().join(threads)).unwrap().to_owned(), h))
            .collect();
        trees.push(
            tree.into_iter()
                .filter(|(p, _)| p.extension().is_some_and(|e| e == "parquet"))
                .collect::<Vec<_>>(),
        );
    }
    assert!(trees[0].len() >= 5, "{:?}", trees[0]);
    assert_eq!(trees[0], trees[1]);
    assert_eq!(trees[0], trees[2]);
}

/// The load of each core.
fn loads(bench: &Bench, db: &str) -> Vec<(String, f64)> {
    let run = bench.ok(&["metrics", db, "CPULoad", "--format", "json"]);
    let parsed: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let cores = parsed.as_array().unwrap().iter().filter(|row| row["type"] == "C");
    cores.map(|row| (row["entity"].as_str().unwrap().to_owned(), row["max"].as_f64().unwrap())).collect()
}

fn of_two_cores(loads: [f64; 2]) -> Vec<(String, f64)> {
    vec![("Core_0".to_owned(), loads[0]), ("Core_1".to_owned(), loads[1])]
}

#[test]
fn idle_tasks_are_no_load_by_name_and_by_option() {
    let bench = Bench::new();
    bench.write("t.btf", include_str!("../data/btf/freertos_idle.btf"));
    let run = bench.ok(&["ingest", "t.db", "t.btf"]);
    assert!(run.stderr.contains("idle tasks, which are no load: [0002]IDLE0, [0003]IDLE1"), "{}", run.stderr);
    assert!(bench.ok(&["info", "t.db"]).stdout.contains("idle tasks  [0002]IDLE0, [0003]IDLE1\n"));
    assert_eq!(loads(&bench, "t.db"), of_two_cores([30.0, 0.0]));
    let slices = "SELECT core, process, begin_at, end_at FROM core_slice ORDER BY core, begin_at";
    assert_eq!(
        value(&bench, slices),
        "Core_0,,0,30000;Core_0,[0001]Work,30000,60000;Core_0,,60000,100000;Core_1,,0,100000"
    );
    // The picture of the cores has the same.
    bench.ok(&["plot", "t.db", "-o", "t.svg", "--type", "C", "-q"]);
    let svg = std::fs::read_to_string(bench.path().join("t.svg")).unwrap();
    assert!(svg.contains("Work") && !svg.contains("IDLE"), "{svg}");
    // A pattern adds to those of the profile; one after `!` takes out.
    for (n, (pattern, expected)) in
        [("W?rk", [0.0, 0.0]), ("!IDLE#", [90.0, 90.0]), ("!IDLE0,work", [60.0, 0.0])].into_iter().enumerate()
    {
        let db = format!("{n}.db");
        bench.ok(&["ingest", &db, "t.btf", "--idle-task", pattern, "-q"]);
        assert_eq!(loads(&bench, &db), of_two_cores(expected), "{pattern}");
    }
}

/// The share of the time of each core in which a task that is not called IDLE… has it, by the lines alone.
fn load_without_idle(text: &str) -> std::collections::BTreeMap<String, f64> {
    let (mut running, mut busy) = (std::collections::BTreeMap::new(), std::collections::BTreeMap::new());
    let (mut first, mut last) = (None, 0);
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split(',').collect();
        let [time, _, _, kind, target, _, action, ..] = fields.as_slice() else { continue };
        last = time.parse::<i64>().unwrap();
        first.get_or_insert(last);
        let named = target.strip_prefix('[').and_then(|t| t.split_once(']'));
        let Some((place, task)) = named.filter(|_| *kind == "T") else { continue };
        let core = format!("Core_{}", place.split('/').next().unwrap());
        busy.entry(core.clone()).or_insert(0);
        match *action {
            "resume" => {
                running.insert(core, (task.to_owned(), last));
            }
            "preempt" if running.get(&core).is_some_and(|(name, _)| name == task) => {
                let (name, since) = running.remove(&core).unwrap();
                *busy.get_mut(&core).unwrap() += if name.starts_with("IDLE") { 0 } else { last - since };
            }
            _ => {}
        }
    }
    for (core, (name, since)) in running {
        *busy.get_mut(&core).unwrap() += if name.starts_with("IDLE") { 0 } else { last - since };
    }
    let all = (last - first.unwrap()) as f64;
    busy.into_iter().map(|(core, busy)| (core, 100.0 * busy as f64 / all)).collect()
}

#[test]
fn loads_of_freertos_traces_are_those_of_their_tasks_without_the_idle_ones() {
    for file in corpus_files().iter().filter(|f| f.ends_with("freertos/example-2cores.btf")) {
        let bench = Bench::new();
        bench.ok(&["ingest", "t.db", &file.to_string_lossy(), "-q"]);
        let expected = load_without_idle(&std::fs::read_to_string(file).unwrap());
        let found = loads(&bench, "t.db");
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for (core, load) in found {
            assert!((load - expected[&core]).abs() < 1e-9, "{core}: {load}, {expected:?}");
        }
    }
}

/// Each time fits, but not what lies between them.
#[test]
fn times_that_are_too_far_apart_are_refused() {
    let bench = Bench::new();
    let text = "#version 2.2.1\n#timescale ns\n-9223372036854775000,S,0,T,A,0,activate\n\
                -9223372036854774000,Core_0,0,T,A,0,start\n9223372036854775000,Core_0,0,T,A,0,terminate\n";
    bench.write("far.btf", text);
    let run = bench.run(&["ingest", "t.db", "far.btf"]);
    assert_eq!(run.code, Some(1), "{}", run.all());
    assert!(
        run.stderr.contains("too far apart") && run.stderr.contains("nothing was written"),
        "{}",
        run.stderr
    );
}

/// A slice of entities lacks what else happened, and says so.
#[test]
fn slices_of_entities_keep_the_rules() {
    let bench = Bench::new();
    bench.demo();
    bench.ok(&["ingest", "t.db", "recording", "-q"]);
    for entity in ["T_2", "T_3", "T_5", "T_*", "EE_TC_iirq_handler"] {
        bench.ok(&["export", "t.db", "--entity", entity, "-o", "s.btf", "--force", "-q"]);
        let run = bench.ok(&["check", "s.btf"]);
        assert!(run.stdout.contains("0 errors, 0 warnings"), "{entity}\n{}", run.stdout);
    }
}
