//! `btfdb ingest`.

use super::super::args::{ClusterArg, KernelArgs, Limits, NamesLimit};
use super::super::declared::{Declared, Registry};
use super::super::location;
use super::super::on_cluster;
use super::super::progress::watched;
use super::super::signals;
use super::super::ui::Ui;
use super::follow::{Growing, follow};
use super::{manage, parse};
use crate::derive::Dialect;
use crate::description::{CoreDescription, Description, FileList, NameList, Plan, plan};
use crate::encoding::Encoding;
use crate::error::{Error, Result};
use crate::formats::{FORMATS, TraceFormat};
use crate::ops::archive::Unpacked;
use crate::ops::ingest::{NOT_MAPPED, NOT_MAPPED_WHY, Report, ingest};
use crate::ops::{Control, IngestOptions as Options, label};
use crate::options::OptionSpec;
use crate::store::{Location, RealDisk};
use crate::time::{TimeScale, format_duration};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueHint};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Read recordings into a database, and map them.
///
/// An input is a recording.toml, a folder with one, or a file or folder of a format that `--format` lists;
/// its content tells which. Files can also be .gz and .zst, folders .tar, .tar.gz and .tar.zst; `-` is
/// standard input.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  btfdb ingest engine.db recording/
  btfdb ingest engine.db core0_data.csv core0_func.csv --name idle
  btfdb ingest engine.db minute1/ --name engine && btfdb ingest engine.db minute2/ --continue engine
  btfdb ingest traces.db monday.btf tuesday.btf.gz
  btfdb ingest board.db lttng-session/ zephyr.ctf.tar.gz
  btfdb ingest live.db target.SVDat --follow --for 10min
  btfdb ingest kernel.db trace.kev --jobs RECEIVE,NANOSLEEP
  btfdb ingest kernel.db trace.kev --class THREAD,COMM --where 'cpu = 0' --name part
  zcat core0_data.csv.gz | btfdb ingest engine.db --core name=Core_0,data=- --name piped")]
pub struct IngestArgs {
    /// Database folder; made when there is none.
    #[arg(value_parser = location::parser(), value_hint = ValueHint::DirPath)]
    pub database: Location,
    /// Recordings.
    pub inputs: Vec<PathBuf>,
    /// Name of the recording in the database.
    #[arg(long)]
    pub name: Option<String>,
    /// Recording that the inputs go on with: pieces of one trace, in the order of time, each with the same
    /// description or none. The recording is then the same as if it had been ingested as a whole.
    #[arg(long = "continue", value_name = "NAME", conflicts_with = "name")]
    pub continues: Option<String>,
    /// Inputs that grow, such as the file of a recorder that runs, or a pipe: what is there is committed in
    /// steps, so that others can ask for it. Ends with the pipe, after --for, or with Ctrl-C.
    #[arg(long, conflicts_with_all = ["continues", "cluster", "strict"])]
    pub follow: bool,
    /// How long to follow, e.g. 10s; then all that is there is ingested once more.
    #[arg(long = "for", value_name = "TIME", requires = "follow", value_parser = manage::age)]
    pub time: Option<Duration>,
    /// Format of the input.
    #[arg(long, value_parser = format_parser(), default_value = "auto")]
    pub format: InputFormat,
    /// Encoding of text inputs; auto tells UTF-8 and UTF-16 by content.
    #[arg(long, value_name = "ENCODING", value_parser = encoding_parser(), default_value = "auto")]
    pub encoding: String,
    /// Read files outside of the folder of a recording, too, when its recording.toml names them. A recording
    /// from elsewhere could name any file of this machine.
    #[arg(long)]
    pub allow_outside: bool,
    /// The most bytes that a compressed input may unpack to, e.g. 20GiB: a few of them can be made to unpack
    /// to more than any disk holds.
    #[arg(long, value_name = "SIZE", default_value = "1TiB")]
    pub max_unpacked: String,
    /// Limit of the names in system events.
    #[command(flatten)]
    pub names: NamesLimit,
    /// Store software events only.
    #[arg(long)]
    pub no_map: bool,
    /// A label of the recordings, to choose them by: LABEL=VALUE, e.g. build=1234. Again for more.
    #[arg(long, value_name = "LABEL=VALUE")]
    pub label: Vec<String>,
    /// Leave the digest of the inputs out of table `source`, which saves the time to compute it.
    #[arg(long)]
    pub no_hash: bool,
    /// Write nothing, and exit with 3, when an input has a finding of severity error, or does not have a name
    /// that its description lists.
    #[arg(long)]
    pub strict: bool,
    /// Options of single formats.
    #[command(flatten)]
    pub of_formats: Declared<TraceFormats>,
    /// Which events of a kernel trace are kept.
    #[command(flatten)]
    pub kernel: KernelArgs,
    /// Time scale of a new database: ns, or ps for finer digits; ps when a BTF input counts so.
    #[arg(long, value_parser = ["ns", "ps"])]
    pub time_scale: Option<String>,
    /// Mapping profile: osek, erika2, hooks, or the path of a profile. Paths of this option, of --core and of
    /// --oil count from the folder of the recording; for files without one, from the present folder.
    #[arg(long, value_name = "PROFILE")]
    pub os: Option<String>,
    /// A core:
    /// name=NAME[,data=FILE][,functions=FILE][,orti=FILE][,os_header=FILE][,oil=FILE][,symbols=FILE]
    /// [,time_offset=T][,ecu=NAME].
    #[arg(long, value_name = "KEY=VALUE,…")]
    pub core: Vec<String>,
    /// OIL files of the application.
    #[arg(long, value_delimiter = ',', value_name = "FILES")]
    pub oil: Vec<String>,
    /// Functions that are runnables.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub runnables: Vec<String>,
    /// Variables that are signals.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub signals: Vec<String>,
    /// Tasks whose names match this pattern are idle tasks, which are no load, in addition to those of the
    /// mapping profile; `!PATTERN`: they are none. `*` any text, `?` a character, `#` a number.
    #[arg(long = "idle-task", value_delimiter = ',', value_name = "PATTERNS")]
    pub idle_tasks: Vec<String>,
    /// Who does the work: then each input is one recording, and a commit of its own.
    #[command(flatten)]
    pub cluster: ClusterArg,
    /// Resources to use.
    #[command(flatten)]
    pub limits: Limits,
}

