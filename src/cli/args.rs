//! Groups of options of several commands. Text only: `commands` turns values into plans. Not the list of
//! commands (see `command_line`), and not the arguments of one command, which it declares itself.

use super::declared::word;
use crate::engine::SessionOptions;
use crate::error::Result;
use crate::ops::Choice;
use crate::store::Database;
use crate::time::TimeScale;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Resources of heavy commands.
#[derive(Debug, Clone, Args)]
pub struct Limits {
    /// Threads to use; results do not depend on it, but for the last digits of what SQL computes of many
    /// numbers of type DOUBLE (avg, sum, corr) [default: all cores].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Memory for the command, e.g. 512MiB or 4GiB, besides 256 MiB for itself. What of a query does not fit
    /// goes to temporary files; a command that needs more ends with an error [default: half of the machine's,
    /// of which a query keeps 512 MiB for each thread before it uses files].
    #[arg(long, value_name = "SIZE")]
    pub memory_limit: Option<String>,
}

/// A limit of the names in system events.
#[derive(Debug, Clone, Args)]
pub struct NamesLimit {
    /// The most bytes that the different names in the system events of a recording may have together, e.g.
    /// 4GiB: they are held in memory.
    #[arg(long, value_name = "SIZE", default_value = "1GiB")]
    pub max_names: String,
}

/// A cluster that does the work.
#[derive(Debug, Clone, Default, Args)]
pub struct ClusterArg {
    /// Let a cluster do the work, whose scheduler is there: for many recordings. It reads the database
    /// itself, so this is a URL, or a folder that all its machines have (docs/scale.md).
    #[arg(long, value_name = "HOST:PORT")]
    pub cluster: Option<String>,
}

/// The default of `--max-depth`.
const MAX_DEPTH: u16 = 1000;

/// SQL of the user.
#[derive(Debug, Clone, Args)]
pub struct SqlPath {
    /// Folder with SQL files of your own, metrics and views in the form of those that ship with btfdb (see
    /// docs/library.md); can be repeated.
    #[arg(long = "sql-path", value_name = "DIR")]
    pub folders: Vec<PathBuf>,
    /// SQL reads no files but those of the database: for servers. Otherwise, read_csv and read_parquet read
    /// files in the current folder and its subfolders.
    #[arg(long)]
    pub no_files: bool,
    /// Refuse statements with more levels of nesting: brackets, operators in a row, steps of UNION. Time and
    /// memory grow with the square.
    #[arg(long, value_name = "N", default_value_t = MAX_DEPTH,
        value_parser = clap::value_parser!(u16).range(1..=SessionOptions::DEEPEST as i64))]
    pub max_depth: u16,
}

impl SqlPath {
    /// The folder whose files SQL may read.
    pub fn files(&self) -> Option<PathBuf> {
        #[expect(clippy::disallowed_methods, reason = "cli reads the environment")]
        let current = std::env::current_dir();
        current.ok().filter(|_| !self.no_files)
    }

    /// The first option that is given, with another value than its default.
    pub fn given(&self) -> Option<&'static str> {
        let options = [
            ("--sql-path", !self.folders.is_empty()),
            ("--no-files", self.no_files),
            ("--max-depth", self.max_depth != MAX_DEPTH),
        ];
        options.into_iter().find_map(|(option, is_given)| is_given.then_some(option))
    }
}

/// The unit of times.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct UnitArg {
    /// Show times in ps, ns, us, ms or s, in columns that are named after it; in ticks when left out.
    #[arg(long, value_name = "UNIT", value_parser = word(TimeScale::ALL.map(TimeScale::as_str), TimeScale::parse))]
    pub unit: Option<TimeScale>,
}

/// How results are printed.
#[derive(Debug, Clone, Args)]
pub struct Output {
    /// auto: what the name of the file says, a table on a terminal, complete CSV otherwise.
    #[arg(long, value_enum, default_value = "auto")]
    pub format: Format,
    /// File to write, `-` for standard output.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Overwrite the file if it exists.
    #[arg(long)]
    pub force: bool,
}

/// Result formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Format {
    Auto,
    Table,
    Csv,
    Tsv,
    Json,
    Jsonl,
    Md,
    Parquet,
    Arrow,
}

/// Which events of a kernel trace are wanted.
#[derive(Debug, Args, Clone, Default)]
#[command(next_help_heading = "Events of a kernel trace")]
pub struct KernelArgs {
    /// Only events of these classes: THREAD, COMM, KER_CALL, KERCALL (enter, exit, interrupted), INT (all of
    /// them), …
    #[arg(long = "class", value_delimiter = ',', value_name = "CLASSES")]
    pub classes: Vec<String>,
    /// No events of these classes.
    #[arg(long = "not-class", value_delimiter = ',', value_name = "CLASSES")]
    pub not_classes: Vec<String>,
    /// Of this class only these events, by name or number, e.g. THREAD:RUNNING,READY; can be repeated.
    #[arg(long = "event", value_name = "CLASS:EVENTS")]
    pub events: Vec<String>,
    /// Of this class all events but these; can be repeated.
    #[arg(long = "not-event", value_name = "CLASS:EVENTS")]
    pub not_events: Vec<String>,
    /// Only events of these processes, by number.
    #[arg(long = "pid", value_delimiter = ',', value_name = "PIDS")]
    pub pids: Vec<i64>,
    /// Only events of these threads, by number.
    #[arg(long = "tid", value_delimiter = ',', value_name = "TIDS")]
    pub tids: Vec<i64>,
    /// Only events of these processes, by the last part of their names.
    #[arg(long = "process", value_delimiter = ',', value_name = "NAMES")]
    pub processes: Vec<String>,
    /// How --pid, --tid and --process are meant: events about them, while they run, either, or as the kernel
    /// filters.
    #[arg(long, value_enum, default_value_t, value_name = "WHOSE")]
    pub who: WhoArg,
    /// Only events on these CPUs.
    #[arg(long = "cpu", value_delimiter = ',', value_name = "CPUS")]
    pub cpus: Vec<i64>,
    /// Only events for which a condition in SQL over table kernel_event is true.
    #[arg(long = "where", value_name = "SQL")]
    pub condition: Option<String>,
}

/// How processes and threads are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum WhoArg {
    /// Events about them, and events while they run.
    #[default]
    Any,
    /// Events about them.
    Subject,
    /// Events while they run.
    Actor,
    /// As the kernel does: of calls, threads, messages and SYSTEM theirs, of other classes all.
    Live,
}

/// Which recordings of a database.
#[derive(Debug, Clone, Args)]
pub struct Recordings {
    /// Only this recording, or those of a list with * and ? for any characters, e.g. idle,night-*.
    #[arg(long, value_name = "NAMES")]
    pub recording: Option<String>,
    /// Only recordings with this label, e.g. build=1234 or build=12*. Again: with all of them.
    #[arg(long, value_name = "LABEL=VALUE")]
    pub where_label: Vec<String>,
}

impl Recordings {
    pub fn choice(&self) -> Choice {
        Choice { recording: self.recording.clone(), labels: self.where_label.clone() }
    }

    /// The names of the chosen recordings; none if there is no choice.
    pub fn names(&self, database: &Database) -> Result<Vec<String>> {
        if self.recording.is_none() && self.where_label.is_empty() {
            return Ok(Vec::new());
        }
        let chosen = self.choice().of(database.clone())?;
        Ok(chosen.recordings()?.iter().map(|recording| recording.name.clone()).collect())
    }
}
