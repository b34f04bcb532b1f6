//! Small recordings with many of their completions: a verdict that is not certain has completions of both
//! kinds, one that is has completions of one kind. Not for large ones (see `truth`).

use super::super::{Symbol, Template, Verdict};
use super::truth::{CORES, Truth};
use super::{Random, Record, Recording, templates};

/// A recording with a gap or none; states alternate where no gap hides them.
fn recording(random: &mut Random) -> Recording {
    let (mut time, mut records) = (0, Vec::new());
    let gap_at = random.below(8);
    let (mut held, mut hidden) = ([None::<bool>; 2], [i64::MIN; 2]);
    for n in 0..random.below(6) {
        time += random.one_of(&[0, 1, 1, 2]);
        if n == gap_at {
            let (end, core) =
                (time + random.one_of(&[0, 1, 2]), random.one_of(&[None, Some(0), Some(0), Some(1)]));
            records.push((time, Record::Gap(end, core)));
            for state in (0..2).filter(|state| core.is_none_or(|core| core == *state as u32)) {
                (held[state], hidden[state]) = (None, end);
            }
        }
        if random.chance(35) {
            let state = random.below(2);
            let begins = held[state].map_or_else(|| random.chance(50), |held| !held);
            held[state] = (hidden[state] <= time).then_some(begins);
            records.push((time, Record::State(Symbol(4 + state as u32), begins)));
        } else {
            records.push((time, Record::Event(Symbol(random.below(4) as u32))));
        }
    }
    let places = (0..6).map(|symbol| (Symbol(symbol), vec![CORES[symbol as usize]])).collect();
    Recording { begin: 0, end: time + random.one_of(&[0, 1]), records, places }
}

/// Some hidden records, where they may be: a list with a state that does not alternate is none.
fn completion(random: &mut Random, recording: &Recording, symbols: &[Symbol]) -> Option<Truth> {
    let hidden =
        |random: &mut Random, out: &mut Vec<(i64, Record)>, from: i64, to: i64, core: Option<u32>| {
            let mut times: Vec<i64> = Vec::new();
            while random.chance(45) {
                times.push(from + random.below((to - from + 1) as usize) as i64);
            }
            times.sort_unstable();
            for time in times {
                let symbol = random.one_of(symbols);
                if core.is_some_and(|core| core != CORES[symbol.0 as usize]) {
                    continue;
                }
                let state = Record::State(symbol, random.chance(50));
                out.push((time, if symbol.0 < 4 { Record::Event(symbol) } else { state }));
            }
        };
    let mut all = Vec::new();
    hidden(random, &mut all, -2, 0, None);
    let from = all.len();
    let mut gap = None::<(i64, Option<u32>)>;
    let mut now = 0;
    for (time, record) in &recording.records {
        if let Some((end, core)) = gap {
            hidden(random, &mut all, now, end.min(*time), core);
        }
        gap = gap.filter(|(end, _)| end > time);
        now = *time;
        match *record {
            Record::Gap(end, core) => gap = Some((end, core)),
            record => all.push((*time, record)),
        }
    }
    if let Some((end, core)) = gap {
        hidden(random, &mut all, now, end, core);
    }
    // Nothing hidden in a gap is after the end of the recording.
    all.truncate(all.iter().take_while(|(time, _)| *time <= recording.end).count());
    let to = all.len();
    hidden(random, &mut all, recording.end, recording.end + 10, None);
    let alternates = |state: u32| {
        let of_state = |(_, record): &(i64, Record)| match record {
            Record::State(symbol, begins) if symbol.0 == state => Some(*begins),
            _ => None,
        };
        let changes: Vec<bool> = all.iter().filter_map(of_state).collect();
        changes.windows(2).all(|pair| pair[0] != pair[1])
    };
    let is_one = [4, 5].into_iter().all(|state| !symbols.contains(&Symbol(state)) || alternates(state));
    is_one.then(|| Truth { part: (from, to), recording: recording.clone(), all })
}

#[test]
fn there_are_completions_of_both_kinds_unless_it_is_certain() {
    for seed in 0..500 {
        let mut random = Random(seed);
        let recording = recording(&mut random);
        let mut templates = templates(&mut random);
        templates.retain(|template| match template {
            // It is not noticed that what answers one has to be answered itself, and so on: each completion
            // violates another obligation.
            Template::Hold { start, until, .. } => start != until,
            Template::Response { a, b, within } => a != b && *within < i64::MAX,
            Template::Rate { at_most, window, .. } => *at_most < 3 && *window < i64::MAX,
            _ => true,
        });
        let judged = recording.judge(&templates);
        for (template, judged) in templates.iter().zip(judged) {
            let symbols: Vec<Symbol> = template.roles().iter().map(|(_, symbol, _)| *symbol).collect();
            let mut found = [false; 2];
            for _ in 0..3000 {
                if found == [true; 2] {
                    break;
                }
                if let Some(truth) = completion(&mut random, &recording, &symbols) {
                    found[usize::from(truth.violates(template))] = true;
                }
            }
            let expected = match judged.verdict {
                Verdict::Kept => [true, false],
                Verdict::Violated => [false, true],
                _ => [true, true],
            };
            assert_eq!(found, expected, "seed {seed}: {template:?}, {judged:?} of {recording:?}");
        }
    }
}
