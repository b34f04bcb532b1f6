//! A hook variable that can be decoded: what the bits of its words say. Not what its ids stand for (see
//! `setup`).

use super::{HookKind, HookStep, HookVariable, OtherStep, ProcessStep};
use crate::error::{Error, Result};
use std::collections::BTreeMap;

/// The bits of a word under a mask, as a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bits(u64);

impl Bits {
    pub(super) fn new(mask: u64, key: &str, variable: &str) -> Result<Self> {
        let shifted = mask.checked_shr(mask.trailing_zeros()).unwrap_or(0);
        if mask == 0 || shifted & shifted.wrapping_add(1) != 0 {
            let wrong =
                format!("{key} of hook variable '{variable}' is {mask:#x}, which is not one run of bits");
            return Err(Error::input(wrong).hint("a mask is of bits without a gap, as 0xff00"));
        }
        Ok(Self(mask))
    }

    /// The highest number.
    fn most(self) -> u64 {
        self.of(u64::MAX)
    }

    /// The number in a word.
    pub fn of(self, word: u64) -> u64 {
        (word & self.0).checked_shr(self.0.trailing_zeros()).unwrap_or(0)
    }
}

/// A hook variable that can be decoded.
#[derive(Debug, Clone)]
pub struct HookEncoding {
    pub name: String,
    pub id: Bits,
    /// `None`: words are ids alone.
    pub state: Option<Bits>,
    /// `None`: the core is that of the export.
    pub core: Option<Bits>,
    /// Bits that each word has.
    pub valid: u64,
    pub(super) steps: BTreeMap<u64, HookStep>,
    /// What even and odd states mean that are not in `steps`.
    pub(super) by_parity: [Option<HookStep>; 2],
    /// The states from which on the id is that of an ISR; `None` if tasks and ISRs have one number space.
    pub isr_states_from: Option<u64>,
    /// The id that ends a runnable.
    pub(super) exit_id: Option<u64>,
    /// By number space and id: an index of [`HookSetup::objects`](super::HookSetup::objects), or `None` for
    /// what is no process.
    pub ids: BTreeMap<(Space, u64), Option<usize>>,
    /// Ids that are not known are no processes.
    pub others_are_nobody: bool,
    /// Processes are not what its words are about.
    pub(super) of_runnables: bool,
    /// It has ids of processes.
    of_processes: bool,
    /// Its ISRs interrupt what runs, without a word of that.
    pub interrupts: bool,
}

/// What a number counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Space {
    Processes,
    /// Where they have numbers of their own.
    Isrs,
    Runnables,
    Spinlocks,
    Services,
}

impl HookEncoding {
    /// What a word says, and the number that says of what; `None` if its state has no meaning.
    pub fn step(&self, word: u64) -> Option<(HookStep, Space, u64)> {
        let id = self.id.of(word);
        if self.exit_id == Some(id) {
            return Some((HookStep::Other(OtherStep::Return), Space::Runnables, id));
        }
        let Some(state) = self.state_of(word) else {
            return Some((HookStep::Process(ProcessStep::Start), Space::Runnables, id));
        };
        let listed = self.steps.get(&state).copied();
        let by_parity = self.by_parity.get((state % 2) as usize).copied().flatten();
        let id = if listed.is_none() { state / 2 } else { id };
        let step = listed.or(by_parity)?;
        let is_isr = self.isr_states_from.is_some_and(|from| state >= from);
        let space = match step {
            HookStep::Process(_) if self.of_runnables => Space::Runnables,
            HookStep::Process(_) if is_isr => Space::Isrs,
            HookStep::Process(_) => Space::Processes,
            HookStep::Other(OtherStep::Return) => Space::Runnables,
            HookStep::Other(OtherStep::Request | OtherStep::Lock | OtherStep::Unlock) => Space::Spinlocks,
            HookStep::Other(OtherStep::Enter | OtherStep::Exit) => Space::Services,
        };
        Some((step, space, id))
    }

