//! Timing models: what a simulated system does is what its recording says after it was ingested and
//! mapped, event for event, also as a generic OSEK system; the models of the thesis have the figures of its
//! tables.

use crate::support::{Bench, root};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Simulates a model of the repository as `sim`.
fn simulated(bench: &Bench, model: &str, args: &[&str]) -> String {
    let model = root().join(model);
    let run = bench.ok(&[&["simulate", model.to_str().unwrap(), "-o", "sim"], args].concat());
    run.stderr
}

/// Ingests its recording, and compares it with the reference, which must be the same.
#[track_caller]
fn recording_is_reference(bench: &Bench, model: &str) {
    let run = bench.ok(&["ingest", "sim.db", "sim/recording"]);
    let odd: Vec<&str> =
        run.stderr.lines().filter(|l| l.contains("warning") && !l.contains("core-ends-earlier")).collect();
    assert!(odd.is_empty(), "{model}: {odd:?}");
    let run = bench.run(&["compare", "sim/reference.btf", "sim.db", "--level", "exact"]);
    assert_eq!(run.code, Some(0), "{model}: {}", run.all());
    // So is what export writes, whatever the version is that says it best.
    bench.ok(&["export", "sim.db", "-o", "sim.btf"]);
    let run = bench.run(&["compare", "sim.btf", "sim.db", "--level", "exact"]);
    assert_eq!(run.code, Some(0), "{model}: {}", run.all());
    let said = bench.ok(&["check", "sim/reference.btf"]).all();
    assert!(said.contains(": 0 errors, 0 warnings"), "{model}: {said}");
}

fn models(folder: &str) -> Vec<String> {
    let files = fs::read_dir(root().join(folder)).unwrap().map(|file| file.unwrap().file_name());
    let mut names: Vec<String> = files.map(|name| format!("{folder}/{}", name.to_str().unwrap())).collect();
    names.sort();
    names
}

#[test]
fn recordings_of_models_are_mapped_to_what_happened() {
    let all = models("tests/data/models");
    assert!(all.len() >= 2, "{all:?}");
    for model in all {
        let bench = Bench::new();
        simulated(&bench, &model, &[]);
        recording_is_reference(&bench, &model);
    }
}

#[test]
fn generic_recordings_of_models_are_mapped_to_what_happened() {
    // The trace does not tell by whom an event is that crosses a call.
    let all = models("tests/data/models");
    for model in all.iter().filter(|model| !model.contains("crossing")) {
        let bench = Bench::new();
        simulated(&bench, model, &["--os", "osek"]);
        recording_is_reference(&bench, model);
    }
}

#[test]
fn recordings_of_every_shape_are_mapped_to_what_happened() {
    for shape in ["thesis", "header", "bare", "quoted", "units", "spreadsheet", "listing", "decimal"] {
        let bench = Bench::new();
        simulated(&bench, "tests/data/models/everything.toml", &["--shape", shape, "--duration", "20ms"]);
        bench.ok(&["ingest", "sim.db", "sim/recording", "-q"]);
        let run = bench.run(&["compare", "sim/reference.btf", "sim.db", "--level", "exact"]);
        assert_eq!(run.code, Some(0), "{shape}: {}", run.all());
    }
}

/// A step of a process: type, name, instance, time, action, and the core, `-` of an activation.
type Step = (String, String, i64, i64, String, String);

