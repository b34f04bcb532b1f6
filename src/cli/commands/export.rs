//! `btfdb export`.

use super::super::args::{KernelArgs, Limits, Recordings};
use super::super::declared::{Declared, Registry};
use super::super::location;
use super::super::signals;
use super::super::ui::Ui;
use super::output::Target;
use super::{extension, kernel, parse, query};
use crate::engine::Session;
use crate::error::{Error, Result};
use crate::export::{CHAINS_OPTION, Content, EXPORTERS, ExportRequest, Exporter};
use crate::library::Queries;
use crate::options::OptionSpec;
use crate::schema::tables;
use crate::selection::Selection;
use crate::selection::kinds::never_ran;
use crate::store::Location;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueHint};
use std::path::{Path, PathBuf};

/// Write system events as BTF, for the Perfetto UI or for the Grasp player, any table as CSV or Parquet, or a
/// kernel trace as traceprinter does.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  btfdb export engine.db -o all.btf
  btfdb export engine.db --from 112ms --to 115ms -o worst.btf
  btfdb export engine.db --from 112ms --to 115ms --with-state -o worst.btf
  btfdb export engine.db --type T,I --entity T_5 -o - | less
  btfdb export engine.db --table process_instance --format csv -o instances.csv
  btfdb export engine.db --chains limits.toml -o engine.pftrace
  btfdb export engine.db --from 117ms --to 120ms --tick 1us -o worst.grasp
  btfdb export kernel.db --format traceprinter --style 6 --class THREAD -o threads.txt")]
pub struct ExportArgs {
    /// Database: a folder, or a URL such as s3://bucket/fleet.db.
    #[arg(value_parser = location::parser(), value_hint = ValueHint::DirPath)]
    pub database: Location,
    /// File to write, `-` for standard output.
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    #[arg(long, value_parser = format_parser(), help = format_help())]
    pub format: Option<&'static dyn Exporter>,
    /// Table to write as CSV or Parquet.
    #[arg(long, default_value = "btf_event")]
    pub table: String,
    /// Which recording; needed when the database has several.
    #[command(flatten)]
    pub recordings: Recordings,
    /// Events at or after this instant, e.g. 412ms.
    #[arg(long, allow_hyphen_values = true, value_name = "T")]
    pub from: Option<String>,
    /// Events before this instant.
    #[arg(long, allow_hyphen_values = true, value_name = "T")]
    pub to: Option<String>,
    /// Only events of these entities, as source or target: a list, with * and ? for any characters.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub entity: Vec<String>,
    /// Only events on these BTF types: T,I,R,STI,SIG,SEM,EVENT.
    #[arg(long = "type", value_delimiter = ',', value_name = "TYPES")]
    pub types: Vec<String>,
    /// Options of single formats.
    #[command(flatten)]
    pub of_formats: Declared<Exporters>,
    /// Which events of a kernel trace are printed.
    #[command(flatten)]
    pub kernel: KernelArgs,
    /// Order of the lines of BTF and traceprinter: as in the file that was imported, or by time.
    #[arg(long, value_parser = ["time", "file"], default_value = "file")]
    pub order: String,
    /// Overwrite the file if it exists.
    #[arg(long)]
    pub force: bool,
    /// Resources to use.
    #[command(flatten)]
    pub limits: Limits,
}

/// The options that export formats declare.
#[derive(Debug, Clone)]
pub struct Exporters;

impl Registry for Exporters {
    fn specs() -> Vec<&'static OptionSpec> {
        EXPORTERS.iter().flat_map(|exporter| exporter.info().options).collect()
    }
}

fn format_parser() -> impl TypedValueParser<Value = &'static dyn Exporter> {
    let value =
        |exporter: &&dyn Exporter| PossibleValue::new(exporter.info().name).help(exporter.info().help);
    PossibleValuesParser::new(EXPORTERS.iter().map(value))
        .try_map(|name| <dyn Exporter>::named(&name).ok_or("no such format"))
}

/// `btf, csv or grasp; …`
fn format_help() -> String {
    let names: Vec<_> = EXPORTERS.iter().map(|exporter| exporter.info().name).collect();
    let list = match names.as_slice() {
        [names @ .., last] => format!("{} or {last}", names.join(", ")),
        [] => String::new(),
    };
    format!("{list}; told by the file's name when left out")
}

pub(super) fn run(args: &ExportArgs, ui: &Ui) -> Result<u8> {
    let control = signals::control();
    let (queries, interrupt) = (Queries::shipped(), control.flag_shared());
    let session = query::open(&args.database, (&args.limits, None), queries, (args.chains(), ui), interrupt)?;
    write(&session, args, ui)?;
    Ok(0)
}

impl ExportArgs {
    /// The file with chains of events.
    pub fn chains(&self) -> Option<&Path> {
        self.of_formats.values.text(CHAINS_OPTION).map(Path::new)
    }
}

/// The recording, if one is chosen.
fn recording(session: &Session, args: &ExportArgs) -> Result<Option<String>> {
    let chosen = args.recordings.names(session.database())?;
    match &chosen[..] {
        [] => Ok(None),
        [one] => Ok(Some(one.clone())),
        several => Err(Error::usage(format!("{} recordings are chosen", several.len()))
            .hint(format!("choose one with --recording: {}", several.join(", ")))),
    }
}

/// Writes what `args` select from the database of a session.
pub(in crate::cli) fn write(session: &Session, args: &ExportArgs, ui: &Ui) -> Result<()> {
    let scale = session.database().time_scale();
    let mut request = ExportRequest {
        selection: Selection {
            recording: recording(session, args)?,
            from: parse::time("--from", args.from.as_deref(), scale)?,
            to: parse::time("--to", args.to.as_deref(), scale)?,
            entities: parse::names("--entity", &args.entity)?,
            types: parse::names("--type", &args.types)?,
        },
        table: args.table.clone(),
        kernel_filter: kernel::filter(&args.kernel),
        by_time: args.order == "time",
        options: args.of_formats.values.clone(),
    };
    let exporter = match args.format {
        Some(exporter) => exporter,
        None => extension::of_export(&args.output)?.unwrap_or_else(|| <dyn Exporter>::of_file(&args.output)),
    };
    request.check(exporter)?;
    if !request.selection.is_whole() {
        let recording = request.selection.recording(session)?;
        request.selection.check(session, &recording)?;
        let (names, recording) = (&request.selection.entities, recording.as_str());
        never_ran(session, &[recording.to_owned()], names)?.iter().for_each(|why| ui.warning(why));
        request.selection = match exporter.info().content {
            Content::Table if request.table != tables::BTF_EVENT.name => {
                request.selection.with_handlers(session, recording)?
            }
            content @ (Content::Table | Content::SystemEvents) => {
                let (mut selection, notes) = request.selection.with_names_in_events(session, recording)?;
                if content == Content::SystemEvents {
                    // Slices and jobs are from tables of instances, which name handlers as processes.
                    let all = request.selection.with_handlers(session, recording)?.entities;
                    selection.entities.extend(all.into_iter().skip(request.selection.entities.len()));
                }
                notes.iter().for_each(|note| ui.warning(note));
                selection
            }
            Content::KernelEvents => request.selection,
        };
    }
    kernel::check(session, &request.kernel_filter, ui)?;
    let mut target = Target::open(Some(&args.output), args.force)?;
    let exported = exporter.write(session, &request, target.out())?;
    exported.warnings.iter().for_each(|warning| ui.warning(warning));
    target.finish()?;
    if exported.is_empty {
        ui.warning("nothing matches the selection");
    }
    ui.status(&format!("{} written to {}", exported.summary, args.output.display()));
    Ok(())
}
