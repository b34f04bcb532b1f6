//! The packets of a core to rows of `trace_event`: times, names and parameters. Not where packets begin (see
//! `reader`).

use super::description::Descriptions;
use super::known::{self, EXTENDED, INIT, Kind, MODULEDESC, NOP, OVERFLOW, SYSDESC, TRACE_START, TRACE_STOP};
use super::packet::{Cursor, Packet};
use crate::error::Result;
use crate::formats::payload::Payload;
use crate::formats::{FROM_BEGIN, Gap};
use crate::schema::{TraceEventRow, TraceEventRows};
use crate::time::TimeScale;
use arrow::array::RecordBatch;
use std::collections::BTreeMap;

/// So many numbers and names are counted one by one: a damaged file may have any number of them.
const MOST_KINDS: usize = 1000;
/// Rows per batch.
const BATCH_ROWS: usize = 16 * 1024;

/// The rows of one core, and what they say about the recording.
pub(super) struct CoreRows {
    rows: TraceEventRows,
    payload: Payload,
    cpu: i64,
    seq: i64,
    clock: Clock,
    /// Time of the event before.
    latest: Option<i64>,
    /// Packets that the target could not send, as far as it has said.
    dropped: u32,
    /// The recording was stopped, and not begun again.
    is_stopped: bool,
    found: Found,
}

/// What the packets of a core say, apart from events.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub events: i64,
    pub gaps: Vec<Gap>,
    /// The name of the RTOS.
    pub os: Option<String>,
    /// How many events have a number that nothing describes, by number.
    pub undescribed: BTreeMap<u32, u64>,
    /// How many more there are, of yet other numbers.
    pub others: u64,
    /// How many events hold less than their descriptions say, by name.
    pub short: BTreeMap<String, u64>,
    /// How often the recording was begun again.
    pub restarts: u64,
    /// Times that do not fit.
    pub cut_times: u64,
}

impl Found {
    fn note_undescribed(&mut self, id: u32) {
        if self.undescribed.len() < MOST_KINDS || self.undescribed.contains_key(&id) {
            *self.undescribed.entry(id).or_default() += 1;
        } else {
            self.others += 1;
        }
    }
}

/// Ticks of the target to ticks of the database.
struct Clock {
    /// Ticks of the database per second.
    per_second: i64,
    /// Ticks of the target per second.
    frequency: u32,
    /// Where `ticks` are counted from, in ticks of the database.
    origin: i64,
    /// Ticks of the target since then.
    ticks: u64,
}

impl Clock {
    /// The time now; `None` if it does not fit.
    fn now(&self) -> Option<i64> {
        let since = i128::from(self.ticks) * i128::from(self.per_second) / i128::from(self.frequency.max(1));
        i64::try_from(since + i128::from(self.origin)).ok()
    }

    /// Counts from now on.
    fn restart(&mut self) {
        self.origin = self.now().unwrap_or(i64::MAX);
        self.ticks = 0;
    }
}

impl CoreRows {
    /// For the CPU of this number; `origin` is added to its times, in ticks of the database.
    pub fn new(cpu: usize, frequency: u32, origin: i64, scale: TimeScale) -> Self {
        Self {
            rows: TraceEventRows::new(),
            payload: Payload::default(),
            cpu: cpu as i64,
            seq: 0,
            clock: Clock { per_second: scale.per_second(), frequency, origin, ticks: 0 },
            latest: None,
            dropped: 0,
            is_stopped: false,
            found: Found::default(),
        }
    }

    /// Adds a packet.
    pub fn push(&mut self, packet: &Packet<'_>, descriptions: &mut Descriptions) {
        // A target that records into a ring repeats the begin every 256 events, without a pause.
        let begins = packet.id == TRACE_START && (self.seq == 0 || self.is_stopped);
        if !begins {
            self.clock.ticks = self.clock.ticks.saturating_add(u64::from(packet.delta));
        } else if self.is_stopped {
            // The time before it is not of this recording.
            self.clock.restart();
            self.is_stopped = false;
            self.found.restarts += 1;
            self.lose("restarted", self.clock.now());
        }
        self.is_stopped |= packet.id == TRACE_STOP;
        let time = self.clock.now().unwrap_or_else(|| {
            self.found.cut_times += 1;
            i64::MAX
        });
        if let Some(gap) = self.found.gaps.last_mut().filter(|gap| gap.end.is_none()) {
            gap.end = Some(time);
        }
        self.learn(packet, time, descriptions);
        self.payload.begin();
        let number;
        let name = match known::event(packet.id) {
            Some((name, parameters)) => {
                let is_whole = values(&mut self.payload, Cursor(packet.parameters), parameters);
                self.note_short(is_whole, name);
                name
            }
            None => match (packet.id, descriptions.get(packet.id)) {
                (_, Some(event)) => {
                    let is_whole = values(&mut self.payload, Cursor(packet.parameters), &event.parameters);
                    self.note_short(is_whole, &event.name);
                    &event.name
                }
                (EXTENDED, None) if let Some((event, rest)) = extended(packet.parameters) => {
                    let is_whole = values(&mut self.payload, rest, event.1);
                    self.note_short(is_whole, event.0);
                    event.0
                }
                (id, None) => {
                    self.found.note_undescribed(id);
                    self.payload.key("bytes");
                    self.payload.hex(packet.parameters);
                    number = id.to_string();
                    &number
                }
            },
        };
        self.rows.push(TraceEventRow {
            cpu: Some(self.cpu),
            time,
            seq: self.seq,
            name: name.into(),
            payload: self.payload.end(),
        });
        self.seq += 1;
        self.latest = Some(time);
    }

