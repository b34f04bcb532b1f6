//! The parts of a response as text that reads like sentences. Not how they are found (see `ops::explain`).

use super::one_unit::OneUnit;
use crate::error::Result;
use crate::ops::explain::{Chosen, Lost, Parts, RESPONSE, Which, name_runnables, named, ranked};
use crate::picture::{State, exact};
use crate::time::TimeScale;
use arrow::array::RecordBatch;
use std::collections::HashMap;
use std::fmt::Write as _;

/// So many parts are listed; of more, the longest.
const MOST: usize = 60;
/// So many names are listed; of more, the first ones.
const MOST_NAMES: usize = 5;

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
/// lost meanwhile. `which` is how the instance was chosen.
pub(super) fn text(
    (chosen, which): (&Chosen, Which),
    rows: &[RecordBatch],
    lost: &[Lost],
    scale: TimeScale,
) -> Result<String> {
    let mut lines = Vec::new();
    let (mut activated_by, mut unexplained) = (None, Vec::<String>::new());
    let named_runnables = name_runnables(rows)?;
    for batch in rows {
        let mut parts = Parts::of(batch)?;
        parts.causes.is_outside_named = named_runnables;
        for row in 0..batch.num_rows() {
            let (begin, end) = parts.span(row);
            let [what, cause] =
                [true, false].map(|numbers| parts.causes.sentence(row, &chosen.process, numbers));
            let (length, state) = (end.saturating_sub(begin), parts.causes.state(row));
            lines.push(Line { begin, length, what, cause, state });
            if let Some(by) = parts.causes.unexplained(row)
                && !unexplained.contains(&by)
            {
                unexplained.push(by);
            }
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
        let _ = writeln!(out, "{}", ranked(sample, which, scale));
    }
    if let Some(first) = lost.first() {
        let after = exact(first.at.saturating_sub(begin), scale);
        let by = first.by.as_ref().map(|by| format!(", by {by}")).unwrap_or_default();
        let trigger = first.triggered_by.as_ref().map(|(who, instance)| named(who, *instance));
        let trigger = trigger.map(|who| format!(", which {who} triggered")).unwrap_or_default();
        let process = &chosen.process;
        let _ = match lost.len() {
            1 => writeln!(out, "Meanwhile an activation of {process} was lost: after {after}{by}{trigger}."),
            n => writeln!(
                out,
                "Meanwhile {n} activations of {process} were lost: the first after {after}{by}{trigger}."
            ),
        };
    }
    let is_other = chosen.sample.as_ref().is_some_and(|sample| sample.metric != RESPONSE);
    let _ = match is_other {
        // What is made of parts is not what the metric measures.
        true => writeln!(out, "\nThe whole response ({}) is made of:", exact(length, scale)),
        false => writeln!(out, "\nWhat it is made of:"),
    };
    // The whole, and what it is made of.
    let lengths = lines.iter().flat_map(|line| [line.begin.saturating_sub(begin), line.length]);
    let unit = OneUnit::of(lengths.chain([length]), scale);
    summary(&mut out, &lines, length, unit);
    in_order(&mut out, &lines, begin, unit);
    if !unexplained.is_empty() {
        let _ = writeln!(
            out,
            "\nWhy {} had the core is not known; fixed priorities and resources are read from OIL files, and from ORTI \
             files as far as those say them.",
            listed(&unexplained)
        );
    }
    Ok(out)
}

/// `T_1, T_2 and T_3`
fn listed(names: &[String]) -> String {
    match names {
        [first @ .., last] if !first.is_empty() && names.len() <= MOST_NAMES => {
            format!("{} and {last}", first.join(", "))
        }
        [first @ .., _] if !first.is_empty() => {
            let shown: Vec<&str> = names.iter().take(MOST_NAMES - 1).map(String::as_str).collect();
            format!("{} and {} others", shown.join(", "), names.len() - shown.len())
        }
        _ => names.concat(),
    }
}

/// How much of the response was executed, was not, and is unknown, in percent: a sentence.
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
    let (whole, [_, _, unknown]) = (sums.iter().sum::<u128>(), sums);
    let [executed, held, rest] = std::array::from_fn(|place| {
        let part = sums.get(place).copied().unwrap_or(0);
        // Nothing but nothing is 0 %, and nothing but all is 100 %.
        match percents(sums).get(place).copied().unwrap_or(0) {
            0 if part > 0 => "less than 1 %".to_owned(),
            100 if part < whole => "more than 99 %".to_owned(),
            percent => format!("{percent} %"),
        }
    });
    match unknown {
        0 if sums.first() == Some(&whole) => "It executed all the time.".to_owned(),
        0 => format!("It executed for {executed} of that, and could not for {held}."),
        _ => format!("It executed for {executed} of that, and could not for {held}; {rest} is unknown."),
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
fn summary(out: &mut String, lines: &[Line], whole: i64, unit: OneUnit) {
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
            let times = if *times == 1 { String::new() } else { format!("{times} times  ") };
            [share(ticks, whole), unit.text(ticks), times]
        })
        .collect();
    let widths = widths(&rows);
    for ([share, time, times], (what, ..)) in rows.iter().zip(&causes) {
        let [a, b, c] = widths;
        let _ = writeln!(out, "  {share:>a$}  {time:>b$}  {times:>c$}{what}");
    }
}

/// A share in percent. Nothing but all is `100.0 %`, and nothing but nothing `0.0 %`.
fn share(part: i64, whole: i64) -> String {
    let share = format!("{:.1}", 100.0 * part as f64 / (whole.max(1)) as f64);
    match share.as_str() {
        "0.0" if part > 0 => "< 0.1 %".to_owned(),
        "100.0" if part < whole => "> 99.9 %".to_owned(),
        _ => format!("{share} %"),
    }
}

/// The parts one after the other.
fn in_order(out: &mut String, lines: &[Line], begin: i64, unit: OneUnit) {
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
            let after = format!("+{}", unit.text(line.begin.saturating_sub(begin)));
            [after, unit.text(line.length), String::new()]
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
    use super::*;

    #[test]
    fn only_all_is_a_hundred_percent() {
        let line =
            |length, state| Line { begin: 0, length, what: String::new(), cause: String::new(), state };
        let of = |executed, held| totals(&[line(executed, State::Executes), line(held, State::Kernel)]);
        assert_eq!(of(39, 61), "It executed for 39 % of that, and could not for 61 %.");
        assert_eq!(of(9, 0), "It executed all the time.");
        assert_eq!(of(9_999, 1), "It executed for more than 99 % of that, and could not for less than 1 %.");
        let gap = totals(&[line(9_999, State::Executes), line(1, State::Unknown)]);
        assert!(gap.ends_with("could not for 0 %; less than 1 % is unknown."), "{gap}");
        assert_eq!([share(0, 9), share(9, 9), share(1, 8)], ["0.0 %", "100.0 %", "12.5 %"]);
        assert_eq!([share(1, 9_999), share(9_998, 9_999)], ["< 0.1 %", "> 99.9 %"]);
    }

    #[test]
    fn of_many_names_the_first_ones_are_listed() {
        let of = |count: usize| listed(&(1..=count).map(|n| format!("T_{n}")).collect::<Vec<_>>());
        assert_eq!([of(1), of(2), of(5)], ["T_1", "T_1 and T_2", "T_1, T_2, T_3, T_4 and T_5"]);
        assert_eq!(of(6), "T_1, T_2, T_3, T_4 and 2 others");
    }

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
