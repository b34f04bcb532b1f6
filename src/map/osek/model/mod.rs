//! The traced application: cores, tasks, semaphores, alarms, and the variables that belong to each. Built
//! once from ORTI, OS header, symbols and profile (`build`, `labels`); has no state of a run.

mod build;
mod entities;
mod events;
mod labels;

use super::blocks::Relevance;
use super::listed::Listed;
use super::slots::{Owners, Role, Slot, SlotTable};
use super::software::Function;
use crate::btf::{NameId, Names};
use crate::description::orti::{EnumValue, Formula, Orti, Width};
use crate::description::profile::{EntryMark, LockBy, Profile};
use crate::description::{Application, ApplicationCore};
use crate::error::did_you_mean;
use crate::map::{EntityFacts, Gap};
use crate::names::IdMap;
use crate::words::words;
use events::SharedMask;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

words! {
    /// OSEK task states; not the BTF process states.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub(in crate::map::osek) enum OsState {
        Running = "RUNNING",
        Ready = "READY",
        Waiting = "WAITING",
        Suspended = "SUSPENDED",
    }
}

/// An ORTI attribute: a formula over slots.
#[derive(Debug, Clone)]
pub(super) struct Attribute {
    pub formula: Formula,
    pub width: Width,
    pub slots: Vec<usize>,
    pub core: usize,
}

impl Attribute {
    /// The value for the last traced values, or `None` while an operand is unknown.
    pub fn value(&self, slots: &SlotTable) -> Option<i64> {
        let raw = self.formula.eval(&|i| self.slots.get(i).and_then(|s| slots.value(*s)), &|path| {
            slots.find(self.core, path).and_then(|s| slots.value(s))
        })?;
        Some(self.width.apply(raw))
    }

    /// The value if its only variable has the value `bits`.
    pub fn value_of(&self, bits: i64) -> Option<i64> {
        let only = (self.slots.len() == 1).then_some(bits)?;
        Some(self.width.apply(self.formula.eval(&|_| Some(only), &|_| None)?))
    }
}

