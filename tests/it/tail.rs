//! `btfdb metrics --tail`: rows of fits, and reasons where there is none. Not the statistics (see
//! `src/tail`).

use crate::support::Bench;
use std::fmt::Write as _;

/// Times that a small generator draws: `T_Tail` runs 10 us and an exponential time of 1 us on the average,
/// `T_Two` either 10 us or 20 us, `T_Drift` longer and longer.
pub fn bench() -> Bench {
    let bench = Bench::new();
    let mut text =
        "#version 2.2.1\n#creator test\n#creationDate 2026-01-01T00:00:00Z\n#timeScale ns\n".to_owned();
    let mut state = 88_172_645_463_325_252_u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    for n in 0..4000_i64 {
        let exponential = |random: f64| (-1000.0 * (1.0 - random).ln()) as i64;
        for (at, task, runs) in [
            (0, "T_Tail", 10_000 + exponential(random())),
            (100_000, "T_Two", if random() < 0.5 { 10_000 } else { 20_000 }),
            (200_000, "T_Drift", 10_000 + n + exponential(random())),
        ] {
            let begin = n * 1_000_000 + at;
            writeln!(text, "{begin},Alarm,{n},T,{task},{n},activate").unwrap();
            writeln!(text, "{begin},Core_0,0,T,{task},{n},start").unwrap();
            writeln!(text, "{},Core_0,0,T,{task},{n},terminate", begin + runs).unwrap();
        }
    }
    bench.write("times.btf", text);
    bench.ok(&["ingest", "times.db", "times.btf", "-q"]);
    bench
}

/// The cells of the rows of an entity, by the names of columns.
fn rows(text: &str, entity: &str, columns: &[&str]) -> Vec<Vec<String>> {
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let place = |name: &str| header.iter().position(|column| *column == name).unwrap();
    let of = place("entity");
    let pick = |line: Vec<&str>| columns.iter().map(|name| line[place(name)].to_owned()).collect();
    lines.filter(|line| line[of] == entity).map(pick).collect()
}

#[test]
fn levels_rise_and_lie_in_their_intervals() {
    let bench = bench();
    let run = bench.ok(&["metrics", "times.db", "NetExecutionTime", "--tail", "--entity", "T_Tail"]);
    let columns = ["method", "samples", "greatest", "one_in", "level", "low", "high", "refused"];
    let rows = rows(&run.stdout, "T_Tail", &columns);
    for method in ["block_maxima", "peaks_over_threshold"] {
        let mut before = 0.0;
        let fitted: Vec<_> = rows.iter().filter(|row| row[0] == method && !row[4].is_empty()).collect();
        assert!(fitted.len() >= 2, "{method}: {rows:?}");
        for row in fitted {
            assert_eq!(row[1], "4000");
            let [one_in, level, low, high] = [3, 4, 5, 6].map(|n| row[n].parse::<f64>().unwrap());
            // 10 us and an exponential time exceed this once in as many.
            let truth = 10_000.0 + 1000.0 * one_in.ln();
            assert!(level > before && low <= level && level <= high, "{row:?}");
            assert!((level - truth).abs() < 0.4 * (truth - 10_000.0), "{row:?}: {truth}");
            before = level;
        }
        assert!(rows.iter().any(|row| row[0] == method && row[7].contains("too far beyond")), "{rows:?}");
    }
    assert!(run.stderr.contains("no safe bound of the worst case"), "{}", run.stderr);
    let in_us = bench.ok(&[
        "metrics",
        "times.db",
        "NetExecutionTime",
        "--tail",
        "--entity",
        "T_Tail",
        "--unit",
        "us",
    ]);
    let first = |text: &str| self::rows(text, "T_Tail", &["unit", "greatest", "shape"]).remove(0);
    let (ticks, us) = (first(&run.stdout), first(&in_us.stdout));
    assert_eq!((ticks[0].as_str(), us[0].as_str(), &ticks[2]), ("duration", "us", &us[2]));
    assert_eq!(ticks[1].parse::<f64>().unwrap() / 1000.0, us[1].parse::<f64>().unwrap());
}

#[test]
fn samples_that_are_not_fit_for_a_fit_have_a_reason_and_no_number() {
    let bench = bench();
    let run = bench.ok(&["metrics", "times.db", "NetExecutionTime", "--tail", "--entity", "T_Two,T_Drift"]);
    for (entity, why) in [("T_Two", "only 2 values differ"), ("T_Drift", "drift over time")] {
        let rows = rows(&run.stdout, entity, &["level", "refused"]);
        assert_eq!(rows.len(), 2, "{}", run.stdout);
        for row in rows {
            assert!(row[0].is_empty(), "{row:?}");
        }
        assert!(run.stdout.contains(why), "{}", run.stdout);
    }
    let few = Bench::engine();
    let run = few.ok(&["metrics", "engine.db", "--tail", "--entity", "T_5"]);
    assert!(run.stdout.contains("20 values are too few"), "{}", run.stdout);
}

#[test]
fn what_has_no_tail_is_refused() {
    let bench = Bench::engine();
    for (arguments, why) in [
        (vec!["CPULoad"], "no samples of instances"),
        (vec!["Nonsense"], "there is no metric"),
        (vec!["--entity", "T_44"], "has no entity 'T_44'"),
        (vec!["--entity", "T_4,T_44"], "has no entity 'T_44'"),
        (vec!["ResponseTime", "--entity", "R_2a"], "ResponseTime has no samples of 'R_2a'"),
    ] {
        let run = bench.run(&[&["metrics", "engine.db", "--tail"][..], &arguments].concat());
        assert_eq!(run.code, Some(2), "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.contains(why), "{arguments:?}: {}", run.stderr);
    }
}
