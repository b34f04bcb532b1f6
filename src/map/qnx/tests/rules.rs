//! Rules of the mapping, one by one, against lines worked out by hand.

use super::*;
use crate::btf::Action;
use crate::qnx::{Flavour, Version};

fn call(time: i64, number: u16, words: &[u32]) -> Ev {
    ev(time, 0, Class::KerCall, number, words)
}

fn exit(time: i64, number: u16, words: &[u32]) -> Ev {
    ev(time, 0, Class::KerExit, number, words)
}

fn on(cpu: u8, event: Ev) -> Ev {
    Ev { cpu, ..event }
}

/// A client sends, the server gets the CPU, receives and replies, and the client continues with an error.
pub(super) fn message_passing() -> Vec<Ev> {
    vec![
        begun(0),
        th(1, RUNNING, 10, 1),
        call(2, 14, &[1, 1]),
        th(3, RECEIVE, 10, 1),
        th(3, RUNNING, 20, 1),
        call(4, 11, &[0x4000_0001, 1]),
        ev(5, 0, Class::Comm, 0, &[0x2f, 10]),
        th(6, REPLY, 20, 1),
        th(6, RUNNING, 10, 1),
        ev(7, 0, Class::Comm, 2, &[0x2f, 10]),
        exit(8, 14, &[0x2f, 0]),
        call(9, 15, &[0x2f, 0]),
        ev(10, 0, Class::Comm, 10, &[1, 20]),
        th(11, READY, 20, 1),
        exit(12, 15, &[0, 0]),
        th(13, RUNNING, 20, 1),
        exit(14, 11, &[u32::MAX, 4]),
    ]
}

#[test]
fn messages_hand_over_without_ready() {
    let run = run(&Settings::default(), &message_passing());
    assert_lines(
        &run,
        "
        1, STI_unknown, 0, T, pid_10_T1, 0, activate
        1, Core_0, 0, T, pid_10_T1, 0, start
        2, pid_10_T1, 0, R, K_MSG_RECEIVEV, 0, start
        3, pid_10_T1, 0, EVENT, MSG_10, 0, wait_event
        3, pid_10_T1, 0, R, K_MSG_RECEIVEV, 0, suspend
        3, Core_0, 0, T, pid_10_T1, 0, wait, RECEIVE
        3, STI_unknown, 0, T, pid_20_T1, 0, activate
        3, Core_0, 0, T, pid_20_T1, 0, start
        4, pid_20_T1, 0, R, K_MSG_SENDV, 0, start
        5, pid_20_T1, 0, EVENT, MSG_10, 0, set_event, pid_10_T1
        6, pid_20_T1, 0, R, K_MSG_SENDV, 0, suspend
        6, Core_0, 0, T, pid_20_T1, 0, wait, REPLY
        6, Core_0, 0, T, pid_10_T1, 0, release, direct
        6, Core_0, 0, T, pid_10_T1, 0, resume
        6, pid_10_T1, 0, R, K_MSG_RECEIVEV, 0, resume
        7, pid_10_T1, 0, EVENT, MSG_10, 0, clear_event, 2f
        8, pid_10_T1, 0, R, K_MSG_RECEIVEV, 0, terminate
        9, pid_10_T1, 0, R, K_MSG_REPLYV, 0, start
        10, pid_10_T1, 0, EVENT, RPL_20_1, 0, set_event, pid_20_T1
        11, Core_0, 0, T, pid_20_T1, 0, release
        12, pid_10_T1, 0, R, K_MSG_REPLYV, 0, terminate
        13, Core_0, 0, T, pid_10_T1, 0, preempt, implicit
        13, Core_0, 0, T, pid_20_T1, 0, resume
        13, pid_20_T1, 0, R, K_MSG_SENDV, 0, resume
        13, pid_20_T1, 0, EVENT, RPL_20_1, 0, clear_event
        14, pid_20_T1, 0, R, K_MSG_SENDV, 0, terminate, ret=-1 errno=4
        ",
    );
}

