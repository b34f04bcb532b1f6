//! `btfdb map`.

use super::super::args::{Limits, NamesLimit, Recordings};
use super::super::location;
use super::super::progress::watched;
use super::super::signals;
use super::super::ui::Ui;
use super::parse;
use crate::error::Result;
use crate::ops::map::MapOptions;
use crate::ops::map_again::map_again;
use crate::store::{Location, RealDisk};
use clap::{Args, ValueHint};
use std::sync::Arc;

/// Map recordings again, e.g. after a change of profile.
#[derive(Debug, Args)]
pub struct MapArgs {
    /// Database: a folder, or a URL such as s3://bucket/fleet.db.
    #[arg(value_parser = location::parser(), value_hint = ValueHint::DirPath)]
    pub database: Location,
    /// Which recordings.
    #[command(flatten)]
    pub recordings: Recordings,
    /// Limit of the names in system events.
    #[command(flatten)]
    pub names: NamesLimit,
    /// Resources to use.
    #[command(flatten)]
    pub limits: Limits,
}

pub(super) fn run(args: &MapArgs, ui: &Ui) -> Result<u8> {
    let control = signals::control();
    let max_names = parse::size("--max-names", &args.names.max_names)?;
    let options = MapOptions { threads: parse::threads(&args.limits), max_names };
    let choice = args.recordings.choice();
    let work = || map_again(Arc::new(RealDisk), &args.database, &choice, options, &control);
    for (name, report) in watched(ui, &control, work)? {
        ui.findings(&report.log);
        ui.status(&format!("{name}: mapped to {} BTF events", report.events));
    }
    Ok(0)
}
