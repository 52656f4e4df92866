//! How the browser was left is how the next one begins.

use crate::home::{Home, session};
use crate::terminal::ctrl;

#[test]
fn folds_the_order_and_sizes_are_remembered() {
    let home = Home::new();
    for (name, prompt) in [("one", "the first prompt"), ("two", "the second prompt")] {
        home.session(&session(name, home.path(), prompt));
    }
    let mut pitree = home.launch(&[]).size(100, 30).open();
    pitree.wait_for("the first prompt");
    pitree.send("gh");
    pitree.wait_without("the first prompt");
    pitree.quit();
    let mut pitree = home.launch(&[]).size(100, 30).open();
    pitree.wait_for("⋯ 2");
    pitree.wait_without("the first prompt");
    pitree.send("l");
    pitree.wait_for("the first prompt");
    pitree.send(&ctrl('s'));
    pitree.wait_for("recent");
    pitree.quit();
    let pitree = home.launch(&[]).size(100, 30).open();
    pitree.wait_for("recent");
    pitree.wait_for("the first prompt");
    pitree.quit();
    // A setting that is changed counts.
    home.write(".config/pitree/config.toml", "sort = \"name\"\n");
    let pitree = home.launch(&[]).size(100, 30).open();
    pitree.wait_for("Sessions  name");
    pitree.quit();
}
