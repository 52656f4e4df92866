//! Search over sessions: the query line, the list of hits, and opening hits.

use std::collections::VecDeque;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use crossterm::event::{KeyCode, KeyModifiers};
use insta::assert_snapshot;
use pitree::app::message::{Effect, Msg, Work};
use pitree::app::model::Model;
use pitree::app::panes::sessions::SessionRow;
use pitree::app::update::{message, start, update};
use pitree::config::{Config, Filter, Sort};
use pitree::keymap::{Key, KeyContext};
use pitree::runtime::jobs::JobContext;

use serde_json::json;

use crate::browser::finding::marked;
use crate::browser::harness::{Browser, NOW, demo_setting};
use crate::common::by_hand;
use crate::common::session::Session;

/// Replaces the query by typing another one.
pub(crate) fn search(browser: &mut Browser, text: &str) {
    let is_typing = browser.model.layers.has(KeyContext::Search);
    browser.press(if is_typing { "ctrl+u" } else { "/" });
    browser.send(Msg::Paste(text.into()));
}

/// Returns the titles of the rows.
pub(crate) fn titles(browser: &Browser) -> Vec<String> {
    let pane = &browser.model.sessions;
    let title = |row: &SessionRow| match row {
        SessionRow::Session { key, .. } => browser.model.catalog[*key].title().to_string(),
        SessionRow::Project(at) => pane.projects[*at].cwd.to_string(),
        SessionRow::MissingParent(..) => "gone".to_string(),
    };
    pane.rows.iter().map(title).collect()
}

pub(crate) fn hits(browser: &Browser) -> usize {
    browser.model.sessions.hits.as_ref().map_or(0, |hits| hits.len())
}

/// Returns the typed query.
pub(crate) fn line(browser: &Browser) -> String {
    browser.model.search.as_ref().unwrap().line.value().to_string()
}

/// Returns the text of the selected entry of the tree.
fn entry(browser: &Browser) -> String {
    let tree = browser.model.tree.tree.as_ref().unwrap();
    tree.nodes[browser.model.tree.selected_entry().unwrap() as usize].text.to_string()
}

#[test]
fn rejects_queries_that_are_too_long() {
    let mut browser = Browser::demo(160, 40);
    let words = |count: usize| (0..count).map(|at| format!("w{at} ")).collect::<String>();
    search(&mut browser, &words(2000));
    assert!(browser.screen().contains("query too long"), "{}", browser.screen());
    search(&mut browser, &"cookie ".repeat(100));
    assert_eq!(hits(&browser), 1);
}

#[test]
fn hits_are_recorded_in_the_jump_history() {
    let mut browser = Browser::demo(160, 40);
    search(&mut browser, "cookie");
    assert_eq!(hits(&browser), 1);
    assert!(entry(&browser).starts_with("That is all the database needs"), "{}", entry(&browser));
    assert_eq!(browser.model.focus, KeyContext::Sessions, "typing continues");
    let screen = browser.screen();
    assert!(screen.contains("1 session · 1 hit") && screen.contains("hash of the cookie"), "{screen}");
    assert!(screen.contains("1 hit  also in 3 forks"), "entries shared with forks are one hit\n{screen}");
    assert!(screen.contains("1/1"), "the hit is selected in the tree\n{screen}");
    browser.send(Msg::Resized(80, 24));
    assert!(browser.screen().contains("1 hit  also in 3 forks"), "{}", browser.screen());
    let found = marked(&browser).to_lowercase();
    assert_eq!(found.matches("cookie").count(), 2, "in a narrow terminal the preview is below the list: {found}");
    browser.send(Msg::Resized(160, 40));
    let found = marked(&browser).to_lowercase();
    assert_eq!(found.matches("cookie").count(), 2, "in the list and the preview: {found}");
    browser.press("enter");
    assert_eq!(browser.model.focus, KeyContext::Tree);
    assert_eq!(hits(&browser), 1, "the hits are still there");
    assert!(browser.screen().contains("1/1"), "{}", browser.screen());
    browser.press("esc");
    assert_eq!((browser.model.focus, hits(&browser)), (KeyContext::Sessions, 1), "back at the origin");
    assert!(browser.model.layers.has(KeyContext::Search), "in the input line, with the typed text");
    assert_eq!(line(&browser), "cookie");
    browser.press("esc");
    assert_eq!((browser.model.focus, hits(&browser)), (KeyContext::Sessions, 0), "one step at a time");
    assert_eq!(browser.model.sessions.totals.sessions, 41);
}

