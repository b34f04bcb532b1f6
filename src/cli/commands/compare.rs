//! `btfdb compare`.

use super::super::args::Limits;
use super::super::signals;
use super::super::ui::Ui;
use super::{output, query};
use crate::btf::EntityType;
use crate::compare::{CompareOptions, Comparison, Difference, Level, Line, Tolerance};
use crate::error::{Error, Result};
use crate::library::Queries;
use crate::metrics::{MetricComparison, MetricDelta};
use crate::ops::compare::Pair;
use crate::render::line;
use crate::time::{TimeScale, format_duration, parse_time_argument};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Compare two traces or their metrics; exit 3 when they differ.
///
/// A and B are databases, recordings of databases (engine.db:idle) or BTF files. Traces with lines that could
/// not be read are never equal: where no difference is found, the verdict is undecided, with exit code 3. So
/// is that of metrics of which neither trace has a sample.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  btfdb compare old.btf new.btf
  btfdb compare week.db:monday week.db:tuesday --level order --ignore SIG,STI
  btfdb compare a.btf b.btf --level timing --tolerance 2us --tolerance start=10us --align
  btfdb compare old.db new.db --level metrics --metric ResponseTime --threshold 5")]
pub struct CompareArgs {
    /// The first trace: DATABASE, DATABASE:RECORDING or a BTF file.
    pub a: String,
    /// The second trace.
    pub b: String,
    /// How alike they must be.
    #[arg(long, value_enum, default_value = "order")]
    pub level: LevelArg,
    /// How far times may be apart at level timing, e.g. 2us, or start=10us for one action; 5permille is of
    /// the time since the previous event of the same sequence (for an activation, the activation before),
    /// aligned or not.
    #[arg(long, value_name = "[ACTION=]T")]
    pub tolerance: Vec<String>,
    /// Types (SIG, I, …) and entities that do not count.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub ignore: Vec<String>,
    /// An ignored ISR takes the preemption that it causes with it.
    #[arg(long)]
    pub collapse_isrs: bool,
    /// An entity of A as B calls it.
    #[arg(long, value_delimiter = ',', value_name = "A=B")]
    pub rename: Vec<String>,
    /// Leave out what one trace has later than the last event of the other.
    #[arg(long)]
    pub cut: bool,
    /// Measure times from the first event of each trace.
    #[arg(long)]
    pub align: bool,
    /// Metrics at level metrics; all when left out.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub metric: Vec<String>,
    /// Percent by which a statistic may differ at level metrics; 0 when left out.
    #[arg(long, value_name = "PERCENT")]
    pub threshold: Option<f64>,
    /// Differences to show.
    #[arg(long, default_value_t = 20, value_name = "N")]
    pub limit: usize,
    /// How to print.
    #[arg(long, value_enum, default_value = "table")]
    pub format: ReportFormat,
    /// Resources to use.
    #[command(flatten)]
    pub limits: Limits,
}

/// Levels of comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LevelArg {
    /// Every event, in the order of the file.
    Exact,
    /// The order of every core and every process instance.
    Order,
    /// As order, and times within a tolerance.
    Timing,
    /// The statistics of metrics.
    Metrics,
}

/// How a report is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "the names say it")]
pub enum ReportFormat {
    Table,
    Json,
}

/// Exit code of traces that differ, or that are not known to be equal.
const DIFFERENT: u8 = 3;

pub(super) fn run(args: &CompareArgs, ui: &Ui) -> Result<u8> {
    check_options(args)?;
    let options = query::open_options(&args.limits, None, Queries::shipped())?;
    let pair = Pair::open(&args.a, &args.b, &options, &signals::control())?;
    let scale = pair.time_scale();
    for (errors, name) in pair.errors()?.iter().zip([&args.a, &args.b]) {
        for found in errors.of_inputs.iter().chain(&errors.others) {
            let line = found.line.map_or_else(String::new, |line| format!("line {line}: "));
            ui.warning(&format!("{name}: {line}{}", found.text()));
        }
    }
    if args.level == LevelArg::Metrics {
        return metrics(args, &pair, ui);
    }
    let result = pair.compare(&compare_options(args, scale)?)?;
    match args.format {
        ReportFormat::Json => output::print_json(&result)?,
        ReportFormat::Table => output::print(&table(&result, scale))?,
    }
    for option in &result.unused {
        ui.warning(&format!("--{option} had no effect"));
    }
    if result.given_up > 0 {
        ui.warning(
            "the traces run so far apart that not every event found its partner; the counts are upper bounds",
        );
    }
    Ok(if result.equal { 0 } else { DIFFERENT })
}

