//! Writes what is derived from imported events. Not the charts (see `derive`), nor mapped events (`mapped`).
//!
//! An input can hold several traces, or one whose clock was set back. Nothing goes on from one to the next.
//! At times that an earlier one has, too, nothing is derived from the later one: a core has one load, and an
//! instance one successor. Its events are stored.

use super::extent::span_of;
use super::parts::{Begin, DerivedTables, ROWS_OUT};
use crate::btf::IdleTasks;
use crate::derive::{Derive, Dialect, Entity, FromRecords, Violations};
use crate::error::Result;
use crate::formats::{Gap, Remark};
use crate::schema::view;
use crate::store::StagedFile;
use arrow::array::RecordBatch;
use std::collections::VecDeque;
use std::ops::Range;

view! {
    struct Times of btf_event { time }
}

/// `gap.reason` between the times of two traces of an input.
const CLOCK_SET_BACK: &str = "clock_set_back";

/// First and last time, both inclusive.
type Span = (i64, i64);

pub(super) struct Derived<'a> {
    records: FromRecords,
    max_names: u64,
    derive: Option<Derive>,
    /// Gaps that the trace tells of, and that its events have not reached.
    to_come: VecDeque<Gap>,
    idle_tasks: IdleTasks,
    entities: Vec<Entity>,
    tables: DerivedTables<'a>,
    /// Time of the last event of `derive`.
    latest: i64,
    /// The latest time of all events.
    end: i64,
    /// What the present trace covers; a trace that is interrupted by earlier ones has several spans.
    spans: Vec<Span>,
    /// What the traces before it cover, in the order of time.
    covered: Vec<Span>,
    /// Events at times that are covered.
    doubled: u64,
    violations: Violations,
}

/// The results at the end.
pub(super) struct Ended {
    pub files: Vec<StagedFile>,
    /// Between the times of several traces.
    pub gaps: Vec<Gap>,
    pub violations: Violations,
    /// Codes and messages of findings that make results doubtful.
    pub doubts: Vec<(&'static str, String)>,
    /// What occurs, of several traces each.
    pub entities: Vec<Entity>,
}

impl<'a> Derived<'a> {
    /// `max_names`: the most bytes that its names may have together.
    pub fn new(begin: Begin<'a>, dialect: Dialect, idle_tasks: IdleTasks, max_names: u64) -> Self {
        Self {
            records: FromRecords::new(dialect),
            max_names,
            derive: None,
            to_come: VecDeque::new(),
            idle_tasks,
            entities: Vec::new(),
            tables: DerivedTables::new(begin),
            latest: i64::MIN,
            end: i64::MIN,
            spans: Vec::new(),
            covered: Vec::new(),
            doubled: 0,
            violations: Violations::default(),
        }
    }

    /// Adds the next rows of `btf_event`, sorted by time.
    pub fn take(&mut self, batch: &RecordBatch) -> Result<()> {
        if self.covered.is_empty() {
            return self.derive(batch);
        }
        let times = Times::of(batch)?.time.values().to_vec();
        let free = uncovered(&times, &self.covered);
        self.doubled += times.len() as u64 - free.iter().map(|range| range.len() as u64).sum::<u64>();
        for range in free {
            let first = times.get(range.start).copied().unwrap_or_default();
            // What happened at covered times is not known of this trace.
            if self.covered.iter().any(|(begin, _)| self.latest < *begin && *begin < first) {
                self.cut(self.latest)?;
            }
            self.derive(&batch.slice(range.start, range.len()))?;
        }
        Ok(())
    }

    fn derive(&mut self, batch: &RecordBatch) -> Result<()> {
        let Some((first, last)) = span_of(Times::of(batch)?.time) else { return Ok(()) };
        if first < self.latest {
            // Open instances end here: rows are too late to be sorted.
            self.cut(self.latest)?;
        }
        match self.spans.last_mut().filter(|_| self.derive.is_some()) {
            Some(span) => span.1 = span.1.max(last),
            None => self.spans.push((first, last)),
        }
        let idle_tasks = &self.idle_tasks;
        let derive = self
            .derive
            .get_or_insert_with(|| Derive::of_foreign_trace(first).with_idle_tasks(idle_tasks.clone()));
        let (times, mut from) = (Times::of(batch)?.time.values().to_vec(), 0);
        while let Some(gap) = self.to_come.pop_front_if(|gap| gap.begin < last) {
            let to = times.partition_point(|time| *time <= gap.begin).max(from);
            self.records.batch(&batch.slice(from, to - from), derive)?;
            let span = (gap.begin, gap.end.unwrap_or(gap.begin));
            self.records.gap(gap.core.as_deref(), span, derive);
            from = to;
        }
        self.records.batch(&batch.slice(from, times.len() - from), derive)?;
        self.records.names.check_size(self.max_names)?;
        (self.latest, self.end) = (last, self.end.max(last));
        self.tables.take(&mut derive.rows, ROWS_OUT)
    }

