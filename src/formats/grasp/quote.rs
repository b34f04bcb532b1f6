//! Texts as words of Tcl: [`super::words`] and Tcl read them back unchanged. A word is always on one line.

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
