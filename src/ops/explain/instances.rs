//! The parts of the responses of all instances of a picture, for its page. Not how a response is cut into
//! parts (see [`crate::explain`]), nor how a page shows them.

use super::Parts;
use crate::engine::{Param, Session};
use crate::error::Result;
use crate::names::Interner;
use crate::picture::{ExplainedPart, Explanation, Explanations, Picture, RowKind};
use crate::plot::{Align, begin_of};
use crate::schema::result::{Integers, Texts, column};
use crate::schema::tables;
use std::cmp::Reverse;
use std::collections::HashMap;

/// Of a recording with more events, no responses are explained: all of it is read for them.
const MOST_EVENTS: u64 = 2_000_000;
/// So many parts a page has: one or two megabytes.
const MOST_PARTS: usize = 200_000;

/// A response, while its parts come.
struct Open {
    row: usize,
    instance: i64,
    begin: i64,
    end: i64,
    /// With their numbers.
    parts: Vec<(i64, ExplainedPart)>,
}

/// Explains the instances that a picture shows: those of tasks and ISRs that have a row. Notes of the picture
/// say what is left out.
///
/// # Errors
/// Those of a query.
pub fn instances(
    session: &Session,
    picture: &mut Picture,
    recordings: &[String],
    align: Align,
) -> Result<()> {
    let (mut words, mut all) = (Interner::default(), Vec::new());
    for recording in recordings {
        let files = session.database().files(tables::BTF_EVENT, Some(recording))?;
        let events: u64 = files.iter().map(|file| file.rows).sum();
        let is_one = recordings.len() == 1;
        if events > MOST_EVENTS {
            let whose = if is_one { "the recording".to_owned() } else { recording.clone() };
            picture.notes.push(format!(
                "A click explains no instance: {whose} has {events} events, and a page explains responses of up \
                 to {MOST_EVENTS}."
            ));
            continue;
        }
        let prefix = if is_one { String::new() } else { format!("{recording}/") };
        let zero = if is_one || align == Align::Time { 0 } else { begin_of(session, recording)? };
        let rows = rows(picture, &prefix);
        if !rows.is_empty() {
            read(session, recording, (&rows, zero), &mut words, &mut all)?;
        }
    }
    all.retain(|one: &Open| one.begin < picture.to && one.end > picture.from);
    let count = all.len();
    let kept = longest(all, MOST_PARTS);
    if kept.len() < count {
        picture.notes.push(format!(
            "A click explains {} of {count} instances, the longest of each task and ISR: a page has up to \
             {MOST_PARTS} parts of responses.",
            kept.len()
        ));
    }
    picture.explanations = explanations(kept, &words);
    Ok(())
}

/// The rows of tasks and ISRs, by name; true: of an ISR.
fn rows(picture: &Picture, prefix: &str) -> HashMap<(String, bool), usize> {
    let mut rows = HashMap::new();
    for (at, row) in picture.rows.iter().enumerate() {
        let is_isr = row.kind == RowKind::Isr;
        let is_here = row.id.strip_prefix(prefix).and_then(|id| id.strip_prefix(row.kind.as_str()));
        let is_here = is_here.and_then(|id| id.strip_prefix(':')) == Some(row.label.as_str());
        if is_here && (is_isr || row.kind == RowKind::Task) {
            rows.insert((row.label.clone(), is_isr), at);
        }
    }
    rows
}

/// Reads the parts of a recording. `zero` is the instant that is 0 in the picture.
fn read(
    session: &Session,
    recording: &str,
    (rows, zero): (&HashMap<(String, bool), usize>, i64),
    words: &mut Interner,
    all: &mut Vec<Open>,
) -> Result<()> {
    let params = [("recording", Param::from(recording))];
    let mut places: HashMap<(usize, i64), usize> = HashMap::new();
    for batch in session.sql("SELECT * FROM response_part WHERE recording = $recording", &params)? {
        let batch = batch?;
        if batch.num_rows() == 0 {
            continue;
        }
        let columns = Parts::of(&batch)?;
        let process: Texts = column(&batch, "process")?;
        let [instance, number] = [column::<Integers>(&batch, "instance")?, column(&batch, "part")?];
        // Parts of one response follow each other.
        let mut last: Option<(String, bool, Option<usize>)> = None;
        for row in 0..batch.num_rows() {
            let (name, is_isr) = (process.value(row), columns.is_isr(row));
            let of_row = match &last {
                Some((of, isr, at)) if of == name && *isr == is_isr => *at,
                _ => {
                    let key = (name.to_owned(), is_isr);
                    let at = rows.get(&key).copied();
                    last = Some((key.0, is_isr, at));
                    at
                }
            };
            let Some(at) = of_row else { continue };
            let (begin, end) = columns.span(row);
            let length = end.saturating_sub(begin);
            let (begin, end) = (begin.saturating_sub(zero), end.saturating_sub(zero));
            let place = *places.entry((at, instance.value(row))).or_insert_with(|| {
                all.push(Open { row: at, instance: instance.value(row), begin, end, parts: Vec::new() });
                all.len() - 1
            });
            let Some(open) = all.get_mut(place) else { continue };
            open.begin = open.begin.min(begin);
            open.end = open.end.max(end);
            let words = words.intern(&columns.causes.sentence(row, name, false));
            open.parts
                .push((number.value(row), ExplainedPart { state: columns.causes.state(row), words, length }));
        }
    }
    Ok(())
}

