//! Who may use whom: reads the `use` lines of the sources and fails on a breach.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test may fail anywhere, not only in a function marked #[test]"
)]

use std::fs;
use std::path::{Path, PathBuf};

/// For all modules.
const FOR_ALL: &[&str] = &["base"];

/// Each module with those that it may use, beside those [`FOR_ALL`].
const MAY_USE: &[(&str, &[&str])] = &[
    ("base", &[]),
    ("session", &[]),
    ("search", &["session"]),
    ("render", &["session"]),
    ("disk", &["session"]),
    ("library", &["session", "search", "disk"]),
    ("changes", &["session", "disk"]),
    ("keymap", &[]),
    ("config", &["search", "keymap"]),
    ("app", &["session", "search", "render", "disk", "library", "changes", "keymap", "config"]),
    ("ui", &["session", "search", "render", "library", "keymap", "config", "app"]),
    ("runtime", &["session", "search", "render", "disk", "library", "changes", "keymap", "config", "app", "ui"]),
    ("cli", &["session", "search", "disk", "library", "changes", "keymap", "config", "app", "runtime"]),
];

/// What only some modules may touch: where the file system, the clock, threads and the environment are.
const ONLY_IN: &[(&str, &[&str])] = &[
    // The terminal's own file is the terminal's business.
    ("std::fs", &["disk", "changes", "runtime/terminal.rs"]),
    ("fs::", &["disk", "changes", "runtime/terminal.rs"]),
    ("std::thread", &["disk", "library", "runtime"]),
    ("std::env", &["disk", "runtime"]),
    ("SystemTime::now", &["runtime", "cli"]),
    ("Instant::now", &["disk", "library", "runtime"]),
    ("std::process", &["cli", "runtime", "disk/trash.rs"]),
    ("Color::", &["ui/theme.rs"]),
];

fn sources() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let text = fs::read_to_string(&path).unwrap();
                // What tests use is their own business.
                let code = text.split("\n#[cfg(test)]").next().unwrap().to_string();
                files.push((path.strip_prefix(&root).unwrap().to_path_buf(), code));
            }
        }
    }
    files
}

fn module(path: &Path) -> String {
    path.components().next().unwrap().as_os_str().to_str().unwrap().trim_end_matches(".rs").to_string()
}

fn code_lines(code: &str) -> impl Iterator<Item = &str> {
    code.lines().map(str::trim).filter(|line| !line.starts_with("//"))
}

#[test]
fn modules_use_only_those_below_them() {
    for (path, code) in sources() {
        let module = module(&path);
        if ["main", "lib"].contains(&module.as_str()) {
            continue;
        }
        let Some((_, allowed)) = MAY_USE.iter().find(|(name, _)| *name == module) else {
            panic!("{} belongs to a module that this test does not know", path.display());
        };
        for line in code_lines(&code) {
            for used in line.split("crate::").skip(1) {
                let used: String = used.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                let used = used.as_str();
                let is_allowed = used == module || FOR_ALL.contains(&used) || allowed.contains(&used);
                assert!(is_allowed, "{} uses {used}: {line}", path.display());
            }
        }
    }
}

#[test]
fn the_world_outside_is_touched_in_few_places() {
    for (path, code) in sources() {
        for (what, places) in ONLY_IN {
            let is_place = places.iter().any(|place| path.starts_with(place));
            let line = code_lines(&code).find(|line| line.contains(what));
            assert!(
                is_place || line.is_none() || module(&path) == "main",
                "{} touches {what}: {line:?}",
                path.display()
            );
        }
    }
}

#[test]
fn every_file_says_what_belongs_in_it_and_stays_small() {
    for (path, code) in sources() {
        assert!(code.starts_with("//!"), "{} does not begin with what belongs in it", path.display());
        let lines = code.lines().count();
        assert!(lines <= 500, "{} has {lines} lines: split it", path.display());
    }
}