/// What the words of hooks can say of a reference: not who activates, nor that a process polls. Instances
/// have the numbers of what is told, and a handler of several cores a name for each.
fn steps_of(reference: &str, tells_isr_activations: bool) -> Vec<Step> {
    let lines: Vec<Vec<&str>> = reference
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split(',').collect())
        .collect();
    let shared = reference.lines().find_map(|line| line.strip_prefix("# on each core another handler: "));
    // The core of each instance of an ISR.
    let started = |line: &&Vec<&str>| line[3] == "I" && line[6] == "start";
    let cores: BTreeMap<(&str, &str), &str> =
        lines.iter().filter(started).map(|line| ((line[4], line[5]), line[1])).collect();
    let (mut numbers, mut next) = (BTreeMap::new(), BTreeMap::new());
    let mut steps = Vec::new();
    for line in &lines {
        let (time, kind, instance) = (line[0].parse().unwrap(), line[3], line[5]);
        let action = match line[6] {
            "park" => "preempt",
            "poll_parking" => "resume",
            "mtalimitexceeded" | "poll" | "run" | "release_parking" => continue,
            action => action,
        };
        if !matches!(kind, "T" | "I") {
            continue;
        }
        let name = match cores.get(&(line[4], instance)) {
            Some(core) if kind == "I" && shared == Some(line[4]) => format!("{core}.{}", line[4]),
            _ => line[4].to_owned(),
        };
        let number = *numbers.entry((kind, line[4], instance)).or_insert_with(|| {
            let next = next.entry((kind, name.clone())).or_insert(0);
            *next += 1;
            *next - 1
        });
        if kind == "I" && action == "activate" && !tells_isr_activations {
            continue;
        }
        let core = if action == "activate" { "-" } else { line[1] };
        steps.push((kind.to_owned(), name, number, time, action.to_owned(), core.to_owned()));
    }
    // At one instant, what happens on two cores has no order.
    steps.sort_by(|a, b| (&a.0, &a.1).cmp(&(&b.0, &b.1)));
    steps
}

fn steps_of_recording(bench: &Bench) -> Vec<Step> {
    let sql = "SELECT target_type, target, target_instance, time, action, CASE WHEN action = 'activate' THEN '-' ELSE source END \
        AS core FROM btf_event WHERE target_type IN ('T', 'I') ORDER BY target_type, target, seq";
    let rows = bench.ok(&["query", "sim.db", sql, "--format", "csv"]).stdout;
    let step = |line: &str| {
        let field: Vec<&str> = line.split(',').collect();
        let text = |at: usize| field[at].to_owned();
        (text(0), text(1), field[2].parse().unwrap(), field[3].parse().unwrap(), text(4), text(5))
    };
    rows.lines().skip(1).map(step).collect()
}

/// `BTFDB_HOOK_MODELS=200` is the full run.
#[test]
fn words_of_hooks_are_mapped_to_what_happened() {
    let count = std::env::var("BTFDB_HOOK_MODELS").map_or(8, |count| count.parse().unwrap());
    for number in 0..count {
        for os in ["arti", "microsar"] {
            let (bench, model) = (Bench::new(), format!("{}", 5000 + number));
            bench.ok(&["simulate", "--random", &model, "--duration", "30ms", "--os", os, "-o", "sim"]);
            let said = bench.ok(&["ingest", "sim.db", "sim/recording", "--strict"]).stderr;
            assert!(!said.contains("lost-writes"), "{os} {model}: {said}");
            let reference = fs::read_to_string(bench.path().join("sim/reference.btf")).unwrap();
            let (expected, found) = (steps_of(&reference, os == "arti"), steps_of_recording(&bench));
            assert!(expected.len() > 50, "{os} {model}: {}", expected.len());
            let other = expected.iter().zip(&found).find(|(expected, found)| expected != found);
            assert_eq!(other, None, "{os} {model}");
            assert_eq!(expected.len(), found.len(), "{os} {model}");
            let check = bench.ok(&["check", "sim.db"]).all();
            assert!(check.contains(": 0 errors, 0 warnings"), "{os} {model}: {check}");
        }
    }
}

/// The states that `part` has and `whole` has not. A recording may go on behind the last event of its
/// reference.
const WRONG: &str = "WITH last AS (SELECT max(end_at) AS at FROM process_state WHERE recording = 'whole') \
    SELECT l.process, l.instance, l.core, l.state, l.begin_at, l.end_at FROM process_state AS l \
    WHERE l.recording = 'part' AND l.begin_at < (SELECT at FROM last) AND NOT EXISTS ( \
      SELECT * FROM process_state AS w \
      WHERE w.recording = 'whole' AND w.process = l.process AND w.state = l.state \
        AND (w.core = l.core OR l.state = 'active') AND w.begin_at <= l.begin_at \
        AND least(l.end_at, (SELECT at FROM last)) <= w.end_at) \
    ORDER BY l.begin_at LIMIT 5";

