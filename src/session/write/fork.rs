//! A new session file with the path to an entry of another session, as in pi's `createBranchedSession` (0.87.1). Label
//! entries of the path are omitted and written again at the end. All other unchanged lines keep their bytes.
//!
//! pi writes the file only if it contains an answer of an assistant; pitree always writes it. Neither can fork if an
//! entry has no ID.

use std::collections::{BTreeMap, HashMap, HashSet};

use thiserror::Error;

use crate::session::json::edit::{RawObject, is_falsy, quote, same};
use crate::session::json::{JsonReader, Str};
use crate::session::write::line::{iso, new_id};

/// The header fields of a new session.
#[derive(Clone, Copy, Debug)]
pub struct NewSession<'a> {
    /// The ID: see [`crate::session::write::line::uuid_v7`].
    pub id: &'a str,
    /// The current time, in milliseconds since 1970.
    pub time_ms: i64,
    /// The working directory of the source. pi prepends its own to a relative one, such as a Windows path on Linux, and
    /// uses its own if there is none.
    pub cwd: &'a str,
    /// The path of the source.
    pub parent: Option<&'a str>,
    /// The header line of the source. Its unknown fields are kept, which pi drops (1.6.0).
    pub source: &'a [u8],
}

/// The header fields that a new session does not take from its source.
const OWN_FIELDS: [&str; 11] = [
    "type",
    "version",
    "id",
    "timestamp",
    "cwd",
    "parentSession",
    "branchedFrom",
    "provider",
    "modelId",
    "thinkingLevel",
    "imported",
];

