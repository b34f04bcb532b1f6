//! The record of causes: what it says of small systems, and that it covers every instance without hole, with
//! one process on a core at most. Not whether explanations come to the same (see `tests/it/causes.rs`).

use super::super::access::Unrecorded;
use super::super::causes::{Cause, Instance, Polls, Setter, Sink, Span, State, Why};
use super::super::effect::{Change, Effect, Lock, Observer, Process, Stimulus};
use super::super::{Handlers, Kernel};
use super::{BASE, task};
use crate::simulate::model::Model;
use crate::simulate::random::{self, Options};
use std::collections::HashMap;
use std::path::Path;

#[derive(Default)]
struct Kept {
    spans: Vec<Span>,
    /// Activations and entries, and ends.
    begun: usize,
    ended: usize,
}

impl Observer for Kept {
    fn effect(&mut self, _: usize, _: i64, effect: Effect) {
        match effect {
            Effect::Activate { .. } | Effect::Enter(_) => self.begun += 1,
            Effect::Change(_, Change::Terminate) => self.ended += 1,
            _ => {}
        }
    }
}

fn kept(model: &Model) -> Kept {
    let handlers = Handlers::of(model);
    let mut spans = Vec::new();
    let sink: Sink = Box::new(|span| spans.push(*span));
    let kernel = Kernel::new(model, &handlers, Unrecorded, Kept::default()).with_causes(Some(sink));
    let kept = kernel.run(|_| Ok::<(), ()>(())).unwrap().1;
    Kept { spans, ..kept }
}

/// The causes of an instance of a task: from when to when in µs, and why.
fn causes_of(lines: &str, of: Instance) -> Vec<(i64, i64, Cause)> {
    let (model, _) = Model::parse(&format!("{BASE}{lines}"), Path::new("m.toml")).unwrap();
    let spans = kept(&model).spans.into_iter().filter(|span| span.of == of);
    spans.map(|span| (span.begin / 1000, span.end / 1000, span.cause)).collect()
}

/// Those of the first instance.
fn causes(lines: &str, task: usize) -> Vec<(i64, i64, Cause)> {
    causes_of(lines, instance(task))
}

fn instance(task: usize) -> Instance {
    Instance { process: Process::Task(task), number: 0 }
}

const EXECUTES: Cause = Cause::Executes { runnable: None };

fn behind(task: usize, why: Why) -> Cause {
    Cause::Behind { by: instance(task), why, polls: None }
}

