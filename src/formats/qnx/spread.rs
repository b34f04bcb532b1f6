//! Distributes decoded events to CPUs: ticks, numbers, buffers, gaps. Not the making of rows (see `rows`).

use super::batch::Batch;
use super::buffers::{Buffer, Buffers};
use super::decoder::Preamble;
use super::rows::{BufferRows, CpuRows};
use super::window::{Sorted, Window};
use crate::error::{Error, ErrorKind, Result};
use crate::formats::{Gap, Output, Rows};
use crate::qnx::Version;
use crate::schema::tables;
use crate::time::TimeScale;
use std::sync::{Arc, Mutex};

/// `gap.reason` of buffers that the logger could not write.
const LOST_BUFFER: &str = "lost_buffer";

pub(super) struct Spread {
    pub scale: TimeScale,
    origin: Option<Origin>,
    cpus: Vec<Option<Cpu>>,
    seq: i64,
    buffers: BufferRows,
    /// Buffers after missing ones.
    pub lost: Vec<Buffer>,
    /// Times that do not fit 64 bits.
    pub cut_times: u64,
}

/// Values that the header and the first event determine.
struct Origin {
    ticks: Ticks,
    buffers: Buffers,
    version: Version,
}

struct Cpu {
    /// Its number, as in the path of its files.
    number: Arc<str>,
    window: Window,
    /// Rows of a CPU are made by one thread at a time.
    rows: Arc<Mutex<CpuRows>>,
    gap_ends: Vec<i64>,
}

impl Spread {
    /// `counts_records`: events have the numbers of their records, not of lines.
    pub fn new(scale: TimeScale, counts_records: bool) -> Self {
        Self {
            scale,
            origin: None,
            cpus: Vec::new(),
            seq: 0,
            buffers: BufferRows::new(counts_records),
            lost: Vec::new(),
            cut_times: 0,
        }
    }

    /// Adds the next events of the file. There are none before the header is known.
    pub fn take(
        &mut self,
        mut batch: Batch,
        preamble: Option<&Preamble>,
        out: &mut Output<'_>,
    ) -> Result<()> {
        out.log.merge(std::mem::take(&mut batch.log));
        out.counts.lines += batch.records;
        let Some(preamble) = preamble else { return Ok(()) };
        let Some(first) = batch.get(0) else { return Ok(()) };
        let version = preamble.flavour.version;
        let mut origin = self.origin.take().unwrap_or_else(|| Origin {
            ticks: Ticks::new(first.cycles, preamble.cycles_per_sec, self.scale),
            buffers: Buffers::new(version),
            version,
        });
        for event in batch.iter() {
            let time = origin.ticks.at(event.cycles);
            self.cut_times += u64::from(time == i64::MAX || time == i64::MIN);
            if let Some(buffer) = origin.buffers.event(&event) {
                self.buffer(buffer, time, &origin, out)?;
            }
            let seq = self.seq;
            self.seq += 1;
            let cpu = self.cpu(event.cpu, preamble)?;
            if let Some(sorted) = cpu.window.push(&event, time, seq) {
                cpu.emit(sorted, false, out)?;
            }
        }
        out.counts.rows += batch.len() as u64;
        self.origin = Some(origin);
        Ok(())
    }

    pub fn finish(&mut self, out: &mut Output<'_>) -> Result<()> {
        for cpu in self.cpus.iter_mut().flatten() {
            let rest = cpu.window.rest();
            cpu.emit(rest, true, out)?;
        }
        let buffers = std::mem::replace(&mut self.buffers, BufferRows::new(false));
        out.rows(Rows::new(tables::KERNEL_BUFFER, buffers.finish(out.counts.lines)?))
    }

    fn cpu(&mut self, cpu: u8, preamble: &Preamble) -> Result<&mut Cpu> {
        let place = usize::from(cpu);
        if self.cpus.len() <= place {
            self.cpus.resize_with(place + 1, || None);
        }
        let missing = || Error::new(ErrorKind::Bug, "a CPU without a place");
        Ok(self.cpus.get_mut(place).ok_or_else(missing)?.get_or_insert_with(|| Cpu {
            number: cpu.to_string().into(),
            window: Window::default(),
            rows: Arc::new(Mutex::new(CpuRows::new(preamble.flavour))),
            gap_ends: Vec::new(),
        }))
    }

