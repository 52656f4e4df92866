//! Search in the complete content of session files, including tool output and thinking. Files are processed in parallel
//! in the given order. Nothing is cached, and most lines are never decoded. See [`crate::search::byte_search`] for the
//! search, and [`crate::session::entry::text_fields`] for the searched texts.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use crate::base::sort;
use crate::disk::files;
use crate::disk::lines::{self, CancelableReader};
use crate::disk::parallel::{self, StopSignal};
use crate::disk::scan::Unreadable;
use crate::search::byte_search::{Probe, Snippet};
use crate::session::entry::text_fields::{self, TextField};
use crate::session::entry::{Entry, parse};
use crate::session::lines::{Line, LineCollector};
use crate::session::links::{ActivePath, EntryIndex};
use crate::session::stats::entry_stats::EntryRole;
use crate::session::text_spans;

/// The maximum size in bytes of a file that is read again to find out which hits are on its active path. This costs
/// more than the search itself.
const MAX_REREAD: u64 = 8 * 1024 * 1024;

/// An entry that contains one of the words. An entry with matches in several kinds of text is one hit per kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryHit {
    /// The session file.
    pub path: PathBuf,
    /// The byte offset of the line.
    pub offset: u64,
    /// The id of the entry; absent in version 1.
    pub id: Option<String>,
    /// The kind of text.
    pub field: TextField,
    /// The text around the first matching word.
    pub snippet: Snippet,
    /// `Some(true)` if the entry is on the path from the root to the leaf, or is a stub outside all branches. `None` in
    /// a large file, where this is expensive.
    pub active: Option<bool>,
}

/// The results since the last batch.
#[derive(Clone, Debug, Default)]
pub struct GrepBatch {
    /// The hits. Those of one session are consecutive and in file order.
    pub hits: Vec<EntryHit>,
    /// The files that could not be read.
    pub unreadable: Vec<Unreadable>,
    /// The number of files searched so far.
    pub done: usize,
}

/// The order of reported hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HitOrder {
    /// In the order of discovery; the first hits are reported at once.
    Found,
    /// In the order of the files.
    Given,
}

/// Searches files for words and reports hits in batches, at most `limit` per session. Stops when `report` returns
/// `false` or `is_stale` returns `true`. A session matches if each word is in one of its texts, case-insensitively.
/// White space in a word matches any white space. With `roles`, only texts of these entries count.
pub fn each<P: AsRef<Path> + Sync>(
    paths: &[P],
    (words, roles): (&[String], &[EntryRole]),
    (limit, order): (usize, HitOrder),
    is_stale: impl Fn() -> bool + Sync,
    mut report: impl FnMut(GrepBatch) -> bool,
) {
    let mut probes: Vec<Probe> = words.iter().filter_map(|word| Probe::new(word)).collect();
    if probes.is_empty() {
        return;
    }
    sort::by_key(&mut probes, |probe| std::cmp::Reverse(probe.rarity));
    let grep = Grep { probes, roles, most: limit, is_stale: &is_stale };
    let items: Vec<(usize, &Path)> = paths.iter().map(AsRef::as_ref).enumerate().collect();
    let is_reported = |found: &Result<Vec<EntryHit>, _>| {
        order == HitOrder::Given || found.as_ref().map_or(true, |hits| !hits.is_empty())
    };
    let work = |&(at, path): &(usize, &Path), buffer: &mut Vec<u8>, stop: StopSignal<'_>| {
        let found = grep.session(path, buffer, stop).map_err(|error| Unreadable::new(path, &error));
        is_reported(&found).then_some((at, found))
    };
    let lost = |&(at, path): &(usize, &Path), reason: String| Some((at, Err(Unreadable::new(path, &reason))));
    let (mut waiting, mut next) = (BTreeMap::new(), 0);
    parallel::each(&items, (work, lost), |results, done| {
        let mut batch = GrepBatch { done, ..GrepBatch::default() };
        waiting.extend(results);
        while let Some(first) = waiting.first_entry().filter(|first| order == HitOrder::Found || *first.key() == next) {
            next = first.key() + 1;
            match first.remove() {
                Ok(hits) => batch.hits.extend(hits),
                Err(unreadable) => batch.unreadable.push(unreadable),
            }
        }
        !is_stale() && report(batch)
    });
}

