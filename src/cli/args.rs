//! What can be typed: commands, options and their help. Text only; values become plans in `commands`.

use super::plot_args::Plot;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Columnar trace database for embedded real-time systems.
///
/// Stores hardware trace exports as Parquet, maps their software events to BTF system events, and answers
/// with SQL, timing metrics and BTF slices.
#[derive(Debug, Parser)]
#[command(version, propagate_version = true, max_term_width = 110, after_help = EXAMPLES)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Print results and errors only.
    #[arg(short, long, global = true)]
    pub quiet: bool,
}

const EXAMPLES: &str = "Examples:
  btfdb demo
  btfdb ingest engine.db recording/
  btfdb metrics engine.db ResponseTime NetExecutionTime
  btfdb query engine.db \"SELECT process, count(*) FROM process_instance GROUP BY process\"
  btfdb shell engine.db
  btfdb export engine.db --from 12ms --to 15ms -o worst.btf
  btfdb plot engine.db --around ResponseTime:T_5 -o worst.svg
  btfdb info engine.db

Exit codes: 0 done, 1 failed, 2 usage, 3 finished with violations or (--strict) findings, 130 interrupted.";

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Read recordings into a database, and map them.
    ///
    /// An input is a folder with a recording.toml, a recording.toml, a folder of exports named CORE_data.csv
    /// and CORE_func.csv, such exports themselves, a BTF trace, or a QNX kernel trace: a .kev file or the lines of
    /// traceprinter (all also .gz and .zst; `-` is standard input).
    #[command(after_help = "Examples:
  btfdb ingest engine.db recording/
  btfdb ingest engine.db core0_data.csv core0_func.csv --name idle
  btfdb ingest traces.db monday.btf tuesday.btf.gz
  btfdb ingest kernel.db trace.kev --jobs RECEIVE,NANOSLEEP
  btfdb ingest kernel.db trace.kev --class THREAD,COMM --where 'cpu = 0' --name part
  zcat core0_data.csv.gz | btfdb ingest engine.db --core name=Core_0,data=- --name piped")]
    Ingest(Ingest),
    /// Map recordings again, e.g. after a change of profile.
    Map(Map),
    /// Run SQL and print its result.
    #[command(after_help = "Examples:
  btfdb query engine.db \"SELECT * FROM recording\"
  btfdb query engine.db \"SELECT * FROM core_peak\" --param window=10ms --param step=1ms
  btfdb query kernel.db \"SELECT time, arguments FROM kernel_event\" --event THREAD:RUNNING --pid 1
  btfdb query engine.db -f report.sql --format json -o report.json")]
    Query(Query),
    /// Ask a database interactively, or run a script from a pipe.
    ///
    /// SQL ends with `;` and may span lines; lines that begin with a dot are commands, which `.help` lists. Nothing that
    /// is typed can change the database. From a pipe there is no prompt, and the first error ends the run.
    #[command(after_help = "Examples:
  echo .tables | btfdb shell engine.db
  btfdb shell engine.db < report.sql
  btfdb shell engine.db")]
    Shell(Shell),
    /// Print timing metrics: min, avg, max, percentiles, jitter, and when the extremes happened.
    #[command(after_help = "Examples:
  btfdb metrics engine.db
  btfdb metrics engine.db ResponseTime --entity T_5 --from 100ms --to 200ms
  btfdb metrics engine.db CPULoad Preemptions --window 50ms --step 10ms
  btfdb metrics engine.db ResponseTime --histogram --format table
  btfdb metrics engine.db grasp
  btfdb metrics --list
  btfdb metrics engine.db --sql-path my_queries --format json")]
    Metrics(Metrics),
    /// Write system events as BTF, for the Perfetto UI or for the Grasp player, any table as CSV or Parquet, or a kernel trace
    /// as traceprinter does.
    #[command(after_help = "Examples:
  btfdb export engine.db -o all.btf
  btfdb export engine.db --from 412ms --to 415ms -o worst.btf
  btfdb export engine.db --type T,I --entity T_5 -o - | less
  btfdb export engine.db --table process_instance --format csv -o instances.csv
  btfdb export engine.db --chains limits.toml -o engine.pftrace
  btfdb export engine.db --from 117ms --to 120ms --tick 1us -o worst.grasp
  btfdb export kernel.db --format traceprinter --style 6 --class THREAD -o threads.txt")]
    Export(Export),
    /// Draw a window of a recording as SVG or PNG, or a chart of a metric.
    ///
    /// Rows of cores, tasks and ISRs with their states, runnables, semaphores, events, signals and stimuli. What is too short
    /// to be seen is drawn together, and the picture says how many it stands for; violations are always drawn.
    #[command(after_help = "Examples:
  btfdb plot engine.db -o all.svg
  btfdb plot engine.db --from 412ms --to 415ms -o slice.png --scale 2
  btfdb plot engine.db --around ResponseTime:T_5:max -o worst.svg
  btfdb plot engine.db --rows core --type T,I,SEM --width 1600 -o - > picture.svg
  btfdb plot engine.db --chart histogram ResponseTime --entity T_5 -o response.svg")]
    Plot(Plot),
    /// Check that a trace keeps the rules of its BTF version; exit 3 when it does not.
    #[command(after_help = "Examples:
  btfdb check engine.db
  btfdb check trace.btf --btf-version 2.1.5 --severity error
  btfdb check trace.btf --format json
  btfdb check engine.db --requirements limits.toml --format junit
  btfdb check --rules")]
    Check(Check),
    /// Compare two traces or their metrics; exit 3 when they differ.
    ///
    /// A and B are databases, recordings of databases (engine.db:idle) or BTF files.
    #[command(after_help = "Examples:
  btfdb compare old.btf new.btf
  btfdb compare week.db:monday week.db:tuesday --level order --ignore SIG,STI
  btfdb compare a.btf b.btf --level timing --tolerance 2us --tolerance start=10us --align
  btfdb compare old.db new.db --level metrics --metric ResponseTime --threshold 5")]
    Compare(Compare),
    /// Show what a database holds.
    Info(Info),
    /// Check every file of a database against its checksum; exit 3 when something is wrong.
    Verify(Verify),
    /// Remove a recording from a database.
    Remove(Remove),
    /// Ingest, map and evaluate the recording that ships with btfdb.
    Demo(Demo),
}

