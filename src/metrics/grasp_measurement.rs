//! The measurement table of Grasp: worst, average and best execution and response times of every task, named
//! as in its paper (Holenderski et al., WATERS 2010, figure 6). Not what a job is (`measured_job`).

use super::filter::MetricFilter;
use super::known::{check_entity, is_of};
use crate::engine::{Param, Session};
use crate::error::{Error, ErrorKind, Result};
use crate::render::SHOWN_NULL;
use crate::schema::result::{self, Integers, Texts};
use crate::schema::tables;
use crate::selection::pattern;
use crate::time::{TimeScale, format_duration};
use arrow::array::{ArrayRef, Decimal128Array, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema};
use std::collections::HashMap;
use std::sync::Arc;

/// The name of the table in the list of metrics.
pub const MEASUREMENT: &str = "grasp";

/// The sums, in ticks of the database; averages are sums divided by the number of jobs.
pub const MEASUREMENT_SQL: &str = "\
SELECT
    recording,
    task,
    count(execution) AS jobs,
    max(execution) AS wcet,
    CAST(sum(CAST(execution AS DECIMAL(38, 0))) AS VARCHAR) AS execution,
    min(execution) AS bcet,
    max(response) AS wcrt,
    CAST(sum(CAST(response AS DECIMAL(38, 0))) AS VARCHAR) AS response,
    min(response) AS bcrt
FROM measured_job
WHERE ($recording IS NULL OR recording = $recording)
    AND ($entity IS NULL OR regexp_like(task, CAST($entity AS VARCHAR)))
    AND ($from IS NULL OR at >= $from)
    AND ($to IS NULL OR at < $to)
GROUP BY recording, task, type
ORDER BY recording, type DESC, task
";

/// Digits after the decimal point.
const DECIMALS: u32 = 3;
const PRECISION: u8 = 38;
struct Line {
    recording: String,
    task: String,
    jobs: i64,
    /// WCET, ACET, BCET, WCRT, ACRT, BCRT, in thousandths of a tick of the recording.
    values: [Option<i128>; 6],
}

/// WCET, ACET, BCET, WCRT, ACRT, BCRT of every task and ISR, with their number of jobs and the unit: a tick
/// of the trace if it has ticks, else a tick of the database. Only jobs with arrival and completion count; a
/// task without any has no times. Tasks are in the order of their priorities, if the trace has these.
/// Averages are rounded to three decimals, half to even.
///
/// With a unit, all times are in that, and their averages have three decimals more than ticks of the
/// database need. The filter selects jobs by their arrival; windows are ignored.
pub fn measurement(session: &Session, filter: &MetricFilter, unit: Option<TimeScale>) -> Result<RecordBatch> {
    session.database().check_recording(filter.recording.as_deref())?;
    session.database().check_window(filter.recording.as_deref(), filter.from, filter.to)?;
    let scale = session.database().time_scale();
    // In a unit, values are counted in ticks of the database first.
    let (ticks, digits) = match unit {
        Some(unit) => (HashMap::new(), i64::from(scale.decimals()) - i64::from(unit.decimals())),
        None => (ticks(session)?, 0),
    };
    let finer = 10i128.pow(digits.min(0).unsigned_abs() as u32);
    let mut lines = measured(session, filter, &ticks)?;
    let priorities = priorities(session)?;
    let priority = |line: &Line| {
        let known = priorities.get(&line.recording).and_then(|of| of.get(&line.task));
        known.copied().unwrap_or(i64::MAX)
    };
    // Stable: tasks without a priority keep their order, after the others.
    lines.sort_by(|a, b| (&a.recording, priority(a)).cmp(&(&b.recording, priority(b))));
    if let Some(list) = &filter.entity {
        check_entity(session, filter.recording.as_deref(), list, |word| {
            lines.iter().any(|line| is_of(word, &line.task))
        })?;
    }
    let units = lines.iter().map(|line| match (unit, ticks.get(&line.recording)) {
        (Some(unit), _) => unit.as_str().to_owned(),
        (None, Some(tick)) => format_duration(*tick, scale),
        (None, None) => format_duration(1, scale),
    });
    let shown = HashMap::from([(SHOWN_NULL.to_owned(), "-".to_owned())]);
    let mut fields =
        vec![Field::new("recording", DataType::Utf8, false), Field::new("task", DataType::Utf8, false)];
    let mut arrays: Vec<ArrayRef> = vec![
        Arc::new(StringArray::from_iter_values(lines.iter().map(|l| &l.recording))),
        Arc::new(StringArray::from_iter_values(lines.iter().map(|l| &l.task))),
    ];
    for (n, name) in ["WCET", "ACET", "BCET", "WCRT", "ACRT", "BCRT"].into_iter().enumerate() {
        let ty = DataType::Decimal128(PRECISION, DECIMALS as i8 + digits.max(0) as i8);
        let in_unit = |value: i128| value.checked_mul(finer);
        let values = lines.iter().map(|l| l.values.get(n).copied().flatten().and_then(in_unit));
        let array = values.collect::<Decimal128Array>().with_data_type(ty.clone());
        fields.push(Field::new(name, ty, true).with_metadata(shown.clone()));
        arrays.push(Arc::new(array));
    }
    fields.push(Field::new("jobs", DataType::Int64, false));
    arrays.push(Arc::new(Int64Array::from_iter_values(lines.iter().map(|l| l.jobs))));
    fields.push(Field::new("unit", DataType::Utf8, false));
    arrays.push(Arc::new(StringArray::from_iter_values(units)));
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
        .map_err(|e| Error::new(ErrorKind::Bug, "the measurement table has uneven columns").because(e))
}

