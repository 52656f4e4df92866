//! Related sessions: the entry where a fork diverged, and several sessions merged into one tree. In a merged tree, an
//! entry that is in several files occurs once; the own entries of each file follow the point where it diverged. Entries
//! are identified by ID and contents. Entries with the same ID but different contents are separate and flagged. Entries
//! of version 1 have no IDs and are identified by position, time and contents.

use std::collections::HashMap;
use std::sync::Arc;

use crate::session::digest::Digest;
use crate::session::digest::builder::RereadLine;
use crate::session::entry::kind::EntryKind;
use crate::session::entry::parse;
use crate::session::json::edit::RawObject;
use crate::session::json::value::stringify;
use crate::session::lines::Header;
use crate::session::links::{ById, EntryIndex, IdHash};
use crate::session::tree::Tree;

/// Returns the entry where a fork diverged from its parent, in the parent's tree: the last entry of the fork's active
/// path that the parent has too. A fork keeps all IDs except those of labels, which it writes again.
pub fn fork_point(parent: &Tree, fork: &Tree) -> Option<EntryIndex> {
    let in_parent = |at: EntryIndex| fork.node(at).id.as_deref().and_then(|id| parent.find(id));
    fork.path(fork.leaf?).into_iter().filter_map(in_parent).next_back()
}

/// An index of a parent session to find the fork points of many forks.
pub struct ForkPointIndex<'a> {
    tree: &'a Tree,
    /// The keys of its entries.
    entries: ById<()>,
}

impl<'a> ForkPointIndex<'a> {
    /// Creates the index from the tree and the digest of a session.
    pub fn new(tree: &'a Tree, digest: &Digest) -> Self {
        Self { tree, entries: digest.details().entries.ids.iter().map(|&id| (id, ())).collect() }
    }

    /// Returns the same entry as [`fork_point`] for forks that also keep times, as in pi (1.6.0). Reads only one line of the
    /// fork's file, with `line`.
    pub fn fork_point(&self, fork: &Digest, line: &mut RereadLine<'_>) -> Option<EntryIndex> {
        let details = fork.details();
        let shared = |at: &EntryIndex| {
            let known = details.entries.ids.get(*at as usize);
            details.active.has(*at) && known.is_some_and(|id| self.entries.contains_key(id))
        };
        // Without IDs, files share no entries.
        let entries = if fork.header.version < 2.0 { 0 } else { fork.entry_count };
        (0..entries as EntryIndex).rev().filter(shared).find_map(|at| {
            let line = line(*details.offsets.get(at as usize)?)?;
            let entry = parse::line(&line).ok()??;
            self.tree.find(&entry.id?.text())
        })
    }
}

/// Returns `true` if entries of two files, each given by file and index, have the same contents in any JSON formatting.
pub type IsSame<'a> = &'a mut dyn FnMut([(usize, EntryIndex); 2]) -> bool;

/// Several sessions as one tree.
#[derive(Debug)]
pub struct MergedFamily {
    /// The tree. Its leaf belongs to the displayed file; the line positions of an entry refer to the file in
    /// [`MergedFamily::of`].
    pub tree: Arc<Tree>,
    /// The number of entries that share an ID with an entry of another file, but differ in contents or position.
    pub differing: usize,
    files: Vec<FamilyFile>,
    /// The displayed file of each entry and the index there.
    source_of: Vec<(u32, EntryIndex)>,
    /// The first file that contains each entry.
    first: Vec<u32>,
}

#[derive(Debug)]
struct FamilyFile {
    tree: Arc<Tree>,
    /// The index of each of its entries in the merged tree.
    places: Vec<EntryIndex>,
}