/// The format of an input; `None`: recognised by content.
#[derive(Debug, Clone, Copy)]
pub struct InputFormat(pub Option<&'static dyn TraceFormat>);

fn format_parser() -> impl TypedValueParser<Value = InputFormat> {
    let of_format =
        |format: &&dyn TraceFormat| PossibleValue::new(format.info().name).help(format.info().help);
    let auto = PossibleValue::new("auto").help("Told by content");
    PossibleValuesParser::new(std::iter::once(auto).chain(FORMATS.iter().map(of_format)))
        .map(|name| InputFormat(FORMATS.iter().find(|format| format.info().name == name).copied()))
}

fn encoding_parser() -> PossibleValuesParser {
    PossibleValuesParser::new(std::iter::once("auto").chain(Encoding::ALL.map(Encoding::as_str)))
}

/// The options that trace formats declare.
#[derive(Debug, Clone)]
pub struct TraceFormats;

impl Registry for TraceFormats {
    fn specs() -> Vec<&'static OptionSpec> {
        let mut specs: Vec<&OptionSpec> = Vec::new();
        for spec in FORMATS.iter().flat_map(|format| format.info().options) {
            // Formats can share an option.
            if !specs.contains(&spec) {
                specs.push(spec);
            }
        }
        specs
    }
}

pub(super) fn run(args: &IngestArgs, ui: &Ui) -> Result<u8> {
    let InputFormat(format) = args.format;
    // File names may have a meaning in the given format, or in any if none is given.
    let formats = format.as_ref().map_or(FORMATS, std::slice::from_ref);
    let over = description(args)?;
    let max_unpacked = parse::size("--max-unpacked", &args.max_unpacked)?;
    let options = Options {
        time_scale: args.time_scale.as_deref().and_then(TimeScale::parse),
        continues: args.continues.clone(),
        map: !args.no_map,
        strict: args.strict,
        format,
        encoding: Encoding::parse(&args.encoding),
        max_unpacked,
        max_names: parse::size("--max-names", &args.names.max_names)?,
        allow_outside: args.allow_outside,
        of_formats: args.of_formats.values.clone(),
        described: over
            != Description {
                name: over.name.clone(),
                idle_tasks: over.idle_tasks.clone(),
                labels: over.labels.clone(),
                ..Description::default()
            },
        keep: super::kernel::keep(&args.kernel)?,
        digest: !args.no_hash,
        threads: parse::threads(&args.limits),
        ..Options::default()
    };
    let begun = Instant::now();
    if let Some(address) = args.cluster.cluster.as_deref() {
        let control = signals::control();
        let at = (address, control.flag_shared());
        on_cluster::ingest(&args.database, &args.inputs, (&over, &options), &at, ui)?;
        ui.status(&format!("done in {:.1} s", begun.elapsed().as_secs_f32()));
        return Ok(0);
    }
    let plans = |inputs: &[PathBuf]| -> Result<Vec<Plan>> {
        match args.continues {
            // Pieces may all have the same name.
            Some(_) if inputs.iter().all(|input| input.is_dir()) && !inputs.is_empty() => {
                let pieces = inputs.iter().map(|input| plan(std::slice::from_ref(input), &over, formats));
                Ok(pieces.collect::<Result<Vec<_>>>()?.concat())
            }
            _ => plan(inputs, &over, formats),
        }
    };
    let disk = || Arc::new(RealDisk);
    let reports = if args.follow {
        let growing = Growing::new(&args.inputs)?;
        let step = |replace, control: &Arc<Control>| {
            let options = Options { replace, ..options.clone() };
            ingest(disk(), &args.database, &growing.shown(plans(growing.inputs())?), &options, control)
        };
        follow(&growing, (args.time, &signals::end_flag()), ui, step)?
    } else {
        let control = signals::control();
        let unpacked = Unpacked::of(&args.inputs, max_unpacked, &control)?;
        let plans = unpacked.plans(plans)?;
        watched(ui, &control, || ingest(disk(), &args.database, &plans, &options, &control))?
    };
    for report in &reports {
        report_one(report, ui);
    }
    ui.status(&format!("done in {:.1} s", begun.elapsed().as_secs_f32()));
    Ok(0)
}

