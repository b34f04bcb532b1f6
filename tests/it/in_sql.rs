//! What analyses find, as rows in SQL: the same as their commands print, of chosen recordings only, and what
//! is refused. Not what they find (see `bound`, `tail`, `regress`, `requirements` and `in_time`).

use crate::support::{Bench, Run, tree};
use serde_json::Value;
use std::time::{Duration, Instant};

/// The recording of the demo twice.
fn twice() -> Bench {
    let bench = Bench::engine();
    let demo = bench.demo();
    bench.ok(&["ingest", "engine.db", demo.to_str().unwrap(), "--name", "again", "-q"]);
    bench
}

fn csv(bench: &Bench, database: &str, sql: &str) -> String {
    bench.ok(&["query", database, sql, "--format", "csv"]).stdout
}

fn json(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap()
}

#[test]
fn bounds_are_those_of_the_command() {
    let bench = twice();
    let command = ["bound", "engine.db", "--format", "csv"];
    assert_eq!(csv(&bench, "engine.db", "SELECT * FROM response_bound"), bench.ok(&command).stdout);
    let in_us = bench.ok(&["query", "engine.db", "SELECT * FROM response_bound", "--unit", "us"]).stdout;
    assert_eq!(in_us, bench.ok(&[&command[..], &["--unit", "us"]].concat()).stdout);
    // A condition leaves the rows of its recording.
    let one = csv(&bench, "engine.db", "SELECT * FROM response_bound WHERE recording = 'again'");
    assert_eq!(one, bench.ok(&[&command[..], &["--recording", "again"]].concat()).stdout);
    let of_t_3 = "SELECT assumption, contradiction FROM bound_assumption WHERE recording LIKE 'de%' AND process = 'T_3' AND contradicted";
    assert_eq!(
        csv(&bench, "engine.db", of_t_3),
        "assumption,contradiction\none_section,\"T_5 kept the core for 250 ns, and nothing says why\""
    );
}

#[test]
fn tails_are_those_of_the_command() {
    let bench = crate::tail::bench();
    let of = |names: &[&str]| {
        bench.ok(&[&["metrics", "times.db"][..], names, &["--tail", "--format", "csv"]].concat()).stdout
    };
    assert_eq!(csv(&bench, "times.db", "SELECT * FROM tail"), of(&[]));
    let two = "SELECT * FROM tails('StartDelay', 'NetExecutionTime')";
    assert_eq!(csv(&bench, "times.db", two), of(&["StartDelay", "NetExecutionTime"]));
    let why = "SELECT DISTINCT left(refused, 20) AS why FROM tail WHERE entity = 'T_Two' AND metric = 'NetExecutionTime'";
    assert!(csv(&bench, "times.db", why).lines().count() > 1);
    let run = bench.run(&["query", "times.db", "SELECT * FROM tails('ResponseTim')"]);
    assert_eq!(run.code, Some(2), "{}", run.all());
    assert!(run.all().contains("did you mean 'ResponseTime'?"), "{}", run.all());
    let run = bench.run(&["query", "times.db", "SELECT * FROM tails(1)"]);
    assert!(run.code.is_some_and(|code| code > 0) && run.all().contains("takes texts"), "{}", run.all());
}

#[test]
fn changes_are_those_of_the_command() {
    let bench = crate::regress::fleet();
    let command = bench.run(&["regress", "fleet.db", "a", "--against", "build=42", "--format", "json"]);
    let expected = json(&command)["rows"].clone();
    let sql = "SELECT * FROM regressions('a', 'build=42')";
    let rows = json(&bench.ok(&["query", "fleet.db", sql, "--format", "json"]));
    let (rows, expected) = (rows.as_array().unwrap(), expected.as_array().unwrap());
    assert_eq!(rows.len(), expected.len());
    assert!(expected.iter().any(|row| row["causes"].is_array()));
    for (row, expected) in rows.iter().zip(expected) {
        for (name, value) in expected.as_object().unwrap() {
            let number = |value: &Value| value.as_f64();
            match name.as_str() {
                "causes" => {
                    let first = &value[0];
                    assert_eq!((&row["cause_entity"], &row["cause"]), (&first["entity"], &first["name"]));
                    assert_eq!(number(&row["cause_explains"]), number(&first["explains"]));
                }
                _ if value.is_number() => assert_eq!(number(&row[name]), number(value), "{name}: {row}"),
                _ => assert_eq!(&row[name], value, "{name}: {row}"),
            }
        }
        assert_eq!(row["cause"].is_null(), expected["causes"].is_null(), "{row}");
    }
    // Fewer metrics and entities are fewer tests; times have a unit.
    let few = "SELECT metric, entity, before FROM regressions('a,b', 'slow', 'ResponseTime', 'T_High')";
    let few = bench.ok(&["query", "fleet.db", few, "--unit", "us"]).stdout;
    assert!(few.starts_with("metric,entity,before [us]\nResponseTime,T_High,"), "{few}");
    for (call, why) in [
        ("regressions('a', '')", "lacks the recordings of the new build"),
        ("regressions('a', 'a')", "the recording 'a' is on both sides"),
        ("regressions('a', 'c')", "no recording"),
        ("regressions('a')", "takes 2 to 4 texts, and not 1"),
    ] {
        let run = bench.run(&["query", "fleet.db", &format!("SELECT * FROM {call}")]);
        assert!(run.code.is_some_and(|code| code > 0), "{call}");
        assert!(run.all().contains(why), "{call}: {}", run.all());
    }
}

