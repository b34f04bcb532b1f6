//! `[[temporal]]` of `check --requirements`: reports, and the same counts as those of a naive evaluation of
//! the rows of the demo. Not the templates themselves (see `src/temporal`).

use crate::support::Bench;
use serde_json::Value;

/// One of each template, and of each kind of event and state.
const FILE: &str = r#"
[[temporal]]
name = "T_4 starts soon"
after = { entity = "T_4", action = "activate" }
then = { entity = "T_4", action = "start" }
within = "500us"
[[temporal]]
name = "SIG_3 does not change while T_4 runs"
never = { entity = "SIG_3", action = "write", source = "T_2" }
during = { entity = "T_4", state = "running" }
[[temporal]]
name = "SIG_3 does not change from start to end of T_4"
never = { entity = "SIG_3", action = "write", source = "T_2" }
between = [{ entity = "T_4", action = "start" }, { entity = "T_4", action = "terminate" }]
[[temporal]]
name = "T_3 comes at most every 9.9 ms"
at_most = 1
of = { entity = "T_3", action = "activate" }
window = "9.9ms"
[[temporal]]
name = "each SIG_3 is read once"
alternate = [
    { entity = "SIG_3", action = "write", source = "T_2" },
    { entity = "SIG_3", action = "read", source = "T_4" },
]
[[temporal]]
name = "T_5 is not interrupted"
once = { entity = "T_5", action = "start" }
held = { entity = "T_5", state = "running" }
until = { entity = "T_5", action = "terminate" }
[[temporal]]
name = "R_2a runs to its end"
once = { entity = "R_2a", action = "start" }
held = { entity = "R_2a", state = "running" }
until = { entity = "R_2a", action = "terminate" }
"#;

fn check(bench: &Bench, format: &str) -> crate::support::Run {
    bench.run(&["check", "engine.db", "--requirements", "limits.toml", "--format", format])
}

#[test]
fn reports_name_what_is_violated_and_what_is_not_decided() {
    let bench = Bench::engine();
    bench.write("limits.toml", FILE);
    let table = check(&bench, "table");
    assert_eq!(table.code, Some(3));
    insta::assert_snapshot!("in_time_table", table.all());
    insta::assert_snapshot!("in_time_junit", check(&bench, "junit").all());
    insta::assert_snapshot!("in_time_json", check(&bench, "json").all());
}

#[test]
fn what_is_not_decided_does_not_fail() {
    let bench = Bench::engine();
    let kept = FILE.split("[[temporal]]").find(|entry| entry.contains("at_most")).unwrap();
    bench.write("limits.toml", format!("[[temporal]]{}", kept.replace("9.9ms", "5ms")));
    let run = check(&bench, "table");
    assert_eq!(run.code, Some(0), "{}", run.all());
    bench
        .write("limits.toml", format!("[[temporal]]{}", kept.replace("9.9ms", "5s")).replace("= 1", "= 100"));
    let run = check(&bench, "table");
    assert_eq!(run.code, Some(0), "{}", run.all());
    assert!(
        run.stdout.contains("may still be violated") && run.stdout.contains("open at the end"),
        "{}",
        run.stdout
    );
    assert!(check(&bench, "junit").stdout.contains("<system-out>may still be violated; "));
}

#[test]
fn mistakes_and_unknown_names_are_located() {
    let bench = Bench::engine();
    let mut all = String::new();
    for (from, to) in [
        ("then =", "than ="),
        ("within = \"500us\"", ""),
        ("\"500us\"", "\"-1us\""),
        ("window = \"9.9ms\"", "window = 0"),
        ("at_most = 1", "at_most = \"1\""),
        ("state = \"running\"", "state = \"runing\""),
        ("never =", "after ="),
        ("\"SIG_3\", action = \"write\"", "\"SIG_33\", action = \"write\""),
        ("entity = \"T_5\", state", "entity = \"T_55\", state"),
        ("entity = \"T_5\", state", "entity = \"T_1\", state"),
    ] {
        assert!(FILE.contains(from), "{from}");
        bench.write("limits.toml", FILE.replacen(from, to, 1));
        let run = check(&bench, "table");
        // Of a report, only what it says of names.
        let said = run.stdout.lines().filter(|line| {
            line.contains("': ") || line.contains("there is no") || line.contains("never ran")
        });
        let said: String = said.map(|line| format!("{line}\n")).collect();
        all += &format!("== {from:?} -> {to:?}: exit {}\n{said}{}\n", run.code.unwrap(), run.stderr);
    }
    insta::assert_snapshot!(all);
}

