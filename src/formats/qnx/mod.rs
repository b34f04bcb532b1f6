//! Kernel traces of QNX Neutrino: `.kev` files, byte for byte. A file is attributes, a copy of the target's
//! syspage and records of 16 bytes; records become events with full times. What the words of an event mean is
//! in `crate::qnx`, which also lists the other rooms of QNX.
//!
//! The layout rests on published headers, manuals and listings of the printer, because no file of a real
//! target could be had: what they leave open is decided in the safe direction (kept, counted, told), and said
//! where it is.
//!
//! * `header` – attributes and syspage
//! * `clock` – 32 bits of time per record to 64, for each CPU
//! * `batch` – events on their way
//! * `buffers` – which buffers there are and which are missing
//! * `combine` – parts of events to events
//! * `timeline` – full times for the events of all CPUs
//! * `listing`, `listed` – the text of the printer instead of records
//! * `decoder` – the stream: bytes in, events and buffers out
//! * `spread`, `window`, `rows` – events by CPU, in the order of time, as rows
//! * `format` – all of it as a trace format

mod batch;
mod buffers;
mod clock;
mod combine;
mod decoder;
mod format;
mod header;
mod listed;
pub mod listing;
mod rows;
mod spread;
#[cfg(test)]
mod tests;
mod timeline;
mod window;

pub use batch::Batch;
pub use buffers::{Buffer, Buffers};
pub use decoder::{Decoder, Preamble};
pub use format::Qnx;
pub use header::{Header, Syspage, header_length, probe};
pub use listed::Listed;
