//! What makes the slow responses of a process slow, as text. Not how it is found (see view `slow_part`).

use super::one_unit::OneUnit;
use crate::error::Result;
use crate::ops::explain::{Causes, name_runnables};
use crate::picture;
use crate::render::{line, widths};
use crate::schema::result::{Fractions, Integers, Texts, column};
use crate::time::TimeScale;
use arrow::array::RecordBatch;
use std::fmt::Write as _;

/// Kinds of parts that make less of the difference, in percent, are summed up.
const LEAST: f64 = 0.1;
const HEADER: [&str; 5] = ["share", "longer by", "typical", "slow", ""];

/// The kinds of parts of a process in one recording.
#[derive(Default)]
struct Compared {
    recording: String,
    /// Sums of the mean times per response, in ticks.
    typical: i64,
    slow: i64,
    /// How many responses are compared.
    typical_count: i64,
    slow_count: i64,
    kinds: Vec<Kind>,
}

struct Kind {
    what: String,
    typical: i64,
    slow: i64,
    difference: i64,
    share: Option<f64>,
}

/// Rows of view `slow_part` of `process`: the recordings one after the other, in each the greatest difference
/// first.
pub(super) fn text(process: &str, rows: &[RecordBatch], scale: TimeScale) -> Result<String> {
    let mut all: Vec<Compared> = Vec::new();
    let named_runnables = name_runnables(rows)?;
    for batch in rows {
        let (recording, mut causes): (Texts, _) = (column(batch, "recording")?, Causes::of(batch)?);
        causes.is_outside_named = named_runnables;
        let [typical, slow, difference, typical_count, slow_count]: [Integers; 5] = [
            column(batch, "typical")?,
            column(batch, "slow")?,
            column(batch, "difference")?,
            column(batch, "typical_responses")?,
            column(batch, "slow_responses")?,
        ];
        let share: Fractions = column(batch, "share")?;
        for row in 0..batch.num_rows() {
            if all.last().is_none_or(|last| last.recording != recording.value(row)) {
                all.push(Compared {
                    recording: recording.value(row).to_owned(),
                    typical_count: typical_count.value(row),
                    slow_count: slow_count.value(row),
                    ..Compared::default()
                });
            }
            let Some(last) = all.last_mut() else { continue };
            last.typical = last.typical.saturating_add(typical.value(row));
            last.slow = last.slow.saturating_add(slow.value(row));
            last.kinds.push(Kind {
                what: causes.sentence(row, process, false),
                typical: typical.value(row),
                slow: slow.value(row),
                difference: difference.value(row),
                share: share.get(row),
            });
        }
    }
    let texts: Vec<String> = all.iter().map(|one| of_recording(process, one, scale)).collect();
    Ok(texts.join("\n"))
}

fn of_recording(process: &str, all: &Compared, scale: TimeScale) -> String {
    let time = |ticks| picture::exact(ticks, scale);
    let Compared { recording, typical, slow, typical_count, slow_count, kinds } = all;
    let mut out = format!(
        "{recording}: slow responses of {process} take {} on average, {} longer than typical ones, which take {}.\n",
        time(*slow),
        time(slow.saturating_sub(*typical)),
        time(*typical)
    );
    // Writing to a text does not fail.
    let _ = writeln!(
        out,
        "Slow: the longest twentieth, at least one, here {}. Typical: those whose rank by length is above 25 % and up \
         to 75 % of all, here {}.\n",
        responses(*slow_count),
        responses(*typical_count)
    );
    let (shown, few): (Vec<&Kind>, Vec<&Kind>) =
        kinds.iter().partition(|kind| kind.share.is_none_or(|share| share.abs() >= LEAST));
    let sign = |ticks: i64| if ticks > 0 { "+" } else { "" };
    let unit = OneUnit::of(shown.iter().flat_map(|kind| [kind.difference, kind.typical, kind.slow]), scale);
    let cells = |kind: &&Kind| {
        let share = kind.share.map_or("-".to_owned(), |share| format!("{share:.1} %"));
        let longer = format!("{}{}", sign(kind.difference), unit.text(kind.difference));
        [share, longer, unit.text(kind.typical), unit.text(kind.slow), kind.what.clone()]
    };
    let mut table = vec![HEADER.map(str::to_owned)];
    table.extend(shown.iter().map(cells));
    let widths = widths(&table);
    for row in &table {
        out.push_str("  ");
        line(&mut out, row, &widths, &[true, true, true, true, false]);
    }
    if !few.is_empty() {
        let sum = few.iter().fold(0_i64, |sum, kind| sum.saturating_add(kind.difference));
        let sum = format!("{}{}", sign(sum), time(sum));
        let _ = match few.len() {
            1 => writeln!(out, "\nOne other kind of parts makes less than {LEAST} %: {sum}."),
            n => writeln!(out, "\n{n} other kinds of parts make less than {LEAST} % each: {sum} together."),
        };
    }
    out
}

fn responses(count: i64) -> String {
    if count == 1 { "1 response".to_owned() } else { format!("{count} responses") }
}
