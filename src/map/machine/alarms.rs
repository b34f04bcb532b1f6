//! Rules for alarms (R2, R2e; thesis, tables 4.1 and 4.8). Not what the alarm's action does to its target.

use super::Machine;
use super::state::Pending;
use crate::map::model::{AlarmAction, Service};

impl Machine {
    /// R2: ALARMTIME reached zero, or was reloaded from one by an OS that never writes the zero (gap 38).
    pub(super) fn alarm_time(&mut self, a: usize) {
        if !self.model.profile.rules.alarm_by_time {
            return;
        }
        let attribute = self.model.alarms[a].time.as_ref();
        let Some(value) = attribute.and_then(|t| t.value(&self.model.slots)) else { return };
        let Some(before) = self.alarm_times[a].replace(value) else { return };
        let cores = 0..self.cores.len();
        let cancelled = cores.into_iter().any(|c| {
            let p = self.proc(c);
            self.context(p, c).inside(Service::CancelAlarm)
        });
        let expired = (value == 0 && before > 0) || (before == 1 && value > 1);
        if expired && !cancelled {
            self.expired(a);
        }
    }

    /// R2e: the OS reads the action of an alarm only when it expires.
    pub(super) fn alarm_action(&mut self, a: usize) {
        self.expired(a);
    }

    fn expired(&mut self, a: usize) {
        let (name, core, action) = {
            let alarm = &self.model.alarms[a];
            (alarm.name, alarm.core, alarm.action)
        };
        let stimulus = self.trigger((self.model.sim, -1), name);
        // The next expiry ends the time in which an event may be set by the one before (part 2, rule 2).
        self.cores[core].alarm_event = None;
        match action {
            AlarmAction::Activate(t) => self.pend(Pending { stimulus, target: Some(t), core, by: None }),
            AlarmAction::SetEvent => self.cores[core].alarm_event = Some(stimulus),
            AlarmAction::Other => {}
        }
    }
}