impl MergedFamily {
    /// Merges files, parents before forks. The trees need content hashes
    /// ([`crate::session::tree::TreeLines::with_contents`]). Entries of the file `base` are displayed from that file.
    /// `header` is its header, or one without a parent to hide inherited marks.
    pub fn new(trees: &[Arc<Tree>], base: usize, header: Header, is_same: IsSame<'_>) -> Self {
        let mut state =
            MergeState { has_idless: trees.iter().any(|tree| tree.header.version < 2.0), ..MergeState::default() };
        let files: Vec<FamilyFile> = trees
            .iter()
            .enumerate()
            .map(|(file, tree)| FamilyFile { tree: tree.clone(), places: state.add(file, trees, is_same) })
            .collect();
        let MergeState { mut merged, parents, source_of: mut of, differing, .. } = state;
        let first = of.iter().map(|(file, _)| *file).collect();
        if let Some(shown) = files.get(base) {
            for (at, &place) in (0..).zip(&shown.places) {
                let own = shown.tree.node(at);
                let node = &mut merged.nodes[place as usize];
                (node.offset, node.len) = (own.offset, own.len);
                of[place as usize] = (base as u32, at);
            }
            merged.leaf = shown.tree.leaf.map(|leaf| shown.places[leaf as usize]);
        }
        for FamilyFile { tree, places } in &files {
            let place = |at: EntryIndex| places[at as usize];
            merged.first_kept.extend(tree.first_kept.iter().map(|(&at, &first)| (place(at), place(first))));
            merged.edits.extend(tree.edits.iter().map(|(&at, (of, words))| (place(at), (place(*of), words.clone()))));
        }
        // Labels of the displayed file take precedence.
        let others = files.iter().enumerate().filter(|(file, _)| *file != base).map(|(_, file)| file);
        for file in files.get(base).into_iter().chain(others) {
            for (&at, label) in &file.tree.labels {
                merged.labels.entry(file.places[at as usize]).or_insert_with(|| label.clone());
            }
        }
        merged.header = header;
        Self { tree: Arc::new(merged.tied(parents)), differing, files, source_of: of, first }
    }

    /// Returns the displayed file of an entry and the index there.
    pub fn of(&self, at: EntryIndex) -> (usize, EntryIndex) {
        let (file, at) = self.source_of[at as usize];
        (file as usize, at)
    }

    /// Returns the first file that contains an entry: the owner of its branch.
    pub fn first(&self, at: EntryIndex) -> usize {
        self.first[at as usize] as usize
    }

    /// Returns the index in the merged tree of an entry of a file.
    pub fn place(&self, file: usize, at: EntryIndex) -> Option<EntryIndex> {
        self.files.get(file)?.places.get(at as usize).copied()
    }

    /// Returns the tree of a file.
    pub fn file(&self, file: usize) -> Option<&Arc<Tree>> {
        self.files.get(file).map(|file| &file.tree)
    }

    /// Returns the number of files.
    pub fn files(&self) -> usize {
        self.files.len()
    }

    /// Returns the entries where a file diverges from the files before it; the first root is not included.
    pub fn starts(&self) -> impl Iterator<Item = EntryIndex> {
        let is_start = |at: &EntryIndex| match self.tree.parent(*at) {
            Some(parent) => self.first(parent) != self.first(*at),
            None => self.first(*at) > 0,
        };
        (0..self.source_of.len() as EntryIndex).filter(is_start)
    }

    /// Returns the entry where the active path of a file diverges from the files before it, or `None` if they share no
    /// entry.
    pub fn split(&self, file: usize) -> Option<EntryIndex> {
        let FamilyFile { tree, places } = self.files.get(file)?;
        let path = tree.to_root(tree.leaf).map(|at| places[at as usize]);
        let mut shared = path.filter(|&at| self.first(at) < file);
        shared.next()
    }
}

/// The state while files are added.
#[derive(Default)]
struct MergeState {
    /// The merged tree without its links.
    merged: Tree,
    /// The parent of each entry, without cycles.
    parents: Vec<Option<EntryIndex>>,
    /// The first file that contains each entry, and the index there.
    source_of: Vec<(u32, EntryIndex)>,
    /// The last file that contains each entry.
    last: Vec<u32>,
    /// Entries by the entry above them, their ID and contents.
    known: ById<EntryIndex>,
    /// The first entry with each ID.
    by_id: ById<EntryIndex>,
    /// `true` if a file has no IDs: then entries are also found by the entry above them, time and kind.
    has_idless: bool,
    by_time: HashMap<(EntryIndex, Option<i64>, EntryKind), EntryIndex>,
    differing: usize,
}

/// The number above a root. Above other entries, it is the index of the entry above plus one.
const TOP: EntryIndex = 0;