#[test]
fn esc_returns_to_the_list_after_opening_a_hit() {
    let mut browser = Browser::demo(160, 40);
    search(&mut browser, "cookie");
    browser.press("enter");
    while browser.model.focus != KeyContext::Sessions {
        browser.press("h");
    }
    browser.press("enter");
    assert_eq!(browser.model.focus, KeyContext::Tree);
    browser.press("esc");
    assert_eq!((browser.model.focus, browser.model.layers.has(KeyContext::Search)), (KeyContext::Sessions, false));
    assert_eq!(hits(&browser), 1);
}

#[test]
fn sessions_found_by_name_have_text_hits() {
    let mut browser = Browser::demo(160, 40);
    search(&mut browser, "redis expiry");
    assert_eq!(browser.selected(), "Redis: sliding expiry");
    let found = browser.model.sessions.selected_hit().unwrap().clone();
    assert!(found.at.is_some() && found.entries == 1, "{found:?}");
    assert!(entry(&browser).contains("expiry sliding"), "{}", entry(&browser));
    assert!(browser.screen().contains("user Make the expiry sliding"), "{}", browser.screen());
    let total: usize = browser.model.sessions.hits.as_ref().unwrap().values().map(|hit| hit.entries).sum();
    assert!(browser.screen().contains(&format!("2 sessions · {total} hits")), "{}", browser.screen());
}

#[test]
fn long_excerpts_have_their_own_line() {
    for columns in [40, 64, 100, 200] {
        let mut browser = Browser::demo(columns, 20);
        search(&mut browser, "\"hard stop\"");
        let screen = browser.screen();
        let list = screen.lines().skip(2).map(|line| line.split('│').next().unwrap()).collect::<Vec<_>>();
        let name = list.iter().position(|line| line.contains("1 hit")).unwrap();
        assert!(list[name].contains("hard stop"), "the match is whole\n{screen}");
        let rows = browser.model.sessions.rows.len();
        browser.press("down up");
        browser.send(Msg::Click { column: 5, row: name as u16 + 2, double: false });
        assert_eq!(browser.selected(), "Redis: sliding expiry", "both lines belong to the session");
        assert_eq!(browser.model.sessions.rows.len(), rows);
    }
    let mut browser = Browser::demo(200, 30);
    search(&mut browser, "label:oom");
    browser.press("ctrl+s");
    assert!(browser.model.sessions.rows.iter().all(|row| row.lines() == 1), "it fits");
}

#[test]
fn next_visits_exactly_the_matching_entries() {
    let mut browser = Browser::demo(160, 40);
    let mut walk = |query: &str| -> Vec<String> {
        search(&mut browser, query);
        browser.press("enter");
        let len = browser.model.tree.find.as_ref().map_or(0, |find| find.hits.len());
        let walked = (0..len).map(|_| {
            browser.press("n");
            entry(&browser)
        });
        let walked = walked.collect();
        browser.press("esc");
        walked
    };
    let calls = walk("tool:grep in:~/code/webshop is:branched");
    assert!(!calls.is_empty() && calls.iter().all(|entry| entry.starts_with("[grep")), "{calls:?}");
    let edits = walk("edited:store.ts");
    assert!(!edits.is_empty() && edits.iter().all(|entry| entry.contains("store.ts")), "{edits:?}");
    let said = walk("suspects -cookie");
    assert!(said.iter().all(|entry| !entry.starts_with('[')), "no tool output: {said:?}");
    let anywhere = walk("all: expires_at");
    assert!(anywhere.iter().any(|entry| entry.contains("0004_sessions.sql")), "{anywhere:?}");
    assert_eq!(walk("is:named"), [""; 0], "it matches the session");
    assert!(!browser.screen().contains("no hits"), "{}", browser.screen());
    search(&mut browser, "tool:grep");
    assert!(browser.screen().contains("/2 · default"), "{}", browser.screen());
}

