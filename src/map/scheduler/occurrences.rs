//! The stored events that have a meaning for the mapping, of all streams in the order of time, with the
//! parameters that it needs. Not what follows from them (see `rules`).

use crate::description::{Meaning, SchedulerProfile, Side};
use crate::error::Result;
use crate::map::{StoredRows, merged};
use crate::names::Memo;
use crate::schema::{tables, view};
use arrow::array::RecordBatch;
use serde_json::Value;
use std::ops::ControlFlow;
use std::sync::Arc;

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum What {
    Task {
        task: u64,
        name: String,
        priority: Option<i64>,
    },
    Create(u64),
    Ready(u64),
    Run(u64),
    Stop,
    Block(u64),
    End(u64),
    Idle,
    IsrBegin(u64),
    IsrEnd,
    IsrEndToScheduler,
    /// Numbers of ISRs and their names.
    IsrNames(Vec<(u64, String)>),
    /// The priority of a task changes, given by its number or its address.
    Reorder {
        task: Named,
        ready_is: Side,
    },
    Addresses {
        base: u64,
        shift: u64,
    },
    Mark {
        mark: u64,
        value: u64,
    },
    MarkName {
        mark: u64,
        name: String,
    },
    /// It lacks a parameter that its meaning needs.
    Unread,
}

/// How a task is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Named {
    Number(u64),
    Address(u64),
}

/// An event with a meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occurrence {
    /// In ticks.
    pub time: i64,
    /// 0 where the trace does not tell it.
    pub cpu: i64,
    pub(super) what: What,
}

view! {
    struct Events of trace_event { cpu, time, name, payload }
}

/// Passes each event with a meaning to `take`, until it breaks. At one instant, those of the stream whose
/// name comes first are first.
pub(super) fn in_order(
    rows: &impl StoredRows,
    profile: &Arc<SchedulerProfile>,
    take: impl FnMut(&Occurrence) -> Result<ControlFlow<()>>,
) -> Result<()> {
    let streams = rows.cores(tables::TRACE_EVENT).into_iter().map(|stream| {
        let (profile, mut meanings) = (Arc::clone(profile), Memo::default());
        let decode = move |batch: RecordBatch| occurrences(&batch, &profile, &mut meanings);
        rows.read(tables::TRACE_EVENT, Some(stream), Events::COLUMNS, decode)
    });
    merged::in_order(streams.collect(), |occurrence| occurrence.time, take)
}

/// The events of a batch that have a meaning.
fn occurrences(
    batch: &RecordBatch,
    profile: &SchedulerProfile,
    meanings: &mut Memo<Option<Meaning>>,
) -> Result<Vec<Occurrence>> {
    let events = Events::of(batch)?;
    meanings.follow(events.name.dictionary(), |name| profile.event.get(name).cloned());
    let mut found = Vec::new();
    for row in 0..events.len() {
        let key = events.name.keys().get(row).copied().unwrap_or(u32::MAX);
        if let Some(meaning) = meanings.get(key as usize).and_then(Option::as_ref) {
            let what = what(meaning, events.payload.value(row)).unwrap_or(What::Unread);
            found.push(Occurrence {
                time: events.time.value(row),
                cpu: events.cpu.get(row).unwrap_or(0),
                what,
            });
        }
    }
    Ok(found)
}

/// What an event says; `None` if it lacks a parameter.
fn what(meaning: &Meaning, payload: &str) -> Option<What> {
    let parameters = || serde_json::from_str::<Value>(payload).ok();
    let number = |name: &String| parameters()?.get(name)?.as_u64();
    let text = |name: &String| Some(parameters()?.get(name)?.as_str()?.to_owned());
    Some(match meaning {
        Meaning::Task { task, name, priority } => What::Task {
            task: number(task)?,
            name: text(name)?,
            priority: priority.as_ref().and_then(|priority| parameters()?.get(priority)?.as_i64()),
        },
        Meaning::Create { task } => What::Create(number(task)?),
        Meaning::Ready { task } => What::Ready(number(task)?),
        Meaning::Run { task } => What::Run(number(task)?),
        Meaning::Stop => What::Stop,
        Meaning::Block { task } => What::Block(number(task)?),
        Meaning::End { task } => What::End(number(task)?),
        Meaning::Idle => What::Idle,
        Meaning::IsrBegin { isr } => What::IsrBegin(number(isr)?),
        Meaning::IsrEnd => What::IsrEnd,
        Meaning::IsrEndToScheduler => What::IsrEndToScheduler,
        Meaning::Texts { text: name } => What::IsrNames(isr_names(&text(name)?)),
        Meaning::Reorder { task, address, ready_is } => {
            let named = task.as_ref().and_then(number).map(Named::Number);
            let named = named.or_else(|| address.as_ref().and_then(number).map(Named::Address));
            What::Reorder { task: named?, ready_is: *ready_is }
        }
        Meaning::Addresses { base, shift } => What::Addresses { base: number(base)?, shift: number(shift)? },
        Meaning::Mark { mark, value } => What::Mark { mark: number(mark)?, value: *value },
        Meaning::MarkName { mark, name } => What::MarkName { mark: number(mark)?, name: text(name)? },
    })
}

/// `I#5=SysTick`, one or several, among other things.
fn isr_names(text: &str) -> Vec<(u64, String)> {
    let one = |part: &str| {
        let (number, name) = part.trim().strip_prefix("I#")?.split_once('=')?;
        Some((number.parse().ok()?, name.to_owned()))
    };
    text.split(',').filter_map(one).collect()
}
