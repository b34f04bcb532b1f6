//! Feeds `btfdb_fuzz::model_toml`, where what must hold is written down.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| btfdb_fuzz::model_toml(data));
