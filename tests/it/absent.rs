//! Names, types and filters that select nothing: each is an error, or a sentence that says why, in every
//! command.

use crate::support::{Bench, Run, root};

/// Runs, and insists on an exit code and texts in what is printed.
fn says(bench: &Bench, args: &[&str], code: i32, texts: &[&str]) {
    let run = bench.run(args);
    assert_eq!(run.code, Some(code), "{args:?}\n{}", run.all());
    for text in texts {
        assert!(run.all().contains(text), "{args:?}: {text}\n{}", run.all());
    }
}

#[test]
fn every_name_of_a_list_is_known_or_a_mistake() {
    let bench = Bench::engine();
    for command in [
        &["metrics", "engine.db", "RT", "--entity"][..],
        &["metrics", "engine.db", "grasp", "--entity"],
        &["export", "engine.db", "-o", "-", "--entity"],
        &["plot", "engine.db", "-o", "-", "--entity"],
    ] {
        let with = |list: &'static str| [command, &[list]].concat();
        says(&bench, &with("T_5,T_55"), 2, &["recording 'demo' has no entity 'T_55'", "did you mean 'T_5'?"]);
        says(&bench, &with("T_5,X*"), 2, &["no entity 'X*'"]);
        says(&bench, &with(","), 2, &["hint: write names with commas"]);
        says(&bench, &with("T_4, T_?"), 0, &[]);
        says(&bench, &with("T_1"), 0, &["warning: 'T_1' is described, but it never ran"]);
    }
    let script = std::fs::File::open(bench.write("s.sql", ".metric RT T_5,T_55\n")).unwrap();
    let shell = bench.command().args(["shell", "engine.db"]).stdin(script).output().unwrap();
    let said = Run::of(shell, bench.path()).all();
    assert!(said.contains("no entity 'T_55'") && !said.contains("exit 0"), "{said}");
}

#[test]
fn a_metric_says_what_it_has_no_samples_of() {
    let bench = Bench::engine();
    let metric = |name, entity| ["metrics", "engine.db", name, "--entity", entity];
    let rt = "warning: ResponseTime has no samples of 'Core_1', a core; \
              it has those of tasks and interrupt service routines";
    says(&bench, &metric("ResponseTime", "Core_1"), 0, &[rt]);
    let net = "RunnableNetExecutionTime has no samples of 'T_5', a task; it has those of runnables";
    says(&bench, &metric("RunnableNetExecutionTime", "T_5"), 0, &[net]);
    says(&bench, &metric("CPULoad", "SIG_1"), 0, &["no samples of 'SIG_1', a signal"]);
    let window = ["--from", "1us", "--to", "2us"];
    says(&bench, &[&metric("RT", "T_5")[..], &window].concat(), 0, &["of 'T_5', a task, in the window"]);
    let quiet = bench.ok(&metric("RT", "T_5"));
    assert!(!quiet.stderr.contains("samples"), "{}", quiet.stderr);
}

