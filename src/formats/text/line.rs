//! Lines of a chunk: line ends, byte order marks, signs. Not for the content of lines.

use std::hint::cold_path;

use crate::input::MAX_LINE;

/// One line of a chunk, without its line end.
#[derive(Debug, Clone, Copy)]
pub(in crate::formats) struct Line<'a> {
    /// 0-based within the chunk.
    pub number: usize,
    /// The text, without a byte order mark before it and carriage returns after it.
    pub text: &'a [u8],
    /// False for the rest of a chunk that does not end with a line end.
    pub terminated: bool,
    /// True if the line reached the maximum length, at which it may have been cut.
    pub too_long: bool,
}

impl<'a> Line<'a> {
    /// The line that starts at `at`, and the start of the next one.
    pub fn take(chunk: &'a [u8], at: usize, number: usize) -> (Self, usize) {
        let rest = chunk.get(at..).unwrap_or_default();
        let end = memchr::memchr(b'\n', rest);
        let raw = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        let too_long = raw.len() >= MAX_LINE;
        let mut text = without_bom(raw);
        while let Some(shorter) = text.strip_suffix(b"\r") {
            text = shorter;
        }
        (Self { number, text, terminated: end.is_some(), too_long }, at + raw.len() + 1)
    }

    /// All lines of a text.
    pub fn all(text: &'a [u8]) -> impl Iterator<Item = Self> {
        let mut at = 0;
        let take = move |number| {
            let (line, next) = Self::take(text, at, number);
            (at < text.len()).then(|| {
                at = next;
                line
            })
        };
        (0..).map_while(take)
    }
}

/// The line without a byte order mark before it. There is one at the start of a file, and at the start of a
/// file that was appended to another.
pub(in crate::formats) fn without_bom(line: &[u8]) -> &[u8] {
    line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line)
}

/// Whether there is a minus sign, and the offset of the digits.
#[inline(always)]
pub(in crate::formats) fn sign(text: &[u8], at: usize) -> (bool, usize) {
    match text.get(at) {
        Some(b'-') => (true, at + 1),
        Some(b'+') => (false, at + 1),
        _ => (false, at),
    }
}

/// Marks `None` as the unlikely case. The compiler then keeps the values of the likely path in registers and
/// inlines the functions called there. Without the mark, it may take that path for the cold one.
#[inline(always)]
pub(in crate::formats) fn likely<T>(found: Option<T>) -> Option<T> {
    if found.is_none() {
        cold_path();
    }
    found
}

/// The start of the next line, if there is a line end (LF or CR LF) at `at`.
#[inline(always)]
pub(in crate::formats) fn line_end(text: &[u8], at: usize) -> Option<usize> {
    match text.get(at)? {
        b'\n' => Some(at + 1),
        b'\r' if text.get(at + 1) == Some(&b'\n') => Some(at + 2),
        _ => None,
    }
}
