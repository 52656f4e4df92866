//! The reader: a branch as one text, folds, hits, wrapping of long lines, and the display until the text is loaded.

use std::fs;

use pitree::app::external::Opener;
use pitree::app::message::{Effect, Msg};
use pitree::keymap::KeyContext;
use serde_json::json;

use super::card::card;
use super::harness::{Browser, NOW, shows};
use crate::common::session::Session;

snapshot!(reader_prompt_and_run, (100, 30), "j l home tab z");
snapshot!(reader_unfolded, (100, 30), "j l home tab z v x");
snapshot!(reader_failed_call, (100, 30), "l home tab z } pagedown");
snapshot!(reader_edit, (80, 24), "l home tab z } } v x pagedown");
snapshot!(reader_compaction_and_branch, (100, 30), "l tab z pageup pageup");

/// Opens a session with prose and a long line of output that ends with a known word.
fn open(columns: u16, rows: u16) -> (tempfile::TempDir, Browser) {
    let dir = tempfile::tempdir().unwrap();
    let line = format!("first\t{} needle here", "0123456789".repeat(30));
    let session = Session::new("s").user("u1", "short").call("a1", "bash", &json!({"command": "ls"}));
    let session = session.result("r1", "a1", "bash", &format!("{line}\nnext line\n")).user("u2", "thanks");
    fs::write(dir.path().join("s.jsonl"), session.text()).unwrap();
    let mut browser = Browser::on(&[dir.path()], columns, rows);
    browser.press("l ctrl+a");
    while !browser.selected().contains("bash") {
        browser.press("k");
    }
    browser.press("tab z");
    assert_eq!(browser.model.focus, KeyContext::Reader);
    (dir, browser)
}

#[test]
fn edited_messages_have_marks_on_their_branch() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl");
    let session = Session::new("s").user("u1", "a wrong path").tool("t", "bash", &json!({"command": "make"}), "log");
    let session = session.assistant("a1", "original answer").user("u3", "without edits").under("a1");
    let session = session.edit("e1", "u1", "null").edit("e2", "tr", "null");
    let answer = r#"{"content":[{"type":"text","text":"short answer"},{"type":"toolCall","id":"c","name":"read"}]}"#;
    let session = session.edit("e3", "a1", answer).user("u2", "with edits");
    fs::write(&path, session.text()).unwrap();
    let mut browser = Browser::on(&[dir.path()], 100, 40);
    let counts = "context     2 omitted, 1 replaced or restored by edits".to_owned();
    assert!(card(&browser).contains(&counts), "{:?}", card(&browser));
    let go_to = |browser: &mut Browser, text: &str| {
        browser.press("end");
        while !browser.selected().contains(text) {
            browser.press("k");
        }
    };
    let marks = |browser: &Browser| {
        let is_mark = |line: &String| line.contains("the model") || line.contains("sent instead");
        card(browser).into_iter().filter(is_mark).collect::<Vec<_>>()
    };
    browser.press("l");
    go_to(&mut browser, "with edits");
    let run = "⋯ 1 tool  bash 1 · 1 edited for the model";
    assert_eq!(marks(&browser), ["not sent to the model", run, "replaced for the model", "▸ sent instead, 2 lines"]);
    go_to(&mut browser, "without edits");
    assert_eq!(marks(&browser), [""; 0]);
    go_to(&mut browser, "with edits");
    browser.press("tab v x");
    let text = card(&browser).join("\n");
    for wanted in ["▾ [bash: make]  not sent to the model\n", "\n▾ sent instead, 2 lines\nshort answer\n[read]\n"] {
        assert!(text.contains(wanted), "no {wanted:?} in\n{text}");
    }
    // An edit that restores the answer.
    let restored = r#"{"content":[{"type":"text","text":"original answer"}]}"#;
    fs::write(&path, session.edit("e4", "a1", restored).text()).unwrap();
    browser.press("f5");
    assert_eq!(marks(&browser).len(), 3, "{:?}", marks(&browser));
    browser.press("v m");
    assert_eq!(marks(&browser).len(), 3, "as a family: {:?}", marks(&browser));
}

