//! A chart of metrics as data: a panel for each entity. Not for computing its content (see `plot`), and not
//! for drawing it (see [`crate::render`]).

use super::exact;
use crate::time::{TimeScale, format_duration};

/// Panels below each other.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// First line above.
    pub title: String,
    /// What the chart shows, in a sentence.
    pub description: String,
    /// The unit of all ticks.
    pub scale: TimeScale,
    /// From top to bottom.
    pub panels: Vec<Panel>,
    /// Notes for the reader.
    pub notes: Vec<String>,
}

/// The kind of the values of a panel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// Lengths of time, in ticks.
    Time,
    /// Plain numbers.
    Number,
    /// Shares of 100.
    Percent,
}

impl Measure {
    /// A value for people.
    pub fn shown(self, value: f64, scale: TimeScale) -> String {
        match self {
            // A statistic need not have all its digits if they are many.
            Self::Time => {
                let ticks = value.round() as i64;
                let all = exact(ticks, scale);
                if all.len() <= 14 { all } else { format_duration(ticks, scale) }
            }
            Self::Number => format!("{value}"),
            Self::Percent => format!("{} %", (value * 1e3).round() / 1e3),
        }
    }
}

/// The panel of one entity.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// Its name, and the metric.
    pub title: String,
    /// A sentence about the values.
    pub summary: String,
    /// What the values are.
    pub measure: Measure,
    /// The values.
    pub content: Content,
}

/// The values of a panel.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Number of samples per bin; the bins are adjacent.
    Histogram(Vec<Bar>),
    /// Samples over a window of time, by columns.
    Spread {
        /// Begin of the window, in ticks.
        from: i64,
        /// End of the window, in ticks, not part of it.
        to: i64,
        /// In order of time; columns without samples are left out.
        columns: Vec<Column>,
    },
    /// A value for each of several adjacent windows of time.
    Steps {
        /// Begin of the time, in ticks.
        from: i64,
        /// End of the time, in ticks, not part of it.
        to: i64,
        /// Begin, end and value.
        steps: Vec<(i64, i64, f64)>,
    },
    /// How rare values are.
    Exceedance(Exceedance),
    /// Which share of the samples is at most a value, before a change and after it.
    Shares([Shares; 2]),
}

impl Content {
    /// Moves what is over time to where `zero` is 0.
    pub fn shift(&mut self, zero: i64) {
        let back = |at: &mut i64| *at = at.saturating_sub(zero);
        match self {
            Self::Histogram(_) | Self::Exceedance(_) | Self::Shares(_) => {}
            Self::Spread { from, to, columns } => {
                [from, to].into_iter().for_each(back);
                columns.iter_mut().flat_map(|c| [&mut c.begin, &mut c.end]).for_each(back);
            }
            Self::Steps { from, to, steps } => {
                [from, to].into_iter().for_each(back);
                steps.iter_mut().flat_map(|s| [&mut s.0, &mut s.1]).for_each(back);
            }
        }
    }
}

/// Samples by their rarity, and the distribution that is fitted to the rarest.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Exceedance {
    /// Values, and the share of the samples that are at least as great: above 0.
    pub measured: Vec<(f64, f64)>,
    /// The fitted distribution, from the commonest value on; empty if there is none.
    pub curve: Vec<Rare>,
    /// Values that are marked, from the commonest on.
    pub levels: Vec<Rare>,
    /// Sentences below the panel, as why there is no fit.
    pub remarks: Vec<String>,
}

/// A value that is exceeded by one instance in so many.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rare {
    /// At least 1.
    pub instances: f64,
    /// The value.
    pub value: f64,
    /// The lower end of its confidence interval.
    pub low: f64,
    /// The upper end of its confidence interval.
    pub high: f64,
}

/// The distribution of the samples of a side.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Shares {
    /// Values, and the share of the samples that are at most as great; both rise, the last share is 1.
    pub points: Vec<(f64, f64)>,
    /// At least half of the samples are at most this.
    pub median: f64,
}

/// A bin of a histogram.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bar {
    /// Least value.
    pub from: f64,
    /// The begin of the next bin.
    pub to: f64,
    /// Number of samples.
    pub count: u64,
}

/// Samples in a span of time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Column {
    /// Begin, in ticks.
    pub begin: i64,
    /// End, in ticks, not part of it.
    pub end: i64,
    /// Number of samples.
    pub count: u64,
    /// The least sample.
    pub least: f64,
    /// 5 % of the samples are not greater.
    pub low: f64,
    /// The median sample.
    pub middle: f64,
    /// 95 % of the samples are not greater.
    pub high: f64,
    /// The greatest sample.
    pub greatest: f64,
}