    /// The rows so far, if they fill a batch.
    pub fn full(&mut self) -> Result<Option<RecordBatch>> {
        if self.rows.len() < BATCH_ROWS { Ok(None) } else { self.rest().map(Some) }
    }

    /// The remaining rows.
    pub fn rest(&mut self) -> Result<RecordBatch> {
        self.rows.take_batch()
    }

    /// What the packets have said.
    pub fn take_found(&mut self) -> Found {
        Found { events: self.seq, ..std::mem::take(&mut self.found) }
    }

    /// Bytes that are no packets were passed over: what they held is not known.
    pub fn passed_over(&mut self) {
        self.lose("damaged", None);
    }

    /// What a packet says about the recording.
    fn learn(&mut self, packet: &Packet<'_>, time: i64, descriptions: &mut Descriptions) {
        let mut cursor = Cursor(packet.parameters);
        match packet.id {
            INIT => {
                if let Ok(frequency) = cursor.number()
                    && frequency > 0
                    && frequency != self.clock.frequency
                {
                    self.clock.restart();
                    self.clock.frequency = frequency;
                }
            }
            OVERFLOW => {
                let dropped = cursor.number().unwrap_or_default();
                if dropped != self.dropped {
                    self.dropped = dropped;
                    self.lose("overflow", Some(time));
                }
            }
            SYSDESC => {
                let text = cursor.text().map(String::from_utf8_lossy).unwrap_or_default();
                let os = text.split(',').find_map(|part| part.trim().strip_prefix("O=").map(str::to_owned));
                self.found.os = self.found.os.take().or(os);
            }
            MODULEDESC => {
                let (_, first) = (cursor.number(), cursor.number());
                if let (Ok(first), Ok(text)) = (first, cursor.text()) {
                    descriptions.add_module(&String::from_utf8_lossy(text), first);
                }
            }
            _ => {}
        }
    }

    /// Events are missing between the one before and the next, which is at `end` if that is known.
    fn lose(&mut self, reason: &str, end: Option<i64>) {
        self.found.gaps.push(Gap {
            begin: self.latest.unwrap_or(FROM_BEGIN),
            end,
            core: Some(core_name(self.cpu)),
            reason: reason.to_owned(),
        });
    }

    fn note_short(&mut self, is_whole: bool, name: &str) {
        if !is_whole {
            *self.found.short.entry(name.to_owned()).or_default() += 1;
        }
    }
}

/// What BTF calls the CPU of this number.
pub(super) fn core_name(cpu: i64) -> String {
    format!("Core_{cpu}")
}

/// Whether a packet is one that only fills.
pub(super) fn is_filling(packet: &Packet<'_>) -> bool {
    packet.id == NOP && packet.delta == 0
}

type Known = (&'static str, &'static [(&'static str, Kind)]);

/// An extended event, and its parameters behind its number.
fn extended(parameters: &[u8]) -> Option<(Known, Cursor<'_>)> {
    let mut cursor = Cursor(parameters);
    let event = known::extended(cursor.number().ok()?)?;
    Some((event, cursor))
}

/// Writes the parameters of an event; false if some are missing. Numbers behind the last one belong to it: a
/// description has one name for all of them (`callers=%x` of ESP-IDF). Bytes that are no numbers are kept.
fn values(payload: &mut Payload, mut rest: Cursor<'_>, parameters: &[(impl AsRef<str>, Kind)]) -> bool {
    let mut is_whole = true;
    for (n, (name, kind)) in parameters.iter().enumerate() {
        let mut own = rest;
        is_whole = rest.skip(*kind).is_ok();
        if !is_whole {
            rest = own;
            break;
        }
        payload.key(name.as_ref());
        let is_last = n + 1 == parameters.len();
        match numbers(rest).filter(|more| is_last && !more.is_empty()) {
            None => value(payload, &mut own, *kind),
            Some(more) => {
                payload.begin_list();
                value(payload, &mut own, *kind);
                more.into_iter().for_each(|number| payload.unsigned(u64::from(number)));
                payload.end_list();
                rest = Cursor(&[]);
            }
        }
    }
    if !rest.0.is_empty() {
        payload.key("bytes");
        payload.hex(rest.0);
    }
    is_whole
}

/// All of the rest as numbers; `None` if it is something else.
fn numbers(mut rest: Cursor<'_>) -> Option<Vec<u32>> {
    let mut numbers = Vec::new();
    while !rest.0.is_empty() {
        numbers.push(rest.number().ok()?);
    }
    Some(numbers)
}

/// Writes a parameter that is there.
fn value(payload: &mut Payload, rest: &mut Cursor<'_>, kind: Kind) {
    let mut number = || rest.number().unwrap_or_default();
    match kind {
        Kind::Unsigned => payload.unsigned(u64::from(number())),
        Kind::Signed => payload.signed(i64::from(number().cast_signed())),
        Kind::List => {
            payload.begin_list();
            (0..number()).for_each(|_| payload.signed(i64::from(number().cast_signed())));
            payload.end_list();
        }
        Kind::Text => payload.bytes(rest.text().unwrap_or_default()),
    }
}
