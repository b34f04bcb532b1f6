//! Pictures of a small recording with known rows.

use super::*;
use crate::engine::tests::fixture;
use crate::picture::{Mark, MarkKind, Picture, Row, RowKind, Run, State};

fn request() -> Request {
    Request { columns: 400, ..Request::default() }
}

fn drawn(request: &Request) -> Picture {
    let (_dir, session) = fixture::engine(&["r"]);
    plot(&session, request).unwrap()
}

fn row<'a>(picture: &'a Picture, id: &str) -> &'a Row {
    picture.rows.iter().find(|row| row.id == id).unwrap_or_else(|| panic!("no row {id}"))
}

fn exact_runs(row: &Row) -> Vec<(State, i64, i64)> {
    assert!(row.runs.iter().all(|run| run.count == 1));
    row.runs.iter().map(|run| (run.state, run.begin, run.end)).collect()
}

fn marks(row: &Row, kind: MarkKind) -> Vec<i64> {
    row.marks.iter().filter(|mark| mark.kind == kind).map(|mark| mark.at).collect()
}

#[test]
fn tasks_have_their_states_and_cores_what_runs_on_them() {
    let picture = drawn(&request());
    let ids: Vec<_> = picture.rows.iter().map(|row| row.id.as_str()).collect();
    assert_eq!(ids, ["core:Core_1", "core:Core_2", "isr:I_1", "task:T_1", "runnable:T_1", "signal:SIG_1"]);
    assert_eq!(
        exact_runs(row(&picture, "task:T_1")),
        [
            (State::Active, 0, 10),
            (State::Running, 10, 20),
            (State::Ready, 20, 30),
            (State::Running, 30, 50),
            (State::Running, 105, 120),
            (State::Polling, 120, 125),
            (State::Running, 240, 250),
            (State::Running, 250, 260),
            (State::Running, 310, 320),
        ]
    );
    let of_core = row(&picture, "core:Core_1");
    assert_eq!(of_core.runs.len(), 7);
    let name = |run: &Run| run.name.map(|n| picture.names[n as usize].as_str());
    assert_eq!(name(&of_core.runs[1]), Some("I_1"));
    assert_eq!(name(&row(&picture, "task:T_1").runs[6]), Some("Core_2"), "it ran on two cores");
    assert_eq!(row(&picture, "runnable:T_1").parent, Some(3));
    assert_eq!(
        exact_runs(row(&picture, "runnable:T_1")),
        [
            (State::Running, 12, 20),
            (State::Suspended, 20, 30),
            (State::Running, 30, 45),
            (State::Running, 310, 320)
        ]
    );
    assert_eq!((picture.from, picture.to), (0, 321));
    assert_eq!(
        picture.description,
        "0 ns to 320 ns, 320 ns: 2 cores, 1 task, 1 ISR, 1 process with runnables, 1 signal"
    );
    assert_eq!(picture.notes, Vec::<String>::new());
}

#[test]
fn marks_and_lines_are_where_things_happen() {
    let request = Request { deadlines: vec![("T_1".into(), 45), ("T_1".into(), 90)], ..request() };
    let picture = drawn(&request);
    let task = row(&picture, "task:T_1");
    assert_eq!(marks(task, MarkKind::Activation), [0, 100, 210, 300]);
    assert_eq!(marks(task, MarkKind::ActivationLost), [150]);
    // The shorter of two counts; the last instance has not ended when the recording ends at 320.
    assert_eq!(marks(task, MarkKind::Deadline), [45, 145, 255]);
    let text = |mark: &Mark| mark.name.map(|n| picture.names[n as usize].clone());
    let late: Vec<_> = task.marks.iter().filter(|m| m.kind == MarkKind::Violation).collect();
    assert_eq!(late.iter().map(|m| m.at).collect::<Vec<_>>(), [45, 255]);
    assert_eq!(text(late[0]).as_deref(), Some("T_1 #0: deadline missed by 5 ns"));
    let links: Vec<_> = picture.links.iter().map(|l| (l.from_row, l.from_at, l.to_row)).collect();
    assert_eq!(links, [(3, 20, 2)]);
    let signal = row(&picture, "signal:SIG_1");
    assert_eq!(
        (marks(signal, MarkKind::Write), signal.curve.is_none()),
        (vec![40], true),
        "1,5 is no number"
    );
}

#[test]
fn what_is_asked_for_is_shown() {
    let of = |types: &[&str], entities: &[&str], rows: Rows| {
        let mut request = Request { rows, ..request() };
        request.selection.types = types.iter().map(|t| (*t).to_owned()).collect();
        request.selection.entities = entities.iter().map(|e| (*e).to_owned()).collect();
        let picture = drawn(&request);
        let ids: Vec<_> = picture.rows.iter().map(|row| row.id.clone()).collect();
        (ids.join(" "), picture.notes.join(" "))
    };
    assert_eq!(of(&["i"], &[], Rows::Both).0, "isr:I_1");
    assert_eq!(of(&["C"], &[], Rows::Both).0, "core:Core_1 core:Core_2");
    assert_eq!(of(&["R"], &[], Rows::Both).0, "runnable:T_1");
    assert_eq!(of(&[], &["T_1"], Rows::Task).0, "task:T_1 runnable:T_1");
    assert_eq!(of(&[], &["Core_2"], Rows::Core).0, "core:Core_2");
    let (_dir, session) = fixture::engine(&["r"]);
    let mut request = request();
    request.selection.entities = vec!["T_9".to_owned()];
    let error = plot(&session, &request).unwrap_err();
    assert_eq!(error.hints(), ["did you mean 'T_1'?"]);
}

