//! Models → their simulation → the derived model → its simulation: what comes back. Not single rules,
//! which the other files test.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::rc::Rc;

use super::*;
use crate::btf::{Action, EntityType, Fields, Note};
use crate::simulate::{self, model::Distribution, model::Step};
use crate::time::TimeScale;

#[derive(Clone, Default)]
struct Output(Rc<RefCell<Vec<u8>>>);

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The reference of a simulation.
fn simulated(model: &Model) -> String {
    let output = Output::default();
    let open = |path: &Path| match path.to_str() {
        Some("reference.btf") => Ok(output.clone()),
        _ => Ok(Output::default()),
    };
    simulate::simulate(model, &simulate::ProbeOptions::default(), false, open, |_| Ok(())).unwrap();
    String::from_utf8(output.0.borrow().clone()).unwrap()
}

fn events(btf: &str, names: &mut Names) -> Vec<Event> {
    let lines = btf.lines().filter(|line| !line.starts_with('#'));
    let event = |line: &str| {
        let fields = Fields::split(line.as_bytes()).unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let kind = EntityType::parse(&text(fields.target_type)).unwrap();
        let note = match fields.note.map(text) {
            None => Note::None,
            Some(note) if kind == EntityType::Signal => Note::Value(note.parse().unwrap()),
            Some(note) => Note::Name(names.intern(&note)),
        };
        let source = (names.intern(&text(fields.source)), fields.source_instance.unwrap());
        let target = (names.intern(&text(fields.target)), fields.target_instance.unwrap());
        let action = Action::parse(&text(fields.action)).unwrap();
        Event::new(fields.time, source, kind, target, action, note)
    };
    lines.map(event).collect()
}

fn derived(btf: &str) -> Derived {
    let mut names = Names::default();
    let events = events(btf, &mut names);
    let mut reconstruction = Reconstruction::new(Facts::new("test", TimeScale::Ns));
    events.iter().for_each(|event| reconstruction.event(event));
    reconstruction.finish(&names).unwrap()
}

fn parsed(text: &str) -> Model {
    Model::parse(text, Path::new("test.toml")).unwrap().0
}

/// Per task: activations, ended instances, and the sum of their response times.
fn metrics(btf: &str) -> BTreeMap<String, (u64, u64, i64)> {
    let mut names = Names::default();
    let mut of_task: BTreeMap<String, (u64, u64, i64)> = BTreeMap::new();
    let mut begun = BTreeMap::new();
    for event in events(btf, &mut names).iter().filter(|event| event.target_type == EntityType::Task) {
        let task = of_task.entry(names.text(event.target).to_owned()).or_default();
        let key = (event.target, event.target_instance);
        if event.action == Action::Activate {
            task.0 += 1;
            begun.insert(key, event.time);
        }
        if event.action == Action::Terminate {
            task.1 += 1;
            task.2 += event.time - begun[&key];
        }
    }
    of_task
}

const SYSTEM: &str = r#"
duration = "100.5ms"
[os]
access = "0ns"
dispatch = "100ns"
timer_isr = false
[[core]]
name = "Core_0"
[[core]]
name = "Core_1"
[[signal]]
name = "SIG"
[[task]]
name = "LOW"
core = "Core_0"
priority = 1
steps = [{ call = "R" }, { activate = "OTHER" }, { execute = { uniform = ["1ms", "2ms"] } }]
[[task]]
name = "HIGH"
core = "Core_0"
priority = 7
steps = [{ execute = "200us" }, { write = "SIG" }, { set_event = "EV", task = "LOOP" }]
[[task]]
name = "OTHER"
core = "Core_1"
priority = 1
steps = [{ branch = 0.5, then = [{ call = "R" }], else = [{ execute = "50us" }] }]
[[task]]
name = "LOOP"
core = "Core_1"
priority = 3
autostart = true
events = ["EV"]
steps = [{ repeat = 1000, steps = [{ wait_event = "EV" }, { clear_event = "EV" }, { execute = "70us" }] }]
[[runnable]]
name = "R"
steps = [{ read = "SIG" }, { execute = "300us" }]
[[alarm]]
name = "A_LOW"
activate = "LOW"
offset = "1ms"
period = "5ms"
[[alarm]]
name = "A_HIGH"
activate = "HIGH"
offset = "2ms"
period = "2ms"
"#;

