//! What a recording says against an assumption, in words. Not how it was found.

use super::system::System;
use crate::bound::{Contradiction, Evidence};
use crate::picture::exact;
use crate::time::TimeScale;

/// One sentence without its full stop.
pub(super) fn of(contradiction: &Contradiction, system: &System, scale: TimeScale) -> String {
    let Contradiction { by, amount, what, .. } = contradiction;
    let by = by.and_then(|by| system.processes.get(by)).map_or("another task", |known| known.name.as_str());
    let duration = || exact(*amount, scale);
    match what {
        Evidence::Exceeded => format!("a response is {} above the bound", duration()),
        Evidence::Overtaken => format!("{by} started {} before it", times(*amount)),
        Evidence::Inversion => format!("{by} kept the core for {}, and nothing says why", duration()),
        Evidence::Migrated => format!("{by} ran on several cores: {amount} of its jobs"),
        Evidence::Yielded => format!("another task ran {} while it was preempted", times(*amount)),
        Evidence::Incomplete => format!("{by} has {amount} jobs of which the recording has a part only"),
        Evidence::Disorder => format!("{amount} events are not in the order of time"),
    }
}

fn times(amount: i64) -> String {
    if amount == 1 { "once".to_owned() } else { format!("{amount} times") }
}
