//! Which session a word on the command line means: a path, an id, or an unambiguous start of one.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use super::Chosen;
use crate::store::scan;

/// The file that `word` means.
///
/// # Errors
/// There is no such session, or there are several.
pub(super) fn session(word: &str, chosen: &Chosen) -> Result<PathBuf> {
    let path = Path::new(word);
    if word.contains(std::path::MAIN_SEPARATOR) || word.ends_with(".jsonl") || path.is_file() {
        return Ok(path.to_path_buf());
    }
    let finds = scan::find(chosen.files, &chosen.located.dirs);
    let headers = scan::headers(chosen.files, &finds.files);
    let exact = headers.iter().filter(|(_, header)| header.id == word);
    let mut matches: Vec<_> = exact.collect();
    if matches.is_empty() && !word.is_empty() {
        matches = headers.iter().filter(|(_, header)| header.id.starts_with(word)).collect();
    }
    match &matches[..] {
        [(found, _)] => Ok(found.path.clone()),
        [] => bail!("no session has the id {word:?}, nor one that starts so; `pitree ls` lists them"),
        several => {
            let list: Vec<String> =
                several.iter().map(|(found, header)| format!("\n{}  {}", header.id, found.path.display())).collect();
            bail!("{} sessions match {word:?}; say more of the id, or name the path:{}", several.len(), list.concat())
        }
    }
}
