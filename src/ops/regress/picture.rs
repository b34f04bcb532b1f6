//! What changed, as a picture: the distribution of each metric and entity before and after. Not whether
//! something changed (see [`crate::regress`]), nor how it is drawn.

use super::report::Report;
use super::{Names, metric};
use crate::engine::{Param, Session};
use crate::error::Result;
use crate::library::Metric;
use crate::picture::{Chart, Content, Measure, Panel, Shares};
use crate::schema::result::{Integers, columns};
use crate::time::{TimeScale, format_duration};

/// So many metrics of entities are drawn.
const MOST_PANELS: usize = 24;
/// Between two points of a curve is at least this share of the samples: less is not seen.
const STEP: f64 = 0.0025;

/// The distributions of each metric and entity of which a statistic changed, those that fail the gate first.
///
/// # Errors
/// Those of a query.
pub fn picture(before: &Session, after: &Session, report: &Report) -> Result<Chart> {
    let scale = before.database().time_scale();
    let mut changed: Vec<(&str, Names, bool, [u64; 2])> = Vec::new();
    for row in report.rows.iter().filter(|row| row.verdict == "changed") {
        let names = Names { entity: row.entity.clone(), kind: row.kind.clone() };
        match changed.iter_mut().find(|(metric, of, ..)| *metric == row.metric && *of == names) {
            Some((_, _, fails, _)) => *fails |= row.fails,
            None => {
                changed.push((row.metric.as_str(), names, row.fails, [row.count_before, row.count_after]))
            }
        }
    }
    changed.sort_by_key(|(_, _, fails, _)| !fails);
    let mut panels = Vec::new();
    for (name, names, _, counts) in changed.iter().take(MOST_PANELS) {
        let metric = metric(before, name)?;
        let [first, second] = *counts;
        let sides = [shares(before, metric, names, first)?, shares(after, metric, names, second)?];
        panels.push(panel(metric, names, *counts, sides, scale));
    }
    let mut notes = vec![format!("Of {} statistics, {}.", report.rows.len(), report.verdicts())];
    if changed.is_empty() {
        notes.push("Nothing changed for sure: there is nothing to draw.".to_owned());
    } else if changed.len() > MOST_PANELS {
        notes.push(format!(
            "{MOST_PANELS} of {} changes are drawn; choose others with --entity.",
            changed.len()
        ));
    }
    Ok(Chart {
        title: format!("{} → {}", side(&report.before), side(&report.after)),
        description:
            "Which share of the samples is at most a value, before and after, of all recordings of a \
                      side together."
                .to_owned(),
        scale,
        panels,
        notes,
    })
}

/// The recordings of a side.
fn side(names: &[String]) -> String {
    match names {
        [one] => one.clone(),
        [first, ..] => format!("{first} and {} more", names.len() - 1),
        [] => String::new(),
    }
}

fn panel(
    metric: &Metric,
    names: &Names,
    [before, after]: [u64; 2],
    sides: [Shares; 2],
    scale: TimeScale,
) -> Panel {
    let medians = [sides[0].median, sides[1].median];
    let [first, second] = medians.map(|median| format_duration(median.round() as i64, scale));
    Panel {
        title: format!("{} of {}", metric.name, names.entity),
        summary: format!("median {first} before, {second} after; {before} and {after} samples"),
        measure: Measure::Time,
        content: Content::Shares(sides),
    }
}

/// The distribution of `count` samples, and their median.
fn shares(session: &Session, metric: &Metric, names: &Names, count: u64) -> Result<Shares> {
    let sql = format!(
        "SELECT value, count(*) AS samples FROM (\n{}\n) AS sample \
         WHERE value IS NOT NULL AND entity = $entity AND type = $type GROUP BY value ORDER BY value",
        metric.sql
    );
    let params = [("entity", Param::from(names.entity.as_str())), ("type", Param::from(names.kind.as_str()))];
    let mut curve = Curve { count, ..Curve::default() };
    for batch in session.sql(&sql, &params)? {
        let batch = batch?;
        let [values, samples]: [Integers; 2] = columns(&batch)?;
        for row in 0..batch.num_rows() {
            curve.add(values.value(row), samples.value(row).unsigned_abs());
        }
    }
    Ok(curve.finish())
}

/// A distribution, while its values come in ascending order.
#[derive(Default)]
struct Curve {
    count: u64,
    seen: u64,
    median: Option<f64>,
    points: Vec<(f64, f64)>,
    /// The last value, if it is no point.
    open: Option<(f64, f64)>,
}

impl Curve {
    fn add(&mut self, value: i64, samples: u64) {
        self.seen = self.seen.saturating_add(samples);
        let (value, share) = (value as f64, (self.seen as f64 / self.count.max(1) as f64).min(1.0));
        if self.seen.saturating_mul(2) >= self.count {
            self.median.get_or_insert(value);
        }
        let last = self.points.last().map_or(f64::NEG_INFINITY, |(_, share)| *share);
        self.open = if share - last >= STEP {
            self.points.push((value, share));
            None
        } else {
            Some((value, share))
        };
    }

    fn finish(mut self) -> Shares {
        self.points.extend(self.open);
        Shares { median: self.median.unwrap_or_default(), points: self.points }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(values: impl Iterator<Item = i64>, count: u64) -> Shares {
        let mut curve = Curve { count, ..Curve::default() };
        values.for_each(|value| curve.add(value, 1));
        curve.finish()
    }

    #[test]
    fn many_values_are_few_points_that_end_at_one() {
        let shares = curve(0..100_000, 100_000);
        assert!(shares.points.len() <= 402, "{}", shares.points.len());
        assert_eq!(shares.points.last(), Some(&(99_999.0, 1.0)));
        assert_eq!(shares.median, 49_999.0);
        for (value, share) in &shares.points {
            assert!((share - (value + 1.0) / 100_000.0).abs() < 1e-12);
        }
    }

    #[test]
    fn few_values_are_all_points() {
        assert_eq!(curve([3, 5, 9].into_iter(), 3).points.len(), 3);
        assert_eq!(curve([3, 5, 9].into_iter(), 3).median, 5.0);
        assert_eq!(curve(std::iter::empty(), 0), Shares::default());
    }
}
