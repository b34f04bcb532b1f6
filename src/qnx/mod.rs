//! The vocabulary of QNX Neutrino kernel traces as data: classes, events, thread states, kernel calls and
//! what their arguments are, by version. Knows no files, no records of 16 bytes (see `formats::qnx`) and no
//! mapping.
//!
//! The other rooms of QNX: `formats::qnx` (records and listings to events), `ops::kernel` (one file into the
//! database), `map::qnx` (kernel events to BTF), `export::traceprinter` (events to text),
//! `tests/neutrino` (test recordings).
//!
//! Everything here rests on published headers, manuals and listings; no file of a real target was at hand.

mod arguments;
mod event;
mod filter;
pub mod layout;
mod subject;
mod text;
mod version;
mod vocabulary;
pub mod write;

pub use arguments::{Manner, arguments, value as printed_value, words as printed_words};
pub use event::{Class, Event, Status};
pub use filter::{KernelFilter, MatchedBy};
pub use subject::subject;
pub use text::{c_string, is_print, text};
pub use version::{Flavour, Version};
pub use vocabulary::{
    Entry, LATER_CALLS, UNKNOWN, entry, event_name, event_names, event_number, fields, is_failure,
    name_of_event,
};
