//! What an observer makes of small recordings that were written by hand.

use super::super::{
    Action, Assumption, Bound, CoreId, Curve, Evidence, Facts, Job, LockKind, Observer, Options, Preemption,
    Process, ProcessFacts, ProcessId, Reason, Seen, Uncovered, bounds,
};
use super::{event, isr, task};
use std::collections::{BTreeMap, BTreeSet};

const FROM_BOOT: Options = Options { arrivals: 8, from_boot: true };

/// Lines of time, process and action: `+` activates, `s` starts, `r` resumes, `p` preempts, `t` terminates,
/// `w` waits, `e` releases (its event is set), `l` takes lock 0, `u` frees it, `o` polls, `n` runs, `k`
/// parks, `q` polls after parking, `x` is a lost activation. All on core 0.
fn facts_of(processes: Vec<Process>, options: Options, lines: &str) -> Facts {
    let mut observer = Observer::new(processes, &[LockKind::Ceiling], options);
    let mut end = 0;
    for line in lines.split_whitespace() {
        let (time, what) = line.split_once(':').unwrap();
        let (id, action) = what.split_at(1);
        let action = match action {
            "+" => Action::Activate,
            "s" => Action::Start(0),
            "r" => Action::Resume(0),
            "p" => Action::Preempt,
            "t" => Action::Terminate,
            "w" => Action::Wait,
            "e" => Action::Release,
            "l" => Action::Take(0),
            "u" => Action::Free(0),
            "o" => Action::Poll,
            "n" => Action::Run,
            "k" => Action::Park,
            "q" => Action::PollParking(0),
            "x" => Action::Lose,
            other => panic!("{other}"),
        };
        end = time.parse().unwrap();
        observer.event(&event(end, id.parse().unwrap(), action));
    }
    observer.finish(end)
}

fn seen(facts: &Facts, id: ProcessId) -> &Seen {
    &facts.processes[id].seen
}

#[test]
fn times_of_a_preempted_task() {
    let lines = "0:0+ 2:0s 10:1+ 10:0p 13:1s 20:1t 24:0r 30:0t 100:0+ 101:0s 105:0t";
    let facts = facts_of(vec![task(1), task(2)], FROM_BOOT, lines);
    let low = &facts.processes[0];
    assert_eq!((low.least, low.most), (Some(4), 14));
    assert_eq!((low.start_switch, low.resume_switch), (2, 4));
    assert_eq!(facts.processes[1].start_switch, 3);
    assert_eq!(low.seen.worst, Some(Job { arrival: 0, end: 30, cost: 14, inversion: 0 }));
    assert_eq!((low.seen.jobs, low.arrivals.least_distance(2)), (2, 100));
    // 3 + 7 of the other one, and 4 to come back.
    let Bound::Ticks(window) = &bounds(&facts)[0].bound else { panic!() };
    assert_eq!((window.bound, window.ends.as_slice()), (30, [30].as_slice()));
}

#[test]
fn sections_and_who_is_blocked() {
    let lines = "0:0+ 0:0s 5:0l 7:1+ 9:0u 9:0p 9:1s 12:1t 12:0r 15:0t \
                 50:1+ 50:1s 51:1l 52:1u 53:1t 90:0+ 90:0s 91:0l 92:2+ 92:0p 92:2s 96:2t 96:0r 99:0u 100:0t";
    let facts = facts_of(vec![task(1), task(2), isr(1)], FROM_BOOT, lines);
    assert_eq!(facts.processes[0].sections, BTreeMap::from([(0, 4)]));
    assert_eq!(facts.locks[0].users, BTreeSet::from([0, 1]));
    assert_eq!((seen(&facts, 1).inversion, seen(&facts, 1).inversions.get(&0)), (2, Some(&2)));
    let all = bounds(&facts);
    let Bound::Ticks(window) = &all[1].bound else { panic!() };
    assert_eq!((window.blocking.total(), window.blocking.by), (4, Some((0, Reason::Section(0)))));
    assert!(all[1].assumptions.contains(&Assumption::OneSection) && all[1].contradictions.is_empty());
    let Bound::Ticks(window) = &all[2].bound else { panic!() };
    assert_eq!((window.blocking.total(), window.bound), (0, 4));
}

