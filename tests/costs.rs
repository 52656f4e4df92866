//! Costs of a key, a frame, an update or a start, measured in memory allocations: the same on every machine under any
//! load.
//!
//! Constant costs must stay constant. Costs that grow have a limit per session or entry, about 1.5 times the cost when
//! the test was written.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use allocation_counter::measure;
use pitree::app::message::{Effect, Msg, Reply, Work};
use pitree::app::model::Model;
use pitree::app::settings::Settings;
use pitree::app::ticket::Ticket;
use pitree::app::update::{start, update};
use pitree::catalog::Catalog;
use pitree::catalog::search::Searcher;
use pitree::config::Config;
use pitree::disk::incremental::FileChanges;
use pitree::disk::load::{self, EntryReader};
use pitree::disk::locate::Located;
use pitree::disk::scan::{ScanSources, reread};
use pitree::export::document::Detail;
use pitree::export::selection::Selection;
use pitree::runtime::jobs::JobContext;
use pitree::search::qualifier::value::{QueryScope, ValueLists};
use pitree::search::query::Query;
use pitree::session::digest::Digest;
use pitree::ui;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use tempfile::TempDir;

use crate::common::by_hand;
use crate::common::session::Session;

/// The browser on a directory of sessions, and the buffer that it draws to.
struct Browser {
    model: Model,
    context: JobContext,
    terminal: Terminal<TestBackend>,
    _dir: TempDir,
}

/// Creates a conversation with a number of entries and occasional tool calls and branches.
fn session(id: &str, entries: usize) -> Session {
    let mut session = Session::new(id);
    for at in 0..entries {
        session = match at % 20 {
            7 if at > 20 => session.under(&format!("{id}-{}", at - 5)).user(&format!("{id}-{at}"), "Another way"),
            at if at % 2 == 0 => session.user(&format!("{id}-{at}"), "Go on"),
            _ => session.assistant(&format!("{id}-{at}"), "It is done."),
        };
    }
    session
}

/// Writes a number of sessions, each with a number of entries.
fn write(dir: &Path, sessions: usize, entries: usize) -> Vec<PathBuf> {
    let write = |number: usize| {
        let path = dir.join(format!("{number:05}.jsonl"));
        fs::write(&path, session(&format!("s{number:05}"), entries).text()).unwrap();
        path
    };
    (0..sessions).map(write).collect()
}

impl Browser {
    fn new(sessions: usize, entries: usize) -> Self {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), sessions, entries);
        Self::of(dir)
    }

    fn of(dir: TempDir) -> Self {
        let located = Located { dirs: vec![dir.path().into()], origin: "--dir".into(), ..Default::default() };
        let config = Config::default();
        let setting = Arc::new(Settings::new(&config, located, "/home/me".into(), false));
        let model = Model::new(setting.clone(), (160, 48), crate::common::session::START * 1000);
        let context = JobContext::new(setting);
        let terminal = Terminal::new(TestBackend::new(160, 48)).unwrap();
        let mut browser = Self { model, context, terminal, _dir: dir };
        let effects = start(&mut browser.model);
        browser.perform(effects);
        browser
    }

    fn perform(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            let Effect::Ask(ticket, work) = effect else { continue };
            // This job waits until the user is idle.
            if matches!(work, Work::Suggest { .. }) {
                continue;
            }
            // How often progress is reported depends on the time.
            let is_progress = |msg: &Msg| matches!(msg, Msg::Reply(_, Reply::SlimmingProgress(_)));
            for msg in by_hand::replies(&self.context, &ticket, work).into_iter().filter(|msg| !is_progress(msg)) {
                let effects = update(&mut self.model, by_hand::without_pis(msg));
                self.perform(effects);
            }
        }
    }

    fn press(&mut self, keys: &str) {
        for key in keys.split_whitespace() {
            let effects = update(&mut self.model, Msg::Key(key.parse().unwrap()));
            self.perform(effects);
        }
    }

    /// Returns the number of allocations from a key press until its frame is drawn, without the background work that it
    /// requests.
    fn key(&mut self, key: &str) -> u64 {
        let key = Msg::Key(key.parse().unwrap());
        let (model, terminal) = (&mut self.model, &mut self.terminal);
        let counted = measure(|| {
            update(model, key);
            terminal.draw(|frame| ui::draw(frame, model)).unwrap();
        });
        counted.count_total
    }
}

