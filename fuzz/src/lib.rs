//! Fuzz targets. A target is a function that panics if pitree handles its input wrongly. Each one has its own file and
//! a row in [`TARGETS`]. `main` runs them on stable Rust, cargo-fuzz on nightly.

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

/// A fuzz target.
pub struct Target {
    /// Its name on the command line.
    pub name: &'static str,
    /// The function to run; panics on a failure.
    pub run: fn(&[u8]),
    /// Returns the initial inputs.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Typical strings in its inputs.
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
