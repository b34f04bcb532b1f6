//! The dot commands that run, write or change something. Not the lists of others (see `listings`).

use super::super::location;
use super::{Flow, Shell, pager_of_the_user, script};
use crate::cli::args::Format;
use crate::cli::commands::output::format as output_format;
use crate::cli::commands::query::report_missed_chains;
use crate::cli::commands::{export as exporting, histogram as drawing, parse, plot as plotting};
use crate::engine::split;
use crate::error::{Error, ErrorKind, Result};
use crate::export::CHAINS_OPTION;
use crate::library::Unit;
use crate::metrics::{MetricFilter, absent, bins_of, histograms, measurement, summaries};
use crate::ops::metrics::is_measurement;
use crate::render;
use crate::time::TimeScale;
use arrow::datatypes::{DataType, Field};
use clap::{Parser, ValueEnum};
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The words of `.mode`.
pub(super) const FORMATS: &[&str] = &["auto", "table", "csv", "tsv", "json", "jsonl", "md"];
/// The words of `.unit`.
pub(super) const UNITS: &[&str] = &["ticks", "ps", "ns", "us", "ms", "s"];
/// The words of `.timer`.
pub(super) const SWITCH: &[&str] = &["on", "off"];
/// The option of commands that replace a file.
pub(super) const FORCE: &str = "--force";

/// Options of commands that a shell has for all that it does.
pub(super) const OF_THE_SHELL: [&str; 6] =
    [CHAINS_OPTION, "max-depth", "memory-limit", "no-files", "sql-path", "threads"];

/// Maximum depth of files that read files.
const MAX_DEPTH: usize = 16;

pub(super) fn metric(shell: &mut Shell<'_>, words: &[String]) -> Result<Flow> {
    let Some(name) = words.first() else { return Ok(Flow::Next) };
    let filter = filter(words);
    if is_measurement(name) {
        shell.timed(|shell| {
            let rows = measurement(&shell.session, &filter, shell.unit())?;
            shell.show(&rows.schema(), &mut std::iter::once(Ok(rows)), &[])
        })?;
        return Ok(Flow::Next);
    }
    let unit = shell.session.queries().metric(name)?.unit;
    shell.timed(|shell| {
        let names = std::slice::from_ref(name);
        let mut summary = summaries(&shell.session, names, &filter)?;
        absent(&shell.session, names, &filter, &summary)?.iter().for_each(|why| shell.ui.warning(why));
        report_missed_chains(&shell.session, shell.ui);
        let mut known = vec!["metric", "unit"];
        if shell.session.database().count() == 1 {
            known.push("recording");
        }
        if shell.cap().is_some() {
            // The width of a terminal is not wasted on columns that the user knows.
            let shown_columns = |(_, f): &(usize, &Arc<Field>)| !known.contains(&f.name().as_str());
            let shown_columns: Vec<_> = summary
                .schema()
                .fields()
                .iter()
                .enumerate()
                .filter(shown_columns)
                .map(|(at, _)| at)
                .collect();
            summary = summary
                .project(&shown_columns)
                .map_err(|e| Error::new(ErrorKind::Bug, "no such column").because(e))?;
        }
        let schema = summary.schema();
        // Statistics of durations, and the instants of the extremes.
        let is_time = |f: &Field| {
            f.name().ends_with("_at") || unit == Unit::Duration && *f.data_type() == DataType::Float64
        };
        let times: Vec<_> = schema.fields().iter().map(|f| is_time(f)).collect();
        shell.show(&schema, &mut std::iter::once(Ok(summary)), &times)
    })?;
    Ok(Flow::Next)
}

pub(super) fn histogram(shell: &mut Shell<'_>, words: &[String]) -> Result<Flow> {
    let Some(name) = words.first() else { return Ok(Flow::Next) };
    let filter = filter(words);
    shell.timed(|shell| {
        let names = std::slice::from_ref(name);
        let histograms = histograms(&shell.session, names, &filter)?;
        let bins = bins_of(&histograms)?;
        absent(&shell.session, names, &filter, &bins)?.iter().for_each(|why| shell.ui.warning(why));
        report_missed_chains(&shell.session, shell.ui);
        if shell.format() == render::Format::Table {
            let scale = shell.session.database().time_scale();
            let times = drawing::Times { scale, unit: shell.unit() };
            return shell.print(&drawing::text(&histograms, times, shell.width()));
        }
        shell.show(&bins.schema(), &mut std::iter::once(Ok(bins.clone())), &[])?;
        Ok(Flow::Next)
    })
}