#[test]
fn blocking_without_a_reason_is_reported() {
    let facts = facts_of(vec![task(1), task(2)], FROM_BOOT, "0:0+ 0:0s 3:1+ 8:0p 8:1s 9:1t 9:0r 20:0t");
    let of = &bounds(&facts)[1];
    let Bound::Ticks(window) = &of.bound else { panic!() };
    assert_eq!((window.blocking.explained, window.blocking.longest, window.bound), (0, 5, 6));
    let found = of.contradictions[0];
    assert_eq!((found.of, found.by, found.amount), (Assumption::OneSection, Some(0), 5));
    assert_eq!((found.what, of.is_exceeded()), (Evidence::Inversion, false));
    assert!(of.assumptions.contains(&Assumption::SeenBlocking));
}

#[test]
fn a_task_that_waits_is_several_jobs() {
    let lines = "0:0+ 0:0s 4:0w 14:0e 14:0r 20:0t 50:0+ 50:0s 52:0w 60:0e 61:0r 63:0t";
    let facts = facts_of(vec![task(1)], FROM_BOOT, lines);
    let of = &facts.processes[0];
    assert_eq!((of.seen.jobs, of.seen.waits, of.seen.worst_instance), (4, 2, Some(20)));
    assert_eq!((of.activations.least_distance(2), of.arrivals.least_distance(2)), (50, 10));
    assert_eq!((of.least, of.most, of.demand.as_slice()), (Some(2), 6, [6, 10, 12, 14].as_slice()));
    assert_eq!(of.seen.worst.map(|job| job.response()), Some(6));
    assert_eq!((of.start_switch, of.resume_switch), (1, 0));
    assert!(bounds(&facts)[0].assumptions.contains(&Assumption::Segments));
}

#[test]
fn an_instance_behind_one_that_waits_arrives_at_its_end() {
    let lines = "0:0+ 0:0s 4:0w 5:0+ 14:0e 14:0r 20:0t 20:0s 22:0w 30:0e 30:0r 31:0t";
    let facts = facts_of(vec![task(1)], FROM_BOOT, lines);
    let of = &facts.processes[0];
    assert_eq!((of.seen.pending, of.activations.least_distance(2)), (2, 5));
    assert_eq!((of.arrivals.least_distance(2), of.seen.worst.map(|job| job.response())), (6, Some(6)));
    assert_eq!(of.seen.worst_instance, Some(26));
}

#[test]
fn what_comes_before_the_recording_is_not_measured() {
    // The task was activated before; so was perhaps another one. Only after the idle time all is known.
    let lines = "5:0p 5:1s 9:1t 9:0r 12:0t 12:1+ 12:1s 14:1t 20:1+ 20:1s 29:1t 29:0+ 29:0s 33:0t";
    let facts = facts_of(vec![task(1), task(2)], Options::default(), lines);
    assert_eq!((seen(&facts, 0).incomplete, seen(&facts, 0).jobs), (1, 1));
    assert_eq!(seen(&facts, 0).worst.map(|job| job.arrival), Some(29));
    // That the low task went on says that nothing of the high one was left.
    assert_eq!((seen(&facts, 1).incomplete, seen(&facts, 1).worst_cut), (1, None));
    assert_eq!(seen(&facts, 1).worst.map(|job| (job.arrival, job.response())), Some((20, 9)));
}

#[test]
fn a_job_whose_window_was_cut_is_kept_apart() {
    // The first event is an activation, and nobody knows what runs until 40.
    let facts = facts_of(vec![task(1)], Options::default(), "0:0+ 40:0s 45:0t 60:0+ 60:0s 64:0t");
    assert_eq!(seen(&facts, 0).worst_cut.map(|job| job.response()), Some(45));
    assert_eq!(seen(&facts, 0).worst.map(|job| job.response()), Some(4));
    assert!(!bounds(&facts)[0].is_exceeded());
}

#[test]
fn starts_stand_for_activations_that_are_not_recorded() {
    let facts = facts_of(vec![task(1)], FROM_BOOT, "0:0s 4:0t 10:0s 13:0t 30:0s 35:0t");
    let of = &facts.processes[0];
    assert_eq!((of.seen.unactivated, of.seen.jobs, of.seen.incomplete), (3, 2, 1));
    assert_eq!((of.arrivals.least_distance(2), of.most), (10, 5));
    assert!(bounds(&facts)[0].assumptions.contains(&Assumption::Unactivated));
}

#[test]
fn priorities_that_do_not_hold_are_noticed() {
    // Task 1 is said to go first, and 0 starts twice although 1 is ready.
    let lines =
        "0:2+ 0:2s 1:0+ 2:1+ 5:2t 5:0s 9:0t 9:1s 12:1t 20:2+ 20:2s 21:0+ 22:1+ 25:2t 25:0s 29:0t 29:1s 32:1t";
    let facts = facts_of(vec![task(1), task(2), isr(1)], FROM_BOOT, lines);
    assert_eq!(seen(&facts, 1).overtaken, BTreeMap::from([(0, 2)]));
    let found = bounds(&facts)[1].contradictions[0];
    assert_eq!((found.of, found.by, found.amount), (Assumption::Priorities, Some(0), 2));
    assert_eq!(found.what, Evidence::Overtaken);
}

