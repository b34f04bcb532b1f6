//! Collects the lines of one event until there are no more. Not what they mean.

use super::super::super::text::Line;
use super::event::parse;
use crate::qnx::{Class, Flavour};

/// Maximum number of line ends in a string.
const MAX_RESTS: usize = 64;
/// Maximum length of the text of an event; what follows is not part of it.
const MAX_TEXT: usize = 2 * crate::input::MAX_LINE;
/// Maximum length of a blank line in a string.
const MAX_BLANK: usize = 1024;
/// Width to which names of arguments are padded on lines of their own.
const NAME_WIDTH: usize = 26;

/// An event whose lines come one by one.
#[derive(Debug)]
pub(super) struct Pending {
    /// 0-based number of its first line.
    pub number: usize,
    pub text: Vec<u8>,
    /// Number of lines with an argument each, and of blank ones before them.
    pub continuations: u64,
    /// Lines that may be the rest of a string.
    pub rests: Vec<(usize, Vec<u8>)>,
    /// Blank lines: part of a string if another rest of it follows.
    pub blanks: Vec<(usize, Vec<u8>)>,
}

impl Pending {
    pub fn new(number: usize, line: &[u8]) -> Self {
        Self { number, text: line.to_vec(), continuations: 0, rests: Vec::new(), blanks: Vec::new() }
    }

    pub fn line(&self) -> Line<'_> {
        Line { number: self.number, text: &self.text, terminated: true, too_long: false }
    }

    /// Adds a line with an argument: ` tid:-1`. Long names have no blanks before them.
    pub fn continues(&mut self, line: &[u8]) -> bool {
        let text = line.trim_ascii_start();
        let Some(colon) = memchr::memchr(b':', text) else { return false };
        let name = text.get(..colon).unwrap_or_default();
        let padded = text.len() < line.len() || colon >= NAME_WIDTH;
        let is_name = colon > 0 && name.iter().all(|b| b.is_ascii_graphic());
        if !padded || !is_name || self.text.len() + text.len() > MAX_TEXT {
            return false;
        }
        // A header has two colons.
        if text.get(colon + 1) == Some(&b':') && text.starts_with(b"TRACE_") {
            return false;
        }
        self.text.push(b' ');
        self.text.extend_from_slice(text);
        self.continuations += 1 + self.blanks.drain(..).len() as u64;
        true
    }

    /// Holds a blank line; false if there are too many.
    pub fn takes_blank(&mut self, line: Line<'_>) -> bool {
        let fits = self.rests.len() + self.blanks.len() < MAX_RESTS && line.text.len() <= MAX_BLANK;
        if fits {
            self.blanks.push((line.number, line.text.to_vec()));
        }
        fits
    }

    /// Adds a line that can only be the rest of a string with a line end in it: without it, the event would
    /// be incomplete, or it is a message to the system log. It is neither blank nor a title.
    pub fn takes_rest(&mut self, flavour: Flavour, line: Line<'_>) -> bool {
        if self.rests.len() + self.blanks.len() >= MAX_RESTS || self.text.len() + line.text.len() > MAX_TEXT {
            return false;
        }
        let open = match parse(flavour, &self.text) {
            Ok(event) => event.unread.is_some() || event.class == Class::System && event.event == 0xc,
            Err(_) => true,
        };
        if !open {
            return false;
        }
        for (number, text) in self.blanks.drain(..).chain([(line.number, line.text.to_vec())]) {
            self.text.push(b'\n');
            self.text.extend_from_slice(&text);
            self.rests.push((number, text));
        }
        true
    }
}
