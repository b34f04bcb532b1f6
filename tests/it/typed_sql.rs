//! SQL as users type it, on the command line: names of columns, units, files, errors with the next step, and
//! what the names of output files promise. Not what functions compute (`tests/slt/spellings.slt`).

use crate::support::{Bench, Run};

fn shell(bench: &Bench, script: &str) -> Run {
    let script = std::fs::File::open(bench.write("script.sql", script)).unwrap();
    let output = bench.command().args(["shell", "engine.db"]).stdin(script).output().unwrap();
    Run::of(output, bench.path())
}

#[test]
fn columns_are_named_as_typed() {
    let bench = Bench::engine();
    let header = |sql: &str| {
        let run = bench.ok(&["query", "engine.db", sql, "--format", "csv"]);
        run.stdout.lines().next().unwrap_or_default().to_owned()
    };
    assert_eq!(
        header("SELECT count(*), max(begin_at)+1, core AS c FROM process_state GROUP BY core"),
        "count(*),max(begin_at)+1,c"
    );
    assert_eq!(header("SELECT COUNT(DISTINCT core) FROM process_state"), "COUNT(DISTINCT core)");
    assert_eq!(header("SELECT begin_at / 1ms, process FROM process_state LIMIT 1"), "begin_at / 1ms,process");
    assert_eq!(header("SELECT arg_max(process, end_at) FROM process_state"), "\"arg_max(process, end_at)\"");
    assert_eq!(header("SELECT 1+1, r.* FROM recording r").split(',').next(), Some("1+1"));
    assert_eq!(header("SELECT * FROM (SELECT max(begin_at)+1 FROM process_state)"), "max(begin_at)+1");
    assert_eq!(header("SELECT DISTINCT core || '!' FROM process_state"), "core || '!'");
    assert_eq!(
        header("SELECT max(begin_at)+1 FROM process_state GROUP BY core ORDER BY max(begin_at)+1"),
        "max(begin_at)+1"
    );
}

#[test]
fn times_are_shown_in_a_unit() {
    let bench = Bench::engine();
    let sql = "SELECT process, activate_at, count(*) AS n FROM process_instance WHERE process = 'T_5' AND activate_at = 117001190 GROUP BY process, activate_at";
    let run = bench.ok(&["query", "engine.db", sql, "--unit", "ms"]);
    assert_eq!(run.stdout, "process,activate_at [ms],n\nT_5,117.001190,1");
    let run =
        bench.ok(&["metrics", "engine.db", "ResponseTime", "Preemptions", "--entity", "T_5", "--unit", "us"]);
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert!(lines[0].ends_with("jitter,min_at [us],max_at [us]"), "{}", run.stdout);
    assert!(
        lines[1].starts_with("demo,ResponseTime,T_5,T,Core_1,us,20,0,917.743,1696.6218"),
        "{}",
        run.stdout
    );
    assert!(
        lines[1].contains(",2737.181,") && lines[1].ends_with(",147001.190,117001.190"),
        "{}",
        run.stdout
    );
    // A count is no time.
    assert!(lines[2].starts_with("demo,Preemptions,T_5,T,Core_1,count,1,0,13,"), "{}", run.stdout);
    assert_eq!(bench.run(&["query", "engine.db", sql, "--unit", "min"]).code, Some(2));
}

