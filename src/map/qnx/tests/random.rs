//! Random kernel events, however absurd: the mapping keeps the rules of BTF.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use arrow::array::{AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type};
use proptest::prelude::*;

use super::*;
use crate::btf::spec::{process_transition, runnable_transition};
use crate::btf::{Action, EntityType, NameId, Place, Record, State};
use crate::check::{CheckOptions, Checker};
use crate::qnx::{Flavour, Version};

/// Asserts what holds for every mapping.
pub(super) fn assert_sound(run: &Run) {
    assert_eq!(run.violations, Violations::default(), "{}", run.lines.join("\n"));
    let occupied = occupancy(run);
    assert!(occupied.is_none(), "{}\n{}", occupied.unwrap_or_default(), run.lines.join("\n"));
    numbers(run);
    conforms(run);
}

/// The definition: which process is on which core after each event; two at once are a fault, and so is a
/// start on a core that is taken.
fn occupancy(run: &Run) -> Option<String> {
    let mut on: BTreeMap<NameId, Vec<(NameId, i64)>> = BTreeMap::new();
    let mut runnables: HashMap<(NameId, i64), State> = HashMap::new();
    let mut states: HashMap<(NameId, i64), State> = HashMap::new();
    let mut last = i64::MIN;
    let mut gap = None;
    for (output, line) in run.outputs.iter().zip(&run.lines) {
        let e = match output {
            Output::Event(e) | Output::Assumed(e) => e,
            Output::Known(known) => {
                states.insert(known.process, known.state);
                if known.state.on_core() {
                    on.entry(known.core).or_default().push(known.process);
                }
                continue;
            }
            Output::Closing(_) | Output::Lost { .. } | Output::Handler { .. } => continue,
            Output::Gap { begin, end, .. } => {
                // The same gap again is that of a core which occurs for the first time.
                if gap.replace((*begin, *end)) != Some((*begin, *end)) {
                    (on, runnables, states) = Default::default();
                }
                continue;
            }
        };
        if e.time < last {
            return Some(format!("time goes back: {line}"));
        }
        last = e.time;
        let key = (e.target, e.target_instance);
        let source = (e.source, e.source_instance);
        match e.target_type {
            EntityType::Task | EntityType::Isr => {
                let (from, to) = process_transition(e.action)?;
                // After a gap, any first state is right.
                let state = states.insert(key, to);
                if state.is_some_and(|state| state != from) {
                    return Some(format!("not in state {from:?}: {line}"));
                }
                if from.on_core() {
                    for there in on.values_mut() {
                        there.retain(|p| *p != key);
                    }
                }
                if to.on_core() {
                    let there = on.entry(e.source).or_default();
                    there.push(key);
                    if there.len() > 1 {
                        return Some(format!("core is taken: {line}"));
                    }
                }
                if to == State::Terminated {
                    states.remove(&key);
                }
            }
            EntityType::Runnable => {
                let (from, to) = runnable_transition(e.action)?;
                let state = runnables.insert(key, to).unwrap_or(State::Terminated);
                if state != from {
                    return Some(format!("not in state {from:?}: {line}"));
                }
                if !states.get(&source).is_some_and(|s| s.on_core()) {
                    return Some(format!("its process does not run: {line}"));
                }
            }
            _ => {}
        }
    }
    None
}

/// What is not made up has the time of a recorded event.
fn times(run: &Run, steps: &[Step]) {
    let of_event = |step: &Step| if let Step::Event(event) = step { Some(event.time) } else { None };
    let recorded: BTreeSet<i64> = steps.iter().filter_map(of_event).collect();
    for (output, line) in run.outputs.iter().zip(&run.lines) {
        if let Output::Event(e) | Output::Assumed(e) = output {
            assert!(recorded.contains(&e.time), "{line}");
        }
    }
}

/// Instances of tasks, interrupts, runnables and triggered stimuli rise by one.
fn numbers(run: &Run) {
    let mut next: HashMap<NameId, i64> = HashMap::new();
    for (output, line) in run.outputs.iter().zip(&run.lines) {
        let (Output::Event(e) | Output::Assumed(e)) = output else { continue };
        let counts = match e.target_type {
            EntityType::Task | EntityType::Isr => e.action == Action::Activate,
            EntityType::Runnable => e.action == Action::Start,
            EntityType::Stimulus => e.action == Action::Trigger,
            _ => false,
        };
        if counts {
            let n = next.entry(e.target).or_default();
            assert_eq!(e.target_instance, *n, "{line}");
            *n += 1;
        }
    }
}