#[derive(Debug, Clone)]
pub(super) struct TaskModel {
    pub name: NameId,
    pub core: usize,
    pub state: Option<Attribute>,
    pub activations: Option<Attribute>,
    /// The attribute counts the remaining activations: it falls with every activation.
    pub counts_down: bool,
    pub waitmask: Vec<usize>,
    /// The names of the bits of its event masks.
    pub events: IdMap<u64, NameId>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct SemModel {
    pub name: NameId,
    pub state: Option<Attribute>,
    pub locker: Option<Attribute>,
    /// Value → task name, from the LOCKER enumeration.
    pub lockers: HashMap<i64, String>,
    /// Values of LOCKER whose label means "none".
    pub no_locker: HashSet<i64>,
    pub unlocked: Vec<i64>,
    pub core: usize,
    /// True for locks in the spinlock array: global resources and named spinlocks.
    pub spin: bool,
}

impl SemModel {
    /// True for the values of STATE that say that nobody has the lock; without labels, 0 does.
    pub fn is_unlocked(&self, state: i64) -> bool {
        self.unlocked.contains(&state) || (self.unlocked.is_empty() && state == 0)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AlarmAction {
    Activate(usize),
    /// Sets an event; of this task, if the description says which one.
    SetEvent(Option<usize>),
    Other,
}

#[derive(Debug, Clone)]
pub(super) struct AlarmModel {
    pub name: NameId,
    pub core: usize,
    pub time: Option<Attribute>,
    pub action: AlarmAction,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Service {
    Activate,
    Chain,
    Terminate,
    GetResource,
    TryLock,
    SetEvent,
    ClearEvent,
    WaitEvent,
    CancelAlarm,
    Start,
    Other,
}

#[derive(Debug, Clone, Default)]
pub(super) struct CoreModel {
    pub name: NameId,
    /// The first core with the same OS image: itself, unless one OS runs several cores (see [`images`]).
    pub image: usize,
    /// The first core of its control unit.
    pub ecu: usize,
    pub running_task: Option<Attribute>,
    pub running_isr: Option<Attribute>,
    pub service: Option<Attribute>,
    pub last_error: Option<Attribute>,
    pub tasks_by_value: IdMap<i64, usize>,
    pub no_isr_values: HashSet<i64>,
    pub isr_labels: HashMap<i64, String>,
    /// The names found for values of RUNNINGISR2.
    pub isr_names: IdMap<i64, NameId>,
    pub isr_symbols: HashMap<u64, String>,
    /// Handler names that RUNNINGISR2 may hold, and those of the symbol table (rule L3).
    pub handlers: HashSet<String>,
    pub services: IdMap<i64, Service>,
    /// The labels of the same numbers.
    pub service_names: IdMap<i64, NameId>,
    /// The labels of the values of LASTERROR.
    pub errors: IdMap<i64, NameId>,
    pub limit_error: Option<i64>,
    pub refused_errors: Vec<i64>,
    pub states: IdMap<i64, OsState>,
}

impl CoreModel {
    /// Rule I7: what a value of RUNNINGISR2 is called.
    pub fn handler(&self, value: i64) -> Option<&String> {
        self.isr_symbols.get(&(value as u64)).or_else(|| self.isr_labels.get(&value))
    }

    /// The value of RUNNINGISR2 for a handler: `now` if that means it, else the number of its label, else its
    /// address; 0 if it has neither.
    pub fn value_of_handler(&self, handler: &str, now: Option<i64>) -> i64 {
        let labels = self.isr_labels.iter().filter(|(_, label)| *label == handler).map(|(value, _)| *value);
        let symbols = self.isr_symbols.iter().filter(|(_, name)| *name == handler).map(|(at, _)| *at as i64);
        now.filter(|value| self.handler(*value).is_some_and(|name| name == handler))
            .or_else(|| labels.min())
            .or_else(|| symbols.min())
            .unwrap_or_default()
    }
}

/// The compiled application.
#[derive(Debug, Clone)]
pub struct Model {
    pub(super) names: Names,
    pub(super) slots: SlotTable,
    pub(super) cores: Vec<CoreModel>,
    pub(super) tasks: Vec<TaskModel>,
    pub(super) sems: Vec<SemModel>,
    pub(super) alarms: Vec<AlarmModel>,
    pub(super) runnables: HashSet<String>,
    pub(super) category1: HashSet<String>,
    pub(super) task_functions: HashMap<String, usize>,
    pub(super) entry: EntryMark,
    pub(super) profile: Profile,
    pub(super) sim: NameId,
    pub(super) coalescing: i64,
    pub(super) rpc: HashSet<NameId>,
    /// Masks of events of which it is not known whose they are.
    pub(super) shared_masks: Vec<SharedMask>,
    /// What the description says about entities.
    pub(super) described: Vec<EntityFacts>,
    /// Handlers of which several OS images are known to have one each (rule I9).
    pub(super) shared_handlers: HashSet<String>,
    /// Names of handlers and resources that several control units have.
    of_several_units: HashSet<String>,
    /// The names that the description lists.
    pub(super) listed: Listed,
    /// Contradictions between the description and the ORTI text; shown as diagnostics.
    pub findings: Vec<String>,
    /// Names in the description that nothing has; shown as diagnostics.
    pub unknown: Vec<String>,
}

impl Model {
    /// Compiles a description. Unusable parts are reported in [`Model::findings`] and are not fatal.
    pub fn new(setup: &Application) -> Self {
        let mut names = Names::default();
        let sim = names.intern("SIM");
        let shared = setup.profile.kernel.shared.clone();
        let images = images(&setup.cores);
        let units = setup.cores.iter().map(|core| core.ecu).collect();
        let mut model = Model {
            slots: SlotTable::new(
                shared,
                Owners { images: images.clone(), units },
                &setup.aliases,
                &setup.signals,
            ),
            cores: Vec::new(),
            tasks: Vec::new(),
            sems: Vec::new(),
            alarms: Vec::new(),
            runnables: setup.runnables.iter().cloned().collect(),
            category1: setup.category1_isrs.iter().cloned().collect(),
            task_functions: HashMap::new(),
            entry: setup.profile.services.entry,
            profile: setup.profile.clone(),
            rpc: setup.profile.kernel.rpc_isrs.iter().map(|n| names.intern(n)).collect(),
            names,
            sim,
            coalescing: setup.coalescing,
            shared_masks: Vec::new(),
            described: Vec::new(),
            shared_handlers: shared_handlers(&setup.cores, &images),
            of_several_units: of_several_units(&setup.cores),
            listed: Listed::new(setup),
            findings: Vec::new(),
            unknown: Vec::new(),
        };
        for (ix, core) in setup.cores.iter().enumerate() {
            model.add_core(ix, images[ix], core);
        }
        model.add_remote_servers();
        let first_of_image = || setup.cores.iter().enumerate().filter(|(ix, _)| images[*ix] == *ix);
        for (ix, core) in first_of_image() {
            model.add_tasks(ix, core, setup);
        }
        model.add_spin_semaphores(setup);
        for (ix, core) in first_of_image() {
            model.add_resources(ix, core);
            model.add_alarms(ix, core, setup);
            model.name_events(ix, core);
        }
        for (function, task) in &setup.task_functions {
            match (0..model.tasks.len()).find(|t| model.task_name_is(*t, task)) {
                Some(t) => {
                    model.task_functions.insert(function.clone(), t);
                }
                None => {
                    let known = model.tasks.iter().map(|t| model.names.text(t.name));
                    let near = near(did_you_mean(task, known));
                    let message = format!("task_functions: no ORTI file has the task '{task}'{near}");
                    model.unknown.push(message);
                }
            }
        }
        for (path, nearest) in model.slots.unused_aliases() {
            let near = near(nearest);
            model.unknown.push(format!("aliases: no rule needs '{path}' of the ORTI files{near}"));
        }
        for name in of_category2(setup) {
            if model.category1.remove(&name) {
                let message = format!("category1_isrs: RUNNINGISR2 names '{name}', so it is of category 2");
                model.unknown.push(message);
            }
        }
        model.described = model.described(setup);
        model
    }

    pub(super) fn core_name(&self, core: usize) -> &str {
        self.cores.get(core).map_or("", |c| self.names.text(c.name))
    }

    /// The number that the OS gives to a core of its control unit.
    pub(super) fn number_in_unit(&self, core: usize) -> i64 {
        self.cores[..core].iter().filter(|c| c.ecu == self.cores[core].ecu).count() as i64
    }

    /// The value of an attribute; `None` if there is no such attribute, or while an operand is unknown.
    pub(super) fn value(&self, attribute: &Option<Attribute>) -> Option<i64> {
        attribute.as_ref()?.value(&self.slots)
    }

    /// True if a write of `value` gives lock `s` back, as far as its attribute depends on that variable
    /// alone.
    pub(super) fn gives_back(&self, s: usize, value: u64) -> bool {
        let sem = &self.sems[s];
        let (attribute, by_locker) = match (&sem.locker, self.profile.rules.lock_by) {
            (Some(locker), LockBy::Locker) => (Some(locker), true),
            _ => (sem.state.as_ref(), false),
        };
        let Some(value) = attribute.and_then(|a| a.value_of(value as i64)) else { return false };
        if by_locker { sem.no_locker.contains(&value) } else { sem.is_unlocked(value) }
    }

    /// The cores whose traces have a gap.
    pub(super) fn cores_of(&self, gap: &Gap) -> Vec<usize> {
        let is_of = |core: &usize| gap.core.as_deref().is_none_or(|name| name == self.core_name(*core));
        (0..self.cores.len()).filter(is_of).collect()
    }

    /// True when task `t` has this ORTI name, with or without its core's prefix.
    pub(super) fn task_name_is(&self, t: usize, label: &str) -> bool {
        let full = self.names.text(self.tasks[t].name);
        full == label || full.split_once('.').is_some_and(|(_, bare)| bare == label)
    }

    /// The name of a handler or resource of a core: that of several control units gets the first core of its
    /// unit as prefix (rule O10).
    pub(super) fn name_in_unit(&self, core: usize, label: &str) -> String {
        match self.of_several_units.contains(label) {
            true => format!("{}.{label}", self.core_name(self.cores[core].ecu)),
            false => label.to_owned(),
        }
    }

    /// BTF names are unique: a name that two cores use gets its core as prefix (rule O10).
    fn unique(&mut self, label: &str, core: &str, has: impl Fn(&Orti) -> bool, all: &Application) -> NameId {
        let own = all.cores.iter().zip(self.cores.iter().map(|c| c.image)).enumerate();
        let own = own.filter(|(ix, (_, image))| image == ix).map(|(_, (core, _))| core);
        let users = own.filter(|c| c.orti.as_ref().is_some_and(&has)).count();
        if users > 1 { self.names.intern(&format!("{core}.{label}")) } else { self.names.intern(label) }
    }

    fn attribute(
        &mut self,
        core: usize,
        orti: &Orti,
        kind: &str,
        object: Option<&str>,
        name: &str,
        role: Role,
    ) -> Option<Attribute> {
        let objects: Vec<_> = orti.objects(kind).filter(|o| object.is_none_or(|n| o.name == n)).collect();
        // One file may describe several cores: with several OS objects (RTA-OS) or indexed attributes (SMP).
        let object = if object.is_none() { objects.get(core).or(objects.first()) } else { objects.last() }?;
        let indexed =
            object.attributes.iter().find(|a| a.name == name && a.index == u32::try_from(core).ok());
        let attribute = indexed.or_else(|| object.get(name))?;
        let formula = match Formula::parse(&attribute.text) {
            Ok(f) if f.is_evaluable() => f,
            Ok(_) => return None,
            Err(e) => {
                self.findings.push(format!("{kind} {}: {name} = \"{}\": {e}", object.name, attribute.text));
                return None;
            }
        };
        let c_type = orti.attribute_type(kind, name).and_then(|t| t.c_type());
        let width = c_type.map_or(Width::Same, Width::of);
        let slots = formula.variables().iter().map(|v| self.slots.add_role(core, v, role)).collect();
        for base in formula.dynamic_bases() {
            self.slots.add_role_below(core, &base, role);
        }
        Some(Attribute { formula, width, slots, core })
    }

    /// Which traced names matter.
    pub fn relevance(&self) -> Arc<Relevance> {
        let listed = self.category1.iter().chain(&self.runnables).chain(self.task_functions.keys());
        let functions = listed.chain(self.cores.iter().flat_map(|c| &c.handlers)).cloned().collect();
        Arc::new(Relevance { slots: self.slots.clone(), functions })
    }

    pub(super) fn function(&mut self, text: &str) -> Option<Function> {
        self.listed.function(text);
        if self.category1.contains(text) {
            Some(Function::Category1(self.names.intern(text)))
        } else if self.runnables.contains(text) {
            Some(Function::Runnable(self.names.intern(text)))
        } else if let Some(t) = self.task_functions.get(text) {
            Some(Function::TaskBody(*t))
        } else if self.cores.iter().any(|c| c.handlers.contains(text)) {
            Some(Function::Handler(self.names.intern(text)))
        } else {
            None
        }
    }

    pub(super) fn slot(&self, slot: usize) -> &Slot {
        self.slots.slot(slot)
    }
}

/// The handlers that RUNNINGISR2 names.
fn of_category2(setup: &Application) -> Vec<String> {
    let types = setup.cores.iter().filter_map(|core| core.orti.as_ref()?.attribute_type("OS", "RUNNINGISR2"));
    let name = |(label, value): (&String, &EnumValue)| match value {
        EnumValue::Formula(symbol) => symbol.trim_start_matches('&').to_owned(),
        EnumValue::Integer(_) => label.clone(),
    };
    types.flat_map(|ty| ty.elements()).map(|element| name((&element.label, &element.value))).collect()
}

/// Names of handlers that several OS images have: a symbol with several addresses, or in symbol tables that
/// differ; a label of RUNNINGISR2 in several ORTI files.
fn shared_handlers(cores: &[ApplicationCore], images: &[usize]) -> HashSet<String> {
    let mut places: HashMap<&str, HashSet<(usize, u64)>> = HashMap::new();
    let mut labelled: HashMap<&str, HashSet<usize>> = HashMap::new();
    for (ix, core) in cores.iter().enumerate().filter(|(ix, _)| images[*ix] == *ix) {
        // One symbol table for all images tells them apart by addresses; control units have their own.
        let same =
            |other: &ApplicationCore| other.ecu == core.ecu && other.symbols.iter().eq(core.symbols.iter());
        let table = cores.iter().position(same).unwrap_or(ix);
        for (address, name) in core.symbols.iter() {
            places.entry(name).or_default().insert((table, address));
        }
        let labels = core.orti.iter().flat_map(|orti| {
            ["RUNNINGISR2", "RUNNINGISR"].into_iter().filter_map(|a| orti.attribute_type("OS", a))
        });
        for element in labels.flat_map(|labels| labels.elements()) {
            if let EnumValue::Integer(_) = element.value {
                labelled.entry(&element.label).or_default().insert(ix);
            }
        }
    }
    let several = places.iter().filter(|(_, of)| of.len() > 1).map(|(name, _)| *name);
    let labelled = labelled.iter().filter(|(_, of)| of.len() > 1).map(|(name, _)| *name);
    several.chain(labelled).map(str::to_owned).collect()
}

/// Names of handlers and resources that several control units have.
fn of_several_units(cores: &[ApplicationCore]) -> HashSet<String> {
    let mut units: HashMap<&str, HashSet<usize>> = HashMap::new();
    for core in cores {
        let types = core.orti.iter().flat_map(|orti| {
            ["RUNNINGISR2", "RUNNINGISR"].into_iter().filter_map(|a| orti.attribute_type("OS", a))
        });
        let labels = types.flat_map(|ty| ty.elements()).map(|element| match &element.value {
            EnumValue::Formula(symbol) => symbol.trim_start_matches('&'),
            EnumValue::Integer(_) => &element.label,
        });
        let resources = core.orti.iter().flat_map(|orti| orti.objects("RESOURCE")).map(|r| r.name.as_str());
        let symbols = core.symbols.iter().map(|(_, name)| name);
        labels.chain(resources).chain(symbols).for_each(|name| {
            units.entry(name).or_default().insert(core.ecu);
        });
    }
    let several = units.into_iter().filter(|(_, of)| of.len() > 1);
    several.map(|(name, _)| name.to_owned()).collect()
}

fn near(name: Option<&str>) -> String {
    name.map_or(String::new(), |name| format!("; did you mean '{name}'?"))
}

/// For every core, the first one that runs the same OS image. Cores that name the same ORTI file run one OS
/// if that file distinguishes them by several OS objects or by an index (`RUNNINGTASK[1]`). Tasks, resources
/// and alarms then belong to the image, and all its cores see its variables. Otherwise each core has an OS of
/// its own.
fn images(cores: &[ApplicationCore]) -> Vec<usize> {
    let one_image = |a: &Orti, b: &Orti| {
        let indexed = || a.objects("OS").flat_map(|o| &o.attributes).any(|a| a.index.is_some_and(|i| i > 0));
        a.objects == b.objects && a.types == b.types && (a.objects("OS").count() > 1 || indexed())
    };
    let same = |a: &ApplicationCore, b: &ApplicationCore| {
        a.ecu == b.ecu && a.orti.as_ref().zip(b.orti.as_ref()).is_some_and(|(a, b)| one_image(a, b))
    };
    let first = |ix: usize, core: &ApplicationCore| {
        cores[..ix].iter().position(|other| same(other, core)).unwrap_or(ix)
    };
    cores.iter().enumerate().map(|(ix, core)| first(ix, core)).collect()
}
