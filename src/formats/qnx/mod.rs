//! QNX Neutrino kernel event traces (`.kev`), as tracelogger writes them: records of 16 bytes behind a header of text. Not
//! what the events mean (see `crate::qnx`).

#[cfg(test)]
pub mod cases;
pub mod writer;
