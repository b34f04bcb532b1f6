//! The command line: the list of commands. Not their arguments, which are declared in `commands`.

use super::args::Limits;
#[cfg(feature = "cluster")]
use super::commands::cluster;
use super::commands::{
    align, bound, chains, check, compare, demo, explain, export, help, ingest, manage, map, metrics, model,
    plot, query, regress, simulate,
};
use super::shell;
use clap::{Parser, Subcommand};

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
  btfdb explain engine.db ResponseTime:T_5:max
  btfdb bound engine.db
  btfdb chains engine.db -o chains.toml
  btfdb query engine.db \"SELECT process, count(*) FROM process_instance GROUP BY process\"
  btfdb shell engine.db
  btfdb export engine.db --from 12ms --to 15ms -o worst.btf
  btfdb plot engine.db --around ResponseTime:T_5 -o worst.svg
  btfdb info engine.db

Exit codes: 0 done, 1 failed, 2 usage, 3 finished with violations or (--strict) findings, 130 interrupted.";

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    Ingest(ingest::IngestArgs),
    Map(map::MapArgs),
    Align(align::AlignArgs),
    Query(query::QueryArgs),
    Shell(shell::ShellArgs),
    Metrics(metrics::MetricsArgs),
    Explain(explain::ExplainArgs),
    Bound(bound::BoundArgs),
    Chains(chains::ChainsArgs),
    Export(export::ExportArgs),
    Plot(plot::PlotArgs),
    Check(check::CheckArgs),
    Compare(compare::CompareArgs),
    Regress(regress::RegressArgs),
    Simulate(simulate::SimulateArgs),
    Model(model::ModelArgs),
    Info(manage::InfoArgs),
    Verify(manage::VerifyArgs),
    Remove(manage::RemoveArgs),
    Vacuum(manage::VacuumArgs),
    Publish(manage::PublishArgs),
    #[cfg(feature = "cluster")]
    Scheduler(cluster::SchedulerArgs),
    #[cfg(feature = "cluster")]
    Executor(cluster::ExecutorArgs),
    Demo(demo::DemoArgs),
    Completions(help::CompletionsArgs),
    Man(help::ManArgs),
}

impl Command {
    /// What it may use of the machine; `None` where that is no option.
    pub(super) fn limits(&self) -> Option<&Limits> {
        match self {
            Self::Ingest(args) => Some(&args.limits),
            Self::Map(args) => Some(&args.limits),
            Self::Align(args) => Some(&args.limits),
            Self::Query(args) => Some(&args.limits),
            Self::Shell(args) => Some(&args.limits),
            Self::Metrics(args) => Some(&args.limits),
            Self::Explain(args) => Some(&args.limits),
            Self::Bound(args) => Some(&args.limits),
            Self::Chains(args) => Some(&args.limits),
            Self::Export(args) => Some(&args.limits),
            Self::Plot(args) => Some(&args.limits),
            Self::Check(args) => Some(&args.limits),
            Self::Compare(args) => Some(&args.limits),
            Self::Regress(args) => Some(&args.limits),
            Self::Model(args) => Some(&args.limits),
            _ => None,
        }
    }

    /// A server of a cluster: it works as long as it can.
    pub(super) fn is_server(&self) -> bool {
        #[cfg(feature = "cluster")]
        if matches!(self, Self::Scheduler(_) | Self::Executor(_)) {
            return true;
        }
        false
    }
}
