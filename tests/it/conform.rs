//! What btfdb writes, it accepts: every recording, and every export of it in every version of BTF, keeps all
//! rules that `check` has, and what a version cannot express is counted and stands in a comment. Not for the
//! rules (see `judge` and the unit tests of `check`).

use crate::qnx::{RELEASES, trace};
use crate::support::{Bench, copy_dir, root};
use std::path::{Path, PathBuf};

const VERSIONS: [Option<&str>; 4] = [None, Some("2.1.5"), Some("2.2.1"), Some("2.3.0")];

/// The violations that are not merely worth knowing, a line each.
fn faults(bench: &Bench, what: &str, version: Option<&str>) -> Vec<String> {
    let mut args = vec!["check", what, "--format", "json", "--severity", "warning"];
    args.extend(version.iter().flat_map(|version| ["--btf-version", version]));
    let run = bench.run(&args);
    let reports: serde_json::Value =
        serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{}", run.all()));
    let findings = reports.as_array().unwrap().iter().flat_map(|r| r["findings"].as_array().unwrap());
    let bad = findings.filter(|finding| finding["severity"] != "info");
    let shown = |f: &serde_json::Value| format!("{} ×{}: {}", f["rule"], f["count"], f["first"][0]);
    let found: Vec<String> = bad.map(shown).collect();
    assert_eq!(run.code == Some(0), found.is_empty(), "{}", run.all());
    found
}

/// The number in a warning of `export` that has these words; 0 without such a warning.
fn counted(stderr: &str, words: &str) -> usize {
    let line = stderr.lines().find(|line| line.contains(words));
    let number = line.and_then(|line| line.split_whitespace().find_map(|word| word.parse().ok()));
    assert!(line.is_none() || number.is_some(), "{stderr}");
    number.unwrap_or(0)
}

/// Checks the only recording of `t.db` and all that is exported from it. Returns what is wrong, and how many
/// events the export without a version cannot express.
fn conforms(bench: &Bench, name: &str) -> (Vec<String>, usize) {
    let mut wrong = Vec::new();
    let mut note = |part: &str, found: Vec<String>| {
        wrong.extend(found.into_iter().map(|fault| format!("{name} {part}: {fault}")));
    };
    let rows = bench.ok(&["query", "t.db", "SELECT count(*) FROM btf_event", "--format", "csv"]).stdout;
    let rows: usize = rows.lines().nth(1).unwrap().parse().unwrap();
    let mut lost_by_default = 0;
    // A file has the version that it names.
    let imported = name.ends_with(".btf");
    for version in VERSIONS {
        let label = version.unwrap_or("default");
        if !imported || version.is_none() {
            note(&format!("as {label}"), faults(bench, "t.db", version));
        }
        let options: Vec<&str> = version.iter().flat_map(|version| ["--btf-version", version]).collect();
        let export = ["export", "t.db", "-o", "t.btf", "--force"];
        let run = bench.ok(&[&export[..], &options].concat());
        note(&format!("exported as {label}"), faults(bench, "t.btf", None));
        // Every row is a line, or is counted and stands in a comment.
        let text = std::fs::read_to_string(bench.path().join("t.btf")).unwrap();
        let lines = text.lines().filter(|line| !line.starts_with('#')).count();
        let lost = counted(&run.stderr, "lines cannot be said");
        assert_eq!(lines + lost, rows, "{name} {label}\n{}", run.stderr);
        let partly = counted(&run.stderr, "lines cannot be complete");
        let is_event = |line: &&str| {
            let fields: Vec<&str> = line.strip_prefix("# ").unwrap_or_default().split(',').collect();
            fields.len() >= 7 && fields[0].parse::<i64>().is_ok()
        };
        assert_eq!(text.lines().filter(is_event).count(), lost + partly, "{name} {label}");
        if version.is_none() {
            lost_by_default = lost;
        }
    }
    // An instance ends with its lock there, which is not seen without the events of tasks (rule S10).
    let ends_with_lock = |part: &[&str]| name.ends_with("erika2/fall_off") && part.contains(&"SEM,SIG");
    for part in PARTS.iter().filter(|part| !ends_with_lock(part)) {
        let run = bench.run(&[&["export", "t.db", "-o", "t.btf", "--force"][..], part].concat());
        // Not every recording has locks or signals, or processes.
        if run.code == Some(2) && run.stderr.contains("the recording has no event of type ") {
            continue;
        }
        assert_eq!(run.code, Some(0), "{name} {part:?}\n{}", run.stderr);
        note(&format!("exported with {part:?}"), faults(bench, "t.btf", None));
    }
    (wrong, lost_by_default)
}

