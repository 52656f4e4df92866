//! Find in the tree and in the labels of all sessions.

use crate::end_to_end::home::Home;

#[test]
fn a_label_is_selected_and_find_works_from_there() {
    let home = Home::new();
    let mut pitree = home.launch(&["--demo"]).size(160, 40).open();
    pitree.wait_without("reading");
    pitree.send("'");
    pitree.wait_for("[your call]");
    pitree.send("jwt");
    pitree.wait_for("2 of 131");
    pitree.send("\r");
    pitree.wait_selected("[jwt-works]");
    pitree.send("/rotat");
    pitree.wait_for("/rotat");
    pitree.wait_for("4/5");
    pitree.send("\r");
    pitree.wait_without("/rotat");
    pitree.send("n");
    pitree.wait_for("5/5");
    pitree.send("n");
    pitree.wait_for("search wrapped to the top");
    pitree.wait_for("1/5");
    pitree.quit();
}
