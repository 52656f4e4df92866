//! Sizes at which recursion or quadratic work would show: nothing is timed, it just has to get there.

use super::harness::Browser;
use pitree::app::message::Msg;
use std::fmt::Write as _;

const HEADER: &str =
    "{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"cwd\":\"/x\"}\n";

fn line(out: &mut String, id: usize, parent: Option<usize>) {
    let parent = parent.map_or("null".into(), |parent| format!("\"{parent}\""));
    let role = if id.is_multiple_of(2) { "user" } else { "assistant" };
    writeln!(out, "{{\"type\":\"message\",\"id\":\"{id}\",\"parentId\":{parent},\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"message\":{{\"role\":\"{role}\",\"content\":\"entry {id}\",\"timestamp\":{id}}}}}").unwrap();
}

fn browser(text: &str) -> (tempfile::TempDir, Browser) {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("s.jsonl"), text).unwrap();
    let browser = Browser::on(&[dir.path()], 160, 40);
    (dir, browser)
}

#[test]
fn a_chain_of_a_hundred_thousand_entries() {
    let mut text = HEADER.to_string();
    for id in 0..100_000usize {
        line(&mut text, id, id.checked_sub(1));
    }
    let (_dir, mut browser) = browser(&text);
    browser.press("l G g - + 6 5 3 1 } { ctrl+left ctrl+right .");
    assert_eq!(browser.selected(), "entry 99999");
    assert_eq!(browser.model.tree.rows.list.len(), 100_000);
    assert!(browser.screen().contains("entry 99999"));
}

#[test]
fn words_are_found_in_a_hundred_thousand_entries() {
    let mut text = HEADER.to_string();
    for id in 0..100_000usize {
        line(&mut text, id, id.checked_sub(1));
    }
    let (_dir, mut browser) = browser(&text);
    browser.press("l /");
    browser.send(Msg::Paste("entry 777".into())); // at once: each letter would be a search
    browser.press("enter");
    assert_eq!(browser.selected(), "entry 99777", "the nearest to the leaf");
    browser.press("n N esc / tab");
    browser.send(Msg::Paste("777".into()));
    assert_eq!(browser.model.tree.rows.entries, (0..100_000).filter(|id| id.to_string().contains("777")).count());
}

#[test]
fn ten_thousand_labels_in_a_palette() {
    let mut text = HEADER.to_string();
    for id in 0..10_000usize {
        line(&mut text, id, id.checked_sub(1));
        writeln!(text, "{{\"type\":\"label\",\"id\":\"l{id}\",\"parentId\":\"{id}\",\"targetId\":\"{id}\",\"label\":\"mark {id}\"}}").unwrap();
    }
    let (_dir, mut browser) = browser(&text);
    browser.press("'");
    assert!(browser.screen().contains("10,000"), "{}", browser.screen());
    browser.type_text("mrk 9999");
    assert!(browser.screen().contains("[mark 9999]"), "{}", browser.screen());
    browser.press("esc").type_text("mark 77").press("enter");
    assert!(browser.selected().contains("77"));
}

#[test]
fn two_thousand_branch_points_one_in_the_other() {
    // Each user message branches: the first child goes on, the second is a dead end.
    let mut text = HEADER.to_string();
    line(&mut text, 0, None);
    let mut last = 0;
    for point in 0..2000 {
        line(&mut text, 3 * point + 1, Some(last));
        line(&mut text, 3 * point + 2, Some(last));
        line(&mut text, 3 * point + 3, Some(3 * point + 2));
        last = 3 * point + 3;
    }
    let (_dir, mut browser) = browser(&text);
    browser.press("l");
    assert_eq!(browser.selected(), "entry 6000");
    assert!(browser.screen().contains("entry 6000"), "the selected row is panned into sight\n{}", browser.screen());
    browser.press("- + 6 1 G g }");
    assert_eq!(browser.model.tree.tree.as_ref().unwrap().branch_points(), 2000);
}

#[test]
fn ten_thousand_sessions() {
    let dir = tempfile::tempdir().unwrap();
    for project in 0..20 {
        let folder = dir.path().join(format!("--p{project}--"));
        std::fs::create_dir(&folder).unwrap();
        for at in 0..500 {
            let mut text =
                HEADER.replace("\"s\"", &format!("\"{project}-{at}\"")).replace("/x", &format!("/p{project}"));
            line(&mut text, 0, None);
            std::fs::write(folder.join(format!("{at}.jsonl")), text).unwrap();
        }
    }
    let mut browser = Browser::on(&[dir.path()], 160, 40);
    assert_eq!(browser.model.sessions.rows.len(), 10_020);
    assert!(browser.screen().contains("10,000 sessions · 20 projects"), "{}", browser.screen());
    browser.press("G ctrl+s ctrl+s ctrl+n ctrl+n - + g");
}

#[test]
fn a_large_session_shows_its_end_first_and_keeps_the_place() {
    use pitree::app::tree::Pane;
    use pitree::disk::files::Files;
    use pitree::disk::load;
    use std::sync::Arc;
    let mut text = HEADER.to_string();
    for id in 0..100_000usize {
        line(&mut text, id, id.checked_sub(1));
    }
    let (dir, browser) = browser(&text);
    assert!(browser.screen().contains("100,000 entries"), "both came, the whole last\n{}", browser.screen());
    let path = dir.path().join("s.jsonl");
    let mut pane = Pane::default();
    pane.turn_to(Some(path.clone()));
    pane.show(Arc::new(load::end(Files::Disk, &path, "").unwrap()));
    assert!(pane.fresh && pane.rows.list.len() < 10_000);
    pane.cursor.go(-3, pane.rows.list.len());
    pane.cursor.fit(pane.rows.list.len(), 20);
    pane.note_selection();
    let selected =
        |pane: &Pane| pane.tree.as_ref().unwrap().nodes[pane.selected_entry().unwrap() as usize].text.clone();
    let (before, row) = (selected(&pane), pane.cursor.at - pane.cursor.top);
    pane.show(Arc::new(load::tree(Files::Disk, &path, "").unwrap()));
    assert_eq!((selected(&pane), pane.cursor.at - pane.cursor.top), (before, row), "the same row of the screen");
    assert!(!pane.fresh && pane.rows.list.len() == 100_000);
}
