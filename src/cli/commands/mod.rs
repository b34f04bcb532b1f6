//! One file per command: from what was typed to an operation, and from its result to words.

pub(super) mod check;
pub(super) mod compare;
pub(super) mod demo;
pub(super) mod export;
pub(super) mod histogram;
pub(super) mod ingest;
mod kernel;
pub(super) mod manage;
pub(super) mod map;
pub(super) mod metrics;
pub(super) mod output;
pub(super) mod parse;
pub(super) mod plot;
pub(super) mod query;

use super::args::{Cli, Command};
use super::shell;
use super::ui::Ui;
use crate::error::Result;

/// Runs a command; the number is the exit code of a run that did not fail.
pub(super) fn run(cli: &Cli, ui: &Ui) -> Result<u8> {
    match &cli.command {
        Command::Ingest(args) => ingest::run(args, ui),
        Command::Map(args) => map::run(args, ui),
        Command::Query(args) => query::run(args, ui),
        Command::Shell(args) => shell::run(args, ui),
        Command::Metrics(args) => metrics::run(args, ui),
        Command::Export(args) => export::run(args, ui),
        Command::Plot(args) => plot::run(args, ui),
        Command::Check(args) => check::run(args),
        Command::Compare(args) => compare::run(args, ui),
        Command::Info(args) => manage::info(args),
        Command::Verify(args) => manage::verify(args, ui),
        Command::Remove(args) => manage::remove(args, ui),
        Command::Demo(args) => demo::run(args, ui),
    }
}
