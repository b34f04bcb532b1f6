//! Any kernel events, however absurd: the mapping keeps the rules of BTF.

use std::collections::{BTreeMap, HashMap};

use proptest::prelude::*;

use super::*;
use crate::btf::{Action, EntityType, NameId, Place, ProcessState, Record, RunnableState};
use crate::btf::{process_transition, runnable_transition};
use crate::check::{Checker, Options};
use crate::qnx::{Flavour, Version};

/// Asserts what holds for every mapping.
pub(super) fn assert_sound(run: &Run, setup: &KernelSetup) {
    assert_eq!(run.violations, Violations::default(), "{}", run.lines.join("\n"));
    let occupied = occupancy(run, setup);
    assert!(occupied.is_none(), "{}\n{}", occupied.unwrap_or_default(), run.lines.join("\n"));
    numbers(run);
    conforms(run);
}

/// Naive: who is on which core after each event; two at once are a fault, and so is a start on a core that is taken.
fn occupancy(run: &Run, setup: &KernelSetup) -> Option<String> {
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
                    let alone = there.is_empty();
                    there.push(key);
                    if !alone && (setup.irq == Irq::Preempt || e.target_type == EntityType::Task) {
                        let tasks = there.len() - 1;
                        if setup.irq == Irq::Preempt || tasks > 1 {
                            return Some(format!("core is taken: {line}"));
                        }
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
/// and sources of OS events that BTF 2.1.5 does not foresee.
fn conforms(run: &Run) {
    if run.outputs.iter().any(|o| matches!(o, Output::Gap { .. })) {
        return;
    }
    let version = crate::btf::spec::Version::V2_1_5;
    let mut checker = Checker::new(Options { version: Some(version), header: false });
    for (n, output) in run.outputs.iter().enumerate() {
        let Output::Event(e) = output else { continue };
        let (source, target) = (run.names.text(e.source), run.names.text(e.target));
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
    let bad = report.findings.iter().filter(|f| {
        let foreign = f.first.iter().all(|o| o.text.contains(",EVENT,") || o.text.contains(",SIG,"));
        !(f.rule.id.starts_with("note") || f.rule.id == "source-kind" && foreign)
    });
    let bad: Vec<_> = bad.map(|f| (f.rule.id, &f.first)).collect();
    assert!(bad.is_empty(), "{bad:#?}\n{}", run.lines.join("\n"));
}
