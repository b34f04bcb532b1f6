//! Names that nothing has: those of a description, and those that a selection gives. Each is named with what
//! may have been meant, and none selects nothing in silence.

use crate::support::{Bench, copy_dir, root};

#[test]
fn a_name_of_the_description_that_the_trace_does_not_have_is_said() {
    let bench = Bench::new();
    let text = std::fs::read_to_string(bench.demo().join("recording.toml")).unwrap();
    let text = text.replace("\"SIG_1\"", "\"SIG_X\"").replace("\"R_1a\"", "\"R_1x\"");
    let text = text.replace("\"FuncT_2\" = \"T_2\"", "\"FuncT2\" = \"T_2\"\n\"FuncT_9\" = \"T_9\"");
    let text = text.replace(
        "[[core]]\nname = \"Core_0\"",
        "[aliases]\n\"x\" = \"EE_th_statu[0]\"\n[[core]]\nname = \"Core_0\"",
    );
    bench.write("recording/recording.toml", text);
    let run = bench.ok(&["ingest", "engine.db", "recording"]);
    for expected in [
        "signals: there is no variable 'SIG_X' in the trace; did you mean 'SIG_1'?",
        "runnables: there is no function 'R_1x' in the trace; did you mean 'R_1a'?",
        "task_functions: there is no function 'FuncT2' in the trace; did you mean 'FuncT_2'?",
        "task_functions: no ORTI file has the task 'T_9'; did you mean 'T_1'?",
        "aliases: no rule needs 'EE_th_statu[0]' of the ORTI files; did you mean 'EE_th_status[0]'?",
        "aliases: there is no variable 'x' in the trace",
    ] {
        let sql = "SELECT message FROM diagnostic WHERE code = 'unknown-name' AND severity = 'warning'";
        let all = bench.ok(&["query", "engine.db", sql, "--format", "csv"]).stdout;
        assert!(all.contains(expected), "{expected}\n{all}");
    }
    assert!(run.stderr.contains("[unknown-name]"), "{}", run.stderr);
    let strict = bench.run(&["ingest", "other.db", "recording", "--strict"]);
    assert_eq!(strict.code, Some(3), "{}", strict.all());
    assert!(strict.stderr.contains("did you mean") && !bench.path().join("other.db").exists());
}

#[test]
fn a_recording_without_an_operating_system_says_what_to_add() {
    let bench = Bench::new();
    let text = std::fs::read_to_string(bench.demo().join("recording.toml")).unwrap();
    bench.write("recording/recording.toml", text.replace("os = \"erika2\"\n", ""));
    let run = bench.ok(&["ingest", "engine.db", "recording"]);
    assert!(run.stderr.contains("no operating system is named: add os ="), "{}", run.stderr);
    let sql = "SELECT count(*) AS n FROM diagnostic WHERE code = 'not-mapped'";
    assert_eq!(bench.ok(&["query", "engine.db", sql, "--format", "csv"]).stdout, "n\n1");
}

#[test]
fn two_control_units_have_the_orti_files_that_the_description_gives_them() {
    let bench = Bench::new();
    let one = root().join("tests/data/erika2/events");
    for unit in ["e1", "e2"] {
        copy_dir(&one, &bench.path().join("r").join(unit));
    }
    let files = |unit: &str, ecu: &str| {
        format!(
            "[[core]]\nname = \"{unit}_Core_0\"\n{ecu}data = \"{unit}/core0_data.csv\"\nfunctions = \
             \"{unit}/core0_func.csv\"\norti = \"{unit}/system_cpu0.orti\"\nos_header = \"{unit}/eecfg_cpu0.h\"\n\
             symbols = \"{unit}/symbols.tsv\"\n"
        )
    };
    let head = std::fs::read_to_string(one.join("recording.toml")).unwrap();
    let head = head.split("[[core]]").next().unwrap();
    let write = |ecus: [&str; 2]| {
        let text = format!("{head}{}{}", files("e1", ecus[0]), files("e2", ecus[1]));
        bench.write("r/recording.toml", text);
    };
    // Each by itself, and both in one.
    bench.ok(&["ingest", "one.db", "r/e1", "-q"]);
    write(["", ""]);
    bench.ok(&["ingest", "two.db", "r", "-q"]);
    write(["ecu = \"A\"\n", "ecu = \"B\"\n"]);
    bench.ok(&["ingest", "three.db", "r", "-q"]);
    let sql = "SELECT core, state, sum(end_at - begin_at) AS spent FROM process_state WHERE type = 'T' \
               GROUP BY core, state ORDER BY core, state";
    let spent = |db: &str| bench.ok(&["query", db, sql, "--format", "csv"]).stdout;
    let alone = spent("one.db");
    let rows: Vec<&str> = alone.lines().skip(1).filter(|l| l.contains("Core_0")).collect();
    let both = spent("two.db");
    assert!(!rows.is_empty());
    for unit in ["e1", "e2"] {
        for row in &rows {
            assert!(both.contains(&row.replace("Core_0", &format!("{unit}_Core_0"))), "{row}\n{both}");
        }
    }
    assert_eq!(spent("three.db"), both);
    // The same unit cannot have one CPU twice.
    write(["ecu = \"A\"\n", "ecu = \"A\"\n"]);
    let run = bench.run(&["ingest", "four.db", "r", "-q"]);
    assert!(
        run.stderr.contains("both have the ORTI file of CPU 0") && run.stderr.contains("ecu = "),
        "{}",
        run.all()
    );
}

