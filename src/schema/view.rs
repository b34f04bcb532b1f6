//! Columns of a stored batch, borrowed and typed: the generated views and those of some columns ([`view`])
//! consist of them. Not for results of SQL, where the engine chooses the types (see [`super::result`]).

use arrow::array::{Array, ArrowPrimitiveType, AsArray, BooleanArray, RecordBatch, StringArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{Int64Type, UInt32Type, UInt64Type};

use crate::error::{Error, ErrorKind, Result};

/// Declares a view of some columns of a table: a struct with a typed, borrowed column per field.
///
/// `view! { struct Steps of btf_event { time, action } }` gives `Steps::COLUMNS`, the names to read from a
/// file, and `Steps::of(&batch)`, which finds the columns by name and fails when one is missing or has
/// another type.
macro_rules! view {
    (
        $(#[$doc:meta])*
        $vis:vis struct $view:ident of $table:ident { $($(#[$column_doc:meta])* $column:ident),* $(,)? }
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy)]
        $vis struct $view<'a> {
            /// Not `rows`, which is a column of some tables.
            batch_rows: usize,
            $($(#[$column_doc])* $vis $column: $crate::schema::column_types::$table::$column<'a>,)*
        }

        #[allow(dead_code, reason = "what all views have")]
        impl<'a> $view<'a> {
            /// The names of the columns, to read only these from a file.
            pub const COLUMNS: &'static [&'static str] = &[$($crate::schema::column_types::$table::$column),*];

            /// The columns of a batch, which may have others.
            pub fn of(batch: &'a ::arrow::array::RecordBatch) -> $crate::error::Result<Self> {
                use $crate::schema::column_types::$table as columns;
                use $crate::schema::find_column;
                let table = columns::TABLE.name;
                Ok(Self {
                    batch_rows: batch.num_rows(),
                    $($column: find_column(batch, table, columns::$column)?,)*
                })
            }

            /// The number of rows.
            pub fn len(&self) -> usize {
                self.batch_rows
            }

            /// True when there are no rows.
            pub fn is_empty(&self) -> bool {
                self.batch_rows == 0
            }
        }
    };
}
pub(crate) use view;

/// A column that can be borrowed from an array of its type.
pub(crate) trait ColumnView<'a>: Sized {
    /// The column; `None` when the array has another type.
    fn of(array: &'a dyn Array) -> Option<Self>;
}

/// The column of a batch of the table `table`.
pub(crate) fn find_column<'a, C: ColumnView<'a>>(
    batch: &'a RecordBatch,
    table: &str,
    name: &str,
) -> Result<C> {
    batch.column_by_name(name).and_then(|array| C::of(array)).ok_or_else(|| {
        Error::new(ErrorKind::Bug, format!("a batch of '{table}' has no column '{name}' of its type"))
    })
}

#[derive(Debug, Clone, Copy)]
pub struct NumberView<'a, T> {
    values: &'a [T],
    nulls: Option<&'a NullBuffer>,
}

impl<'a, T: Copy + Default> NumberView<'a, T> {
    /// All numbers; missing ones have an arbitrary value.
    pub fn values(&self) -> &'a [T] {
        self.values
    }

    /// The number of a row; `None` when it is missing.
    #[inline]
    pub fn get(&self, row: usize) -> Option<T> {
        self.values.get(row).copied().filter(|_| is_valid(self.nulls, row))
    }

    /// Whether no number is missing.
    pub fn is_complete(&self) -> bool {
        self.nulls.is_none_or(|nulls| nulls.null_count() == 0)
    }

    /// The number of a row; 0 when it is missing.
    #[inline]
    pub fn value(&self, row: usize) -> T {
        self.get(row).unwrap_or_default()
    }
}

#[derive(Debug, Clone, Copy)]
pub struct FlagView<'a>(&'a BooleanArray);

