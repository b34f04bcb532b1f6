//! Explanations of recordings against the causes that the kernels of a simulation record while they decide:
//! random models are simulated, ingested and mapped, and each response is compared tick by tick. Not how a
//! response is cut (see `src/explain`), nor how the record is kept (see `src/simulate/kernel/causes`).

use crate::support::Bench;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

/// A span of an instance, by the names of its columns: of the truth or of `response_part`.
type Row = BTreeMap<String, String>;
/// The spans of each instance, in order.
type Spans = BTreeMap<(String, i64), Vec<Row>>;

/// The ISR that serves calls of other cores.
const SERVER: &str = "EE_TC_iirq_handler";
/// What has to be equal in addition to the reason.
const COLUMNS: [&str; 11] = [
    "kind",
    "state",
    "core",
    "runnable",
    "by_process",
    "by_type",
    "by_instance",
    "object",
    "holder_state",
    "behind_process",
    "behind_instance",
];

fn rows(csv: &str) -> Vec<Row> {
    let mut lines = csv.lines();
    let titles: Vec<&str> = lines.next().unwrap().split(',').collect();
    let row = |line: &str| {
        let fields = line.split(',').map(str::to_owned);
        titles.iter().map(|title| (*title).to_owned()).zip(fields).collect()
    };
    lines.map(row).collect()
}

fn spans(rows: Vec<Row>) -> Spans {
    let mut all = Spans::new();
    for row in rows {
        all.entry((row["process"].clone(), number(&row, "instance"))).or_default().push(row);
    }
    all
}

/// A generic system has one image for all cores: the handlers of a name are one process, whose instances are
/// numbered in the order in which they are entered.
fn with_one_image(mut rows: Vec<Row>) -> Vec<Row> {
    let mut entered: Vec<(i64, String, String)> = Vec::new();
    for row in rows.iter().filter(|row| row["process"].ends_with(SERVER)) {
        let is_known = |(_, process, instance): &(i64, String, String)| {
            (process, instance) == (&row["process"], &row["instance"])
        };
        if !entered.iter().any(is_known) {
            entered.push((number(row, "begin_at"), row["process"].clone(), row["instance"].clone()));
        }
    }
    entered.sort();
    let places = entered.iter().enumerate();
    let places: BTreeMap<(String, String), usize> =
        places.map(|(place, (_, process, instance))| ((process.clone(), instance.clone()), place)).collect();
    for row in &mut rows {
        for (process, instance) in
            [("process", "instance"), ("by_process", "by_instance"), ("behind_process", "behind_instance")]
        {
            let place = places.get(&(row[process].clone(), row[instance].clone())).copied();
            if let Some(place) = place {
                row.insert(process.to_owned(), SERVER.to_owned());
                row.insert(instance.to_owned(), place.to_string());
            }
        }
    }
    rows
}

fn number(row: &Row, column: &str) -> i64 {
    row[column].parse().unwrap()
}

/// What was compared, in ticks, and what differed.
#[derive(Default)]
struct Verdict {
    models: u64,
    instances: usize,
    /// Ticks by kind and reason.
    ticks: BTreeMap<String, i64>,
    /// Ticks before anything of a core was seen.
    before_the_start: i64,
    wrong: BTreeMap<String, (i64, String)>,
}

impl Verdict {
    fn is_wrong(&mut self, what: String, ticks: i64, example: impl FnOnce() -> String) {
        self.wrong.entry(what).or_insert_with(|| (0, example())).0 += ticks;
    }

    fn report(&self) -> String {
        let all: i64 = self.ticks.values().sum();
        let mut text = format!(
            "{} models, {} responses, {all} ticks, {} of them before anything of a core was seen\n",
            self.models, self.instances, self.before_the_start
        );
        for (what, ticks) in &self.ticks {
            let _ = writeln!(text, "{ticks:>14} {what}");
        }
        for (what, (ticks, example)) in &self.wrong {
            let _ = writeln!(text, "WRONG {ticks:>8} {what}: {example}");
        }
        text
    }
}