/// An event of the recording.
struct Event {
    time: i64,
    source: String,
    target: String,
    action: String,
}

/// Counts of obligations.
#[derive(Debug, PartialEq)]
struct Counts {
    kept: i64,
    violated: i64,
    open: i64,
    unknown: i64,
}

/// What a naive evaluation knows of the recording.
struct Recording {
    events: Vec<Event>,
    end: i64,
}

impl Recording {
    fn of(bench: &Bench) -> Self {
        let sql = "SELECT time, source, target, action FROM btf_event ORDER BY time, seq";
        let events = rows(bench, sql).into_iter().map(|row| match &row[..] {
            [time, source, target, action] => Event {
                time: time.parse().unwrap(),
                source: source.clone(),
                target: target.clone(),
                action: action.clone(),
            },
            _ => panic!("{row:?}"),
        });
        let end = rows(bench, "SELECT end_at FROM recording")[0][0].parse().unwrap();
        Self { events: events.collect(), end }
    }

    /// The places of events.
    fn find(&self, entity: &str, action: &str, source: Option<&str>) -> Vec<usize> {
        let fits = |e: &Event| {
            e.target == entity && e.action == action && source.is_none_or(|source| e.source == source)
        };
        (0..self.events.len()).filter(|i| fits(&self.events[*i])).collect()
    }

    fn time(&self, i: usize) -> i64 {
        self.events[i].time
    }

    fn response(&self, a: &[usize], b: &[usize], within: i64) -> Counts {
        let verdict = |a: &usize| {
            let answer = b.iter().any(|b| b > a && self.time(*b) - self.time(*a) <= within);
            if answer { "kept" } else { ["open", "violated"][usize::from(self.end - self.time(*a) > within)] }
        };
        counts(a.iter().map(verdict))
    }

    /// Spans as places of events; one without an end goes on. Before the first of them, another one may be
    /// that began before the recording, unless it `is_known`.
    fn absence(&self, a: &[usize], spans: &[(usize, Option<usize>)], is_known: bool) -> Counts {
        let first = spans.iter().map(|(begin, _)| *begin).min();
        let edge = !is_known && a.iter().any(|a| first.is_none_or(|first| *a < first));
        let verdict = |(begin, end): &(usize, Option<usize>)| match a
            .iter()
            .any(|a| a > begin && end.is_none_or(|end| *a < end))
        {
            true => "violated",
            false if end.is_none() => "open",
            false => "kept",
        };
        counts(spans.iter().map(verdict).chain(edge.then_some("unknown")))
    }

    fn rate(&self, a: &[usize], at_most: usize, window: i64) -> Counts {
        let verdict = |i: usize| {
            let begin = self.time(a[i]);
            match a[i..].iter().filter(|a| self.time(**a) < begin + window).count() {
                n if n > at_most => "violated",
                _ if self.end - begin < window => "open",
                _ => "kept",
            }
        };
        counts((0..a.len()).map(verdict))
    }

    fn alternation(&self, a: &[usize], b: &[usize]) -> Counts {
        let mut all: Vec<(usize, bool)> =
            a.iter().map(|i| (*i, true)).chain(b.iter().map(|i| (*i, false))).collect();
        all.sort_unstable();
        let verdict = |n: usize| match all.get(n + 1) {
            None => "open",
            Some((_, is_a)) if *is_a == all[n].1 => "violated",
            Some(_) => "kept",
        };
        counts((0..all.len()).map(verdict))
    }

