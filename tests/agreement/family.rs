//! Families that the real pi 1.5.2 made (`fixtures/families`, `scripts/pi/families.mjs`), each joined to one tree: it holds
//! each entry of each file once, and each path that pi finds in a file is one of it.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;

use pitree::catalog::{Catalog, SessionKey};
use pitree::disk::files::Files;
use pitree::disk::load::{Bodies, LoadRequest};
use pitree::disk::scan;
use pitree::session::entry::equality;
use pitree::session::family::merged::{IsSame, MergedFamily};
use pitree::session::lines::Header;
use pitree::session::links::Index;
use pitree::session::tree::Tree;
use serde_json::Value;

use crate::common::home::{files_below, repository};
use crate::world::{golden, short};

/// The path to the end of each branch of each file, as pi has it.
type Paths = BTreeMap<String, BTreeMap<String, Vec<String>>>;

/// The fixtures where their files say that they are.
struct Families {
    dir: tempfile::TempDir,
}

impl Families {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let from = repository("fixtures/families");
        let root = dir.path().canonicalize().unwrap();
        for file in files_below(&from) {
            let to = root.join(file.strip_prefix(&from).unwrap());
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            let text = fs::read_to_string(&file).unwrap().replace("/fixtures-root/families", root.to_str().unwrap());
            fs::write(to, text).unwrap();
        }
        Self { dir }
    }

    fn catalog(&self, case: &str) -> Catalog {
        let mut catalog = Catalog::default();
        let found = scan::find(Files::Disk, &[self.dir.path().canonicalize().unwrap().join(case)]);
        scan::read(Files::Disk, &found.files, "/home/dev", |batch| {
            catalog.add(batch.sessions);
            true
        });
        catalog
    }

    fn name(&self, path: &Path) -> String {
        short(path, &self.dir.path().canonicalize().unwrap())
    }
}

fn tree(catalog: &Catalog, key: SessionKey) -> Arc<Tree> {
    let reading = LoadRequest::new(Files::Disk, &catalog[key].path, "/home/dev");
    Arc::new(LoadRequest { notes_contents: true, ..reading }.tree().unwrap())
}

fn join(catalog: &Catalog, family: &[SessionKey], base: usize) -> MergedFamily {
    let trees: Vec<Arc<Tree>> = family.iter().map(|&key| tree(catalog, key)).collect();
    let line = |(file, at): (usize, Index)| {
        let mut bodies = Bodies::open(Files::Disk, &catalog[family[file]].path).unwrap();
        bodies.line(&trees[file].nodes[at as usize]).unwrap()
    };
    let is_same: IsSame<'_> = &mut |[a, b]| equality::is_same(&line(a), &line(b));
    MergedFamily::new(&trees, base, Header::default(), is_same)
}

/// What an entry says, wherever it stands.
fn said(line: &str) -> String {
    let mut line: Value = serde_json::from_str(line).unwrap();
    line.as_object_mut().unwrap().remove("parentId");
    line.to_string()
}

#[test]
fn a_family_is_one_tree_with_every_path_that_pi_finds() {
    let families = Families::new();
    let paths: Paths = serde_json::from_str(&golden("families.json")).unwrap();
    let cases: BTreeSet<&str> = paths.keys().map(|file| file.split('/').next().unwrap()).collect();
    assert_eq!(cases.len(), 6);
    let mut files = 0;
    for case in cases {
        let catalog = families.catalog(case);
        // One that lost its parent shares entries with those that lost the same one.
        let roots = catalog.families().roots().to_vec();
        let family: Vec<SessionKey> = roots.iter().flat_map(|&root| catalog.families().family(root)).collect();
        for base in 0..family.len() {
            let joined = join(&catalog, &family, base);
            let mut all = HashSet::new();
            for (file, &key) in family.iter().enumerate() {
                let text = fs::read_to_string(&catalog[key].path).unwrap();
                all.extend(text.lines().skip(1).map(said));
                let own = joined.file(file).unwrap();
                let places: BTreeSet<Index> =
                    (0..own.nodes.len() as Index).map(|at| joined.place(file, at).unwrap()).collect();
                assert_eq!(places.len(), own.nodes.len(), "{case}: each entry has a place of its own");
                let id = |&at: &Index| joined.tree.nodes[at as usize].id.as_deref().unwrap().to_string();
                for (end, path) in &paths[&families.name(&catalog[key].path)] {
                    let place = joined.place(file, own.find(end).unwrap()).unwrap();
                    let there: Vec<Index> = joined.tree.path(place);
                    let there: Vec<String> = there.iter().filter(|at| places.contains(at)).map(id).collect();
                    assert_eq!(there, *path, "{case}");
                }
                files += 1;
            }
            assert_eq!(joined.tree.nodes.len(), all.len(), "{case}: each entry once");
            assert_eq!(joined.differing, 0, "{case}");
            let sum = catalog.sum(&family);
            assert!((joined.tree.cost() - sum.cost).abs() < 1e-9, "{case}: {} and {}", joined.tree.cost(), sum.cost);
        }
    }
    assert_eq!(
        files,
        4 * 4 * 2 + 4 * 2 * 2,
        "two cases of four files, four of two, each looked at from all of its files"
    );
}

#[test]
fn parents_are_found_where_they_are_now() {
    let families = Families::new();
    let parents = |case: &str| {
        let catalog = families.catalog(case);
        catalog.keys().filter(|&key| catalog.families().parent(key).is_some()).count()
    };
    let found = ["deep", "same-entry", "across", "moved", "version-1", "deleted"].map(parents);
    assert_eq!(found, [3, 3, 1, 1, 1, 0]);
}
