//! Events to rows of `trace_event`: times, and what packets say about lost events. Not the reading of packets
//! (see `packets`).

use super::model::Clock;
use super::packets::{EventFacts, Lowest, PacketFacts, Sink};
use crate::error::Result;
use crate::formats::{FROM_BEGIN, Gap};
use crate::names::Name;
use crate::schema::{TraceEventRow, TraceEventRows};
use crate::time::TimeScale;
use arrow::array::RecordBatch;
use std::collections::BTreeMap;

/// Rows per batch.
const BATCH_ROWS: usize = 16 * 1024;

/// The rows of one stream, and what it says about the recording.
#[derive(Debug)]
pub(super) struct StreamRows {
    rows: TraceEventRows,
    /// Full batches that were not taken yet.
    pub full: Vec<RecordBatch>,
    /// The counts of the present packet's stream, and its number.
    count: Counter,
    stream: Option<u64>,
    /// The counts of the other streams, by number.
    others: BTreeMap<u64, Counter>,
    /// Ticks of the database per second.
    per_second: i64,
    /// Ticks to add to all times.
    time_offset: i64,
    cpu: Option<i64>,
    seq: i64,
    pub found: Found,
}

/// What was found in a stream.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub gaps: Vec<Gap>,
    pub discarded_events: u64,
    pub discarded_packets: u64,
    /// Places where nothing could be read, in bytes, and why.
    pub bad: Vec<(u64, String)>,
    pub bad_count: u64,
    /// Times that do not fit.
    pub cut_times: u64,
}

/// So many places are named.
const MOST_NAMED: usize = 100;

/// What a stream counts: its clock, its packets, and the events that it has lost.
#[derive(Debug)]
struct Counter {
    clock: Clock,
    /// Ticks of the database per cycle, where that is a whole number.
    ticks_per_cycle: Option<i64>,
    /// `None` before the first time.
    cycles: Option<u64>,
    /// The end of what is known: of the last packet, or its last event, in ticks.
    known_until: Option<i64>,
    /// Counts of the last packet.
    discarded: Option<u64>,
    number: Option<u64>,
}

impl Counter {
    fn new(clock: Clock, per_second: i64) -> Self {
        let frequency = i64::try_from(clock.frequency).unwrap_or(i64::MAX);
        let ticks_per_cycle = (per_second.checked_rem(frequency) == Some(0)).then(|| per_second / frequency);
        Self { clock, ticks_per_cycle, cycles: None, known_until: None, discarded: None, number: None }
    }

    /// The clock when its lowest bits are these: it has gone on since, by less than what they can count.
    fn next(&self, (value, bits): Lowest) -> u64 {
        match (1u64.checked_shl(bits), self.cycles) {
            (Some(wrap), Some(before)) => {
                let next = before & !(wrap - 1) | value;
                if next < before { next.wrapping_add(wrap) } else { next }
            }
            _ => value,
        }
    }
}

impl StreamRows {
    /// `clocks`: of the streams, by number.
    pub fn new(clocks: BTreeMap<u64, Clock>, scale: TimeScale, time_offset: i64) -> Self {
        let per_second = scale.per_second();
        let counter = |(stream, clock)| (stream, Counter::new(clock, per_second));
        Self {
            rows: TraceEventRows::new(),
            full: Vec::new(),
            count: Counter::new(Clock::nanoseconds(), per_second),
            stream: None,
            others: clocks.into_iter().map(counter).collect(),
            per_second,
            time_offset,
            cpu: None,
            seq: 0,
            found: Found::default(),
        }
    }

    /// How many rows there are.
    pub fn count(&self) -> u64 {
        self.seq as u64
    }

    /// The remaining rows.
    pub fn rest(&mut self) -> Result<RecordBatch> {
        self.rows.take_batch()
    }

