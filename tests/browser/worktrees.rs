//! Worktrees of a git repository: one project, chips in rows, the qualifier and the current project.

use std::fs;
use std::path::Path;

use pitree::app::settings::Settings;
use pitree::config::Config;
use pitree::disk::locate::Located;
use tempfile::TempDir;

use crate::browser::harness::{Browser, shows};
use crate::common::repository::Repository;
use crate::common::session::Session;

/// Writes sessions in both worktrees and in another project.
fn sample() -> (TempDir, Repository) {
    let dir = tempfile::tempdir().unwrap();
    let root = dunce::canonicalize(dir.path()).unwrap();
    let repository = Repository::new(&root);
    let other = root.join("other");
    fs::create_dir_all(root.join("sessions")).unwrap();
    let dirs = [&repository.main, &repository.linked, &other];
    for (at, (id, cwd)) in ["in main", "in fix", "elsewhere"].into_iter().zip(dirs).enumerate() {
        let session = Session::new(&at.to_string()).cwd(cwd).at(at as i64 * 60).user(&format!("u{at}"), id);
        fs::write(root.join(format!("sessions/{at}.jsonl")), session.text()).unwrap();
    }
    (dir, repository)
}

fn browser(dir: &TempDir, here: &Path, config: &Config) -> Browser {
    let located = Located {
        dirs: vec![dunce::canonicalize(dir.path()).unwrap().join("sessions")],
        origin: "--dir".into(),
        ..Default::default()
    };
    let here = here.to_str().unwrap().to_owned();
    Browser::with(Settings { current_dir: here, ..Settings::new(config, located, String::new(), false) }, (80, 24))
}

#[test]
fn worktrees_are_one_project_with_chips() {
    let (dir, repository) = sample();
    let mut browser = browser(&dir, Path::new(""), &Config::default());
    shows(&browser, "3 sessions · 2 projects");
    shows(&browser, "in fix  ⎇fix");
    browser.press("/").type_text("worktree:fi");
    shows(&browser, "fix-42");
    browser.type_text("x").press("enter");
    assert_eq!(browser.selected(), "in fix");
    // The directory is missing from now on.
    browser.press("esc esc esc");
    repository.remove_worktree();
    browser.press("f5");
    shows(&browser, "3 sessions · 2 projects");
    shows(&browser, "in fix  ⎇fix");
}

#[test]
fn the_current_project_covers_all_worktrees() {
    let (dir, repository) = sample();
    for here in [&repository.main, &repository.linked, &repository.linked.join("src")] {
        let mut browser = browser(&dir, here, &Config::default());
        assert_eq!(browser.selected(), "in fix", "the newest one");
        browser.press("v h");
        shows(&browser, "2 sessions · 1 project");
    }
}

#[test]
fn a_setting_separates_worktrees() {
    let (dir, repository) = sample();
    let config = Config { group_worktrees: false, ..Config::default() };
    let mut browser = browser(&dir, &repository.linked, &config);
    shows(&browser, "3 sessions · 3 projects");
    assert!(!browser.screen().contains('⎇'), "{}", browser.screen());
    browser.press("v h");
    shows(&browser, "1 session · 1 project");
}

#[test]
fn statistics_and_files_of_a_project_cover_all_worktrees() {
    let (dir, repository) = sample();
    for (id, cwd) in [("3", &repository.main), ("4", &repository.linked)] {
        let session = Session::new(id).cwd(cwd).at(200).costing(1.0).user(&format!("u{id}"), "Edit");
        let session = session.tool(&format!("t{id}"), "edit", &serde_json::json!({ "path": "src/a.rs" }), "done");
        fs::write(dir.path().join(format!("sessions/{id}.jsonl")), session.text()).unwrap();
    }
    let mut browser = browser(&dir, &repository.main, &Config::default());
    browser.press("g f");
    shows(&browser, "src/a.rs");
    browser.press("esc home g f");
    shows(&browser, "changed 2×");
    browser.press("esc g c");
    shows(&browser, "code/app");
    assert!(!browser.screen().contains("w/fix"), "{}", browser.screen());
}
