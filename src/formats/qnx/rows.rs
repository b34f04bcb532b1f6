//! Events of a CPU to rows of `kernel_event`: names, arguments, and the running thread. Also the small tables
//! of a trace, its buffers and attributes. Not the order of the events.

use super::buffers::Buffer;
use super::decoder::Preamble;
use super::printed;
use super::window::Sorted;
use crate::error::Result;
use crate::names::{Name, Numbering};
use crate::qnx::write::{Line, Out as _, hex_padded};
use crate::qnx::{Class, Event, Flavour, Status, Version, arguments, name_of_event, subject, text};
use crate::schema::{
    KernelAttributeRow, KernelAttributeRows, KernelBufferRow, KernelBufferRows, KernelEventRow,
    KernelEventRows,
};
use arrow::array::RecordBatch;
use std::hash::BuildHasher as _;

/// Thread states with a meaning here, the same in all versions.
const RUNNING: u16 = 1;
/// Rows per batch of a CPU; every CPU has one batch in the making.
const EVENTS_OUT: usize = 12 * 1024;
/// Rows per batch of `kernel_buffer`.
const BUFFERS_OUT: usize = 64 * 1024;

#[derive(Default)]
pub(super) struct CpuRows {
    flavour: Flavour,
    rows: KernelEventRows,
    /// The running thread: process and thread.
    running: Option<(i64, i64)>,
    /// Ends of gaps after the current time.
    gap_ends: Vec<i64>,
    /// The latest time so far.
    latest: Option<i64>,
    texts: ArgumentCache,
    rest: String,
}

impl CpuRows {
    pub fn new(flavour: Flavour) -> Self {
        Self { flavour, ..Self::default() }
    }

    /// Adds the next events of the CPU, and the ends of gaps that were found since. Returns full batches, or
    /// all rows if these events are the last.
    pub fn take(&mut self, sorted: &Sorted, gap_ends: Vec<i64>, last: bool) -> Result<Vec<RecordBatch>> {
        self.gap_ends.extend(gap_ends);
        let mut batches = Vec::new();
        let (begin, end) = sorted.span().unzip();
        if self.latest.is_some_and(|latest| begin.is_some_and(|begin| begin < latest)) {
            // These do not belong after the earlier ones: see [`super::window`].
            self.emit(1, &mut batches)?;
        }
        self.latest = end.or(self.latest);
        for (event, time, seq) in sorted.iter() {
            self.row(&event, time, seq);
        }
        self.emit(if last { 1 } else { EVENTS_OUT }, &mut batches)?;
        Ok(batches)
    }

    fn emit(&mut self, at_least: usize, batches: &mut Vec<RecordBatch>) -> Result<()> {
        if self.rows.len() >= at_least {
            batches.push(self.rows.take_batch()?);
        }
        Ok(())
    }

    fn row(&mut self, event: &Event<'_>, time: i64, seq: i64) {
        let unpacked = printed::unpack(event);
        let (event, printed) = match &unpacked {
            Some((event, printed)) => (event, Some(printed.as_str())),
            None => (event, None),
        };
        let ends = self.gap_ends.len();
        self.gap_ends.retain(|end| time < *end);
        if self.gap_ends.len() < ends {
            self.running = None;
        }
        let who = subject(self.flavour, event);
        if event.class == Class::Thread && event.event == RUNNING && event.status == Status::Ok {
            self.running = who.pid.zip(who.tid);
        }
        let line = match printed {
            Some(printed) => Name::Text(printed),
            None => self.texts.of(self.flavour, event),
        };
        let has_words = event.status != Status::Unread;
        self.rest.clear();
        if let Some(more @ [_, ..]) = event.words.get(2..) {
            let mut rest = Line::new(&mut self.rest);
            for (n, word) in more.iter().enumerate() {
                rest.ascii(if n > 0 { b" " } else { b"" });
                hex_padded(&mut rest, u64::from(*word), 8);
            }
            rest.finish();
        }
        let name = text(self.flavour, event);
        let names = EventNames(self.flavour.version);
        self.rows.push(KernelEventRow {
            time,
            seq,
            record: event.record as i64,
            cycles: event.cycles,
            class: i64::from(event.class.number()),
            class_name: Name::Numbered(u32::from(event.class.number()), &ClassNames),
            event: i64::from(event.event),
            event_name: Name::Numbered(number_of(event), &names),
            is64: event.is64,
            flags: i64::from(event.flags),
            status: event.status.as_str().into(),
            pid: who.pid,
            tid: who.tid,
            priority: who.priority,
            policy: who.policy,
            run_pid: self.running.map(|r| r.0),
            run_tid: self.running.map(|r| r.1),
            text: name.as_deref(),
            arguments: line,
            d0: has_words.then(|| u64::from(event.word(0))),
            d1: has_words.then(|| u64::from(event.word(1))),
            rest: (event.words.len() > 2).then_some(&self.rest),
        });
    }
}

