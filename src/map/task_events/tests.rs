//! Rows of task events against the system events that follow from them, by hand.

use super::*;
use crate::map::printed;
use crate::time::TimeScale;
use std::sync::Arc;
use stored::Kind;

fn row(time: i64, name: &str, kind: Kind) -> TaskEvent {
    TaskEvent { time, core: 0, name: Arc::from(name), kind }
}

fn mapper() -> TaskEventMapper {
    let recording = Recording { begin: 0, end: 100, time_scale: TimeScale::Ns, gaps: &[] };
    let mut mapper = TaskEventMapper::new(StoredSetup::default(), &recording).unwrap();
    mapper.rules.add_cores(&["A".to_owned(), "B".to_owned()]);
    mapper
}

/// What rows become, in short: `!` before events that were not recorded, `?` before an activation that was
/// not, `-` before what is lost.
fn mapped(rows: &[TaskEvent]) -> Vec<String> {
    let mut mapper = mapper();
    rows.iter().for_each(|row| mapper.event(row));
    text(&mut mapper)
}

fn text(mapper: &mut TaskEventMapper) -> Vec<String> {
    let finished = mapper.finish();
    printed::lines(mapper.names(), &finished)
}

#[test]
fn each_row_is_a_step_of_its_task() {
    let rows = [
        row(0, "", Kind::Preempt),
        row(1, "T", Kind::Activate),
        row(2, "T", Kind::Other),
        row(2, "T", Kind::Start),
        row(3, "T", Kind::Wait),
        row(3, "NO_TASK", Kind::Preempt),
        row(4, "T", Kind::Release),
        row(5, "T", Kind::Resume),
        row(6, "T", Kind::Preempt),
        row(7, "T", Kind::Resume),
        row(8, "T", Kind::Terminate),
    ];
    let expected = [
        "1 STI_T T0 activate",
        "2 A T0 start",
        "3 A T0 wait",
        "4 A T0 release",
        "5 A T0 resume",
        "6 A T0 preempt",
        "7 A T0 resume",
        "8 A T0 terminate",
    ];
    assert_eq!(mapped(&rows), expected);
}

#[test]
fn runnables_run_while_their_process_does() {
    let rows = [
        row(1, "R", Kind::RunnableStart),
        row(2, "T", Kind::Activate),
        row(2, "T", Kind::Start),
        row(3, "R", Kind::RunnableStart),
        row(4, "S", Kind::RunnableStart),
        row(5, "T", Kind::Preempt),
        row(6, "T", Kind::Resume),
        row(7, "R", Kind::RunnableStop),
        row(8, "R", Kind::RunnableStart),
        row(9, "T", Kind::Terminate),
        row(9, "R", Kind::RunnableStop),
    ];
    let expected = [
        "2 STI_T T0 activate",
        "2 A T0 start",
        "3 T R0 start",
        "4 T S0 start",
        "5 T S0 suspend",
        "5 T R0 suspend",
        "5 A T0 preempt",
        "6 A T0 resume",
        "6 T R0 resume",
        "6 T S0 resume",
        "7 T S0 terminate",
        "7 T R0 terminate",
        "8 T R1 start",
        "9 T R1 terminate",
        "9 A T0 terminate",
        "runnable-of-nobody: 2 runnables start or stop where no process runs, or did not start",
    ];
    assert_eq!(mapped(&rows), expected);
}

#[test]
fn an_isr_interrupts_what_runs() {
    let rows = [
        row(1, "T", Kind::Activate),
        row(1, "T", Kind::Start),
        row(2, "I", Kind::IsrStart),
        row(3, "J", Kind::IsrStart),
        row(4, "J", Kind::IsrEnd),
        row(5, "I", Kind::IsrEnd),
        row(6, "T", Kind::Preempt),
        row(6, "I", Kind::IsrStart),
        row(7, "I", Kind::IsrEnd),
        row(8, "T", Kind::Resume),
    ];
    let expected = [
        "1 STI_T T0 activate",
        "1 A T0 start",
        "2 A T0 preempt",
        "2 A I0 start",
        "3 A I0 preempt",
        "3 A J0 start",
        "4 A J0 terminate",
        "4 A I0 resume",
        "5 A I0 terminate",
        "5 A T0 resume",
        "6 A T0 preempt",
        "6 A I1 start",
        "7 A I1 terminate",
        "8 A T0 resume",
    ];
    assert_eq!(mapped(&rows), expected);
}

#[test]
fn nothing_is_known_in_a_gap() {
    let mut mapper = mapper();
    mapper.event(&row(1, "T", Kind::Activate));
    mapper.event(&row(1, "T", Kind::Start));
    mapper.event(&row(2, "I", Kind::IsrStart));
    mapper.gap(&Gap { core: Some("A".to_owned()), begin: 2, end: 9 });
    mapper.event(&row(9, "I", Kind::IsrEnd));
    mapper.event(&row(10, "T", Kind::Terminate));
    let found = text(&mut mapper);
    let shown = found.join("\n");
    assert!(found.contains(&"gap A 2 9".to_owned()) && found.contains(&"-2 T0".to_owned()), "{shown}");
    assert!(
        found.contains(&"9 A I1 terminate".to_owned()) && found.contains(&"10 A T1 terminate".to_owned()),
        "{shown}"
    );
    assert!(!shown.contains("T0 resume\n9"), "{shown}");
    assert!(
        found
            .iter()
            .filter(|line| line.starts_with(char::is_numeric))
            .all(|line| !line.ends_with("T1 resume")),
        "{shown}"
    );
}
