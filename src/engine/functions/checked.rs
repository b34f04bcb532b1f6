//! Sums, differences, products, negations and shifts of whole numbers that fail where DataFusion wraps
//! around. Not for putting them into plans (see `optimizer`), and not for other numbers, whose arithmetic
//! DataFusion checks.

use std::fmt;
use std::sync::Arc;

use arrow::array::{Array, AsArray, Int64Array};
use arrow::buffer::NullBuffer;
use arrow::compute::kernels::numeric;
use arrow::datatypes::{DataType, Field, FieldRef, Int64Type};
use arrow::error::ArrowError;
use datafusion::common::{DataFusionError, Result, ScalarValue, internal_err};
use datafusion::logical_expr::interval_arithmetic::{Interval, apply_operator};
use datafusion::logical_expr::sort_properties::{ExprProperties, SortProperties};
use datafusion::logical_expr::{
    ColumnarValue, Expr, Operator, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::physical_expr_common::datum::apply;

use super::shifts;

/// A whole number that does not fit into its type.
#[derive(Debug)]
pub(in crate::engine) struct Overflow {
    /// The expression as it is written, as far as the engine knows.
    pub expression: String,
    pub ty: DataType,
    /// The numbers of the first row that has none, if they are known: `1 + 2`.
    pub numbers: Option<String>,
}

impl fmt::Display for Overflow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match &self.ty {
            DataType::Int64 => "64 bits".to_owned(),
            other => other.to_string(),
        };
        write!(f, "'{}' does not fit into {what}", self.expression)?;
        self.numbers.as_ref().map_or(Ok(()), |numbers| write!(f, ": {numbers}"))
    }
}

impl std::error::Error for Overflow {}

impl From<Overflow> for DataFusionError {
    fn from(overflow: Overflow) -> Self {
        Self::External(Box::new(overflow))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::engine) enum CheckedOp {
    Add,
    Subtract,
    Multiply,
    Negate,
    ShiftLeft,
    ShiftRight,
}

impl CheckedOp {
    #[cfg(feature = "cluster")]
    const ALL: [Self; 6] =
        [Self::Add, Self::Subtract, Self::Multiply, Self::Negate, Self::ShiftLeft, Self::ShiftRight];

    fn operator(self) -> Operator {
        match self {
            Self::Add => Operator::Plus,
            Self::Subtract | Self::Negate => Operator::Minus,
            Self::Multiply => Operator::Multiply,
            Self::ShiftLeft => Operator::BitwiseShiftLeft,
            Self::ShiftRight => Operator::BitwiseShiftRight,
        }
    }
}

/// An operation on whole numbers of one type, which has the names of the expression that it replaces.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(in crate::engine) struct Checked {
    op: CheckedOp,
    /// For errors.
    expression: String,
    signature: Signature,
}

impl Checked {
    pub fn new(op: CheckedOp, expression: String) -> Self {
        let operands = if op == CheckedOp::Negate { 1 } else { 2 };
        Self { op, expression, signature: Signature::any(operands, Volatility::Immutable) }
    }

    /// For another process: the operation, and the expression.
    #[cfg(feature = "cluster")]
    pub fn to_bytes(&self) -> Vec<u8> {
        let op = CheckedOp::ALL.iter().position(|op| *op == self.op).and_then(|at| u8::try_from(at).ok());
        op.into_iter().chain(self.expression.bytes()).collect()
    }

    /// The reverse of [`Checked::to_bytes`].
    #[cfg(feature = "cluster")]
    pub fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let (op, expression) = bytes.split_first()?;
        let op = CheckedOp::ALL.get(usize::from(*op))?;
        Some(Self::new(*op, String::from_utf8(expression.to_vec()).ok()?))
    }

    /// The result without NULLs, if no number is too large.
    fn quick(&self, left: Operand<'_>, right: Operand<'_>) -> Option<Vec<i64>> {
        // An overflow leaves a negative number in the second place. Without branches, rows are added in
        // groups.
        match self.op {
            CheckedOp::Add => each(left, right, |l, r| {
                let sum = l.wrapping_add(r);
                (sum, (l ^ sum) & (r ^ sum))
            }),
            CheckedOp::Subtract | CheckedOp::Negate => each(left, right, |l, r| {
                let difference = l.wrapping_sub(r);
                (difference, (l ^ r) & (l ^ difference))
            }),
            CheckedOp::Multiply => each(left, right, |l, r| {
                let (product, wrapped) = l.overflowing_mul(r);
                (product, -i64::from(wrapped))
            }),
            CheckedOp::ShiftLeft | CheckedOp::ShiftRight => None,
        }
    }

    fn evaluate(&self, left: &ColumnarValue, right: &ColumnarValue) -> Result<ColumnarValue> {
        if let (Some((l, of_left)), Some((r, of_right))) = (Operand::of(left), Operand::of(right))
            && let Some(numbers) = self.quick(l, r)
        {
            let nulls = NullBuffer::union(of_left, of_right);
            return Ok(ColumnarValue::Array(Arc::new(Int64Array::new(numbers.into(), nulls))));
        }
        // Other types, one row, or an overflow, which may be below a NULL.
        let kernel = match self.op {
            CheckedOp::Add => numeric::add,
            CheckedOp::Subtract | CheckedOp::Negate => numeric::sub,
            CheckedOp::Multiply => numeric::mul,
            CheckedOp::ShiftLeft => shifts::left,
            CheckedOp::ShiftRight => shifts::right,
        };
        apply(left, right, kernel).map_err(|e| self.failed(e, &left.data_type()))
    }

    fn failed(&self, error: DataFusionError, ty: &DataType) -> DataFusionError {
        match error {
            DataFusionError::ArrowError(cause, _) if matches!(*cause, ArrowError::ArithmeticOverflow(_)) => {
                let text = cause.to_string();
                let numbers = text.rsplit_once(": ").map(|(_, numbers)| numbers.to_owned());
                Overflow { expression: self.expression.clone(), ty: ty.clone(), numbers }.into()
            }
            other => other,
        }
    }
}

