//! How the browser was left is how the next one begins.

use crate::home::{Home, session};
use crate::terminal::{ENTER, ctrl};

#[test]
fn folds_the_order_and_sizes_are_remembered() {
    let home = Home::new();
    for (name, prompt) in [("one", "the first prompt"), ("two", "the second prompt")] {
        home.session(&session(name, home.path(), prompt));
    }
    let mut pitree = home.launch(&[]).size(130, 30).open();
    pitree.wait_for("the first prompt");
    pitree.send("gh");
    pitree.wait_without("the first prompt");
    pitree.quit();
    let mut pitree = home.launch(&[]).size(130, 30).open();
    pitree.wait_for("⋯ 2");
    pitree.wait_without("the first prompt");
    pitree.send("l");
    pitree.wait_for("the first prompt");
    pitree.send("/second");
    pitree.wait_for("1 session ");
    pitree.send(ENTER);
    pitree.wait_selected("the second prompt"); // in the tree
    pitree.quit();
    let mut pitree = home.launch(&[]).size(130, 30).open();
    pitree.wait_for("threaded");
    pitree.send(&ctrl('s'));
    pitree.wait_for("recent");
    pitree.quit();
    let mut pitree = home.launch(&[]).size(130, 30).open();
    pitree.wait_for("recent");
    pitree.wait_for("the first prompt");
    pitree.send("/\x1bp"); // alt+p
    pitree.wait_for("/second");
    pitree.send(&ctrl('c'));
    pitree.wait_end();
    // A setting that is changed counts.
    home.write(".config/pitree/config.toml", "sort = \"name\"\n");
    let pitree = home.launch(&[]).size(130, 30).open();
    pitree.wait_for("Sessions  name");
    pitree.quit();
}