/// The checker of the project, without knowledge of gaps, accepts the events, except what BTF 2.1.5 does not
/// have: notes, and OS events that a stimulus sets.
fn conforms(run: &Run) {
    let version = crate::btf::spec::Version::V2_1_5;
    let mut checker = Checker::new(CheckOptions { version: Some(version), header: false });
    for (n, output) in run.outputs.iter().enumerate() {
        let (Output::Event(e) | Output::Closing(e) | Output::Assumed(e)) = output else { continue };
        let (source, target) = (run.names.text(e.source), run.names.text(e.target));
        if e.target_type == EntityType::OsEvent && source == "STI_kernel" {
            continue;
        }
        let note = match e.note {
            Note::None => None,
            Note::Name(name) => Some(run.names.text(name).to_owned()),
            Note::Value(n) => Some(n.to_string()),
            Note::Hex(n) => Some(format!("{n:x}")),
        };
        let record = Record {
            time: e.time,
            source,
            source_instance: Some(e.source_instance),
            target_type: e.target_type.as_str(),
            target,
            target_instance: Some(e.target_instance),
            action: e.action.as_str(),
            note: note.as_deref(),
        };
        checker.event(Place { seq: n as i64, line: None }, &record);
    }
    let report = checker.finish();
    let bad = report.findings.iter().filter(|f| !f.rule.id.starts_with("note"));
    let bad: Vec<_> = bad.map(|f| (f.rule.id, &f.first)).collect();
    assert!(bad.is_empty(), "{bad:#?}\n{}", run.lines.join("\n"));
}

/// A step from a number: an event with words from a small set, so that they match, or rarely a gap.
fn step(mut number: u64, now: i64) -> Step {
    let mut draw = |choices: u64| {
        let drawn = number % choices;
        number /= choices;
        drawn as usize
    };
    const STATES: [u16; 16] = [
        RUNNING, RUNNING, RUNNING, RUNNING, READY, READY, READY, RECEIVE, RECEIVE, SEND, REPLY, MUTEX,
        CREATE, CREATE, DESTROY, DEAD,
    ];
    const CALLS: [u16; 8] = [11, 14, 80, 81, 82, 85, 26, 1];
    let kind = draw(64);
    if kind == 63 {
        return Step::Gap(now, now + 1 + draw(20) as i64);
    }
    let often = draw(4) > 0;
    let (class, event) = match kind {
        0..24 => (Class::Thread, if often { STATES[draw(16)] } else { draw(33) as u16 }),
        24..31 => (Class::KerCall, if often { CALLS[draw(8)] } else { draw(110) as u16 }),
        31..37 => (Class::KerExit, if often { CALLS[draw(8)] } else { draw(110) as u16 }),
        37 => (Class::IntCall, CALLS[draw(8)]),
        38..42 => (Class::IntEnter, 1),
        42..45 => (Class::IntExit, 2),
        45..47 => (Class::HandlerEnter, 3),
        47..49 => (Class::HandlerExit, 4),
        49 => (Class::Int, 7),
        50..55 => (Class::Comm, draw(13) as u16),
        55..57 => (Class::Process, draw(7) as u16),
        57..60 => (Class::System, 10 + draw(2) as u16),
        60 => (Class::System, draw(33) as u16),
        61 => (Class::User, draw(4) as u16),
        _ => ([Class::Control, Class::VThread, Class::Unknown][draw(3)], draw(26) as u16),
    };
    let cpu = draw(3) as u8;
    let words = [2, 2, 4, 4, 4, 5, 0, 1][draw(8)];
    let words: Vec<u32> = (0..words).map(|_| [1, 2, 3, 1, 2, 3, 0, u32::MAX][draw(8)]).collect();
    let mut event = ev(now, cpu, class, event, &words);
    event.flags = u8::from(draw(8) == 7);
    event.is64 = draw(16) == 15;
    event.status = [Status::Ok, Status::Orphan, Status::Unterminated][draw(32).saturating_sub(29)];
    event.text = (class == Class::Process).then(|| format!("bin/p,{}", words.len()));
    Step::Event(event)
}

