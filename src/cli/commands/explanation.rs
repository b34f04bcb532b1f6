//! The parts of a response as text that reads like sentences. Not how they are found (see `ops::explain`).

use crate::error::Result;
use crate::ops::explain::{Chosen, Lost, Parts, RESPONSE, named, ranked};
use crate::picture::{State, exact};
use crate::time::TimeScale;
use arrow::array::RecordBatch;
use std::collections::HashMap;
use std::fmt::Write as _;

/// So many parts are listed; of more, the longest.
const MOST: usize = 60;

/// A part, and what it is in words.
struct Line {
    begin: i64,
    length: i64,
    what: String,
    /// The same without the numbers of instances.
    cause: String,
    state: State,
}

/// The rows of view `response_part` of one response, in order, and the activations of its process that were
/// lost meanwhile.
pub(super) fn text(chosen: &Chosen, rows: &[RecordBatch], lost: &[Lost], scale: TimeScale) -> Result<String> {
    let mut lines = Vec::new();
    let (mut activated_by, mut unexplained) = (None, 0_u64);
    for batch in rows {
        let parts = Parts::of(batch)?;
        for row in 0..batch.num_rows() {
            let (begin, end) = parts.span(row);
            let [what, cause] =
                [true, false].map(|numbers| parts.causes.sentence(row, &chosen.process, numbers));
            let (length, state) = (end.saturating_sub(begin), parts.causes.state(row));
            lines.push(Line { begin, length, what, cause, state });
            unexplained += u64::from(parts.causes.is_unexplained(row));
        }
        activated_by = activated_by.or_else(|| parts.activator());
    }
    let (Some(first), Some(last)) = (lines.first(), lines.last()) else { return Ok(String::new()) };
    let (begin, end) = (first.begin, last.begin.saturating_add(last.length));
    let length = end.saturating_sub(begin);
    let mut out = format!(
        "{}: {} took {}, from {} to {}",
        chosen.recording,
        named(&chosen.process, Some(chosen.instance)),
        exact(length, scale),
        exact(begin, scale),
        exact(end, scale)
    );
    // Writing to a text does not fail.
    let _ = match activated_by {
        Some(by) => writeln!(out, ", activated by {by}."),
        None => writeln!(out, "."),
    };
    let _ = writeln!(out, "{}", totals(&lines));
    if let Some(sample) = &chosen.sample {
        let _ = writeln!(out, "{}", ranked(sample, scale));
    }
    if let Some(first) = lost.first() {
        let after = exact(first.at.saturating_sub(begin), scale);
        let by = first.by.as_ref().map(|by| format!(", by {by}")).unwrap_or_default();
        let _ = match lost.len() {
            1 => writeln!(out, "Meanwhile an activation of {} was lost: after {after}{by}.", chosen.process),
            n => writeln!(
                out,
                "Meanwhile {n} activations of {} were lost: the first after {after}{by}.",
                chosen.process
            ),
        };
    }
    let is_other = chosen.sample.as_ref().is_some_and(|sample| sample.metric != RESPONSE);
    let _ = match is_other {
        // What is made of parts is not what the metric measures.
        true => writeln!(out, "\nThe whole response ({}) is made of:", exact(length, scale)),
        false => writeln!(out, "\nWhat it is made of:"),
    };
    summary(&mut out, &lines, length, scale);
    in_order(&mut out, &lines, begin, scale);
    if unexplained > 0 {
        let parts = if unexplained == 1 { "part" } else { "parts" };
        let _ = writeln!(
            out,
            "\nFor {unexplained} {parts} nothing known says why another one had the core; fixed priorities and resources are \
             read from OIL files, and from ORTI files as far as those say them."
        );
    }
    Ok(out)
}

/// How much of the response was executed, waited, and is unknown, in percent: a sentence.
fn totals(lines: &[Line]) -> String {
    let mut sums = [0_u128; 3];
    for line in lines {
        let place = match line.state {
            State::Executes => 0,
            State::Unknown => 2,
            _ => 1,
        };
        if let Some(sum) = sums.get_mut(place) {
            *sum += u128::from(line.length.unsigned_abs());
        }
    }
    let [executed, waited, unknown] = percents(sums);
    match unknown {
        0 => format!("Of that, it executed {executed} % and waited {waited} %."),
        _ => format!("Of that, it executed {executed} % and waited {waited} %; {unknown} % is unknown."),
    }
}