#[test]
fn a_task_that_gives_up_its_core_is_preemptive() {
    let never = Process { preemption: Preemption::Never, ..task(1) };
    let lines = "0:0+ 0:0s 3:1+ 5:0p 5:1s 9:1t 9:0r 12:0t 90:1+ 90:1s 93:1t";
    let facts = facts_of(vec![never, task(2)], FROM_BOOT, lines);
    assert_eq!(seen(&facts, 0).yields, 1);
    let of = &bounds(&facts)[0];
    let Bound::Ticks(window) = &of.bound else { panic!() };
    assert_eq!((window.bound, of.contradictions[0].what), (12, Evidence::Yielded));
}

#[test]
fn spinning_is_execution_and_lost_activations_are_none() {
    let lines = "0:0+ 0:0s 2:0o 5:0k 5:1+ 5:1s 6:1t 6:0q 8:0n 9:0t 10:0x 11:0x";
    let facts = facts_of(vec![task(1), isr(1)], FROM_BOOT, lines);
    let of = &facts.processes[0];
    assert_eq!((of.most, of.spinning, of.seen.lost, of.activations.least_distance(2)), (8, 5, 2, 11));
    assert!(bounds(&facts)[0].assumptions.contains(&Assumption::Spinning));
}

#[test]
fn several_cores_are_not_covered() {
    let mut observer = Observer::new(vec![task(1), Process { core: None, ..task(2) }], &[], FROM_BOOT);
    let mut add = |time, id, action| observer.event(&event(time, id, action));
    let run = |core: CoreId| Action::Start(core);
    for (time, id, action) in [
        (0, 1, Action::Activate),
        (0, 1, run(0)),
        (4, 1, Action::Preempt),
        (4, 1, Action::Resume(1)),
        (9, 1, Action::Terminate),
        (9, 0, Action::Activate),
        (9, 0, run(0)),
        (12, 0, Action::Terminate),
    ] {
        add(time, id, action);
    }
    let all = bounds(&observer.finish(20));
    assert_eq!(all[1].bound, Bound::NotCovered(Uncovered::Migrates));
    assert_eq!(all[1].contradictions[0].what, Evidence::Migrated);
    // All of it counts for the other one.
    assert!(matches!(&all[0].bound, Bound::Ticks(window) if window.bound == 12));
    assert_eq!(
        (all[0].contradictions[0].of, all[0].contradictions[0].by),
        (Assumption::Partitioned, Some(1))
    );
}

#[test]
fn a_bound_below_a_measurement_is_a_contradiction() {
    let mut facts = facts_of(vec![task(1)], FROM_BOOT, "0:0+ 0:0s 5:0t 10:0+ 10:0s 13:0t");
    assert!(bounds(&facts)[0].contradictions.is_empty());
    facts.processes[0].seen.worst = Some(Job { arrival: 0, end: 50, cost: 5, inversion: 40 });
    let of = &bounds(&facts)[0];
    let found = of.contradictions.last().unwrap();
    assert!(of.is_exceeded() && of.ratio() == Some(0.1));
    assert_eq!((found.of, found.amount, found.what), (Assumption::OneSection, 45, Evidence::Exceeded));
}

#[test]
fn unknown_priorities_delay_all() {
    let unknown = Process { priority: None, ..task(0) };
    let lines = "0:0+ 0:0s 4:0t 50:1+ 50:1s 57:1t 90:0+ 90:0s 94:0t";
    let facts = facts_of(vec![unknown, task(9), isr(1)], FROM_BOOT, lines);
    let all = bounds(&facts);
    for (of, expected) in all.iter().zip([11, 11]) {
        assert!(matches!(&of.bound, Bound::Ticks(window) if window.bound == expected), "{of:?}");
        assert!(of.assumptions.contains(&Assumption::UnknownPriorities));
    }
    assert_eq!(all[2].bound, Bound::NotCovered(Uncovered::NeverRan));
}

