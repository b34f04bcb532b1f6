//! Scripts of the database with known content.

use super::*;
use crate::engine::tests::fixture::engine;

fn exported(selection: &Selection, options: &GraspOptions) -> (String, GraspCounts) {
    let (_dir, session) = engine(&["r"]);
    let mut out = Vec::new();
    let done = export_grasp(&session, selection, options, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let comments = text.lines().filter(|l| l.starts_with("# btf: ")).count() as u64;
    let commands = text.lines().filter(|l| !l.starts_with('#')).count() as u64;
    assert_eq!((done.comments, done.commands), (comments, commands));
    (text, done)
}

#[test]
fn jobs_are_written_in_the_words_of_grasp() {
    let (text, done) =
        exported(&Selection { to: Some(60), ..Selection::default() }, &GraspOptions::default());
    let expected = "\
# r: 1 is 1 ns
newProcessor core1 -name Core_1
newTask task1 -name I_1 -priority 1 -kind isr -processor core1
newTask task2 -name T_1 -priority 2 -processor core1
plot 0 jobArrived task2.0 task2 -name {T_1 0}
plot 10 jobResumed task2.0
# btf: 12,T_1,0,R,R_1,0,start
plot 20 jobArrived task1.0 task1 -name {I_1 0}
plot 20 jobPreempted task2.0 -target task1.0
plot 20 jobResumed task1.0
plot 30 jobCompleted task1.0 -target task2.0
plot 30 jobResumed task2.0
plot 40 message {T_1 write SIG_1 1,5}
plot 50 jobCompleted task2.0
";
    assert_eq!(text, expected);
    assert_eq!((done.commands, done.comments), (12, 1));
}

#[test]
fn jobs_that_are_there_when_the_window_begins_are_declared() {
    let window = Selection { from: Some(15), to: Some(40), ..Selection::default() };
    let options = GraspOptions { tick: Some(10), dialect: Some(Dialect::Of2010) };
    let (text, _) = exported(&window, &options);
    let expected = "\
# r: 1 is 10 ns
newProcessor core1 -name Core_1
[Task task1] initWith -name I_1 -priority 1 -kind isr -processor core1
[Task task2] initWith -name T_1 -priority 2 -processor core1
[Job task2.0] initWithTask task2 -name {T_1 0}
plot 1.5 jobResumed task2.0
plot 2 taskArrived task1
[Job task1.0] initWithTask task1 -name {I_1 0}
plot 2 jobPreempted task2.0 -target task1.0
plot 2 jobResumed task1.0
plot 3 jobCompleted task1.0 -target task2.0
plot 3 jobResumed task2.0
";
    assert_eq!(text, expected);
}

#[test]
fn a_job_that_changes_its_core_says_where_it_goes() {
    let window = Selection { from: Some(200), to: Some(300), ..Selection::default() };
    let (text, _) = exported(&window, &GraspOptions::default());
    let lines: Vec<_> = text.lines().filter(|l| l.starts_with("plot")).collect();
    assert_eq!(
        lines,
        [
            "plot 210 jobArrived task2.2 task2 -name {T_1 2}",
            "plot 240 jobResumed task2.2 -processor core2",
            "plot 250 jobPreempted task2.2",
            "plot 250 jobResumed task2.2 -processor core1",
            "plot 260 jobCompleted task2.2",
        ]
    );
}

#[test]
fn times_without_end_are_refused() {
    let (_dir, session) = engine(&["r"]);
    let options = GraspOptions { tick: Some(3), dialect: None };
    let refused = export_grasp(&session, &Selection::default(), &options, &mut Vec::new()).unwrap_err();
    assert_eq!(refused.kind(), crate::error::ErrorKind::Usage);
}