    /// `held`: spans in time.
    fn hold(&self, start: &[usize], held: &[(i64, i64)], until: &[usize]) -> Counts {
        let verdict = |start: &usize| {
            let over = until.iter().find(|until| *until > start).map(|until| self.time(*until));
            let (begin, end) = (self.time(*start), over.unwrap_or(self.end));
            let is_held = begin == end || held.iter().any(|(from, to)| *from <= begin && end <= *to);
            match (is_held, over) {
                (false, _) => "violated",
                (true, None) => "open",
                (true, Some(_)) => "kept",
            }
        };
        counts(start.iter().map(verdict))
    }
}

fn counts(verdicts: impl Iterator<Item = &'static str>) -> Counts {
    let mut counts = Counts { kept: 0, violated: 0, open: 0, unknown: 0 };
    for verdict in verdicts {
        *match verdict {
            "kept" => &mut counts.kept,
            "violated" => &mut counts.violated,
            "unknown" => &mut counts.unknown,
            _ => &mut counts.open,
        } += 1;
    }
    counts
}

fn rows(bench: &Bench, sql: &str) -> Vec<Vec<String>> {
    let text = bench.ok(&["query", "engine.db", sql, "--format", "csv"]).stdout;
    text.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

/// Spans of a state, in time.
fn spans(bench: &Bench, table: &str, entity: &str) -> Vec<(i64, i64)> {
    let column = if table == "process_state" { "process" } else { "runnable" };
    let sql = format!(
        "SELECT begin_at, end_at FROM {table} WHERE {column} = '{entity}' AND state = 'running' ORDER BY begin_at"
    );
    rows(bench, &sql).iter().map(|row| (row[0].parse().unwrap(), row[1].parse().unwrap())).collect()
}

#[test]
fn counts_are_those_of_a_naive_evaluation() {
    let bench = Bench::engine();
    bench.write("limits.toml", FILE);
    let outcomes: Value = serde_json::from_str(&check(&bench, "json").stdout).unwrap();
    let found: Vec<Counts> = outcomes
        .as_array()
        .unwrap()
        .iter()
        .map(|outcome| {
            let number = |key: &str| outcome["temporal"][key].as_i64().unwrap();
            let violated = outcome["violations"].as_i64().unwrap();
            assert_eq!(number("blind"), 0, "{outcome}");
            Counts { kept: number("kept"), violated, open: number("open"), unknown: number("unknown") }
        })
        .collect();
    let all = Recording::of(&bench);
    let of = |entity: &str, action: &str| all.find(entity, action, None);
    let write = all.find("SIG_3", "write", Some("T_2"));
    let read = all.find("SIG_3", "read", Some("T_4"));
    let (started, ended) = (of("T_4", "start"), of("T_4", "terminate"));
    // Where T_4 runs: from its start or resume to its next event.
    let begins = started.iter().chain(&of("T_4", "resume")).copied().collect::<Vec<_>>();
    let stops: Vec<usize> = ["preempt", "wait", "terminate"].iter().flat_map(|a| of("T_4", a)).collect();
    let next = |all: &[usize], begin: usize| all.iter().copied().filter(|i| *i > begin).min();
    let runs: Vec<_> = begins.iter().map(|begin| (*begin, next(&stops, *begin))).collect();
    let instances: Vec<_> = started.iter().map(|begin| (*begin, next(&ended, *begin))).collect();
    let runnable = spans(&bench, "runnable_state", "R_2a");
    let expected = [
        all.response(&of("T_4", "activate"), &started, 500_000),
        // That T_4 begins to run says that it did not run before.
        all.absence(&write, &runs, true),
        all.absence(&write, &instances, false),
        all.rate(&of("T_3", "activate"), 1, 9_900_000),
        all.alternation(&write, &read),
        all.hold(&of("T_5", "start"), &spans(&bench, "process_state", "T_5"), &of("T_5", "terminate")),
        all.hold(&of("R_2a", "start"), &runnable, &of("R_2a", "terminate")),
    ];
    assert_eq!(found, expected);
}