#[test]
fn existing_threads_are_distinguished_and_named() {
    let events = [
        process(0, 10, "/usr/bin/a b,c"),
        th(1, CREATE, 10, 1),
        th(2, RECEIVE, 10, 1),
        begun(3),
        th(4, CREATE, 10, 2),
        th(5, READY, 10, 2),
        th(6, MUTEX, 10, 2),
        th(7, RUNNING, 10, 1),
        ev(8, 0, Class::User, 7, &[42, 0]),
    ];
    let run = run(&Settings::default(), &events);
    assert_lines(
        &run,
        "
        1, STI_initial, 0, T, a_b_c_10_T1, 0, activate
        2, Core_X, 0, T, a_b_c_10_T1, 0, start, synth
        2, Core_X, 0, T, a_b_c_10_T1, 0, wait, RECEIVE
        4, STI_create, 0, T, a_b_c_10_T2, 0, activate
        6, Core_X, 0, T, a_b_c_10_T2, 0, start, synth
        6, Core_X, 0, T, a_b_c_10_T2, 0, wait, MUTEX
        7, Core_X, 0, T, a_b_c_10_T1, 0, release, direct
        7, Core_0, 0, T, a_b_c_10_T1, 0, resume
        8, a_b_c_10_T1, 0, SIG, USR_7, 0, write, 42
        ",
    );
}

/// The events that BTF needs and from which nothing is derived.
fn in_btf_only(run: &Run) -> Vec<String> {
    let only = run.outputs.iter().filter(|o| matches!(o, Output::Assumed(_) | Output::Closing(_)));
    only.map(|output| line(output, &run.names)).collect()
}

/// Rule Q4: the tables have neither the activation nor the start of a thread that may have run before.
#[test]
fn what_may_have_been_before_the_trace_is_in_btf_only() {
    let events = [
        th(1, CREATE, 10, 1),
        begun(2),
        th(3, RUNNING, 10, 1),
        th(4, CREATE, 10, 2),
        th(5, RUNNING, 10, 2),
        th(6, RUNNING, 20, 1),
    ];
    let expected = [
        "1, STI_initial, 0, T, pid_10_T1, 0, activate",
        "3, Core_0, 0, T, pid_10_T1, 0, start",
        "6, STI_unknown, 0, T, pid_20_T1, 0, activate",
        "6, Core_0, 0, T, pid_20_T1, 0, start",
    ];
    assert_eq!(in_btf_only(&run(&Settings::default(), &events)), expected);
}

/// Rule Q28: the first thread may have started in the gap, the second one did not exist.
#[test]
fn a_start_that_may_have_been_in_a_gap_is_in_btf_only() {
    let before = [begun(0), th(1, CREATE, 10, 1)];
    let after = [th(11, CREATE, 10, 2), th(12, RUNNING, 10, 2), th(13, RUNNING, 10, 1)];
    let mut steps: Vec<Step> = before.into_iter().map(Step::Event).collect();
    steps.push(Step::Gap(3, 10));
    steps.extend(after.into_iter().map(Step::Event));
    let run = run_steps(&Settings::default(), &steps, 0, 20);
    assert_eq!(in_btf_only(&run), ["13, Core_0, 0, T, pid_10_T1, 0, start"]);
}

/// Rule Q22: nothing tells which of several threads will receive.
#[test]
fn a_message_is_for_the_only_thread_of_a_process_or_for_the_process() {
    let send = |time| ev(time, 0, Class::Comm, 0, &[0x2f, 10]);
    let events =
        [begun(0), th(1, RUNNING, 20, 1), th(2, READY, 10, 1), send(3), th(4, READY, 10, 2), send(5)];
    let run = run(&Settings::default(), &events);
    let sent: Vec<_> = run.lines.iter().filter(|line| line.contains("set_event")).collect();
    assert_eq!(
        sent,
        [
            "3, pid_20_T1, 0, EVENT, MSG_10, 0, set_event, pid_10_T1",
            "5, pid_20_T1, 0, EVENT, MSG_10, 0, set_event, pid_10",
        ]
    );
}

