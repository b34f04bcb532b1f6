//! Models that are derived from recordings: simulated, they do what was recorded. Activations of each
//! task are the same in number, response times and loads nearly so.

use crate::corpus::{corpus, none};
use crate::support::{Bench, root};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

/// How far the mean response time of a task, and the load of a core, may be off, in percent.
const MOST_OFF: [f64; 2] = [5.0, 1.0];

/// Of each name, a number.
fn numbers(bench: &Bench, database: &str, sql: &str) -> BTreeMap<String, f64> {
    let run = bench.ok(&["query", database, sql, "--format", "csv"]);
    let rows = run.stdout.lines().skip(1).map(|line| line.split_once(',').unwrap());
    rows.map(|(name, number)| (name.to_owned(), number.parse().unwrap())).collect()
}

/// Derives a model of what is in `database`, simulates it, and says what is not alike.
fn unlike(bench: &Bench, database: &str, name: &str) -> Vec<String> {
    bench.ok(&["model", database, "-o", "model.toml", "--force", "-q"]);
    bench.ok(&["simulate", "model.toml", "-o", "again", "--force", "-q"]);
    bench.ok(&["ingest", "again.db", "again/reference.btf", "-q"]);
    let mut unlike = Vec::new();
    let both = |sql: &str| [database, "again.db"].map(|database| numbers(bench, database, sql));
    let sql = "SELECT target, count(*) FROM btf_event
               WHERE target_type = 'T' AND action = 'activate' GROUP BY target";
    let [recorded, again] = both(sql);
    if recorded != again || recorded.is_empty() {
        unlike.push(format!("{name}: activations {recorded:?} are {again:?}"));
    }
    let response = "SELECT process, avg(terminate_at - activate_at) FROM process_instance
                    WHERE type = 'T' AND complete GROUP BY process";
    let load = "SELECT core, sum(end_at - begin_at) FROM process_state
                WHERE state IN ('running', 'polling') AND NOT idle GROUP BY core";
    for (sql, most) in [response, load].into_iter().zip(MOST_OFF) {
        let [recorded, again] = both(sql);
        for (entity, value) in &recorded {
            let other = again.get(entity).copied().unwrap_or_default();
            let off = if *value > 0.0 { (other - value) / value * 100.0 } else { other };
            if off.abs() > most {
                unlike.push(format!("{name}: {entity} {value} is {other}, {off:.2} % off"));
            }
        }
        assert!(!recorded.is_empty(), "{name}");
    }
    unlike
}

#[test]
fn models_of_recordings_do_what_was_recorded() {
    let Some(recordings) = corpus() else { return };
    let mut all = Vec::new();
    for recording in recordings {
        let bench = Bench::new();
        bench.ok(&["ingest", "recorded.db", recording.folder.to_str().unwrap(), "-q"]);
        all.extend(unlike(&bench, "recorded.db", &recording.name));
    }
    none("models of recordings", &all);
}

#[test]
fn models_of_the_demo_and_of_simulations_do_what_was_recorded() {
    let bench = Bench::new();
    bench.ok(&["ingest", "recorded.db", root().join("demo/recording").to_str().unwrap(), "-q"]);
    let mut all = unlike(&bench, "recorded.db", "demo");
    for model in ["runnable_signal", "event", "resource_poll_parking", "resource_release_parking", "mta"] {
        let bench = Bench::new();
        let path = root().join(format!("models/thesis/task_{model}.toml"));
        bench.ok(&["simulate", path.to_str().unwrap(), "-o", "sim", "-q"]);
        bench.ok(&["ingest", "recorded.db", "sim/reference.btf", "-q"]);
        all.extend(unlike(&bench, "recorded.db", model));
        let derived = fs::read_to_string(bench.path().join("model.toml")).unwrap();
        assert!(derived.contains("period = \"10ms\"") && derived.contains("offset = \"10ms\""), "{derived}");
    }
    none("models of simulations", &all);
}

/// Where words are lost, and at a gap, events keep the rules of BTF that nobody saw: they are no executions.
#[test]
fn what_was_not_recorded_is_no_execution() {
    let bench = Bench::new();
    let folder = root().join("tests/data/hooks/microsar");
    bench.ok(&["ingest", "recorded.db", folder.to_str().unwrap(), "-q"]);
    let model = bench.ok(&["model", "recorded.db", "-q"]).stdout;
    // Of T_A, each instance lacks its begin or its end; of T_B, the first one is whole.
    assert_eq!(model.matches("no execution was seen from its begin to its end").count(), 1, "{model}");
}

/// Releases of real threads, whose period is in the name of the file (LiME); offset and jitter are those
/// of its reference.
#[test]
fn periods_of_real_threads_are_found() {
    let Some(corpus) = std::env::var_os("BTFDB_CORPUS").map(PathBuf::from) else { return };
    let folder = corpus.join("lime");
    let expected: Value = serde_json::from_slice(&fs::read(folder.join("expected.json")).unwrap()).unwrap();
    let expected = expected.as_object().unwrap();
    assert_eq!(expected.len(), 12);
    for (name, expected) in expected {
        let text = fs::read_to_string(folder.join("periodic").join(name)).unwrap();
        let mut btf = "#version 2.1.5\n#creator LiME\n#timeScale ns\n".to_owned();
        for (n, line) in text.lines().enumerate() {
            let at: i64 = line.split(',').next().unwrap().parse().unwrap();
            let end = at + 1000;
            btf.push_str(&format!(
                "{at},SIM,-1,STI,S,{n},trigger\n{at},S,{n},T,X,{n},activate\n{at},C,0,T,X,{n},start\n{end},C,0,T,X,{n},terminate\n"
            ));
        }
        let bench = Bench::new();
        bench.write("lime.btf", btf);
        let model = bench.ok(&["model", "lime.btf", "-q"]).stdout;
        let period = expected["period_in_name"].as_i64().unwrap();
        assert_eq!(period % 1_000_000, 0);
        let jitter = expected["periodic_model"]["jitter"].as_i64().unwrap();
        let jitter = format!("# jitter {}.{:03}us:", jitter / 1000, jitter % 1000);
        let jitter = jitter.replace("0us:", "us:").replace("0us:", "us:");
        let period = format!("# period {}ms:", period / 1_000_000);
        assert!(model.contains(&period) && model.contains(&jitter), "{name}: {period} {jitter}\n{model}");
    }
}