/// Returns `true` if a key costs the same as with a tenth of the data, with some tolerance for visible differences.
fn is_alike(few: u64, many: u64) -> bool {
    few.abs_diff(many) <= 100 + few / 5
}

#[test]
fn a_key_costs_the_same_in_a_long_list() {
    let [mut few, mut many] = [100, 1000].map(|sessions| Browser::new(sessions, 4));
    for keys in ["j", "j", "k", "pagedown", "g", "tab"] {
        let (few, many) = (few.key(keys), many.key(keys));
        assert!(is_alike(few, many), "{keys}: {few} and {many}");
    }
}

#[test]
fn a_key_costs_the_same_in_a_long_session() {
    // In both, there is more text around the selection than the reader reads in advance.
    let [mut few, mut many] = [4000, 40_000].map(|entries| Browser::new(1, entries));
    for browser in [&mut few, &mut many] {
        browser.press("l .");
    }
    for keys in ["k", "j", "pageup", "tab"] {
        let (few, many) = (few.key(keys), many.key(keys));
        assert!(is_alike(few, many), "{keys}: {few} and {many}");
    }
}

/// A document costs the same for each of many branches that start at one entry.
#[test]
fn a_branch_of_many_has_low_cost_in_a_document() {
    let dir = tempfile::tempdir().unwrap();
    let bytes = |branches: usize| {
        let path = dir.path().join(format!("{branches}.jsonl"));
        let branch = |session: Session, at: usize| session.under("u").user(&format!("u{at}"), "x");
        fs::write(&path, (0..branches).fold(Session::new("s").user("u", "x"), branch).text()).unwrap();
        let (tree, mut bodies) = (load::tree(&path, "").unwrap(), EntryReader::open(&path).unwrap());
        let (entries, edits) = ((0..tree.nodes.len() as u32).collect(), HashMap::new());
        let (label, detail) = (|text: &str| text.to_owned(), Detail::WHOLE);
        let selection = Selection { tree: &tree, entries, edits, has_branches: true, detail, label: &label };
        let mut read = |at| bodies.line(&tree.nodes[at as usize]);
        measure(|| selection.each(&mut read, &mut |_| Ok(())).unwrap()).bytes_total
    };
    let (few, many) = (bytes(100), bytes(1600));
    assert!(many < 24 * few, "{few} and {many} bytes");
}

/// Sessions that share entries cost memory for each session and entry, and not for each pair of sessions.
#[test]
fn forks_of_one_session_have_low_cost_each() {
    let bytes = |forks: usize| {
        let dir = tempfile::tempdir().unwrap();
        let parent = dir.path().join("parent.jsonl");
        let text = session("s", 4).text();
        fs::write(&parent, &text).unwrap();
        let (header, entries) = text.split_once('\n').unwrap();
        for fork in 0..forks {
            let header = header.replace("\"s\"", &format!("\"f{fork}\",\"parentSession\":{parent:?}"));
            fs::write(dir.path().join(format!("{fork}.jsonl")), format!("{header}\n{entries}")).unwrap();
        }
        for file in fs::read_dir(dir.path()).unwrap() {
            let file = fs::File::options().append(true).open(file.unwrap().path()).unwrap();
            file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
        }
        let mut browser = Browser::of(dir);
        assert_eq!(browser.model.sessions.totals.sessions, forks + 1);
        let counted = measure(|| browser.press("g a esc m A m s"));
        assert!(browser.model.slimming.is_some());
        counted.bytes_total
    };
    // Only the allocations of this thread count, and with other programs beside, it gets another share of the work.
    let [few, many] = [50, 400].map(|forks| [bytes(forks), bytes(forks)]);
    assert!(many.iter().min() < few.iter().map(|few| 12 * few).max().as_ref(), "{few:?} and {many:?} bytes");
}

