//! The BTF state charts as data: which action is legal in which state, and where it leads. Not a checker
//! of files and not the state of anything.

use super::Action;
use crate::schema::{Name, Numbering};

/// Process states (BTF 2.1.5 §2.3: OSEK 2.2.3 extended task, plus polling and parking).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProcessState {
    /// Activated, not started.
    Active,
    /// Executing on a core.
    Running,
    /// Preempted or released, off the core.
    Ready,
    /// Waiting for an OS event, off the core.
    Waiting,
    /// Waiting actively for a semaphore, on the core.
    Polling,
    /// Was polling, off the core.
    Parking,
    /// Ended, or never activated.
    Terminated,
}

impl ProcessState {
    /// Every state.
    pub const ALL: [Self; 7] = [
        Self::Active,
        Self::Running,
        Self::Ready,
        Self::Waiting,
        Self::Polling,
        Self::Parking,
        Self::Terminated,
    ];

    /// The word of table `process_state`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Running => "running",
            Self::Ready => "ready",
            Self::Waiting => "waiting",
            Self::Polling => "polling",
            Self::Parking => "parking",
            Self::Terminated => "terminated",
        }
    }

    /// True for the states that occupy a core.
    pub fn on_core(self) -> bool {
        matches!(self, Self::Running | Self::Polling)
    }
}

impl From<ProcessState> for Name<'static> {
    fn from(state: ProcessState) -> Self {
        struct States;
        impl Numbering for States {
            fn name_of(&self, number: u32) -> &str {
                ProcessState::ALL.get(number as usize).map_or("", |state| state.as_str())
            }
        }
        Self::Numbered(state as u32, &States)
    }
}

/// Runnable states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RunnableState {
    /// Executing.
    Running,
    /// Its process left the core.
    Suspended,
    /// Ended, or never started.
    Terminated,
}

/// Semaphore states used by OSEK resources and spinlocks, which are binary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SemaphoreState {
    /// Before `ready`.
    NotInitialized,
    /// Nobody holds it.
    Free,
    /// Held.
    Full,
    /// Held, and somebody waits.
    Overfull,
}

/// The (from, to) states of a process action; `None` for actions that are not process transitions.
/// `mtalimitexceeded` is a notification on an instance that never comes into being: Terminated → Terminated.
pub fn process_transition(action: Action) -> Option<(ProcessState, ProcessState)> {
    use ProcessState::*;
    Some(match action {
        Action::Activate => (Terminated, Active),
        Action::Start => (Active, Running),
        Action::Preempt => (Running, Ready),
        Action::Resume => (Ready, Running),
        Action::Terminate => (Running, Terminated),
        Action::Wait => (Running, Waiting),
        Action::Release => (Waiting, Ready),
        Action::Poll => (Running, Polling),
        Action::Run => (Polling, Running),
        Action::Park => (Polling, Parking),
        Action::PollParking => (Parking, Polling),
        Action::ReleaseParking => (Parking, Ready),
        Action::MtaLimitExceeded => (Terminated, Terminated),
        _ => return None,
    })
}

/// The (from, to) states of a runnable action. A suspended runnable may be terminated, because a process
/// that ends inside a runnable takes it along (BTF 2.1.5: all runnables end before their process).
pub fn runnable_transition(action: Action) -> Option<(RunnableState, RunnableState)> {
    use RunnableState::*;
    Some(match action {
        Action::Start => (Terminated, Running),
        Action::Suspend => (Running, Suspended),
        Action::Resume => (Suspended, Running),
        Action::Terminate => (Running, Terminated),
        _ => return None,
    })
}

/// The state after `action` on a semaphore in `state`; `None` when the chart has no such edge. Actions of
/// processes on a semaphore (`requestsemaphore`, `assigned`, `waiting`, `released`) do not move it.
pub fn semaphore_transition(state: SemaphoreState, action: Action) -> Option<SemaphoreState> {
    use SemaphoreState::*;
    match (state, action) {
        (NotInitialized, Action::Ready) => Some(Free),
        (Free, Action::Lock) => Some(Full),
        (Full, Action::Unlock) => Some(Free),
        (Full | Overfull, Action::Overfull) => Some(Overfull),
        (Overfull, Action::Full) => Some(Full),
        (s, Action::RequestSemaphore | Action::Assigned | Action::Waiting | Action::Released) => Some(s),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_process_state_but_the_end_is_left_and_reached() {
        for state in ProcessState::ALL {
            let edges = Action::ALL.iter().filter_map(|a| process_transition(*a));
            assert!(edges.clone().any(|(from, _)| from == state), "{state:?} is never left");
            assert!(edges.clone().any(|(_, to)| to == state), "{state:?} is never reached");
        }
    }

    #[test]
    fn words_round_trip() {
        for a in Action::ALL {
            assert_eq!(Action::parse(a.as_str()), Some(*a));
        }
    }

    #[test]
    fn an_overfull_semaphore_cannot_be_unlocked_directly() {
        assert_eq!(semaphore_transition(SemaphoreState::Overfull, Action::Unlock), None);
    }
}
