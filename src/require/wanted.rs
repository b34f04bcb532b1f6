//! What the requirements of a file ask of metrics: a metric, an entity, a statistic and bounds. Not for
//! measuring them.

use toml::Spanned;

use super::bound::{Bound, Count};
use super::file::Limit;
use super::known::Missing;
use super::{Outcome, Requirements};
use crate::engine::Session;
use crate::error::{Error, Result};
use crate::library::Unit;
use crate::time::TimeScale;

/// The statistics that a limit can be on.
const STATISTICS: [&str; 10] =
    ["count", "min", "avg", "max", "stddev", "p50", "p95", "p99", "p999", "jitter"];

/// A metric that is asked for, and its bounds.
#[derive(Default)]
pub(super) struct Wanted<'a> {
    pub name: String,
    pub metric: &'a str,
    pub entity: Option<&'a str>,
    /// The entity is a chain for certain: the requirement is in the section of one.
    pub is_of_chain: bool,
    pub statistic: Option<&'a str>,
    pub lower: Option<f64>,
    pub upper: Option<f64>,
}

impl Wanted<'_> {
    /// The outcomes of a requirement that has no samples.
    pub fn without_samples(
        &self,
        session: &Session,
        recording: &str,
        missing: Option<Missing>,
    ) -> Vec<Outcome> {
        let (verdict, note) = missing.map_or_else(Default::default, |m| (m.verdict, Some(m.note)));
        let bounds = [("upper", self.upper, "max"), ("lower", self.lower, "min")];
        let outcome = |(bound, limit, extreme): (&'static str, Option<f64>, &str)| {
            Some(Outcome {
                recording: recording.to_owned(),
                requirement: self.name.clone(),
                metric: self.metric.to_owned(),
                entity: self.entity.unwrap_or_default().to_owned(),
                statistic: self.statistic.unwrap_or(extreme).to_owned(),
                unit: session.queries().metric(self.metric).map_or("count", |m| m.unit.as_str()),
                bound,
                limit: limit?,
                verdict,
                note: note.clone(),
                ..Outcome::default()
            })
        };
        bounds.into_iter().filter_map(outcome).collect()
    }
}

/// What a file asks of metrics, in the order of the file.
///
/// # Errors
/// [`crate::error::ErrorKind::Usage`] for metrics and statistics that there are not, with a suggestion;
/// [`crate::error::ErrorKind::Input`] for bounds that are not in the unit of the metric; with file and line.
pub(super) fn wanted<'a>(
    requirements: &'a Requirements,
    session: &Session,
    scale: TimeScale,
) -> Result<Vec<Wanted<'a>>> {
    let mut wanted = Vec::new();
    let time = |key: &str, bound: &Spanned<Bound>, least: i64| -> Result<f64> {
        Ok(requirements.ticks(key, bound, least, scale)? as f64)
    };
    for limit in &requirements.limit {
        let unit = unit_of(requirements, session, limit)?;
        let value = |key: &str, bound: &Option<Spanned<Bound>>| -> Result<Option<f64>> {
            let Some(bound) = bound else { return Ok(None) };
            match (bound.get_ref(), unit) {
                (Bound::Text(text), Unit::Count | Unit::Percent) => {
                    Err(requirements.mistake(bound, no_number(limit, key, text, unit)))
                }
                (given, _) => given.value(scale).map(Some).map_err(|e| requirements.mistake(bound, e)),
            }
        };
        let of = limit.entity.as_ref().map_or_else(String::new, |entity| format!(" of {entity}"));
        wanted.push(Wanted {
            name: limit.name.clone().unwrap_or_else(|| format!("{}{of}", limit.metric.get_ref())),
            metric: limit.metric.get_ref(),
            entity: limit.entity.as_deref(),
            is_of_chain: false,
            statistic: limit.statistic.as_ref().map(|statistic| statistic.get_ref().as_str()),
            lower: value("lower", &limit.lower)?,
            upper: value("upper", &limit.upper)?,
        });
    }
    for deadline in &requirements.deadline {
        let entity = deadline.entity.get_ref();
        wanted.push(Wanted {
            name: deadline.name.clone().unwrap_or_else(|| format!("deadline of {entity}")),
            metric: "ResponseTime",
            entity: Some(entity),
            upper: Some(time("deadline", &deadline.deadline, 1)?),
            ..Wanted::default()
        });
    }
    for period in &requirements.period {
        let (distance, jitter) = (time("period", &period.period, 1)?, time("jitter", &period.jitter, 0)?);
        wanted.push(Wanted {
            name: period.name.clone().unwrap_or_else(|| format!("period of {}", period.entity)),
            metric: "ActivateToActivate",
            entity: Some(&period.entity),
            lower: Some(distance - jitter),
            upper: Some(distance + jitter),
            ..Wanted::default()
        });
    }
    for chain in &requirements.chain {
        let number = |most: Option<Count>| most.map(|count| f64::from(count.0));
        let time = |key: &str, bound: &Option<Spanned<Bound>>| {
            bound.as_ref().map(|bound| time(key, bound, 0)).transpose()
        };
        let bounds = [
            ("reaction", "ChainReaction", time("reaction", &chain.reaction)?),
            ("age", "ChainAge", time("age", &chain.age)?),
            ("lost", "ChainLost", number(chain.lost)),
            ("repeated", "ChainRepeated", number(chain.repeated)),
        ];
        let bounds = bounds.into_iter().filter(|(_, _, upper)| upper.is_some());
        wanted.extend(bounds.map(|(word, metric, upper)| {
            let (name, entity) =
                (format!("{word} of {}", chain.name.get_ref()), Some(&**chain.name.get_ref()));
            Wanted { name, metric, entity, is_of_chain: true, upper, ..Wanted::default() }
        }));
    }
    Ok(wanted)
}

/// The unit of a limit: that of the metric, or of the number of its samples.
fn unit_of(requirements: &Requirements, session: &Session, limit: &Limit) -> Result<Unit> {
    let Limit { metric: name, statistic, .. } = limit;
    if let Some(word) = statistic.as_ref().filter(|s| !STATISTICS.contains(&s.get_ref().as_str())) {
        let error = Error::usage(format!("there is no statistic '{}'", word.get_ref()));
        let error = error.hint_near(word.get_ref(), STATISTICS, |all| format!("the statistics are: {all}"));
        return Err(requirements.mistake(word, error));
    }
    let metric = session.queries().metric(name.get_ref()).map_err(|e| requirements.mistake(name, e))?;
    let is_count = statistic.as_ref().is_some_and(|statistic| statistic.get_ref() == "count");
    Ok(if is_count { Unit::Count } else { metric.unit })
}

/// A bound is text where the metric has no unit that could be written.
fn no_number(limit: &Limit, key: &str, text: &str, unit: Unit) -> Error {
    let what = match limit.statistic.as_ref().filter(|_| unit == Unit::Count) {
        Some(statistic) => format!("{} of {}", statistic.get_ref(), limit.metric.get_ref()),
        None => limit.metric.get_ref().clone(),
    };
    let is = if unit == Unit::Percent { "in percent" } else { "a number without a unit" };
    let digits = text.trim().trim_end_matches(|c: char| !c.is_ascii_digit());
    let number = if digits.parse::<f64>().is_ok() { digits } else { "60" };
    Error::input(format!("{what} is {is}, and '{text}' is no number")).hint(format!("write {key} = {number}"))
}
