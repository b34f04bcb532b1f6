//! The timer of a core: its counter, alarms and schedule tables. The order of accesses is that of ERIKA's
//! `EE_oo_IncrementCounterImplementation` and `EE_oo_counter_object_insert`. Not its interrupt (see
//! `interrupts`).

use super::Kernel;
use super::access::{Function, Recorder, Variable};
use super::effect::{Effect, Observer, Stimulus};
use super::ready::NONE;
use crate::simulate::model::Action;

/// What a counter counts for: an alarm or schedule table of the model.
#[derive(Debug, Clone, Copy)]
enum Object {
    Alarm(usize),
    Table(usize),
}

impl<R: Recorder, O: Observer> Kernel<'_, R, O> {
    /// The objects of a core, by their numbers there: alarms, then schedule tables.
    fn objects(&self, core: usize) -> Vec<Object> {
        let alarms = self.model.alarms.iter().enumerate().filter(|(_, alarm)| alarm.core == core);
        let tables = self.model.schedule_tables.iter().enumerate().filter(|(_, table)| table.core == core);
        let alarms = alarms.map(|(alarm, _)| Object::Alarm(alarm));
        alarms.chain(tables.map(|(table, _)| Object::Table(table))).collect()
    }

    /// Starts all alarms and schedule tables of a core.
    pub(super) fn start_counters(&mut self, core: usize) {
        for (number, object) in self.objects(core).into_iter().enumerate() {
            let id = number as u32;
            let (first, cycle) = match object {
                Object::Alarm(alarm) => {
                    self.model.alarms.get(alarm).map_or((1, 0), |alarm| (alarm.first, alarm.cycle))
                }
                Object::Table(table) => {
                    let table = self.model.schedule_tables.get(table);
                    let offset = |table: &crate::simulate::model::ScheduleTable| {
                        table.points.first().map_or(0, |p| p.0)
                    };
                    table.map_or((1, 0), |table| (table.first + offset(table), table.length))
                }
            };
            self.read(core, Variable::AutostartAlarm(id), id);
            self.write(core, Variable::CounterUsed(id), 1);
            self.write(core, Variable::CounterCycle(id), cycle as u32);
            self.insert_object(core, id, first as u32);
        }
    }

    /// Puts an object into the list of the counter, so many ticks from now.
    fn insert_object(&mut self, core: usize, object: u32, ticks: u32) {
        let Some(counter) = self.cores.get(core).map(|core| core.counter.clone()) else { return };
        let of = |table: &[u32], index: u32| table.get(index as usize).copied().unwrap_or(NONE);
        self.enter(core, Function::CounterInsert);
        self.read(core, Variable::CounterOf(object), 0);
        self.read(core, Variable::CounterFirst, counter.first);
        let (mut left, mut before, mut at) = (ticks.saturating_sub(1), NONE, counter.first);
        let mut changed = counter.clone();
        while at != NONE {
            let delta = of(&counter.delta, at);
            self.read(core, Variable::CounterDelta(at), delta);
            let is_before_all = before == NONE && delta > left;
            if is_before_all {
                self.write(core, Variable::CounterFirst, object);
            } else {
                self.read(core, Variable::CounterDelta(at), delta);
            }
            if delta > left {
                self.write(core, Variable::CounterDelta(at), delta - left);
                set(&mut changed.delta, at, delta - left);
                break;
            }
            left -= delta;
            before = at;
            at = of(&counter.next, at);
            self.read(core, Variable::CounterNext(before), at);
        }
        if before == NONE {
            changed.first = object;
            if at == NONE {
                self.write(core, Variable::CounterFirst, object);
            }
        } else {
            set(&mut changed.next, before, object);
            self.write(core, Variable::CounterNext(before), object);
        }
        set(&mut changed.delta, object, left);
        set(&mut changed.next, object, at);
        self.write(core, Variable::CounterDelta(object), left);
        self.write(core, Variable::CounterNext(object), at);
        self.leave(core, Function::CounterInsert);
        if let Some(core) = self.cores.get_mut(core) {
            core.counter = changed;
        }
    }

    /// A tick: what expires happens, in the order of the list.
    pub(super) fn tick(&mut self, core: usize) {
        let Some(counter) = self.cores.get_mut(core).map(|core| &mut core.counter) else { return };
        let (first, value) = (counter.first, counter.value);
        counter.value = value.wrapping_add(1);
        let now = counter.value;
        let list = counter.clone();
        let of = |table: &[u32], index: u32| table.get(index as usize).copied().unwrap_or(NONE);
        self.enter(core, Function::Increment);
        self.read(core, Variable::CounterFirst, first);
        self.read(core, Variable::CounterValue, value);
        self.write(core, Variable::CounterValue, now);
        self.read(core, Variable::CounterValue, now);
        self.write(core, Variable::CounterValue, now);
        let mut expired = Vec::new();
        let mut at = first;
        while at != NONE {
            let delta = of(&list.delta, at);
            self.read(core, Variable::CounterDelta(at), delta);
            if delta != 0 {
                break;
            }
            expired.push(at);
            let next = of(&list.next, at);
            self.read(core, Variable::CounterNext(at), next);
            at = next;
        }
        if let Some(last) = expired.last() {
            self.write(core, Variable::CounterNext(*last), NONE);
            self.write(core, Variable::CounterFirst, at);
            if at != NONE {
                let delta = of(&list.delta, at);
                self.read(core, Variable::CounterDelta(at), delta);
            }
        }
        if at != NONE {
            self.write(core, Variable::CounterDelta(at), of(&list.delta, at) - 1);
        }
        if let Some(counter) = self.cores.get_mut(core).map(|core| &mut core.counter) {
            counter.first = at;
            if at != NONE {
                set(&mut counter.delta, at, of(&list.delta, at) - 1);
            }
            if let Some(last) = expired.last() {
                set(&mut counter.next, *last, NONE);
            }
        }
        let objects = self.objects(core);
        for object in expired {
            if let Some(of_model) = objects.get(object as usize).copied() {
                self.expire(core, object, of_model);
            }
        }
        self.leave(core, Function::Increment);
        self.write(core, Variable::LastError, 0);
    }

    /// An object expires: its actions, and when it expires again.
    fn expire(&mut self, core: usize, id: u32, object: Object) {
        self.read(core, Variable::CounterKind(id), u32::from(matches!(object, Object::Table(_))));
        self.read(core, Variable::CounterSpec(id), id);
        let (stimulus, actions, again) = match object {
            Object::Alarm(alarm) => {
                let Some(of_model) = self.model.alarms.get(alarm) else { return };
                self.read(core, Variable::AlarmAction(id), id);
                (Stimulus::Alarm(alarm), vec![of_model.action], of_model.cycle)
            }
            Object::Table(table) => {
                let Some(of_model) = self.model.schedule_tables.get(table) else { return };
                let (place, actions) = self.point_of(core, id, table);
                let here = of_model.points.get(place).map_or(0, |point| point.0);
                let after = of_model.points.get(place + 1).map(|point| point.0 - here);
                let again = after.or_else(|| {
                    let first = of_model.points.first().map_or(0, |point| point.0);
                    of_model.repeats.then_some(of_model.length - here + first)
                });
                (Stimulus::Table, actions, again.unwrap_or(0))
            }
        };
        for action in actions {
            self.act(core, id, stimulus, action);
        }
        if again > 0 {
            self.read(core, Variable::CounterNext(id), NONE);
            self.read(core, Variable::CounterCycle(id), again as u32);
            self.insert_object(core, id, again as u32);
        }
    }

    /// Which point of a schedule table is next, and its actions.
    fn point_of(&mut self, core: usize, id: u32, table: usize) -> (usize, Vec<Action>) {
        let points =
            self.model.schedule_tables.get(table).map(|table| table.points.as_slice()).unwrap_or_default();
        let place = self.cores.get_mut(core).map_or(0, |core| {
            let place = core.points.entry(id).or_default();
            let now = *place % points.len().max(1);
            *place = now + 1;
            now
        });
        (place, points.get(place).map(|point| point.1.clone()).unwrap_or_default())
    }

    /// The action of an alarm or expiry point.
    fn act(&mut self, core: usize, id: u32, stimulus: Stimulus, action: Action) {
        if stimulus != Stimulus::Table {
            self.effect(core, Effect::Trigger(stimulus));
        }
        match action {
            Action::Activate { task } => {
                self.read(core, Variable::ActionKind(id), 0);
                self.read(core, Variable::ActionTask(id), self.id(task));
                self.activate(core, task, stimulus);
            }
            Action::SetEvent { task, event } => {
                self.read(core, Variable::ActionKind(id), 1);
                self.read(core, Variable::ActionTask(id), self.id(task));
                let mask = self.model.events.get(event).map_or(0, |event| event.mask);
                self.read(core, Variable::ActionMask(id), mask);
                // A trace does not name the table: the event is by the process that has the core.
                let by = match stimulus {
                    Stimulus::Table => Stimulus::By(self.acting(core)),
                    stimulus => stimulus,
                };
                let error = self.raise_events(core, task, mask, by);
                if error != super::access::StatusType::Ok {
                    self.fail(core, error);
                }
            }
        }
    }
}

fn set(table: &mut [u32], index: u32, value: u32) {
    if let Some(element) = table.get_mut(index as usize) {
        *element = value;
    }
}
