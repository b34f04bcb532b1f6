//! Feeds `btfdb_fuzz::hash`, where what must hold is written down.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| btfdb_fuzz::hash(data));