#[test]
fn the_name_of_a_file_says_what_is_in_it() {
    let bench = Bench::engine();
    let sql = "SELECT 'a|b' AS x, 1 AS n";
    for (name, begin) in [
        ("q.parquet", "PAR1"),
        ("q.json", "[{\"x\":\"a|b\",\"n\":1}]"),
        ("q.jsonl", "{\"x\":\"a|b\",\"n\":1}"),
        ("q.csv", "x,n\na|b,1\n"),
        ("q.tsv", "x\tn\na|b\t1\n"),
        ("q.md", "| x | n |\n|---|---:|\n| a\\|b | 1 |\n"),
        ("q.txt", "x,n\n"),
    ] {
        bench.ok(&["query", "engine.db", sql, "-o", name]);
        let written = std::fs::read(bench.path().join(name)).unwrap();
        assert!(written.starts_with(begin.as_bytes()), "{name}: {}", String::from_utf8_lossy(&written));
    }
    bench.ok(&["query", "engine.db", sql, "-o", "other.parquet", "--format", "csv"]);
    assert!(std::fs::read(bench.path().join("other.parquet")).unwrap().starts_with(b"x,n"));
    for (args, hint) in [
        (&["export", "engine.db", "-o", "y.svg"][..], "btfdb plot"),
        (&["export", "engine.db", "-o", "y.png"], "btfdb plot"),
        (&["export", "engine.db", "-o", "y.json"], "btfdb query"),
        (&["export", "engine.db", "-o", "y.xlsx"], ".csv"),
        (&["query", "engine.db", sql, "-o", "y.svg"], "btfdb plot"),
        (&["query", "engine.db", sql, "-o", "y.btf"], "btfdb export"),
        (&["metrics", "engine.db", "ResponseTime", "-o", "y.png"], "btfdb plot"),
        (&["metrics", "engine.db", "ResponseTime", "--histogram", "-o", "y.svg"], "btfdb plot"),
        (&["metrics", "engine.db", "ResponseTime", "-o", "y.xlsx"], ".csv"),
        (&["metrics", "engine.db", "ResponseTime", "-o", "y.json.gz"], "-o y.json, then"),
        (&["metrics", "--list", "-o", "list.txt"], "> FILE"),
        (&["query", "engine.db", sql, "-o", "y.csv.gz"], "-o y.csv, then"),
        (&["query", "engine.db", sql, "-o", "y.feather"], ".arrow"),
        (&["query", "engine.db", sql, "-o", "y.db"], "btfdb ingest"),
        (&["query", "engine.db", "CREATE TABLE t AS SELECT 1", "-o", "y.csv"], "SELECT"),
        (&["export", "engine.db", "-o", "y.btf.gz"], "-o y.btf, then"),
        (&["export", "engine.db", "-o", "y.pb"], ".pftrace"),
    ] {
        let run = bench.run(args);
        assert!(run.code == Some(2) && run.stderr.contains(hint), "{args:?}\n{}", run.all());
        assert!(!bench.path().join(args[args.len() - 1]).exists(), "{args:?}");
    }
    for command in [".once s.csv.gz", ".output s.csv.gz", ".export s.btf.gz"] {
        let run = shell(&bench, &format!("{command}\nSELECT 1 AS n;\n"));
        assert!(run.code == Some(1) && run.stderr.contains("then compress it"), "{}", run.all());
    }
    bench.ok(&["plot", "engine.db", "--from", "100ms", "--to", "110ms", "-o", "y.SVG"]);
    let script = ".once s.md\nSELECT 1 AS n;\n.once s.svg\n";
    let run = shell(&bench, script);
    assert!(run.code == Some(1) && run.stderr.contains("btfdb plot"), "{}", run.all());
    assert_eq!(std::fs::read_to_string(bench.path().join("s.md")).unwrap(), "| n |\n|---:|\n| 1 |\n");
}

