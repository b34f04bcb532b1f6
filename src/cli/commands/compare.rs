//! `btfdb compare`.

use super::super::args::{Compare, LevelArg, ReportFormat};
use super::super::ui::Ui;
use super::output::Target;
use super::trace::{self, Trace};
use crate::btf::spec;
use crate::compare::{Comparison, Difference, Level, Line, Options, Tolerance, compare};
use crate::error::{Error, Result};
use crate::metrics::{MetricDelta, compare_metrics};
use crate::time::{TimeScale, format_duration, parse_time_argument};
use serde_json::json;
use std::fmt::Write as _;

/// Exit code of traces that differ.
const DIFFERENT: u8 = 3;

pub(super) fn run(args: &Compare, ui: &Ui) -> Result<u8> {
    let control = trace::control();
    let a = trace::open(&args.a, None, &args.limits, &control)?;
    let b = trace::open(&args.b, None, &args.limits, &control)?;
    let (a, b) = trace::in_one_scale((&args.a, a), (&args.b, b), &args.limits, &control)?;
    let (one, other) = (a.one(&args.a)?.to_owned(), b.one(&args.b)?.to_owned());
    let scale = a.session.database().time_scale();
    if b.session.database().time_scale() != scale {
        return Err(Error::usage("the two databases count time in different units")
            .hint("make one of them anew with the --time-scale of the other"));
    }
    if args.level == LevelArg::Metrics {
        let of_events = [
            ("--ignore", !args.ignore.is_empty()),
            ("--rename", !args.rename.is_empty()),
            ("--tolerance", !args.tolerance.is_empty()),
            ("--cut", args.cut),
            ("--align", args.align),
            ("--collapse-isrs", args.collapse_isrs),
        ];
        if let Some((option, _)) = of_events.iter().find(|(_, given)| *given) {
            return Err(Error::usage(format!("{option} is for events, not for --level metrics"))
                .hint("--metric chooses metrics, --threshold says how far they may be apart"));
        }
        return metrics(args, (&a, &one), (&b, &other));
    }
    let options = options(args, scale)?;
    let (mut left, mut right) = (a.session.records(&one)?, b.session.records(&other)?);
    let result = compare(&mut left, &mut right, &options)?;
    let text = match args.format {
        ReportFormat::Json => serde_json::to_string_pretty(&result).unwrap_or_default() + "\n",
        ReportFormat::Table => table(&result, scale),
    };
    print(&text)?;
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

fn options(args: &Compare, scale: TimeScale) -> Result<Options> {
    let level = match args.level {
        LevelArg::Exact => Level::Exact,
        LevelArg::Order | LevelArg::Metrics => Level::Order,
        LevelArg::Timing => Level::Timing,
    };
    let mut options = Options {
        level,
        collapse_ignored_isrs: args.collapse_isrs,
        cut_to_common_length: args.cut,
        align: args.align,
        differing: args.limit,
        ..Options::default()
    };
    for text in &args.tolerance {
        let (action, bound) = match text.split_once('=') {
            Some((action, bound)) => (Some(action), bound),
            None => (None, text.as_str()),
        };
        let tolerance = tolerance(text, bound, scale)?;
        match action {
            Some(action) => options.action_tolerances.push((action.to_owned(), tolerance)),
            // Two bounds, one absolute and one relative, may be given.
            None => {
                options.tolerance.ticks = options.tolerance.ticks.max(tolerance.ticks);
                options.tolerance.per_mille = options.tolerance.per_mille.max(tolerance.per_mille);
            }
        }
    }
    for name in &args.ignore {
        if spec::kind_alias(name).is_some() {
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
    let verdict = if c.equal { "equal" } else { "different" };
    let level = match c.level {
        Level::Exact => "exact",
        Level::Order => "order",
        Level::Timing => "timing",
    };
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "{verdict} at level {level}: {} and {} events, {} pairs; times in {}",
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
        let _ = writeln!(text, "{:width$}  type   in A    in B    times   other", "entity");
        for e in differ {
            let _ = writeln!(
                text,
                "{:width$}  {:5}  {:6}  {:6}  {:6}  {:6}",
                e.entity, e.kind, e.left, e.right, e.temporal, e.semantic
            );
        }
    }
    text
}

fn difference(text: &mut String, d: &Difference) {
    let what = match d.kind {
        crate::compare::Kind::Time => "time",
        crate::compare::Kind::Changed => "changed",
        crate::compare::Kind::Moved => "moved",
        crate::compare::Kind::OnlyLeft => "only in A",
        crate::compare::Kind::OnlyRight => "only in B",
    };
    let side =
        |l: &Option<Line>| l.as_ref().map_or_else(|| "–".into(), |l| format!("{}  {}", place(l), l.text));
    let _ = writeln!(text, "  {what}: {} | {}", side(&d.left), side(&d.right));
}

/// The line of a file, or the number of a mapped event.
fn place(line: &Line) -> String {
    line.place.line.map_or_else(|| format!("#{}", line.place.seq), |n| format!("line {n}"))
}

fn metrics(args: &Compare, a: (&Trace, &str), b: (&Trace, &str)) -> Result<u8> {
    let deltas = compare_metrics((&a.0.session, a.1), (&b.0.session, b.1), &args.metric, args.threshold)?;
    let beyond = deltas.iter().filter(|d| d.beyond).count();
    let text = match args.format {
        ReportFormat::Json => {
            let all = json!({"level": "metrics", "threshold": args.threshold, "equal": beyond == 0, "differing": deltas});
            serde_json::to_string_pretty(&all).unwrap_or_default() + "\n"
        }
        ReportFormat::Table => metrics_table(&deltas, beyond, args),
    };
    print(&text)?;
    Ok(if beyond > 0 { DIFFERENT } else { 0 })
}

fn metrics_table(deltas: &[MetricDelta], beyond: usize, args: &Compare) -> String {
    let mut text = String::new();
    let verdict = if beyond == 0 { "equal" } else { "different" };
    let _ = writeln!(
        text,
        "{verdict} at level metrics: {} statistics differ, {beyond} by more than {} %",
        deltas.len(),
        args.threshold
    );
    let shown: Vec<&MetricDelta> = deltas.iter().filter(|d| d.beyond).take(args.limit).collect();
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

/// How many decimals show a percentage that is not 0 as something else than 0.
fn decimals(percent: f64) -> usize {
    (1..9).find(|n| percent.abs() * 10f64.powi(*n) >= 1.0).map_or(1, |n| n as usize)
}

fn print(text: &str) -> Result<()> {
    let mut target = Target::open(None, false)?;
    target.out().write_all(text.as_bytes()).map_err(|e| Error::io("write to", "standard output", e))?;
    target.finish()
}