/// Every command that takes the option refuses what selects nothing, and names the next step.
#[test]
fn what_selects_nothing_is_an_error_in_every_command() {
    let bench = Bench::engine();
    let export = ["export", "engine.db", "-o", "x.btf"];
    let plot = ["plot", "engine.db", "-o", "x.svg"];
    let chart = ["plot", "engine.db", "-o", "x.svg", "--chart", "histogram", "ResponseTime"];
    let metrics = ["metrics", "engine.db", "ResponseTime"];
    let all: [&[&str]; 4] = [&export, &plot, &chart, &metrics];
    let refused = |command: &[&str], options: &[&str], expected: &str| {
        let run = bench.run(&[command, options].concat());
        assert_eq!(run.code, Some(2), "{command:?} {options:?}\n{}", run.all());
        assert!(run.stderr.contains(expected), "{command:?} {options:?}: {expected}\n{}", run.stderr);
        assert!(!bench.path().join("x.btf").exists() && !bench.path().join("x.svg").exists());
    };
    for command in all {
        refused(command, &["--entity", "T_55"], "did you mean 'T_5'?");
        refused(command, &["--from", "30ms", "--to", "20ms"], "--from is later than --to");
        refused(command, &["--from", "30ms", "--to", "30ms"], "the window is empty");
        refused(command, &["--from", "20s", "--to", "21s"], "recording 'demo' lasts from");
        refused(command, &["--to", "-1ms"], "outside the recording");
    }
    refused(&export, &["--entity", "T_5,SIG_9"], "did you mean 'SIG_1'?");
    refused(&plot, &["--entity", "T_5,SIG_9"], "did you mean 'SIG_1'?");
    refused(&export, &["--type", "TT"], "there is no type 'TT'");
    refused(&export, &["--type", "SCHED"], "has no event of type 'SCHED'");
    refused(&export, &["--type", "T,SCHEDD"], "there is no type 'SCHEDD'");
    refused(&plot, &["--type", "SCHEDD"], "there are no rows of 'SCHEDD'");
    refused(&["metrics", "engine.db", "grasp"], &["--from", "20s"], "outside the recording");
    // A list of types is for many recordings, of which some have no event of one of them.
    bench.ok(&["export", "engine.db", "-o", "x.btf", "--type", "T,SCHED"]);
    std::fs::remove_file(bench.path().join("x.btf")).unwrap();
    // Names that only some tables have, and parts that have nothing in common, are no mistakes.
    for (table, name) in
        [("data_event", "EE_th_status[0]"), ("function_event", "EE_as_rpc"), ("btf_event", "T_5")]
    {
        let to = format!("{table}.csv");
        bench.ok(&["export", "engine.db", "--table", table, "--entity", name, "-o", &to]);
        assert!(std::fs::read_to_string(bench.path().join(to)).unwrap().lines().count() > 1, "{table}");
    }
    let run = bench.ok(&["export", "engine.db", "--entity", "T_5", "--type", "SEM", "-o", "x.csv"]);
    assert!(run.stderr.contains("nothing matches the selection"), "{}", run.stderr);
    bench.ok(&["export", "engine.db", "--from", "100ms", "--to", "1s", "-o", "part.btf"]);
}

