//! Live updates: sessions that appear, grow and disappear, growing trees, and following the leaf.

use std::fs;
use std::io::Write;
use std::path::Path;

use pitree::app::message::{Effect, Msg, Reply, Work};
use pitree::app::ticket::Ticket;
use pitree::disk::incremental::{FileChanges, IncrementalReader, OwnChanges};
use pitree::disk::watch::WatchEvents;

use super::changes::{World, shows_not, to_entry};
use super::harness::{Browser, NOW, pis, shows};
use super::search::{hits, search};
use crate::common::session::Session;

/// Sessions, a browser on them, and a watcher that reports changes.
struct Live {
    world: World,
    browser: Browser,
    reader: IncrementalReader,
    ticket: Ticket,
    _claim: pitree::app::ticket::Claim,
}

impl Live {
    fn new() -> Self {
        let world = World::new();
        let browser = world.open(160, 40);
        let known: Vec<_> = browser.all().cloned().collect();
        let reader = IncrementalReader::new("", &[world.dir.path().into()], &known);
        // The browser matches replies by type, so any ticket works.
        let (claim, ticket) = Ticket::new(u64::MAX);
        Self { world, browser, reader, ticket, _claim: claim }
    }

    fn news(&mut self) -> FileChanges {
        let mut all = FileChanges::default();
        let seen = WatchEvents { is_all: true, ..WatchEvents::default() };
        self.reader.check_paths(&seen, &OwnChanges::default(), i64::MAX / 2, &mut |news| {
            all = news;
            true
        });
        all
    }

    /// Returns the message with the latest changes.
    fn msg(&mut self) -> Msg {
        let changes = self.news();
        Msg::Reply(self.ticket.clone(), Reply::FilesChanged { changes, gone: Vec::new(), hold: None })
    }

    /// Sends the latest changes to the browser.
    fn tell(&mut self) {
        let msg = self.msg();
        self.browser.send(msg);
    }

    fn append(&self, name: &str, line: &str) {
        append(&self.world.path(name), line);
    }
}

fn append(path: &Path, line: &str) {
    let mut file = fs::File::options().append(true).open(path).unwrap();
    writeln!(file, "{line}").unwrap();
}

fn user(id: &str, parent: &str) -> String {
    format!(
        r#"{{"type":"message","id":"{id}","parentId":"{parent}","timestamp":"2026-01-05T11:00:00Z","message":{{"role":"user","content":"prompt {id}"}}}}"#
    )
}

/// Returns the screen row of the selected session.
fn line_of_selection(browser: &Browser) -> usize {
    browser.model.sessions.cursor.at - browser.model.sessions.cursor.top
}

#[test]
fn the_selection_stays_while_sessions_change() {
    let mut live = Live::new();
    live.world.select(&mut live.browser, "other");
    let before = line_of_selection(&live.browser);
    let new = Session::new("new").at(60).user("n1", "a new one");
    fs::write(live.world.path("new"), new.text()).unwrap();
    live.append("main", &user("late", "a3"));
    live.tell();
    shows(&live.browser, "a new one");
    assert_eq!(live.browser.selected(), "the other session");
    assert_eq!(live.browser.all().count(), 6);
    assert_eq!(live.browser.all().find(|one| one.path == live.world.path("main")).unwrap().entry_count, 7);
    assert!(line_of_selection(&live.browser) >= before);
    fs::remove_file(live.world.path("new")).unwrap();
    fs::remove_file(live.world.path("other")).unwrap();
    live.tell();
    shows_not(&live.browser, "a new one");
    shows_not(&live.browser, "the other session");
    assert!(!live.browser.selected().is_empty(), "the selection moves to a neighbor");
    let unchanged = live.browser.screen();
    live.tell();
    assert_eq!(live.browser.screen(), unchanged);
}

#[test]
fn folds_and_notices_stay() {
    let mut live = Live::new();
    live.browser.press("h");
    let folded = live.browser.screen();
    assert!(folded.contains('▸'), "{folded}");
    live.append("grandchild", &user("late", "a3"));
    live.tell();
    assert!(live.browser.screen().contains('▸'));
    live.browser.press("ctrl+r").type_text("named").press("enter");
    let said = live.browser.footer();
    assert!(said.contains("named"), "{said}");
    let version = live.browser.model.catalog.version();
    live.tell();
    assert_eq!(live.browser.footer(), said, "pitree's own changes are not reported as new");
    assert_eq!(live.browser.model.catalog.version(), version);
}

