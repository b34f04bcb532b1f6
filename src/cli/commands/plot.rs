//! `btfdb plot`.

use super::super::args::{Limits, SqlPath};
use super::super::declared::word;
use super::super::location;
use super::super::signals;
use super::super::ui::Ui;
use super::output::Target;
use super::{parse, picture, query};
use crate::engine::{Session, queries_with_folders};
use crate::error::{Error, Result};
use crate::ops::findings::doubts;
use crate::ops::plot::{PictureFormat, deadlines, timeline};
use crate::ops::{Choice, explain};
use crate::picture::{Picture, exact};
use crate::plot::{Align, Around, ChartRequest, Form, Request, Rows, charts};
use crate::render::html;
use crate::render::svg::{self, Legend};
use crate::require::Deadlines;
use crate::selection::Selection;
use crate::selection::kinds::never_ran;
use crate::store::{Database, Location};
use crate::time::TimeScale;
use clap::{Args, ValueEnum, ValueHint};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Draw a window of a recording as SVG, PDF or PNG, or a chart of a metric.
///
/// Rows of cores, tasks and ISRs with their states, runnables, semaphores, events, signals and stimuli. What
/// is too short to be seen is drawn together, and the picture says how many it stands for; violations are
/// always drawn.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  btfdb plot engine.db -o all.svg
  btfdb plot engine.db --from 112ms --to 115ms -o slice.png --scale 2
  btfdb plot engine.db --around ResponseTime:T_5:max -o worst.svg
  btfdb plot engine.db --explain ResponseTime:T_4:max -o why.svg
  btfdb plot engine.db --rows core --type T,I,SEM --width 1600 -o - > picture.svg
  btfdb plot week.db --recording monday --recording tuesday -o both.svg
  btfdb plot engine.db --chart histogram ResponseTime --entity T_5 -o response.svg")]
pub struct PlotArgs {
    /// Database: a folder, or a URL such as s3://bucket/fleet.db.
    #[arg(value_parser = location::parser(), value_hint = ValueHint::DirPath)]
    pub database: Location,
    /// Metrics of a chart.
    #[arg(requires = "chart")]
    pub metrics: Vec<String>,
    /// File to write, `-` for standard output.
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// svg, html (a page to zoom into), png or pdf; told by the file's name when left out.
    #[arg(long, value_parser = word(PictureFormat::ALL.map(PictureFormat::as_str), PictureFormat::parse))]
    pub format: Option<PictureFormat>,
    /// Recording, or a list with * and ? for any characters; needed when the database has several. Several
    /// are drawn under each other. Can be repeated.
    #[arg(long, value_name = "NAMES")]
    pub recording: Vec<String>,
    /// Only recordings with this label, e.g. build=1234 or build=12*. Again: with all of them.
    #[arg(long, value_name = "LABEL=VALUE")]
    pub where_label: Vec<String>,
    /// Several recordings: each counts from its own begin, also --from and --to, or all have one clock.
    #[arg(long, value_parser = word(Align::ALL.map(Align::as_str), Align::parse), default_value = "begin")]
    pub align: Align,
    /// Begin of the window, e.g. 412ms.
    #[arg(long, allow_hyphen_values = true, value_name = "T")]
    pub from: Option<String>,
    /// End of the window, not part of it.
    #[arg(long, allow_hyphen_values = true, value_name = "T")]
    pub to: Option<String>,
    /// The window is the life of the instance with the greatest (max, the default) or least (min) sample of a
    /// metric, with a quarter of it on each side.
    #[arg(long, value_name = "METRIC:ENTITY[:max|:min]", conflicts_with = "chart")]
    pub around: Option<String>,
    /// The window is the response of an instance, and its path is drawn: the parts into which `btfdb explain`
    /// cuts it, in the same words, with the rows of all that they name.
    #[arg(long, value_name = "METRIC:ENTITY[:max|:min|:p99|:INSTANCE]")]
    #[arg(conflicts_with_all = ["chart", "around", "from", "to"])]
    pub explain: Option<String>,
    /// Rows of tasks, of cores, or both.
    #[arg(long, value_parser = word(Rows::ALL.map(Rows::as_str), Rows::parse), default_value = "both")]
    pub rows: Rows,
    /// Only rows of these tasks, ISRs, runnables, signals, …, with * and ? for any characters; cores stay.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub entity: Vec<String>,
    /// Kinds of rows: T,I,C (cores),R,SEM,SIG,EVENT,STI,SERVER,BUFFER; when left out, as many as the window
    /// has room for.
    #[arg(long = "type", value_delimiter = ',', value_name = "TYPES")]
    pub types: Vec<String>,
    /// A chart instead of a timeline.
    #[arg(long, value_enum, value_name = "CHART")]
    pub chart: Option<ChartArg>,
    /// Chart of loads: length of a window, e.g. 10ms; when left out, a hundredth of the time.
    #[arg(long, value_name = "T", requires = "chart")]
    pub window: Option<String>,
    /// TOML file with requirements: their deadlines are drawn, and what misses them is marked.
    #[arg(long, value_name = "FILE")]
    pub requirements: Option<PathBuf>,
    /// Width in pixels; a page has that of its window.
    #[arg(long, default_value_t = WIDTH, value_name = "PIXELS", value_parser = clap::value_parser!(u32).range(320..=20_000))]
    pub width: u32,
    /// PNG: how many pixels a pixel becomes, e.g. 2 for paper and fine screens.
    #[arg(long, default_value_t = 1.0, value_name = "FACTOR")]
    pub scale: f32,
    /// Where the legend is.
    #[arg(long, value_parser = word(Legend::ALL.map(Legend::as_str), Legend::parse), default_value = "bottom")]
    pub legend: Legend,
    /// Words above the picture.
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// Overwrite the file if it exists.
    #[arg(long)]
    pub force: bool,
    /// SQL of the user, for metrics.
    #[command(flatten)]
    pub sql_path: SqlPath,
    /// Resources to use.
    #[command(flatten)]
    pub limits: Limits,
}

