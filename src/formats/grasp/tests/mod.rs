//! Tests of the reader of Grasp traces.

mod commands;
mod tcl;
mod ticks;
mod words;
