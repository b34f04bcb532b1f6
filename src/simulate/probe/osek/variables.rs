//! The variables of a made-up OSEK operating system: their names, widths and numbers. Each is one that its
//! ORTI file names, or a signal. Not when they are accessed (see the module above).

use crate::simulate::kernel::Status;
use crate::simulate::kernel::access::Service;
use crate::simulate::model::Model;

/// A variable. Cores, tasks, alarms and signals have the numbers of the model, locks those of
/// [`Numbers`](super::numbers::Numbers).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Variable {
    RunningTask(usize),
    RunningIsr2(usize),
    ServiceTrace(usize),
    LastError(usize),
    TaskState(usize),
    TaskActivations(usize),
    TaskEvents(usize),
    TaskWaitMask(usize),
    AlarmTime(usize),
    ResourceLocker(usize),
    Signal(usize),
}

/// No task, in the variables of the running task and of the locker.
pub const NO_TASK: u32 = u32::MAX;
/// No ISR; those of category 2 have numbers above it.
pub const NO_ISR: u32 = 0;
/// The number of a locker that is an ISR has this bit; the ORTI file has no label for it.
const LOCKER_IS_ISR: u32 = 1 << 31;

/// The states of tasks, with their numbers.
pub const STATES: [(&str, Status, u32); 4] = [
    ("SUSPENDED", Status::Suspended, 0),
    ("READY", Status::Ready, 1),
    ("RUNNING", Status::Running, 2),
    ("WAITING", Status::Waiting, 3),
];

/// The services of the operating system. It has no spinlocks: who waits for another core calls `GetResource`
/// again and again.
pub const SERVICES: [Service; 10] = [
    Service::StartOs,
    Service::ActivateTask,
    Service::TerminateTask,
    Service::ChainTask,
    Service::Schedule,
    Service::GetResource,
    Service::ReleaseResource,
    Service::SetEvent,
    Service::ClearEvent,
    Service::WaitEvent,
];

impl Variable {
    pub fn name(self, model: &Model) -> String {
        match self {
            Self::RunningTask(core) => format!("osRunningTask[{core}]"),
            Self::RunningIsr2(core) => format!("osRunningIsr2[{core}]"),
            Self::ServiceTrace(core) => format!("osServiceTrace[{core}]"),
            Self::LastError(core) => format!("osLastError[{core}]"),
            Self::TaskState(task) => format!("osTask[{task}].state"),
            Self::TaskActivations(task) => format!("osTask[{task}].activations"),
            Self::TaskEvents(task) => format!("osTask[{task}].events"),
            Self::TaskWaitMask(task) => format!("osTask[{task}].waitMask"),
            Self::AlarmTime(alarm) => format!("osAlarmTime[{alarm}]"),
            Self::ResourceLocker(lock) => format!("osResLocker[{lock}]"),
            Self::Signal(signal) => {
                model.signals.get(signal).map_or_else(String::new, |signal| signal.name.clone())
            }
        }
    }

    /// The width of its value, in hexadecimal digits.
    pub fn digits(self) -> usize {
        match self {
            Self::ServiceTrace(_) | Self::LastError(_) | Self::TaskState(_) => 2,
            _ => 8,
        }
    }
}

/// The number of the state that has the number `status` in the kernels.
pub fn state(status: u32) -> u32 {
    STATES.iter().find(|(_, of, _)| *of as u32 == status).map_or(NO_TASK, |(.., state)| *state)
}

/// The number of an ISR of category 2.
pub fn isr(handler: usize) -> u32 {
    handler as u32 + 1
}

/// The number of a handler as the locker of a resource.
pub fn locker(handler: u32) -> u32 {
    LOCKER_IS_ISR | handler
}

/// The service that the operating system has for one of the kernels.
pub fn service(service: Service) -> Service {
    match service {
        Service::GetSpinlock | Service::TryToGetSpinlock => Service::GetResource,
        Service::ReleaseSpinlock => Service::ReleaseResource,
        service => service,
    }
}

/// The even number of a service of [`SERVICES`]; it is entered with one more.
pub fn service_id(service: Service) -> u32 {
    2 * SERVICES.iter().position(|of| *of == service).unwrap_or_default() as u32
}
