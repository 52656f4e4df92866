//! Layers above the panes: the topmost layer receives all input, and the footer lists its keys.

use pitree::app::layers::Layer;
use pitree::app::message::Msg;
use pitree::config::Config;
use pitree::keymap::KeyContext;

use crate::browser::harness::{Browser, shows};

fn note(browser: &mut Browser) {
    browser.send(Msg::NotResumed("a line\n".repeat(80)));
}

#[test]
fn the_wheel_over_a_dialog_scrolls_only_the_dialog() {
    let mut browser = Browser::demo(160, 30);
    browser.press("l .");
    let top = browser.model.tree.cursor.top;
    note(&mut browser);
    browser.send(Msg::Wheel { column: 70, row: 5, by: -3 });
    browser.send(Msg::Wheel { column: 70, row: 5, by: 3 });
    assert_eq!(browser.model.tree.cursor.top, top);
    let Some(Layer::MessageBox(note)) = browser.model.layers.top() else { panic!("the notice is still open") };
    assert_eq!(note.top, 3);
}

#[test]
fn any_key_closes_a_dialog_without_another_effect() {
    let mut browser = Browser::demo(160, 30);
    for key in ["q", "ctrl+c", "x", "enter", "esc"] {
        browser.send(Msg::NotResumed("line\nline".into()));
        assert_eq!(browser.footer(), "");
        browser.press(key);
        assert!(!browser.has_note() && browser.wants.is_empty() && browser.model.layers.0.is_empty(), "{key}");
    }
    note(&mut browser);
    assert_eq!(browser.footer(), "j down  k up");
}

#[test]
fn pasted_text_goes_to_the_top_layer_only() {
    let mut browser = Browser::demo(160, 30);
    browser.press("/").type_text("re");
    note(&mut browser);
    browser.send(Msg::Paste("dis".into()));
    assert!(browser.has_note());
    assert_eq!(browser.model.search.as_ref().unwrap().line.value(), "re");
    browser.press("x f1");
    browser.send(Msg::Paste("yank".into()));
    shows(&browser, "> yank");
    shows(&browser, "Insert the most recently deleted text.");
    assert_eq!(browser.model.search.as_ref().unwrap().line.value(), "re");
}

#[test]
fn the_footer_lists_the_keys_of_the_top_layer() {
    let mut browser = Browser::demo(160, 30);
    let panes = browser.footer();
    browser.press("'");
    assert!(browser.footer().starts_with("↵ accept  ^R rename  ↓ down"), "{}", browser.footer());
    assert!(browser.footer().ends_with("F1 help"), "a question mark would be typed: {}", browser.footer());
    browser.press("esc y");
    assert!(browser.footer().starts_with("↵ Session path"), "the action of Enter: {}", browser.footer());
    browser.press("esc ?");
    assert!(browser.footer().starts_with("↵ accept"), "{}", browser.footer());
    browser.press("esc");
    assert_eq!(browser.footer(), panes);
}

#[test]
fn the_footer_omits_keys_without_effect_on_the_selected_row() {
    let mut browser = Browser::demo(160, 30);
    browser.press("home");
    assert!(browser.footer().starts_with("↵ fold  "), "{}", browser.footer());
    browser.press("h");
    assert!(browser.footer().starts_with("↵ unfold  "), "{}", browser.footer());
    browser.press("tab");
    assert_eq!(browser.model.focus, KeyContext::Tree);
    for word in ["resume", "find"] {
        assert!(!browser.footer().contains(word), "{word}: {}", browser.footer());
    }
    browser.press("shift+tab l /").type_text("zzzzqqq").press("enter");
    assert!(browser.model.sessions.rows.is_empty() && browser.model.layers.0.is_empty());
    for word in ["resume", "mark", "fold"] {
        assert!(!browser.footer().contains(word), "{word}: {}", browser.footer());
    }
}

#[test]
fn the_help_starts_with_the_keys_of_the_layer_below_it() {
    let mut browser = Browser::demo(120, 30);
    browser.press("' f1");
    let screen = browser.screen();
    let here = screen.find("list of labels").unwrap();
    let rename = screen.find("Rename label").unwrap();
    assert!(here < rename, "{screen}");
    browser.press("esc");
    assert_eq!(browser.palettes().len(), 1, "the list is still open");
}

#[test]
fn keys_in_lists_and_lines_can_be_changed() {
    let text = "[keys]\nlist-down = ['ctrl+j']\naccept = ['ctrl+o']\ndelete-to-start = ['ctrl+x']\n";
    let config = Config::parse(text, "config.toml").unwrap();
    let mut browser = Browser::configured(&config, 120, 30);
    browser.press(": ctrl+j");
    assert_eq!(browser.palettes()[0].cursor.at, 1);
    browser.press("ctrl+n enter");
    assert_eq!((browser.palettes().len(), browser.palettes()[0].cursor.at), (1, 1), "the keys are unbound");
    browser.press("x y ctrl+x");
    assert_eq!(browser.palettes()[0].line.value(), "");
    browser.type_text("show help").press("ctrl+o");
    assert!(matches!(browser.model.layers.top(), Some(Layer::Palette(_))));
}

#[test]
fn the_help_explains_symbols() {
    let mut browser = Browser::demo(100, 30);
    browser.press("?").type_text("a fork, with");
    shows(&browser, "Symbols");
    shows(&browser, "A fork, with ?");
    browser.press("esc");
    let mut browser = Browser::configured(&Config::parse("ascii = true", "config.toml").unwrap(), 100, 30);
    browser.press("?").type_text("a fork, with");
    shows(&browser, "Y                    A fork");
}

#[test]
fn the_help_has_keys_and_words_in_columns() {
    let mut browser = Browser::demo(120, 40);
    browser.press("?").type_text("next sort order");
    let screen = browser.screen();
    let row = screen.lines().find(|line| line.contains("ctrl+s")).unwrap_or_else(|| panic!("{screen}"));
    let places = [row.find("Session list"), row.find("ctrl+s, v s"), row.find("Next sort order")];
    assert!(places.is_sorted() && !places.contains(&None), "{row}");
    shows(&browser, "Change the sort order");
}

#[test]
fn a_completed_directory_is_shown_with_its_last_part() {
    use pitree::app::layers::dialogs::Prompt;
    use pitree::app::layers::screen::PromptPurpose;
    let mut browser = Browser::demo(80, 24);
    let long = format!("/home/me/{}/web-frontend", "directory/".repeat(4).trim_end_matches('/'));
    let longer = format!("/home/me/{}/api-backend", "directory/".repeat(9).trim_end_matches('/'));
    let mut prompt = Prompt::new(PromptPurpose::Word(Vec::new()), "Directory: ", "/home");
    prompt.options = vec![long.clone(), longer];
    browser.model.layers.push(prompt);
    shows(&browser, &long);
    shows(&browser, "/home/me/…/directory/");
    shows(&browser, "/api-backend");
}
