//! Rows of the native tables of kernel traces, in the terms of the kernel. Each row is written when its
//! subject ends. Not the mapping to BTF.

mod lives;
mod messages;
mod rows;
mod stretches;

pub use rows::KernelRows;