/// The filter of `METRIC [ENTITY] [RECORDING]`.
fn filter(words: &[String]) -> MetricFilter {
    MetricFilter {
        entity: words.get(1).cloned(),
        recording: words.get(2).cloned(),
        ..MetricFilter::default()
    }
}

pub(super) fn explain(shell: &mut Shell<'_>, words: &[String]) -> Result<Flow> {
    for statement in split(&format!("EXPLAIN {}", words.concat()))? {
        shell.statement(&statement)?;
    }
    Ok(Flow::Next)
}

pub(super) fn read(shell: &mut Shell<'_>, words: &[String]) -> Result<Flow> {
    let Some(path) = words.first().map(PathBuf::from) else { return Ok(Flow::Next) };
    if shell.depth >= MAX_DEPTH {
        return Err(Error::usage(format!("'{}' is read by a file that it reads", path.display()))
            .hint(format!("files may read files {MAX_DEPTH} deep")));
    }
    let file = File::open(&path).map_err(|e| Error::io("read", &path, e))?;
    shell.depth += 1;
    let done = script::run(shell, &path, &mut BufReader::new(file));
    shell.depth -= 1;
    done
}

pub(super) fn mode(shell: &mut Shell<'_>, words: &[String]) -> Result<Flow> {
    if let Some(word) = words.first() {
        let word = one_of("format", word, FORMATS)?;
        shell.settings.format = Format::from_str(word, true).unwrap_or(Format::Auto);
        return Ok(Flow::Next);
    }
    let format = shell.settings.format.to_possible_value();
    shell.tell("mode", format.as_ref().map_or("auto", |v| v.get_name()))
}

pub(super) fn unit(shell: &mut Shell<'_>, words: &[String]) -> Result<Flow> {
    if let Some(word) = words.first() {
        shell.settings.unit = TimeScale::parse(one_of("unit", word, UNITS)?);
        return Ok(Flow::Next);
    }
    shell.tell("unit", shell.settings.unit.map_or("ticks", TimeScale::as_str))
}

pub(super) fn rows(shell: &mut Shell<'_>, words: &[String]) -> Result<Flow> {
    if let Some(word) = words.first() {
        let bad = |_| Error::usage(format!("'{word}' is no number of rows")).hint("0 shows all");
        shell.settings.rows = word.parse().map_err(bad)?;
        return Ok(Flow::Next);
    }
    shell.tell("rows", &shell.settings.rows.to_string())
}

pub(super) fn param(shell: &mut Shell<'_>, words: &[String]) -> Result<Flow> {
    let Some(text) = words.first() else {
        let all: String = shell.settings.params.iter().map(|text| format!("{text}\n")).collect();
        return shell.print(&all);
    };
    // Out of habit, users type a semicolon, quotes around all of it, and double quotes around a text.
    let text = text.trim_end_matches(';').trim_end();
    let inside = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    let text = inside('"').or_else(|| inside('\'')).unwrap_or(text);
    let text = match text.split_once('=').map(|(name, value)| (name.trim(), value.trim())) {
        Some((name, value)) => match value.strip_prefix('"').and_then(|value| value.strip_suffix('"')) {
            Some(value) => format!("{name}='{value}'"),
            None => format!("{name}={value}"),
        },
        None => text.to_owned(),
    };
    let (name, _) = parse::param(&text, shell.session.database().time_scale())?;
    let same = |other: &String| other.split_once('=').is_some_and(|(n, _)| n.trim_start_matches('$') == name);
    shell.settings.params.retain(|other| !same(other));
    shell.settings.params.push(text);
    Ok(Flow::Next)
}

pub(super) fn timer(shell: &mut Shell<'_>, words: &[String]) -> Result<Flow> {
    if let Some(word) = words.first() {
        shell.settings.timer = one_of("switch", word, SWITCH)? == "on";
        return Ok(Flow::Next);
    }
    shell.tell("timer", if shell.settings.timer { "on" } else { "off" })
}

pub(super) fn pager(shell: &mut Shell<'_>, words: &[String]) -> Result<Flow> {
    shell.settings.pager = match words.first().map(|w| w.trim_end_matches(';')) {
        None => {
            let pager = shell.settings.pager.clone();
            return shell.tell("pager", pager.as_deref().unwrap_or("off"));
        }
        Some("off") => None,
        Some("on") => Some(pager_of_the_user()),
        Some(command) => Some(command.to_owned()),
    };
    Ok(Flow::Next)
}

