//! The derived tables against numbers worked out by hand.

use super::*;
use crate::btf::{Action, Note};
use crate::schema::columns::process_instance as pi;
use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::Int64Type;

struct Trace {
    names: Names,
    derive: Derive,
}

impl Trace {
    fn new() -> Self {
        Self { names: Names::default(), derive: Derive::of_foreign_trace(0) }
    }

    fn at(&mut self, time: i64, source: &str, kind: EntityType, target: (&str, i64), action: Action) {
        let event = Event {
            time,
            source: self.names.intern(source),
            source_instance: 0,
            target_type: kind,
            target: self.names.intern(target.0),
            target_instance: target.1,
            action,
            note: Note::None,
        };
        self.derive.event(&event, &self.names);
    }

    fn task(&mut self, time: i64, instance: i64, action: Action) {
        let source = if action == Action::Activate { "STI" } else { "Core" };
        self.at(time, source, EntityType::Task, ("T", instance), action);
    }

    fn instances(&mut self) -> RecordBatch {
        self.derive.rows.instances.take_batch().unwrap()
    }
}

fn number(batch: &RecordBatch, column: &str, row: usize) -> i64 {
    batch.column_by_name(column).unwrap().as_primitive::<Int64Type>().value(row)
}

#[test]
fn times_in_states_add_up() {
    let mut t = Trace::new();
    let actions = [
        (10, Action::Activate),
        (15, Action::Start),
        (20, Action::Preempt),
        (32, Action::Resume),
        (40, Action::Wait),
        (45, Action::Release),
        (46, Action::Resume),
        (50, Action::Poll),
        (53, Action::Park),
        (60, Action::PollParking),
        (61, Action::Run),
        (70, Action::Terminate),
    ];
    for (time, action) in actions {
        t.task(time, 0, action);
    }
    assert_eq!(t.derive.finish(100, &t.names), Violations::default());
    let b = t.instances();
    assert_eq!(b.num_rows(), 1);
    let want = [
        (pi::RUNNING, 5 + 8 + 4 + 9),
        (pi::READY, 12 + 1),
        (pi::WAITING, 5),
        (pi::POLLING, 3 + 1),
        (pi::PARKING, 7),
        (pi::PREEMPTIONS, 2),
        (pi::ACTIVATE_AT, 10),
        (pi::TERMINATE_AT, 70),
    ];
    for (column, value) in want {
        assert_eq!(number(&b, column, 0), value, "{column}");
    }
    assert!(b.column_by_name(pi::COMPLETE).unwrap().as_boolean().value(0));
    assert_eq!(t.derive.rows.states.len(), 11);
}

#[test]
fn an_instance_from_before_the_trace_was_in_the_state_it_leaves() {
    let mut t = Trace::new();
    t.task(30, 0, Action::Preempt);
    t.task(50, 0, Action::Resume);
    t.derive.finish(60, &t.names);
    let b = t.instances();
    assert_eq!((number(&b, pi::RUNNING, 0), number(&b, pi::READY, 0)), (30 + 10, 20));
    assert!(!b.column_by_name(pi::COMPLETE).unwrap().as_boolean().value(0));
}

#[test]
fn two_instances_may_be_pending_and_an_illegal_action_is_counted() {
    let mut t = Trace::new();
    t.task(0, 0, Action::Activate);
    t.task(1, 1, Action::Activate);
    t.task(2, 0, Action::Start);
    t.task(3, 0, Action::Resume);
    assert_eq!(t.derive.finish(9, &t.names).process, 1);
    assert_eq!(t.instances().num_rows(), 2);
}

#[test]
fn lost_activations_take_numbers_between_those_of_instances() {
    let mut t = Trace::new();
    t.task(0, 4, Action::Activate);
    t.task(1, 5, Action::MtaLimitExceeded);
    t.task(2, 6, Action::MtaLimitExceeded);
    t.task(3, 7, Action::Activate);
    t.task(4, 8, Action::Activate);
    t.task(5, 9, Action::MtaLimitExceeded);
    // Something is missing here: 10 was neither lost nor an instance.
    t.task(6, 11, Action::Activate);
    // What was activated before the trace began.
    t.task(7, 2, Action::Terminate);
    t.derive.finish(10, &t.names);
    let b = t.instances();
    let lost = b.column_by_name(pi::LOST).unwrap().as_primitive::<Int64Type>();
    let by_instance = |row| (number(&b, pi::INSTANCE, row), lost.is_valid(row).then(|| lost.value(row)));
    let rows: Vec<_> = (0..b.num_rows()).map(by_instance).collect();
    assert_eq!(rows, [(2, None), (4, Some(0)), (7, Some(2)), (8, Some(0)), (11, Some(0))]);
}

