//! Clicks and the wheel.

use crate::end_to_end::home::Home;
use crate::end_to_end::terminal::{is_taken, row, selected};

#[test]
fn a_click_selects_and_a_double_click_folds() {
    let home = Home::new();
    let mut pitree = home.open(&["--demo"]);
    pitree.wait_for("41 sessions");
    pitree.wait_without("reading");
    pitree.wait_until("the mouse taken", is_taken);
    let place = pitree.place("Dark mode");
    pitree.click(place);
    pitree.wait_selected("Dark mode");
    pitree.wait_for("← leaf");
    let leaf = pitree.place("← leaf");
    pitree.click(leaf);
    pitree.wait_selected("← leaf");
    let project = pitree.place("docs  ~/sites"); // not on its symbol, where each click folds
    pitree.click(project);
    pitree.click(project);
    pitree.wait_selected("▸ docs  ~/sites");
    pitree.wait_without("Dark mode");
    pitree.click(project);
    pitree.click(project);
    pitree.wait_selected("▾ docs  ~/sites");
    pitree.wait_for("Dark mode");
    pitree.quit();
}

#[test]
fn the_wheel_scrolls_the_pane_below_the_pointer() {
    let home = Home::new();
    let mut pitree = home.launch(&["--demo"]).size(100, 12).open();
    pitree.wait_for("41 sessions");
    pitree.wait_without("reading");
    pitree.wait_until("the first project on top", |screen| row(screen, 2).contains("▾ webshop  ~/code"));
    pitree.wheel_down((5, 5));
    pitree.wait_until("three rows further", |screen| row(screen, 2).contains("├─ ▾ ⋎ Sessions"));
    pitree.wait_selected("Sessions"); // the selection stays visible
    pitree.send("l");
    pitree.wait_until("the tree's leaf", |screen| selected(screen).contains("← leaf"));
    let before = pitree.look(|screen| row(screen, 2));
    pitree.wheel_down((5, 5));
    pitree.wait_until("the sessions scrolled", |screen| row(screen, 2) != before);
    pitree.wait_selected("← leaf");
    pitree.quit();
}