impl MergeState {
    /// Adds the file with the given index. Returns the index of each of its entries in the merged tree.
    fn add(&mut self, file: usize, trees: &[Arc<Tree>], is_same: IsSame<'_>) -> Vec<EntryIndex> {
        let tree = &trees[file];
        let count = tree.nodes.len() as EntryIndex;
        let mut places = vec![0; count as usize];
        // The entry above each entry, without labels, which forks omit.
        let mut anchors = vec![TOP; count as usize];
        // The number of repetitions of each entry in the file.
        let mut met: ById<u64> = ById::default();
        let has_twins = !tree.problems.is_empty();
        let in_order = (0..count).all(|at| tree.parent(at).is_none_or(|parent| parent < at));
        let order: Vec<EntryIndex> = if in_order { (0..count).collect() } else { tree.order.to_vec() };
        for at in order {
            let node = tree.node(at);
            let parent = tree.parent(at);
            let anchor = match parent {
                Some(parent) if tree.node(parent).kind == EntryKind::Label => anchors[parent as usize],
                Some(parent) => places[parent as usize] + 1,
                None => TOP,
            };
            anchors[at as usize] = anchor;
            let parent = parent.map(|parent| places[parent as usize]);
            let id = node.id.as_deref().map(|id| IdHash::new(id.as_bytes()));
            let said = tree.contents.get(at as usize).copied().unwrap_or(IdHash::number(u64::from(at)));
            let mut key = IdHash::number(u64::from(anchor)).with(id.unwrap_or(IdHash::number(0))).with(said);
            if has_twins {
                let times = met.entry(key).or_default();
                key = key.with(IdHash::number(*times));
                *times += 1;
            }
            let fits = |state: &Self, place: &EntryIndex| state.fits(*place, parent, file);
            let found = self.known.get(&key).copied().filter(|place| fits(self, place));
            let found = found.or_else(|| {
                // The same entry in another JSON formatting, or one that got an ID from pi.
                let by_id = id.and_then(|id| self.by_id.get(&id).copied());
                let by_time = || self.by_time.get(&(anchor, node.time, node.kind)).copied();
                let one = by_id.or_else(by_time).filter(|place| fits(self, place))?;
                let (other, place) = self.source_of[one as usize];
                is_same([(other as usize, place), (file, at)]).then_some(one)
            });
            let place = match found {
                Some(place) => place,
                None => {
                    let place = self.source_of.len() as EntryIndex;
                    self.merged.nodes.push(node.clone());
                    self.parents.push(parent);
                    self.merged.stubs.push(true);
                    self.source_of.push((file as u32, at));
                    self.last.push(u32::MAX);
                    self.known.insert(key, place);
                    if let Some(id) = id {
                        let first = *self.by_id.entry(id).or_insert(place);
                        if first != place && self.source_of[first as usize].0 as usize != file {
                            self.merged.flagged.extend([first, place]);
                            self.differing += 1;
                        }
                    }
                    if self.has_idless {
                        self.by_time.entry((anchor, node.time, node.kind)).or_insert(place);
                    }
                    place
                }
            };
            places[at as usize] = place;
            self.last[place as usize] = file as u32;
            self.merged.stubs[place as usize] &= tree.is_stub(at);
            if tree.flagged.contains(&at) {
                self.merged.flagged.insert(place);
            }
        }
        places
    }

    /// Returns `true` if an entry of the merged tree can be the same as an entry of a file below `parent`. Only labels
    /// that are missing in the file may be between them.
    fn fits(&self, place: EntryIndex, parent: Option<EntryIndex>, file: usize) -> bool {
        let is_left_out = |at: EntryIndex| {
            self.merged.nodes[at as usize].kind == EntryKind::Label && self.last[at as usize] as usize != file
        };
        let mut above = self.parents[place as usize];
        while let Some(at) = above.filter(|&at| above != parent && is_left_out(at)) {
            above = self.parents[at as usize];
        }
        above == parent && self.last[place as usize] as usize != file
    }
}

/// Fields with the position of an entry instead of its contents.
const PLACE: [&str; 4] = ["id", "parentId", "firstKeptEntryId", "firstKeptEntryIndex"];

/// The maximum length of a compared entry in UTF-16 code units; no line is longer.
const MAX_COMPARED_UNITS: usize = 256 * 1024 * 1024;

