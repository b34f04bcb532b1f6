//! Observed executions of a body → its steps: what all have in common, what takes turns, what is repeated.
//! Not the steps of a model, which have other names and times (see `assemble`).

use std::collections::HashMap;

use super::body::{Gap, Item, Run, SetId, Sets};
use crate::btf::NameId;

/// A part of a body. Times are kept as they were observed.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// Computes.
    Time(Vec<Gap>),
    /// Does a step.
    Do(Item),
    /// One of these lists each time, each so many times in a row.
    Turns(Vec<(u32, Vec<Part>)>),
    /// Any of these lists, which were observed so many times.
    OneOf(Vec<(u64, Vec<Part>)>),
    /// The same so many times.
    Repeat(u32, Vec<Part>),
}

/// Turns of one body.
const MOST_TURNS: usize = 1_000;
/// Steps in all turns of one body.
const MOST_STEPS: usize = 20_000;
/// Different ways of a body that take no turns.
const MOST_WAYS: usize = 256;
/// Steps that are repeated together.
const LONGEST: usize = 32;
/// From so many waits on, a body is a loop.
const WAITS: usize = 8;
/// How often a task that never ends repeats its steps.
const FOREVER: u32 = 1_000_000;

/// The parts of a body.
pub fn parts(runs: &[Run]) -> Vec<Part> {
    let Some(first) = runs.first() else { return Vec::new() };
    let mut out = Vec::new();
    if runs.iter().all(|run| run.items == first.items) {
        let views: Vec<View<'_>> =
            runs.iter().map(|run| View { items: &run.items, gaps: &run.gaps }).collect();
        alike(&views, &mut out);
        return out;
    }
    let (begin, end) = in_common(runs);
    let head = |run: &Run| run.items.get(..begin).unwrap_or_default().to_vec();
    let columns = |from: usize, to: usize| {
        move |run: &Run| -> Vec<Gap> { run.gaps.get(from..to).unwrap_or_default().to_vec() }
    };
    pairs(&head(first), &runs.iter().map(columns(0, begin)).collect::<Vec<_>>(), false, &mut out);
    let middles: Vec<View<'_>> = runs
        .iter()
        .map(|run| {
            let to = run.items.len().saturating_sub(end);
            View {
                items: run.items.get(begin..to).unwrap_or_default(),
                gaps: run.gaps.get(begin..=to).unwrap_or_default(),
            }
        })
        .collect();
    out.push(differing(&middles));
    let tail = first.items.get(first.items.len().saturating_sub(end)..).unwrap_or_default();
    let gaps = runs
        .iter()
        .map(|run| run.gaps.get(run.gaps.len().saturating_sub(end)..).unwrap_or_default().to_vec());
    pairs(tail, &gaps.collect::<Vec<_>>(), true, &mut out);
    out
}

/// The parts of a task, which may be a loop that waits. `cut` are executions that the end of the recording
/// cuts; the last of them comes after all others. `rest` is how long such an execution may still go on.
pub fn parts_of_task(runs: &[Run], cut: &[Run], rest: i64) -> Vec<Part> {
    let waits = |run: &Run| run.items.iter().filter(|item| matches!(item, Item::Wait(_))).count();
    if let Some(first) = runs.first() {
        let count = waits(first);
        if count < WAITS || runs.iter().any(|run| waits(run) != count) {
            return parts(&with_cut(runs, cut));
        }
        return looped(runs, u32::try_from(count - 1).unwrap_or(FOREVER), true);
    }
    let Some(run) = cut.first() else { return Vec::new() };
    if waits(run) >= 2 {
        return looped(cut, FOREVER, false);
    }
    let mut run = run.clone();
    give_back(&mut run);
    // It has not ended.
    if let Some(gap) = run.gaps.last_mut() {
        gap.net += rest;
    }
    parts(&[run])
}

/// Executions, and after them those that the end of the recording cuts, which give back what they have.
pub fn with_cut(runs: &[Run], cut: &[Run]) -> Vec<Run> {
    let mut all = runs.to_vec();
    for run in cut {
        let mut run = run.clone();
        give_back(&mut run);
        all.push(run);
    }
    all
}

/// Executions with the same number of waits: what is before the first one, between two, and after the last.
fn looped(runs: &[Run], times: u32, ends: bool) -> Vec<Part> {
    let (mut heads, mut rounds, mut tails) = (Vec::new(), Vec::new(), Vec::new());
    for run in runs {
        let waits: Vec<usize> = (0..)
            .zip(&run.items)
            .filter(|(_, item)| matches!(item, Item::Wait(_)))
            .map(|(ix, _)| ix)
            .collect();
        let mut from = 0;
        for wait in waits {
            let round = Run {
                items: run.items.get(from..=wait).unwrap_or_default().to_vec(),
                gaps: closed(run.gaps.get(from..=wait).unwrap_or_default()),
            };
            if from == 0 {
                heads.push(round)
            } else {
                rounds.push(round)
            }
            from = wait + 1;
        }
        tails.push(Run {
            items: run.items.get(from..).unwrap_or_default().to_vec(),
            gaps: run.gaps.get(from..).unwrap_or_default().to_vec(),
        });
    }
    let mut out = parts(&heads);
    out.push(Part::Repeat(times, parts(&rounds)));
    if ends {
        out.extend(parts(&tails));
    }
    out
}