/// `btfdb ingest`
#[derive(Debug, Args)]
pub struct Ingest {
    /// Database folder; made when there is none.
    pub database: PathBuf,
    /// Recordings.
    pub inputs: Vec<PathBuf>,
    /// Name of the recording in the database.
    #[arg(long)]
    pub name: Option<String>,
    /// Format of the input.
    #[arg(long, value_enum, default_value = "auto")]
    pub format: InputFormat,
    /// Store software events only.
    #[arg(long)]
    pub no_map: bool,
    /// Leave the SHA-256 of the inputs out of table `source`: a fifth to a quarter less processor time for exports.
    #[arg(long)]
    pub no_hash: bool,
    /// Write nothing, and exit with 3, when an input has a finding of severity error.
    #[arg(long)]
    pub strict: bool,
    /// Grasp trace: how long a unit of its time is, e.g. 10us; 1ms unless given.
    #[arg(long, value_name = "DURATION")]
    pub tick: Option<String>,
    /// Which Neutrino wrote a kernel trace (6.5, 6.6, 7.0, 7.1, 8.0), whatever its header says.
    #[arg(long, value_name = "VERSION")]
    pub qnx_version: Option<String>,
    /// Kernel trace: blocking in one of these states ends an instance of a task, and waking begins another, e.g.
    /// RECEIVE,NANOSLEEP; without, an instance is a thread from its creation to its end.
    #[arg(long, value_delimiter = ',', value_name = "STATES")]
    pub jobs: Vec<String>,
    /// Kernel trace: interrupts leave the states of threads alone, instead of preempting them.
    #[arg(long)]
    pub overlay_irqs: bool,
    /// Kernel trace: idle threads become tasks.
    #[arg(long)]
    pub idle: bool,
    /// Which events of a kernel trace are kept.
    #[command(flatten)]
    pub kernel: KernelArgs,
    /// Time scale of a new database: ns, or ps for finer digits; ps when a BTF input counts so.
    #[arg(long, value_parser = ["ns", "ps"])]
    pub time_scale: Option<String>,
    /// Mapping profile: osek, erika2, or the path of a profile.
    #[arg(long, value_name = "PROFILE")]
    pub os: Option<String>,
    /// A core: name=NAME[,data=FILE][,functions=FILE][,orti=FILE][,os_header=FILE][,symbols=FILE][,time_offset=T].
    #[arg(long, value_name = "KEY=VALUE,…")]
    pub core: Vec<String>,
    /// How the events of tasks in a BTF trace are meant.
    #[arg(long, value_enum, default_value = "auto")]
    pub dialect: DialectArg,
    /// Functions that are runnables.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub runnables: Vec<String>,
    /// Variables that are signals.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub signals: Vec<String>,
    /// Radix of data values without a prefix.
    #[arg(long, value_parser = ["hex", "decimal"])]
    pub data_radix: Option<String>,
    /// Resources to use.
    #[command(flatten)]
    pub limits: Limits,
}