impl FlagView<'_> {
    /// The flag of a row; `None` when it is missing.
    #[inline]
    pub fn get(&self, row: usize) -> Option<bool> {
        (row < self.0.len() && self.0.is_valid(row)).then(|| self.0.value(row))
    }

    /// The flag of a row; false when it is missing.
    #[inline]
    pub fn value(&self, row: usize) -> bool {
        self.get(row).unwrap_or_default()
    }
}

#[derive(Debug, Clone, Copy)]
pub struct TextView<'a>(&'a StringArray);

impl<'a> TextView<'a> {
    /// The text of a row; `None` when it is missing.
    #[inline]
    pub fn get(&self, row: usize) -> Option<&'a str> {
        (row < self.0.len() && self.0.is_valid(row)).then(|| self.0.value(row))
    }

    /// The text of a row; empty when it is missing.
    #[inline]
    pub fn value(&self, row: usize) -> &'a str {
        self.get(row).unwrap_or_default()
    }
}

/// A column of names: a key per row, and a dictionary with the names of the keys.
#[derive(Debug, Clone, Copy)]
pub struct NameView<'a> {
    keys: &'a [u32],
    nulls: Option<&'a NullBuffer>,
    dictionary: &'a StringArray,
}

impl<'a> NameView<'a> {
    /// The keys of all rows; missing names have an arbitrary one.
    pub fn keys(&self) -> &'a [u32] {
        self.keys
    }

    /// The names of the keys. Batches of one file can share it, or have one that extends the one before.
    pub fn dictionary(&self) -> &'a StringArray {
        self.dictionary
    }

    /// The key of a row; `None` if its name is missing.
    #[inline]
    pub fn key(&self, row: usize) -> Option<usize> {
        self.keys.get(row).filter(|_| is_valid(self.nulls, row)).map(|key| *key as usize)
    }

    /// The name of a row; `None` when it is missing.
    #[inline]
    pub fn get(&self, row: usize) -> Option<&'a str> {
        let key = self.key(row)?;
        (key < self.dictionary.len()).then(|| self.dictionary.value(key))
    }

    /// The name of a row; empty when it is missing.
    #[inline]
    pub fn value(&self, row: usize) -> &'a str {
        self.get(row).unwrap_or_default()
    }

    /// Applies `meaning` to each name, once per entry of the dictionary.
    pub fn translate<T>(&self, meaning: impl FnMut(&'a str) -> Option<T>) -> Translated<'a, T> {
        let names = self.dictionary.iter().map(Option::unwrap_or_default);
        Translated { names: *self, meanings: names.map(meaning).collect() }
    }
}

/// A column of names, each with its meaning. See [`NameView::translate`].
#[derive(Debug)]
pub struct Translated<'a, T> {
    names: NameView<'a>,
    meanings: Vec<Option<T>>,
}

impl<T: Copy> Translated<'_, T> {
    /// The meaning of the name of a row; `None` where the name is missing or means nothing.
    #[inline]
    pub fn get(&self, row: usize) -> Option<T> {
        self.meanings.get(self.names.key(row)?).copied().flatten()
    }

    /// True when no name of the dictionary means anything.
    pub fn is_meaningless(&self) -> bool {
        self.meanings.iter().all(Option::is_none)
    }
}

/// `row` is one of the rows that `nulls` covers.
#[inline]
fn is_valid(nulls: Option<&NullBuffer>, row: usize) -> bool {
    nulls.is_none_or(|nulls| nulls.is_valid(row))
}

fn numbers<T: ArrowPrimitiveType>(array: &dyn Array) -> Option<NumberView<'_, T::Native>> {
    let array = array.as_primitive_opt::<T>()?;
    Some(NumberView { values: array.values(), nulls: array.nulls() })
}

impl<'a> ColumnView<'a> for NumberView<'a, i64> {
    fn of(array: &'a dyn Array) -> Option<Self> {
        numbers::<Int64Type>(array)
    }
}

