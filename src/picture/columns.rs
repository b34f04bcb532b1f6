//! Values by column of a picture, of which most rows have few. Not what the values are.

/// The values of the columns that have one, in the order of the columns.
#[derive(Debug, Clone)]
pub(super) struct Columns<T> {
    values: Vec<(u32, T)>,
}

impl<T> Default for Columns<T> {
    fn default() -> Self {
        Self { values: Vec::new() }
    }
}

impl<T> Columns<T> {
    /// Adds to the value of a column, or makes one. In order of time, it is the last column or a new one.
    pub fn add<U>(&mut self, column: u32, more: U, new: impl FnOnce(U) -> T, add: impl FnOnce(&mut T, U)) {
        match self.values.last_mut() {
            Some((last, value)) if *last == column => return add(value, more),
            Some((last, _)) if *last > column => {}
            _ => return self.values.push((column, new(more))),
        }
        match self.values.binary_search_by_key(&column, |(column, _)| *column) {
            Ok(place) => {
                if let Some((_, value)) = self.values.get_mut(place) {
                    add(value, more);
                }
            }
            Err(place) => self.values.insert(place, (column, new(more))),
        }
    }

    /// The value of a column.
    pub fn get_mut(&mut self, column: u32) -> Option<&mut T> {
        let place = self.values.binary_search_by_key(&column, |(column, _)| *column).ok()?;
        self.values.get_mut(place).map(|(_, value)| value)
    }

    /// Joins all values of another collection for the same columns.
    pub fn join(&mut self, other: Self, join: impl Fn(&mut T, T)) {
        if self.values.is_empty() {
            self.values = other.values;
            return;
        }
        let mine = std::mem::take(&mut self.values);
        let (mut mine, mut theirs) = (mine.into_iter().peekable(), other.values.into_iter().peekable());
        while let (Some((a, _)), Some((b, _))) = (mine.peek(), theirs.peek()) {
            let next = if a <= b { mine.next() } else { theirs.next() };
            self.values.extend(next);
            if let Some((column, value)) = self.values.last_mut()
                && let Some((_, same)) = theirs.next_if(|(other, _)| other == column)
            {
                join(value, same);
            }
        }
        self.values.extend(mine.chain(theirs));
    }

    /// All values, in the order of the columns.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.values.iter().map(|(_, value)| value)
    }

    /// All values, in the order of the columns.
    pub fn into_values(self) -> impl Iterator<Item = T> {
        self.values.into_iter().map(|(_, value)| value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn of(values: &[(u32, u64)]) -> (Columns<u64>, BTreeMap<u32, u64>) {
        let (mut columns, mut map) = (Columns::default(), BTreeMap::new());
        for (column, value) in values {
            columns.add(*column, *value, |value| value, |sum, value| *sum += value);
            *map.entry(*column).or_default() += value;
        }
        (columns, map)
    }

    proptest! {
        #[test]
        fn columns_are_a_map(a in prop::collection::vec((0u32..20, 0u64..9), 0..60), b in prop::collection::vec((0u32..20, 0u64..9), 0..60)) {
            let ((mut columns, mut map), (other, more)) = (of(&a), of(&b));
            prop_assert_eq!(columns.values().copied().collect::<Vec<_>>(), map.values().copied().collect::<Vec<_>>());
            for column in 0..20 {
                prop_assert_eq!(columns.get_mut(column).copied(), map.get(&column).copied());
            }
            columns.join(other, |present, value| *present += value);
            more.into_iter().for_each(|(column, value)| *map.entry(column).or_default() += value);
            prop_assert_eq!(columns.into_values().collect::<Vec<_>>(), map.into_values().collect::<Vec<_>>());
        }
    }
}