/// Input formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum InputFormat {
    /// Told by content.
    Auto,
    /// TRACE32 exports.
    Trace32,
    /// A BTF trace of any version.
    Btf,
    /// A kernel trace of QNX: a .kev file.
    Qnx,
    /// A Grasp trace.
    Grasp,
}

/// How the events of tasks in a BTF trace are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DialectArg {
    /// Told by content.
    Auto,
    /// As the specification says.
    Standard,
    /// As the FreeRTOS loggers write them.
    Freertos,
}

/// `btfdb map`
#[derive(Debug, Args)]
pub struct Map {
    /// Database folder.
    pub database: PathBuf,
    /// Only this recording.
    #[arg(long)]
    pub recording: Option<String>,
    /// Resources to use.
    #[command(flatten)]
    pub limits: Limits,
}

/// Resources of heavy commands.
#[derive(Debug, Clone, Args)]
pub struct Limits {
    /// Threads to use; results do not depend on it [default: all cores].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Memory for queries, e.g. 512MiB or 4GiB; what does not fit goes to temporary files.
    #[arg(long, value_name = "SIZE")]
    pub memory_limit: Option<String>,
}

/// SQL of the user.
#[derive(Debug, Clone, Default, Args)]
pub struct SqlPath {
    /// Folder with SQL files of your own, metrics and views in the form of those that ship with btfdb (see docs/library.md);
    /// can be repeated.
    #[arg(long = "sql-path", value_name = "DIR")]
    pub folders: Vec<PathBuf>,
}

/// How results are printed.
#[derive(Debug, Clone, Args)]
pub struct Output {
    /// auto: a table on a terminal, complete CSV otherwise.
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
    Parquet,
    Arrow,
}

/// `btfdb query`
#[derive(Debug, Args)]
pub struct Query {
    /// Database folder.
    pub database: PathBuf,
    /// SQL text; several statements are separated by `;`.
    #[arg(required_unless_present = "file", conflicts_with = "file")]
    pub sql: Option<String>,
    /// File with SQL text.
    #[arg(short, long)]
    pub file: Option<PathBuf>,
    /// Value of `$NAME` in the SQL: a number, a time such as 10ms, null, or text; can be repeated.
    #[arg(long = "param", value_name = "NAME=VALUE")]
    pub params: Vec<String>,
    /// TOML file with [[chain]] entries, for chain_instance and the chain metrics.
    #[arg(long, value_name = "FILE")]
    pub chains: Option<PathBuf>,
    /// SQL of the user.
    #[command(flatten)]
    pub sql_path: SqlPath,
    /// Which rows table kernel_event has.
    #[command(flatten)]
    pub kernel: KernelArgs,
    /// How to print.
    #[command(flatten)]
    pub output: Output,
    /// Resources to use.
    #[command(flatten)]
    pub limits: Limits,
}

