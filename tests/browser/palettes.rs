//! Palettes: actions, labels, files. Keys in, screens out.

use pitree::app::message::Msg;
use pitree::app::palette::Palette;
use pitree::store::files::Files;
use pitree::store::locate::Located;

use super::changes::{World, to_entry};
use super::harness::Browser;

macro_rules! snapshot {
    ($name:ident, ($columns:literal, $rows:literal), $keys:literal) => {
        #[test]
        fn $name() {
            let mut browser = Browser::demo($columns, $rows);
            browser.press($keys);
            insta::assert_snapshot!(stringify!($name), browser.screen());
        }
    };
}

snapshot!(actions, (100, 24), ":");
snapshot!(actions_filtered, (100, 24), "j l : b r a n c h");
snapshot!(actions_smallest, (40, 10), ":");
snapshot!(labels, (120, 24), "'");
snapshot!(labels_filtered, (100, 20), "' j w t");
snapshot!(labels_smallest, (40, 10), "'");
snapshot!(files, (100, 20), "j F");
snapshot!(files_of_a_project, (100, 20), "g F");
snapshot!(touches, (100, 20), "j F enter");
snapshot!(touches_everywhere, (100, 20), "j F enter home up enter");

#[track_caller]
fn shows(browser: &Browser, text: &str) {
    let screen = browser.screen();
    assert!(screen.contains(text), "no {text:?}\n{screen}");
}

/// The selected row of the palette.
fn chosen(browser: &Browser) -> String {
    let palette = browser.model.palettes.last().unwrap();
    palette.selected().map_or(String::new(), |row| row.left.iter().map(|span| span.text.as_str()).collect())
}
