//! Columns of a result of SQL, typed: whole numbers of any width, texts however the engine holds them. Found
//! by place, as the statement names them. Not for stored batches, whose types are known (see
//! [`mod@super::view`]).

use arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, AsArray, ListArray, PrimitiveArray, RecordBatch, StringArray,
    StringViewArray, UInt32Array,
};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type, Int64Type, UInt32Type, UInt64Type};

use crate::error::{Error, ErrorKind, Result};

/// The columns of a batch from the first one on, each by its type. Neighbours of one type can be a list:
/// `let (name, at, [low, high]): (Texts, Integers, [Fractions; 2]) = columns(&batch)?`.
pub(crate) fn columns<C: ResultColumns>(batch: &RecordBatch) -> Result<C> {
    C::at(batch, 0)
}

/// The column of that name.
pub(crate) fn column<C: ResultColumn>(batch: &RecordBatch, name: &str) -> Result<C> {
    batch.column_by_name(name).and_then(C::of).ok_or_else(|| misfit(&format!("'{name}'")))
}

fn misfit(column: &str) -> Error {
    Error::new(
        ErrorKind::Bug,
        format!("the column {column} of a result is missing or has an unexpected type"),
    )
}

pub(crate) trait ResultColumns: Sized {
    /// How many there are.
    const WIDTH: usize;

    fn at(batch: &RecordBatch, place: usize) -> Result<Self>;
}

impl<C: ResultColumn> ResultColumns for C {
    const WIDTH: usize = 1;

    fn at(batch: &RecordBatch, place: usize) -> Result<Self> {
        batch.columns().get(place).and_then(C::of).ok_or_else(|| misfit(&(place + 1).to_string()))
    }
}

impl<C: ResultColumn, const N: usize> ResultColumns for [C; N] {
    const WIDTH: usize = N;

    fn at(batch: &RecordBatch, place: usize) -> Result<Self> {
        let all = (place..place + N).map(|place| C::at(batch, place)).collect::<Result<Vec<C>>>()?;
        all.try_into().map_err(|_| misfit("list"))
    }
}

macro_rules! tuples {
    ($($first:ident $($column:ident)*,)*) => {
        $(impl<$first: ResultColumns, $($column: ResultColumns),*> ResultColumns for ($first, $($column,)*) {
            const WIDTH: usize = $first::WIDTH $(+ $column::WIDTH)*;

            fn at(batch: &RecordBatch, place: usize) -> Result<Self> {
                let next = place + $first::WIDTH;
                $(#[allow(non_snake_case, reason = "named as its type")]
                let ($column, next) = ($column::at(batch, next)?, next + $column::WIDTH);)*
                let _ = next;
                Ok(($first::at(batch, place)?, $($column,)*))
            }
        })*
    };
}

tuples! {
    A B,
    A B C,
    A B C D,
    A B C D E,
    A B C D E F,
    A B C D E F G,
    A B C D E F G H,
    A B C D E F G H I,
}

/// A column of a result. It shares the memory of the batch.
pub(crate) trait ResultColumn: Sized {
    /// The column; `None` when the array cannot be read as this type.
    fn of(array: &ArrayRef) -> Option<Self>;

