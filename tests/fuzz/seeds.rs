//! Initial inputs: the fixtures, the samples, the documentation pages.

use std::fs;
use std::path::{Path, PathBuf};

use crate::fuzz::words;

/// Returns the files below a folder of the repository with one of some extensions, sorted.
fn files(folder: &str, endings: &[&str]) -> Vec<Vec<u8>> {
    let root: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let (mut folders, mut paths) = (vec![root], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())).flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if endings.iter().any(|ending| path.to_string_lossy().ends_with(ending)) {
                paths.push(path);
            }
        }
    }
    paths.sort();
    paths.iter().filter_map(|path| fs::read(path).ok()).collect()
}

/// Session files.
pub(crate) fn sessions() -> Vec<Vec<u8>> {
    [files("fixtures", &[".jsonl"]), files("assets/demo", &[".jsonl"])].concat()
}

/// Session files, and text, code and diffs that become messages. The first byte selects the type.
pub(crate) fn documents() -> Vec<Vec<u8>> {
    let texts = [files("docs", &[".md"]), files("src/render", &[".rs"]), files("assets", &[".toml"])].concat();
    let texts = texts.into_iter().enumerate().map(|(at, text)| [vec![2 * at as u8 + 1, at as u8], text].concat());
    texts.chain(sessions().into_iter().map(|text| [vec![0, 60], text].concat())).collect()
}

/// Queries.
pub(crate) fn queries() -> Vec<Vec<u8>> {
    let written =
        ["jwt file:auth.rs", "\"sliding expiry\" -redis is:named", "re:/a(b|c)+d/ after:2026-01-01 before:3d"];
    let more =
        ["in:~/app label:works all: cost:>1", "tool:bash model:gpt* size:>1mb entries:<10", "-label:x -is:fork 漢"];
    written.iter().chain(&more).chain(words::QUERY).map(|query| query.as_bytes().to_vec()).collect()
}

/// The default configuration, and its lines with the comment marks removed.
pub(crate) fn config() -> Vec<Vec<u8>> {
    let all = files("assets", &["config.toml"]).concat();
    let text = String::from_utf8_lossy(&all).into_owned();
    let lines = text.lines().map(|line| line.trim_start_matches("# ").as_bytes().to_vec());
    let plain = text.replace("# ", "").into_bytes();
    [text.clone().into_bytes(), plain].into_iter().chain(lines).collect()
}

/// Scripts of keys, each followed by its session.
pub(crate) fn keys() -> Vec<Vec<u8>> {
    let script = |at: usize, session: Vec<u8>| {
        let steps = (0..120_usize).map(|step| (at * 89 + step * step * 31 + step * 7) as u8);
        [vec![120], steps.collect(), session].concat()
    };
    sessions().into_iter().enumerate().map(|(at, session)| script(at, session)).collect()
}