#[test]
fn requirements_are_those_of_check() {
    let bench = twice();
    let text = std::fs::read_to_string(crate::support::root().join("demo/limits.toml")).unwrap();
    bench.write("limits.toml", format!("{text}{ORDER}"));
    let outcomes = bench.run(&["check", "engine.db", "--requirements", "limits.toml", "--format", "json"]);
    let outcomes = json(&outcomes);
    let ask = |sql: &str, of: &[&str]| {
        let all = ["query", "engine.db", sql, "--format", "json", "--requirements", "limits.toml"];
        json(&bench.ok(&[&all[..], of].concat())).as_array().unwrap().clone()
    };
    let verdicts = ask("SELECT * FROM requirement_verdict", &[]);
    let outcomes = outcomes.as_array().unwrap();
    assert_eq!(verdicts.len(), outcomes.len());
    let mut violations = Vec::new();
    for (row, outcome) in verdicts.iter().zip(outcomes) {
        for (name, of) in [
            ("recording", "recording"),
            ("requirement", "requirement"),
            ("entity", "entity"),
            ("worst", "value"),
            ("side", "bound"),
            ("bound", "limit"),
            ("margin", "margin"),
            ("at", "at"),
            ("samples", "samples"),
            ("beyond", "violations"),
            ("incomplete", "incomplete"),
        ] {
            let (row, outcome) = (&row[name], &outcome[of]);
            assert!(row == outcome || row.as_f64() == outcome.as_f64(), "{name}: {row} {outcome}");
        }
        let verdict = outcome["verdict"].as_str().unwrap().replace('-', " ");
        assert_eq!(row["verdict"], Value::from(verdict));
        let temporal = &outcome["temporal"];
        assert_eq!(row["kept"], temporal["kept"]);
        for violation in temporal["violations"].as_array().into_iter().flatten() {
            for witness in violation["witnesses"].as_array().unwrap() {
                violations.push((violation["begin"].clone(), violation["end"].clone(), witness.clone()));
            }
        }
    }
    let shown = ask("SELECT * FROM requirement_violation", &[]);
    assert!(!shown.is_empty() && shown.len() == violations.len());
    for (row, (begin, end, witness)) in shown.iter().zip(&violations) {
        assert_eq!((&row["begin_at"], &row["last_at"]), (begin, end));
        assert_eq!(
            (&row["time"], &row["seq"], &row["event"]),
            (&witness["time"], &witness["seq"], &witness["event"])
        );
    }
    // The chains of --chains are others.
    let one = "SELECT * FROM requirement_verdict WHERE recording = 'again'";
    let one = ask(one, &["--chains", "limits.toml"]);
    assert_eq!(one.len() * 2, verdicts.len());
    let run = bench.run_with_input(
        &["shell", "engine.db", "--requirements", "limits.toml"],
        "SELECT count(*) FROM requirement_verdict;\n",
    );
    assert!(run.stdout.contains(&verdicts.len().to_string()), "{}", run.all());
    let run = bench.run(&["query", "engine.db", "SELECT * FROM requirement_verdict"]);
    assert_eq!(run.code, Some(2));
    assert!(run.all().contains("--requirements FILE gives them"), "{}", run.all());
    bench.write("wrong.toml", "[[deadline]]\nentity = \"T_3\"\ndeadlin = \"2ms\"\n");
    let sql = "SELECT * FROM requirement_verdict";
    let run = bench.run(&["query", "engine.db", sql, "--requirements", "wrong.toml"]);
    assert!(run.code.is_some_and(|code| code > 0) && run.all().contains("wrong.toml:"), "{}", run.all());
}

const ORDER: &str = r#"
[[temporal]]
name = "T_4 starts soon"
after = { entity = "T_4", action = "activate" }
then = { entity = "T_4", action = "start" }
within = "500us"
"#;

