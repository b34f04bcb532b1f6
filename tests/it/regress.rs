//! `btfdb regress`: simulated builds that are the same, slower, or other constants; gates; what it refuses.
//! Not the statistics (see `src/regress`).

use crate::support::{Bench, Run};
use serde_json::Value;
use std::fmt::Write as _;

/// One core, two tasks: T_High holds T_Low up. `filter` and `constant` are times of runnables of T_High.
fn model(filter: [&str; 2], constant: &str) -> String {
    let [mean, deviation] = filter;
    format!(
        r#"
duration = "3s"

[os]
access = "0ns"
dispatch = "200ns"
remote_call = "0ns"
timer_isr = false

[[core]]
name = "Core_0"

[[alarm]]
name = "A_High"
activate = "T_High"
period = "5ms"

[[alarm]]
name = "A_Low"
activate = "T_Low"
offset = "1ms"
period = "10ms"

[[task]]
name = "T_High"
core = "Core_0"
priority = 2
steps = [{{ call = "R_Filter" }}, {{ call = "R_Constant" }}, {{ terminate = true }}]

[[task]]
name = "T_Low"
core = "Core_0"
priority = 1
steps = [{{ call = "R_Low" }}, {{ terminate = true }}]

[[runnable]]
name = "R_Filter"
steps = [{{ execute = {{ normal = {{ mean = "{mean}", deviation = "{deviation}", min = "300us", max = "2ms" }} }} }}]

[[runnable]]
name = "R_Constant"
steps = [{{ execute = "{constant}" }}]

[[runnable]]
name = "R_Low"
steps = [{{ execute = {{ normal = {{ mean = "5ms", deviation = "100us", min = "4ms", max = "6ms" }} }} }}]
"#
    )
}

/// A build: T_High as it is, slower by 20 % in one runnable, or with another constant.
#[derive(Clone, Copy)]
enum Build {
    Same,
    Slow,
    Constant,
}

/// Simulates a build and ingests it into a database as `name`, with the label `build`.
fn record(bench: &Bench, database: &str, name: &str, build: Build, seed: u64) {
    let (text, label) = match build {
        Build::Same => (model(["500us", "25us"], "100us"), "build=41"),
        Build::Slow => (model(["600us", "30us"], "100us"), "build=42"),
        Build::Constant => (model(["500us", "25us"], "101us"), "build=43"),
    };
    let (file, folder, seed) = (format!("{name}.toml"), format!("{name}.sim"), seed.to_string());
    bench.write(&file, text);
    bench.ok(&["simulate", &file, "-o", &folder, "--seed", &seed]);
    let trace = format!("{folder}/reference.btf");
    bench.ok(&["ingest", database, &trace, "--name", name, "--label", label, "-q"]);
}

/// Recordings `a` and `b` of the same build with other seeds, and `slow` of one whose R_Filter is 20 %
/// slower.
pub fn fleet() -> Bench {
    let bench = Bench::new();
    record(&bench, "fleet.db", "a", Build::Same, 1);
    record(&bench, "fleet.db", "b", Build::Same, 2);
    record(&bench, "fleet.db", "slow", Build::Slow, 3);
    bench
}

fn json(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap()
}

/// The row of a metric, entity and statistic.
fn row<'v>(report: &'v Value, metric: &str, entity: &str, statistic: &str) -> &'v Value {
    let is =
        |row: &&Value| row["metric"] == metric && row["entity"] == entity && row["statistic"] == statistic;
    report["rows"].as_array().unwrap().iter().find(is).unwrap()
}

#[test]
fn a_run_with_another_seed_is_no_change() {
    let bench = fleet();
    let run = bench.ok(&["regress", "fleet.db", "a", "--against", "b", "--format", "json"]);
    let report = json(&run);
    assert_eq!(report["fails"], false);
    assert!(report["tests"].as_u64().unwrap() >= 6, "{}", run.stdout);
    let of = |entity| row(&report, "RunnableNetExecutionTime", entity, "mean")["verdict"].clone();
    assert_eq!(of("R_Constant"), "unchanged");
    // Whatever the order of the recordings, and of both sides.
    bench.ok(&["regress", "fleet.db", "b", "--against", "a"]);
}