/// Simulates, ingests, maps and explains a random model, and compares what is explained with what was.
fn compare(number_of_model: u64, os: &str, verdict: &mut Verdict) {
    let (bench, model) = (Bench::new(), number_of_model.to_string());
    let args = ["simulate", "--causes", "-o", "sim", "--duration", "15ms", "--os", os, "--random", &model];
    let said = bench.ok(&args).stderr;
    bench.ok(&["ingest", "sim.db", "sim/recording", "--name", "sim", "-q"]);
    let query = |sql: &str| bench.ok(&["query", "sim.db", sql, "--format", "csv"]).stdout;
    let explained = spans(rows(&query("SELECT * FROM response_part ORDER BY process, instance, part")));
    let truth = rows(&fs::read_to_string(bench.path().join("sim/causes.csv")).unwrap());
    let truth = spans(if os == "osek" { with_one_image(truth) } else { truth });
    // A generic system does not tell by whom an event is that crosses a call.
    let crosses = said.contains("while the own core served a call");
    let tasks = rows(&query("SELECT entity, priority, preemption FROM entity WHERE type = 'T'"));
    let are = |has: fn(&&Row) -> bool| -> Vec<&str> {
        tasks.iter().filter(has).map(|row| row["entity"].as_str()).collect()
    };
    let (known, kept) = (are(|row| !row["priority"].is_empty()), are(|row| row["preemption"] == "non"));
    let named = format!("{os} model {model}");
    everything_is_explained(&bench, &query, &explained, &named);
    let mut first: BTreeMap<&str, i64> = BTreeMap::new();
    for row in truth.values().flatten().filter(|row| row["kind"] == "executes") {
        let begin = first.entry(&row["core"]).or_insert(i64::MAX);
        *begin = number(row, "begin_at").min(*begin);
    }
    for (instance, parts) in &explained {
        verdict.instances += 1;
        let Some(spans) = truth.get(instance) else {
            verdict.is_wrong("an instance that was not".to_owned(), 1, || format!("{named}: {instance:?}"));
            continue;
        };
        let mut places = spans.iter().peekable();
        for part in parts {
            let (mut now, end) = (number(part, "begin_at"), number(part, "end_at"));
            while now < end {
                while places.next_if(|span| number(span, "end_at") <= now).is_some() {}
                let Some(span) = places.peek().filter(|span| number(span, "begin_at") <= now) else {
                    verdict.is_wrong("no cause".to_owned(), end - now, || format!("{named}: {part:?}"));
                    break;
                };
                let until = number(span, "end_at").min(end);
                let is_first = first.get(span["core"].as_str()).is_none_or(|first| now < *first);
                let of_span =
                    Compared { span, part, known: &known, kept: &kept, crosses, is_first, named: &named };
                of_span.judge((now, until), verdict);
                now = until;
            }
        }
    }
    verdict.models += 1;
}

/// All that ended is explained, and the parts of each response sum to it.
fn everything_is_explained(bench: &Bench, query: &dyn Fn(&str) -> String, explained: &Spans, named: &str) {
    let reference = fs::read_to_string(bench.path().join("sim/reference.btf")).unwrap();
    let is_end = |line: &&str| {
        let fields: Vec<&str> = line.split(',').collect();
        matches!(fields.get(3), Some(&"T" | &"I")) && fields.get(6) == Some(&"terminate")
    };
    let ended = reference.lines().filter(is_end).count();
    assert_eq!(ended, explained.len(), "{named}: not all that ended is explained");
    let lengths = rows(&query(
        "SELECT process, instance, terminate_at - coalesce(activate_at, start_at) AS length FROM process_instance WHERE complete",
    ));
    assert_eq!(lengths.len(), ended, "{named}");
    for row in lengths {
        let parts = &explained[&(row["process"].clone(), number(&row, "instance"))];
        let sum: i64 = parts.iter().map(|part| number(part, "length")).sum();
        assert_eq!(sum, number(&row, "length"), "{named}: {row:?}");
        assert!(parts.windows(2).all(|pair| pair[0]["end_at"] == pair[1]["begin_at"]), "{named}: {row:?}");
    }
}

