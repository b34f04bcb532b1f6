//! Rules for alarms (A4–A6, A13; docs/mapping.md). Not what an alarm's action does to its target.

use super::Machine;
use super::state::{Actor, Pending};
use crate::map::osek::model::{AlarmAction, Service};

impl Machine {
    /// Rule A4: ALARMTIME reached zero, or an OS that never writes the zero reloaded it from one.
    pub(super) fn alarm_time(&mut self, a: usize) {
        if !self.model.profile.rules.alarm_by_time {
            return;
        }
        let Some(value) = self.model.value(&self.model.alarms[a].time) else { return };
        let Some(before) = self.alarm_times[a].replace(value) else { return };
        // CancelAlarm stops an alarm that has not expired; other cores may call it for alarms of their own.
        let p = self.proc(self.at);
        let cancelled = self.context(p, self.at).inside(Service::CancelAlarm);
        let expired = (value == 0 && before > 0) || (before == 1 && value > 1);
        if expired && !cancelled {
            self.expired(a);
        }
    }

    /// Rule A5: the OS reads the action of an alarm only when the alarm expires.
    pub(super) fn alarm_action(&mut self, a: usize) {
        self.expired(a);
    }

    fn expired(&mut self, a: usize) {
        let (core, alarm) = (self.at, &self.model.alarms[a]);
        let (name, action) = (alarm.name, alarm.action);
        let stimulus = self.trigger((self.model.sim, -1), name);
        // The next expiry ends the time in which the previous one may set an event (rule E5).
        self.cores[core].alarm_event = None;
        // Rule A6.
        match action {
            AlarmAction::Activate(t) => self.pend(Pending { stimulus, target: Some(t), core, by: None }),
            AlarmAction::SetEvent(_) => self.cores[core].alarm_event = Some(stimulus),
            AlarmAction::Other => {}
        }
    }

    /// Rule E3: the alarm that fired last on `core` sets an event of its task, and only once. Takes it if it
    /// may be the cause of an access to the events of `t`.
    pub(super) fn take_alarm_event(&mut self, core: usize, t: usize) -> Option<Actor> {
        if self.alarm_may_set(core, t) { self.cores[core].alarm_event.take() } else { None }
    }

    /// The alarm that fired last on `core` may set an event of `t`.
    pub(super) fn alarm_may_set(&self, core: usize, t: usize) -> bool {
        let is_of_task = |fired: &Actor| {
            let alarm = self.model.alarms.iter().find(|alarm| alarm.name == fired.0);
            !alarm.is_some_and(|a| matches!(a.action, AlarmAction::SetEvent(Some(of)) if of != t))
        };
        self.cores[core].alarm_event.as_ref().is_some_and(is_of_task)
    }

    /// Rule A13: an alarm found its task at the limit. ORTI does not tell which alarm lost its activation,
    /// but outside of all services it can only be the alarm that expired last on this core; its trigger
    /// activates nothing.
    pub(super) fn alarm_lost(&mut self, core: usize) {
        let of_alarm = |p: &Pending| p.target.is_some() && p.core == core;
        if let Some(n) = self.pending.iter().rposition(of_alarm) {
            self.pending.remove(n);
        }
    }
}