#[test]
fn updates_have_low_cost_per_session() {
    let cost = |sessions| {
        let Browser { mut model, .. } = Browser::new(sessions, 4);
        let (_claim, ticket) = Ticket::new(u64::MAX);
        let grown = Digest { mtime: 1, ..(**model.catalog.get(model.catalog.keys().next().unwrap()).unwrap()).clone() };
        let news = FileChanges { read: vec![grown], ..FileChanges::default() };
        let reply = Reply::FilesChanged { changes: news, gone: Vec::new(), hold: None };
        measure(|| drop(update(&mut model, Msg::Reply(ticket.clone(), reply)))).count_total
    };
    let (few, many) = (cost(100), cost(1100));
    assert!(many - few <= 1000 * 3, "{few} and {many}");
}

#[test]
fn reading_has_low_cost_per_entry() {
    let dir = tempfile::tempdir().unwrap();
    let cost = |entries| {
        let path = dir.path().join(format!("{entries}.jsonl"));
        fs::write(&path, session("s", entries).text()).unwrap();
        measure(|| drop(reread(&path, None, "/home/me").unwrap())).count_total
    };
    let (few, many) = (cost(100), cost(1100));
    assert!(many - few <= 1500, "{few} and {many}");
}

#[test]
fn startup_with_an_index_has_low_cost_per_session() {
    let dir = tempfile::tempdir().unwrap();
    let [dirs, cache] = ["sessions", "cache"].map(|name| dir.path().join(name));
    fs::create_dir(&dirs).unwrap();
    // Few enough for a single thread.
    write(&dirs, 8, 10);
    let dirs = [dirs];
    let sources = ScanSources { dirs: &dirs, home: "/home/me", cache: Some((&*cache).into()) };
    let mut scan = sources.scan();
    scan.read(|_| true);
    scan.keep().unwrap();
    let mut remembered = sources.remembered();
    let mut sessions = Vec::new();
    let counted = measure(|| sessions = remembered.sessions());
    assert_eq!(sessions.len(), 8);
    assert!(counted.count_total <= 8 * 12, "{}", counted.count_total);
}

/// Searches run on the index of a session. Between keys only the speaker and the text of each entry on a path are
/// retained.
#[test]
fn a_search_keeps_little_of_each_entry() {
    let kept = |entries| {
        let dir = tempfile::tempdir().unwrap();
        let [sessions, cache] = ["sessions", "cache"].map(|name| dir.path().join(name));
        fs::create_dir(&sessions).unwrap();
        write(&sessions, 8, entries);
        let dirs = [sessions];
        let sources = ScanSources { dirs: &dirs, home: "/home/me", cache: Some((&*cache).into()) };
        let mut scan = sources.scan();
        scan.read(|_| true);
        scan.keep().unwrap();
        let mut catalog = Catalog::default();
        catalog.add(sources.remembered().sessions());
        let (searcher, sessions) = (Searcher::default(), catalog.searched_sessions());
        let here = QueryScope { home: "/home/me".into(), ..QueryScope::default() };
        searcher.read(&sessions, |_, _| true);
        let counted = measure(|| {
            drop(ValueLists::new(sessions.iter().map(|session| session.digest.uncached_digest())));
            for (query, count) in [("done", 8), ("file:nowhere", 0), ("tool:none", 0), ("model:none", 0)] {
                let query = Query::parse(query).unwrap();
                let hits = searcher.search(&sessions, (&query, &here), || false).unwrap();
                let hits = searcher.assign_entries(&sessions, (&query, &here), hits, || false).unwrap();
                assert_eq!(hits.len(), count);
            }
        });
        counted.bytes_current
    };
    let (few, many) = (kept(20), kept(1020));
    assert!(many - few <= 8 * 1000 * 4, "{few} and {many} bytes");
}