/// Which events of a kernel trace are wanted.
#[derive(Debug, Args, Clone, Default)]
#[command(next_help_heading = "Events of a kernel trace")]
pub struct KernelArgs {
    /// Only events of these classes: THREAD, COMM, KER_CALL, KERCALL (enter, exit, interrupted), INT (all of them), …
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
    /// How --pid, --tid and --process are meant: events about them, while they run, either, or as the kernel filters.
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

/// `btfdb shell`
#[derive(Debug, Args)]
pub struct Shell {
    /// Database folder.
    pub database: PathBuf,
    /// TOML file with [[chain]] entries, for chain_instance and the chain metrics.
    #[arg(long, value_name = "FILE")]
    pub chains: Option<PathBuf>,
    /// SQL of the user.
    #[command(flatten)]
    pub sql_path: SqlPath,
    /// Resources to use.
    #[command(flatten)]
    pub limits: Limits,
}

/// `btfdb metrics`
#[derive(Debug, Args)]
pub struct Metrics {
    /// Database folder.
    #[arg(required_unless_present_any = ["list", "show"])]
    pub database: Option<PathBuf>,
    /// Metrics by name, or grasp for the measurement table of Grasp; all metrics when none is given.
    pub metrics: Vec<String>,
    /// List the metrics.
    #[arg(long)]
    pub list: bool,
    /// Print the SQL of a metric.
    #[arg(long, value_name = "METRIC")]
    pub show: Option<String>,
    /// Only this recording.
    #[arg(long)]
    pub recording: Option<String>,
    /// Only this task, ISR, runnable or core.
    #[arg(long)]
    pub entity: Option<String>,
    /// Samples at or after this instant, e.g. 412ms.
    #[arg(long, allow_hyphen_values = true, value_name = "T")]
    pub from: Option<String>,
    /// Samples before this instant.
    #[arg(long, allow_hyphen_values = true, value_name = "T")]
    pub to: Option<String>,
    /// A row for every window of this length, e.g. 10ms; they begin at multiples of the step.
    #[arg(long, value_name = "T")]
    pub window: Option<String>,
    /// Distance between the begins of two windows; their length when left out.
    #[arg(long, value_name = "T", requires = "window")]
    pub step: Option<String>,
    /// Show how many samples are how long: bars in a table, rows of bins in other formats.
    #[arg(long, conflicts_with = "window")]
    pub histogram: bool,
    /// SQL of the user.
    #[command(flatten)]
    pub sql_path: SqlPath,
    /// TOML file with [[chain]] entries, for chain_instance and the chain metrics.
    #[arg(long, value_name = "FILE")]
    pub chains: Option<PathBuf>,
    /// How to print.
    #[command(flatten)]
    pub output: Output,
    /// Resources to use.
    #[command(flatten)]
    pub limits: Limits,
}

/// `btfdb export`
#[derive(Debug, Args)]
pub struct Export {
    /// Database folder.
    pub database: PathBuf,
    /// File to write, `-` for standard output.
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// btf, csv, parquet, perfetto, grasp or traceprinter; told by the file's name when left out.
    #[arg(long, value_enum)]
    pub format: Option<ExportFormat>,
    /// Table to write as CSV or Parquet.
    #[arg(long, default_value = "btf_event")]
    pub table: String,
    /// Recording; needed when the database has several.
    #[arg(long)]
    pub recording: Option<String>,
    /// Events at or after this instant, e.g. 412ms.
    #[arg(long, allow_hyphen_values = true, value_name = "T")]
    pub from: Option<String>,
    /// Events before this instant.
    #[arg(long, allow_hyphen_values = true, value_name = "T")]
    pub to: Option<String>,
    /// Only events of these entities, as source or target.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub entity: Vec<String>,
    /// Only events on these BTF types: T,I,R,STI,SIG,SEM,EVENT.
    #[arg(long = "type", value_delimiter = ',', value_name = "TYPES")]
    pub types: Vec<String>,
    /// Version of BTF to write; as imported when left out, 2.1.5 for what was mapped.
    #[arg(long, value_parser = ["2.1.5", "2.2.1", "2.3.0"], value_name = "VERSION")]
    pub btf_version: Option<String>,
    /// Unit of the times in the BTF: ps, ns, us, ms or s; as imported when left out.
    #[arg(long, value_parser = ["ps", "ns", "us", "ms", "s"], value_name = "UNIT")]
    pub time_scale: Option<String>,
    /// Write numbers for names in the BTF, with tables that explain them.
    #[arg(long, conflicts_with = "symbolic")]
    pub numeric: bool,
    /// Write names in the BTF, also when it was imported with numbers.
    #[arg(long)]
    pub symbolic: bool,
    /// perfetto: TOML file with [[chain]] entries, shown as slices and flows.
    #[arg(long, value_name = "FILE")]
    pub chains: Option<PathBuf>,
    /// grasp: what a time of 1 is, e.g. 1us; that of the trace it came from when left out, else a tick of the database.
    #[arg(long, value_name = "T")]
    pub tick: Option<String>,
    /// grasp: commands as the player of 2012 or the paper of 2010 has them.
    #[arg(long, value_enum, value_name = "YEAR")]
    pub dialect: Option<GraspArg>,
    /// traceprinter: whose lines; those of the trace's own version when left out.
    #[arg(long, value_enum, value_name = "VERSION")]
    pub style: Option<StyleArg>,
    /// traceprinter: arguments on the line of their event.
    #[arg(long)]
    pub one_line: bool,
    /// traceprinter, style 7: what stands before the arguments, e.g. 't:0x%08c CPU:%02C %-16Z:%-18z'.
    #[arg(long, value_name = "FORMAT")]
    pub line_format: Option<String>,
    /// Which events of a kernel trace are printed.
    #[command(flatten)]
    pub kernel: KernelArgs,
    /// Order of the lines of BTF and traceprinter: as in the file that was imported, or by time.
    #[arg(long, value_enum, default_value = "file")]
    pub order: OrderArg,
    /// Overwrite the file if it exists.
    #[arg(long)]
    pub force: bool,
    /// Resources to use.
    #[command(flatten)]
    pub limits: Limits,
}

/// Orders of lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "the names say it")]
pub enum OrderArg {
    Time,
    File,
}

/// Export formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "the names say it")]
pub enum ExportFormat {
    Btf,
    Csv,
    Parquet,
    /// A trace for the Perfetto UI.
    Perfetto,
    /// A script for the Grasp player.
    Grasp,
    /// Lines of QNX's traceprinter.
    Traceprinter,
}

/// Dialects of Grasp.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GraspArg {
    /// `newTask …`
    #[value(name = "2012")]
    D2012,
    /// `[Task …] initWith …`
    #[value(name = "2010")]
    D2010,
}