#[test]
fn enter_on_a_hit_does_not_start_pi() {
    let dir = tempfile::tempdir().unwrap();
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/sessions/--home-dev-app--/branches.jsonl");
    fs::copy(fixture, dir.path().join("branches.jsonl")).unwrap();
    let mut browser = Browser::on(&[dir.path()], 120, 30);
    for query in ["is:branched", "model:a", "brnchs", "entries:>1"] {
        search(&mut browser, query);
        if hits(&browser) == 0 {
            continue;
        }
        browser.press("enter");
        assert_eq!(browser.model.focus, KeyContext::Tree, "{query}");
        while browser.model.focus != KeyContext::Sessions {
            browser.press("h");
        }
        browser.press("enter");
        assert_eq!(browser.model.focus, KeyContext::Tree, "{query}, from the list");
        assert!(browser.wants.is_empty(), "{query}: {:?}", browser.wants);
        browser.press("esc esc");
        search(&mut browser, "x");
    }
}

#[test]
fn hits_on_abandoned_branches_are_marked_and_opened() {
    let mut browser = Browser::demo(160, 40);
    search(&mut browser, "\"hard stop\"");
    let found = |browser: &Browser| browser.model.sessions.selected_hit().unwrap().clone();
    assert_eq!(found(&browser).is_active, Some(true));
    search(&mut browser, "is:abandoned jwt");
    assert!(titles(&browser).iter().any(|title| title == "Refactor auth module"), "{:?}", titles(&browser));
    assert_eq!(found(&browser).is_active, Some(false));
    assert!(browser.screen().contains("abandoned"), "{}", browser.screen());
    let tree = browser.model.tree.tree.clone().unwrap();
    assert!(!tree.is_active(browser.model.tree.selected_entry().unwrap()));
}

#[test]
fn searches_titles_before_texts_and_requires_all_words() {
    let mut browser = Browser::demo(100, 30);
    browser.press("/");
    let effects = browser.take(Msg::Paste("redis sliding".into()));
    let find = effects.into_iter().find(|effect| matches!(effect, Effect::Ask(_, Work::Search { .. }))).unwrap();
    for reply in browser.replies(find) {
        browser.take(reply);
    }
    assert_eq!(titles(&browser).last().map(String::as_str), Some("Redis: sliding expiry"));
}

#[test]
fn pasted_text_starts_one_search() {
    let mut browser = Browser::demo(100, 30);
    browser.press("/");
    let text = "redis sliding ".repeat(40);
    let keys: Vec<Key> = text.chars().map(|c| Key::new(KeyCode::Char(c), KeyModifiers::NONE).unwrap()).collect();
    let (mut rest, mut searches) = (keys.as_slice(), 0);
    while let Some((msg, count)) = message(&browser.model, rest) {
        rest = &rest[count..];
        let effects = browser.take(msg);
        searches += effects.iter().filter(|effect| matches!(effect, Effect::Ask(_, Work::Search { .. }))).count();
    }
    assert_eq!(searches, 1);
    assert!(line(&browser).starts_with("redis sliding redis"), "{}", line(&browser));
    let keys: Vec<Key> = ["x", "y", "backspace", "z"].map(|key| key.parse().unwrap()).into();
    assert!(matches!(message(&browser.model, &keys), Some((Msg::Paste(text), 2)) if text == "xy"));
    assert!(matches!(message(&browser.model, &keys[2..]), Some((Msg::Key(_), 1))));
    browser.press("esc esc");
    assert!(matches!(message(&browser.model, &keys), Some((Msg::Key(_), 1))), "keys in a list are actions");
}

#[test]
fn matches_fuzzily_only_without_literal_matches() {
    let mut browser = Browser::demo(100, 30);
    search(&mut browser, "rfctauth");
    assert_eq!(browser.selected(), "Refactor auth module");
    search(&mut browser, "redis");
    assert!(hits(&browser) < 6, "only literal matches: {:?}", titles(&browser));
}

#[test]
fn applies_exclusions_and_qualifiers() {
    let mut browser = Browser::demo(120, 40);
    for (query, wanted) in [
        ("cookie -sliding", 1),
        ("in:~/ops", 8),
        ("cost:>1.5", 5),
        ("is:fork", 6),
        ("label:decision", 1),
        ("edited:store.ts", 2),
        ("tool:grep in:~/code/webshop", 12),
        ("re:c.okie", 1),
        ("-is:fork in:~/code/webshop", 15),
    ] {
        browser.press("esc esc esc");
        search(&mut browser, query);
        assert_eq!(hits(&browser), wanted, "{query}: {:?}", titles(&browser));
    }
}