/// The files of the other recording are gone: whoever reads them fails.
#[test]
fn only_chosen_recordings_are_read() {
    let bench = twice();
    let files = tree(bench.path()).into_iter().map(|(path, _)| bench.path().join(path));
    let is_again = |path: &std::path::Path| {
        path.is_file()
            && path.extension().is_some_and(|e| e == "parquet")
            && path.to_string_lossy().contains("again")
    };
    let again: Vec<_> = files.filter(|path| is_again(path)).collect();
    assert!(!again.is_empty());
    again.iter().for_each(|path| std::fs::remove_file(path).unwrap());
    for view in ["response_bound", "bound_assumption", "tail", "tails('StartDelay')"] {
        for condition in [
            "recording = 'demo'",
            "'demo' = recording",
            "recording IN ('demo', 'other')",
            "recording <> 'again' AND length(recording) = 4",
            "recording LIKE 'd%' OR recording = 'x'",
        ] {
            let sql = format!("SELECT DISTINCT recording FROM {view} WHERE {condition}");
            assert_eq!(csv(&bench, "engine.db", &sql), "recording\ndemo", "{sql}");
        }
        let run = bench.run(&["query", "engine.db", &format!("SELECT count(*) FROM {view}")]);
        assert!(run.code.is_some_and(|code| code > 0), "{view}");
    }
    let param = "SELECT DISTINCT recording FROM response_bound WHERE recording = $r";
    assert_eq!(bench.ok(&["query", "engine.db", param, "--param", "r=demo"]).stdout, "recording\ndemo");
}

/// Joins of several of them, views of the session, metrics of the user over them; a metric that reads itself.
#[test]
fn operations_may_wait_for_each_other() {
    let bench = Bench::engine();
    let script = "CREATE VIEW late AS SELECT recording, process, bound FROM response_bound WHERE bound > 1000000; \
                  SELECT b.process, count(*) AS n FROM late AS b JOIN bound_assumption AS a \
                  ON a.recording = b.recording AND a.process = b.process JOIN tail AS t ON t.entity = b.process \
                  GROUP BY b.process ORDER BY 1 LIMIT 1";
    let run = bench.ok(&["query", "engine.db", script, "--threads", "1"]);
    assert!(run.stdout.starts_with("process,n\nT_3,"), "{}", run.all());
    std::fs::create_dir(bench.path().join("sql")).unwrap();
    bench.write(
        "sql/BoundRatio.sql",
        "-- Bounds as samples.\n--\n-- unit: duration\n\
         SELECT recording, process AS entity, type, core, NULL AS instance, bound AS value, 0 AS at FROM response_bound\n",
    );
    bench.write(
        "sql/Own.sql",
        "-- Reads its own tail.\n--\n-- unit: duration\n\
         SELECT recording, entity, type, NULL AS core, NULL AS instance, samples AS value, 0 AS at FROM tails('Own')\n",
    );
    let own = bench.run(&["query", "engine.db", "SELECT * FROM tails('Own')", "--sql-path", "sql"]);
    assert_eq!(own.code, Some(2), "{}", own.all());
    assert!(own.all().contains("reads its own rows"), "{}", own.all());
    let sql = "SELECT entity, samples FROM tails('BoundRatio') ORDER BY 1 LIMIT 1";
    let run = bench.ok(&["query", "engine.db", sql, "--sql-path", "sql"]);
    assert_eq!(run.stdout, "entity,samples\nCore_0.EE_TC_iirq_handler,1");
}

#[test]
fn a_statement_that_needs_no_rows_makes_none() {
    let bench = Bench::engine();
    let begun = Instant::now();
    let plan = csv(&bench, "engine.db", "EXPLAIN SELECT * FROM tail");
    assert!(plan.contains("StreamingTableExec"), "{plan}");
    assert!(csv(&bench, "engine.db", "DESCRIBE response_bound").contains("min_distance"));
    assert_eq!(csv(&bench, "engine.db", "SELECT count(*) AS n FROM tail WHERE recording = 'x'"), "n\n0");
    assert!(begun.elapsed() < Duration::from_secs(120));
    let run = bench.run(&["query", "engine.db", "SELECT * FROM response_bound", "--memory-limit", "1KB"]);
    assert_eq!(run.code, Some(1), "{}", run.all());
}

#[test]
fn hostile_names_are_names() {
    let bench = Bench::new();
    let name = "it's \"x\"; --";
    let mut text = "#version 2.2.1\n#creator test\n#timeScale ns\n".to_owned();
    for n in 0..5 {
        for (at, action) in [(0, "activate"), (0, "start"), (20, "terminate")] {
            let source = if action == "activate" { "Timer" } else { "Core'0" };
            text += &format!("{},{source},0,T,T'\u{1b}[2J\"%,{n},{action}\n", at + n * 100);
        }
    }
    bench.write("names.btf", text);
    bench.ok(&["ingest", "n.db", "names.btf", "--name", name, "-q"]);
    let sql = "SELECT recording, process, bound FROM response_bound WHERE recording = 'it''s \"x\"; --'";
    let rows = json(&bench.ok(&["query", "n.db", sql, "--format", "json"]));
    assert_eq!((&rows[0]["recording"], &rows[0]["bound"]), (&Value::from(name), &Value::from(20)));
    assert_eq!(rows[0]["process"], Value::from("T'\u{1b}[2J\"%"));
    for sql in ["SELECT * FROM tails('x'' OR 1=1 --\u{1b}[2J')", "SELECT * FROM regressions('%', 'it''s')"] {
        let run = bench.run(&["query", "n.db", sql]);
        assert!(run.code.is_some_and(|code| code > 0) && !run.all().contains('\u{1b}'), "{}", run.all());
    }
}
