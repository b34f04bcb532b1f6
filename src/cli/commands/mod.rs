//! One file per command: from arguments to an operation, and from its result to text.

pub(super) mod align;
pub(super) mod bound;
mod bound_text;
pub(super) mod chains;
pub(super) mod check;
#[cfg(feature = "cluster")]
pub(super) mod cluster;
pub(super) mod compare;
pub(super) mod demo;
pub(super) mod explain;
mod explanation;
pub(super) mod export;
pub(super) mod extension;
mod follow;
pub(super) mod help;
pub(super) mod histogram;
pub(super) mod ingest;
mod kernel;
pub(super) mod manage;
pub(super) mod map;
pub(super) mod metrics;
pub(super) mod model;
mod one_unit;
pub(super) mod output;
pub(super) mod parse;
mod picture;
pub(super) mod plot;
pub(super) mod query;
pub(super) mod regress;
mod regression;
pub(super) mod simulate;
mod slow_text;

use super::command_line::{Cli, Command};
use super::shell;
use super::ui::Ui;
use crate::error::{Error, ErrorKind, Result};
use clap::{CommandFactory, Parser};
use std::ffi::OsStr;

/// Runs a command; returns the exit code of a run that did not fail.
pub(super) use parse::memory;

pub(super) fn run(cli: &Cli, ui: &Ui) -> Result<u8> {
    match &cli.command {
        Command::Ingest(args) => ingest::run(args, ui),
        Command::Align(args) => align::run(args, ui),
        Command::Map(args) => map::run(args, ui),
        Command::Query(args) => query::run(args, ui),
        Command::Shell(args) => shell::run(args, ui),
        Command::Metrics(args) => metrics::run(args, ui),
        Command::Explain(args) => explain::run(args, ui),
        Command::Bound(args) => bound::run(args, ui),
        Command::Chains(args) => chains::run(args, ui),
        Command::Export(args) => export::run(args, ui),
        Command::Plot(args) => plot::run(args, ui),
        Command::Check(args) => check::run(args),
        Command::Simulate(args) => simulate::run(args, ui),
        Command::Model(args) => model::run(args, ui),
        Command::Compare(args) => compare::run(args, ui),
        Command::Regress(args) => regress::run(args, ui),
        Command::Info(args) => manage::info(args),
        Command::Verify(args) => manage::verify(args, ui),
        Command::Remove(args) => manage::remove(args, ui),
        Command::Vacuum(args) => manage::vacuum(args, ui),
        Command::Publish(args) => manage::publish(args, ui),
        Command::Completions(args) => help::completions(args, Cli::command()),
        Command::Man(args) => help::man(args, Cli::command()),
        #[cfg(feature = "cluster")]
        Command::Scheduler(args) => cluster::scheduler(args),
        #[cfg(feature = "cluster")]
        Command::Executor(args) => cluster::executor(args),
        Command::Demo(args) => demo::run(args, ui, &|words| run_words(words, ui)),
    }
}

/// Runs a command line of the demo, given without the name of the program.
fn run_words(words: &[&OsStr], ui: &Ui) -> Result<()> {
    let cli = Cli::try_parse_from([OsStr::new("btfdb")].into_iter().chain(words.iter().copied()))
        .map_err(|e| Error::new(ErrorKind::Bug, "a command of the demo is wrong").because(e))?;
    run(&cli, ui).map(drop)
}
