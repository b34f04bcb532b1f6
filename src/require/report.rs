//! Outcomes of requirements as text: a table for people, JUnit XML for build servers. Not for measuring.
//!
//! JUnit is written by hand: thirty lines, for which `quick-junit` would bring an XML writer, UUIDs and
//! dates, and other attributes.

use std::fmt::Write as _;

use super::{Outcome, Shown, Verdict, Witness};
use crate::render::{escaped, line, widths};
use crate::time::{TimeScale, format_duration};

/// A line per outcome, violated ones marked, and a summary; times with units.
pub fn table(outcomes: &[Outcome], scale: TimeScale) -> String {
    let header = [
        "",
        "recording",
        "requirement",
        "entity",
        "worst",
        "bound",
        "margin",
        "at",
        "samples",
        "beyond",
        "cut off",
    ];
    let mut rows = vec![header.map(str::to_owned)];
    rows.extend(outcomes.iter().map(|o| cells(o, scale)));
    let widths = widths(&rows);
    let mut out = String::new();
    rows.iter().for_each(|row| line(&mut out, row, &widths, &[false; 11]));
    let mut notes: Vec<String> = Vec::new();
    for (o, note) in outcomes.iter().filter_map(|o| Some((o, o.note.as_ref()?))) {
        let note = format!("{}: {}: {note}", o.recording, o.requirement);
        if !notes.contains(&note) {
            let _ = writeln!(out, "{note}");
            notes.push(note);
        }
    }
    for o in outcomes {
        for violation in violations(o, scale) {
            let _ = writeln!(out, "{}: {}: {violation}", o.recording, o.requirement);
        }
    }
    let of = |verdict| outcomes.iter().filter(|o| o.verdict == verdict).count();
    let _ = write!(
        out,
        "{} requirements: {} kept, {} violated, {} without samples",
        outcomes.len(),
        of(Verdict::Kept),
        of(Verdict::Violated),
        of(Verdict::NoSamples)
    );
    let rare = [
        (Verdict::MayStillBeKept, "that may still be kept"),
        (Verdict::MayStillBeViolated, "that may still be violated"),
        (Verdict::Unknown, "of names that nothing has"),
    ];
    for (count, what) in rare.map(|(verdict, what)| (of(verdict), what)).into_iter().filter(|(n, _)| *n > 0) {
        let _ = write!(out, ", {count} {what}");
    }
    out.push('\n');
    out
}

/// The violations of a template that are shown, a line each: when, and the events that show it.
fn violations(o: &Outcome, scale: TimeScale) -> Vec<String> {
    let Some(judged) = &o.judged else { return Vec::new() };
    let time = |at: i64| format_duration(at, scale);
    let shown = |violation: &Shown| {
        let witness = |w: &Witness| {
            let seq = w.seq.map_or_else(String::new, |seq| format!(" (seq {seq})"));
            format!("{} at {}{seq}", w.event, time(w.time))
        };
        let witnesses: Vec<String> = violation.witnesses.iter().map(witness).collect();
        format!("from {} to {}: {}", time(violation.begin), time(violation.end), witnesses.join(", "))
    };
    let mut lines: Vec<String> = judged.violations.iter().map(shown).collect();
    let more = o.violations.unwrap_or_default() - lines.len() as i64;
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    lines
}

fn cells(o: &Outcome, scale: TimeScale) -> [String; 11] {
    let show = |value: f64| quantity(value, o.unit, scale);
    let sign = if o.bound == "upper" { "<=" } else { ">=" };
    let mark = match o.verdict {
        Verdict::Kept => "kept",
        Verdict::Violated => "VIOLATED",
        Verdict::MayStillBeKept | Verdict::MayStillBeViolated => o.verdict.as_str(),
        Verdict::NoSamples => "NO SAMPLES",
        Verdict::Unknown => "UNKNOWN",
    };
    [
        mark.to_owned(),
        o.recording.clone(),
        o.requirement.clone(),
        o.entity.clone(),
        o.value.map_or_else(|| "-".to_owned(), |value| format!("{} {}", o.statistic, show(value))),
        format!("{sign} {}", show(o.limit)),
        o.margin.map_or_else(|| "-".to_owned(), show),
        o.at.map_or_else(|| "-".to_owned(), |at| format_duration(at, scale)),
        if o.samples > 0 { o.samples.to_string() } else { "-".to_owned() },
        o.violations.map_or_else(|| "-".to_owned(), |violations| violations.to_string()),
        o.incomplete.to_string(),
    ]
}

