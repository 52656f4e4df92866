//! The files besides sessions, trash and index in which pitree keeps texts, each with the way to remove a text from it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::disk::{files, leftovers, locate};

/// The way to remove a text from a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextRemoval {
    /// pitree replaces it in the rest of a damaged session.
    Rest,
    /// pitree replaces it in the lasting marks.
    Marks,
    /// The user follows this advice.
    Advice(&'static str),
}

/// A file that can contain texts of sessions or of the user.
#[derive(Debug)]
pub(crate) struct KeptFile {
    pub(crate) path: PathBuf,
    pub(crate) removal: TextRemoval,
}

/// Places in the directories of state and data. The first that starts a path counts.
const OWN: [(&str, TextRemoval); 5] = [
    ("marks.json", TextRemoval::Marks),
    ("journal.jsonl", TextRemoval::Advice("the undo history; delete it when you need no undo")),
    ("live", TextRemoval::Advice("the status of a running pi; end that pi")),
    ("machine", TextRemoval::Advice("data of another machine; scrub there, then synchronize")),
    ("", TextRemoval::Advice("state of pitree; delete it while no browser is open")),
];

const CONFIG: TextRemoval = TextRemoval::Advice("the configuration; edit it");
const CACHE: TextRemoval = TextRemoval::Advice("a cache; delete it");
const LEFTOVER: TextRemoval = TextRemoval::Advice("left over by an interrupted change; delete it");

/// Returns the files with texts, in the directories of pitree and next to sessions.
pub(crate) fn kept_files(sessions: &[PathBuf]) -> Vec<KeptFile> {
    let mut found = Vec::new();
    for root in [locate::state_dir(), locate::data_dir()].into_iter().flatten() {
        add(&root, &|path| own(&root, path), &mut found);
    }
    let index = locate::index_dir();
    // The next read removes the values from the index.
    let of_cache = |path: &Path| (Some(path) != index.as_deref()).then_some(CACHE);
    if let Some(root) = locate::cache_dir() {
        add(&root, &of_cache, &mut found);
    }
    let config = locate::config_file().filter(|file| file.is_file());
    found.extend(config.map(|path| KeptFile { path, removal: CONFIG }));
    for path in leftovers::files(sessions).into_iter().map(|entry| entry.path()) {
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        let has = |part: &[u8]| memchr::memmem::find(name, part).is_some();
        if has(b".jsonl.") {
            let removal = if has(b".jsonl.rest") { TextRemoval::Rest } else { LEFTOVER };
            found.push(KeptFile { path, removal });
        }
    }
    found.sort_by(|one, other| one.path.cmp(&other.path));
    found.dedup_by(|one, other| one.path == other.path);
    found
}

/// Returns the removal from a file or directory of pitree's own.
fn own(root: &Path, path: &Path) -> Option<TextRemoval> {
    let place = path.strip_prefix(root).unwrap_or(path).as_os_str().as_encoded_bytes();
    OWN.iter().find(|(start, _)| place.starts_with(start.as_bytes())).map(|(_, removal)| *removal)
}

/// Adds the files in a directory, except those that `removal` skips.
fn add(dir: &Path, removal: &dyn Fn(&Path) -> Option<TextRemoval>, found: &mut Vec<KeptFile>) {
    let mut dirs = vec![dir.to_path_buf()];
    while let Some(dir) = dirs.pop() {
        for entry in files::entries(&dir) {
            let (path, kind) = (entry.path(), entry.file_type());
            let Some(removal) = removal(&path) else { continue };
            if kind.as_ref().is_ok_and(fs::FileType::is_dir) {
                dirs.push(path);
            } else if kind.is_ok_and(|kind| kind.is_file()) {
                found.push(KeptFile { path, removal });
            }
        }
    }
}
