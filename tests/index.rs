//! The index on disk: whatever happens to it or to the sessions, the list is the same as without an index.

use std::collections::BTreeMap;
use std::fs::{self, File, Permissions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use pitree::catalog::search::{Searcher, SessionHit};
use pitree::catalog::{Catalog, search_cache};
use pitree::disk::scan::{IndexPlace, ScanBatch, ScanSources};
use pitree::search::qualifier::value::QueryScope;
use pitree::search::query::Query;
use pitree::session::digest::Digest;
use pitree::session::digest::details::Details;
use pitree::session::digest::facts::SessionFacts;
use pitree::session::digest::joined_path::JoinedPath;
use pitree::session::digest::listed::SharedLazySession;
use pitree::session::search_text::{SearchTextsBuf, TextBuffers};
use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::effort;
use crate::common::session::Session;

/// A directory of sessions and one for the index.
struct World {
    root: TempDir,
    dirs: Vec<PathBuf>,
}

/// Queries by words with and without literal matches, of any length and script, in any field.
const QUERIES: [&str; 14] = [
    "begin",
    "goes so",
    "o",
    "\"it goes\"",
    "fix -redis",
    "größe",
    "漢",
    "bgn",
    "rdsx cookie",
    "re:s.*s",
    "src/x.rs",
    "nowhere",
    "is:fork the",
    "qqqq",
];

/// All data of a session: file metadata, lines, details, texts.
type View = (Value, Value, Details, String);

impl World {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let dirs = vec![root.path().join("sessions")];
        fs::create_dir_all(dirs[0].join("project")).unwrap();
        Self { root, dirs }
    }

    /// Creates a world with copies of all fixtures, including damaged ones.
    fn of_fixtures() -> Self {
        let world = Self::new();
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
        copy(&fixtures.join("sessions"), &world.dirs[0]);
        copy(&fixtures.join("flat"), &world.dirs[0].join("flat"));
        world.settle();
        world
    }

    fn cache(&self) -> PathBuf {
        self.root.path().join("cache")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dirs[0].join("project").join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
        self.settle();
    }

    fn add(&self, name: &str, text: &str) {
        File::options().append(true).open(self.path(name)).unwrap().write_all(text.as_bytes()).unwrap();
        self.settle();
    }

    /// Waits until the file system's clock has advanced, so that a newly written file gets another timestamp.
    fn settle(&self) {
        let probe = self.root.path().join("probe");
        let now = || {
            fs::write(&probe, "x").unwrap();
            let metadata = fs::metadata(&probe).unwrap();
            metadata.ctime() * 1_000_000_000 + metadata.ctime_nsec()
        };
        let begun = now();
        while now() < begun + 40_000_000 {
            std::thread::yield_now();
        }
    }

    /// Returns the listed sessions and the number of files read.
    fn scan(&self, home: &str, cache: Option<&Path>) -> (BTreeMap<PathBuf, View>, usize) {
        let mut scan = ScanSources { dirs: &self.dirs, home, cache: cache.map(Into::into) }.scan();
        let mut views = BTreeMap::new();
        let read = scan.read(|ScanBatch { sessions, .. }| {
            views.extend(sessions.iter().map(|session| (session.path.clone(), view(session))));
            true
        });
        let _ = scan.keep();
        (views, read)
    }

    /// Returns the sessions shown from the index, those of them that are gone, and those read afterward.
    fn show(&self) -> [BTreeMap<PathBuf, SharedLazySession>; 3] {
        let cache = self.cache();
        let sources = ScanSources { dirs: &self.dirs, home: "/home/me", cache: Some((&*cache).into()) };
        let by_path =
            |sessions: Vec<SharedLazySession>| sessions.into_iter().map(|one| (one.path.clone(), one)).collect();
        let mut remembered = sources.remembered();
        let shown: BTreeMap<PathBuf, SharedLazySession> = by_path(remembered.sessions());
        let mut scan = remembered.scan();
        let outdated = std::mem::take(&mut scan.outdated);
        let mut read = Vec::new();
        scan.read(|batch| {
            read.extend(batch.sessions);
            true
        });
        let read = by_path(read);
        let gone = outdated.into_iter().filter(|path| !read.contains_key(path));
        let gone = gone.map(|path| (path.clone(), shown[&path].clone())).collect();
        [shown, gone, read]
    }

    /// Lists with the index and returns the number of files read. Checks that the list is the same as without the
    /// index, and when cached sessions are shown first.
    fn list(&self) -> usize {
        let [mut shown, gone, again] = self.show();
        shown.retain(|path, _| !gone.contains_key(path));
        shown.extend(again);
        let (with, read) = self.scan("/home/me", Some(&self.cache()));
        let (without, _) = self.scan("/home/me", None);
        for (query, expected) in QUERIES.iter().zip(self.search(&QUERIES, None)) {
            // Each query opens the index again, so that none uses what another one has loaded.
            assert_eq!(self.search(&[query], Some(&self.cache())), [expected], "{query}");
        }
        for (path, expected) in &without {
            assert_eq!(with.get(path), Some(expected), "{}", path.display());
            assert_eq!(shown.get(path).map(view).as_ref(), Some(expected), "{}", path.display());
        }
        assert_eq!((with.len(), shown.len()), (without.len(), without.len()));
        read
    }

    /// Returns the sessions that match each query, with the rank of the match.
    fn search(&self, queries: &[&str], cache: Option<&Path>) -> Vec<BTreeMap<PathBuf, String>> {
        let sources = ScanSources { dirs: &self.dirs, home: "/home/me", cache: cache.map(Into::into) };
        let sessions = Catalog::read(sources, 0).searched_sessions();
        let searcher = Searcher::default();
        searcher.read(&sessions, |_, _| true);
        let scope = QueryScope { home: "/home/me".into(), ..QueryScope::default() };
        let session = |key| sessions.iter().find(|session| session.key == key).unwrap();
        let hit =
            |hit: &SessionHit| (session(hit.session).digest.path.clone(), format!("{:?} {:?}", hit.hit, hit.snippet));
        let hits = |query: &&str| {
            let query = Query::parse(query).unwrap();
            searcher.search(&sessions, (&query, &scope), || false).unwrap().iter().map(hit).collect()
        };
        queries.iter().map(hits).collect()
    }

    /// Returns `true` if a word is in the bytes of the cache directory.
    fn holds(&self, word: &str) -> bool {
        self.index().iter().any(|path| String::from_utf8_lossy(&fs::read(path).unwrap()).contains(word))
    }

    /// Returns the files of the index: lists, segments from the largest to the smallest, and others.
    fn index(&self) -> Vec<PathBuf> {
        let files = fs::read_dir(self.cache()).into_iter().flatten();
        let mut files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
        let kind = |path: &Path| ["index", "segment"].iter().position(|kind| path.extension().unwrap() == *kind);
        files.sort_by_key(|path| (kind(path).unwrap_or(2), std::cmp::Reverse(fs::metadata(path).unwrap().len())));
        files
    }

    /// Returns the segments, from the largest to the smallest.
    fn segments(&self) -> Vec<PathBuf> {
        self.index().into_iter().filter(|path| path.extension().unwrap() == "segment").collect()
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (from, to) = (entry.as_ref().unwrap().path(), to.join(entry.as_ref().unwrap().file_name()));
        if from.is_dir() { copy(&from, &to) } else { assert!(fs::copy(from, to).is_ok()) }
    }
}

