//! Search in all texts of one open session, entry by entry.

use std::cell::LazyCell;
use std::io::{Seek, SeekFrom};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::base::normalize::{fold, fold_into};
use crate::disk::{files, lines};
use crate::search::byte_search::Probe;
use crate::search::text_match::Words;
use crate::session::entry::kind::EntryKind;
use crate::session::entry::{Entry, text_fields};
use crate::session::tree::{EntryIndex, Tree};

/// The time for which entries are collected before they are reported. Also the delay after which a canceled search
/// stops.
const BATCH: Duration = Duration::from_millis(40);

/// Reports the entries from `from` on whose texts match, in batches, until all entries are searched or `batch` returns
/// `false`. The last batch is marked.
pub fn each(
    path: &Path,
    (tree, start): (&Tree, EntryIndex),
    words: &Words,
    mut batch: impl FnMut(Vec<EntryIndex>, bool) -> bool,
) {
    let (mut found, mut folded) = (Vec::new(), String::new());
    let mut due = Instant::now() + BATCH;
    let probes = words.probes();
    let may_have = |is_in: &mut dyn FnMut(&Probe) -> bool| probes.iter().all(is_in);
    let is_wanted = lines(path, (tree, start), may_have, |said| {
        if let Some((at, _, texts)) = said {
            folded.clear();
            fold_into(&mut folded, texts);
            found.extend(words.is_in(&folded).then_some(at));
        }
        let is_due = Instant::now() >= due;
        if is_due {
            due = Instant::now() + BATCH;
        }
        !is_due || batch(std::mem::take(&mut found), false)
    });
    if is_wanted {
        batch(found, true);
    }
}

/// Passes the entries of a session and their texts, one per line, to `each` until it returns `false`, or `None` for those
/// that `may_have` rejects; it receives a function that returns `true` if the texts can contain a word. Returns `true` if
/// all were passed. The row and the label are part of an entry's texts; the entry that sets the label has no texts.
/// Unreadable entries are skipped; a missing file is reported when it is opened.
pub fn lines(
    path: &Path,
    (tree, start): (&Tree, EntryIndex),
    may_have: impl Fn(&mut dyn FnMut(&Probe) -> bool) -> bool,
    mut each: impl FnMut(Option<(EntryIndex, &Entry<'_>, &str)>) -> bool,
) -> bool {
    let Ok(Some(mut file)) = files::session(path) else { return true };
    // In a newer format, a line can hold several entries.
    let start = if tree.header.is_newer() { 0 } else { start };
    let start = tree.nodes.get(start as usize).filter(|_| start > 0).map_or(0, |node| node.offset);
    if file.seek(SeekFrom::Start(start)).is_err() {
        return true;
    }
    let (mut texts, mut is_wanted) = (String::new(), true);
    let _ = lines::each(&mut file, start, u64::MAX, &mut Vec::new(), |line| {
        // Entries written after the tree was loaded are not in it.
        let Ok(at) = tree.nodes.binary_search_by_key(&line.offset, |node| node.offset) else { return true };
        let node = &tree.nodes[at];
        let label = tree.labels.get(&(at as EntryIndex)).map(|label| &*label.text);
        if node.kind == EntryKind::Label {
            return true;
        }
        let shown = LazyCell::new(|| fold(&format!("{}\n{}", node.text, label.unwrap_or_default())));
        if !may_have(&mut |probe| probe.next(line.bytes, 0).is_some() || probe.is_in_folded(&shown)) {
            is_wanted = each(None);
        } else if let Ok(Some(entry)) = line.read() {
            texts.clear();
            if !line.is_cut() {
                text_fields::texts(&entry, line.bytes, &mut |_, text| {
                    texts.push_str(&text.text());
                    texts.push('\n');
                });
            }
            texts.extend(label);
            texts.push('\n');
            texts.push_str(&node.text);
            is_wanted = each(Some((at as EntryIndex, &entry, &texts)));
        }
        is_wanted
    });
    is_wanted
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::catalog::search::Searcher;
    use crate::catalog::tests::catalog;
    use crate::disk::load;
    use crate::search::entry_match::{EntryMatches, QueryParts};
    use crate::search::qualifier::test_sample::query_scope;
    use crate::search::query::Query;

    /// Reference implementation that parses each entry.
    fn slowly(path: &Path, tree: &Tree, mut each: impl FnMut((EntryIndex, &Entry<'_>, &str))) {
        lines(
            path,
            (tree, 0),
            |_| true,
            |said| {
                said.into_iter().for_each(&mut each);
                true
            },
        );
    }

    proptest! {
        /// Composed or decomposed, in upper or lower case, escaped or plain, in a text, a label or a row.
        #[test]
        fn skipped_entries_have_no_match(
            texts in proptest::collection::vec("[eEéhHẖ\u{331}\u{301}\u{323}ẹ한하\u{1112}\u{1161}\u{11ab}글sſßẞσςΣiIİı\u{307}kK \n]{0,8}", 1..6),
            escaped: bool,
            (from, len, quoted, upper) in (0usize..8, 1usize..6, any::<bool>(), any::<bool>()),
            of in 0usize..6,
            sign in "(|-|re:)",
        ) {
            let said = &texts[of % texts.len()];
            let word: String = said.chars().skip(from).take(len).collect();
            let word = if upper { word.to_uppercase() } else { word };
            let query = if quoted { format!("{sign}\"{word}\"") } else { format!("{sign}{word}") };
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("s.jsonl");
            let mut file = String::from("{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n");
            for (at, text) in texts.iter().enumerate() {
                let text: String = text.chars().map(|c| match c {
                    '\n' => "\\n".into(),
                    c if escaped => format!("\\u{:04x}", u32::from(c)),
                    c => c.to_string(),
                }).collect();
                let line = match at {
                    1 => format!(r#"{{"type":"label","id":"1","parentId":"0","targetId":"0","label":"{text}"}}"#),
                    _ => format!(r#"{{"type":"message","id":"{at}","parentId":null,"message":{{"role":"user","content":"{text}"}}}}"#),
                };
                file += &(line + "\n");
            }
            std::fs::write(&path, file).unwrap();
            let tree = load::tree(&path, "").unwrap();

            if let Ok(words) = Words::new(&query) {
                let (mut found, mut wanted) = (Vec::new(), Vec::new());
                each(&path, (&tree, 0), &words, |some, _| {
                    found.extend(some);
                    true
                });
                slowly(&path, &tree, |(at, _, texts)| wanted.extend(words.is_in(&fold(texts)).then_some(at)));
                prop_assert_eq!(found, wanted, "{:?}", query);
            }
            if let Ok(query) = Query::parse(&format!("all: e {query}")) {
                let mut session = catalog(&[("s", None, 1)]).searched_sessions()[0].clone();
                session.digest =
                    crate::session::digest::Digest { path: path.clone(), ..(**session.digest).clone() }.into();
                let asked = (&session, &tree);
                let found = Searcher::default().matching_entries(asked, (&query, &query_scope()), || false).unwrap();
                let (parts, mut matches) = (QueryParts::new(&query, &query_scope()), EntryMatches::default());
                slowly(&path, &tree, |(at, entry, texts)| parts.match_line(entry, &fold(texts), at, &mut matches));
                let wanted: Vec<EntryIndex> = matches.best().into_iter().map(|entry| entry.at).collect();
                prop_assert_eq!(found, wanted, "{:?}", query);
            }
        }
    }
}