#[test]
fn shows_query_errors_and_keeps_the_previous_hits() {
    let mut browser = Browser::demo(140, 30);
    search(&mut browser, "cookie");
    browser.send(Msg::Paste(" cost:much".into()));
    assert_eq!(hits(&browser), 1);
    assert!(browser.screen().contains("cost:"), "{}", browser.screen());
    search(&mut browser, "re:(");
    let last = browser.screen().lines().last().unwrap().to_string();
    assert!(last.starts_with(" /re:(") && last.contains("unclosed group"), "{last}");
}

#[test]
fn list_keys_work_while_typing() {
    let mut browser = Browser::demo(100, 12);
    search(&mut browser, "the");
    assert!(browser.model.sessions.is_flat && hits(&browser) > 9, "more than fit");
    let best = titles(&browser);
    browser.press("ctrl+s");
    let newest = titles(&browser);
    assert_ne!(best, newest);
    let time = |at: usize| browser.model.catalog[browser.session_in(at).unwrap()].order_time();
    assert!((1..newest.len()).all(|at| time(at - 1) >= time(at)));
    browser.press("pagedown");
    assert_eq!(browser.selected(), newest[browser.model.sessions.cursor.at]);
    browser.press("ctrl+d");
    assert!(browser.asks(), "Ctrl+D deletes, as in pi");
    browser.press("esc ctrl+n");
    assert!(browser.model.sessions.shows.named_only);
    assert!(browser.model.layers.has(KeyContext::Search));
    assert_eq!(browser.model.sessions.shows.sort, Sort::Threaded);
}

#[test]
fn down_moves_to_the_hits_and_up_or_slash_returns() {
    let mut browser = Browser::demo(120, 30);
    search(&mut browser, "the");
    assert!(browser.footer().contains("↓: results · alt+*: mark all"), "{}", browser.footer());
    let (best, in_line) = (browser.selected(), |browser: &Browser| browser.model.layers.has(KeyContext::Search));
    browser.press("down");
    assert_eq!((in_line(&browser), browser.selected()), (false, best.clone()), "the best hit is still selected");
    assert!(browser.footer().contains("/ edit query") && browser.footer().contains("m menu"), "{}", browser.footer());
    browser.press("j k");
    assert_eq!(browser.selected(), best, "letters are keys");
    browser.press("y esc home k");
    assert_eq!((in_line(&browser), line(&browser).as_str()), (false, "the"), "a letter does not return to the line");
    assert!(browser.footer().contains("↑ edit query"), "{}", browser.footer());
    browser.press("down up");
    assert!(!in_line(&browser), "the first row is selected again");
    browser.press("up");
    assert!(in_line(&browser));
    browser.press("backspace down /");
    assert_eq!((in_line(&browser), line(&browser).as_str()), (true, "th"));
    search(&mut browser, "qqqqqqqq");
    browser.press("down");
    assert!(in_line(&browser), "no hits to select");
    search(&mut browser, "is:fork");
    assert!(browser.footer().contains("tab: forked  fork   ↓: results · alt+*: mark all"), "{}", browser.footer());
    search(&mut browser, "is:abandoned");
    assert!(browser.footer().contains("↵: go to hit · ↓: results · alt+*: mark all"), "{}", browser.footer());
    for (columns, aside) in
        [(120, "↵: go to hit · ↓: results · alt+*: mark all · esc: clear"), (80, "↓: results · alt+*: mark all")]
    {
        let mut browser = Browser::demo(columns, 24);
        search(&mut browser, "cookie");
        assert!(browser.footer().contains(aside), "{columns}: {}", browser.footer());
    }
}

