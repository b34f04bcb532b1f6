//! A simulated system as a kernel with timing hooks: each step of a process as a word of one variable, at the
//! instant of the step, and the files that describe it. Not which steps there are (see `kernel::effect`).

use super::form::Form;
use super::options::{ProbeOptions, TracedOs};
use super::writer::{Exports, KnownNames, Recorded, Writer};
use crate::simulate::kernel::Handlers;
use crate::simulate::kernel::effect::{Change, Effect, Observer, Process};
use crate::simulate::model::{Model, quoted};
use std::fmt::Write as _;
use std::io::{Result, Write};

/// The published encodings of words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encoding {
    /// Tasks and ISRs have number spaces of their own; ISRs are activated.
    Arti,
    /// Threads: the tasks, then the ISRs.
    Microsar,
}

impl Encoding {
    fn of(os: TracedOs) -> Self {
        if os == TracedOs::Microsar { Self::Microsar } else { Self::Arti }
    }

    fn variable(self) -> &'static str {
        match self {
            Self::Arti => "arti_os_trace",
            Self::Microsar => "winidea_trace",
        }
    }

    /// The word for a step of a process; none if the kernel does not tell it.
    fn word(self, core: usize, process: Process, step: Step, tasks: usize) -> Option<u32> {
        let (id, is_isr) = match (process, self) {
            (Process::Task(task), _) => (task, false),
            (Process::Handler(handler), Self::Arti) => (handler, true),
            (Process::Handler(handler), Self::Microsar) => (tasks + handler, true),
            (Process::Nobody, _) => return None,
        };
        let (id, core) = (u32::try_from(id).ok()?, u32::try_from(core).ok()?);
        let state = match (self, is_isr, step) {
            (Self::Arti, false, Step::Activate) => 0,
            (Self::Arti, false, Step::Start) => 1,
            (Self::Arti, false, Step::Wait) => 2,
            (Self::Arti, false, Step::Release) => 3,
            (Self::Arti, false, Step::Preempt) => 4,
            (Self::Arti, false, Step::Terminate) => 5,
            (Self::Arti, false, Step::Resume) => 6,
            (Self::Arti, true, Step::Start) => 16,
            (Self::Arti, true, Step::Terminate) => 17,
            (Self::Arti, true, Step::Activate) => 18,
            (Self::Arti, true, Step::Preempt) => 19,
            (Self::Arti, true, Step::Resume) => 20,
            (Self::Microsar, false, Step::Activate) => 11,
            (Self::Microsar, true, Step::Start) => 31,
            (Self::Microsar, _, Step::Start | Step::Resume) => 29,
            (Self::Microsar, _, Step::Preempt | Step::Release) => 16,
            (Self::Microsar, _, Step::Wait) => 4,
            (Self::Microsar, false, Step::Terminate) => 1,
            (Self::Microsar, true, Step::Terminate) => 2,
            (Self::Microsar, true, Step::Activate) | (Self::Arti, true, Step::Wait | Step::Release) => {
                return None;
            }
        };
        Some(match self {
            Self::Arti => id << 16 | 0x8000 | state << 8 | core,
            Self::Microsar => core << 24 | state << 16 | id,
        })
    }
}

/// What happens to a process, as far as hooks tell: a process that polls runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Activate,
    Start,
    Resume,
    Preempt,
    Wait,
    Release,
    Terminate,
}

/// Records the steps of processes. The first error of an output is kept, and nothing is written after it.
pub struct Hooks<'m, W> {
    encoding: Encoding,
    model: &'m Model,
    name: KnownNames<()>,
    out: Writer<W>,
}

impl<'m, W: Write> Hooks<'m, W> {
    /// Into the export of each core.
    pub fn new(model: &'m Model, options: &ProbeOptions, exports: Vec<Exports<W>>) -> Self {
        let form: &'static Form = options.shape.form();
        Self {
            encoding: Encoding::of(options.os),
            model,
            name: KnownNames::of_variables(form),
            out: Writer::new(model, options, exports),
        }
    }

    /// What was recorded, and what has failed.
    pub fn finish(self) -> Result<Recorded> {
        self.out.finish()
    }

    fn step(&mut self, core: usize, time: i64, process: Process, step: Step) {
        let word = self.encoding.word(core, process, step, self.model.tasks.len());
        if let Some(word) = word {
            let variable = self.encoding.variable();
            let name = self.name.of((), |text| text.write_all(variable.as_bytes()).map(|()| 8));
            self.out.data((core, time), name, true, word);
        }
    }
}

impl<W: Write> Observer for Hooks<'_, W> {
    fn effect(&mut self, core: usize, time: i64, effect: Effect) {
        match effect {
            Effect::Activate { task, .. } => self.step(core, time, Process::Task(task), Step::Activate),
            Effect::Enter(handler) => {
                self.step(core, time, Process::Handler(handler), Step::Activate);
                self.step(core, time, Process::Handler(handler), Step::Start);
            }
            Effect::Change(process, change) => {
                let step = match change {
                    Change::Start => Step::Start,
                    Change::Resume | Change::PollParking => Step::Resume,
                    Change::Preempt | Change::Park => Step::Preempt,
                    Change::Wait => Step::Wait,
                    Change::Release => Step::Release,
                    Change::Terminate => Step::Terminate,
                    Change::Poll | Change::Run | Change::ReleaseParking => return,
                };
                self.step(core, time, process, step);
            }
            _ => {}
        }
    }
}

/// `recording.toml` and the list of ids; `of_shape` are the lines of the former about the columns of exports.
/// A handler that cores share has a name for each of them.
pub fn description(
    model: &Model,
    handlers: &Handlers,
    os: TracedOs,
    of_shape: &str,
) -> Vec<(String, String)> {
    let encoding = Encoding::of(os);
    let mut ids = "kind,id,name,core\n".to_owned();
    let core = |number: usize| model.cores.get(number).map_or("", |core| core.name.as_str());
    for (number, task) in model.tasks.iter().enumerate() {
        let _ = writeln!(ids, "task,{number},{},{}", task.name, core(task.core));
    }
    for handler in 0..handlers.count() {
        let number = if encoding == Encoding::Microsar { model.tasks.len() + handler } else { handler };
        let _ = writeln!(
            ids,
            "isr,{number},{},{}",
            name_of(handlers, handler, &core),
            core(handlers.core(handler))
        );
    }
    let spaces = if encoding == Encoding::Arti { "isr_states_from = 16\n" } else { "" };
    let mut text = format!(
        "name = {}\nos = \"hooks\"\n{of_shape}\n[[hook_variables]]\nname = \"{}\"\nids = \"ids.csv\"\n{spaces}",
        quoted(&model.name),
        encoding.variable()
    );
    for (number, core) in model.cores.iter().enumerate() {
        let _ = write!(
            text,
            "\n[[core]]\nname = \"{}\"\nid = {number}\ndata = \"core{number}_data.csv\"\n",
            core.name
        );
    }
    vec![("ids.csv".to_owned(), ids), ("recording.toml".to_owned(), text)]
}

fn name_of<'m>(handlers: &Handlers, handler: usize, core: &impl Fn(usize) -> &'m str) -> String {
    let name = handlers.name(handler);
    if handlers.shared() == Some(name) {
        format!("{}.{name}", core(handlers.core(handler)))
    } else {
        name.to_owned()
    }
}
