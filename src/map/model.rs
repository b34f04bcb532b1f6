//! The traced application as the mapper sees it: cores, tasks, semaphores, alarms, and which variable each
//! of them watches. Built once from ORTI, OS header, symbols and profile; holds no state of a run.

use super::profile::{EntryMark, Profile};
use super::slots::{Slot, SlotTable, Watch};
use super::software::Function;
use crate::btf::{NameId, Names};
use crate::formats::orti::{EnumValue, Formula, Orti, OsHeader, Symbols, narrow};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Everything a recording says about its application (o and l of the thesis, equation 4.6).
#[derive(Debug, Clone)]
pub struct Setup {
    /// Mapping profile.
    pub profile: Profile,
    /// One entry per traced core, in recording order.
    pub cores: Vec<CoreSetup>,
    /// l_r: functions that are runnables.
    pub runnables: Vec<String>,
    /// l_s: variables that are signals.
    pub signals: Vec<String>,
    /// Functions that are category 1 ISRs, which the OS does not know.
    pub category1_isrs: Vec<String>,
    /// Traced variable name → path used by ORTI, where the two differ.
    pub aliases: BTreeMap<String, String>,
    /// Task body function → task.
    pub task_functions: BTreeMap<String, String>,
    /// Window of rule I6 in ticks; 0 is off.
    pub coalescing: i64,
}

/// What is known of one core.
#[derive(Debug, Clone)]
pub struct CoreSetup {
    /// BTF name of the core.
    pub name: String,
    /// The ORTI file of the core's OS.
    pub orti: Option<Orti>,
    /// The generated OS header: event masks, ids, spinlocks.
    pub header: Option<OsHeader>,
    /// Addresses of ISR handlers.
    pub symbols: Symbols,
}

/// OSEK task states; not the BTF process states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OsState {
    Running,
    Ready,
    Waiting,
    Suspended,
}

/// An ORTI attribute: a formula over slots.
#[derive(Debug, Clone)]
pub(super) struct Attribute {
    pub formula: Formula,
    pub c_type: Option<String>,
    pub slots: Vec<usize>,
    pub core: usize,
}

impl Attribute {
    /// The value over the last traced values, or `None` while an operand is unknown.
    pub fn value(&self, slots: &SlotTable) -> Option<i64> {
        let raw = self.formula.eval(
            &|i| self.slots.get(i).and_then(|s| slots.value(*s)),
            &|path| slots.find(self.core, path).and_then(|s| slots.value(s)),
        )?;
        Some(narrow(raw, self.c_type.as_deref()))
    }
}

#[derive(Debug, Clone)]
pub(super) struct TaskModel {
    pub name: NameId,
    pub core: usize,
    pub state: Option<Attribute>,
    pub activations: Option<Attribute>,
    pub waitmask: Vec<usize>,
}

#[derive(Debug, Clone)]
pub(super) struct SemModel {
    pub name: NameId,
    pub state: Option<Attribute>,
    pub locker: Option<Attribute>,
    /// Value → task name, from the LOCKER enumeration.
    pub lockers: HashMap<i64, String>,
    pub unlocked: Vec<i64>,
    pub core: usize,
    /// True for locks seen through the spinlock array: global resources and named spinlocks.
    pub spin: bool,
}

/// What an alarm does when it expires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AlarmAction {
    Activate(usize),
    SetEvent,
    Other,
}

#[derive(Debug, Clone)]
pub(super) struct AlarmModel {
    pub name: NameId,
    pub core: usize,
    pub time: Option<Attribute>,
    pub action: AlarmAction,
}

/// A service with a meaning to the mapper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

#[derive(Debug, Clone)]
pub(super) struct CoreModel {
    pub name: NameId,
    pub running_task: Option<Attribute>,
    pub running_isr: Option<Attribute>,
    pub service: Option<Attribute>,
    pub last_error: Option<Attribute>,
    pub tasks_by_value: HashMap<i64, usize>,
    pub nobody_isr: HashSet<i64>,
    pub isr_labels: HashMap<i64, String>,
    pub isr_symbols: HashMap<u64, String>,
    /// Handler names that RUNNINGISR2 may hold, plus those of the symbol table (rule L3).
    pub handlers: HashSet<String>,
    pub services: HashMap<i64, Service>,
    pub limit_error: Option<i64>,
    pub refused_errors: Vec<i64>,
    pub states: HashMap<i64, OsState>,
    pub event_names: HashMap<u64, NameId>,
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
    /// Things the description promises and the ORTI text does not keep; shown as diagnostics.
    pub findings: Vec<String>,
}