#[test]
fn long_code_lines_wrap_with_a_symbol_or_scroll() {
    let (_dir, mut browser) = open(60, 24);
    let with_sign = |browser: &Browser| browser.screen().lines().filter(|line| line.contains("↪ ")).count();
    assert!(with_sign(&browser) >= 5, "{}", browser.screen());
    shows(&browser, "needle here");
    browser.press("v w");
    assert_eq!(browser.footer(), "not wrapping long lines; scroll with left and right");
    assert_eq!(with_sign(&browser), 0);
    assert!(!browser.screen().contains("needle") && browser.screen().contains("…"), "{}", browser.screen());
    shows(&browser, "unwrapped");
    browser.press("right");
    shows(&browser, "from column 3");
    for _ in 0..20 {
        browser.press("l");
    }
    shows(&browser, "needle here");
    browser.press("left");
    assert_eq!(browser.model.focus, KeyContext::Reader, "there is more to the left");
    while browser.model.focus == KeyContext::Reader {
        browser.press("h");
    }
    assert_eq!(browser.model.reader.style.left, 0);
    browser.press("tab v w");
    assert!(with_sign(&browser) >= 5);
}

#[test]
fn a_hit_outside_the_columns_is_scrolled_to_and_highlighted() {
    let (_dir, mut browser) = open(60, 24);
    browser.press("v w /").type_text("needle").press("enter");
    let marked = |browser: &Browser| {
        let pane = &browser.model.reader;
        let rows = pane.rows(browser.model.tree.find.as_ref().map(|find| &*find.words), NOW);
        let is_match = |span: &&pitree::base::text::Span| span.tone == pitree::base::text::Tone::Match;
        rows.iter().flatten().find(is_match).map(|span| span.text.clone())
    };
    shows(&browser, "needle here");
    assert_eq!(marked(&browser).as_deref(), Some("needle"));
    browser.press("esc /").type_text("first").press("enter");
    shows(&browser, "first   0123");
    assert_eq!(marked(&browser).as_deref(), Some("first"));
}

#[test]
fn the_wrap_symbol_has_an_ascii_form() {
    let config = pitree::config::Config { ascii: true, ..pitree::config::Config::default() };
    let mut browser = Browser::configured(&config, 60, 24);
    browser.press("tab tab");
    assert_eq!(browser.model.reader.style.continuation, ">");
    assert!(browser.screen().is_ascii() || !browser.screen().contains('↪'));
}

#[test]
fn fast_loading_shows_no_placeholder() {
    let mut browser = Browser::demo(220, 48);
    browser.press("tab v r home");
    let before = browser.screen();
    let seen = before.lines().nth(2).unwrap().rsplit('│').next().unwrap().to_string();
    assert!(!seen.trim().is_empty(), "{before}");
    let late = browser.take(Msg::Key("j".parse().unwrap()));
    for wait in [0, 149] {
        browser.take(Msg::Now(NOW + wait));
        assert!(!browser.screen().contains("reading"));
        shows(&browser, &seen);
    }
    browser.take(Msg::Now(NOW + 150));
    shows(&browser, " reading");
    assert!(!browser.screen().contains(&seen));
    for msg in late.into_iter().flat_map(|effect| browser.replies(effect)).collect::<Vec<_>>() {
        browser.send(msg);
    }
    assert!(!browser.screen().contains(" reading"));
}

#[test]
fn external_programs_receive_the_original_text() {
    let (_dir, mut browser) = open(60, 24);
    browser.press("m v");
    let Some(Effect::Open(copy)) = browser.wants.pop() else { panic!("it is opened") };
    assert_eq!((copy.with, &*copy.name), (Opener::Pager, "entry.txt"));
    assert!(copy.text.contains("first\t0123456789"), "tabs stay: {}", copy.text);
    assert!(copy.text.contains("needle here\nnext line\n") && copy.text.contains("[bash: ls]"));
    browser.press("shift+tab shift+tab");
    browser.press("m E");
    let Some(Effect::Open(card)) = browser.wants.pop() else { panic!("a card is opened") };
    assert_eq!((card.with, card.text.lines().next()), (Opener::Editor, Some("short")));
    // A user who continues meanwhile is not interrupted.
    browser.press("tab");
    let late = browser.take(Msg::Key("v".parse().unwrap()));
    browser.press("j");
    for msg in late.into_iter().flat_map(|effect| browser.replies(effect)).collect::<Vec<_>>() {
        browser.send(msg);
    }
    assert!(browser.wants.is_empty());
}

