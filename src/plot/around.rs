//! The window around the instance with the greatest or least sample of a metric. Not what is drawn in it.

use crate::engine::{Param, Session};
use crate::error::{Error, Result};
use crate::library::Unit;
use crate::metrics::{MetricFilter, summaries, why_absent};
use crate::picture::exact;
use crate::schema::result::{self, Fractions, Integers, Texts};
use crate::selection::Selection;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extreme {
    /// The greatest sample.
    Max,
    /// The least sample.
    Min,
}

/// `METRIC:ENTITY:max`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Around {
    pub metric: String,
    /// A task, ISR or runnable.
    pub entity: String,
    pub extreme: Extreme,
}

/// The window, and the instance in it.
pub(super) struct Found {
    pub from: i64,
    pub to: i64,
    /// The id of the row of the instance.
    pub row: String,
    pub begin: i64,
    pub end: i64,
    pub label: String,
}

impl Around {
    /// Parses `METRIC:ENTITY`, `METRIC:ENTITY:max` or `METRIC:ENTITY:min`; an entity may contain colons.
    ///
    /// # Errors
    /// Anything else.
    pub fn parse(text: &str) -> Result<Self> {
        let bad = || {
            Error::usage(format!("--around: '{text}' is not METRIC:ENTITY[:max|:min]"))
                .hint("e.g. --around ResponseTime:T_5:max")
        };
        let (metric, rest) = text.split_once(':').ok_or_else(bad)?;
        let (entity, extreme) = match rest.rsplit_once(':') {
            Some((entity, "max")) => (entity, Extreme::Max),
            Some((entity, "min")) => (entity, Extreme::Min),
            _ => (rest, Extreme::Max),
        };
        if metric.is_empty() || entity.is_empty() {
            return Err(bad());
        }
        Ok(Self { metric: metric.to_owned(), entity: entity.to_owned(), extreme })
    }
}

/// The instances of an entity that exist at an instant; those that begin then come first.
const LIVES: &str = "
    WITH life AS (
        SELECT process AS entity, type, instance, coalesce(activate_at, start_at) AS begin_at, start_at,
            terminate_at AS end_at
        FROM process_instance WHERE recording = $recording AND process = $entity
        UNION ALL
        SELECT runnable, 'R' AS type, instance, start_at AS begin_at, start_at AS started, terminate_at AS end_at
        FROM runnable_instance WHERE recording = $recording AND runnable = $entity
    )
    SELECT type, instance, coalesce(begin_at, $at) AS begin_at, coalesce(end_at, $last) AS end_at
    FROM life
    WHERE coalesce(begin_at, $at) <= $at AND coalesce(end_at, $last) >= $at
    ORDER BY coalesce(begin_at = $at OR start_at = $at, false) DESC, begin_at DESC
    LIMIT 1";

/// # Errors
/// [`crate::error::ErrorKind::Usage`] when there is no such metric or entity, or no sample.
pub(super) fn find(
    session: &Session,
    recording: &str,
    around: &Around,
    selection: &Selection,
    span: (i64, i64),
) -> Result<Found> {
    let metric = session.queries().metric(&around.metric)?;
    let filter = MetricFilter {
        recording: Some(recording.to_owned()),
        entity: Some(around.entity.clone()),
        from: selection.from,
        to: selection.to,
        ..MetricFilter::default()
    };
    let summary = summaries(session, std::slice::from_ref(&around.metric), &filter)?;
    let (value, at, word) = match around.extreme {
        Extreme::Max => ("max", "max_at", "greatest"),
        Extreme::Min => ("min", "min_at", "least"),
    };
    let none = || {
        let error = match why_absent(session, metric, &around.entity, &filter) {
            Ok(why) if summary.num_rows() == 0 => Error::usage(why),
            _ => Error::usage(format!("{} of {} has no sample with a time", metric.name, around.entity)),
        };
        error.hint("`btfdb metrics` shows which metrics have samples")
    };
    let (numbers, times): (Fractions, Integers) =
        (result::column(&summary, value)?, result::column(&summary, at)?);
    let entities: Texts = result::column(&summary, "entity")?;
    // An entity on several cores has several lines for some metrics.
    let row = (0..summary.num_rows())
        .filter(|row| times.get(*row).is_some())
        .max_by(|a, b| {
            let order = numbers.value(*a).total_cmp(&numbers.value(*b));
            if around.extreme == Extreme::Max { order } else { order.reverse() }
        })
        .ok_or_else(none)?;
    let at = times.value(row);
    // A handler that cores share has lines of each of them, with names of their own.
    let entity = entities.value(row);
    let value = numbers.value(row);
    let scale = session.database().time_scale();
    let (ticks, shown) = match metric.unit {
        // Samples are ticks: whole numbers as long as they are exact.
        Unit::Duration => (value as i64, exact(value as i64, scale)),
        Unit::Count => (0, format!("{value}")),
        Unit::Percent => (0, format!("{value} %")),
    };
    let params = [
        ("recording", Param::from(recording)),
        ("entity", Param::from(entity)),
        ("at", Param::from(at)),
        ("last", Param::from(span.1)),
    ];
    let mut life = None;
    for batch in session.sql(LIVES, &params)? {
        let batch = batch?;
        let (kind, [instance, begin, end]): (Texts, [Integers; 3]) = result::columns(&batch)?;
        if batch.num_rows() > 0 && life.is_none() {
            let kind = kind.value(0).to_owned();
            let (begin, end) = (begin.value(0), end.value(0));
            life = Some((kind, instance.get(0), begin, end));
        }
    }
    let (kind, instance, begin, end) = life.ok_or_else(none)?;
    let (begin, end) = (begin.min(at), end.max(at.saturating_add(ticks)));
    let (from, to) = with_margin((begin, end), end.saturating_sub(begin) / 4, span);
    let room = if kind == "I" { "isr" } else { "task" };
    let number = instance.map(|n| format!(", instance {n}")).unwrap_or_default();
    Ok(Found {
        from,
        to,
        row: format!("{room}:{entity}"),
        begin,
        end,
        label: format!("{word} {} of {entity}: {shown}{number}", metric.name),
    })
}

/// A window around a life, with a margin of at least one tick, within the recording or as far as the life.
pub(super) fn with_margin((begin, end): (i64, i64), margin: i64, span: (i64, i64)) -> (i64, i64) {
    let margin = margin.max(1);
    let from = begin.saturating_sub(margin).max(span.0.min(begin));
    let to = end.saturating_add(margin).min(span.1.saturating_add(1).max(end.saturating_add(1)));
    (from, to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_picture_can_be_around() {
        let of = |text| Around::parse(text).map(|a| (a.metric, a.entity, a.extreme));
        let expect = |metric: &str, entity: &str, extreme| (metric.to_owned(), entity.to_owned(), extreme);
        assert_eq!(of("ResponseTime:T_5").unwrap(), expect("ResponseTime", "T_5", Extreme::Max));
        assert_eq!(of("ResponseTime:T_5:min").unwrap(), expect("ResponseTime", "T_5", Extreme::Min));
        assert_eq!(of("RT:a:b:max").unwrap(), expect("RT", "a:b", Extreme::Max));
        for bad in ["ResponseTime", ":T", "RT:", ""] {
            assert_eq!(of(bad).unwrap_err().hints().len(), 1, "{bad}");
        }
    }
}