#[test]
fn a_model_comes_back() {
    let btf = simulated(&parsed(SYSTEM));
    let Derived { model, findings, .. } = derived(&btf);
    assert_eq!(findings.count_of("simplified"), 0, "{:?}", findings.entries());
    let ns = |name: &str| {
        let alarm = model.alarms.iter().find(|alarm| alarm.name == name).unwrap();
        (alarm.first * model.os.tick, alarm.cycle * model.os.tick)
    };
    assert_eq!((ns("A_LOW"), ns("A_HIGH")), ((1_000_000, 5_000_000), (2_000_000, 2_000_000)));
    let task = |name: &str| model.tasks.iter().find(|task| task.name == name).unwrap();
    assert!(task("HIGH").priority > task("LOW").priority);
    assert_eq!(task("HIGH").steps.first(), Some(&Step::Execute(Distribution::Constant(200_000))));
    assert!(task("LOOP").autostart && matches!(task("LOOP").steps.get(1), Some(Step::Repeat { .. })));
    assert_eq!(model.runnables[0].steps.last(), Some(&Step::Execute(Distribution::Constant(300_000))));
    assert_eq!(metrics(&simulated(&model)), metrics(&btf));
}

#[test]
fn the_same_events_give_the_same_text_and_it_reads_back() {
    let btf = simulated(&parsed(SYSTEM));
    let text = |derived: &Derived| derived.model.to_toml_with(&comments(&derived.evidence));
    let (one, other) = (derived(&btf), derived(&btf));
    assert_eq!(text(&one), text(&other));
    assert!(text(&one).contains("# period 5ms: 19 samples, exact; jitter 0\n"), "{}", text(&one));
    assert_eq!(parsed(&text(&one)), one.model);
}

#[test]
fn parts_of_a_trace_give_a_model() {
    let btf = simulated(&parsed(SYSTEM));
    let lines: Vec<&str> = btf.lines().collect();
    // From any event on, and up to any one.
    for place in (4..lines.len()).step_by(37) {
        for part in [&lines[place..], &lines[..place + 1]] {
            let Derived { model, .. } = derived(&part.join("\n"));
            assert!(model.check().is_ok());
            simulated(&model);
        }
    }
}

#[test]
fn no_events_are_no_failure() {
    let Derived { model, .. } = derived("");
    assert!(model.tasks.is_empty());
}

#[test]
fn instances_with_a_gap_are_left_out() {
    let mut names = Names::default();
    let events = events(&simulated(&parsed(SYSTEM)), &mut names);
    let mut reconstruction = Reconstruction::new(Facts::new("test", TimeScale::Ns));
    let high = names.find("HIGH").unwrap();
    for event in &events {
        reconstruction.event(event);
        if event.target == high && event.action == Action::Start {
            reconstruction.gap(None, event.time);
        }
    }
    let Derived { evidence, .. } = reconstruction.finish(&names).unwrap();
    let of_high = evidence.iter().find(|of| of.entity == "HIGH" && of.what == "execution time").unwrap();
    assert_eq!((of_high.samples, of_high.confidence), (0, Confidence::Assumed));
}

/// The events of lines of time, source, target, and action; gaps of a core are `begin,Core,end,gap`. `!` is
/// before the action of an event that was not recorded.
fn observed(lines: &[String]) -> (Reconstruction, Names) {
    let mut names = Names::default();
    let mut reconstruction = Reconstruction::new(Facts::new("test", TimeScale::Ns));
    for line in lines {
        let fields: Vec<&str> = line.split(',').collect();
        let [time, source, target, action] = fields[..] else { panic!("{line}") };
        let time = time.parse().unwrap();
        if action == "gap" {
            reconstruction.gap(Some(names.intern(source)), target.parse().unwrap());
            continue;
        }
        let mut key = |text: &str| {
            let (name, instance) = text.split_once(' ').unwrap_or((text, "0"));
            (names.intern(name), instance.parse().unwrap())
        };
        let (source, target) = (key(source), key(target));
        let word = action.trim_start_matches('!');
        let of = Action::parse(word).unwrap();
        let event = Event::new(time, source, EntityType::Task, target, of, Note::None);
        match word == action {
            true => reconstruction.event(&event),
            false => reconstruction.unseen(&event),
        }
    }
    (reconstruction, names)
}