struct EventNames(Version);

/// Codes of events have ten bits; unknown codes are longer, and share one name.
fn number_of(event: &Event<'_>) -> u32 {
    match event.class {
        Class::Unknown => 0,
        class => u32::from(class.number()) << 10 | u32::from(event.event & 0x3ff),
    }
}

impl Numbering for EventNames {
    fn name_of(&self, number: u32) -> &str {
        let class = u8::try_from(number >> 10).ok().and_then(Class::of_number);
        name_of_event(self.0, class.unwrap_or(Class::Unknown), (number & 0x3ff) as u16)
    }
}

struct ClassNames;

impl Numbering for ClassNames {
    fn name_of(&self, number: u32) -> &str {
        let class = u8::try_from(number).ok().and_then(Class::of_number);
        class.unwrap_or(Class::Unknown).as_str()
    }
}

/// A cache of the argument texts of events of two words: a CPU does the same things again and again.
#[derive(Default)]
struct ArgumentCache {
    /// By a hash of the event: the last event with that hash, and its text.
    slots: Vec<(Option<Simple>, String)>,
    hasher: foldhash::fast::FixedState,
    longer: String,
}

/// Everything that the arguments of a complete event of two words depend on.
type Simple = (Class, u16, bool, u32, u32);

impl ArgumentCache {
    const SLOTS: usize = 1 << 12;

    fn of(&mut self, flavour: Flavour, event: &Event<'_>) -> Name<'_> {
        let ([d0, d1], Status::Ok) = (event.words, event.status) else {
            self.longer.clear();
            arguments(flavour, event, &mut self.longer);
            return Name::Text(&self.longer);
        };
        if self.slots.is_empty() {
            self.slots.resize_with(Self::SLOTS, Default::default);
        }
        let simple = (event.class, event.event, event.is64, *d0, *d1);
        let mixed = u64::from(*d0) << 32 | u64::from(*d1);
        let mixed = mixed ^ u64::from(event.event) << 20 ^ u64::from(event.class.number()) << 50;
        let slot = self.hasher.hash_one(mixed) as usize & (Self::SLOTS - 1);
        let Some((of, text)) = self.slots.get_mut(slot) else { return Name::Text("") };
        let changed = *of != Some(simple);
        if changed {
            text.clear();
            arguments(flavour, event, text);
            *of = Some(simple);
        }
        Name::Cached { slot: slot as u32, text, changed }
    }
}

pub(super) struct BufferRows {
    rows: KernelBufferRows,
    /// The current buffer, and its time.
    open: Option<(Buffer, i64)>,
    /// Events have the numbers of records, not of lines.
    counts: bool,
}

impl BufferRows {
    /// `counts`: events have the numbers of records, so that the records of a buffer can be counted.
    pub fn new(counts: bool) -> Self {
        Self { rows: KernelBufferRows::new(), open: None, counts }
    }

    /// Begins the next buffer. Returns a batch if it is full.
    pub fn begin(&mut self, buffer: Buffer, time: i64) -> Result<Option<RecordBatch>> {
        self.end(buffer.record);
        self.open = Some((buffer, time));
        Ok(if self.rows.len() >= BUFFERS_OUT { Some(self.rows.take_batch()?) } else { None })
    }

    /// Ends the last buffer, of a file with `records` records.
    pub fn finish(mut self, records: u64) -> Result<RecordBatch> {
        self.end(records);
        self.rows.take_batch()
    }

    fn end(&mut self, record: u64) {
        let Some((buffer, begin_at)) = self.open.take() else { return };
        self.rows.push(KernelBufferRow {
            record: buffer.record as i64,
            cpu: i64::from(buffer.cpu),
            begin_at,
            number: i64::from(buffer.number),
            told: i64::from(buffer.stated_records),
            records: self.counts.then(|| record.saturating_sub(buffer.record) as i64),
            lost: i64::from(buffer.lost),
        });
    }
}

pub(super) fn attributes(source: &str, preamble: &Preamble) -> Result<RecordBatch> {
    let mut rows = KernelAttributeRows::new();
    let syspage = &preamble.syspage;
    let more = [
        // The version in use, which an option may have set instead of the header.
        ("btfdb.version", Some(preamble.flavour.version.to_string())),
        ("syspage.cycles_per_sec", syspage.cycles_per_sec.map(|c| c.to_string())),
        ("syspage.boot_time", syspage.boot_time.map(|t| t.to_string())),
        ("syspage.clock_global", syspage.clock_global.map(|g| g.to_string())),
    ];
    let attributes = preamble.header.attributes.iter().map(|(k, v)| (k.as_str(), v.as_str()));
    let more = more.iter().filter_map(|(k, v)| Some((*k, v.as_deref()?)));
    for (key, value) in attributes.chain(more) {
        rows.push(KernelAttributeRow { source: source.into(), key: key.into(), value });
    }
    rows.take_batch()
}
