//! Pictures of a small recording with known rows.

use super::*;
use crate::engine::tests::fixture;
use crate::picture::{Mark, MarkKind, Picture, Row, RowKind, Run, State};
use crate::schema::{
    BtfEventRow, BtfEventRows, EcuEntityRow, EcuEntityRows, ProcessStateRow, ProcessStateRows, RecordingRow,
    RecordingRows,
};

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
    assert_eq!(text(late[0]).as_deref(), Some("T_1[0]: deadline missed by 5 ns"));
    assert_eq!(text(late[1]).as_deref(), Some("T_1[2]: deadline missed by 5 ns"));
    let links: Vec<_> = picture.links.iter().map(|l| (l.from_row, l.from_at, l.to_row)).collect();
    assert_eq!(links, [(3, 20, 2)]);
    let signal = row(&picture, "signal:SIG_1");
    assert_eq!(
        (marks(signal, MarkKind::Write), signal.curve.is_none()),
        (vec![40], true),
        "1,5 is no number"
    );
}

/// Instance 3 of T_1 is activated at 300 on Core_1 and never ends; the recording ends at 320.
#[test]
fn who_may_have_ended_in_a_gap_has_missed_no_deadline() {
    let late = |gaps: &[(Option<&str>, i64, i64)]| {
        let (dir, _) = fixture::engine(&["r"]);
        let mut tx = fixture::begin(&dir.path().join("db"));
        for (core, begin, end) in gaps {
            fixture::put(&mut tx, tables::GAP, "r", None, &fixture::gap(*core, *begin, *end));
        }
        tx.commit().unwrap();
        let request = Request { deadlines: vec![("T_1".into(), 12)], for_page: true, ..request() };
        let picture = plot(&fixture::open(dir.path()), &request).unwrap();
        let task = row(&picture, "task:T_1");
        assert_eq!(task.cut, [(None, 3)], "a page says which instance is not known as a whole");
        assert_eq!(row(&picture, "runnable:T_1").cut.iter().map(|cut| cut.1).collect::<Vec<_>>(), [1]);
        marks(task, MarkKind::Violation).contains(&312)
    };
    assert!(late(&[]));
    assert!(late(&[(Some("Core_2"), 305, 320)]) && late(&[(Some("Core_1"), 313, 320)]));
    assert!(!late(&[(Some("Core_1"), 311, 320)]) && !late(&[(None, 312, 320)]));
    assert!(!late(&[(Some("Core_1"), 290, 301)]), "whether it was activated then is all that is known");
}

#[test]
fn pages_say_which_instances_of_the_window_are_cut_off() {
    let (dir, _) = fixture::engine(&["r"]);
    let mut tx = fixture::begin(&dir.path().join("db"));
    let mut rows = ProcessStateRows::new();
    rows.push(ProcessStateRow {
        process: "T_1".into(),
        r#type: "T".into(),
        instance: 3,
        core: Some("Core_1".into()),
        state: "active".into(),
        begin_at: 300,
        end_at: 310,
        idle: false,
    });
    fixture::put(&mut tx, tables::PROCESS_STATE, "r", None, &rows.take_batch().unwrap());
    tx.commit().unwrap();
    let session = fixture::open(dir.path());
    let cut = |for_page, from, to| -> Vec<String> {
        let mut request = Request { for_page, ..request() };
        (request.selection.from, request.selection.to) = (Some(from), Some(to));
        let picture = plot(&session, &request).unwrap();
        let of = |row: &Row| row.cut.iter().map(|cut| format!("{} {}", row.id, cut.1)).collect::<Vec<_>>();
        picture.rows.iter().flat_map(of).collect()
    };
    assert_eq!(cut(true, 200, 321), ["task:T_1 3", "runnable:T_1 1"]);
    assert_eq!(cut(true, 290, 305), ["task:T_1 3"], "it starts behind the window");
    assert_eq!(cut(true, 0, 300), Vec::<String>::new());
    assert_eq!(cut(false, 200, 321), Vec::<String>::new(), "a drawing does not show it, and nothing is read");
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

/// A recording from 0 to 1000 of signals that are written, of processes with states, and with gaps.
#[derive(Default)]
struct Made<'a> {
    /// Time, signal and value.
    writes: &'a [(i64, &'a str, &'a str)],
    /// Time, process and what it does with semaphore `L`.
    locks: &'a [(i64, &'a str, &'a str)],
    /// Process, core, state, begin and end; `Idle` is an idle task.
    states: &'a [(&'a str, &'a str, &'a str, i64, i64)],
    gaps: &'a [(Option<&'a str>, i64, i64)],
    /// Control unit, type and name.
    units: &'a [(&'a str, &'a str, &'a str)],
}