#[test]
fn files_in_the_current_folder_can_be_read() {
    let bench = Bench::engine();
    bench.write("limits.csv", "task;limit\nT_4;3000000\nT_5;3000000\n");
    let sql = "SELECT task, count(*) AS late FROM process_instance JOIN read_csv('limits.csv') ON task = process WHERE terminate_at - activate_at > \"limit\" GROUP BY task";
    let late = bench.ok(&["query", "engine.db", sql]).stdout;
    assert!(late.starts_with("task,late\nT_4,") && late.lines().count() == 2, "{late}");
    bench.ok(&[
        "query",
        "engine.db",
        "SELECT process, end_at FROM process_state ORDER BY end_at, process",
        "-o",
        "states.parquet",
    ]);
    let both = "SELECT (SELECT count(*) FROM read_parquet('states.parquet')) - (SELECT count(*) FROM process_state) AS d";
    assert_eq!(bench.ok(&["query", "engine.db", both]).stdout, "d\n0");

    let above = bench.path().join("below");
    std::fs::create_dir(&above).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(bench.path().join("limits.csv"), above.join("link.csv")).unwrap();
    let refused = |args: &[&str], words: &str| {
        let output = bench.command().current_dir(&above).args(args).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && stderr.contains(words), "{args:?}: {stderr}");
    };
    refused(&["query", "../engine.db", "SELECT * FROM read_csv('../limits.csv')"], "outside of the folder");
    let absolute = format!("SELECT * FROM read_csv('{}')", bench.path().join("limits.csv").display());
    refused(&["query", "../engine.db", &absolute], "outside of the folder");
    #[cfg(unix)]
    refused(&["query", "../engine.db", "SELECT * FROM read_csv('link.csv')"], "outside of the folder");
    refused(&["query", "../engine.db", "SELECT * FROM read_csv('none.csv')"], "cannot read 'none.csv'");
    refused(&["query", "../engine.db", "SELECT * FROM read_csv('.')"], "is no file");
    let run = bench.run(&["query", "engine.db", "--no-files", "SELECT * FROM read_csv('limits.csv')"]);
    assert!(run.code == Some(1) && run.stderr.contains("files are off"), "{}", run.all());
    let run = bench.run(&["query", "engine.db", "SELECT * FROM read_parquet('limits.csv')"]);
    assert!(run.code == Some(1) && run.stderr.contains("hint: read_csv reads text"), "{}", run.all());
    let run = bench.run(&["query", "engine.db", "SELECT * FROM 'limits.csv'"]);
    assert!(run.stderr.contains("read_csv('limits.csv')"), "{}", run.all());
}

#[test]
fn views_and_tables_of_a_session_leave_the_database_alone() {
    let bench = Bench::engine();
    let before = crate::support::tree(&bench.path().join("engine.db"));
    let sql = "CREATE TABLE late AS SELECT process, terminate_at - activate_at AS r FROM process_instance WHERE terminate_at - activate_at > 3ms; CREATE VIEW n AS SELECT count(*) AS n FROM late; SELECT * FROM n";
    assert_eq!(bench.ok(&["query", "engine.db", sql, "-o", "n.csv"]).stdout, "");
    let late = "SELECT count(*) AS n FROM process_instance WHERE terminate_at - activate_at > 3ms";
    let late = bench.ok(&["query", "engine.db", late]).stdout;
    assert_eq!(std::fs::read_to_string(bench.path().join("n.csv")).unwrap().trim_end(), late);
    assert_eq!(crate::support::tree(&bench.path().join("engine.db")), before);
    assert_eq!(bench.run(&["query", "engine.db", "SELECT * FROM n"]).code, Some(1));
    let script =
        "CREATE VIEW ours AS SELECT max(end_at) AS last FROM process_state;\n.tables\n.schema ours\n";
    let run = shell(&bench, script);
    assert!(run.stdout.starts_with("ours "), "{}", run.stdout);
    assert!(run.stdout.contains("    last"), "{}", run.stdout);
}