impl NewSession<'_> {
    /// Returns the line of the header without a line break. To fork before the first entry, pi writes only a header
    /// with `parentSession`.
    pub fn header(&self) -> Vec<u8> {
        let Self { id, time_ms, cwd, parent, source } = self;
        let (id, time, cwd) = (quote(id), iso(*time_ms), quote(cwd));
        let parent = parent.map_or(String::new(), |parent| format!(r#","parentSession":{}"#, quote(parent)));
        let mut header =
            format!(r#"{{"type":"session","version":3,"id":{id},"timestamp":"{time}","cwd":{cwd}{parent}"#)
                .into_bytes();
        let others = RawObject::new(source).map(|source| source.without(&OWN_FIELDS));
        match others.as_deref().map(|others| others.trim_ascii().strip_prefix(b"{").unwrap_or_default().trim_ascii()) {
            Some(others) if others.len() > 1 => header.extend([b",", others].concat()),
            _ => header.push(b'}'),
        }
        header
    }
}

/// An error of a fork: a line of the path is not an entry with an ID, because the source is of version 1, changed, or
/// damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("an entry on the path has no ID; pi cannot fork there either")]
pub struct ForkError;

/// Passes the contents of the new file to `take`, piece by piece. `path` contains the raw lines from the root to the entry;
/// `labels` those of all `label` entries of the source. Both are in file order without line breaks. The source has version 3.
/// Returns the ID of the last line, if it is a string.
///
/// # Errors
/// A line of the path is not an entry with an ID, or an error of `path` or `take`.
pub fn fork<L: AsRef<[u8]>, E: From<ForkError>>(
    new: &NewSession<'_>,
    path: impl IntoIterator<Item = Result<L, E>>,
    labels: &[L],
    random: &mut dyn FnMut() -> u128,
    mut take: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<Option<String>, E> {
    /// The size in bytes from which a piece is passed on.
    const PIECE: usize = 64 * 1024;
    let mut out = new.header();
    out.push(b'\n');
    let mut lines = ForkedLines::default();
    for line in path {
        lines.line(line?.as_ref(), &mut out)?;
        if out.len() >= PIECE {
            take(&out)?;
            out.clear();
        }
    }
    let last = lines.labels(labels, random, &mut out);
    take(&out)?;
    Ok(last)
}

/// The lines of a path, relinked one by one without its labels.
#[derive(Debug, Default)]
pub(crate) struct ForkedLines {
    /// The raw ID of the last entry.
    parent: Option<Vec<u8>>,
    ids: HashSet<Vec<u8>>,
    /// The raw ID of the entry that follows each omitted one.
    kept_for: HashMap<Vec<u8>, Vec<u8>>,
    /// The omitted entries since the last written one.
    pending: Vec<Vec<u8>>,
}

impl ForkedLines {
    /// Appends a line of the path with a line break, unless it is a label.
    ///
    /// # Errors
    /// The line is not an entry with an ID.
    pub(crate) fn line(&mut self, line: &[u8], out: &mut Vec<u8>) -> Result<(), ForkError> {
        let object = RawObject::new(line).ok_or(ForkError)?;
        let id = object.get("id").ok_or(ForkError)?;
        let type_name = object.text("type");
        if type_name.as_deref() == Some("label") {
            self.pending.push(js_key(id));
            return Ok(());
        }
        self.kept_for.extend(self.pending.drain(..).map(|omitted| (omitted, id.to_vec())));
        let parent = self.parent.as_deref().unwrap_or(b"null");
        let mut changes = Vec::new();
        if !object.get("parentId").is_some_and(|old| same(old, parent)) {
            changes.push(("parentId", Some(parent)));
        }
        if type_name.as_deref() == Some("compaction") {
            let first = object.get("firstKeptEntryId").filter(|first| !same(first, id));
            if let Some(kept) = first.and_then(|first| self.kept_for.get(&js_key(first))) {
                changes.push(("firstKeptEntryId", Some(kept)));
            }
        }
        out.extend(object.with(&changes));
        out.push(b'\n');
        self.ids.insert(js_key(id));
        self.parent = Some(id.to_vec());
        Ok(())
    }

    /// Omits a line of the path. A compaction that keeps the entries from there on keeps those from the next one on.
    pub(crate) fn omit(&mut self, line: &[u8]) {
        let id = RawObject::new(line).and_then(|object| object.get("id"));
        self.pending.extend(id.map(js_key));
    }

    /// Appends the current labels of the lines. `labels` contains all `label` entries of the source. Returns the ID of the
    /// last line, if it is a string.
    pub(crate) fn labels<L: AsRef<[u8]>>(
        mut self,
        labels: &[L],
        random: &mut dyn FnMut() -> u128,
        out: &mut Vec<u8>,
    ) -> Option<String> {
        let mut parent = self.parent.unwrap_or(b"null".to_vec());
        for label in present(labels, &self.ids) {
            let id = quote(&new_id(random, |id| self.ids.contains(quote(id).as_bytes())));
            self.ids.insert(id.clone().into_bytes());
            label.write(out, &id, &parent);
            parent = id.into_bytes();
        }
        JsonReader::new(&parent).opt_string().ok().flatten().map(Str::owned)
    }
}

/// Returns an ID as a key of JavaScript's `Map`: `7` and `"7"` are different. An absent ID is empty.
pub(super) fn js_key(raw: &[u8]) -> Vec<u8> {
    match JsonReader::new(raw).opt_string() {
        Ok(Some(text)) => quote(&text.text()).into_bytes(),
        _ => raw.to_vec(),
    }
}

/// A current label of an entry.
struct CurrentLabel<'a> {
    target: &'a [u8],
    label: &'a [u8],
    time: Option<&'a [u8]>,
}

impl CurrentLabel<'_> {
    fn write(&self, out: &mut Vec<u8>, id: &str, parent: &[u8]) {
        let mut add = |parts: &[&[u8]]| parts.iter().for_each(|part| out.extend_from_slice(part));
        add(&[br#"{"type":"label","id":"#, id.as_bytes(), br#","parentId":"#, parent]);
        if let Some(time) = self.time {
            add(&[br#","timestamp":"#, time]);
        }
        add(&[br#","targetId":"#, self.target, br#","label":"#, self.label, b"}\n"]);
    }
}

/// Returns the labels of `targets` in the order of pi's `Map`: in which the targets were first labeled. A changed label
/// keeps its position; a cleared one loses it.
fn present<'a, L: AsRef<[u8]>>(labels: &'a [L], targets: &HashSet<Vec<u8>>) -> Vec<CurrentLabel<'a>> {
    let mut places: HashMap<Vec<u8>, usize> = HashMap::new();
    let mut by_place: BTreeMap<usize, CurrentLabel<'a>> = BTreeMap::new();
    for (at, line) in labels.iter().enumerate() {
        let Some(object) = RawObject::new(line.as_ref()) else { continue };
        let target = object.get("targetId");
        let key = js_key(target.unwrap_or_default());
        let label = object.get("label").filter(|label| !is_falsy(Some(label)));
        match (target, label) {
            (Some(target), Some(label)) if targets.contains(&key) => {
                let place = *places.entry(key).or_insert(at);
                by_place.insert(place, CurrentLabel { target, label, time: object.get("timestamp") });
            }
            _ => {
                if let Some(place) = places.remove(&key) {
                    by_place.remove(&place);
                }
            }
        }
    }
    by_place.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::lines::Line;
    use crate::session::tree::{EntryIndex, Tree, TreeLines};
    use crate::session::write::line;
    use crate::session::write::line::NewEntry;
    use proptest::prelude::*;

    const NEW: NewSession<'_> = NewSession { id: "new", time_ms: 0, cwd: "/w", parent: Some("/s.jsonl"), source: b"" };

    fn counted() -> impl FnMut() -> u128 {
        let mut count = 0u128;
        move || {
            count += 1;
            count << 96
        }
    }

    fn bytes(new: &NewSession<'_>, path: &[&str], labels: &[&str]) -> Result<Vec<u8>, ForkError> {
        let mut bytes = Vec::new();
        fork(new, path.iter().copied().map(Ok), labels, &mut counted(), |piece| {
            bytes.extend_from_slice(piece);
            Ok(())
        })?;
        Ok(bytes)
    }

    fn forked(path: &[&str], labels: &[&str]) -> Vec<String> {
        let bytes = bytes(&NEW, path, labels).unwrap();
        String::from_utf8(bytes).unwrap().lines().skip(1).map(str::to_string).collect()
    }

    #[test]
    fn before_the_first_entry_a_fork_is_only_a_header() {
        let header = r#"{"type":"session","version":3,"id":"new","timestamp":"1970-01-01T00:00:00.000Z","cwd":"/w","parentSession":"/s.jsonl"}"#;
        assert_eq!(bytes(&NEW, &[], &[]).unwrap(), format!("{header}\n").into_bytes());
        let alone = String::from_utf8(NewSession { parent: None, ..NEW }.header()).unwrap();
        assert!(!alone.contains("parentSession"));
        let of = |source: &str| {
            let new = NewSession { source: source.as_bytes(), ..NEW };
            String::from_utf8(bytes(&new, &[], &[]).unwrap()).unwrap().trim_end().to_string()
        };
        let own = r#"{"id":"old","type":"session","version":3,"cwd":"/o","parentSession":null }"#;
        assert_eq!([of(own), of("no header")], [header; 2]);
        let more = r#" { "team" : {"id":1e999},"type":"session","id":"old","n":"\ud83d", "imported":1}"#;
        assert_eq!(of(more), header.replace("\"}", r#"","team" : {"id":1e999},"n":"\ud83d"}"#));
    }

    #[test]
    fn copies_the_path_and_its_labels() {
        let path = [
            r#"{"type":"x", "id":"a","parentId":"gone","n":1e999}"#,
            r#"{"type":"label","id":"l","parentId":"a"}"#,
            r#"{"id":7,"type":"x","parentId":"l"}"#,
            r#"{"type":"x","id":"b","parentId":7}"#,
            r#"{"type":"compaction","id":"k","firstKeptEntryId":"l"}"#,
        ];
        let labels = [
            r#"{"type":"label","id":"1","targetId":"b","label":"first","timestamp":"t1"}"#,
            r#"{"type":"label","id":"2","targetId":7,"label":"number","timestamp":"t2"}"#,
            r#"{"type":"label","id":"3","targetId":"7","label":"another"}"#,
            r#"{"type":"label","id":"4","targetId":"a","label":"cleared"}"#,
            r#"{"type":"label","id":"5","targetId":"a","label":""}"#,
            r#"{"type":"label","id":"6","targetId":"b","label":"again","timestamp":5}"#,
            r#"{"type":"label","id":"7","targetId":"l","label":"on a label"}"#,
            r#"{"type":"label","id":"8","targetId":"a","label":"last"}"#,
        ];
        let wanted = [
            r#"{"type":"x", "id":"a","parentId":null,"n":1e999}"#,
            r#"{"id":7,"type":"x","parentId":"a"}"#,
            r#"{"type":"x","id":"b","parentId":7}"#,
            r#"{"type":"compaction","id":"k","firstKeptEntryId":7,"parentId":"b"}"#,
            r#"{"type":"label","id":"00000001","parentId":"k","timestamp":5,"targetId":"b","label":"again"}"#,
            r#"{"type":"label","id":"00000002","parentId":"00000001","timestamp":"t2","targetId":7,"label":"number"}"#,
            r#"{"type":"label","id":"00000003","parentId":"00000002","targetId":"a","label":"last"}"#,
        ];
        assert_eq!(forked(&path, &labels), wanted);
    }

    #[test]
    fn a_compaction_keeps_the_entries_after_an_omitted_one() {
        let (mut lines, mut out) = (ForkedLines::default(), Vec::new());
        let mut write = |line: &str| lines.line(line.as_bytes(), &mut out).unwrap();
        write(r#"{"id":"a","parentId":null}"#);
        lines.omit(br#"{"id":"b","parentId":"a"}"#);
        lines.omit(b"not JSON");
        let mut write = |line: &str| lines.line(line.as_bytes(), &mut out).unwrap();
        write(r#"{"id":"c","parentId":"b"}"#);
        write(r#"{"type":"compaction","id":"k","parentId":"c","firstKeptEntryId":"b"}"#);
        let wanted = [
            r#"{"id":"a","parentId":null}"#,
            r#"{"id":"c","parentId":"a"}"#,
            r#"{"type":"compaction","id":"k","parentId":"c","firstKeptEntryId":"c"}"#,
        ];
        assert_eq!(String::from_utf8(out).unwrap().lines().collect::<Vec<_>>(), wanted);
    }

    #[test]
    fn rejects_entries_without_ids() {
        for bad in [r#"{"type":"x"}"#, "[]", "not JSON"] {
            let path = [r#"{"type":"x","id":"a"}"#, bad];
            assert_eq!(bytes(&NEW, &path, &[]), Err(ForkError));
        }
    }

    /// A tree: the parent of each entry (counted back from it) and the entry it labels (also counted back).
    fn entries(parent_links: &[(usize, Option<usize>)]) -> Vec<String> {
        let id = |at: usize| format!("e{at}");
        let entry = |(at, (parent, target)): (usize, &(usize, Option<usize>))| {
            let parent = at.checked_sub(*parent + 1).map(id);
            let new = NewEntry { id: &id(at), parent: parent.as_deref(), time_ms: at as i64 };
            match target {
                Some(target) if at % 3 == 0 => line::label(&new, &id(at.saturating_sub(*target)), None),
                Some(target) => line::label(&new, &id(at.saturating_sub(*target)), Some(&format!("at {at}"))),
                None => line::session_info(&new, &format!("name {at}")),
            }
        };
        parent_links.iter().enumerate().map(entry).collect()
    }

    fn tree(lines: &[String]) -> Tree {
        let mut part = TreeLines::new("");
        part.line(Line::new(0, br#"{"type":"session","version":3,"id":"s"}"#, true));
        lines.iter().for_each(|line| part.line(Line::new(0, line.as_bytes(), true)));
        Tree::build([part]).unwrap()
    }

    proptest! {
        #[test]
        fn a_fork_is_the_path_with_its_labels(
            parent_links in proptest::collection::vec((0usize..3, proptest::option::of(0usize..4)), 1..30),
            at in 0usize..30,
        ) {
            let lines = entries(&parent_links);
            let source = tree(&lines);
            let at = (at % lines.len()) as EntryIndex;
            let path: Vec<&str> = source.path(at).iter().map(|&at| &*lines[at as usize]).collect();
            let labels: Vec<&str> = source.label_entries().map(|at| &*lines[at as usize]).collect();
            let fork = tree(&forked(&path, &labels));
            prop_assert!(fork.problems.is_empty());
            prop_assert_eq!(fork.branch_points(), 0);
            let kept: Vec<_> = source.path(at).into_iter().filter(|&at| parent_links[at as usize].1.is_none()).collect();
            let facts = |tree: &Tree, at: EntryIndex| (tree.nodes[at as usize].text.clone(), tree.labels.get(&at).cloned());
            let wanted: Vec<_> = kept.iter().map(|&at| facts(&source, at)).collect();
            let found: Vec<_> = (0..kept.len()).map(|at| facts(&fork, at as EntryIndex)).collect();
            prop_assert_eq!(found, wanted);
            prop_assert_eq!(fork.nodes.len(), kept.len() + fork.labels.len());
        }
    }
}
