//! The names of tasks, ISRs and marks, which a trace may tell after it has used their numbers: they are
//! looked up in advance. Not what the things do (see `rules`).

use super::occurrences::{ISR, IsrKey, IsrSaid, Leaves, Named, Object, Occurrence, Said, What};
use crate::btf::{EntityType, IdleTasks};
use crate::description::{Identity, Side};
use crate::map::EntityFacts;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What is known by number.
#[derive(Debug, Clone, Default)]
pub(super) struct Directory {
    tasks: BTreeMap<u64, Task>,
    isrs: BTreeMap<IsrKey, Isr>,
    labels: Labels,
    marks: BTreeMap<u64, String>,
    /// Names of tasks and ISRs that are in use.
    taken: BTreeSet<String>,
    /// The last number behind each name that more than one has.
    again: BTreeMap<String, u64>,
    /// Patterns of tasks that do not terminate.
    endless: Option<IdleTasks>,
    identity: Identity,
    /// Semaphores that one process gives to another.
    signals: BTreeSet<String>,
    /// Some event says which task a CPU runs.
    has_scheduler: bool,
    /// The process of each ISR by its depth among the same, and CPU.
    isr_processes: BTreeMap<(IsrKey, usize, i64), usize>,
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
            What::Ready(said) if expected == Some(said.task) => {
                self.known.insert((*time, *cpu, said.task));
            }
            What::Ready(said) => drop(self.ready.insert(*cpu, (*time, said.task))),
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
    /// Its name is known now.
    is_named: bool,
    /// What comes next under its number is another task.
    is_over: bool,
    process: Option<usize>,
    is_endless: bool,
}

#[derive(Debug, Clone, Default)]
struct Isr {
    name: Option<Arc<str>>,
    cpus: BTreeSet<i64>,
}

/// What objects of processes are called.
#[derive(Debug, Clone, Default)]
struct Labels {
    own: BTreeMap<Object, String>,
    /// Objects that are called as another one.
    same: BTreeMap<Object, Object>,
}

impl Labels {
    /// The name of an object. Handles lead to others, but not far.
    fn get(&self, object: Object) -> Option<&str> {
        const MOST: usize = 8;
        let mut all = std::iter::successors(Some(object), |object| self.same.get(object).copied());
        all.by_ref().take(MOST).find_map(|object| self.own.get(&object)).map(String::as_str)
    }
}

impl Directory {
    /// `endless`: patterns of tasks that do not terminate.
    pub fn new(endless: &[String], identity: Identity) -> Self {
        let endless = (!endless.is_empty()).then(|| IdleTasks::new(endless));
        Self { endless, identity, ..Self::default() }
    }

    /// The same names, and no process yet.
    pub fn unused(&self) -> Self {
        let mut tasks = self.tasks.clone();
        for task in tasks.values_mut() {
            *task = Task { names: std::mem::take(&mut task.names), ..Task::default() };
        }
        Self {
            tasks,
            isrs: self.isrs.clone(),
            labels: self.labels.clone(),
            marks: self.marks.clone(),
            endless: self.endless.clone(),
            identity: self.identity,
            signals: self.signals.clone(),
            has_scheduler: self.has_scheduler,
            reorders: self.reorders.clone(),
            ..Self::default()
        }
    }

    /// Learns from an event before it is mapped.
    pub fn learn(&mut self, occurrence: &Occurrence) {
        self.reorders.learn(occurrence);
        match &occurrence.what {
            What::Task { task, name, priority } => self.learn_name(*task, name, *priority),
            What::Create(said) | What::Ready(said) => self.learn_task(said),
            What::Run(said) => {
                self.has_scheduler = true;
                self.learn_task(said);
            }
            What::Switch { from, leaves, to } => {
                self.has_scheduler = true;
                for said in from.iter().chain(to) {
                    self.learn_task(said);
                }
                if let Some(from) = from
                    && matches!(leaves, Leaves::Ends | Leaves::MayEnd)
                {
                    self.learn_end(from.task);
                }
            }
            What::End(task) => self.learn_end(*task),
            What::CallbackBegin { process, thread, .. } => self.learn_name(*thread, process, None),
            What::IsrBegin(IsrSaid { key, name }) => {
                let isr = self.isrs.entry(key.clone()).or_default();
                isr.cpus.insert(occurrence.cpu);
                if isr.name.is_none() {
                    isr.name.clone_from(name);
                }
            }
            What::IsrNames(names) => {
                for (isr, name) in names {
                    let isr = self.isrs.entry((ISR.into(), Some(*isr))).or_default();
                    isr.name.get_or_insert_with(|| name.as_str().into());
                }
            }
            What::Label { object, name } => drop(self.labels.own.insert(*object, name.clone())),
            What::LabelAs { object, other } => drop(self.labels.same.insert(*object, *other)),
            What::MarkName { mark, name } => drop(self.marks.insert(*mark, name.clone())),
            _ => {}
        }
    }