fn any_setup() -> impl Strategy<Value = Settings> {
    let jobs = prop_oneof![
        3 => Just(vec![]),
        1 => Just(vec!["RECEIVE"]),
        1 => Just(vec!["RECEIVE", "MUTEX", "NANOSLEEP", "STOPPED"]),
    ];
    let version = prop_oneof![Just(Version::V6_5), Just(Version::V7_1), Just(Version::V8_0)];
    let irq = prop_oneof![4 => Just(Irq::Preempt), 1 => Just(Irq::Overlay)];
    (version, jobs, irq, any::<bool>(), 0u32..3).prop_map(|(version, jobs, irq, idle, cpus)| Settings {
        flavour: Flavour { version, big_endian: false },
        cpus,
        jobs: jobs.into_iter().map(str::to_owned).collect(),
        irq,
        idle,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn any_events_become_legal_ones(setup in any_setup(), drawn in prop::collection::vec(any::<u64>(), 0..150)) {
        let mut now = 0;
        let mut steps = Vec::new();
        for number in drawn {
            now += (number >> 62) as i64;
            steps.push(step(number & (u64::MAX >> 2), now));
            // Behind a gap, or in one of other CPUs, which ends when it may.
            if let Some(Step::Gap(begin, end)) = steps.last() {
                now = if number % 5 == 0 { *end } else { begin + 1 };
            }
        }
        let mut run = run_steps(&setup, &steps, 0, now + 1);
        assert_sound(&run);
        times(&run, &steps);
        native(&mut run, now + 1);
    }
}

fn numbers_of(batch: &RecordBatch, column: &str) -> Vec<Option<i64>> {
    batch.column_by_name(column).unwrap().as_primitive::<Int64Type>().iter().collect()
}

/// The native tables are consistent: spans of a thread do not overlap and are within its life, ends rise in
/// the order of the tables, no CPU runs two threads.
fn native(run: &mut Run, end: i64) {
    let states = run.rows.states.take_batch().unwrap();
    let column = |name: &str| numbers_of(&states, name);
    let (pid, tid, incarnation) = (column("pid"), column("tid"), column("incarnation"));
    let (begin, until, cpu) = (column("begin_at"), column("end_at"), column("cpu"));
    let state = cast(states.column_by_name("state").unwrap(), &DataType::Utf8).unwrap();
    let state = state.as_string::<i32>();
    let mut last: HashMap<_, i64> = HashMap::new();
    let mut running: Vec<(i64, i64, i64)> = Vec::new();
    for row in 0..states.num_rows() {
        let (from, to) = (begin[row].unwrap(), until[row].unwrap());
        assert!(from <= to && to <= end);
        let before = last.insert((pid[row], tid[row], incarnation[row]), to);
        assert!(before.is_none_or(|before| before <= from), "states overlap");
        if state.value(row) == "RUNNING" && to > from {
            running.push((cpu[row].unwrap(), from, to));
        }
    }
    running.sort_unstable();
    for pair in running.windows(2) {
        assert!(pair[0].0 != pair[1].0 || pair[0].2 <= pair[1].1, "two threads on a CPU: {pair:?}");
    }
    assert!(until.is_sorted(), "states are not in the order of their ends");
    let threads = run.rows.threads.take_batch().unwrap();
    let mut seen = HashMap::new();
    for row in 0..threads.num_rows() {
        let key = (numbers_of(&threads, "pid")[row], numbers_of(&threads, "tid")[row]);
        let n = seen.entry(key).or_insert(0);
        assert_eq!(numbers_of(&threads, "incarnation")[row], Some(*n), "an incarnation is missing");
        *n += 1;
    }
    let calls = run.rows.calls.take_batch().unwrap();
    let (enter, exit) = (numbers_of(&calls, "enter_at"), numbers_of(&calls, "exit_at"));
    assert!(enter.iter().zip(&exit).all(|(a, b)| b.is_none_or(|b| a.unwrap() <= b)));
    let messages = run.rows.messages.take_batch().unwrap();
    let [sent, got, back] = ["send_at", "receive_at", "reply_at"].map(|c| numbers_of(&messages, c));
    for row in 0..messages.num_rows() {
        let times: Vec<i64> = [sent[row], got[row], back[row]].into_iter().flatten().collect();
        assert!(times.is_sorted() && !times.is_empty(), "{times:?}");
    }
    let interrupts = run.rows.interrupts.take_batch().unwrap();
    let [from, to, own] = ["begin_at", "end_at", "running"].map(|c| numbers_of(&interrupts, c));
    for row in 0..interrupts.num_rows() {
        let gross = to[row].map(|to| to - from[row].unwrap());
        assert!(own[row].is_none_or(|own| own >= 0 && own <= gross.unwrap()));
    }
}
