//! The numbers of a model, except of its steps: times, periods, counts, masks. Not how they are written.

use super::Checks;
use crate::error::Result;
use crate::simulate::model::{Action, Arrivals, Isr, ScheduleTable, Task};

/// Events per task: the bits of a mask.
const MOST_EVENTS: usize = 32;
/// Priorities of tasks: the bits of the ceiling.
const MOST_PRIORITIES: usize = 32;
/// Pending activations of all tasks together: the kernel keeps room for each of them.
const MOST_ACTIVATIONS: u64 = 1 << 20;
/// Ticks until something expires: the numbers of a counter have 32 bits.
const MOST_TICKS: i64 = u32::MAX as i64;

impl Checks<'_> {
    pub(super) fn values(self) -> Result<()> {
        self.system()?;
        for (ix, task) in self.model.tasks.iter().enumerate() {
            self.task(task, self.places.tasks.get(ix).map(|body| body.line))?;
        }
        self.activations()?;
        self.groups()?;
        self.priorities()?;
        for (ix, event) in self.model.events.iter().enumerate() {
            if event.mask.count_ones() != 1 {
                let message = format!("the mask of event '{}' is not one bit", event.name);
                return self.mistake(self.places.events.get(ix).copied(), message, "e.g. mask = 0x4");
            }
        }
        for (ix, isr) in self.model.isrs.iter().enumerate() {
            self.arrivals(isr, self.places.isrs.get(ix).map(|body| body.line))?;
        }
        for (ix, alarm) in self.model.alarms.iter().enumerate() {
            let line = self.places.alarms.get(ix).copied();
            let shown = format!("alarm '{}'", alarm.name);
            if alarm.first < 1 || alarm.cycle < 0 {
                let message = format!("{shown} expires before the first tick of the timer");
                return self.mistake(line, message, "its offset has to be at least one tick");
            }
            self.is_counted(&shown, line, alarm.first.max(alarm.cycle))?;
            self.action(&shown, line, alarm.action)?;
            let (Action::Activate { task } | Action::SetEvent { task, .. }) = alarm.action;
            if self.model.tasks.get(task).is_some_and(|task| task.core != alarm.core) {
                let message = format!("{shown} is of another core than its task");
                return self.mistake(line, message, "an alarm is counted by the core of its task");
            }
        }
        for (ix, table) in self.model.schedule_tables.iter().enumerate() {
            self.schedule_table(table, self.places.schedule_tables.get(ix).copied())?;
        }
        Ok(())
    }

    fn system(self) -> Result<()> {
        let os = &self.model.os;
        if self.model.duration <= 0 {
            let message = "the duration is 0, so that nothing happens".to_owned();
            return self.mistake(self.places.duration, message, "write for example duration = \"200ms\"");
        }
        if self.model.cores.is_empty() {
            let hint = "add [[core]] with name = \"Core_0\"";
            return self.mistake(None, "the model has no core".to_owned(), hint);
        }
        let times = [os.access, os.dispatch, os.service, os.interrupt, os.remote_call, os.timer_drift];
        if os.tick <= 0 || times.iter().any(|time| *time < 0) {
            let message = "a time of the operating system is negative, or its tick is 0".to_owned();
            return self.mistake(None, message, "write them as times with a unit in [os]");
        }
        Ok(())
    }

    /// The kernel has a place for each activation that may be pending.
    fn activations(self) -> Result<()> {
        let mut all = 0;
        for (ix, task) in self.model.tasks.iter().enumerate() {
            all += u64::from(task.activations);
            if all > MOST_ACTIVATIONS {
                let line = self.places.tasks.get(ix).map(|body| body.line);
                let message = format!(
                    "with task '{}' there may be {all} activations at once, more than {MOST_ACTIVATIONS}",
                    task.name
                );
                return self.mistake(line, message, "write as many activations as can be pending");
            }
        }
        Ok(())
    }

    /// The counter of a core can count so many ticks.
    fn is_counted(self, of: &str, line: Option<u64>, ticks: i64) -> Result<()> {
        if ticks <= MOST_TICKS {
            return Ok(());
        }
        let message = format!("{of} waits for {ticks} ticks of the timer, more than {MOST_TICKS}");
        self.mistake(line, message, "shorten the time, or write a longer tick in [os]")
    }

    /// The kernel has a bit for each priority.
    fn priorities(self) -> Result<()> {
        let mut priorities: Vec<u32> = self.model.tasks.iter().map(|task| task.priority).collect();
        priorities.sort_unstable();
        priorities.dedup();
        if priorities.len() > MOST_PRIORITIES {
            let message =
                format!("the tasks have {} priorities, more than {MOST_PRIORITIES}", priorities.len());
            return self.mistake(None, message, "give several tasks the same priority");
        }
        let Some((ix, isr)) = self.model.isrs.iter().enumerate().find(|(_, isr)| isr.priority == 0) else {
            return Ok(());
        };
        let line = self.places.isrs.get(ix).map(|body| body.line);
        let message = format!("ISR '{}' has priority 0, which interrupts nothing", isr.name);
        self.mistake(line, message, "the least priority of an ISR is 1")
    }

    fn task(self, task: &Task, line: Option<u64>) -> Result<()> {
        let Task { name, activations, events, .. } = task;
        if *activations == 0 {
            let message = format!("task '{name}' allows no activation");
            return self.mistake(line, message, "write activations = 1 or more");
        }
        // OSEK/VDX OS 2.2.3, 3.2: only basic tasks can have several pending activations.
        if *activations > 1 && !events.is_empty() {
            let message = format!("task '{name}' has events, and {activations} activations");
            let hint = "an extended task has one activation: leave out events, or activations";
            return self.mistake(line, message, hint);
        }
        if events.len() > MOST_EVENTS {
            let message = format!("task '{name}' has {} events, more than {MOST_EVENTS}", events.len());
            return self.mistake(line, message, "an event is one bit of 32: split the task");
        }
        let mut masks = 0;
        for (ix, event) in events.iter().filter_map(|ix| Some((ix, self.model.events.get(*ix)?))) {
            if events.iter().filter(|other| *other == ix).count() > 1 {
                let message = format!("task '{name}' lists event '{}' twice", event.name);
                return self.mistake(line, message, "list it once");
            }
            if masks & event.mask != 0 {
                let message =
                    format!("the mask of event '{}' is that of another event of task '{name}'", event.name);
                return self.mistake(line, message, "give it another mask, or leave the mask out");
            }
            masks |= event.mask;
        }
        Ok(())
    }

    /// The tasks of a group share an internal resource of their core.
    fn groups(self) -> Result<()> {
        let mut cores = vec![None; self.model.resources.len()];
        for (ix, task) in self.model.tasks.iter().enumerate() {
            let line = self.places.tasks.get(ix).map(|body| body.line);
            let Some(group) = task.group else { continue };
            let Some((resource, core)) = self.model.resources.get(group).zip(cores.get_mut(group)) else {
                continue;
            };
            if !resource.internal {
                let message = format!("the group of task '{}' is resource '{}'", task.name, resource.name);
                let hint = "a group is an internal resource: give it another name, or internal = true";
                return self.mistake(line, message, hint);
            }
            if core.is_some_and(|core| core != task.core) {
                let message = format!("the tasks of group '{}' are on several cores", resource.name);
                return self.mistake(line, message, "an internal resource is of one core: use another group");
            }
            *core = Some(task.core);
        }
        Ok(())
    }

    /// The event of an action is one of its task.
    fn action(self, of: &str, line: Option<u64>, action: Action) -> Result<()> {
        match action {
            Action::Activate { .. } => Ok(()),
            Action::SetEvent { task, event } => self.has_event(of, line, task, event),
        }
    }

    /// A task that gets an event lists it.
    pub(super) fn has_event(self, of: &str, line: Option<u64>, task: usize, event: usize) -> Result<()> {
        let named = self.model.tasks.get(task).zip(self.model.events.get(event));
        let Some((task, named)) = named.filter(|(task, _)| !task.events.contains(&event)) else {
            return Ok(());
        };
        let message =
            format!("{of} sets event '{}' for task '{}', which does not list it", named.name, task.name);
        self.mistake(line, message, format!("write events = [\"{}\"] in that task", named.name))
    }

    fn arrivals(self, isr: &Isr, line: Option<u64>) -> Result<()> {
        let wrong = |what: &str, hint: &str| self.mistake(line, format!("ISR '{}' {what}", isr.name), hint);
        match &isr.arrivals {
            Arrivals::Periodic { offset, period, jitter } => {
                if *period <= 0 || *offset < 0 || *jitter < 0 {
                    return wrong("has a period of 0", "write for example period = \"10ms\"");
                }
                if jitter > period {
                    let hint = "an arrival never passes the next one: shorten the jitter, or use a curve";
                    return wrong("has a jitter that is longer than its period", hint);
                }
            }
            Arrivals::Sporadic { offset, distance, more } => {
                if *distance <= 0 || *offset < 0 {
                    return wrong("has a distance of 0", "write for example distance = \"1ms\"");
                }
                self.distribution(more, line)?;
            }
            Arrivals::At(instants) => {
                if instants.is_empty() || instants.first().is_some_and(|first| *first < 0) {
                    return wrong("has no instant", "write for example at = [\"1ms\"]");
                }
                if instants.windows(2).any(|pair| matches!(pair, [one, next] if next <= one)) {
                    return wrong("has instants that do not rise", "write each of them later than the last");
                }
            }
            Arrivals::Curve { offset, limits } => {
                if limits.is_empty() || *offset < 0 {
                    return wrong("has a curve without limits", "write for example limits = [[1, \"1ms\"]]");
                }
                if limits.iter().any(|(most, span)| *most == 0 || *span <= 0) {
                    let hint = "a limit is [at most so many, \"in a span of this length\"], both more than 0";
                    return wrong("has a curve that cannot be kept: a limit of 0", hint);
                }
                // A limit of as many or more in a shorter or equal span says nothing, or contradicts.
                if limits.windows(2).any(|pair| matches!(pair, [(n, s), (m, t)] if m <= n || t <= s)) {
                    let hint = "write limits in rising order: each one has more requests in a longer span";
                    return wrong("has a curve of which two limits contradict each other", hint);
                }
            }
        }
        Ok(())
    }

    fn schedule_table(self, table: &ScheduleTable, line: Option<u64>) -> Result<()> {
        let shown = format!("schedule table '{}'", table.name);
        if table.first < 1 || table.length < 1 {
            let message = format!("{shown} begins before the first tick, or has no length");
            return self.mistake(line, message, "its offset and length are at least one tick");
        }
        let first = table.points.first().map_or(0, |(at, _)| *at);
        self.is_counted(&shown, line, table.first.saturating_add(first).max(table.length))?;
        // AUTOSAR OS, schedule tables: only one that does not repeat may have a final delay of 0.
        let last = if table.repeats { table.length - 1 } else { table.length };
        let rising = table.points.windows(2).all(|pair| matches!(pair, [(one, _), (next, _)] if one < next));
        let inside = table.points.iter().all(|(at, actions)| (0..=last).contains(at) && !actions.is_empty());
        if table.points.is_empty() || !rising || !inside {
            let message = format!("{shown} has no points, or one outside of its length");
            let hint =
                "the times of points rise from 0; in a table that repeats they are less than its length";
            return self.mistake(line, message, hint);
        }
        for action in table.points.iter().flat_map(|(_, actions)| actions) {
            self.action(&shown, line, *action)?;
            let (Action::Activate { task } | Action::SetEvent { task, .. }) = *action;
            if let Some(task) = self.model.tasks.get(task).filter(|task| task.core != table.core) {
                let message = format!("{shown} is of another core than task '{}'", task.name);
                return self.mistake(line, message, "give each core a schedule table of its own");
            }
        }
        Ok(())
    }
}
