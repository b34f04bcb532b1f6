//! Gaps of one CPU, in which the others go on, against lines and rows worked out by hand.

use super::native::assert_table;
use super::*;

/// Two threads run; then CPU 1 has a gap `[100, 200)`, and the rest is of CPU 0.
fn around_a_gap_of_cpu_1(rest: Vec<Ev>) -> Run {
    let other = Ev { cpu: 1, ..th(60, RUNNING, 20, 1) };
    let mut steps: Vec<Step> = [begun(0), th(50, RUNNING, 10, 1), other].map(Step::Event).into();
    steps.push(Step::Gap(100, 200));
    // Stored for the other CPU, too.
    steps.push(Step::Gap(100, 200));
    steps.extend(rest.into_iter().map(Step::Event));
    run_steps(&Settings::default(), &steps, 0, 240)
}

/// Rule Q28: what the threads did until the gap.
const BEFORE: &str = "
    50, STI_unknown, 0, T, pid_10_T1, 0, activate
    50, Core_0, 0, T, pid_10_T1, 0, start
    60, STI_unknown, 0, T, pid_20_T1, 0, activate
    60, Core_1, 0, T, pid_20_T1, 0, start
    gap Core_0 100 200
    gap Core_1 100 200
    gap Core_X 100 200
    100, Core_0, 0, T, pid_10_T1, 0, preempt, gap
    100, Core_1, 0, T, pid_20_T1, 0, preempt, gap
    ";

#[test]
fn events_of_other_cpus_in_a_gap_have_their_own_times() {
    let comm = |time, event, words: &[u32]| ev(time, 0, Class::Comm, event, words);
    let mut run = around_a_gap_of_cpu_1(vec![
        th(110, RUNNING, 10, 1),
        ev(120, 0, Class::KerCall, 14, &[1, 1]),
        ev(130, 0, Class::KerExit, 14, &[0x2f, 0]),
        th(150, RECEIVE, 10, 1),
        th(160, READY, 10, 1),
        th(165, RUNNING, 10, 1),
        comm(170, 0, &[0x2f, 20]),
        comm(180, 10, &[1, 10]),
        // The gap may have its receipt: it is not the one behind.
        comm(190, 1, &[5, 30]),
        comm(210, 3, &[5, 30]),
        th(220, READY, 10, 1),
    ]);
    let inside = "
        110, Core_0, 0, T, pid_10_T1, 0, resume
        120, pid_10_T1, 0, R, K_MSG_RECEIVEV, 0, start
        130, pid_10_T1, 0, R, K_MSG_RECEIVEV, 0, terminate
        150, pid_10_T1, 0, EVENT, MSG_10, 0, wait_event
        150, Core_0, 0, T, pid_10_T1, 0, wait, RECEIVE
        160, Core_0, 0, T, pid_10_T1, 0, release
        165, Core_0, 0, T, pid_10_T1, 0, resume
        170, pid_10_T1, 0, EVENT, MSG_20, 0, set_event, pid_20_T1
        180, pid_10_T1, 0, EVENT, RPL_10_1, 0, set_event, pid_10_T1
        190, pid_10_T1, 0, EVENT, PLS_30, 0, set_event, pid_30
        210, pid_10_T1, 0, EVENT, PLS_30, 0, clear_event, 5
        220, Core_0, 0, T, pid_10_T1, 0, preempt
        ";
    assert_lines(&run, &[BEFORE, inside].concat());
    assert_table(
        &run.rows.calls.take_batch().unwrap(),
        "pid call enter_at exit_at duration outcome",
        "10 MSG_RECEIVEV 120 130 10 returned",
    );
    assert_table(
        &run.rows.messages.take_batch().unwrap(),
        "kind rcvid send_at receive_at reply_at outcome",
        "message 47 170 - 180 replied
         pulse 5 190 - - cut
         pulse 5 - 210 - received",
    );
    assert_table(
        &run.rows.states.take_batch().unwrap(),
        "pid state begin_at end_at complete",
        "10 RUNNING 50 100 false
         20 RUNNING 60 100 false
         10 RUNNING 110 150 false
         10 RECEIVE 150 160 false
         10 READY 160 165 false
         10 RUNNING 165 220 false
         10 READY 220 240 false",
    );
    // What runs when the gap ends is known; nothing else of the gap is.
    assert_table(
        &run.derived.states.take_batch().unwrap(),
        "process state core begin_at end_at",
        "pid_10_T1 running Core_0 50 100
         pid_20_T1 running Core_1 60 100
         pid_10_T1 running Core_0 200 220
         pid_10_T1 ready Core_0 220 240",
    );
}

#[test]
fn who_does_not_run_when_a_gap_ends_may_have_run_in_it() {
    let mut run = around_a_gap_of_cpu_1(vec![
        th(110, RUNNING, 10, 1),
        ev(120, 0, Class::KerCall, 11, &[0x4000_0001, 1]),
        th(130, REPLY, 10, 1),
        th(210, RUNNING, 10, 1),
        ev(220, 0, Class::KerExit, 11, &[0, 0]),
    ]);
    let inside = "
        110, Core_0, 0, T, pid_10_T1, 0, resume
        120, pid_10_T1, 0, R, K_MSG_SENDV, 0, start
        130, pid_10_T1, 0, R, K_MSG_SENDV, 0, suspend
        130, Core_0, 0, T, pid_10_T1, 0, wait, REPLY
        200, Core_0, 0, T, pid_10_T1, 0, release, gap
        200, Core_X, 0, T, pid_10_T1, 0, resume, gap
        200, pid_10_T1, 0, R, K_MSG_SENDV, 0, resume
        200, pid_10_T1, 0, R, K_MSG_SENDV, 0, terminate, gap
        200, Core_X, 0, T, pid_10_T1, 0, wait, gap
        210, Core_X, 0, T, pid_10_T1, 0, release, direct
        210, Core_0, 0, T, pid_10_T1, 0, resume
        ";
    assert_lines(&run, &[BEFORE, inside].concat());
    assert_eq!(run.log.count_of("unmatched-exit"), 1);
    assert_table(&run.rows.calls.take_batch().unwrap(), "enter_at exit_at outcome", "120 - cut");
    assert_table(
        &run.rows.states.take_batch().unwrap(),
        "pid state begin_at end_at complete",
        "10 RUNNING 50 100 false
         20 RUNNING 60 100 false
         10 RUNNING 110 130 false
         10 REPLY 130 200 false
         10 RUNNING 210 240 false",
    );
    assert_table(
        &run.derived.states.take_batch().unwrap(),
        "process state begin_at end_at",
        "pid_10_T1 running 50 100
         pid_20_T1 running 60 100
         pid_10_T1 running 210 240",
    );
    assert_table(
        &run.derived.runnables.take_batch().unwrap(),
        "runnable start_at terminate_at running suspended complete",
        "K_MSG_SENDV 120 - 0 0 false",
    );
    assert_eq!(run.derived.runnable_states.len(), 0);
}
