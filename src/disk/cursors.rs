//! The cursors of `pitree entries` in the state directory: for each run, a file with the entries printed so far. A file
//! never changes, so that a run can be repeated from the same cursor. The runs of one consumer form a chain; only the
//! last cursors of a chain are kept.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::base::sort;
use crate::disk::{create, files, new_file};

/// The version of cursors, with which they start.
const VERSION: &str = "e1";

/// The number of kept cursors of a chain.
const OF_A_CHAIN: usize = 4;

/// The number of kept chains.
const CHAINS: usize = 32;

/// The cursor of a run: the chain, and the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cursor {
    chain: String,
    run: String,
}

impl Cursor {
    /// Parses the text of a cursor.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (chain, run) = text.strip_prefix(VERSION)?.strip_prefix('-')?.split_once('-')?;
        let is_number = |part: &str| part.len() == 8 && part.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        (is_number(chain) && is_number(run)).then(|| Self { chain: chain.into(), run: run.into() })
    }

    /// Creates the cursor of a new run, in the chain of the cursor before. `random` makes it unique.
    pub(crate) fn next(before: Option<&Self>, random: u128) -> Self {
        let number = |number: u128| format!("{:08x}", number as u32);
        let chain = before.map_or_else(|| number(random >> 32), |before| before.chain.clone());
        Self { chain, run: number(random) }
    }

    /// Returns the text.
    pub(crate) fn text(&self) -> String {
        format!("{VERSION}-{}-{}", self.chain, self.run)
    }
}

fn folder(state_dir: &Path) -> PathBuf {
    state_dir.join("cursors")
}

/// Reads the content of a cursor. Returns `None` if it is not kept.
///
/// # Errors
/// The file cannot be read or decompressed.
pub(crate) fn read(state_dir: &Path, cursor: &Cursor) -> io::Result<Option<Vec<u8>>> {
    match files::read_regular(&folder(state_dir).join(cursor.text())) {
        Ok(bytes) => zstd::decode_all(&bytes[..]).map(Some),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Writes the content of a new cursor, and removes the oldest ones beyond the limits.
///
/// # Errors
/// The file cannot be written.
pub(crate) fn write(state_dir: &Path, cursor: &Cursor, content: &[u8]) -> io::Result<()> {
    let folder = folder(state_dir);
    create::private_folder(&folder)?;
    new_file::replace(&folder.join(cursor.text()), &zstd::encode_all(content, 1)?)?;
    let kept = fs::read_dir(&folder)?.filter_map(|file| {
        let file = file.ok()?;
        let cursor = Cursor::parse(file.file_name().to_str()?)?;
        Some((cursor, file.metadata().ok()?.modified().ok()?))
    });
    for old in beyond_limits(kept.collect(), cursor) {
        let _ = fs::remove_file(folder.join(old.text())); // it only takes space
    }
    Ok(())
}

/// Returns the cursors beyond the limits, given with their times. Chains with one run are removed first, because most are
/// not continued.
fn beyond_limits(mut all: Vec<(Cursor, SystemTime)>, new: &Cursor) -> Vec<Cursor> {
    sort::by_key(&mut all, |(cursor, time)| (cursor == new, *time));
    let mut chains: BTreeMap<String, Vec<(Cursor, SystemTime)>> = BTreeMap::new();
    all.into_iter().for_each(|(cursor, time)| chains.entry(cursor.chain.clone()).or_default().push((cursor, time)));
    let mut old = Vec::new();
    for cursors in chains.values_mut() {
        let more = cursors.len().saturating_sub(OF_A_CHAIN);
        old.extend(cursors.drain(..more).map(|(cursor, _)| cursor));
    }
    let mut chains: Vec<Vec<(Cursor, SystemTime)>> = chains.into_values().collect();
    let newest = |chain: &[(Cursor, SystemTime)]| chain.last().map(|(cursor, time)| (cursor == new, *time));
    sort::by_key(&mut chains, |chain| {
        let is_new = chain.last().is_some_and(|(cursor, _)| cursor == new);
        (is_new || chain.len() > 1, newest(chain))
    });
    let more = chains.len().saturating_sub(CHAINS);
    old.extend(chains.drain(..more).flatten().map(|(cursor, _)| cursor));
    old
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn cursor(chain: u32, run: u32) -> Cursor {
        Cursor::next(None, (u128::from(chain) << 32) | u128::from(run))
    }

    #[test]
    fn cursors_have_a_text() {
        let one = cursor(0xabc, 7);
        assert_eq!(one.text(), "e1-00000abc-00000007");
        assert_eq!(Cursor::parse(&one.text()), Some(one.clone()));
        assert_eq!(Cursor::next(Some(&one), 8).text(), "e1-00000abc-00000008");
        for text in ["", "e1-", "e2-00000abc-00000007", "e1-../00abc-00000007", "e1-00000ABC-00000007"] {
            assert_eq!(Cursor::parse(text), None, "{text}");
        }
    }

    #[test]
    fn contents_are_kept_up_to_the_limits() {
        let dir = tempfile::tempdir().unwrap();
        for run in 0..6 {
            write(dir.path(), &cursor(1, run), &run.to_le_bytes()).unwrap();
        }
        let kept = |run| read(dir.path(), &cursor(1, run)).unwrap();
        assert_eq!(kept(5), Some(5_u32.to_le_bytes().into()));
        assert_eq!((0..6).filter(|run| kept(*run).is_some()).count(), OF_A_CHAIN);
    }

    #[test]
    fn chains_that_were_continued_stay_longest() {
        let time = |second| SystemTime::UNIX_EPOCH + Duration::from_secs(second);
        let mut all = vec![(cursor(1000, 1), time(1)), (cursor(1000, 2), time(2))];
        all.extend((0..40).map(|chain| (cursor(chain, 0), time(10 + u64::from(chain)))));
        let old = beyond_limits(all, &cursor(0, 0));
        assert_eq!(old, (1..10).map(|chain| cursor(chain, 0)).collect::<Vec<_>>());
    }
}