impl Model {
    /// Compiles a description. What cannot be used is reported in [`Model::findings`], not fatal.
    pub fn new(setup: &Setup) -> Self {
        let mut names = Names::default();
        let sim = names.intern("SIM");
        let shared = setup.profile.kernel.shared.clone();
        let mut model = Model {
            slots: SlotTable::new(shared, &setup.aliases, &setup.signals),
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
            findings: Vec::new(),
        };
        for (ix, core) in setup.cores.iter().enumerate() {
            model.add_core(ix, core);
        }
        for (ix, core) in setup.cores.iter().enumerate() {
            model.add_tasks(ix, core, setup);
        }
        model.add_spin_semaphores(setup);
        for (ix, core) in setup.cores.iter().enumerate() {
            model.add_resources(ix, core);
            model.add_alarms(ix, core, setup);
        }
        for (function, task) in &setup.task_functions {
            match (0..model.tasks.len()).find(|t| model.task_name_is(*t, task)) {
                Some(t) => {
                    model.task_functions.insert(function.clone(), t);
                }
                None => model.findings.push(format!("task_functions names the unknown task '{task}'")),
            }
        }
        model
    }

    fn add_core(&mut self, ix: usize, setup: &CoreSetup) {
        let name = self.names.intern(&setup.name);
        let empty = Orti::parse(b"");
        let orti = setup.orti.as_ref().unwrap_or(&empty);
        let p = self.profile.clone();
        let mut core = CoreModel {
            name,
            running_task: self.attribute(ix, orti, "OS", None, "RUNNINGTASK", Watch::RunningTask(ix)),
            running_isr: self
                .attribute(ix, orti, "OS", None, "RUNNINGISR2", Watch::RunningIsr(ix))
                .or_else(|| self.attribute(ix, orti, "OS", None, "RUNNINGISR", Watch::RunningIsr(ix))),
            service: self.attribute(ix, orti, "OS", None, "SERVICETRACE", Watch::Service(ix)),
            last_error: self.attribute(ix, orti, "OS", None, "LASTERROR", Watch::LastError(ix)),
            tasks_by_value: HashMap::new(),
            nobody_isr: HashSet::from([0]),
            isr_labels: HashMap::new(),
            isr_symbols: setup.symbols.iter().map(|(a, n)| (a, n.to_owned())).collect(),
            handlers: setup.symbols.iter().map(|(_, n)| n.to_owned()).collect(),
            services: HashMap::new(),
            limit_error: None,
            refused_errors: Vec::new(),
            states: HashMap::new(),
            event_names: HashMap::new(),
        };
        let isr_type =
            ["RUNNINGISR2", "RUNNINGISR"].into_iter().find_map(|a| orti.attribute_type("OS", a));
        let mut zero_is_isr = false;
        for e in isr_type.map(|t| t.elements()).unwrap_or_default() {
            match &e.value {
                EnumValue::Integer(v) if is_nobody(&e.label, &p) => {
                    core.nobody_isr.insert(*v);
                }
                EnumValue::Integer(v) => {
                    zero_is_isr |= *v == 0;
                    core.isr_labels.insert(*v, e.label.clone());
                }
                EnumValue::Formula(symbol) => {
                    let symbol = symbol.trim_start_matches('&').to_owned();
                    core.handlers.insert(symbol);
                }
            }
        }
        if zero_is_isr {
            core.nobody_isr.remove(&0);
        }
        for e in orti.attribute_type("OS", "SERVICETRACE").map(|t| t.elements()).unwrap_or_default() {
            if let EnumValue::Integer(v) = e.value {
                core.services.insert(v, service(&e.label, &p));
            }
        }
        for (id, label) in &p.service_ids {
            if let Ok(id) = id.parse() {
                core.services.insert(id, service(label, &p));
            }
        }
        for e in orti.attribute_type("OS", "LASTERROR").map(|t| t.elements()).unwrap_or_default() {
            if let EnumValue::Integer(v) = e.value {
                if e.label == p.labels.limit_error {
                    core.limit_error = Some(v);
                }
                if p.labels.refused_errors.contains(&e.label) {
                    core.refused_errors.push(v);
                }
            }
        }
        for e in orti.attribute_type("TASK", "STATE").map(|t| t.elements()).unwrap_or_default() {
            if let (EnumValue::Integer(v), Some(s)) = (&e.value, os_state(&e.label, &p)) {
                core.states.insert(*v, s);
            }
        }
        for (event, mask) in setup.header.iter().flat_map(|h| &h.events) {
            if core.event_names.insert(*mask, self.names.intern(event)).is_some() {
                self.findings.push(format!("two OS events of core '{}' share the mask {mask:#x}", setup.name));
            }
        }
        for path in &p.variables.isr_nesting {
            self.slots.watch(ix, path, Watch::Nesting);
        }
        self.cores.push(core);
    }

