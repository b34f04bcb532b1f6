//! Numbers of a Grasp trace as ticks: decimal, in any unit, exact. No floating point.

use crate::time::{Rounded, divide_half_even_wide, with_sign};

/// Maximum number of digits that count; a double has no more than 17.
const DIGITS: u32 = 19;

/// Why a word is not a number of ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotTicks {
    Garbage,
    Overflow,
}

/// A decimal number (sign, digits, point, exponent) of units of `tick` ticks, rounded half to even. Of more
/// than 19 significant digits, the rest is cut off. Fails when it is not a number, or does not fit.
pub fn ticks(text: &str, tick: i64) -> Result<Rounded, NotTicks> {
    let (negative, digits) = match text.as_bytes() {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        all => (false, all),
    };
    let tick = u64::try_from(tick).map_err(|_| NotTicks::Overflow)?;
    let (mut number, mut seen, mut any) = (0u64, 0u32, false);
    // The exponent of the digits that were cut, and whether one of them was not 0.
    let (mut exponent, mut lost) = (0i64, false);
    let mut in_fraction = false;
    let mut rest = digits.iter();
    while let Some(byte) = rest.next() {
        match byte {
            b'0'..=b'9' => {
                any = true;
                let digit = u64::from(byte - b'0');
                match number.checked_mul(10).and_then(|n| n.checked_add(digit)).filter(|_| seen < DIGITS) {
                    Some(next) => {
                        number = next;
                        seen += u32::from(number > 0);
                        exponent -= i64::from(in_fraction);
                    }
                    None => {
                        lost |= digit != 0;
                        exponent += i64::from(!in_fraction);
                    }
                }
            }
            b'.' if !in_fraction => in_fraction = true,
            b'e' | b'E' if any => {
                let power = std::str::from_utf8(rest.as_slice()).ok().and_then(|t| t.parse::<i16>().ok());
                exponent += i64::from(power.ok_or(NotTicks::Garbage)?);
                rest = [].iter();
            }
            _ => return Err(NotTicks::Garbage),
        }
    }
    if !any {
        return Err(NotTicks::Garbage);
    }
    let product = u128::from(number) * u128::from(tick);
    let (magnitude, inexact) = if product == 0 {
        (0, lost)
    } else if exponent >= 0 {
        let power = u32::try_from(exponent).ok().and_then(|e| 10u128.checked_pow(e));
        (power.and_then(|p| product.checked_mul(p)).ok_or(NotTicks::Overflow)?, lost)
    } else {
        match u32::try_from(-exponent).ok().and_then(|e| 10u128.checked_pow(e)) {
            Some(power) => (divide_half_even_wide(product, power), lost || product % power != 0),
            // Smaller than any tick.
            None => (0, true),
        }
    };
    let magnitude = u64::try_from(magnitude).map_err(|_| NotTicks::Overflow)?;
    let ticks = with_sign(magnitude, negative).ok_or(NotTicks::Overflow)?;
    Ok(Rounded { ticks, inexact })
}