/// Returns the facts about a session in a form that does not depend on where they are stored.
fn plain(facts: &SessionFacts<'_>) -> String {
    let roots: Vec<_> = facts.roots().iter().collect();
    let (path, real_path) = (facts.path().join(), facts.real_path().map(JoinedPath::join));
    let texts = [Some(facts.id()), Some(facts.cwd()), facts.parent_session(), facts.parent_id()];
    let is = [facts.is_link(), facts.is_subagent(), facts.is_fork(), facts.is_mirrored()];
    let has = [facts.is_named(), facts.is_labeled(), facts.is_committed(), facts.is_cut_off()];
    let flags = [is, has];
    let (created, modified, all) = (facts.created(), facts.modified(), facts.all());
    let (bytes, mtime) = (facts.bytes(), facts.mtime());
    format!("{path:?} {real_path:?} {roots:?} {texts:?} {flags:?} {created:?} {modified:?} {bytes} {mtime} {all:?}")
}

fn view(session: &SharedLazySession) -> View {
    // These come from the index until the digest is loaded.
    let facts = plain(&session.facts());
    assert_eq!(facts, plain(&Digest::facts(session)));
    let facts =
        json!([session.path, session.real_path, session.parent_path, session.bytes, session.mtime, session.is_link]);
    let mut room = TextBuffers::default();
    let texts = match session.texts(&mut room) {
        Some(texts) => format!("{texts:?}"),
        None => {
            format!(
                "{:?}",
                search_cache::read_texts(&session.path).unwrap().as_ref().map(SearchTextsBuf::as_texts).unwrap()
            )
        }
    };
    (facts, serde_json::to_value(&***session).unwrap(), (**session.details()).clone(), texts)
}

/// Creates a conversation of a number of bytes.
fn long(id: &str, bytes: usize) -> String {
    let mut session = Session::new(id).user("a", "Begin").call("b", "read", &json!({"path": "src/x.rs"}));
    for number in 0..bytes / 2000 {
        session = session.assistant(&format!("n{number}"), &"So it goes. ".repeat(150));
    }
    session.text()
}

