//! Kernel traces of QNX Neutrino: `.kev` files, byte for byte. A file has attributes, a copy of the target's
//! syspage and records of 16 bytes; records become events with full times. What the words of an event mean is
//! in `crate::qnx`, which also lists the other rooms of QNX.
//!
//! The layout is based on published headers, manuals and listings of traceprinter, because no file of a real
//! target was available. Where they leave something open, the reader chooses the safe alternative (data are
//! stored, counted, and reported), with a comment.

mod batch;
mod buffers;
mod clock;
mod combine;
mod decoder;
mod format;
mod header;
mod listed;
pub mod listing;
mod printed;
mod rows;
mod spread;
#[cfg(test)]
mod tests;
mod timeline;
mod window;

pub use batch::Batch;
pub use decoder::Decoder;
pub use format::Qnx;
pub use header::probe;
pub use listed::Listed;
