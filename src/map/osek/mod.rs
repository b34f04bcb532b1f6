//! Software events of OSEK systems to system events: g' : (D, F, o, l, S) → (B, S') of the thesis, chapter 4.
//!
//! The machine gets only events that some rule needs, with interned names. Most rows are dropped before, on
//! the threads that decode them.

mod blocks;
mod edge;
mod listed;
mod machine;
mod merge;
mod model;
mod slots;
mod software;

use super::{EntityFacts, Finished, Gap, Mapper, Output, Recording, StoredRows};
use crate::btf::Names;
use crate::description::StoredSetup;
use crate::diagnostics::Log;
use crate::error::{Error, Result};
use crate::schema::{TableSpec, tables};
use blocks::{DataColumns, FunctionColumns, OtherNames, Relevance, RowFilter, Table};
use edge::LookAhead;
use listed::Others;
use machine::{Edge, Machine, OsRows, State};
use merge::{Blocks, CoreInput, Merge};
use model::Model;
use software::SoftwareEvent;
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::{Arc, PoisonError};

/// The mapper of traces of software under an OSEK operating system.
pub struct OsekMapper {
    machine: Machine,
    relevance: Arc<Relevance>,
    look_ahead: LookAhead,
    /// The state after each of the next gaps.
    edges: VecDeque<Edge>,
    has_gaps: bool,
    range: (i64, i64),
    /// The state of the recording that this one continues.
    resumed: Option<State>,
    relevant: u64,
    /// The names that no rule needs, by table and core.
    others: Vec<(Table, OtherNames)>,
}

impl Mapper for OsekMapper {
    const NAME: &'static str = "osek";
    const STATE_VERSION: u32 = 4;
    const TABLES: &'static [&'static TableSpec] = &[tables::DATA_EVENT, tables::FUNCTION_EVENT];
    const NATIVE_TABLES: &'static [&'static TableSpec] = &[tables::OS_CALL, tables::OS_ERROR];
    const LOOK_AHEADS: usize = 1;

    type Settings = StoredSetup;
    type Event<'a> = SoftwareEvent;
    type NativeRows = OsRows;
    type State = State;

    fn new(settings: StoredSetup, recording: &Recording<'_>) -> Result<Self> {
        let application = settings.for_mapping(recording.time_scale, &mut Log::default())?;
        let application = application.ok_or_else(|| {
            Error::usage("the recording does not say which operating system it is of")
                .hint("ingest it with os = \"…\" in its recording.toml, or with --os")
        })?;
        let model = Model::new(&application);
        Ok(Self {
            relevance: model.relevance(),
            look_ahead: LookAhead::new(&model, recording.begin),
            machine: Machine::new(model),
            edges: VecDeque::new(),
            has_gaps: !recording.gaps.is_empty(),
            range: (recording.begin, recording.end),
            resumed: None,
            relevant: 0,
            others: Vec::new(),
        })
    }

    fn resume(&mut self, state: State) -> Result<()> {
        self.machine.check(&state)?;
        self.resumed = Some(state);
        Ok(())
    }

    fn read<R: StoredRows>(
        &mut self,
        rows: &R,
        _pass: usize,
        mut take: impl FnMut(&mut Self, &SoftwareEvent) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let mut others = Vec::new();
        let mut input = |core: usize| {
            let name = self.machine.model.core_name(core).to_owned();
            let mut blocks = |of: Table| -> Blocks<'_> {
                let (table, columns) = match of {
                    Table::Data => (tables::DATA_EVENT, DataColumns::COLUMNS),
                    Table::Functions => (tables::FUNCTION_EVENT, FunctionColumns::COLUMNS),
                };
                let mut filter = RowFilter::new(Arc::clone(&self.relevance), core, of);
                others.push((of, filter.others()));
                Box::new(rows.read(table, Some(name.clone()), columns, move |batch| filter.read(&batch)))
            };
            CoreInput { data: blocks(Table::Data), functions: blocks(Table::Functions) }
        };
        let inputs = (0..self.machine.model.cores.len()).map(&mut input).collect();
        // A look-ahead may end early; the mapping comes last and reads everything.
        self.others = others;
        let mut merge = Merge::new(inputs, &mut self.machine.model)?;
        while let Some(event) = merge.next(&mut self.machine.model)? {
            if take(self, &event)?.is_break() {
                break;
            }
        }
        Ok(())
    }

    fn time_of(event: &SoftwareEvent) -> i64 {
        event.time
    }

    fn look_ahead(&mut self, _pass: usize, event: &SoftwareEvent) -> ControlFlow<()> {
        self.look_ahead.event(event, &mut self.machine.model);
        let known = self.resumed.is_some() || self.look_ahead.is_complete();
        let done = known && !self.has_gaps && self.machine.model.shared_masks.is_empty();
        if done { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn look_ahead_gap(&mut self, _pass: usize, gap: &Gap) {
        for core in self.machine.model.cores_of(gap) {
            self.look_ahead.gap(core, gap.end, &mut self.machine.model);
        }
    }

    fn end_look_ahead(&mut self, _pass: usize) {
        self.machine.settle_shared_masks(&self.look_ahead.events);
        let mut edges = std::mem::take(&mut self.look_ahead).finish(&self.machine.model).into_iter();
        let begin = edges.next().unwrap_or_default();
        match self.resumed.take() {
            Some(state) => self.machine.resume(state),
            None => self.machine.begin(&begin, self.range.1),
        }
        self.edges = edges.collect();
    }

    fn range(&self) -> (i64, i64) {
        self.range
    }

    fn event(&mut self, event: &SoftwareEvent) {
        self.machine.software(event);
        self.relevant += 1;
    }

    fn gap(&mut self, gap: &Gap) {
        for core in self.machine.model.cores_of(gap) {
            let edge = self.edges.pop_front().unwrap_or_default();
            self.machine.gap(core, gap, &edge);
        }
    }

    fn entities(&self) -> Vec<EntityFacts> {
        self.machine.model.described.clone()
    }

    /// Rule O12.
    fn idle_tasks(&self) -> Result<Vec<String>> {
        Ok(self.machine.model.profile.idle_tasks.clone())
    }

    fn names(&self) -> &Names {
        &self.machine.model.names
    }

    fn names_mut(&mut self) -> &mut Names {
        &mut self.machine.model.names
    }

    fn take(&mut self, at_least: usize) -> Option<Vec<Output>> {
        self.machine.take(at_least)
    }

    fn take_rows(&mut self, at_least: usize) -> Option<OsRows> {
        self.machine.rows.take(at_least)
    }

    fn finish(&mut self) -> Finished<Self> {
        let mut others = Others::new();
        for (table, names) in &self.others {
            let names = names.lock().unwrap_or_else(PoisonError::into_inner);
            others.entry(*table).or_default().extend(names.iter().cloned());
        }
        self.machine.report_unknown(&others);
        let (outputs, log) = self.machine.finish();
        let (rows, state) = (std::mem::take(&mut self.machine.rows), self.machine.state_at_end());
        Finished { outputs, rows, log, relevant: self.relevant, state }
    }
}