/// T_Low comes as often as T_High and takes 5 ms of 5 ms: the core loses activations.
#[test]
fn a_run_of_an_overloaded_core_is_only_compared_by_what_runnables_execute() {
    let bench = Bench::new();
    for (name, filter, seed) in [("a", "500us", "1"), ("slow", "600us", "2")] {
        let (file, folder) = (format!("{name}.toml"), format!("{name}.sim"));
        bench.write(&file, model([filter, "25us"], "100us").replace("10ms", "5ms"));
        bench.ok(&["simulate", &file, "-o", &folder, "--seed", seed]);
        bench.ok(&["ingest", "fleet.db", &format!("{folder}/reference.btf"), "--name", name, "-q"]);
    }
    let run = bench.run(&["regress", "fleet.db", "a", "--against", "slow", "--format", "json"]);
    let report = json(&run);
    for (metric, entity) in
        [("ResponseTime", "T_Low"), ("ResponseTime", "T_High"), ("NetExecutionTime", "T_High")]
    {
        let row = row(&report, metric, entity, "mean");
        assert_eq!((&row["verdict"], &row["hindrance"]), (&"not enough data".into(), &"overloaded".into()));
    }
    let filter = row(&report, "RunnableNetExecutionTime", "R_Filter", "mean");
    assert_eq!((run.code, &filter["verdict"]), (Some(3), &"changed".into()), "{filter}");
}

/// Of the tasks of an overloaded core, T_A polls in R_A, and T_B computes in R_B.
#[test]
fn of_runnables_on_an_overloaded_core_those_that_poll_are_not_compared() {
    let bench = Bench::new();
    let mut text =
        "#version 2.2.1\n#creator test\n#creationDate 2026-01-01T00:00:00Z\n#timeScale us\n".to_owned();
    for instance in 0..200 {
        let begin = 1000 * instance;
        for (at, event) in [
            (0, format!("A,0,T,T_A,{instance},activate")),
            (0, format!("Core_0,0,T,T_A,{instance},start")),
            (10, format!("T_A,{instance},R,R_A,{instance},start")),
            (20, format!("T_A,{instance},SEM,S,0,requestsemaphore")),
            (20, format!("T_A,{instance},SEM,S,0,waiting")),
            (20, format!("Core_0,0,T,T_A,{instance},poll")),
            (40, format!("T_A,{instance},SEM,S,0,assigned")),
            (40, format!("Core_0,0,T,T_A,{instance},run")),
            (60 + instance % 5, format!("T_A,{instance},SEM,S,0,released")),
            (70 + instance % 5, format!("T_A,{instance},R,R_A,{instance},terminate")),
            (80, format!("A,0,T,T_A,{instance},mtalimitexceeded")),
            (95 + instance % 5, format!("Core_0,0,T,T_A,{instance},terminate")),
            (100, format!("A,0,T,T_B,{instance},activate")),
            (100, format!("Core_0,0,T,T_B,{instance},start")),
            (110, format!("T_B,{instance},R,R_B,{instance},start")),
            (150 + instance % 7, format!("T_B,{instance},R,R_B,{instance},terminate")),
            (200 + instance % 7, format!("Core_0,0,T,T_B,{instance},terminate")),
        ] {
            writeln!(text, "{},{event}", begin + at).unwrap();
        }
    }
    bench.write("polls.btf", text);
    for name in ["a", "b"] {
        bench.ok(&["ingest", "polls.db", "polls.btf", "--name", name, "-q"]);
    }
    let run = bench.ok(&["regress", "polls.db", "a", "--against", "b", "--format", "json"]);
    let report = json(&run);
    let hindrance =
        |metric, entity| row(&report, metric, entity, "mean")["hindrance"].as_str().map(str::to_owned);
    let overloaded = Some("overloaded".to_owned());
    assert_eq!(hindrance("NetExecutionTime", "T_A"), overloaded);
    assert_eq!(hindrance("NetExecutionTime", "T_B"), overloaded);
    assert_eq!(hindrance("RunnableNetExecutionTime", "R_A"), overloaded);
    assert_ne!(hindrance("RunnableNetExecutionTime", "R_B"), overloaded);
}