#[test]
fn a_growing_tree_does_not_scroll() {
    let mut live = Live::new();
    live.browser.press("l");
    to_entry(&mut live.browser, "go left");
    let (at, top) = (live.browser.model.tree.cursor.at, live.browser.model.tree.cursor.top);
    shows(&live.browser, "go left");
    live.append("main", &user("late", "a3"));
    live.tell();
    shows(&live.browser, "prompt late");
    assert_eq!(live.browser.selected(), "go left");
    assert_eq!((live.browser.model.tree.cursor.at - at, live.browser.model.tree.cursor.top), (1, top));
    // The answer to the displayed entry.
    live.browser.press("tab");
    live.append("main", r#"{"type":"label","id":"l9","parentId":"late","targetId":"u2","label":"here"}"#);
    live.tell();
    shows(&live.browser, "[here]");
}

#[test]
fn hits_stay_and_new_ones_appear() {
    let mut live = Live::new();
    live.browser.press("l /").type_text("right").press("enter");
    shows(&live.browser, "/2");
    let selected = live.browser.selected();
    live.append("main", &user("right", "a3"));
    live.tell();
    shows(&live.browser, "/3");
    assert_eq!(live.browser.selected(), selected);
}

#[test]
fn the_leaf_is_followed_until_the_selection_is_moved() {
    let mut live = Live::new();
    live.browser.press("l v f");
    shows(&live.browser, "following · default");
    live.append("main", &user("one", "a3"));
    live.tell();
    assert_eq!(live.browser.selected(), "prompt one");
    // Appends to another branch.
    live.append("main", &user("two", "a1"));
    live.tell();
    assert_eq!(live.browser.selected(), "prompt two");
    let last = live.browser.model.reader.current_entry();
    assert_eq!(last, live.browser.model.tree.selected_entry());
    live.browser.press("ctrl+t");
    shows(&live.browser, "following · no-tools");
    live.browser.press("k");
    assert_eq!(live.browser.footer(), "no longer following");
    shows_not(&live.browser, "following ·");
    let selected = live.browser.selected();
    live.append("main", &user("three", "two"));
    live.tell();
    assert_eq!(live.browser.selected(), selected);
    live.browser.press("v f v f");
    assert_eq!(live.browser.footer(), "no longer following");
    assert_eq!(live.browser.selected(), "prompt three");
}

#[test]
fn a_second_read_waits_for_the_first() {
    let mut live = Live::new();
    let opens = |effects: Vec<Effect>| {
        effects.into_iter().find_map(|effect| match effect {
            Effect::Ask(ticket, work @ Work::Open { .. }) => Some((ticket, work)),
            _ => None,
        })
    };
    live.append("main", &user("one", "a3"));
    let msg = live.msg();
    let (ticket, work) = opens(live.browser.take(msg)).unwrap();
    for id in ["two", "three"] {
        live.append("main", &user(id, "a3"));
        let msg = live.msg();
        assert!(opens(live.browser.take(msg)).is_none(), "one read is running");
    }
    assert!(ticket.is_wanted());
    for reply in live.browser.replies(Effect::Ask(ticket, work)) {
        live.browser.send(reply);
    }
    assert!(live.browser.model.tree.opening.is_none() && !live.browser.model.tree.is_outdated);
    live.browser.press("l G");
    shows(&live.browser, "prompt three");
}

#[test]
fn a_missing_watcher_is_reported() {
    let mut live = Live::new();
    let why = "no file watches left (raise fs.inotify.max_user_watches); polling instead";
    live.browser.send(Msg::Reply(live.ticket.clone(), Reply::Warning(why.into())));
    assert_eq!(live.browser.footer(), why);
}

#[test]
fn changes_update_a_search_in_batches() {
    let mut live = Live::new();
    live.browser.press("/").type_text("twice").press("enter");
    let found = |browser: &Browser| browser.model.sessions.hits.as_ref().map(std::collections::HashMap::len);
    assert_eq!(found(&live.browser), Some(0));
    let now = live.browser.model.now;
    live.browser.send(Msg::Now(now + 500));
    live.append("main", &user("twice", "a3"));
    live.tell();
    assert_eq!(found(&live.browser), Some(0), "it is searched a little later");
    live.browser.send(Msg::Now(now + 1000));
    assert_eq!(found(&live.browser), Some(1));
    fs::remove_file(live.world.path("main")).unwrap();
    live.tell();
    shows_not(&live.browser, "the main session");
}

/// Names `main`, so that a search for the name finds only this session.
fn named() -> Live {
    let mut live = Live::new();
    live.browser.press("ctrl+r").type_text("alpha").press("enter");
    live
}

/// Asserts that `main` is open and is the only hit.
#[track_caller]
fn stays(live: &Live) {
    let browser = &live.browser;
    let path = live.world.path("main");
    assert_eq!(browser.session().unwrap().path, path, "{}", browser.screen());
    assert_eq!(browser.model.tree.session, browser.model.catalog.key_of(&path));
    assert_eq!(hits(browser), 1, "{}", browser.screen());
}

#[test]
fn a_renamed_hit_stays_until_the_query_changes() {
    for keys in ["down", "enter", "enter tab", ""] {
        let mut live = named();
        search(&mut live.browser, "alpha");
        stays(&live);
        live.browser.press(keys).press("ctrl+r ctrl+u").type_text("beta").press("enter");
        stays(&live);
        shows(&live.browser, "beta");
        // Entries written by other programs are searched too.
        live.append("other", &user("late", "a3"));
        live.tell();
        live.browser.send(Msg::Now(NOW + 5000));
        stays(&live);
        live.browser.press("esc esc").press("/");
        live.browser.press("ctrl+u").type_text("alpha");
        assert_eq!(hits(&live.browser), 0, "{keys}: {}", live.browser.screen());
    }
}

#[test]
fn a_hit_stays_at_its_entry_after_its_label_is_cleared() {
    let mut live = named();
    live.browser.press("l");
    to_entry(&mut live.browser, "go left");
    live.browser.press("m l").type_text("decision").press("enter esc");
    search(&mut live.browser, "label:decision");
    live.browser.press("enter");
    assert_eq!(live.browser.selected(), "go left");
    live.browser.press("m l ctrl+u enter");
    stays(&live);
    assert_eq!(live.browser.selected(), "go left");
    live.browser.press("u");
    stays(&live);
    assert_eq!(live.browser.selected(), "go left");
}

#[test]
fn a_hit_stays_when_its_pi_ends_or_its_forks_are_deleted() {
    let mut live = named();
    live.browser.model.catalog.set_pis(pis("/nowhere", 1), NOW);
    search(&mut live.browser, "is:live");
    let found = live.browser.session().unwrap().path.clone();
    live.browser.press("down");
    live.browser.model.catalog.set_pis(pis("/nowhere", 0), NOW);
    live.append("other", &user("late", "a3"));
    live.tell();
    live.browser.send(Msg::Now(NOW + 5000));
    assert_eq!((hits(&live.browser), &live.browser.session().unwrap().path), (1, &found));
    live.browser.press("/");
    search(&mut live.browser, "is:forked alpha");
    live.browser.press("down");
    stays(&live);
    for name in ["grandchild", "fork", "twin"] {
        fs::remove_file(live.world.path(name)).unwrap();
    }
    live.tell();
    live.browser.send(Msg::Now(NOW + 10_000));
    stays(&live);
    live.browser.press("/");
    search(&mut live.browser, "is:forked");
    assert_eq!(hits(&live.browser), 0);
}

#[test]
fn filters_do_not_hide_the_focused_row() {
    let mut live = named();
    live.browser.press("ctrl+n");
    assert_eq!(live.browser.model.sessions.totals.sessions, 1);
    live.browser.press("ctrl+r ctrl+u enter");
    assert_eq!(live.browser.session().unwrap().path, live.world.path("main"), "{}", live.browser.screen());
    live.browser.press("ctrl+n l");
    to_entry(&mut live.browser, "left it is");
    live.browser.press("m l").type_text("one").press("enter");
    to_entry(&mut live.browser, "right it is");
    live.browser.press("m l").type_text("two").press("enter ctrl+l");
    assert_eq!(live.browser.model.tree.rows.entries, 2);
    live.browser.press("m l ctrl+u enter");
    assert_eq!((live.browser.selected().as_str(), live.browser.model.tree.rows.entries), ("right it is", 2));
    live.browser.press("ctrl+l ctrl+l");
    assert_eq!(live.browser.model.tree.rows.entries, 1, "the filter was applied again");
}
