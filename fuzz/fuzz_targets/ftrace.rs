//! Feeds `btfdb_fuzz::ftrace`, where what must hold is written down.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| btfdb_fuzz::ftrace(data));
