//! Rows without instance numbers, and gaps between rows, against numbers worked out by hand.

use super::*;
use crate::derive::Violations;
use crate::schema::{BtfEventRow, BtfEventRows};
use arrow::array::{Array, AsArray};
use arrow::compute::cast;
use arrow::datatypes::DataType;

/// `time,source,type,target,action`, one per line, without instance numbers.
fn rows(lines: &str) -> RecordBatch {
    let mut rows = BtfEventRows::new();
    for (seq, line) in lines.lines().map(str::trim).filter(|line| !line.is_empty()).enumerate() {
        let [time, source, target_type, target, action] = line.split(',').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        rows.push(BtfEventRow {
            time: time.parse().unwrap(),
            seq: seq as i64,
            source: source.into(),
            source_instance: None,
            target_type: target_type.into(),
            target: target.into(),
            target_instance: None,
            action: action.into(),
            note: None,
        });
    }
    rows.take_batch().unwrap()
}

struct Trace {
    records: FromRecords,
    derive: Derive,
}

impl Trace {
    fn of(lines: &str) -> Self {
        let records = FromRecords::new(Dialect::Standard);
        let mut trace = Self { records, derive: Derive::of_foreign_trace(0) };
        trace.then(lines);
        trace
    }

    fn then(&mut self, lines: &str) {
        self.records.batch(&rows(lines), &mut self.derive).unwrap();
    }

    fn gap(&mut self, core: Option<&str>, begin: i64, end: i64) {
        self.records.gap(core, (begin, end), &mut self.derive);
    }

    fn finish(&mut self, end: i64) -> Violations {
        self.derive.finish(end, &self.records.names)
    }

    /// Columns of `process_instance`, one line per row.
    fn instances(&mut self, columns: &[&str]) -> Vec<String> {
        lines(&self.derive.rows.instances.take_batch().unwrap(), columns)
    }

    fn states(&mut self) -> Vec<String> {
        let columns = ["process", "instance", "core", "state", "begin_at", "end_at"];
        lines(&self.derive.rows.states.take_batch().unwrap(), &columns)
    }

    fn runnables(&mut self) -> Vec<String> {
        let columns =
            ["runnable", "instance", "process", "process_instance", "depth", "start_at", "terminate_at"];
        lines(&self.derive.rows.runnables.take_batch().unwrap(), &columns)
    }
}

fn lines(batch: &RecordBatch, columns: &[&str]) -> Vec<String> {
    let column = |name: &&str| cast(batch.column_by_name(name).unwrap(), &DataType::Utf8).unwrap();
    let columns: Vec<_> = columns.iter().map(column).collect();
    let value = |column: &arrow::array::ArrayRef, row| match column.is_null(row) {
        true => "-".to_owned(),
        false => column.as_string::<i32>().value(row).to_owned(),
    };
    let line = |row| columns.iter().map(|column| value(column, row)).collect::<Vec<_>>().join(" ");
    (0..batch.num_rows()).map(line).collect()
}

const WHEN: [&str; 5] = ["process", "instance", "activate_at", "start_at", "terminate_at"];

#[test]
fn who_is_activated_first_starts_first() {
    let mut trace = Trace::of(
        "0,STI,T,T,activate
         10,STI,T,T,activate
         12,Core_0,T,T,start
         15,Core_0,T,T,preempt
         16,STI,T,T,activate
         18,Core_0,T,T,resume
         20,Core_0,T,T,terminate
         21,Core_0,T,T,start
         30,Core_0,T,T,terminate",
    );
    assert_eq!(trace.finish(40), Violations::default());
    assert_eq!(trace.instances(&WHEN), ["T 0 0 12 20", "T 1 10 21 30", "T 2 16 - -"]);
}

#[test]
fn lost_activations_without_numbers_are_counted() {
    let mut trace = Trace::of(
        "0,STI,T,T,activate
         1,Core_0,T,T,start
         2,STI,T,T,mtalimitexceeded
         3,STI,T,T,mtalimitexceeded
         4,Core_0,T,T,terminate
         5,STI,T,T,activate",
    );
    trace.finish(9);
    assert_eq!(trace.instances(&["instance", "start_at", "terminate_at", "lost"]), ["0 1 4 0", "3 - - 2"]);
}