/// Fails for an option that the level does not have.
fn check_options(args: &CompareArgs) -> Result<()> {
    let of_events = [
        ("--ignore", !args.ignore.is_empty()),
        ("--rename", !args.rename.is_empty()),
        ("--tolerance", !args.tolerance.is_empty()),
        ("--cut", args.cut),
        ("--align", args.align),
        ("--collapse-isrs", args.collapse_isrs),
    ];
    let of_metrics = [("--metric", !args.metric.is_empty()), ("--threshold", args.threshold.is_some())];
    let given = |options: &[(&'static str, bool)]| options.iter().find(|(_, given)| *given).map(|(o, _)| *o);
    match args.level {
        LevelArg::Metrics => given(&of_events).map_or(Ok(()), |option| {
            Err(Error::usage(format!("{option} is for events, not for --level metrics"))
                .hint("--metric chooses metrics, --threshold says how far they may be apart"))
        }),
        LevelArg::Exact | LevelArg::Order | LevelArg::Timing => given(&of_metrics).map_or(Ok(()), |option| {
            Err(Error::usage(format!("{option} is for metrics, and events are compared"))
                .hint("add --level metrics, or leave it out"))
        }),
    }
}

fn compare_options(args: &CompareArgs, scale: TimeScale) -> Result<CompareOptions> {
    let level = match args.level {
        LevelArg::Exact => Level::Exact,
        LevelArg::Order | LevelArg::Metrics => Level::Order,
        LevelArg::Timing => Level::Timing,
    };
    let mut options = CompareOptions {
        level,
        collapse_ignored_isrs: args.collapse_isrs,
        cut_to_common_length: args.cut,
        align: args.align,
        differing: args.limit,
        ..CompareOptions::default()
    };
    for text in &args.tolerance {
        let (action, bound) = match text.split_once('=') {
            Some((action, bound)) => (Some(action), bound),
            None => (None, text.as_str()),
        };
        let tolerance = tolerance(text, bound, scale)?;
        match action {
            Some(action) => options.action_tolerances.push((action.to_owned(), tolerance)),
            // Two bounds, one absolute and one relative, are allowed.
            None => {
                options.tolerance.ticks = options.tolerance.ticks.max(tolerance.ticks);
                options.tolerance.per_mille = options.tolerance.per_mille.max(tolerance.per_mille);
            }
        }
    }
    for name in &args.ignore {
        if EntityType::parse_tolerant(name).is_some() {
            options.ignore_types.push(name.clone());
        } else {
            options.ignore_entities.push(name.clone());
        }
    }
    for pair in &args.rename {
        let (a, b) = pair.split_once('=').ok_or_else(|| {
            Error::usage(format!("--rename '{pair}' is not A=B")).hint("e.g. --rename T_1=Task1")
        })?;
        options.rename.push((a.to_owned(), b.to_owned()));
    }
    Ok(options)
}

fn tolerance(option: &str, text: &str, scale: TimeScale) -> Result<Tolerance> {
    let bad = |why: String| {
        Error::usage(format!("--tolerance {option}: {why}")).hint("e.g. 2us, 5permille, start=10us")
    };
    if let Some(number) = text.strip_suffix("permille") {
        let per_mille = number.trim().parse().map_err(|_| bad(format!("'{number}' is no whole number")))?;
        return Ok(Tolerance { ticks: 0, per_mille });
    }
    let ticks = parse_time_argument(text, scale).map_err(|e| bad(e.to_string()))?;
    let ticks = u64::try_from(ticks).map_err(|_| bad("a tolerance is not negative".into()))?;
    Ok(Tolerance { ticks, per_mille: 0 })
}

fn table(c: &Comparison, scale: TimeScale) -> String {
    let mut text = String::new();
    let verdict = verdict(c.equal, c.undecided);
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "{verdict} at level {}: {} and {} events, {} pairs; times in {}",
        c.level.as_str(),
        c.left_events,
        c.right_events,
        c.compared,
        scale.as_str()
    );
    let _ = writeln!(
        text,
        "  {} differ in time, {} otherwise ({} moved), {} only in A, {} only in B",
        c.temporal, c.semantic, c.moved, c.only_left, c.only_right
    );
    if c.left_ignored + c.right_ignored > 0 {
        let _ = writeln!(text, "  {} events of A and {} of B were ignored", c.left_ignored, c.right_ignored);
    }
    if let Some(strict) = &c.strict {
        let length = if strict.same_length { "same length" } else { "different length" };
        let _ = writeln!(
            text,
            "  index by index: {length}, {} times and {} events differ",
            strict.temporal, strict.semantic
        );
    }
    if let Some(m) = &c.max_time_difference {
        let ticks = format_duration(m.ticks.try_into().unwrap_or(i64::MAX), scale);
        let _ = writeln!(text, "  times are {ticks} apart at most");
    }
    if let Some(first) = &c.first {
        let _ = writeln!(text, "first difference, in {}:", first.difference.sequence);
        for (side, line, context) in [
            ("A", &first.difference.left, &first.left_context),
            ("B", &first.difference.right, &first.right_context),
        ] {
            let here = line.as_ref().map(|l| l.place.seq);
            let mut shown: Vec<(&Line, &str)> = context.iter().map(|l| (l, " ")).collect();
            shown.extend(line.as_ref().map(|l| (l, ">")));
            shown.sort_by_key(|(l, _)| l.place.seq);
            for (line, mark) in shown {
                let _ = writeln!(text, "  {side}{mark} {}  {}", place(line), line.text);
            }
            if here.is_none() {
                let _ = writeln!(text, "  {side}> has no such event");
            }
        }
    }
    if c.differing.len() > 1 {
        let _ = writeln!(text, "differences:");
        c.differing.iter().for_each(|d| difference(&mut text, d));
        let all = c.temporal + c.semantic + c.only_left + c.only_right;
        if all > c.differing.len() as u64 {
            let _ = writeln!(text, "  … {all} in all; see --limit");
        }
    }
    let differ: Vec<_> =
        c.entities.iter().filter(|e| e.temporal + e.semantic > 0 || e.left != e.right).collect();
    if !differ.is_empty() {
        let width = differ.iter().map(|e| e.entity.chars().count()).max().unwrap_or(6).max(6);
        let widths = [width, 5, 6, 6, 6, 6];
        let header = ["entity", "type", "in A", "in B", "times", "other"];
        line(&mut text, &header, &widths, &[false; 6]);
        for e in differ {
            let counts = [e.left, e.right, e.temporal, e.semantic].map(|count| count.to_string());
            let [left, right, temporal, semantic] = &counts;
            let cells = [&e.entity, &e.kind, left, right, temporal, semantic];
            line(&mut text, &cells, &widths, &[false, false, true, true, true, true]);
        }
    }
    text
}

fn verdict(equal: bool, undecided: bool) -> &'static str {
    match (equal, undecided) {
        (true, _) => "equal",
        (false, true) => "undecided",
        (false, false) => "different",
    }
}

