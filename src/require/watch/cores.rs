//! The cores of a recording, and those that each entity was seen on: what gaps of a core hide. Not for what
//! happens there.

use std::collections::HashMap;

/// See the module.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cores {
    numbers: HashMap<String, u32>,
    homes: HashMap<String, Vec<u32>>,
}

impl Cores {
    /// There is a core, and an entity was seen on it.
    pub fn seen(&mut self, core: &str, entity: Option<&str>) {
        let next = self.numbers.len() as u32;
        let number = *self.numbers.entry(core.to_owned()).or_insert(next);
        let Some(entity) = entity else { return };
        let homes = self.homes.entry(entity.to_owned()).or_default();
        if !homes.contains(&number) {
            homes.push(number);
        }
    }

    /// The number of a core.
    pub fn get(&self, core: &str) -> Option<u32> {
        self.numbers.get(core).copied()
    }

    /// All cores.
    pub fn all(&self) -> Vec<u32> {
        (0..self.numbers.len() as u32).collect()
    }

    /// The cores that an entity may be on: those that it was seen on, or all if there are none.
    pub fn of(&self, entity: &str) -> Vec<u32> {
        self.homes.get(entity).cloned().unwrap_or_else(|| self.all())
    }

    /// A number that no core has, for the state with number `n`: a gap there hides that state, nothing else.
    pub fn of_state(&self, n: usize) -> u32 {
        u32::try_from(self.numbers.len() + n).unwrap_or(u32::MAX)
    }
}