#[test]
fn a_gap_cuts_instances_off() {
    let mut t = Trace::new();
    t.task(0, 0, Action::Activate);
    t.task(1, 0, Action::Start);
    let core = t.names.intern("Core");
    t.derive.gap(Some(core), (10, 20), &t.names);
    t.task(30, 0, Action::Terminate);
    assert_eq!(t.derive.finish(40, &t.names), Violations::default());
    let b = t.instances();
    assert_eq!(number(&b, pi::RUNNING, 0), 9, "the time in and after the hole is not known");
    assert!(!b.column_by_name(pi::COMPLETE).unwrap().as_boolean().value(0));
}

#[test]
fn runnables_nest_in_their_process() {
    let mut t = Trace::new();
    t.task(0, 0, Action::Activate);
    t.task(0, 0, Action::Start);
    t.at(1, "T", EntityType::Runnable, ("A", 0), Action::Start);
    t.at(2, "T", EntityType::Runnable, ("B", 0), Action::Start);
    t.at(3, "T", EntityType::Runnable, ("B", 0), Action::Suspend);
    t.at(3, "T", EntityType::Runnable, ("A", 0), Action::Suspend);
    t.at(7, "T", EntityType::Runnable, ("A", 0), Action::Resume);
    t.at(7, "T", EntityType::Runnable, ("B", 0), Action::Resume);
    t.at(9, "T", EntityType::Runnable, ("B", 0), Action::Terminate);
    t.at(10, "T", EntityType::Runnable, ("A", 0), Action::Terminate);
    assert_eq!(t.derive.finish(10, &t.names), Violations::default());
    let b = t.derive.rows.runnables.take_batch().unwrap();
    let row = |n| ["depth", "running", "suspended", "callees"].map(|c| number(&b, c, n));
    assert_eq!((row(0), row(1)), ([1, 1 + 2, 4, 0], [0, 2 + 3, 4, 1 + 2]));
}

#[test]
fn runnables_that_are_cut_off_have_called_as_far_as_is_known() {
    let mut t = Trace::new();
    t.task(0, 0, Action::Activate);
    t.task(0, 0, Action::Start);
    for (time, name) in [(1, "A"), (2, "B"), (4, "C")] {
        t.at(time, "T", EntityType::Runnable, (name, 0), Action::Start);
    }
    // C returns; D is the second one that B calls.
    t.at(5, "T", EntityType::Runnable, ("C", 0), Action::Terminate);
    t.at(6, "T", EntityType::Runnable, ("D", 0), Action::Start);
    assert_eq!(t.derive.finish(9, &t.names), Violations::default());
    let b = t.derive.rows.runnables.take_batch().unwrap();
    let row = |n| ["depth", "running", "callees"].map(|c| number(&b, c, n));
    assert_eq!((0..4).map(row).collect::<Vec<_>>(), [[2, 1, 0], [0, 8, 7], [1, 7, 1 + 3], [2, 3, 0]]);
}

/// `(runnable, instance, depth, core, state, begin, end)`
type State = (String, i64, i64, Option<String>, String, i64, i64);

fn states(t: &mut Trace) -> Vec<State> {
    let b = t.derive.rows.runnable_states.take_batch().unwrap();
    let text = |column: &str, row: usize| {
        let column = b.column_by_name(column).unwrap();
        let names = column.as_dictionary::<arrow::datatypes::UInt32Type>();
        let key = names.key(row)?;
        Some(names.values().as_string::<i32>().value(key).to_owned())
    };
    let row = |row| {
        let number = |column| number(&b, column, row);
        let name = |column| text(column, row).unwrap();
        let who = (name("runnable"), number("instance"), number("depth"), text("core", row));
        (who.0, who.1, who.2, who.3, name("state"), number("begin_at"), number("end_at"))
    };
    (0..b.num_rows()).map(row).collect()
}

