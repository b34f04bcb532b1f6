//! What the description says about entities: rows of table `entity`. Not what it means to the rules (see
//! `build`).

use super::events::{events_of_task, masks, target_of};
use super::labels::is_none_label;
use super::{AlarmAction, Model};
use crate::btf::EntityType;
use crate::description::orti::{EnumValue, Formula, Object, Oil, OilObject};
use crate::description::{Application, ApplicationCore};
use crate::map::EntityFacts;
use crate::time::TimeScale;
use std::collections::{BTreeSet, HashMap};

impl Model {
    /// Everything that the description names, each (type, name) once.
    pub(super) fn described(&self, setup: &Application) -> Vec<EntityFacts> {
        let mut all = Described::default();
        let owners = self.owners_of_events(setup);
        for (ix, core) in setup.cores.iter().enumerate() {
            all.add(EntityFacts::new(EntityType::Core, &core.name));
            if self.cores[ix].image == ix {
                let alone = self.cores.iter().filter(|c| c.image == ix).count() == 1;
                let of =
                    Source { core, bound: alone.then(|| core.name.clone()), time_scale: setup.time_scale };
                self.tasks_of(ix, &of, &mut all);
                self.alarms_of(ix, &of, &mut all);
                self.resources_of(ix, &of, &mut all);
                events_of(&of, &owners, &mut all);
            }
            self.isrs_of(ix, core, &mut all);
        }
        // What only OIL names; its names are those of all cores.
        for (ix, core) in setup.cores.iter().enumerate() {
            let of = Source { core, bound: None, time_scale: setup.time_scale };
            self.only_declared(ix, &of, &mut all);
        }
        for name in &setup.category1_isrs {
            all.add(EntityFacts::new(EntityType::Isr, name));
        }
        for name in &setup.runnables {
            all.add(EntityFacts::new(EntityType::Runnable, name));
        }
        // Of `v[*]`, the trace tells the elements.
        for name in setup.signals.iter().filter(|name| !name.ends_with("[*]")) {
            all.add(EntityFacts::new(EntityType::Signal, name));
        }
        for t in 0..self.tasks.len() {
            self.activated_by(t, &mut all);
        }
        all.facts
    }

    fn tasks_of(&self, ix: usize, of: &Source<'_>, all: &mut Described) {
        let models = self.tasks.iter().filter(|task| task.core == ix);
        let objects = of.core.orti.iter().flat_map(|orti| orti.objects("TASK"));
        for (object, model) in objects.zip(models) {
            let declared = of.core.oil.object("TASK", &object.name);
            let name = self.names.text(model.name);
            all.labelled(EntityType::Task, &object.name);
            all.add(EntityFacts {
                priority: constant(object, "vs_Home_Priority")
                    .or_else(|| integer(declared?, "PRIORITY"))
                    .or_else(|| constant(object, "PRIORITY")),
                activation_limit: constant(object, "vs_max_Activations")
                    .or_else(|| integer(declared?, "ACTIVATION"))
                    .or_else(|| limit(object)),
                preemption: object
                    .get("vs_Schedule")
                    .and_then(|a| preemption(&a.text))
                    .or_else(|| preemption(&declared?.get("SCHEDULE")?.value)),
                ..of.facts(EntityType::Task, name, &of.core.orti_file)
            });
        }
        for (name, _) in of.core.header.iter().flat_map(|header| &header.tasks) {
            if all.label_is_new(EntityType::Task, name) {
                let declared = of.core.oil.object("TASK", name);
                let file = declared.map(|task| task.file.clone()).or_else(|| of.core.header_file.clone());
                all.add(EntityFacts { core: of.bound.clone(), ..task(declared, name, file) });
            }
        }
    }

    fn alarms_of(&self, ix: usize, of: &Source<'_>, all: &mut Described) {
        let objects: HashMap<&str, &Object> = of
            .core
            .orti
            .iter()
            .flat_map(|orti| orti.objects("ALARM"))
            .map(|object| (object.name.as_str(), object))
            .collect();
        for model in self.alarms.iter().filter(|alarm| alarm.core == ix) {
            let name = self.names.text(model.name);
            let prefix = format!("{}.", of.core.name);
            let label =
                if objects.contains_key(name) { name } else { name.strip_prefix(&prefix).unwrap_or(name) };
            let object = objects.get(label).copied();
            let oil = &of.core.oil;
            all.labelled(EntityType::Stimulus, label);
            let target = match model.action {
                AlarmAction::Activate(t) => Some(self.names.text(self.tasks[t].name)),
                AlarmAction::SetEvent(_) | AlarmAction::Other => {
                    target_of(oil, label).map(|task| self.name_of_task(ix, task))
                }
            };
            let cycle = object
                .and_then(|alarm| constant(alarm, "CYCLETIME"))
                .or_else(|| cycle(oil.object("ALARM", label)?));
            let cycle = cycle.filter(|cycle| *cycle > 0);
            let file = object.map_or_else(|| of.file_of("ALARM", label), |_| of.core.orti_file.clone());
            all.add(EntityFacts {
                period: cycle.and_then(|cycle| of.period(label, cycle)),
                cycle,
                process: target.map(str::to_owned),
                ..of.facts(EntityType::Stimulus, name, &file)
            });
        }
    }

