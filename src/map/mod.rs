//! Maps recorded events to system events of BTF, by the rules of each kind of recording. Batches in, events
//! and rows out; knows no files, no Parquet, no SQL, no threads.
//!
//! A kind of recording is one folder here, with one implementation of [`Mapper`], and one line in
//! `ops::map::MAPPERS`. A mapper is sequential: its output does not depend on the number of threads. The
//! driver in `ops::map` decodes rows before the mapper and writes tables after it, on other threads. The
//! rules are those of `docs/mapping.md`; no library has them.

pub mod grasp;
pub mod hooks;
mod merged;
pub mod osek;
#[cfg(test)]
mod printed;
mod process;
mod processes;
pub mod qnx;
pub mod scheduler;
mod state;
mod streams;
pub mod task_events;

pub use state::SavedState;

use crate::btf::{Actor, EntityType, Event, KnownState, NameId, Names};
use crate::description::Profile;
use crate::diagnostics::Log;
use crate::error::Result;
use crate::schema::TableSpec;
use crate::time::TimeScale;
use arrow::array::RecordBatch;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::ops::ControlFlow;

/// `diagnostic.source` of findings of the mapping.
pub const MAP_SOURCE: &str = "map";

/// The note of an [`Output::Closing`] of a process or runnable.
pub const UNSEEN: &str = "unseen";

/// The same in recordings of QNX, where it is of a gap (rule Q28 of docs/mapping.md).
pub const UNSEEN_AT_GAP: &str = "gap";