/// What a recording with overflows, and one that begins in the middle, says of processes is what happened.
#[test]
fn recordings_with_gaps_say_only_what_happened() {
    let models = ["3", "7", "8", "11", "31"].map(|number| vec!["--random", number, "--duration", "30ms"]);
    let known = root().join("tests/data/models/two_cores.toml");
    for model in models.into_iter().chain([vec![known.to_str().unwrap()]]) {
        for args in
            [&["--overflows", "3"][..], &["--overflows", "12"], &["--begin", "7ms", "--overflows", "3"]]
        {
            let bench = Bench::new();
            let said = bench.ok(&[&["simulate", "-o", "sim"], &model[..], args].concat()).stderr;
            assert!(said.contains(" overflows"), "{said}");
            bench.ok(&["ingest", "sim.db", "sim/recording", "--name", "part", "-q"]);
            bench.ok(&["ingest", "sim.db", "sim/reference.btf", "--name", "whole", "-q"]);
            let run = bench.ok(&["query", "sim.db", WRONG, "--format", "csv"]);
            assert_eq!(run.stdout.trim().lines().count(), 1, "{model:?} {args:?}:\n{}", run.stdout);
            let rows = "SELECT count(*) AS n FROM process_state WHERE recording = 'part'";
            let rows = bench.ok(&["query", "sim.db", rows, "--format", "csv"]).stdout;
            assert!(rows.lines().nth(1).unwrap().parse::<u64>().unwrap() > 50, "{model:?} {args:?}: {rows}");
            let said = bench.ok(&["check", "sim.db", "--recording", "part"]).all();
            assert!(said.contains(": 0 errors, 0 warnings"), "{model:?} {args:?}: {said}");
        }
    }
}

#[test]
fn times_that_are_late_are_so_by_as_much_as_was_asked_for() {
    let bench = Bench::new();
    simulated(&bench, "tests/data/models/two_cores.toml", &["--jitter", "50ns"]);
    bench.ok(&["ingest", "sim.db", "sim/recording", "-q"]);
    let compare = ["compare", "sim/reference.btf", "sim.db", "--level", "timing"];
    bench.ok(&[&compare[..], &["--tolerance", "50ns"]].concat());
}

/// The process that serves calls is another one on each core: the reference says so, as exports do.
#[test]
fn the_metrics_of_a_recording_have_the_entities_of_its_reference() {
    let bench = Bench::new();
    simulated(&bench, "tests/data/models/two_cores.toml", &[]);
    bench.ok(&["ingest", "sim.db", "sim/recording", "-q"]);
    let run = bench.run(&["compare", "sim/reference.btf", "sim.db", "--level", "metrics", "--limit", "1000"]);
    let differing = || run.stdout.lines().filter(|line| line.contains(" → "));
    assert!(differing().count() > 0, "{}", run.all());
    // The recording begins before the first event, so that it is longer: loads differ. BTF has no services.
    let other = |line: &&str| !["CPULoad", "OsOverhead"].iter().any(|metric| line.contains(metric));
    let others: Vec<&str> = differing().filter(other).collect();
    assert!(others.is_empty(), "{others:#?}");
}

#[test]
fn events_that_cross_calls_are_reported() {
    let bench = Bench::new();
    let said = simulated(&bench, "tests/data/models/crossing_calls.toml", &["--os", "osek"]);
    assert!(said.contains("2 events were set") && said.contains("the ISR that serves"), "{said}");
    bench.ok(&["ingest", "sim.db", "sim/recording", "-q"]);
    let run = bench.run(&["compare", "sim/reference.btf", "sim.db", "--ignore", "EVENT"]);
    assert_eq!(run.code, Some(0), "{}", run.all());
}

#[test]
fn cores_that_stand_still_are_named() {
    let task = |core: u8, steps: &str| {
        format!(
            "[[core]]\nname = \"Core_{core}\"\n\
             [[task]]\nname = \"T_{core}\"\ncore = \"Core_{core}\"\npriority = 1\nsteps = [{{ terminate = true }}]\n\
             [[task]]\nname = \"S_{core}\"\ncore = \"Core_{core}\"\npriority = 2\nautostart = true\n\
             steps = [{steps}, {{ release_spinlock = \"A\" }}, {{ terminate = true }}]\n"
        )
    };
    let take = "{ get_spinlock = \"A\" }, { execute = \"50us\" }";
    let first = task(0, &format!("{take}, {{ activate = \"T_1\" }}"));
    let second = task(1, &format!("{{ execute = \"30us\" }}, {take}"));
    let bench = Bench::new();
    bench.write("m.toml", format!("duration = \"1ms\"\n[[spinlock]]\nname = \"A\"\n{first}{second}"));
    let run = bench.ok(&["simulate", "m.toml", "-o", "sim"]);
    assert!(run.stderr.contains("Core_0 and Core_1 wait for each other"), "{}", run.stderr);
}

