//! `btfdb export`.

use super::super::args::{Export, ExportFormat, GraspArg, OrderArg, StyleArg};
use super::super::signals;
use super::super::ui::Ui;
use super::output::Target;
use super::{parse, query};
use crate::btf::spec::Version;
use crate::engine::Session;
use crate::error::{Error, Result};
use crate::export::traceprinter::{PrintOptions, Style, export_traceprinter};
use crate::export::{
    BtfOptions, GraspDialect, GraspOptions, PerfettoDone, Selection, export_btf, export_grasp,
    export_perfetto, export_table,
};
use crate::render;
use crate::schema::tables;
use crate::time::TimeScale;
use clap::ValueEnum;

pub(super) fn run(args: &Export, ui: &Ui) -> Result<u8> {
    let control = signals::control();
    let session = query::open(&args.database, &args.limits)?.with_interrupt(control.flag_shared());
    let session = query::with_chains(session, args.chains.as_deref())?;
    write(&session, args, ui)?;
    Ok(0)
}

/// The format that is asked for, or that the name of the file tells.
fn format(args: &Export) -> ExportFormat {
    args.format.unwrap_or_else(|| match args.output.extension().and_then(|e| e.to_str()) {
        Some("csv") => ExportFormat::Csv,
        Some("parquet") => ExportFormat::Parquet,
        Some("pftrace" | "perfetto-trace") => ExportFormat::Perfetto,
        Some("grasp") => ExportFormat::Grasp,
        _ => ExportFormat::Btf,
    })
}

/// Writes what `args` say of the database of a session.
pub(in crate::cli) fn write(session: &Session, args: &Export, ui: &Ui) -> Result<()> {
    let format = format(args);
    let scale = session.database().time_scale();
    let selection = Selection {
        recording: args.recording.clone(),
        from: parse::time("--from", args.from.as_deref(), scale)?,
        to: parse::time("--to", args.to.as_deref(), scale)?,
        entities: args.entity.clone(),
        types: args.types.clone(),
    };
    if let (Some(from), Some(to)) = (selection.from, selection.to)
        && from > to
    {
        return Err(Error::usage("--from is later than --to"));
    }
    check_options(args, format)?;
    let filter = super::kernel::filter(&args.kernel);
    let kernel_rows = format == ExportFormat::Traceprinter || args.table == tables::KERNEL_EVENT.name;
    if !filter.is_all() && !kernel_rows {
        return Err(Error::usage("filters of kernel events are for kernel events only")
            .hint("use --format traceprinter, or --table kernel_event"));
    }
    let mut target = Target::open(Some(&args.output), args.force)?;
    let (nothing, done) = match format {
        ExportFormat::Btf => {
            let exported = export_btf(session, &selection, &btf_options(args), target.out())?;
            if exported.unsaid > 0 {
                let version = args.btf_version.as_deref().unwrap_or_default();
                ui.warning(&format!(
                    "{} lines cannot be said in BTF {version}; they are comments now",
                    exported.unsaid
                ));
            }
            if exported.left_out > 0 {
                ui.warning(&format!(
                    "{} lines that were rejected at the import are not written; see table diagnostic",
                    exported.left_out
                ));
            }
            if exported.rounded > 0 {
                ui.warning(&format!(
                    "{} times were rounded to whole units; see --time-scale",
                    exported.rounded
                ));
            }
            if exported.altered > 0 {
                ui.warning(&format!(
                    "{} names held a comma or a control character; BTF shows '_'",
                    exported.altered
                ));
            }
            if exported.shifted_by != 0 {
                ui.warning(&format!(
                    "BTF times cannot be negative: all times are later by {} {}",
                    exported.shifted_by,
                    scale.as_str()
                ));
            }
            (exported.events + exported.unsaid == 0, format!("{} events", exported.events))
        }
        ExportFormat::Traceprinter => {
            let options = PrintOptions {
                style: args.style.map(|style| match style {
                    StyleArg::V6 => Style::V6,
                    StyleArg::V7 => Style::V7,
                }),
                one_line: args.one_line,
                format: args.line_format.clone(),
                by_time: args.order == OrderArg::Time,
            };
            let printed = export_traceprinter(session, &selection, &filter, &options, target.out())?;
            if printed.incomplete > 0 {
                ui.warning(&format!(
                    "{} events of which parts are missing are not printed, as traceprinter does; see column status",
                    printed.incomplete
                ));
            }
            (printed.events + printed.incomplete == 0, format!("{} events", printed.events))
        }
        ExportFormat::Perfetto => {
            let exported = export_perfetto(session, &selection, target.out())?;
            if exported.rounded > 0 {
                ui.warning(&format!("{} times were rounded to whole nanoseconds", exported.rounded));
            }
            if exported.shifted_by != 0 {
                ui.warning(&format!(
                    "times of Perfetto cannot be negative: all times are later by {} {}",
                    exported.shifted_by,
                    scale.as_str()
                ));
            }
            let PerfettoDone { tracks, slices, instants, counters, .. } = exported;
            let done =
                format!("{slices} slices, {instants} instants and {counters} values on {tracks} tracks");
            (exported.is_empty(), done)
        }
        ExportFormat::Grasp => {
            let tick = parse::time("--tick", args.tick.as_deref(), scale)?;
            let dialect = args.dialect.map(|dialect| match dialect {
                GraspArg::D2010 => GraspDialect::Of2010,
                GraspArg::D2012 => GraspDialect::Of2012,
            });
            let exported = export_grasp(session, &selection, &GraspOptions { tick, dialect }, target.out())?;
            if exported.comments > 0 {
                ui.warning(&format!(
                    "{} events cannot be said in Grasp; they are comments, # btf: …",
                    exported.comments
                ));
            }
            if exported.left_out > 0 {
                ui.warning(&format!(
                    "commands left out that only Grasp has (servers, buffers, messages, deadlines, …): {}; all of a trace, without --tick, is written as it was",
                    exported.left_out
                ));
            }
            (exported.commands == 0, format!("{} commands", exported.commands))
        }
        ExportFormat::Csv | ExportFormat::Parquet => {
            if !filter.is_all() {
                session.restrict(tables::KERNEL_EVENT, &filter.sql()?)?;
            }
            let as_csv = format == ExportFormat::Csv;
            let format = if as_csv { render::Format::Csv } else { render::Format::Parquet };
            let exported = export_table(session, &args.table, format, &selection, target.out())?;
            for part in &exported.unused {
                ui.warning(&format!("table {} has no column for {part}; it was not applied", args.table));
            }
            (exported.rows == 0, format!("{} rows", exported.rows))
        }
    };
    target.finish()?;
    if nothing {
        ui.warning("nothing matches the selection");
    }
    ui.status(&format!("{done} written to {}", args.output.display()));
    Ok(())
}