/// A whole execution of an instance on Core_0 from `begin` on, of 20 us.
fn execution(begin: i64, instance: &str) -> Vec<String> {
    [(0, "STI", "activate"), (1, "Core_0", "start"), (21, "Core_0", "terminate")]
        .map(|(after, source, action)| format!("{},{source},{instance},{action}", begin + after * 1000))
        .to_vec()
}

/// What is activated before a gap or in it, and runs in it unseen, is not ready for ever after.
#[test]
fn what_may_have_ended_in_a_gap_is_not_ready_behind_it() {
    for activated in [99_000, 120_000] {
        let mut lines = [execution(0, "LOW 0"), execution(30_000, "HIGH 0")].concat();
        // Two more, each in a gap of its own; the low one runs often between them.
        for (round, begin) in [(1, 100_000), (2, 2_100_000)] {
            let mut all = [
                (activated - 100_000 + begin, format!("STI,HIGH {round},activate")),
                (begin, format!("Core_0,{},gap", begin + 50_000)),
            ];
            all.sort_by_key(|(time, _)| *time);
            lines.extend(all.iter().map(|(time, rest)| format!("{time},{rest}")));
            for n in 0..20 {
                lines.extend(execution(begin + 60_000 + n * 30_000, &format!("LOW {}", 20 * round + n)));
            }
        }
        let (reconstruction, mut names) = observed(&lines);
        let [low, high] = ["LOW", "HIGH"].map(|name| names.intern(name));
        let seen = &reconstruction.seen;
        assert_eq!(seen.contention.wins.get(&(low, high)), None, "{activated}");
        assert_eq!(seen.processes[&(high, None)].most, 1, "{activated}");
        assert_eq!(seen.processes[&(high, None)].activations.len(), 3);
        assert_eq!(seen.processes[&(low, None)].body.runs().len(), 41);
    }
}

/// What goes on behind a gap is no new activation, and no whole execution.
#[test]
fn what_goes_on_behind_a_gap_is_cut() {
    let lines = "\
        100000,Core_0,200000,gap\n\
        120000,STI,T 1,activate\n\
        210000,Core_0,T 1,resume\n\
        220000,Core_0,T 1,terminate\n\
        300000,STI,T 2,activate\n\
        301000,Core_0,T 2,start\n\
        305000,Core_0,T 2,preempt\n\
        310000,Core_0,400000,gap\n\
        420000,STI,T 3,activate\n\
        430000,Core_0,T 2,resume\n\
        440000,Core_0,T 2,terminate\n\
        441000,Core_0,T 3,start\n\
        500000,Core_0,600000,gap\n\
        620000,Core_0,T 3,terminate\n\
        700000,STI,T 4,activate\n\
        701000,Core_0,T 4,start\n\
        710000,Core_0,800000,gap\n\
        820000,STI,U 1,activate\n\
        821000,Core_0,U 1,start\n\
        830000,T 4,V 1,activate\n\
        831000,Core_0,U 1,terminate";
    let whole = execution(0, "T 0");
    let lines: Vec<String> = whole.into_iter().chain(lines.lines().map(str::to_owned)).collect();
    let (reconstruction, mut names) = observed(&lines);
    let [task, other] = ["T", "V"].map(|name| names.intern(name));
    let process = &reconstruction.seen.processes[&(task, None)];
    // Only the one without a gap.
    assert_eq!(process.body.runs().len(), 1);
    assert_eq!(process.activations.len(), 5);
    // The second and the third one, for a time.
    assert_eq!((process.most, process.ended), (2, 4));
    // The fourth one had the core no more, but it was still there.
    let targets =
        reconstruction.seen.releases.keys().filter(|(_, target)| *target == observe::Target::Activate(other));
    assert_eq!(targets.count(), 0);
}