/// A time in which neither the truth nor the explanation changes.
struct Compared<'a> {
    span: &'a Row,
    part: &'a Row,
    /// Tasks with priorities that are described.
    known: &'a [&'a str],
    /// Tasks that are described as not preemptable.
    kept: &'a [&'a str],
    crosses: bool,
    /// Nothing had the core before.
    is_first: bool,
    named: &'a str,
}

impl Compared<'_> {
    fn judge(&self, (begin, end): (i64, i64), verdict: &mut Verdict) {
        let (span, part, ticks) = (self.span, self.part, end - begin);
        let example = || format!("{} at {begin}: {span:?} is explained as {part:?}", self.named);
        let what = format!("{} {}", span["kind"], span["reason"]);
        *verdict.ticks.entry(what.trim().to_owned()).or_default() += ticks;
        if self.is_first && part["kind"] == "unknown" && span["kind"] == "os" {
            verdict.before_the_start += ticks;
            return;
        }
        for column in COLUMNS {
            let by_whom = column.starts_with("by_") && span["kind"] == "event";
            let by_server = by_whom && self.crosses && part["by_process"].ends_with(SERVER);
            if span[column] != part[column] && !by_server {
                let what = match column {
                    "kind" | "state" => format!("{column} {:?}, not {:?}", part[column], span[column]),
                    _ => column.to_owned(),
                };
                verdict.is_wrong(format!("{}: {what}", span["kind"]), ticks, example);
            }
        }
        let (reason, held) = self.reason();
        if (reason, held) != (part["reason"].as_str(), part["held"].as_str()) {
            let what = format!("reason {:?}, not {reason:?} ({})", part["reason"], span["reason"]);
            verdict.is_wrong(format!("{}: {what}", span["kind"]), ticks, example);
        }
    }

    /// The reason that a recording can show: of a task without a described priority, not that; and neither
    /// a group nor that the kernel is on its way to its scheduler, so that a task that is not preemptable is
    /// so in `Schedule`, too. Without a reason, an earlier instance is one.
    fn reason(&self) -> (&str, &str) {
        let span = self.span;
        let is_known = |column: &str| self.known.contains(&span[column].as_str());
        let queued = if span["queued"] == "true" { "previous_instance" } else { "" };
        match span["reason"].as_str() {
            "isr" | "previous_instance" => (&span["reason"], ""),
            "" => (if span["kind"] == "os" { queued } else { "" }, ""),
            _ if !is_known("process") || !is_known("by_process") => (queued, ""),
            "scheduler" if self.kept.contains(&span["by_process"].as_str()) => ("not_preemptable", ""),
            "group" | "scheduler" => (queued, ""),
            reason => (reason, &span["held"]),
        }
    }
}

/// `BTFDB_CAUSE_MODELS=200` is the full run, `BTFDB_CAUSE_MODELS_FROM` another begin.
#[test]
fn explanations_are_the_causes_that_the_kernels_record() {
    let of = |name: &str, default| std::env::var(name).map_or(default, |number| number.parse().unwrap());
    let (from, count) = (of("BTFDB_CAUSE_MODELS_FROM", 1), of("BTFDB_CAUSE_MODELS", 20));
    let mut verdict = Verdict::default();
    for number in from..from + count {
        // Only the second one is described with priorities.
        compare(number, if number % 2 == 0 { "erika2" } else { "osek" }, &mut verdict);
    }
    let report = verdict.report();
    println!("{report}");
    assert!(verdict.wrong.is_empty(), "{report}");
    assert!(verdict.instances as u64 > 50 * count, "{report}");
}
