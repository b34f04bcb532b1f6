//! Tests of metrics on a database as it is on the disk.

mod summaries;
mod windows;
