//! Finds the first of many slots that is free at a moment, in logarithmic time. Not what the slots are for.

/// The moments from which slots are free, in a tree of minima: each inner node has the least of its two.
#[derive(Debug, Default)]
pub(super) struct Slots {
    /// The number of slots.
    count: usize,
    /// The nodes: the root at 1, the children of node n at 2 n and 2 n + 1, the slots from `size` on.
    tree: Vec<i64>,
}

impl Slots {
    fn size(&self) -> usize {
        self.tree.len() / 2
    }

    /// One more slot, which is taken.
    pub fn push(&mut self) {
        if self.count == self.size() {
            let ends: Vec<i64> = self.tree.iter().skip(self.size()).copied().collect();
            let size = (2 * self.size()).max(1);
            self.tree = vec![i64::MAX; 2 * size];
            for (slot, end) in ends.into_iter().enumerate() {
                self.set(slot, end);
            }
        }
        self.count += 1;
    }

    /// From when on a slot is free; `i64::MAX`: it is taken.
    pub fn set(&mut self, slot: usize, from: i64) {
        let mut node = self.size() + slot;
        if let Some(end) = self.tree.get_mut(node) {
            *end = from;
        }
        while node > 1 {
            node /= 2;
            let least = self.at(2 * node).min(self.at(2 * node + 1));
            if let Some(end) = self.tree.get_mut(node) {
                *end = least;
            }
        }
    }

    /// The first slot that is free at this moment.
    pub fn first(&self, at: i64) -> Option<usize> {
        if self.at(1) > at || self.count == 0 || at == i64::MAX {
            return None;
        }
        let mut node = 1;
        while node < self.size() {
            node = if self.at(2 * node) <= at { 2 * node } else { 2 * node + 1 };
        }
        Some(node - self.size())
    }

    fn at(&self, node: usize) -> i64 {
        self.tree.get(node).copied().unwrap_or(i64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_free_slot_is_found(steps in prop::collection::vec((0u8..4, 0usize..20, 0i64..20), 0..200)) {
            let (mut slots, mut ends) = (Slots::default(), Vec::<i64>::new());
            for (step, slot, at) in steps {
                match step {
                    0 => {
                        slots.push();
                        ends.push(i64::MAX);
                    }
                    1 if slot < ends.len() => {
                        slots.set(slot, at);
                        ends[slot] = at;
                    }
                    2 if slot < ends.len() => {
                        slots.set(slot, i64::MAX);
                        ends[slot] = i64::MAX;
                    }
                    _ => prop_assert_eq!(slots.first(at), ends.iter().position(|end| *end <= at)),
                }
                prop_assert_eq!(slots.count, ends.len());
            }
        }
    }
}
