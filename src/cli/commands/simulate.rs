//! `btfdb simulate`.

use super::super::declared::word;
use super::super::progress::watched;
use super::super::signals;
use super::super::ui::Ui;
use super::parse;
use crate::error::{Error, ErrorKind, Result};
use crate::simulate::{
    Model, ProbeOptions, Recorded, Shape, Simulated, Standstill, TracedOs, random, simulate,
};
use crate::time::{TimeScale, format_duration};
use clap::Args;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Bytes that wait for being written, per file.
const BUFFER: usize = 1 << 18;

/// Run a timing model: write what the system does as BTF, and the recording of a probe.
///
/// Writes the folder DIR: `reference.btf`, straight from the state of the simulated kernels;
/// `recording/`, the exports of a hardware probe with their description; and `model.toml`, the model with
/// all defaults.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  btfdb simulate models/thesis/task_mta.toml -o mta
  btfdb simulate engine.toml -o engine --seed 7 --duration 2s
  btfdb simulate --random 42 --cores 4 -o random
  btfdb simulate --random waters -o waters
  btfdb simulate engine.toml -o engine --os osek
  btfdb simulate engine.toml -o explained --causes
  btfdb simulate engine.toml -o lossy --overflows 3 --begin 100ms
  btfdb ingest engine.db engine/recording
  btfdb compare engine/reference.btf engine.db

The keys of a model: docs/model.md. A first model, step by step: docs/simulate.md.")]
pub struct SimulateArgs {
    /// A timing model, in TOML.
    #[arg(required_unless_present = "random")]
    pub model: Option<PathBuf>,
    /// Makes a model: the number of a random one, or `waters` for one after the figures of that benchmark.
    #[arg(long, value_name = "N|waters", conflicts_with = "model")]
    pub random: Option<RandomArg>,
    /// Cores of a random model.
    #[arg(long, value_name = "N", requires = "random", value_parser = clap::value_parser!(u8).range(1..=32))]
    pub cores: Option<u8>,
    /// Tasks of a random model.
    #[arg(long, value_name = "N", requires = "random", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub tasks: Option<u16>,
    /// Folder to write, which must not exist.
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    /// Begin of the random numbers, in place of the model's.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// How long the system runs, in place of the model's, e.g. 2s.
    #[arg(long, value_name = "T")]
    pub duration: Option<String>,
    /// Replace the folder if an earlier simulation wrote it.
    #[arg(long)]
    pub force: bool,
    /// Also write `causes.csv`: what each instance does from its activation to its end, and why it does not
    /// run, as the kernels decide it.
    #[arg(long)]
    pub causes: bool,
    /// What the recording is like.
    #[command(flatten)]
    pub probe: ProbeArgs,
}

/// What the recording is like.
#[derive(Debug, Args)]
#[command(next_help_heading = "The recording")]
pub struct ProbeArgs {
    /// As which operating system the system is recorded: ERIKA with all that its kernels access, any OSEK
    /// system with what its ORTI file names, or a kernel that tells each step of a process in a hook
    /// variable.
    #[arg(long, value_parser = word(TracedOs::ALL.map(TracedOs::as_str), TracedOs::parse), default_value = "erika2")]
    pub os: TracedOs,
    /// How the lines of its exports are written; docs/simulate.md shows them.
    #[arg(long, value_parser = word(Shape::ALL.map(Shape::as_str), Shape::parse), default_value = "thesis")]
    pub shape: Shape,
    /// FIFO overflows of each core, at random places: records of 20 us to 2 ms are lost.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub overflows: u32,
    /// Begins in the middle, at this time.
    #[arg(long, value_name = "T")]
    pub begin: Option<String>,
    /// By how many millionths the clock of each core is faster than that of the core before.
    #[arg(long, value_name = "PPM", default_value_t = 0, allow_negative_numbers = true)]
    pub drift: i64,
    /// By how much a time is late at most, e.g. 50ns.
    #[arg(long, value_name = "T")]
    pub jitter: Option<String>,
}

impl ProbeArgs {
    fn options(&self) -> Result<ProbeOptions> {
        Ok(ProbeOptions {
            os: self.os,
            shape: self.shape,
            overflows: self.overflows,
            begin: parse::time("--begin", self.begin.as_deref(), TimeScale::Ns)?.unwrap_or(0),
            drift: self.drift,
            jitter: parse::time("--jitter", self.jitter.as_deref(), TimeScale::Ns)?.unwrap_or(0),
        })
    }
}

/// Which model is made.
#[derive(Debug, Clone, Copy)]
pub enum RandomArg {
    /// The random model of this number.
    Number(u64),
    /// After published figures of an engine control unit.
    Waters,
}

impl FromStr for RandomArg {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match text {
            "waters" => Ok(Self::Waters),
            _ => text.parse().map(Self::Number).map_err(|_| "neither a number nor 'waters'".to_owned()),
        }
    }
}

/// The model that the arguments name or describe.
fn model(args: &SimulateArgs, ui: &Ui) -> Result<Model> {
    let duration = parse::time("--duration", args.duration.as_deref(), TimeScale::Ns)?;
    if duration.is_some_and(|duration| duration <= 0) {
        return Err(Error::usage("--duration must be more than 0"));
    }
    let (cores, tasks) = (args.cores.map(usize::from), args.tasks.map(usize::from));
    let options = random::Options { cores, tasks, duration, ..random::Options::default() };
    let mut model = match (args.random, &args.model) {
        (Some(RandomArg::Number(number)), _) => random::model(number, &options),
        (Some(RandomArg::Waters), _) => random::waters(args.seed.unwrap_or(0), &options),
        (None, Some(path)) => {
            let (model, warnings) = Model::read(path)?;
            ui.findings(&warnings);
            model
        }
        (None, None) => return Err(Error::usage("no model").hint("name a file, or use --random")),
    };
    model.check()?;
    model.seed = args.seed.unwrap_or(model.seed);
    model.duration = duration.unwrap_or(model.duration);
    Ok(model)
}