/// Writes a session with turns of several kinds, and returns its browser in the reader at the first prompt.
fn conversation(turns: usize, size: (u16, u16)) -> (tempfile::TempDir, Browser, Vec<String>) {
    let dir = tempfile::tempdir().unwrap();
    let mut session = Session::new("s");
    let mut texts = Vec::new();
    for turn in 0..turns {
        let mut text = |what: &str| {
            texts.push(format!("{what} {turn}"));
            texts.last().unwrap().clone()
        };
        session = session.user(&format!("u{turn}"), &text("prompt"));
        for call in 0..turn % 4 {
            let command = json!({"command": format!("make {turn}-{call}")});
            let output = text(&format!("output {call} of"));
            session = session.tool(&format!("t{turn}-{call}"), "bash", &command, &output);
        }
        if turn % 5 == 0 {
            let edit = json!({"path": "a.rs", "oldText": text("old"), "newText": text("new")});
            session = session.tool(&format!("e{turn}"), "edit", &edit, &text("replaced"));
        }
        let lines: Vec<String> = (0..turn % 30).map(|line| text(&format!("line {line} of"))).collect();
        session = session.assistant(&format!("a{turn}"), &format!("{}\n\n{}", lines.join("\n\n"), text("answer")));
    }
    fs::write(dir.path().join("s.jsonl"), session.text()).unwrap();
    let mut browser = Browser::on(&[dir.path()], size.0, size.1);
    browser.press("j l home tab");
    (dir, browser, texts)
}

/// Returns the rows of the reader's text.
fn read(browser: &Browser) -> Vec<String> {
    let rows = browser.model.reader.rows(None, NOW).into_iter();
    rows.map(|row| row.iter().map(|span| span.text.as_str()).collect::<String>().trim_end().to_owned()).collect()
}

/// Reads to the end with `PgDn`. Replies arrive after every `delay`th key. Returns the rows that are not empty.
fn read_through(browser: &mut Browser, delay: usize) -> Vec<String> {
    let page = |browser: &Browser| read(browser).into_iter().filter(|row| !row.is_empty()).collect::<Vec<_>>();
    let mut rows = page(browser);
    let (mut late, mut still) = (Vec::new(), 0);
    for key in 1.. {
        let before = browser.model.reader.top;
        late.extend(browser.take(Msg::Key("pagedown".parse().unwrap())));
        if key % delay == 0 {
            // Replies lead to other requests.
            while let Some(effect) = late.pop() {
                browser.replies(effect).into_iter().for_each(|msg| browser.send(msg));
            }
        }
        // A page begins with the last row of the one before, or with more of them at the end.
        let page = page(browser);
        let shared = (0..=page.len()).rev().find(|&shared| rows.ends_with(&page[..shared])).unwrap_or_default();
        rows.extend_from_slice(&page[shared..]);
        still = if browser.model.reader.top == before { still + 1 } else { 0 };
        if still > delay {
            break;
        }
    }
    rows
}

#[test]
fn a_session_is_read_through_with_page_down() {
    for (size, delay) in [((80, 24), 1), ((160, 48), 1), ((80, 24), 4), ((160, 48), 9)] {
        let (_dir, mut browser, texts) = conversation(150, size);
        browser.press("v x home");
        let rows = read_through(&mut browser, delay);
        let all = rows.join("\n");
        let mut from = 0;
        for text in &texts {
            let at = all[from..].find(text.as_str());
            from += at.unwrap_or_else(|| panic!("{text:?} is not after\n{}", &all[from.saturating_sub(300)..from]));
        }
        assert!(rows.last().is_some_and(|row| row == "answer 149"), "{:?}", rows.last());
        browser.press("home");
        assert_eq!(read(&browser)[1], "prompt 0", "back at the first prompt");
    }
}

#[test]
fn the_tree_follows_the_reader_and_the_reader_the_tree() {
    let (_dir, mut browser, _) = conversation(40, (160, 48));
    for _ in 0..5 {
        browser.press("pagedown");
    }
    let entry = browser.model.reader.current_entry().unwrap();
    let tree = browser.model.tree.tree.clone().unwrap();
    assert_eq!(browser.model.tree.rows.nearest(&tree, entry), browser.model.tree.cursor.at);
    let top = browser.model.reader.top;
    browser.press("shift+tab");
    assert_eq!((browser.model.focus, browser.model.reader.top), (KeyContext::Tree, top), "it stays where it was");
    browser.press("home");
    assert_eq!(read(&browser)[1], "prompt 0");
    browser.press("tab } } }");
    assert!(browser.selected().contains("prompt 3"), "{}", browser.screen());
    assert_eq!(read(&browser)[1], "prompt 3");
    browser.press("{");
    assert_eq!(read(&browser)[1], "prompt 2");
}

