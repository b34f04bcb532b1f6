//! `btfdb bound`: its text and rows, bounds that are known by hand, and what it refuses. Not the analysis
//! (see `src/bound`).

use crate::support::Bench;
use std::fmt::Write as _;

/// Two tasks of a core without priorities: A every 100 ns for 10 ns, B every 200 ns for 30 ns. Nothing takes
/// time between them.
fn two_tasks() -> Bench {
    let bench = Bench::new();
    let mut text =
        "#version 2.2.1\n#creator test\n#creationDate 2026-01-01T00:00:00Z\n#timeScale ns\n".to_owned();
    let mut jobs: Vec<(i64, &str, i64)> = (0..8).map(|n| (n * 100, "A", 10)).collect();
    jobs.extend((0..4).map(|n| (n * 200 + 50, "B", 30)));
    jobs.sort_unstable();
    for (n, (at, name, length)) in jobs.into_iter().enumerate() {
        // Instances are numbered for each task.
        let instance = if name == "A" { at / 100 } else { at / 200 };
        writeln!(text, "{at},Timer_{name},{n},T,{name},{instance},activate").unwrap();
        writeln!(text, "{at},Core_0,0,T,{name},{instance},start").unwrap();
        writeln!(text, "{},Core_0,0,T,{name},{instance},terminate", at + length).unwrap();
    }
    bench.write("two.btf", text);
    bench.ok(&["ingest", "two.db", "two.btf", "-q"]);
    bench
}

