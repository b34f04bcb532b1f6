//! Feeds `btfdb_fuzz::trace32_data`, where what must hold is written down.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| btfdb_fuzz::trace32_data(data));