impl<'a> ColumnView<'a> for NumberView<'a, u64> {
    fn of(array: &'a dyn Array) -> Option<Self> {
        numbers::<UInt64Type>(array)
    }
}

impl<'a> ColumnView<'a> for FlagView<'a> {
    fn of(array: &'a dyn Array) -> Option<Self> {
        array.as_boolean_opt().map(Self)
    }
}

impl<'a> ColumnView<'a> for TextView<'a> {
    fn of(array: &'a dyn Array) -> Option<Self> {
        array.as_string_opt().map(Self)
    }
}

impl<'a> ColumnView<'a> for NameView<'a> {
    fn of(array: &'a dyn Array) -> Option<Self> {
        let array = array.as_dictionary_opt::<UInt32Type>()?;
        let dictionary = array.values().as_string_opt()?;
        Some(Self { keys: array.keys().values(), nulls: array.keys().nulls(), dictionary })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::Name;
    use crate::schema::{BtfEventRow, BtfEventRows, BtfEventView, SourceView};
    use proptest::prelude::*;

    view! {
        /// Some columns.
        struct TimesAndNotes of btf_event { time, note, source_instance }
    }

    type Fields<'a> = (i64, &'a str, Option<i64>, Option<&'a str>);

    fn fields<'a>(row: &BtfEventRow<'a>) -> Fields<'a> {
        (row.time, row.source.text(), row.source_instance, row.note.map(Name::text))
    }

    fn batch(rows: &[Fields<'_>]) -> RecordBatch {
        let mut batch = BtfEventRows::new();
        for (time, source, source_instance, note) in rows {
            batch.push(BtfEventRow {
                time: *time,
                seq: 0,
                source: (*source).into(),
                source_instance: *source_instance,
                target_type: "T".into(),
                target: "t".into(),
                target_instance: None,
                action: "start".into(),
                note: note.map(Into::into),
            });
        }
        batch.take_batch().unwrap()
    }

    #[test]
    fn a_column_that_is_missing_or_of_another_type_is_named() {
        let batch = batch(&[(1, "a", None, None)]);
        let error = BtfEventView::of(&batch.project(&[0, 1]).unwrap()).map(|_| ()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Bug);
        assert!(
            error.to_string().contains("'btf_event'") && error.to_string().contains("'source'"),
            "{error}"
        );
        let error = SourceView::of(&batch).map(|_| ()).unwrap_err();
        assert!(error.to_string().contains("'source'"), "{error}");
    }

    #[test]
    fn a_view_of_some_columns_needs_no_others() {
        let all = batch(&[(1, "a", Some(4), None), (2, "a", None, Some("n"))]);
        assert_eq!(TimesAndNotes::COLUMNS, ["time", "note", "source_instance"]);
        let some = all.project(&[0, 3, 8]).unwrap();
        let view = TimesAndNotes::of(&some).unwrap();
        assert_eq!((view.len(), view.time.values()), (2, &[1, 2][..]));
        assert_eq!((view.note.get(0), view.note.get(1), view.note.get(2)), (None, Some("n"), None));
        assert_eq!((view.source_instance.value(0), view.source_instance.value(1)), (4, 0));
    }

    proptest! {
        #[test]
        fn rows_are_read_as_they_were_written(
            rows in prop::collection::vec((any::<i64>(), "[ab]{0,2}", any::<Option<i64>>(), prop::option::of("[ab]?")), 0..40),
            from in 0usize..40,
        ) {
            let rows: Vec<Fields<'_>> = rows.iter().map(|(t, s, i, n)| (*t, s.as_str(), *i, n.as_deref())).collect();
            let from = from.min(rows.len());
            let batch = batch(&rows).slice(from, rows.len() - from);
            let view = BtfEventView::of(&batch).unwrap();
            prop_assert_eq!(view.rows().map(|r| fields(&r)).collect::<Vec<_>>(), &rows[from..]);
            prop_assert!(view.row(view.len()).is_none());
        }
    }
}