#[test]
fn marking_from_the_input_line_marks_exactly_the_hits() {
    let mut browser = Browser::demo(120, 40);
    search(&mut browser, "is:fork");
    assert!(titles(&browser).len() > hits(&browser), "their parents are listed too");
    browser.press("alt+*");
    assert!(browser.model.layers.has(KeyContext::Search));
    assert_eq!(browser.model.sessions.marks.len(), hits(&browser));
    assert!(browser.model.sessions.marks.iter().all(|&key| browser.model.sessions.found(key).is_some()));
    let marked = "6 sessions marked · ctrl+d: move to trash · down: results";
    assert!(browser.footer().ends_with(marked), "{}", browser.footer());
    browser.press("alt+*");
    assert!(browser.model.sessions.marks.is_empty());
    assert!(browser.footer().ends_with("0 sessions marked") && line(&browser) == "is:fork", "{}", browser.footer());
    browser.press("down m A");
    assert_eq!(browser.model.sessions.marks.len(), 6, "in the list the key needs no modifier");
    browser.press("down");
    browser.press("m A home space");
    let marked = browser.model.sessions.marks.clone();
    assert!(!marked.is_empty() && marked.iter().all(|&key| browser.model.sessions.found(key).is_some()), "{marked:?}");
}

#[test]
fn restores_the_selection_without_a_chosen_hit() {
    let mut browser = Browser::demo(120, 30);
    browser.press("j j j");
    let before = browser.selected();
    for (query, keys) in [("kubernetes", "esc"), ("nothing-has-this", "esc esc"), ("cookie", "esc esc")] {
        search(&mut browser, query);
        assert!(browser.model.sessions.hits.is_some());
        browser.press(keys).press("esc");
        assert_eq!((browser.selected(), browser.model.sessions.hits.is_none()), (before.clone(), true), "{query}");
    }
    search(&mut browser, "cookie");
    browser.press("down");
    let chosen = browser.selected();
    browser.press("esc esc");
    assert_eq!(browser.selected(), chosen);
}

#[test]
fn sorts_hits_in_three_orders() {
    let mut browser = Browser::demo(120, 40);
    search(&mut browser, "is:fork");
    let threads = titles(&browser);
    browser.press("ctrl+s");
    let best = titles(&browser);
    browser.press("ctrl+s");
    let newest = titles(&browser);
    assert!(threads.len() > best.len() && best.len() == 6 && newest[0] == "Redis: sliding expiry", "{newest:?}");
    browser.press("ctrl+s");
    assert_eq!(titles(&browser), threads);
}

#[test]
fn all_finds_tool_output_and_shows_hidden_entries() {
    let mut browser = Browser::demo(160, 40);
    search(&mut browser, "expires_at");
    assert_eq!(hits(&browser), 0, "no conversation contains it");
    browser.press("ctrl+x");
    assert_eq!(hits(&browser), 4);
    assert!(browser.screen().contains("expires_at"));
    browser.press("enter");
    assert_eq!(browser.model.focus, KeyContext::Tree);
    assert!(entry(&browser).contains("0004_sessions.sql"), "{}", entry(&browser));
    assert_eq!(browser.model.tree.filter, Filter::Default);
}

#[test]
fn enter_opens_the_hit_and_then_resumes() {
    let dir = tempfile::tempdir().unwrap();
    let sessions = dir.path().join("sessions");
    fs::create_dir(&sessions).unwrap();
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/sessions/--home-dev-app--/branches.jsonl");
    fs::copy(fixture, sessions.join("branches.jsonl")).unwrap();
    let mut browser = Browser::on(&[&sessions], 120, 30);
    search(&mut browser, "\"keys rotate\"");
    assert_eq!(browser.model.sessions.selected_hit().unwrap().is_active, Some(false));
    let screen = browser.screen();
    assert!(screen.contains("abandoned"), "{screen}");
    browser.press("enter");
    assert_eq!((entry(&browser).as_str(), browser.model.focus), ("Keys rotate", KeyContext::Tree));
    browser.press("enter h");
    assert!(browser.wants.iter().any(|effect| matches!(effect, Effect::Resume(_))), "{:?}", browser.wants);
    let text = fs::read_to_string(sessions.join("branches.jsonl")).unwrap();
    let last: serde_json::Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!((&last["type"], &last["parentId"], &last["targetId"]), (&"label".into(), &"a4".into(), &"a4".into()));
}

