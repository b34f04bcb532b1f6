//! Compiles the objects of an ORTI file: cores, tasks, semaphores and alarms, with their variables.

use super::events::{action_words, masks};
use super::labels::{expand, integer_of, is_none_label, os_state, service, spellings};
use super::{AlarmAction, AlarmModel, CoreModel, Model, SemModel, TaskModel};
use crate::description::orti::{EnumValue, Oil, Orti};
use crate::description::{Application, ApplicationCore};
use crate::map::osek::slots::Role;
use crate::names::IdMap;
use std::collections::{BTreeMap, HashMap, HashSet};

impl Model {
    pub(super) fn add_core(&mut self, ix: usize, image: usize, setup: &ApplicationCore) {
        let name = self.names.intern(&setup.name);
        let empty = Orti::parse(b"");
        let orti = setup.orti.as_ref().unwrap_or(&empty);
        let p = self.profile.clone();
        let mut core = CoreModel {
            name,
            image,
            ecu: setup.ecu,
            running_task: self.attribute(ix, orti, "OS", None, "RUNNINGTASK", Role::RunningTask(ix)),
            running_isr: self
                .attribute(ix, orti, "OS", None, "RUNNINGISR2", Role::RunningIsr(ix))
                .or_else(|| self.attribute(ix, orti, "OS", None, "RUNNINGISR", Role::RunningIsr(ix))),
            service: self.attribute(ix, orti, "OS", None, "SERVICETRACE", Role::Service(ix)),
            last_error: self.attribute(ix, orti, "OS", None, "LASTERROR", Role::LastError(ix)),
            no_isr_values: HashSet::from([0]),
            isr_symbols: setup.symbols.iter().map(|(a, n)| (a, n.to_owned())).collect(),
            handlers: setup.symbols.iter().map(|(_, n)| n.to_owned()).collect(),
            ..CoreModel::default()
        };
        let isr_type = ["RUNNINGISR2", "RUNNINGISR"].into_iter().find_map(|a| orti.attribute_type("OS", a));
        let mut zero_is_isr = false;
        for e in isr_type.map(|t| t.elements()).unwrap_or_default() {
            match &e.value {
                EnumValue::Integer(v) if is_none_label(&e.label, &p, orti) => {
                    core.no_isr_values.extend(spellings(*v));
                }
                EnumValue::Integer(v) => {
                    zero_is_isr |= *v == 0;
                    core.isr_labels.extend(spellings(*v).map(|v| (v, e.label.clone())));
                }
                EnumValue::Formula(symbol) => {
                    let symbol = symbol.trim_start_matches('&').to_owned();
                    core.handlers.insert(symbol);
                }
            }
        }
        if zero_is_isr {
            core.no_isr_values.remove(&0);
        }
        for e in orti.attribute_type("OS", "SERVICETRACE").map(|t| t.elements()).unwrap_or_default() {
            if let EnumValue::Integer(v) = e.value {
                core.services.insert(v, service(&e.label, &p));
                core.service_names.insert(v, self.names.intern(&e.label));
            }
        }
        for (id, label) in &p.service_ids {
            if let Ok(id) = id.parse() {
                core.services.insert(id, service(label, &p));
                core.service_names.insert(id, self.names.intern(label));
            }
        }
        for e in orti.attribute_type("OS", "LASTERROR").map(|t| t.elements()).unwrap_or_default() {
            if let EnumValue::Integer(v) = e.value {
                core.errors.insert(v, self.names.intern(&e.label));
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
        for path in &p.variables.isr_nesting {
            self.slots.add_role(ix, path, Role::Nesting);
        }
        for base in &p.variables.expiry {
            self.slots.add_role_below(ix, base, Role::Expiry);
        }
        self.cores.push(core);
    }

    /// What tells which core serves the call of which other one: the cores of a control unit have numbers.
    pub(super) fn add_remote_servers(&mut self) {
        let patterns = self.profile.variables.remote_server.clone();
        for core in 0..self.cores.len() {
            for caller in (0..self.cores.len()).filter(|c| self.cores[*c].ecu == self.cores[core].ecu) {
                for path in expand(&patterns, "{core}", self.number_in_unit(caller)) {
                    self.slots.add_role(core, &path, Role::RemoteServer(caller));
                }
            }
        }
    }

    pub(super) fn add_tasks(&mut self, ix: usize, setup: &ApplicationCore, all: &Application) {
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
                for core in self.cores.iter_mut().filter(|c| c.image == ix) {
                    core.tasks_by_value.extend(spellings(v).map(|v| (v, t)));
                }
            }
            let mut waitmask = Vec::new();
            if let Some(id) = id {
                for path in expand(&p.variables.event_waitmask, "{task}", id) {
                    waitmask.push(self.slots.add_role(ix, &path, Role::EventWait(t)));
                }
                for (patterns, role) in [
                    (&p.variables.remaining_activations, Role::Remaining(t)),
                    (&p.variables.event_active, Role::EventActive(t)),
                    (&p.variables.was_waiting, Role::WasWaiting(t)),
                ] {
                    for path in expand(patterns, "{task}", id) {
                        self.slots.add_role(ix, &path, role);
                    }
                }
            }
            let state = self.attribute(ix, orti, "TASK", Some(label), "STATE", Role::TaskState(t));
            let mut find = |names: &[String], role| {
                names.iter().find_map(|n| self.attribute(ix, orti, "TASK", Some(label), n, role))
            };
            let current = find(&["CURRENTACTIVATIONS".to_owned()], Role::Activations(t));
            let counts_down = current.is_none();
            let activations =
                current.or_else(|| find(&p.attributes.remaining_activations, Role::Activations(t)));
            find(&p.attributes.event_flags, Role::EventActive(t));
            waitmask
                .extend(find(&p.attributes.event_mask, Role::EventWait(t)).into_iter().flat_map(|a| a.slots));
            let events = IdMap::default();
            self.tasks.push(TaskModel { name, core: ix, state, activations, counts_down, waitmask, events });
        }
    }

