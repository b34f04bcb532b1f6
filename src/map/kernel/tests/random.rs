//! Any kernel events, however absurd: the mapping keeps the rules of BTF.

use std::collections::{BTreeMap, HashMap};

use arrow::array::{AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type};
use proptest::prelude::*;

use super::*;
use crate::btf::{Action, EntityType, NameId, Place, ProcessState, Record, RunnableState};
use crate::btf::{process_transition, runnable_transition};
use crate::check::{Checker, Options};
use crate::qnx::{Flavour, Version};

/// Asserts what holds for every mapping.
pub(super) fn assert_sound(run: &Run) {
    assert_eq!(run.violations, Violations::default(), "{}", run.lines.join("\n"));
    let occupied = occupancy(run);
    assert!(occupied.is_none(), "{}\n{}", occupied.unwrap_or_default(), run.lines.join("\n"));
    numbers(run);
    conforms(run);
}

/// Naive: who is on which core after each event; two at once are a fault, and so is a start on a core that is taken.
fn occupancy(run: &Run) -> Option<String> {
    let mut on: BTreeMap<NameId, Vec<(NameId, i64)>> = BTreeMap::new();
    let mut runnables: HashMap<(NameId, i64), RunnableState> = HashMap::new();
    let mut states: HashMap<(NameId, i64), ProcessState> = HashMap::new();
    let mut last = i64::MIN;
    for (output, line) in run.outputs.iter().zip(&run.lines) {
        let Output::Event(e) = output else {
            (on, runnables, states) = Default::default();
            continue;
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
                // Nothing is known of the first state after a gap.
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
                if to == ProcessState::Terminated {
                    states.remove(&key);
                }
            }
            EntityType::Runnable => {
                let (from, to) = runnable_transition(e.action)?;
                let state = runnables.insert(key, to).unwrap_or(RunnableState::Terminated);
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

/// Instances of tasks, interrupts, runnables and stimuli that are triggered rise by one.
fn numbers(run: &Run) {
    let mut next: HashMap<NameId, i64> = HashMap::new();
    for (output, line) in run.outputs.iter().zip(&run.lines) {
        let Output::Event(e) = output else { continue };
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

/// The checker of the project, which knows nothing of gaps, finds nothing but what the rules of kernel traces want: notes
/// that BTF 2.1.5 does not foresee, and OS events that the kernel sets while no thread runs.
fn conforms(run: &Run) {
    if run.outputs.iter().any(|o| matches!(o, Output::Gap { .. })) {
        return;
    }
    let version = crate::btf::spec::Version::V2_1_5;
    let mut checker = Checker::new(Options { version: Some(version), header: false });
    for (n, output) in run.outputs.iter().enumerate() {
        let Output::Event(e) = output else { continue };
        let (source, target) = (run.names.text(e.source), run.names.text(e.target));
        if matches!(e.target_type, EntityType::OsEvent | EntityType::Signal) && source.starts_with("Core_") {
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

/// An event of a class, with words from a few values, so that they meet.
fn any_event() -> impl Strategy<Value = (u8, Class, u16, Vec<u32>, u8, u8)> {
    let id = || prop_oneof![8 => 1u32..4, 1 => Just(0), 1 => Just(u32::MAX), 1 => any::<u32>()];
    let words = || prop::collection::vec(id(), 0..7);
    let of = |class: Class, events: std::ops::Range<u16>| {
        (Just(class), events, words()).prop_map(|(class, event, words)| (class, event, words))
    };
    let state = prop_oneof![
        6 => Just(RUNNING), 4 => Just(READY), 2 => Just(RECEIVE), 1 => Just(SEND), 1 => Just(REPLY), 1 => Just(MUTEX),
        2 => Just(CREATE), 1 => Just(DESTROY), 1 => Just(DEAD), 1 => 0u16..33,
    ];
    let pair = (1u32..4, 1u32..4, prop::option::of((0u32..3, 1u32..5)));
    let thread = (state, pair).prop_map(|(state, (pid, tid, more))| {
        let mut words = vec![pid, tid];
        words.extend(more.iter().flat_map(|(priority, policy)| [*priority, *policy]));
        (Class::Thread, state, words)
    });
    let call = prop_oneof![Just(11u16), Just(14), Just(80), Just(81), Just(82), Just(1), Just(26), 0u16..110];
    let calls =
        (prop_oneof![Just(Class::KerCall), Just(Class::KerExit), Just(Class::IntCall)], call, words());
    let interrupts = prop_oneof![
        of(Class::IntEnter, 1..2),
        of(Class::IntExit, 2..3),
        of(Class::HandlerEnter, 3..4),
        of(Class::HandlerExit, 4..5),
        of(Class::Int, 0..9),
    ];
    let others = prop_oneof![
        of(Class::Process, 0..7),
        of(Class::System, 0..33),
        of(Class::User, 0..4),
        of(Class::Control, 1..9),
        of(Class::VThread, 0..26),
    ];
    let function = (10u16..12, 1u32..4).prop_map(|(n, f)| (Class::System, n, vec![f, 0]));
    let event = prop_oneof![
        10 => thread, 6 => calls, 5 => interrupts, 3 => of(Class::Comm, 0..13), 2 => others, 2 => function,
    ];
    // Flags, and whether it is whole, are seldom anything else.
    (0u8..3, event, prop_oneof![9 => Just(0u8), 1 => Just(1)], prop_oneof![20 => Just(0u8), 1 => 1u8..4])
        .prop_map(|(cpu, (class, event, words), flags, odd)| (cpu, class, event, words, flags, odd))
}

fn any_step() -> impl Strategy<Value = (i64, Option<(u8, Class, u16, Vec<u32>, u8, u8)>)> {
    (0i64..3, prop_oneof![60 => any_event().prop_map(Some), 1 => Just(None)])
}

fn any_setup() -> impl Strategy<Value = KernelSetup> {
    let jobs = prop_oneof![
        3 => Just(vec![]),
        1 => Just(vec!["RECEIVE"]),
        1 => Just(vec!["RECEIVE", "MUTEX", "NANOSLEEP", "STOPPED"]),
    ];
    let version = prop_oneof![Just(Version::V6_5), Just(Version::V7_1), Just(Version::V8_0)];
    let irq = prop_oneof![4 => Just(Irq::Preempt), 1 => Just(Irq::Overlay)];
    (version, jobs, irq, any::<bool>(), 0u32..3).prop_map(|(version, jobs, irq, idle, cpus)| KernelSetup {
        flavour: Flavour { version, big_endian: false },
        cpus,
        jobs: jobs.into_iter().map(str::to_owned).collect(),
        irq,
        idle,
    })
}

fn steps(drawn: &[(i64, Option<(u8, Class, u16, Vec<u32>, u8, u8)>)]) -> (Vec<Step>, i64) {
    let mut now = 0;
    let mut steps = Vec::new();
    for (pause, event) in drawn {
        now += pause;
        let Some((cpu, class, number, words, flags, odd)) = event else {
            steps.push(Step::Gap(now, now + 5));
            now += 5;
            continue;
        };
        let mut event = ev(now, *cpu, *class, *number, words);
        event.flags = *flags;
        event.is64 = *odd == 3;
        event.status = match odd {
            1 => Status::Orphan,
            2 => Status::Unterminated,
            _ => Status::Ok,
        };
        event.text = (*class == Class::Process).then(|| format!("bin/p,{}", words.len()));
        steps.push(Step::Event(event));
    }
    (steps, now + 1)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_events_become_legal_ones(setup in any_setup(), drawn in prop::collection::vec(any_step(), 0..120)) {
        let (steps, end) = steps(&drawn);
        let mut run = run_steps(&setup, &steps, 0, end);
        assert_sound(&run);
        native(&mut run, end);
    }
}

fn numbers_of(batch: &RecordBatch, column: &str) -> Vec<Option<i64>> {
    batch.column_by_name(column).unwrap().as_primitive::<Int64Type>().iter().collect()
}

/// The native tables agree with themselves: stretches of a thread do not overlap and lie within its life, ends rise as the
/// order of the tables says, no CPU runs two threads.
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
