//! `explain`: finds the instance that a metric is greatest for, or another one, and why its response took as
//! long as it did. Not how a response is cut into parts (see [`crate::explain`]), nor the text of it.

use crate::engine::{Param, ResultStream, Session};
use crate::error::{Error, Result};
use crate::library::{Metric, Unit};
use crate::metrics::{MetricFilter, why_absent};
use crate::schema::result::{Fractions, Integers, Texts, columns};
use arrow::array::RecordBatch;

mod causes;
mod instances;
mod lost;
mod path;
mod refused;
mod slow;
mod words;

pub(crate) use causes::{Causes, name_runnables, named};
pub use instances::instances;
pub use lost::{Lost, lost_activations};
pub use path::path;
pub use refused::check_metric;
use refused::{no_instance, no_instances, unknown};
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

/// The instance that was asked for, of these recordings, or of all of the session if there are none. Of equal
/// samples, that of the first recording, and in it of the first instance.
///
/// # Errors
/// [`crate::error::ErrorKind::Usage`] when there is no such metric, entity or instance, or no sample; those
/// of a query.
pub fn find(session: &Session, asked: &Asked, recordings: &[String]) -> Result<Chosen> {
    let metric = session.queries().metric(&asked.metric)?;
    let process = asked.entity.clone();
    if let Which::Number(instance) = asked.which {
        let recording = recording_of(session, asked, instance, recordings)?;
        return Ok(Chosen { recording, process, instance, sample: None, response: None });
    }
    if !metric.params.is_empty() {
        return Err(no_instances(metric));
    }
    let samples = Samples {
        session,
        metric,
        entity: &asked.entity,
        from: format!(
            "FROM ({}) WHERE entity = $entity AND value IS NOT NULL \
             AND (is_type(type, 'T') OR is_type(type, 'I')){}",
            metric.sql,
            among(recordings)
        ),
    };
    let is_response = metric.name == RESPONSE && metric.file.is_none();
    if is_response && let Some(chosen) = samples.extreme_response(asked.which, recordings)? {
        return Ok(chosen);
    }
    let (found, rank) = match asked.which {
        Which::Percentile(hundredths) => samples.at_percentile(hundredths)?,
        Which::Greatest => samples.first("value DESC", |count| count)?,
        Which::Least | Which::Number(_) => samples.first("value", |_| 1)?,
    };
    let batch = found.first().ok_or_else(|| no_instances(metric))?;
    let (recording, instance, value, at, count) =
        columns::<(Texts, Integers, Fractions, Integers, Integers)>(batch)?;
    let (metric, unit, value) = (metric.name.clone(), metric.unit, value.value(0));
    let response = at.get(0).filter(|_| metric == RESPONSE);
    let response = response.map(|begin| (begin, begin.saturating_add(value as i64)));
    let sample = Some(Sample { metric, value, unit, count: count.value(0), rank });
    let recording = recording.value(0).to_owned();
    Ok(Chosen { recording, process, instance: instance.value(0), sample, response })
}

/// The samples of a metric of an entity.
struct Samples<'a> {
    session: &'a Session,
    metric: &'a Metric,
    entity: &'a str,
    from: String,
}

