//! Decoded events to their CPUs: ticks, numbers, buffers and holes, then a stage for each CPU. Not the making of rows.

use super::super::parts::Parts;
use super::Hole;
use super::rows::{Begins, BufferRows, CpuRows, no_such_cpu};
use super::window::{Sorted, Window};
use crate::diagnostics::Log;
use crate::error::Result;
use crate::formats::Counts;
use crate::formats::qnx::{Batch, Buffer, Buffers, Preamble};
use crate::pipeline::{Pipeline, Sink};
use crate::qnx::Version;
use crate::schema::tables;
use crate::store::StagedFile;
use crate::time::TimeScale;

/// What the stage of a CPU gets: events of a CPU in the order of time, and the ends of holes that were found since.
pub(super) struct Handover {
    pub sorted: Sorted,
    pub hole_ends: Vec<i64>,
}

/// See the module.
pub(super) struct Spread<'c, 'a> {
    pipeline: &'c Pipeline<'a>,
    begins: &'a Begins<'a>,
    scale: TimeScale,
    known: Option<Known>,
    cpus: Vec<Option<Cpu<'c, 'a>>>,
    seq: i64,
    pub log: Log,
    counts: Counts,
    buffers: BufferRows<'a>,
    holes: Vec<Hole>,
    /// Buffers in front of which others are missing.
    lost: Vec<Buffer>,
    /// Times that do not fit 64 bits.
    cut_times: u64,
}

/// What the header settles.
struct Known {
    ticks: Ticks,
    buffers: Buffers,
    version: Version,
}

struct Cpu<'c, 'a> {
    window: Window,
    stage: Sink<'c, 'a, CpuRows<'a>, Handover>,
    hole_ends: Vec<i64>,
}

/// What is known of the whole trace, when everything has been read.
pub(super) struct Whole {
    pub counts: Counts,
    pub log: Log,
    pub files: Vec<StagedFile>,
    pub holes: Vec<Hole>,
    /// Buffers in front of which others are missing.
    pub lost: Vec<Buffer>,
    /// Times that do not fit 64 bits, and were cut.
    pub cut_times: u64,
    pub first_at: Option<i64>,
    pub last_at: Option<i64>,
}

impl<'c, 'a> Spread<'c, 'a> {
    /// `counts_records`: events have the numbers of their records, not of lines.
    pub fn new(
        pipeline: &'c Pipeline<'a>,
        begins: &'a Begins<'a>,
        scale: TimeScale,
        counts_records: bool,
    ) -> Self {
        Self {
            pipeline,
            begins,
            scale,
            known: None,
            cpus: Vec::new(),
            seq: 0,
            log: Log::default(),
            counts: Counts::default(),
            buffers: BufferRows::new(Parts::new(&*begins.whole, tables::KERNEL_BUFFER), counts_records),
            holes: Vec::new(),
            lost: Vec::new(),
            cut_times: 0,
        }
    }

    /// Takes the next events of the file. There are none before the header is known.
    pub fn take(&mut self, mut batch: Batch, preamble: Option<&Preamble>) -> Result<()> {
        self.log.merge(std::mem::take(&mut batch.log));
        self.counts.lines += batch.records;
        let Some(preamble) = preamble else { return Ok(()) };
        let Some(first) = batch.get(0) else { return Ok(()) };
        let version = preamble.flavour.version;
        let mut known = self.known.take().unwrap_or_else(|| Known {
            ticks: Ticks::new(first.cycles, preamble.cycles_per_sec, self.scale),
            buffers: Buffers::new(version),
            version,
        });
        for event in batch.iter() {
            let time = known.ticks.at(event.cycles);
            self.cut_times += u64::from(time == i64::MAX || time == i64::MIN);
            if let Some(buffer) = known.buffers.event(&event) {
                self.buffer(buffer, time, &known)?;
            }
            let seq = self.seq;
            self.seq += 1;
            let cpu = self.cpu(event.cpu, preamble)?;
            if let Some(sorted) = cpu.window.push(&event, time, seq) {
                let hole_ends = std::mem::take(&mut cpu.hole_ends);
                cpu.stage.push(Handover { sorted, hole_ends })?;
            }
        }
        self.counts.rows += batch.len() as u64;
        self.known = Some(known);
        Ok(())
    }

    /// Ends all stages.
    pub fn finish(mut self) -> Result<Whole> {
        let (mut files, mut first_at, mut last_at) = (Vec::new(), None, None);
        for cpu in self.cpus.iter_mut().flatten() {
            let (sorted, hole_ends) = (cpu.window.rest(), std::mem::take(&mut cpu.hole_ends));
            cpu.stage.push(Handover { sorted, hole_ends })?;
        }
        for cpu in self.cpus.into_iter().flatten() {
            let rows = cpu.stage.finish()?;
            first_at = [first_at, rows.first_at].into_iter().flatten().min();
            last_at = last_at.max(rows.last_at);
            files.extend(rows.finish()?);
        }
        files.extend(self.buffers.finish(self.counts.lines)?);
        Ok(Whole {
            counts: self.counts,
            log: self.log,
            files,
            holes: self.holes,
            lost: self.lost,
            cut_times: self.cut_times,
            first_at,
            last_at,
        })
    }

    fn cpu(&mut self, cpu: u8, preamble: &Preamble) -> Result<&mut Cpu<'c, 'a>> {
        let place = usize::from(cpu);
        if self.cpus.len() <= place {
            self.cpus.resize_with(place + 1, || None);
        }
        let (pipeline, begins) = (self.pipeline, self.begins);
        let slot = self.cpus.get_mut(place).ok_or_else(|| no_such_cpu(cpu))?;
        if slot.is_none() {
            let begin = begins.cpus.get(place).ok_or_else(|| no_such_cpu(cpu))?;
            let table = Parts::new(&**begin, tables::KERNEL_EVENT);
            let stage = pipeline.sink(CpuRows::new(table, preamble.flavour), CpuRows::take);
            *slot = Some(Cpu { window: Window::default(), stage, hole_ends: Vec::new() });
        }
        slot.as_mut().ok_or_else(|| no_such_cpu(cpu))
    }

    fn buffer(&mut self, buffer: Buffer, time: i64, known: &Known) -> Result<()> {
        if let Some(since) = buffer.lost_since {
            let cpu = (known.version >= Version::V8_0).then_some(buffer.cpu);
            let begin = known.ticks.at(since).min(time);
            self.holes.push(Hole { begin, end: time, cpu });
            self.lost.push(buffer);
            for (n, other) in self.cpus.iter_mut().enumerate() {
                if let Some(other) = other.as_mut().filter(|_| cpu.is_none_or(|c| usize::from(c) == n)) {
                    other.hole_ends.push(time);
                }
            }
        }
        self.buffers.begin(buffer, time)
    }
}

/// Counts of a clock to ticks of the database since the first event, rounded down, so that later counts never become
/// earlier times.
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
        // The common case in 64 bits: less than a hundred days, and a clock of less than 18 GHz in nanoseconds.
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
