//! The words of kernel calls, fast and wide, with addresses of 32 and 64 bits. The caller gives the
//! arguments; this file lays them out.
//!
//! Source: the tables of events in the manual of 7.0. If a call has no fast layout with 64 bits, fast events
//! have the one with 32, as in the documents.

use super::super::{ByteOrder, Code};

/// An argument of a kernel call.
#[derive(Debug, Clone, Copy)]
pub(super) enum Arg {
    /// In fast and wide layouts.
    Both(u32),
    /// An address in fast and wide layouts; 64 bits in the wide layout of targets that have such.
    Address(u64),
    /// In the wide layout.
    Wide(u32),
    /// A size in the wide layout; 64 bits on targets that have such.
    Size(u64),
    /// Fast as 32 bits, wide as a number that has 64 bits on targets that have such.
    Number(u32),
}

/// How this target lays out words.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    pub(super) order: ByteOrder,
    pub(super) wide: bool,
    /// The target has 64-bit addresses.
    pub(super) has_64: bool,
}

impl Layout {
    /// Lays out arguments; returns the code with the mark for 64 bits, if it needs one.
    pub(super) fn lay(self, code: Code, args: &[Arg], words: &mut Vec<u32>) -> Code {
        words.clear();
        let mut is_64 = false;
        for arg in args {
            match *arg {
                Arg::Both(word) => words.push(word),
                Arg::Wide(word) if self.wide => words.push(word),
                Arg::Address(number) | Arg::Size(number) if self.wide && self.has_64 => {
                    self.order.push_64(words, number);
                    is_64 = true;
                }
                Arg::Number(number) if self.wide && self.has_64 => {
                    self.order.push_64(words, number.into());
                    is_64 = true;
                }
                Arg::Address(number) => words.push(number as u32),
                Arg::Number(number) => words.push(number),
                Arg::Size(number) if self.wide => words.push(number as u32),
                Arg::Wide(_) | Arg::Size(_) => {}
            }
        }
        // An event has whole records.
        if words.len() % 2 == 1 || words.is_empty() {
            words.push(0);
        }
        if words.len() < 2 {
            words.push(0);
        }
        if is_64 { code.with_64() } else { code }
    }
}
