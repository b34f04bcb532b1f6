//! Feeds `btfdb_fuzz::clocks_toml`, where what must hold is written down.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| btfdb_fuzz::clocks_toml(data));