/// The priorities of tasks in Grasp traces, by recording and name or id; a lower number comes first.
fn priorities(session: &Session) -> Result<HashMap<String, HashMap<String, i64>>> {
    let mut priorities: HashMap<String, HashMap<String, i64>> = HashMap::new();
    if session.database().rows(tables::GRASP_EVENT) == 0 {
        return Ok(priorities);
    }
    let sql = "SELECT recording, task, name, priority FROM grasp_event \
               WHERE command = 'newTask' AND priority IS NOT NULL ORDER BY recording, seq";
    for batch in session.sql(sql, &[])? {
        let ([recording, id, name], priority): ([Texts; 3], Integers) = result::columns(&batch?)?;
        for row in 0..priority.len() {
            let of = priorities.entry(recording.value(row).to_owned()).or_default();
            for name in [id.get(row), name.get(row)].into_iter().flatten() {
                of.insert(name.to_owned(), priority.value(row));
            }
        }
    }
    Ok(priorities)
}

/// Ticks of the database per tick of the trace of a recording; `None` for traces without ticks of their own.
pub(crate) fn tick_of(session: &Session, recording: &str) -> Result<Option<i64>> {
    Ok(ticks(session)?.get(recording).copied())
}

/// Ticks of the database per tick of the trace, by recording, for traces with ticks of their own.
fn ticks(session: &Session) -> Result<HashMap<String, i64>> {
    let mut ticks = HashMap::new();
    for batch in session.sql("SELECT recording, tick FROM recording WHERE tick > 0", &[])? {
        let (names, values): (Texts, Integers) = result::columns(&batch?)?;
        let names = names.iter().map(|name| name.unwrap_or_default().to_owned());
        ticks.extend(names.zip(values.values().iter().copied()));
    }
    Ok(ticks)
}

fn measured(session: &Session, filter: &MetricFilter, ticks: &HashMap<String, i64>) -> Result<Vec<Line>> {
    let text = |text: &Option<String>| text.as_deref().map_or(Param::Null, Param::from);
    let time = |at: Option<i64>| at.map_or(Param::Null, Param::from);
    let params = [
        ("recording", text(&filter.recording)),
        ("entity", text(&filter.entity.as_deref().map(pattern::regex))),
        ("from", time(filter.from)),
        ("to", time(filter.to)),
    ];
    let mut lines = Vec::new();
    for batch in session.sql(MEASUREMENT_SQL, &params)? {
        // Sums may have more digits than an integer.
        let ([recording, task], jobs, sums): ([Texts; 2], Integers, [Texts; 6]) = result::columns(&batch?)?;
        for row in 0..jobs.len() {
            let recording = recording.value(row).to_owned();
            let tick = i128::from(ticks.get(&recording).copied().unwrap_or(1));
            let jobs = jobs.value(row);
            let mut values = [None; 6];
            for (n, (value, column)) in values.iter_mut().zip(&sums).enumerate() {
                let number = column.get(row).and_then(|digits| digits.parse().ok());
                // The average is the second value of both groups.
                let divisor = if n % 3 == 1 { tick * i128::from(jobs) } else { tick };
                *value = number.and_then(|number| thousandths(number, divisor));
            }
            lines.push(Line { recording, task: task.value(row).to_owned(), jobs, values });
        }
    }
    Ok(lines)
}

