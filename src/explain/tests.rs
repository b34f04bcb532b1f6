//! Tests: each rule on a small stream, and random systems against a naive explanation.

mod naive;
mod random;
mod rules;
mod schedule;