impl Samples<'_> {
    /// The instance with the greatest or least response. Of all instances, only how long they were is read,
    /// and which one it is where it ends. `None` if there is none, or another one is asked for.
    fn extreme_response(&self, which: Which, recordings: &[String]) -> Result<Option<Chosen>> {
        let order = match which {
            Which::Greatest => "value DESC",
            Which::Least => "value",
            Which::Percentile(_) | Which::Number(_) => return Ok(None),
        };
        let first = |column: &str| format!("first_value({column} ORDER BY {order}, recording, at)");
        let [recording, value, at] = ["recording", "value", "at"].map(first);
        let found = self.ask(&format!(
            "SELECT {recording}, {value}, {at}, count(*) FROM (SELECT recording, entity, \
             terminate_at - activate_at AS value, activate_at AS at FROM process_metric_base WHERE complete) \
             WHERE entity = $entity AND value IS NOT NULL{}",
            among(recordings)
        ))?;
        let Some(batch) = found.first() else { return Ok(None) };
        let (recording, value, at, count) = columns::<(Texts, Integers, Integers, Integers)>(batch)?;
        let Some(((recording, length), begin)) = recording.get(0).zip(value.get(0)).zip(at.get(0)) else {
            return Ok(None);
        };
        let (recording, end) = (recording.to_owned(), begin.saturating_add(length));
        let params = [
            ("recording", Param::Text(recording.clone())),
            ("entity", Param::Text(self.entity.to_owned())),
            ("begin", Param::Int(begin)),
            ("end", Param::Int(end)),
        ];
        let statement = "SELECT min(instance) FROM process_instance WHERE recording = $recording \
             AND process = $entity AND activate_at = $begin AND terminate_at = $end AND complete";
        let found = rows(self.session, statement, &params)?;
        let instance = found.first().map(columns::<Integers>).transpose()?.and_then(|found| found.get(0));
        Ok(instance.map(|instance| Chosen {
            recording,
            process: self.entity.to_owned(),
            instance,
            sample: Some(Sample {
                metric: self.metric.name.clone(),
                value: length as f64,
                unit: self.metric.unit,
                count: count.value(0),
                rank: if which == Which::Least { 1 } else { count.value(0) },
            }),
            response: Some((begin, end)),
        }))
    }

    /// Recording, instance, value and time of the first one in an order, and how many there are, in one pass;
    /// and its rank.
    fn first(&self, order: &str, rank: impl FnOnce(i64) -> i64) -> Result<(Vec<RecordBatch>, i64)> {
        let first = |column: &str| format!("first_value({column} ORDER BY {order}, recording, instance)");
        let [recording, instance, value, at] = ["recording", "instance", "value", "at"].map(first);
        let found =
            self.ask(&format!("SELECT {recording}, {instance}, {value}, {at}, count(*) {}", self.from))?;
        let count = match found.first() {
            Some(batch) => columns::<(Texts, Integers, Fractions, Integers, Integers)>(batch)?.4.value(0),
            None => 0,
        };
        if count == 0 { Err(self.absent()?) } else { Ok((found, rank(count))) }
    }

    /// As [`Self::first`], the one at a percentile.
    fn at_percentile(&self, hundredths: u16) -> Result<(Vec<RecordBatch>, i64)> {
        let counted = self.ask(&format!("SELECT count(*) {}", self.from))?;
        let count =
            counted.first().map_or(Ok(0), |batch| columns::<Integers>(batch).map(|count| count.value(0)))?;
        if count == 0 {
            return Err(self.absent()?);
        }
        // By nearest rank: at least that share of the samples is not greater.
        let rank = (i128::from(hundredths) * i128::from(count) + 9_999) / 10_000;
        let rank = i64::try_from(rank).unwrap_or(count).clamp(1, count);
        let found = self.ask(&format!(
            "SELECT recording, instance, value, at, CAST({count} AS BIGINT) {} \
             ORDER BY value, recording, instance LIMIT 1 OFFSET {}",
            self.from,
            rank - 1
        ))?;
        Ok((found, rank))
    }

    fn ask(&self, statement: &str) -> Result<Vec<RecordBatch>> {
        let params = [("entity", Param::Text(self.entity.to_owned()))];
        match rows(self.session, statement, &params) {
            Err(_) if !self.metric.sql.contains("instance") => Err(no_instances(self.metric)),
            found => found,
        }
    }

    /// Why there is no sample.
    fn absent(&self) -> Result<Error> {
        if let Some(error) = unknown(self.session, self.entity)? {
            return Ok(error);
        }
        let filter = MetricFilter { entity: Some(self.entity.to_owned()), ..MetricFilter::default() };
        Ok(Error::usage(why_absent(self.session, self.metric, self.entity, &filter)?)
            .hint("`btfdb metrics` shows which metrics have samples"))
    }
}