    fn add_tasks(&mut self, ix: usize, setup: &CoreSetup, all: &Setup) {
        let Some(orti) = &setup.orti else { return };
        let p = self.profile.clone();
        for object in orti.objects("TASK") {
            let t = self.tasks.len();
            let label = &object.name;
            let name = self.unique(label, &setup.name, |c| c.objects("TASK").any(|o| o.name == *label), all);
            let running = orti.attribute_type("OS", "RUNNINGTASK").map(|a| a.elements()).unwrap_or_default();
            let id = setup
                .header
                .as_ref()
                .and_then(|h| h.tasks.iter().find(|(n, _)| n == label).map(|(_, id)| *id))
                .or_else(|| integer_of(running, label));
            if let Some(v) = integer_of(running, label).or(id) {
                self.cores[ix].tasks_by_value.insert(v, t);
            }
            let mut waitmask = Vec::new();
            if let Some(id) = id {
                for path in expand(&p.variables.event_waitmask, "{task}", id) {
                    waitmask.push(self.slots.watch(ix, &path, Watch::EventWait(t)));
                }
                for (patterns, watch) in [
                    (&p.variables.remaining_activations, Watch::Remaining(t)),
                    (&p.variables.event_active, Watch::EventActive(t)),
                    (&p.variables.was_waiting, Watch::WasWaiting(t)),
                ] {
                    for path in expand(patterns, "{task}", id) {
                        self.slots.watch(ix, &path, watch);
                    }
                }
            }
            let state = self.attribute(ix, orti, "TASK", Some(label), "STATE", Watch::TaskState(t));
            let activations =
                self.attribute(ix, orti, "TASK", Some(label), "CURRENTACTIVATIONS", Watch::Activations(t));
            self.tasks.push(TaskModel { name, core: ix, state, activations, waitmask });
        }
    }

    /// Global resources and named spinlocks: one semaphore per index of the spinlock array. The locks that
    /// the OS itself uses for remote calls have no name in the header's user part and stay out.
    fn add_spin_semaphores(&mut self, setup: &Setup) {
        if self.profile.variables.spinlock.is_empty() {
            return;
        }
        let mut locks: BTreeMap<i64, String> = BTreeMap::new();
        for header in setup.cores.iter().filter_map(|c| c.header.as_ref()) {
            let global = header.resources.iter().filter(|r| r.global).map(|r| (r.id, r.name.clone()));
            locks.extend(global.chain(header.spinlocks.iter().map(|(n, i)| (*i, n.clone()))));
        }
        for (index, label) in locks {
            let s = self.sems.len();
            let name = self.names.intern(&label);
            for core in 0..self.cores.len() {
                for path in expand(&self.profile.variables.spinlock, "{lock}", index) {
                    self.slots.watch(core, &path, Watch::Spin(s));
                }
            }
            let (state, locker, lockers, unlocked) = (None, None, HashMap::new(), Vec::new());
            self.sems.push(SemModel { name, state, locker, lockers, unlocked, core: 0, spin: true });
        }
    }

