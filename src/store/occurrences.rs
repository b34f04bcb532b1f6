//! Which names occur together in the rows of a file, and when first and last: its footer tells it, so that
//! what never happened needs no look at the rows. Not which names and why (see
//! [`crate::schema::Occurrences`]).

use arrow::array::RecordBatch;
use parquet::file::metadata::{FileMetaData, KeyValue};
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::names::{IdMap, Interner, Memo};
use crate::schema::{NameView, NumberView, Occurrences, TableSpec, find_column};

/// The key of the footer. The value is a list in JSON, as [`Occurrence`].
const KEY: &str = "btfdb.occurrences";

/// Footers are read whole: with more occurrences than these, one states none.
const MOST: usize = 4096;

/// Nor with more bytes in the names of all of them: a name can be as long as a line.
const MOST_BYTES: usize = 256 << 10;

/// Names that occur together in rows, one of each column of [`Occurrences::columns`], and the times of the
/// first and the last of these rows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Occurrence {
    /// One of each column.
    pub names: [String; 3],
    /// In ticks.
    pub first: i64,
    /// In ticks.
    pub last: i64,
}

/// What occurs in a file that is being written.
pub(super) struct Occurring {
    table: &'static str,
    of: &'static Occurrences,
    names: Interner,
    /// By column, the numbers of the names of its dictionary.
    numbers: [Memo<Option<u32>>; 3],
    /// Whether the rows of a kind count.
    counts: Memo<bool>,
    found: IdMap<[u32; 3], (i64, i64)>,
}

impl Occurring {
    /// `None` if the footers of a table do not tell.
    pub fn of(table: &'static TableSpec) -> Option<Self> {
        let of = table.occurrences.as_ref()?;
        let (names, numbers, counts) = (Interner::default(), Default::default(), Memo::default());
        Some(Self { table: table.name, of, names, numbers, counts, found: IdMap::default() })
    }

    /// Rows that come next.
    pub fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        if self.found.len() > MOST {
            return Ok(());
        }
        let kinds: NameView<'_> = find_column(batch, self.table, self.of.kind)?;
        self.counts.follow(kinds.dictionary(), |kind| !self.of.kinds_without.contains(&kind));
        if !self.counts.values().contains(&true) {
            return Ok(());
        }
        let times: NumberView<'_, i64> = find_column(batch, self.table, self.of.time)?;
        let [a, b, c] = self.of.columns.map(|column| find_column::<NameView<'_>>(batch, self.table, column));
        let columns = [a?, b?, c?];
        for (numbers, column) in self.numbers.iter_mut().zip(&columns) {
            numbers.turn_to(column.dictionary());
        }
        let counts = self.counts.values();
        for (row, kind) in kinds.keys().iter().enumerate() {
            if counts.get(*kind as usize) != Some(&true) {
                continue;
            }
            let mut names = [0; 3];
            for ((name, column), numbers) in names.iter_mut().zip(&columns).zip(&mut self.numbers) {
                let number = column
                    .key(row)
                    .and_then(|key| numbers.get_or_compute(key, |name| self.names.intern(name)));
                *name = number.unwrap_or_default();
            }
            let time = times.value(row);
            let span = self.found.entry(names).or_insert((time, time));
            *span = (span.0.min(time), span.1.max(time));
        }
        Ok(())
    }

    /// What the footer tells; `None` if that would be too much.
    pub fn finish(self) -> Option<KeyValue> {
        let bytes = self.found.keys().flatten().map(|number| self.names.text(*number).len()).sum::<usize>();
        if self.found.len() > MOST || bytes > MOST_BYTES {
            return None;
        }
        let name = |number| self.names.text(number).to_owned();
        let found = self.found.iter();
        let found = found.map(|(names, (first, last))| Occurrence {
            names: names.map(name),
            first: *first,
            last: *last,
        });
        let mut found: Vec<Occurrence> = found.collect();
        found.sort_unstable();
        Some(KeyValue::new(KEY.to_owned(), serde_json::to_string(&found).ok()?))
    }
}

/// What a footer tells; `None` if it tells nothing: more occurs than a footer holds, or an older version
/// wrote the file.
pub(super) fn stated_by(footer: &FileMetaData) -> Option<Vec<Occurrence>> {
    let value = footer.key_value_metadata()?.iter().find(|one| one.key == KEY)?.value.as_ref()?;
    serde_json::from_str(value).ok()
}
