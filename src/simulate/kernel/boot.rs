//! `StartOS` on each core: tasks and alarms that start with the OS. The order of accesses is that of
//! ERIKA. Not what happens afterwards.

use super::access::{Function, Recorder, Service, Variable};
use super::effect::{Observer, Stimulus};
use super::ready::NONE;
use super::schedule::Occasion;
use super::{Kernel, Op};

impl<R: Recorder, O: Observer> Kernel<'_, R, O> {
    /// Starts the OS of a core.
    pub(super) fn boot(&mut self, core: usize) {
        self.enter(core, Function::StartOs);
        self.write(core, Variable::ServiceTrace, Service::StartOs.entry_code());
        self.read(core, Variable::Started, 0);
        self.write(core, Variable::RunningIsr2, NONE);
        self.write(core, Variable::ApplicationMode, 0);
        self.write(core, Variable::Started, 1);
        let model = self.model;
        let starts = model.tasks.iter().enumerate().filter(|(_, task)| task.core == core && task.autostart);
        for (number, (task, _)) in starts.enumerate() {
            self.read(core, Variable::AutostartTask(number as u32), self.id(task));
            self.activate(core, task, Stimulus::Autostart);
        }
        self.start_counters(core);
        let first = self.first_ready(core);
        let start = [
            Op::Data {
                variable: Variable::ServiceTrace,
                write: true,
                value: Service::StartOs.entry_code() - 1,
            },
            Op::Function(Function::StartOs, false),
        ];
        match first {
            Some(task) => {
                if let Some(state) = self.cores.get_mut(core) {
                    state.start.extend(start);
                }
                let ceiling = self.ceiling(core);
                self.read(core, Variable::Ceiling, ceiling);
                self.dispatch(core, task, Occasion::Start);
            }
            None => self.append(core, start.into()),
        }
    }
}
