//! Terminals of every size, and changes of it.

use crate::end_to_end::home::Home;
use crate::end_to_end::sizes::{MB, peak};
use crate::end_to_end::terminal::{ESC, is_taken, row, selected};

#[test]
fn every_size_works_and_too_small_says_so() {
    let home = Home::new();
    let mut pitree = home.open(&["--demo"]);
    pitree.wait_for("41 sessions");
    pitree.wait_without("reading");
    pitree.send("jj");
    pitree.wait_selected("⋎ Session");
    for (columns, rows) in
        [(200, 60), (100, 30), (80, 24), (40, 10), (20, 5), (1, 1), (39, 60), (40, 10), (300, 9), (100, 30)]
    {
        pitree.resize(columns, rows);
        if columns < 40 || rows < 10 {
            pitree.wait_until(&format!("the reason at {columns}x{rows}"), |screen| {
                let words: Vec<String> = screen.contents().split_whitespace().map(str::to_string).collect();
                words.concat().starts_with(&"terminaltoosmall"[..usize::from(columns).min(6)])
            });
        } else {
            pitree.wait_selected("⋎ Session");
            pitree.wait_for("? help");
            pitree.wait_for("pitree");
        }
    }
    pitree.quit();
}

#[test]
fn any_reported_terminal_size_works() {
    let home = Home::new();
    let mut pitree = home.open(&["--demo"]);
    pitree.wait_selected("Flaky");
    for (columns, rows) in [(u16::MAX, u16::MAX), (u16::MAX, 30), (100, u16::MAX)] {
        pitree.resize_unseen(columns, rows);
        pitree.send("j?");
        pitree.resize(100, 30);
        pitree.wait_for("╭ Help");
        pitree.send(ESC);
        pitree.wait_without("╭ Help");
    }
    assert!(peak(pitree.pid()).unwrap_or_default() < 200 * MB);
    pitree.quit();
    let pitree = home.launch(&["--demo"]).size(2000, 30).open();
    pitree.wait_for("41 sessions");
    pitree.quit();
}

#[test]
fn keys_work_in_a_too_small_terminal() {
    let home = Home::new();
    let pitree = home.launch(&["--demo"]).size(20, 5).open();
    pitree.wait_for("pitree needs");
    pitree.quit();
}

#[test]
fn many_resizes_end_at_the_last_size() {
    let home = Home::new();
    let mut pitree = home.open(&["--demo"]);
    pitree.wait_selected("Flaky");
    pitree.send("l");
    pitree.wait_selected("← leaf");
    for step in 0..60 {
        pitree.resize(10 + step * 3, 70 - step);
    }
    pitree.resize(120, 40);
    pitree.wait_until("all of it at the last size", |screen| {
        is_taken(screen) && selected(screen).contains("← leaf") && screen.contents().contains("Flaky checkout")
    });
    pitree.quit();
}

#[test]
fn a_resize_after_an_unknown_report_is_drawn_at_once() {
    let home = Home::new();
    let mut pitree = home.open(&["--demo"]);
    // Until all sessions are read, other rows follow.
    pitree.wait_until("the family below the first session", |screen| row(screen, 4).contains("▾ Refactor"));
    pitree.wait_selected("Flaky");
    for (report, columns) in [("\x1b[<128;5;5M", 90), ("\x1b[<129;5;5m", 110), ("\x1bOx", 80), ("\x1b[?997;1n", 100)] {
        pitree.send(report);
        pitree.resize(columns, 24);
        pitree.wait_until(&format!("a frame of {columns} columns after {report:?}"), |screen| {
            is_taken(screen) && selected(screen).contains("Flaky") && row(screen, 23).contains("? help")
        });
    }
    pitree.send("j");
    pitree.wait_selected("Refactor");
    pitree.quit();
}

#[test]
fn keys_work_immediately_after_a_long_control_string() {
    let home = Home::new();
    let mut pitree = home.open(&["--demo"]);
    pitree.wait_selected("Flaky");
    pitree.send("/");
    pitree.wait_for("tab: in:");
    pitree.send(&format!("\x1b]52;c;{}", "QUJD".repeat(425_000)));
    pitree.send("\x07terra");
    pitree.wait_selected("Terraform");
    pitree.send(ESC);
    pitree.wait_for("m menu");
    assert!(peak(pitree.pid()).unwrap_or_default() < 100 * MB);
    pitree.quit();
}