/// A gap is a comment of its own, after which nothing is known of its core.
#[test]
fn events_on_both_sides_of_a_gap_keep_the_rules() {
    let bench = bench(&root().join("tests/data/erika2/gap")).unwrap();
    bench.ok(&["export", "t.db", "-o", "t.btf"]);
    let text = std::fs::read_to_string(bench.path().join("t.btf")).unwrap();
    let gaps = bench.ok(&["query", "t.db", "SELECT count(*) FROM gap", "--format", "csv"]).stdout;
    let comments = text.lines().filter(|line| line.starts_with("# gap of Core_")).count();
    assert_eq!(gaps.lines().nth(1), Some(comments.to_string().as_str()));
    assert_eq!(faults(&bench, "t.btf", None), Vec::<String>::new());
    // Without them the trace contradicts itself.
    let without: Vec<&str> = text.lines().filter(|line| !line.starts_with("# gap of ")).collect();
    bench.write("without.btf", without.join("\n"));
    assert!(!faults(&bench, "without.btf", None).is_empty());
}

/// Instances begin and end in gaps; their numbers go on behind them.
#[test]
fn numbers_of_instances_go_on_behind_a_gap() {
    let bench = Bench::new();
    let line = |time: i64, source: &str, n: i64, action: &str| format!("{time},{source},0,T,A,{n},{action}");
    let event = |time, n, action| line(time, "Core_0", n, action);
    let mut lines =
        vec!["#version 2.2.1".to_owned(), "#timescale ns".to_owned(), line(1, "S", 0, "activate")];
    lines.extend([event(2, 0, "start"), event(3, 0, "terminate")]);
    let gap = "# gap of Core_0: fifo overflow, from 3 to 9 ns".to_owned();
    // Instance 4 was activated in the gap, and starts behind the activation of the next one.
    let behind = [line(10, "S", 5, "activate"), event(11, 4, "start"), event(12, 4, "terminate")];
    let go_on = [event(13, 5, "start"), event(14, 5, "terminate"), line(15, "S", 6, "activate")];
    bench.write("without.btf", [&lines[..], &behind, &go_on].concat().join("\n"));
    lines.push(gap);
    bench.write("with.btf", [&lines[..], &behind, &go_on].concat().join("\n"));
    assert_eq!(faults(&bench, "with.btf", None), Vec::<String>::new());
    assert!(!faults(&bench, "without.btf", None).is_empty());
}

/// What runs behind a gap may have begun before it, and a gap of another core says nothing of it.
#[test]
fn what_a_gap_hides_breaks_no_rule() {
    let bench = Bench::new();
    let head = "#version 2.1.5\n#creator x\n#creationDate 2026-01-01T00:00:00Z\n#timeScale ns\n\
                10,SIM,-1,STI,S,0,trigger\n10,S,0,T,A,0,activate\n20,Core_0,0,T,A,0,start\n";
    let gap = |core: &str, begin: i64| {
        let end = begin + 2;
        format!("# gap of {core}: target fifo overflow, from {begin} to {end} ns\n")
    };
    let (r, end) =
        (|time: i64, action: &str| format!("{time},A,0,R,R1,0,{action}\n"), "70,Core_0,0,T,A,0,terminate\n");
    let runnable = [gap("Core_0", 40), r(60, "start"), r(65, "terminate")].concat();
    let other_core = [gap("Core_0", 40), r(60, "start"), gap("Core_1", 61), r(65, "terminate")].concat();
    let lock = "5,L,0,SEM,L,0,ready\n";
    let requests = "22,A,0,SEM,L,0,requestsemaphore\n23,L,0,SEM,L,0,lock\n23,A,0,SEM,L,0,assigned\n";
    let held =
        "50,A,0,SEM,L,0,released\n50,L,0,SEM,L,0,unlock\n55,L,0,SEM,L,0,lock\n55,A,0,SEM,L,0,assigned\n";
    let semaphore = [requests, &gap("Core_1", 40), held].concat();
    for (n, middle) in [runnable, other_core, semaphore].iter().enumerate() {
        let (before, after) = head.split_at(head.find("10,SIM").unwrap());
        bench.write("t.btf", [before, lock, after, middle, end].concat());
        assert_eq!(faults(&bench, "t.btf", None), Vec::<String>::new(), "{n}");
    }
    // Where no process is known, runnables of two cores overlap.
    let of_nobody =
        |time: i64, runnable: &str, action: &str| format!("{time},SIM,-1,R,{runnable},0,{action}\n");
    let overlapping =
        [("R1", "start", 60), ("R2", "start", 61), ("R1", "terminate", 62), ("R2", "terminate", 63)];
    let overlapping = overlapping.map(|(runnable, action, time)| of_nobody(time, runnable, action)).concat();
    bench.write("t.btf", [head, &overlapping, end].concat());
    assert_eq!(faults(&bench, "t.btf", None), Vec::<String>::new());
    // Without the gap, the second assignment lacks a request.
    bench.write("t.btf", [head, requests, held, end].concat());
    assert!(!faults(&bench, "t.btf", None).is_empty());
}