fn of(runnable: &str, depth: i64, core: &str, state: &str, begin: i64, end: i64) -> State {
    (runnable.into(), 0, depth, (!core.is_empty()).then(|| core.into()), state.into(), begin, end)
}

#[test]
fn runnables_are_suspended_with_their_process_and_go_on_where_it_does() {
    let mut t = Trace::new();
    t.task(0, 0, Action::Activate);
    t.task(0, 0, Action::Start);
    t.at(1, "T", EntityType::Runnable, ("A", 0), Action::Start);
    t.at(1, "T", EntityType::Runnable, ("B", 0), Action::Start);
    t.at(3, "T", EntityType::Runnable, ("B", 0), Action::Suspend);
    t.at(3, "T", EntityType::Runnable, ("A", 0), Action::Suspend);
    t.task(3, 0, Action::Preempt);
    t.at(7, "Other", EntityType::Task, ("T", 0), Action::Resume);
    t.at(7, "T", EntityType::Runnable, ("A", 0), Action::Resume);
    t.at(7, "T", EntityType::Runnable, ("B", 0), Action::Resume);
    t.at(7, "T", EntityType::Runnable, ("B", 0), Action::Terminate);
    t.at(10, "T", EntityType::Runnable, ("A", 0), Action::Terminate);
    assert_eq!(t.derive.finish(10, &t.names), Violations::default());
    assert_eq!(
        states(&mut t),
        [
            of("B", 1, "Core", "running", 1, 3),
            of("A", 0, "Core", "running", 1, 3),
            of("A", 0, "Core", "suspended", 3, 7),
            of("B", 1, "Core", "suspended", 3, 7),
            of("A", 0, "Other", "running", 7, 10),
        ]
    );
}

#[test]
fn runnables_are_suspended_with_their_process_whether_or_not_events_say_so() {
    let expected = [("running", 1, 3), ("suspended", 3, 7), ("running", 7, 10)];
    for said in [false, true] {
        let mut t = Trace::new();
        t.task(0, 0, Action::Activate);
        t.task(0, 0, Action::Start);
        t.at(1, "T", EntityType::Runnable, ("A", 0), Action::Start);
        t.at(1, "T", EntityType::Runnable, ("B", 0), Action::Start);
        // The process first, then its runnables, if at all.
        t.task(3, 0, Action::Preempt);
        let say = |t: &mut Trace, time, action| {
            for runnable in ["A", "B"].into_iter().filter(|_| said) {
                t.at(time, "T", EntityType::Runnable, (runnable, 0), action);
            }
        };
        say(&mut t, 3, Action::Suspend);
        t.at(7, "Other", EntityType::Task, ("T", 0), Action::Resume);
        say(&mut t, 7, Action::Resume);
        t.at(10, "T", EntityType::Runnable, ("B", 0), Action::Terminate);
        t.at(10, "T", EntityType::Runnable, ("A", 0), Action::Terminate);
        assert_eq!(t.derive.finish(10, &t.names), Violations::default());
        let states = states(&mut t);
        for runnable in ["A", "B"] {
            let of = states.iter().filter(|state| state.0 == runnable);
            let of: Vec<_> = of.map(|state| (state.4.as_str(), state.5, state.6)).collect();
            assert_eq!(of, expected, "{runnable} {said}");
        }
    }
}

#[test]
fn nothing_of_a_runnable_is_known_in_a_gap_and_before_its_first_event() {
    let mut t = Trace::new();
    t.task(20, 0, Action::Resume);
    t.at(20, "T", EntityType::Runnable, ("A", 0), Action::Resume);
    let core = t.names.intern("Core");
    t.derive.gap(Some(core), (30, 40), &t.names);
    t.at(50, "T", EntityType::Runnable, ("A", 0), Action::Suspend);
    t.at(60, "T", EntityType::Runnable, ("A", 0), Action::Resume);
    t.derive.finish(65, &t.names);
    assert_eq!(
        states(&mut t),
        [
            of("A", 0, "Core", "running", 20, 30),
            of("A", 0, "Core", "suspended", 50, 60),
            of("A", 0, "Core", "running", 60, 65),
        ]
    );
    let b = t.derive.rows.runnables.take_batch().unwrap();
    assert_eq!(b.num_rows(), 1, "it is one execution");
    assert_eq!(["running", "suspended"].map(|c| number(&b, c, 0)), [10 + 5, 10]);
}

