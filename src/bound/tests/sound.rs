//! The bounds against simulated systems, and the search for them against one that tries every tick.

use super::super::{
    Action, Bound, Curve, Facts, Instants, Kind, Observer, Options, Place, Preemption, Process, ProcessFacts,
    bounds,
};
use super::draw::{self, Features};
use super::simulator::{self, Numbers, SimTask, Source, Step, System};
use super::task;
use std::collections::VecDeque;
use std::sync::Arc;

/// Facts of a run, and the worst response of each process as the events alone say it: instances in their
/// order.
fn observe(system: &System, numbers: &mut Numbers) -> (Facts, Vec<i64>) {
    let (processes, locks) = draw::described(system);
    let mut open: Vec<VecDeque<i64>> = vec![VecDeque::new(); processes.len()];
    let mut worst = vec![0; processes.len()];
    let mut observer = Observer::new(processes, &locks, Options { from_boot: true, ..Options::default() });
    simulator::run(system, numbers, |event| {
        observer.event(&event);
        match event.action {
            Action::Activate => open[event.process].push_back(event.time),
            Action::Terminate => {
                let response = event.time - open[event.process].pop_front().unwrap();
                worst[event.process] = response.max(worst[event.process]);
            }
            _ => {}
        }
    });
    (observer.finish(system.length), worst)
}

fn ticks(bound: &Bound) -> Option<i64> {
    match bound {
        Bound::Ticks(window) => Some(window.bound),
        _ => None,
    }
}

