//! Texts as words of Tcl, which [`super::words`] and Tcl read back unchanged, each on one line; and the
//! backslash sequences in words (Tcl(n), rule 9, as of 8.6). Not a line end after a backslash.

use std::borrow::Cow;
use std::fmt::Write;

/// `text` as one word: unchanged if possible, else in braces, else in quotation marks with backslashes.
pub fn quote(text: &str) -> Cow<'_, str> {
    if is_bare(text) {
        return Cow::Borrowed(text);
    }
    if fits_braces(text) {
        return Cow::Owned(format!("{{{text}}}"));
    }
    let mut quoted = String::with_capacity(text.len() + 8);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' | '$' | '[' | ']' | '{' | '}' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            // Every Tcl reads four digits in the same way; of \x, old ones take any number.
            c if c.is_ascii_control() => {
                // Writing into a string cannot fail.
                let _ = write!(quoted, "\\u{:04x}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    Cow::Owned(quoted)
}

/// `words` as one command, without a line end.
pub fn join<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    let mut line = String::new();
    for (n, word) in words.into_iter().enumerate() {
        if n > 0 {
            line.push(' ');
        }
        let word = quote(word);
        if n == 0 && word.starts_with('#') {
            // It would be a comment.
            line.push('\\');
        }
        line.push_str(&word);
    }
    line
}

/// It has no special characters of Tcl.
fn is_bare(text: &str) -> bool {
    let plain = |b: u8| {
        b.is_ascii_graphic() && !matches!(b, b'"' | b'\\' | b'$' | b'[' | b']' | b'{' | b'}' | b';')
            || b >= 0x80
    };
    !text.is_empty() && text.bytes().all(plain)
}

/// Its braces are balanced, and it has neither backslashes nor control characters.
fn fits_braces(text: &str) -> bool {
    let mut depth = 0i64;
    for b in text.bytes() {
        match b {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            b'\\' => return false,
            b if b.is_ascii_control() => return false,
            _ => {}
        }
        if depth < 0 {
            return false;
        }
    }
    depth == 0
}

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