/// Parts of a recording that keep the rules as the whole does.
const PARTS: [&[&str]; 5] = [
    &["--numeric"],
    &["--time-scale", "ps"],
    &["--type", "T,I"],
    &["--type", "T,I,R,STI"],
    &["--type", "SEM,SIG"],
];

/// Recordings of this project: folders with a description, and files.
fn own() -> Vec<PathBuf> {
    let mut all = vec![root().join("demo/recording")];
    for folder in ["osek", "erika2", "hooks"] {
        let folders = std::fs::read_dir(root().join("tests/data").join(folder)).unwrap();
        all.extend(folders.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()));
    }
    for file in ["grasp/control.grasp", "qnx/services.txt", "btf/library.btf", "btf/metrics.btf"] {
        all.push(root().join("tests/data").join(file));
    }
    all.sort();
    all
}

/// Ingests a file or a folder.
fn bench(input: &Path) -> Option<Bench> {
    let bench = Bench::new();
    let input = match input.is_dir() {
        true => {
            copy_dir(input, &bench.path().join("recording"));
            "recording".to_owned()
        }
        false => input.to_str().unwrap().to_owned(),
    };
    let run = bench.run(&["ingest", "t.db", &input, "-q"]);
    (run.code == Some(0)).then_some(bench)
}

/// A description with each of its cores alone, where it has several.
fn each_core(description: &str) -> Vec<String> {
    let mut parts = description.split("[[core]]");
    let head = parts.next().unwrap_or_default();
    let cores: Vec<_> = parts.map(|core| format!("{head}[[core]]{core}")).collect();
    // A Profiler XML needs the ORTI file of one of them.
    if cores.len() > 1 && !head.contains("hook_profile") { cores } else { Vec::new() }
}