    fn learn_task(&mut self, said: &Said) {
        if let Some(name) = &said.name {
            self.learn_name(said.task, name, said.priority);
        }
    }

    /// Rule K1.
    fn learn_name(&mut self, task: u64, name: &str, priority: Option<i64>) {
        let task = self.tasks.entry(task).or_default();
        let is_over = std::mem::take(&mut task.is_over);
        match task.names.last_mut() {
            Some(last) if self.identity == Identity::Life && !is_over => {
                if last.0 != name {
                    name.clone_into(&mut last.0);
                }
                last.1 = last.1.or(priority);
            }
            Some((last, known)) if self.identity == Identity::Name && last == name => {
                *known = priority.or(*known);
            }
            _ => task.names.push((name.to_owned(), priority)),
        }
    }

    fn learn_end(&mut self, task: u64) {
        self.tasks.entry(task).or_default().is_over = true;
    }

    /// A task has ended: what comes next under its number may be another one.
    pub fn end(&mut self, id: u64) {
        let Some(task) = self.tasks.get_mut(&id) else { return };
        if self.identity == Identity::Life && task.now + 1 < task.names.len() {
            task.now += 1;
            task.process = None;
        }
    }

    /// A task is called so from now on. Another name than before is another task.
    pub fn rename(&mut self, id: u64, name: &str) {
        let Some(task) = self.tasks.get_mut(&id).filter(|_| self.identity == Identity::Name) else { return };
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
            // Linux numbers its tasks; elsewhere, numbers are addresses.
            name = match self.identity {
                Identity::Life => format!("{name}_{id}"),
                Identity::Name => format!("{name}_{id:x}"),
            };
            name = untaken(&mut self.taken, &mut self.again, name);
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

    /// The process of an ISR on a CPU, as deep within others of the same number; `add` makes it of a name.
    pub fn isr(&mut self, key: &IsrKey, depth: usize, cpu: i64, add: impl FnOnce(&str) -> usize) -> usize {
        if let Some(process) = self.isr_processes.get(&(key.clone(), depth, cpu)) {
            return *process;
        }
        let (class, number) = key;
        let numbered = |begin: &str| number.map_or(begin.to_owned(), |number| format!("{begin}_{number}"));
        let isr = self.isrs.entry(key.clone()).or_default();
        // Rule K10: each CPU has its own.
        let whole = |mut name: String| {
            if depth > 0 {
                name = format!("{name}_nested_{depth}");
            }
            if isr.cpus.len() > 1 { format!("{name}_{cpu}") } else { name }
        };
        let own = isr.name.as_deref().map_or_else(|| numbered(class), clean);
        let mut name = whole(own.clone());
        if self.taken.contains(&name) {
            name = whole(numbered(&own));
        }
        name = untaken(&mut self.taken, &mut self.again, name);
        self.facts.insert(name.clone(), EntityFacts::new(EntityType::Isr, name.clone()));
        let process = add(&name);
        self.isr_processes.insert((key.clone(), depth, cpu), process);
        process
    }

    /// Whether some event says which task a CPU runs.
    pub fn has_scheduler(&self) -> bool {
        self.has_scheduler
    }

    /// A semaphore is given by one process to another.
    pub fn signals(&mut self, semaphore: &str) {
        if !self.signals.contains(semaphore) {
            self.signals.insert(semaphore.to_owned());
        }
    }

    /// Whether a semaphore is.
    pub fn is_signal(&self, semaphore: &str) -> bool {
        self.signals.contains(semaphore)
    }

    /// The runnable of a callback in a process of that name.
    pub fn callback(&self, callback: Object, process: &str) -> String {
        let own =
            self.labels.get(callback).map_or_else(|| format!("/callback_{:x}", callback.1), str::to_owned);
        clean(&format!("{process}{own}"))
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

/// The name, with a number if it is taken: `again` has the last one of each, so that the thousandth life of a
/// task costs as much as the second.
fn untaken(taken: &mut BTreeSet<String>, again: &mut BTreeMap<String, u64>, name: String) -> String {
    if taken.insert(name.clone()) {
        return name;
    }
    let last = again.entry(name.clone()).or_insert(1);
    loop {
        *last += 1;
        let numbered = format!("{name}_{last}");
        if taken.insert(numbered.clone()) {
            return numbered;
        }
    }
}

/// A name in the character set of BTF.
fn clean(text: &str) -> String {
    let is_bad = |c: char| c == ',' || c == '#' || c.is_whitespace() || c.is_control();
    text.chars().map(|c| if is_bad(c) { '_' } else { c }).collect()
}
