//! A model → its TOML text, which reads back to the same model. Not for the comments or the order of a text
//! that was read, which a model does not have.

use std::collections::BTreeMap;
use std::fmt::Display;

use super::write_values::{WIDTH, distribution, list, name, quoted, time};
use super::{Action, Alarm, Arrivals, Isr, Model, ScheduleTable, Step, Task};

/// Comments of a text: lines before a section, by its kind, such as `task`, and its name. `[os]` has no name.
pub type Comments = BTreeMap<(String, String), Vec<String>>;

impl Model {
    /// The text. Keys that have their default are left out, except those of `[os]`.
    pub fn to_toml(&self) -> String {
        self.to_toml_with(&Comments::new())
    }

    /// The text with comments before its sections.
    pub fn to_toml_with(&self, comments: &Comments) -> String {
        let mut text = Text(String::new(), comments);
        text.key("name", quoted(&self.name));
        // An integer of TOML has a sign.
        match i64::try_from(self.seed) {
            Ok(seed) => text.key("seed", seed),
            Err(_) => text.key("seed", quoted(&self.seed.to_string())),
        }
        text.key("duration", time(self.duration));
        self.write_os(&mut text);
        for core in &self.cores {
            text.section("core", &core.name);
        }
        self.tasks.iter().for_each(|task| self.write_task(task, &mut text));
        self.isrs.iter().for_each(|isr| self.write_isr(isr, &mut text));
        for runnable in &self.runnables {
            text.section("runnable", &runnable.name);
            text.steps(self, &runnable.steps);
        }
        for signal in &self.signals {
            text.section("signal", &signal.name);
            text.key_unless(signal.initial == 0, "initial", signal.initial);
        }
        for event in &self.events {
            text.section("event", &event.name);
            text.key("mask", format!("{:#x}", event.mask));
        }
        for resource in &self.resources {
            text.section("resource", &resource.name);
            text.key_unless(!resource.internal, "internal", true);
        }
        for spinlock in &self.spinlocks {
            text.section("spinlock", &spinlock.name);
        }
        self.alarms.iter().for_each(|alarm| self.write_alarm(alarm, &mut text));
        self.schedule_tables.iter().for_each(|table| self.write_schedule_table(table, &mut text));
        text.0
    }

    fn write_os(&self, text: &mut Text<'_>) {
        let os = &self.os;
        text.begin("os", "");
        text.0.push_str("[os]\n");
        text.key("access", time(os.access));
        text.key("dispatch", time(os.dispatch));
        text.key("service", time(os.service));
        text.key("interrupt", time(os.interrupt));
        text.key("remote_call", time(os.remote_call));
        text.key("tick", time(os.tick));
        text.key("timer_drift", time(os.timer_drift));
        text.key("timer_isr", os.timer_isr);
    }

    fn write_task(&self, task: &Task, text: &mut Text<'_>) {
        text.section("task", &task.name);
        text.key("core", name(&self.cores, task.core, |core| &core.name));
        text.key("priority", task.priority);
        text.key_unless(task.activations == 1, "activations", task.activations);
        text.key_unless(task.preemptable, "preemption", quoted("non"));
        if let Some(group) = task.group {
            text.key("group", self.resource(group));
        }
        text.key_unless(!task.autostart, "autostart", true);
        text.key_unless(task.events.is_empty(), "events", self.list_of_events(&task.events));
        text.steps(self, &task.steps);
    }

    fn write_isr(&self, isr: &Isr, text: &mut Text<'_>) {
        text.section("isr", &isr.name);
        text.key("core", name(&self.cores, isr.core, |core| &core.name));
        text.key("priority", isr.priority);
        text.key_unless(!isr.category1, "category", 1);
        match &isr.arrivals {
            Arrivals::Periodic { offset, period, jitter } => {
                let (offset, period, jitter) = (time(*offset), time(*period), time(*jitter));
                let table = format!("{{ offset = {offset}, period = {period}, jitter = {jitter} }}");
                text.key("periodic", table);
            }
            Arrivals::Sporadic { offset, distance, more } => {
                let (offset, distance, more) = (time(*offset), time(*distance), distribution(more));
                let table = format!("{{ offset = {offset}, distance = {distance}, more = {more} }}");
                text.key("sporadic", table);
            }
            Arrivals::At(instants) => text.key("at", list(instants.iter().map(|instant| time(*instant)))),
            Arrivals::Curve { offset, limits } => {
                let limits = list(limits.iter().map(|(most, span)| format!("[{most}, {}]", time(*span))));
                text.key("curve", format!("{{ offset = {}, limits = {limits} }}", time(*offset)));
            }
        }
        text.steps(self, &isr.steps);
    }

    fn write_alarm(&self, alarm: &Alarm, text: &mut Text<'_>) {
        text.section("alarm", &alarm.name);
        for (key, value) in self.action(alarm.action) {
            text.key(key, value);
        }
        text.key("offset", self.ticks(alarm.first));
        match alarm.cycle {
            0 => text.key("once", true),
            cycle => text.key("period", self.ticks(cycle)),
        }
    }

