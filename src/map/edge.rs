//! The look-ahead pass over a recording that starts in the middle: what held before the first event
//! (part 2, rules L1, L3, L4). A recording from StartOS on needs only its first events.

use super::machine::Edge;
use super::merge::Merge;
use super::model::{Model, OsState, Service};
use super::slots::Watch;
use super::software::{Function, SoftwareEvent, What};
use crate::error::Result;
use std::collections::HashSet;

/// Reads as much of `merge` as needed. `begin` is the time of the first software event of the recording.
pub(super) fn scout(mut merge: Merge, model: &mut Model, begin: i64) -> Result<Edge> {
    let mut scout = Scout {
        edge: Edge { begin, isrs: vec![Vec::new(); model.cores.len()], ..Edge::default() },
        cores: model.cores.iter().map(|_| CoreEdge::default()).collect(),
        seen: vec![false; model.slots.len()],
        written: HashSet::new(),
    };
    while let Some(event) = merge.next(model)? {
        scout.event(&event, model);
        if scout.cores.iter().all(|c| c.from_start == Some(true)) {
            return Ok(Edge { begin, complete: true, ..Edge::default() });
        }
    }
    Ok(scout.finish(model))
}

#[derive(Default)]
struct CoreEdge {
    /// The first service of the core was StartOS.
    from_start: Option<bool>,
    /// First access of the nesting level, if it was a read.
    nesting: Option<i64>,
    nesting_seen: bool,
    /// First access of RUNNINGISR2: its value if that was a read.
    isr_value: Option<i64>,
    isr_seen: bool,
    /// Handlers entered and not left.
    open: Vec<crate::btf::NameId>,
    /// Handlers left without having been entered, innermost first.
    unmatched: Vec<crate::btf::NameId>,
    /// A task that was dispatched for the first time and has not yet shown whether it started or resumed.
    undecided: Option<usize>,
}

struct Scout {
    edge: Edge,
    cores: Vec<CoreEdge>,
    seen: Vec<bool>,
    /// Tasks whose state has been written.
    written: HashSet<usize>,
}

impl Scout {
    fn event(&mut self, event: &SoftwareEvent, model: &mut Model) {
        match event.what {
            What::Access { slot: Some(slot), write, value, signal, .. } => {
                self.access(event.core, slot, write, value as i64, model);
                if signal.is_some() {
                    self.decide(event.core, false);
                }
            }
            What::Access { .. } => self.decide(event.core, false),
            What::Call { function, entry } => self.call(event.core, function, entry),
        }
    }

    fn access(&mut self, core: usize, slot: usize, write: bool, value: i64, model: &mut Model) {
        if self.seen.len() <= slot {
            self.seen.resize(slot + 1, false);
        }
        let first = !std::mem::replace(&mut self.seen[slot], true);
        if first && !write {
            self.edge.values.push((slot, value));
        }
        for n in 0..model.slot(slot).watches.len() {
            let watch = model.slot(slot).watches[n];
            match watch {
                Watch::Nesting if !std::mem::replace(&mut self.cores[core].nesting_seen, true) && !write => {
                    self.cores[core].nesting = Some(value);
                }
                Watch::RunningIsr(c) if c == core && !std::mem::replace(&mut self.cores[c].isr_seen, true) && !write => {
                    self.cores[c].isr_value = Some(value);
                }
                Watch::Service(c) if c == core && write => {
                    let id = match model.entry {
                        super::profile::EntryMark::Bit0 => value & !1,
                        super::profile::EntryMark::None => value,
                    };
                    let start = model.cores[c].services.get(&id) == Some(&Service::Start);
                    self.cores[c].from_start.get_or_insert(start);
                    self.decide(core, false);
                }
                Watch::TaskState(t) if write => self.task_state(core, t, value, model),
                Watch::WasWaiting(t) if !write && self.cores[core].undecided == Some(t) => {
                    self.decide(core, value == 0);
                }
                _ => {}
            }
        }
        model.slots.set(slot, None);
    }

    /// L4: the first dispatch of a task is looked at more closely, unless its state was written before: then it shows
    /// what happened to the instances that were there at the left edge.
    fn task_state(&mut self, core: usize, t: usize, value: i64, model: &mut Model) {
        self.decide(core, false);
        if !self.written.insert(t) {
            return;
        }
        let Some(attribute) = model.tasks[t].state.clone() else { return };
        // Formulas read slots; this one is evaluated over the written value alone.
        for slot in &attribute.slots {
            model.slots.set(*slot, Some(value));
        }
        let state = attribute.value(&model.slots).and_then(|v| model.cores[core].states.get(&v).copied());
        for slot in &attribute.slots {
            model.slots.set(*slot, None);
        }
        if state == Some(OsState::Running) {
            self.cores[core].undecided = Some(t);
        }
    }

    fn call(&mut self, core: usize, function: Function, entry: bool) {
        let c = &mut self.cores[core];
        match function {
            Function::Handler(name) | Function::Category1(name) if entry => c.open.push(name),
            Function::Handler(name) | Function::Category1(name) => {
                match c.open.iter().rposition(|o| *o == name) {
                    Some(n) => c.open.truncate(n),
                    None => c.unmatched.push(name),
                }
            }
            Function::TaskBody(t) => {
                let starts = entry && c.undecided == Some(t);
                self.decide(core, starts);
            }
            Function::Runnable(_) => self.decide(core, false),
        }
    }

    fn decide(&mut self, core: usize, started: bool) {
        if let Some(t) = self.cores[core].undecided.take()
            && started
        {
            self.edge.never_ran.push(t);
        }
    }

    fn finish(mut self, model: &Model) -> Edge {
        for (core, c) in self.cores.iter().enumerate() {
            let nested = c.nesting.unwrap_or(0).clamp(0, 64) as usize;
            if let Some(value) = c.isr_value {
                let m = &model.cores[core];
                let name = m.isr_symbols.get(&(value as u64)).or_else(|| m.isr_labels.get(&value));
                if let Some(name) = name.filter(|_| !m.nobody_isr.contains(&value)) {
                    self.edge.isrs[core].push(name.clone());
                }
            } else {
                let names = c.unmatched.iter().take(nested).rev();
                self.edge.isrs[core] = names.map(|n| model.names.text(*n).to_owned()).collect();
            }
        }
        self.edge
    }
}