impl Made<'_> {
    fn drawn(&self, window: (i64, i64), request: Request) -> Picture {
        let dir = tempfile::TempDir::new().unwrap();
        let mut tx = fixture::begin(&dir.path().join("db"));
        tx.set_recording("r", Some(0), Some(1000)).unwrap();
        let mut rows = RecordingRows::new();
        rows.push(RecordingRow {
            os: None,
            time_scale: "ns".into(),
            begin_at: Some(0),
            end_at: Some(1000),
            creator: None,
            created: None,
            tick: None,
            sources: 0,
            software_events: 0,
            btf_events: 0,
            gaps: 0,
            diagnostics: 0,
        });
        fixture::put(&mut tx, tables::RECORDING, "r", None, &rows.take_batch().unwrap());
        let mut rows = BtfEventRows::new();
        for (seq, (time, signal, value)) in self.writes.iter().enumerate() {
            rows.push(BtfEventRow {
                time: *time,
                seq: seq as i64,
                source: "T".into(),
                source_instance: Some(0),
                target_type: "SIG".into(),
                target: (*signal).into(),
                target_instance: Some(0),
                action: "write".into(),
                note: Some((*value).into()),
            });
        }
        for (seq, (time, process, action)) in (1000..).zip(self.locks) {
            rows.push(BtfEventRow {
                time: *time,
                seq,
                source: (*process).into(),
                source_instance: Some(0),
                target_type: "SEM".into(),
                target: "L".into(),
                target_instance: Some(0),
                action: (*action).into(),
                note: None,
            });
        }
        if !self.writes.is_empty() || !self.locks.is_empty() {
            fixture::put(&mut tx, tables::BTF_EVENT, "r", None, &rows.take_batch().unwrap());
        }
        let mut rows = ProcessStateRows::new();
        for (process, core, state, begin_at, end_at) in self.states.iter().copied() {
            rows.push(ProcessStateRow {
                process: process.into(),
                r#type: if process.starts_with('I') && process != "Idle" { "I" } else { "T" }.into(),
                instance: 0,
                core: Some(core.into()),
                state: state.into(),
                begin_at,
                end_at,
                idle: process == "Idle",
            });
        }
        if !self.states.is_empty() {
            fixture::put(&mut tx, tables::PROCESS_STATE, "r", None, &rows.take_batch().unwrap());
        }
        for (core, begin, end) in self.gaps {
            fixture::put(&mut tx, tables::GAP, "r", None, &fixture::gap(*core, *begin, *end));
        }
        let mut rows = EcuEntityRows::new();
        for (unit, ty, entity) in self.units {
            rows.push(EcuEntityRow {
                ecu: (*unit).into(),
                r#type: (*ty).into(),
                entity: (*entity).into(),
                original: (*entity).into(),
            });
        }
        if !self.units.is_empty() {
            fixture::put(&mut tx, tables::ECU_ENTITY, "r", None, &rows.take_batch().unwrap());
        }
        tx.commit().unwrap();
        let session = fixture::open(dir.path());
        let mut request = request;
        (request.selection.from, request.selection.to) = (Some(window.0), Some(window.1));
        plot(&session, &request).unwrap()
    }
}

fn exactly() -> Request {
    Request { exact_up_to: 1000, ..request() }
}

#[test]
fn a_gap_concerns_the_rows_of_its_cores() {
    let made = Made {
        writes: &[(50, "here", "1"), (60, "there", "1"), (70, "somewhere", "1")],
        states: &[
            ("A", "X0", "running", 0, 100),
            ("B", "X1", "running", 0, 100),
            ("C", "Y0", "running", 0, 100),
            ("B", "X0", "running", 300, 400),
        ],
        gaps: &[(Some("X0"), 150, 200)],
        units: &[
            ("X", "C", "X0"),
            ("X", "C", "X1"),
            ("Y", "C", "Y0"),
            ("X", "SIG", "here"),
            ("Y", "SIG", "there"),
        ],
        ..Made::default()
    };
    let blind = |made: &Made<'_>, to: i64| {
        let picture = made.drawn((0, to), exactly());
        let gaps = picture.rows.iter().find(|row| row.kind == RowKind::Trace).unwrap();
        let blind = picture.rows.iter().filter(|row| row.is_blind_in(gaps));
        blind.map(|row| row.id.clone()).collect::<Vec<_>>().join(" ")
    };
    let one = "core:X0 task:A signal:here signal:somewhere trace:gaps of X0";
    assert_eq!(blind(&made, 250), one);
    // What runs on several cores of the window is of all of them.
    assert_eq!(blind(&made, 350), one.replace("task:A", "task:A task:B"));
    let all = Made { gaps: &[(None, 150, 200)], ..made };
    assert!(blind(&all, 250).starts_with("core:X0 core:X1 core:Y0 task:A task:B task:C signal:here"));
}

