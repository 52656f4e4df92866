//! Changes as pi makes them: contexts, new lines, forks and old files in their new form, built by the catalog from the
//! fixtures, against `fixtures/golden/changes` (made by `scripts/pi/changes.mjs`).

use std::fs;
use std::path::Path;

use pitree::session::lines::Line;
use pitree::session::links::Index;
use pitree::session::tree::context::context;
use pitree::session::tree::{Tree, TreeLines};
use pitree::session::write::fork;
use pitree::session::write::fork::NewSession;
use pitree::session::write::line;
use pitree::session::write::line::NewEntry;
use pitree::session::write::migrate::{MigrateError, MigratedFile, migrate};
use serde_json::{Value, json};

use crate::common::home::{files_below, repository};
use crate::world::{golden, short};

/// 2030-03-04T05:06:07.089Z.
const NOW: i64 = 1_898_831_167_089;

/// A fixture, read.
struct Source {
    name: String,
    bytes: Vec<u8>,
    tree: Tree,
}

impl Source {
    /// The fixture of a path, unless it is no session.
    fn open(path: &Path) -> Option<Self> {
        let bytes = fs::read(path).unwrap();
        let tree = tree(&bytes)?;
        Some(Self { name: short(path, &repository("fixtures")), bytes, tree })
    }

    /// The fixture of a golden file.
    fn of_golden(golden: &Path) -> Self {
        let name = golden.file_stem().unwrap().to_str().unwrap();
        let file = format!("{name}.jsonl");
        let found = files_below(&repository("fixtures/sessions")).into_iter().find(|path| path.ends_with(&file));
        Self::open(&found.unwrap()).unwrap()
    }

    fn line(&self, at: Index) -> &[u8] {
        let node = &self.tree.nodes[at as usize];
        &self.bytes[node.offset as usize..(node.offset + node.len) as usize]
    }

    fn fork(&self, at: Index, random: &mut dyn FnMut() -> u128) -> Vec<u8> {
        let cwd = if self.tree.header.cwd.is_empty() { "/" } else { &self.tree.header.cwd };
        let new = NewSession { id: "<session>", time_ms: NOW, cwd, parent: Some(&self.name) };
        if self.tree.header.version < 3.0 {
            let bytes = migrate(&self.bytes, random).unwrap().bytes;
            let now = Self { tree: tree(&bytes).unwrap(), bytes, name: self.name.clone() };
            return now.fork(at, random);
        }
        let path: Vec<_> = self.tree.path(at).into_iter().map(|at| self.line(at)).collect();
        let labels: Vec<_> = self.tree.label_entries().map(|at| self.line(at)).collect();
        fork::fork(&new, &path, &labels, random).unwrap()
    }
}

pub(crate) fn tree(bytes: &[u8]) -> Option<Tree> {
    let mut part = TreeLines::new("");
    let mut offset = 0;
    for line in bytes.split_inclusive(|&b| b == b'\n') {
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        part.line(Line::new(offset, text, text.len() < line.len()));
        offset += line.len() as u64;
    }
    Tree::build([part]).ok()
}

/// Randomness whose ids say how often it was asked: `fffff001`, `fffff002`…
fn counted() -> impl FnMut() -> u128 {
    let mut count = 0u128;
    move || {
        count += 1;
        (0xffff_f000 + count) << 96
    }
}

/// The text with the ids of [`counted`] and the times as the golden files have them.
fn normal(text: &str) -> String {
    let mut out = String::new();
    for (n, part) in text.replace("2030-03-04T05:06:07.089Z", "<time>").split("\"fffff").enumerate() {
        match part.split_once('"').filter(|_| n > 0) {
            Some((digits, rest)) => {
                out += &format!("\"<id{}>\"{rest}", usize::from_str_radix(digits, 16).unwrap());
            }
            None => out += part,
        }
    }
    out
}

/// Lines as values; a line that serde_json refuses (half an emoji) as it stands.
fn values(text: &str) -> Vec<Value> {
    text.split_terminator('\n').map(|line| serde_json::from_str(line).unwrap_or_else(|_| line.into())).collect()
}

/// What pitree makes where a section of a golden file says what pi makes.
fn make(source: &Source, title: &str) -> String {
    let (what, arguments) = title.split_once(' ').unwrap_or((title, ""));
    let arguments: Vec<Value> =
        serde_json::Deserializer::from_str(arguments).into_iter().collect::<Result<_, _>>().unwrap();
    let mut random = counted();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let made = match what {
        "migrated" => text(migrate(&source.bytes, &mut random).unwrap().bytes),
        "fork" => {
            let id = arguments[0].as_str().map_or(arguments[0].to_string(), str::to_string);
            text(source.fork(source.tree.find(&id).unwrap(), &mut random))
        }
        _ => {
            let id = line::new_id(&mut random, |id| source.tree.find(id).is_some());
            let parent = source.tree.leaf.and_then(|leaf| source.tree.nodes[leaf as usize].id.as_deref());
            let new = NewEntry { id: &id, parent, time_ms: NOW };
            let line = match what {
                "name" => line::session_info(&new, &line::clean_name(arguments[0].as_str().unwrap()).unwrap()),
                "label" => line::label(&new, arguments[0].as_str().unwrap(), arguments[1].as_str()),
                _ => panic!("{title}"),
            };
            format!("{line}\n")
        }
    };
    normal(&made)
}

