//! Common Trace Format (CTF 1.8 and 2): traces of LTTng, Zephyr, barectf, ROS 2, perf. Metadata declare what
//! events are called and how their fields are laid out; streams have the events, in packets. No crate reads
//! it.

mod bits;
mod decoder;
mod format;
mod json;
mod metadata;
mod model;
mod packets;
mod program;
mod reader;
mod rows;
#[cfg(test)]
mod tests;
mod tsdl;

pub use format::Ctf;
