//! Tests of the room: curves against all windows, bounds against the literature and simulated systems. Not
//! the command (see `tests/it/bound.rs`).

mod curves;
mod draw;
mod observing;
mod published;
mod robust;
mod simulator;
mod sound;

// What `simulator` and `draw` need.
use super::{Action, Event, Kind, LockKind, Preemption, Process};

/// A task of core 0.
fn task(priority: u32) -> Process {
    Process {
        kind: Kind::Task,
        priority: Some(priority),
        preemption: Preemption::Full,
        core: Some(0),
        place: None,
    }
}

/// An ISR of core 0.
fn isr(priority: u32) -> Process {
    Process { kind: Kind::Isr, ..task(priority) }
}

fn event(time: i64, process: usize, action: Action) -> Event {
    Event { time, process, action }
}