/// Fails when an option is given that means nothing to the format.
fn check_options(args: &Export, format: ExportFormat) -> Result<()> {
    let system = [ExportFormat::Btf, ExportFormat::Perfetto, ExportFormat::Grasp];
    if system.contains(&format) && args.table != tables::BTF_EVENT.name {
        let name = format.to_possible_value().map(|v| v.get_name().to_owned()).unwrap_or_default();
        return Err(Error::usage(format!("{name} holds system events, not table '{}'", args.table))
            .hint("use --format csv or --format parquet"));
    }
    let of = |format, what, word, given| ((format, what, word), given);
    let btf = |option, given| of(ExportFormat::Btf, option, ("BTF", "btf"), given);
    let grasp = |option, given| of(ExportFormat::Grasp, option, ("Grasp", "grasp"), given);
    let printer = |option, given| {
        of(ExportFormat::Traceprinter, option, ("lines of traceprinter", "traceprinter"), given)
    };
    let options = [
        btf("--btf-version", args.btf_version.is_some()),
        btf("--time-scale", args.time_scale.is_some()),
        btf("--numeric", args.numeric),
        btf("--symbolic", args.symbolic),
        of(ExportFormat::Perfetto, "--chains", ("Perfetto", "perfetto"), args.chains.is_some()),
        grasp("--tick", args.tick.is_some()),
        grasp("--dialect", args.dialect.is_some()),
        printer("--style", args.style.is_some()),
        printer("--one-line", args.one_line),
        printer("--line-format", args.line_format.is_some()),
    ];
    for ((needed, option, (what, word)), given) in options {
        if given && format != needed {
            return Err(
                Error::usage(format!("{option} is for {what} only")).hint(format!("use --format {word}"))
            );
        }
    }
    Ok(())
}

fn btf_options(args: &Export) -> BtfOptions {
    BtfOptions {
        version: args.btf_version.as_deref().and_then(Version::parse),
        time_scale: args.time_scale.as_deref().and_then(TimeScale::parse),
        numeric: (args.numeric || args.symbolic).then_some(args.numeric),
        by_time: args.order == OrderArg::Time,
    }
}
