//! Numbers of the literature, and of the tests of other tools.

use super::super::{
    Bound, Curve, Facts, Failure, Instants, LockFacts, LockKind, Preemption, Process, ProcessFacts, Window,
    bounds,
};
use super::task;
use std::collections::BTreeSet;

/// Processes of one core, with exact times.
fn facts(processes: Vec<(Process, Curve, i64)>) -> Facts {
    let of = |(process, arrivals, most)| ProcessFacts::of_model(process, arrivals, most);
    Facts {
        processes: processes.into_iter().map(of).collect(),
        instants: Instants::Exact,
        ..Facts::default()
    }
}

fn windows(facts: &Facts) -> Vec<Option<Window>> {
    let of = |bound| match bound {
        Bound::Ticks(window) => Some(window),
        _ => None,
    };
    bounds(facts).into_iter().map(|bound| of(bound.bound)).collect()
}

fn ticks(facts: &Facts) -> Vec<Option<i64>> {
    windows(facts).into_iter().map(|window| window.map(|window| window.bound)).collect()
}

/// Execution times and periods, the highest priority first.
fn periodic(tasks: &[(i64, i64)], preemption: Preemption) -> Facts {
    let of = |(index, (most, period)): (usize, &(i64, i64))| {
        let process = Process { preemption, ..task(1000 - u32::try_from(index).unwrap()) };
        (process, Curve::periodic(*period, 0, 0), *most)
    };
    facts(tasks.iter().enumerate().map(of).collect())
}

#[test]
fn pycpa_test_spp() {
    // pyCPA, test/test_spp.py (P. Axer, TU Braunschweig). R1: T11 and T12; a lower number goes first there.
    let first =
        facts(vec![(task(2), Curve::periodic(30, 5, 0), 10), (task(1), Curve::periodic(15, 6, 0), 3)]);
    let found = windows(&first);
    let ends: Vec<_> = found.iter().flatten().map(|window| window.ends.clone()).collect();
    assert_eq!(ends, [vec![10], vec![13, 16]]);
    assert_eq!(ticks(&first), [Some(10), Some(13)]);
    // R2: T21 and T22 are activated at the ends of T11 and T12. Their jitter is that of those, and the range
    // of their response times: 5 + (10 − 5) and 6 + (13 − 1), and they are a best execution time apart at
    // least.
    let second =
        facts(vec![(task(2), Curve::periodic(30, 10, 5), 2), (task(1), Curve::periodic(15, 18, 1), 9)]);
    let found = windows(&second);
    let ends: Vec<_> = found.iter().flatten().map(|window| window.ends.clone()).collect();
    assert_eq!(ends, [vec![2], vec![11, 20, 31, 40]]);
    assert_eq!(ticks(&second), [Some(2), Some(19)]);
    assert_eq!(found[1].as_ref().unwrap().job, 2);
}

#[test]
fn lehoczky_1990() {
    // J. Lehoczky, "Fixed Priority Scheduling of Periodic Task Sets with Arbitrary Deadlines", RTSS 1990,
    // examples 2 and 3; bounds as in the tests of response-time-analysis 0.3.2.
    assert_eq!(ticks(&periodic(&[(52, 100), (52, 140)], Preemption::Full)), [Some(52), Some(156)]);
    assert_eq!(ticks(&periodic(&[(52, 140), (52, 100)], Preemption::Full)), [Some(52), Some(108)]);
    let third = periodic(&[(26, 70), (62, 100)], Preemption::Full);
    assert_eq!(ticks(&third), [Some(26), Some(118)]);
    let window = windows(&third)[1].clone().unwrap();
    // Not the first job is the slowest one.
    assert_eq!((window.job, window.ends.len(), window.length), (5, 7, 694));
}

#[test]
fn preemptive_sets_of_response_time_analysis() {
    // response-time-analysis 0.3.2 (B. Brandenburg), src/fixed_priority/tests.rs: fp_fp_rta_basic and
    // fp_fp_rta_overload.
    let basic = periodic(&[(1, 4), (1, 5), (3, 9), (3, 18)], Preemption::Full);
    assert_eq!(ticks(&basic), [Some(1), Some(2), Some(7), Some(18)]);
    let overload = periodic(&[(1, 2), (1, 3), (3, 9), (3, 18)], Preemption::Full);
    assert_eq!(ticks(&overload), [Some(1), Some(2), None, None]);
    let millionths = 1_166_666;
    assert_eq!(bounds(&overload)[2].bound, Bound::Unbounded(Failure::Overload { millionths }));
}

#[test]
fn sets_of_schedcat() {
    // Sets of SchedCAT, as in fp_fp_rta_schedcat of response-time-analysis: time, period, bound.
    let sets: &[&[(i64, i64, i64)]] = &[
        &[(5995, 43000, 5995), (2497, 44000, 8492), (18376, 52000, 26868), (7724, 55000, 34592)],
        &[
            (108, 6000, 108),
            (1202, 13000, 1310),
            (8280, 30000, 9698),
            (7904, 30000, 19020),
            (569, 28000, 19589),
            (117, 22000, 19706),
            (1288, 29000, 20994),
        ],
        &[
            (1064, 12000, 1064),
            (409, 13000, 1473),
            (1671, 41000, 3144),
            (2341, 33000, 5485),
            (512, 31000, 5997),
            (133, 31000, 6130),
            (2387, 32000, 8517),
            (5518, 63000, 15508),
            (1391, 24000, 16899),
        ],
        &[(17116, 50000, 17116), (7200, 100000, 24316), (14384, 138000, 38700), (13596, 122000, 69412)],
    ];
    for set in sets {
        let tasks: Vec<(i64, i64)> = set.iter().map(|(most, period, _)| (*most, *period)).collect();
        let expected: Vec<_> = set.iter().map(|(_, _, bound)| Some(*bound)).collect();
        assert_eq!(ticks(&periodic(&tasks, Preemption::Full)), expected);
    }
}