#[test]
fn rereading_a_tree_keeps_the_selection() {
    let dir = tempfile::tempdir().unwrap();
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/sessions/--home-dev-app--/branches.jsonl");
    fs::copy(fixture, dir.path().join("branches.jsonl")).unwrap();
    let mut browser = Browser::on(&[dir.path()], 120, 30);
    search(&mut browser, "\"keys rotate\"");
    browser.press("enter home");
    let first = entry(&browser);
    assert_ne!(first, "Keys rotate");
    browser.press("m l x enter");
    assert!(browser.screen().contains("[x]"), "{}", browser.screen());
    assert_eq!(entry(&browser), first);
}

#[test]
fn finds_renamed_sessions_by_their_new_name() {
    let dir = tempfile::tempdir().unwrap();
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/sessions/--home-dev-app--/branches.jsonl");
    fs::copy(fixture, dir.path().join("branches.jsonl")).unwrap();
    let mut browser = Browser::on(&[dir.path()], 120, 30);
    search(&mut browser, "zebra");
    assert_eq!(hits(&browser), 0);
    browser.press("esc esc ctrl+r z e b r a enter");
    search(&mut browser, "zebra");
    assert_eq!(hits(&browser), 1, "{}", browser.screen());
}

/// Creates a browser on the demo sessions in a directory with a configuration and an initial query. No session is read
/// yet.
fn configured(dir: &Path, text: &str, query: &str) -> (Model, JobContext) {
    let config = Config::parse(text, "config.toml").unwrap();
    let mut setting = demo_setting(&config, dir);
    setting.query = query.into();
    let setting = Arc::new(setting);
    let model = Model::new(setting.clone(), (140, 30), NOW);
    (model, JobContext::new(setting))
}

#[test]
fn starts_with_a_query() {
    let dir = tempfile::tempdir().unwrap();
    let (mut model, context) = configured(dir.path(), "", "cookie");
    let mut todo: VecDeque<Effect> = start(&mut model).into();
    let (mut rows, mut selected) = (Vec::new(), Vec::new());
    while let Some(effect) = todo.pop_front() {
        let Effect::Ask(ticket, work) = effect else { panic!("{effect:?}") };
        for msg in by_hand::replies(&context, &ticket, work) {
            todo.extend(update(&mut model, by_hand::without_pis(msg)));
            rows.push(model.sessions.rows.len());
            selected.extend(model.sessions.selected_session().map(|key| model.catalog[key].title().to_string()));
        }
    }
    let last = *rows.last().unwrap();
    assert!(last > 1 && rows.iter().all(|&rows| rows == 0 || rows == last), "only hits are shown: {rows:?}");
    selected.dedup();
    assert_eq!(selected, ["Refactor auth module"], "the best hit first");
    assert_eq!((model.sessions.totals.sessions, model.sessions.totals.projects), (41, 4));
    let search = model.search.as_ref().unwrap();
    assert!(!model.layers.has(KeyContext::Search) && search.read.is_none(), "keys go to the list");
}

#[test]
fn saved_queries_open_by_key_in_any_pane() {
    let text =
        "queries.left = { query = 'is:abandoned', key = 'f7' }\nqueries.crumbs = { query = 'is:fork', key = 'Q' }\n";
    let config = Config::parse(text, "config.toml").unwrap();
    let mut browser = Browser::configured(&config, 120, 40);
    browser.press("l l Q");
    assert_eq!((line(&browser).as_str(), hits(&browser), browser.model.focus), ("is:fork", 6, KeyContext::Sessions));
    let best = browser.selected();
    browser.press("down");
    assert_ne!(browser.selected(), best);
    browser.press("f7");
    assert_eq!(line(&browser), "is:abandoned");
    browser.press("/ B");
    assert_eq!(line(&browser), "is:abandonedB", "it is typed");
    browser.press("f7 esc ?").type_text("saved");
    let help = browser.screen();
    assert!(help.contains("Saved") && help.contains("left: is:abandoned"), "{help}");
    browser.press("esc :").type_text("crumbs").press("enter");
    assert_eq!((line(&browser).as_str(), hits(&browser)), ("is:fork", 6));
}