#[test]
fn bounds_of_the_demo_read_like_a_table_with_notes() {
    let bench = Bench::engine();
    let text = bench.ok(&["bound", "engine.db"]).stdout;
    for part in [
        "demo, Core_0:",
        "demo, Core_1:",
        "  T_1 has no bound: never ran",
        "\nA bound holds as long as this does:\n  arrivals: ",
        "  seen_priorities: ",
        "  unknown_priorities: ",
        "a bound is no safe one for the system.",
        "  T_3, against one_section: ",
        "  one_section: ",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
}

/// Without priorities each one delays the other: 10 + 30 ns, as the next of both come later.
#[test]
fn a_bound_is_what_it_is_by_hand() {
    let bench = two_tasks();
    let run = bench.ok(&["bound", "two.db", "--format", "csv"]);
    let rows: Vec<Vec<&str>> = run.stdout.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(
        rows[0][..17].join(","),
        "recording,process,type,core,priority,activations,min_distance,period,jitter,worst_execution,blocking,\
         blocked_by,blocked_why,measured,bound,ratio,reason"
    );
    assert_eq!(rows[1][..17].join(","), "two,A,T,Core_0,,8,100,100,0,10,0,,,10,40,4,");
    let of_b = "two,B,T,Core_0,,4,200,200,0,30,0,,,30,40,1.3333333333333333,";
    assert_eq!(rows[2][..17].join(","), of_b);
    assert!(run.stdout.contains("unknown_priorities"), "{}", run.stdout);
    let run = bench.ok(&["bound", "two.db", "--entity", "B", "--unit", "us", "--format", "csv"]);
    assert!(run.stdout.starts_with("recording,process,type,core,priority,activations,min_distance [us],"));
    assert!(run.stdout.lines().nth(1).unwrap().contains(",0.030,0.040,1.33"), "{}", run.stdout);
    assert_eq!(run.stdout.lines().count(), 2);
}

/// A takes the core from B, so that B does not delay it, whatever nobody describes.
#[test]
fn who_takes_the_core_goes_first() {
    let bench = Bench::new();
    let mut text = "#version 2.2.1\n#creator test\n#timeScale ns\n".to_owned();
    for n in 0..4 {
        for (at, name, action) in [
            (0, "B", "activate"),
            (0, "B", "start"),
            (20, "A", "activate"),
            (20, "B", "preempt"),
            (20, "A", "start"),
            (30, "A", "terminate"),
            (30, "B", "resume"),
            (60, "B", "terminate"),
        ] {
            let source = if action == "activate" { "Timer" } else { "Core_0" };
            writeln!(text, "{},{source},0,T,{name},{n},{action}", at + n * 100).unwrap();
        }
    }
    bench.write("taken.btf", text);
    bench.ok(&["ingest", "taken.db", "taken.btf", "-q"]);
    let run = bench.ok(&["bound", "taken.db", "--format", "csv"]);
    let rows: Vec<Vec<&str>> = run.stdout.lines().skip(1).map(|line| line.split(',').collect()).collect();
    let bounds: Vec<_> = rows.iter().map(|row| (row[1], row[13], row[14])).collect();
    assert_eq!(bounds, [("A", "10", "10"), ("B", "60", "60")]);
    assert!(run.stdout.contains("seen_priorities") && !run.stdout.contains("unknown_priorities"));
}

/// A starts while B is preempted, but B goes on while A is: time is shared, and no order is claimed.
#[test]
fn a_scheduler_that_shares_time_shows_no_priorities() {
    let bench = Bench::new();
    let mut text = "#version 2.2.1\n#creator test\n#timeScale ns\n".to_owned();
    for n in 0..4 {
        for (at, name, action) in [
            (0, "B", "activate"),
            (0, "B", "start"),
            (10, "A", "activate"),
            (20, "B", "preempt"),
            (20, "A", "start"),
            (30, "A", "preempt"),
            (30, "B", "resume"),
            (40, "B", "terminate"),
            (40, "A", "resume"),
            (50, "A", "terminate"),
        ] {
            let source = if action == "activate" { "Timer" } else { "Core_0" };
            writeln!(text, "{},{source},0,T,{name},{n},{action}", at + n * 100).unwrap();
        }
    }
    bench.write("shared.btf", text);
    bench.ok(&["ingest", "shared.db", "shared.btf", "-q"]);
    let run = bench.ok(&["bound", "shared.db", "--format", "csv"]);
    assert!(!run.stdout.contains("seen_priorities") && run.stdout.contains("unknown_priorities"));
    let bounds: Vec<i64> =
        run.stdout.lines().skip(1).filter_map(|l| l.split(',').nth(14)?.parse().ok()).collect();
    // Each delays the other one: A was 40 ns late, B too.
    assert!(bounds.len() == 2 && bounds.iter().all(|bound| *bound >= 50), "{}", run.stdout);
}

/// No response of a simulated system is above its bound.
#[test]
fn a_simulated_system_keeps_its_bounds() {
    let bench = Bench::new();
    let model = crate::support::root().join("models/erika/app1.toml");
    bench.ok(&["simulate", model.to_str().unwrap(), "-o", "simulated", "-q"]);
    bench.ok(&["ingest", "simulated.db", "simulated/recording", "-q"]);
    let text = bench.ok(&["bound", "simulated.db"]).stdout;
    assert!(text.contains("A bound holds") && !text.contains("above the bound"), "{text}");
}

#[test]
fn what_has_no_bounds_is_refused() {
    let bench = two_tasks();
    bench.write("empty.btf", "#version 2.2.1\n#creator test\n#timeScale ns\n0,Sim,0,STI,S,0,trigger\n");
    bench.ok(&["ingest", "empty.db", "empty.btf", "-q"]);
    for (words, hint) in [
        ("two.db --entity AA", "no task or ISR is called 'AA'"),
        ("two.db --recording three", "three"),
        ("empty.db", "no recording has tasks or ISRs"),
    ] {
        let args: Vec<&str> = ["bound"].into_iter().chain(words.split(' ')).collect();
        let run = bench.run(&args);
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{words}: {}", run.stderr);
        assert!(run.stderr.contains(hint), "{words}: {}", run.stderr);
    }
}

/// A bound that is rounded down is none, and parts of a response that are rounded do not add up.
#[test]
fn lengths_are_exact_in_a_database_of_picoseconds() {
    let bench = Bench::new();
    let mut text = "#version 2.2.1\n#timescale ps\n".to_owned();
    for n in 0..4i64 {
        let at = n * 20_000_000_000;
        let end = at + 12_345_678_901;
        writeln!(text, "{at},S,{n},T,A,{n},activate\n{at},Core_0,0,T,A,{n},start").unwrap();
        writeln!(text, "{end},Core_0,0,T,A,{n},terminate").unwrap();
    }
    bench.write("a.btf", text);
    bench.ok(&["ingest", "a.db", "a.btf", "--time-scale", "ps", "-q"]);
    let bound = bench.ok(&["bound", "a.db"]).stdout;
    // Execution, measured, bound.
    assert_eq!(bound.matches("12.345678901 ms").count(), 3, "{bound}");
    let explained = bench.ok(&["explain", "a.db", "ResponseTime:A:max"]).stdout;
    assert!(explained.matches("12.345678901 ms").count() >= 3, "{explained}");
    assert!(!explained.contains("12.3457 ms"), "{explained}");
    bench.ok(&["plot", "a.db", "--explain", "ResponseTime:A:max", "-o", "a.svg"]);
    let svg = std::fs::read_to_string(bench.path().join("a.svg")).unwrap();
    assert!(svg.contains("12.345678901 ms") && !svg.contains("12.3457 ms"));
}
