//! Streaming operators over the intervals of a key in the order of their begins: their union, the gaps
//! between them, and how many there are at once. Not for pairs of intervals (see `overlap`), and not for the
//! names in SQL.

mod run;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::common::Result;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{LexOrdering, PhysicalExpr, PhysicalSortExpr};

use super::key_order::CHECKABLE;
use super::streaming::{OperatorRun, StreamingOperator};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::engine) enum IntervalFunction {
    /// Their union: intervals that overlap or touch are one.
    Merge,
    /// The gaps between them, within bounds if there are any.
    Gaps,
    /// How many there are, as spans between the instants at which that changes.
    Concurrency,
}

/// The operator of a function. The columns of the input are keys, `begin_at`, `end_at`, and for
/// [`IntervalFunction::Gaps`] the bounds. No interval is empty, or without begin or end.
#[derive(Debug)]
pub(in crate::engine) struct IntervalOperator {
    pub function: IntervalFunction,
    /// How many of the columns are keys.
    pub keys: Vec<String>,
}

#[derive(Debug, Default)]
struct Intervals {
    keys: Vec<u32>,
    begins: Vec<i64>,
    ends: Vec<i64>,
    counts: Vec<i64>,
}

#[derive(Debug)]
enum State {
    Merge {
        begin: i64,
        end: i64,
        count: i64,
    },
    /// Everything before `covered` is in an interval or has been emitted; nothing from `to` on is emitted.
    Gaps {
        covered: i64,
        to: Option<i64>,
    },
    Concurrency {
        ends: BinaryHeap<Reverse<i64>>,
        since: i64,
        last: Option<(i64, i64, i64)>,
    },
}

impl IntervalFunction {
    pub fn count(self) -> Option<&'static str> {
        match self {
            Self::Merge => Some("intervals"),
            Self::Gaps => None,
            Self::Concurrency => Some("open"),
        }
    }
}

impl Intervals {
    fn push(&mut self, key: u32, begin: i64, end: i64, count: i64) {
        self.keys.push(key);
        self.begins.push(begin);
        self.ends.push(end);
        self.counts.push(count);
    }
}

impl State {
    /// The state after the first interval of a key, which has not been added yet.
    fn begin(function: IntervalFunction, begin: i64, bounds: [Option<i64>; 2]) -> Self {
        match function {
            IntervalFunction::Merge => Self::Merge { begin, end: begin, count: 0 },
            IntervalFunction::Gaps => Self::Gaps { covered: bounds[0].unwrap_or(begin), to: bounds[1] },
            IntervalFunction::Concurrency => {
                Self::Concurrency { ends: BinaryHeap::new(), since: begin, last: None }
            }
        }
    }

    fn follow(&mut self, key: u32, begin: i64, end: i64, found: &mut Intervals) {
        match self {
            Self::Merge { begin: since, end: until, count } => {
                if begin > *until {
                    found.push(key, *since, *until, *count);
                    (*since, *count) = (begin, 0);
                }
                *until = end.max(*until);
                *count += 1;
            }
            Self::Gaps { covered, to } => {
                let gap_end = to.map_or(begin, |to| to.min(begin));
                if *covered < gap_end {
                    found.push(key, *covered, gap_end, 0);
                }
                *covered = end.max(*covered);
            }
            Self::Concurrency { ends, since, last } => {
                close(ends, since, last, key, Some(begin), found);
                step(ends.len(), since, last, key, begin, found);
                ends.push(Reverse(end));
            }
        }
    }

    fn end(&mut self, key: u32, found: &mut Intervals) {
        match self {
            Self::Merge { begin, end, count } => found.push(key, *begin, *end, *count),
            Self::Gaps { covered, to } => {
                if let Some(to) = to.filter(|to| *covered < *to) {
                    found.push(key, *covered, to, 0);
                }
            }
            Self::Concurrency { ends, since, last } => {
                close(ends, since, last, key, None, found);
                if let Some((begin, end, open)) = last.take() {
                    found.push(key, begin, end, open);
                }
            }
        }
    }

    /// How many intervals are open.
    fn open(&self) -> usize {
        if let Self::Concurrency { ends, .. } = self { ends.len() } else { 0 }
    }
}

/// Ends all intervals that end at or before `at` (`None`: all).
fn close(
    ends: &mut BinaryHeap<Reverse<i64>>,
    since: &mut i64,
    last: &mut Option<(i64, i64, i64)>,
    key: u32,
    at: Option<i64>,
    found: &mut Intervals,
) {
    while let Some(Reverse(end)) = ends.peek().copied().filter(|end| at.is_none_or(|at| end.0 <= at)) {
        step(ends.len(), since, last, key, end, found);
        ends.pop();
    }
}

/// The number of intervals changes at `at`. Touching spans of equal numbers are joined.
fn step(
    open: usize,
    since: &mut i64,
    last: &mut Option<(i64, i64, i64)>,
    key: u32,
    at: i64,
    found: &mut Intervals,
) {
    if *since == at {
        return;
    }
    let open = i64::try_from(open).unwrap_or(i64::MAX);
    match last {
        Some((_, end, count)) if *count == open => *end = at,
        last => {
            if let Some((begin, end, count)) = last.replace((*since, at, open)) {
                found.push(key, begin, end, count);
            }
        }
    }
    *since = at;
}

impl fmt::Display for IntervalOperator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "keys=[{}]", self.keys.join(", "))
    }
}

impl IntervalOperator {
    fn column(&self, behind_keys: usize, name: &str) -> Arc<dyn PhysicalExpr> {
        Arc::new(Column::new(name, self.keys.len() + behind_keys))
    }
}

impl StreamingOperator for IntervalOperator {
    fn name(&self) -> &'static str {
        match self.function {
            IntervalFunction::Merge => "IntervalMergeExec",
            IntervalFunction::Gaps => "IntervalGapsExec",
            IntervalFunction::Concurrency => "ConcurrencyExec",
        }
    }

    fn schema(&self, inputs: &[SchemaRef]) -> Result<SchemaRef> {
        let fields = inputs.iter().flat_map(|input| input.fields().iter().take(self.keys.len()).cloned());
        let mut fields: Vec<_> = fields.collect();
        let names = ["begin_at", "end_at"].into_iter().chain(self.function.count());
        fields.extend(names.map(|name| Arc::new(Field::new(name, DataType::Int64, false))));
        Ok(Arc::new(Schema::new(fields)))
    }

    fn keys(&self, _: usize) -> Vec<Arc<dyn PhysicalExpr>> {
        self.keys.iter().enumerate().map(|(i, name)| Arc::new(Column::new(name, i)) as _).collect()
    }

    fn order(&self, _: usize) -> Option<LexOrdering> {
        LexOrdering::new([PhysicalSortExpr { expr: self.column(0, "begin_at"), options: CHECKABLE }])
    }

    fn expressions(&self) -> Vec<Arc<dyn PhysicalExpr>> {
        let mut all = self.keys(0);
        all.extend([self.column(0, "begin_at"), self.column(1, "end_at")]);
        all
    }

    fn start(&self, _: Vec<SchemaRef>, schema: SchemaRef) -> Box<dyn OperatorRun> {
        Box::new(run::IntervalRun::new(self.function, self.keys.len(), schema))
    }
}