    /// Global resources and named spinlocks: one semaphore per index of the spinlock array. The locks that
    /// the OS itself uses for remote calls have no name in the header's user part and are left out.
    pub(super) fn add_spin_semaphores(&mut self, setup: &Application) {
        if self.profile.variables.spinlock.is_empty() {
            return;
        }
        // By control unit, each of which has an array of its own, and index.
        let mut locks: BTreeMap<(usize, i64), String> = BTreeMap::new();
        for (core, header) in setup.cores.iter().filter_map(|c| Some((c, c.header.as_ref()?))) {
            let global = header.resources.iter().filter(|r| r.global).map(|r| (r.id, r.name.clone()));
            let named = global.chain(header.spinlocks.iter().map(|(n, i)| (*i, n.clone())));
            locks.extend(named.map(|(index, label)| ((core.ecu, index), label)));
        }
        for ((unit, index), label) in &locks {
            let s = self.sems.len();
            // Rule O10, by the first core of the unit.
            let shared = locks.iter().any(|((other, _), name)| other != unit && name == label);
            let name = match shared {
                true => self.names.intern(&format!("{}.{label}", self.core_name(*unit))),
                false => self.names.intern(label),
            };
            for core in (0..self.cores.len()).filter(|c| self.cores[*c].ecu == *unit) {
                for path in expand(&self.profile.variables.spinlock, "{lock}", *index) {
                    self.slots.add_role(core, &path, Role::Spin(s));
                }
            }
            self.sems.push(SemModel { name, spin: true, core: *unit, ..SemModel::default() });
        }
    }

    pub(super) fn add_resources(&mut self, ix: usize, setup: &ApplicationCore) {
        let Some(orti) = &setup.orti else { return };
        let p = self.profile.clone();
        let states = orti.attribute_type("RESOURCE", "STATE").map(|t| t.elements()).unwrap_or_default();
        let unlocked: Vec<i64> = states
            .iter()
            .filter(|e| p.labels.unlocked.iter().any(|l| l.eq_ignore_ascii_case(&e.label)))
            .filter_map(|e| if let EnumValue::Integer(v) = e.value { Some(v) } else { None })
            .collect();
        let mut lockers = HashMap::new();
        let mut no_locker = HashSet::new();
        for e in orti.attribute_type("RESOURCE", "LOCKER").map(|t| t.elements()).unwrap_or_default() {
            match e.value {
                EnumValue::Integer(v) if is_none_label(&e.label, &p, orti) => no_locker.extend(spellings(v)),
                EnumValue::Integer(v) => lockers.extend(spellings(v).map(|v| (v, e.label.clone()))),
                EnumValue::Formula(_) => {}
            }
        }
        let in_common = SemModel { lockers, no_locker, unlocked, core: ix, ..SemModel::default() };
        for object in orti.objects("RESOURCE") {
            let label = &object.name;
            let unit = self.cores[ix].ecu;
            let is_global = |s: &SemModel| {
                let name = self.names.text(s.name);
                let bare = name.strip_prefix(self.core_name(unit)).and_then(|n| n.strip_prefix('.'));
                s.spin && s.core == unit && (name == label || bare == Some(label))
            };
            if self.sems.iter().any(is_global) {
                continue;
            }
            let s = self.sems.len();
            // Not made unique: generators list a resource for every core, and only one core uses it
            // unless it is global (see `Machine::claim`).
            let name = self.name_in_unit(ix, label);
            let name = self.names.intern(&name);
            let state = self.attribute(ix, orti, "RESOURCE", Some(label), "STATE", Role::SemState(s));
            let locker = self.attribute(ix, orti, "RESOURCE", Some(label), "LOCKER", Role::SemLocker(s));
            self.sems.push(SemModel { name, state, locker, ..in_common.clone() });
        }
    }

