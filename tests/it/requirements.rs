//! `check --requirements`: a kept and a violated requirement of each kind, the reports, and mistakes in the
//! file.

use crate::support::{Bench, root};

fn engine() -> Bench {
    let bench = Bench::new();
    bench.demo();
    bench.ok(&["ingest", "engine.db", "recording", "-q"]);
    bench
}

/// One of each kind, with bounds that the recording misses.
const VIOLATED: &str = r#"
[[limit]]
name = "T_4 answers"
metric = "ResponseTime"
entity = "T_4"
lower = "800us"
upper = "2ms"
[[limit]]
metric = "Preemptions"
entity = "T_5"
statistic = "max"
upper = 0
[[deadline]]
entity = "T_5"
deadline = "2.5ms"
[[period]]
entity = "T_2"
period = "10ms"
jitter = "1ms"
[[load]]
window = "5ms"
step = "1ms"
upper = 40
[[chain]]
name = "T_2 to T_4"
steps = [
    { entity = "SIG_3", action = "write", source = "T_2" },
    { entity = "SIG_3", action = "read", source = "T_4" },
]
reaction = "10ms"
age = "60ms"
lost = 0
repeated = 0
[[synchronisation]]
name = "T_2 with T_3"
tolerance = "1us"
events = [{ entity = "T_2", action = "activate" }, { entity = "T_3", action = "activate" }]
"#;

fn check(bench: &Bench, format: &str) -> crate::support::Run {
    bench.run(&["check", "engine.db", "--requirements", "limits.toml", "--format", format])
}

#[test]
fn requirements_that_are_kept_exit_with_0() {
    let bench = engine();
    bench.write("limits.toml", std::fs::read(root().join("demo/limits.toml")).unwrap());
    insta::assert_snapshot!(check(&bench, "table").all());
}

#[test]
fn requirements_that_are_violated_exit_with_3() {
    let bench = engine();
    bench.write("limits.toml", VIOLATED);
    insta::assert_snapshot!("violated_table", check(&bench, "table").all());
    insta::assert_snapshot!("violated_junit", check(&bench, "junit").all());
    let json = check(&bench, "json");
    let outcomes: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    let outcomes = outcomes.as_array().unwrap();
    let violated = outcomes.iter().filter(|o| o["verdict"] == "violated").count();
    assert_eq!((outcomes.len(), violated), (13, 9));
    for outcome in outcomes.iter().filter(|o| o["verdict"] == "violated") {
        assert!(outcome["margin"].as_f64().unwrap() < 0.0, "{outcome}");
    }
}

#[test]
fn mistakes_are_errors_with_a_suggestion() {
    let bench = engine();
    let mut all = String::new();
    for (from, to) in [
        ("\"T_4\"\nlower", "\"T4\"\nlower"),
        ("ResponseTime", "ResponceTime"),
        ("\"max\"", "\"mx\""),
        ("window", "windw"),
        ("\"2ms\"", "\"2 parsec\""),
        ("SIG_3\", action = \"write\"", "SIG3\", action = \"write\""),
        ("action = \"write\"", "action = \"wrote\""),
        ("source = \"T_4\"", "source = \"T_5\""),
        ("window = \"5ms\"", "window = \"5s\""),
        ("{ entity = \"T_2\", action = \"activate\" },", ""),
        ("[[synchronisation]]", "[[synchronization]]"),
    ] {
        assert!(VIOLATED.contains(from), "{from}");
        bench.write("limits.toml", VIOLATED.replace(from, to));
        all.push_str(&format!("== {from:?} -> {to:?}\n{}\n", check(&bench, "table").all()));
    }
    bench.write("limits.toml", VIOLATED.replace("[[load]]", "[[load]]\ncore = \"Core_7\""));
    all.push_str(&check(&bench, "table").all());
    all.push_str(&bench.run(&["check", "engine.db", "--format", "junit"]).all());
    insta::assert_snapshot!(all);
}

#[test]
fn chains_are_a_table_and_metrics() {
    let bench = engine();
    bench.write("limits.toml", VIOLATED);
    bench.write("no_chains.toml", "[[deadline]]\nentity = \"T_5\"\ndeadline = 1\n");
    let outcomes = "SELECT outcome, count(*) AS n, min(age) AS youngest, max(reaction) AS slowest \
                    FROM chain_instance GROUP BY outcome ORDER BY outcome";
    let first = "SELECT begin_at, end_at, age, reaction, outcome, step_at FROM chain_instance ORDER BY begin_at, end_at LIMIT 4";
    let chains = ["--chains", "limits.toml"];
    let mut all = String::new();
    for sql in [outcomes, first] {
        all.push_str(
            &bench.run(&[&["query", "engine.db", sql, "--format", "json"], &chains[..]].concat()).all(),
        );
    }
    let metrics = ["metrics", "engine.db", "ChainReaction", "ChainAge", "ChainLost", "ChainRepeated"];
    all.push_str(&bench.run(&[&metrics, &chains[..]].concat()).all());
    all.push_str(&bench.run(&metrics).all());
    all.push_str(&bench.run(&["metrics", "engine.db", "--chains", "no_chains.toml"]).all());
    insta::assert_snapshot!(all);
}
