//! `explain`: which instance is asked for, and why its response took as long as it did. Not how a response is
//! cut into parts (see [`crate::explain`]), nor the text of it.

use crate::engine::{Param, ResultStream, Session};
use crate::error::{Error, Result};
use crate::library::Unit;
use arrow::array::RecordBatch;

mod causes;
mod extreme;
mod find;
mod instances;
mod lost;
mod parts;
mod path;
mod refused;
mod slow;
mod words;

pub(crate) use causes::{Causes, name_runnables, named};
pub use find::find;
pub use instances::instances;
pub use lost::{Lost, lost_activations};
pub use parts::parts;
pub(crate) use parts::span;
pub use path::path;
pub use refused::check_metric;
pub use slow::slow_parts;
pub(crate) use words::{Parts, ranked};

/// The metric that measures what is cut into parts.
pub(crate) const RESPONSE: &str = "ResponseTime";

/// Which instance of an entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// The one with the greatest sample.
    Greatest,
    /// The one with the least sample.
    Least,
    /// The one at a percentile, in hundredths of a percent, by nearest rank.
    Percentile(u16),
    /// The one of this number.
    Number(i64),
}

/// `METRIC:ENTITY:max`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// Name of a metric of processes.
    pub metric: String,
    /// A task or an ISR.
    pub entity: String,
    /// One of its instances.
    pub which: Which,
    /// False if the text does not say which one: then it is the greatest.
    pub is_chosen: bool,
}

impl Asked {
    /// Parses `METRIC:ENTITY`, or that with `:max`, `:min`, `:p99`, `:p99.9` or the number of an instance. An
    /// entity may contain colons.
    ///
    /// # Errors
    /// [`crate::error::ErrorKind::Usage`] for anything else.
    pub fn parse(text: &str) -> Result<Self> {
        let bad = |what: &str| {
            Error::usage(format!("'{text}' {what}"))
                .hint("METRIC:ENTITY[:max|:min|:p99|:INSTANCE], e.g. ResponseTime:T_5:max")
        };
        let (metric, rest) = text.split_once(':').ok_or_else(|| bad("is no metric and entity"))?;
        let chosen = rest.rsplit_once(':').and_then(|(entity, last)| Some((entity, which(last)?)));
        let (entity, which) = chosen.unwrap_or((rest, Which::Greatest));
        if metric.is_empty() || entity.is_empty() {
            return Err(bad("lacks a metric or an entity"));
        }
        if which == Which::Percentile(u16::MAX) {
            return Err(bad("has a percentile that is not between 0 and 100, or has more than two decimals"));
        }
        Ok(Self { metric: metric.to_owned(), entity: entity.to_owned(), which, is_chosen: chosen.is_some() })
    }
}

/// `None`: the word belongs to the name of the entity. A percentile that there is not is `u16::MAX`.
fn which(word: &str) -> Option<Which> {
    match word {
        "max" => return Some(Which::Greatest),
        "min" => return Some(Which::Least),
        _ => {}
    }
    if let Ok(number) = word.parse::<u64>() {
        return i64::try_from(number).ok().map(Which::Number);
    }
    let digits = word.strip_prefix('p').filter(|digits| digits.starts_with(|c: char| c.is_ascii_digit()))?;
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !is_number(whole) || !is_number(fraction) {
        return None;
    }
    let hundredths = (fraction.len() <= 2)
        .then(|| format!("{whole}{fraction:0<2}").parse::<u16>().ok())
        .flatten()
        .filter(|hundredths| *hundredths <= 10_000);
    Some(Which::Percentile(hundredths.unwrap_or(u16::MAX)))
}

/// The instance that was asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Chosen {
    /// Its recording.
    pub recording: String,
    /// Task or ISR.
    pub process: String,
    /// Its number.
    pub instance: i64,
    /// Its sample of the metric; `None` when it was asked for by its number.
    pub sample: Option<Sample>,
    /// Begin and end of its response in ticks, if the metric tells: then less is read.
    pub response: Option<(i64, i64)>,
}

/// A sample among others.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// Name of the metric.
    pub metric: String,
    /// In the unit of the metric.
    pub value: f64,
    /// What is measured.
    pub unit: Unit,
    /// How many samples there are.
    pub count: i64,
    /// Its place among them, from 1 for the least.
    pub rank: i64,
}

/// All rows of a statement.
fn rows(session: &Session, sql: &str, params: &[(&str, Param)]) -> Result<Vec<RecordBatch>> {
    some(session.sql(sql, params)?)
}

/// The batches that have rows.
fn some(result: ResultStream) -> Result<Vec<RecordBatch>> {
    result.filter(|batch| batch.as_ref().map_or(true, |batch| batch.num_rows() > 0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instances_are_asked_for_by_words_and_numbers() {
        let which = |text: &str| Asked::parse(text).map(|asked| (asked.entity, asked.which)).ok();
        let of = |entity: &str, which| Some((entity.to_owned(), which));
        assert_eq!(which("R:T_5"), of("T_5", Which::Greatest));
        assert_eq!(which("R:T_5:max"), of("T_5", Which::Greatest));
        assert_eq!(which("R:T_5:min"), of("T_5", Which::Least));
        assert_eq!(which("R:T_5:12"), of("T_5", Which::Number(12)));
        assert_eq!(which("R:T_5:p99"), of("T_5", Which::Percentile(9900)));
        assert_eq!(which("R:T_5:p99.5"), of("T_5", Which::Percentile(9950)));
        assert_eq!(which("R:T_5:p0"), of("T_5", Which::Percentile(0)));
        assert_eq!(which("R:a:b"), of("a:b", Which::Greatest));
        assert_eq!(which("R:a:prio"), of("a:prio", Which::Greatest));
        for bad in ["R", "R:", ":T", "R:T:p101", "R:T:p99.999"] {
            assert_eq!(which(bad), None, "{bad}");
        }
    }
}