/// Whole percentages that add to 100: what rounding down leaves goes to the largest remainders, of equal ones
/// to the first.
fn percents(parts: [u128; 3]) -> [u128; 3] {
    let whole = parts.iter().sum::<u128>().max(1);
    let mut percents = parts.map(|part| 100 * part / whole);
    let mut places = [0, 1, 2];
    places.sort_by_key(|place| std::cmp::Reverse(parts.get(*place).map(|part| 100 * part % whole)));
    let rest = 100_u128.saturating_sub(percents.iter().sum());
    for (place, _) in places.into_iter().zip(0..rest) {
        if let Some(percent) = percents.get_mut(place) {
            *percent += 1;
        }
    }
    percents
}

/// How much of the response each cause is, the greatest first.
fn summary(out: &mut String, lines: &[Line], whole: i64, scale: TimeScale) {
    let mut causes: Vec<(&str, i128, u64)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for line in lines {
        let place = *places.entry(&line.cause).or_insert_with(|| {
            causes.push((&line.cause, 0, 0));
            causes.len() - 1
        });
        if let Some((_, total, times)) = causes.get_mut(place) {
            *total += i128::from(line.length);
            *times += 1;
        }
    }
    causes.sort_by_key(|(_, total, _)| std::cmp::Reverse(*total));
    let rows: Vec<[String; 3]> = causes
        .iter()
        .map(|(_, total, times)| {
            let ticks = i64::try_from(*total).unwrap_or(i64::MAX);
            let share = 100.0 * *total as f64 / (whole.max(1)) as f64;
            let times = if *times == 1 { String::new() } else { format!("{times} times") };
            [format!("{share:.1} %"), exact(ticks, scale), times]
        })
        .collect();
    let widths = widths(&rows);
    for ([share, time, times], (what, ..)) in rows.iter().zip(&causes) {
        let [a, b, c] = widths;
        let _ = writeln!(out, "  {share:>a$}  {time:>b$}  {times:>c$}  {what}");
    }
}

/// The parts one after the other.
fn in_order(out: &mut String, lines: &[Line], begin: i64, scale: TimeScale) {
    let mut lengths: Vec<i64> = lines.iter().map(|line| line.length).collect();
    lengths.sort_unstable_by_key(|length| std::cmp::Reverse(*length));
    let least = lengths.get(MOST).copied();
    let _ = match least {
        None => writeln!(out, "\nIn order:"),
        Some(_) => writeln!(
            out,
            "\nIn order, the {MOST} longest of {} parts (--format csv prints all of them):",
            lines.len()
        ),
    };
    // Of equal lengths, the first ones.
    let longer = lengths.iter().take_while(|length| least.is_some_and(|least| **length > least)).count();
    let mut equal = MOST - longer;
    let mut is_listed = |line: &&Line| match least {
        Some(least) if line.length == least && equal > 0 => {
            equal -= 1;
            true
        }
        Some(least) => line.length > least,
        None => true,
    };
    let chosen: Vec<&Line> = lines.iter().filter(|line| is_listed(line)).collect();
    let rows: Vec<[String; 3]> = chosen
        .iter()
        .map(|line| {
            let after = format!("+{}", exact(line.begin.saturating_sub(begin), scale));
            [after, exact(line.length, scale), String::new()]
        })
        .collect();
    let [a, b, _] = widths(&rows);
    for ([after, length, _], line) in rows.iter().zip(&chosen) {
        let _ = writeln!(out, "  {after:>a$}  {length:>b$}  {}", line.what);
    }
}

fn widths(rows: &[[String; 3]]) -> [usize; 3] {
    let of = |place: usize| rows.iter().filter_map(|row| row.get(place)).map(String::len).max().unwrap_or(0);
    [of(0), of(1), of(2)]
}

#[cfg(test)]
mod tests {
    use super::percents;

    #[test]
    fn percentages_add_to_a_hundred() {
        assert_eq!(percents([39, 61, 0]), [39, 61, 0]);
        assert_eq!(percents([1, 1, 1]), [34, 33, 33]);
        assert_eq!(percents([0, 999, 1]), [0, 100, 0]);
        assert_eq!(percents([1006, 8988, 6]), [10, 90, 0]);
        assert_eq!(percents([1049, 8947, 4]), [11, 89, 0]);
        assert_eq!(percents([u128::from(u64::MAX); 3]), [34, 33, 33]);
    }
}
