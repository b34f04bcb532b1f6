//! `btfdb chains`.

use super::super::args::{Format, Limits, Output, Recordings};
use super::super::location;
use super::super::progress::watched;
use super::super::signals;
use super::super::ui::Ui;
use super::output::{self, Target};
use super::{extension, query};
use crate::error::{Error, Result};
use crate::library::Queries;
use crate::ops::chains::{Asked, find};
use crate::store::{Database, Location};
use clap::{Args, ValueHint};
use std::path::Path;

/// Find the event chains that recordings show, as a file for --chains and --requirements.
///
/// A process follows from another one if it reads a signal that the other one wrote last, or is activated by
/// a stimulus that the other one triggered. What an instance read, or was activated by, leads to all that it
/// writes or triggers later. Comments say how often each chain was seen; view discovered_chain has them, too.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  btfdb chains engine.db
  btfdb chains engine.db --min-count 5 -o chains.toml
  btfdb metrics engine.db MRT MDA --chains chains.toml
  btfdb chains engine.db --recording engine --format csv")]
pub struct ChainsArgs {
    /// Database: a folder, or a URL such as s3://bucket/fleet.db.
    #[arg(value_parser = location::parser(), value_hint = ValueHint::DirPath)]
    pub database: Location,
    /// Which recordings.
    #[command(flatten)]
    pub recordings: Recordings,
    /// Only chains that a recording shows at least so many times.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub min_count: u64,
    /// The most links of a chain, each from one process to the next.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub max_links: u16,
    /// How to print. Without a format, the chains are printed as TOML, also to a file whose name says nothing
    /// else.
    #[command(flatten)]
    pub output: Output,
    /// Resources to use.
    #[command(flatten)]
    pub limits: Limits,
}

pub(super) fn run(args: &ChainsArgs, ui: &Ui) -> Result<u8> {
    let is_text = is_text(&args.output)?;
    output::check(args.output.output.as_deref(), args.output.force)?;
    let control = signals::control();
    let database = args.recordings.choice().of(Database::open(&args.database)?)?;
    let session = query::session(
        database,
        (&args.limits, None),
        Queries::shipped(),
        (None, ui),
        control.flag_shared(),
    )?;
    let asked = Asked { least: args.min_count, links: args.max_links.into() };
    let shown = watched(ui, &control, || find(&session, asked))?;
    shown.remarks.iter().for_each(|remark| ui.warning(remark));
    if is_text {
        let mut target = Target::open(args.output.output.as_deref(), args.output.force)?;
        let written = target.out().write_all(shown.text().as_bytes());
        let place = args.output.output.clone().unwrap_or_else(|| "standard output".into());
        written.map_err(|error| Error::io("write to", &place, error))?;
        target.finish()?;
    } else {
        let rows = shown.rows()?;
        let schema = rows.schema();
        output::show(&schema, &mut std::iter::once(Ok(rows)), &args.output, session.threads(), ui)?;
    }
    ui.status(&match shown.count() {
        1 => "1 chain".to_owned(),
        count => format!("{count} chains"),
    });
    Ok(0)
}

/// Whether TOML is wanted.
fn is_text(output: &Output) -> Result<bool> {
    let file = output.output.as_deref().filter(|path| *path != Path::new("-"));
    match (output.format, file) {
        (Format::Auto, Some(file)) if extension::is_toml(file) => Ok(true),
        (Format::Auto, Some(file)) => Ok(extension::of_result(file)?.is_none()),
        (format, _) => Ok(format == Format::Auto),
    }
}
