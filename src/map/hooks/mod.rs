//! Hook variables to system events: each word is a step of a process. The kernel itself says what happened,
//! so that there are few rules (W1 to W15 of docs/mapping.md). Not what a word is made of (see
//! `description::hooks`).

mod calls;
mod rules;
mod spinlocks;
mod steps;
#[cfg(test)]
mod tests;
mod words;

use super::{EntityFacts, Finished, Gap, Mapper, Output, Recording, StoredRows};
use crate::btf::{EntityType, Names};
use crate::description::{HookKind, HookObject, StoredSetup};
use crate::error::Result;
use crate::schema::{TableSpec, tables};
use calls::CallRows;
use rules::{Rules, State};
use std::ops::ControlFlow;
use std::sync::Arc;
pub use words::Word;

/// The mapper of traces of a kernel with hook variables.
pub struct HookMapper {
    rules: Rules,
    variables: Arc<[String]>,
    range: (i64, i64),
    relevant: u64,
}

impl Mapper for HookMapper {
    const NAME: &'static str = "hooks";
    const STATE_VERSION: u32 = 1;
    const TABLES: &'static [&'static TableSpec] = &[tables::DATA_EVENT];
    const NATIVE_TABLES: &'static [&'static TableSpec] = &[tables::OS_CALL];
    const LOOK_AHEADS: usize = 0;
    const TELLS_ACTIVATIONS: bool = false;

    type Settings = StoredSetup;
    type Event<'a> = Word;
    type NativeRows = CallRows;
    type State = State;

    fn new(settings: StoredSetup, recording: &Recording<'_>) -> Result<Self> {
        let setup = settings.hooks()?;
        let variables = setup.variables.iter().map(|variable| variable.name.clone()).collect();
        let range = (recording.begin, recording.end);
        Ok(Self { rules: Rules::new(setup, recording.begin)?, variables, range, relevant: 0 })
    }

    fn resume(&mut self, state: State) -> Result<()> {
        self.rules.resume(state)
    }

    fn read<R: StoredRows>(
        &mut self,
        rows: &R,
        _pass: usize,
        mut take: impl FnMut(&mut Self, &Word) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let (exports, variables) = (self.rules.exports(), Arc::clone(&self.variables));
        words::in_order(rows, &exports, &variables, |word| take(self, word))
    }

    fn time_of(word: &Word) -> i64 {
        word.time
    }

    fn look_ahead(&mut self, _pass: usize, _word: &Word) -> ControlFlow<()> {
        ControlFlow::Break(())
    }

    fn end_look_ahead(&mut self, _pass: usize) {}

    fn range(&self) -> (i64, i64) {
        self.range
    }

    fn event(&mut self, word: &Word) {
        self.rules.word(word);
        self.relevant += 1;
    }

    fn gap(&mut self, gap: &Gap) {
        self.rules.gap(gap);
    }

    fn entities(&self) -> Vec<EntityFacts> {
        let entity = |object: &HookObject| {
            let kind = match object.kind {
                HookKind::Task => EntityType::Task,
                HookKind::Isr => EntityType::Isr,
                HookKind::Runnable => EntityType::Runnable,
                HookKind::Spinlock => EntityType::Semaphore,
                HookKind::Idle | HookKind::Service => return None,
            };
            Some(EntityFacts { core: object.core.clone(), ..EntityFacts::new(kind, &object.name) })
        };
        self.rules.objects().iter().filter_map(entity).collect()
    }

    fn names(&self) -> &Names {
        self.rules.names()
    }

    fn names_mut(&mut self) -> &mut Names {
        self.rules.names_mut()
    }

    fn take(&mut self, at_least: usize) -> Option<Vec<Output>> {
        self.rules.take(at_least)
    }

    fn take_rows(&mut self, at_least: usize) -> Option<CallRows> {
        self.rules.take_rows(at_least)
    }

    fn finish(&mut self) -> Finished<Self> {
        let (outputs, rows, log) = self.rules.finish();
        Finished { outputs, rows, log, relevant: self.relevant, state: self.rules.state() }
    }
}