#[test]
fn an_instance_is_complete_without_an_activation_that_its_writer_never_tells() {
    let mut t = Trace::new();
    for n in 0..3 {
        let isr = |action, time| (time, "Core", EntityType::Isr, ("I", n), action);
        for (time, source, kind, target, action) in
            [isr(Action::Start, n * 10), isr(Action::Terminate, n * 10 + 3)]
        {
            t.at(time, source, kind, target, action);
        }
    }
    // The activation of the first one may be before the trace.
    for (time, instance, action) in [
        (40, 0, Action::Start),
        (41, 0, Action::Terminate),
        (42, 1, Action::Activate),
        (43, 1, Action::Start),
        (44, 1, Action::Terminate),
        (45, 2, Action::Start),
        (46, 2, Action::Terminate),
    ] {
        t.task(time, instance, action);
    }
    let batch = t.instances();
    let complete = batch.column_by_name(pi::COMPLETE).unwrap().as_boolean().clone();
    let complete: Vec<bool> = complete.iter().flatten().collect();
    assert_eq!(complete, [true, true, true, false, true, false]);
    assert!(batch.column_by_name(pi::ACTIVATE_AT).unwrap().is_null(1));
    assert_eq!(number(&batch, pi::RUNNING, 1), 3);
}

#[test]
fn what_a_lost_instance_runs_is_lost_with_it() {
    let mut t = Trace::new();
    t.task(10, 0, Action::Activate);
    t.task(20, 0, Action::Start);
    t.at(30, "T", EntityType::Runnable, ("R", 0), Action::Start);
    let task = (t.names.intern("T"), 0);
    t.derive.lose(task, 50, &t.names);
    // Its end was lost, too.
    t.task(60, 1, Action::Activate);
    t.task(70, 1, Action::Start);
    assert_eq!(t.derive.finish(100, &t.names), Violations::default());
    let states = t.derive.rows.runnable_states.take_batch().unwrap();
    assert_eq!(states.num_rows(), 1);
    assert_eq!((number(&states, "begin_at", 0), number(&states, "end_at", 0)), (30, 50));
    let runnables = t.derive.rows.runnables.take_batch().unwrap();
    assert_eq!(number(&runnables, "running", 0), 20);
}

#[test]
fn a_runnable_that_was_lost_is_one_execution() {
    let terminates = |t: &mut Trace| t.at(70, "T", EntityType::Runnable, ("R", 0), Action::Terminate);
    let ends_unseen = |t: &mut Trace| {
        let [task, runnable] = ["T", "R"].map(|name| (t.names.intern(name), 0));
        let kind = EntityType::Runnable;
        t.derive.closing(&Event::new(70, task, kind, runnable, Action::Terminate, Note::None), &t.names);
    };
    let ends_with_process = |t: &mut Trace| {
        t.task(70, 0, Action::Terminate);
        t.task(80, 1, Action::Activate);
    };
    type End<'a> = &'a dyn Fn(&mut Trace);
    let ways: [(End, bool, i64); 3] =
        [(&terminates, true, 20 + 10), (&ends_unseen, false, 20), (&ends_with_process, false, 20)];
    for (end, goes_on, running) in ways {
        let mut t = Trace::new();
        t.task(10, 0, Action::Activate);
        t.task(20, 0, Action::Start);
        t.at(30, "T", EntityType::Runnable, ("R", 0), Action::Start);
        let task = (t.names.intern("T"), 0);
        t.derive.lose(task, 50, &t.names);
        t.task(60, 0, Action::Resume);
        if goes_on {
            t.at(60, "T", EntityType::Runnable, ("R", 0), Action::Resume);
        }
        assert_eq!(t.derive.rows.runnables.len(), 0, "it may go on");
        end(&mut t);
        assert_eq!(t.derive.rows.runnables.len(), 1, "it is written when it has ended");
        assert_eq!(t.derive.finish(100, &t.names), Violations::default());
        let b = t.derive.rows.runnables.take_batch().unwrap();
        assert_eq!((b.num_rows(), number(&b, "running", 0)), (1, running));
        assert!(!b.column_by_name("complete").unwrap().as_boolean().value(0));
    }
}

