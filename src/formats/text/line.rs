//! Lines of a chunk, and what may stand at their rims. Not what is in them.

use std::hint::cold_path;

use crate::input::MAX_LINE;

/// One line of a chunk, without its line end.
#[derive(Debug, Clone, Copy)]
pub(in crate::formats) struct Line<'a> {
    /// 0-based within the chunk.
    pub number: usize,
    /// The text, without a byte order mark and carriage returns around it.
    pub text: &'a [u8],
    /// False for the end of a chunk that does not end in a line end.
    pub terminated: bool,
    /// True when the line reached the limit at which it may have been cut.
    pub too_long: bool,
}

impl<'a> Line<'a> {
    /// The line that starts at `at`, and where the next one starts.
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
}

/// The line without a byte order mark in front of it (the start of a file, or of one appended to another).
pub(in crate::formats) fn without_bom(line: &[u8]) -> &[u8] {
    line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line)
}

/// Whether there is a minus sign, and where the digits start.
#[inline(always)]
pub(in crate::formats) fn sign(text: &[u8], at: usize) -> (bool, usize) {
    match text.get(at) {
        Some(b'-') => (true, at + 1),
        Some(b'+') => (false, at + 1),
        _ => (false, at),
    }
}

/// Tells the compiler that something is mostly there: it keeps what is needed then in registers and copies the functions that are
/// called then to where they are called, which it does not do where it thinks that nobody comes by.
#[inline(always)]
pub(in crate::formats) fn likely<T>(found: Option<T>) -> Option<T> {
    if found.is_none() {
        cold_path();
    }
    found
}

/// Where the next line starts, when the line ends at `at`.
#[inline(always)]
pub(in crate::formats) fn line_end(text: &[u8], at: usize) -> Option<usize> {
    match text.get(at)? {
        b'\n' => Some(at + 1),
        b'\r' if text.get(at + 1) == Some(&b'\n') => Some(at + 2),
        _ => None,
    }
}