/// Maps the recordings of one kind. The driver calls, in this order: [`Mapper::new`]; [`Mapper::resume`], if
/// the recording continues another one; for each look-ahead [`Mapper::read`] with [`Mapper::look_ahead`],
/// then [`Mapper::end_look_ahead`]; [`Mapper::read`] with [`Mapper::event`]; [`Mapper::finish`]. Gaps come
/// between the events, each before the first event that is later than its begin.
pub trait Mapper: Sized {
    /// Its name in the stored setup and state of a recording.
    const NAME: &'static str;
    /// Changes with the meaning of [`Mapper::State`]; a state of another version is not resumed.
    const STATE_VERSION: u32;
    /// The tables that it reads.
    const TABLES: &'static [&'static TableSpec];
    /// The tables of its own that it writes, in addition to those of system events.
    const NATIVE_TABLES: &'static [&'static TableSpec] = &[];
    /// The number of look-aheads: how often it reads the recording before it maps it.
    const LOOK_AHEADS: usize;
    /// False for traces that may lack the activations of their tasks.
    const TELLS_ACTIVATIONS: bool = true;

    /// The settings of a recording, as they are stored with it.
    type Settings: Serialize + DeserializeOwned;
    /// One stored event, with its names and words borrowed from the rows.
    type Event<'a>;
    /// Rows of [`Mapper::NATIVE_TABLES`].
    type NativeRows: NativeRows;
    /// What is needed to map a recording that continues this one.
    type State: Serialize + DeserializeOwned;

    /// A mapper at the begin of a recording. Fails for settings that cannot be used.
    fn new(settings: Self::Settings, recording: &Recording<'_>) -> Result<Self>;

    /// Continues from the state at the end of an earlier recording. Its names are those of [`Mapper::names`].
    /// Fails when the state is of another application.
    fn resume(&mut self, state: Self::State) -> Result<()>;

    /// Passes all events of a recording to `take`, in the order of time, until it breaks. `pass` is the
    /// number of the look-ahead, from 0; [`Mapper::LOOK_AHEADS`] for the mapping itself.
    fn read<R: StoredRows>(
        &mut self,
        rows: &R,
        pass: usize,
        take: impl FnMut(&mut Self, &Self::Event<'_>) -> Result<ControlFlow<()>>,
    ) -> Result<()>;

    /// The time of an event, in ticks.
    fn time_of(event: &Self::Event<'_>) -> i64;

    /// Learns from an event before it is mapped; breaks if the rest of the recording would add nothing.
    fn look_ahead(&mut self, pass: usize, event: &Self::Event<'_>) -> ControlFlow<()>;

    /// Learns of a gap, see [`Mapper::look_ahead`].
    fn look_ahead_gap(&mut self, _pass: usize, _gap: &Gap) {}

    /// Ends a look-ahead.
    fn end_look_ahead(&mut self, pass: usize);

    /// First and last instant of the recording in ticks, both inclusive, after all look-aheads.
    fn range(&self) -> (i64, i64);

    /// Maps an event.
    fn event(&mut self, event: &Self::Event<'_>);

    /// Maps a gap.
    fn gap(&mut self, gap: &Gap);

    /// Patterns of the names of idle tasks, see [`crate::btf::IdleTasks`].
    fn idle_tasks(&self) -> Result<Vec<String>> {
        Ok(Profile::generic()?.idle_tasks)
    }

    /// Tasks that are idle tasks whatever their names are, as far as they are known by now; of those in
    /// events, all.
    fn known_idle_tasks(&self) -> &[NameId] {
        &[]
    }

    /// What the description of the recording says about entities, each (type, name) once.
    fn entities(&self) -> Vec<EntityFacts> {
        Vec::new()
    }

    /// The names of all entities in events and rows so far. Ids stay valid.
    fn names(&self) -> &Names;

    /// As [`Mapper::names`], for adding names.
    fn names_mut(&mut self) -> &mut Names;

    /// Takes the events that are final by now, if they are at least `at_least`.
    fn take(&mut self, at_least: usize) -> Option<Vec<Output>>;

    /// Takes the native rows so far, if a table has at least `_at_least`.
    fn take_rows(&mut self, _at_least: usize) -> Option<Self::NativeRows> {
        None
    }

    /// Ends the recording: open instances stay open.
    fn finish(&mut self) -> Finished<Self>;
}

/// The remaining output after all events.
pub struct Finished<M: Mapper> {
    /// The last events.
    pub outputs: Vec<Output>,
    /// The last native rows.
    pub rows: M::NativeRows,
    /// Findings of the mapping.
    pub log: Log,
    /// Events that a rule used.
    pub relevant: u64,
    /// The state to store.
    pub state: M::State,
}

/// What is known of a recording before its events are read.
#[derive(Debug, Clone, Copy)]
pub struct Recording<'a> {
    /// Its first instant, in ticks.
    pub begin: i64,
    /// Its last instant, in ticks.
    pub end: i64,
    /// The unit of ticks.
    pub time_scale: TimeScale,
    /// Its gaps, by begin.
    pub gaps: &'a [Gap],
}

/// A gap in a trace, `[begin, end)` in ticks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// The core whose trace has the gap; `None` if all of them have.
    pub core: Option<String>,
    /// Begin of the gap.
    pub begin: i64,
    /// First instant after it.
    pub end: i64,
}

/// What a description says about an entity: a row of table `entity`, which documents the fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntityFacts {
    pub kind: EntityType,
    pub name: String,
    pub core: Option<String>,
    pub priority: Option<i64>,
    pub activation_limit: Option<i64>,
    pub period: Option<i64>,
    pub cycle: Option<i64>,
    pub preemption: Option<&'static str>,
    pub mask: Option<u64>,
    pub process: Option<String>,
    pub file: Option<String>,
}

impl EntityFacts {
    /// An entity of which only the name is known.
    pub fn new(kind: EntityType, name: impl Into<String>) -> Self {
        Self {
            kind,
            name: name.into(),
            core: None,
            priority: None,
            activation_limit: None,
            period: None,
            cycle: None,
            preemption: None,
            mask: None,
            process: None,
            file: None,
        }
    }
}

/// The output of a mapper, in the order of time. Nothing is derived for the time before the first output that
/// is about an instance, nor for the time inside a gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// A system event.
    Event(Event),
    /// A system event that was not recorded, but keeps the rules of BTF across a gap, which BTF does not
    /// have: what is open ends, and an instance starts that may have run before. Nothing is derived from it.
    /// Of a process or runnable, it has the note [`UNSEEN`]; in QNX, [`UNSEEN_AT_GAP`] if it ends something.
    Closing(Event),
    /// The activation of an instance that was activated at an unknown time before: BTF wants one. Nothing is
    /// known of the instance until then, and it is never complete.
    Assumed(Event),
    /// What is known of an instance without an event. It is no event of BTF.
    Known(KnownState),
    /// The state of an instance is unknown from an instant on until its next event: what ends it may lie in a
    /// gap, on another core. It is no event of BTF.
    Lost {
        /// The process and its instance.
        process: Actor,
        /// In ticks.
        time: i64,
    },
    /// An instance of an ISR is one of a process with another name or number: BTF knows an ISR by its name
    /// only, and several cores may have a handler of one name. It comes before the events of the instance,
    /// and concerns derived tables only.
    Handler {
        /// The ISR and the instance of the events.
        isr: Actor,
        /// The process and its instance.
        process: Actor,
    },
    /// A gap in the trace of a core, `[begin, end)`: everything that is open there is cut off.
    Gap {
        /// The core.
        core: NameId,
        /// Begin of the gap.
        begin: i64,
        /// First instant after it.
        end: i64,
    },
}

/// The stored rows of a recording.
pub trait StoredRows {
    /// The cores that have rows of `table`, each once.
    fn cores(&self, table: &TableSpec) -> Vec<String>;

    /// The rows of one table and core in the order of (time, seq), decoded in advance, batch by batch. Only
    /// `columns` need be in the batches.
    fn read<T: Send + 'static>(
        &self,
        table: &'static TableSpec,
        core: Option<String>,
        columns: &'static [&'static str],
        decode: impl FnMut(RecordBatch) -> Result<T> + Send + 'static,
    ) -> impl Iterator<Item = Result<T>>;
}

/// Rows of tables that only recordings of one kind have.
pub trait NativeRows: Default + Send + 'static {
    /// Takes the rows of each table, in the order of [`Mapper::NATIVE_TABLES`].
    fn take_batches(&mut self) -> Result<Vec<RecordBatch>>;
}

/// For mappers without such tables.
impl NativeRows for () {
    fn take_batches(&mut self) -> Result<Vec<RecordBatch>> {
        Ok(Vec::new())
    }
}