#[test]
fn a_signal_is_not_known_after_a_gap() {
    let made = Made {
        writes: &[(10, "S", "1"), (10, "of_y", "1"), (120, "S", "2"), (250, "S", "3"), (500, "S", "4")],
        gaps: &[(Some("X0"), 100, 200), (Some("X1"), 500, 600), (Some("X1"), 550, 700)],
        units: &[("X", "C", "X0"), ("X", "C", "X1"), ("Y", "C", "Y0"), ("Y", "SIG", "of_y")],
        ..Made::default()
    };
    let values = |picture: &Picture, signal: &str| {
        let points = &row(picture, &format!("signal:{signal}")).curve.as_ref().unwrap().points;
        points.iter().map(|p| (p.at, p.value.to_string())).collect::<Vec<_>>()
    };
    let of = |points: &[(i64, &str)]| {
        points.iter().map(|(at, text)| (*at, (*text).to_owned())).collect::<Vec<_>>()
    };
    let whole = made.drawn((0, 1000), exactly());
    // What is written in a gap can be written once more there, unseen.
    let known = [(10, "1"), (100, "NaN"), (250, "3"), (500, "4"), (500, "NaN")];
    assert_eq!(values(&whole, "S"), of(&known));
    assert_eq!(marks(row(&whole, "signal:S"), MarkKind::Write), [10, 120, 250, 500]);
    assert_eq!(values(&whole, "of_y"), of(&[(10, "1")]));
    // The value at the begin of a window is that of the last write, if no gap follows.
    let later = made.drawn((300, 600), exactly());
    assert_eq!(values(&later, "S"), of(&[(250, "3"), (500, "4"), (500, "NaN")]));
    let after = made.drawn((710, 1000), exactly());
    assert!(row(&after, "signal:S").curve.is_none());
    let within = made.drawn((150, 300), Request { columns: 10, ..request() });
    assert_eq!(values(&within, "S"), of(&[(250, "3")]));
    assert_eq!(values(&within, "of_y"), of(&[(10, "1")]));
}

#[test]
fn a_signal_is_not_known_after_a_write_without_a_value_and_behind_the_end() {
    let made = Made {
        writes: &[(10, "S", "1"), (300, "S", ""), (400, "S", "2"), (10, "R", "7"), (20, "R", "")],
        ..Made::default()
    };
    let values = |window, signal: &str| {
        let picture = made.drawn(window, exactly());
        let curve = &row(&picture, &format!("signal:{signal}")).curve;
        let points = curve.iter().flat_map(|curve| &curve.points);
        points.map(|p| format!("{} {}", p.at, p.value)).collect::<Vec<_>>().join(", ")
    };
    assert_eq!(values((0, 1001), "S"), "10 1, 300 NaN, 400 2");
    assert_eq!(values((0, 3000), "S"), "10 1, 300 NaN, 400 2, 1001 NaN");
    assert_eq!(values((200, 350), "S"), "10 1, 300 NaN");
    // What was written last before the window has no value.
    assert_eq!(values((0, 1001), "R"), "10 7, 20 NaN");
    let later = made.drawn((350, 1001), exactly());
    assert!(later.rows.iter().all(|row| row.label != "R"));
}

#[test]
fn a_window_outside_of_all_recordings_is_an_error() {
    let (_dir, session) = fixture::engine(&["q", "r"]);
    let names = ["q".to_owned(), "r".to_owned()];
    let of = |from, to, align| {
        let selection = Selection { from: Some(from), to: Some(to), ..Selection::default() };
        several::aligned(&session, &selection, &names, align).map(|aligned| (aligned.from, aligned.to))
    };
    for align in [Align::Begin, Align::Time] {
        assert_eq!((of(320, 900, align).unwrap(), of(-100, 1, align).unwrap()), ((320, 900), (-100, 1)));
        for (from, to) in [(321, 900), (-100, 0)] {
            let error = of(from, to, align).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Usage);
            let lasts = "recording 'q' lasts from 0 ns to 320 ns; recording 'r' lasts from 0 ns to 320 ns";
            assert_eq!(error.hints(), [lasts], "{from} {to}");
        }
    }
}

/// Windows of 100: of the first, a gap hides 50; of the second, all; of the edge behind them, half or all.
#[test]
fn loads_are_drawn_where_something_is_seen() {
    for last in [310, 320] {
        loads_with_gap_to(last);
    }
}