#[test]
fn screens() {
    let mut browser = Browser::demo(140, 24);
    search(&mut browser, "cookie");
    assert_snapshot!("search", browser.screen());
    let mut browser = Browser::demo(40, 10);
    search(&mut browser, "cookie");
    assert_snapshot!("search_smallest", browser.screen());
    let mut browser = Browser::demo(100, 14);
    search(&mut browser, "the");
    assert_snapshot!("search_flat", browser.screen());
    let mut browser = Browser::demo(100, 14);
    search(&mut browser, "qqqqqq");
    assert_snapshot!("search_nothing", browser.screen());
}

#[test]
fn shows_the_query_after_its_input_line_is_closed() {
    let mut browser = Browser::demo(160, 40);
    search(&mut browser, "voucher");
    let title =
        |browser: &Browser| browser.screen().lines().find(|line| line.contains("Sessions")).unwrap().to_string();
    assert!(!title(&browser).contains("voucher"), "{}", title(&browser));
    browser.press("enter");
    assert!(title(&browser).contains(" hits · voucher"), "{}", title(&browser));
    for columns in [40, 60, 80, 100] {
        browser.send(Msg::Resized(columns, 24));
        browser.model.focus = KeyContext::Sessions;
        let title = title(&browser);
        assert!(title.contains("· v") && !title.contains("letters"), "{columns}: {title}");
    }
    browser.send(Msg::Resized(160, 40));
    browser.press("/");
    search(&mut browser, "flkychk");
    browser.press("enter");
    assert!(title(&browser).contains(" · fuzzy match · flkychk"), "{}", title(&browser));
}

/// Creates a session with a label, a prompt with two abandoned branches, and another prompt at the leaf.
fn branched() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let session = Session::new("stores").costing(0.1).user("u1", "pick a store").assistant("a1", "which one?");
    let session = session.user("u2", "try redis").assistant("a2", "redis forgets");
    let session = session.label("l1", "u2", "first try").under("a1").user("u3", "try memcached");
    let session = session.assistant("a3", "memcached is slow").call("c3", "bash", &json!({"command": "bench"}));
    let session = session.result("r3", "c3", "bash", "slow").under("a1").user("u4", "try postgres");
    fs::write(dir.path().join("stores.jsonl"), session.assistant("a4", "postgres it is").text()).unwrap();
    dir
}

#[test]
fn branch_hits_open_the_newest_abandoned_leaf() {
    let dir = branched();
    let mut browser = Browser::on(&[dir.path()], 120, 40);
    search(&mut browser, "is:abandoned");
    let screen = browser.screen();
    let card: Vec<&str> = screen.lines().skip_while(|line| !line.contains("Abandoned branches")).take(3).collect();
    assert!(card[1].contains("memcached is slow  4 entries · $0.20 · "), "{screen}");
    assert!(card[2].contains("redis forgets  2 entries · $0.10 · "), "{screen}");
    browser.press("enter");
    let ends = ["[bash: bench]", "redis forgets"];
    assert_eq!((entry(&browser).as_str(), browser.model.focus), (ends[0], KeyContext::Tree), "{}", browser.screen());
    assert!(browser.screen().contains("/2 · "), "{}", browser.screen());
    browser.press("n");
    assert_eq!(entry(&browser), ends[1]);
    browser.press("n");
    assert_eq!(entry(&browser), ends[0]);
    browser.press("N");
    assert_eq!(entry(&browser), ends[1]);
    assert!(browser.wants.is_empty());
}

#[test]
fn category_hits_open_the_matching_entries() {
    let dir = branched();
    for (query, newest, count) in [
        ("is:labelled", "try redis", Some(1)),
        ("is:branched", "which one?", Some(1)),
        ("is:abandoned is:labelled", "[bash: bench]", Some(3)),
        ("is:abandoned redis", "redis forgets", None),
        ("is:empty", "", None),
    ] {
        let mut browser = Browser::on(&[dir.path()], 120, 40);
        search(&mut browser, query);
        browser.press("enter");
        if newest.is_empty() {
            assert_eq!(hits(&browser), 0);
            continue;
        }
        let found = browser.model.tree.find.as_ref().unwrap().hits.len();
        let is_there = if count.is_some() { entry(&browser) == newest } else { entry(&browser).contains("redis") };
        assert!(is_there, "{query}: {}", browser.screen());
        assert_eq!(found, count.unwrap_or(found), "{query}");
    }
}
