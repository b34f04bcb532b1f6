//! Are the task events of TRACE32 those of the recordings that they were exported from?

use super::{Ingested, ingested, none};
use std::path::PathBuf;

/// The source of an activation, and how runnables leave the core with their process, are not in the export;
/// what it does not show, the recording behind it may.
fn comparable(line: &str) -> String {
    let line = line.strip_suffix(",unseen").unwrap_or(line);
    let fields: Vec<&str> = line.split(',').collect();
    match fields[..] {
        [time, _, _, kind, target, instance, action @ "activate"] => {
            [time, "", "", kind, target, instance, action].join(",")
        }
        _ => line.to_owned(),
    }
}

#[test]
fn task_events_are_the_events_of_the_recordings_behind_them() {
    let Some(root) = std::env::var_os("BTFDB_CORPUS") else {
        eprintln!("skipped: BTFDB_CORPUS is not set");
        return;
    };
    let mut problems = Vec::new();
    for name in ["app2", "r01"] {
        let folder = PathBuf::from(&root).join("trace32/taskevents").join(name);
        let of_bench = tempfile::tempdir().unwrap();
        let core = |n: u8| {
            let file = format!("core{n}_taskevents.csv");
            std::fs::copy(folder.join(&file), of_bench.path().join(&file)).unwrap();
            format!("[[core]]\nname = \"Core_{n}\"\nfunctions = \"{file}\"\n")
        };
        let description = format!("name = \"{name}\"\n{}{}", core(0), core(1));
        std::fs::write(of_bench.path().join("recording.toml"), description).unwrap();
        let found: Ingested = ingested(of_bench.path(), 2);
        let text = std::fs::read_to_string(folder.join("expected.btf")).unwrap();
        let mut expected: Vec<String> =
            text.lines().filter(|line| !line.starts_with('#')).map(comparable).collect();
        let mut lines: Vec<String> = found.events().iter().map(|event| comparable(&event.line())).collect();
        assert!(expected.len() > 300, "{name}");
        // At one instant, the cores are in no order.
        let time = |line: &String| line.split(',').next().and_then(|t| t.parse::<i64>().ok());
        for all in [&mut expected, &mut lines] {
            all.sort_by_key(|line| (time(line), line.clone()));
        }
        let pairs = expected.iter().zip(&lines).filter(|(expected, found)| expected != found);
        problems.extend(pairs.map(|(expected, found)| format!("{name}: {expected} but {found}")));
        if expected.len() != lines.len() {
            problems.push(format!("{name}: {} events, not {}", lines.len(), expected.len()));
        }
    }
    none("task events", &problems);
}
