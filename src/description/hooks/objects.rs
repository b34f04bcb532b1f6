//! What the ids in the words of hook variables stand for, and everything that the words of a recording need.
//! Not how that is found (see `setup`).

use super::HookKind;
use super::encoding::HookEncoding;
use crate::error::{Error, Result};
use std::collections::HashMap;

/// What an id stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookObject {
    pub kind: HookKind,
    pub name: String,
    pub core: Option<String>,
}

impl HookObject {
    /// A task, or an idle one, or an ISR.
    pub fn is_process(&self) -> bool {
        matches!(self.kind, HookKind::Task | HookKind::Isr | HookKind::Idle)
    }
}

/// Everything that the words of a recording need.
#[derive(Debug, Clone, Default)]
pub struct HookSetup {
    /// How the words of each variable are decoded.
    pub variables: Vec<HookEncoding>,
    /// What their ids stand for.
    pub objects: Vec<HookObject>,
    /// The cores of the recording, each with its number in the words.
    pub cores: Vec<(String, u64)>,
    /// Objects of a Profiler XML that are of no variable.
    pub unused: Vec<String>,
    /// The index of each object, by what it counts among and its name: an idle task is a task.
    known: HashMap<(HookKind, String), usize>,
}

impl HookSetup {
    /// Adds a variable that is complete.
    pub(super) fn push(&mut self, encoding: HookEncoding) -> Result<()> {
        if self.variables.iter().any(|known| known.name == encoding.name) {
            return Err(Error::input(format!("hook variable '{}' is described twice", encoding.name))
                .hint("leave one of them out, in [[hook_variables]] or in the Profiler XML"));
        }
        self.variables.push(encoding);
        Ok(())
    }

    /// The index of an object; the same for the same one in several lists.
    pub(super) fn object(&mut self, object: HookObject) -> usize {
        let kind = if object.kind == HookKind::Idle { HookKind::Task } else { object.kind };
        let next = self.objects.len();
        let index = *self.known.entry((kind, object.name.clone())).or_insert(next);
        if index == next {
            self.objects.push(object);
        }
        index
    }
}