/// Rule Q27.
#[test]
fn the_last_event_that_can_end_a_state_has_woken_a_thread() {
    let setup = Settings { jobs: vec!["receive".into()], ..Settings::default() };
    let to = |time, event| ev(time, 0, Class::Comm, event, &[0x4000_0001, 10]);
    let (message, pulse) = (0, 1);
    let events = [
        th(0, CREATE, 10, 1),
        th(0, RECEIVE, 10, 1),
        begun(1),
        th(2, RUNNING, 20, 1),
        to(3, message),
        to(4, pulse),
        th(5, READY, 10, 1),
        th(6, RUNNING, 10, 1),
        th(7, RECEIVE, 10, 1),
        th(8, RUNNING, 20, 1),
        to(9, pulse),
        to(10, message),
        th(11, READY, 10, 1),
    ];
    let run = run(&setup, &events);
    let woken: Vec<_> =
        run.lines.iter().filter(|line| line.contains("T, pid_10_T1") && line.ends_with("activate")).collect();
    assert_eq!(
        woken,
        ["5, STI_pulse, 0, T, pid_10_T1, 0, activate", "11, STI_message, 0, T, pid_10_T1, 1, activate",]
    );
}

pub(super) fn nested_interrupts() -> Vec<Ev> {
    vec![
        begun(0),
        th(1, RUNNING, 10, 1),
        ev(10, 0, Class::IntEnter, 1, &[0x1b, 0x1000]),
        ev(11, 0, Class::HandlerEnter, 3, &[7, 0x1b, 0x2000, 0]),
        ev(12, 0, Class::IntEnter, 1, &[0x2c, 0x2004]),
        ev(15, 0, Class::IntExit, 2, &[0x2c, 0]),
        ev(16, 0, Class::HandlerExit, 4, &[0x1b, 4, 0, 0]),
        ev(20, 0, Class::IntExit, 2, &[0x1b, 0]),
    ]
}

#[test]
fn interrupts_nest_and_handlers_run_in_them() {
    let run = run(&Settings::default(), &nested_interrupts());
    assert_lines(
        &run,
        "
        1, STI_unknown, 0, T, pid_10_T1, 0, activate
        1, Core_0, 0, T, pid_10_T1, 0, start
        10, IRQ_1b, 0, I, INT_1b, 0, activate
        10, Core_0, 0, T, pid_10_T1, 0, preempt, irq
        10, Core_0, 0, I, INT_1b, 0, start
        11, INT_1b, 0, R, ISR_pid_7_2000, 0, start
        12, IRQ_2c, 0, I, INT_2c, 0, activate
        12, INT_1b, 0, R, ISR_pid_7_2000, 0, suspend
        12, Core_0, 0, I, INT_1b, 0, preempt, irq
        12, Core_0, 0, I, INT_2c, 0, start
        15, Core_0, 0, I, INT_2c, 0, terminate
        15, Core_0, 0, I, INT_1b, 0, resume, irq
        15, INT_1b, 0, R, ISR_pid_7_2000, 0, resume
        16, INT_1b, 0, R, ISR_pid_7_2000, 0, terminate
        20, Core_0, 0, I, INT_1b, 0, terminate
        20, Core_0, 0, T, pid_10_T1, 0, resume, irq
        ",
    );
}

#[test]
fn an_interrupt_is_over_when_the_one_that_it_interrupted_is_left() {
    let mut events = nested_interrupts();
    // Without the exit of the inner one, and without the handler.
    events.retain(|e| ![11, 15, 16].contains(&e.time));
    let run = run(&Settings::default(), &events);
    assert_lines(
        &run,
        "
        1, STI_unknown, 0, T, pid_10_T1, 0, activate
        1, Core_0, 0, T, pid_10_T1, 0, start
        10, IRQ_1b, 0, I, INT_1b, 0, activate
        10, Core_0, 0, T, pid_10_T1, 0, preempt, irq
        10, Core_0, 0, I, INT_1b, 0, start
        12, IRQ_2c, 0, I, INT_2c, 0, activate
        12, Core_0, 0, I, INT_1b, 0, preempt, irq
        12, Core_0, 0, I, INT_2c, 0, start
        20, Core_0, 0, I, INT_2c, 0, terminate, implicit
        20, Core_0, 0, I, INT_1b, 0, resume, irq
        20, Core_0, 0, I, INT_1b, 0, terminate
        20, Core_0, 0, T, pid_10_T1, 0, resume, irq
        ",
    );
}