#[test]
fn a_recording_that_cannot_be_is_refused() {
    let model = root().join("tests/data/models/two_cores.toml");
    for args in [["--begin", "1h"], ["--begin", "10s"], ["--drift", "1000000"], ["--shape", "round"]] {
        let bench = Bench::new();
        let run = bench.run(&[&["simulate", model.to_str().unwrap(), "-o", "sim"], &args[..]].concat());
        assert_eq!(run.code, Some(2), "{args:?}: {}", run.all());
        assert!(!bench.path().join("sim").exists());
    }
}

/// Random models, and some of the WATERS kind, for a short time. Returns what is wrong, with the number of
/// the model.
fn random_models(numbers: impl Iterator<Item = u64>, kind: &str) -> Vec<String> {
    random_models_as("erika2", "exact", numbers, kind)
}

/// The same, recorded as an operating system.
fn random_models_as(os: &str, level: &str, numbers: impl Iterator<Item = u64>, kind: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    for number in numbers {
        let bench = Bench::new();
        let number = number.to_string();
        let which = if kind == "waters" { vec!["waters", "--seed", &number] } else { vec![number.as_str()] };
        let args = ["simulate", "-o", "sim", "--duration", "15ms", "--os", os, "--random"];
        let said = bench.ok(&[&args[..], &which[..]].concat()).stderr;
        bench.ok(&["ingest", "sim.db", "sim/recording", "-q"]);
        let run = bench.run(&["compare", "sim/reference.btf", "sim.db", "--level", level]);
        if run.code != Some(0) && !said.contains("while the own core served a call") {
            let start: Vec<&str> = run.stdout.lines().take(12).collect();
            wrong.push(format!("{kind} model {number}:\n{}", start.join("\n")));
        }
    }
    wrong
}

/// Which models are tried: the `share` of so many shares, of `BTFDB_MODELS` models, else of `few`.
fn numbers(share: u64, shares: u64, few: u64) -> impl Iterator<Item = u64> {
    let count = std::env::var("BTFDB_MODELS").ok().and_then(|count| count.parse().ok()).unwrap_or(few);
    let from: u64 = std::env::var("BTFDB_MODELS_FROM").ok().and_then(|from| from.parse().ok()).unwrap_or(1);
    (from..from + count).filter(move |number| number % shares == share)
}

