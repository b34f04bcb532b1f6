//! Backslash sequences in Tcl (Tcl(n), rule 9, as of 8.6). Not a line end after a backslash.

/// The character of the backslash sequence at `at`, and its length in bytes; `None` if the character after it
/// stands for itself. A backslash at the end stands for itself.
pub(super) fn backslash(bytes: &[u8], at: usize) -> Option<(char, usize)> {
    let Some(next) = bytes.get(at + 1) else { return Some(('\\', 1)) };
    let digits = bytes.get(at + 2..).unwrap_or_default();
    Some(match next {
        b'a' => ('\x07', 2),
        b'b' => ('\x08', 2),
        b'f' => ('\x0c', 2),
        b'n' => ('\n', 2),
        b'r' => ('\r', 2),
        b't' => ('\t', 2),
        b'v' => ('\x0b', 2),
        b'x' => hexadecimal(digits, 2)?,
        b'u' => hexadecimal(digits, 4)?,
        b'U' => hexadecimal(digits, 8)?,
        b'0'..=b'7' => octal(bytes.get(at + 1..).unwrap_or_default()),
        _ => return None,
    })
}

/// As many digits as form a character; none: the letter stands for itself.
fn hexadecimal(digits: &[u8], most: usize) -> Option<(char, usize)> {
    let (mut number, mut count) = (0u32, 0);
    for digit in digits.iter().take(most).map_while(|b| char::from(*b).to_digit(16)) {
        if number > 0x10fff {
            break;
        }
        number = number * 16 + digit;
        count += 1;
    }
    (count > 0).then(|| (char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER), 2 + count))
}

/// Up to three digits, and no more than 8 bits.
fn octal(digits: &[u8]) -> (char, usize) {
    let (mut number, mut count) = (0u32, 0);
    for digit in digits.iter().take(3).map_while(|b| char::from(*b).to_digit(8)) {
        if number >= 0x20 {
            break;
        }
        number = number * 8 + digit;
        count += 1;
    }
    (char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER), 1 + count)
}