#[test]
fn interrupts_that_overlay_threads_have_a_core_of_their_own() {
    let setup = Settings { irq: Irq::Overlay, ..Settings::default() };
    let run = run(&setup, &nested_interrupts());
    let tasks: Vec<_> = run.lines.iter().filter(|l| l.contains(", T, ")).collect();
    assert_eq!(tasks.len(), 2, "the thread is not preempted");
    assert!(run.lines.contains(&"10, Core_0_irq, 0, I, INT_1b, 0, start".to_owned()));
    assert_eq!(run.violations, Violations::default());
}

#[test]
fn an_interrupt_is_over_when_threads_act() {
    let events = [
        begun(0),
        th(1, RUNNING, 10, 1),
        ev(2, 0, Class::IntEnter, 1, &[1, 0]),
        call(3, 90, &[0, 0]),
        ev(4, 0, Class::IntEnter, 1, &[1, 0]),
        ev(5, 0, Class::IntEnter, 1, &[1, 0]),
        th(6, RUNNING, 10, 2),
        ev(7, 0, Class::IntExit, 2, &[1, 0]),
    ];
    let run = run(&Settings::default(), &events);
    assert_lines(
        &run,
        "
        1, STI_unknown, 0, T, pid_10_T1, 0, activate
        1, Core_0, 0, T, pid_10_T1, 0, start
        2, IRQ_1, 0, I, INT_1, 0, activate
        2, Core_0, 0, T, pid_10_T1, 0, preempt, irq
        2, Core_0, 0, I, INT_1, 0, start
        3, Core_0, 0, I, INT_1, 0, terminate, implicit
        3, Core_0, 0, T, pid_10_T1, 0, resume, irq
        3, pid_10_T1, 0, R, K_SCHED_YIELD, 0, start
        4, IRQ_1, 1, I, INT_1, 1, activate
        4, pid_10_T1, 0, R, K_SCHED_YIELD, 0, suspend
        4, Core_0, 0, T, pid_10_T1, 0, preempt, irq
        4, Core_0, 0, I, INT_1, 1, start
        5, Core_0, 0, I, INT_1, 1, terminate, implicit
        5, Core_0, 0, T, pid_10_T1, 0, resume, irq
        5, pid_10_T1, 0, R, K_SCHED_YIELD, 0, resume
        5, IRQ_1, 2, I, INT_1, 2, activate
        5, pid_10_T1, 0, R, K_SCHED_YIELD, 0, suspend
        5, Core_0, 0, T, pid_10_T1, 0, preempt, irq
        5, Core_0, 0, I, INT_1, 2, start
        6, Core_0, 0, I, INT_1, 2, terminate, implicit
        6, Core_0, 0, T, pid_10_T1, 0, resume, irq
        6, pid_10_T1, 0, R, K_SCHED_YIELD, 0, resume
        6, pid_10_T1, 0, R, K_SCHED_YIELD, 0, suspend
        6, Core_0, 0, T, pid_10_T1, 0, preempt, implicit
        6, STI_unknown, 0, T, pid_10_T2, 0, activate
        6, Core_0, 0, T, pid_10_T2, 0, start
        ",
    );
    assert_eq!(run.log.count_of("unmatched-interrupt-exit"), 1);
}

