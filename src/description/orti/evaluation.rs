//! Postfix code of formulas and its arithmetic: one integer type (64 bit, wrapping), no assignments, no
//! calls, no addresses. Not the parsing of formulas (see `formula_parser`).

use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormulaError {
    /// 1-based column in the text of the formula, in characters.
    pub column: u32,
    /// A sentence without a full stop.
    pub message: String,
}

impl fmt::Display for FormulaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column {}: {}", self.column, self.message)
    }
}

impl std::error::Error for FormulaError {}

/// One step over a stack of values; `None` is an unknown value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Op {
    /// Pushes a constant.
    Number(i64),
    /// Pushes the variable with this index in [`super::Formula::variables`].
    Variable(usize),
    /// Pushes the variable whose path consists of these texts, with a popped index between each two of them.
    /// During compilation, static paths also have this form, with a single text.
    Path(Vec<String>),
    /// Pops that many values and pushes an unknown one: needs an address.
    Opaque(usize),
    /// Replaces the top.
    Unary(Unary),
    /// Replaces the two on top.
    Binary(Binary),
    /// Replaces the top by its value as this type.
    Cast(Width),
    /// `&&` (false) and `||` (true) after their left side: jumps if that decides, or is unknown.
    Decide(bool, usize),
    /// `?` after its condition: continues, or jumps by the first if zero, or by the second if unknown.
    Branch(usize, usize),
    /// Jumps forward.
    Jump(usize),
}

/// Operators with one operand.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Unary {
    Minus,
    Not,
    Complement,
    /// 0 or 1: the effect of `&&` and `||` on their right side.
    Truth,
}

/// Operators with two operands that are both always evaluated.
#[derive(Debug, Clone, Copy, PartialEq)]
#[rustfmt::skip]
pub(super) enum Binary { Multiply, Divide, Remainder, Add, Subtract, ShiftLeft, ShiftRight, Less, LessEqual,
    Greater, GreaterEqual, Equal, NotEqual, And, Xor, Or }

/// The effect of a C type on a value: `unsigned char` keeps 8 bits, `int` keeps 32 (so that a difference of
/// unsigned counters wraps as on the target), `long` becomes signed if the value fits in 32 bits of either
/// sign. Pointers and unknown types change nothing. Plain `char` is signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say how many bits are kept, and with which sign")]
pub enum Width {
    /// Pointers, wide and unknown types.
    Same,
    Signed8,
    Unsigned8,
    Signed16,
    Unsigned16,
    Signed32,
    /// 32 bit if the value fits in 32 bits of either sign: `long` is wider on some targets.
    SignedLong,
    Unsigned32,
    /// See [`Width::SignedLong`].
    UnsignedLong,
}

/// Runs postfix code; `None` also if the code leaves no value.
pub(super) fn run(
    code: &[Op],
    get: &dyn Fn(usize) -> Option<i64>,
    dynamic: &dyn Fn(&str) -> Option<i64>,
) -> Option<i64> {
    let mut stack: Vec<Option<i64>> = Vec::with_capacity(8);
    let mut at = 0;
    while let Some(op) = code.get(at) {
        at += 1;
        let value = match op {
            Op::Number(number) => Some(*number),
            Op::Variable(place) => get(*place),
            Op::Path(texts) => path(texts, &mut stack).and_then(|path| dynamic(&path)),
            Op::Opaque(operands) => {
                stack.truncate(stack.len().saturating_sub(*operands));
                None
            }
            Op::Unary(unary) => stack.pop()?.map(|value| unary.apply(value)),
            Op::Cast(width) => stack.pop()?.map(|value| width.apply(value)),
            Op::Binary(binary) => {
                let right = stack.pop()?;
                let left = stack.pop()?;
                left.zip(right).and_then(|(left, right)| binary.apply(left, right))
            }
            Op::Decide(decisive, skip) => match stack.pop()? {
                Some(value) if (value != 0) != *decisive => continue,
                decided => {
                    at += skip;
                    decided.map(|value| i64::from(value != 0))
                }
            },
            Op::Branch(otherwise, end) => match stack.pop()? {
                Some(0) => {
                    at += otherwise;
                    continue;
                }
                Some(_) => continue,
                None => {
                    at += end;
                    None
                }
            },
            Op::Jump(skip) => {
                at += skip;
                continue;
            }
        };
        stack.push(value);
    }
    stack.pop()?
}

/// Pops the indices of a path and formats it.
fn path(texts: &[String], stack: &mut Vec<Option<i64>>) -> Option<String> {
    let first = stack.len().checked_sub(texts.len().saturating_sub(1))?;
    let indices = stack.split_off(first);
    let (base, rest) = texts.split_first()?;
    let mut out = base.clone();
    for (index, text) in indices.into_iter().zip(rest) {
        let index = index.filter(|index| *index >= 0)?;
        out.push_str(&format!("[{index}]{text}"));
    }
    Some(out)
}

/// Equality as in C between an `int` and an `unsigned int`; wider values are compared as they are.
pub(super) fn equal(left: i64, right: i64) -> bool {
    let narrow = |value| (-(1 << 31)..1 << 32).contains(&value);
    left == right || (narrow(left) && narrow(right) && (left ^ right) & 0xFFFF_FFFF == 0)
}

