//! `btfdb check`.

use super::super::args::{ClusterArg, Limits, Recordings, SqlPath};
use super::super::declared::word;
use super::super::location;
use super::super::on_cluster;
use super::super::signals;
use super::{output, query};
use crate::btf::spec::Version;
use crate::check::{Finding, RULES, Report, Rule};
use crate::diagnostics::Severity;
use crate::engine::queries_with_folders;
use crate::error::{Error, Result};
use crate::library::Queries;
use crate::ops::check::check;
use crate::ops::open::{OpenOptions, Trace};
use crate::ops::require::{Measured, in_this_process, requirements};
use crate::require::junit;
use crate::time::{TimeScale, format_duration};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Check that a trace keeps the rules of its BTF version; exit 3 when it does not.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  btfdb check engine.db
  btfdb check trace.btf --btf-version 2.1.5 --severity error
  btfdb check trace.btf --format json
  btfdb check engine.db --requirements limits.toml --format junit
  btfdb check --rules

A file of requirements has entries [[limit]], [[deadline]], [[period]], [[load]], [[chain]], [[synchronisation]], and
[[temporal]] for what may happen when (docs/insight.md):
  [[temporal]]
  name = \"T_4 starts within 1 ms\"
  after = { entity = \"T_4\", action = \"activate\" }
  then = { entity = \"T_4\", action = \"start\" }
  within = \"1ms\"")]
pub struct CheckArgs {
    /// Database folder, DATABASE:RECORDING, or a trace file.
    pub trace: Option<String>,
    /// Which recordings of a database.
    #[command(flatten)]
    pub recordings: Recordings,
    /// Version to check against; the one that the trace names when left out.
    #[arg(long, value_parser = ["2.1.5", "2.2.1", "2.3.0"], value_name = "VERSION")]
    pub btf_version: Option<String>,
    /// Least severity of a violation that makes the exit code 3.
    #[arg(long, value_parser = word(["error", "warning", "info"], Severity::parse), default_value = "error")]
    pub severity: Severity,
    /// Check timing requirements instead of the rules of BTF: limits of metrics, deadlines, periods, loads,
    /// event chains, order and time of events and states.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["btf_version", "severity"])]
    pub requirements: Option<PathBuf>,
    /// Requirements of what a recording has no sample of do not make the exit code 3, as for one file of
    /// requirements for many recordings. Those of names that nothing has still do.
    #[arg(long, requires = "requirements")]
    pub allow_no_samples: bool,
    /// SQL of the user, for requirements.
    #[command(flatten)]
    pub sql_path: SqlPath,
    /// How to print; junit is for requirements.
    #[arg(long, value_enum, default_value = "table")]
    pub format: CheckFormat,
    /// List the rules.
    #[arg(long)]
    pub rules: bool,
    /// Who does the work.
    #[command(flatten)]
    pub cluster: ClusterArg,
    /// Resources to use.
    #[command(flatten)]
    pub limits: Limits,
}

/// How the report of `check` is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "the names say it")]
pub enum CheckFormat {
    Table,
    Json,
    Junit,
}

/// Exit code of violations.
const VIOLATIONS: u8 = 3;

pub(super) fn run(args: &CheckArgs) -> Result<u8> {
    if args.rules {
        match args.format {
            CheckFormat::Table => output::print(&rules())?,
            CheckFormat::Json => output::print_json(&RULES.iter().map(rule_as_json).collect::<Vec<_>>())?,
            CheckFormat::Junit => return Err(junit_without_requirements()),
        }
        return Ok(0);
    }
    if let Some(file) = &args.requirements {
        return requirements_of(args, file);
    }
    if args.format == CheckFormat::Junit {
        return Err(junit_without_requirements());
    }
    if let Some(option) = args.sql_path.given() {
        return Err(Error::usage(format!("{option} is for requirements: the rules of BTF are no SQL"))
            .hint("name requirements with --requirements FILE"));
    }
    let Some(name) = &args.trace else { return Err(Error::usage("give a database or a trace file")) };
    let control = signals::control();
    let options = OpenOptions {
        remote: location::remote(),
        choice: args.recordings.choice(),
        ..query::open_options(&args.limits, None, Queries::shipped())?
    };
    let trace = Trace::open(name, &options, &control)?;
    let version = args.btf_version.as_deref().and_then(Version::parse);
    let reports = match args.cluster.cluster.as_deref() {
        Some(address) => {
            trace.check_whole_database()?;
            on_cluster::rules(&trace.session, &(address, control.flag_shared()), version)?
        }
        None => check(&trace, version)?,
    };
    let (mut text, mut all) = (String::new(), Vec::new());
    for (recording, report) in &reports {
        match args.format {
            CheckFormat::Table | CheckFormat::Junit => {
                table(&mut text, recording, report, trace.time_scale());
            }
            CheckFormat::Json => all.push(to_json(recording, report)),
        }
    }
    match args.format {
        CheckFormat::Json => output::print_json(&all)?,
        _ => output::print(&text)?,
    }
    let violations: u64 = reports.iter().map(|(_, report)| report.violations(args.severity)).sum();
    Ok(if violations > 0 { VIOLATIONS } else { 0 })
}

/// `btfdb check --requirements`.
fn requirements_of(args: &CheckArgs, file: &Path) -> Result<u8> {
    let Some(name) = &args.trace else { return Err(Error::usage("give a database or a trace file")) };
    let control = signals::control();
    let options = query::open_options(
        &args.limits,
        Some(&args.sql_path),
        queries_with_folders(&args.sql_path.folders)?,
    )?;
    let options = OpenOptions { choice: args.recordings.choice(), ..options };
    let measured = requirements(file, name, &options, &control, |trace, requirements, text| {
        match args.cluster.cluster.as_deref() {
            Some(address) => {
                trace.check_whole_database()?;
                on_cluster::requirements(&trace.session, &(address, control.flag_shared()), text, file)
            }
            None => in_this_process(trace, requirements),
        }
    });
    let Measured { outcomes, time_scale } = measured?;
    match args.format {
        CheckFormat::Table => output::print(&crate::require::table(&outcomes, time_scale))?,
        CheckFormat::Json => output::print_json(&outcomes)?,
        CheckFormat::Junit => output::print(&junit(&outcomes, time_scale, args.allow_no_samples))?,
    }
    let fails = outcomes.iter().any(|outcome| outcome.verdict.fails(args.allow_no_samples));
    Ok(if fails { VIOLATIONS } else { 0 })
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

fn junit_without_requirements() -> Error {
    Error::usage("--format junit is for requirements").hint("name them with --requirements FILE")
}

fn rule_as_json(rule: &Rule) -> Value {
    let Rule { id, meaning, section, .. } = rule;
    json!({"rule": id, "section": section, "severity": rule.severity.as_str(), "meaning": meaning})
}

/// The rules, one a line.
pub(in crate::cli) fn rules() -> String {
    let width = RULES.iter().map(|r| r.id.len()).max().unwrap_or(0);
    RULES
        .iter()
        .map(|r| format!("{:width$}  {:7}  {} [{}]\n", r.id, r.severity.as_str(), r.meaning, r.section))
        .collect()
}