#[test]
fn threads_move_end_and_come_again() {
    let events = [
        process(0, 10, "a"),
        begun(0),
        th(1, RUNNING, 10, 1),
        th(2, RUNNING, 10, 1),
        on(1, th(3, RUNNING, 10, 1)),
        th(4, RUNNING, 10, 2),
        on(1, call(5, 47, &[u32::MAX, 0])),
        on(1, th(6, DESTROY, 10, 1)),
        on(1, th(7, DEAD, 10, 1)),
        th(8, CREATE, 10, 1),
        th(9, DESTROY, 99, 9),
        ev(10, 1, Class::Process, 2, &[0, 10]),
        th(11, DEAD, 10, 2),
        process(12, 10, "b"),
        th(13, CREATE, 10, 1),
    ];
    let run = run(&Settings::default(), &events);
    assert_lines(
        &run,
        "
        1, STI_unknown, 0, T, a_10_T1, 0, activate
        1, Core_0, 0, T, a_10_T1, 0, start
        3, Core_0, 0, T, a_10_T1, 0, preempt, migrate
        3, Core_1, 0, T, a_10_T1, 0, resume
        4, STI_unknown, 0, T, a_10_T2, 0, activate
        4, Core_0, 0, T, a_10_T2, 0, start
        5, a_10_T1, 0, R, K_THREAD_DESTROY, 0, start
        6, a_10_T1, 0, R, K_THREAD_DESTROY, 0, terminate, thread_end
        6, Core_1, 0, T, a_10_T1, 0, terminate
        8, STI_create, 0, T, a_10_T1, 1, activate
        10, Core_0, 0, T, a_10_T2, 0, terminate
        10, Core_X, 0, T, a_10_T1, 1, start, synth
        10, Core_X, 0, T, a_10_T1, 1, terminate, synth
        13, STI_create, 0, T, b_10_T1, 0, activate
        ",
    );
}

#[test]
fn a_job_ends_where_its_thread_blocks() {
    let setup = Settings { jobs: vec!["receive".into()], ..Settings::default() };
    let events = [
        th(0, CREATE, 10, 1),
        th(0, RECEIVE, 10, 1),
        begun(1),
        th(2, RUNNING, 20, 1),
        ev(3, 0, Class::Comm, 1, &[0x4000_0001, 10]),
        th(4, READY, 10, 1),
        th(5, RUNNING, 10, 1),
        ev(6, 0, Class::Comm, 3, &[0x4000_0001, 10]),
        call(7, 14, &[1, 1]),
        th(8, RECEIVE, 10, 1),
        th(9, RUNNING, 10, 1),
        exit(10, 14, &[0, 0]),
        th(11, MUTEX, 10, 1),
    ];
    let run = run(&setup, &events);
    assert_lines(
        &run,
        "
        2, STI_unknown, 0, T, pid_20_T1, 0, activate
        2, Core_0, 0, T, pid_20_T1, 0, start
        3, pid_20_T1, 0, EVENT, PLS_10, 0, set_event, pid_10_T1
        4, STI_pulse, 0, T, pid_10_T1, 0, activate
        5, Core_0, 0, T, pid_20_T1, 0, preempt, implicit
        5, Core_0, 0, T, pid_10_T1, 0, start
        6, pid_10_T1, 0, EVENT, PLS_10, 0, clear_event, 40000001
        7, pid_10_T1, 0, R, K_MSG_RECEIVEV, 0, start
        8, pid_10_T1, 0, EVENT, MSG_10, 0, wait_event
        8, pid_10_T1, 0, R, K_MSG_RECEIVEV, 0, terminate, job_end
        8, Core_0, 0, T, pid_10_T1, 0, terminate, RECEIVE
        9, STI_unknown, 0, T, pid_10_T1, 1, activate
        9, Core_0, 0, T, pid_10_T1, 1, start
        11, Core_0, 0, T, pid_10_T1, 1, wait, MUTEX
        ",
    );
}

pub(super) fn contended_mutex() -> Vec<Ev> {
    vec![
        begun(0),
        th(1, RUNNING, 10, 1),
        // Bit 31 of the owner: others wait.
        call(2, 80, &[0x8040, 1 << 31 | 10 << 16 | 2]),
        th(3, MUTEX, 10, 1),
        th(3, RUNNING, 10, 2),
        call(5, 81, &[0x8040, 0]),
        th(6, READY, 10, 1),
        exit(7, 81, &[0, 0]),
        th(8, RUNNING, 10, 1),
        exit(9, 80, &[0, 0]),
    ]
}

