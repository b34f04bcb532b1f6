//! The loads of cores over time → panels of a chart. Not other metrics (see `chart`), and not what a load is.

use std::collections::BTreeMap;

use super::natural::natural;
use crate::engine::{Param, Session};
use crate::error::Result;
use crate::picture::{Content, Measure, Panel, exact};
use crate::schema::result::{self, Fractions, Integers, Texts};
use crate::time::{available, united};

/// The load of a core in a window.
struct Step {
    begin: i64,
    end: i64,
    /// Percent of the time that is seen.
    load: f64,
    /// That time, in ticks; greater than 0.
    seen: f64,
}

/// A panel for each core that is chosen, and of which something is seen. Where nothing is, there is no step.
/// `window`: the length of one, in ticks; `None`: about a hundredth of the time.
pub(super) fn loads(
    session: &Session,
    recording: &str,
    window: Option<i64>,
    chosen: impl Fn(&str) -> bool,
    (from, to): (i64, i64),
    span: (i64, i64),
) -> Result<Vec<(String, Panel)>> {
    let window = window.unwrap_or_else(|| rounded(to.saturating_sub(from) / 100)).max(1);
    let params = [
        ("recording", Param::from(recording)),
        ("from", Param::from(from)),
        ("to", Param::from(to)),
        ("window", Param::from(window)),
        ("step", Param::from(window)),
    ];
    let sql = "SELECT core, begin_at, end_at, hidden, load FROM core_load
        WHERE recording = $recording AND process IS NULL AND begin_at >= $from AND end_at <= $to
        ORDER BY core, begin_at";
    let mut all: BTreeMap<String, Vec<Step>> = BTreeMap::new();
    // Windows begin at multiples of their length: what is left at the edges is a window of its own.
    let (first, last) = (from.max(span.0), to.min(span.1));
    let mut whole = (i64::MAX, i64::MIN);
    for batch in session.sql(sql, &params)? {
        let batch = batch?;
        let (cores, [begins, ends, hidden], loads): (Texts, [Integers; 3], Fractions) =
            result::columns(&batch)?;
        for row in 0..batch.num_rows() {
            let (core, begin, end) = (cores.value(row), begins.value(row), ends.value(row));
            if chosen(core) {
                whole = (whole.0.min(begin), whole.1.max(end));
                let steps = all.entry(core.to_owned()).or_default();
                let seen = window.saturating_sub(hidden.value(row)) as f64;
                steps.extend(loads.get(row).map(|load| Step { begin, end, load, seen }));
            }
        }
    }
    let whole = if whole.0 < whole.1 { whole } else { (last, last) };
    for (begin, end) in [(first, whole.0), (whole.1, last)] {
        if begin >= end {
            continue;
        }
        let mut occupied = occupied(session, recording, (begin, end))?;
        occupied.retain(|core, _| chosen(core));
        // A core on which nothing runs there is not in it.
        for core in all.keys() {
            occupied.entry(core.clone()).or_insert(0);
        }
        for (core, ticks) in occupied {
            let seen = available(&gaps(session, recording, &core)?, (begin, end), ticks) as f64;
            if seen > 0.0 {
                let load = 100.0 * ticks as f64 / seen;
                all.entry(core).or_default().push(Step { begin, end, load, seen });
            }
        }
    }
    all.retain(|_, steps| !steps.is_empty());
    all.values_mut().for_each(|steps| steps.sort_unstable_by_key(|step| step.begin));
    let scale = session.database().time_scale();
    let mut all: Vec<_> = all.into_iter().collect();
    all.sort_by(|a, b| natural(&a.0, &b.0));
    let panel = |(core, steps): (String, Vec<Step>)| {
        let peak = steps.iter().fold((from, f64::NEG_INFINITY), |peak, s| {
            if s.load > peak.1 { (s.begin, s.load) } else { peak }
        });
        let seen: f64 = steps.iter().map(|s| s.seen).sum();
        let mean = steps.iter().map(|s| s.load * s.seen).sum::<f64>() / seen.max(1.0);
        let tenth = |load: f64| (load * 10.0).round() / 10.0;
        let panel = Panel {
            title: format!("load of {core}"),
            summary: format!(
                "windows of {}, mean {} %, peak {} % at {}",
                exact(window, scale),
                tenth(mean),
                tenth(peak.1),
                exact(peak.0, scale)
            ),
            measure: Measure::Percent,
            content: Content::Steps {
                from,
                to,
                steps: steps.iter().map(|step| (step.begin, step.end, step.load)).collect(),
            },
        };
        (core, panel)
    };
    Ok(all.into_iter().map(panel).collect())
}

/// The ticks in which cores are occupied in a span that is no window of `core_load`, as that counts them.
fn occupied(session: &Session, recording: &str, (begin, end): (i64, i64)) -> Result<BTreeMap<String, i128>> {
    let sql = "SELECT core, sum(CASE WHEN idle THEN 0
            ELSE greatest(least(end_at, $to) - greatest(begin_at, $from), 0) END) AS occupied
        FROM process_state
        WHERE recording = $recording AND state IN ('running', 'polling') AND core IS NOT NULL
            AND begin_at < $to AND end_at > $from
        GROUP BY core";
    let params = [("recording", Param::from(recording)), ("from", begin.into()), ("to", end.into())];
    let mut all = BTreeMap::new();
    for batch in session.sql(sql, &params)? {
        let batch = batch?;
        let (cores, ticks): (Texts, Integers) = result::columns(&batch)?;
        let rows = 0..batch.num_rows();
        all.extend(rows.map(|row| (cores.value(row).to_owned(), i128::from(ticks.value(row)))));
    }
    Ok(all)
}

/// The gaps of a core, those of all cores included; what overlaps or adjoins is one.
fn gaps(session: &Session, recording: &str, core: &str) -> Result<Vec<(i64, i64)>> {
    let sql =
        "SELECT begin_at, end_at FROM gap WHERE recording = $recording AND (core IS NULL OR core = $core)";
    let mut gaps = Vec::new();
    for batch in session.sql(sql, &[("recording", recording.into()), ("core", core.into())])? {
        let batch = batch?;
        let [begins, ends]: [Integers; 2] = result::columns(&batch)?;
        gaps.extend((0..batch.num_rows()).map(|row| (begins.value(row), ends.value(row))));
    }
    united(&mut gaps);
    Ok(gaps)
}

/// The greatest 1, 2 or 5 times a power of ten that is not greater than `length`.
fn rounded(length: i64) -> i64 {
    let mut power = 1i64;
    while length / power >= 10 {
        power *= 10;
    }
    match length / power {
        5.. => 5 * power,
        2.. => 2 * power,
        _ => power,
    }
}

#[cfg(test)]
mod tests {
    use super::rounded;

    #[test]
    fn windows_are_round() {
        assert_eq!([0, 1, 4, 5, 19, 99, 100, 234].map(rounded), [1, 1, 2, 5, 10, 50, 100, 200]);
        assert_eq!(rounded(i64::MAX), 5_000_000_000_000_000_000);
    }
}