#[test]
fn unchanged_files_are_not_read_again() {
    let world = World::of_fixtures();
    let all = world.list();
    assert!(all > 30, "{all}");
    let files = world.index();
    assert_eq!(files.len(), 3, "a list, a segment, and a lock");
    assert!(files.iter().all(|file| fs::metadata(file).unwrap().mode() & 0o777 == 0o600));
    assert_eq!(fs::metadata(world.cache()).unwrap().mode() & 0o777, 0o700);
    let before = fs::metadata(&files[0]).unwrap().ino();
    // Files that cannot be read as sessions are read each time.
    let again = world.list();
    assert!(again < 5, "{again} of {all}");
    assert_eq!((world.list(), fs::metadata(&world.index()[0]).unwrap().ino()), (again, before), "nothing to write");
}

#[test]
fn indexed_sessions_are_shown_before_files_are_read() {
    let world = World::new();
    for name in ["a", "b", "../flat"] {
        world.write(&format!("{name}.jsonl"), &long(name, 1000));
    }
    assert_eq!(world.show().map(|sessions| sessions.len()), [0, 0, 3]);
    world.list();
    assert_eq!(world.show().map(|sessions| sessions.len()), [3, 0, 0]);
    world.write("c.jsonl", &long("c", 1000));
    world.write("d.jsonl", &long("d", 1000));
    fs::remove_file(world.path("a.jsonl")).unwrap();
    let [_, gone, read] = world.show();
    assert!(gone.keys().eq([&world.path("a.jsonl")]));
    assert!(read.keys().eq(&["c.jsonl", "d.jsonl"].map(|name| world.path(name))));
    world.list();
    // A file that is no longer a session is not shown as one.
    world.write("d.jsonl", "no session");
    assert_eq!(world.show().map(|sessions| sessions.len()), [4, 1, 0]);
    world.list();
    fs::rename(world.dirs[0].join("project"), world.dirs[0].join("moved")).unwrap();
    assert_eq!(world.show().map(|sessions| sessions.len()), [3, 2, 2]);
    assert_eq!(world.list(), 0, "moved files stay indexed");
    assert_eq!(world.show().map(|sessions| sessions.len()), [3, 0, 0]);
}

#[test]
fn changed_sessions_are_added() {
    let world = World::new();
    for name in ["a", "b", "c"] {
        world.write(&format!("{name}.jsonl"), &long(name, 8000));
    }
    assert_eq!((world.list(), world.list()), (3, 0));
    world.add("b.jsonl", Session::new("b").user("z", "More").text().split_once('\n').unwrap().1);
    world.write("d.jsonl", &long("d", 3000));
    assert_eq!((world.list(), world.list()), (2, 0));
    fs::rename(world.path("a.jsonl"), world.path("renamed.jsonl")).unwrap();
    fs::remove_file(world.path("d.jsonl")).unwrap();
    world.settle();
    world.list();
    // A moved folder keeps its index entries.
    fs::rename(world.dirs[0].join("project"), world.dirs[0].join("moved")).unwrap();
    assert_eq!(world.list(), 0);
}

/// A session that takes more than the size up to which segments are always merged.
fn large(id: &str) -> String {
    long(id, 700_000)
}

#[test]
fn additions_rewrite_only_what_is_not_much_larger() {
    let world = World::new();
    world.write("large.jsonl", &large("a"));
    world.list();
    let first = world.segments();
    for (number, segments) in [(0, 2), (1, 2), (2, 2)] {
        world.write(&format!("{number}.jsonl"), &long("s", 80_000));
        assert_eq!((world.list(), world.segments().len()), (1, segments));
        assert_eq!(world.segments()[0], first[0], "the large segment stays");
    }
    world.write("other.jsonl", &large("b"));
    assert_eq!((world.list(), world.segments().len()), (1, 1), "it is as large as the rest");
    assert_ne!(world.segments()[0], first[0]);
    let before = world.segments();
    for name in ["0", "1", "2", "large"] {
        fs::remove_file(world.path(&format!("{name}.jsonl"))).unwrap();
    }
    assert_eq!((world.list(), world.segments().len()), (0, 1));
    assert_ne!(world.segments(), before, "most records were of deleted files");
}