/// Both cores of the demo have a handler for calls of the other one: `EE_TC_iirq_handler`, at two addresses.
#[test]
fn isrs_of_one_name_are_a_process_on_each_core() {
    let bench = Bench::engine();
    let csv = |sql: &str| bench.ok(&["query", "engine.db", sql, "--format", "csv"]).stdout;
    let processes = csv(
        "SELECT process, core, count(*) AS n, min(instance) AS first, max(instance) AS last FROM process_instance \
         WHERE process LIKE '%iirq%' GROUP BY process, core ORDER BY process",
    );
    // In BTF they share a name and its numbers: the truth of each core is in the sources of its starts.
    let starts = csv(
        "SELECT source || '.' || target AS process, source AS core, count(*) AS n, 0 AS first, count(*) - 1 AS last \
         FROM btf_event WHERE target = 'EE_TC_iirq_handler' AND action = 'start' GROUP BY source, target ORDER BY source",
    );
    assert_eq!(processes, starts);
    assert_eq!(processes.lines().count(), 3, "{processes}");
    // The time between activations is that of each core.
    let distances = csv(
        "SELECT max(d) AS longest, count(d) AS n FROM (SELECT source, time - lag(time) OVER (PARTITION BY source \
         ORDER BY time) AS d FROM btf_event WHERE target = 'EE_TC_iirq_handler' AND action = 'start') GROUP BY source ORDER BY source",
    );
    let metric =
        ["metrics", "engine.db", "ActivateToActivate", "--entity", "EE_TC_iirq_handler", "--format", "csv"];
    let rows = bench.ok(&metric).stdout;
    let found: Vec<_> = rows.lines().skip(1).map(|row| row.split(',').collect::<Vec<_>>()).collect();
    let found: Vec<String> = found.iter().map(|row| format!("{},{}", row[10], row[6])).collect();
    assert_eq!(found, distances.lines().skip(1).collect::<Vec<_>>(), "{rows}");
    let migrations =
        bench.ok(&["metrics", "engine.db", "BoundedMigrations", "FullMigrations", "--format", "csv"]);
    let of_isrs: Vec<_> = migrations.stdout.lines().filter(|row| row.contains(",I,")).collect();
    assert_eq!(of_isrs.len(), 6, "{of_isrs:?}");
    for row in of_isrs {
        // The greatest sample of a sum is the sum.
        assert_eq!(row.split(',').nth(10), Some("0"), "{row}");
    }
    // Each has its row in a picture.
    for (to, options) in
        [("all.svg", &["--rows", "task"][..]), ("one.svg", &["--entity", "EE_TC_iirq_handler"])]
    {
        bench.ok(&[&["plot", "engine.db", "-o", to], options].concat());
        let svg = std::fs::read_to_string(bench.path().join(to)).unwrap();
        assert!(["Core_0", "Core_1"].iter().all(|core| svg.contains(&format!("{core}.EE_TC_iirq"))), "{to}");
    }
}

/// Only their use shows that two images have a handler of one name: in tables, the first one has the name as
/// it is. BTF says that each core has its own: a file read back has the same instances, with their cores in
/// their names.
#[test]
fn the_first_handler_of_a_name_comes_back_with_its_core() {
    let bench = Bench::new();
    bench.write(
        "r/recording.toml",
        "name = \"r\"\nos = \"osek\"\ncategory1_isrs = [\"Tick\"]\n\
         [[core]]\nname = \"Core_0\"\nfunctions = \"f0.csv\"\norti = \"os.orti\"\n\
         [[core]]\nname = \"Core_1\"\nfunctions = \"f1.csv\"\n",
    );
    bench.write(
        "r/os.orti",
        "VERSION { KOIL = \"2.1\"; OSSEMANTICS = \"ORTI\", \"2.1\"; };\n\
         IMPLEMENTATION One { OS { TOTRACE ENUM \"unsigned char\" [ \"StartOS\" = 50 ] SERVICETRACE, \"Service\"; }, \
         \"OS\"; };\nOS One { SERVICETRACE = \"svc\"; };\n",
    );
    bench.write(
        "r/f0.csv",
        "+2000; Tick; ientry\n+2100; Tick; iexit\n+4000; Tick; ientry\n+4100; Tick; iexit\n",
    );
    bench.write("r/f1.csv", "+3000; Tick; ientry\n+3200; Tick; iexit\n");
    bench.ok(&["ingest", "a.db", "r", "-q"]);
    bench.ok(&["export", "a.db", "-o", "a.btf", "-q"]);
    let text = std::fs::read_to_string(bench.path().join("a.btf")).unwrap();
    assert!(text.contains("\n# on each core another handler: Tick\n"), "{text}");
    bench.ok(&["ingest", "b.db", "a.btf", "-q"]);
    let instances = |db: &str, process: &str| {
        let sql = format!(
            "SELECT {process} AS process, core, instance, activate_at, start_at, terminate_at, complete, running \
             FROM process_instance ORDER BY start_at"
        );
        bench.ok(&["query", db, &sql, "--format", "csv"]).stdout
    };
    let first = instances("a.db", "process");
    assert!(
        first.contains("\nTick,Core_0,1,4000,") && first.contains("\nCore_1.Tick,Core_1,0,3000,"),
        "{first}"
    );
    assert_eq!(instances("a.db", "core || '.Tick'"), instances("b.db", "process"));
}

