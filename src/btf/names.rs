//! Interned entity names: small ids inside the mapper, text at its interfaces. Not a symbol table of
//! addresses.

use crate::schema::{Name, Numbering};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// An interned name; only meaningful together with the [`Names`] that made it.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "SerializedName", from = "SerializedName")]
pub struct NameId(u32);

/// A [`NameId`] is an object, so that it can be told from a number, and its text be put in its place.
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

/// A map from ids and instances. Such keys are small numbers that are not chosen to collide, so one
/// multiplication mixes them well enough, several times faster than the hash of the standard library.
pub type IdMap<K, V> = HashMap<K, V, BuildHasherDefault<IdHasher>>;

/// See [`IdMap`].
#[derive(Debug, Default, Clone, Copy)]
pub struct IdHasher(u64);

impl Hasher for IdHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|b| self.write_u64(u64::from(*b)));
    }

    fn write_u32(&mut self, n: u32) {
        self.write_u64(u64::from(n));
    }

    fn write_i64(&mut self, n: i64) {
        self.write_u64(n as u64);
    }

    fn write_u64(&mut self, n: u64) {
        // An odd constant without a pattern: the fraction of the golden ratio.
        let wide = u128::from(self.0 ^ n).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = (wide >> 64) as u64 ^ wide as u64;
    }

    fn finish(&self) -> u64 {
        self.0
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
    /// The value of a name.
    pub fn get(&self, name: NameId) -> Option<&T> {
        self.rows.get(name.index())?.as_ref()
    }

    /// Sets the value of a name.
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

/// The interner. Ids are given in order of first use, so they are the same for the same input.
#[derive(Debug, Clone, Default)]
pub struct Names {
    texts: Vec<String>,
    ids: HashMap<String, NameId>,
}

impl Names {
    /// The id of `text`; a new one at its first use.
    pub fn intern(&mut self, text: &str) -> NameId {
        if let Some(id) = self.ids.get(text) {
            return *id;
        }
        // 2^32 distinct names do not fit in memory, so the cast cannot lose anything.
        let id = NameId(self.texts.len() as u32);
        self.texts.push(text.to_owned());
        self.ids.insert(text.to_owned(), id);
        id
    }

    /// The id of a name that has been interned before.
    pub fn find(&self, text: &str) -> Option<NameId> {
        self.ids.get(text).copied()
    }

    /// The names from the `n`-th on, in the order of their ids.
    pub fn since(&self, n: usize) -> impl Iterator<Item = &str> {
        self.texts.iter().skip(n).map(String::as_str)
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
        self.texts.get(id.0 as usize).map_or("", String::as_str)
    }
}