    /// Cycles of the clock as ticks of the database, rounded down.
    fn time(&mut self, cycles: u64) -> i64 {
        let Clock { offset: (seconds, offset), frequency, .. } = self.count.clock;
        let (per_second, frequency) = (i128::from(self.per_second), i128::from(frequency));
        let cycles = i128::from(cycles) + i128::from(offset);
        // Most clocks count as the database does, or a fraction of it: a division of 128 bits for each event
        // costs as much as its fields.
        let ticks = match self.count.ticks_per_cycle {
            Some(ticks) => cycles * i128::from(ticks),
            None => (cycles * per_second).div_euclid(frequency),
        };
        let ticks = i128::from(seconds) * per_second + ticks;
        i64::try_from(ticks + i128::from(self.time_offset)).unwrap_or_else(|_| {
            self.found.cut_times += 1;
            i64::MAX
        })
    }

    /// A packet of that stream begins.
    fn choose(&mut self, stream: u64) {
        if self.stream != Some(stream)
            && let Some(count) = self.others.remove(&stream)
        {
            let before = std::mem::replace(&mut self.count, count);
            if let Some(other) = self.stream.replace(stream) {
                self.others.insert(other, before);
            }
        }
    }

    fn lose(&mut self, end: Option<i64>, reason: String) {
        let core = self.cpu.map(|cpu| format!("Core_{cpu}"));
        self.found.gaps.push(Gap { begin: self.count.known_until.unwrap_or(FROM_BEGIN), end, core, reason });
    }
}

/// How much a count has grown that has so many bits.
fn grown(before: u64, (now, bits): (u64, u32)) -> u64 {
    let mask = 1u64.checked_shl(bits).map_or(u64::MAX, |wrap| wrap - 1);
    now.wrapping_sub(before) & mask
}

impl Sink for StreamRows {
    type Error = crate::error::Error;

    fn packet(&mut self, packet: &PacketFacts) -> Result<()> {
        self.cpu = packet.cpu.and_then(|cpu| i64::try_from(cpu).ok());
        self.choose(packet.stream);
        if let Some(begin) = packet.begin {
            self.count.cycles = Some(self.count.next(begin));
        }
        let begin = self.count.cycles.filter(|_| packet.begin.is_some()).map(|begin| self.time(begin));
        if let Some(gap) = self.found.gaps.last_mut().filter(|gap| gap.end.is_none()) {
            gap.end = begin;
        }
        // A tracer counts what it discards from its start; how much of that was before the trace is not
        // known.
        let events = packet.discarded.map_or(0, |now| grown(self.count.discarded.unwrap_or(0), now));
        let numbers = packet.number.zip(self.count.number);
        let packets = numbers.map_or(0, |(now, before)| grown(before, now).saturating_sub(1));
        self.found.discarded_events += events;
        self.found.discarded_packets += packets;
        if packets > 0 {
            self.lose(begin, "discarded_packets".to_owned());
        } else if events > 0 {
            self.lose(begin, "discarded_events".to_owned());
        }
        self.count.discarded = packet.discarded.map(|(now, _)| now);
        self.count.number = packet.number.map(|(now, _)| now);
        let end = packet.end.map(|end| self.time(self.count.next(end)));
        self.count.known_until = end.or(begin).or(self.count.known_until);
        Ok(())
    }

    fn event(&mut self, event: &EventFacts<'_>) -> Result<()> {
        if let Some(clock) = event.clock {
            self.count.cycles = Some(self.count.next(clock));
        }
        let time = self.time(self.count.cycles.unwrap_or(0));
        self.count.known_until = self.count.known_until.max(Some(time));
        self.rows.push(TraceEventRow {
            cpu: event.cpu.and_then(|cpu| i64::try_from(cpu).ok()),
            time,
            seq: self.seq,
            name: Name::Cached { slot: event.kind.number, text: &event.kind.name, changed: false },
            payload: event.payload,
        });
        self.seq += 1;
        if self.rows.len() >= BATCH_ROWS {
            let batch = self.rows.take_batch()?;
            self.full.push(batch);
        }
        Ok(())
    }

    fn bad(&mut self, at: u64, why: &str) -> Result<()> {
        self.found.bad_count += 1;
        if self.found.bad.len() < MOST_NAMED {
            self.found.bad.push((at, why.to_owned()));
        }
        self.lose(None, "damaged".to_owned());
        Ok(())
    }
}