#[test]
fn who_keeps_a_task_from_running_and_why() {
    let section = r#"{ get_resource = "RES" }, { execute = "3ms" }, { release_resource = "RES" }"#;
    // The second one shares the resource, so that its ceiling keeps it; the third one does not need it.
    let model = "[[resource]]\nname = \"RES\"\n".to_owned()
        + &task("T_0", 0, 1, "10ms", "100ms", &format!("{section}, {{ execute = \"1ms\" }}"))
        + &task("T_1", 0, 2, "11ms", "100ms", &format!("{{ execute = \"1ms\" }}, {section}"))
        + &task("T_2", 0, 3, "12ms", "100ms", r#"{ execute = "2ms" }"#);
    let low = [
        (10_000, 12_000, EXECUTES),
        (12_000, 14_000, behind(2, Why::HigherPriority)),
        (14_000, 15_000, EXECUTES),
        // Then the other one has the resource.
        (15_000, 16_000, behind(1, Why::HigherPriority)),
        (16_000, 19_000, behind(1, Why::HigherPriority)),
        (19_000, 20_000, EXECUTES),
    ];
    assert_eq!(causes(&model, 0), low);
    let middle = [
        (11_000, 12_000, behind(0, Why::Ceiling(0))),
        (12_000, 14_000, behind(2, Why::HigherPriority)),
        (14_000, 15_000, behind(0, Why::Ceiling(0))),
        (15_000, 19_000, EXECUTES),
    ];
    assert_eq!(causes(&model, 1), middle);
}

#[test]
fn what_is_not_preemptable_and_an_earlier_instance_are_reasons() {
    let long = r#"{ execute = "5ms" }"#;
    let model = task("T_0", 0, 1, "10ms", "2ms", long)
        .replace("priority = 1", "priority = 1\npreemption = \"non\"\nactivations = 2")
        + &task("T_1", 0, 2, "11ms", "100ms", long)
        + &task("T_2", 0, 1, "12ms", "100ms", long);
    let other = [(11_000, 15_000, behind(0, Why::NotPreemptable)), (15_000, 20_000, EXECUTES)];
    assert_eq!(causes(&model, 1), other);
    let equal = [
        (12_000, 15_000, behind(0, Why::EqualPriority)),
        (15_000, 20_000, behind(1, Why::HigherPriority)),
        (20_000, 25_000, EXECUTES),
    ];
    assert_eq!(causes(&model, 2), equal);
    let second = [
        (12_000, 15_000, behind(0, Why::PreviousInstance)),
        (15_000, 20_000, behind(1, Why::HigherPriority)),
        (20_000, 25_000, behind(2, Why::EqualPriority)),
        (25_000, 30_000, EXECUTES),
    ];
    assert_eq!(causes_of(&model, Instance { number: 1, ..instance(0) }), second);
}

#[test]
fn who_has_a_spinlock_and_who_sets_an_event_are_known() {
    let take = r#"{ get_spinlock = "S" }, { execute = "4ms" }, { release_spinlock = "S" }"#;
    let model = "[[spinlock]]\nname = \"S\"\n[[event]]\nname = \"E\"\n".to_owned()
        + &task("T_0", 0, 1, "10ms", "100ms", take)
        + &task("T_1", 1, 1, "11ms", "100ms", take)
        + &task("T_2", 0, 2, "20ms", "100ms", r#"{ wait_event = ["E"] }"#)
            .replace("steps", "events = [\"E\"]\nsteps")
        + "[[alarm]]\nname = \"A_E\"\nset_event = \"E\"\ntask = \"T_2\"\noffset = \"25ms\"\nonce = true\n";
    let polls = causes(&model, 1);
    assert_eq!(
        polls.iter().map(|(begin, end, _)| (*begin, *end)).collect::<Vec<_>>(),
        [(11_000, 14_000), (14_000, 18_000)]
    );
    let Cause::Polls { lock: Lock::Spinlock(0), holder: Some(holder) } = polls[0].2 else {
        panic!("{polls:?}")
    };
    assert_eq!((holder.instance, holder.state, holder.behind), (instance(0), State::Running, None));
    let alarm = Setter::Stimulus(Stimulus::Alarm(3));
    assert_eq!(causes(&model, 2), [(20_000, 25_000, Cause::Waits { set: Some((0, alarm)) })]);
}

/// The one on its core polls for what the third one has on another core.
#[test]
fn who_has_the_core_and_polls_waits_for_a_holder() {
    let section = r#"{ get_spinlock = "S" }, { execute = "4ms" }, { release_spinlock = "S" }"#;
    let model = "[[spinlock]]\nname = \"S\"\n".to_owned()
        + &task("T_0", 0, 1, "10ms", "100ms", section)
        + &task("T_1", 1, 2, "11ms", "100ms", &format!("{{ execute = \"2ms\" }}, {section}"))
        + &task("T_2", 1, 1, "12ms", "100ms", r#"{ execute = "1ms" }"#);
    let polls = Some(Polls { lock: Lock::Spinlock(0), holder: Some(instance(0)) });
    let expected = [
        (12_000, 13_000, behind(1, Why::HigherPriority)),
        (13_000, 14_000, Cause::Behind { by: instance(1), why: Why::HigherPriority, polls }),
        (14_000, 18_000, behind(1, Why::HigherPriority)),
        (18_000, 19_000, EXECUTES),
    ];
    assert_eq!(causes(&model, 2), expected);
}

#[test]
fn every_instance_has_a_cause_at_every_instant_and_a_core_one_process() {
    for number in 0..40 {
        let options = Options { duration: Some(30_000_000), ..Options::default() };
        let model = random::model(number, &options);
        let Kept { spans, begun, ended } = kept(&model);
        let mut until: HashMap<Instance, i64> = HashMap::new();
        for span in &spans {
            assert!(span.begin < span.end, "{}: {span:?}", model.name);
            let before = until.insert(span.of, span.end);
            assert!(before.is_none_or(|end| end == span.begin), "{}: {before:?}, then {span:?}", model.name);
        }
        assert!(until.len() <= begun && ended * 10 > begun * 7, "{}: {ended} of {begun}", model.name);
        let mut on_core: Vec<&Span> = spans.iter().collect();
        on_core.retain(|span| matches!(span.state, State::Running | State::Polling));
        on_core.sort_by_key(|span| (span.core, span.begin));
        for pair in on_core.windows(2) {
            let is_apart = pair[0].core != pair[1].core || pair[0].end <= pair[1].begin;
            assert!(is_apart, "{}: {pair:?}", model.name);
        }
        let all = |what: fn(&Cause) -> bool| spans.iter().filter(|span| what(&span.cause)).count();
        assert!(all(|cause| matches!(cause, Cause::Behind { .. })) > 0, "{}", model.name);
        assert!(all(|cause| matches!(cause, Cause::Kernel)) > 0 || model.os.dispatch == 0, "{}", model.name);
    }
}