impl Unary {
    fn apply(self, value: i64) -> i64 {
        match self {
            Self::Minus => value.wrapping_neg(),
            Self::Not => i64::from(value == 0),
            Self::Complement => !value,
            Self::Truth => i64::from(value != 0),
        }
    }
}

impl Binary {
    fn apply(self, left: i64, right: i64) -> Option<i64> {
        let shift = || u32::try_from(right).ok();
        Some(match self {
            Self::Multiply => left.wrapping_mul(right),
            Self::Divide if right == 0 => return None,
            Self::Divide => left.wrapping_div(right),
            Self::Remainder if right == 0 => return None,
            Self::Remainder => left.wrapping_rem(right),
            Self::Add => left.wrapping_add(right),
            Self::Subtract => left.wrapping_sub(right),
            Self::ShiftLeft => return left.checked_shl(shift()?),
            Self::ShiftRight => return left.checked_shr(shift()?),
            Self::Less => i64::from(left < right),
            Self::LessEqual => i64::from(left <= right),
            Self::Greater => i64::from(left > right),
            Self::GreaterEqual => i64::from(left >= right),
            Self::Equal => i64::from(equal(left, right)),
            Self::NotEqual => i64::from(!equal(left, right)),
            Self::And => left & right,
            Self::Xor => left ^ right,
            Self::Or => left | right,
        })
    }
}

impl Width {
    /// The width of the C type named by `text`.
    pub fn of(text: &str) -> Width {
        if text.contains('*') {
            return Self::Same;
        }
        let words: Vec<&str> =
            text.split_whitespace().filter(|w| !matches!(*w, "const" | "volatile")).collect();
        let has = |word| words.contains(&word);
        let known = |w: &&str| matches!(*w, "char" | "short" | "int" | "long" | "signed" | "unsigned");
        match words.as_slice() {
            ["int8_t" | "sint8"] => Self::Signed8,
            ["uint8_t" | "uint8"] => Self::Unsigned8,
            ["int16_t" | "sint16"] => Self::Signed16,
            ["uint16_t" | "uint16"] => Self::Unsigned16,
            ["int32_t" | "sint32"] => Self::Signed32,
            ["uint32_t" | "uint32"] => Self::Unsigned32,
            [] => Self::Same,
            words if !words.iter().all(known) => Self::Same,
            words if words.iter().filter(|w| **w == "long").count() > 1 => Self::Same,
            _ if has("char") && has("unsigned") => Self::Unsigned8,
            _ if has("char") => Self::Signed8,
            _ if has("short") && has("unsigned") => Self::Unsigned16,
            _ if has("short") => Self::Signed16,
            _ if has("long") && has("unsigned") => Self::UnsignedLong,
            _ if has("long") => Self::SignedLong,
            _ if has("unsigned") => Self::Unsigned32,
            _ => Self::Signed32,
        }
    }

    /// Converts the value to this type.
    pub fn apply(self, value: i64) -> i64 {
        let fits = (-(1 << 31)..1 << 32).contains(&value);
        let [b0, b1, b2, b3, ..] = value.to_le_bytes();
        match self {
            Self::Signed8 => i64::from(i8::from_le_bytes([b0])),
            Self::Unsigned8 => i64::from(b0),
            Self::Signed16 => i64::from(i16::from_le_bytes([b0, b1])),
            Self::Unsigned16 => i64::from(u16::from_le_bytes([b0, b1])),
            Self::Signed32 => i64::from(i32::from_le_bytes([b0, b1, b2, b3])),
            Self::SignedLong if fits => i64::from(i32::from_le_bytes([b0, b1, b2, b3])),
            Self::UnsignedLong if fits => i64::from(u32::from_le_bytes([b0, b1, b2, b3])),
            Self::Unsigned32 => i64::from(u32::from_le_bytes([b0, b1, b2, b3])),
            Self::Same | Self::SignedLong | Self::UnsignedLong => value,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_follow_the_c_type() {
        let cases = [
            ("unsigned char", 0x1FF, 0xFF),
            ("char", 0xFF, -1),
            ("signed char", 0x7F, 0x7F),
            ("unsigned short", -1, 0xFFFF),
            ("short int", 0xFFFF, -1),
            ("int", 0xFFFF_FFFF, -1),
            ("signed int", 1 << 40, 0),
            ("int", 1 - 0xFFFF_FFFF, 2),
            ("long", 1 << 40, 1 << 40),
            ("long", -5, -5),
            ("unsigned int", -1, 0xFFFF_FFFF),
            ("unsigned", 1 << 40, 0),
            ("unsigned long", -1, 0xFFFF_FFFF),
            ("unsigned long long", -1, -1),
            ("volatile unsigned char", 300, 44),
            ("void *", 0xFFFF_FFFF, 0xFFFF_FFFF),
            ("unsigned char *", 300, 300),
            ("EE_TID", 0xFFFF_FFFF, 0xFFFF_FFFF),
            ("", 300, 300),
        ];
        for (c_type, value, expected) in cases {
            assert_eq!(Width::of(c_type).apply(value), expected, "{c_type}");
        }
    }

    #[test]
    fn equality_is_that_of_32_bit_c() {
        assert!(equal(-1, 0xFFFF_FFFF) && equal(5, 5) && equal(1 << 40, 1 << 40));
        assert!(!equal(-1, 1) && !equal(1 << 40, 0) && !equal(-(1 << 31) - 1, 0x7FFF_FFFF));
    }
}
