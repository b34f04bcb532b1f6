//! `check --requirements`: a kept and a violated requirement of each kind, the reports, and mistakes in the
//! file.

use crate::support::{Bench, root};

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
    let bench = Bench::engine();
    bench.write("limits.toml", std::fs::read(root().join("demo/limits.toml")).unwrap());
    insta::assert_snapshot!(check(&bench, "table").all());
}

#[test]
fn requirements_that_are_violated_exit_with_3() {
    let bench = Bench::engine();
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
    let bench = Bench::engine();
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
    let bench = Bench::engine();
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

/// Alarm 1 is pending when alarm 2 comes and is lost; the second instance of T_A is that of alarm 1.
const LOST: &str = "#version 2.1.5
#timeScale ns
10,SIM,-1,STI,AL,0,trigger
10,AL,0,T,T_A,0,activate
11,C,0,T,T_A,0,start
20,SIM,-1,STI,AL,1,trigger
20,AL,1,T,T_A,1,activate
30,SIM,-1,STI,AL,2,trigger
30,AL,2,T,T_A,2,mtalimitexceeded
35,SIM,-1,STI,OTHER,0,trigger
40,C,0,T,T_A,0,terminate
40,C,0,T,T_A,1,start
42,T_A,1,STI,IPA_T_A,0,trigger
42,IPA_T_A,0,T,T_B,0,activate
45,T_A,1,SIG,S,0,write,1
50,C,0,T,T_A,1,terminate
50,C,0,T,T_B,0,start
55,T_B,0,SIG,S,0,write,2
60,C,0,T,T_B,0,terminate
70,SIM,-1,STI,AL,3,trigger
70,OTHER,0,T,T_A,3,activate
71,C,0,T,T_A,3,start
75,T_A,3,SIG,S,0,write,3
80,C,0,T,T_A,3,terminate
";

#[test]
fn a_chain_follows_the_instances_that_the_trace_names() {
    let bench = Bench::new();
    bench.write("lost.btf", LOST);
    bench.write(
        "chains.toml",
        r#"
[[chain]]
name = "alarm to write"
steps = [{ entity = "AL", action = "trigger" }, { entity = "T_A", action = "start" },
    { entity = "S", action = "write", source = "T_A" }]
[[chain]]
name = "task to task"
steps = [{ entity = "T_A", action = "start" }, { entity = "T_B", action = "activate" },
    { entity = "T_B", action = "start" }, { entity = "S", action = "write", source = "T_B" }]
"#,
    );
    bench.ok(&["ingest", "lost.db", "lost.btf", "-q"]);
    let sql =
        "SELECT chain, begin_at, end_at, age, reaction, outcome FROM chain_instance ORDER BY chain, begin_at";
    let run = bench.ok(&["query", "lost.db", sql, "--chains", "chains.toml", "--format", "csv"]);
    // Of the second alarm 25 ns old; the third one was lost, and the fourth one activated nothing: OTHER did.
    let expected = "chain,begin_at,end_at,age,reaction,outcome\n\
                    alarm to write,10,,,35,lost\n\
                    alarm to write,20,45,25,25,used\n\
                    alarm to write,30,,,,open\n\
                    alarm to write,70,,,,open\n\
                    task to task,11,,,44,lost\n\
                    task to task,40,55,15,15,used\n\
                    task to task,71,,,,open";
    assert_eq!(run.stdout, expected);
}

/// A file of requirements for many recordings: what one of them does not have does not keep the rest from
/// being judged.
#[test]
fn a_requirement_of_what_is_not_there_is_a_row_and_the_rest_is_judged() {
    let bench = Bench::new();
    let trace = "#version 2.1.5\n#timeScale ns\n#entityTable\n#-0 T_A\n#-1 T_never\n\
                 0,C,0,T,T_A,0,activate\n1,C,0,T,T_A,0,start\n5,C,0,T,T_A,0,terminate\n";
    bench.write("r.btf", trace.replace("0,C,0,T,T_A,0,activate", "0,STI,0,T,T_A,0,activate"));
    bench.ok(&["ingest", "engine.db", "r.btf", "-q"]);
    let deadline = |entity: &str| format!("[[deadline]]\nentity = \"{entity}\"\ndeadline = \"2ms\"\n");
    let chain = "[[chain]]\nname = \"c\"\nreaction = \"1ms\"\nsteps = [{ entity = \"T_never\", action = \"start\" }, \
                 { entity = \"T_A\", action = \"start\" }]\n";
    let load = "[[load]]\ncore = \"C\"\nwindow = \"1s\"\nupper = 50\n";
    bench.write("limits.toml", [&deadline("T_never"), &deadline("T_A"), chain, load].concat());
    let known = check(&bench, "table");
    assert_eq!(known.code, Some(3), "{}", known.all());
    for expected in [
        "kept        r          deadline of T_A",
        "NO SAMPLES  r          deadline of T_never",
        "'T_never' is described, but it never ran",
        "no window of that length lies in the recording as a whole",
        "4 requirements: 1 kept, 0 violated, 3 without samples\n",
    ] {
        assert!(format!("{}\n", known.stdout).contains(expected), "{expected}\n{}", known.all());
    }
    let allowed =
        ["check", "engine.db", "--requirements", "limits.toml", "--allow-no-samples", "--format", "junit"];
    let run = bench.ok(&allowed);
    assert!(run.stdout.contains("failures=\"0\" skipped=\"3\""), "{}", run.stdout);
    // A name that nothing has is a finding in each report, and never passes.
    bench.write("limits.toml", [&deadline("T_X"), &deadline("T_A")].map(String::as_str).concat());
    for (format, expected) in [
        (
            "table",
            "deadline of T_X: there is no task, interrupt service routine, runnable, core or chain 'T_X'; did you mean 'T_A'?",
        ),
        ("json", "\"verdict\": \"unknown\""),
        ("junit", "<failure type=\"unknown\" message=\"there is no task"),
    ] {
        let run = check(&bench, format);
        assert_eq!(run.code, Some(3), "{}", run.all());
        assert!(run.stdout.contains(expected) && run.stdout.contains("T_A"), "{expected}\n{}", run.stdout);
    }
    assert_eq!(bench.run(&allowed).code, Some(3));
}

/// Five jobs in time; the sixth one is activated at 1 s, and never ends. The recording ends at 10 s.
fn hangs(more: &str) -> String {
    let job = |n: i64, at: i64| {
        format!(
            "{at},SIM,-1,STI,S,{n},trigger\n{at},S,{n},T,T,{n},activate\n{},Core_0,0,T,T,{n},start\n",
            at + 100
        )
    };
    let done = |n: i64| format!("{}{},Core_0,0,T,T,{n},terminate\n", job(n, n * 100_000), n * 100_000 + 1000);
    let jobs: String = (0..5).map(done).collect();
    format!(
        "#version 2.2.1\n#timescale us\n{jobs}{}{more}10000000,SIM,-1,STI,S,9,trigger\n",
        job(5, 1_000_000)
    )
}

#[test]
fn a_task_that_hangs_until_the_recording_ends_misses_its_deadline() {
    let limits = "[[deadline]]\nentity = \"T\"\ndeadline = \"4ms\"\n\
                  [[chain]]\nname = \"c\"\nreaction = \"4ms\"\nsteps = [{ entity = \"T\", action = \"activate\" }, \
                  { entity = \"T\", action = \"terminate\" }]\n";
    let gap = |from: i64| format!("# gap of Core_0: fifo overflow, from {from} to 9000000 us\n");
    let next = "2000000,S,6,T,T,6,activate\n2000001,Core_0,0,T,T,6,start\n2000500,Core_0,0,T,T,6,terminate\n";
    // The end of a job that moves may be hidden by a gap of the core that it was on.
    let moves = "1900000,Core_0,0,T,T,5,preempt\n1950000,Core_1,0,T,T,5,resume\n";
    // Neither is there an end of the one before.
    let last = "2000000,S,6,T,T,6,activate\n2000001,Core_0,0,T,T,6,start\n";
    for (more, deadline, reaction, code) in [
        (String::new(), "VIOLATED", "VIOLATED", 3),
        (format!("# gap of Core_0: fifo overflow, from 1002000 to 1800000 us\n{moves}"), "kept", "kept", 0),
        (moves.to_owned(), "VIOLATED", "VIOLATED", 3),
        (last.to_owned(), "kept", "VIOLATED", 3),
        // Before the gap, 2 ms are seen, or 5 ms.
        (gap(1_002_000), "kept", "kept", 0),
        (gap(1_005_000), "VIOLATED", "VIOLATED", 3),
        // The end of the sixth job may have been left out.
        (next.to_owned(), "kept", "VIOLATED", 3),
    ] {
        let bench = Bench::new();
        bench.write("t.btf", hangs(&more));
        bench.write("limits.toml", limits);
        bench.ok(&["ingest", "engine.db", "t.btf", "-q"]);
        let run = check(&bench, "table");
        assert_eq!(run.code, Some(code), "{more}{}", run.all());
        let line =
            |what: &str| run.stdout.lines().find(|l| l.contains(what) && !l.starts_with("t:")).unwrap();
        assert!(line("deadline of T ").starts_with(deadline), "{more}{}", run.stdout);
        assert!(line("reaction of c ").starts_with(reaction), "{more}{}", run.stdout);
    }
}

/// Busy whenever it is seen; a gap hides nine tenths of the first window, and two together the second one.
#[test]
fn what_gaps_hide_is_no_idle_time() {
    let bench = Bench::new();
    bench.write("t.btf", std::fs::read(root().join("tests/data/btf/half_hidden.btf")).unwrap());
    bench.ok(&["ingest", "engine.db", "t.btf", "-q"]);
    let load = |upper: u32| format!("[[load]]\nwindow = \"100ns\"\nupper = {upper}\n");
    for (upper, verdict, numbers, code) in
        [(50, "VIOLATED", "2        1       2", 3), (100, "kept", "4        0       0", 0)]
    {
        bench.write("limits.toml", load(upper));
        let run = check(&bench, "table");
        assert_eq!(run.code, Some(code), "{}", run.all());
        let line = run.stdout.lines().nth(1).unwrap();
        assert!(line.starts_with(verdict) && line.ends_with(numbers), "{}", run.stdout);
    }
}

/// T_1 is a task of the ORTI file that does not run in the demo.
#[test]
fn a_task_that_the_description_has_and_that_never_ran_has_no_samples() {
    let bench = Bench::engine();
    let deadline =
        |entity: &str, bound: &str| format!("[[deadline]]\nentity = \"{entity}\"\ndeadline = \"{bound}\"\n");
    bench.write("limits.toml", [deadline("T_2", "2ms"), deadline("T_1", "1ms")].concat());
    let junit = check(&bench, "junit");
    assert_eq!(junit.code, Some(3), "{}", junit.all());
    assert!(junit.stdout.contains("name=\"deadline of T_2 (T_2, &lt;= 2 ms)\"/>"), "{}", junit.stdout);
    assert!(
        junit.stdout.contains("<failure type=\"no samples\" message=\"&#39;T_1&#39; is described")
            || junit.stdout.contains("<failure type=\"no samples\" message=\"'T_1' is described"),
        "{}",
        junit.stdout
    );
    bench.ok(&["check", "engine.db", "--requirements", "limits.toml", "--allow-no-samples"]);
}

/// A bound in a unit that the metric does not have would be kept for ever.
/// One file of limits serves many recordings and slices: a slice names what is in its recording. T_3 is first
/// active at 17 ms.
#[test]
fn a_task_without_an_event_in_a_slice_has_no_samples_there() {
    let bench = Bench::engine();
    let deadline = |entity: &str| format!("[[deadline]]\nentity = \"{entity}\"\ndeadline = \"50ms\"\n");
    bench.write("limits.toml", [deadline("T_5"), deadline("T_3"), deadline("T_1")].concat());
    for version in ["2.1.5", "2.2.1", "2.3.0"] {
        let window = ["export", "engine.db", "--to", "16ms", "-o", "slice.btf", "--force"];
        bench.ok(&[&window[..], &["--btf-version", version]].concat());
        let check = ["check", "slice.btf", "--requirements", "limits.toml"];
        let run = bench.run(&check);
        assert_eq!(run.code, Some(3), "{}", run.all());
        assert_eq!(run.stdout.matches("NO SAMPLES").count(), 2, "{}", run.all());
        assert!(!run.stdout.contains("UNKNOWN"), "{}", run.all());
        bench.ok(&[&check[..], &["--allow-no-samples"]].concat());
        let said = bench.ok(&["check", "slice.btf"]).all();
        assert!(said.contains(": 0 errors, 0 warnings"), "{said}");
    }
}

#[test]
fn bounds_are_in_the_unit_of_what_they_bound() {
    let bench = Bench::engine();
    let limit = |rest: &str| format!("[[limit]]\n{rest}\n");
    let period = |period: &str, jitter: &str| {
        format!("[[period]]\nentity = \"T_5\"\nperiod = {period}\njitter = {jitter}\n")
    };
    let deadline = |time: &str| format!("[[deadline]]\nentity = \"T_5\"\ndeadline = {time}\n");
    let load = |rest: &str| format!("[[load]]\n{rest}\n");
    for (text, expected, hint) in [
        (
            limit("metric = \"CPULoad\"\nupper = \"60ms\""),
            "3: CPULoad is in percent, and '60ms' is no number",
            "write upper = 60",
        ),
        (
            limit("metric = \"CPULoad\"\nlower = \"5.5 %\""),
            "3: CPULoad is in percent, and '5.5 %' is no number",
            "write lower = 5.5",
        ),
        (
            limit("metric = \"Preemptions\"\nupper = \"1us\""),
            "3: Preemptions is a number without a unit, and '1us'",
            "write upper = 1",
        ),
        (
            limit("metric = \"RT\"\nstatistic = \"count\"\nupper = \"1us\""),
            "4: count of RT is a number without a unit, and '1us'",
            "write upper = 1",
        ),
        (limit("metric = \"RT\"\nupper = \"0.5ns\""), "3: '0.5ns'", ""),
        (
            limit("metric = \"RT\"\nstatistic = \"p96\"\nupper = 1"),
            "3: there is no statistic 'p96'",
            "did you mean 'p95'?",
        ),
        (limit("metric = \"RTT\"\nupper = 1"), "2: there is no metric 'RTT'", "did you mean"),
        (
            period("\"0ms\"", "\"1ms\""),
            "3: period is '0ms', and has to be greater than 0",
            "write for example",
        ),
        (period("\"10ms\"", "\"-1ms\""), "4: jitter is '-1ms', and has to be 0 or more", "write for example"),
        (deadline("\"-1ms\""), "3: deadline is '-1ms', and has to be greater than 0", "write for example"),
        (deadline("1.5"), "3: 1.5 is no time", "write for example"),
        (
            load("window = \"0ms\"\nupper = 60"),
            "2: window is '0ms', and has to be greater than 0",
            "write for example",
        ),
    ] {
        bench.write("limits.toml", &text);
        let run = check(&bench, "table");
        assert!(matches!(run.code, Some(1 | 2)), "{text}\n{}", run.all());
        assert!(run.stderr.starts_with(&format!("error: limits.toml:{expected}")), "{text}\n{}", run.all());
        assert!(run.stderr.contains(hint), "{text}\n{}", run.all());
    }
    bench.write("limits.toml", period("\"10ms\"", "0"));
    assert!(check(&bench, "table").stdout.contains("period of T_5"));
}
