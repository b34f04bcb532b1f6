//! The times that instances spent in each state, from aligned states: a part of them, by a clock that is
//! faster, would not sum up. Not the instances themselves (see `copied`).

use super::ecu::{Ecu, with_columns};
use crate::btf::State;
use crate::error::Result;
use crate::names::{IdMap, Interner};
use crate::ops::parts::ROWS_OUT;
use crate::schema::{
    ProcessInstanceView, ProcessStateView, RunnableInstanceView, RunnableStateView, TableSpec, tables,
};
use crate::store::{Transaction, read_batches};
use arrow::array::RecordBatch;
use std::iter::Peekable;

/// States that instances spend time in, each with the column of it.
const OF_PROCESSES: [(State, &str); 5] = [
    (State::Running, "running"),
    (State::Ready, "ready"),
    (State::Waiting, "waiting"),
    (State::Polling, "polling"),
    (State::Parking, "parking"),
];
const OF_RUNNABLES: [(State, &str); 2] = [(State::Running, "running"), (State::Suspended, "suspended")];

/// An instance: the name and type of its process or runnable, and its number.
type Key = (u32, u32, i64);
/// A state of an instance, its place among the states, its end by its own clock, and its aligned length.
type Span = (Key, Option<usize>, i64, i64);

/// Sums of states that end no later than the instances that are asked for. In memory are those of open ones.
pub(super) struct Spent<'a> {
    states: Peekable<Box<dyn Iterator<Item = Result<Vec<Span>>> + 'a>>,
    /// The rest of a batch of states, in reverse order.
    pending: Vec<Span>,
    sums: IdMap<Key, [i64; OF_PROCESSES.len()]>,
    names: std::rc::Rc<std::cell::RefCell<Interner>>,
    is_of_processes: bool,
}

impl<'a> Spent<'a> {
    /// For the instances of a table; `None` for a table of something else.
    pub fn of(tx: &Transaction, ecu: &'a Ecu<'_>, table: &TableSpec) -> Result<Option<Self>> {
        let is_of_processes = table.name == tables::PROCESS_INSTANCE.name;
        if !is_of_processes && table.name != tables::RUNNABLE_INSTANCE.name {
            return Ok(None);
        }
        let states = if is_of_processes { tables::PROCESS_STATE } else { tables::RUNNABLE_STATE };
        let names = std::rc::Rc::new(std::cell::RefCell::new(Interner::default()));
        let mut batches: Vec<Box<dyn Iterator<Item = Result<RecordBatch>>>> = Vec::new();
        for (_, place) in tx.files(states, ecu.recording)? {
            batches.push(Box::new(read_batches(&place, states, None, ROWS_OUT)?));
        }
        let of = std::rc::Rc::clone(&names);
        let spans = batches.into_iter().flatten().map(move |batch| {
            let (batch, mut names) = (batch?, of.borrow_mut());
            let spans = if is_of_processes {
                of_processes(&batch, ecu, &mut names)?
            } else {
                of_runnables(&batch, ecu, &mut names)?
            };
            Ok(spans)
        });
        let states: Box<dyn Iterator<Item = Result<Vec<Span>>> + 'a> = Box::new(spans);
        let sums = IdMap::default();
        Ok(Some(Self { states: states.peekable(), pending: Vec::new(), sums, names, is_of_processes }))
    }

    /// The aligned batch of instances with the times that their aligned states last.
    pub fn instead_of(&mut self, original: &RecordBatch, aligned: &RecordBatch) -> Result<RecordBatch> {
        let mut sums = Vec::with_capacity(original.num_rows());
        if self.is_of_processes {
            for row in ProcessInstanceView::of(original)?.rows() {
                let key = (row.process.text(), row.r#type.text(), row.instance);
                sums.push(self.take(key, row.terminate_at)?);
            }
        } else {
            for row in RunnableInstanceView::of(original)?.rows() {
                sums.push(self.take((row.runnable.text(), "", row.instance), row.terminate_at)?);
            }
        }
        let column = |n: usize| sums.iter().filter_map(|sums| sums.get(n)).copied().collect::<Vec<i64>>();
        let columns = if self.is_of_processes { &OF_PROCESSES[..] } else { &OF_RUNNABLES[..] };
        let columns: Vec<_> = columns.iter().enumerate().map(|(n, (_, name))| (*name, column(n))).collect();
        if self.is_of_processes {
            return with_columns(aligned, columns);
        }
        // The part of callees: in proportion, and not more than all.
        let rows = RunnableInstanceView::of(original)?;
        let callees = rows.rows().zip(column(0)).map(|(row, running)| match row.callees {
            Some(callees) if row.running > 0 => {
                let part = i128::from(callees) * i128::from(running) / i128::from(row.running);
                i64::try_from(part).unwrap_or(running)
            }
            _ => 0,
        });
        let callees = callees.collect();
        with_columns(aligned, columns.into_iter().chain([("callees", callees)]).collect())
    }

    /// The sums of an instance that ends at `end`, by its own clock, or does not.
    fn take(&mut self, (name, ty, instance): (&str, &str, i64), end: Option<i64>) -> Result<[i64; 5]> {
        loop {
            if self.pending.is_empty() {
                let Some(next) = self.states.next() else { break };
                self.pending = next?;
                self.pending.reverse();
            }
            let until = end.unwrap_or(i64::MAX);
            while let Some((key, state, _, length)) = self.pending.pop_if(|(_, _, ends, _)| *ends <= until) {
                let sums = self.sums.entry(key).or_default();
                if let Some(sum) = state.and_then(|n| sums.get_mut(n)) {
                    *sum = sum.saturating_add(length);
                }
            }
            if !self.pending.is_empty() {
                break;
            }
        }
        let mut names = self.names.borrow_mut();
        let key = (names.intern(name), names.intern(ty), instance);
        Ok(self.sums.remove(&key).unwrap_or_default())
    }
}

fn place(state: &str, of: &[(State, &str)]) -> Option<usize> {
    of.iter().position(|(known, _)| known.as_str() == state)
}

fn length(ecu: &Ecu<'_>, begin: i64, end: i64) -> i64 {
    ecu.clock.aligned(end).saturating_sub(ecu.clock.aligned(begin))
}

fn of_processes(batch: &RecordBatch, ecu: &Ecu<'_>, names: &mut Interner) -> Result<Vec<Span>> {
    let rows = ProcessStateView::of(batch)?;
    let span = |row: crate::schema::ProcessStateRow<'_>| {
        let key = (names.intern(row.process.text()), names.intern(row.r#type.text()), row.instance);
        let length = length(ecu, row.begin_at, row.end_at);
        (key, place(row.state.text(), &OF_PROCESSES), row.end_at, length)
    };
    Ok(rows.rows().map(span).collect())
}

fn of_runnables(batch: &RecordBatch, ecu: &Ecu<'_>, names: &mut Interner) -> Result<Vec<Span>> {
    let rows = RunnableStateView::of(batch)?;
    let span = |row: crate::schema::RunnableStateRow<'_>| {
        let key = (names.intern(row.runnable.text()), names.intern(""), row.instance);
        let length = length(ecu, row.begin_at, row.end_at);
        (key, place(row.state.text(), &OF_RUNNABLES), row.end_at, length)
    };
    Ok(rows.rows().map(span).collect())
}