/// Whose lines of traceprinter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StyleArg {
    /// traceprinter 1.02.
    #[value(name = "6")]
    V6,
    /// 7.0 and later.
    #[value(name = "7")]
    V7,
}

/// `btfdb check`
#[derive(Debug, Args)]
pub struct Check {
    /// Database folder, DATABASE:RECORDING, or a trace file.
    pub trace: Option<String>,
    /// One recording of a database; all of them when left out.
    #[arg(long)]
    pub recording: Option<String>,
    /// Version to check against; the one that the trace names when left out.
    #[arg(long, value_parser = ["2.1.5", "2.2.1", "2.3.0"], value_name = "VERSION")]
    pub btf_version: Option<String>,
    /// Least severity of a violation that makes the exit code 3.
    #[arg(long, value_enum, default_value = "error")]
    pub severity: SeverityArg,
    /// Check timing requirements instead of the rules of BTF: limits of metrics, deadlines, periods, loads, event chains.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["btf_version", "severity"])]
    pub requirements: Option<PathBuf>,
    /// SQL of the user, for requirements.
    #[command(flatten)]
    pub sql_path: SqlPath,
    /// How to print; junit is for requirements.
    #[arg(long, value_enum, default_value = "table")]
    pub format: CheckFormat,
    /// List the rules.
    #[arg(long)]
    pub rules: bool,
    /// Resources to use.
    #[command(flatten)]
    pub limits: Limits,
}