/// Width of a picture.
const WIDTH: u32 = 1200;

/// Charts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ChartArg {
    /// How many samples of a metric are how great, for each entity.
    Histogram,
    /// Samples of a metric over time: median, 5 % to 95 %, least and greatest.
    Distribution,
    /// Load of the cores over time.
    Load,
}

pub(super) fn run(args: &PlotArgs, ui: &Ui) -> Result<u8> {
    check_options(args, format(args)?)?;
    let control = signals::control();
    let queries = queries_with_folders(&args.sql_path.folders)?;
    let session = query::open(
        &args.database,
        (&args.limits, Some(&args.sql_path)),
        queries,
        (None, ui),
        control.flag_shared(),
    )?;
    draw(&session, args, ui)?;
    Ok(0)
}

/// The names of the chosen recordings, in the order in which they are named; none if there is no choice.
fn chosen(database: &Database, args: &PlotArgs) -> Result<Vec<String>> {
    let labels = &args.where_label;
    let choices: Vec<Option<String>> = match args.recording.is_empty() {
        true if labels.is_empty() => Vec::new(),
        true => vec![None],
        false => args.recording.iter().cloned().map(Some).collect(),
    };
    let mut names = Vec::new();
    for recording in choices {
        let found = Choice { recording, labels: labels.clone() }.of(database.clone())?;
        names.extend(found.recordings()?.iter().map(|recording| recording.name.clone()));
    }
    Ok(names)
}

/// Draws what `args` select from the database of a session.
pub(in crate::cli) fn draw(session: &Session, args: &PlotArgs, ui: &Ui) -> Result<()> {
    let format = format(args)?;
    check_options(args, format)?;
    let scale = session.database().time_scale();
    let chosen = chosen(session.database(), args)?;
    let explained = match &args.explain {
        Some(asked) => Some(explain::path(session, &explain::Asked::parse(asked)?, &chosen)?),
        None => None,
    };
    let (chosen, path) = match explained {
        Some((recording, path)) => (vec![recording], Some(Arc::new(path))),
        None => (chosen, None),
    };
    let selection = Selection {
        recording: chosen.first().cloned(),
        from: parse::time("--from", args.from.as_deref(), scale)?,
        to: parse::time("--to", args.to.as_deref(), scale)?,
        entities: parse::names("--entity", &args.entity)?,
        types: parse::names("--type", &args.types)?,
    };
    match &chosen[..] {
        [] => ui.doubts(&doubts(session.database(), None)?),
        several => {
            for recording in several {
                ui.doubts(&doubts(session.database(), Some(recording))?);
            }
        }
    }
    let mut target = Target::open(Some(&args.output), args.force)?;
    let (svg, title) = match args.chart {
        Some(_) if format == PictureFormat::Html => {
            return Err(Error::usage("a chart is no page").hint("name it .svg, .png or .pdf"));
        }
        Some(form) => {
            let request = chart_request(args, selection, form, scale)?;
            let chart = charts(session, &request, &chosen, args.align)?;
            chart.notes.iter().for_each(|note| ui.warning(note.trim_end_matches('.')));
            (svg::chart(&chart, args.width), chart.title)
        }
        None => {
            let recordings = match &chosen[..] {
                [] => vec![selection.recording(session)?],
                several => several.to_vec(),
            };
            let deadlines = match &args.requirements {
                Some(file) => deadlines(session, file, &recordings)?,
                None => Deadlines::default(),
            };
            let request = Request { path, ..timeline_request(args, selection, deadlines.of)? };
            let names = request.selection.entities.clone();
            let picture = timeline(session, request, (&chosen, args.align), format, args.width)?;
            never_ran(session, &recordings, &names)?.iter().for_each(|why| ui.warning(why));
            deadlines.notes.iter().for_each(|why| ui.warning(why));
            report(&picture, scale, ui);
            if format == PictureFormat::Html {
                html::write(&picture, target.out())?;
                target.finish()?;
                return Ok(());
            }
            let options = svg::DrawingOptions { width: args.width, legend: args.legend };
            (svg::drawn(&picture, &options), picture.title)
        }
    };
    if matches!(format, PictureFormat::Png | PictureFormat::Pdf) && target.is_terminal() {
        let message = format!("{} is not for a terminal", format.as_str());
        return Err(Error::usage(message).hint("use -o FILE"));
    }
    picture::save(svg, (format, args.scale), &title, (target, args.output.as_path()), ui)
}