#[test]
fn what_starts_without_an_activation_is_another_instance() {
    let mut trace = Trace::of(
        "5,Core_0,I,I,start
         6,Core_0,I,I,terminate
         7,Core_0,I,I,start
         8,Core_0,I,I,terminate
         9,Core_0,T,T,preempt
         10,Core_0,T,T,resume
         11,Core_0,T,T,terminate",
    );
    assert_eq!(trace.finish(12), Violations::default());
    assert_eq!(trace.instances(&WHEN), ["I 0 - 5 6", "I 1 - 7 8", "T 0 - - 11"]);
}

#[test]
fn an_activation_before_a_gap_is_not_what_starts_behind_it() {
    let mut trace = Trace::of(
        "0,STI,T,T,activate
         1,Core_0,T,T,start
         2,STI,T,T,activate",
    );
    trace.gap(Some("Core_0"), 10, 20);
    trace.then(
        "30,STI,T,T,activate
         31,Core_0,T,T,start
         32,Core_0,T,T,terminate",
    );
    trace.finish(40);
    assert_eq!(trace.instances(&WHEN), ["T 0 0 1 -", "T 2 30 31 32", "T 1 2 - -"]);
}

#[test]
fn runnables_of_one_name_end_innermost_first_and_in_their_process() {
    let mut trace = Trace::of(
        "0,STI,T,T,activate
         0,Core_0,T,T,start
         1,T,R,R,start
         2,T,R,R,start
         3,Core_0,T,T,preempt
         3,STI,T,U,activate
         3,Core_0,T,U,start
         4,U,R,R,start
         5,Core_0,T,U,wait
         5,Core_0,T,T,resume
         6,T,R,R,terminate
         7,T,R,R,terminate
         8,Core_0,T,T,terminate
         8,Core_0,T,U,release
         8,Core_0,T,U,resume
         9,U,R,R,terminate
         9,Core_0,T,U,terminate",
    );
    assert_eq!(trace.finish(10), Violations::default());
    assert_eq!(trace.runnables(), ["R 1 T 0 1 2 6", "R 0 T 0 0 1 7", "R 2 U 0 0 4 9"]);
}

#[test]
fn a_runnable_may_start_and_end_next_to_its_process() {
    let mut trace = Trace::of(
        "0,STI,T,T,activate
         0,T,R,R,start
         0,Core_0,T,T,start
         5,STI,T,T,activate
         9,Core_0,T,T,terminate
         9,T,R,R,terminate
         9,T,R,R,start
         9,Core_0,T,T,start
         12,T,R,R,terminate
         12,Core_0,T,T,terminate",
    );
    assert_eq!(trace.finish(20).runnable, 0);
    assert_eq!(trace.runnables(), ["R 0 T 0 0 0 9", "R 1 T 1 0 9 12"]);
}

#[test]
fn a_gap_of_all_cores_is_one_of_those_that_come_later() {
    let mut trace = Trace::of("50,Core_0,T,A,preempt");
    trace.gap(None, 100, 200);
    trace.then("300,Core_1,T,B,preempt");
    trace.finish(400);
    assert_eq!(
        trace.states(),
        [
            "A 0 Core_0 running 0 50",
            "A 0 Core_0 ready 50 100",
            "B 0 Core_1 running 200 300",
            "B 0 Core_1 ready 300 400",
        ]
    );
}

#[test]
fn a_gap_of_all_cores_needs_no_core() {
    let mut trace = Trace::of(
        "10,STI,T,T,activate
         20,T,R,R,start",
    );
    trace.gap(None, 100, 200);
    trace.then("300,Core_0,T,T,start");
    trace.finish(400);
    let states = trace.states();
    assert_eq!(states.first().map(String::as_str), Some("T 0 - active 10 100"));
    assert!(states.iter().skip(1).all(|state| state.ends_with("running 300 400")), "{states:?}");
    assert_eq!(trace.runnables(), ["R 0 T 0 0 20 -"]);
}