    /// What an id stands for; `None`: nobody.
    pub(super) fn add(&mut self, id: u64, kind: Option<HookKind>, object: Option<usize>) -> Result<()> {
        let space = self.space_of(kind);
        self.of_runnables |= space == Space::Runnables;
        self.of_processes |= matches!(space, Space::Processes | Space::Isrs) && kind.is_some();
        if self.of_runnables && self.of_processes {
            let wrong = format!(
                "'{}' has ids of processes and of runnables, and its words do not tell which is meant",
                self.name
            );
            return Err(
                Error::input(wrong).hint("name the ids of processes only, or those of runnables only")
            );
        }
        if id > self.id.most() {
            let most = self.id.most();
            let wrong = format!("id {id} is none: the mask of '{}' has ids up to {most}", self.name);
            return Err(
                Error::input(wrong).hint("correct the id, or the mask: ids with more bits need a wider one")
            );
        }
        if object.is_some() && self.exit_id == Some(id) {
            return Err(Error::input(format!("id {id} says that a runnable returns, and is that of one"))
                .hint("correct the id of the runnable, or the one that says that a runnable returns"));
        }
        if self.ids.insert((space, id), object).is_some() {
            return Err(Error::input(format!("id {id} is listed twice")).hint(
                "tasks and ISRs that have number spaces of their own take isr_states_from in [[hook_variables]]",
            ));
        }
        Ok(())
    }

    /// What the id of an object counts; `None`: of nobody.
    pub(super) fn space_of(&self, kind: Option<HookKind>) -> Space {
        match kind {
            Some(HookKind::Isr) if self.isr_states_from.is_some() => Space::Isrs,
            Some(HookKind::Runnable) => Space::Runnables,
            Some(HookKind::Spinlock) => Space::Spinlocks,
            Some(HookKind::Service) => Space::Services,
            None if self.of_runnables => Space::Runnables,
            Some(HookKind::Task | HookKind::Isr | HookKind::Idle) | None => Space::Processes,
        }
    }

    /// The state in a word.
    pub fn state_of(&self, word: u64) -> Option<u64> {
        self.state.map(|bits| bits.of(word))
    }

    /// All its words are calls of services.
    pub(super) fn is_of_services(&self) -> bool {
        let is_call = |step: &HookStep| matches!(step, HookStep::Other(OtherStep::Enter | OtherStep::Exit));
        self.steps.values().chain(self.by_parity.iter().flatten()).all(is_call)
    }
}

/// What the words of a variable say, without its ids.
pub(super) fn of(described: &HookVariable) -> Result<HookEncoding> {
    let name = &described.name;
    let bits = |mask: Option<u64>, key: &str| Bits::new(mask.unwrap_or(0), key, name);
    let (mut steps, mut by_parity) = (BTreeMap::new(), [None; 2]);
    for (state, step) in &described.states {
        let parity = ["even", "odd"].iter().position(|word| word == state);
        if let Some(parity) = parity.and_then(|parity| by_parity.get_mut(parity)) {
            *parity = Some(*step);
            continue;
        }
        let number = state.parse().map_err(|e| {
            Error::input(format!("state '{state}' of hook variable '{name}' is no number")).because(e)
        })?;
        steps.insert(number, *step);
    }
    if described.state_mask.is_none() && described.exit_id.is_some() && !described.states.is_empty() {
        return Err(Error::input(format!(
            "hook variable '{name}' has states and exit_id, but no state_mask"
        ))
        .hint("words of runnables with an exit_id have no states; with states, `return` is one of them"));
    }
    let has_state = described.exit_id.is_none() || described.state_mask.is_some();
    let core_mask = described.core_mask.filter(|mask| *mask != 0);
    Ok(HookEncoding {
        name: name.clone(),
        id: bits(described.id_mask, "id_mask")?,
        state: has_state.then(|| bits(described.state_mask, "state_mask")).transpose()?,
        core: core_mask.map(|mask| bits(Some(mask), "core_mask")).transpose()?,
        valid: described.valid_mask.unwrap_or(0),
        steps,
        by_parity,
        isr_states_from: described.isr_states_from,
        exit_id: described.exit_id,
        ids: BTreeMap::new(),
        others_are_nobody: false,
        of_runnables: described.exit_id.is_some(),
        of_processes: false,
        interrupts: described.interrupts.unwrap_or_default(),
    })
}