#[test]
fn an_open_index_stays_readable_after_changes() {
    let world = World::new();
    world.write("large.jsonl", &large("a"));
    for name in ["grown", "deleted", "other"] {
        world.write(&format!("{name}.jsonl"), &long(name, 4000));
    }
    world.list();
    let [shown, ..] = world.show();
    let opened = [0, 1].map(|_| world.show()[0].clone());
    assert_eq!((shown.len(), opened[0].len()), (4, 4));
    let before: BTreeMap<PathBuf, View> = shown.iter().map(|(path, session)| (path.clone(), view(session))).collect();
    let same = |opened: &BTreeMap<PathBuf, SharedLazySession>| {
        let paths = ["large", "other"].map(|name| world.path(&format!("{name}.jsonl")));
        paths.iter().all(|path| view(&opened[path]) == before[path])
    };
    // Another process erases data, which is then read from the files.
    let segments = world.segments();
    world.add("grown.jsonl", Session::new("b").user("z", "More").text().split_once('\n').unwrap().1);
    fs::remove_file(world.path("deleted.jsonl")).unwrap();
    world.list();
    assert!(world.segments().contains(&segments[0]) && same(&opened[0]));
    let grown = &opened[0][&world.path("grown.jsonl")];
    assert_eq!((grown.header.id.as_str(), grown.details().prompts.len()), ("grown", 2));
    // Another process replaces all segments.
    world.write("new.jsonl", &large("b"));
    world.list();
    assert!(!world.segments().contains(&segments[0]) && same(&opened[1]));
}

#[test]
fn an_interrupted_removal_is_repeated() {
    let world = World::new();
    world.write("large.jsonl", &large("a"));
    world.write("s.jsonl", &(Session::new("s").user("a", "swordfish").text() + &large("s")));
    world.list();
    let table = fs::read(&world.index()[0]).unwrap();
    fs::remove_file(world.path("s.jsonl")).unwrap();
    assert_eq!((world.list(), world.segments().len()), (0, 1));
    // The process was interrupted before it replaced the table.
    fs::write(&world.index()[0], table).unwrap();
    assert_eq!((world.list(), world.holds("swordfish")), (0, false));
    let [shown, ..] = world.show();
    assert!(shown.keys().eq([&world.path("large.jsonl")]));
}

#[test]
fn deleted_sessions_leave_no_data() {
    let world = World::new();
    world.write("secret.jsonl", &Session::new("s").user("a", "swordfish").text());
    for number in 0..3 {
        world.write(&format!("{number}.jsonl"), &long("s", 4000));
    }
    world.list();
    world.write("late.jsonl", &Session::new("s").user("a", "tunafish").text());
    world.list();
    for (name, word) in [("late.jsonl", "tunafish"), ("secret.jsonl", "swordfish")] {
        assert!(world.holds(word));
        fs::remove_file(world.path(name)).unwrap();
        assert_eq!((world.list(), world.holds(word)), (0, false), "{name}");
    }
    let before = fs::metadata(&world.index()[0]).unwrap().ino();
    assert_eq!((world.list(), fs::metadata(&world.index()[0]).unwrap().ino()), (0, before));
    assert!(!world.holds("secret.jsonl"), "names are removed too");
    fs::remove_dir_all(world.path("")).unwrap();
    assert_eq!((world.list(), world.index()), (0, Vec::new()), "an empty index has no files");
}

#[test]
fn text_that_was_replaced_leaves_the_index() {
    let world = World::new();
    for number in 0..3 {
        world.write(&format!("{number}.jsonl"), &long("s", 4000));
    }
    let line = |id: &str, text: &str| Session::new("s").user(id, text).text().split_once('\n').unwrap().1.to_string();
    let small = |word: &str| Session::new("s").user("a", word).text();
    let large = |word: &str| long("s", 600_000) + &line("w", word) + long("s", 600_000).split_once('\n').unwrap().1;
    let texts: [&dyn Fn(&str) -> String; 2] = [&small, &large];
    for (text, more) in texts.into_iter().flat_map(|text| [(text, false), (text, true)]) {
        world.write("s.jsonl", &text("swordfish"));
        world.list();
        // The segment of additions replaces the record of the first one.
        world.add("s.jsonl", &line("x", "halibut"));
        world.list();
        assert!(world.holds("swordfish") && world.holds("halibut"));
        let more = if more { line("x", "and more") + &line("y", &"much more ".repeat(100)) } else { String::new() };
        world.write("s.jsonl", &(text("*********") + &more));
        world.list();
        assert!(!world.holds("swordfish") && !world.holds("halibut"));
        assert_eq!(world.list(), 0);
    }
}

#[test]
fn deleted_sessions_leave_the_indexes_of_nested_directories() {
    let mut world = World::new();
    world.write("a.jsonl", &long("a", 1000));
    world.write("s.jsonl", &Session::new("s").user("a", "swordfish").text());
    world.write("../b.jsonl", &long("b", 1000));
    let dirs = [world.dirs[0].clone(), world.dirs[0].join("project")];
    for other in 0..2 {
        world.write("s.jsonl", &Session::new("s").user("a", "swordfish").text());
        for dir in &dirs {
            world.dirs = vec![dir.clone()];
            world.list();
        }
        let secret = dirs[1].join("s.jsonl");
        fs::remove_file(secret).unwrap();
        world.dirs = vec![dirs[other].clone()];
        assert!(world.holds("swordfish"));
        assert_eq!((world.list(), world.holds("swordfish")), (0, false));
        world.dirs = vec![dirs[1 - other].clone()];
        assert_eq!(world.list(), 0, "the rest stays indexed");
        world.dirs = vec![dirs[0].clone()];
    }
}