    fn read(array: &ArrayRef) -> Result<Self> {
        Self::of(array).ok_or_else(|| misfit(&format!("of type {}", array.data_type())))
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Numbers<T: ArrowPrimitiveType>(PrimitiveArray<T>);

/// Whole numbers, or flags as 0 and 1.
pub(crate) type Integers = Numbers<Int64Type>;
/// Bits read as whole numbers without a sign.
pub(crate) type Unsigned = Numbers<UInt64Type>;
/// Numbers, also those with a fraction.
pub(crate) type Fractions = Numbers<Float64Type>;

impl<T: ArrowPrimitiveType> Numbers<T> {
    /// The number of a row; `None` for NULL.
    #[inline]
    pub fn get(&self, row: usize) -> Option<T::Native> {
        (row < self.0.len() && self.0.is_valid(row)).then(|| self.0.value(row))
    }

    /// The number of a row; 0 for NULL.
    #[inline]
    pub fn value(&self, row: usize) -> T::Native {
        self.get(row).unwrap_or_default()
    }

    /// All numbers; missing ones have an arbitrary value.
    pub fn values(&self) -> &[T::Native] {
        self.0.values()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }
}

impl ResultColumn for Integers {
    fn of(array: &ArrayRef) -> Option<Self> {
        let ty = array.data_type();
        let whole = ty.is_integer() || matches!(ty, DataType::Boolean | DataType::Null);
        let array = whole.then(|| cast(array, &DataType::Int64).ok())??;
        array.as_primitive_opt().cloned().map(Numbers)
    }
}

impl ResultColumn for Unsigned {
    fn of(array: &ArrayRef) -> Option<Self> {
        array.as_primitive_opt().cloned().map(Numbers)
    }
}

impl ResultColumn for Fractions {
    fn of(array: &ArrayRef) -> Option<Self> {
        cast(array, &DataType::Float64).ok()?.as_primitive_opt().cloned().map(Numbers)
    }
}

/// Texts: as strings, views or dictionaries; other values as they are printed.
#[derive(Debug, Clone)]
pub(crate) enum Texts {
    Strings(StringArray),
    Views(StringViewArray),
    Names { keys: UInt32Array, dictionary: StringArray },
}

impl Texts {
    /// The text of a row; `None` for NULL.
    #[inline]
    pub fn get(&self, row: usize) -> Option<&str> {
        match self {
            Self::Strings(texts) => (row < texts.len() && texts.is_valid(row)).then(|| texts.value(row)),
            Self::Views(texts) => (row < texts.len() && texts.is_valid(row)).then(|| texts.value(row)),
            Self::Names { keys, dictionary } => {
                let key = (row < keys.len() && keys.is_valid(row)).then(|| keys.value(row) as usize)?;
                (key < dictionary.len()).then(|| dictionary.value(key))
            }
        }
    }

    /// The text of a row; empty for NULL.
    #[inline]
    pub fn value(&self, row: usize) -> &str {
        self.get(row).unwrap_or_default()
    }

    pub fn iter(&self) -> impl Iterator<Item = Option<&str>> {
        (0..self.len()).map(|row| self.get(row))
    }

    pub fn len(&self) -> usize {
        match self {
            Self::Strings(texts) => texts.len(),
            Self::Views(texts) => texts.len(),
            Self::Names { keys, .. } => keys.len(),
        }
    }
}

impl ResultColumn for Texts {
    fn of(array: &ArrayRef) -> Option<Self> {
        if let Some(names) = array.as_dictionary_opt::<UInt32Type>()
            && let Some(dictionary) = names.values().as_string_opt()
        {
            return Some(Self::Names { keys: names.keys().clone(), dictionary: dictionary.clone() });
        }
        if let Some(texts) = array.as_string_view_opt() {
            return Some(Self::Views(texts.clone()));
        }
        cast(array, &DataType::Utf8).ok()?.as_string_opt().cloned().map(Self::Strings)
    }
}

/// A list of whole numbers per row.
#[derive(Debug, Clone)]
pub(crate) struct IntegerLists(ListArray);

impl IntegerLists {
    /// The numbers of a row, without those that are NULL.
    pub fn get(&self, row: usize) -> Vec<i64> {
        if row >= self.0.len() || self.0.is_null(row) {
            return Vec::new();
        }
        let list = self.0.value(row);
        list.as_primitive_opt::<Int64Type>().map(|l| l.iter().flatten().collect()).unwrap_or_default()
    }
}

impl ResultColumn for IntegerLists {
    fn of(array: &ArrayRef) -> Option<Self> {
        array.as_list_opt::<i32>().cloned().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{BooleanArray, DictionaryArray, Float64Array};
    use std::sync::Arc;

    fn batch(columns: Vec<ArrayRef>) -> RecordBatch {
        let names = ["a", "b", "c"];
        RecordBatch::try_from_iter_with_nullable(names.into_iter().zip(columns).map(|(n, c)| (n, c, true)))
            .unwrap()
    }

    #[test]
    fn texts_are_the_same_however_they_are_held() {
        let texts = [Some("x"), None, Some("")];
        let all = batch(vec![
            Arc::new(StringArray::from(texts.to_vec())),
            Arc::new(StringViewArray::from(texts.to_vec())),
            Arc::new(texts.into_iter().collect::<DictionaryArray<UInt32Type>>()),
        ]);
        for column in columns::<[Texts; 3]>(&all).unwrap() {
            assert_eq!(column.iter().collect::<Vec<_>>(), texts);
            assert_eq!((column.value(1), column.get(3)), ("", None));
        }
    }

    #[test]
    fn numbers_of_any_width_are_whole_ones() {
        let all = batch(vec![
            Arc::new(UInt32Array::from(vec![Some(7), None])),
            Arc::new(BooleanArray::from(vec![true, false])),
            Arc::new(Float64Array::from(vec![0.5, 1.0])),
        ]);
        let ([numbers, flags], fractions): ([Integers; 2], Fractions) = columns(&all).unwrap();
        assert_eq!((numbers.get(0), numbers.get(1), flags.value(0), flags.value(1)), (Some(7), None, 1, 0));
        assert_eq!(fractions.get(0), Some(0.5));
    }

    #[test]
    fn a_column_that_does_not_fit_is_named() {
        let all =
            batch(vec![Arc::new(Float64Array::from(vec![0.5])), Arc::new(StringArray::from(vec!["x"]))]);
        let error = columns::<(Integers, Texts)>(&all).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Bug);
        assert!(error.to_string().contains("column 1 "), "{error}");
        assert!(column::<Integers>(&all, "b").unwrap_err().to_string().contains("'b'"));
        assert!(columns::<(Texts, Texts, Texts)>(&all).is_err() && column::<Texts>(&all, "b").is_ok());
    }
}