#[test]
fn a_slower_runnable_is_found_and_named_as_the_first_cause() {
    let bench = fleet();
    let run = bench.run(&["regress", "fleet.db", "a", "--against", "build=42", "--format", "json"]);
    assert_eq!(run.code, Some(3), "{}", run.all());
    let report = json(&run);
    assert_eq!((&report["before"], &report["after"]), (&Value::from(vec!["a"]), &Value::from(vec!["slow"])));
    let filter = row(&report, "RunnableNetExecutionTime", "R_Filter", "mean");
    assert_eq!((&filter["verdict"], &filter["basis"]), (&Value::from("changed"), &Value::from("blocks")));
    let percent = filter["percent"].as_f64().unwrap();
    assert!((19.0..21.0).contains(&percent), "{percent}");
    let (low, effect, high) = (&filter["low"], &filter["effect"], &filter["high"]);
    assert!(low.as_f64() < effect.as_f64() && effect.as_f64() < high.as_f64(), "{filter}");
    assert_ne!(row(&report, "RunnableNetExecutionTime", "R_Low", "mean")["verdict"], "changed");
    // The task that calls it, and the one that waits meanwhile.
    for entity in ["T_High", "T_Low"] {
        let response = row(&report, "ResponseTime", entity, "mean");
        let cause = &response["causes"][0];
        assert_eq!(response["verdict"], "changed", "{entity}");
        assert_eq!((&cause["entity"], &cause["name"]), (&Value::from("T_High"), &Value::from("R_Filter")));
        let share = cause["explains"].as_f64().unwrap() / response["effect"].as_f64().unwrap();
        assert!((0.7..1.3).contains(&share), "{entity}: {share}");
    }
    let execution = row(&report, "NetExecutionTime", "T_High", "mean");
    let cause = &execution["causes"][0];
    assert_eq!((&cause["entity"], &cause["name"]), (&Value::from("T_High"), &Value::from("R_Filter")));
    assert!(row(&report, "NetExecutionTime", "T_Low", "mean")["causes"].is_null());
    // Without BASE, all others are the build before.
    let code = |base: &[&str]| {
        let run =
            bench.run(&[&["regress", "fleet.db"], base, &["--against", "slow", "--format", "json"]].concat());
        (run.code, run.stdout)
    };
    let others = code(&[]);
    assert_eq!(others.0, Some(3));
    assert_eq!(others, code(&["build=41"]));
    assert_eq!(others, code(&["b", "a"]));
}

#[test]
fn reports_say_what_changed_and_how_little_is_known() {
    let bench = fleet();
    let compare = ["regress", "fleet.db", "a", "--against", "slow"];
    let run = bench.run(&compare);
    assert_eq!(run.code, Some(3));
    insta::assert_snapshot!("table", run.stdout);
    let run = bench.run(&[&compare[..], &["--format", "junit", "--metric", "ResponseTime"]].concat());
    assert_eq!(run.code, Some(3));
    insta::assert_snapshot!("junit", run.stdout);
}

/// Constants need no test: a difference is exact, and one that does not matter is none.
#[test]
fn constants_that_differ_did_change() {
    let bench = Bench::new();
    record(&bench, "old.db", "a", Build::Same, 1);
    record(&bench, "new.db", "b", Build::Constant, 2);
    let compare = ["regress", "old.db", "--against-db", "new.db", "--format", "json"];
    let run = bench.run(&compare);
    assert_eq!(run.code, Some(3), "{}", run.all());
    let report = json(&run);
    let constant = row(&report, "RunnableNetExecutionTime", "R_Constant", "mean");
    assert_eq!((&constant["basis"], &constant["p_value"]), (&Value::from("constants"), &Value::from(0.0)));
    assert_eq!((&constant["effect"], &constant["verdict"]), (&Value::from(1000.0), &Value::from("changed")));
    bench.write("gate.toml", "[smallest_change]\nmean = { time = \"2us\" }\np99 = { time = \"2us\" }\n");
    let only = ["--metric", "RunnableNetExecutionTime", "--entity", "R_Constant", "--gate", "gate.toml"];
    let run = bench.ok(&[&compare[..], &only].concat());
    assert_eq!(row(&json(&run), "RunnableNetExecutionTime", "R_Constant", "mean")["verdict"], "unchanged");
}

