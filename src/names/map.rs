//! Maps and sets of ids. Not for texts, which may be chosen to collide.

use std::collections::{HashMap, HashSet};

/// A map from ids, instances and other small numbers. `foldhash` is several times as fast as the hash of the
/// standard library. Do not rely on the order of the entries.
pub type IdMap<K, V> = HashMap<K, V, foldhash::fast::FixedState>;

/// A set of ids; see [`IdMap`].
pub(crate) type IdSet<K> = HashSet<K, foldhash::fast::FixedState>;
