//! Tests: each rule on a small stream, and random systems against a naive explanation.

mod kernel;
mod naive;
mod random;
mod recorder;
mod rules;
mod schedule;