    pub(super) fn add_alarms(&mut self, ix: usize, setup: &ApplicationCore, all: &Application) {
        let Some(orti) = &setup.orti else { return };
        let ids = || setup.header.iter().flat_map(|h| &h.alarms);
        for (n, object) in orti.objects("ALARM").enumerate() {
            let a = self.alarms.len();
            let label = &object.name;
            let name = self.unique(label, &setup.name, |c| c.objects("ALARM").any(|o| o.name == *label), all);
            let id = ids().find(|(l, _)| *l == object.name).map_or(n as i64, |(_, id)| *id);
            self.alarm_roles(ix, a, id);
            let time = self.attribute(ix, orti, "ALARM", Some(&object.name), "ALARMTIME", Role::AlarmTime(a));
            let text = object.get("ACTION").map(|a| a.text.as_str()).unwrap_or_default();
            let action = match text.trim() {
                "" => self.oil_action(ix, &setup.oil, label),
                text => {
                    let contradiction = self.contradicts_oil(ix, setup, label, text);
                    self.findings.extend(contradiction);
                    self.alarm_action(ix, text)
                }
            };
            self.alarms.push(AlarmModel { name, core: ix, time, action });
        }
        // Alarms that ORTI leaves out: OIL tells what they do, the header their numbers.
        for (label, id) in ids() {
            let declared = setup.oil.object("ALARM", label).is_some();
            if !declared || orti.objects("ALARM").any(|alarm| alarm.name == *label) {
                continue;
            }
            let name = self.names.intern(label);
            self.alarm_roles(ix, self.alarms.len(), *id);
            let action = self.oil_action(ix, &setup.oil, label);
            self.alarms.push(AlarmModel { name, core: ix, time: None, action });
        }
    }

    fn alarm_roles(&mut self, ix: usize, alarm: usize, id: i64) {
        for path in expand(&self.profile.variables.alarm_action, "{alarm}", id) {
            self.slots.add_role(ix, &path, Role::AlarmAction(alarm));
        }
    }

    /// What an alarm does by OIL.
    fn oil_action(&self, core: usize, oil: &Oil, alarm: &str) -> AlarmAction {
        let action = oil.object("ALARM", alarm).and_then(|alarm| alarm.get("ACTION"));
        let task = || action?.get("TASK").and_then(|task| self.task_named(core, &task.value));
        match action.map(|action| action.value.as_str()) {
            Some("ACTIVATETASK") => task().map_or(AlarmAction::Other, AlarmAction::Activate),
            Some("SETEVENT") => AlarmAction::SetEvent(task()),
            _ => AlarmAction::Other,
        }
    }

    /// What ALARM.ACTION says otherwise than OIL: another task, or another event.
    fn contradicts_oil(
        &self,
        core: usize,
        setup: &ApplicationCore,
        alarm: &str,
        text: &str,
    ) -> Option<String> {
        let declared = setup.oil.object("ALARM", alarm)?;
        let action = declared.get("ACTION")?;
        let words: Vec<&str> = action_words(text).collect();
        let events = masks(setup);
        let is_task = |word: &&str| self.task_named(core, word).is_some();
        let is_event = |word: &&str| events.iter().any(|(event, _)| event == word);
        let differs = |name: &str, is: &dyn Fn(&&str) -> bool| {
            let value = &action.get(name)?.value;
            let others: Vec<&str> = words.iter().skip(1).copied().filter(|word| is(word)).collect();
            (!others.is_empty() && !others.contains(&value.as_str()))
                .then(|| (name.to_owned(), value.clone()))
        };
        let (name, value) = differs("TASK", &is_task).or_else(|| differs("EVENT", &is_event))?;
        let (file, line) = (&declared.file, action.line);
        let orti = setup.orti_file.as_deref().unwrap_or("ORTI");
        Some(format!(
            "alarm {alarm}: '{orti}' says \"{text}\", but {file}:{line} says {name} = {value}: one of them is not \
             that of the traced software"
        ))
    }

    /// A task by its name in ORTI; of several with that name, the one of this core.
    pub(super) fn task_named(&self, core: usize, label: &str) -> Option<usize> {
        let all: Vec<usize> = (0..self.tasks.len()).filter(|t| self.task_name_is(*t, label)).collect();
        all.iter().find(|t| self.tasks[**t].core == core).or(all.first()).copied()
    }

    /// Reads the free text of ALARM.ACTION: `ActivateTask X`, `set E on T`, `SET t EVENT e`, `callback f`
    /// …
    fn alarm_action(&self, core: usize, text: &str) -> AlarmAction {
        let words: Vec<&str> = action_words(text).collect();
        let verb = words.first().map(|w| w.to_lowercase()).unwrap_or_default();
        if verb.starts_with("activate") {
            let task = words.iter().find_map(|word| self.task_named(core, word));
            return task.map_or(AlarmAction::Other, AlarmAction::Activate);
        }
        if verb.starts_with("set") || verb.starts_with("event") {
            AlarmAction::SetEvent(words.iter().skip(1).find_map(|word| self.task_named(core, word)))
        } else {
            AlarmAction::Other
        }
    }
}
