//! What can be typed after `btfdb plot`. Text only; see `args` for the other commands.

use super::args::{Limits, SqlPath};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// `btfdb plot`
#[derive(Debug, Args)]
pub struct Plot {
    /// Database folder.
    pub database: PathBuf,
    /// Metrics of a chart.
    #[arg(requires = "chart")]
    pub metrics: Vec<String>,
    /// File to write, `-` for standard output.
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// svg, html (a page to zoom into) or png; told by the file's name when left out.
    #[arg(long, value_enum)]
    pub format: Option<PlotFormat>,
    /// Recording; needed when the database has several.
    #[arg(long)]
    pub recording: Option<String>,
    /// Begin of the window, e.g. 412ms.
    #[arg(long, allow_hyphen_values = true, value_name = "T")]
    pub from: Option<String>,
    /// End of the window, not part of it.
    #[arg(long, allow_hyphen_values = true, value_name = "T")]
    pub to: Option<String>,
    /// The window is the life of the instance with the greatest (max, the default) or least (min) sample of a metric, with a
    /// quarter of it on each side.
    #[arg(long, value_name = "METRIC:ENTITY[:max|:min]", conflicts_with = "chart")]
    pub around: Option<String>,
    /// Rows of tasks, of cores, or both.
    #[arg(long, value_enum, default_value = "both")]
    pub rows: RowsArg,
    /// Only rows of these tasks, ISRs, runnables, signals, …; cores stay.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub entity: Vec<String>,
    /// Kinds of rows: T,I,C (cores),R,SEM,SIG,EVENT,STI,SERVER,BUFFER; when left out, as many as the window has room for.
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
    /// Width in pixels.
    #[arg(long, default_value_t = 1200, value_name = "PIXELS", value_parser = clap::value_parser!(u32).range(320..=20_000))]
    pub width: u32,
    /// PNG: how many pixels a pixel becomes, e.g. 2 for paper and fine screens.
    #[arg(long, default_value_t = 1.0, value_name = "FACTOR")]
    pub scale: f32,
    /// Where the legend is.
    #[arg(long, value_enum, default_value = "bottom")]
    pub legend: LegendArg,
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

/// Formats of pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "the names say it")]
pub enum PlotFormat {
    Svg,
    Html,
    Png,
}

/// Rows of a timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "the names say it")]
pub enum RowsArg {
    Task,
    Core,
    Both,
}

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

/// Where the legend is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "the names say it")]
pub enum LegendArg {
    Top,
    Bottom,
    None,
}
