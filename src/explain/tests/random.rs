//! Random systems are explained as the naive rules explain them, tick by tick.

use super::naive::Naive;
use super::schedule::{Dice, System};
use crate::explain::{Actor, Explainer, Explanations, Part};
use std::collections::{HashMap, HashSet};

#[derive(Clone, Copy)]
enum Input {
    Event(usize),
    State(usize),
    Runnable(usize),
    Ended(usize),
}

/// Feeds a system in order; what is dropped is dropped often.
pub fn explained(system: &System, seed: u64) -> Vec<Explanations> {
    let mut dice = Dice::new(seed ^ 77);
    let wanted: HashSet<Actor> =
        system.insts.iter().filter(|inst| inst.is_wanted).map(|inst| inst.actor).collect();
    let mut explainer = Explainer::new(move |actor| wanted.contains(&actor));
    explainer.often = 1 + dice.below(200) as u64;
    explainer.drop_at = 1;
    for (n, process) in system.procs.iter().enumerate() {
        explainer.process(n as u32, process.facts);
    }
    for (core, begin, end) in &system.gaps {
        explainer.gap(*core, *begin, *end);
    }
    let mut inputs = Vec::new();
    for (n, (seq, event)) in system.events.iter().enumerate() {
        inputs.push(((event.time, 0, *seq), Input::Event(n)));
    }
    for (n, span) in system.states.iter().enumerate() {
        inputs.push(((span.end, 1, dice.below(1000)), Input::State(n)));
    }
    for (n, span) in system.runnables.iter().enumerate() {
        inputs.push(((span.end, 1, dice.below(1000)), Input::Runnable(n)));
    }
    for (n, inst) in system.insts.iter().enumerate() {
        if let Some(end) = inst.end.filter(|_| inst.is_end_shown()) {
            inputs.push(((end as i64, 2, dice.below(1000)), Input::Ended(n)));
        }
    }
    inputs.sort_by_key(|(key, _)| *key);
    let mut all = Vec::new();
    for (_, input) in inputs {
        match input {
            Input::Event(n) => explainer.happened(system.events[n].1),
            Input::State(n) => explainer.state(system.states[n]),
            Input::Runnable(n) => explainer.runnable(system.runnables[n]),
            Input::Ended(n) => {
                let inst = &system.insts[n];
                explainer.ended(inst.actor, inst.begin as i64, inst.end.unwrap_or_default() as i64);
            }
        }
        if dice.chance(20) {
            all.push(explainer.take());
        }
    }
    all.push(explainer.finish());
    all
}

/// Compares a system with the naive rules; returns how many ticks were compared.
fn compare(seed: u64, kinds: &mut HashMap<String, usize>) -> usize {
    let system = System::random(seed);
    let naive = Naive::new(&system);
    let all = explained(&system, seed);
    let wanted = system.insts.iter().filter(|inst| inst.is_wanted).count();
    assert_eq!(all.iter().map(Explanations::len).sum::<usize>(), wanted, "seed {seed}");
    let mut ticks = 0;
    for one in all.iter().flat_map(Explanations::iter) {
        let inst = system.insts.iter().find(|inst| inst.actor == one.actor).unwrap();
        assert_eq!((one.begin, Some(one.end)), (inst.begin as i64, inst.end.map(|end| end as i64)));
        let activation = system.events.iter().find(|(_, event)| event.target == Some(one.actor));
        let by = activation.map(|(_, event)| (event.source, event.triggered_by)).unwrap_or_default();
        assert_eq!((one.activated_by, one.triggered_by), by);
        let mut now = one.begin;
        for (n, part) in one.parts.iter().enumerate() {
            assert_eq!(part.begin, now, "seed {seed}: {one:?}");
            assert!(part.begin < part.end, "seed {seed}: {one:?}");
            now = part.end;
            if let Some(next) = one.parts.get(n + 1) {
                let moved = Part { begin: next.begin, end: next.end, ..*part };
                assert_ne!(moved, *next, "seed {seed}: {one:?}");
            }
            for time in part.begin..part.end {
                let expected = naive.tick(inst, time as usize);
                let found = Part { begin: time, end: time + 1, ..*part };
                assert_eq!(found, expected, "seed {seed}, {:?} at {time}: {one:?}", one.actor);
                let reason = part.reason.map(|reason| format!("{reason:?}").replace(char::is_numeric, ""));
                let by = (part.by.is_some(), part.holder_state, part.by_behind.is_some());
                *kinds.entry(format!("{:?} {reason:?} {by:?}", part.kind)).or_default() += 1;
                ticks += 1;
            }
        }
        assert_eq!(now, one.end, "seed {seed}: {one:?}");
    }
    ticks
}

#[test]
fn random_systems_are_explained_tick_by_tick() {
    let seeds = 2000;
    let mut kinds = HashMap::new();
    let ticks: usize = (1..=seeds).map(|seed| compare(seed, &mut kinds)).sum();
    let mut kinds: Vec<_> = kinds.into_iter().collect();
    kinds.sort();
    for (kind, count) in &kinds {
        println!("{count:8} {kind}");
    }
    println!("{ticks} ticks");
    assert!(ticks > 100 * seeds as usize);
    assert!(kinds.len() >= 20, "all kinds come");
}
