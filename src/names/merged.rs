//! Ids of several interners → ids of one: readers send the names that are new with every chunk.

use std::sync::Arc;

use arrow::array::StringArray;

use super::{Interner, TextList};

/// Merges the names of several sources by their dictionary deltas, and translates their ids to its own.
#[derive(Debug, Default)]
pub(crate) struct MergedNames {
    names: Interner,
    sources: Vec<Source>,
}

/// The names of a source by its own ids, and their ids here.
#[derive(Debug, Default)]
struct Source {
    texts: TextList,
    /// [`Source::FORGOTTEN`] until it is needed again.
    ids: Vec<u32>,
    /// How many ids, from the first on, are the same on both sides: with one source, nearly all.
    same: u32,
}

impl Source {
    const FORGOTTEN: u32 = u32::MAX;
}

impl MergedNames {
    /// `delta` has the names of a source from its id `first` on; earlier names with these ids are void.
    pub fn learn(&mut self, source: usize, first: u32, delta: &TextList) {
        if self.sources.len() <= source {
            self.sources.resize_with(source + 1, Source::default);
        }
        let Some(source) = self.sources.get_mut(source) else { return };
        source.texts.truncate(first);
        source.texts.extend(delta);
        source.ids.truncate(first as usize);
        source.same = source.same.min(first);
        for name in delta.iter() {
            let id = self.names.intern(name);
            let same = source.same == id && source.ids.len() == id as usize;
            source.same += u32::from(same);
            source.ids.push(id);
        }
    }

    /// Replaces ids of a source. Ids that it never gave, such as that of a missing name, stay as they are.
    pub fn translate(&mut self, source: usize, ids: &mut [u32]) {
        let Some(Source { texts, ids: known, same }) = self.sources.get_mut(source) else { return };
        if *same == texts.len() {
            return;
        }
        for id in ids {
            let Some(own) = known.get_mut(*id as usize) else { continue };
            if *own == Source::FORGOTTEN {
                *own = self.names.intern(texts.get(*id));
            }
            *id = *own;
        }
    }

    /// To be called between batches: forgets all names when there are more than `max`, or too many bytes of
    /// them.
    pub fn trim(&mut self, max: usize) {
        if self.names.trim_beyond(max, Interner::MAX_BYTES) {
            for source in &mut self.sources {
                source.ids.fill(Source::FORGOTTEN);
                source.same = 0;
            }
        }
    }

    /// The text of a key.
    pub fn text(&self, key: u32) -> &str {
        self.names.text(key)
    }

    pub fn names_mut(&mut self) -> &mut Interner {
        &mut self.names
    }

    /// The names as a dictionary; see [`Interner::array`].
    pub fn array(&mut self) -> Arc<StringArray> {
        self.names.array()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_all_sources_mean_the_same() {
        let mut merged = MergedNames::default();
        let mut translated = |source: usize, first: u32, delta: &[&str], ids: &[u32]| {
            merged.learn(source, first, &delta.iter().collect());
            let mut ids = ids.to_vec();
            merged.translate(source, &mut ids);
            let texts = ids.iter().map(|id| merged.names.text(*id).to_owned()).collect::<Vec<_>>();
            (ids, texts)
        };
        assert_eq!(translated(0, 0, &["a", "b"], &[1, 0]).0, [1, 0], "the first source gives the ids");
        assert_eq!(translated(1, 0, &["b", "c"], &[0, 1, 9]).0, [1, 2, 9]);
        assert_eq!(translated(0, 2, &["c"], &[2]).1, ["c"]);
        assert_eq!(translated(1, 1, &["a"], &[0, 1]).1, ["b", "a"], "from 1 on, all is new");
    }

    #[test]
    fn forgotten_names_come_back_when_they_are_needed() {
        let mut merged = MergedNames::default();
        let many: TextList = (0..=100).map(|n| n.to_string()).collect();
        merged.learn(0, 0, &many);
        merged.trim(101);
        assert_eq!(merged.names.len(), 101);
        merged.trim(100);
        assert_eq!(merged.names.len(), 0);
        let mut ids = [7, 3, 7];
        merged.translate(0, &mut ids);
        assert_eq!((ids, merged.names.text(0)), ([0, 1, 0], "7"));
    }
}
