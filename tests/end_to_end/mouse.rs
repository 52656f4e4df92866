//! Clicks and the wheel.

use crate::home::Home;
use crate::terminal::{is_taken, row, selected};

#[test]
fn a_click_selects_and_a_double_click_folds() {
    let home = Home::new();
    let mut pitree = home.open(&["--demo"]);
    pitree.wait_for("17 sessions");
    pitree.wait_without("reading");
    pitree.wait_until("the mouse taken", is_taken);
    let place = pitree.place("Terraform");
    pitree.click(place);
    pitree.wait_selected("Terraform");
    pitree.wait_for("← leaf");
    let leaf = pitree.place("← leaf");
    pitree.click(leaf);
    pitree.wait_selected("← leaf");
    let project = pitree.place("infra  ~/ops"); // not on its symbol, where each click folds
    pitree.click(project);
    pitree.click(project);
    pitree.wait_selected("▸ infra  ~/ops");
    pitree.wait_without("Terraform");
    pitree.click(project);
    pitree.click(project);
    pitree.wait_selected("▾ infra  ~/ops");
    pitree.wait_for("Terraform");
    pitree.quit();
}

#[test]
fn the_wheel_scrolls_the_pane_below_the_pointer() {
    let home = Home::new();
    let mut pitree = home.launch(&["--demo"]).size(100, 12).open();
    pitree.wait_for("17 sessions");
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