/// What a recording knows of gaps and of handlers that share a name goes with its BTF file, in comments.
#[test]
fn gaps_and_handlers_come_back_with_a_file() {
    for input in ["demo/recording", "tests/data/erika2/gap", "tests/data/osek/smp"] {
        let bench = Bench::new();
        bench.ok(&["ingest", "a.db", root().join(input).to_str().unwrap(), "-q"]);
        bench.ok(&["export", "a.db", "-o", "a.btf", "-q"]);
        let run = bench.ok(&["ingest", "b.db", "a.btf"]);
        assert!(
            !run.stderr.contains("doubtful") && !run.stderr.contains("warning"),
            "{input}\n{}",
            run.stderr
        );
        let csv = |db: &str, sql: &str| bench.ok(&["query", db, sql, "--format", "csv"]).stdout;
        // What a mapper knows without an event is not in the file.
        for sql in [
            "SELECT process, type, instance, core, activate_at, start_at, terminate_at, complete, running FROM \
             process_instance ORDER BY process, instance",
            "SELECT process, instance, core, state, begin_at, end_at FROM process_state WHERE state <> 'ready' \
             ORDER BY process, instance, begin_at",
            "SELECT core, begin_at, end_at, reason FROM gap ORDER BY begin_at",
        ] {
            assert_eq!(csv("a.db", sql), csv("b.db", sql), "{input}: {sql}");
        }
        bench.ok(&["export", "b.db", "-o", "b.btf", "-q"]);
        let [a, b] = ["a.btf", "b.btf"].map(|file| std::fs::read_to_string(bench.path().join(file)).unwrap());
        assert_eq!(a, b, "{input}");
    }
}

/// In whatever unit a file counts, and also when it is read and written again in another one.
#[test]
fn gaps_stay_where_they_are_in_every_unit() {
    let bench = Bench::new();
    bench.ok(&["ingest", "t.db", root().join("tests/data/erika2/gap").to_str().unwrap(), "-q"]);
    let gaps = |db: &str| {
        let sql = "SELECT core, begin_at, end_at, reason FROM gap ORDER BY begin_at";
        bench.ok(&["query", db, sql, "--format", "csv"]).stdout
    };
    let expected = gaps("t.db");
    assert_eq!(expected.lines().count(), 3, "{expected}");
    let again = |from: &str, unit: &str| {
        let (file, db) = (format!("{from}.{unit}.btf"), format!("{from}.{unit}.db"));
        bench.ok(&["export", from, "--time-scale", unit, "-o", &file, "-q"]);
        bench.ok(&["ingest", &db, &file, "--time-scale", "ns", "-q"]);
        assert_eq!(gaps(&db), expected, "{file}");
        (db, std::fs::read_to_string(bench.path().join(file)).unwrap())
    };
    for unit in ["ps", "ns", "us"] {
        let (db, text) = again("t.db", unit);
        for other in ["ps", "ns", "us"] {
            let (_, text) = again(&db, other);
            let comments: Vec<&str> = text.lines().filter(|line| line.starts_with("# gap of ")).collect();
            assert!(comments.len() == 2 && comments.iter().all(|line| line.ends_with(other)), "{text}");
        }
        // Files may have comments in another unit than their own.
        let text = text.replace("from 5 to 9 us", "from 5000 to 9000 ns");
        bench.write("mixed.btf", text);
        let db = format!("mixed.{unit}.db");
        bench.ok(&["ingest", &db, "mixed.btf", "--time-scale", "ns", "-q"]);
        assert_eq!(gaps(&db), expected);
    }
    // Rounded as the times of events are, and that is said.
    let run = bench.ok(&["export", "t.db", "--time-scale", "ms", "-o", "ms.btf"]);
    let text = std::fs::read_to_string(bench.path().join("ms.btf")).unwrap();
    assert!(text.contains(", from 0 to 0 ms\n"), "{text}");
    let times = "SELECT count(*) AS n FROM btf_event WHERE time % 1000000 <> 0";
    let times = bench.ok(&["query", "t.db", times, "--format", "csv"]).stdout;
    let times: u64 = times.lines().nth(1).unwrap().parse().unwrap();
    assert!(run.stderr.contains(&format!("{} times were rounded", times + 4)), "{}", run.stderr);
}

/// Of the slice, no event is behind the gap.
#[test]
fn a_gap_at_the_end_of_a_slice_comes_back() {
    let bench = Bench::new();
    bench.ok(&["ingest", "t.db", root().join("tests/data/erika2/gap").to_str().unwrap(), "-q"]);
    bench.ok(&["export", "t.db", "--to", "6us", "-o", "part.btf", "-q"]);
    bench.ok(&["ingest", "part.db", "part.btf", "-q"]);
    let sql = "SELECT core, begin_at, end_at FROM gap";
    let gaps = bench.ok(&["query", "part.db", sql, "--format", "csv"]).stdout;
    assert_eq!(gaps, "core,begin_at,end_at\nCore_0,5000,9000");
}
