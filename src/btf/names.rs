//! Interned entity names: small ids inside, text at the interfaces. Not a symbol table of addresses.

use crate::error::{Error, Result};
use crate::names::{Interner, Name, Numbering};
use serde::{Deserialize, Serialize};

/// An interned name; only meaningful together with the [`Names`] that made it.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "SerializedName", from = "SerializedName")]
pub struct NameId(u32);

/// A [`NameId`] is an object, so that it differs from a number, and can be replaced by its text.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SerializedName {
    #[serde(rename = "@")]
    id: u32,
}

impl From<NameId> for SerializedName {
    fn from(name: NameId) -> Self {
        Self { id: name.0 }
    }
}

impl From<SerializedName> for NameId {
    fn from(name: SerializedName) -> Self {
        Self(name.id)
    }
}

impl NameId {
    /// Its index among all names, from 0: for tables with a row per name.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A map from names to values, stored by the index of the name: for look-ups at every event.
#[derive(Debug, Clone)]
pub struct NameMap<T> {
    rows: Vec<Option<T>>,
}

impl<T> Default for NameMap<T> {
    fn default() -> Self {
        Self { rows: Vec::new() }
    }
}

impl<T> NameMap<T> {
    pub fn get(&self, name: NameId) -> Option<&T> {
        self.rows.get(name.index())?.as_ref()
    }

    pub fn insert(&mut self, name: NameId, value: T) {
        if self.rows.len() <= name.index() {
            self.rows.resize_with(name.index() + 1, || None);
        }
        if let Some(row) = self.rows.get_mut(name.index()) {
            *row = Some(value);
        }
    }
}

impl Numbering for Names {
    fn name_of(&self, number: u32) -> &str {
        self.text(NameId(number))
    }
}

/// The interner of entities: an [`Interner`] whose ids are only ids of names. Given in order of first use,
/// they are the same for the same input.
#[derive(Debug, Clone, Default)]
pub struct Names(Interner);

/// The most bytes that the different names of a recording have together, unless another limit is asked for
/// (1 GiB): they are held in memory.
pub const MOST_NAMES: u64 = 1 << 30;

impl Names {
    /// The id of `text`; a new one at its first use.
    pub fn intern(&mut self, text: &str) -> NameId {
        NameId(self.0.intern(text))
    }

    pub fn find(&self, text: &str) -> Option<NameId> {
        self.0.find(text).map(NameId)
    }

    /// Fails when the names have more than `most` bytes together.
    pub fn check_size(&self, most: u64) -> Result<()> {
        if self.0.bytes() as u64 <= most {
            return Ok(());
        }
        let (names, bytes) = (self.0.len(), self.0.bytes());
        Err(Error::input(format!("its first {names} different names have {bytes} bytes, more than {most}"))
            .hint("if those are names, permit more with --max-names"))
    }

    /// The names from the `n`-th on, in the order of their ids.
    pub fn since(&self, n: usize) -> impl Iterator<Item = &str> {
        self.0.since(u32::try_from(n).unwrap_or(u32::MAX))
    }

    /// Learns the next names of another interner, so that its ids mean the same here. Only for an interner
    /// that has learnt everything from that one.
    pub fn learn(&mut self, next: &[String]) {
        for text in next {
            self.intern(text);
        }
    }

    /// A name for a column of a table, whose other names with numbers come from this interner too.
    pub fn name(&self, id: NameId) -> Name<'_> {
        Name::Numbered(id.0, self)
    }

    /// The text of an id; empty for an id of another interner.
    pub fn text(&self, id: NameId) -> &str {
        self.0.text(id.0)
    }
}
