//! The names of tasks, ISRs and marks, which a trace may tell after it has used their numbers: they are
//! looked up in advance. Not what the things do (see `rules`).

use super::occurrences::{Named, Occurrence, What};
use crate::btf::{EntityType, IdleTasks};
use crate::description::Side;
use crate::map::EntityFacts;
use std::collections::{BTreeMap, BTreeSet};

/// What is known by number.
#[derive(Debug, Clone, Default)]
pub(super) struct Directory {
    tasks: BTreeMap<u64, Task>,
    isrs: BTreeMap<u64, Isr>,
    marks: BTreeMap<u64, String>,
    /// Names of tasks and ISRs that are in use.
    taken: BTreeSet<String>,
    /// Patterns of tasks that do not terminate.
    endless: Option<IdleTasks>,
    /// The process of each ISR on each CPU.
    isr_processes: BTreeMap<(u64, i64), usize>,
    facts: BTreeMap<String, EntityFacts>,
    reorders: Reorders,
}

/// Tasks whose priority changes seem to become ready.
#[derive(Debug, Clone, Default)]
struct Reorders {
    /// When that seems so: time, CPU and task.
    known: BTreeSet<(i64, i64, u64)>,
    /// The last event of each CPU, if a task becomes ready by it.
    ready: BTreeMap<i64, (i64, u64)>,
    /// The task that seems to become ready by the next event of a CPU.
    expected: BTreeMap<i64, u64>,
    /// Base and shift of the addresses of tasks.
    addresses: (u64, u64),
}

impl Reorders {
    fn learn(&mut self, occurrence: &Occurrence) {
        let Occurrence { time, cpu, what } = occurrence;
        let (before, expected) = (self.ready.remove(cpu), self.expected.remove(cpu));
        match what {
            What::Ready(task) if expected == Some(*task) => drop(self.known.insert((*time, *cpu, *task))),
            What::Ready(task) => drop(self.ready.insert(*cpu, (*time, *task))),
            What::Addresses { base, shift } => self.addresses = (*base, *shift),
            What::Reorder { task, ready_is } => {
                let (base, shift) = self.addresses;
                let task = match task {
                    Named::Number(task) => *task,
                    Named::Address(address) => {
                        address.wrapping_sub(base).checked_shr(shift as u32).unwrap_or(0)
                    }
                };
                match (ready_is, before) {
                    (Side::Before, Some((time, ready))) if ready == task => {
                        self.known.insert((time, *cpu, task));
                    }
                    (Side::Before, _) => {}
                    (Side::Behind, _) => drop(self.expected.insert(*cpu, task)),
                }
            }
            _ => {}
        }
    }
}

#[derive(Debug, Clone, Default)]
struct Task {
    /// All of its names: a number is used again for another task.
    names: Vec<(String, Option<i64>)>,
    /// The present one.
    now: usize,
    /// Its name has been told.
    is_named: bool,
    process: Option<usize>,
    is_endless: bool,
}

#[derive(Debug, Clone, Default)]
struct Isr {
    name: Option<String>,
    cpus: BTreeSet<i64>,
}

impl Directory {
    /// `endless`: patterns of tasks that do not terminate.
    pub fn new(endless: &[String]) -> Self {
        let endless = (!endless.is_empty()).then(|| IdleTasks::new(endless));
        Self { endless, ..Self::default() }
    }

    /// The same names, and no process yet.
    pub fn unused(&self) -> Self {
        let mut tasks = self.tasks.clone();
        for task in tasks.values_mut() {
            *task = Task { names: std::mem::take(&mut task.names), ..Task::default() };
        }
        let (isrs, marks, endless) = (self.isrs.clone(), self.marks.clone(), self.endless.clone());
        let reorders = self.reorders.clone();
        Self { tasks, isrs, marks, endless, reorders, ..Self::default() }
    }

