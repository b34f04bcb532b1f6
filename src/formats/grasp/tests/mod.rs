//! Tests of the reader of Grasp traces.

mod tcl;
mod words;