/// Reports the counts of lines, then the findings.
pub(super) fn report_one(report: &Report, ui: &Ui) {
    for (name, c) in &report.sources {
        let joined = match c.joined {
            0 => String::new(),
            _ => format!(" with {} records", c.lines),
        };
        ui.status(&format!(
            "{}: {name}: {} {}{joined} = {} rows + {} rejected + {} skipped",
            report.name,
            c.lines.saturating_sub(c.joined),
            report.unit,
            c.rows + c.gaps,
            c.rejected,
            c.skipped
        ));
        if c.gaps > 0 {
            ui.warning(&format!("{name}: {} holes in the trace; metrics leave out what they cut", c.gaps));
        }
        if c.inexact_times > 0 {
            let tick = format_duration(1, report.time_scale);
            ui.warning(&format!(
                "{name}: {} times were rounded to {tick}; see --time-scale ps",
                c.inexact_times
            ));
        }
    }
    ui.findings(&report.log);
    match (&report.mapped, &report.imported) {
        (Some(m), _) => ui.status(&format!("{}: mapped to {} BTF events", report.name, m.events)),
        (None, Some(i)) => {
            ui.status(&format!("{}: {} BTF events", report.name, i.events));
            if i.dialect == Dialect::FreeRtos {
                ui.status(&format!(
                    "{}: tasks are read as FreeRTOS loggers write them; --dialect standard reads them literally",
                    report.name
                ));
            }
        }
        (None, None) if report.log.count_of(NOT_MAPPED) > 0 => {
            ui.status(&format!("{}: {NOT_MAPPED_WHY}", report.name));
        }
        (None, None) => ui.status(&format!("{}: not mapped", report.name)),
    }
    if !report.idle_tasks.is_empty() {
        ui.status(&format!("{}: idle tasks, which are no load: {}", report.name, few(&report.idle_tasks)));
    }
}

/// The first of many names, and how many more there are.
fn few(names: &[String]) -> String {
    const FEW: usize = 8;
    match names.get(..FEW) {
        Some(first) if names.len() > FEW => format!("{} and {} more", first.join(", "), names.len() - FEW),
        _ => names.join(", "),
    }
}

fn description(args: &IngestArgs) -> Result<Description> {
    let names = |list: &[String]| NameList::Names(list.to_vec());
    let core = args.core.iter().map(|text| core(text)).collect::<Result<_>>()?;
    Ok(Description {
        name: args.name.clone(),
        os: args.os.clone(),
        runnables: names(&args.runnables),
        signals: names(&args.signals),
        idle_tasks: names(&args.idle_tasks),
        oil: FileList::Several(args.oil.clone()),
        labels: args.label.iter().map(|text| label(text)).collect::<Result<_>>()?,
        core,
        ..Description::default()
    })
}

fn core(text: &str) -> Result<CoreDescription> {
    let mut core = CoreDescription::default();
    for part in text.split(',') {
        let bad = |why: String| Error::usage(format!("--core '{text}': {why}"));
        let (key, value) = part.split_once('=').ok_or_else(|| bad(format!("'{part}' is not KEY=VALUE")))?;
        let value = value.to_owned();
        match key.trim() {
            "name" => core.name = value,
            "ecu" => core.ecu = Some(value),
            "id" => {
                let number = value.parse();
                core.id = Some(number.map_err(|_| bad(format!("id '{value}' is no number")))?);
            }
            "data" => core.data = Some(value),
            "functions" => core.functions = Some(value),
            "orti" => core.orti = Some(value),
            "os_header" => core.os_header = Some(value),
            "oil" => core.oil = FileList::One(value),
            "symbols" => core.symbols = Some(value),
            "time_offset" => core.time_offset = Some(value),
            other => {
                let files = ["data", "functions", "orti", "os_header", "oil", "symbols"];
                let keys = ["name", "ecu", "id", "time_offset"].into_iter().chain(files);
                let error = bad(format!("unknown key '{other}'"));
                return Err(error.hint_near(other, keys, |all| format!("keys are {all}")));
            }
        }
    }
    Ok(core)
}