/// The numbers of one side.
#[derive(Clone, Copy)]
enum Operand<'a> {
    One(i64),
    Each(&'a [i64]),
}

impl<'a> Operand<'a> {
    fn of(value: &'a ColumnarValue) -> Option<(Self, Option<&'a NullBuffer>)> {
        match value {
            ColumnarValue::Scalar(ScalarValue::Int64(Some(one))) => Some((Self::One(*one), None)),
            ColumnarValue::Scalar(_) => None,
            ColumnarValue::Array(array) => {
                let numbers = array.as_primitive_opt::<Int64Type>()?;
                Some((Self::Each(numbers.values()), numbers.nulls()))
            }
        }
    }
}

#[inline(always)]
fn each(left: Operand<'_>, right: Operand<'_>, of: impl Fn(i64, i64) -> (i64, i64)) -> Option<Vec<i64>> {
    #[inline(always)]
    fn all(rows: impl Iterator<Item = (i64, i64)>) -> Option<Vec<i64>> {
        let mut wrapped = 0;
        let numbers = rows.map(|(number, sign)| {
            wrapped |= sign;
            number
        });
        let numbers: Vec<i64> = numbers.collect();
        (wrapped >= 0).then_some(numbers)
    }
    match (left, right) {
        (Operand::Each(left), Operand::Each(right)) => all(left.iter().zip(right).map(|(l, r)| of(*l, *r))),
        (Operand::Each(left), Operand::One(right)) => all(left.iter().map(|l| of(*l, right))),
        (Operand::One(left), Operand::Each(right)) => all(right.iter().map(|r| of(left, *r))),
        (Operand::One(_), Operand::One(_)) => None,
    }
}

impl ScalarUDFImpl for Checked {
    fn name(&self) -> &str {
        match self.op {
            CheckedOp::Add => "add",
            CheckedOp::Subtract => "subtract",
            CheckedOp::Multiply => "multiply",
            CheckedOp::ShiftLeft => "shift_left",
            CheckedOp::ShiftRight => "shift_right",
            CheckedOp::Negate => "negate",
        }
    }

    fn display_name(&self, args: &[Expr]) -> Result<String> {
        Ok(match args {
            [left, right] => format!("{left} {} {right}", self.op.operator()),
            [number] => format!("(- {number})"),
            _ => self.expression.clone(),
        })
    }

    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        Ok(match args {
            [left, right] => {
                format!("{} {} {}", left.schema_name(), self.op.operator(), right.schema_name())
            }
            [number] => format!("(- {})", number.schema_name()),
            _ => self.expression.clone(),
        })
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        match types.first() {
            Some(ty) if types.iter().all(|other| other == ty) => Ok(ty.clone()),
            _ => internal_err!("'{}' is computed from numbers of one type", self.expression),
        }
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        let types: Vec<_> = args.arg_fields.iter().map(|field| field.data_type().clone()).collect();
        let nullable = args.arg_fields.iter().any(|field| field.is_nullable());
        Ok(Arc::new(Field::new(self.name(), self.return_type(&types)?, nullable)))
    }

    fn is_strict(&self) -> bool {
        true
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        match &args.args[..] {
            [left, right] => self.evaluate(left, right),
            [number] => {
                let zero = ColumnarValue::Scalar(ScalarValue::new_zero(&number.data_type())?);
                self.evaluate(&zero, number)
            }
            _ => internal_err!("'{}' has too many operands", self.expression),
        }
    }

    fn evaluate_bounds(&self, inputs: &[&Interval]) -> Result<Interval> {
        match inputs {
            [left, _] if matches!(self.op, CheckedOp::ShiftLeft | CheckedOp::ShiftRight) => {
                Interval::make_unbounded(&left.data_type())
            }
            [left, right] => apply_operator(&self.op.operator(), left, right),
            // The least number has no negation.
            [number] => number.arithmetic_negate().or_else(|_| Interval::make_unbounded(&number.data_type())),
            _ => internal_err!("'{}' has too many operands", self.expression),
        }
    }

    fn output_ordering(&self, inputs: &[ExprProperties]) -> Result<SortProperties> {
        Ok(match inputs {
            [left, right] => match self.op {
                CheckedOp::Add => left.sort_properties.add(&right.sort_properties),
                CheckedOp::Subtract => left.sort_properties.sub(&right.sort_properties),
                _ => SortProperties::Unordered,
            },
            [number] => -number.sort_properties,
            _ => SortProperties::Unordered,
        })
    }
}