#[test]
fn non_preemptive_sets_of_response_time_analysis() {
    // The same file: fp_np_rta_1 and fp_np_rta_overload.
    let set = periodic(&[(20, 70), (20, 80), (35, 200)], Preemption::Never);
    assert_eq!(ticks(&set), [Some(54), Some(74), Some(75)]);
    let set = periodic(&[(10, 20), (20, 50), (30, 200)], Preemption::Never);
    assert_eq!(ticks(&set), [Some(39), Some(79), None]);
}

#[test]
fn the_slowest_message_is_not_the_first_one() {
    // R. Davis, A. Burns, R. Bril, J. Lukkien, "Controller Area Network (CAN) schedulability analysis:
    // Refuted, revisited and revised", 2007: three messages of 1 ms, every 2.5, 3.5 and 3.5 ms; in units of
    // 10 µs.
    let set = periodic(&[(100, 250), (100, 350), (100, 350)], Preemption::Never);
    let last = windows(&set)[2].clone().unwrap();
    assert_eq!((last.ends.as_slice(), last.job, last.bound), ([300, 700].as_slice(), 2, 350));
}

/// With sections of the length `blocks` that each task may be blocked with, in ticks.
fn with_sections(set: &mut Facts, blocks: &[i64]) {
    let idle = set.processes.len();
    set.processes.push(ProcessFacts::of_model(task(0), Curve::never(), 0));
    for (user, block) in blocks.iter().enumerate() {
        // With exact times, what blocks has begun a tick before.
        set.processes[idle].sections.insert(user, block + 1);
        set.locks.push(LockFacts { kind: LockKind::Ceiling, users: BTreeSet::from([user, idle]) });
    }
}

#[test]
fn audsley_1993() {
    // N. Audsley et al., "Applying new scheduling theory to static priority pre-emptive scheduling", Software
    // Engineering Journal, 1993, table 3, as in fp_fnps_rta_audsley of response-time-analysis: time, period,
    // blocking, jitter, and the bound from the arrival on.
    let rows: [(i64, i64, i64, i64, i64); 18] = [
        (51, 1000, 0, 0, 51),
        (3000, 2_000_000, 300, 0, 3504),
        (2000, 25000, 600, 0, 5906),
        (5000, 25000, 900, 0, 11512),
        (1000, 40000, 1350, 0, 13064),
        (3000, 50000, 1350, 0, 16217),
        (5000, 50000, 750, 0, 20821),
        (8000, 59000, 750, 0, 36637),
        (9000, 80000, 1350, 0, 47798),
        (2000, 80000, 450, 0, 48949),
        (5000, 100_000, 1050, 0, 99150),
        (1000, 200_000, 450, 1000, 99550),
        (3000, 200_000, 450, 0, 140_641),
        (1000, 200_000, 450, 0, 141_692),
        (1000, 200_000, 1350, 0, 143_694),
        (3000, 1_000_000, 0, 0, 145_446),
        (1000, 1_000_000, 0, 0, 146_497),
        (1000, 1_000_000, 0, 0, 147_548),
    ];
    for (index, row) in rows.iter().enumerate() {
        let of = |(index, row): (usize, &(i64, i64, i64, i64, i64))| {
            (task(100 - u32::try_from(index).unwrap()), Curve::periodic(row.1, row.3, 0), row.0)
        };
        let mut set = facts(rows.iter().enumerate().map(of).collect());
        let mut blocks = vec![0; rows.len()];
        // The table has the blocking of each task on its own: a section with the ceiling of that task would
        // block those in between.
        blocks[index] = row.2;
        with_sections(&mut set, &blocks);
        assert_eq!(ticks(&set)[index], Some(row.4), "task {index}");
    }
}

#[test]
fn sections_block_who_is_below_their_ceiling() {
    // response-time-analysis, fp_fnps_rta_1: sections of 2, 3 and 4 that nothing interrupts.
    let mut set = periodic(&[(4, 12), (6, 20), (8, 40)], Preemption::Full);
    for (process, longest) in [2, 3, 4].into_iter().enumerate() {
        set.processes[process].sections.insert(0, longest);
    }
    set.locks.push(LockFacts { kind: LockKind::Ceiling, users: BTreeSet::from([0, 1, 2]) });
    assert_eq!(ticks(&set), [Some(7), Some(17), Some(32)]);
    // Without the first task as a user, it is not blocked. A spinlock has no ceiling at all.
    set.locks[0].users = BTreeSet::from([1, 2]);
    assert_eq!(ticks(&set)[..2], [Some(4), Some(17)]);
    set.locks[0].kind = LockKind::Spin;
    assert_eq!(ticks(&set)[..2], [Some(4), Some(10)]);
}

#[test]
fn pycpa_event_model() {
    // pyCPA, test/event_model_tests.py: P = 10, J = 99. From η to δ and back, all values are the same.
    let curve = Curve::periodic(10, 99, 0);
    for n in 0..100u64 {
        let expected = (i64::try_from(n).unwrap() - 1).max(0) * 10;
        assert_eq!(curve.least_distance(n), (expected - 99).max(0));
        let distance = curve.least_distance(n.max(1));
        assert!(curve.most_arrivals_closed(distance) >= n);
        if distance > 0 {
            assert!(curve.most_arrivals(distance) < n);
        }
        if n > 1 {
            let greatest = curve.greatest_distance(n).unwrap();
            assert_eq!(greatest, expected + 99);
            assert_eq!((curve.least_arrivals(greatest - 1), curve.least_arrivals(greatest)), (n - 2, n - 1));
        }
    }
}
