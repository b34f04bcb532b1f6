//! `check` and `compare` as users see them: verdicts, exit codes, what they print. The rules and levels
//! themselves have unit tests.

use crate::support::{Bench, root};
use serde_json::Value;

fn json(bench: &Bench, args: &[&str]) -> (Option<i32>, Value) {
    let run = bench.run(&[args, &["--format", "json"]].concat());
    let value = serde_json::from_str(&run.stdout)
        .unwrap_or_else(|e| panic!("{args:?}: {e}\n{}{}", run.stdout, run.stderr));
    (run.code, value)
}

#[test]
fn figure_5_16_is_equal_at_order_and_different_at_exact() {
    let folder = root().join("tests/data/btf/compare");
    let (a, b) = (folder.join("hardware.btf"), folder.join("simulation.btf"));
    let (a, b) = (a.to_str().unwrap(), b.to_str().unwrap());
    let bench = Bench::new();
    let order = bench.run(&["compare", a, b, "--level", "order"]);
    assert_eq!(order.code, Some(0), "{}{}", order.stdout, order.stderr);
    assert!(order.stdout.starts_with("equal at level order: 11 and 11 events"), "{}", order.stdout);
    let exact = bench.run(&["compare", a, b, "--level", "exact"]);
    assert_eq!(exact.code, Some(3));
    insta::assert_snapshot!(exact.stdout);
    // The start of T_2 is 20 us later.
    assert_eq!(bench.run(&["compare", a, b, "--level", "timing", "--tolerance", "20us"]).code, Some(0));
    assert_eq!(bench.run(&["compare", a, b, "--level", "timing", "--tolerance", "19us"]).code, Some(3));
    assert_eq!(bench.run(&["compare", a, b, "--level", "timing", "--tolerance", "start=20us"]).code, Some(0));
    // Both are good BTF, but for the stimuli that no version triggers in this way.
    assert_eq!(bench.run(&["check", a]).code, Some(0));
}

#[test]
fn two_changed_lines_are_reported_as_those_lines() {
    let bench = Bench::new();
    bench.demo();
    bench.ok(&["ingest", "a.db", "recording", "-q"]);
    bench.ok(&["export", "a.db", "-o", "a.btf", "-q"]);
    let text = std::fs::read_to_string(bench.path().join("a.btf")).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let find = |lines: &[String], words: &str, from: usize| {
        (from..lines.len()).find(|n| lines[*n].contains(words)).unwrap()
    };
    let (one, two) = (find(&lines, ",T,T_3,", 500), find(&lines, "write,", 1500));
    let action = lines[one].rsplit(',').next().unwrap().to_owned();
    lines[one] = lines[one].replace(&action, "wait");
    lines[two] += "1";
    bench.write("b.btf", lines.join("\n"));
    for level in ["exact", "order", "timing"] {
        let (code, result) = json(&bench, &["compare", "a.btf", "b.btf", "--level", level]);
        assert_eq!(code, Some(3), "{level}");
        let found: Vec<_> = result["differing"]
            .as_array()
            .unwrap()
            .iter()
            .map(|d| (d["left"]["line"].as_u64().unwrap(), d["right"]["line"].as_u64().unwrap()))
            .collect();
        let expected = [(one as u64 + 1, one as u64 + 1), (two as u64 + 1, two as u64 + 1)];
        assert_eq!(found, expected, "{level}: {result:#}");
    }
    // A database, its recording and the file that it was exported to are the same trace.
    assert_eq!(bench.run(&["compare", "a.db", "a.btf", "--level", "exact"]).code, Some(0));
    assert_eq!(bench.run(&["compare", "a.db:demo", "a.btf", "--level", "exact"]).code, Some(0));
    assert_eq!(bench.run(&["compare", "a.btf", "b.btf", "--ignore", "SIG,T_3"]).code, Some(0));
}

#[test]
fn metrics_are_compared_with_a_threshold() {
    let bench = Bench::new();
    let trace = |last: u32| {
        format!(
            "#version 2.2.1\n#timescale us\n0,S,0,T,A,0,activate\n1,C,0,T,A,0,start\n101,C,0,T,A,0,terminate\n200,S,1,T,A,1,activate\n201,C,0,T,A,1,start\n{last},C,0,T,A,1,terminate\n"
        )
    };
    bench.write("a.btf", trace(301));
    bench.write("b.btf", trace(311));
    let args = ["compare", "a.btf", "b.btf", "--level", "metrics", "--metric", "ResponseTime"];
    let (code, result) = json(&bench, &args);
    assert_eq!(code, Some(3));
    let of = |statistic: &str| {
        let all = result["differing"].as_array().unwrap();
        let one = all.iter().find(|d| d["statistic"] == statistic).unwrap();
        (one["left"].as_f64().unwrap(), one["right"].as_f64().unwrap())
    };
    assert_eq!((of("max"), of("avg")), ((101_000.0, 111_000.0), (101_000.0, 106_000.0)));
    let (code, result) = json(&bench, &[&args[..], &["--threshold", "10"]].concat());
    assert_eq!((code, result["equal"].as_bool()), (Some(0), Some(true)));
    let run = bench.run(&[&args[..], &["--threshold", "9"]].concat());
    assert!(run.stdout.contains("ResponseTime of A on C: max 101000 → 111000 (+9.9 %)"), "{}", run.stdout);
}