    /// A task of an OIL or ORTI file, as its events name it.
    fn name_of_task<'a>(&'a self, ix: usize, label: &'a str) -> &'a str {
        self.task_named(ix, label).map_or(label, |t| self.names.text(self.tasks[t].name))
    }

    /// Locks have the names of their events: those of several control units that share one have a prefix.
    fn resources_of(&self, ix: usize, of: &Source<'_>, all: &mut Described) {
        let unit = self.cores[ix].ecu;
        let prefix = format!("{}.", self.core_name(unit));
        let spin = |label: &str| {
            let names =
                self.sems.iter().filter(|s| s.spin && s.core == unit).map(|s| self.names.text(s.name));
            names.into_iter().find(|name| *name == label || name.strip_prefix(&prefix) == Some(label))
        };
        for object in of.core.orti.iter().flat_map(|orti| orti.objects("RESOURCE")) {
            // "TASK: 51"
            let own = self.name_in_unit(ix, &object.name);
            let name = spin(&object.name).unwrap_or(&own);
            all.labelled(EntityType::Semaphore, &object.name);
            let text = object.get("PRIORITY").and_then(|a| a.text.rsplit(':').next());
            all.add(EntityFacts {
                priority: text.and_then(number),
                ..of.facts(EntityType::Semaphore, name, &of.core.orti_file)
            });
        }
        for (label, _) in of.core.header.iter().flat_map(|header| &header.spinlocks) {
            let (name, file) = (spin(label).unwrap_or(label), of.core.header_file.clone());
            all.labelled(EntityType::Semaphore, label);
            all.add(EntityFacts { file, ..EntityFacts::new(EntityType::Semaphore, name) });
        }
    }

    /// The tasks of all cores that each event belongs to.
    fn owners_of_events(&self, setup: &Application) -> Owners {
        let mut owners = Owners::new();
        for (ix, core) in setup.cores.iter().enumerate().filter(|(ix, _)| self.cores[*ix].image == *ix) {
            for task in core.orti.iter().flat_map(|orti| orti.objects("TASK")) {
                for event in events_of_task(core, &task.name) {
                    owners.entry(event).or_default().insert(self.name_of_task(ix, &task.name).to_owned());
                }
            }
        }
        owners
    }

    /// Objects of OIL that neither ORTI nor a header knows.
    fn only_declared(&self, ix: usize, of: &Source<'_>, all: &mut Described) {
        let oil = &of.core.oil;
        for object in oil.objects("TASK") {
            if all.label_is_new(EntityType::Task, &object.name) {
                all.add(task(Some(object), &object.name, Some(object.file.clone())));
            }
        }
        for object in oil.objects("ALARM") {
            if all.label_is_new(EntityType::Stimulus, &object.name) {
                let cycle = cycle(object);
                all.add(EntityFacts {
                    period: cycle.and_then(|cycle| of.period(&object.name, cycle)),
                    cycle,
                    process: target_of(oil, &object.name).map(|task| self.name_of_task(ix, task).to_owned()),
                    file: Some(object.file.clone()),
                    ..EntityFacts::new(EntityType::Stimulus, &object.name)
                });
            }
        }
        for object in oil.objects("ISR") {
            if all.label_is_new(EntityType::Isr, &object.name) {
                // The trace names the handler.
                let handler = object.get("HANDLER").or_else(|| object.get("ENTRY"));
                let name = handler.map_or(&object.name, |handler| &handler.value);
                all.add_new(EntityFacts {
                    priority: integer(object, "PRIORITY"),
                    file: Some(object.file.clone()),
                    ..EntityFacts::new(EntityType::Isr, name)
                });
            }
        }
        for (kind, of_kind) in [("RESOURCE", EntityType::Semaphore), ("EVENT", EntityType::OsEvent)] {
            for object in oil.objects(kind) {
                if !all.label_is_new(of_kind, &object.name) {
                    continue;
                }
                let file = Some(object.file.clone());
                all.add_new(EntityFacts { file, ..EntityFacts::new(of_kind, &object.name) });
            }
        }
    }

