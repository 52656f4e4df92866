//! For cargo-fuzz: see the catalog.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| pitree_fuzz::readers::run(data));