#[test]
fn a_window_shows_what_lies_in_it() {
    let mut request = request();
    (request.selection.from, request.selection.to) = (Some(25), Some(110));
    let picture = drawn(&request);
    assert_eq!(
        exact_runs(row(&picture, "task:T_1")),
        [(State::Ready, 20, 30), (State::Running, 30, 50), (State::Running, 105, 120)]
    );
    assert_eq!(marks(row(&picture, "task:T_1"), MarkKind::Activation), [100]);
    let (_dir, session) = fixture::engine(&["r"]);
    for (from, to) in [(Some(20), Some(20)), (Some(9), Some(3)), (Some(1000), None), (None, Some(-5))] {
        (request.selection.from, request.selection.to) = (from, to);
        assert_eq!(plot(&session, &request).unwrap_err().kind(), ErrorKind::Usage, "{from:?} {to:?}");
    }
}

#[test]
fn a_picture_can_be_around_an_instance() {
    let around = |text: &str| Request { around: Some(Around::parse(text).unwrap()), ..request() };
    let picture = drawn(&around("ResponseTime:T_1:max"));
    // 50 ticks from 0 on, a fourth of that after it, and nothing before the recording.
    assert_eq!((picture.from, picture.to), (0, 62));
    let found = picture.highlight.as_ref().unwrap();
    assert_eq!((found.begin, found.end, picture.rows[found.row].id.as_str()), (0, 50, "task:T_1"));
    assert_eq!(found.label, "greatest ResponseTime of T_1: 50 ns, instance 0");
    let picture = drawn(&around("ResponseTime:T_1:min"));
    assert_eq!((picture.from, picture.to), (94, 131));
    let picture = drawn(&around("RunnableGrossExecutionTime:R_1"));
    assert_eq!((picture.from, picture.to), (4, 53));
    let (_dir, session) = fixture::engine(&["r"]);
    for bad in ["ResponseTime:T_9", "Nothing:T_1"] {
        assert_eq!(plot(&session, &around(bad)).unwrap_err().kind(), ErrorKind::Usage, "{bad}");
    }
}

#[test]
fn pictures_do_not_depend_on_threads_or_columns() {
    let narrow = drawn(&Request { columns: 10, ..request() });
    let task = row(&narrow, "task:T_1");
    assert_eq!(task.runs.iter().map(|run| run.count).sum::<u32>(), 9);
    assert_eq!(task.runs.iter().map(|run| run.covered).sum::<i64>(), 100);
    assert_eq!(task.runs.iter().map(|run| run.occupied).sum::<i64>(), 80);
    assert!(narrow.notes.iter().any(|note| note.contains("stretches")), "{:?}", narrow.notes);
    assert_eq!(drawn(&Request { columns: 10, ..request() }), narrow);
    assert!(narrow.rows.iter().all(|row| row.kind != RowKind::Trace));
}

#[test]
fn charts_have_a_panel_for_each_entity() {
    let (_dir, session) = fixture::engine(&["r"]);
    let of = |form, metrics: &[&str], window| {
        let metrics = metrics.iter().map(|m| (*m).to_owned()).collect();
        let selection = Selection::default();
        let request = ChartRequest { selection, form, metrics, window, title: None };
        chart(&session, &request, &mut BTreeSet::new())
    };
    let made = of(Form::Histogram, &["ResponseTime"], None).unwrap();
    let titles: Vec<_> = made.panels.iter().map(|p| p.title.as_str()).collect();
    assert_eq!(titles, ["ResponseTime of I_1 on Core_1", "ResponseTime of T_1 on Core_1"]);
    assert!(made.panels[1].summary.starts_with("3 samples, 25 ns to 50 ns"), "{}", made.panels[1].summary);
    let made = of(Form::Distribution, &["ResponseTime"], None).unwrap();
    let crate::picture::Content::Spread { columns, .. } = &made.panels[1].content else {
        panic!("no spread")
    };
    assert_eq!(
        columns.iter().map(|c| (c.count, c.middle)).collect::<Vec<_>>(),
        [(1, 50.0), (1, 25.0), (1, 50.0)]
    );
    let made = of(Form::Load, &[], Some(100)).unwrap();
    let crate::picture::Content::Steps { steps, .. } = &made.panels[0].content else { panic!("no steps") };
    assert_eq!(steps, &[(0, 100, 40.0), (100, 200, 20.0), (200, 300, 10.0), (300, 320, 50.0)]);
    for (form, metrics) in
        [(Form::Load, &["ResponseTime"][..]), (Form::Histogram, &[]), (Form::Distribution, &["CPULoad"])]
    {
        assert_eq!(of(form, metrics, None).unwrap_err().kind(), ErrorKind::Usage, "{form:?}");
    }
}
