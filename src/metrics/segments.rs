//! A list in blocks that do not move when it grows. Not for few items.

/// Items in the order in which they came. A `Vec` of millions of large items is copied when it grows, and is
/// a mapping of its own, which the allocator gives back each time: the kernel has to clear all of its pages
/// for the next metric. Blocks are kept and used again.
#[derive(Debug)]
pub(super) struct Segments<T> {
    blocks: Vec<Vec<T>>,
    len: usize,
}

/// Items in a block.
const BLOCK: usize = 1024;

impl<T> Default for Segments<T> {
    fn default() -> Self {
        Self { blocks: Vec::new(), len: 0 }
    }
}

impl<T> Segments<T> {
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn push(&mut self, item: T) {
        match self.blocks.last_mut().filter(|block| block.len() < BLOCK) {
            Some(block) => block.push(item),
            None => {
                // The first block is mostly the only one, and short.
                let mut block = Vec::with_capacity(if self.blocks.is_empty() { 1 } else { BLOCK });
                block.push(item);
                self.blocks.push(block);
            }
        }
        self.len += 1;
    }

    #[inline]
    pub fn get(&self, place: usize) -> Option<&T> {
        self.blocks.get(place / BLOCK)?.get(place % BLOCK)
    }

    #[inline]
    pub fn get_mut(&mut self, place: usize) -> Option<&mut T> {
        self.blocks.get_mut(place / BLOCK)?.get_mut(place % BLOCK)
    }

    /// All items, a block at a time.
    #[cfg(feature = "cluster")]
    pub fn blocks(&self) -> impl Iterator<Item = &[T]> {
        self.blocks.iter().map(Vec::as_slice)
    }
}

impl<T> IntoIterator for Segments<T> {
    type Item = T;
    type IntoIter = std::iter::Flatten<std::vec::IntoIter<Vec<T>>>;

    fn into_iter(self) -> Self::IntoIter {
        self.blocks.into_iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_where_they_were_put() {
        for count in [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK] {
            let mut list = Segments::default();
            (0..count).for_each(|n| list.push(n));
            assert_eq!(list.len(), count);
            assert!((0..count).all(|n| list.get(n) == Some(&n)) && list.get(count).is_none());
            if let Some(item) = list.get_mut(count / 2) {
                *item += count;
            }
            let expected = (0..count).map(|n| if n == count / 2 { n + count } else { n });
            assert!(list.into_iter().eq(expected), "{count} items");
        }
    }
}
