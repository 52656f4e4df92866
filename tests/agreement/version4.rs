//! Sessions of version 4, written and read by pi's core 0.87.1 (`fixtures/version4`, `scripts/pi/version4.mjs`).

use std::collections::BTreeMap;

use pitree::catalog::Catalog;
use pitree::disk::load::LoadRequest;
use pitree::disk::scan;
use pitree::session::entry::EntryId;
use serde::Deserialize;

use crate::agreement::world::golden;
use crate::common::home::{Home, copy, json_lines, repository};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Expected {
    file: String,
    id: String,
    cwd: String,
    created_at: i64,
    parent_session_id: Option<String>,
    name: Option<String>,
    leaf: Option<String>,
    labels: BTreeMap<String, String>,
    entries: Vec<ExpectedEntry>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ExpectedEntry {
    id: String,
    parent_id: Option<String>,
    timestamp: i64,
}

#[test]
fn names_leaves_labels_and_entries_are_those_of_pi() {
    let mut catalog = Catalog::default();
    scan::read(&scan::find(&[repository("fixtures/version4")]).files, "/home/dev", |batch| {
        catalog.add(batch.sessions);
        true
    });
    let expected: Vec<Expected> = serde_json::from_str(&golden("version4.json")).unwrap();
    assert_eq!(catalog.keys().count(), expected.len());
    for pi in &expected {
        let key = catalog.keys().find(|&key| catalog[key].path.ends_with(&pi.file)).unwrap();
        let session = &catalog[key];
        let header = &session.header;
        assert_eq!((&header.id, &header.cwd, header.created), (&pi.id, &pi.cwd, Some(pi.created_at)));
        assert_eq!(
            (&header.parent_id, &session.name),
            (&pi.parent_session_id, &pi.name.as_deref().map(|name| name.trim().to_owned()))
        );
        let parent = catalog.families().parent(key).map(|parent| catalog[parent].header.id.clone());
        assert_eq!(parent, pi.parent_session_id, "{}", pi.file);
        let tree = LoadRequest::new(&session.path, "/home/dev").tree().unwrap();
        let id = |at| tree.nodes[at as usize].id.as_deref().map(String::from);
        let entries = (0..).zip(&tree.nodes).map(|(at, node)| (id(at), tree.parent(at).and_then(id), node.time));
        let of_pi =
            pi.entries.iter().map(|entry| (Some(entry.id.clone()), entry.parent_id.clone(), Some(entry.timestamp)));
        assert_eq!(entries.collect::<Vec<_>>(), of_pi.collect::<Vec<_>>(), "{}", pi.file);
        assert_eq!(tree.leaf.and_then(id), pi.leaf, "{}", pi.file);
        let path = tree.leaf.map_or(Vec::new(), |leaf| tree.path(leaf));
        for at in 0..tree.nodes.len() as u32 {
            assert_eq!((tree.is_active(at), session.is_active(at)), (path.contains(&at), path.contains(&at)));
        }
        let labels: BTreeMap<String, String> = session
            .labels
            .iter()
            .map(|label| match &label.entry {
                EntryId::Id(id) => (id.to_string(), label.text.to_string()),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!((&labels, tree.labels.len()), (&pi.labels, labels.len()), "{}", pi.file);
    }
}

#[test]
fn sessions_of_version_4_are_found_and_never_written() {
    let home = Home::new();
    let dir = home.path().join("version4");
    copy(&repository("fixtures/version4"), &dir);
    let run = |args: &[&str]| home.command(&[&["--dir", dir.to_str().unwrap()], args].concat()).output().unwrap();
    for (query, count) in [("tokenizer", 1), ("label:begin", 2), ("parsers", 2), ("is:newer", 4)] {
        let found = json_lines(&String::from_utf8(run(&["ls", "--json", query]).stdout).unwrap());
        assert_eq!(found.len(), count, "{query}");
    }
    let outcome = run(&["rename", "019c186e", "new name"]);
    assert!(!outcome.status.success());
    let error = String::from_utf8(outcome.stderr).unwrap();
    assert!(error.contains("format version 4"), "{error}");
}
