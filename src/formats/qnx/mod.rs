//! QNX Neutrino kernel event traces: the listings of traceprinter. Not what the events mean (see `crate::qnx`).

pub mod listing;
