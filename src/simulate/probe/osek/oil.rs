//! The OIL file of a generic OSEK operating system: what its ORTI file leaves out, such as the masks of
//! events. Not what is traced (see `orti`).

use crate::simulate::kernel::layout::uses;
use crate::simulate::model::{Action, Alarm, Model, Task};
use std::fmt::Write as _;

/// The text of the file.
pub fn text(model: &Model) -> String {
    let mut text = "OIL_VERSION = \"2.5\";\n\nCPU cpu {\n    OS simulated;\n    APPMODE normal;\n".to_owned();
    for task in &model.tasks {
        write_task(&mut text, model, task);
    }
    for isr in &model.isrs {
        let category = if isr.category1 { 1 } else { 2 };
        let _ =
            writeln!(text, "    ISR {} {{ CATEGORY = {category}; PRIORITY = {}; }};", isr.name, isr.priority);
    }
    for event in &model.events {
        let _ = writeln!(text, "    EVENT {} {{ MASK = {:#X}; }};", event.name, event.mask);
    }
    for resource in &model.resources {
        let kind = if resource.internal { "INTERNAL" } else { "STANDARD" };
        let _ = writeln!(text, "    RESOURCE {} {{ RESOURCEPROPERTY = {kind}; }};", resource.name);
    }
    for spinlock in &model.spinlocks {
        let _ = writeln!(text, "    RESOURCE {} {{ RESOURCEPROPERTY = STANDARD; }};", spinlock.name);
    }
    let tick = model.os.tick;
    let seconds = format!("{}.{:09}", tick / 1_000_000_000, tick % 1_000_000_000);
    for core in 0..model.cores.len() {
        let _ = writeln!(
            text,
            "    COUNTER SystemTimer_{core} {{ MAXALLOWEDVALUE = 4294967295; TICKSPERBASE = 1; MINCYCLE = 1; SECONDSPERTICK = {seconds}; }};"
        );
    }
    for alarm in &model.alarms {
        write_alarm(&mut text, model, alarm);
    }
    text.push_str("};\n");
    text
}

fn write_task(text: &mut String, model: &Model, task: &Task) {
    let schedule = if task.preemptable { "FULL" } else { "NON" };
    let start = if task.autostart { "TRUE { APPMODE = normal; }" } else { "FALSE" };
    let _ = write!(
        text,
        "    TASK {} {{ PRIORITY = {}; SCHEDULE = {schedule}; ACTIVATION = {}; AUTOSTART = {start};",
        task.name, task.priority, task.activations
    );
    let mut takes = vec![false; model.resources.len()];
    uses(model, &task.steps, &mut vec![false; model.runnables.len()], &mut takes);
    if let Some(takes) = task.group.and_then(|group| takes.get_mut(group)) {
        *takes = true;
    }
    for (resource, _) in model.resources.iter().zip(&takes).filter(|(_, takes)| **takes) {
        let _ = write!(text, " RESOURCE = {};", resource.name);
    }
    for event in task.events.iter().filter_map(|event| model.events.get(*event)) {
        let _ = write!(text, " EVENT = {};", event.name);
    }
    text.push_str(" };\n");
}

fn write_alarm(text: &mut String, model: &Model, alarm: &Alarm) {
    let task = |task: usize| model.tasks.get(task).map_or("", |task| task.name.as_str());
    let action = match alarm.action {
        Action::Activate { task: target } => format!("ACTIVATETASK {{ TASK = {}; }}", task(target)),
        Action::SetEvent { task: target, event } => {
            let event = model.events.get(event).map_or("", |event| event.name.as_str());
            format!("SETEVENT {{ TASK = {}; EVENT = {event}; }}", task(target))
        }
    };
    let _ = writeln!(
        text,
        "    ALARM {} {{ COUNTER = SystemTimer_{}; ACTION = {action}; AUTOSTART = TRUE {{ ALARMTIME = {}; CYCLETIME = {}; APPMODE = normal; }}; }};",
        alarm.name, alarm.core, alarm.first, alarm.cycle
    );
}