    fn write_schedule_table(&self, table: &ScheduleTable, text: &mut Text<'_>) {
        text.section("schedule_table", &table.name);
        text.key("core", name(&self.cores, table.core, |core| &core.name));
        text.key("offset", self.ticks(table.first));
        text.key("length", self.ticks(table.length));
        text.key_unless(table.repeats, "repeats", false);
        text.0.push_str("points = [\n");
        for (at, actions) in &table.points {
            for action in actions {
                let action = self.action(*action).map(|(key, value)| format!(", {key} = {value}"));
                text.line(1, &format!("{{ at = {}{} }},", self.ticks(*at), action.collect::<String>()));
            }
        }
        text.0.push_str("]\n");
    }

    /// The keys of an action.
    fn action(&self, action: Action) -> impl Iterator<Item = (&'static str, String)> {
        let (first, second) = match action {
            Action::Activate { task } => (("activate", self.task(task)), None),
            Action::SetEvent { task, event } => {
                (("set_event", self.event(event)), Some(("task", self.task(task))))
            }
        };
        std::iter::once(first).chain(second)
    }

    fn ticks(&self, ticks: i64) -> String {
        time(ticks.saturating_mul(self.os.tick))
    }

    fn task(&self, ix: usize) -> String {
        name(&self.tasks, ix, |task| &task.name)
    }

    fn event(&self, ix: usize) -> String {
        name(&self.events, ix, |event| &event.name)
    }

    fn resource(&self, ix: usize) -> String {
        name(&self.resources, ix, |resource| &resource.name)
    }

    fn list_of_events(&self, events: &[usize]) -> String {
        list(events.iter().map(|event| self.event(*event)))
    }

    /// The keys of a step without other steps in it.
    fn plain_step(&self, step: &Step) -> String {
        let key = step.key();
        let signal = |ix: &usize| name(&self.signals, *ix, |signal| &signal.name);
        let spinlock = |ix: &usize| name(&self.spinlocks, *ix, |spinlock| &spinlock.name);
        let value = match step {
            Step::Execute(time) => distribution(time),
            Step::Call { runnable } => name(&self.runnables, *runnable, |runnable| &runnable.name),
            Step::Read { signal: ix } | Step::Write { signal: ix, value: None } => signal(ix),
            Step::Write { signal: ix, value: Some(value) } => format!("{}, value = {value}", signal(ix)),
            Step::Activate { task } | Step::Chain { task } => self.task(*task),
            Step::Terminate | Step::Schedule => "true".to_owned(),
            Step::SetEvent { task, events } => {
                format!("{}, task = {}", self.list_of_events(events), self.task(*task))
            }
            Step::ClearEvent { events } | Step::WaitEvent { events } => self.list_of_events(events),
            Step::GetResource { resource } | Step::ReleaseResource { resource } => self.resource(*resource),
            Step::GetSpinlock { spinlock: ix } | Step::ReleaseSpinlock { spinlock: ix } => spinlock(ix),
            Step::TryToGetSpinlock { spinlock: ix, every } => {
                format!("{}, every = {}", spinlock(ix), time(*every))
            }
            Step::Branch { probability, .. } => format!("{probability:?}"),
            Step::Repeat { times, .. } => times.to_string(),
            Step::Turns { .. } => "[]".to_owned(),
        };
        format!("{{ {key} = {value} }}")
    }

    /// A step on one line, but for observed times that are too many for that.
    fn step_on_a_line(&self, step: &Step) -> String {
        let Some(lists) = Lists::of(step) else { return self.plain_step(step) };
        let mut line = String::new();
        for (begin, steps) in lists.lists {
            let steps: Vec<String> = steps.iter().map(|step| self.step_on_a_line(step)).collect();
            line.push_str(&format!("{begin}{}", steps.join(", ")));
        }
        line + lists.end
    }
}

/// The lists of steps in a step: each with the text before it, and the text after the last one.
struct Lists<'s> {
    lists: Vec<(String, &'s [Step])>,
    end: &'static str,
}

impl<'s> Lists<'s> {
    /// None for a step without steps in it.
    fn of(step: &'s Step) -> Option<Self> {
        let mut lists: Vec<(String, &[Step])> = Vec::new();
        let end = match step {
            Step::Branch { probability, then, otherwise } => {
                let mut begin = format!("{{ branch = {probability:?}");
                for (key, steps) in [("then", then), ("else", otherwise)] {
                    if !steps.is_empty() {
                        lists.push((format!("{begin}, {key} = ["), steps));
                        "]".clone_into(&mut begin);
                    }
                }
                "] }"
            }
            Step::Repeat { times, steps } => {
                lists.push((format!("{{ repeat = {times}, steps = ["), steps));
                "] }"
            }
            Step::Turns { of } => {
                let mut begin = "{ turns = [";
                for (times, steps) in of.iter() {
                    let times = if times == 1 { String::new() } else { format!("times = {times}, ") };
                    lists.push((format!("{begin}{{ {times}steps = ["), steps));
                    begin = "] }, ";
                }
                "] }] }"
            }
            _ => return None,
        };
        (!lists.is_empty()).then_some(Self { lists, end })
    }
}