#[test]
fn unrequested_sessions_stay_indexed() {
    let world = World::new();
    world.write("owner.jsonl", &long("o", 3000));
    for number in 0..3 {
        let folder = world.path("owner").join(number.to_string());
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("run.jsonl"), long("sub", 3000)).unwrap();
    }
    world.settle();
    assert_eq!(world.list(), 4);
    world.write("new.jsonl", &long("n", 3000));
    let cache = world.cache();
    let mut scan = ScanSources { dirs: &world.dirs, home: "/home/me", cache: Some((&*cache).into()) }.scan();
    scan.skip_subagents();
    assert_eq!(scan.read(|_| true), 1);
    scan.keep().unwrap();
    assert_eq!(world.list(), 0);
}

#[test]
fn a_grown_session_is_read_from_its_previous_end() {
    let world = World::new();
    let text = long("s", 1_200_000);
    world.write("s.jsonl", &text);
    assert_eq!((world.list(), world.list()), (1, 0));
    // Only an entry at the position of the first line shows that it was read again.
    world.add(
        "s.jsonl",
        "{\"type\":\"label\",\"id\":\"l\",\"parentId\":\"a\",\"targetId\":\"a\",\"label\":\"start\"}\n",
    );
    assert_eq!((world.list(), world.list()), (1, 0));
    world.add("s.jsonl", "{\"type\":\"message\",\"id\":\"half");
    world.list();
    world.add("s.jsonl", "\",\"parentId\":\"b\",\"message\":{\"role\":\"user\",\"content\":\"Whole now\"}}\nno JSON\n");
    world.list();
    // Rewritten in the middle or at the beginning, and grown as well: the indexed part is not a prefix of the file.
    for (from, to) in [("Begin", "Began"), ("\"n300\"", "\"m300\"")] {
        let changed = fs::read_to_string(world.path("s.jsonl")).unwrap().replacen(from, to, 1);
        world.write("s.jsonl", &(changed + "{\"type\":\"custom\",\"id\":\"c\",\"parentId\":null}\n"));
        if from == "Begin" {
            world.list();
        }
    }
    fs::remove_dir_all(world.cache()).unwrap();
    world.list();
}

#[test]
fn a_replaced_file_with_equal_size_and_time_is_detected() {
    let world = World::new();
    world.write("s.jsonl", &Session::new("s").user("a", "One").text());
    world.list();
    let time = fs::metadata(world.path("s.jsonl")).unwrap().modified().unwrap();
    let put = |how: &str| {
        let file = File::options().write(true).open(world.path("s.jsonl")).unwrap();
        file.set_modified(time).unwrap();
        world.settle();
        assert_eq!(world.list(), 1, "{how}");
    };
    world.write("s.jsonl", &Session::new("s").user("a", "Two").text());
    put("written in place");
    world.write("other", &Session::new("s").user("a", "Six").text());
    fs::rename(world.path("other"), world.path("s.jsonl")).unwrap();
    put("renamed");
}

#[test]
fn files_writable_by_others_are_not_trusted() {
    let world = World::new();
    world.write("s.jsonl", &long("s", 3000));
    world.list();
    for at in 0..2 {
        let file = || world.index()[at].clone();
        let mode = |mode: u32| fs::set_permissions(file(), Permissions::from_mode(mode)).unwrap();
        mode(0o644);
        assert_eq!((world.list(), fs::metadata(file()).unwrap().mode() & 0o777), (0, 0o600));
        mode(0o620);
        assert_eq!((world.list(), fs::metadata(file()).unwrap().mode() & 0o777), (1, 0o600));
    }
    let segment = world.segments().remove(0);
    fs::remove_file(&segment).unwrap();
    fs::create_dir(&segment).unwrap();
    assert_eq!(world.list(), 1);
    fs::remove_dir(&segment).unwrap();
    assert_eq!(world.list(), 0);
}

#[test]
fn drafts_of_ended_processes_are_removed() {
    let world = World::new();
    world.write("s.jsonl", &long("s", 3000));
    world.list();
    let [ended, running] =
        [1, 2].map(|number| world.index()[0].with_extension(format!("index.000000000000000{number}.pitree-new")));
    fs::write(&ended, "half").unwrap();
    let writing = File::create(&running).unwrap();
    writing.try_lock().unwrap();
    world.add("s.jsonl", "no JSON\n");
    world.list();
    assert_eq!([&ended, &running].map(|path| path.exists()), [false, true]);
}

