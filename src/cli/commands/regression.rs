//! Reports of `btfdb regress` as text: a table for people, JUnit XML for build servers. Not for comparing.

use crate::ops::regress::{CauseRow, History, Report, Row};
use crate::render::{escaped, line, widths};
use crate::time::{TimeScale, format_duration};
use std::fmt::Write as _;

/// Recordings of a side that are named.
const NAMED: usize = 5;
/// A cause of less than this share of a change is no explanation of it.
const MOST: f64 = 0.5;

/// What was compared, a line for each statistic that is not unchanged (`all`: each), first causes, how much
/// that proves, and a summary.
pub(super) fn table(report: &Report, scale: TimeScale, all: bool) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(out, "before: {}\nafter:  {}\n", recordings(&report.before), recordings(&report.after));
    let mut shown: Vec<&Row> = report.rows.iter().filter(|row| all || row.verdict != "unchanged").collect();
    shown.sort_by_key(|row| order(row));
    if !shown.is_empty() {
        let header = [
            "",
            "metric",
            "entity",
            "",
            "before",
            "after",
            "change",
            "",
            "95 % of it",
            "p",
            "detectable",
            "basis",
        ];
        let mut lines = vec![header.map(str::to_owned)];
        lines.extend(shown.iter().map(|row| cells(row, scale)));
        let widths = widths(&lines);
        let right = [false, false, false, false, true, true, true, true, false, true, true, false];
        lines.iter().for_each(|cells| line(&mut out, cells, &widths, &right));
        out.push('\n');
    }
    let explained = report.rows.iter().filter(|row| !row.causes.is_empty());
    for row in explained {
        let _ = writeln!(out, "{}", because(row, scale));
    }
    notes(&mut out, report);
    let _ = write!(out, "{} statistics: {}", report.rows.len(), report.verdicts());
    let _ = match report.tests {
        0 => writeln!(out),
        1 => writeln!(out, "; one test"),
        tests => writeln!(out, "; p-values are corrected for {tests} tests"),
    };
    out
}

/// What fails, what changed, what is not known, what one side has.
fn order(row: &Row) -> u8 {
    match row.verdict {
        "changed" if row.fails => 0,
        "changed" => 1,
        "not enough data" => 2,
        "unchanged" => 3,
        _ => 4,
    }
}

fn recordings(names: &[String]) -> String {
    let shown = names.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    match names.len() {
        1 => shown,
        count if count <= NAMED => format!("{count} recordings: {shown}"),
        count => format!("{count} recordings: {shown}, …"),
    }
}

fn cells(row: &Row, scale: TimeScale) -> [String; 12] {
    let none = || "-".to_owned();
    let time = |value: Option<f64>| value.map_or_else(none, |value| duration(value, scale));
    let interval =
        row.low.zip(row.high).map(|(low, high)| format!("{} to {}", signed(low, scale), signed(high, scale)));
    [
        if row.fails { "CHANGED".to_owned() } else { row.verdict.to_owned() },
        row.metric.clone(),
        row.entity.clone(),
        row.statistic.unwrap_or("").to_owned(),
        time(row.before),
        time(row.after),
        row.effect.map_or_else(none, |effect| signed(effect, scale)),
        row.percent.map_or_else(none, |percent| format!("{percent:+.2} %")),
        interval.unwrap_or_else(none),
        row.p_value.map_or_else(none, p_value),
        time(row.detectable),
        basis(row),
    ]
}

/// What a test rests on, or why there is none.
fn basis(row: &Row) -> String {
    let basis = row.basis.unwrap_or("one side");
    match row.hindrance {
        Some(why) => format!("{basis}: {why}"),
        // Neither no change nor one that matters is outside of it.
        None if row.verdict == "not enough data" => format!("{basis}: wide interval"),
        None => basis.to_owned(),
    }
}

/// Ticks of statistics; those beyond 2^53 are no durations.
fn duration(ticks: f64, scale: TimeScale) -> String {
    format_duration(ticks.round() as i64, scale)
}

fn signed(ticks: f64, scale: TimeScale) -> String {
    let text = duration(ticks, scale);
    if ticks.round() > 0.0 { format!("+{text}") } else { text }
}

fn p_value(p: f64) -> String {
    if p > 0.0 && p < 0.0001 { "<0.0001".to_owned() } else { format!("{p:.4}") }
}