fn loads_with_gap_to(last: i64) {
    let (dir, _) = fixture::engine(&["r"]);
    let mut tx = fixture::begin(&dir.path().join("db"));
    for (from, to) in [(50, 110), (110, 200), (300, last)] {
        fixture::put(&mut tx, tables::GAP, "r", None, &fixture::gap(Some("Core_1"), from, to));
    }
    tx.commit().unwrap();
    let request = ChartRequest {
        selection: Selection::default(),
        form: Form::Load,
        metrics: Vec::new(),
        window: Some(100),
        title: None,
    };
    let made = chart(&fixture::open(dir.path()), &request, &mut BTreeSet::new()).unwrap();
    let crate::picture::Content::Steps { steps, .. } = &made.panels[0].content else { panic!("no steps") };
    // In the second window, 20 ticks were seen in spite of the gap, and 10 in the edge.
    assert_eq!(steps, &[(0, 100, 80.0), (100, 200, 100.0), (200, 300, 10.0), (300, 320, 100.0)]);
    let summary = &made.panels[0].summary;
    assert!(summary.contains("mean 44.4 %, peak 100 % at 100 ns"), "{last}: {summary}");
}

#[test]
fn who_runs_again_waits_for_no_semaphore_any_more() {
    let made = Made {
        locks: &[
            (10, "A", "requestsemaphore"),
            (10, "A", "waiting"),
            (20, "B", "requestsemaphore"),
            (20, "B", "waiting"),
            (50, "A", "requestsemaphore"),
            (52, "A", "assigned"),
            (60, "A", "requestsemaphore"),
            (70, "A", "requestsemaphore"),
            (70, "A", "waiting"),
        ],
        states: &[
            ("A", "C", "running", 0, 12),
            ("A", "C", "waiting", 12, 40),
            ("A", "C", "ready", 40, 45),
            ("A", "C", "running", 45, 72),
            ("A", "C", "waiting", 72, 1000),
            ("B", "C", "running", 15, 22),
            ("B", "C", "waiting", 22, 1000),
        ],
        ..Made::default()
    };
    let wanted = |window| {
        let picture = made.drawn(window, exactly());
        let runs = exact_runs(row(&picture, "semaphore:L"));
        let runs = runs.into_iter().filter(|run| run.0 == State::Wanted);
        runs.map(|run| (run.1, run.2)).collect::<Vec<_>>()
    };
    // A gives up once, and waits once more at the end, as B does; nothing says when it gave up in between.
    assert_eq!(wanted((0, 1001)), [(10, 45), (20, 1000), (50, 52), (60, 70), (70, 1000)]);
    assert_eq!(wanted((500, 600)), [(20, 1000), (70, 1000)]);
}

#[test]
fn a_preemption_may_take_the_kernel_some_time() {
    let lines = |states: &[(&str, &str, &str, i64, i64)], gaps: &[(Option<&str>, i64, i64)]| {
        let made = Made { states, gaps, ..Made::default() };
        let picture = made.drawn((0, 1000), Request { rows: Rows::Both, ..exactly() });
        let label = |row: usize| picture.rows[row].label.clone();
        let line = |l: &crate::picture::Link| (label(l.from_row), l.from_at, label(l.to_row), l.to_at);
        picture.links.iter().map(line).collect::<Vec<_>>()
    };
    let made = [
        ("A", "C", "running", 0, 100),
        ("A", "C", "ready", 100, 200),
        ("B", "C", "active", 90, 107),
        ("B", "C", "running", 107, 180),
        ("A", "C", "running", 200, 300),
    ];
    let of = |from: &str, at: i64, to: &str, then: i64| (from.to_owned(), at, to.to_owned(), then);
    assert_eq!(lines(&made, &[]), [of("A", 100, "B", 107)]);
    let with = |at: usize, state: (&'static str, &'static str, &'static str, i64, i64)| {
        let mut other = made.to_vec();
        other[at] = state;
        lines(&other, &[])
    };
    assert_eq!(with(2, ("B", "C", "active", 103, 107)), [], "it was not the reason");
    assert_eq!(with(1, ("A", "C", "ready", 100, 105)), [], "it was not ready all the time");
    let isr = [made[0], made[1], ("ISR", "C", "running", 107, 180), made[4]];
    assert_eq!(lines(&isr, &[]), [of("A", 100, "ISR", 107)]);
    let mut idle = made.to_vec();
    idle.push(("Idle", "C", "running", 102, 105));
    assert_eq!(lines(&idle, &[]), [], "the core was idle");
    assert_eq!(lines(&made, &[(Some("C"), 101, 106)]), [], "something else can have run");
    assert_eq!(lines(&made, &[(Some("D"), 101, 106)]), [of("A", 100, "B", 107)]);
    let mut other = made.to_vec();
    other.push(("Z", "C", "running", 101, 104));
    assert_eq!(lines(&other, &[]), [of("A", 100, "Z", 101)], "what runs next is what counts");
}