fn difference(text: &mut String, d: &Difference) {
    let what = d.kind.as_str();
    let side =
        |l: &Option<Line>| l.as_ref().map_or_else(|| "–".into(), |l| format!("{}  {}", place(l), l.text));
    let _ = writeln!(text, "  {what}: {} | {}", side(&d.left), side(&d.right));
}

/// The line of a file, or the number of a mapped event.
fn place(line: &Line) -> String {
    line.place.line.map_or_else(|| format!("#{}", line.place.seq), |n| format!("line {n}"))
}

fn metrics(args: &CompareArgs, pair: &Pair, ui: &Ui) -> Result<u8> {
    let threshold = args.threshold.unwrap_or_default();
    let result = pair.compare_metrics(&args.metric, threshold)?;
    match args.format {
        ReportFormat::Json => {
            let mut all = serde_json::to_value(&result).unwrap_or_default();
            if let Value::Object(all) = &mut all {
                all.insert("level".into(), "metrics".into());
                all.insert("threshold".into(), json!(threshold));
            }
            output::print_json(&all)?;
        }
        ReportFormat::Table => output::print(&metrics_table(&result, threshold, args.limit))?,
    }
    for metric in &result.without_samples {
        ui.warning(&format!("{metric} has no samples on either side"));
    }
    if result.compared == 0 && result.without_samples.is_empty() {
        ui.warning("no metric has samples on either side");
    }
    Ok(if result.equal { 0 } else { DIFFERENT })
}

fn metrics_table(result: &MetricComparison, threshold: f64, limit: usize) -> String {
    let mut text = String::new();
    let deltas = &result.differing;
    let beyond = deltas.iter().filter(|d| d.beyond).count();
    let _ = writeln!(
        text,
        "{} at level metrics: {} statistics compared, {} differ, {beyond} by more than {threshold} %",
        verdict(result.equal, result.undecided),
        result.compared,
        deltas.len(),
    );
    let shown: Vec<&MetricDelta> = deltas.iter().filter(|d| d.beyond).take(limit).collect();
    let number = |n: Option<f64>| n.map_or_else(|| "–".into(), |n| format!("{n}"));
    for d in &shown {
        let percent = d.percent.map_or_else(String::new, |p| format!(" ({p:+.*} %)", decimals(p)));
        let core = d.core.as_ref().map_or_else(String::new, |c| format!(" on {c}"));
        let _ = writeln!(
            text,
            "  {} of {}{core}: {} {} → {}{percent}",
            d.metric,
            d.entity,
            d.statistic,
            number(d.left),
            number(d.right)
        );
    }
    if beyond > shown.len() {
        let _ = writeln!(text, "  … {beyond} in all; see --limit");
    }
    text
}

/// The number of decimals that keeps a percentage other than 0 from being shown as 0.
fn decimals(percent: f64) -> usize {
    (1..9).find(|n| percent.abs() * 10f64.powi(*n) >= 1.0).map_or(1, |n| n as usize)
}
