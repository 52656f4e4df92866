//! Session directories: files that pi's list omits, and sessions whose working directory was corrected.

use std::fs;

use pitree::app::settings::Settings;
use pitree::config::Config;
use pitree::disk::locate::Located;

use crate::browser::harness::{Browser, shows};
use crate::common::session::Session;

#[test]
fn files_directly_in_the_default_directory_have_their_own_group() {
    let home = tempfile::tempdir().unwrap();
    let sessions = home.path().join(".pi/agent/sessions");
    fs::create_dir_all(sessions.join("--app--")).unwrap();
    let write = |path: &str, session: Session| fs::write(sessions.join(path), session.text()).unwrap();
    write("--app--/.jsonl", Session::new("listed").at(60).user("u1", "pi lists this one"));
    write("stray.jsonl", Session::new("stray").at(50).user("u1", "pi does not list this one"));
    let mut browser = Browser::at_home(home.path(), (120, 40));
    let screen = browser.screen();
    let line = |text: &str| screen.lines().position(|line| line.contains(text)).unwrap_or_else(|| panic!("{screen}"));
    assert!(line("pi lists this one") < line("not listed by pi  "), "{screen}");
    assert_eq!(line("not listed by pi  ") + 1, line("pi does not list this one"), "{screen}");
    browser.press("G k");
    shows(&browser, "pi does not list");
    browser.press("h");
    let is_listed = |browser: &Browser| browser.screen().contains("\n  pi does not list this one");
    assert!(!is_listed(&browser), "it folds:\n{}", browser.screen());
    browser.press("l");
    assert!(is_listed(&browser), "{}", browser.screen());
}

#[test]
fn a_corrected_directory_is_reported_at_startup() {
    let dir = tempfile::tempdir().unwrap();
    let mut located = Located { dirs: vec![dir.path().join("agent")], origin: "--dir".into(), ..Default::default() };
    fs::create_dir_all(dir.path().join("agent/sessions/--app--")).unwrap();
    let session = Session::new("one").user("u1", "found inside");
    fs::write(dir.path().join("agent/sessions/--app--/one.jsonl"), session.text()).unwrap();
    assert_eq!(located.correct().len(), 1);
    let config = Config::default();
    let notice = Some("reading the directory inside".into());
    let setting = Settings { notice, ..Settings::new(&config, located, String::new(), false) };
    let browser = Browser::with(setting, (120, 40));
    shows(&browser, "found inside");
    assert_eq!(browser.footer(), "reading the directory inside");
}
