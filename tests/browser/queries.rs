//! The query line of the session search: completion, history, queries without hits; and jumps.

use pitree::app::message::Msg;
use pitree::keymap::KeyContext;

use crate::browser::harness::Browser;
use crate::browser::search::{hits, line, search, titles};

#[test]
fn jump_history_goes_back_and_forward() {
    let mut browser = Browser::demo(160, 40);
    let place = |browser: &Browser| (browser.selected(), browser.model.tree.session, browser.model.focus);
    let start = place(&browser);
    let goes = |browser: &mut Browser, keys: &str| {
        browser.press(keys);
        place(browser)
    };
    let one = goes(&mut browser, "' enter");
    let other = goes(&mut browser, "' down down down enter");
    assert!(one != other && other.2 == KeyContext::Tree);
    assert_eq!(goes(&mut browser, "g j"), one);
    assert_eq!(goes(&mut browser, "g j"), start);
    assert_eq!(goes(&mut browser, "g j"), start);
    assert!(browser.footer().contains("at the oldest jump"), "{}", browser.footer());
    assert_eq!(goes(&mut browser, "g J g J"), other);
    goes(&mut browser, "g J");
    assert!(browser.footer().contains("at the newest jump"), "{}", browser.footer());
    while browser.model.focus != KeyContext::Sessions {
        browser.press("tab");
    }
    search(&mut browser, "\"hard stop\"");
    let hit = goes(&mut browser, "enter");
    let list = goes(&mut browser, "j j g j");
    assert_eq!((list.0.as_str(), list.1, list.2), ("Redis: sliding expiry", hit.1, KeyContext::Sessions));
    assert_eq!(hits(&browser), 1, "the search is still open");
    let title = browser.model.catalog[other.1.unwrap()].title().to_string();
    assert_eq!(goes(&mut browser, "g j"), (title, other.1, KeyContext::Sessions));
}

#[test]
fn query_history_is_recalled() {
    let mut browser = Browser::demo(120, 30);
    search(&mut browser, "cookie");
    browser.press("esc /");
    browser.send(Msg::Paste("redis".into()));
    browser.press("enter esc");
    search(&mut browser, "half");
    browser.press("alt+up");
    assert_eq!((line(&browser).as_str(), browser.selected().contains("Redis")), ("redis", true));
    browser.press("alt+up");
    assert_eq!(line(&browser), "cookie");
    browser.press("alt+up");
    assert!(browser.footer().contains("at the oldest query"), "{}", browser.footer());
    browser.press("alt+down alt+down");
    assert_eq!(line(&browser), "half", "the typed text is kept");
    assert_eq!(browser.model.queries.all, ["cookie", "redis"]);
}

#[test]
fn a_dot_means_the_working_directory() {
    let mut browser = Browser::demo(120, 30);
    browser.set(|setting| setting.current_dir = "/home/demo/code/webshop".into());
    for (query, wanted) in [("in:.", 18), ("in:..", 28), ("in:../logq", 10), ("in:./src", 0), ("in:../../ops", 8)] {
        search(&mut browser, query);
        assert_eq!(hits(&browser), wanted, "{query}: {:?}", titles(&browser));
    }
}

#[test]
fn a_query_without_hits_suggests_where_there_are_some() {
    let mut browser = Browser::demo(80, 24);
    search(&mut browser, "expires_at");
    let screen = browser.screen();
    assert!(screen.contains("no hits in conversation · 4 in tool output (^X) · 0 with file:"), "{screen}");
    search(&mut browser, "store.ts");
    assert!(browser.screen().contains("2 with file:"), "{}", browser.screen());
    browser.press("ctrl+x");
    assert!(hits(&browser) > 0);
    search(&mut browser, "all: qqqqqq");
    assert!(browser.screen().contains("no hits · 0 with file:"), "{}", browser.screen());
    search(&mut browser, "is:newer");
    assert!(browser.screen().contains("no hits"), "{}", browser.screen());
}

#[test]
fn the_help_describes_the_query_language() {
    let mut browser = Browser::demo(120, 40);
    browser.press("?").type_text("edited");
    let screen = browser.screen();
    assert!(screen.contains("edited:src/") && screen.contains("that wrote or edited"), "{screen}");
    browser.press("esc");
    search(&mut browser, "x");
    browser.press("f1");
    let screen = browser.screen();
    assert!(
        screen.contains("Query syntax") && screen.contains("re:o?auth"),
        "above the keys of the input line\n{screen}"
    );
}

#[test]
fn tab_completes() {
    let mut browser = Browser::demo(120, 30);
    browser.press("/ i s tab");
    assert_eq!(line(&browser), "is:");
    browser.press("b r a tab");
    assert_eq!(line(&browser).trim_end(), "is:branched");
    assert!(hits(&browser) > 3);
}

#[test]
fn tab_cycles_through_candidates_with_descriptions() {
    let mut browser = Browser::demo(120, 30);
    browser.press("/ i tab");
    assert_eq!(line(&browser), "in:");
    let screen = browser.screen();
    assert!(
        screen.contains("in this directory or below") && screen.contains("is:  sessions with this property"),
        "{screen}"
    );
    browser.press("tab");
    assert_eq!(line(&browser), "is:");
    browser.press("tab shift+tab");
    assert_eq!(line(&browser), "is:", "round and back");
    browser.press("a");
    assert!(!browser.screen().contains("in this directory or below"), "typing continues\n{}", browser.screen());
    browser.press("backspace tab tab tab tab tab tab tab tab tab");
    assert_eq!(line(&browser), "is:abandoned");
    assert!(browser.screen().contains("sessions with abandoned branches"), "{}", browser.screen());
    assert!(hits(&browser) > 3, "the hits are visible");
    let mut smallest = Browser::demo(40, 10);
    smallest.press("/ shift+tab");
    assert_eq!(line(&smallest), "all:", "from the end");
    assert!(smallest.screen().contains("entries:"), "{}", smallest.screen());
}

#[test]
fn values_are_completed_from_loaded_sessions() {
    let mut browser = Browser::demo(120, 30);
    let mut complete = |typed: &str| {
        search(&mut browser, typed);
        browser.press("tab");
        browser.model.search.as_ref().unwrap().line.value().trim_end().to_string()
    };
    assert_eq!(complete("label:dec"), "label:decision");
    assert_eq!(complete("edited:store.t"), "edited:src/auth/store.ts");
    assert_eq!(complete("tool:gr"), "tool:grep");
    let model = complete("model:");
    assert!(model.len() > "model:".len() + 3, "{model}");
}