fn quantity(value: f64, unit: &str, scale: TimeScale) -> String {
    match unit {
        // Ticks beyond 2^53 are no measured durations.
        "duration" => format_duration(value.round() as i64, scale),
        "percent" => format!("{value:.2} %"),
        _ => format!("{value}"),
    }
}

/// The report that build servers read: a test case per outcome, a failure for each that is not kept. Those
/// without samples are skipped instead if they are allowed.
pub fn junit(outcomes: &[Outcome], scale: TimeScale, allow_no_samples: bool) -> String {
    let is_skipped = |o: &Outcome| allow_no_samples && o.verdict == Verdict::NoSamples;
    let skipped = outcomes.iter().filter(|o| is_skipped(o)).count();
    let failures = outcomes.iter().filter(|o| o.verdict.fails(allow_no_samples)).count();
    let skips = if skipped > 0 { format!(" skipped=\"{skipped}\"") } else { String::new() };
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"btfdb requirements\" \
         tests=\"{}\" failures=\"{failures}\"{skips}>\n",
        outcomes.len()
    );
    for o in outcomes {
        let [_, recording, requirement, entity, worst, bound, margin, at, samples, beyond, cut] =
            cells(o, scale).map(|c| escaped(&c));
        let _ =
            write!(out, "    <testcase classname=\"{recording}\" name=\"{requirement} ({entity}, {bound})\"");
        if o.verdict == Verdict::Kept {
            let _ = writeln!(out, "/>");
            continue;
        }
        let verdict = o.verdict.as_str();
        if !o.verdict.fails(false) {
            let why = escaped(o.note.as_deref().unwrap_or_default());
            let _ = writeln!(out, ">\n      <system-out>{verdict}; {why}</system-out>\n    </testcase>");
            continue;
        }
        if is_skipped(o) {
            let why = escaped(o.note.as_deref().unwrap_or(verdict));
            let _ = writeln!(out, ">\n      <skipped message=\"{why}\"/>\n    </testcase>");
            continue;
        }
        if let Some(note) = &o.note {
            let note = escaped(note);
            let _ =
                writeln!(out, ">\n      <failure type=\"{verdict}\" message=\"{note}\"/>\n    </testcase>");
            continue;
        }
        let _ = writeln!(
            out,
            ">\n      <failure type=\"{verdict}\" message=\"{worst}, {bound} required\">margin {margin}, at {at}, {beyond} of {samples} \
             samples beyond, {cut} cut off{}</failure>\n    </testcase>",
            violations(o, scale).iter().map(|line| format!("\n{}", escaped(line))).collect::<String>()
        );
    }
    out.push_str("  </testsuite>\n</testsuites>\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::require::Judged;

    fn outcome(value: Option<f64>) -> Outcome {
        Outcome {
            recording: "r".into(),
            requirement: "a < b".into(),
            metric: "ResponseTime".into(),
            entity: "T_1".into(),
            statistic: "max".into(),
            unit: "duration",
            bound: "upper",
            limit: 5_000_000.0,
            value,
            margin: None,
            at: value.map(|_| 1_000),
            samples: i64::from(value.is_some()),
            incomplete: 0,
            violations: None,
            verdict: Verdict::NoSamples,
            note: None,
            judged: None,
        }
        .judged()
    }

    #[test]
    fn reports_say_what_is_kept_and_by_how_much() {
        let outcomes = [outcome(Some(4_000_000.0)), outcome(Some(5_000_001.0)), outcome(None)];
        let text = table(&outcomes, TimeScale::Ns);
        let lines: Vec<&str> = text.lines().collect();
        assert!(
            lines[1].starts_with("kept        r")
                && lines[1].contains("max 4 ms")
                && lines[1].contains("1 ms"),
            "{text}"
        );
        assert!(lines[2].starts_with("VIOLATED") && lines[2].contains("-1 ns"), "{text}");
        assert!(lines[3].starts_with("NO SAMPLES"), "{text}");
        assert_eq!(lines[4], "3 requirements: 1 kept, 1 violated, 1 without samples");
        let xml = junit(&outcomes, TimeScale::Ns, false);
        assert!(
            xml.contains("tests=\"3\" failures=\"2\"")
                && xml.contains("name=\"a &lt; b (T_1, &lt;= 5 ms)\"/>"),
            "{xml}"
        );
        assert_eq!(xml.matches("<failure").count(), xml.matches("</failure>").count());
        let xml = junit(&outcomes, TimeScale::Ns, true);
        assert!(
            xml.contains("failures=\"1\" skipped=\"1\"") && xml.contains("<skipped message=\"no samples\"/>"),
            "{xml}"
        );
    }

    #[test]
    fn a_name_that_nothing_has_is_said_in_every_report() {
        let note = Some("there is no task 'T_9'".to_owned());
        let outcomes = [outcome(Some(1.0)), Outcome { verdict: Verdict::Unknown, note, ..outcome(None) }];
        let text = table(&outcomes, TimeScale::Ns);
        assert!(text.contains("\nUNKNOWN") && text.contains("r: a < b: there is no task 'T_9'\n"), "{text}");
        assert!(text.ends_with("0 without samples, 1 of names that nothing has\n"), "{text}");
        let xml = junit(&outcomes, TimeScale::Ns, true);
        assert!(
            xml.contains("<failure type=\"unknown\" message=\"there is no task &#39;T_9&#39;\"/>")
                || xml.contains("<failure type=\"unknown\" message=\"there is no task 'T_9'\"/>"),
            "{xml}"
        );
    }

    #[test]
    fn what_is_not_decided_is_said_and_passes() {
        let witness = Witness { time: 2_000, seq: Some(7), event: "T_1[0] activate".into() };
        let shown = Shown { begin: 2_000, end: 3_000, witnesses: vec![witness] };
        let judged = Some(Judged { violations: vec![shown], ..Judged::default() });
        let note = Some("not decided: 1 open".to_owned());
        let outcomes = [
            Outcome { verdict: Verdict::MayStillBeKept, note, ..outcome(None) },
            Outcome { violations: Some(3), verdict: Verdict::Violated, judged, ..outcome(Some(6_000_000.0)) },
        ];
        let text = table(&outcomes, TimeScale::Ns);
        for expected in [
            "\nmay still be kept  r",
            "r: a < b: not decided: 1 open\n",
            "r: a < b: from 2 us to 3 us: T_1[0] activate at 2 us (seq 7)\nr: a < b: and 2 more\n",
            "2 requirements: 0 kept, 1 violated, 0 without samples, 1 that may still be kept\n",
        ] {
            assert!(text.contains(expected), "{expected}\n{text}");
        }
        let xml = junit(&outcomes, TimeScale::Ns, false);
        for expected in [
            "failures=\"1\"",
            "<system-out>may still be kept; not decided: 1 open</system-out>",
            "0 cut off\nfrom 2 us to 3 us: T_1[0] activate at 2 us (seq 7)\nand 2 more</failure>",
        ] {
            assert!(xml.contains(expected), "{expected}\n{xml}");
        }
    }

    #[test]
    fn a_bound_that_is_just_met_is_kept() {
        assert_eq!(outcome(Some(5_000_000.0)).verdict, Verdict::Kept);
        assert_eq!(outcome(Some(f64::NAN)).verdict, Verdict::Violated);
    }
}