#[test]
fn a_core_without_the_others_keeps_the_rules() {
    let (mut wrong, mut tried) = (Vec::new(), 0);
    for folder in own().into_iter().filter(|path| path.join("recording.toml").exists()) {
        let description = std::fs::read_to_string(folder.join("recording.toml")).unwrap();
        for (n, alone) in each_core(&description).into_iter().enumerate() {
            let bench = Bench::new();
            copy_dir(&folder, &bench.path().join("recording"));
            std::fs::write(bench.path().join("recording/recording.toml"), alone).unwrap();
            let name = format!("{} core {n}", folder.strip_prefix(root()).unwrap().display());
            let run = bench.run(&["ingest", "t.db", "recording", "-q"]);
            assert_eq!(run.code, Some(0), "{name}: {}", run.stderr);
            let check = bench.run(&["check", "t.db"]);
            if check.code != Some(0) {
                wrong.push(format!("{name}:\n{}", check.stdout));
            }
            tried += 1;
        }
    }
    assert!(tried > 10, "{tried}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The recording of the demo, with this added to its times.
fn demo_later_by(offset: &str) -> Bench {
    let bench = Bench::new();
    copy_dir(&root().join("demo/recording"), &bench.path().join("recording"));
    let file = bench.path().join("recording/recording.toml");
    let description = std::fs::read_to_string(&file).unwrap();
    let core = format!("[[core]]\ntime_offset = \"{offset}\"");
    std::fs::write(&file, description.replace("[[core]]", &core)).unwrap();
    assert_eq!(bench.run(&["ingest", "t.db", "recording", "-q"]).code, Some(0));
    bench
}

#[test]
fn nothing_happens_before_a_recording_whose_clock_has_counted_for_long() {
    let bench = demo_later_by("1500ms");
    let first = bench.run(&[
        "query",
        "t.db",
        "SELECT min(time) = (SELECT begin_at FROM recording) FROM btf_event",
        "--format",
        "csv",
    ]);
    assert!(first.stdout.trim_end().ends_with("true"), "{}", first.stdout);
}

#[test]
fn times_below_zero_are_none_of_the_faults_of_a_recording() {
    let bench = demo_later_by("-1ms");
    let check = bench.run(&["check", "t.db"]);
    assert_eq!(check.code, Some(0), "{}", check.stdout);
    // Those of the export begin at 0.
    assert_eq!(conforms(&bench, "a recording with an offset").0, Vec::<String>::new());
}

#[test]
fn own_recordings_and_their_exports_keep_the_rules() {
    let mut wrong = Vec::new();
    for input in own() {
        let name = input.strip_prefix(root()).unwrap().display().to_string();
        let bench = bench(&input).unwrap_or_else(|| panic!("{name} is not ingested"));
        let (found, _) = conforms(&bench, &name);
        wrong.extend(found);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn kernel_traces_and_their_exports_keep_the_rules() {
    let mut wrong = Vec::new();
    let options: [&[&str]; 4] = [&[], &["--jobs", "RECEIVE,NANOSLEEP"], &["--overlay-irqs"], &["--idle"]];
    for (n, options) in options.into_iter().enumerate() {
        let release = RELEASES[n % RELEASES.len()];
        let (file, _) = trace(release, 32 << 10, |_| {});
        let bench = Bench::new();
        bench.write("t.kev", file);
        bench.ok(&[&["ingest", "t.db", "t.kev", "-q"], options].concat());
        wrong.extend(conforms(&bench, &format!("{release:?} {options:?}")).0);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn recordings_of_the_corpus_and_their_exports_keep_the_rules() {
    let Some(corpus) = std::env::var_os("BTFDB_CORPUS") else {
        eprintln!("BTFDB_CORPUS is not set: recordings of real systems were not checked");
        return;
    };
    let (mut wrong, mut any) = (Vec::new(), 0);
    for folder in ["ee", "qnx", "grasp", "trace32/taskevents"] {
        let Ok(entries) = std::fs::read_dir(Path::new(&corpus).join(folder)) else { continue };
        let mut inputs: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        inputs.sort();
        let of_a_kind = |path: &PathBuf| {
            let trace =
                path.extension().is_some_and(|e| ["kev", "grasp", "log"].iter().any(|known| e == *known));
            trace || path.join("recording.toml").is_file()
        };
        for input in inputs.into_iter().filter(of_a_kind) {
            let name = format!("{folder}/{}", input.file_name().unwrap().to_string_lossy());
            let bench = bench(&input).unwrap_or_else(|| panic!("{name} is not ingested"));
            let (found, lost) = conforms(&bench, &name);
            wrong.extend(found);
            // Nothing of a recording of OSEK is lost.
            assert!(folder != "ee" || lost == 0, "{name}: {lost} events are lost");
            any += 1;
        }
    }
    assert!(wrong.is_empty() && any > 0, "{}", wrong.join("\n"));
}

/// What an ISR causes whose name several cores share is said, as what other processes cause (rule I9).
#[test]
fn what_shared_handlers_cause_is_no_comment() {
    let bench = Bench::new();
    let toml = bench.demo().join("recording.toml");
    let text = std::fs::read_to_string(&toml).unwrap();
    std::fs::write(toml, text.replace("[\"R_1a\"", "[\"EE_as_rpc_handler\", \"R_1a\"")).unwrap();
    bench.ok(&["ingest", "t.db", "recording", "-q"]);
    let sql = "SELECT count(*) AS n FROM btf_event WHERE source = 'EE_TC_iirq_handler' AND target = 'EE_as_rpc_handler'";
    let caused = bench.ok(&["query", "t.db", sql, "--format", "csv"]).stdout;
    assert_ne!(caused.lines().nth(1), Some("0"));
    let (wrong, lost) = conforms(&bench, "handlers");
    assert_eq!((wrong, lost), (Vec::new(), 0));
    bench.ok(&["export", "t.db", "-o", "t.btf", "--force"]);
    bench.ok(&["export", "t.db", "--btf-version", "2.2.1", "-o", "new.btf"]);
    // What only the mapping tells is code outside of every process, which 2.2.1 cannot say.
    let differences = bench.run(&["compare", "t.db", "new.btf", "--level", "order"]).stdout;
    assert!(differences.contains("SIG_IDLE") && !differences.contains("EE_as_rpc_handler"), "{differences}");
    bench.ok(&["compare", "t.db", "t.btf", "--level", "order"]);
}