#[test]
fn everything_is_read_if_the_index_cannot_be_written() {
    let world = World::new();
    world.write("s.jsonl", &long("s", 3000));
    fs::write(world.cache(), "a file").unwrap();
    assert_eq!((world.list(), world.list()), (1, 1));
}

#[test]
fn another_home_or_directory_has_an_index_of_its_own() {
    let world = World::new();
    world.write("s.jsonl", &long("s", 3000));
    let cache = world.cache();
    let of = |home: &str| world.scan(home, Some(&cache)).1;
    assert_eq!([of("/a"), of("/a"), of("/b"), of("/b"), of("/a")], [1, 0, 1, 0, 1]);
    let other = World { root: tempfile::tempdir().unwrap(), dirs: vec![world.dirs[0].join("project")] };
    assert_eq!((other.scan("/a", Some(&cache)).1, of("/a"), world.segments().len()), (1, 0, 2));
}

#[test]
fn the_oldest_sessions_are_left_out_of_an_index_that_is_too_large() {
    let world = World::new();
    let write = |number: u64| {
        world.write(&format!("{number}.jsonl"), &long("s", 100_000));
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_700_000_000 + number);
        File::options().append(true).open(world.path(&format!("{number}.jsonl"))).unwrap().set_modified(time).unwrap();
        world.settle();
    };
    (0..6).for_each(write);
    let cache = world.cache();
    let bytes = || world.segments().iter().map(|path| fs::metadata(path).unwrap().len()).sum::<u64>();
    // Returns the number of files read.
    let list = |limit: u64| {
        let place = IndexPlace { dir: &cache, limit };
        let mut scan = ScanSources { dirs: &world.dirs, home: "/home/me", cache: Some(place) }.scan();
        let mut sessions = 0;
        let read = scan.read(|batch| {
            sessions += batch.sessions.len();
            true
        });
        scan.keep().unwrap();
        (sessions, read)
    };
    let recalled = |limit: u64| {
        let cache = Some(IndexPlace { dir: &cache, limit });
        let sources = ScanSources { dirs: &world.dirs, home: "/home/me", cache };
        sources.recalled(&|_| true).map(|sessions| sessions.len())
    };
    assert_eq!((list(u64::MAX), list(u64::MAX)), ((6, 6), (6, 0)));
    assert_eq!(recalled(u64::MAX), Some(6));
    let limit = bytes() * 3 / 5;
    assert_eq!(list(limit), (6, 0));
    write(6); // the next change applies the limit
    assert_eq!(list(limit), (7, 1));
    assert!(bytes() <= limit);
    let left_out = list(limit).1;
    assert!((3..6).contains(&left_out), "{left_out}");
    assert_eq!(recalled(limit), None, "a scan is needed to find them");
    assert_eq!(list(limit), (7, left_out), "they are not added again");
    write(7);
    assert_eq!(list(limit), (8, left_out + 1), "the newest is added");
    assert!(bytes() <= limit && list(limit).1 <= left_out + 1);
    assert_eq!(list(u64::MAX).0, 8);
    assert_eq!(list(u64::MAX), (8, 0), "without the limit, all are added");
    world.list();
    // A new index starts with the newest sessions.
    fs::remove_dir_all(&cache).unwrap();
    assert_eq!(list(limit), (8, 8));
    assert!(bytes() <= limit && (1..7).contains(&list(limit).1));
}

#[test]
fn segments_that_are_not_listed_are_removed() {
    let world = World::new();
    world.write("s.jsonl", &Session::new("s").user("a", "swordfish").text());
    world.list();
    let unlisted = world.segments()[0].with_file_name(format!(
        "{}-0123456789abcdef.segment",
        world.index()[0].file_stem().unwrap().to_str().unwrap()
    ));
    fs::copy(&world.segments()[0], &unlisted).unwrap();
    world.write("t.jsonl", &Session::new("t").user("a", "halibut").text());
    assert_eq!((world.list(), unlisted.exists()), (1, false));
}

#[test]
fn nested_directories_keep_their_own_indexes() {
    let mut world = World::new();
    world.write("a.jsonl", &long("a", 1000));
    world.write("../b.jsonl", &long("b", 1000));
    let (all, project) = (world.dirs[0].clone(), world.dirs[0].join("project"));
    for dirs in [vec![project.clone()], vec![all.clone()], vec![all.clone(), project.clone(), all.clone()]] {
        world.dirs = dirs;
        world.list();
        assert_eq!(world.list(), 0);
    }
    for dir in [all, project] {
        world.dirs = vec![dir];
        assert_eq!(world.list(), 0);
    }
}

