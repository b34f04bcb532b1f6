//! Scripts for the Grasp player: they run in `tclsh`, with a procedure per command that checks its arguments
//! (`tests/grasp_stub.tcl`), and hold as many events as SQL counts. Says so where there is no `tclsh`.

use crate::support::{Bench, root};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// What the script does when it runs, by kind; `None` without `tclsh`.
fn run(bench: &Bench, script: &str) -> Option<BTreeMap<String, u64>> {
    let stub = root().join("tests/grasp_stub.tcl");
    let run = match Command::new("tclsh").arg(stub).arg(script).current_dir(bench.path()).output() {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            println!("tclsh is not there: {script} was not run (Debian: tcl)");
            return None;
        }
        run => run.unwrap(),
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(run.status.success(), "{script}: {}", text(&run.stderr));
    let counts = text(&run.stdout);
    let pair = |line: &str| line.rsplit_once(' ').map(|(kind, n)| (kind.to_owned(), n.parse().unwrap()));
    Some(counts.lines().filter_map(pair).collect())
}

/// The number of rows, as SQL counts them.
fn count(bench: &Bench, sql: &str) -> u64 {
    let run = bench.ok(&["query", "t.db", sql, "--format", "csv"]);
    run.stdout.lines().nth(1).unwrap().parse().unwrap()
}

/// Exports the only recording whole and in slices. The script and SQL must count the same.
fn check(bench: &Bench) {
    let bounds = bench.ok(&["query", "t.db", "SELECT begin_at, end_at FROM recording", "--format", "csv"]);
    let bounds: Vec<i64> =
        bounds.stdout.lines().nth(1).unwrap().split(',').map(|n| n.parse().unwrap()).collect();
    let (begin, end) = (bounds[0], bounds[1]);
    let third = (end - begin) / 3;
    for (from, to) in
        [(begin, end + 1), (begin, begin + third), (begin + third, end - third), (end - third, end + 1)]
    {
        let (from_text, to_text) = (from.to_string(), to.to_string());
        for dialect in ["2010", "2012"] {
            let args =
                ["export", "t.db", "-o", "t.grasp", "--force", "-q", "--from", &from_text, "--to", &to_text];
            bench.ok(&[&args[..], &["--dialect", dialect]].concat());
            let Some(seen) = run(bench, "t.grasp") else { return };
            let seen = |kind: &str| seen.get(kind).copied().unwrap_or(0);
            let arrived = count(
                bench,
                &format!(
                    "SELECT count(*) FROM process_instance WHERE activate_at >= {from} AND activate_at < {to}"
                ),
            );
            let arrivals = if dialect == "2010" { "taskArrived" } else { "jobArrived" };
            assert_eq!(seen(arrivals), arrived, "{from}..{to}");
            let completed = count(
                bench,
                &format!(
                    "SELECT count(*) FROM process_instance WHERE terminate_at >= {from} AND terminate_at < {to}"
                ),
            );
            assert_eq!(seen("jobCompleted"), completed, "{from}..{to}");
            let ignored = count(
                bench,
                &format!(
                    "SELECT count(*) FROM btf_event WHERE action LIKE 'm_alimitexce%ded' AND time >= {from} AND time < {to}"
                ),
            );
            assert_eq!(seen("taskArrivedAndIgnored"), ignored, "{from}..{to}");
            let messages = count(
                bench,
                &format!(
                    "SELECT count(*) FROM btf_event WHERE target_type IN ('STI', 'SIG', 'EVENT') \
                     AND time >= {from} AND time < {to}"
                ),
            );
            assert_eq!(seen("message"), messages, "{from}..{to}");
        }
    }
}

#[test]
fn exported_scripts_run_and_hold_what_sql_counts() {
    for input in ["tests/data/btf/library.btf", "tests/data/btf/metrics.btf", "demo/recording"] {
        let bench = Bench::new();
        ingest(&bench, &root().join(input));
        check(&bench);
    }
}

fn ingest(bench: &Bench, path: &Path) {
    bench.ok(&["ingest", "t.db", path.to_str().unwrap(), "-q"]);
}