pub(super) fn run(args: &SimulateArgs, ui: &Ui) -> Result<u8> {
    let model = model(args, ui)?;
    let probe = args.probe.options()?;
    probe.check(&model)?;
    let control = signals::control();
    let folder = Folder::begin(&args.output, args.force)?;
    let work = || {
        control.begin(format!("simulating {}", model.name), model.duration.unsigned_abs());
        let mut before = 0;
        let simulated = simulate(
            &model,
            &probe,
            args.causes,
            |name| folder.create(name),
            |now| {
                control.advance(now.saturating_sub(before).max(0).unsigned_abs(), 0);
                before = now.max(before);
                control.check()
            },
        )?;
        folder.finish()?;
        Ok(simulated)
    };
    let simulated = watched(ui, &control, work)?;
    ui.status(&summary(&model, &simulated, &args.output));
    if simulated.counts.lost_requests > 0 {
        ui.warning(&format!(
            "{} requests of ISRs were lost: the ISR was still pending, so its core has too much to do",
            simulated.counts.lost_requests
        ));
    }
    if simulated.counts.errors > 0 {
        ui.warning(&format!(
            "{} services returned an error: too many activations, or an event for a suspended task",
            simulated.counts.errors
        ));
    }
    if let Some(crossed) = simulated.recorded.map(|recorded| recorded.crossed).filter(|crossed| *crossed > 0)
    {
        ui.warning(&format!(
            "{crossed} events were set for a task of another core while the own core served a call: a generic OSEK \
             system does not tell by whom, so they are mapped as set by the ISR that serves"
        ));
    }
    if let Some(standstill) = &simulated.counts.standstill {
        ui.warning(&standstill_text(&model, standstill));
    }
    Ok(0)
}

/// What was written.
fn summary(model: &Model, simulated: &Simulated, folder: &Path) -> String {
    let (name, events) = (&model.name, simulated.events);
    let written = format!("{name}: {events} events in {}", folder.join("reference.btf").display());
    let Some(Recorded { records, overflows, lost, .. }) = simulated.recorded else {
        return format!("{written}; no recording, because os.access is 0");
    };
    let written = format!("{written}, {records} records in {}", folder.join("recording").display());
    match overflows {
        0 => written,
        _ => format!("{written}, {lost} records lost in {overflows} overflows"),
    }
}

fn standstill_text(model: &Model, Standstill { at, cores }: &Standstill) -> String {
    let names = cores.iter().filter_map(|core| Some(model.cores.get(*core)?.name.as_str()));
    let names: Vec<_> = names.collect();
    let at = format_duration(*at, TimeScale::Ns);
    match names.as_slice() {
        [core] => format!("from {at} on, {core} waits for a lock that it has itself: it stands still"),
        _ => {
            let names = names.join(" and ");
            format!("from {at} on, {names} wait for each other, for a lock or a call: they stand still")
        }
    }
}

/// A folder that appears when it is complete.
struct Folder {
    temporary: PathBuf,
    path: PathBuf,
}

impl Folder {
    /// Begins a folder, which must not exist unless `force` is set and it is one of a simulation.
    #[expect(
        clippy::disallowed_methods,
        reason = "results are written where the user says, outside every database"
    )]
    fn begin(path: &Path, force: bool) -> Result<Self> {
        if path.exists() {
            let is_ours = path.join("reference.btf").is_file() && path.join("model.toml").is_file();
            if !force || !is_ours {
                let error = Error::usage(format!("'{}' exists already", path.display()));
                let hint = if is_ours { "use --force to replace it" } else { "choose another folder" };
                return Err(error.hint(hint));
            }
        }
        let mut name = path.file_name().unwrap_or_default().to_os_string();
        if name.is_empty() {
            return Err(Error::usage(format!("'{}' is not the name of a folder", path.display())));
        }
        name.push(format!(".{}.part", std::process::id()));
        let temporary = path.with_file_name(name);
        std::fs::create_dir(&temporary).map_err(|e| Error::io("create", &temporary, e))?;
        Ok(Self { temporary, path: path.to_path_buf() })
    }

    /// A new file in it.
    #[expect(
        clippy::disallowed_methods,
        reason = "results are written where the user says, outside every database"
    )]
    fn create(&self, name: &Path) -> Result<BufWriter<File>> {
        let path = self.temporary.join(name);
        let folder = path.parent().ok_or_else(|| Error::new(ErrorKind::Bug, "a file is in no folder"))?;
        std::fs::create_dir_all(folder).map_err(|e| Error::io("create", folder, e))?;
        let file = File::create(&path).map_err(|e| Error::io("create", &path, e))?;
        Ok(BufWriter::with_capacity(BUFFER, file))
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "results are written where the user says, outside every database"
    )]
    fn finish(&self) -> Result<()> {
        if self.path.exists() {
            std::fs::remove_dir_all(&self.path).map_err(|e| Error::io("replace", &self.path, e))?;
        }
        std::fs::rename(&self.temporary, &self.path).map_err(|e| Error::io("write", &self.path, e))
    }
}

impl Drop for Folder {
    #[expect(clippy::disallowed_methods, reason = "the unfinished folder is this type's own")]
    fn drop(&mut self) {
        // After `finish` there is none; before, it was never promised.
        let _ = std::fs::remove_dir_all(&self.temporary);
    }
}