#[test]
fn random_models_are_mapped_to_what_happened_even() {
    let wrong = random_models(numbers(0, 2, 50), "random");
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn random_models_are_mapped_to_what_happened_odd() {
    let wrong = random_models(numbers(1, 2, 50), "random");
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Events of several cores at one instant may be in another order of cores.
#[test]
fn generic_recordings_of_random_models_are_mapped_to_what_happened() {
    let wrong = random_models_as("osek", "order", numbers(0, 1, 30), "random");
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn waters_models_are_mapped_to_what_happened() {
    let wrong = random_models(numbers(0, 1, 5), "waters");
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn the_same_model_and_seed_give_the_same_bytes() {
    let content = |folder: &Path| {
        let mut files: Vec<_> = crate::support::tree(folder).into_iter().map(|(path, _)| path).collect();
        files.sort();
        files.iter().filter(|file| file.is_file()).map(|file| fs::read(file).unwrap()).collect::<Vec<_>>()
    };
    let of_seed = |seed: &str| {
        let bench = Bench::new();
        simulated(&bench, "tests/data/models/everything.toml", &["--seed", seed, "--duration", "20ms"]);
        content(&bench.path().join("sim"))
    };
    let one = of_seed("1");
    assert!(one.len() >= 8);
    assert_eq!(one, of_seed("1"));
    assert_ne!(one, of_seed("2"));
}

/// A row of a table of the thesis: metric, entity, value in ms or percent with its digits.
type Cell = (&'static str, &'static str, &'static str);

/// The rows "Sim" of tables 5.2 to 5.5: model, window, values.
const THESIS: [(&str, [&str; 2], &[Cell]); 4] = [
    (
        "task_runnable_signal",
        ["10ms", "1010ms"],
        &[
            ("ActivateToActivate", "T_1", "10.000000"),
            ("ActivateToActivate", "T_2", "10.000000"),
            ("ActivateToActivate", "T_3", "10.000000"),
            ("ResponseTime", "T_1", "3.000100"),
            ("ResponseTime", "T_2", "6.500200"),
            ("ResponseTime", "T_3", "1.500100"),
            ("CPULoad", "T_1", "30.000000"),
            ("CPULoad", "T_2", "50.000000"),
            ("CPULoad", "T_3", "15.000000"),
        ],
    ),
    (
        "task_event",
        ["10ms", "1010ms"],
        &[
            ("ActivateToActivate", "T_1", "10.000000"),
            ("ActivateToActivate", "T_2", "10.000000"),
            ("ResponseTime", "T_1", "2.000100"),
            ("ResponseTime", "T_2", "3.000100"),
            ("CPUWaiting", "T_2", "9.999000"),
        ],
    ),
    (
        "task_resource_poll_parking",
        ["10ms", "1010ms"],
        &[
            ("ResponseTime", "T_1", "2.500140"),
            ("ResponseTime", "T_2", "3.250040"),
            ("ResponseTime", "T_3", "0.500100"),
            ("PollingTime", "T_1", "0.000000"),
            ("PollingTime", "T_2", "0.749800"),
            ("PollingTime", "T_3", "0.000000"),
            ("ParkingTime", "T_1", "0.000000"),
            ("ParkingTime", "T_2", "0.500100"),
            ("ParkingTime", "T_3", "0.000000"),
        ],
    ),
    (
        // 99 instances in a second.
        "task_resource_release_parking",
        ["0ms", "1000ms"],
        &[
            ("ActivateToActivate", "T_1", "10.000000"),
            ("ActivateToActivate", "T_2", "10.000000"),
            ("ActivateToActivate", "T_3", "10.000000"),
            ("ResponseTime", "T_1", "2.000140"),
            ("ResponseTime", "T_2", "2.750240"),
            ("ResponseTime", "T_3", "0.750100"),
            ("CPUParking", "T_2", "4.949010"),
        ],
    ),
];

#[test]
fn the_models_of_the_thesis_have_the_figures_of_its_tables() {
    for (model, [from, to], cells) in THESIS {
        let bench = Bench::new();
        let said = simulated(&bench, &format!("models/thesis/{model}.toml"), &[]);
        assert!(said.contains("no recording"), "{said}");
        bench.ok(&["ingest", "sim.db", "sim/reference.btf", "-q"]);
        for (metric, entity, printed) in cells {
            let args =
                ["metrics", "sim.db", metric, "--entity", entity, "--unit", "ms", "--from", from, "--to", to];
            let run = bench.ok(&[&args[..], &["--format", "csv"]].concat());
            let mut lines = run.stdout.lines().map(|line| line.split(',').collect::<Vec<_>>());
            let place = lines.next().unwrap().iter().position(|name| *name == "avg").unwrap();
            let average: f64 = lines.next().unwrap()[place].parse().unwrap();
            assert_eq!(format!("{average:.6}"), *printed, "{model}: {metric} of {entity}");
        }
    }
}

/// Table 5.1: the time between two writes, measured with the recording of a probe.
#[test]
fn the_accuracy_of_the_trace_is_that_of_the_thesis() {
    let bench = Bench::new();
    simulated(&bench, "models/thesis/trace_accuracy.toml", &[]);
    bench.ok(&["ingest", "sim.db", "sim/recording", "-q"]);
    let sql = "SELECT name, count(*) AS samples, min(later - time) AS least, max(later - time) AS greatest
               FROM (SELECT source AS name, target, time,
                            lead(time) OVER (PARTITION BY source, source_instance ORDER BY time) AS later
                     FROM btf_event WHERE target IN ('cntStart', 'cntEnd'))
               WHERE target = 'cntStart' GROUP BY name ORDER BY least";
    let run = bench.ok(&["query", "sim.db", sql, "--format", "csv", "--unit", "ns"]);
    let rows: Vec<&str> = run.stdout.lines().skip(1).collect();
    let table = [
        "N_128,101,1340,1340",
        "N_1024,101,10300,10300",
        "N_4096,101,41020,41020",
        "N_65536,101,655420,655420",
    ];
    assert_eq!(rows, table);
}

/// Figure 5.14: the third of three activations is one too many.
#[test]
fn an_activation_too_many_is_refused() {
    let bench = Bench::new();
    let said = simulated(&bench, "models/thesis/task_mta.toml", &[]);
    assert!(said.contains("services returned an error"), "{said}");
    let reference = fs::read_to_string(bench.path().join("sim/reference.btf")).unwrap();
    let actions = |action: &str| {
        reference.lines().filter(|line| line.contains(",T,T_2,") && line.ends_with(action)).count()
    };
    assert_eq!((actions(",activate"), actions(",mtalimitexceeded"), actions(",terminate")), (202, 101, 202));
}

#[test]
fn a_folder_appears_when_it_is_complete_and_is_replaced_only_on_request() {
    let bench = Bench::new();
    let model = root().join("models/thesis/task_mta.toml");
    let model = model.to_str().unwrap();
    bench.ok(&["simulate", model, "-o", "sim"]);
    let run = bench.run(&["simulate", model, "-o", "sim"]);
    assert!(run.code == Some(2) && run.stderr.contains("--force"), "{}", run.all());
    bench.ok(&["simulate", model, "-o", "sim", "--force", "--duration", "30ms"]);
    // What is not of a simulation is never replaced.
    bench.write("mine/notes.txt", "mine");
    let run = bench.run(&["simulate", model, "-o", "mine", "--force"]);
    assert!(run.code == Some(2) && bench.path().join("mine/notes.txt").exists(), "{}", run.all());
    let left: Vec<_> = fs::read_dir(bench.path()).unwrap().map(|f| f.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_str().unwrap().ends_with(".part")), "{left:?}");
}

#[test]
fn a_model_can_have_any_name() {
    let name = "the \"engine\" of C:\\models";
    let model = fs::read_to_string(root().join("tests/data/models/two_cores.toml")).unwrap();
    let (_, rest) = model.split_once("name = \"two_cores\"\n").unwrap();
    for os in ["erika2", "osek", "arti", "microsar"] {
        let bench = Bench::new();
        bench.write("model.toml", format!("name = '{name}'\n{rest}"));
        bench.ok(&["simulate", "model.toml", "--os", os, "-o", "sim"]);
        bench.ok(&["ingest", "sim.db", "sim/recording", "-q"]);
        let found =
            bench.ok(&["query", "sim.db", "SELECT recording FROM recording", "--format", "csv"]).stdout;
        assert_eq!(found, format!("recording\n\"{}\"", name.replace('"', "\"\"")), "{os}");
    }
}

#[test]
fn mistakes_in_a_model_have_a_line_and_a_hint() {
    let good = fs::read_to_string(root().join("tests/data/models/two_cores.toml")).unwrap();
    for (from, to, line, words) in [
        ("activate = \"T_2\"", "activate = \"T_22\"", 13, "did you mean"),
        ("core = \"Core_1\"", "", 0, "core"),
        ("\"500us\"", "\"-5us\"", 0, "-5us"),
        ("{ call = \"R_2_2\" }", "{ call = \"R_2_1\" }", 0, "R_2_1"),
    ] {
        assert!(good.contains(from), "{from}");
        let bench = Bench::new();
        bench.write("m.toml", good.replacen(from, to, 1));
        let run = bench.run(&["simulate", "m.toml", "-o", "sim"]);
        assert_eq!(run.code, Some(1), "{}", run.all());
        let place = if line > 0 { format!("m.toml:{line}") } else { "m.toml:".to_owned() };
        assert!(run.stderr.contains(&place) && run.stderr.contains(words), "{to}: {}", run.stderr);
        assert!(!bench.path().join("sim").exists());
    }
}
