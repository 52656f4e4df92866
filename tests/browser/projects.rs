//! Many projects: folds by default, and the palette of projects.

use std::fs;

use pitree::app::message::{Msg, Reply};
use pitree::app::panes::sessions::SessionRow;
use pitree::app::saved_state::SavedState;
use pitree::app::ticket::Ticket;
use pitree::config::Sort;
use pitree::disk::incremental::FileChanges;
use pitree::disk::scan::reread;
use pitree::keymap::KeyContext;
use tempfile::TempDir;

use crate::browser::harness::{Browser, shows};
use crate::common::session::Session;

/// Returns the directory of a project. Some names are long, and some occur twice.
fn cwd(project: usize) -> String {
    match project % 4 {
        0 => format!("/home/demo/code/p{project}"),
        1 => format!("/home/demo/Developer/github.com/acme/service-{project}"),
        2 => format!("/srv/agents/2026-07-issue-{project}-fix-the-login-redirect/repository/packages/app"),
        _ => format!("/srv/ci/{project}/a-rather-long-name-of-a-checkout-for-the-build-number-{project}"),
    }
}

/// Writes sessions of projects; later projects are more recent. Every tenth project has one session, the others three.
fn write(dir: &TempDir, projects: std::ops::Range<usize>) {
    for project in projects {
        for at in 0..if project % 10 == 0 { 1 } else { 3 } {
            let session = Session::new(&format!("{project}-{at}")).cwd(cwd(project));
            let seconds = i64::try_from(project * 100_000 + at).unwrap();
            let session = session.at(seconds).user("u1", &format!("prompt {at} of {project}")).costing(0.5);
            fs::write(dir.path().join(format!("{project}-{at}.jsonl")), session.assistant("a1", "ok").text()).unwrap();
        }
    }
}

fn many() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    write(&dir, 0..200);
    dir
}

/// Reports new files to the browser.
fn send_changes(browser: &mut Browser, dir: &TempDir, names: &[&str]) {
    let read = |name: &&str| reread(&dir.path().join(format!("{name}.jsonl")), None, "").unwrap().unwrap();
    let changes = FileChanges { read: names.iter().map(read).collect(), ..FileChanges::default() };
    let (_claim, ticket) = Ticket::new(u64::MAX);
    browser.send(Msg::Reply(ticket, Reply::FilesChanged { changes, gone: Vec::new(), hold: None }));
}

/// Returns the number of rows of sessions in projects with several ones.
fn sessions_below_projects(browser: &Browser) -> usize {
    let pane = &browser.model.sessions;
    (0..pane.rows.len()).filter(|&row| pane.rows[row].session().is_some() && pane.project_alone(row).is_none()).count()
}

#[test]
fn a_selected_project_is_summarized_in_the_tree_pane() {
    let mut browser = Browser::demo(160, 48);
    browser.press("home k k");
    shows(&browser, "Cost by month");
    shows(&browser, "Nov 2026    ████████████████████████    $11.91");
    shows(&browser, "Oct 2026    ▎                            $0.15");
    shows(&browser, "Then have a look at search, same approach");
    let project = browser.model.sessions.selected_project().unwrap();
    let cost = format!("{:.2}", project.sum.cost - project.hidden.cost);
    assert_eq!(cost, "12.06", "the months add up");
    browser.press("j");
    assert!(!browser.screen().contains("Cost by month"), "{}", browser.screen());
}

#[test]
fn many_projects_start_folded_except_the_current_one() {
    let dir = many();
    let mut browser = Browser::on(&[dir.path()], 80, 24);
    assert_eq!((browser.model.sessions.rows.len(), sessions_below_projects(&browser)), (200, 0));
    assert_eq!(browser.selected(), cwd(199), "{}", browser.screen());
    browser.press("enter");
    assert_eq!(sessions_below_projects(&browser), 3, "{}", browser.screen());
    browser.press("v x");
    assert_eq!(sessions_below_projects(&browser), 180 * 3);
    browser.press("v c");
    assert_eq!(sessions_below_projects(&browser), 0);

    let browser = Browser::started_in(&(cwd(77) + "/src"), dir.path(), (80, 24));
    assert_eq!(browser.selected(), "prompt 2 of 77");
    assert_eq!(sessions_below_projects(&browser), 3);
    assert!(browser.screen().lines().nth(2).unwrap().contains("▾ service-77"), "{}", browser.screen());
}

#[test]
fn few_projects_start_unfolded() {
    let dir = tempfile::tempdir().unwrap();
    write(&dir, 0..50);
    let browser = Browser::on(&[dir.path()], 80, 24);
    assert_eq!(sessions_below_projects(&browser), 45 * 3);
}

#[test]
fn a_new_project_does_not_fold_the_others() {
    let dir = tempfile::tempdir().unwrap();
    write(&dir, 0..50);
    let mut browser = Browser::on(&[dir.path()], 80, 24);
    browser.press("G");
    assert_eq!(browser.selected(), "prompt 0 of 0");
    browser.press("k");
    assert_eq!(browser.selected(), "prompt 0 of 1");
    write(&dir, 50..52);
    send_changes(&mut browser, &dir, &["50-0", "51-0"]);
    assert_eq!(browser.model.sessions.totals.projects, 52);
    assert_eq!((browser.selected(), sessions_below_projects(&browser)), ("prompt 0 of 1".into(), 45 * 3));
    browser.press("f5");
    assert_eq!((browser.selected(), sessions_below_projects(&browser)), ("prompt 0 of 1".into(), 3), "reloading folds");
}

