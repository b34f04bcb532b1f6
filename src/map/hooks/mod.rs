//! Hook variables to system events: each word is a step of a process. The kernel itself says what happened,
//! so that there are few rules (W1 to W9 of docs/mapping.md). Not what a word is made of (see
//! `description::hooks`).

mod rules;
mod steps;
#[cfg(test)]
mod tests;
mod words;

use super::{EntityFacts, Finished, Gap, Mapper, Output, Recording, StoredRows};
use crate::btf::{EntityType, Names};
use crate::description::StoredSetup;
use crate::error::Result;
use crate::schema::{TableSpec, tables};
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
    const LOOK_AHEADS: usize = 0;
    const TELLS_ACTIVATIONS: bool = false;

    type Settings = StoredSetup;
    type Event<'a> = Word;
    type NativeRows = ();
    type State = State;

    fn new(settings: StoredSetup, recording: &Recording<'_>) -> Result<Self> {
        let setup = settings.hooks()?;
        let variables = setup.variables.iter().map(|variable| variable.name.clone()).collect();
        let range = (recording.begin, recording.end);
        Ok(Self { rules: Rules::new(setup)?, variables, range, relevant: 0 })
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
        let processes = self.rules.objects().iter().filter(|object| !object.is_idle);
        let kind = |is_isr| if is_isr { EntityType::Isr } else { EntityType::Task };
        let facts = |kind, name: &str| EntityFacts::new(kind, name);
        processes
            .map(|object| EntityFacts {
                core: object.core.clone(),
                ..facts(kind(object.is_isr), &object.name)
            })
            .collect()
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

    fn finish(&mut self) -> Finished<Self> {
        let (outputs, log) = self.rules.finish();
        Finished { outputs, rows: (), log, relevant: self.relevant, state: self.rules.state() }
    }
}