/// Without a gap as well: what is seen first in its midst was not seen as a whole.
#[test]
fn what_does_not_begin_with_its_start_is_partial() {
    let rest = ["100000,STI,T 1,activate", "110000,Core_0,T 1,resume", "120000,Core_0,T 1,terminate"];
    let lines: Vec<String> = execution(0, "T 0").into_iter().chain(rest.map(str::to_owned)).collect();
    let (reconstruction, mut names) = observed(&lines);
    let process = &reconstruction.seen.processes[&(names.intern("T"), None)];
    assert_eq!((process.body.runs().len(), process.body.partial.len()), (1, 1));
}

/// Events that only keep the rules of BTF are no executions and no dispatches.
#[test]
fn what_was_not_recorded_is_no_sample() {
    let hidden = "\
        90000,STI,T 1,activate\n\
        95000,Core_0,T 1,start\n\
        100000,Core_0,T 1,!terminate\n\
        100000,Core_0,200000,gap\n\
        290000,STI,T 2,activate\n\
        300000,Core_0,T 2,!start\n\
        300000,Core_0,T 2,!terminate\n\
        300000,Core_0,400000,gap";
    let hidden: Vec<String> = hidden.lines().map(str::to_owned).collect();
    let lines = [execution(0, "T 0"), hidden, execution(500_000, "T 3")].concat();
    let (reconstruction, mut names) = observed(&lines);
    let seen = &reconstruction.seen;
    let process = &seen.processes[&(names.intern("T"), None)];
    assert_eq!((process.body.runs().len(), process.ended, process.most), (2, 2, 1));
    // Those of the first two: since when the core is free behind a gap is not known.
    assert_eq!(seen.dispatches, [1000, 5000]);
}

/// What has the core still, although BTF wants it to be that of another one for no time, goes on.
#[test]
fn what_leaves_its_core_for_no_time_goes_on() {
    let lines = "\
        0,STI,T 1,activate\n\
        1000,Core_0,T 1,start\n\
        5000,Core_0,T 1,wait\n\
        6000,STI,U 0,activate\n\
        7000,Core_0,U 0,start\n\
        10000,Core_0,U 0,!preempt\n\
        10000,Core_0,T 1,!release\n\
        10000,Core_0,T 1,!resume\n\
        10000,Core_0,T 1,!terminate\n\
        10000,Core_0,U 0,!resume\n\
        17000,Core_0,U 0,terminate";
    let lines: Vec<String> = lines.lines().map(str::to_owned).chain(execution(20_000, "U 1")).collect();
    let (reconstruction, mut names) = observed(&lines);
    let seen = &reconstruction.seen;
    let [ended, goes_on] = ["T", "U"].map(|name| &seen.processes[&(names.intern(name), None)]);
    let net = |run: &body::Run| run.gaps.iter().map(|gap| gap.net).sum::<i64>();
    assert_eq!(goes_on.body.runs().iter().map(net).collect::<Vec<_>>(), [10_000, 20_000]);
    assert_eq!((ended.body.runs().len(), ended.ended), (0, 0));
    assert_eq!(seen.dispatches, [1000; 3]);
    // Without such an end, it has left unseen.
    let lines = "\
        0,STI,T 1,activate\n\
        1000,Core_0,T 1,start\n\
        9000,Core_0,T 1,!preempt\n\
        9000,Core_0,T 1,resume\n\
        12000,Core_0,T 1,terminate";
    let (reconstruction, mut names) = observed(&lines.lines().map(str::to_owned).collect::<Vec<_>>());
    let process = &reconstruction.seen.processes[&(names.intern("T"), None)];
    assert_eq!((process.body.runs().len(), process.ended), (0, 1));
}
