//! The monitor agrees with the naive one on random recordings. Not for what is true of them (see `truth`).

use super::super::{Judgement, Symbol, Verdict, Violation};
use super::naive::Naive;
use super::{Random, Record, Recording, templates};

/// Records in any order, with ties, gaps, and times up to the ends of their range.
fn recording(random: &mut Random) -> Recording {
    let begin = random.one_of(&[0, 0, -7, i64::MIN, i64::MAX - 12]);
    let (mut time, mut records) = (begin, Vec::new());
    let (mut held, mut hidden) = ([None::<bool>; 2], [begin; 2]);
    for _ in 0..random.below(40) {
        time = time.saturating_add(random.one_of(&[0, 0, 0, 1, 1, 1, 2, 3]));
        if random.chance(1) {
            time = time.saturating_add(random.one_of(&[i64::MAX, 100]));
        }
        match random.below(12) {
            0 => {
                let end = time.saturating_add(random.one_of(&[0, 1, 2, 5, 9, i64::MAX]));
                let core = random.one_of(&[None, Some(0), Some(1)]);
                records.push((time, Record::Gap(end, core)));
                for state in 0..2 {
                    if core.is_none_or(|core| core == state as u32) {
                        hidden[state] = hidden[state].max(end);
                        held[state] = None;
                    }
                }
            }
            1..=3 => {
                // A state alternates, unless a gap may hide something of it.
                let state = random.below(2);
                let begins = held[state].map_or_else(|| random.chance(50), |held| !held);
                held[state] = (hidden[state] <= time).then_some(begins);
                records.push((time, Record::State(Symbol(4 + state as u32), begins)));
            }
            _ => records.push((time, Record::Event(Symbol(random.below(5) as u32)))),
        }
    }
    let end = time.saturating_add(random.one_of(&[0, 0, 1, 4, i64::MAX]));
    let on = |core: u32| vec![core];
    let places = vec![
        (Symbol(0), on(0)),
        (Symbol(1), on(1)),
        (Symbol(2), vec![0, 1]),
        (Symbol(4), on(0)),
        (Symbol(5), on(1)),
    ];
    Recording { begin, end, records, places }
}

/// Violations found later, by what came after, are at another place in the list; blind stretches are counted
/// in another way.
fn comparable(mut judgement: Judgement) -> Judgement {
    judgement.counts.blind = judgement.counts.blind.min(1);
    let key = |violation: &Violation| {
        (violation.witnesses.first().copied().map(|w| w.index), violation.begin, violation.end)
    };
    judgement.violations.sort_by_key(key);
    judgement
}

#[test]
fn it_agrees_with_a_naive_monitor_on_random_recordings() {
    let mut seen = std::collections::BTreeMap::<_, [u64; 4]>::new();
    for seed in 0..20_000 {
        let mut random = Random(seed);
        let (recording, templates) = (recording(&mut random), templates(&mut random));
        let naive = Naive::new(&recording);
        for (n, (template, judged)) in templates.iter().zip(recording.judge(&templates)).enumerate() {
            let (judged, expected) = (comparable(judged), comparable(naive.judge(template)));
            assert_eq!(judged, expected, "seed {seed}: {template:?} of {recording:?}");
            seen.entry(n).or_default()[judged.verdict as usize] += 1;
        }
    }
    // Every verdict was given often by every template, but that what is hidden keeps a rate.
    for (n, mut counts) in seen {
        let unkept = &mut counts[Verdict::MayStillBeKept as usize];
        assert_eq!(n == 4, *unkept == 0, "{n}: {counts:?}");
        *unkept += if n == 4 { u64::MAX } else { 0 };
        assert!(counts.iter().all(|count| *count > 100), "{n}: {counts:?}");
    }
}