/// `number / divisor` in thousandths, rounded half to even; `None` when it does not fit or the divisor is 0.
fn thousandths(number: i128, divisor: i128) -> Option<i128> {
    let number = number.checked_mul(10i128.pow(DECIMALS))?;
    let (quotient, rest) = (number.checked_div_euclid(divisor)?, number.checked_rem_euclid(divisor)?);
    let other_half = divisor.checked_sub(rest)?;
    let up = rest > other_half || (rest == other_half && quotient % 2 != 0);
    Some(quotient + i128::from(up))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::tests::fixture::engine;
    use crate::render::{Format, render};

    #[test]
    fn quotients_are_rounded_half_to_even() {
        assert_eq!(thousandths(28, 9), Some(3111));
        assert_eq!(thousandths(2, 3), Some(667));
        assert_eq!((thousandths(1, 2000), thousandths(3, 2000)), (Some(0), Some(2)));
        assert_eq!(thousandths(-3, 2), Some(-1500));
        assert_eq!((thousandths(1, 0), thousandths(i128::MAX, 1)), (None, None));
    }

    fn shown(format: Format, filter: &MetricFilter) -> String {
        let (_dir, session) = engine(&["r"]);
        let table = measurement(&session, filter, None).unwrap();
        let mut out = Vec::new();
        let schema = table.schema();
        render(&schema, &mut std::iter::once(Ok(table)), format, &mut out, None, 1).unwrap();
        String::from_utf8(out).unwrap()
    }

    /// Of `T_1`, three of four instances are complete: 30, 15 and 20 ticks of execution, 50, 25, 50 of
    /// response.
    #[test]
    fn only_complete_jobs_count() {
        let csv = shown(Format::Csv, &MetricFilter::default());
        let lines: Vec<_> = csv.lines().collect();
        assert_eq!(lines[0], "recording,task,WCET,ACET,BCET,WCRT,ACRT,BCRT,jobs,unit");
        assert_eq!(lines[1], "r,T_1,30.000,21.667,15.000,50.000,41.667,25.000,3,1 ns", "{csv}");
        let late = MetricFilter { from: Some(300), ..MetricFilter::default() };
        assert_eq!(shown(Format::Csv, &late).lines().nth(1), Some("r,T_1,,,,,,,0,1 ns"));
        let table = shown(Format::Table, &late);
        let cells: Vec<_> = table.lines().nth(2).unwrap().split_whitespace().collect();
        assert_eq!(cells, ["r", "T_1", "-", "-", "-", "-", "-", "-", "0", "1", "ns"], "{table}");
        let other = MetricFilter { recording: Some("s".into()), ..MetricFilter::default() };
        let (_dir, session) = engine(&["r"]);
        assert!(measurement(&session, &other, None).is_err());
        let in_unit = |unit| {
            let table = measurement(&session, &MetricFilter::default(), Some(unit)).unwrap();
            let (mut out, schema) = (Vec::new(), table.schema());
            render(&schema, &mut std::iter::once(Ok(table)), Format::Csv, &mut out, None, 1).unwrap();
            String::from_utf8(out).unwrap().lines().nth(1).unwrap().to_owned()
        };
        assert!(in_unit(TimeScale::Us).starts_with("r,T_1,0.030000,0.021667,0.015000,0.050000,"));
        assert!(in_unit(TimeScale::Us).ends_with(",3,us"));
        assert!(in_unit(TimeScale::Ps).starts_with("r,T_1,30000.000,21667.000,15000.000,"));
    }
}