    fn add_resources(&mut self, ix: usize, setup: &CoreSetup) {
        let Some(orti) = &setup.orti else { return };
        let p = self.profile.clone();
        let states = orti.attribute_type("RESOURCE", "STATE").map(|t| t.elements()).unwrap_or_default();
        let unlocked: Vec<i64> = states
            .iter()
            .filter(|e| p.labels.unlocked.iter().any(|l| l.eq_ignore_ascii_case(&e.label)))
            .filter_map(|e| if let EnumValue::Integer(v) = e.value { Some(v) } else { None })
            .collect();
        let lockers: HashMap<i64, String> = orti
            .attribute_type("RESOURCE", "LOCKER")
            .map(|t| t.elements())
            .unwrap_or_default()
            .iter()
            .filter(|e| !is_nobody(&e.label, &p))
            .filter_map(|e| if let EnumValue::Integer(v) = e.value { Some((v, e.label.clone())) } else { None })
            .collect();
        for object in orti.objects("RESOURCE") {
            let label = &object.name;
            let global = self.sems.iter().any(|s| s.spin && self.names.text(s.name) == label);
            if global {
                continue;
            }
            let s = self.sems.len();
            // Not made unique: generators list a resource at every core, and only one core uses it unless it is
            // global (see `Machine::claim`).
            let name = self.names.intern(label);
            let state = self.attribute(ix, orti, "RESOURCE", Some(label), "STATE", Watch::SemState(s));
            let locker = self.attribute(ix, orti, "RESOURCE", Some(label), "LOCKER", Watch::SemLocker(s));
            let (lockers, unlocked) = (lockers.clone(), unlocked.clone());
            self.sems.push(SemModel { name, state, locker, lockers, unlocked, core: ix, spin: false });
        }
    }

    fn add_alarms(&mut self, ix: usize, setup: &CoreSetup, all: &Setup) {
        let Some(orti) = &setup.orti else { return };
        for (n, object) in orti.objects("ALARM").enumerate() {
            let a = self.alarms.len();
            let label = &object.name;
            let name = self.unique(label, &setup.name, |c| c.objects("ALARM").any(|o| o.name == *label), all);
            let ids = setup.header.iter().flat_map(|h| &h.alarms);
            let id = ids.filter(|(l, _)| *l == object.name).map(|(_, i)| *i).next().unwrap_or(n as i64);
            for path in expand(&self.profile.variables.alarm_action, "{alarm}", id) {
                self.slots.watch(ix, &path, Watch::AlarmAction(a));
            }
            let time = self.attribute(ix, orti, "ALARM", Some(&object.name), "ALARMTIME", Watch::AlarmTime(a));
            let text = object.get("ACTION").map(|a| a.text.as_str()).unwrap_or_default();
            let action = self.alarm_action(ix, text);
            self.alarms.push(AlarmModel { name, core: ix, time, action });
        }
    }

    /// Reads the free text of ALARM.ACTION: `ActivateTask X`, `set E on T`, `SET t EVENT e`, `callback f` …
    fn alarm_action(&self, core: usize, text: &str) -> AlarmAction {
        let words: Vec<String> = text.split(|c: char| c.is_whitespace() || c == ',').map(str::to_owned).collect();
        let verb = words.first().map(|w| w.to_lowercase()).unwrap_or_default();
        if verb.starts_with("activate") {
            let named = |t: usize, w: &str| self.task_name_is(t, w);
            let mut found = words.iter().flat_map(|w| (0..self.tasks.len()).filter(move |t| named(*t, w)));
            let all: Vec<usize> = found.by_ref().collect();
            let own = all.iter().find(|t| self.tasks[**t].core == core).or(all.first());
            return own.map_or(AlarmAction::Other, |t| AlarmAction::Activate(*t));
        }
        if verb.starts_with("set") || verb.starts_with("event") { AlarmAction::SetEvent } else { AlarmAction::Other }
    }