/// The text so far, and its comments.
struct Text<'a>(String, &'a Comments);

impl Text<'_> {
    /// An empty line, and the comments of a section.
    fn begin(&mut self, kind: &str, name: &str) {
        self.0.push('\n');
        let lines = self.1.get(&(kind.to_owned(), name.to_owned()));
        for line in lines.into_iter().flatten() {
            // A comment ends with its line.
            let line: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
            self.0.push_str(&format!("# {line}\n"));
        }
    }

    fn section(&mut self, kind: &str, name: &str) {
        self.begin(kind, name);
        self.0.push_str(&format!("[[{kind}]]\n"));
        self.key("name", quoted(name));
    }

    fn key(&mut self, key: &str, value: impl Display) {
        self.0.push_str(&format!("{key} = {value}\n"));
    }

    /// A key that is left out when it has its default.
    fn key_unless(&mut self, is_default: bool, key: &str, value: impl Display) {
        if !is_default {
            self.key(key, value);
        }
    }

    fn line(&mut self, depth: usize, line: &str) {
        let indent = " ".repeat(2 * depth);
        line.lines().for_each(|line| self.0.push_str(&format!("{indent}{line}\n")));
    }

    fn steps(&mut self, model: &Model, steps: &[Step]) {
        if !steps.is_empty() {
            self.0.push_str("steps = [\n");
            self.nested(model, steps, 1);
            self.0.push_str("]\n");
        }
    }

    /// One step per line; those in a step that is too long for a line have lines of their own.
    fn nested(&mut self, model: &Model, steps: &[Step], depth: usize) {
        for step in steps {
            let line = model.step_on_a_line(step);
            let Some(lists) = Lists::of(step).filter(|_| line.len() + 2 * depth >= WIDTH) else {
                self.line(depth, &format!("{line},"));
                continue;
            };
            for (begin, steps) in lists.lists {
                self.line(depth, &begin);
                self.nested(model, steps, depth + 1);
            }
            self.line(depth, &format!("{},", lists.end));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::*;

    use super::*;
    use crate::simulate::model::any_model::any_model;
    use crate::simulate::model::{Distribution, Runnable, Runs};

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]
        #[test]
        fn every_model_reads_back(model in any_model()) {
            let text = model.to_toml();
            let back = Model::parse(&text, Path::new("any.toml")).map(|(model, _)| model);
            prop_assert!(back.is_ok(), "{}\n{}", back.unwrap_err(), text);
            prop_assert_eq!(back.unwrap(), model, "{}", text);
        }

        #[test]
        fn comments_do_not_change_a_model(model in any_model(), line in "\\PC{0,20}[\n\r\"]\\PC{0,9}") {
            let of = |kind: &str, name: &String| ((kind.to_owned(), name.clone()), vec![line.clone(), line.clone()]);
            let mut comments: Comments = model.tasks.iter().map(|task| of("task", &task.name)).collect();
            comments.extend(model.alarms.iter().map(|alarm| of("alarm", &alarm.name)));
            comments.extend([of("os", &String::new())]);
            let text = model.to_toml_with(&comments);
            prop_assert!(text.matches("\n# ").count() >= 2);
            let back = Model::parse(&text, Path::new("any.toml")).map(|(model, _)| model);
            prop_assert_eq!(back.unwrap(), model, "{}", text);
        }
    }

    #[test]
    fn turns_and_long_lists_have_lines_that_can_be_read() {
        let values: Runs<i64> = (0..20).map(|n| (1 + n % 2, i64::from(n) * 1000)).collect();
        let short: Runs<i64> = [(1, 5), (2, 6)].into_iter().collect();
        let execute = |values, in_turn| Step::Execute(Distribution::Observed { values, in_turn });
        let turns = [(3, vec![execute(values, true)]), (1, Vec::new())];
        let steps = [Step::Turns { of: turns.into_iter().collect() }, execute(short, false)];
        let (mut model, _) =
            Model::parse("duration = 5\ncore = [{ name = \"C\" }]", Path::new("m.toml")).unwrap();
        model.runnables.push(Runnable { name: "R".to_owned(), steps: steps.to_vec() });
        let text = model.to_toml();
        let (_, written) = text.split_once("steps = [\n").unwrap();
        assert_eq!(
            written,
            r#"  { turns = [{ times = 3, steps = [
    { execute = { in_turn = [
      "0ns", { value = "1us", times = 2 }, "2us", { value = "3us", times = 2 }, "4us",
      { value = "5us", times = 2 }, "6us", { value = "7us", times = 2 }, "8us",
      { value = "9us", times = 2 }, "10us", { value = "11us", times = 2 }, "12us",
      { value = "13us", times = 2 }, "14us", { value = "15us", times = 2 }, "16us",
      { value = "17us", times = 2 }, "18us", { value = "19us", times = 2 },
    ] } },
  ] }, { steps = [
  ] }] },
  { execute = { one_of = ["5ns", { value = "6ns", times = 2 }] } },
]
"#
        );
    }
}