#[test]
fn what_lost_runnables_have_called_counts_once() {
    let mut t = Trace::new();
    t.task(10, 0, Action::Activate);
    t.task(20, 0, Action::Start);
    let r = |t: &mut Trace, time, name: &str, action| {
        t.at(time, "T", EntityType::Runnable, (name, 0), action);
    };
    r(&mut t, 30, "A", Action::Start);
    r(&mut t, 40, "B", Action::Start);
    let task = (t.names.intern("T"), 0);
    t.derive.lose(task, 50, &t.names);
    t.task(60, 0, Action::Resume);
    r(&mut t, 60, "A", Action::Resume);
    r(&mut t, 60, "B", Action::Resume);
    r(&mut t, 65, "B", Action::Terminate);
    r(&mut t, 70, "A", Action::Terminate);
    t.derive.finish(100, &t.names);
    let b = t.derive.rows.runnables.take_batch().unwrap();
    let row = |n| ["depth", "running", "callees"].map(|c| number(&b, c, n));
    assert_eq!((row(0), row(1)), ([1, 10 + 5, 0], [0, 20 + 10, 10 + 5]));
}

#[test]
fn what_a_lost_handler_of_a_core_runs_is_lost_with_it() {
    let mut t = Trace::new();
    let [isr, process] = [("I", 0), ("Core.I", 5)].map(|(name, n)| (t.names.intern(name), n));
    t.derive.handler(isr, process);
    t.at(10, "Core", EntityType::Isr, ("I", 0), Action::Start);
    t.at(12, "I", EntityType::Runnable, ("R", 0), Action::Start);
    t.at(20, "Core", EntityType::Isr, ("I", 0), Action::Preempt);
    t.derive.lose(isr, 50, &t.names);
    t.derive.finish(100, &t.names);
    assert_eq!(
        states(&mut t),
        [of("R", 0, "Core", "running", 12, 20), of("R", 0, "Core", "suspended", 20, 50)]
    );
}

#[test]
fn a_runnable_ends_with_its_process_at_the_latest() {
    for also in [false, true] {
        let mut t = Trace::new();
        t.task(0, 0, Action::Activate);
        t.task(0, 0, Action::Start);
        t.at(5, "T", EntityType::Runnable, ("R", 0), Action::Start);
        t.task(10, 0, Action::Terminate);
        if also {
            // Events of one instant may be in any order.
            t.at(10, "T", EntityType::Runnable, ("R", 0), Action::Terminate);
        }
        // Another instance of the same number.
        t.task(10, 0, Action::Activate);
        t.task(10, 0, Action::Start);
        t.at(10, "T", EntityType::Runnable, ("S", 0), Action::Start);
        t.at(20, "T", EntityType::Runnable, ("S", 0), Action::Terminate);
        t.task(20, 0, Action::Terminate);
        assert_eq!(t.derive.finish(1000, &t.names).runnable, u64::from(!also));
        assert_eq!(
            states(&mut t),
            [of("R", 0, "Core", "running", 5, 10), of("S", i64::from(!also), "Core", "running", 10, 20)]
        );
        let b = t.derive.rows.runnables.take_batch().unwrap();
        let complete = b.column_by_name("complete").unwrap().as_boolean();
        assert_eq!((complete.value(0), complete.value(1)), (also, true));
    }
}