/// The only recording that has an instance of that number. Of one recording, [`parts`] sees whether it has.
fn recording_of(session: &Session, asked: &Asked, instance: i64, recordings: &[String]) -> Result<String> {
    let all = session.database().recordings()?;
    match (recordings, all) {
        ([name], _) => return Ok(name.clone()),
        ([], [only]) => return Ok(only.name.clone()),
        _ => {}
    }
    let names = with_instance(session, &asked.entity, instance, recordings)?;
    match names.as_slice() {
        [name] => Ok(name.clone()),
        [] => Err(no_instance(session, &asked.entity, instance)?),
        _ => Err(Error::usage(format!("several recordings have an instance {instance} of {}", asked.entity))
            .hint("--recording NAME chooses one")),
    }
}

/// The recordings that have an instance of that number, two at most.
fn with_instance(
    session: &Session,
    entity: &str,
    instance: i64,
    recordings: &[String],
) -> Result<Vec<String>> {
    let params = [("entity", Param::Text(entity.to_owned())), ("instance", Param::Int(instance))];
    let of = format!("FROM process_instance WHERE process = $entity{}", among(recordings));
    let found = rows(session, &format!("SELECT recording {of} AND instance = $instance LIMIT 2"), &params)?;
    let mut names = Vec::new();
    for batch in &found {
        names.extend(columns::<Texts>(batch)?.iter().flatten().map(str::to_owned));
    }
    Ok(names)
}

/// A condition for these recordings, in SQL; none for all.
fn among(recordings: &[String]) -> String {
    if recordings.is_empty() {
        return String::new();
    }
    let quoted: Vec<String> =
        recordings.iter().map(|name| format!("'{}'", name.replace('\'', "''"))).collect();
    format!(" AND recording IN ({})", quoted.join(", "))
}

/// The parts of the response of an instance, in order: rows of view `response_part`, and which of their
/// columns hold times.
///
/// # Errors
/// [`crate::error::ErrorKind::Usage`] when there is no such instance, or it is not complete; those of a
/// query.
pub fn parts(session: &Session, chosen: &Chosen) -> Result<(Vec<RecordBatch>, Vec<bool>)> {
    if let Some((begin, end)) = chosen.response {
        let found = parts_where(session, chosen, &format!(" AND begin_at >= {begin} AND end_at <= {end}"))?;
        // A metric of the user may have the name of another one.
        if span(&found.0)? == Some((begin, end)) {
            return Ok(found);
        }
    }
    let found = parts_where(session, chosen, "")?;
    if !found.0.is_empty() {
        return Ok(found);
    }
    let recording = std::slice::from_ref(&chosen.recording);
    if with_instance(session, &chosen.process, chosen.instance, recording)?.is_empty() {
        return Err(no_instance(session, &chosen.process, chosen.instance)?);
    }
    Err(Error::usage(format!("instance {} of {} is not complete", chosen.instance, chosen.process))
        .hint("the recording, or a gap of it, cuts its response off: nobody knows how long that was"))
}

fn parts_where(session: &Session, chosen: &Chosen, and: &str) -> Result<(Vec<RecordBatch>, Vec<bool>)> {
    let params = [
        ("recording", Param::Text(chosen.recording.clone())),
        ("process", Param::Text(chosen.process.clone())),
        ("instance", Param::Int(chosen.instance)),
    ];
    let statement = format!(
        "SELECT * FROM response_part \
         WHERE recording = $recording AND process = $process AND instance = $instance{and} ORDER BY part"
    );
    let parts = session.sql(&statement, &params)?;
    let times = parts.times().to_vec();
    Ok((some(parts)?, times))
}

/// The first begin and the last end of rows of view `response_part`; `None` if there are none.
pub(crate) fn span(rows: &[RecordBatch]) -> Result<Option<(i64, i64)>> {
    let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return Ok(None) };
    let Some(row) = last.num_rows().checked_sub(1) else { return Ok(None) };
    Ok(Some((Parts::of(first)?.span(0).0, Parts::of(last)?.span(row).1)))
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