/// What users read never has values as Rust prints them.
#[test]
fn errors_have_a_next_step() {
    let bench = Bench::engine();
    for (sql, message, hint) in [
        ("INSERT INTO gap VALUES (1)", "INSERT", "btfdb ingest"),
        ("DELETE FROM gap", "DELETE", "btfdb ingest"),
        ("CREATE INDEX i ON gap (core)", "CREATE INDEX", "CREATE VIEW"),
        ("CREATE TABLE x (a INT)", "CREATE TABLE", "CREATE TABLE name AS SELECT"),
        ("CREATE EXTERNAL TABLE x STORED AS CSV LOCATION 'x.csv'", "CREATE EXTERNAL TABLE", "read_csv"),
        ("COPY gap TO 'x.csv'", "COPY", "-o FILE"),
        ("SET x = 1", "SET", "command line"),
        ("BEGIN", "is refused", "no transactions"),
        ("SELECT * FROM gap a ASOF JOIN gap b ON a.core = b.core", "ASOF JOIN", "as_of("),
        ("SELECT * FROM gap a ASOF LEFT JOIN gap b ON a.core = b.core", "ASOF JOIN", "as_of("),
        ("ATTACH 'other.db'", "ATTACH is refused", ".open"),
        ("SELECT 7 // 2", "'//' is no operator of SQL (line 1, column 10)", "divides whole numbers"),
        ("SELECT 7 ** 2", "'**' is no operator", "power(x, 2)"),
        ("SELECT 10min", "'10min' is neither a number nor a time (line 1, column 8)", "us, ms or s"),
        ("SELECT 0x10ms", "'0x10ms' is no hexadecimal number", "0x1F is 31"),
        ("SELECT 1 << 63", "'1 << 63' does not fit into 64 bits", "DECIMAL"),
        ("SELECT arg_max(core, begin_at, 3) FROM gap", "takes 2 arguments, not 3 (line 1", "LIMIT 3"),
        ("SELECT approx_percentile_cont_with_weight(end_at, 1, 0.5) FROM gap", "threads", "percentile_cont"),
        ("SELECT $x", "the parameter '$x' has no value (line 1, column 8)", "--param x="),
        ("SELECT process FROM process_instance ORDER BY first_at", "column 'first_at' not found", ""),
        ("SELECT * FROM process_state WHERE process = \"T_5\"", "column 'T_5' not found", "'T_5'"),
        ("SELECT * FROM process_state WHERE process = T_5", "column 't_5' not found", "'T_5'"),
        ("SELECT * FROM process_state WHERE process == 'T_5'", "'=='", "write ="),
        ("SELECT * FROM process_state WHERE process = 'T_5", "Unterminated", "single quotes"),
        (
            "SELECT * FROM process_state WHERE recording = 7",
            "the text 'demo' is no value of type BIGINT",
            "recording = '7'",
        ),
        (
            "SELECT * FROM (SELECT core, core FROM gap)",
            "two columns of a SELECT are named 'core' (line 1",
            "AS",
        ),
        (
            "SELECT * FROM gap WHERE begin_at > '10ms'",
            "'10ms' is no number (line 1, column 36)",
            "quotes: 10ms",
        ),
        (
            "SELECT * FROM process_state WHERE begin_at > '10x'",
            "'10x' is no number (line 1",
            "without quotes",
        ),
        ("SELECT abs(1, 2)", "'abs' takes 1 arguments, not 2 (line 1", "SHOW FUNCTIONS"),
        ("SELECT gapp.core FROM gap", "no table 'gapp' in FROM (line 1", "did you mean table 'gap'?"),
        ("SELECT first(core) FROM gap", "'first'", "first_value"),
        ("SELECT epoch(begin_at) FROM gap", "'epoch'", "to_timestamp_nanos"),
        ("SELECT sum(core) FROM gap", "'sum' does not take values of type VARCHAR (line 1", "CAST"),
        ("SELECT regexp_extract('T_5', '(')", "no regular expression: unclosed group (line 1", "stands for"),
        (
            "SELECT arg_max(core, begin_at) OVER (PARTITION BY core) FROM gap",
            "OVER rows (line 1",
            "first_value",
        ),
        (
            "SELECT * FROM gap WHERE EXISTS (SELECT begin_at, begin_at::DOUBLE FROM gap)",
            "two columns of a SELECT are named 'begin_at'",
            "AS",
        ),
        (
            "SELECT count(*) FROM process_state GROUP BY (begin_at / 10)::INT, begin_at / 10",
            "two columns of GROUP BY differ by a CAST alone",
            "+ 0",
        ),
        ("SELECT [1, 2, 3][2:]", "both ends (line 1", "array_slice"),
        ("SELECT 1 / 0", "divided by 0 (line 1", "nullif"),
        ("SELECT * FROM process_instance p, generate_series(1, p.instance)", "argument 2", "unnest"),
        ("SELECT sum(DISTINCT end_at * 1000000000) FROM process_state", "sum(DISTINCT", "DECIMAL"),
        ("PIVOT gap ON core USING count(*)", "no PIVOT (line 1, column 1)", "FILTER"),
        ("UNPIVOT gap ON core", "no UNPIVOT (line 1, column 1)", "UNION ALL"),
        ("SELECT list_sum([9007199254740993, 1])", "DOUBLE, which may lose digits (line 1", "unnest"),
        ("DROP TABLE IF EXISTS gap", "'gap' belongs to the database", "another name"),
        ("SELECT to_timestamp_seconds(9000000000000000) AS x", "column 'x' cannot be shown", "BIGINT"),
        ("SELECT process, count(*) FROM process_state", "GROUP BY", "GROUP BY"),
        ("SELECT 1.5ns", "no whole number of ns", "1.5ms"),
        ("SELECT * FROM read_csv()", "path of one file", "read_csv('limits.csv')"),
        ("SELECT * FROM gap PIVOT (count(core) FOR core IN ('a'))", "PIVOT", "FILTER"),
    ] {
        let run = bench.run(&["query", "engine.db", sql]);
        let (error, hints) = run.stderr.split_once("hint: ").unwrap_or((&run.stderr, ""));
        assert_eq!(run.code, Some(1), "{sql}: {}", run.all());
        assert!(error.contains(message) && hints.contains(hint), "{sql}: {}", run.all());
        for raw in ["Ident {", "Some(", "Span(", "Error during planning", "not implemented", "Utf8", "Int64"]
        {
            assert!(!run.stderr.contains(raw), "{sql}: {}", run.all());
        }
    }
    let run = bench.run(&["query", "engine.db", "SELECT * FROM process_instance ORDER BY nonsense"]);
    let columns = run.stderr.split_once("the columns are: ").unwrap().1;
    assert_eq!(columns.matches("activate_at").count(), 1, "{}", run.all());
}