#[test]
fn a_mutex_that_two_want() {
    let run = run(&Settings::default(), &contended_mutex());
    assert_lines(
        &run,
        "
        1, STI_unknown, 0, T, pid_10_T1, 0, activate
        1, Core_0, 0, T, pid_10_T1, 0, start
        2, pid_10_T1, 0, R, K_SYNC_MUTEX_LOCK, 0, start
        2, pid_10_T1, 0, SEM, S_10_8040, 0, requestsemaphore
        3, pid_10_T1, 0, SEM, S_10_8040, 0, waiting
        3, pid_10_T1, 0, R, K_SYNC_MUTEX_LOCK, 0, suspend
        3, Core_0, 0, T, pid_10_T1, 0, wait, MUTEX
        3, STI_unknown, 0, T, pid_10_T2, 0, activate
        3, Core_0, 0, T, pid_10_T2, 0, start
        5, pid_10_T2, 0, R, K_SYNC_MUTEX_UNLOCK, 0, start
        5, pid_10_T2, 0, SEM, S_10_8040, 0, released
        6, Core_0, 0, T, pid_10_T1, 0, release
        7, pid_10_T2, 0, R, K_SYNC_MUTEX_UNLOCK, 0, terminate
        8, Core_0, 0, T, pid_10_T2, 0, preempt, implicit
        8, Core_0, 0, T, pid_10_T1, 0, resume
        8, pid_10_T1, 0, R, K_SYNC_MUTEX_LOCK, 0, resume
        9, pid_10_T1, 0, SEM, S_10_8040, 0, assigned
        9, pid_10_T1, 0, R, K_SYNC_MUTEX_LOCK, 0, terminate
        ",
    );
}

/// Rule Q26.
#[test]
fn a_call_that_failed_does_not_get_the_mutex() {
    let mut events = contended_mutex();
    let timed_out = exit(9, 80, &[u32::MAX, 260]);
    *events.last_mut().unwrap() = timed_out;
    let run = run(&Settings::default(), &events);
    let steps: Vec<_> = run.lines.iter().filter(|line| line.contains("pid_10_T1, 0, SEM")).collect();
    assert_eq!(
        steps,
        [
            "2, pid_10_T1, 0, SEM, S_10_8040, 0, requestsemaphore",
            "3, pid_10_T1, 0, SEM, S_10_8040, 0, waiting",
        ]
    );
}

#[test]
fn calls_are_rewound_interrupted_and_cut() {
    let events = [
        begun(0),
        call(1, 90, &[0, 0]),
        th(2, RUNNING, 10, 1),
        exit(3, 90, &[0, 0]),
        call(4, 90, &[0, 0]),
        call(5, 90, &[0, 0]),
        ev(6, 0, Class::IntCall, 90, &[0, 0]),
        call(7, 90, &[0, 0]),
        call(8, 91, &[0, 0]),
    ];
    let run = run(&Settings::default(), &events);
    let calls: Vec<&str> = run.lines.iter().filter_map(|l| l.split_once(", R, ")).map(|(_, r)| r).collect();
    assert_eq!(
        calls,
        [
            "K_SCHED_YIELD, 0, start",
            "K_SCHED_YIELD, 0, terminate, restarted",
            "K_SCHED_YIELD, 1, start",
            "K_SCHED_YIELD, 1, terminate, interrupted",
            "K_SCHED_YIELD, 2, start",
            "K_SCHED_YIELD, 2, terminate, cut",
            "K_SCHED_INFO, 0, start",
        ]
    );
    assert_eq!((run.log.count_of("call-of-nobody"), run.log.count_of("unmatched-exit")), (1, 1));
}