    fn buffer(&mut self, buffer: Buffer, time: i64, origin: &Origin, out: &mut Output<'_>) -> Result<()> {
        if let Some(since) = buffer.lost_since {
            let cpu = (origin.version >= Version::V8_0).then_some(buffer.cpu);
            let core = cpu.map(|cpu| format!("Core_{cpu}"));
            let begin = origin.ticks.at(since).min(time);
            out.gaps.push(Gap { begin, end: Some(time), core, reason: LOST_BUFFER.to_owned() });
            self.lost.push(buffer);
            for (n, other) in self.cpus.iter_mut().enumerate() {
                if let Some(other) = other.as_mut().filter(|_| cpu.is_none_or(|c| usize::from(c) == n)) {
                    other.gap_ends.push(time);
                }
            }
        }
        match self.buffers.begin(buffer, time)? {
            Some(batch) => out.rows(Rows::new(tables::KERNEL_BUFFER, batch)),
            None => Ok(()),
        }
    }
}

impl Cpu {
    /// Emits events; their rows are made on another thread.
    fn emit(&mut self, sorted: Sorted, last: bool, out: &mut Output<'_>) -> Result<()> {
        let gap_ends = std::mem::take(&mut self.gap_ends);
        let rows = Arc::clone(&self.rows);
        let make = move || {
            let mut rows = rows.lock().map_err(|_| Error::new(ErrorKind::Bug, "a thread died"))?;
            rows.take(&sorted, gap_ends, last)
        };
        out.rows(Rows::later(tables::KERNEL_EVENT, make).of_core(&self.number))
    }
}

/// Converts counts of a clock to ticks since the first event, rounded down, so that times keep their order.
#[derive(Debug, Clone, Copy)]
struct Ticks {
    origin: u64,
    cycles_per_sec: u64,
    ticks_per_sec: u64,
}

impl Ticks {
    fn new(origin: u64, cycles_per_sec: u64, scale: TimeScale) -> Self {
        Self { origin, cycles_per_sec: cycles_per_sec.max(1), ticks_per_sec: 10u64.pow(scale.decimals()) }
    }

    #[inline]
    fn at(&self, cycles: u64) -> i64 {
        let since = cycles.checked_sub(self.origin);
        let seconds = since.map_or(0, |c| c / self.cycles_per_sec);
        // The common case in 64 bits: less than a hundred days, and a clock below 18 GHz in nanoseconds.
        let part = since.map(|c| c % self.cycles_per_sec).and_then(|c| c.checked_mul(self.ticks_per_sec));
        if let Some(part) = part.filter(|_| seconds < 9_000_000) {
            return (seconds * self.ticks_per_sec + part / self.cycles_per_sec) as i64;
        }
        let since = i128::from(cycles) - i128::from(self.origin);
        let ticks = (since * i128::from(self.ticks_per_sec)).div_euclid(i128::from(self.cycles_per_sec));
        ticks.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn counts_become_ticks_since_the_first_event() {
        let ticks = Ticks::new(1000, 736_629_000, TimeScale::Ns);
        assert_eq!(ticks.at(1000), 0);
        assert_eq!(ticks.at(1000 + 11386), 15456, "15456.9 rounded down");
        assert_eq!(ticks.at(999), -2, "down is away from zero before the first event");
    }

    proptest! {
        #[test]
        fn the_short_way_is_the_long_way(origin: u64, cycles: u64, near in 0u64..1 << 50, rate in 1u64..5_000_000_000) {
            let ticks = Ticks::new(origin, rate, TimeScale::Ns);
            for cycles in [cycles, origin.wrapping_add(near)] {
                let since = i128::from(cycles) - i128::from(origin);
                let exact = (since * 1_000_000_000).div_euclid(i128::from(rate));
                if i64::try_from(exact).is_ok() {
                    prop_assert_eq!(i128::from(ticks.at(cycles)), exact);
                }
            }
        }
    }
}