/// The search parameters.
struct Grep<'a> {
    /// The probes, the most selective first.
    probes: Vec<Probe>,
    /// The roles of searched entries; empty for all.
    roles: &'a [EntryRole],
    most: usize,
    is_stale: &'a (dyn Fn() -> bool + Sync),
}

/// A line that can contain a match.
struct CandidateLine<'a> {
    offset: u64,
    line: &'a [u8],
    entry: Entry<'a>,
    has_ids: bool,
}

impl Grep<'_> {
    /// Returns the hits of a session, or none if a word is missing.
    fn session(&self, path: &Path, buffer: &mut Vec<u8>, stop: StopSignal<'_>) -> io::Result<Vec<EntryHit>> {
        let mut folded = String::new();
        if self.probes.len() > 1 {
            for probe in &self.probes {
                let mut is_there = false;
                self.candidate_lines(path, &[probe], (buffer, stop), |candidate| {
                    candidate.texts(&[probe], &mut folded, |field, _| is_there |= self.is_searched(field));
                    !is_there
                })?;
                if !is_there {
                    return Ok(Vec::new());
                }
            }
        }
        let probes: Vec<&Probe> = self.probes.iter().collect();
        let mut hits: Vec<EntryHit> = Vec::new();
        self.candidate_lines(path, &probes, (buffer, stop), |candidate| {
            candidate.texts(&probes, &mut folded, |field, text| {
                let is_again = hits.last().is_some_and(|last| last.offset == candidate.offset && last.field == field);
                if !is_again
                    && self.is_searched(field)
                    && hits.len() < self.most
                    && let Some(snippet) = Snippet::new(text, &probes)
                {
                    let id = candidate.entry.id.filter(|_| candidate.has_ids).map(|id| id.text().into_owned());
                    let (path, offset) = (path.to_path_buf(), candidate.offset);
                    hits.push(EntryHit { path, offset, id, field, snippet, active: None });
                }
            });
            hits.len() < self.most
        })?;
        if !hits.is_empty() && files::len(path)? <= MAX_REREAD {
            self.mark_active(path, &mut hits, buffer)?;
        }
        Ok(hits)
    }

    /// Returns `true` for texts of the searched roles.
    fn is_searched(&self, field: TextField) -> bool {
        let role = match field {
            TextField::User => EntryRole::Prompt,
            TextField::Assistant | TextField::Thinking | TextField::Arguments | TextField::Error => EntryRole::Answer,
            TextField::Tool => EntryRole::Result,
            _ => EntryRole::Other,
        };
        self.roles.is_empty() || self.roles.contains(&role)
    }

    /// Calls `each` with the candidate entries until it returns `false`. Does nothing if the file is not a
    /// session.
    fn candidate_lines(
        &self,
        path: &Path,
        probes: &[&Probe],
        (buffer, stop): (&mut Vec<u8>, StopSignal<'_>),
        mut each: impl FnMut(&CandidateLine<'_>) -> bool,
    ) -> io::Result<()> {
        let Some(file) = files::session(path)? else { return Ok(()) };
        let mut lines = LineCollector::default();
        let is_wanted = || !stop() && !(self.is_stale)();
        lines::blocks(&mut CancelableReader(file, is_wanted), 0, buffer, |offset, block| {
            if !is_wanted() {
                return false;
            }
            let mut from = 0;
            while lines.first.is_none() && from < block.len() {
                let end = memchr::memchr(b'\n', &block[from..]).map_or(block.len(), |found| from + found);
                let line = Line::new(offset + from as u64, &block[from..end], true);
                lines.note(&line, &line.read());
                from = (end + 1).min(block.len());
            }
            let has_ids = match &lines.first {
                None => return true,
                Some(Err(_)) => return false,
                Some(Ok(header)) => header.version >= 2.0,
            };
            lines_with(probes, block, from, |at, line| {
                let mut each = |Line { offset, bytes: line, .. }| match parse::line(line) {
                    Ok(Some(entry)) if !entry.is_header() => each(&CandidateLine { offset, line, entry, has_ids }),
                    _ => true,
                };
                let line = Line::new(offset + at as u64, line, true);
                match line.parts() {
                    None => each(line),
                    Some(parts) => parts.into_iter().all(each),
                }
            })
        })
    }

    fn mark_active(&self, path: &Path, hits: &mut [EntryHit], buffer: &mut Vec<u8>) -> io::Result<()> {
        let mut lines = LineCollector::default();
        let mut file = files::open(path)?;
        lines::each(&mut file, 0, u64::MAX, buffer, |line| {
            lines.note(&line, &line.read());
            !lines.is_refused()
        })?;
        let shape = lines.parent_links();
        let (active, stubs) = (ActivePath::new(&shape), lines.stubs(&shape));
        for hit in hits {
            let entry = lines.offsets.binary_search(&hit.offset);
            hit.active = Some(entry.is_ok_and(|at| active.has(at as EntryIndex) || stubs[at]));
        }
        Ok(())
    }
}

/// Calls `each` with the range in `block` and the bytes of each candidate line from `from` on. Returns `false` if
/// `each` returned `false`.
fn lines_with<'a>(
    probes: &[&Probe],
    block: &'a [u8],
    mut from: usize,
    mut each: impl FnMut(usize, &'a [u8]) -> bool,
) -> bool {
    let mut next: Vec<Option<usize>> = probes.iter().map(|probe| probe.next(block, from)).collect();
    while let Some(at) = next.iter().flatten().min().copied() {
        let start = memchr::memrchr(b'\n', &block[from..at]).map_or(from, |found| from + found + 1);
        let end = memchr::memchr(b'\n', &block[at..]).map_or(block.len(), |found| at + found);
        let line = &block[start..end];
        let gap = text_spans::gap(line, at - start);
        if gap.is_none() && !each(start, line) {
            return false;
        }
        let after = match gap.filter(|gap| *gap < line.len()) {
            Some(gap) => start + gap,
            None => (end + 1).min(block.len()),
        };
        for (probe, next) in probes.iter().zip(&mut next) {
            if next.is_some_and(|next| next < after) {
                *next = probe.next(block, after);
            }
        }
        from = if after > end { after } else { start };
    }
    true
}

impl CandidateLine<'_> {
    /// Calls `each` with the texts that contain one of the words.
    fn texts(&self, probes: &[&Probe], folded: &mut String, mut each: impl FnMut(TextField, &str)) {
        text_fields::texts(&self.entry, self.line, &mut |field, text| {
            let mut may_be = probes.iter().filter(|probe| probe.next(text.raw(), 0).is_some()).peekable();
            if may_be.peek().is_some() {
                let text = text.text();
                if may_be.any(|probe| probe.is_in(&text, folded)) {
                    each(field, &text);
                }
            }
        });
    }
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init, reason = "there is often just one")]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::atomic::{AtomicBool, Ordering};

    use proptest::prelude::*;

    use super::*;
    use crate::base::normalize::{accented, fold, without_accents};

    const HEADER: &str = "{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n";

    /// More hits than any test session has.
    const ALL: usize = 50;

    fn all(paths: &[PathBuf], wanted: (&[String], (usize, HitOrder))) -> Vec<EntryHit> {
        let mut hits = Vec::new();
        each(
            paths,
            (wanted.0, &[]),
            wanted.1,
            || false,
            |batch| {
                assert!(batch.unreadable.is_empty());
                hits.extend(batch.hits);
                true
            },
        );
        hits
    }

    /// Searches one session for words separated by `|`.
    fn find(text: &str, words: &str) -> Vec<EntryHit> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        std::fs::write(&path, text).unwrap();
        let words: Vec<String> = words.split('|').map(String::from).collect();
        all(&[path], (&words, (ALL, HitOrder::Found)))
    }

    fn message(id: &str, parent: &str, rest: &str) -> String {
        format!("{{\"type\":\"message\",\"id\":{id:?},\"parentId\":{parent:?},\"message\":{{{rest}}}}}\n")
    }

    #[test]
    fn hits_have_a_place_and_a_branch() {
        let text = HEADER.to_string()
            + &message("a", "", r#""role":"user","content":"Use JWT""#)
            + &message("b", "a", r#""role":"toolResult","content":[{"type":"text","text":"No \"jwt\" here"}]"#)
            + &message(
                "c",
                "a",
                r#""role":"assistant","content":[{"type":"thinking","thinking":"j\u0057t?"},{"type":"text","text":"jwt jwt"},{"type":"text","text":"jwt"}]"#,
            );
        let of_roles = |roles: &[EntryRole]| {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("s.jsonl");
            std::fs::write(&path, &text).unwrap();
            let mut fields = Vec::new();
            each(
                &[path],
                (&["jwt".into()], roles),
                (ALL, HitOrder::Found),
                || false,
                |batch| {
                    fields.extend(batch.hits.iter().map(|hit| hit.field.name()));
                    true
                },
            );
            fields
        };
        assert_eq!(of_roles(&[EntryRole::Result]), ["tool"]);
        assert_eq!(of_roles(&[EntryRole::Prompt, EntryRole::Answer]), ["user", "thinking", "assistant"]);
        let hits = find(&text, "Jwt");
        let said: Vec<_> = hits
            .iter()
            .map(|hit| {
                (hit.id.as_deref().unwrap(), hit.field.name(), &*hit.snippet.text, &hit.snippet.ranges[..], hit.active)
            })
            .collect();
        assert_eq!(
            said,
            [
                ("a", "user", "Use JWT", &[4..7][..], Some(true)),
                ("b", "tool", "No \"jwt\" here", &[4..7], Some(false)),
                ("c", "thinking", "jWt?", &[0..3], Some(true)),
                ("c", "assistant", "jwt jwt", &[0..3, 4..7], Some(true)),
            ]
        );
        assert_eq!(hits[0].offset, HEADER.len() as u64);
    }

    #[test]
    fn every_word_must_be_in_the_session() {
        let text = HEADER.to_string()
            + &message("a", "", r#""role":"user","content":"one two""#)
            + &message("b", "a", r#""role":"user","content":"three""#)
            + &message("c", "b", r#""role":"user","content":"four\n  five""#);
        let ids = |words: &str| find(&text, words).into_iter().map(|hit| hit.id.unwrap()).collect::<String>();
        assert_eq!(ids("one|three"), "ab");
        assert_eq!(ids("three|two|one"), "ab");
        assert_eq!(ids("one|six"), "");
        assert_eq!(ids("four five"), "c");
        assert_eq!(find(&text, "R Five")[0].snippet.ranges, [3..11]);
        assert_eq!(ids("|one"), "a");
        assert_eq!(ids(""), "");
    }

    #[test]
    fn skips_other_files_and_omits_ids_of_version_1() {
        let line = message("a", "", r#""role":"user","content":"word""#);
        assert_eq!(find(&line, "word"), []);
        assert_eq!(find(&format!("no JSON\n\n{HEADER}{line}"), "word").len(), 1);
        let old = find(&format!("{{\"type\":\"session\",\"id\":\"word\"}}\n{line}{line}"), "word");
        assert_eq!(old.iter().map(|hit| (hit.id.as_deref(), hit.active)).collect::<Vec<_>>(), [(None, Some(true)); 2]);
    }

    #[test]
    fn limits_the_hits_per_session() {
        let dir = tempfile::tempdir().unwrap();
        let line = message("a", "", r#""role":"user","content":"word""#);
        let paths: Vec<PathBuf> = (0..20).map(|at| dir.path().join(format!("{at}.jsonl"))).collect();
        for path in &paths {
            std::fs::write(path, HEADER.to_string() + &line.repeat(5)).unwrap();
        }
        let words = ["word".to_string()];
        let count = |limit| all(&paths, (&words, (limit, HitOrder::Given))).len();
        assert_eq!((count(5), count(3)), (100, 60));
        let hits = all(&paths, (&words, (1, HitOrder::Given)));
        assert!(hits.iter().map(|hit| &hit.path).eq(&paths), "in order");
    }

    #[test]
    fn stops_when_canceled() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        std::fs::write(&path, HEADER.to_string() + &message("a", "", r#""role":"user","content":"word""#)).unwrap();
        let (paths, words) = (vec![path; 100], ["word".to_string()]);
        let is_stale = AtomicBool::new(false);
        let mut batches = 0;
        each(
            &paths,
            (&words, &[]),
            (ALL, HitOrder::Found),
            || is_stale.load(Ordering::Relaxed),
            |_| {
                is_stale.store(true, Ordering::Relaxed);
                batches += 1;
                true
            },
        );
        assert_eq!(batches, 1);
        each(
            &paths,
            (&words, &[]),
            (ALL, HitOrder::Found),
            || false,
            |_| {
                batches += 1;
                false
            },
        );
        assert_eq!(batches, 2);
    }

    /// Generates a character with one of its spellings in a file.
    fn spelled() -> impl Strategy<Value = (char, Vec<u8>)> {
        let alphabet: Vec<char> = "jJwWtTkKsSiIeEaAhH\u{331} 16u0_;`/\"\\\n\t\u{a0}\u{17f}\u{212a}\u{130}\u{301}\u{307}éÉẹ漢\u{fa47}пПйßẞΣσς한\u{1112}\u{1161}が😀𐐀𐐨\u{1b}\u{a92b}\u{16af0}".chars().collect();
        (proptest::sample::select(alphabet), 0u8..12).prop_map(|(c, how)| {
            let escape = |upper: bool| -> String {
                let digits = c.to_string().encode_utf16().map(|unit| format!("{unit:04x}")).collect::<Vec<_>>();
                digits
                    .into_iter()
                    .map(|unit| format!("\\u{}", if upper { unit.to_uppercase() } else { unit }))
                    .collect()
            };
            let short = match c {
                '\n' => Some("\\n"),
                '\t' => Some("\\t"),
                '"' => Some("\\\""),
                '\\' => Some("\\\\"),
                '/' if how < 9 => Some("\\/"),
                _ => None,
            };
            match how {
                0 => (c, escape(false).into_bytes()),
                1 => (c, escape(true).into_bytes()),
                2 if c == 'u' => ('\u{fffd}', br"\ud83d".to_vec()), // a truncated emoji
                3 if c == 'u' => ('\u{fffd}', vec![0xff]),
                _ => (c, short.map_or(if c < ' ' { escape(false) } else { c.into() }, String::from).into_bytes()),
            }
        })
    }

    type Spelled = Vec<(char, Vec<u8>)>;

    fn text(spelled: &[(char, Vec<u8>)]) -> String {
        spelled.iter().map(|(c, _)| c).collect()
    }

    /// Builds an entry around a text; returns the line and the expected kind of hit.
    fn line(kind: u8, spelled: &Spelled) -> (Vec<u8>, Option<TextField>) {
        let (before, after, field) = match kind {
            0 => (
                r#"{"type":"message","id":"jwt","message":{"role":"user","content":""#,
                r#""}}"#,
                Some(TextField::User),
            ),
            1 => (
                r#"{"type":"message","id":"task","parentId":null,"message":{"role":"toolResult","toolName":"task","content":[{"type":"text","text":""#,
                r#""}],"isError":false,"timestamp":16}}"#,
                Some(TextField::Tool),
            ),
            2 => (
                r#"{"type":"message","message":{"role":"assistant","content":[{"type":"image","mimeType":"jwt","data":""#,
                r#""}]}}"#,
                None,
            ),
            3 => (
                r#"{"type":"message","message":{"role":"assistant","content":[{"type":"toolCall","name":"jwt","arguments":{"":{"":[""#,
                r#""]}}}]}}"#,
                Some(TextField::Arguments),
            ),
            4 => (r#"{"type":"custom","data":[{""#, r#"":true}]}"#, Some(TextField::Custom)),
            5 => (r#"{"type":"label","targetId":"jwt","label":""#, r#""}"#, Some(TextField::Label)),
            6 => (r#"{"type":"session","id":"jwt","cwd":""#, r#""}"#, None),
            _ => (r#"{"type":"message","id":""#, r#"","message":{"role":"system"}}"#, None),
        };
        let inside = spelled.iter().flat_map(|(_, bytes)| bytes.iter().copied());
        (before.bytes().chain(inside).chain(after.bytes()).collect(), field)
    }

    /// Reference search that decodes and folds all texts.
    fn plain(texts: &[(usize, TextField, String)], words: &[String]) -> BTreeSet<(usize, &'static str)> {
        let plain = |text: &str| {
            let mut out = String::new();
            for c in text.chars() {
                match c {
                    '\n' | '\t' | ' ' | '\u{a0}' if out.ends_with(' ') => {}
                    '\n' | '\t' | ' ' | '\u{a0}' => out.push(' '),
                    c => out.push(c),
                }
            }
            out
        };
        let words: Vec<String> = words.iter().map(|word| plain(&fold(word))).filter(|word| !word.is_empty()).collect();
        let has = |word: &String, text: &str| {
            let text = fold(text);
            let similar = without_accents(&text).filter(|_| accented(word.as_bytes()).is_none());
            [Some(text), similar].iter().flatten().any(|text: &String| plain(text).contains(word.as_str()))
        };
        if words.is_empty() || !words.iter().all(|word| texts.iter().any(|(_, _, text)| has(word, text))) {
            return BTreeSet::new();
        }
        let found = texts.iter().filter(|(_, _, text)| words.iter().any(|word| has(word, text)));
        found.map(|(offset, field, _)| (*offset, field.name())).collect()
    }

    proptest! {
        #[test]
        fn agrees_with_a_plain_search(
            lines in proptest::collection::vec((0u8..8, proptest::collection::vec(spelled(), 0..14)), 1..8),
            // The offset and length of words cut from the texts; the last words are made up.
            cuts in proptest::collection::vec((0usize..8, 0usize..14, 1usize..7), 1..4),
            made_up in proptest::option::weighted(0.1, proptest::collection::vec(spelled(), 1..4)),
            upper: bool,
        ) {
            let (mut file, mut texts) = (HEADER.as_bytes().to_vec(), Vec::new());
            for (kind, spelled) in &lines {
                let (line, field) = line(*kind, spelled);
                texts.extend(field.map(|field| (file.len(), field, text(spelled))));
                file.extend(line);
                file.push(b'\n');
            }
            let mut words: Vec<String> = cuts.iter().map(|(line, from, len)| {
                let spelled = &lines[line % lines.len()].1;
                let from = from % (spelled.len() + 1);
                let word = text(&spelled[from..(from + len).min(spelled.len())]);
                if upper { word.to_uppercase() } else { word }
            }).collect();
            words.extend(made_up.map(|spelled| text(&spelled)));
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("s.jsonl");
            std::fs::write(&path, &file).unwrap();
            let hits = all(std::slice::from_ref(&path), (&words, (ALL, HitOrder::Found)));
            let found: BTreeSet<_> = hits.iter().map(|hit| (hit.offset as usize, hit.field.name())).collect();
            prop_assert_eq!(&found, &plain(&texts, &words), "{:?}", words);
            for hit in &hits {
                prop_assert!(!hit.snippet.ranges.is_empty());
                let chars: Vec<char> = hit.snippet.text.chars().collect();
                prop_assert!(hit.snippet.ranges.iter().all(|range| range.start < range.end && range.end <= chars.len()));
            }
        }

        #[test]
        fn searches_any_bytes_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..64), word: String) {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("s.jsonl");
            std::fs::write(&path, [HEADER.as_bytes(), &bytes].concat()).unwrap();
            let _ = all(&[path], (&[word], (ALL, HitOrder::Found)));
        }
    }
}
