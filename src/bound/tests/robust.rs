//! Any events give facts and bounds, without a panic and in bounded memory.

use super::super::{
    Action, Bound, Curve, Facts, Failure, LockKind, Observer, Options, Preemption, Process, ProcessFacts,
    bounds,
};
use super::simulator::Numbers;
use super::{event, isr, task};

fn any_action(numbers: &mut Numbers) -> Action {
    let core = numbers.below(3) as usize;
    match numbers.below(15) {
        0..=2 => Action::Activate,
        3 => Action::Start(core),
        4 => Action::Resume(core),
        5 => Action::Preempt,
        6 => Action::Wait,
        7 => Action::Release,
        8 => Action::Poll,
        9 => Action::Run,
        10 => Action::Park,
        11 => Action::PollParking(core),
        12 => Action::Terminate,
        13 => Action::Take(core),
        _ => [Action::Free(core), Action::Lose, Action::ReleaseParking][core],
    }
}

#[test]
fn any_order_of_events_is_taken() {
    for seed in 1..400u64 {
        let mut numbers = Numbers(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let unknown = Process { priority: None, preemption: Preemption::Unknown, core: None, ..task(0) };
        let never = Process { preemption: Preemption::Never, ..task(3) };
        let group = Process { preemption: Preemption::Above(4), ..task(2) };
        let processes = vec![task(1), unknown.clone(), never, group, isr(1), unknown];
        let options = Options { arrivals: seed as usize % 9, from_boot: seed % 2 == 0 };
        let mut observer = Observer::new(processes, &[LockKind::Ceiling, LockKind::Spin], options);
        let mut time = if seed % 3 == 0 { i64::MIN } else { 0 };
        let step = if seed % 3 == 0 { i64::MAX / 50 } else { 20 };
        for _ in 0..200 {
            time = time.saturating_add(numbers.below(step) - i64::from(numbers.one_in(9)) * 30);
            observer.event(&event(time, numbers.below(8) as usize, any_action(&mut numbers)));
            if numbers.one_in(40) {
                let core = (!numbers.one_in(2)).then(|| numbers.below(3) as usize);
                observer.gap(core, time.saturating_add(numbers.below(step)));
            }
        }
        let facts = observer.finish(time);
        let all = bounds(&facts);
        assert_eq!(all.len(), 6);
        assert_eq!(all, bounds(&facts));
    }
}

#[test]
fn instances_without_an_end_are_counted_and_not_kept() {
    let mut observer = Observer::new(vec![task(1)], &[], Options::default());
    for time in 0..5_000 {
        observer.event(&event(time, 0, Action::Activate));
    }
    let facts = observer.finish(5_000);
    assert_eq!((facts.processes[0].seen.pending, facts.processes[0].seen.incomplete), (1024, 5_000));
    assert_eq!(facts.processes[0].activations.least_distance(5_000), 4_999);
}

#[test]
fn loads_near_the_capacity_end() {
    // The first one takes all but a part in a million.
    let of =
        |period, most, priority| ProcessFacts::of_model(task(priority), Curve::periodic(period, 3, 0), most);
    let processes = vec![of(1_000_000_007, 999_999_999, 2), of(1_000_003, 1, 1)];
    let all = bounds(&Facts { processes, ..Facts::default() });
    assert!(matches!(all[0].bound, Bound::Ticks(_)));
    assert!(matches!(all[1].bound, Bound::Unbounded(Failure::TooLong) | Bound::Ticks(_)));
    let endless = ProcessFacts::of_model(task(3), Curve::periodic(0, 0, 0), 5);
    let all = bounds(&Facts { processes: vec![endless, of(100, 1, 1)], ..Facts::default() });
    assert!(all.iter().all(|of| matches!(of.bound, Bound::Unbounded(Failure::Overload { .. }))));
    let long = ProcessFacts::of_model(task(3), Curve::periodic(i64::MAX, 0, 0), i64::MAX);
    let all = bounds(&Facts { processes: vec![long.clone(), long], ..Facts::default() });
    assert!(all.iter().all(|of| matches!(of.bound, Bound::Unbounded(_))));
}

#[test]
fn nothing_gives_nothing() {
    assert_eq!(bounds(&Facts::default()), []);
    let facts = Observer::new(vec![task(1)], &[], Options::default()).finish(0);
    assert!(matches!(bounds(&facts)[0].bound, Bound::NotCovered(_)));
}
