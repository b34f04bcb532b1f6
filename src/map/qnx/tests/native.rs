//! The native tables against rows worked out by hand.

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::DataType;

use super::rules::{contended_mutex, message_passing, nested_interrupts};
use super::*;

/// Columns of a table as text, one line per row; `-` for what is missing.
fn table(batch: &RecordBatch, columns: &str) -> String {
    let columns = columns.split_whitespace().map(|name| {
        let column = batch.column_by_name(name).unwrap_or_else(|| panic!("no column {name}"));
        cast(column, &DataType::Utf8).unwrap()
    });
    let columns: Vec<_> = columns.collect();
    let row = |n: usize| {
        let value = |c: &arrow::array::ArrayRef| match c.is_null(n) {
            true => "-".to_owned(),
            false => c.as_string::<i32>().value(n).to_owned(),
        };
        columns.iter().map(value).collect::<Vec<_>>().join(" ")
    };
    (0..batch.num_rows()).map(row).collect::<Vec<_>>().join("\n")
}

pub(super) fn assert_table(batch: &RecordBatch, columns: &str, expected: &str) {
    let expected: Vec<&str> = expected.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
    assert_eq!(table(batch, columns), expected.join("\n"));
}

#[test]
fn a_message_from_sending_to_reply() {
    let mut run = run(&Settings::default(), &message_passing());
    assert_table(
        &run.rows.messages.take_batch().unwrap(),
        "kind rcvid client_pid client_tid client server_pid server_tid server send_at receive_at reply_at outcome",
        "message 47 20 1 pid_20_T1 10 1 pid_10 5 7 10 replied",
    );
    assert_table(
        &run.rows.calls.take_batch().unwrap(),
        "pid tid cpu call number enter_at exit_at duration result errno outcome object",
        "10 1 0 MSG_RECEIVEV 14 2 8 6 47 - returned 1
         10 1 0 MSG_REPLYV 15 9 12 3 0 - returned 47
         20 1 0 MSG_SENDV 11 4 14 10 -1 4 error 1073741825",
    );
    assert_table(
        &run.rows.states.take_batch().unwrap(),
        "pid tid state cpu begin_at end_at object by_pid by_tid wake complete",
        "10 1 RUNNING 0 1 3 - - - - true
         20 1 RUNNING 0 3 6 - - - - true
         10 1 RECEIVE 0 3 6 CH_10_1 - - message true
         20 1 REPLY 0 6 11 MSG_10 10 1 reply true
         10 1 RUNNING 0 6 13 - - - - true
         20 1 READY 0 11 13 - - - - true
         10 1 READY 0 13 14 - 20 1 - false
         20 1 RUNNING 0 13 14 - - - - false",
    );
}

#[test]
fn who_blocks_on_which_mutex_and_who_preempted_whom() {
    let mut events = contended_mutex();
    events.push(ev(10, 0, Class::Thread, RUNNING, &[10, 2, 12, 2]));
    events.push(ev(11, 0, Class::Thread, READY, &[10, 1, 10, 1]));
    let mut run = run(&Settings::default(), &events);
    assert_table(
        &run.rows.states.take_batch().unwrap(),
        "tid state priority policy begin_at end_at object by_pid by_tid wake complete",
        "1 RUNNING - - 1 3 - - - - true
         1 MUTEX - - 3 6 S_10_8040 10 2 sync true
         2 RUNNING - - 3 8 - - - - true
         1 READY - - 6 8 - - - - true
         1 RUNNING - - 8 10 - - - - true
         2 READY - - 8 10 - 10 1 - true
         1 READY 10 FIFO 10 11 - 10 2 - false
         2 RUNNING 12 RR 10 11 - - - - false",
    );
}

#[test]
fn interrupts_with_their_own_time() {
    let mut run = run(&Settings::default(), &nested_interrupts());
    assert_table(
        &run.rows.interrupts.take_batch().unwrap(),
        "cpu vector depth begin_at end_at running ip handlers events pid tid complete",
        "0 44 1 12 15 3 8196 0 0 10 1 true
         0 27 0 10 20 7 4096 1 1 10 1 true",
    );
}

#[test]
fn processes_and_threads_with_their_lives() {
    let events = [
        process(0, 10, "/bin/a"),
        th(0, CREATE, 10, 1),
        th(0, RECEIVE, 10, 1),
        Ev { text: Some("main".into()), ..ev(0, 0, Class::Process, 5, &[10, 1]) },
        begun(1),
        process(2, 20, "/bin/b"),
        th(3, CREATE, 20, 1),
        th(4, RUNNING, 20, 1),
        th(5, DESTROY, 20, 1),
        th(5, DEAD, 20, 1),
        ev(6, 0, Class::Process, 2, &[10, 20]),
        th(7, CREATE, 20, 1),
        th(8, DESTROY, 30, 1),
    ];
    let mut run = run(&Settings::default(), &events);
    assert_table(
        &run.rows.processes.take_batch().unwrap(),
        "pid ppid name created_at destroyed_at dumped",
        "20 0 /bin/b 2 6 false
         10 0 /bin/a - - true
         20 - - - - false",
    );
    assert_table(
        &run.rows.threads.take_batch().unwrap(),
        "pid tid incarnation process name task created_at destroyed_at dumped",
        "20 1 0 b - b_20_T1 3 5 false
         30 1 0 - - pid_30_T1 - 8 false
         10 1 0 a main a_10_T1 - - true
         20 1 1 - - pid_20_T1 7 - false",
    );
    assert_table(
        &run.rows.states.take_batch().unwrap(),
        "pid state begin_at end_at complete",
        "20 CREATE 3 4 true
         20 RUNNING 4 5 true
         10 RECEIVE 0 8 false
         20 CREATE 7 8 false",
    );
}

#[test]
fn messages_without_a_beginning_or_an_end() {
    let events = [
        begun(0),
        th(1, RUNNING, 10, 1),
        // Sent before the recording, by the client that the reply names.
        ev(2, 0, Class::Comm, 2, &[7, 10]),
        ev(3, 0, Class::Comm, 10, &[4, 40]),
        // Received in the order of sending.
        ev(4, 0, Class::Comm, 4, &[5, 10]),
        ev(5, 0, Class::Comm, 1, &[5, 10]),
        ev(6, 0, Class::Comm, 3, &[5, 10]),
        // A client that gives up.
        th(7, RUNNING, 20, 1),
        ev(8, 0, Class::KerCall, 11, &[1, 1]),
        ev(9, 0, Class::Comm, 0, &[8, 10]),
        ev(10, 0, Class::KerExit, 11, &[u32::MAX, 260]),
        ev(11, 0, Class::Comm, 0, &[9, u32::MAX]),
    ];
    let mut run = run(&Settings::default(), &events);
    assert_table(
        &run.rows.messages.take_batch().unwrap(),
        "kind rcvid client_pid client_tid server_pid server_tid server send_at receive_at reply_at outcome",
        "message 7 40 4 10 1 pid_10 - 2 3 replied
         pulse 5 - - 10 1 pid_10 4 6 - received
         message 8 20 1 10 - pid_10 9 - - abandoned
         pulse 5 10 1 10 - pid_10 5 - - cut
         message 9 20 1 - - - 11 - - cut",
    );
}
