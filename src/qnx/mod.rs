//! The vocabulary of QNX Neutrino kernel traces as data: classes, events, thread states, kernel calls and what their
//! arguments are, by version. Knows no files, no records of 16 bytes (see `formats::qnx`) and no mapping.
//!
//! Everything here rests on published headers, manuals and listings; no file of a real target was at hand.

mod event;
mod version;

pub use event::{Class, Event, Status};
pub use version::{Flavour, Version};
