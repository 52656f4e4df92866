//! Navigation, folding, filters, sorting, and the help.

use std::path::Path;

use crate::end_to_end::home::{Home, session};
use crate::end_to_end::terminal::{ENTER, ESC, HOME, RIGHT, TAB, Terminal, ctrl, is_taken, row, selected};

/// The names of the projects of the samples.
const PROJECTS: [&str; 4] = ["webshop", "infra", "docs", "logq"];

fn demo() -> (Home, Terminal) {
    let home = Home::new();
    let pitree = home.launch(&["--demo"]).size(160, 30).open();
    pitree.wait_until("the first session selected", |screen| selected(screen).contains("Flaky checkout"));
    pitree.wait_without("reading");
    (home, pitree)
}

/// Waits until the bottom line contains the text.
fn wait_footer(pitree: &Terminal, text: &str) {
    pitree.wait_until(&format!("{text:?} in the footer"), |screen| row(screen, 29).contains(text));
}

/// Waits until the tree is shown through a filter.
fn wait_filter(pitree: &Terminal, filter: &str) {
    pitree.wait_until(&format!("the filter {filter}"), |screen| row(screen, 1).contains(&format!(" {filter} · ")));
}

#[test]
fn opens_the_demo_and_walks_to_an_entry_and_back() {
    let (_home, mut pitree) = demo();
    pitree.wait_until("a header with counts", |screen| {
        let header = row(screen, 0);
        is_taken(screen)
            && header.contains("demo: changes are temporary")
            && header.contains("41 sessions · 4 projects · $")
    });
    wait_footer(&pitree, "⇥ tree");
    pitree.wait_for("prompt      Then have a look");
    pitree.send("j");
    pitree.wait_selected("Refactor");
    pitree.wait_for("prompt      And the providers?");
    pitree.send("k");
    pitree.wait_selected("Flaky");
    pitree.send(RIGHT);
    wait_footer(&pitree, "⇥ read");
    pitree.wait_selected("← leaf");
    pitree.wait_for("The query key contains the term");
    pitree.send("k");
    pitree.wait_selected("3 tools  bash 2 · edited Sear");
    pitree.wait_for("▌"); // of the diff or the title, both stay
    pitree.send(TAB);
    pitree.wait_until("the footer of the reader", |screen| {
        let footer = row(screen, 29);
        footer.contains("esc back") && footer.contains("} prompt")
    });
    pitree.send(ESC);
    pitree.wait_selected("3 tools  bash 2 · edited Sear");
    pitree.send(ESC);
    wait_footer(&pitree, "⇥ tree");
    pitree.wait_selected("Flaky");
    pitree.quit();
}

#[test]
fn folds_projects_and_families() {
    let home = Home::new();
    let mut pitree = home.launch(&["--demo"]).size(100, 60).open();
    pitree.wait_selected("Flaky");
    pitree.wait_without("reading");
    pitree.send("jh");
    pitree.wait_selected("▸ Refactor");
    pitree.wait_without("▾ ⋎ Sessions");
    pitree.send(RIGHT);
    pitree.wait_selected("▾ Refactor");
    pitree.wait_for("▾ ⋎ Sessions");
    pitree.send(&format!("{HOME}{ENTER}"));
    pitree.wait_selected("▸ webshop  ~/code");
    pitree.wait_without("Refactor");
    pitree.send("l");
    pitree.wait_selected("▾ webshop  ~/code");
    pitree.wait_for("Refactor");
    pitree.send("vc");
    pitree.wait_until("four folded projects", |screen| {
        let contents = screen.contents();
        PROJECTS.iter().all(|name| contents.contains(&format!("▸ {name} "))) && !contents.contains('▾')
    });
    pitree.send("vx");
    pitree.wait_until("everything unfolded", |screen| {
        let contents = screen.contents();
        let is_open = PROJECTS.iter().all(|name| contents.contains(&format!("▾ {name} ")));
        is_open && !contents.contains('▸') && contents.contains("Redis: sli")
    });
    pitree.quit();
}

#[test]
fn a_folded_branch_counts_hidden_entries() {
    let (_home, mut pitree) = demo();
    pitree.send("l");
    pitree.wait_selected("← leaf");
    let segment_up = "\x1b[1;5D";
    pitree.send(segment_up);
    pitree.wait_selected("├⊟ • user  nice!! fix it");
    pitree.send(segment_up);
    pitree.wait_until("the branch folded", |screen| {
        let row = selected(screen);
        row.contains("├⊞ • user  nice!") && row.contains("⋯ ") && row.contains(" entries · ")
    });
    pitree.wait_without("edited Sear");
    pitree.send("\x1b[1;5C");
    pitree.wait_selected("├⊟ • user  nice!! fix it");
    pitree.send("vc");
    pitree.wait_until("all branches folded", |screen| {
        let contents = screen.contents();
        contents.contains("├⊞ • user  ok, client first")
            && contents.contains("└⊞ user  hmm, start with the")
            && !contents.contains('⊟')
    });
    pitree.send("vx");
    pitree.wait_until("nothing folded", |screen| !screen.contents().contains('⊞'));
    pitree.wait_for("├⊟ • user  ok, client first");
    pitree.quit();
}