    /// True when task `t` has this ORTI name, with or without its core's prefix.
    pub(super) fn task_name_is(&self, t: usize, label: &str) -> bool {
        let full = self.names.text(self.tasks[t].name);
        full == label || full.split_once('.').is_some_and(|(_, bare)| bare == label)
    }

    /// BTF names are unique: a name that two cores use gets its core in front (gap 24).
    fn unique(&mut self, label: &str, core: &str, has: impl Fn(&Orti) -> bool, all: &Setup) -> NameId {
        let users = all.cores.iter().filter(|c| c.orti.as_ref().is_some_and(&has)).count();
        if users > 1 { self.names.intern(&format!("{core}.{label}")) } else { self.names.intern(label) }
    }

    fn attribute(
        &mut self,
        core: usize,
        orti: &Orti,
        kind: &str,
        object: Option<&str>,
        name: &str,
        watch: Watch,
    ) -> Option<Attribute> {
        let objects: Vec<_> = orti.objects(kind).filter(|o| object.is_none_or(|n| o.name == n)).collect();
        // One file may describe several cores: by several OS objects (RTA-OS) or by indexed attributes (SMP).
        let object = if object.is_none() { objects.get(core).or(objects.first()) } else { objects.last() }?;
        let indexed = object.attributes.iter().find(|a| a.name == name && a.index == u32::try_from(core).ok());
        let attribute = indexed.or_else(|| object.get(name))?;
        let formula = match Formula::parse(&attribute.text) {
            Ok(f) if f.is_evaluable() => f,
            Ok(_) => return None,
            Err(e) => {
                self.findings.push(format!("{kind} {}: {name} = \"{}\": {e}", object.name, attribute.text));
                return None;
            }
        };
        let c_type = orti.attribute_type(kind, name).and_then(|t| t.c_type()).map(str::to_owned);
        let slots = formula.variables().iter().map(|v| self.slots.watch(core, v, watch)).collect();
        for base in formula.dynamic_bases() {
            self.slots.watch_below(core, &base, watch);
        }
        Some(Attribute { formula, c_type, slots, core })
    }

    /// What a traced function name means.
    pub(super) fn function(&mut self, text: &str) -> Option<Function> {
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

    /// The watches of a slot.
    pub(super) fn slot(&self, slot: usize) -> &Slot {
        self.slots.slot(slot)
    }
}

fn service(label: &str, p: &Profile) -> Service {
    let s = &p.services;
    match label {
        l if l == s.activate => Service::Activate,
        l if l == s.chain => Service::Chain,
        l if l == s.terminate => Service::Terminate,
        l if l == s.set_event => Service::SetEvent,
        l if l == s.clear_event => Service::ClearEvent,
        l if l == s.wait_event => Service::WaitEvent,
        l if l == s.cancel_alarm => Service::CancelAlarm,
        l if l == s.start => Service::Start,
        l if s.get_resource.iter().any(|g| g == l) => Service::GetResource,
        l if s.try_lock.iter().any(|g| g == l) => Service::TryLock,
        _ => Service::Other,
    }
}

fn os_state(label: &str, p: &Profile) -> Option<OsState> {
    let is = |list: &[String]| list.iter().any(|l| l.eq_ignore_ascii_case(label));
    match () {
        () if is(&p.states.running) => Some(OsState::Running),
        () if is(&p.states.ready) => Some(OsState::Ready),
        () if is(&p.states.waiting) => Some(OsState::Waiting),
        () if is(&p.states.suspended) => Some(OsState::Suspended),
        () => None,
    }
}

fn is_nobody(label: &str, p: &Profile) -> bool {
    label.to_lowercase().starts_with("idle") || p.labels.nobody.iter().any(|l| l.eq_ignore_ascii_case(label))
}

fn integer_of(elements: &[crate::formats::orti::EnumElement], label: &str) -> Option<i64> {
    elements.iter().find(|e| e.label == label).and_then(|e| match e.value {
        EnumValue::Integer(v) => Some(v),
        EnumValue::Formula(_) => None,
    })
}

fn expand(patterns: &[String], placeholder: &str, id: i64) -> Vec<String> {
    patterns.iter().map(|p| p.replace(placeholder, &id.to_string())).collect()
}