#[test]
fn charts_refuse_what_they_cannot_use() {
    let bench = Bench::engine();
    let chart = |rest: &[&'static str]| [&["plot", "engine.db", "-o", "-", "--chart"], rest].concat();
    let rt = &["histogram", "ResponseTime"][..];
    let isrs = bench.ok(&chart(&[rt, &["--type", "I"]].concat())).stdout;
    assert!(isrs.contains("iirq_handler") && !isrs.contains("ResponseTime of T_5"));
    let isrs = bench.ok(&chart(&["distribution", "ResponseTime", "--type", "ISR"])).stdout;
    assert!(isrs.contains("iirq_handler") && !isrs.contains("ResponseTime of T_5"));
    says(&bench, &chart(&["load", "--type", "C"]), 2, &["--type does not go with --chart load", "--entity"]);
    says(&bench, &chart(&[rt, &["--window", "1ms"]].concat()), 2, &["--window does not go with --chart"]);
    says(&bench, &chart(&[rt, &["--rows", "core"]].concat()), 2, &["--rows does not go with --chart"]);
    says(
        &bench,
        &chart(&["load", "--entity", "T_5"]),
        2,
        &["'T_5' is no core", "hint: the cores are: Core_0, Core_1"],
    );
    let none = "ResponseTime has no samples of 'SIG_1', a signal";
    says(&bench, &chart(&[rt, &["--entity", "SIG_1"]].concat()), 2, &[none, "hint: "]);
    says(&bench, &chart(&[rt, &["--entity", "SIG_1,T_5"]].concat()), 0, &[none, "ResponseTime of T_5"]);
    says(&bench, &chart(&[rt, &["--type", "R"]].concat()), 2, &["no samples of ResponseTime of type R"]);
}

#[test]
fn reasons_of_requirements_are_true() {
    let bench = Bench::engine();
    bench.write(
        "limits.toml",
        r#"
[[deadline]]
entity = "R_1a"
deadline = "1ms"
[[limit]]
metric = "RunnableNetExecutionTime"
entity = "T_5"
upper = "1ms"
[[period]]
entity = "SIG_1"
period = "10ms"
jitter = "1us"
[[load]]
core = "T_5"
window = "10ms"
upper = 60
[[load]]
core = "Core_9"
window = "10ms"
upper = 60
"#,
    );
    let reasons = [
        "deadline of R_1a: ResponseTime has no samples of 'R_1a', a runnable; it has those of tasks",
        "RunnableNetExecutionTime of T_5: RunnableNetExecutionTime has no samples of 'T_5', a task; it has those of runnables",
        "period of SIG_1: ActivateToActivate has no samples of 'SIG_1', a signal; it has those of tasks",
        "load of T_5: there is no core 'T_5'",
        "load of Core_9: there is no core 'Core_9'; did you mean 'Core_",
        "4 without samples, 2 of names that nothing has",
    ];
    says(&bench, &["check", "engine.db", "--requirements", "limits.toml"], 3, &reasons);
    // One file serves several recordings.
    bench.write("a.btf", "#version 2.1.5\n#timeScale ns\n0,STI,0,T,T_A,0,activate\n1,C,0,T,T_A,0,start\n");
    bench.ok(&["ingest", "engine.db", "a.btf", "-q"]);
    bench.write("limits.toml", "[[deadline]]\nentity = \"T_5\"\ndeadline = \"1s\"\n");
    let reasons =
        ["deadline of T_5: recording 'a' has no entity 'T_5'", "1 kept, 0 violated, 1 without samples"];
    says(&bench, &["check", "engine.db", "--requirements", "limits.toml"], 3, &reasons);
}

/// Both cores of the demo have a handler of one name (rule I9).
#[test]
fn handlers_that_cores_share_are_found_by_both_names() {
    let bench = Bench::engine();
    let shared = "EE_TC_iirq_handler";
    for name in [shared, "Core_0.EE_TC_iirq_handler"] {
        let around = format!("ResponseTime:{name}");
        says(
            &bench,
            &["plot", "engine.db", "-o", "x.svg", "--force", "--around", &around],
            0,
            &["greatest ResponseTime of Core_"],
        );
        let events = |name: &str| bench.ok(&["export", "engine.db", "-o", "-", "--entity", name]);
        let of_both = events(shared).stdout;
        let run = events(name);
        let data =
            |text: &str| text.lines().filter(|l| !l.starts_with('#')).map(str::to_owned).collect::<Vec<_>>();
        assert!(data(&of_both).len() > 10);
        assert_eq!(data(&run.stdout), data(&of_both), "{name}");
        assert_eq!(name != shared, run.stderr.contains("the events of all of them"), "{}", run.stderr);
        let table =
            ["export", "engine.db", "-o", "-", "--table", "process_instance", "--format", "csv", "--entity"];
        assert!(bench.ok(&[&table[..], &[name]].concat()).stdout.lines().count() > 3, "{name}");
    }
}

#[test]
fn filters_of_kernel_events_that_cannot_match_are_mistakes() {
    let bench = Bench::new();
    let trace = root().join("tests/data/qnx/services.txt");
    let trace = trace.to_str().unwrap();
    bench.ok(&["ingest", "k.db", trace, "-q"]);
    for (filter, hint) in [
        (["--event", "THREAD:RUNING"], "did you mean 'RUNNING'?"),
        (["--event", "COMM:SND_MESAGE"], "did you mean 'SND_MESSAGE'?"),
        (["--not-event", "THREAD:NOPE"], "did you mean 'PIPE'?"),
        (["--event", "THREAD:99"], "its events have the numbers 0 to 63"),
    ] {
        for command in [
            &["query", "k.db", "SELECT count(*) FROM kernel_event"][..],
            &["ingest", "x.db", trace],
            &["export", "k.db", "--format", "traceprinter", "-o", "-"],
        ] {
            says(&bench, &[command, &filter].concat(), 2, &[hint]);
        }
    }
    let query = |sql, filter: &[&'static str]| [&["query", "k.db", sql], filter].concat();
    let count = "SELECT count(*) FROM kernel_event";
    says(&bench, &query(count, &["--event", "THREAD:CONDVAR"]), 0, &["no kernel event is of THREAD:CONDVAR"]);
    let ignored = "the filters of kernel events had no effect";
    says(&bench, &query("SELECT count(*) FROM btf_event", &["--pid", "2"]), 0, &[ignored]);
    assert!(!bench.ok(&query(count, &["--pid", "2"])).stderr.contains(ignored));
    says(&bench, &["ingest", "y.db", trace, "--pid", "999"], 0, &["[all-left-out]", "select nothing"]);
}

/// T_1 is a task of the ORTI file that does not run in the demo. What is about it has no samples, whatever
/// other recordings the database has, and chains without it are followed all the same.
#[test]
fn a_chain_of_a_task_that_never_ran_has_no_samples() {
    let bench = Bench::engine();
    let chain = |name: &str, from: &str, rest: &str| {
        format!(
            "[[chain]]\nname = \"{name}\"\nsteps = [{{ entity = \"{from}\", action = \"start\" }}, \
             {{ entity = \"T_2\", action = \"start\" }}]\n{rest}"
        )
    };
    let limit = "[[limit]]\nmetric = \"ChainReaction\"\nentity = \"c\"\nupper = \"1ms\"\n";
    let together = "[[synchronisation]]\nname = \"s\"\ntolerance = \"1s\"\nevents = [{ entity = \"T_1\", action = \"start\" }, \
                    { entity = \"T_2\", action = \"start\" }]\n";
    let good = chain("good", "T_3", "reaction = \"10s\"\n");
    let requirements = [&chain("c", "T_1", "age = \"1ms\"\n"), &good, limit, together].concat();
    bench.write("limits.toml", &requirements);
    let check = ["check", "engine.db", "--recording", "demo", "--requirements", "limits.toml"];
    let why = "'T_1' is described, but it never ran";
    let reasons = [
        &format!("demo: ChainReaction of c: {why}")[..],
        &format!("demo: age of c: {why}"),
        &format!("demo: s: {why}"),
        "kept        demo       reaction of good",
        "4 requirements: 1 kept, 0 violated, 3 without samples",
    ];
    says(&bench, &check, 3, &reasons);
    let allowed = [&check[..], &["--allow-no-samples"]].concat();
    let alone = bench.ok(&allowed).stdout;
    // T_1 runs in another recording.
    let other = "#version 2.1.5\n#timeScale ns\n0,S,0,T,T_1,0,activate\n1,C,0,T,T_1,0,start\n5,C,0,T,T_1,0,terminate\n\
                 6,S,1,T,T_2,0,activate\n7,C,0,T,T_2,0,start\n8,C,0,T,T_2,0,terminate\n";
    bench.write("other.btf", other);
    bench.ok(&["ingest", "two.db", "recording", "-q"]);
    bench.ok(&["ingest", "two.db", "other.btf", "-q"]);
    let mut both = allowed.clone();
    both[1] = "two.db";
    assert_eq!(bench.ok(&both).stdout, alone);
    // Other commands go on, with a warning; of the last step of a chain, too.
    bench.write("chains.toml", [chain("c", "T_1", ""), chain("good", "T_3", "")].concat());
    let warning = format!("warning: the chain 'c' has no rows: {why}");
    for command in [
        &["metrics", "engine.db", "ChainLost", "ChainReaction", "--chains", "chains.toml"][..],
        &["query", "engine.db", "SELECT DISTINCT chain FROM chain_instance", "--chains", "chains.toml"],
        &["export", "engine.db", "-o", "x.pftrace", "--chains", "chains.toml"],
    ] {
        says(&bench, command, 0, &[&warning]);
    }
    let sql = "SELECT DISTINCT chain FROM chain_instance";
    assert_eq!(bench.ok(&["query", "engine.db", sql, "--chains", "chains.toml"]).stdout, "chain\ngood");
    // A name that nothing has is a mistake.
    bench.write("chains.toml", chain("c", "T_55", ""));
    let metrics = ["metrics", "engine.db", "ChainAge", "--chains", "chains.toml"];
    says(&bench, &metrics, 2, &["chains.toml: there is no entity 'T_55'", "did you mean 'T_5'?"]);
}

#[test]
fn deadlines_that_are_not_drawn_say_why() {
    let bench = Bench::engine();
    let plot = |deadline: &str| {
        bench.write("d.toml", deadline);
        bench.run(&["plot", "engine.db", "--requirements", "d.toml", "-o", "x.svg", "--force"])
    };
    let of = |entity: &str| format!("[[deadline]]\nentity = \"{entity}\"\ndeadline = \"1ms\"\n");
    let unknown = plot(&of("T_55"));
    assert_eq!(unknown.code, Some(2), "{}", unknown.all());
    assert!(unknown.stderr.contains("error: d.toml:2: there is no task"), "{}", unknown.all());
    assert!(unknown.stderr.contains("did you mean 'T_5'?"), "{}", unknown.all());
    for (text, expected) in [
        (of("T_1"), "warning: 'T_1' is described, but it never ran"),
        (of("R_1a"), "warning: ResponseTime has no samples of 'R_1a', a runnable; it has those of tasks"),
        (
            "[[limit]]\nmetric = \"RT\"\nupper = \"1s\"\n".to_owned(),
            "warning: the file of requirements has no [[deadline]]",
        ),
    ] {
        let run = plot(&text);
        assert_eq!(run.code, Some(0), "{}", run.all());
        assert!(run.stderr.contains(expected), "{}", run.all());
    }
    // The name that handlers on both cores share is as good as their own.
    for drawn in ["T_5", "EE_TC_iirq_handler"] {
        let run = plot(&of(drawn));
        assert!(run.code == Some(0) && !run.stderr.contains("warning"), "{}", run.all());
    }
}

#[test]
fn metrics_without_any_sample_say_so() {
    let bench = Bench::engine();
    let missing = "warning: there are no event chains: --chains FILE gives them";
    says(&bench, &["metrics", "engine.db", "ChainAge"], 0, &["warning: ChainAge has no samples", missing]);
    says(&bench, &["query", "engine.db", "SELECT * FROM chain_instance"], 0, &[missing]);
    let window = ["metrics", "engine.db", "RT", "--from", "1us", "--to", "2us"];
    says(&bench, &window, 0, &["warning: ResponseTime has no samples in the window"]);
    let quiet = [bench.ok(&["metrics", "engine.db"]), bench.ok(&["metrics", "engine.db", "RT"])];
    assert!(quiet.iter().all(|run| !run.stderr.contains("chains") && !run.stderr.contains("samples")));
    bench.write("empty.btf", "#version 2.1.5\n#timeScale ns\n");
    bench.ok(&["ingest", "empty.db", "empty.btf", "-q"]);
    says(&bench, &["metrics", "empty.db"], 0, &["warning: there are no samples"]);
    let script = std::fs::File::open(bench.write("s.sql", "SELECT * FROM chain_instance;\n")).unwrap();
    let shell = bench.command().args(["shell", "engine.db"]).stdin(script).output().unwrap();
    assert!(Run::of(shell, bench.path()).stderr.contains(missing));
}

#[test]
fn a_recording_behind_the_database_is_an_option_of_most_commands() {
    let bench = Bench::engine();
    let is_none = "'engine.db:demo' does not exist";
    says(&bench, &["metrics", "engine.db:demo"], 1, &[is_none, "engine.db --recording demo"]);
    says(&bench, &["metrics", "absent.db:demo"], 1, &["`btfdb ingest DB INPUT...` makes a database"]);
}
