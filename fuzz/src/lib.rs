//! What is done with bytes that nobody thought of. A target is a function that panics if something is wrong with what
//! pitree makes of them; each has a file of its own and a row in [`TARGETS`]. They run by `main` on stable Rust, and by
//! cargo-fuzz.

pub mod config;
pub mod documents;
pub mod keys;
pub mod lines;
pub mod memory;
pub mod mutate;
pub mod queries;
pub mod readers;
pub mod seeds;
pub mod sessions;

/// Something to be done with any bytes.
pub struct Target {
    /// Its name on the command line.
    pub name: &'static str,
    /// Panics if something is wrong.
    pub run: fn(&[u8]),
    /// Bytes to begin with.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// What stands in such bytes.
    pub words: &'static [&'static str],
}

/// All targets.
pub const TARGETS: &[Target] = &[
    Target { name: "lines", run: lines::run, seeds: seeds::sessions, words: mutate::SESSION },
    Target { name: "readers", run: readers::run, seeds: seeds::sessions, words: mutate::SESSION },
    Target { name: "sessions", run: sessions::run, seeds: seeds::sessions, words: mutate::SESSION },
    Target { name: "documents", run: documents::run, seeds: seeds::documents, words: mutate::DOCUMENT },
    Target { name: "queries", run: queries::run, seeds: seeds::queries, words: mutate::QUERY },
    Target { name: "config", run: config::run, seeds: seeds::config, words: mutate::CONFIG },
    Target { name: "keys", run: keys::run, seeds: seeds::keys, words: mutate::SESSION },
];
