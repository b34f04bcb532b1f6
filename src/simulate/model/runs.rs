//! A list in which an item can stand for several in a row. Not what the items are: observed times, or steps.

/// Items in their order, each so many times in a row. All together are counted from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Runs<T> {
    items: Vec<T>,
    /// Of each item: how many there are up to the last time of it.
    ends: Vec<u64>,
}

impl<T> Runs<T> {
    /// Adds an item, so many times.
    pub fn push(&mut self, times: u32, item: T) {
        self.ends.push(self.count() + u64::from(times));
        self.items.push(item);
    }

    /// How many there are, each item as often as it is there.
    pub fn count(&self) -> u64 {
        self.ends.last().copied().unwrap_or(0)
    }

    /// The items, each once.
    pub fn items(&self) -> &[T] {
        &self.items
    }

    /// The same, to change them.
    pub fn items_mut(&mut self) -> &mut [T] {
        &mut self.items
    }

    /// The items with how many times each one is there.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        // A difference is what `push` has added.
        let times = self.ends.iter().zip(begins).map(|(end, begin)| (end - begin) as u32);
        times.zip(&self.items)
    }

    /// The index in [`Self::items`] of the one at a place of all.
    pub fn index(&self, place: u64) -> Option<usize> {
        let index = self.ends.partition_point(|end| *end <= place);
        (index < self.items.len()).then_some(index)
    }

    /// The index in [`Self::items`] of the one whose turn it is: after the last one, the first again.
    /// `position` is the place of all, which goes on by one.
    pub fn take_turn(&self, position: &mut u64) -> Option<usize> {
        let index = self.index(*position);
        *position = if *position + 1 < self.count() { *position + 1 } else { 0 };
        index
    }
}

impl<T: PartialEq> Runs<T> {
    /// Adds an item, so many times; if it is equal to the last one, that one is there so many times more.
    pub fn push_equal(&mut self, times: u32, item: T) {
        let before = match self.ends[..] {
            [.., begin, end] => end - begin,
            [end] => end,
            [] => 0,
        };
        let fits = before + u64::from(times) <= u64::from(u32::MAX);
        match self.ends.last_mut() {
            Some(end) if fits && self.items.last() == Some(&item) => *end += u64::from(times),
            _ => self.push(times, item),
        }
    }
}

impl<T> Default for Runs<T> {
    fn default() -> Self {
        Self { items: Vec::new(), ends: Vec::new() }
    }
}

impl<T> FromIterator<(u32, T)> for Runs<T> {
    fn from_iter<I: IntoIterator<Item = (u32, T)>>(items: I) -> Self {
        let mut runs = Self::default();
        items.into_iter().for_each(|(times, item)| runs.push(times, item));
        runs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_follow_the_order_and_begin_again() {
        let runs: Runs<char> = [(2, 'a'), (1, 'b'), (3, 'c')].into_iter().collect();
        let mut position = 0;
        let turns = (0..8).map(|_| runs.take_turn(&mut position).unwrap());
        assert_eq!(turns.collect::<Vec<_>>(), [0, 0, 1, 2, 2, 2, 0, 0]);
        assert_eq!((runs.count(), position), (6, 2));
        assert_eq!(
            [0, 1, 2, 5, 6].map(|place| runs.index(place)),
            [Some(0), Some(0), Some(1), Some(2), None]
        );
        assert_eq!(Runs::<char>::default().take_turn(&mut 0), None);
    }

    #[test]
    fn equal_items_in_a_row_are_one_run() {
        let mut runs = Runs::default();
        for (times, item) in [(1, 'a'), (2, 'a'), (1, 'b'), (u32::MAX, 'b'), (1, 'a')] {
            runs.push_equal(times, item);
        }
        let all: Vec<_> = runs.iter().map(|(times, item)| (times, *item)).collect();
        assert_eq!(all, [(3, 'a'), (1, 'b'), (u32::MAX, 'b'), (1, 'a')]);
    }

    #[test]
    fn an_item_of_no_times_has_no_turn() {
        let runs: Runs<char> = [(0, 'a'), (1, 'b'), (0, 'c')].into_iter().collect();
        assert_eq!([runs.take_turn(&mut 0), runs.take_turn(&mut 0)], [Some(1), Some(1)]);
        assert_eq!(runs.iter().map(|(times, _)| times).collect::<Vec<_>>(), [0, 1, 0]);
    }
}
