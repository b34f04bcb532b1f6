//! Text that a terminal only shows: control characters, which could move the cursor, hide what was printed or
//! type for the user, are escaped, and so are characters that turn the direction of text around. Not for data
//! that goes to files and pipes.

use std::borrow::Cow;
use std::io::{self, Write};

/// The text with its control characters as `\u{1b}`; line breaks and tabs stay as they are.
pub fn printable(text: &str) -> Cow<'_, str> {
    let is_kept = |c| matches!(c, '\n' | '\t');
    if text.chars().all(|c| is_kept(c) || is_harmless(c)) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(escaped(text, is_kept))
}

/// Escapes control characters, but not those that are kept.
pub(super) fn escaped(text: &str, is_kept: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_kept(c) || is_harmless(c) { out.push(c) } else { out.extend(c.escape_default()) }
    }
    out
}

fn is_harmless(c: char) -> bool {
    !(c.is_control() || is_bidirectional(c))
}

/// Characters that change the direction of the text around them.
fn is_bidirectional(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Writes [`printable`] text; bytes that are no UTF-8 become U+FFFD.
#[derive(Debug)]
pub struct PrintableWriter<W: Write> {
    inner: W,
    /// The begin of a character that is not complete: at most three bytes.
    rest: Vec<u8>,
}

impl<W: Write> PrintableWriter<W> {
    /// Writes to `inner`.
    pub fn new(inner: W) -> Self {
        Self { inner, rest: Vec::new() }
    }
}

impl<W: Write> Write for PrintableWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.rest.extend_from_slice(bytes);
        // Only a character that the end cuts off may still become valid.
        let cut_off =
            self.rest.utf8_chunks().last().map_or(0, |chunk| match std::str::from_utf8(chunk.invalid()) {
                Err(error) if error.error_len().is_none() => chunk.invalid().len(),
                _ => 0,
            });
        let complete = self.rest.len() - cut_off;
        let text = String::from_utf8_lossy(&self.rest[..complete]);
        self.inner.write_all(printable(&text).as_bytes())?;
        self.rest.drain(..complete);
        Ok(bytes.len())
    }

    /// What has come of a character until now is not going to be completed.
    fn flush(&mut self) -> io::Result<()> {
        let text = String::from_utf8_lossy(&self.rest).into_owned();
        self.rest.clear();
        self.inner.write_all(text.as_bytes())?;
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_a_terminal_obeys_is_escaped() {
        assert_eq!(
            printable("a\u{1b}[2Jb\r\u{9b}1m\u{7f}\u{202e}x"),
            "a\\u{1b}[2Jb\\r\\u{9b}1m\\u{7f}\\u{202e}x"
        );
        assert!(matches!(printable("Größe\t1\n"), Cow::Borrowed("Größe\t1\n")));
    }

    proptest! {
        #[test]
        fn pieces_are_written_as_the_whole(bytes: Vec<u8>, text in "[a-zß€😀\u{1b}\u{9b}\n]{0,20}", piece in 1usize..5) {
            for whole in [bytes.as_slice(), text.as_bytes()] {
                let mut out = PrintableWriter::new(Vec::new());
                whole.chunks(piece).for_each(|piece| out.write_all(piece).unwrap());
                out.flush().unwrap();
                let expected = String::from_utf8_lossy(whole);
                prop_assert_eq!(String::from_utf8(out.inner).unwrap(), printable(&expected));
            }
        }
    }
}
