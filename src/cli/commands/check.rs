//! `btfdb check`.

use super::super::args::{Check, CheckFormat, SeverityArg};
use super::super::ui::Ui;
use super::output::Target;
use super::{require, trace};
use crate::btf::spec::Version;
use crate::check::{Checker, Finding, Options, RULES, Report};
use crate::diagnostics::Severity;
use crate::error::{Error, Result};
use crate::ops::grasp;
use crate::time::{TimeScale, format_duration};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Exit code of violations.
const VIOLATIONS: u8 = 3;

pub(super) fn run(args: &Check, ui: &Ui) -> Result<u8> {
    if args.rules {
        return print(&rules(), ui);
    }
    if let Some(file) = &args.requirements {
        return Ok(if require::run(args, file)? { 0 } else { VIOLATIONS });
    }
    if args.format == CheckFormat::Junit {
        return Err(
            Error::usage("--format junit is for requirements").hint("name them with --requirements FILE")
        );
    }
    let Some(name) = &args.trace else { return Err(Error::usage("give a database or a trace file")) };
    let control = trace::control();
    let trace = trace::open(name, None, &args.limits, &control)?;
    let wanted = args.recording.as_deref();
    trace.session.check_recording(wanted)?;
    if trace.recordings.is_empty() {
        return Err(Error::usage(format!("'{name}' holds no recording")).hint("`btfdb ingest` adds one"));
    }
    let recordings = trace.recordings.iter().filter(|r| wanted.is_none_or(|w| w == *r));
    let scale = trace.session.database().time_scale();
    let at_least = match args.severity {
        SeverityArg::Error => Severity::Error,
        SeverityArg::Warning => Severity::Warning,
        SeverityArg::Info => Severity::Info,
    };
    let (mut text, mut all, mut violations) = (String::new(), Vec::new(), 0);
    for recording in recordings {
        let mut records = trace.session.records(recording)?;
        let header = records.has_lines();
        // What the mapper writes is BTF 2.1.5.
        let own = (!header).then_some(Version::V2_1_5);
        let version = args.btf_version.as_deref().and_then(Version::parse).or(own);
        let options = Options { version, header };
        let mut checker = Checker::new(options);
        // The lines in front of an event come before it.
        let mut others = Vec::new();
        loop {
            let next = records.next_with(|line, text| others.push((line, text.to_owned())))?;
            others.drain(..).for_each(|(line, text)| checker.other_line(line, &text));
            let Some((place, record)) = next else { break };
            checker.event(place, &record);
        }
        let mut report = checker.finish();
        for (line, fault) in grasp::faults(trace.session.database(), recording)? {
            let line = u64::try_from(line).ok().filter(|line| *line > 0);
            report.add(fault.rule.id(), line, fault.time, fault.message);
        }
        violations += report.violations(at_least);
        match args.format {
            CheckFormat::Table | CheckFormat::Junit => table(&mut text, recording, &report, scale),
            CheckFormat::Json => all.push(to_json(recording, &report)),
        }
    }
    if args.format == CheckFormat::Json {
        text = serde_json::to_string_pretty(&all).unwrap_or_default() + "\n";
    }
    print(&text, ui)?;
    Ok(if violations > 0 { VIOLATIONS } else { 0 })
}

fn table(text: &mut String, recording: &str, report: &Report, scale: TimeScale) {
    let of = |severity| {
        report.findings.iter().filter(|f| f.rule.severity == severity).map(|f| f.count).sum::<u64>()
    };
    let (errors, warnings, infos) = (of(Severity::Error), of(Severity::Warning), of(Severity::Info));
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "{recording}: {} against BTF {}, times in {}: {}, {}, {}",
        count(report.events, "event"),
        report.version,
        scale.as_str(),
        count(errors, "error"),
        count(warnings, "warning"),
        count(infos, "info")
    );
    if report.largest_step_back > 0 {
        let step = format_duration(report.largest_step_back.try_into().unwrap_or(i64::MAX), scale);
        let _ = writeln!(text, "  the largest step back in time is {step}");
    }
    for finding in &report.findings {
        one(text, finding, report.version);
    }
}

/// `1 error`, `2 errors`.
fn count(number: u64, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

fn one(text: &mut String, finding: &Finding, version: Version) {
    let rule = finding.rule;
    let _ = writeln!(
        text,
        "{:7}  {}  ×{}: {} [{}]",
        rule.severity.as_str(),
        rule.id,
        finding.count,
        rule.meaning,
        rule.section_in(version)
    );
    if !finding.words.is_empty() {
        let words: Vec<String> = finding.words.iter().map(|(w, n)| format!("{w} ×{n}")).collect();
        let _ = writeln!(text, "         {}", words.join(", "));
    }
    for o in &finding.first {
        let place = match (o.place.line, o.time) {
            (Some(line), _) => format!("line {line}: "),
            (None, Some(_)) => format!("event {}: ", o.place.seq),
            // Of the whole file: what is missing has no line.
            (None, None) => String::new(),
        };
        let line = if o.text.is_empty() { String::new() } else { format!(" '{}'", o.text) };
        let _ = writeln!(text, "         {place}{}{line}", o.message);
    }
}

fn to_json(recording: &str, report: &Report) -> Value {
    let findings: Vec<Value> = report
        .findings
        .iter()
        .map(|f| {
            let first: Vec<Value> = f
                .first
                .iter()
                .map(|o| {
                    json!({"line": o.place.line, "seq": o.place.seq, "time": o.time, "message": o.message, "text": o.text})
                })
                .collect();
            json!({
                "rule": f.rule.id, "section": f.rule.section_in(report.version),
                "severity": f.rule.severity.as_str(), "meaning": f.rule.meaning, "count": f.count, "words": f.words, "first": first,
            })
        })
        .collect();
    json!({
        "recording": recording, "version": report.version.as_str(), "events": report.events,
        "errors": report.violations(Severity::Error), "largest_step_back": report.largest_step_back,
        "findings": findings,
    })
}

/// The rules, one a line.
pub(in crate::cli) fn rules() -> String {
    let width = RULES.iter().map(|r| r.id.len()).max().unwrap_or(0);
    RULES
        .iter()
        .map(|r| format!("{:width$}  {:7}  {} [{}]\n", r.id, r.severity.as_str(), r.meaning, r.section))
        .collect()
}

fn print(text: &str, _: &Ui) -> Result<u8> {
    let mut target = Target::open(None, false)?;
    target.out().write_all(text.as_bytes()).map_err(|e| Error::io("write to", "standard output", e))?;
    target.finish()?;
    Ok(0)
}
