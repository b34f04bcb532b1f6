//! The recording that a hardware probe would export from a simulated system: accesses and functions per
//! core, and the files that describe it, as one operating system or another has them. Not what happens in
//! the system (see `kernel`).

mod digits;
mod erika2;
mod form;
mod hooks;
mod options;
mod osek;
mod tap;
#[cfg(test)]
mod tests;
mod writer;

use super::kernel::Handlers;
use super::kernel::access::{Function, Recorder, Service, Variable};
use super::model::{Model, quoted};
use std::io::{Result, Write};
use writer::Writer;

pub use hooks::Hooks;
pub use options::{ProbeOptions, Shape, TracedOs};
pub use writer::{Exports, Recorded};

/// The files that describe a recording, by name.
pub fn description(model: &Model, handlers: &Handlers, options: &ProbeOptions) -> Vec<(String, String)> {
    let of_shape = options.shape.form().description;
    match options.os {
        TracedOs::Erika2 => erika2::description(model, handlers, of_shape),
        TracedOs::Osek => osek::description(model, handlers, of_shape),
        TracedOs::Arti | TracedOs::Microsar => hooks::description(model, handlers, options.os, of_shape),
    }
}

/// Records the accesses of the kernels, in the names of an operating system without hooks. The first error of
/// an output is kept, and nothing is written after it.
pub struct Probe<'m, W> {
    names: Names<'m>,
    out: Writer<W>,
}

/// What an operating system calls the variables and functions of the kernels.
enum Names<'m> {
    Erika2(erika2::Names<'m>),
    Osek(Box<osek::Translation<'m>>),
}

impl<'m, W: Write> Probe<'m, W> {
    /// Into the exports of each core.
    pub fn new(
        model: &'m Model,
        handlers: &'m Handlers,
        options: &ProbeOptions,
        exports: Vec<Exports<W>>,
    ) -> Self {
        let form = options.shape.form();
        let names = if options.os == TracedOs::Osek {
            Names::Osek(Box::new(osek::Translation::new(model, handlers, form)))
        } else {
            Names::Erika2(erika2::Names::new(model, handlers, form))
        };
        Self { names, out: Writer::new(model, options, exports) }
    }

    /// What was recorded, and what has failed.
    pub fn finish(self) -> Result<Recorded> {
        let crossed = match self.names {
            Names::Erika2(_) => 0,
            Names::Osek(names) => names.crossed(),
        };
        Ok(Recorded { crossed, ..self.out.finish()? })
    }
}

impl<W: Write> Recorder for Probe<'_, W> {
    fn data(&mut self, core: usize, time: i64, variable: Variable, write: bool, value: u32) {
        match &mut self.names {
            Names::Erika2(names) => names.data(&mut self.out, (core, time), variable, write, value),
            Names::Osek(names) => names.data(&mut self.out, (core, time), variable, write, value),
        }
    }

    fn function(&mut self, core: usize, time: i64, function: Function, entry: bool) {
        match &mut self.names {
            Names::Erika2(names) => names.function(&mut self.out, (core, time), function, entry),
            Names::Osek(names) => names.function(&mut self.out, (core, time), function, entry),
        }
    }
}

/// The name of a service in OSEK and AUTOSAR.
fn service_name(service: Service) -> &'static str {
    match service {
        Service::ActivateTask => "ActivateTask",
        Service::TerminateTask => "TerminateTask",
        Service::ChainTask => "ChainTask",
        Service::Schedule => "Schedule",
        Service::GetResource => "GetResource",
        Service::ReleaseResource => "ReleaseResource",
        Service::SetEvent => "SetEvent",
        Service::ClearEvent => "ClearEvent",
        Service::WaitEvent => "WaitEvent",
        Service::StartOs => "StartOS",
        Service::GetSpinlock => "GetSpinlock",
        Service::ReleaseSpinlock => "ReleaseSpinlock",
        Service::TryToGetSpinlock => "TryToGetSpinlock",
    }
}

/// The errors of OSEK, with their numbers there.
const ERRORS: [(&str, u32); 9] = [
    ("E_OK", 0),
    ("E_OS_ACCESS", 1),
    ("E_OS_CALLEVEL", 2),
    ("E_OS_ID", 3),
    ("E_OS_LIMIT", 4),
    ("E_OS_NOFUNC", 5),
    ("E_OS_RESOURCE", 6),
    ("E_OS_STATE", 7),
    ("E_OS_VALUE", 8),
];

/// Names for a list of TOML.
fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(quoted).collect::<Vec<_>>().join(", ")
}
