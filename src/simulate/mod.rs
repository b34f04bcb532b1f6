//! Simulated systems that write recordings, for tests and benchmarks. Each simulator also returns what really
//! happened, so that a test can compare that with what btfdb derives from the recording. Not an export:
//! nothing here reads a database.
//!
//! * `neutrino` – a QNX Neutrino machine that writes `.kev` files

pub mod neutrino;