#[test]
fn filters_change_the_tree() {
    let (_home, mut pitree) = demo();
    pitree.send("l");
    wait_filter(&pitree, "default");
    pitree.wait_for("edited Sear");
    for filter in ["no-tools", "user-only", "labeled-only", "all", "outline", "turns", "default", "no-tools"] {
        pitree.send(&ctrl('o'));
        wait_filter(&pitree, filter);
    }
    pitree.wait_without("edited Sear");
    pitree.send("\x1bo");
    wait_filter(&pitree, "default");
    pitree.send("\u{15}");
    wait_filter(&pitree, "user-only");
    pitree.wait_until("no assistant in the tree", |screen| !screen.contents().contains("• asst"));
    pitree.send("\u{c}");
    pitree.wait_for("[reproduced!]");
    pitree.send("\u{c}");
    wait_filter(&pitree, "default");
    pitree.send("vo");
    wait_filter(&pitree, "outline");
    pitree.wait_for("[compaction: 148k tokens]");
    pitree.wait_without("edited Sear");
    pitree.quit();
}

#[test]
fn help_filters_as_one_types_and_esc_closes_it() {
    let (_home, mut pitree) = demo();
    pitree.send("?");
    pitree.wait_for("Go-to menu");
    pitree.send("quit");
    pitree.wait_for("> quit");
    pitree.wait_for("Quit pitree.");
    pitree.wait_without("Go-to menu");
    pitree.send(ESC);
    pitree.wait_without("╭ Help");
    pitree.wait_selected("Flaky");
    pitree.quit();
}

#[test]
fn all_sort_orders_work() {
    let home = Home::new();
    // All rows fit on the screen.
    let mut pitree = home.launch(&["--demo"]).size(100, 60).open();
    pitree.wait_selected("Flaky");
    pitree.wait_without("reading");
    let first = |screen: &vt100::Screen| row(screen, 2);
    pitree.send(&"j".repeat(12));
    pitree.wait_selected("Checkout in"); // it stays selected
    for (sort, top) in [
        ("recent", "Today"),
        ("name", "Alerts after"),
        ("size", " KB "),
        ("cost", "$5.17"),
        ("live", "Flaky checkout"),
        ("threaded", "▾ webshop  ~/code"),
    ] {
        pitree.send(&ctrl('s'));
        pitree.wait_until(&format!("the order {sort}"), |screen| {
            row(screen, 1).contains(sort) && row(screen, 59).contains(&format!("sorted by {sort}"))
        });
        pitree.wait_until(&format!("{top:?} on top"), |screen| first(screen).contains(top));
        pitree.wait_selected("Checkout in");
    }
    pitree.quit();
}

#[test]
fn shows_only_named_sessions() {
    let (_home, mut pitree) = demo();
    pitree.wait_for("Product names");
    pitree.send(&ctrl('n'));
    pitree.wait_for("named only");
    pitree.wait_without("Product names");
    pitree.wait_selected("Flaky");
    pitree.send(&ctrl('n'));
    pitree.wait_for("Product names");
    pitree.quit();
}

#[test]
fn shows_paths() {
    let home = Home::new();
    let path = home.session(&session("where-is-it", Path::new("/nowhere"), "hi"));
    let mut pitree = home.launch(&[]).size(300, 30).open();
    pitree.wait_selected("hi");
    pitree.send(&ctrl('p'));
    pitree.wait_selected("/where-is-it.jsonl  ");
    pitree.resize(130, 30); // the end of a path distinguishes it from others
    pitree.wait_selected("it.jsonl  ");
    pitree.wait_selected("…");
    pitree.send(&ctrl('p'));
    pitree.wait_until("no path", |screen| !selected(screen).contains(".jsonl"));
    assert!(path.is_file());
    pitree.quit();
}

#[test]
fn subagents_are_nested_on_request() {
    let home = Home::new();
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/subagents");
    let mut pitree = home.open(&["--dir", dir]);
    pitree.wait_for("1 session ·");
    pitree.wait_selected("Ask a");
    pitree.wait_without("You are a helper");
    pitree.send(&ctrl('g'));
    pitree.wait_for("2 sessions ·");
    pitree.wait_selected("▾ Ask a helper");
    pitree.wait_for("└─ ↳ You are a helper");
    pitree.send(&ctrl('g'));
    pitree.wait_for("1 session ·");
    pitree.wait_without("You are a helper");
    pitree.quit();
}

#[test]
fn sub_agents_find_their_session_behind_symbolic_links() {
    let home = Home::new();
    let project = home.path().join("project");
    home.write("real/--p--/owner.jsonl", session("owner", &project, "the owner").text());
    home.write("real/--p--/owner/hash/run-0/session.jsonl", session("agent", &project, "the agent").text());
    std::os::unix::fs::symlink("real", home.path().join("link")).unwrap();
    let mut pitree = home.open(&["--dir", "link"]);
    pitree.wait_selected("the owner");
    pitree.send(&ctrl('g'));
    pitree.wait_selected("▾ the owner");
    pitree.wait_for("└─ ↳ the agent");
    pitree.quit();
}

#[test]
fn started_in_a_project_it_selects_and_can_filter_it() {
    let home = Home::new();
    let (here, elsewhere) = (home.dir("here"), home.dir("elsewhere"));
    home.session(&session("one", &here, "an older prompt").at(10));
    home.session(&session("two", &elsewhere, "a newer prompt").at(20));
    let below = home.dir("here/src");
    let mut pitree = home.launch(&[]).cwd(&below).open();
    pitree.wait_for("a newer");
    pitree.wait_selected("an older");
    pitree.send("vh");
    pitree.wait_without("a newer");
    pitree.quit();
    let mut pitree = home.launch(&["."]).cwd(&below).open();
    pitree.wait_selected("an older");
    pitree.wait_without("a newer");
    pitree.send("vh");
    pitree.wait_for("a newer");
    pitree.quit();
}