/// `ResponseTime of T_5 changed by +50 us: T_5 executes R_Filter, +49.8 us of that`
fn because(row: &Row, scale: TimeScale) -> String {
    let effect = row.effect.map_or_else(String::new, |effect| signed(effect, scale));
    let begin = format!("{} of {} changed by {effect}: ", row.metric, row.entity);
    match row.causes.first() {
        Some(cause) if cause.sure => {
            let is_most = row.effect.is_none_or(|effect| cause.explains.abs() >= MOST * effect.abs());
            let most = if is_most { "" } else { "no part makes most of it; what changed for sure: " };
            format!("{begin}{most}{}, {} of that", sentence(cause), signed(cause.explains, scale))
        }
        _ => format!("{begin}no part of it changed for sure"),
    }
}

fn sentence(cause: &CauseRow) -> String {
    let CauseRow { entity, kind, name, path, .. } = cause;
    let what = match (kind.as_str(), name.as_str()) {
        ("executes", name) if name == entity => format!("{entity} executes"),
        ("executes", name) => format!("{entity} executes {name}"),
        ("behind", name) => format!("{entity} is behind {name}"),
        ("os", _) => format!("the kernel is at work for {entity}"),
        ("lock", "") => format!("{entity} waits for a lock"),
        ("lock", name) => format!("{entity} waits for a lock, for {name}"),
        ("event", "") => format!("{entity} waits for an event"),
        ("event", name) => format!("{entity} waits for an event of {name}"),
        (kind, _) => format!("{kind} time of {entity}"),
    };
    if path.len() > 1 { format!("{what} (by way of {})", path.join(", ")) } else { what }
}

/// How little the figures prove.
fn notes(out: &mut String, report: &Report) {
    if report.rows.iter().any(|row| row.basis == Some("blocks")) {
        out.push_str(
            "basis blocks: what differs from run to run only is not in these figures; five recordings of each \
             build would show it\n",
        );
    }
    if report.rows.iter().any(|row| row.basis == Some("constants") && row.verdict == "changed") {
        out.push_str("basis constants: all samples of each side are equal; another run may have others\n");
    }
    if report.rows.iter().any(|row| row.between_runs >= 10.0) {
        out.push_str(
            "recordings of a side differ by more than their instances suggest: record more of them\n",
        );
    }
}

/// The report that build servers read: a test case per statistic, a failure for each that fails. What is not
/// known is skipped.
pub(super) fn junit(report: &Report, scale: TimeScale) -> String {
    let is_skipped = |row: &&Row| !row.fails && !matches!(row.verdict, "changed" | "unchanged");
    let skipped = report.rows.iter().filter(is_skipped).count();
    let failures = report.rows.iter().filter(|row| row.fails).count();
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"btfdb regress\" tests=\"{}\" \
         failures=\"{failures}\" skipped=\"{skipped}\">\n",
        report.rows.len()
    );
    for row in &report.rows {
        let [_, metric, entity, statistic, before, after, change, percent, interval, p, detectable, basis] =
            cells(row, scale).map(|cell| escaped(&cell));
        let name = if statistic.is_empty() { entity } else { format!("{entity} ({statistic})") };
        let _ = write!(out, "    <testcase classname=\"{metric}\" name=\"{name}\"");
        if row.fails {
            let why = match row.causes.is_empty() {
                true => String::new(),
                false => escaped(&format!("; {}", because(row, scale))),
            };
            let _ = writeln!(
                out,
                ">\n      <failure type=\"changed\" message=\"{before} before, {after} after: {change} \
                 ({percent})\">95 %: {interval}; p = {p}; basis: {basis}{why}</failure>\n    </testcase>"
            );
        } else if is_skipped(&row) {
            let verdict = row.verdict;
            let _ = writeln!(
                out,
                ">\n      <skipped message=\"{verdict}; basis: {basis}; detectable: {detectable}\"/>\n    \
                 </testcase>"
            );
        } else {
            out.push_str("/>\n");
        }
    }
    out.push_str("  </testsuite>\n</testsuites>\n");
    out
}

/// A line per change.
pub(super) fn history(history: &History, scale: TimeScale) -> String {
    let History { metric, entity, statistic, recordings, changes } = history;
    let mut out = format!(
        "{metric} of {entity}, {statistic}, in {} recordings in the order in which they came\n",
        recordings.len()
    );
    if changes.is_empty() {
        out.push_str("no change is shown\n");
    }
    for change in changes {
        let place = match change.earliest == change.latest {
            true => String::new(),
            false => format!(", between {} and {} with 95 %", change.earliest, change.latest),
        };
        let _ = writeln!(
            out,
            "from {} on: {} instead of {} (p = {}; exactly there with {:.0} %{place})",
            change.recording,
            duration(change.after, scale),
            duration(change.before, scale),
            p_value(change.p_value),
            change.confidence * 100.0
        );
    }
    out
}