/// Names of any kind are one word each.
#[test]
fn names_that_tcl_would_read_are_quoted() {
    let bench = Bench::new();
    let lines = "#version 2.1.5\n#timeScale ns\n\
                 0,STI,0,T,a [exit 3] $b {,0,activate\n1,C 1;,0,T,a [exit 3] $b {,0,start\n\
                 2,a [exit 3] $b {,0,SIG,\\,0,write,}\"\n3,C 1;,0,T,a [exit 3] $b {,0,terminate\n\
                 4,X,0,VENDOR,end\\,0,strange\n5,STI,0,STI,STI,1,trigger\n";
    bench.write("t.btf", lines);
    ingest(&bench, &bench.path().join("t.btf"));
    bench.ok(&["export", "t.db", "-o", "t.grasp", "-q"]);
    if let Some(seen) = run(&bench, "t.grasp") {
        let expected = ["jobArrived", "jobCompleted", "jobResumed", "message", "newProcessor", "newTask"];
        assert_eq!(seen.keys().collect::<Vec<_>>(), expected);
        assert_eq!(seen["message"], 2);
    }
}

#[test]
fn options_belong_to_their_format() {
    let bench = Bench::new();
    ingest(&bench, &root().join("tests/data/btf/library.btf"));
    for (args, hint) in [
        (&["-o", "t.btf", "--tick", "1us"][..], "use --format grasp"),
        (&["-o", "t.grasp", "--numeric"], "use --format btf"),
        (&["-o", "t.grasp", "--chains", "c.toml"], "use --format perfetto"),
        (&["-o", "t.pftrace", "--style", "6"], "use --format traceprinter"),
        (&["-o", "t.pftrace", "--table", "gap"], "use --format csv or --format parquet"),
    ] {
        let chains = root().join("tests/data/btf/library_chains.toml");
        std::fs::copy(chains, bench.path().join("c.toml")).unwrap();
        let run = bench.run(&[&["export", "t.db"], args].concat());
        assert_eq!(run.code, Some(2), "{args:?}\n{}", run.stderr);
        assert!(run.stderr.contains(hint), "{args:?}\n{}", run.stderr);
    }
    let run = bench.ok(&["export", "t.db", "-o", "t.pftrace", "--chains", "c.toml"]);
    assert!(run.stderr.contains(" slices, "), "{}", run.stderr);
    let bytes = std::fs::read(bench.path().join("t.pftrace")).unwrap();
    assert_eq!(bytes[0], 0x0a, "field 1 of a trace is a packet");
}

/// Text of a script, whatever its line ends and its last one.
fn lines(text: &str) -> Vec<String> {
    text.lines().map(|line| line.trim_end_matches('\r').to_owned()).collect()
}

/// A Grasp trace comes out as it went in, also by way of the other dialect.
fn check_identity(bench: &Bench, path: &Path) {
    let text = String::from_utf8(std::fs::read(path).unwrap()).unwrap();
    ingest(bench, path);
    let exported = |args: &[&str], file: &str| {
        bench.ok(&[&["export", "t.db", "-q", "--force", "-o", file], args].concat());
        std::fs::read_to_string(bench.path().join(file)).unwrap()
    };
    let same = exported(&[], "same.grasp");
    assert_eq!(lines(&same), lines(&text), "{}", path.display());
    let new = exported(&["--dialect", "2012"], "new.grasp");
    let old = exported(&["--dialect", "2010"], "old.grasp");
    // What is not declared in the one dialect is not in the other: only declarations differ.
    let plain = |text: &str| -> Vec<String> {
        let declares = |line: &String| {
            let line = line.trim_start();
            ["new", "[Task", "[Job", "[Server", "[Mutex", "[Semaphore", "[Buffer"]
                .iter()
                .any(|w| line.starts_with(w))
        };
        lines(text).into_iter().filter(|line| !declares(line)).collect()
    };
    assert_eq!(plain(&new), plain(&text), "{}", path.display());
    assert_eq!(plain(&old), plain(&text), "{}", path.display());
    let back = Bench::new();
    ingest(&back, &bench.path().join("old.grasp"));
    back.ok(&["export", "t.db", "-q", "--dialect", "2012", "-o", "back.grasp"]);
    let back = std::fs::read_to_string(back.path().join("back.grasp")).unwrap();
    assert_eq!(lines(&back), lines(&new), "{}", path.display());
}