fn timeline_request(args: &PlotArgs, selection: Selection, deadlines: Vec<(String, i64)>) -> Result<Request> {
    Ok(Request {
        selection,
        rows: args.rows,
        around: args.around.as_deref().map(Around::parse).transpose()?,
        deadlines,
        title: args.title.clone(),
        ..Request::default()
    })
}

fn chart_request(
    args: &PlotArgs,
    selection: Selection,
    form: ChartArg,
    scale: TimeScale,
) -> Result<ChartRequest> {
    let bars_or_samples = form != ChartArg::Load;
    for (given, option, why) in [
        (args.rows != Rows::default(), "--rows", "it has no rows of tasks and cores"),
        (args.legend != Legend::default(), "--legend", "its legend has one place"),
        (args.requirements.is_some(), "--requirements", "it has no deadlines"),
        (args.window.is_some() && bars_or_samples, "--window", "only loads have windows"),
        (!args.types.is_empty() && !bars_or_samples, "--type", "loads are those of cores"),
    ] {
        if given {
            let name = form.to_possible_value().map_or_else(String::new, |v| v.get_name().to_owned());
            let what = if option == "--legend" { "" } else { "; --entity chooses what is drawn" };
            return Err(Error::usage(format!("{option} does not go with --chart {name}: {why}"))
                .hint(format!("leave {option} out{what}")));
        }
    }
    let window = parse::time("--window", args.window.as_deref(), scale)?;
    if window.is_some_and(|window| window <= 0) {
        return Err(Error::usage("--window: a length of time greater than 0 is needed"));
    }
    let form = match form {
        ChartArg::Histogram => Form::Histogram,
        ChartArg::Distribution => Form::Distribution,
        ChartArg::Load => Form::Load,
    };
    Ok(ChartRequest { selection, form, metrics: args.metrics.clone(), window, title: args.title.clone() })
}

/// Reports which window was found, and whether it is empty.
fn report(picture: &Picture, scale: TimeScale, ui: &Ui) {
    if let Some(found) = &picture.highlight {
        let argument = |ticks| exact(ticks, scale).replace(' ', "");
        let (from, to) = (argument(picture.from), argument(picture.to));
        ui.status(&format!("{}; window: --from {from} --to {to}", found.label));
    }
    if picture.rows.iter().all(|row| row.runs.is_empty() && row.marks.is_empty() && row.curve.is_none()) {
        ui.warning("nothing happens in the window, of what is shown");
    }
}

/// Fails for an option that the format has no use for.
fn check_options(args: &PlotArgs, format: PictureFormat) -> Result<()> {
    let is_page = format == PictureFormat::Html;
    for (given, option, why) in [
        (is_page && args.width != WIDTH, "--width", "a page is as wide as its window"),
        (is_page && args.legend != Legend::default(), "--legend", "the legend of a page has one place"),
        (format != PictureFormat::Png && args.scale != 1.0, "--scale", "only a PNG has pixels"),
    ] {
        if given {
            let error = Error::usage(format!("{option} does not go with {}: {why}", format.as_str()));
            return Err(error.hint(format!("leave {option} out, or write another format")));
        }
    }
    Ok(())
}

fn format(args: &PlotArgs) -> Result<PictureFormat> {
    match args.format {
        Some(format) => Ok(format),
        None if args.output == Path::new("-") => Ok(PictureFormat::Svg),
        None => PictureFormat::of_file(&args.output).ok_or_else(|| {
            Error::usage(format!("'{}' does not say what it is to be", args.output.display()))
                .hint("name it .svg, .html, .png or .pdf, or use --format")
        }),
    }
}