/// Whether numbers of a type are computed by [`Checked`].
pub(in crate::engine) fn is_checked(ty: &DataType) -> bool {
    ty.is_integer()
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::ArrayRef;
    use arrow::datatypes::UInt64Type;
    use datafusion::config::ConfigOptions;
    use proptest::prelude::*;

    fn computed(op: CheckedOp, args: Vec<ColumnarValue>, rows: usize) -> Result<ArrayRef> {
        let field = |ty: DataType| Arc::new(Field::new("n", ty, true));
        let checked = Checked::new(op, "a ? b".to_owned());
        let result = checked.invoke_with_args(ScalarFunctionArgs {
            arg_fields: args.iter().map(|a| field(a.data_type())).collect(),
            return_field: field(args[0].data_type()),
            args,
            number_rows: rows,
            config_options: Arc::new(ConfigOptions::default()),
        })?;
        result.into_array(rows)
    }

    fn number() -> impl Strategy<Value = i64> {
        let edge = prop::sample::select(vec![i64::MIN, i64::MIN + 1, -1, 0, 1, i64::MAX - 1, i64::MAX]);
        prop_oneof![4 => -1000i64..1000, 1 => edge, 1 => any::<i64>()]
    }

    proptest! {
        #[test]
        fn every_row_is_exact_or_the_whole_fails(
            rows in prop::collection::vec((prop::option::of(number()), prop::option::of(number())), 1..8),
            op in prop::sample::select(vec![CheckedOp::Add, CheckedOp::Subtract, CheckedOp::Multiply, CheckedOp::Negate]),
            constant in prop::sample::select(vec![None, Some(0), Some(1)]),
        ) {
            let rows: Vec<_> = rows.iter().map(|(l, r)| match constant {
                Some(0) => (rows[0].0, *r),
                Some(_) => (*l, rows[0].1),
                None => (*l, *r),
            }).collect();
            let column = |numbers: Vec<Option<i64>>, one: bool| match one {
                true => ColumnarValue::Scalar(ScalarValue::Int64(numbers[0])),
                false => ColumnarValue::Array(Arc::new(Int64Array::from(numbers))),
            };
            let left = column(rows.iter().map(|r| r.0).collect(), constant == Some(0));
            let right = column(rows.iter().map(|r| r.1).collect(), constant == Some(1));
            let args = if op == CheckedOp::Negate { vec![right] } else { vec![left, right] };
            let exact = |l: i64, r: i64| {
                let (l, r) = (i128::from(l), i128::from(r));
                i64::try_from(match op {
                    CheckedOp::Add => l + r,
                    CheckedOp::Subtract => l - r,
                    CheckedOp::Multiply => l * r,
                    CheckedOp::Negate => -r,
                    CheckedOp::ShiftLeft | CheckedOp::ShiftRight => unreachable!(),
                })
            };
            let expected: std::result::Result<Vec<Option<i64>>, _> = rows.iter().map(|(l, r)| match (l, r) {
                (_, Some(r)) if op == CheckedOp::Negate => exact(0, *r).map(Some),
                (Some(l), Some(r)) => exact(*l, *r).map(Some),
                _ => Ok(None),
            }).collect();
            match (computed(op, args, rows.len()), expected) {
                (Ok(found), Ok(expected)) => {
                    prop_assert_eq!(found.as_primitive::<Int64Type>(), &Int64Array::from(expected));
                }
                (Err(e), Err(_)) => prop_assert!(e.to_string().contains("'a ? b' does not fit into 64 bits"), "{}", e),
                (found, expected) => prop_assert!(false, "{:?} in place of {:?}", found, expected),
            }
        }
    }

    #[test]
    fn numbers_without_a_sign_do_not_go_below_zero() {
        let column = |numbers: Vec<u64>| {
            ColumnarValue::Array(Arc::new(arrow::array::UInt64Array::from(numbers)) as ArrayRef)
        };
        let difference = |l, r| computed(CheckedOp::Subtract, vec![column(l), column(r)], 1);
        assert_eq!(difference(vec![3], vec![2]).unwrap().as_primitive::<UInt64Type>().value(0), 1);
        let error = difference(vec![2], vec![3]).unwrap_err().to_string();
        assert!(error.contains("'a ? b' does not fit into UInt64: 2 - 3"), "{error}");
    }
}