#[test]
fn writes_what_pi_writes() {
    let mut sections = 0;
    for path in files_below(&repository("fixtures/golden/changes")) {
        if path.extension().is_none_or(|ending| ending != "txt") {
            continue;
        }
        let source = Source::of_golden(&path);
        let golden = fs::read_to_string(&path).unwrap();
        for section in golden.trim_start_matches("## ").split("\n## ") {
            let (title, pi) = section.split_once('\n').unwrap();
            let pi = format!("{}\n", pi.trim_end_matches('\n'));
            let pitree = make(&source, title);
            assert_eq!(values(&pitree), values(&pi), "{}: {title}", source.name);
            if !source.name.contains("-odd-") {
                // Here the lines are written as JavaScript writes them, and nothing may change in the rest of them.
                assert_eq!(pitree, pi, "{}: {title}", source.name);
            }
            sections += 1;
        }
    }
    assert!(sections > 150, "{sections}");
}

#[test]
fn the_model_sees_what_pi_says() {
    let golden: Value = serde_json::from_str(&golden("changes/contexts.json")).unwrap();
    let golden = golden.as_object().unwrap();
    assert!(golden.len() > 50, "{}", golden.len());
    for (file, pi) in golden {
        let source = Source::open(&repository("fixtures").join(file)).unwrap();
        // An old file gives the same as its new form.
        let new = migrate(&source.bytes, &mut counted()).ok().map(|new| tree(&new.bytes).unwrap());
        assert_eq!(new.is_some(), source.tree.header.version < 3.0, "{file}");
        for tree in [Some(&source.tree), new.as_ref()].into_iter().flatten() {
            for pi in pi.as_array().unwrap() {
                let context = context(tree, Some(pi["at"].as_u64().unwrap() as Index));
                let entries =
                    if pi["entries"].is_array() { json!(context.entries) } else { json!(context.entries.len()) };
                // What pi reads from a message without a model, pitree takes for empty texts.
                let model = context.model.map(|(provider, model)| match () {
                    () if provider.is_empty() && model.is_empty() => json!({}),
                    () => json!({ "provider": provider, "modelId": model }),
                });
                let level = context.thinking_level;
                let pitree = json!({
                    "at": pi["at"], "entries": entries, "messages": context.messages, "model": model,
                    "thinkingLevel": level,
                });
                assert_eq!(pitree, *pi, "{file}");
            }
            assert!(context(tree, None).entries.is_empty());
        }
    }
}

#[test]
fn an_old_file_says_what_it_loses() {
    let source = Source::open(&repository("fixtures/sessions/--home-dev-old--/v1-index-later.jsonl")).unwrap();
    let MigratedFile { dropped, blank, bytes } = migrate(&source.bytes, &mut counted()).unwrap();
    let dropped: Vec<_> = dropped.into_iter().map(|range| std::str::from_utf8(&source.bytes[range]).unwrap()).collect();
    assert_eq!((dropped, blank), (vec!["not JSON", "{\"type\":\"message\",\"torn"], 2));
    assert_eq!(migrate(&bytes, &mut counted()), Err(MigrateError::Current));
}

#[test]
fn a_fork_of_any_entry_is_its_path() {
    let mut forks = 0;
    for path in files_below(&repository("fixtures/sessions")) {
        let Some(source) = Source::open(&path) else { continue };
        if source.tree.nodes.len() > 100 || source.name.contains("id-missing") || source.name.contains("non-objects") {
            continue;
        }
        for at in 0..source.tree.nodes.len() as Index {
            let fork = tree(&source.fork(at, &mut counted())).unwrap();
            assert!(fork.problems.is_empty(), "{}: {:?}", source.name, fork.problems);
            let texts = |tree: &Tree, path: Vec<Index>| -> Vec<String> {
                let nodes = path.into_iter().map(|at| &tree.nodes[at as usize]);
                nodes.map(|node| node.text.to_string()).filter(|text| !text.starts_with("[label: ")).collect()
            };
            let leaf = fork.leaf.map(|leaf| fork.path(leaf)).unwrap_or_default();
            assert_eq!(leaf.len(), fork.nodes.len(), "{}", source.name);
            assert_eq!(texts(&fork, leaf).len(), texts(&source.tree, source.tree.path(at)).len(), "{}", source.name);
            let seen = |tree: &Tree, at| {
                let context = context(tree, at);
                let texts: Vec<_> = context.entries.iter().map(|&at| tree.nodes[at as usize].text.clone()).collect();
                (texts, context.messages, context.model, context.thinking_level)
            };
            assert_eq!(seen(&fork, fork.leaf), seen(&source.tree, Some(at)), "{} {at}", source.name);
            forks += 1;
        }
    }
    assert!(forks > 200, "{forks}");
}