/// A line that was rejected is not there to be compared: nobody knows whether it is the same in both.
#[test]
fn traces_with_lines_that_were_rejected_are_not_equal() {
    let bench = Bench::new();
    let trace = |end: &str| {
        format!(
            "#version 2.2.1\n#timescale us\n0,S,0,T,A,0,activate\n1,C,0,T,A,0,start\n{end},C,0,T,A,0,terminate\n"
        )
    };
    bench.write("a.btf", trace("150.0"));
    bench.write("b.btf", trace("150.5"));
    bench.write("c.btf", trace("150"));
    for database in ["a", "b"] {
        bench.ok(&["ingest", &format!("{database}.db"), &format!("{database}.btf"), "-q"]);
    }
    for (a, b) in [("a.btf", "b.btf"), ("a.db", "b.db"), ("a.db", "b.btf")] {
        for level in ["exact", "order", "timing", "metrics"] {
            let run = bench.run(&["compare", a, b, "--level", level]);
            assert_eq!(run.code, Some(3), "{a} {b} {level}\n{}", run.all());
            assert!(run.stdout.starts_with("undecided at level"), "{}", run.all());
            for side in [a, b] {
                let expected = format!("warning: {side}: line 5: ");
                assert!(run.stderr.contains(&expected) && run.stderr.contains("[bad-time]"), "{}", run.all());
            }
        }
    }
    let (code, result) = json(&bench, &["compare", "a.btf", "b.btf"]);
    assert_eq!(
        (code, result["equal"].as_bool(), result["undecided"].as_bool()),
        (Some(3), Some(false), Some(true))
    );
    // A difference that was found is one.
    let run = bench.run(&["compare", "a.btf", "c.btf"]);
    assert!(run.code == Some(3) && run.stdout.starts_with("different at level order"), "{}", run.all());
    assert!(!run.stderr.contains("c.btf"), "{}", run.stderr);
    // A header whose unit of time nobody knows is such an error, too.
    bench.write("minutes.btf", trace("150").replace("timescale us", "timeScale min"));
    bench.write("ns.btf", trace("150").replace("timescale us", "timeScale ns"));
    let run = bench.run(&["compare", "minutes.btf", "ns.btf"]);
    assert_eq!(run.code, Some(3), "{}", run.all());
    assert!(run.stderr.contains("[unknown-time-scale]"), "{}", run.all());
}

#[test]
fn options_of_another_level_are_mistakes() {
    let bench = Bench::new();
    for (options, expected) in [
        (&["--metric", "ResponseTime"][..], "--metric is for metrics"),
        (&["--metric", "Nix", "--level", "exact"], "--metric is for metrics"),
        (&["--threshold", "5", "--level", "timing"], "--threshold is for metrics"),
        (&["--tolerance", "5us", "--level", "metrics"], "--tolerance is for events"),
    ] {
        let run = bench.run(&[&["compare", "a.btf", "b.btf"], options].concat());
        assert_eq!(run.code, Some(2), "{}", run.all());
        assert!(run.stderr.contains(expected) && run.stderr.contains("hint: "), "{}", run.stderr);
    }
}

#[test]
fn metrics_without_samples_are_not_equal() {
    let bench = Bench::new();
    let trace =
        "#version 2.2.1\n#timescale us\n0,S,0,T,A,0,activate\n1,C,0,T,A,0,start\n2,C,0,T,A,0,terminate\n";
    bench.write("a.btf", trace);
    let compare = |metrics: &str| {
        ["compare", "a.btf", "a.btf", "--level", "metrics", "--metric", metrics].map(str::to_owned)
    };
    let run = |metrics: &str| bench.run(&compare(metrics).each_ref().map(String::as_str));
    let none = run("ChainAge");
    assert_eq!(none.code, Some(3), "{}", none.all());
    assert!(none.stdout.starts_with("undecided at level metrics: 0 statistics compared"), "{}", none.all());
    assert!(none.stderr.contains("warning: ChainAge has no samples on either side"), "{}", none.all());
    let one = run("ChainAge,RT");
    assert_eq!(one.code, Some(0), "{}", one.all());
    assert!(
        one.stdout.starts_with("equal at level metrics: 7 statistics compared, 0 differ"),
        "{}",
        one.all()
    );
    assert!(one.stderr.contains("ChainAge has no samples") && !one.stderr.contains("ResponseTime"));
}

#[test]
fn violations_are_located_and_set_the_exit_code() {
    let bench = Bench::new();
    let good = "#version 2.2.1\n#timescale ns\n0,S,0,STI,S,0,trigger\n0,S,0,T,A,0,activate\n1,C,0,T,A,0,start\n2,C,0,T,A,0,terminate\n";
    bench.write("good.btf", good);
    bench.write("bad.btf", good.replace("1,C,0,T,A,0,start", "1,C,0,T,A,0,resume"));
    assert_eq!(bench.run(&["check", "good.btf", "--severity", "info"]).code, Some(0));
    let (code, report) = json(&bench, &["check", "bad.btf"]);
    assert_eq!(code, Some(3));
    let finding = &report[0]["findings"][0];
    assert_eq!(
        (finding["rule"].as_str(), finding["first"][0]["line"].as_u64()),
        (Some("process-transition"), Some(5))
    );
    let run = bench.run(&["check", "bad.btf"]);
    assert!(run.stdout.contains("line 5: "), "{}", run.stdout);
    let rules = bench.ok(&["check", "--rules"]);
    assert!(rules.stdout.lines().count() > 50 && rules.stdout.contains("core-occupied"), "{}", rules.stdout);
    assert_eq!(bench.run(&["check", "none.btf"]).code, Some(1));
    assert_eq!(bench.run(&["check"]).code, Some(2));
}