#[test]
fn concurrent_writers_do_no_harm() {
    let world = World::new();
    let cache = world.cache();
    let begin = || ScanSources { dirs: &world.dirs, home: "/home/me", cache: Some((&*cache).into()) }.scan();
    let finish = |mut scan: pitree::disk::scan::Scan<'_>| {
        scan.read(|_| true);
        scan.keep().unwrap();
    };
    world.write("a.jsonl", &long("a", 3000));
    let (one, two) = (begin(), begin());
    finish(one);
    finish(two);
    assert_eq!(world.list(), 0);
    // Both add; meanwhile one of them rebuilds the index.
    world.write("b.jsonl", &long("b", 3000));
    let one = begin();
    world.write("c.jsonl", &long("c", 3000));
    let two = begin();
    let three = begin();
    finish(two);
    finish(one);
    assert!(world.list() <= 1);
    for file in world.index() {
        fs::remove_file(file).unwrap();
    }
    world.list();
    finish(three); // adds to an index that is gone
    assert_eq!(world.list(), 0);
    assert_eq!(world.list(), 0);
}

/// A change of the session files.
#[derive(Clone, Debug)]
enum Change {
    Create(u8, String),
    Append(u8, String),
    /// Other content with the same size and modification time.
    Replace(u8),
    Truncate(u8),
    Rename(u8, u8),
    Delete(u8),
    /// The modification time goes back.
    Earlier(u8),
}

impl Change {
    fn make(&self, world: &World) {
        let path = |number: u8| world.path(&format!("{}.jsonl", number % 4));
        let line = |text: &str| json!({"type": "message", "id": "m", "message": {"role": "user", "content": text}});
        match self {
            Self::Create(number, text) => {
                fs::write(path(*number), format!("{}{}\n", Session::new("s").text(), line(text))).unwrap();
            }
            Self::Append(number, text) => {
                let file = File::options().append(true).open(path(*number));
                file.into_iter().for_each(|mut file| writeln!(file, "{}", line(text)).unwrap());
            }
            Self::Replace(number) => {
                let Ok(text) = fs::read_to_string(path(*number)) else { return };
                let time = fs::metadata(path(*number)).unwrap().modified().unwrap();
                fs::write(path(*number), text.replace('e', "a")).unwrap();
                File::options().append(true).open(path(*number)).unwrap().set_modified(time).unwrap();
            }
            Self::Truncate(number) => {
                let text = fs::read(path(*number)).unwrap_or_default();
                fs::write(path(*number), &text[..text.len() / 2]).unwrap();
            }
            Self::Rename(from, to) => drop(fs::rename(path(*from), path(*to))),
            Self::Delete(number) => drop(fs::remove_file(path(*number))),
            Self::Earlier(number) => {
                let file = File::options().append(true).open(path(*number));
                file.into_iter().for_each(|file| file.set_modified(std::time::UNIX_EPOCH).unwrap());
            }
        }
    }
}

fn change() -> impl Strategy<Value = Change> {
    let (number, text) = (0..4u8, "[a-e ]{0,12}|so it goes|größe 漢字|begin");
    prop_oneof![
        (number.clone(), text).prop_map(|(number, text)| Change::Create(number, text)),
        (number.clone(), text).prop_map(|(number, text)| Change::Append(number, text)),
        number.clone().prop_map(Change::Replace),
        number.clone().prop_map(Change::Truncate),
        (number.clone(), number.clone()).prop_map(|(from, to)| Change::Rename(from, to)),
        number.clone().prop_map(Change::Delete),
        number.prop_map(Change::Earlier),
    ]
}

#[test]
fn answers_are_right_after_any_changes() {
    let mut runner =
        proptest::test_runner::TestRunner::new(ProptestConfig { cases: effort::rounds(4, 16), ..Default::default() });
    let changes = proptest::collection::vec((change(), any::<bool>()), 1..8);
    runner
        .run(&changes, |changes| {
            let world = World::new();
            // A large segment, which is not merged, has earlier records of files that change.
            world.write("0.jsonl", &Session::new("s").user("a", "Begin").text());
            world.write("1.jsonl", &Session::new("t").user("a", "So it goes").text());
            world.write("4.jsonl", &large("other"));
            world.list();
            for (change, is_later) in changes {
                change.make(&world);
                if is_later {
                    world.settle();
                }
                world.list();
            }
            Ok(())
        })
        .unwrap();
}

/// Faults of an index file.
#[derive(Clone, Debug)]
enum Damage {
    Cut(prop::sample::Index),
    Flipped(prop::sample::Index, u8),
    Zeros(prop::sample::Index, prop::sample::Index),
    Longer(Vec<u8>),
    Other(Vec<u8>),
}

impl Damage {
    fn make(&self, bytes: &mut Vec<u8>) {
        let len = bytes.len();
        match self {
            Self::Cut(at) => bytes.truncate(at.index(len)),
            Self::Flipped(at, bits) => bytes[at.index(len)] ^= bits,
            Self::Zeros(from, to) => {
                let (from, to) = (from.index(len), to.index(len));
                bytes[from.min(to)..from.max(to)].fill(0);
            }
            Self::Longer(more) => bytes.extend(more),
            Self::Other(other) => bytes.clone_from(other),
        }
    }
}

