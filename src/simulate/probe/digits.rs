//! Numbers and times as the cells of an export. Faster than `write!`, which would take most of the time of a
//! simulation. Not the cells around them (see `form`).

/// A decimal number with at least so many digits.
pub fn decimal(out: &mut Vec<u8>, mut number: u64, width: usize) {
    let mut digits = [b'0'; 20];
    let mut count = 0;
    for digit in digits.iter_mut().rev() {
        if number == 0 && count >= width.max(1) {
            break;
        }
        *digit += (number % 10) as u8;
        number /= 10;
        count += 1;
    }
    out.extend_from_slice(digits.get(digits.len() - count..).unwrap_or_default());
}

/// A hexadecimal number with at least so many digits, at most 8.
pub fn hexadecimal(out: &mut Vec<u8>, number: u32, width: usize) {
    let needed = (35 - (number | 1).leading_zeros() as usize) / 4;
    let count = needed.max(width.min(8));
    for place in (0..count).rev() {
        let digit = (number >> (4 * place)) as u8 & 0xF;
        out.push(if digit < 10 { b'0' + digit } else { b'A' + digit - 10 });
    }
}

/// A time in ns as units of so many digits after the point: 9 gives seconds.
pub fn fixed(out: &mut Vec<u8>, time: u64, decimals: usize, point: u8) {
    let unit = 10u64.pow(decimals as u32);
    decimal(out, time / unit, 1);
    out.push(point);
    decimal(out, time % unit, decimals);
}

/// A time in ns, in the largest unit of which it has one.
pub fn with_unit(out: &mut Vec<u8>, time: u64) {
    let (decimals, unit) = match time {
        0..=999_999 => (3, "us"),
        1_000_000..=999_999_999 => (6, "ms"),
        _ => (9, "s"),
    };
    fixed(out, time, decimals, b'.');
    out.extend_from_slice(unit.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(write: impl Fn(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn numbers_are_those_of_the_standard_library() {
        let mut numbers = vec![0, 1, 9, 10, 15, 16, 99, 100, 4_294_967_295, u64::MAX, 10_000_000_000];
        numbers.extend((0..64).map(|bit| 1u64 << bit));
        for number in numbers {
            for width in [0, 1, 2, 8, 10, 14, 20] {
                assert_eq!(text(|out| decimal(out, number, width)), format!("{number:0width$}"));
            }
            let low = number as u32;
            for width in [0, 1, 2, 8] {
                assert_eq!(text(|out| hexadecimal(out, low, width)), format!("{low:0width$X}"));
            }
        }
    }

    #[test]
    fn times_have_all_digits() {
        assert_eq!(text(|out| fixed(out, 1_000_437_260, 9, b'.')), "1.000437260");
        assert_eq!(text(|out| fixed(out, 437_260, 3, b',')), "437,260");
        for (time, expected) in [
            (20, "0.020us"),
            (999_999, "999.999us"),
            (1_000_000, "1.000000ms"),
            (61_000_000_001, "61.000000001s"),
        ] {
            assert_eq!(text(|out| with_unit(out, time)), expected);
        }
    }
}
