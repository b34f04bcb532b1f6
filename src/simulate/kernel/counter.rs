//! The counter of a core: what it has to do, in a list of differences of ticks. Not the accesses by which
//! a kernel changes it (see `timer`).

use super::ready::NONE;

/// The list of one counter. An object is an alarm or a schedule table, by its number on the core.
#[derive(Debug, Clone, Default)]
pub struct Counter {
    pub value: u32,
    /// The object that expires first.
    pub first: u32,
    /// Ticks from the expiry of the object before to that of each object, less one for the first.
    pub delta: Vec<u32>,
    /// The object that expires next.
    pub next: Vec<u32>,
}

impl Counter {
    /// Of as many objects, none of which is started.
    pub fn new(objects: usize) -> Self {
        Self { value: 0, first: NONE, delta: vec![0; objects], next: vec![NONE; objects] }
    }
}
