//! `btfdb plot`.

use super::super::plot_args::{ChartArg, LegendArg, Plot, PlotFormat, RowsArg};
use super::super::signals;
use super::super::ui::Ui;
use super::output::Target;
use super::{parse, query};
use crate::engine::{Session, queries_with_folders};
use crate::error::{Error, Result};
use crate::export::Selection;
use crate::picture::{Picture, exact};
use crate::plot::{Around, ChartRequest, Form, Request, Rows, chart, plot};
use crate::render::html;
use crate::render::svg::{self, Legend};
use crate::require::Requirements;
use crate::time::TimeScale;
use std::path::Path;

/// Columns of a page: it is zoomed into, and holds in memory what a picture of that width does.
const PAGE_COLUMNS: u32 = 8 * 1024;
/// A page has up to so many system events as they are: about a million stretches, ten megabytes.
const PAGE_EVENTS: u64 = 2_000_000;

pub(super) fn run(args: &Plot, ui: &Ui) -> Result<u8> {
    let format = format(args)?;
    let control = signals::control();
    let queries = queries_with_folders(&args.sql_path.folders)?;
    let session =
        query::open_with(&args.database, &args.limits, queries)?.with_interrupt(control.flag_shared());
    let scale = session.database().time_scale();
    let selection = Selection {
        recording: args.recording.clone(),
        from: parse::time("--from", args.from.as_deref(), scale)?,
        to: parse::time("--to", args.to.as_deref(), scale)?,
        entities: args.entity.clone(),
        types: args.types.clone(),
    };
    let options = svg::Options {
        width: args.width,
        legend: match args.legend {
            LegendArg::Top => Legend::Top,
            LegendArg::Bottom => Legend::Bottom,
            LegendArg::None => Legend::None,
        },
    };
    let mut target = Target::open(Some(&args.output), args.force)?;
    if format == PlotFormat::Html {
        if args.chart.is_some() {
            return Err(Error::usage("a chart is no page").hint("name it .svg or .png"));
        }
        let picture = timeline(&session, args, selection, (PAGE_COLUMNS, PAGE_EVENTS), ui)?;
        html::write(&picture, target.out())?;
        target.finish()?;
        return Ok(0);
    }
    let drawn = match args.chart {
        Some(form) => charted(&session, args, selection, form)?,
        None => svg::drawn(&timeline(&session, args, selection, (args.width, 0), ui)?, &options),
    };
    let bytes = match format {
        PlotFormat::Png if target.is_terminal() => {
            return Err(Error::usage("png is not for a terminal").hint("use -o FILE"));
        }
        PlotFormat::Png => pixels(&drawn, args.scale)?,
        PlotFormat::Svg | PlotFormat::Html => drawn.into_bytes(),
    };
    target.out().write_all(&bytes).map_err(|e| Error::io("write to", &args.output, e))?;
    target.finish()?;
    ui.status(&format!("{} bytes written to {}", bytes.len(), args.output.display()));
    Ok(0)
}

fn timeline(
    session: &Session,
    args: &Plot,
    selection: Selection,
    (columns, exact_up_to): (u32, u64),
    ui: &Ui,
) -> Result<Picture> {
    let scale = session.database().time_scale();
    let request = Request {
        selection,
        rows: match args.rows {
            RowsArg::Task => Rows::Task,
            RowsArg::Core => Rows::Core,
            RowsArg::Both => Rows::Both,
        },
        around: args.around.as_deref().map(Around::parse).transpose()?,
        columns,
        exact_up_to,
        deadlines: args.requirements.as_deref().map_or_else(|| Ok(Vec::new()), |f| deadlines(f, scale))?,
        title: args.title.clone(),
    };
    let picture = plot(session, &request)?;
    if let Some(found) = &picture.highlight {
        ui.status(&format!(
            "{}: --from {} --to {}",
            found.label,
            argument(picture.from, scale),
            argument(picture.to, scale)
        ));
    }
    if picture.rows.iter().all(|row| row.runs.is_empty() && row.marks.is_empty() && row.curve.is_none()) {
        ui.warning("nothing happens in the window, of what is shown");
    }
    Ok(picture)
}

fn charted(session: &Session, args: &Plot, selection: Selection, form: ChartArg) -> Result<String> {
    let window = parse::time("--window", args.window.as_deref(), session.database().time_scale())?;
    if window.is_some_and(|window| window <= 0) {
        return Err(Error::usage("--window: a length of time greater than 0 is needed"));
    }
    let form = match form {
        ChartArg::Histogram => Form::Histogram,
        ChartArg::Distribution => Form::Distribution,
        ChartArg::Load => Form::Load,
    };
    let request =
        ChartRequest { selection, form, metrics: args.metrics.clone(), window, title: args.title.clone() };
    Ok(svg::chart(&chart(session, &request)?, args.width))
}

/// An instant as it can be typed.
fn argument(ticks: i64, scale: TimeScale) -> String {
    exact(ticks, scale).replace(' ', "")
}

/// The deadlines of a file of requirements, and what bounds every response time.
fn deadlines(file: &Path, scale: TimeScale) -> Result<Vec<(String, i64)>> {
    let text = std::fs::read_to_string(file).map_err(|e| Error::io("read", file, e))?;
    let requirements = Requirements::parse(&text, file)?;
    requirements.deadline.iter().map(|d| Ok((d.entity.clone(), d.deadline.ticks(scale)?))).collect()
}

fn format(args: &Plot) -> Result<PlotFormat> {
    if let Some(format) = args.format {
        return Ok(format);
    }
    match args.output.extension().and_then(|e| e.to_str()) {
        Some("svg") => Ok(PlotFormat::Svg),
        Some("png") => Ok(PlotFormat::Png),
        Some("html" | "htm") => Ok(PlotFormat::Html),
        _ if args.output == Path::new("-") => Ok(PlotFormat::Svg),
        _ => Err(Error::usage(format!("'{}' does not say what it is to be", args.output.display()))
            .hint("name it .svg, .html or .png, or use --format")),
    }
}

#[cfg(feature = "png")]
fn pixels(svg: &str, scale: f32) -> Result<Vec<u8>> {
    crate::render::png::png(svg, scale)
}

#[cfg(not(feature = "png"))]
fn pixels(_: &str, _: f32) -> Result<Vec<u8>> {
    Err(Error::usage("this btfdb was built without PNG").hint("use --format svg"))
}