/// Returns `true` if two lines have the same contents, regardless of their positions and JSON formatting. A fork writes
/// copies of entries from the result of `JSON.parse`. It also changes the parents of entries after labels, because it
/// writes labels last (pi 1.6.0).
pub fn is_same(a: &[u8], b: &[u8]) -> bool {
    let said = |line| Some(stringify(&RawObject::new(line)?.without(&PLACE), MAX_COMPARED_UNITS));
    a == b || matches!((said(a), said(b)), (Some(a), Some(b)) if a == b)
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::{BTreeSet, HashSet};

    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::session::lines::Line;
    use crate::session::tree::TreeLines;

    // Generated files of a family: created, extended, forked, copied, damaged.

    /// A session file as lines of JSON, starting with the header.
    pub(crate) type SampleFile = Vec<Value>;

    /// A step: the operation, the file, and the line.
    pub(crate) type SampleStep = (u8, prop::sample::Index, prop::sample::Index);

    pub(crate) fn header(created: usize, version: u8) -> Value {
        json!({"type": "session", "version": version, "id": "s", "timestamp": created})
    }

    /// Returns the path to an entry as forked by pi: without labels, which are written again at the end.
    pub(crate) fn fork(file: &SampleFile, mut at: usize, created: usize) -> SampleFile {
        let mut path = Vec::new();
        while at > 0 {
            path.push(file[at].clone());
            let is_parent = |line: &Value| line["id"] == file[at]["parentId"];
            at = file[..at].iter().rposition(is_parent).unwrap_or(0);
        }
        let (labels, kept): (Vec<Value>, Vec<Value>) = path.into_iter().rev().partition(|line| line["type"] == "label");
        let mut parent = Value::Null;
        let mut fork = vec![header(created, 3)];
        for mut line in kept {
            line["parentId"] = std::mem::replace(&mut parent, line["id"].clone());
            fork.push(line);
        }
        for (number, mut label) in labels.into_iter().enumerate() {
            (label["id"], label["parentId"]) = (json!(format!("anew{created}-{number}")), parent.clone());
            fork.push(label);
        }
        fork
    }

    /// Returns the files generated by the steps.
    pub(crate) fn files(steps: &[SampleStep]) -> Vec<SampleFile> {
        let mut files: Vec<SampleFile> = Vec::new();
        for (time, (kind, file, at)) in steps.iter().enumerate() {
            let kind = kind % 9;
            if kind == 0 || files.is_empty() {
                files.push(vec![header(time, 3)]);
                continue;
            }
            let file = file.index(files.len());
            let at = at.index(files[file].len());
            let id = format!("{time:08x}");
            let parent = files[file][at]["id"].as_str().filter(|_| at > 0).map(String::from);
            match kind {
                1 => files.push(fork(&files[file], at, time)),
                2 => files.push(files[file].clone()),
                3 if at > 0 => {
                    let label = json!({"type": "label", "id": id, "parentId": parent, "timestamp": time,
                        "targetId": parent, "label": "x"});
                    files[file].push(label);
                }
                4 if at > 0 => {
                    let again = files[file][at].clone();
                    files[file].push(again);
                }
                5 => {
                    let entry = json!({"type": "message", "id": id, "parentId": parent, "timestamp": time,
                        "message": {"role": "user", "content": "x"}});
                    files[file].push(entry);
                }
                _ => {
                    let entry = json!({"type": "usage", "id": id, "parentId": parent, "timestamp": time,
                        "usage": {"cost": time, "input": 10 * time}});
                    files[file].push(entry);
                }
            }
        }
        files
    }

    fn tree(file: &SampleFile) -> Arc<Tree> {
        let (mut part, mut offset) = (TreeLines::new("").with_contents(), 0);
        for line in file {
            let line = line.to_string();
            part.line(Line::new(offset, line.as_bytes(), true));
            offset += line.len() as u64 + 1;
        }
        Arc::new(Tree::build([part]).unwrap())
    }

    fn join(files: &[SampleFile], base: usize) -> MergedFamily {
        let line = |(file, at): (usize, EntryIndex)| files[file][at as usize + 1].to_string();
        let is_same: IsSame<'_> = &mut |[a, b]| is_same(line(a).as_bytes(), line(b).as_bytes());
        MergedFamily::new(&files.iter().map(tree).collect::<Vec<_>>(), base, Header::default(), is_same)
    }

    fn said(line: &Value) -> String {
        let mut line = line.clone();
        line.as_object_mut().unwrap().remove("parentId");
        line.to_string()
    }

    /// The tree contains exactly the entries of all files. It contains each path of each file, apart from labels that
    /// are missing in the file.
    fn holds_all(files: &[SampleFile], joined: &MergedFamily) {
        let mut all = HashSet::new();
        for (number, file) in files.iter().enumerate() {
            let tree = joined.file(number).unwrap();
            let places: Vec<EntryIndex> =
                (0..tree.nodes.len() as EntryIndex).map(|at| joined.place(number, at).unwrap()).collect();
            let own: BTreeSet<EntryIndex> = places.iter().copied().collect();
            assert_eq!(own.len(), file.len() - 1, "two entries of a file stand at one place");
            for (at, &place) in (0..).zip(&places) {
                assert_eq!(joined.tree.nodes[place as usize].id, tree.nodes[at as usize].id);
                let path: Vec<EntryIndex> = tree.path(at).iter().map(|&at| places[at as usize]).collect();
                let there = joined.tree.path(place).into_iter();
                assert_eq!(there.filter(|at| own.contains(at)).collect::<Vec<_>>(), path);
            }
            all.extend(own);
        }
        assert_eq!(all.len(), joined.tree.nodes.len());
        assert_eq!(joined.tree.order.len(), all.len());
    }

    proptest! {
        #[test]
        fn a_family_is_one_tree(steps in proptest::collection::vec(any::<SampleStep>(), 0..60), base in any::<prop::sample::Index>()) {
            let files = files(&steps);
            prop_assume!(!files.is_empty());
            let joined = join(&files, base.index(files.len()));
            holds_all(&files, &joined);
            for at in 0..joined.tree.nodes.len() as EntryIndex {
                let (file, there) = joined.of(at);
                prop_assert_eq!(joined.place(file, there), Some(at));
            }
            let cost: f64 = joined.tree.nodes.iter().map(|node| node.cost).sum();
            let mut seen = HashSet::new();
            let lines: Vec<&Value> = files.iter().flat_map(|file| &file[1..]).collect();
            let has_twins = files.iter().any(|file| {
                let mut ids = HashSet::new();
                !file[1..].iter().all(|line| ids.insert(line["id"].to_string()))
            });
            if !has_twins {
                let once: f64 =
                    lines.iter().filter(|line| seen.insert(said(line))).map(|line| line["usage"]["cost"].as_f64().unwrap_or(0.0)).sum();
                prop_assert_eq!(joined.tree.nodes.len(), seen.len());
                prop_assert_eq!(cost, once);
                prop_assert_eq!(joined.differing, 0);
            }
        }
    }

    fn user(id: &str, parent: Option<&str>, time: usize, text: &str) -> Value {
        json!({"type": "message", "id": id, "parentId": parent, "timestamp": time, "message": {"role": "user", "content": text}})
    }

    #[test]
    fn same_id_with_different_contents_is_flagged() {
        let parent = vec![header(1, 3), user("a", None, 1, "one"), user("b", Some("a"), 2, "two")];
        let mut changed = parent.clone();
        changed[2] = user("b", Some("a"), 2, "TWO");
        let joined = join(&[parent, changed], 0);
        assert_eq!((joined.tree.nodes.len(), joined.differing), (3, 1));
        assert!(
            !joined.tree.flagged.contains(&0) && joined.tree.flagged.contains(&1) && joined.tree.flagged.contains(&2)
        );
        assert_eq!(joined.starts().collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn displayed_entries_come_from_the_base_file() {
        let parent = vec![header(1, 3), user("a", None, 1, "one"), user("b", Some("a"), 2, "two")];
        let mut child = fork(&parent, 1, 5);
        child.push(user("c", Some("a"), 6, "three"));
        let joined = join(&[parent, child], 1);
        assert_eq!((joined.of(0), joined.of(1), joined.of(2)), ((1, 0), (0, 1), (1, 1)));
        assert_eq!((joined.tree.leaf, joined.split(1), joined.split(0)), (Some(2), Some(0), None));
        assert!(joined.tree.is_active(2) && !joined.tree.is_active(1));
    }

    #[test]
    fn identifies_entries_without_ids_by_position_and_contents() {
        let line = |time: usize, text: &str| json!({"type": "message", "timestamp": time, "message": {"role": "user", "content": text}});
        let old = vec![header(1, 1), line(1, "one"), line(2, "one"), line(3, "two")];
        let other = vec![header(4, 1), line(1, "one"), line(2, "one"), line(5, "three")];
        // The lines that pi 1.6.0 writes for the first two: IDs at the end.
        let given = |id: &str, parent: Option<&str>, mut line: Value| {
            (line["id"], line["parentId"]) = (json!(id), json!(parent));
            line
        };
        let new = vec![
            header(6, 3),
            given("x", None, line(1, "one")),
            given("y", Some("x"), line(2, "one")),
            user("z", Some("y"), 7, "four"),
        ];
        let joined = join(&[old, other, new], 0);
        assert_eq!((joined.tree.nodes.len(), joined.differing), (5, 0));
        assert_eq!(joined.tree.children(1).len(), 3);
    }

    #[test]
    fn contents_are_compared_without_positions() {
        let line = |text: &str| {
            format!(r#"{{"type":"message","id":"a","parentId":"b","message":{{"role":"user","content":"{text}"}}}}"#)
        };
        let written = r#"{"type": "message", "message": {"role": "user", "content": "on\u0065"}, "id": "x"}"#;
        let anew = r#"{"type":"message","message":{"role":"user","content":"one"}}"#;
        assert!(is_same(written.as_bytes(), anew.as_bytes()));
        assert!(!is_same(line("one").as_bytes(), line("two").as_bytes()));
        assert!(!is_same(b"no JSON", b"nothing"));
    }
}
