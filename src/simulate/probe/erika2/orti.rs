//! The files that describe a recording of a simulated system: ORTI and OS header per core, symbols, and
//! `recording.toml`. Not the exports (see `writer`).

use super::names::address;
use crate::simulate::kernel::access::Service;
use crate::simulate::kernel::layout::{Layout, layout};
use crate::simulate::kernel::{HandlerKind, Handlers};
use crate::simulate::model::{Action, Model, quoted};
use crate::simulate::probe::{ERRORS, listed, service_name};
use std::fmt::Write as _;

/// The files, by name.
pub fn description(model: &Model, handlers: &Handlers, of_shape: &str) -> Vec<(String, String)> {
    let layouts = layout(model);
    let mut files = Vec::new();
    for core in 0..model.cores.len() {
        files.push((format!("system_cpu{core}.orti"), orti(model, handlers, core, &layouts)));
        files.push((format!("eecfg_cpu{core}.h"), header(model, core, &layouts)));
    }
    let symbols = (0..handlers.count()).filter(|handler| is_category2(model, handlers, *handler));
    let symbols =
        symbols.map(|handler| format!("0x{:X}\t{}\n", address(handler as u32), handlers.name(handler)));
    files.push(("symbols.tsv".to_owned(), symbols.collect()));
    files.push(("recording.toml".to_owned(), recording(model, of_shape)));
    files
}

fn is_category2(model: &Model, handlers: &Handlers, handler: usize) -> bool {
    match handlers.kind(handler) {
        HandlerKind::Isr(isr) => model.isrs.get(isr).is_some_and(|isr| !isr.category1),
        HandlerKind::Timer | HandlerKind::Remote => true,
    }
}

/// `recording.toml`; `of_shape` are its lines about the columns of exports.
fn recording(model: &Model, of_shape: &str) -> String {
    let runnables = listed(model.runnables.iter().map(|runnable| runnable.name.as_str()));
    let signals = listed(model.signals.iter().map(|signal| signal.name.as_str()));
    let category1 = model.isrs.iter().filter(|isr| isr.category1).map(|isr| isr.name.as_str());
    let category1 = listed(category1);
    let mut text = format!(
        "name = {}\nos = \"erika2\"\nrunnables = [{runnables}]\nsignals = [{signals}]\ncategory1_isrs = [{category1}]\n{of_shape}\n[task_functions]\n",
        quoted(&model.name)
    );
    for task in &model.tasks {
        let _ = writeln!(text, "\"Func{0}\" = \"{0}\"", task.name);
    }
    for (number, core) in model.cores.iter().enumerate() {
        let _ = write!(
            text,
            "\n[[core]]\nname = \"{}\"\ndata = \"core{number}_data.csv\"\nfunctions = \"core{number}_func.csv\"\norti = \"system_cpu{number}.orti\"\nos_header = \"eecfg_cpu{number}.h\"\nsymbols = \"symbols.tsv\"\n",
            core.name
        );
    }
    text
}

/// An enumeration of ORTI.
fn enumeration<'a>(labels: impl Iterator<Item = (&'a str, String)>) -> String {
    let labels: Vec<String> =
        labels.map(|(label, value)| format!("            \"{label}\" = {value}")).collect();
    labels.join(",\n")
}

