//! `<<` and `>>` of whole numbers: exact, or an error. The kernels of Arrow take the number of bits modulo
//! the width of the type, so that `1 << 64` is 1. Not for the other operations (see `checked`).

use std::fmt::Display;
use std::sync::Arc;

use arrow::array::{ArrayRef, ArrowPrimitiveType, AsArray, Datum, PrimitiveArray};
use arrow::compute::try_binary;
use arrow::datatypes::{
    DataType, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow::error::ArrowError;

/// `left << right`.
pub(super) fn left(left: &dyn Datum, right: &dyn Datum) -> Result<ArrayRef, ArrowError> {
    of_any(left, right, "<<", |number, bits| match (number, bits) {
        (0, 0..) => Some(0),
        // 64 bits, shifted by 63, fit into 128.
        (_, 0..=63) => Some(number << bits),
        _ => None,
    })
}

/// `left >> right`: what is shifted out is gone, and the sign stays.
pub(super) fn right(left: &dyn Datum, right: &dyn Datum) -> Result<ArrayRef, ArrowError> {
    of_any(left, right, ">>", |number, bits| (bits >= 0).then(|| number >> bits.min(127)))
}

type Shift = fn(i128, i128) -> Option<i128>;

fn of_any(left: &dyn Datum, right: &dyn Datum, sign: &str, shift: Shift) -> Result<ArrayRef, ArrowError> {
    match left.get().0.data_type() {
        DataType::Int8 => of::<Int8Type>(left, right, sign, shift),
        DataType::Int16 => of::<Int16Type>(left, right, sign, shift),
        DataType::Int32 => of::<Int32Type>(left, right, sign, shift),
        DataType::Int64 => of::<Int64Type>(left, right, sign, shift),
        DataType::UInt8 => of::<UInt8Type>(left, right, sign, shift),
        DataType::UInt16 => of::<UInt16Type>(left, right, sign, shift),
        DataType::UInt32 => of::<UInt32Type>(left, right, sign, shift),
        DataType::UInt64 => of::<UInt64Type>(left, right, sign, shift),
        other => Err(ArrowError::InvalidArgumentError(format!("{sign} is for whole numbers, not {other}"))),
    }
}

fn of<T>(left: &dyn Datum, right: &dyn Datum, sign: &str, shift: Shift) -> Result<ArrayRef, ArrowError>
where
    T: ArrowPrimitiveType,
    T::Native: Into<i128> + TryFrom<i128> + Display,
{
    let one = |l: T::Native, r: T::Native| {
        let shifted = shift(l.into(), r.into()).and_then(|n| T::Native::try_from(n).ok());
        shifted.ok_or_else(|| ArrowError::ArithmeticOverflow(format!("Overflow happened on: {l} {sign} {r}")))
    };
    let ((left, l_is_one), (right, r_is_one)) = (left.get(), right.get());
    let (left, right) = (left.as_primitive::<T>(), right.as_primitive::<T>());
    // One number for all rows, which may be NULL.
    let single = |numbers: &PrimitiveArray<T>| numbers.iter().next().flatten();
    let shifted = match (l_is_one, r_is_one) {
        (false, true) => match single(right) {
            Some(r) => left.try_unary::<_, T, _>(|l| one(l, r))?,
            None => PrimitiveArray::new_null(left.len()),
        },
        (true, false) => match single(left) {
            Some(l) => right.try_unary::<_, T, _>(|r| one(l, r))?,
            None => PrimitiveArray::new_null(right.len()),
        },
        _ => try_binary::<_, _, _, T>(left, right, one)?,
    };
    Ok(Arc::new(shifted))
}

#[cfg(test)]
mod tests {
    use super::{left, right};
    use arrow::array::{Array, AsArray, Int64Array, Scalar, UInt8Array};
    use arrow::datatypes::{Int64Type, UInt8Type};

    #[test]
    fn shifts_are_exact_or_fail() {
        let one = |number: i64| Int64Array::from(vec![number]);
        let of_left = |l, r| left(&one(l), &one(r)).ok().map(|n| n.as_primitive::<Int64Type>().value(0));
        let of_right = |l, r| right(&one(l), &one(r)).ok().map(|n| n.as_primitive::<Int64Type>().value(0));
        assert_eq!((of_left(1, 62), of_left(1, 63), of_left(1, 64)), (Some(1 << 62), None, None));
        assert_eq!((of_left(-1, 63), of_left(0, 900), of_left(3, -1)), (Some(i64::MIN), Some(0), None));
        assert_eq!((of_right(8, 2), of_right(8, 64), of_right(-8, 900)), (Some(2), Some(0), Some(-1)));
        assert_eq!(of_right(1, -1), None);
        let small = UInt8Array::from(vec![255, 1]);
        assert!(left(&small, &UInt8Array::from(vec![1, 1])).is_err());
        let halves = right(&small, &Scalar::new(UInt8Array::from(vec![1]))).unwrap();
        assert_eq!(halves.as_primitive::<UInt8Type>().values(), &[127, 0]);
        let null = Scalar::new(Int64Array::from(vec![None]));
        assert_eq!(left(&Int64Array::from(vec![1, 2]), &null).unwrap().null_count(), 2);
        assert_eq!(left(&null, &Int64Array::from(vec![1, 2])).unwrap().null_count(), 2);
    }
}
