//! `btfdb simulate`.

use super::super::progress::watched;
use super::super::signals;
use super::super::ui::Ui;
use super::parse;
use crate::error::{Error, ErrorKind, Result};
use crate::simulate::{Model, random, simulate};
use crate::time::TimeScale;
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
    let control = signals::control();
    let folder = Folder::begin(&args.output, args.force)?;
    let work = || {
        control.begin(format!("simulating {}", model.name), model.duration.unsigned_abs());
        let mut before = 0;
        let simulated = simulate(
            &model,
            |name| folder.create(name),
            |now| {
                control.advance((now - before).unsigned_abs(), 0);
                before = now;
                control.check()
            },
        )?;
        folder.finish()?;
        Ok(simulated)
    };
    let simulated = watched(ui, &control, work)?;
    let events = format!(
        "{}: {} events in {}",
        model.name,
        simulated.events,
        args.output.join("reference.btf").display()
    );
    match simulated.records {
        Some(records) => {
            ui.status(&format!("{events}, {records} records in {}", args.output.join("recording").display()));
        }
        None => ui.status(&format!("{events}; no recording, because os.access is 0")),
    }
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
    Ok(0)
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