#[test]
fn a_new_session_does_not_hide_the_selected_one() {
    let dir = many();
    let mut browser = Browser::on(&[dir.path()], 80, 24);
    browser.press("g p").type_text("p100").press("enter l");
    assert_eq!(browser.session().unwrap().title(), "prompt 0 of 100");
    let second = Session::new("second").cwd(cwd(100)).user("u1", "second session of the project");
    fs::write(dir.path().join("second.jsonl"), second.text()).unwrap();
    send_changes(&mut browser, &dir, &["second"]);
    assert_eq!(browser.session().unwrap().title(), "prompt 0 of 100");
    assert_eq!((browser.model.focus, sessions_below_projects(&browser)), (KeyContext::Tree, 2));
}

#[test]
fn folds_are_restored() {
    let dir = many();
    let here = cwd(77);
    let mut browser = Browser::started_in(&here, dir.path(), (80, 24));
    browser.press("home enter G g p").type_text("service-53").press("enter");
    assert_eq!(browser.selected(), cwd(53));
    assert_eq!(sessions_below_projects(&browser), 9);
    let saved = SavedState::of(&browser.model, &SavedState::default());

    let mut again = Browser::started_in(&here, dir.path(), (80, 24));
    saved.restore(&mut again.model);
    again.press("f5");
    assert_eq!(sessions_below_projects(&again), 6, "that of the jump is folded again");
    assert_eq!(SavedState::of(&again.model, &SavedState::default()), saved);
    again.press("g p").type_text("service-77").press("enter h");
    assert_eq!(sessions_below_projects(&again), 3);
    let saved = SavedState::of(&again.model, &SavedState::default());
    let mut third = Browser::started_in(&here, dir.path(), (80, 24));
    saved.restore(&mut third.model);
    third.press("f5");
    assert_eq!(sessions_below_projects(&third), 3, "the user folded the current one");
}

#[test]
fn hits_are_shown_in_folded_projects() {
    let dir = many();
    let mut browser = Browser::on(&[dir.path()], 80, 24);
    browser.press("/").type_text("\"prompt 1 of 123\"").press("enter");
    shows(&browser, "prompt 1 of 123");
    browser.press("esc esc esc");
    assert!(browser.model.search.is_none());
    assert_eq!(browser.session().unwrap().title(), "prompt 1 of 123", "{}", browser.screen());
    assert_eq!(sessions_below_projects(&browser), 3, "its project is unfolded");
    browser.press("v c ctrl+s j ctrl+s ctrl+s ctrl+s ctrl+s ctrl+s");
    assert!(browser.model.sessions.selected_project().is_some());
    assert_eq!(sessions_below_projects(&browser), 0, "the user folded all projects");
}

#[test]
fn palette_of_projects() {
    let dir = many();
    for (columns, rows) in [(40, 10), (80, 24), (160, 48)] {
        let mut browser = Browser::on(&[dir.path()], columns, rows);
        browser.model.catalog.gone_dirs = [cwd(199), cwd(198), cwd(196)].into();
        browser.press("g p");
        // The first line has the temporary directory.
        let screen =
            |browser: &Browser| browser.screen().lines().skip(1).map(|line| format!("{line}\n")).collect::<String>();
        insta::assert_snapshot!(format!("projects_{columns}"), screen(&browser));
        browser.type_text("redirect 9");
        insta::assert_snapshot!(format!("projects_filtered_{columns}"), screen(&browser));
    }
}

#[test]
fn a_project_is_selected_and_unfolded() {
    let dir = many();
    let mut browser = Browser::on(&[dir.path()], 80, 24);
    browser.press("enter j l g p").type_text("acme/service-101").press("enter");
    assert_eq!((browser.model.focus, browser.selected()), (KeyContext::Sessions, cwd(101)), "{}", browser.screen());
    assert!(browser.screen().lines().nth(2).unwrap().contains("▾ service-101"), "{}", browser.screen());
    browser.press("g j");
    assert_eq!(browser.model.focus, KeyContext::Tree);
    assert_eq!(browser.session().unwrap().title(), "prompt 2 of 199", "back to the session before");
    browser.press("esc g p").type_text("p100").press("enter");
    assert_eq!(browser.session().unwrap().title(), "prompt 0 of 100", "a single session has no header");
    browser.press(":").type_text("list projects").press("enter").type_text("srvce199");
    assert_eq!(browser.palettes().len(), 1);
}

#[test]
fn a_search_a_filter_or_another_order_ends_on_the_way_to_a_project() {
    let dir = many();
    let mut browser = Browser::started_in(&cwd(77), dir.path(), (80, 24));
    browser.press("v h g p");
    assert_eq!(browser.palettes()[0].counts().1, 200, "all projects");
    browser.type_text("service-101").press("enter");
    assert_eq!(browser.selected(), cwd(101));
    browser.press("/").type_text("77").press("enter h g p");
    assert_eq!(browser.palettes()[0].counts().1, 200, "not only those with hits");
    browser.type_text("service-105").press("enter");
    assert_eq!(browser.selected(), cwd(105));
    assert!(browser.model.search.is_none());
    browser.press("ctrl+s g p").type_text("service-109").press("enter");
    assert_eq!((browser.selected(), browser.model.sessions.shows.sort), (cwd(109), Sort::Threaded));
    assert_eq!(browser.footer(), "sorted by threaded");
    assert!(matches!(browser.model.sessions.selected_row(), Some(SessionRow::Project(_))));
}
