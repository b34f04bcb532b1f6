//! The files that describe a recording of a generic OSEK operating system: `recording.toml`, ORTI and OIL. It
//! needs no mapping profile of its own. Not the exports (see the module above).

use super::{oil, orti};
use crate::simulate::kernel::Handlers;
use crate::simulate::model::{Model, quoted};
use crate::simulate::probe::listed;
use std::fmt::Write as _;

/// The files, by name.
pub fn description(model: &Model, handlers: &Handlers, of_shape: &str) -> Vec<(String, String)> {
    let files = [
        ("os.orti", orti::text(model, handlers)),
        ("os.oil", oil::text(model)),
        ("recording.toml", recording(model, of_shape)),
    ];
    files.map(|(name, text)| (name.to_owned(), text)).into()
}

/// The function that is the body of a task.
pub fn body(model: &Model, task: usize) -> String {
    model.tasks.get(task).map_or_else(String::new, |task| format!("osTask_{}", task.name))
}

/// `recording.toml`; `of_shape` are its lines about the columns of exports.
fn recording(model: &Model, of_shape: &str) -> String {
    let mut text = format!("name = {}\nos = \"osek\"\noil = \"os.oil\"\n", quoted(&model.name));
    let runnables = listed(model.runnables.iter().map(|runnable| runnable.name.as_str()));
    let signals = listed(model.signals.iter().map(|signal| signal.name.as_str()));
    let category1 = model.isrs.iter().filter(|isr| isr.category1).map(|isr| isr.name.as_str());
    let _ = write!(
        text,
        "runnables = [{runnables}]\nsignals = [{signals}]\ncategory1_isrs = [{}]\n{of_shape}\n[task_functions]\n",
        listed(category1)
    );
    for (number, task) in model.tasks.iter().enumerate() {
        let _ = writeln!(text, "\"{}\" = \"{}\"", body(model, number), task.name);
    }
    for (number, core) in model.cores.iter().enumerate() {
        let _ = write!(
            text,
            "\n[[core]]\nname = \"{}\"\ndata = \"core{number}_data.csv\"\nfunctions = \"core{number}_func.csv\"\norti = \"os.orti\"\n",
            core.name
        );
    }
    text
}