fn orti(model: &Model, handlers: &Handlers, core: usize, layouts: &[Layout]) -> String {
    let tasks: Vec<_> = model.tasks.iter().filter(|task| task.core == core).collect();
    let task_labels = || {
        let none = std::iter::once(("NO_TASK", "\"-1\"".to_owned()));
        enumeration(
            none.chain(tasks.iter().enumerate().map(|(id, task)| (task.name.as_str(), id.to_string()))),
        )
    };
    let services = enumeration(
        Service::ALL.iter().map(|service| (service_name(*service), service_id(*service).to_string())),
    );
    let errors = enumeration(ERRORS.iter().map(|(label, value)| (*label, value.to_string())));
    let of_core = (0..handlers.count())
        .filter(|handler| handlers.core(*handler) == core && is_category2(model, handlers, *handler));
    let isrs = of_core.map(|handler| (handlers.name(handler), format!("\"{}\"", handlers.name(handler))));
    let isrs = enumeration(std::iter::once(("NO_ISR2", "0".to_owned())).chain(isrs));
    let mut text = format!(
        "VERSION {{\n    KOIL = \"2.1\";\n    OSSEMANTICS = \"ORTI\", \"2.1\";\n}};\n\nIMPLEMENTATION EE_cpu_{core} {{\n    OS {{\n        \
         TOTRACE ENUM [\n{}\n        ] RUNNINGTASK, \"Running task\";\n        \
         TOTRACE ENUM \"unsigned char\" [\n{services}\n        ] SERVICETRACE, \"OS services watch\";\n        \
         ENUM \"int\" [\n{errors}\n        ] LASTERROR, \"Last error\";\n        \
         ENUM \"unsigned char\" [\n            \"OSDEFAULTAPPMODE\" = 0\n        ] CURRENTAPPMODE, \"Current application mode\";\n        \
         ENUM \"void *\" [\n{isrs}\n        ] RUNNINGISR2, \"Running ISR2\";\n    }}, \"OS\";\n\n    TASK {{\n        \
         CTYPE \"unsigned int\" PRIORITY, \"Actual priority\";\n        \
         ENUM \"unsigned char\" [\n            \"RUNNING\" = 0,\n            \"WAITING\" = 1,\n            \"READY\" = 2,\n            \"SUSPENDED\" = 3\n        ] STATE, \"Task state\";\n        \
         CTYPE \"int\" CURRENTACTIVATIONS, \"Current activations\";\n    }}, \"Tasks\";\n\n    ALARM {{\n        \
         CTYPE \"unsigned int\" ALARMTIME, \"Alarm time\";\n        CTYPE \"unsigned int\" CYCLETIME, \"Cycle time\";\n        \
         ENUM [\n            \"STOPPED\" = 0,\n            \"RUNNING\" = 1\n        ] STATE, \"Alarm state\";\n        \
         STRING ACTION, \"Action\";\n        STRING COUNTER, \"Counter\";\n    }}, \"Alarms\";\n\n    RESOURCE {{\n        \
         ENUM \"unsigned char\" [\n            \"UNLOCKED\" = 0,\n            \"LOCKED\" = 1\n        ] STATE, \"Resource state\";\n        \
         ENUM \"int\" [\n{}\n        ] LOCKER, \"Resource locker\";\n        STRING PRIORITY, \"Ceiling priority\";\n    }}, \"Resources\";\n}};\n\n",
        task_labels(),
        task_labels(),
    );
    text.push_str(
        "OS EE_arch {\n    RUNNINGTASK = \"EE_stkfirst\";\n    RUNNINGISR2 = \"EE_ORTI_runningisr2\";\n    SERVICETRACE = \"EE_ORTI_servicetrace\";\n    \
         LASTERROR = \"EE_ORTI_lasterror\";\n    CURRENTAPPMODE = \"EE_ApplicationMode\";\n};\n\n",
    );
    for (id, task) in tasks.iter().enumerate() {
        let _ = write!(
            text,
            "TASK {} {{\n    PRIORITY = \"(EE_ORTI_th_priority[{id}])\";\n    STATE = \"(EE_th_status[{id}])\";\n    CURRENTACTIVATIONS = \"({} - EE_th_rnact[{id}])\";\n}};\n",
            task.name, task.activations
        );
    }
    let alarms = model.alarms.iter().filter(|alarm| alarm.core == core);
    for (id, alarm) in alarms.enumerate() {
        let name = |task: usize| model.tasks.get(task).map_or("", |task| task.name.as_str());
        let action = match alarm.action {
            Action::Activate { task } => format!("activate task {}", name(task)),
            Action::SetEvent { task, event } => {
                let event = model.events.get(event).map_or("", |event| event.name.as_str());
                format!("set {event} on {}", name(task))
            }
        };
        let _ = write!(
            text,
            "ALARM {} {{\n    ALARMTIME = \"EE_ORTI_alarmtime[{id}]\";\n    CYCLETIME = \"EE_oo_counter_object_RAM[{id}].cycle\";\n    \
             STATE = \"(EE_oo_counter_object_RAM[{id}].used == 0) ? 0 : 1\";\n    ACTION = \"{action}\";\n    COUNTER = \"SystemTimer\";\n}};\n",
            alarm.name
        );
    }
    for (resource, layout) in model.resources.iter().zip(layouts) {
        let Some(Some((id, ceiling))) = layout.cores.get(core).copied() else { continue };
        let _ = write!(
            text,
            "RESOURCE {} {{\n    STATE = \"(EE_resource_locked[{id}])\";\n    LOCKER = \"(EE_resource_locked[{id}] ? EE_ORTI_res_locker[{id}] : -1)\";\n    PRIORITY = \"{ceiling}\";\n}};\n",
            resource.name
        );
    }
    text
}