    /// Learns from an event before it is mapped.
    pub fn learn(&mut self, occurrence: &Occurrence) {
        self.reorders.learn(occurrence);
        match &occurrence.what {
            What::Task { task, name, priority } => {
                let task = self.tasks.entry(*task).or_default();
                match task.names.last_mut().filter(|(last, _)| last == name) {
                    Some(last) => last.1 = priority.or(last.1),
                    None => task.names.push((name.clone(), *priority)),
                }
            }
            What::IsrBegin(isr) => drop(self.isrs.entry(*isr).or_default().cpus.insert(occurrence.cpu)),
            What::IsrNames(names) => {
                for (isr, name) in names {
                    self.isrs.entry(*isr).or_default().name.get_or_insert_with(|| name.clone());
                }
            }
            What::MarkName { mark, name } => drop(self.marks.insert(*mark, name.clone())),
            _ => {}
        }
    }

    /// A task is called so from now on. Another name than before is another task.
    pub fn rename(&mut self, id: u64, name: &str) {
        let Some(task) = self.tasks.get_mut(&id) else { return };
        let now = task.names.get(task.now).map(|(name, _)| name.as_str());
        if now != Some(name) && task.is_named {
            task.now += 1;
            task.process = None;
        }
        task.is_named = true;
    }

    /// The process of a task; `add` makes it of a name.
    pub fn process(&mut self, id: u64, add: impl FnOnce(&str) -> usize) -> usize {
        let task = self.tasks.entry(id).or_default();
        if let Some(process) = task.process {
            return process;
        }
        let (name, priority) = task.names.get(task.now).cloned().unwrap_or((format!("task_{id}"), None));
        task.is_endless = self.endless.as_ref().is_some_and(|of| of.verdict(&name) == Some(true));
        // Rule K1.
        let mut name = clean(&name);
        if !self.taken.insert(name.clone()) {
            name = format!("{name}_{id:x}");
            while !self.taken.insert(name.clone()) {
                name.push('_');
            }
        }
        let facts = EntityFacts { priority, ..EntityFacts::new(EntityType::Task, name.clone()) };
        self.facts.insert(name.clone(), facts);
        let process = add(&name);
        task.process = Some(process);
        process
    }

    /// Whether a task does not terminate.
    pub fn is_endless(&self, id: u64) -> bool {
        self.tasks.get(&id).is_some_and(|task| task.is_endless)
    }

    /// Whether a task only seems to become ready: its priority changes.
    pub fn is_reordered(&self, task: u64, time: i64, cpu: i64) -> bool {
        self.reorders.known.contains(&(time, cpu, task))
    }

    /// The tasks that have a process.
    pub fn tasks(&self) -> impl Iterator<Item = (u64, usize)> {
        self.tasks.iter().filter_map(|(id, task)| Some((*id, task.process?)))
    }

    /// The process of an ISR on a CPU; `add` makes it of a name.
    pub fn isr(&mut self, id: u64, cpu: i64, add: impl FnOnce(&str) -> usize) -> usize {
        if let Some(process) = self.isr_processes.get(&(id, cpu)) {
            return *process;
        }
        let isr = self.isrs.entry(id).or_default();
        let name = isr.name.as_deref().map_or_else(|| format!("ISR_{id}"), clean);
        // Rule K10: each CPU has its own.
        let mut name = if isr.cpus.len() > 1 { format!("{name}_{cpu}") } else { name };
        while !self.taken.insert(name.clone()) {
            name.push('_');
        }
        self.facts.insert(name.clone(), EntityFacts::new(EntityType::Isr, name.clone()));
        let process = add(&name);
        self.isr_processes.insert((id, cpu), process);
        process
    }

    /// The signal of a mark.
    pub fn mark(&self, id: u64) -> String {
        self.marks.get(&id).map_or_else(|| format!("MARK_{id}"), |name| clean(name))
    }

    /// What the trace says about tasks and ISRs.
    pub fn facts(&self) -> Vec<EntityFacts> {
        self.facts.values().cloned().collect()
    }
}

/// A name in the character set of BTF.
fn clean(text: &str) -> String {
    let is_bad = |c: char| c == ',' || c == '#' || c.is_whitespace() || c.is_control();
    text.chars().map(|c| if is_bad(c) { '_' } else { c }).collect()
}
