//! Names by number: traces repeat the same names many times, so everything between a reader and a result
//! holds numbers. Not for what a name means. The readers of lines have an interner of their own, which finds
//! the end of a name while it looks the name up (`formats::text::names`).
//!
//! | type | from → to | used by |
//! |---|---|---|
//! | [`Interner`] | text → *id*, in the order of first use; the names that are new are a *delta* | readers, mapper, derived tables, exports |
//! | `MergedNames` | ids of several interners, by their deltas → ids of one | readers that work in parallel |
//! | [`NameColumn`] | names of rows → a *key* per row, and a *dictionary* that batches share | schema, store |
//! | `Memo` | dictionary → a value per *entry*, computed once and reused from batch to batch | store, derived tables, queries, exports |

mod column;
mod distinct;
mod interner;
mod list;
mod memo;
mod merged;

pub(crate) use column::take_rows;
pub use column::{Name, NameColumn, Numbering};
pub(crate) use distinct::distinct;
pub use interner::Interner;
pub use list::TextList;
pub(crate) use memo::Memo;
pub(crate) use merged::MergedNames;

use std::collections::{HashMap, HashSet};

/// A map from ids, instances and other small numbers. `foldhash` is several times as fast as the hash of the
/// standard library; not for texts, which may be chosen to collide. Do not rely on the order of the entries.
pub type IdMap<K, V> = HashMap<K, V, foldhash::fast::FixedState>;

/// A set of ids; see [`IdMap`].
pub(crate) type IdSet<K> = HashSet<K, foldhash::fast::FixedState>;