/// As many responses as have that number of parts together: the longest of each row, then the second ones.
fn longest(mut all: Vec<Open>, most: usize) -> Vec<Open> {
    if all.iter().map(|one| one.parts.len()).sum::<usize>() <= most {
        return all;
    }
    let rank = |one: &Open| (one.row, Reverse(one.end.saturating_sub(one.begin)), one.instance);
    all.sort_by_key(rank);
    let (mut row, mut place) = (usize::MAX, 0usize);
    let mut ranked: Vec<(usize, Open)> = Vec::with_capacity(all.len());
    for one in all {
        place = if one.row == row { place + 1 } else { 0 };
        row = one.row;
        ranked.push((place, one));
    }
    ranked.sort_by_key(|(place, one)| (*place, one.row));
    let mut left = most;
    let fits = |one: &Open| match left.checked_sub(one.parts.len()) {
        Some(rest) => {
            left = rest;
            true
        }
        None => false,
    };
    let mut kept: Vec<Open> = ranked.into_iter().map(|(_, one)| one).collect();
    kept.retain(fits);
    kept
}

/// Parts in order, and only the words that they have.
fn explanations(mut all: Vec<Open>, words: &Interner) -> Explanations {
    all.sort_by_key(|one| (one.row, one.instance));
    let mut made = Explanations::default();
    let mut places: HashMap<u32, u32> = HashMap::new();
    for mut one in all {
        one.parts.sort_unstable_by_key(|(number, _)| *number);
        let mut part = |(_, part): (i64, ExplainedPart)| {
            let next = u32::try_from(made.words.len()).unwrap_or(u32::MAX);
            let place = *places.entry(part.words).or_insert(next);
            if place == next {
                made.words.push(words.text(part.words).to_owned());
            }
            ExplainedPart { words: place, ..part }
        };
        let parts = one.parts.into_iter().map(&mut part).collect();
        let Open { row, instance, begin, .. } = one;
        made.of.push(Explanation { row, instance, begin, parts });
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::State;

    fn open(row: usize, instance: i64, length: i64, parts: usize) -> Open {
        let part = |n: usize| {
            let part = ExplainedPart { state: State::Executes, words: 0, length: length / parts as i64 };
            (n as i64, part)
        };
        Open { row, instance, begin: 0, end: length, parts: (0..parts).rev().map(part).collect() }
    }

    #[test]
    fn of_too_many_parts_the_longest_responses_of_each_row_are_kept() {
        let all = || vec![open(0, 0, 10, 5), open(0, 1, 30, 5), open(0, 2, 20, 5), open(1, 0, 5, 5)];
        let kept = |most| longest(all(), most).iter().map(|one| (one.row, one.instance)).collect::<Vec<_>>();
        assert_eq!(kept(20).len(), 4);
        assert_eq!(kept(15), [(0, 1), (1, 0), (0, 2)]);
        assert_eq!(kept(10), [(0, 1), (1, 0)]);
        assert!(kept(4).is_empty());
        // One that is too large does not keep out others.
        let of = |most| longest(vec![open(0, 0, 90, 50), open(1, 0, 5, 5)], most).len();
        assert_eq!((of(54), of(55), of(4)), (1, 2, 0));
    }

    #[test]
    fn parts_are_in_order_and_words_are_those_in_use() {
        let mut words = Interner::default();
        let _ = words.intern("nobody says this");
        let number = words.intern("executes");
        let mut one = open(3, 7, 6, 3);
        one.parts.iter_mut().for_each(|(n, part)| (part.words, part.length) = (number, *n));
        let made = explanations(vec![one], &words);
        assert_eq!(made.words, ["executes"]);
        assert_eq!(made.of[0].parts.iter().map(|part| part.length).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!((made.of[0].row, made.of[0].instance), (3, 7));
    }
}
