//! The stored rows of all cores in the order of time, then of the cores. Not what they mean (see `rules`).

use crate::error::Result;
use crate::map::{StoredRows, merged};
use crate::names::Memo;
use crate::schema::{tables, view};
use arrow::array::RecordBatch;
use std::ops::ControlFlow;
use std::sync::Arc;

/// A row of a task event export.
#[derive(Debug, Clone)]
pub struct TaskEvent {
    /// In ticks.
    pub time: i64,
    /// Its core: an index.
    pub core: usize,
    /// The task, ISR or runnable.
    pub name: Arc<str>,
    /// What happens to it.
    pub kind: Kind,
}

/// What happens, by the words of the export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Activate,
    Start,
    Preempt,
    Resume,
    Wait,
    Release,
    Terminate,
    IsrStart,
    IsrEnd,
    RunnableStart,
    RunnableStop,
    /// `switch`, `schedule`, `stop`, and words that are not of task events.
    Other,
}

impl Kind {
    /// The meaning of a word of column `kind`.
    fn of(word: &str) -> Self {
        match word {
            "activate" => Self::Activate,
            "start" => Self::Start,
            "preempt" => Self::Preempt,
            "resume" => Self::Resume,
            "wait" => Self::Wait,
            "release" => Self::Release,
            "terminate" => Self::Terminate,
            "isr_entry" => Self::IsrStart,
            "isr_exit" => Self::IsrEnd,
            "runnable_start" => Self::RunnableStart,
            "runnable_stop" => Self::RunnableStop,
            _ => Self::Other,
        }
    }
}

view! {
    struct Events of function_event { time, function, kind }
}

/// Passes each row to `take`, until it breaks.
pub(super) fn in_order(
    rows: &impl StoredRows,
    cores: Vec<String>,
    take: impl FnMut(&TaskEvent) -> Result<ControlFlow<()>>,
) -> Result<()> {
    let streams = cores.into_iter().enumerate().map(|(core, name)| {
        let (mut names, mut kinds) = (Memo::default(), Memo::default());
        let decode = move |batch: RecordBatch| events_of(&batch, core, &mut names, &mut kinds);
        rows.read(tables::FUNCTION_EVENT, Some(name), Events::COLUMNS, decode)
    });
    merged::in_order(streams.collect(), |event| event.time, take)
}

fn events_of(
    batch: &RecordBatch,
    core: usize,
    names: &mut Memo<Arc<str>>,
    kinds: &mut Memo<Kind>,
) -> Result<Vec<TaskEvent>> {
    let rows = Events::of(batch)?;
    names.follow(rows.function.dictionary(), |name| Arc::from(name));
    kinds.follow(rows.kind.dictionary(), Kind::of);
    let key = |keys: &[u32], row: usize| keys.get(row).copied().unwrap_or(u32::MAX) as usize;
    let event = |row| {
        let name = names.get(key(rows.function.keys(), row)).cloned().unwrap_or_default();
        let kind = kinds.get(key(rows.kind.keys(), row)).copied().unwrap_or(Kind::Other);
        TaskEvent { time: rows.time.value(row), core, name, kind }
    };
    Ok((0..rows.len()).map(event).collect())
}
