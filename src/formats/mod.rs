//! One folder per foreign format: probe, decode, and what is odd about it. Readers get bytes and give rows and
//! findings; they know no files, no Parquet and no other format.

pub mod orti;
pub mod trace32;