    /// Handlers that RUNNINGISR2 may name, by the rule for their names (I7).
    fn isrs_of(&self, ix: usize, core: &ApplicationCore, all: &mut Described) {
        let Some(orti) = &core.orti else { return };
        let types = ["RUNNINGISR2", "RUNNINGISR"].into_iter().find_map(|a| orti.attribute_type("OS", a));
        for element in types.map(|t| t.elements()).unwrap_or_default() {
            let name = match &element.value {
                EnumValue::Integer(_) if is_none_label(&element.label, &self.profile, orti) => continue,
                EnumValue::Integer(v) => {
                    self.cores[ix].isr_symbols.get(&v.cast_unsigned()).unwrap_or(&element.label)
                }
                EnumValue::Formula(symbol) => symbol,
            };
            let object = orti.objects("vs_ISR").find(|isr| isr.name == element.label);
            let declared = core.oil.object("ISR", &element.label);
            all.labelled(EntityType::Isr, &element.label);
            all.add(EntityFacts {
                core: Some(core.name.clone()),
                priority: object
                    .and_then(|isr| constant(isr, "vs_Priority"))
                    .or_else(|| integer(declared?, "PRIORITY")),
                file: core.orti_file.clone(),
                ..EntityFacts::new(EntityType::Isr, self.name_in_unit(ix, name.trim_start_matches('&')))
            });
        }
    }

    /// The period of a task is that of the alarm that activates it, if there is only one.
    fn activated_by(&self, t: usize, all: &mut Described) {
        let mut alarms = self.alarms.iter().filter(|alarm| alarm.action == AlarmAction::Activate(t));
        let (Some(alarm), None) = (alarms.next(), alarms.next()) else { return };
        let Some(alarm) = all.get(EntityType::Stimulus, self.names.text(alarm.name)) else { return };
        let (period, cycle) = (alarm.period, alarm.cycle);
        if let Some(task) = all.get(EntityType::Task, self.names.text(self.tasks[t].name)) {
            (task.period, task.cycle) = (period, cycle);
        }
    }
}

/// An event that several tasks have belongs to none of them.
fn events_of(of: &Source<'_>, owners: &Owners, all: &mut Described) {
    for (name, mask) in masks(of.core) {
        let mut tasks = owners.get(&name).into_iter().flatten();
        let owner = tasks.next().filter(|_| tasks.next().is_none());
        let file = of.file_of("EVENT", &name);
        all.add(EntityFacts {
            mask: Some(mask),
            process: owner.cloned(),
            ..of.facts(EntityType::OsEvent, &name, &file)
        });
    }
}

/// The names of tasks in BTF, by event.
type Owners = HashMap<String, BTreeSet<String>>;

/// The description of a core, and its name if its entities belong to no other.
struct Source<'a> {
    core: &'a ApplicationCore,
    bound: Option<String>,
    time_scale: TimeScale,
}

impl Source<'_> {
    fn facts(&self, kind: EntityType, name: &str, file: &Option<String>) -> EntityFacts {
        EntityFacts { core: self.bound.clone(), file: file.clone(), ..EntityFacts::new(kind, name) }
    }

    /// The file that names an object that ORTI leaves out: OIL, or else the header.
    fn file_of(&self, kind: &str, name: &str) -> Option<String> {
        let declared = self.core.oil.object(kind, name);
        declared.map(|object| object.file.clone()).or_else(|| self.core.header_file.clone())
    }

    /// `cycle` ticks of the counter of an alarm, as a time, if OIL tells how long one is.
    fn period(&self, alarm: &str, cycle: i64) -> Option<i64> {
        let oil: &Oil = &self.core.oil;
        let counter = &oil.object("ALARM", alarm)?.get("COUNTER")?.value;
        let tick = &oil.object("COUNTER", counter)?.get("SECONDSPERTICK")?.value;
        seconds(tick, cycle, self.time_scale)
    }
}

/// `times` times a number of seconds as C writes it (`0.001`, `1.0E-3`), in ticks; to the nearest where they
/// are no whole number of them.
fn seconds(text: &str, times: i64, scale: TimeScale) -> Option<i64> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let fraction = fraction.trim_end_matches('0');
    let digits: i128 = format!("{whole}{fraction}").parse().ok()?;
    let shift = exponent
        .checked_sub(i32::try_from(fraction.len()).ok()?)?
        .checked_add(i32::try_from(scale.decimals()).ok()?)?;
    let all = digits.checked_mul(i128::from(times))?;
    let power = 10_i128.checked_pow(shift.unsigned_abs())?;
    let ticks = match shift {
        0.. => all.checked_mul(power)?,
        _ => all.checked_add(power / 2)?.div_euclid(power),
    };
    i64::try_from(ticks).ok().filter(|ticks| *ticks >= 0)
}

