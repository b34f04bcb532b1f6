//! Feeds `btfdb_fuzz::setup_json`, where what must hold is written down.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| btfdb_fuzz::setup_json(data));