#[test]
fn parameters_that_are_texts_are_named() {
    let bench = Bench::engine();
    let sql = "SELECT * FROM core_peak";
    let run = bench.run(&["query", "engine.db", sql, "--param", "window=abc", "--param", "step=1ms"]);
    assert_eq!(run.code, Some(1), "{}", run.all());
    assert!(run.stderr.contains("$window is the text 'abc'"), "{}", run.all());
    let run = bench.run(&["query", "engine.db", "SELECT $x", "--param", "x=99999999999999999999"]);
    assert!(run.code == Some(2) && run.stderr.contains("64 bits"), "{}", run.all());
}

#[test]
fn parameters_with_a_wrong_name_are_noticed() {
    let bench = Bench::engine();
    let peak = |name: &str| {
        let (window, sql) = (format!("{name}=10ms"), "SELECT count(*) AS n FROM core_peak");
        bench.run(&["query", "engine.db", sql, "--param", &window, "--param", "step=1ms"])
    };
    let run = peak("windo");
    assert!(run.code == Some(1) && run.stderr.contains("'$window' has no value"), "{}", run.all());
    assert!(run.stderr.contains("'windo' has a value: is 'window' meant?"), "{}", run.all());
    assert_eq!(peak("window").stderr, "");
    let run =
        bench.ok(&["query", "engine.db", "SELECT $mask AS m", "--param", "mask=0x33", "--param", "maks=1"]);
    assert_eq!(run.stdout, "m\n51");
    assert!(run.stderr.contains("$maks; did you mean 'mask'?"), "{}", run.all());
}

#[test]
fn files_that_are_no_text_are_named() {
    let bench = Bench::engine();
    for (bytes, what, hint) in [
        (&b"\x1f\x8b\x08\x00task"[..], "compressed with gzip", "gunzip"),
        (b"\xff\xfet\x00,\x00\n\x00", "UTF-16", "iconv"),
        (b"task,note\nT_1,gr\xfcn\n", "not UTF-8", "WINDOWS-1252"),
        (b"PK\x03\x04....", "spreadsheet", "CSV"),
    ] {
        std::fs::write(bench.path().join("x.csv"), bytes).unwrap();
        let run = bench.run(&["query", "engine.db", "SELECT * FROM read_csv('x.csv')"]);
        assert_eq!(run.code, Some(1), "{}", run.all());
        assert!(run.stderr.contains(what) && run.stderr.contains(hint), "{}", run.all());
    }
}

#[test]
fn a_summary_has_ticks_and_says_so() {
    let bench = Bench::engine();
    let sql = "SUMMARIZE SELECT begin_at, instance FROM process_state";
    let (ticks, ms) =
        (bench.ok(&["query", "engine.db", sql]), bench.ok(&["query", "engine.db", sql, "--unit", "ms"]));
    assert_eq!(ticks.stdout, ms.stdout);
    assert!(ms.stderr.contains("ticks (ns), not in ms"), "{}", ms.all());
    let run = shell(&bench, &format!(".mode table\n.unit ms\n{sql};\n"));
    assert!(run.stderr.contains("ticks (ns), not in ms") && !run.stdout.contains("[ms]"), "{}", run.all());
    let run =
        bench.ok(&["query", "engine.db", "SELECT min(begin_at) AS x FROM process_state", "--unit", "ps"]);
    assert_eq!(run.stdout, "x [ps]\n1000030000");
}