#[test]
fn grasp_traces_come_out_as_they_went_in() {
    check_identity(&Bench::new(), &root().join("tests/data/grasp/control.grasp"));
    let Some(corpus) = std::env::var_os("BTFDB_CORPUS") else {
        println!("BTFDB_CORPUS is not set: traces of others were not exported");
        return;
    };
    let mut traces = 0;
    for entry in std::fs::read_dir(Path::new(&corpus).join("grasp")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "grasp" || e == "log") {
            check_identity(&Bench::new(), &path);
            traces += 1;
        }
    }
    assert!(traces > 5);
}

/// A script that is exported from BTF and read again has the same jobs, with the same times.
#[test]
fn jobs_survive_the_way_through_grasp() {
    let jobs = |bench: &Bench, running: &str| {
        let sql = format!(
            "SELECT process, type, activate_at, start_at, terminate_at, {running} AS running FROM process_instance \
             WHERE complete ORDER BY process, activate_at, terminate_at"
        );
        bench.ok(&["query", "t.db", &sql, "--format", "csv"]).stdout
    };
    for input in ["tests/data/btf/library.btf", "demo/recording"] {
        let bench = Bench::new();
        ingest(&bench, &root().join(input));
        for dialect in ["2010", "2012"] {
            bench.ok(&["export", "t.db", "-q", "--force", "--dialect", dialect, "-o", "t.grasp"]);
            let back = Bench::new();
            back.ok(&[
                "ingest",
                "t.db",
                bench.path().join("t.grasp").to_str().unwrap(),
                "--tick",
                "1ns",
                "-q",
            ]);
            // Grasp does not distinguish waiting on a core from running, and does not say when a waiting job
            // is released.
            assert_eq!(jobs(&back, "running"), jobs(&bench, "running + polling"), "{input}");
        }
    }
}

/// Figure 6 of the paper, to the digit that it prints.
#[test]
fn the_measurement_of_the_paper() {
    let Some(corpus) = std::env::var_os("BTFDB_CORPUS") else {
        println!("BTFDB_CORPUS is not set: figure 6 was not compared");
        return;
    };
    let folder = Path::new(&corpus).join("grasp");
    let bench = Bench::new();
    ingest(&bench, &folder.join("buffers.grasp"));
    let table = bench.ok(&["metrics", "t.db", "grasp", "--format", "csv"]).stdout;
    // Hundredths, rounded half up: all numbers of the figure have at most two decimals.
    let hundredths = |text: &str| -> Option<i64> {
        let (whole, part) = text.split_once('.')?;
        let thousandths: i64 = format!("{whole}{part:0<3}").parse().ok()?;
        Some((thousandths + 5) / 10)
    };
    let measured: Vec<Vec<&str>> = table.lines().map(|line| line.split(',').collect()).collect();
    let golden = std::fs::read_to_string(folder.join("figure6_golden.tsv")).unwrap();
    let mut order = Vec::new();
    for line in golden.lines().skip(1) {
        let cells: Vec<_> = line.split('\t').collect();
        let place = measured.iter().position(|row| row[1] == cells[0]).unwrap_or_else(|| panic!("{table}"));
        order.push(place);
        for (expected, found) in cells[1..7].iter().zip(&measured[place][2..8]) {
            assert_eq!(hundredths(found), hundredths(expected), "{line}\n{table}");
        }
    }
    assert!(order.len() == 4 && order.is_sorted(), "the order is that of the priorities: {table}");
}

