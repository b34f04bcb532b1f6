//! Finds the instance that is asked for: the one with the greatest sample of a metric, or another one. Not
//! the parts of its response (see `parts`).

use super::extreme::{Extreme, extreme};
use super::refused::{no_instance, no_instances, unknown};
use super::{Asked, Chosen, RESPONSE, Sample, Which, rows};
use crate::engine::{Param, Session};
use crate::error::{Error, Result};
use crate::library::Metric;
use crate::metrics::{MetricFilter, why_absent};
use crate::schema::result::{Fractions, Integers, Texts, columns};
use crate::sql_text::literals;
use arrow::array::RecordBatch;

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
    /// The instance with the greatest or least response. `None` if none is complete, or another is asked for.
    fn extreme_response(&self, which: Which, recordings: &[String]) -> Result<Option<Chosen>> {
        let found = extreme(self.session, self.entity, which, recordings)?;
        let Some(Extreme { recording, span: (begin, end), count }) = found else { return Ok(None) };
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
                value: end.saturating_sub(begin) as f64,
                unit: self.metric.unit,
                count,
                rank: if which == Which::Least { 1 } else { count },
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

/// The only recording that has an instance of that number. Of one recording, [`super::parts()`]
/// sees whether it has.
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
pub(super) fn with_instance(
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
    format!(" AND recording IN ({})", literals(recordings))
}
