//! `btfdb export`.

use super::super::args::{Export, ExportFormat, OrderArg, StyleArg};
use super::super::signals;
use super::super::ui::Ui;
use super::output::Target;
use super::{parse, query};
use crate::btf::spec::Version;
use crate::error::{Error, Result};
use crate::export::traceprinter::{PrintOptions, Style, export_traceprinter};
use crate::export::{BtfOptions, Selection, export_btf, export_table};
use crate::query::Session;
use crate::render;
use crate::schema::tables;
use crate::time::TimeScale;

pub(super) fn run(args: &Export, ui: &Ui) -> Result<u8> {
    let control = signals::control();
    let session = query::open(&args.database, &args.limits)?.with_interrupt(control.flag_shared());
    write(&session, args, ui)?;
    Ok(0)
}

/// Writes what `args` say of the database of a session.
pub(in crate::cli) fn write(session: &Session, args: &Export, ui: &Ui) -> Result<()> {
    let format = match args.format {
        Some(format) => format,
        None => match args.output.extension().and_then(|e| e.to_str()) {
            Some("csv") => ExportFormat::Csv,
            Some("parquet") => ExportFormat::Parquet,
            _ => ExportFormat::Btf,
        },
    };
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
    if format == ExportFormat::Btf && args.table != "btf_event" {
        return Err(Error::usage(format!("BTF holds system events, not table '{}'", args.table))
            .hint("use --format csv or --format parquet"));
    }
    let of_btf = [
        ("--btf-version", args.btf_version.is_some()),
        ("--time-scale", args.time_scale.is_some()),
        ("--numeric", args.numeric),
        ("--symbolic", args.symbolic),
    ];
    if let Some((option, _)) = of_btf.iter().find(|(_, given)| *given && format != ExportFormat::Btf) {
        return Err(Error::usage(format!("{option} is for BTF only")).hint("use --format btf"));
    }
    let filter = super::kernel::filter(&args.kernel);
    let of_printer = [
        ("--style", args.style.is_some()),
        ("--one-line", args.one_line),
        ("--line-format", args.line_format.is_some()),
    ];
    if let Some((option, _)) =
        of_printer.iter().find(|(_, given)| *given && format != ExportFormat::Traceprinter)
    {
        return Err(Error::usage(format!("{option} is for lines of traceprinter only"))
            .hint("use --format traceprinter"));
    }
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

fn btf_options(args: &Export) -> BtfOptions {
    BtfOptions {
        version: args.btf_version.as_deref().and_then(Version::parse),
        time_scale: args.time_scale.as_deref().and_then(TimeScale::parse),
        numeric: (args.numeric || args.symbolic).then_some(args.numeric),
        by_time: args.order == OrderArg::Time,
    }
}
