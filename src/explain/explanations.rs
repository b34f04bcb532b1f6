//! Explanations that are final, in the order in which they became so. Not how they are made (see `open`).

use super::types::{Explained, Part};

/// Some explanations. The parts of all of them lie in one list: there are millions.
#[derive(Debug, Default)]
pub struct Explanations {
    /// Without their parts, and where these end in the list.
    responses: Vec<(Explained<'static>, usize)>,
    parts: Vec<Part>,
}

impl Explanations {
    /// None yet, with room for as many as these.
    pub(super) fn room_for(&self) -> Self {
        Self {
            responses: Vec::with_capacity(self.responses.len()),
            parts: Vec::with_capacity(self.parts.len()),
        }
    }

    pub(super) fn push(&mut self, explained: Explained<'_>) {
        self.parts.extend_from_slice(explained.parts);
        self.responses.push((Explained { parts: &[], ..explained }, self.parts.len()));
    }

    /// Each explained response, with its parts.
    pub fn iter(&self) -> impl Iterator<Item = Explained<'_>> {
        let mut begin = 0;
        self.responses.iter().map(move |(explained, end)| {
            let parts = self.parts.get(begin..*end).unwrap_or_default();
            begin = *end;
            Explained { parts, ..*explained }
        })
    }

    /// How many responses are explained.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.responses.len()
    }

    /// How many parts all of them have.
    #[cfg(test)]
    pub fn parts(&self) -> usize {
        self.parts.len()
    }
}