/// Files at which pi hangs, throws or loses entries.
const NOT_FOR_PI: [&str; 8] = [
    "/cycle",
    "/parent-is-itself",
    "/id-twice",
    "/id-missing",
    "/id-number",
    "/lone-surrogate",
    "/non-objects",
    "/message-missing",
];

/// Writes what pitree makes of the fixtures, and what pi should find there: `scripts/pi/opens.mjs` has pi open it.
#[test]
#[ignore = "for scripts/pi/opens.mjs, which sets PITREE_MADE"]
fn makes_files_for_pi_to_open() {
    let folder = std::path::PathBuf::from(std::env::var_os("PITREE_MADE").unwrap());
    let mut wanted = Vec::new();
    let mut put = |bytes: &[u8], what: &str, leaf: &str, name: Option<&str>| {
        let path = folder.join(format!("{}.jsonl", wanted.len()));
        fs::write(&path, bytes).unwrap();
        let tree = tree(bytes).unwrap();
        let id = |at: Index| tree.nodes[at as usize].id.as_deref().unwrap();
        let context = context(&tree, tree.leaf);
        let labels = tree.labels.iter().map(|(&at, label)| json!([id(at), label.text, label.time]));
        let mut labels: Vec<Value> = labels.collect();
        labels.sort_by_key(|label| label[0].to_string());
        wanted.push(json!({
            "path": path, "what": what, "leaf": leaf, "name": name, "entries": tree.nodes.len(), "labels": labels,
            "context": context.entries.iter().map(|&at| id(at)).collect::<Vec<_>>(), "messages": context.messages,
            "model": context.model.map(|(provider, model)| json!([provider, model])), "thinkingLevel": context.thinking_level,
        }));
    };
    for path in files_below(&repository("fixtures/sessions")) {
        let Some(mut source) = Source::open(&path) else { continue };
        let is_for_pi = !NOT_FOR_PI.iter().any(|name| source.name.contains(name));
        if !is_for_pi || source.tree.nodes.is_empty() || source.tree.nodes.len() > 100 {
            continue;
        }
        let mut random = counted();
        if let Ok(new) = migrate(&source.bytes, &mut random) {
            (source.tree, source.bytes) = (tree(&new.bytes).unwrap(), new.bytes);
        }
        if !source.bytes.ends_with(b"\n") {
            source.bytes.push(b'\n');
        }
        let (file, nodes) = (&source.name, &source.tree.nodes);
        let id = line::new_id(&mut random, |id| source.tree.find(id).is_some());
        let append = |line: String| [&source.bytes[..], line.as_bytes(), b"\n"].concat();
        let new = |parent: Option<Index>| NewEntry {
            id: &id,
            parent: parent.and_then(|at| nodes[at as usize].id.as_deref()),
            time_ms: NOW,
        };
        let next = new(source.tree.leaf);
        let first = nodes[0].id.as_deref().unwrap();
        put(&append(line::session_info(&next, "Näme \"x\"")), &format!("{file}: name"), &id, Some("Näme \"x\""));
        put(&append(line::session_info(&next, "")), &format!("{file}: no name"), &id, Some(""));
        put(&append(line::label(&next, first, Some("läbel"))), &format!("{file}: label"), &id, None);
        put(&append(line::label(&next, first, None)), &format!("{file}: no label"), &id, None);
        put(&append(line::leaf_move(&new(None), false)), &format!("{file}: before the first entry"), &id, None);
        for at in 0..nodes.len() as Index {
            let moved = append(line::leaf_move(&new(Some(at)), source.tree.labels.contains_key(&at)));
            let (was, is) = (&source.tree, tree(&moved).unwrap());
            assert_eq!(context(&is, is.leaf), context(was, Some(at)), "{file}");
            assert_eq!(is.labels, was.labels, "{file}");
            put(&moved, &format!("{file}: move to {at}"), &id, None);
            let fork = source.fork(at, &mut counted());
            let tree = tree(&fork).unwrap();
            if let Some(leaf) = tree.leaf {
                put(&fork, &format!("{file}: fork at {at}"), tree.nodes[leaf as usize].id.as_deref().unwrap(), None);
            }
        }
    }
    fs::write(folder.join("wanted.json"), json!(wanted).to_string()).unwrap();
}
