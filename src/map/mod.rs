//! Software events to system events: g' : (D, F, o, l, S) → (B, S') of the thesis, chapter 4. Batches in,
//! BTF events out; knows no files, no Parquet, no SQL.
//!
//! * `profile` – what differs between operating systems, as data
//! * `model` – the application: tasks, semaphores, alarms, and the variables they watch (`slots`)
//! * `blocks` – what of the stored software events matters to a rule, by the names in their columns
//! * `merge` – all cores' blocks as one ordered stream of `software` events
//! * `edge` – what held before the first event, and after a hole
//! * `machine` – the rules
//! * `grasp` – Grasp traces, whose commands are about tasks and jobs already
//! * `kernel` – the same for kernel traces of QNX, which have rules, state and tables of their own
//!
//! The machine is sequential, and a small part of the work: it sees only what some rule reads, as numbers. Everything
//! around it – decoding and sieving before, rows, instances and encoding behind – runs on whatever threads there are,
//! in order per table and core (`ops::map`). So nothing here depends on the number of threads.

mod blocks;
mod edge;
pub mod grasp;
pub mod kernel;
mod machine;
mod merge;
mod model;
mod profile;
mod slots;
mod software;

pub use blocks::{Block, Kind, Reader, Relevance};
pub use machine::Output;
pub use merge::{Blocks, CoreInput};
pub use model::{CoreSetup, Model, Setup};
pub use profile::{Profile, SHIPPED};

use crate::btf::Names;
use crate::diagnostics::Log;
use crate::error::Result;
use machine::Machine;
use merge::Merge;

/// `diagnostic.source` of findings of the mapping.
pub const MAP_SOURCE: &str = "map";

/// How many system events are handed over at once.
const HANDOVER: usize = 8192;

/// A hole in the trace of a core, `[begin, end)` in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// Index of the core in the setup.
    pub core: usize,
    /// Begin of the hole.
    pub begin: i64,
    /// First instant after it that is known again.
    pub end: i64,
}

/// What is left when everything is mapped.
pub struct Mapped {
    /// Findings of the mapping.
    pub log: Log,
    /// The end state S' as JSON.
    pub state: serde_json::Value,
    /// Software events that meant something to a rule.
    pub relevant: u64,
}

/// Maps a recording. `open` gives the software events of every core of the setup and is called twice: the first
/// look goes ahead (rules L1–L5). `gaps` are sorted by begin. `sink` gets system events in time order,
/// with the names that their ids mean; ids stay the same from call to call.
pub fn map<'a>(
    mut model: Model,
    begin: i64,
    gaps: &[Gap],
    mut open: impl FnMut() -> Result<Vec<CoreInput<'a>>>,
    mut sink: impl FnMut(Vec<Output>, &Names) -> Result<()>,
) -> Result<Mapped> {
    let scouting = Merge::new(open()?, &mut model)?;
    let mut edges = edge::scout(scouting, &mut model, begin, gaps)?.into_iter();
    let mut machine = Machine::new(model, &edges.next().unwrap_or_default());
    let mut merge = Merge::new(open()?, &mut machine.model)?;
    let mut gaps = gaps.iter().zip(edges).peekable();
    let mut relevant = 0;
    while let Some(event) = merge.next(&mut machine.model)? {
        while let Some((gap, edge)) = gaps.next_if(|(gap, _)| gap.begin < event.time) {
            machine.gap(gap, &edge);
        }
        machine.software(&event);
        relevant += 1;
        if relevant % 1024 == 0
            && let Some(ready) = machine.take(HANDOVER)
        {
            sink(ready, &machine.model.names)?;
        }
    }
    for (gap, edge) in gaps {
        machine.gap(gap, &edge);
    }
    let (rest, log) = machine.finish();
    sink(rest, &machine.model.names)?;
    Ok(Mapped { log, state: machine.snapshot(), relevant })
}
