//! Tests of the checker, and their helpers: a line splitter that is not a reader, and the ids of a report.

mod charts;
mod entities;
mod headers;
mod listings;
mod memory;
mod rules;
mod semaphores;

use super::{CheckOptions, Checker, Report};
use crate::btf::spec::Version;
use crate::btf::{Place, Record};
use crate::diagnostics::Severity;

/// Checks a text. Fields are trimmed, the eighth is the rest of the line; lines that do not split are other
/// lines.
fn check_with(options: CheckOptions, text: &str) -> Report {
    let mut checker = Checker::new(options);
    let mut seq = 0;
    for (n, line) in text.lines().enumerate() {
        let number = n as u64 + 1;
        let fields: Vec<_> = line.splitn(8, ',').map(str::trim).collect();
        let instance = |text: &str| text.parse().ok();
        match (line.starts_with('#'), fields.as_slice()) {
            (
                false,
                [time, source, source_instance, target_type, target, target_instance, action, note @ ..],
            ) if time.parse::<i64>().is_ok() => {
                let record = Record {
                    time: time.parse().unwrap(),
                    source,
                    source_instance: instance(source_instance),
                    target_type,
                    target,
                    target_instance: instance(target_instance),
                    action,
                    note: note.first().copied(),
                };
                checker.event(Place { seq, line: Some(number) }, &record);
                seq += 1;
            }
            _ => checker.other_line(number, line),
        }
    }
    checker.finish()
}

fn check(text: &str) -> Report {
    check_with(CheckOptions::default(), text)
}

/// Checks events without a header.
fn check_events(version: Version, text: &str) -> Report {
    check_with(CheckOptions { version: Some(version), header: false }, text)
}

/// The rules that were violated, with at least this severity.
fn ids(report: &Report, at_least: Severity) -> Vec<&'static str> {
    report.findings.iter().filter(|f| f.rule.severity >= at_least).map(|f| f.rule.id).collect()
}
