//! Values by the number of a name, and a fast map for instances. Not what the values mean.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Numbers below this have a place in an array: interners count from 0.
const NEAR: usize = 1 << 16;

/// A map from small numbers. Do not rely on the order of its entries.
pub(super) type IdMap<K, V> = HashMap<K, V, BuildHasherDefault<Mixer>>;

/// Mixes whole numbers; not for texts.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Mixer(u64);

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        // The map takes the upper bits as well as the lower ones.
        self.0 ^ (self.0 >> 32)
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }

    fn write_i64(&mut self, number: i64) {
        self.write_u64(number.cast_unsigned());
    }

    fn write_u64(&mut self, number: u64) {
        // An odd factor without a pattern: the fraction of the golden ratio.
        let product = u128::from(self.0 ^ number ^ 0x5851_f42d) * 0x9e37_79b9_7f4a_7c15;
        self.0 = (product as u64) ^ ((product >> 64) as u64);
    }
}

/// A value per number of a name.
#[derive(Debug)]
pub(super) struct Table<T> {
    near: Vec<T>,
    far: IdMap<u32, T>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self { near: Vec::new(), far: IdMap::default() }
    }
}

impl<T: Default> Table<T> {
    /// The value of a number, if there is one.
    pub fn get(&self, id: u32) -> Option<&T> {
        if (id as usize) < NEAR { self.near.get(id as usize) } else { self.far.get(&id) }
    }

    /// The same, to be changed.
    pub fn get_mut(&mut self, id: u32) -> Option<&mut T> {
        if (id as usize) < NEAR { self.near.get_mut(id as usize) } else { self.far.get_mut(&id) }
    }

    /// The value of a number; the default value if it is new.
    pub fn at(&mut self, id: u32) -> &mut T {
        let place = id as usize;
        if place >= NEAR {
            return self.far.entry(id).or_default();
        }
        if place >= self.near.len() {
            self.near.resize_with(place + 1, T::default);
        }
        // Only now it is there for sure.
        &mut self.near[place]
    }

    /// How many values there are.
    pub fn len(&self) -> usize {
        self.near.len() + self.far.len()
    }

    /// All values, in no order.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.near.iter_mut().chain(self.far.values_mut())
    }
}