#[test]
fn functions_nest_outside_of_the_call_that_tells_of_them() {
    let function = |time, event, address| ev(time, 0, Class::System, event, &[address, 0]);
    let events = [
        begun(0),
        th(1, RUNNING, 10, 1),
        call(2, 1, &[0, 0]),
        function(3, 10, 0xa0),
        exit(4, 1, &[0, 0]),
        function(5, 10, 0xb0),
        th(6, READY, 10, 1),
        th(7, RUNNING, 10, 1),
        function(8, 11, 0xa0),
        function(9, 11, 0xa0),
    ];
    let run = run(&Settings::default(), &events);
    let expected = [
        "2, pid_10_T1, 0, R, K_TRACE_EVENT, 0, start",
        "4, pid_10_T1, 0, R, K_TRACE_EVENT, 0, terminate",
        "4, pid_10_T1, 0, R, F_a0, 0, start",
        "5, pid_10_T1, 0, R, F_b0, 0, start",
        "6, pid_10_T1, 0, R, F_b0, 0, suspend",
        "6, pid_10_T1, 0, R, F_a0, 0, suspend",
        "7, pid_10_T1, 0, R, F_a0, 0, resume",
        "7, pid_10_T1, 0, R, F_b0, 0, resume",
        "8, pid_10_T1, 0, R, F_b0, 0, terminate",
        "8, pid_10_T1, 0, R, F_a0, 0, terminate",
    ];
    let runnables: Vec<_> = run.lines.iter().filter(|l| l.contains(", R, ")).collect();
    assert_eq!(runnables, expected.iter().collect::<Vec<_>>());
    assert_eq!(run.log.count_of("unmatched-function"), 1);
}

#[test]
fn idle_threads_are_no_tasks_but_take_the_core() {
    let setup = Settings { cpus: 1, ..Settings::default() };
    let events = [
        begun(0),
        th(1, RUNNING, 1, 2),
        th(2, RUNNING, 1, 1),
        ev(3, 0, Class::Comm, 4, &[9, 10]),
        call(4, 90, &[0, 0]),
        th(5, RUNNING, 1, 2),
    ];
    let run = run(&setup, &events);
    assert_lines(
        &run,
        "
        1, STI_unknown, 0, T, pid_1_T2, 0, activate
        1, Core_0, 0, T, pid_1_T2, 0, start
        2, Core_0, 0, T, pid_1_T2, 0, preempt, implicit
        3, STI_kernel, 0, EVENT, PLS_10, 0, set_event, pid_10
        5, Core_0, 0, T, pid_1_T2, 0, resume
        ",
    );
}

#[test]
fn a_gap_cuts_and_nothing_is_known_after_it() {
    let events = [begun(0), th(1, RUNNING, 10, 1), th(1, READY, 10, 2), call(2, 90, &[0, 0])];
    let after =
        [exit(11, 90, &[0, 0]), on(1, th(12, RUNNING, 10, 1)), th(13, RECEIVE, 10, 2), th(14, CREATE, 10, 1)];
    let mut steps: Vec<Step> = events.into_iter().map(Step::Event).collect();
    steps.push(Step::Gap(3, 10));
    steps.extend(after.into_iter().map(Step::Event));
    let run = run_steps(&Settings::default(), &steps, 0, 20);
    assert_lines(
        &run,
        "
        1, STI_unknown, 0, T, pid_10_T1, 0, activate
        1, Core_0, 0, T, pid_10_T1, 0, start
        1, STI_unknown, 0, T, pid_10_T2, 0, activate
        2, pid_10_T1, 0, R, K_SCHED_YIELD, 0, start
        gap Core_0 3 10
        gap Core_X 3 10
        3, pid_10_T1, 0, R, K_SCHED_YIELD, 0, terminate, gap
        3, Core_0, 0, T, pid_10_T1, 0, preempt, gap
        gap Core_1 3 10
        12, Core_1, 0, T, pid_10_T1, 0, resume
        13, Core_X, 0, T, pid_10_T2, 0, start, synth
        13, Core_X, 0, T, pid_10_T2, 0, wait, RECEIVE
        ",
    );
    assert_eq!(run.log.count_of("created-twice"), 1);
}

#[test]
fn a_thread_that_is_created_anew_behind_a_gap_has_ended_in_it() {
    let mut steps: Vec<Step> = [begun(0), th(1, RUNNING, 10, 1)].map(Step::Event).into();
    steps.push(Step::Gap(3, 10));
    steps.push(Step::Event(th(11, CREATE, 10, 1)));
    let run = run_steps(&Settings::default(), &steps, 0, 20);
    assert_lines(
        &run,
        "
        1, STI_unknown, 0, T, pid_10_T1, 0, activate
        1, Core_0, 0, T, pid_10_T1, 0, start
        gap Core_0 3 10
        gap Core_X 3 10
        3, Core_0, 0, T, pid_10_T1, 0, preempt, gap
        11, Core_X, 0, T, pid_10_T1, 0, resume, gap
        11, Core_X, 0, T, pid_10_T1, 0, terminate, gap
        11, STI_create, 0, T, pid_10_T1, 1, activate
        ",
    );
}