fn damage() -> impl Strategy<Value = Damage> {
    let place = any::<prop::sample::Index>;
    let bytes = || proptest::collection::vec(any::<u8>(), 1..200);
    prop_oneof![
        place().prop_map(Damage::Cut),
        (place(), 1u8..).prop_map(|(at, bits)| Damage::Flipped(at, bits)),
        (place(), place()).prop_map(|(from, to)| Damage::Zeros(from, to)),
        bytes().prop_map(Damage::Longer),
        bytes().prop_map(Damage::Other),
    ]
}

#[test]
fn a_damaged_index_is_only_slower() {
    let world = World::of_fixtures();
    world.write("long.jsonl", &long("s", 1_100_000));
    world.list();
    world.write("added.jsonl", &long("s", 3000));
    world.list();
    let good = [&world.index()[..1], &world.segments()].concat();
    let good: Vec<(PathBuf, Vec<u8>)> = good.into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect();
    assert_eq!(good.len(), 3);
    let (without, _) = world.scan("/home/me", None);
    let mut runner =
        proptest::test_runner::TestRunner::new(ProptestConfig { cases: effort::rounds(16, 200), ..Default::default() });
    let damages = proptest::collection::vec((0usize..3, damage()), 1..3);
    runner
        .run(&damages, |damages| {
            let mut files = good.clone();
            damages.iter().for_each(|(file, damage)| damage.make(&mut files[*file].1));
            files.iter().for_each(|(path, bytes)| fs::write(path, bytes).unwrap());
            for _ in 0..2 {
                let (with, _) = world.scan("/home/me", Some(&world.cache()));
                prop_assert!(with == without, "{:?}", with.keys());
            }
            Ok(())
        })
        .unwrap();
}

#[test]
fn sessions_are_recalled_without_looking_at_all_files() {
    let world = World::new();
    for id in ["a1", "a2", "b1"] {
        world.write(&format!("{id}.jsonl"), &Session::new(id).user("u", "Hello").text());
    }
    let cache = world.cache();
    let recalled = |start: &str| {
        let sources = ScanSources { dirs: &world.dirs, home: "/home/me", cache: Some((&*cache).into()) };
        let mut ids: Vec<String> = sources
            .recalled(&|facts| facts.id().starts_with(start))?
            .iter()
            .map(|one| one.facts().id().into())
            .collect();
        ids.sort();
        Some(ids)
    };
    assert_eq!(recalled("a"), None, "there is no index");
    world.list();
    let found = |start: &str| recalled(start).unwrap();
    assert_eq!([found("a"), found("b1"), found("c")], [vec!["a1", "a2"], vec!["b1"], vec![]]);
    // New and deleted files change the time of their directory.
    world.write("c1.jsonl", &Session::new("c1").user("u", "Hello").text());
    assert_eq!([found("a"), found("c")], [vec!["a1", "a2"], vec!["c1"]]);
    world.list();
    fs::remove_file(world.path("a1.jsonl")).unwrap();
    assert_eq!(recalled("b"), None, "a scan must remove the text of the deleted file");
    world.list();
    world.write("a2.jsonl", &Session::new("a3").user("u", "Another").text());
    assert_eq!(recalled("b"), None);
    // A directory with an earlier time than the last use of the index is not listed.
    world.list();
    let dir = File::open(world.dirs[0].join("project")).unwrap();
    let before = dir.metadata().unwrap().modified().unwrap() - std::time::Duration::from_secs(60);
    File::open(&world.dirs[0]).unwrap().set_modified(before).unwrap();
    fs::remove_file(world.path("c1.jsonl")).unwrap();
    dir.set_modified(before).unwrap();
    assert_eq!(found("c"), ["c1"]);
    let link = world.path("link.jsonl");
    std::os::unix::fs::symlink(world.path("b1.jsonl"), &link).unwrap();
    world.list();
    assert_eq!(recalled("b"), None, "a scan is needed to find all paths of a file");
    fs::remove_file(link).unwrap();
    // The next scan records its time.
    world.list();
    assert_eq!(found("c"), [""; 0]);
}

#[test]
fn a_link_to_a_session_beside_it_can_come_and_go() {
    let world = World::new();
    world.write("b1.jsonl", &Session::new("b1").user("u", "Hello").text());
    world.list();
    let link = world.path("link.jsonl");
    std::os::unix::fs::symlink(world.path("b1.jsonl"), &link).unwrap();
    world.list();
    world.list();
    fs::remove_file(link).unwrap();
    world.list();
    world.list();
}
