//! The vocabulary of BTF: the specification as data (see [`spec`]), the fields of a line, interned names, and
//! the event that the mappers write. Not a reader or writer of BTF files (see `formats`, `export`).

pub mod date;
mod event;
pub mod freertos;
mod idle;
mod line;
mod names;
mod record;
pub mod remark;
pub mod spec;

pub use event::{Actor, Event, KnownState, Note};
pub use idle::IdleTasks;
pub use line::{Fields, Unreadable};
pub use names::{MOST_NAMES, NameId, NameMap, Names};
pub use record::{Place, Record, Records};
pub use spec::{Action, EntityType, State};