/// What is described so far.
#[derive(Default)]
struct Described {
    facts: Vec<EntityFacts>,
    /// For each, whether cores contradict each other in its mask, process or priority.
    differ: Vec<[bool; 3]>,
    places: HashMap<(&'static str, String), usize>,
    /// The names of the objects in ORTI, OIL and headers, which may differ from those in BTF.
    labels: HashMap<(&'static str, String), ()>,
}

impl Described {
    /// Adds an entity; one that several cores know belongs to none of them, and has what they agree on.
    fn add(&mut self, facts: EntityFacts) {
        fn agree<T: PartialEq + Clone>(known: &mut Option<T>, other: &Option<T>, differs: &mut bool) {
            *differs |= known.is_some() && other.is_some() && known != other;
            *known = known.take().or_else(|| other.clone()).filter(|_| !*differs);
        }
        let place = *self.places.entry((facts.kind.as_str(), facts.name.clone())).or_insert(self.facts.len());
        match self.facts.get_mut(place) {
            Some(known) => {
                if known.core != facts.core {
                    known.core = None;
                }
                if let Some([mask, process, priority]) = self.differ.get_mut(place) {
                    agree(&mut known.mask, &facts.mask, mask);
                    agree(&mut known.process, &facts.process, process);
                    agree(&mut known.priority, &facts.priority, priority);
                }
            }
            None => {
                self.facts.push(facts);
                self.differ.push([false; 3]);
            }
        }
    }

    /// Adds an entity unless it is known.
    fn add_new(&mut self, facts: EntityFacts) {
        if self.get(facts.kind, &facts.name).is_none() {
            self.add(facts);
        }
    }

    fn labelled(&mut self, kind: EntityType, label: &str) {
        self.labels.insert((kind.as_str(), label.to_owned()), ());
    }

    fn label_is_new(&mut self, kind: EntityType, label: &str) -> bool {
        self.labels.insert((kind.as_str(), label.to_owned()), ()).is_none()
    }

    fn get(&mut self, kind: EntityType, name: &str) -> Option<&mut EntityFacts> {
        self.places.get(&(kind.as_str(), name.to_owned())).and_then(|place| self.facts.get_mut(*place))
    }
}

/// A task that ORTI leaves out.
fn task(declared: Option<&OilObject>, name: &str, file: Option<String>) -> EntityFacts {
    EntityFacts {
        priority: declared.and_then(|task| integer(task, "PRIORITY")),
        activation_limit: declared.and_then(|task| integer(task, "ACTIVATION")),
        preemption: declared.and_then(|task| preemption(&task.get("SCHEDULE")?.value)),
        file,
        ..EntityFacts::new(EntityType::Task, name)
    }
}

fn integer(object: &OilObject, attribute: &str) -> Option<i64> {
    object.get(attribute)?.integer()
}

/// The cycle of an alarm that OIL starts, in ticks of its counter.
fn cycle(alarm: &OilObject) -> Option<i64> {
    alarm.get("AUTOSTART")?.get("CYCLETIME")?.integer().filter(|cycle| *cycle > 0)
}

/// The value of an attribute of ORTI that depends on no variable.
fn constant(object: &Object, attribute: &str) -> Option<i64> {
    number(&object.get(attribute)?.text)
}

fn number(text: &str) -> Option<i64> {
    Formula::parse(text.trim()).ok()?.eval(&|_| None, &|_| None)
}

/// The activations that are allowed: CURRENTACTIVATIONS of ERIKA is `(2 - EE_th_rnact[1])`.
fn limit(object: &Object) -> Option<i64> {
    let formula = Formula::parse(&object.get("CURRENTACTIVATIONS")?.text).ok()?;
    let value = |remaining| formula.eval(&|_| Some(remaining), &|_| None);
    let (none_left, one_left) = (value(0)?, value(1)?);
    (formula.variables().len() == 1 && none_left - one_left == 1).then_some(none_left)
}

/// OSEK's `NON` and `FULL`, as generators spell them in free text.
fn preemption(text: &str) -> Option<&'static str> {
    let text = text.to_lowercase();
    match () {
        () if text.contains("non") => Some("non"),
        () if text.contains("full") => Some("full"),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_of_a_counter_are_exact() {
        let of = |text, times| seconds(text, times, TimeScale::Ns);
        for (text, times, ticks) in [
            ("0.001", 10, 10_000_000),
            ("1.0E-3", 10, 10_000_000),
            ("1e-3", 10, 10_000_000),
            ("5E-4", 12, 6_000_000),
            ("2", 1, 2_000_000_000),
            ("1.5e+1", 2, 30_000_000_000),
            // No whole number of ticks each, but together.
            ("0.000030517578125", 32_768, 1_000_000_000),
            ("3.0517578125E-5", 1, 30_518),
        ] {
            assert_eq!(of(text, times), Some(ticks), "{text}");
        }
        for bad in ["AUTO", "", "-1", "1E99", "1E", "0x1"] {
            assert_eq!(of(bad, 1), None, "{bad}");
        }
    }
}