    /// What the trace says about the events that follow.
    pub fn remark(&mut self, remark: Remark) {
        match remark {
            Remark::Gap(gap) => {
                let place = self.to_come.partition_point(|other| other.begin <= gap.begin);
                self.to_come.insert(place, gap);
            }
            Remark::Handlers(name) => self.records.share(&name),
        }
    }

    /// What follows is another trace, or of a clock that was set back.
    pub fn end_trace(&mut self) -> Result<()> {
        self.cut(self.latest)?;
        self.to_come.clear();
        self.latest = i64::MIN;
        self.covered.append(&mut self.spans);
        self.covered = joined(std::mem::take(&mut self.covered));
        Ok(())
    }

    fn cut(&mut self, end: i64) -> Result<()> {
        if let Some(mut derive) = self.derive.take() {
            let violations = derive.finish(end, &self.records.names);
            self.violations.add(violations);
            self.entities.extend(derive.entities(&self.records.names));
            self.tables.take(&mut derive.rows, 1)?;
            self.tables.end_parts()?;
        }
        Ok(())
    }

    pub fn finish(mut self) -> Result<Ended> {
        let end = if self.covered.is_empty() { self.end } else { self.latest };
        self.cut(end)?;
        let mut gaps = Vec::new();
        if !self.covered.is_empty() {
            let all = joined([self.covered, self.spans].concat());
            for (before, behind) in all.iter().zip(all.get(1..).unwrap_or_default()) {
                let reason = CLOCK_SET_BACK.to_owned();
                gaps.push(Gap { begin: before.1, end: Some(behind.0), core: None, reason });
            }
        }
        let mut doubts = self.violations.doubts();
        if self.doubled > 0 {
            let message = format!(
                "{} events are at times that the trace before them has, too: nothing is derived from them; split \
                 the file, and ingest each trace as a recording",
                self.doubled
            );
            doubts.push(("doubled-times", message));
        }
        let (entities, violations) = (self.entities, self.violations);
        Ok(Ended { files: self.tables.finish()?, gaps, violations, doubts, entities })
    }
}

/// Spans in the order of time; those that overlap are one.
fn joined(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_unstable();
    let mut joined: Vec<Span> = Vec::new();
    for (begin, end) in spans {
        match joined.last_mut().filter(|last| begin <= last.1) {
            Some(last) => last.1 = last.1.max(end),
            None => joined.push((begin, end)),
        }
    }
    joined
}

/// The rows at times that no span has. Times and spans are sorted.
fn uncovered(times: &[i64], spans: &[Span]) -> Vec<Range<usize>> {
    let (mut free, mut from) = (Vec::new(), 0);
    for (begin, end) in spans {
        let to = times.partition_point(|time| time < begin).max(from);
        free.push(from..to);
        from = times.partition_point(|time| time <= end).max(to);
    }
    free.push(from..times.len());
    free.retain(|range| !range.is_empty());
    free
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_at_covered_times_are_left_out() {
        assert_eq!(uncovered(&[1, 2, 3, 4, 5], &[(2, 3)]), [0..1, 3..5]);
        assert_eq!(uncovered(&[1, 2, 3], &[(0, 9)]), [0..0; 0]);
        assert_eq!(uncovered(&[1, 2, 3], &[(-5, 0), (4, 9)]).first(), Some(&(0..3)));
        assert_eq!(uncovered(&[1, 5, 5, 9], &[(1, 1), (5, 5)]).first(), Some(&(3..4)));
    }

    #[test]
    fn spans_that_overlap_are_one() {
        assert_eq!(joined(vec![(5, 9), (0, 2), (2, 3), (20, 30), (6, 7)]), [(0, 3), (5, 9), (20, 30)]);
    }
}
