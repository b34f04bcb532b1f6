//! The integration tests: one binary, because every binary that links the query engine is large. What needs no
//! command line is tested through the library.

mod bad_input;
mod cli;
//mod corpus;
mod examples;
mod faults;
mod fuzz_corpus;
//mod osek;
mod tidy;
mod support;
