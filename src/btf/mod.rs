//! The vocabulary of BTF as data: entity types, actions, the process, runnable and semaphore state charts, the fields
//! of a line, and the event row that the mapper writes. Not a reader or writer of BTF files (see `formats`, `export`).

mod charts;
mod event;
mod line;
mod names;
mod record;
pub mod spec;

pub use charts::{
    ProcessState, RunnableState, SemaphoreState, process_transition, runnable_transition,
    semaphore_transition,
};
pub use event::{Action, EntityType, Event, Note};
pub use line::{Fields, Unreadable};
pub use names::{IdHasher, IdMap, NameId, NameMap, Names};
pub use record::{Place, Record, Records};