#[test]
fn the_table_of_grasp_is_in_a_unit() {
    let bench = Bench::engine();
    let run = bench.ok(&["metrics", "engine.db", "grasp", "--entity", "T_2", "--unit", "ms"]);
    assert!(run.stdout.contains("\ndemo,T_2,0.877762000,"), "{}", run.stdout);
    assert!(run.stdout.ends_with(",9,ms"), "{}", run.stdout);
    let run = shell(&bench, ".mode csv\n.metric grasp T_2\n");
    assert!(run.stdout.contains("\ndemo,T_2,877762.000,"), "{}", run.all());
    assert!(shell(&bench, ".metrics grasp\n").stdout.contains("wcet"));
}

#[test]
fn entities_are_lists_and_patterns() {
    let bench = Bench::engine();
    let entities = |args: &[&str]| {
        let run = bench.ok(args);
        let mut names: Vec<String> =
            run.stdout.lines().skip(1).filter_map(|l| l.split(',').nth(2)).map(str::to_owned).collect();
        names.dedup();
        names
    };
    assert_eq!(entities(&["metrics", "engine.db", "ResponseTime", "--entity", "T_4,T_5"]), ["T_4", "T_5"]);
    let tasks = entities(&["metrics", "engine.db", "ResponseTime", "--entity", "T_*"]);
    assert!(tasks.len() > 2 && tasks.iter().all(|name| name.starts_with("T_")), "{tasks:?}");
    assert_eq!(entities(&["metrics", "engine.db", "ResponseTime", "--entity", "?_4"]), ["T_4"]);
    let run = bench.run(&["metrics", "engine.db", "ResponseTime", "--entity", "X_*"]);
    assert_eq!(run.code, Some(2), "{}", run.all());
    let export = |entity: &str| {
        let run = bench.ok(&["export", "engine.db", "--entity", entity, "-o", "-"]);
        run.stdout.lines().filter(|l| !l.starts_with('#')).count()
    };
    let (one, two) = (export("T_4"), export("T_5"));
    assert!(one > 0 && two > 0, "{one} {two}");
    assert!(export("T_4,T_5") <= one + two && export("T_4,T_5") > one.max(two));
    assert!(export("T_*") >= export("T_4,T_5"));
}

#[test]
fn completions_and_man_pages_are_printed() {
    let bench = Bench::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let run = bench.ok(&["completions", shell]);
        assert!(run.stdout.contains("btfdb") && run.stdout.contains("metrics"), "{shell}");
    }
    let page = bench.ok(&["man"]).stdout;
    assert!(page.contains(".TH btfdb 1") && page.contains("export"), "{page}");
    let page = bench.ok(&["man", "query"]).stdout;
    assert!(page.contains("btfdb\\-query") && page.contains("no\\-files"), "{page}");
    let run = bench.run(&["man", "qurey"]);
    assert!(run.code == Some(2) && run.stderr.contains("'query'"), "{}", run.all());
}

#[test]
fn info_is_also_for_programs() {
    let bench = Bench::engine();
    let run = bench.ok(&["info", "engine.db", "--format", "json"]);
    let info: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(info["time_scale"], "ns");
    assert_eq!(info["recordings"][0]["recording"], "demo");
    let tables = info["recordings"][0]["tables"].as_array().unwrap();
    let events = tables.iter().find(|t| t["table"] == "btf_event").unwrap();
    assert_eq!(events["rows"], 2409);
}

#[test]
fn the_shell_draws() {
    let bench = Bench::engine();
    let run = shell(&bench, ".plot w.svg 117ms 120ms --type C,T\n.plot l.svg --chart load\n");
    assert_eq!(run.code, Some(0), "{}", run.all());
    for name in ["w.svg", "l.svg"] {
        assert!(std::fs::read_to_string(bench.path().join(name)).unwrap().contains("<svg"), "{name}");
    }
}
