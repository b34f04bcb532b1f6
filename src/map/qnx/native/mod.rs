//! Rows of the native tables of kernel traces: what the kernel said, in its own words, each row written when
//! what it tells of ends. Not what BTF makes of it.

mod calls;
mod interrupts;
mod lives;
mod messages;
mod rows;
mod stretches;

pub use rows::KernelRows;
