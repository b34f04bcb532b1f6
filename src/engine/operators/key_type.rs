//! Which types can be keys of an operator: those whose values are equal if and only if their texts are,
//! because keys are interned as texts. Not for making the types of two inputs equal (see `table_functions`).

use arrow::datatypes::DataType;

/// The types that can be interned.
pub(super) fn is_key_type(ty: &DataType) -> bool {
    matches!(ty, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Boolean)
        || matches!(ty, DataType::Decimal128(..))
        || ty.is_integer()
}

/// The type that a key of type `ty` is cast to: of a dictionary, that of its values. `None`: it cannot be a
/// key.
pub(in crate::engine) fn key_type(ty: &DataType) -> Option<DataType> {
    match ty {
        DataType::Dictionary(_, values) => key_type(values),
        DataType::Null => Some(DataType::Null),
        ty => is_key_type(ty).then(|| ty.clone()),
    }
}
