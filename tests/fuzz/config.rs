//! `config.toml`: valid settings, or errors that name their line.

use pitree::config::Config;

/// Maximum size of a file in bytes; real ones are smaller.
const LONGEST: usize = 32 * 1024;

/// Reads the configuration.
pub(crate) fn run(data: &[u8]) {
    let data = &data[..data.len().min(LONGEST)];
    match Config::parse(&String::from_utf8_lossy(data), "config.toml") {
        Ok(config) => assert!(!config.keymap.reference().is_empty()),
        Err(error) => {
            let said = error;
            let first = said.strip_prefix("config.toml:").unwrap_or_else(|| panic!("no place in {said:?}"));
            assert!(first.starts_with(|c: char| c.is_ascii_digit()), "no line in {said:?}");
        }
    }
}