/// Times before steps, with none after the last one.
fn closed(gaps: &[Gap]) -> Vec<Gap> {
    let end = gaps.last().map_or(0, |gap| gap.at);
    gaps.iter().copied().chain([Gap { at: end, net: 0, remote: false }]).collect()
}

/// Gives back what a cut execution has taken, the last one first.
fn give_back(run: &mut Run) {
    let mut held = Vec::new();
    for item in &run.items {
        match item {
            Item::Take(lock) => held.push(*lock),
            Item::Give(lock) => held.retain(|other| other != lock),
            _ => {}
        }
    }
    let end = run.gaps.last().map_or(0, |gap| gap.at);
    for lock in held.into_iter().rev() {
        run.items.push(Item::Give(lock));
        run.gaps.push(Gap { at: end, net: 0, remote: false });
    }
}

/// Adds the waits that a trace does not show because the event was set already: before a clear of an event
/// that the body waits for elsewhere.
pub fn with_waits(run: &mut Run, waits: &[SetId], sets: &Sets) {
    let mut waited: Vec<NameId> = Vec::new();
    let mut place = 0;
    while let Some(item) = run.items.get(place).copied() {
        match item {
            Item::Wait(set) => waited.extend(sets.names(set)),
            Item::ClearEvent(set) => {
                let cleared = sets.names(set);
                let has = |names: &[NameId]| names.iter().any(|name| cleared.contains(name));
                let missing = waits.iter().find(|wait| has(sets.names(**wait)));
                if let (false, Some(wait)) = (has(&waited), missing) {
                    run.items.insert(place, Item::Wait(*wait));
                    let at = run.gaps.get(place).map_or(0, |gap| gap.at + gap.net);
                    run.gaps.insert(place + 1, Gap { at, net: 0, remote: false });
                    place += 1;
                }
                waited.retain(|name| !cleared.contains(name));
            }
            _ => {}
        }
        place += 1;
    }
}

/// Adds a step to an execution that nothing interrupts up to then.
pub fn insert(run: &mut Run, at: i64, item: Item) {
    let after = run.gaps.iter().rposition(|gap| gap.at <= at);
    let Some((place, gap)) = after.and_then(|place| Some((place, run.gaps.get_mut(place)?))) else { return };
    let before = (at - gap.at).clamp(0, gap.net);
    let rest = Gap { at, net: gap.net - before, remote: false };
    gap.net = before;
    run.gaps.insert(place + 1, rest);
    run.items.insert(place, item);
}

/// A part of an execution, with a time before each step and one after the last.
#[derive(Clone, Copy)]
struct View<'a> {
    items: &'a [Item],
    gaps: &'a [Gap],
}

/// How many steps all have in common at the begin, and after that at the end.
fn in_common(runs: &[Run]) -> (usize, usize) {
    let Some(first) = runs.first() else { return (0, 0) };
    let (mut begin, mut end) = (usize::MAX, usize::MAX);
    for run in runs {
        let same = |(one, other): &(&Item, &Item)| one == other;
        begin = begin.min(first.items.iter().zip(&run.items).take_while(same).count());
        end = end.min(first.items.iter().rev().zip(run.items.iter().rev()).take_while(same).count());
    }
    let shortest = runs.iter().map(|run| run.items.len()).min().unwrap_or(0);
    (begin, end.min(shortest.saturating_sub(begin)))
}

