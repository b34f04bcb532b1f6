//! The parts of a response as text that reads like sentences. Not how they are found (see `ops::explain`).

use crate::error::Result;
use crate::ops::explain::{Chosen, Parts, named, ranked};
use crate::picture::exact;
use crate::time::{TimeScale, format_duration};
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
}

/// The rows of view `response_part` of one response, in order.
pub(super) fn text(chosen: &Chosen, rows: &[RecordBatch], scale: TimeScale) -> Result<String> {
    let mut lines = Vec::new();
    let (mut activated_by, mut is_unexplained) = (None, false);
    for batch in rows {
        let parts = Parts::of(batch)?;
        for row in 0..batch.num_rows() {
            let (begin, end) = parts.span(row);
            let [what, cause] = [true, false].map(|numbers| parts.sentence(row, &chosen.process, numbers));
            lines.push(Line { begin, length: end.saturating_sub(begin), what, cause });
            is_unexplained |= parts.is_unexplained(row);
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
        format_duration(length, scale),
        exact(begin, scale),
        exact(end, scale)
    );
    // Writing to a text does not fail.
    let _ = match activated_by {
        Some(by) => writeln!(out, ", activated by {by}."),
        None => writeln!(out, "."),
    };
    if let Some(sample) = &chosen.sample {
        let _ = writeln!(out, "{}", ranked(sample, scale));
    }
    summary(&mut out, &lines, length, scale);
    in_order(&mut out, &lines, begin, scale);
    if is_unexplained {
        let _ = writeln!(
            out,
            "\nWhy another one had the core is said where it is known: priorities and resources are in the OIL or ORTI file."
        );
    }
    Ok(out)
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
    let _ = writeln!(out, "\nWhat it is made of:");
    let rows: Vec<[String; 3]> = causes
        .iter()
        .map(|(_, total, times)| {
            let ticks = i64::try_from(*total).unwrap_or(i64::MAX);
            let share = 100.0 * *total as f64 / (whole.max(1)) as f64;
            let times = if *times == 1 { String::new() } else { format!("{times} times") };
            [format!("{share:.1} %"), format_duration(ticks, scale), times]
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
            let after = format!("+{}", format_duration(line.begin.saturating_sub(begin), scale));
            [after, format_duration(line.length, scale), String::new()]
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