/// The id that the generator of ERIKA gives a service: those of AUTOSAR as if the kernel had semaphores.
fn service_id(service: Service) -> u32 {
    let id = service.entry_code() - 1;
    if id > 60 { id + 10 } else { id }
}

fn header(model: &Model, core: usize, layouts: &[Layout]) -> String {
    let mut text = format!(
        "#ifndef RTDH_EECFG_H\n#define RTDH_EECFG_H\n\n/* Common defines ( CPU {core} ) */\n\n    /* TASK definition */\n"
    );
    let tasks: Vec<_> = model.tasks.iter().filter(|task| task.core == core).collect();
    let _ = writeln!(text, "    #define EE_MAX_TASK {}", tasks.len());
    for (id, task) in tasks.iter().enumerate() {
        let _ = writeln!(text, "    #define {} {id}", task.name);
    }
    text.push_str("\n    /* MUTEX definition */\n");
    for (resource, layout) in model.resources.iter().zip(layouts) {
        let Some((id, _)) = layout.cores.get(core).copied().flatten() else { continue };
        let value = if layout.word.is_some() { format!("({id}U|EE_GLOBAL_MUTEX)") } else { format!("{id}U") };
        let _ = writeln!(text, "    #define {} {value}", resource.name);
    }
    text.push_str("\n    /* EVENT definition */\n");
    let mut used = vec![false; model.events.len()];
    for event in tasks.iter().flat_map(|task| &task.events) {
        if let Some(used) = used.get_mut(*event) {
            *used = true;
        }
    }
    for (event, _) in model.events.iter().zip(&used).filter(|(_, used)| **used) {
        let _ = writeln!(text, "    #define {} 0x{:x}U", event.name, event.mask);
    }
    text.push_str("\n    /* ALARM definition */\n");
    for (id, alarm) in model.alarms.iter().filter(|alarm| alarm.core == core).enumerate() {
        let _ = writeln!(text, "    #define {} {id}U", alarm.name);
    }
    let shared = layouts.iter().filter(|layout| layout.word.is_some()).count();
    text.push_str("\n/* Spin lock IDs */\n");
    for (number, spinlock) in model.spinlocks.iter().enumerate() {
        let _ = writeln!(text, "    #define {} {}U", spinlock.name, shared + number);
    }
    let _ = writeln!(text, "    #define EE_MAX_SPINLOCK_USER {}", shared + model.spinlocks.len());
    let cores = model.cores.len();
    for other in 0..cores {
        let word = shared + model.spinlocks.len() + cores - 1 - other;
        let _ = writeln!(text, "    #define EE_SPINLOCK_CORE{other} {word}U");
    }
    text.push_str("\n#endif\n");
    text
}