/// Executions with the same steps.
fn alike(views: &[View<'_>], out: &mut Vec<Part>) {
    let Some(first) = views.first() else { return };
    out.push(Part::Time(views.iter().filter_map(|view| view.gaps.first().copied()).collect()));
    let gaps: Vec<Vec<Gap>> =
        views.iter().map(|view| view.gaps.get(1..).unwrap_or_default().to_vec()).collect();
    pairs(first.items, &gaps, true, out);
}

/// Steps, each with the times of all executions before or after it. Steps that follow each other again and
/// again are repeated.
fn pairs(items: &[Item], gaps: &[Vec<Gap>], after: bool, out: &mut Vec<Part>) {
    let one = |place: usize, length: usize, times: usize, out: &mut Vec<Part>| {
        let rounds = 0..times;
        let at = |round: usize| place + round * length;
        let all = rounds.flat_map(|round| gaps.iter().filter_map(move |run| run.get(at(round)).copied()));
        let time = Part::Time(all.collect());
        let item = items.get(place).copied().map(Part::Do);
        if after {
            out.extend(item.into_iter().chain([time]));
        } else {
            out.extend([time].into_iter().chain(item));
        }
    };
    let mut place = 0;
    while place < items.len() {
        let (length, times) = repeated(items.get(place..).unwrap_or_default());
        if times > 1 {
            let mut inside = Vec::new();
            (place..place + length).for_each(|place| one(place, length, times, &mut inside));
            out.push(Part::Repeat(u32::try_from(times).unwrap_or(1), inside));
        } else {
            one(place, 1, 1, out);
        }
        place += length * times;
    }
}

/// How many steps at the begin follow each other how many times; (1, 1) if none do.
fn repeated(items: &[Item]) -> (usize, usize) {
    let mut best = (1, 1);
    for length in 1..=LONGEST.min(items.len() / 2) {
        let Some(block) = items.get(..length) else { break };
        let times = items.chunks(length).take_while(|chunk| *chunk == block).count();
        let covers = length * times;
        if times > 2 && covers >= 6 && covers > best.0 * best.1 && gives_back_what_it_takes(block) {
            best = (length, times);
        }
    }
    best
}

fn gives_back_what_it_takes(block: &[Item]) -> bool {
    let mut held = Vec::new();
    for item in block {
        match item {
            Item::Take(lock) => held.push(lock),
            Item::Give(lock) if held.pop() != Some(lock) => return false,
            _ => {}
        }
    }
    held.is_empty()
}

/// Executions of which not all have the same steps.
fn differing(views: &[View<'_>]) -> Part {
    let mut ids: HashMap<&[Item], usize> = HashMap::new();
    let ways: Vec<usize> = views
        .iter()
        .map(|view| {
            let next = ids.len();
            *ids.entry(view.items).or_insert(next)
        })
        .collect();
    let cycle = cycle(&ways).unwrap_or(ways.len());
    // Runs of equal ways in one cycle: their begins.
    let starts: Vec<usize> = (0..cycle)
        .filter(|ix| ix.checked_sub(1).is_none_or(|before| ways.get(before) != ways.get(*ix)))
        .collect();
    let steps: usize =
        starts.iter().filter_map(|start| views.get(*start)).map(|view| view.items.len() + 1).sum();
    if starts.len() > MOST_TURNS || steps > MOST_STEPS {
        return any_of(views, &ways);
    }
    let ends = starts.iter().skip(1).copied().chain([cycle]);
    let turns = starts.iter().zip(ends).map(|(start, end)| {
        let here = views.iter().enumerate().filter(|(ix, _)| (*start..end).contains(&(ix % cycle)));
        let here: Vec<View<'_>> = here.map(|(_, view)| *view).collect();
        let mut parts = Vec::new();
        alike(&here, &mut parts);
        (u32::try_from(end - start).unwrap_or(u32::MAX), parts)
    });
    Part::Turns(turns.collect())
}

/// After how many the same ones follow again, at least once from begin to end.
pub(super) fn cycle<T: PartialEq>(ways: &[T]) -> Option<usize> {
    // The lengths of the borders, as in the search of Knuth, Morris and Pratt.
    let mut borders = vec![0usize; ways.len()];
    for ix in 1..ways.len() {
        let mut border = *borders.get(ix - 1)?;
        while border > 0 && ways.get(border) != ways.get(ix) {
            border = *borders.get(border - 1)?;
        }
        *borders.get_mut(ix)? = border + usize::from(ways.get(border) == ways.get(ix));
    }
    let cycle = ways.len() - borders.last()?;
    (cycle <= ways.len() / 2).then_some(cycle)
}

/// Ways without an order that could be written down.
fn any_of(views: &[View<'_>], ways: &[usize]) -> Part {
    let mut of_way: Vec<Vec<View<'_>>> = Vec::new();
    for (view, way) in views.iter().zip(ways) {
        if of_way.len() <= *way {
            of_way.resize_with(way + 1, Vec::new);
        }
        if let Some(views) = of_way.get_mut(*way) {
            views.push(*view);
        }
    }
    of_way.sort_by_key(|views| std::cmp::Reverse(views.len()));
    let rare = of_way.split_off(MOST_WAYS.min(of_way.len()));
    let mut all: Vec<(u64, Vec<Part>)> = of_way
        .iter()
        .map(|views| {
            let mut parts = Vec::new();
            alike(views, &mut parts);
            (views.len() as u64, parts)
        })
        .collect();
    // Of the rare ways only the times are kept.
    let whole = |view: &View<'_>| {
        let net = view.gaps.iter().map(|gap| gap.net).sum();
        Some(Gap { net, ..*view.gaps.first()? })
    };
    let times: Vec<Gap> = rare.iter().flatten().filter_map(whole).collect();
    if !times.is_empty() {
        all.push((times.len() as u64, vec![Part::Time(times)]));
    }
    Part::OneOf(all)
}