#[test]
fn a_job_that_began_in_a_gap_is_not_activated_where_it_goes_on() {
    let setup = Settings { jobs: vec!["RECEIVE".into()], ..Settings::default() };
    let before = [begun(0), th(1, RUNNING, 10, 1), th(2, RECEIVE, 10, 1)];
    let after = [th(11, REPLY, 10, 1), th(12, READY, 10, 1), th(13, RUNNING, 10, 1), th(14, RECEIVE, 10, 1)];
    let next = [th(15, READY, 10, 1), th(16, RUNNING, 10, 1), th(17, RECEIVE, 10, 1)];
    let mut steps: Vec<Step> = before.into_iter().map(Step::Event).collect();
    steps.push(Step::Gap(3, 10));
    steps.extend(after.into_iter().chain(next).map(Step::Event));
    let run = run_steps(&setup, &steps, 0, 20);
    let activations = run.outputs.iter().filter_map(|output| match output {
        Output::Event(e) if e.action == Action::Activate => Some((e.time, true)),
        Output::Assumed(e) => Some((e.time, false)),
        _ => None,
    });
    assert_eq!(activations.collect::<Vec<_>>(), [(1, false), (12, false), (15, true)]);
}

#[test]
fn since_8_interrupts_are_stimuli_that_wake_threads() {
    let flavour = Flavour { version: Version::V8_0, big_endian: false };
    let setup = Settings { flavour, jobs: vec!["INTR".into()], ..Settings::default() };
    let injected = |event: Ev| Ev { flags: Event::INJECTED, ..event };
    let events = [
        injected(th(0, CREATE, 10, 1)),
        injected(th(0, 16, 10, 1)),
        ev(1, 0, Class::System, 0x1d, &[10, 1, 0x1b, 0, 0, 255]),
        ev(2, 0, Class::Int, 7, &[0x1b, 0]),
        th(3, RUNNING, 10, 1),
        th(4, 16, 10, 1),
        ev(5, 0, Class::Int, 7, &[0x1b, 0]),
        th(6, READY, 10, 1),
    ];
    let run = run(&setup, &events);
    assert_lines(
        &run,
        "
        2, SIM, -1, STI, IRQ_1b, 0, trigger
        3, SIM, -1, STI, STI_interrupt, 0, trigger
        3, STI_interrupt, 0, T, pid_10_T1, 0, activate
        3, Core_0, 0, T, pid_10_T1, 0, start
        4, Core_0, 0, T, pid_10_T1, 0, terminate, INTR
        5, SIM, -1, STI, IRQ_1b, 1, trigger
        6, SIM, -1, STI, STI_interrupt, 1, trigger
        6, STI_interrupt, 1, T, pid_10_T1, 1, activate
        ",
    );
}

#[test]
fn incomplete_events_and_virtual_threads_change_nothing() {
    let orphan = Ev { status: Status::Orphan, ..th(1, RUNNING, 10, 1) };
    let unterminated = Ev { status: Status::Unterminated, ..th(2, RUNNING, 10, 1) };
    let events = [orphan, unterminated, ev(3, 0, Class::VThread, 1, &[10, 1]), th(4, RUNNING, u32::MAX, 1)];
    let run = run(&Settings::default(), &events);
    assert_lines(&run, "");
    assert_eq!(run.log.count_of("no-thread"), 1);
}

#[test]
fn a_signal_sets_an_event() {
    let run =
        run(&Settings::default(), &[begun(0), th(1, RUNNING, 10, 1), ev(2, 0, Class::Comm, 9, &[15, 0])]);
    assert_lines(
        &run,
        "
        1, STI_unknown, 0, T, pid_10_T1, 0, activate
        1, Core_0, 0, T, pid_10_T1, 0, start
        2, pid_10_T1, 0, EVENT, SIG_10_1, 0, set_event, pid_10_T1
        ",
    );
}