#[test]
fn bounds_are_never_below_the_worst_of_a_simulation() {
    for (switches, waits) in [(false, false), (true, false), (true, true)] {
        let mut exact = 0;
        for seed in 1..120u64 {
            let mut numbers = Numbers(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
            let system = draw::system(&mut numbers, Features { switches, waits }, 8_000);
            let (facts, worst) = observe(&system, &mut numbers);
            for (of, worst) in bounds(&facts).iter().zip(worst) {
                assert_eq!(
                    (of.contradictions.as_slice(), of.is_exceeded()),
                    ([].as_slice(), false),
                    "{seed}"
                );
                let seen = &facts.processes[of.process].seen;
                assert_eq!(seen.worst_cut, None, "{seed}: the recording begins with the system");
                assert_eq!(seen.worst_instance.unwrap_or(0), worst, "{seed}");
                let measured = of.measured.map_or(0, |job| job.response());
                if seen.waits == 0 {
                    assert_eq!(measured, worst, "{seed}");
                }
                let bound = ticks(&of.bound).unwrap();
                assert!(bound >= measured, "{seed}: {of:?}");
                exact += usize::from(bound == measured);
            }
        }
        assert!(exact > 20, "{exact} bounds are exact");
    }
}

#[test]
fn the_order_that_is_seen_is_that_of_the_priorities() {
    let (mut known, mut all, mut better) = (0, 0, 0);
    for seed in 1..150u64 {
        let mut numbers = Numbers(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let system =
            draw::system(&mut numbers, Features { switches: seed % 2 == 0, waits: seed % 3 == 0 }, 8_000);
        let (processes, locks) = draw::described(&system);
        let hidden = |process: &Process| Process {
            priority: None,
            preemption: Preemption::Unknown,
            ..process.clone()
        };
        let observe = |processes: Vec<Process>| {
            let options = Options { from_boot: true, ..Options::default() };
            let mut observer = Observer::new(processes, &locks, options);
            simulator::run(&system, &mut Numbers(seed), |event| observer.event(&event));
            observer.finish(system.length)
        };
        let facts = observe(processes.iter().map(hidden).collect());
        let Some(order) = facts.order() else { continue };
        for (one, process) in processes.iter().enumerate() {
            for (other, of) in processes.iter().enumerate().filter(|(other, _)| *other != one) {
                if let (true, Some(found)) = (process.kind == of.kind, order.compare(one, other)) {
                    assert_eq!(Some(found), process.compare(of), "{seed}: {one} {other} {system:?}");
                    known += 1;
                }
                all += usize::from(process.kind == of.kind);
            }
        }
        let placed = |(process, of): (usize, &Process)| {
            let place = Some(Place { process, order: Arc::clone(&order) });
            Process { place, ..hidden(of) }
        };
        let found = observe(processes.iter().enumerate().map(placed).collect());
        for (with, without) in bounds(&found).iter().zip(bounds(&facts)) {
            assert!(!with.is_exceeded(), "{seed}: {with:?}");
            if let (Some(with), Some(without)) = (ticks(&with.bound), ticks(&without.bound)) {
                better += usize::from(with < without);
            }
        }
    }
    assert!(known > all / 2 && better > 100, "{known} of {all} pairs, {better} bounds are better");
}

#[test]
fn independent_preemptive_tasks_have_exact_bounds() {
    // All arrive at once, and nothing varies: that is the worst case, and the simulation meets it.
    let mut numbers = Numbers(77);
    for _ in 0..60 {
        let count = numbers.between(1, 5);
        let of = |number: i64, numbers: &mut Numbers| {
            let period = numbers.between(10, 200);
            let source = Source { offset: 0, period, jitter: 0, burst: (1, 0), sporadic: false };
            let most = numbers.between(1, (period / count).max(1));
            let priority = number as u32 + 1;
            let steps = vec![Step::Run(most, most)];
            SimTask { is_isr: false, priority, threshold: priority, activations: 100, source, steps }
        };
        let tasks: Vec<SimTask> = (0..count).map(|number| of(number, &mut numbers)).collect();
        let system = System {
            tasks,
            ceilings: Vec::new(),
            switches: [0; 3],
            breaks: false,
            arrivals_first: false,
            length: 8_000,
        };
        let (mut facts, worst) = observe(&system, &mut numbers);
        facts.instants = Instants::Exact;
        for (of, worst) in bounds(&facts).iter().zip(worst) {
            if let Bound::Ticks(window) = &of.bound
                && window.length < 4_000
            {
                assert_eq!(window.bound, worst, "{system:?} {of:?}");
            }
        }
    }
}

/// The definition, tick by tick: the bound of a process of one core, without switches and sections.
fn naive(facts: &Facts, of: usize) -> i64 {
    let rounded = facts.instants == Instants::Rounded;
    let own = &facts.processes[of];
    let level = |process: &Process| (process.kind, process.priority.unwrap());
    let others = || facts.processes.iter().enumerate().filter(|(id, _)| *id != of).map(|(_, other)| other);
    let above = |other: &ProcessFacts| match own.process.preemption {
        Preemption::Never => other.process.kind > own.process.kind,
        Preemption::Above(threshold) => level(&other.process) > (own.process.kind, threshold),
        _ => level(&other.process) > level(&own.process),
    };
    let keeps = |other: &ProcessFacts| match other.process.preemption {
        Preemption::Never => other.process.kind >= own.process.kind,
        Preemption::Above(threshold) => (other.process.kind, threshold) >= level(&own.process),
        _ => false,
    };
    let lower = |other: &&ProcessFacts| level(&other.process) < level(&own.process);
    let blocks =
        others().filter(lower).filter(|other| keeps(other)).map(|other| other.most - i64::from(!rounded));
    let blocking = blocks.max().unwrap_or(0).max(0);
    let first = |from: i64, work: &dyn Fn(i64) -> i64| (from..).find(|at| work(*at) <= *at).unwrap();
    let count = |process: &ProcessFacts, length: i64, closed: bool| {
        (1..).take_while(|n| process.arrivals.least_distance(*n) < length + i64::from(closed)).count() as i64
    };
    let higher = |length: i64, closed: bool| -> i64 {
        others().filter(|other| !lower(other)).map(|other| count(other, length, closed) * other.most).sum()
    };
    let length = first(1, &|at| blocking + count(own, at, rounded) * own.most + higher(at, rounded));
    let mut bound = 0;
    for q in 1.. {
        let arrival = own.arrivals.least_distance(q);
        if q > 1 && arrival >= length + i64::from(rounded) {
            return bound;
        }
        let before = blocking + (q as i64 - 1) * own.most;
        let start = first(0, &|at| before + higher(at, true));
        let later = |at: i64| -> i64 {
            let of = |other: &ProcessFacts| {
                (count(other, at, rounded) - count(other, start, true)).max(0) * other.most
            };
            others().filter(|other| !lower(other) && above(other)).map(of).sum()
        };
        let end = first(start + own.most, &|at| start + own.most + later(at));
        bound = bound.max(end - arrival);
    }
    bound
}

#[test]
fn the_search_finds_what_trying_every_tick_finds() {
    let mut numbers = Numbers(99);
    for round in 0..300 {
        let count = numbers.between(1, 5);
        let mut processes = Vec::new();
        for _ in 0..count {
            let period = numbers.between(8, 60);
            let most = numbers.between(1, (period * 9 / 10 / count).max(1));
            let curve = Curve::periodic(period, numbers.between(0, 50), numbers.between(0, 4));
            let priority = numbers.between(1, 4) as u32;
            let preemption = match numbers.below(4) {
                0 => Preemption::Never,
                1 => Preemption::Above(priority + numbers.below(3) as u32),
                2 => Preemption::Unknown,
                _ => Preemption::Full,
            };
            let kind = if numbers.one_in(5) { Kind::Isr } else { Kind::Task };
            let process = Process { kind, preemption, ..task(priority) };
            processes.push(ProcessFacts::of_model(process, curve, most));
        }
        let instants = if numbers.one_in(2) { Instants::Exact } else { Instants::Rounded };
        let facts = Facts { processes, instants, ..Facts::default() };
        for of in bounds(&facts) {
            if let Some(bound) = ticks(&of.bound) {
                assert_eq!(bound, naive(&facts, of.process), "{round} {facts:?} {of:?}");
            }
        }
    }
}

#[test]
fn a_period_with_jitter_admits_more_than_was_seen() {
    for seed in 1..40u64 {
        let mut numbers = Numbers(seed * 7_919);
        let system = draw::system(&mut numbers, Features { switches: true, waits: false }, 8_000);
        let (facts, _) = observe(&system, &mut numbers);
        let mut fitted = facts.clone();
        for process in &mut fitted.processes {
            if let Some(fit) = process.arrivals.fit() {
                process.arrivals = fit.curve();
            }
        }
        for (seen, model) in bounds(&facts).iter().zip(bounds(&fitted)) {
            if let (Some(seen), Some(model)) = (ticks(&seen.bound), ticks(&model.bound)) {
                assert!(model >= seen, "{seed}: {model} {seen}");
            }
        }
    }
}

#[test]
fn a_recording_that_begins_later_has_the_same_bounds_for_what_it_can_measure() {
    for seed in 1..60u64 {
        let mut numbers = Numbers(seed * 104_729);
        let system = draw::system(&mut numbers, Features { switches: true, waits: seed % 2 == 0 }, 8_000);
        let (processes, locks) = draw::described(&system);
        let mut observer = Observer::new(processes, &locks, Options::default());
        let (mut seen, mut lost) = (false, false);
        simulator::run(&system, &mut numbers, |event| {
            // Nothing before 1,234 is recorded, and nothing in a gap later on.
            if event.time < 1_234 || (4_000..4_321).contains(&event.time) {
                lost = true;
                return;
            }
            if std::mem::take(&mut lost) && seen {
                observer.gap(None, event.time);
            }
            seen = true;
            observer.event(&event);
        });
        let facts = observer.finish(system.length);
        assert_eq!(facts.gaps, 1);
        for of in bounds(&facts) {
            assert!(!of.is_exceeded(), "{seed}: {of:?}");
            let seen = &facts.processes[of.process].seen;
            assert!(seen.incomplete + seen.jobs > 0, "{seed}");
        }
    }
}