#[test]
fn a_gate_says_what_matters() {
    let bench = fleet();
    let code = |gate: &str, sides: [&str; 2]| {
        bench.write("gate.toml", gate);
        let [before, after] = sides;
        bench.run(&["regress", "fleet.db", before, "--against", after, "--gate", "gate.toml"]).code
    };
    assert_eq!(code("", ["a", "slow"]), Some(3));
    // Faster is no failure in one direction.
    assert_eq!(code("direction = \"greater\"\n", ["slow", "a"]), Some(0));
    assert_eq!(code("direction = \"either\"\n", ["slow", "a"]), Some(3));
    assert_eq!(code("direction = \"greater\"\n", ["a", "slow"]), Some(3));
    let large = "[smallest_change]\nmean = { percent = 40 }\np99 = { percent = 40 }\n";
    assert_eq!(code(large, ["a", "slow"]), Some(0));
    let other = "metrics = [\"RunnableNetExecutionTime\"]\nentities = [\"R_Low\", \"R_C*\"]\n";
    assert_eq!(code(other, ["a", "slow"]), Some(0));
    assert_eq!(code(&other.replace("R_Low", "R_Filter"), ["a", "slow"]), Some(3));
}

#[test]
fn a_history_has_the_recording_from_which_on_it_is_another_one() {
    let bench = Bench::new();
    for (n, build) in
        [Build::Same, Build::Same, Build::Same, Build::Constant, Build::Constant].iter().enumerate()
    {
        // The names are in another order than the recordings came.
        record(&bench, "fleet.db", &format!("night{}", 9 - n), *build, n as u64);
    }
    let asked = ["regress", "fleet.db", "--history", "RunnableNetExecutionTime:R_Constant"];
    let run = bench.ok(&asked);
    assert!(run.stdout.contains("\nfrom night6 on: 101 us instead of 100 us (p = 0.0000;"), "{}", run.stdout);
    let found = json(&bench.ok(&[&asked[..], &["--format", "json"]].concat()));
    assert_eq!(found["recordings"].as_array().unwrap().len(), 5);
    assert_eq!(found["changes"][0]["recording"], "night6");
    let run = bench.ok(&["regress", "fleet.db", "--history", "RunnableNetExecutionTime:R_Low"]);
    assert!(run.stdout.ends_with("\nno change is shown"), "{}", run.stdout);
    let run = bench.run(&["regress", "fleet.db", "build=41", "--history", "ResponseTime:T_Low"]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("3 recordings have samples"), "{}", run.stderr);
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let bench = fleet();
    bench.write("key.toml", "alpha = 0.01\nmetric = [\"ResponseTime\"]\n");
    bench.write("word.toml", "statistics = [\n  \"mean\",\n  \"median\",\n]\n");
    bench.write("alpha.toml", "alpha = 1\n");
    bench.write("time.toml", "[smallest_change]\nmean = { time = \"fast\" }\n");
    let mut all = String::new();
    for args in [
        "a",
        "a --against a",
        "a --against c",
        "* --against slow",
        "--against *",
        "build=41 --against build=44",
        "a --against slow --metric ResponseTimes",
        "a --against slow --metric CPULoad",
        "a --against slow --metric Preemptions",
        "a --against slow --entity T_Hi",
        "a --against slow --gate key.toml",
        "a --against slow --gate word.toml",
        "a --against slow --gate alpha.toml",
        "a --against slow --gate time.toml",
        "a --against slow --gate none.toml",
        "--history ResponseTime",
        "--history ResponseTime:T_Low",
    ] {
        let words: Vec<&str> = ["regress", "fleet.db"].into_iter().chain(args.split(' ')).collect();
        let run = bench.run(&words);
        assert_eq!(run.stdout, "", "{args}");
        all += &format!("$ btfdb regress fleet.db {args}\nexit {}\n{}\n\n", run.code.unwrap(), run.stderr);
    }
    insta::assert_snapshot!("refused", all);
}
