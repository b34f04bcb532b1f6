//! The stored events of all CPUs, in the order of (time, seq). Not what they mean.

use super::Occurrence;
use crate::error::Result;
use crate::map::StoredRows;
use crate::map::streams::{self, Place, Stream};
use crate::qnx::{Class, Event, Status};
use crate::schema::{Translated, tables, view};
use arrow::array::RecordBatch;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

view! {
    struct Events of kernel_event { time, seq, class, event, is64, flags, status, text, d0, d1, rest }
}

/// Passes the events of all CPUs to `take`, until it breaks.
pub(super) fn in_order(
    rows: &impl StoredRows,
    mut take: impl FnMut(&Occurrence<'_>) -> Result<ControlFlow<()>>,
) -> Result<()> {
    let cpus: BTreeSet<u8> =
        rows.cores(tables::KERNEL_EVENT).iter().filter_map(|cpu| cpu.parse().ok()).collect();
    let stream =
        |cpu: &u8| (Cpu, rows.read(tables::KERNEL_EVENT, Some(cpu.to_string()), Events::COLUMNS, Ok));
    let streams = cpus.iter().map(stream).collect();
    let cpus: Vec<u8> = cpus.iter().copied().collect();
    let mut words = Vec::new();
    streams::in_order(streams, |number, columns, row, (time, _)| {
        let cpu = cpus.get(number).copied().unwrap_or_default();
        take(&columns.occurrence(cpu, row, time, &mut words))
    })
}

struct Cpu;

impl Stream for Cpu {
    type Columns<'b> = Columns<'b>;

    fn columns<'b>(&self, batch: &'b RecordBatch) -> Result<Columns<'b>> {
        let events = Events::of(batch)?;
        // An unknown word counts as damage of the event.
        let status = events.status.translate(|word| Some(Status::parse(word).unwrap_or(Status::Orphan)));
        Ok(Columns { events, status })
    }

    fn place(&self, columns: &Columns<'_>, row: usize) -> Option<Place> {
        Some((columns.events.time.value(row), columns.events.seq.value(row)))
    }
}

struct Columns<'a> {
    events: Events<'a>,
    status: Translated<'a, Status>,
}

impl<'a> Columns<'a> {
    fn occurrence<'w>(&self, cpu: u8, row: usize, time: i64, words: &'w mut Vec<u32>) -> Occurrence<'w>
    where
        'a: 'w,
    {
        let Events { class, event, is64, flags, text, d0, d1, rest, .. } = self.events;
        words.clear();
        words.extend([d0.get(row), d1.get(row)].into_iter().flatten().map(|word| word as u32));
        if let Some(rest) = rest.get(row) {
            words.extend(rest.split(' ').map(|word| u32::from_str_radix(word, 16).unwrap_or(0)));
        }
        let class = u8::try_from(class.value(row)).ok().and_then(Class::of_number);
        let event = Event {
            record: 0,
            cpu,
            flags: flags.value(row) as u8,
            class: class.unwrap_or(Class::Unknown),
            event: event.value(row) as u16,
            is64: is64.value(row),
            status: self.status.get(row).unwrap_or(Status::Orphan),
            cycles: 0,
            words,
        };
        Occurrence { time, event, text: text.get(row) }
    }
}