pub(super) fn once(shell: &mut Shell<'_>, words: &[String]) -> Result<Flow> {
    let (path, force) = destination(shell, words)?;
    let Some(path) = path else { return Err(Error::usage("`.once` needs a file")) };
    shell.out.once(path, force)?;
    Ok(Flow::Next)
}

pub(super) fn output(shell: &mut Shell<'_>, words: &[String]) -> Result<Flow> {
    if words.is_empty() {
        // As in other shells.
        shell.out.all_to(None, false)?;
        return shell.tell("output", "-");
    }
    let (path, force) = destination(shell, words)?;
    shell.out.all_to(path, force)?;
    Ok(Flow::Next)
}

/// The file, `None` for `-`, and whether it may be overwritten.
fn destination<'w>(shell: &Shell<'_>, words: &'w [String]) -> Result<(Option<&'w Path>, bool)> {
    let (options, files): (Vec<&String>, Vec<&String>) = words.iter().partition(|w| w.starts_with("--"));
    if let Some(option) = options.iter().find(|o| **o != FORCE) {
        return Err(Error::usage(format!("there is no option '{option}'")).hint(format!("only {FORCE}")));
    }
    match files.as_slice() {
        &[file] => {
            let path = (file != "-").then_some(Path::new(file));
            output_format(shell.settings.format, path, false)?;
            Ok((path, !options.is_empty()))
        }
        _ => Err(Error::usage("name one file")),
    }
}

/// The arguments of `.export`: those of `btfdb export`.
#[derive(Debug, Parser)]
struct ExportLine {
    #[command(flatten)]
    args: exporting::ExportArgs,
}

/// The arguments of `.plot`: those of `btfdb plot`.
#[derive(Debug, Parser)]
struct PlotLine {
    #[command(flatten)]
    args: plotting::PlotArgs,
}

pub(super) fn export(shell: &mut Shell<'_>, words: &[String]) -> Result<Flow> {
    let ExportLine { args } = command_line(".export", words)?;
    shell.timed(|shell| exporting::write(&shell.session, &args, shell.ui))?;
    Ok(Flow::Next)
}

pub(super) fn plot(shell: &mut Shell<'_>, words: &[String]) -> Result<Flow> {
    let PlotLine { args } = command_line(".plot", words)?;
    shell.timed(|shell| plotting::draw(&shell.session, &args, shell.ui))?;
    Ok(Flow::Next)
}

/// Reads `FILE [FROM] [TO] [OPTION...]` as the arguments of a command of btfdb.
fn command_line<T: Parser>(name: &str, words: &[String]) -> Result<T> {
    let named = words.iter().position(|w| w.starts_with("--")).unwrap_or(words.len());
    let (places, options) = words.split_at(named);
    let names = options.iter().filter_map(|word| word.strip_prefix("--")?.split('=').next());
    if let Some(option) = names.into_iter().find(|name| OF_THE_SHELL.contains(name)) {
        return Err(Error::usage(format!("--{option} is the same for all of a shell"))
            .hint(format!("give it when it begins: `btfdb shell DB --{option} …`")));
    }
    let mut line: Vec<String> = [name, "-"].map(str::to_owned).into();
    for (option, word) in ["--output", "--from", "--to"].into_iter().zip(places) {
        line.push(format!("{option}={word}"));
    }
    line.extend_from_slice(options);
    if places.is_empty() || places.len() > 3 {
        return Err(Error::usage(format!("write {name} FILE [FROM] [TO] [OPTION...]")));
    }
    T::try_parse_from(line).map_err(|e| {
        let text = e.to_string();
        let first = text.lines().next().unwrap_or_default();
        Error::usage(first.strip_prefix("error: ").unwrap_or(first)).hint(format!("`.help {name}`"))
    })
}

pub(super) fn open(shell: &mut Shell<'_>, words: &[String]) -> Result<Flow> {
    let other = words.first().map(|word| location::parse(word.as_ref())).transpose()?;
    shell.open(other.unwrap_or_else(|| shell.database.clone()))?;
    Ok(Flow::Next)
}

pub(super) fn reload(shell: &mut Shell<'_>, _: &[String]) -> Result<Flow> {
    shell.open(shell.database.clone())?;
    Ok(Flow::Next)
}

fn one_of(what: &str, word: &str, words: &'static [&'static str]) -> Result<&'static str> {
    words.iter().copied().find(|w| w.eq_ignore_ascii_case(word)).ok_or_else(|| {
        let error = Error::usage(format!("there is no {what} '{word}'"));
        error.hint_near(word, words.iter().copied(), |all| format!("one of: {all}"))
    })
}
