//! Tests of metrics on a real database.

mod summaries;
mod windows;
