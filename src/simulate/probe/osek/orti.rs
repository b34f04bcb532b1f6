//! The ORTI file of a generic OSEK operating system: which variable tells what. One file for all cores, whose
//! attributes of the operating system have an index for each. Not what else is known of it (see `oil`).

use super::numbers::Numbers;
use super::variables::{NO_ISR, NO_TASK, SERVICES, STATES, Variable, isr, service_id};
use crate::simulate::kernel::effect::Lock;
use crate::simulate::kernel::{HandlerKind, Handlers};
use crate::simulate::model::{Action, Model};
use crate::simulate::probe::{ERRORS, service_name};
use std::fmt::Write as _;

/// The variable of a core or task.
type OfNumber = fn(usize) -> Variable;

/// The text of the file.
pub fn text(model: &Model, handlers: &Handlers) -> String {
    let mut text = declarations(model, handlers);
    let cores = model.cores.len();
    text.push_str("OS SIMULATED {\n");
    let of_core: [(&str, OfNumber); 4] = [
        ("RUNNINGTASK", Variable::RunningTask),
        ("RUNNINGISR2", Variable::RunningIsr2),
        ("SERVICETRACE", Variable::ServiceTrace),
        ("LASTERROR", Variable::LastError),
    ];
    for (attribute, variable) in of_core {
        for core in 0..cores {
            let index = if cores == 1 { String::new() } else { format!("[{core}]") };
            let _ = writeln!(text, "    {attribute}{index} = \"{}\";", variable(core).name(model));
        }
    }
    text.push_str("};\n\n");
    for (number, task) in model.tasks.iter().enumerate() {
        let name = |variable: OfNumber| variable(number).name(model);
        let _ = write!(
            text,
            "TASK {} {{\n    PRIORITY = \"{}\";\n    STATE = \"{}\";\n    CURRENTACTIVATIONS = \"{}\";\n",
            task.name,
            task.priority,
            name(Variable::TaskState),
            name(Variable::TaskActivations)
        );
        if !task.events.is_empty() {
            let (events, mask) = (name(Variable::TaskEvents), name(Variable::TaskWaitMask));
            let _ = write!(text, "    vs_Event_Flags = \"{events}\";\n    vs_Event_Mask = \"{mask}\";\n");
        }
        text.push_str("};\n");
    }
    for (number, alarm) in model.alarms.iter().enumerate() {
        let time = Variable::AlarmTime(number).name(model);
        let _ = write!(
            text,
            "ALARM {} {{\n    ALARMTIME = \"{time}\";\n    CYCLETIME = \"{}\";\n    STATE = \"({time} == 0) ? 0 : 1\";\n    \
             ACTION = \"{}\";\n    COUNTER = \"SystemTimer_{}\";\n}};\n",
            alarm.name,
            alarm.cycle,
            action(model, alarm.action),
            alarm.core
        );
    }
    for (number, lock) in Numbers::of(model).locks.iter().enumerate() {
        let name = match lock {
            Lock::Resource(resource) => model.resources.get(*resource).map(|resource| &resource.name),
            Lock::Spinlock(spinlock) => model.spinlocks.get(*spinlock).map(|spinlock| &spinlock.name),
        };
        let locker = Variable::ResourceLocker(number).name(model);
        let _ = write!(
            text,
            "RESOURCE {} {{\n    STATE = \"({locker} == {NO_TASK:#X}) ? 0 : 1\";\n    LOCKER = \"{locker}\";\n}};\n",
            name.map_or("", String::as_str)
        );
    }
    text
}

/// What an alarm does.
fn action(model: &Model, action: Action) -> String {
    let task = |task: usize| model.tasks.get(task).map_or("", |task| task.name.as_str());
    match action {
        Action::Activate { task: target } => format!("ActivateTask {}", task(target)),
        Action::SetEvent { task: target, event } => {
            let event = model.events.get(event).map_or("", |event| event.name.as_str());
            format!("SetEvent {}, {event}", task(target))
        }
    }
}

/// The types of the attributes.
fn declarations(model: &Model, handlers: &Handlers) -> String {
    let index = if model.cores.len() == 1 { "" } else { "[]" };
    let tasks = model.tasks.iter().enumerate().map(|(number, task)| (task.name.as_str(), number as u32));
    let tasks = enumeration(std::iter::once(("NO_TASK", NO_TASK)).chain(tasks));
    let category2 = (0..handlers.count()).filter(|handler| match handlers.kind(*handler) {
        HandlerKind::Isr(isr) => model.isrs.get(isr).is_some_and(|isr| !isr.category1),
        HandlerKind::Timer | HandlerKind::Remote => true,
    });
    let isrs = category2.map(|handler| (handlers.name(handler), isr(handler)));
    let isrs = enumeration(std::iter::once(("NO_ISR", NO_ISR)).chain(isrs));
    let services = enumeration(SERVICES.iter().map(|of| (service_name(*of), service_id(*of))));
    let errors = enumeration(ERRORS.into_iter());
    let states = enumeration(STATES.iter().map(|(label, _, number)| (*label, *number)));
    format!(
        "VERSION {{\n    KOIL = \"2.2\";\n    OSSEMANTICS = \"ORTI\", \"2.2\";\n}};\n\nIMPLEMENTATION SIMULATED_OS {{\n    OS {{\n        \
         TOTRACE ENUM \"unsigned int\" [\n{tasks}\n        ] RUNNINGTASK{index}, \"Running task\";\n        \
         TOTRACE ENUM \"unsigned int\" [\n{isrs}\n        ] RUNNINGISR2{index}, \"Running ISR of category 2\";\n        \
         TOTRACE ENUM \"unsigned char\" [\n{services}\n        ] SERVICETRACE{index}, \"Service that is entered or left\";\n        \
         TOTRACE ENUM \"unsigned char\" [\n{errors}\n        ] LASTERROR{index}, \"Last error\";\n    }}, \"OS\";\n\n    TASK {{\n        \
         CTYPE \"unsigned int\" PRIORITY, \"Priority\";\n        \
         TOTRACE ENUM \"unsigned char\" [\n{states}\n        ] STATE, \"State\";\n        \
         TOTRACE CTYPE \"unsigned int\" CURRENTACTIVATIONS, \"Activations\";\n        \
         TOTRACE CTYPE \"unsigned int\" vs_Event_Flags, \"Events that are set\";\n        \
         TOTRACE CTYPE \"unsigned int\" vs_Event_Mask, \"Events that it waits for\";\n    }}, \"Tasks\";\n\n    ALARM {{\n        \
         TOTRACE CTYPE \"unsigned int\" ALARMTIME, \"Ticks that are left\";\n        CTYPE \"unsigned int\" CYCLETIME, \"Cycle\";\n        \
         ENUM [\n            \"STOPPED\" = 0,\n            \"RUNNING\" = 1\n        ] STATE, \"State\";\n        \
         STRING ACTION, \"Action\";\n        STRING COUNTER, \"Counter\";\n    }}, \"Alarms\";\n\n    RESOURCE {{\n        \
         ENUM \"unsigned char\" [\n            \"UNLOCKED\" = 0,\n            \"LOCKED\" = 1\n        ] STATE, \"State\";\n        \
         TOTRACE ENUM \"unsigned int\" [\n{tasks}\n        ] LOCKER, \"Locker\";\n    }}, \"Resources\";\n}};\n\n"
    )
}

fn enumeration<'a>(labels: impl Iterator<Item = (&'a str, u32)>) -> String {
    let labels: Vec<String> =
        labels.map(|(label, value)| format!("            \"{label}\" = {value:#X}")).collect();
    labels.join(",\n")
}