/// Servers, buffers and messages are of Grasp alone: a part of a trace is written from what all recordings
/// have, and says so.
#[test]
fn a_part_says_what_it_leaves_out() {
    let bench = Bench::new();
    let script = "\
newTask t -name T -priority 1
newServer s -name S -budget 5 -capacity 5
newJob j t
plot 0 jobResumed j
plot 10 serverReplenished s 5
plot 12 message {half}
plot 20 serverDepleted s
plot 30 jobCompleted j
";
    ingest(&bench, &bench.write("s.grasp", script));
    let whole = bench.ok(&["export", "t.db", "--format", "grasp", "-o", "-"]);
    assert_eq!(whole.stdout, script.trim_end());
    let part = ["export", "t.db", "--format", "grasp", "-o", "-", "--from", "5ms", "--to", "15ms"];
    let part = bench.ok(&part);
    assert!(!part.stdout.contains("server"), "{}", part.stdout);
    assert!(part.stderr.contains("deadlines, …): 2;"), "{}", part.stderr);
}

/// What ran when a gap began is not drawn as running through it.
#[test]
fn gaps_are_comments_in_which_nothing_runs() {
    let bench = Bench::new();
    ingest(&bench, &root().join("tests/data/erika2/gap"));
    check(&bench);
    let export = bench.ok(&["export", "t.db", "--tick", "1us", "--force", "-o", "t.grasp"]);
    assert!(export.stderr.contains("2 gaps of the recording cannot be said in Grasp"), "{}", export.stderr);
    let text = std::fs::read_to_string(bench.path().join("t.grasp")).unwrap();
    let (mut runs, mut gaps) = (0, 0);
    for line in text.lines() {
        gaps += u32::from(line.starts_with("# gap of Core_0: "));
        runs += i32::from(line.contains(" jobResumed "));
        runs -=
            i32::from([" jobPreempted ", " jobCompleted ", " jobBlocked "].iter().any(|w| line.contains(w)));
        assert!(runs == 0 || !line.starts_with("# gap of "), "{line}\n{text}");
    }
    assert!(text.contains(", from 5 to 9\n"), "{text}");
    assert_eq!((gaps, runs), (2, 0), "{text}");
}

/// ISRs of one name that are another process on each core: their jobs, and what they do with semaphores.
#[test]
fn shared_handlers_have_jobs_of_their_own() {
    let bench = Bench::new();
    let trace = "#version 2.2.1\n#timescale ns\n# on each core another handler: I\n\
                 0,S,0,I,I,0,activate\n0,Core_0,0,I,I,0,start\n1,I,0,SEM,M,0,requestsemaphore\n\
                 1,M,0,SEM,M,0,lock\n1,I,0,SEM,M,0,assigned\n2,S,0,I,I,1,activate\n2,Core_1,0,I,I,1,start\n\
                 3,I,0,SEM,M,0,released\n3,M,0,SEM,M,0,unlock\n4,Core_0,0,I,I,0,terminate\n\
                 5,Core_1,0,I,I,1,terminate\n6,S,0,I,I,2,activate\n6,Core_1,0,I,I,2,start\n\
                 7,Core_1,0,I,I,2,terminate\n";
    bench.write("t.btf", trace);
    ingest(&bench, &bench.path().join("t.btf"));
    for options in [&[][..], &["--entity", "I"], &["--entity", "I*"], &["--from", "2ns"]] {
        let export = bench.ok(&[&["export", "t.db", "--force", "-o", "t.grasp"], options].concat());
        assert!(!export.stderr.contains("are selected"), "{options:?}\n{}", export.stderr);
        let text = std::fs::read_to_string(bench.path().join("t.grasp")).unwrap();
        let arrived: Vec<&str> = text.lines().filter(|line| line.contains("jobArrived")).collect();
        let names = ["{Core_0.I 0}", "{Core_1.I 0}", "{Core_1.I 1}"];
        let expected = if options.first() == Some(&"--from") { &names[1..] } else { &names[..] };
        assert!(arrived.iter().zip(expected).all(|(line, name)| line.ends_with(name)), "{arrived:?}");
        assert_eq!(arrived.len(), expected.len(), "{text}");
        assert_eq!(text.matches("jobAcquiredMutex").count(), 1, "{text}");
        assert_eq!(text.matches("jobReleasedMutex").count(), 1, "{text}");
    }
}