/// `btfdb compare`
#[derive(Debug, Args)]
pub struct Compare {
    /// The first trace: DATABASE, DATABASE:RECORDING or a BTF file.
    pub a: String,
    /// The second trace.
    pub b: String,
    /// How alike they must be.
    #[arg(long, value_enum, default_value = "order")]
    pub level: LevelArg,
    /// How far times may be apart at level timing, e.g. 2us, or start=10us for one action; 5permille is of the time
    /// since the previous event of the same sequence (for an activation, the activation before), aligned or not.
    #[arg(long, value_name = "[ACTION=]T")]
    pub tolerance: Vec<String>,
    /// Types (SIG, I, …) and entities that do not count.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub ignore: Vec<String>,
    /// An ignored ISR takes the preemption that it causes with it.
    #[arg(long)]
    pub collapse_isrs: bool,
    /// An entity of A as B calls it.
    #[arg(long, value_delimiter = ',', value_name = "A=B")]
    pub rename: Vec<String>,
    /// Leave out what one trace has later than the last event of the other.
    #[arg(long)]
    pub cut: bool,
    /// Measure times from the first event of each trace.
    #[arg(long)]
    pub align: bool,
    /// Metrics at level metrics; all when left out.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub metric: Vec<String>,
    /// Percent by which a statistic may differ at level metrics.
    #[arg(long, default_value_t = 0.0, value_name = "PERCENT")]
    pub threshold: f64,
    /// Differences to show.
    #[arg(long, default_value_t = 20, value_name = "N")]
    pub limit: usize,
    /// How to print.
    #[arg(long, value_enum, default_value = "table")]
    pub format: ReportFormat,
    /// Resources to use.
    #[command(flatten)]
    pub limits: Limits,
}

/// Levels of comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LevelArg {
    /// Every event, in the order of the file.
    Exact,
    /// The order of every core and every process instance.
    Order,
    /// As order, and times within a tolerance.
    Timing,
    /// The statistics of metrics.
    Metrics,
}

/// Severities of findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "the names say it")]
pub enum SeverityArg {
    Error,
    Warning,
    Info,
}

/// How a report is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "the names say it")]
pub enum ReportFormat {
    Table,
    Json,
}

/// How the report of `check` is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "the names say it")]
pub enum CheckFormat {
    Table,
    Json,
    Junit,
}

/// `btfdb info`
#[derive(Debug, Args)]
pub struct Info {
    /// Database folder.
    pub database: PathBuf,
}

/// `btfdb verify`
#[derive(Debug, Args)]
pub struct Verify {
    /// Database folder.
    pub database: PathBuf,
}

/// `btfdb remove`
#[derive(Debug, Args)]
pub struct Remove {
    /// Database folder.
    pub database: PathBuf,
    /// The recording to remove.
    #[arg(long)]
    pub recording: String,
}

/// `btfdb demo`
#[derive(Debug, Args)]
pub struct Demo {
    /// Folder for the demo's recording, database and slice.
    #[arg(long, default_value = "btfdb-demo")]
    pub dir: PathBuf,
}
