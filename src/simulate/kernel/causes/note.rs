//! What a kernel notes when it changes what a core does: its own state, as it has just decided it. Not what
//! follows for other instances (see `ledger`).

use super::State;
use crate::simulate::kernel::effect::{Change, Effect, Lock, Observer, Process, Stimulus};
use crate::simulate::kernel::task::{Status, Task};
use crate::simulate::kernel::{Kernel, Recorder};

/// What a process does by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Condition {
    pub state: State,
    /// What it polls or parks for.
    pub lock: Option<Lock>,
}

/// A change, with the state of the kernel from then on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Note {
    /// A task has one more activation.
    Opens(usize),
    /// An activation is refused; it has a number all the same.
    Refuses(usize),
    /// A handler is entered.
    Enters {
        handler: usize,
        seat: Option<Process>,
    },
    /// An instance ends.
    Closes {
        process: Process,
        seat: Option<Process>,
    },
    /// What a process does, and who has the core.
    Stands {
        process: Process,
        condition: Condition,
        runnable: Option<usize>,
        seat: Option<Process>,
    },
    /// What a process asks for; who has its core does not change.
    Asks {
        process: Process,
        condition: Condition,
    },
    /// A task waits no longer, because this event was set.
    Freed {
        task: usize,
        event: usize,
        by: Stimulus,
        condition: Condition,
    },
    /// A process is in another runnable.
    Calls {
        process: Process,
        runnable: Option<usize>,
    },
    Takes {
        process: Process,
        lock: Lock,
    },
    Gives {
        process: Process,
        lock: Lock,
    },
}

impl<R: Recorder, O: Observer> Kernel<'_, R, O> {
    /// What there is to note of an effect that is decided now; the content is the state of the kernel.
    pub(in crate::simulate::kernel) fn note(&self, core: usize, effect: Effect) -> Option<Note> {
        self.ledger.as_ref()?;
        Some(match effect {
            Effect::Activate { task, .. } => Note::Opens(task),
            Effect::Refuse { task, .. } => Note::Refuses(task),
            Effect::Enter(handler) => Note::Enters { handler, seat: self.seat(core) },
            Effect::Change(process, Change::Terminate) => Note::Closes { process, seat: self.seat(core) },
            // Decided when it happens, also for a core that has decided more than has happened.
            Effect::AskInVain(process, _)
            | Effect::Change(process, Change::Poll | Change::ReleaseParking) => {
                return self.note_asks(process);
            }
            Effect::Change(process, _) => {
                let (condition, runnable) = (self.condition(core, process)?, self.innermost(core, process));
                Note::Stands { process, condition, runnable, seat: self.seat(core) }
            }
            Effect::RunnableStart(process, _) | Effect::RunnableEnd(process, _) => {
                Note::Calls { process, runnable: self.innermost(core, process) }
            }
            Effect::Lock { by, lock, .. } => Note::Takes { process: by, lock },
            Effect::Unlock(by, lock, _) => Note::Gives { process: by, lock },
            _ => return None,
        })
    }

    /// What a process asks for now.
    pub(in crate::simulate::kernel) fn note_asks(&self, process: Process) -> Option<Note> {
        self.ledger.as_ref()?;
        let condition = self.condition(self.core_of(process), process)?;
        Some(Note::Asks { process, condition })
    }

    /// A task waits no longer, because of an event.
    pub(in crate::simulate::kernel) fn note_freed(
        &self,
        core: usize,
        task: usize,
        event: Option<usize>,
        by: Stimulus,
    ) -> Option<Note> {
        self.ledger.as_ref()?;
        let condition = self.condition(core, Process::Task(task))?;
        Some(Note::Freed { task, event: event?, by, condition })
    }

    /// Who has a core: its innermost handler, else its running task.
    fn seat(&self, core: usize) -> Option<Process> {
        if let Some(frame) = self.cores.get(core)?.frames.last() {
            return Some(Process::Handler(frame.handler));
        }
        let is_running = |task: &Task| task.core == core && task.status == Status::Running;
        self.tasks.iter().position(is_running).map(Process::Task)
    }

    /// What a process does, by its status and by what it asks for.
    fn condition(&self, core: usize, process: Process) -> Option<Condition> {
        let (asks, status, begun) = match process {
            Process::Task(task) => {
                let task = self.tasks.get(task)?;
                (&task.asks, task.status, task.begun)
            }
            Process::Handler(handler) => {
                let frames = &self.cores.get(core)?.frames;
                let place = frames.iter().rposition(|frame| frame.handler == handler)?;
                let is_last = place + 1 == frames.len();
                let status = if is_last { Status::Running } else { Status::Ready };
                (&frames.get(place)?.asks, status, true)
            }
            Process::Nobody => return None,
        };
        let lock = asks.lock();
        let state = match (status, lock) {
            (Status::Waiting, _) => State::Waiting,
            // A handler interrupts a task, which keeps its status.
            (Status::Running, _) if self.seat(core) == Some(process) && !asks.is_parked() => match lock {
                Some(_) => State::Polling,
                None => State::Running,
            },
            _ if asks.is_parked() => State::Parking,
            _ if begun => State::Ready,
            _ => State::Active,
        };
        Some(Condition { state, lock })
    }

    /// The runnable that a process is in.
    fn innermost(&self, core: usize, process: Process) -> Option<usize> {
        match process {
            Process::Task(task) => self.tasks.get(task)?.program.runnable(),
            Process::Handler(handler) => {
                let mut frames = self.cores.get(core)?.frames.iter().rev();
                frames.find(|frame| frame.handler == handler)?.program.runnable()
            }
            Process::Nobody => None,
        }
    }
}