#[test]
fn a_task_that_gives_up_its_core_is_delayed_later_on() {
    // Not preempted, it is delayed before its start only: 2 + 20. Preempted, by all that arrives until its
    // end.
    let never = Process { preemption: Preemption::Never, ..task(1) };
    let (short, long) = (Curve::periodic(10, 0, 0), Curve::periodic(1_000, 0, 0));
    let processes = vec![ProcessFacts::of_model(never, long, 20), ProcessFacts::of_model(task(2), short, 2)];
    let mut facts = Facts { processes, ..Facts::default() };
    for (yields, expected) in [(0, 22), (1, 26)] {
        facts.processes[0].seen.yields = yields;
        assert!(matches!(&bounds(&facts)[0].bound, Bound::Ticks(window) if window.bound == expected));
    }
}

#[test]
fn several_that_block_one_job_count_together() {
    // Both run for 3 although 2 is ready, which no section explains.
    let lines = "0:0+ 0:0s 2:2+ 5:0p 5:1+ 5:1s 8:1p 8:2s 9:2t 9:1r 10:1t 10:0r 12:0t";
    let facts = facts_of(vec![task(1), task(2), task(3)], FROM_BOOT, lines);
    let Bound::Ticks(window) = &bounds(&facts)[2].bound else { panic!() };
    assert_eq!((window.blocking.longest, window.bound), (6, 7));
    assert_eq!(seen(&facts, 2).inversions, BTreeMap::from([(0, 3), (1, 3)]));
}

#[test]
fn a_task_that_runs_out_of_turn_says_nothing_about_the_past() {
    // That 0 runs although 1 is ready does not mean that nothing above it was left before the recording.
    let facts = facts_of(
        vec![task(1), task(2)],
        Options::default(),
        "0:1+ 0:0+ 1:0s 5:1+ 9:0p 9:1s 12:1t 12:1s 15:1t",
    );
    assert_eq!(seen(&facts, 1).worst, None);
    assert_eq!(seen(&facts, 1).worst_cut.map(|job| job.response()), Some(12));
}

#[test]
fn what_a_gap_of_one_core_hides_is_no_time_without_arrivals() {
    // A task every 10 on each of two cores; the records of core 0 from 95 to 9,895 are lost.
    let of = |hides: bool| {
        let mut observer = Observer::new(vec![task(1), task(1)], &[], FROM_BOOT);
        for time in (0..10_000).step_by(10) {
            if hides && time == 100 {
                observer.gap(Some(0), 9_895);
            }
            let seen = |core: usize| core == 1 || !hides || !(100..9_895).contains(&time);
            for core in 0..2 {
                // Others activate it also in the gap, now and then.
                if seen(core) || time % 1_000 == 0 {
                    observer.event(&event(time, core, Action::Activate));
                }
                if seen(core) {
                    observer.event(&event(time, core, Action::Start(core)));
                }
            }
            for core in (0..2).filter(|core| seen(*core)) {
                observer.event(&event(time + 4, core, Action::Terminate));
            }
        }
        observer.finish(10_000).processes.into_iter().map(|of| of.activations.least_distance(101)).collect()
    };
    let (whole, hidden): (Vec<i64>, Vec<i64>) = (of(false), of(true));
    assert_eq!(whole, [1_000, 1_000]);
    assert!((900..=1_000).contains(&hidden[0]) && hidden[1] == 1_000, "{hidden:?}");
}

#[test]
fn what_is_open_at_a_gap_counts_as_far_as_it_is_known() {
    let mut observer = Observer::new(vec![task(1)], &[], FROM_BOOT);
    let run = |observer: &mut Observer, from: i64, step: i64| {
        observer.event(&event(from, 0, Action::Activate));
        observer.event(&event(from, 0, Action::Start(0)));
        observer.event(&event(from + 5, 0, Action::Wait));
        observer.event(&event(from + 5 + step, 0, Action::Release));
        observer.event(&event(from + 5 + step, 0, Action::Resume(0)));
        observer.event(&event(from + 7 + step, 0, Action::Terminate));
    };
    run(&mut observer, 0, 10);
    observer.gap(None, 90);
    // Between its parts of 2 and 5 others may be missing.
    run(&mut observer, 100, 10);
    let facts = observer.finish(200);
    assert_eq!(facts.processes[0].demand, [5, 7]);
    assert_eq!(facts.processes[0].arrivals.least_distance(2), 15);
    // Two that are still pending at the end have arrived.
    let facts = facts_of(vec![task(1)], FROM_BOOT, "0:0+ 0:0s 3:0+ 5:0+ 6:0p");
    assert_eq!((facts.processes[0].arrivals.least_distance(3), seen(&facts, 0).incomplete), (5, 3));
    assert_eq!(facts.processes[0].most, 6);
}