#[test]
fn a_lost_instance_that_is_ended_is_written_once_and_forgotten() {
    let mut t = Trace::new();
    let closing = |t: &mut Trace, time, instance, action| {
        let (source, target) = (t.names.intern("Core"), t.names.intern("T"));
        let event = Event::new(time, (source, 0), EntityType::Task, (target, instance), action, Note::None);
        t.derive.closing(&event, &t.names);
    };
    for n in 0..3 {
        let begin = n * 100;
        t.task(begin, n, Action::Activate);
        t.task(begin + 10, n, Action::Start);
        closing(&mut t, begin + 15, n, Action::Terminate);
        let core = t.names.intern("Core");
        t.derive.gap(Some(core), (begin + 20, begin + 50), &t.names);
        closing(&mut t, begin + 20, n, Action::Preempt);
        closing(&mut t, begin + 20, n, Action::Terminate);
        assert_eq!(t.derive.rows.instances.len() as i64, n + 1, "it is written where it ends");
    }
    assert_eq!(t.derive.finish(1000, &t.names), Violations::default());
    let b = t.instances();
    assert_eq!(b.num_rows(), 3);
    assert_eq!((0..3).map(|row| number(&b, pi::RUNNING, row)).collect::<Vec<_>>(), [10, 10, 10]);
    assert_eq!(b.column_by_name(pi::TERMINATE_AT).unwrap().null_count(), 3);
}

/// Of many gaps, each leaves an instance open of which nothing more comes.
#[test]
fn what_a_gap_has_cut_is_written_when_the_next_one_starts() {
    let mut t = Trace::new();
    let core = t.names.intern("Core");
    for n in 0..5 {
        let begin = n * 100;
        t.task(begin, n, Action::Activate);
        t.task(begin + 10, n, Action::Start);
        assert_eq!(t.derive.rows.instances.len() as i64, n, "the one before has ended");
        t.derive.gap(Some(core), (begin + 20, begin + 50), &t.names);
    }
    // One that is seen again has not ended, nor one that starts behind it.
    t.task(460, 4, Action::Resume);
    t.task(470, 5, Action::Activate);
    t.task(480, 4, Action::Terminate);
    t.task(480, 5, Action::Start);
    assert_eq!(t.derive.finish(500, &t.names), Violations::default());
    let b = t.instances();
    let rows = (0..b.num_rows()).map(|row| [pi::INSTANCE, pi::RUNNING].map(|c| number(&b, c, row)));
    assert_eq!(rows.collect::<Vec<_>>(), [[0, 10], [1, 10], [2, 10], [3, 10], [4, 30], [5, 20]]);
}

#[test]
fn isrs_that_may_go_on_behind_a_gap_are_one_instance_each() {
    let mut t = Trace::new();
    let isr = |t: &mut Trace, time, core: &str, name: &str, n, action| {
        t.at(time, core, EntityType::Isr, (name, n), action);
    };
    let core = t.names.intern("Core");
    isr(&mut t, 10, "Core", "I", 0, Action::Start);
    isr(&mut t, 15, "Core", "I", 0, Action::Preempt);
    isr(&mut t, 15, "Core", "J", 0, Action::Start);
    t.derive.gap(Some(core), (20, 30), &t.names);
    // One of another core, and one on top of it.
    isr(&mut t, 40, "Other", "J", 1, Action::Start);
    isr(&mut t, 41, "Core", "J", 0, Action::Terminate);
    isr(&mut t, 42, "Core", "I", 1, Action::Start);
    isr(&mut t, 43, "Core", "I", 1, Action::Terminate);
    isr(&mut t, 43, "Core", "I", 0, Action::Resume);
    isr(&mut t, 44, "Core", "I", 0, Action::Terminate);
    isr(&mut t, 45, "Other", "J", 1, Action::Terminate);
    t.derive.finish(50, &t.names);
    let b = t.instances();
    assert_eq!((b.num_rows(), b.column_by_name(pi::TERMINATE_AT).unwrap().null_count()), (4, 0));
}

#[test]
fn what_a_runnable_does_in_a_gap_is_not_known() {
    let mut t = Trace::new();
    t.task(0, 0, Action::Activate);
    t.task(0, 0, Action::Start);
    let core = t.names.intern("Core");
    t.derive.gap(Some(core), (10, 50), &t.names);
    t.at(20, "T", EntityType::Runnable, ("R", 0), Action::Start);
    // Its process says that it is suspended.
    t.task(30, 0, Action::Preempt);
    t.task(70, 0, Action::Resume);
    t.derive.finish(80, &t.names);
    assert_eq!(
        states(&mut t),
        [of("R", 0, "Core", "suspended", 50, 70), of("R", 0, "Core", "running", 70, 80)]
    );
}