#[test]
fn parts_fold_and_branches_are_followed() {
    let dir = tempfile::tempdir().unwrap();
    let thinking = json!([{"type": "thinking", "thinking": "first\nsecond\nthird"}, {"type": "text", "text": "done"}]);
    let message = json!({"role": "assistant", "content": thinking});
    let session = Session::new("s").user("u1", "start").entry("a1", "message", format!("\"message\":{message}"));
    let session = session.tool("t1", "bash", &json!({"command": "make"}), "it is made").failure("x", "", "bash", "no");
    let session = session.assistant("a2", "the end").under("a1").user("u2", "another way").assistant("a3", "the other");
    fs::write(dir.path().join("s.jsonl"), session.text()).unwrap();
    let mut browser = Browser::on(&[dir.path()], 160, 48);
    browser.press("j l home tab");
    let rows = read(&browser);
    let has = |browser: &Browser, text: &str| read(browser).iter().any(|row| row.contains(text));
    assert!(has(&browser, "▸ thinking, 3 lines") && !has(&browser, "second"), "{rows:#?}");
    browser.press("enter");
    assert!(has(&browser, "▾ thinking, 3 lines") && has(&browser, "second"));
    browser.press("enter");
    assert!(!has(&browser, "second"));
    // The leaf is on the second branch; its other branch is a link.
    assert!(has(&browser, "another way") && !has(&browser, "the end"));
    browser.press("] enter");
    assert!(has(&browser, "the end") && !has(&browser, "the other"), "{}", browser.screen());
    let run = read(&browser).iter().position(|row| row.contains("⋯ 2 tools · 1 failed")).expect("a run");
    assert!(!has(&browser, "it is made") && has(&browser, "no"), "failed calls are open");
    let area = browser.model.area(KeyContext::Reader).unwrap().text();
    browser.send(Msg::Click { column: area.x + 1, row: area.y + run as u16, double: false });
    browser.press("v x");
    assert!(has(&browser, "it is made"), "{}", browser.screen());
}

#[test]
fn escape_sequences_are_colors_and_links() {
    use pitree::base::text::Tone;
    let dir = tempfile::tempdir().unwrap();
    let output = "\u{1b}[31mred\u{1b}[0m plain\r\n\u{1b}]8;;https://a.b\u{7}link\u{1b}]8;;\u{7}\u{1b}[2J\nend";
    let session = Session::new("s").user("u1", "go").failure("t1", "", "bash", output).assistant("a1", "done");
    fs::write(dir.path().join("s.jsonl"), session.text()).unwrap();
    let mut browser = Browser::on(&[dir.path()], 120, 40);
    browser.press("j l home tab");
    let rows = browser.model.reader.rows(None, NOW);
    let red = rows.iter().flatten().find(|span| span.text == "red").expect("a colored part");
    assert_eq!(red.tone, Tone::Error);
    shows(&browser, "link [https://a.b]");
    assert!(!browser.screen().contains('␛'), "{}", browser.screen());
}

#[test]
fn a_hit_opens_a_run_that_was_folded_among_unfolded_ones() {
    let dir = tempfile::tempdir().unwrap();
    let session =
        Session::new("s").user("u1", "was it made?").tool("t1", "bash", &json!({"command": "make"}), "it is made");
    let session = session.tool("t2", "bash", &json!({"command": "ls"}), "a list").assistant("a1", "the end");
    fs::write(dir.path().join("s.jsonl"), session.text()).unwrap();
    let mut browser = Browser::on(&[dir.path()], 160, 48);
    browser.press("j l home tab v x");
    let rows = read(&browser);
    let run = rows.iter().position(|row| row.contains("2 tools")).expect("a run");
    assert!(rows.iter().any(|row| row == "it is made"), "{rows:#?}");
    let area = browser.model.area(KeyContext::Reader).unwrap().text();
    browser.send(Msg::Click { column: area.x + 1, row: area.y + run as u16, double: false });
    assert!(read(&browser).iter().all(|row| row != "it is made"), "{}", browser.screen());
    browser.press("/").type_text("made").press("enter n");
    assert!(read(&browser).iter().any(|row| row == "it is made"), "{}", browser.screen());
}
